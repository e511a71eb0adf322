/* SPDX-License-Identifier: Apache-2.0 */
/* quantizer.c - custom quantizer patterns: their registration, and what their callbacks
 * build with.
 *
 *   qn_quantize_activation(q, x, "fc", "x")   is   qn_qb_quantize_tensor(q, x, "fc", "x")   inside qn_guard */
#include "driver/quantizer.h"

#include <string.h>

#include "driver/host_struct.h"
#include "driver/pattern.h"
#include "patterns/quantizing.h"

/* ---- registration ---- */

static qn_status
check(qn_env *env, const qn_quantizer *list, size_t i)
{
	const qn_quantizer *q = &list[i];
	const char *why = NULL;

	if (q->name == NULL || q->name[0] == '\0')
		why = "it has no name";
	else if ((q->text == NULL) == (q->pattern == NULL))
		why = "it needs a pattern, either as text or created before";
	else if (q->quantize == NULL)
		why = "it has no quantize callback";
	for (size_t k = 0; k < i && why == NULL; k++)
		if (strcmp(list[k].name, q->name) == 0)
			why = "duplicate name";
	if (why == NULL)
		return QN_OK;
	return qn_report(env, QN_EUSAGE, "quantizer.register", q->name != NULL ? q->name : "",
			 "quantizer pattern %zu cannot be registered: %s", i, why);
}

qn_status
qn_quantizers_of(qn_model *m, const qn_compile_opts *o, qn_arena *a, qn_quant_opts *out)
{
	qn_ctx *ctx = qn_box(m)->ctx;
	qn_qpattern *list = QN_NEW(a, qn_qpattern, o->nquantizers);
	qn_quantizer *given = QN_NEW(a, qn_quantizer, o->nquantizers);

	QN_TRY(qn_host_list(m->env, "quantizers", o->nquantizers, o->quantizers));
	for (size_t i = 0; i < o->nquantizers; i++) {
		const qn_quantizer *q = &given[i];
		qn_pattern *read = NULL;

		QN_TRY(QN_TAKE_ELEMENT(m->env, qn_quantizer, o->quantizers, o->nquantizers, i,
				       &given[i]));
		QN_TRY(check(&ctx->env, given, i));
		if (q->text != NULL)
			QN_TRY(qn_pattern_parse(ctx, q->text, &read));
		else if (qn_pattern_ctx(q->pattern) != ctx)
			return qn_report(
				&ctx->env, QN_EUSAGE, "pattern.context", q->name,
				"the pattern was created in another context than the model");
		list[i] = (qn_qpattern){.pattern = read != NULL ? &read->pat : &q->pattern->pat,
					.desc = *q};
		list[i].desc.name = qn_arena_str(m->arena, q->name); /* composites carry it */
	}
	out->host = list;
	out->nhost = o->nquantizers;
	out->no_standard = o->no_standard != 0;
	return QN_OK;
}

void
qn_quantizers_callbacks(const qn_quant_opts *o, qn_arena *a, qn_calib_opts *out)
{
	qn_calib_callback *list = QN_NEW(a, qn_calib_callback, o->nhost);

	out->callback = list;
	for (size_t i = 0; i < o->nhost; i++) {
		const qn_quantizer *q = &o->host[i].desc;

		if (q->calibrate != NULL)
			list[out->ncallback++] = (qn_calib_callback){
				.pattern = q->name, .fn = q->calibrate, .user = q->user};
	}
}

/* ---- for quantize callbacks ---- */

const qn_quantizing_info *
qn_quantizing_options(const qn_quantizing *q)
{
	if (q == NULL)
		return NULL;
	return &q->info;
}

qn_graph *
qn_quantizing_graph(qn_quantizing *q)
{
	if (q == NULL)
		return NULL;
	return qn_qb_graph(q);
}

const qn_graph *
qn_quantizing_before(const qn_quantizing *q)
{
	if (q == NULL)
		return NULL;
	return qn_qb_before(q);
}

const qn_match *
qn_quantizing_match(const qn_quantizing *q)
{
	if (q == NULL)
		return NULL;
	return q->inside;
}

qn_id
qn_quantizing_value(const qn_quantizing *q, qn_id v)
{
	if (q == NULL)
		return 0;
	return qn_qb_value(q, v);
}

typedef struct build_call build_call;
struct build_call {
	qn_quantizing *q;
	qn_id (*build)(build_call *c);
	qn_id x, a, w, v;
	const char *owner, *operand;
	int axis;
	const qn_quant_type *type;
	double scale;
	int64_t zero_point;
	size_t n;
	const qn_id *in;
	qn_id result;
};

static qn_id op(build_call *c);
static qn_id result(build_call *c);

static bool
is_value(const qn_graph *g, qn_id id)
{
	return id < g->n;
}

/* Values and an axis that there are. */
static qn_status
check_call(const build_call *c)
{
	const qn_graph *g = c->q->dst;
	qn_env *env = g->model->env;
	bool known = is_value(g, c->x) && is_value(g, c->a) && is_value(g, c->w) &&
		     is_value(c->q->composite, c->v);

	for (size_t i = 0; i < c->n; i++)
		known = known && is_value(g, c->in[i]);
	if (known && (c->build == op || c->build == result))
		known = qn_graph_node(c->q->composite, c->v)->nin > 0;
	if (!known)
		return qn_report(env, QN_EUSAGE, "graph.value.undefined", qn_qb_root(c->q)->name,
				 "a quantize callback uses an unknown value");
	if (c->x != 0 && c->axis >= qn_graph_node(g, c->x)->type->rank)
		return qn_report(env, QN_EUSAGE, "quantize.axis", qn_qb_root(c->q)->name,
				 "one scale per index of axis %d of '%s', which has rank %d",
				 c->axis, qn_graph_node(g, c->x)->name,
				 (int)qn_graph_node(g, c->x)->type->rank);
	if (c->type != NULL && (c->type->bits < 2 || c->type->bits > 16))
		return qn_report(env, QN_EUSAGE, "quantize.bits", qn_qb_root(c->q)->name,
				 "a storage type of %d bits; it has 2 to 16", c->type->bits);
	return QN_OK;
}

static qn_status
run(void *arg, qn_arena *scratch)
{
	build_call *c = arg;

	(void)scratch;
	QN_TRY(check_call(c));
	c->result = c->build(c);
	return QN_OK;
}

static qn_ctx *
ctx_of(const qn_quantizing *q)
{
	return q != NULL ? qn_model_ctx(q->m) : NULL;
}

static qn_id
built(build_call c)
{
	if (c.q == NULL || qn_host_list(c.q->m->env, "in", c.n, c.in) != QN_OK)
		return 0;
	return qn_guard_build(c.q->m, run, &c) == QN_OK ? c.result : 0;
}

static qn_elem
desc_of(const qn_quant_type *type)
{
	qn_elem e = qn_elem_desc((uint8_t)type->bits, type->is_signed != 0);

	if (type->narrow != 0)
		e.qmin++;
	return e;
}

static qn_id
activation(build_call *c)
{
	return qn_qb_quantize_tensor(c->q, c->x, c->owner, c->operand);
}

qn_id
qn_quantize_activation(qn_quantizing *q, qn_id x, const char *owner, const char *operand)
{
	if (QN_GIVEN(ctx_of(q), owner, operand) != QN_OK)
		return 0;
	return built(
		(build_call){q, activation, x, .owner = owner, .operand = operand, .axis = -1});
}

static qn_id
weights(build_call *c)
{
	return qn_qb_quantize_weights(c->q, c->x, c->owner, c->operand, c->axis);
}

qn_id
qn_quantize_weights(qn_quantizing *q, qn_id x, const char *owner, const char *operand, int axis)
{
	if (QN_GIVEN(ctx_of(q), owner, operand) != QN_OK)
		return 0;
	return built((build_call){q, weights, x, .owner = owner, .operand = operand, .axis = axis});
}

static qn_id
symbol(build_call *c)
{
	qn_elem e = desc_of(c->type);

	return qn_qb_quantize_symbol(c->q, c->x, c->owner, c->operand, &e, c->type->symmetric != 0,
				     c->axis);
}

qn_id
qn_quantize_symbol(qn_quantizing *q, qn_id x, const char *owner, const char *operand,
		   const qn_quant_type *type)
{
	qn_quant_type known;

	if (QN_GIVEN(ctx_of(q), owner, operand, type) != QN_OK)
		return 0;
	if (QN_TAKE(q->m->env, qn_quant_type, type, &known) != QN_OK)
		return 0;
	return built((build_call){q, symbol, x, .owner = owner, .operand = operand, .type = &known,
				  .axis = known.per_axis != 0 ? known.axis : -1});
}

static qn_id
bias(build_call *c)
{
	return qn_qb_quantize_bias(c->q, c->x, c->owner, c->a, c->w);
}

qn_id
qn_quantize_bias(qn_quantizing *q, qn_id x, const char *name, qn_id a, qn_id w)
{
	return built((build_call){q, bias, x, .a = a, .w = w, .owner = name, .axis = -1});
}

static qn_id
fixed(build_call *c)
{
	qn_elem e = desc_of(c->type);

	return qn_qb_quantize_fixed(c->q, c->x, c->owner, &e, c->scale, c->zero_point);
}

qn_id
qn_quantize_fixed(qn_quantizing *q, qn_id x, const char *name, const qn_quant_type *type,
		  double scale, int64_t zero_point)
{
	qn_quant_type known;

	if (QN_GIVEN(ctx_of(q), type) != QN_OK)
		return 0;
	if (QN_TAKE(q->m->env, qn_quant_type, type, &known) != QN_OK)
		return 0;
	return built((build_call){q, fixed, x, .owner = name, .type = &known, .scale = scale,
				  .zero_point = zero_point, .axis = -1});
}

static qn_id
result(build_call *c)
{
	return qn_qb_quantize_result(c->q, c->x, c->owner, qn_graph_node(c->q->composite, c->v));
}

qn_id
qn_quantize_result(qn_quantizing *q, qn_id x, const char *name, qn_id v)
{
	return built((build_call){q, result, x, .v = v, .owner = name, .axis = -1});
}

static qn_id
dequantize(build_call *c)
{
	return qn_qb_dequantize(c->q, c->x, c->owner);
}

qn_id
qn_dequantize(qn_quantizing *q, qn_id x, const char *name)
{
	return built((build_call){q, dequantize, x, .owner = name, .axis = -1});
}

static qn_id
op(build_call *c)
{
	const qn_node *like = qn_graph_node(c->q->composite, c->v);

	return qn_qb_op(c->q, like->op, c->owner, (uint32_t)c->n, c->in, like->attr);
}

qn_id
qn_quantizing_op(qn_quantizing *q, qn_id v, const char *name, size_t n, const qn_id *in)
{
	return built((build_call){q, op, .v = v, .owner = name, .n = n, .in = in, .axis = -1});
}
