/* SPDX-License-Identifier: Apache-2.0 */
/* info.c - the public side of what calibration callbacks see (calibrate/info.h). */
#include "calibrate/info.h"
#include "calibrate/method.h"
#include "driver/context.h"
#include "driver/host_struct.h"

typedef struct info_call {
	qn_info *i;
	qn_info_value what;
	size_t k, batch, ntrial;
	const qn_symbol_value *value;
	double lo, hi;
	const qn_tensor *data;
} info_call;

static qn_ctx *
ctx_of(const qn_info *i)
{
	return i != NULL ? qn_model_ctx(i->graphs->m) : NULL;
}

/* A callback runs inside qn_guard already: out of memory, this call and not the whole calibration
 * ends. */
static qn_status
call(qn_guarded_fn *fn, info_call *c)
{
	return qn_guard(ctx_of(c->i), fn, c);
}

const char *
qn_info_name(const qn_info *i)
{
	if (i == NULL)
		return NULL;
	return i->part->out;
}

const char *
qn_info_pattern(const qn_info *i)
{
	if (i == NULL)
		return NULL;
	return i->part->pattern;
}

size_t
qn_info_batches(const qn_info *i)
{
	if (i == NULL)
		return 0;
	return i->graphs->data != NULL ? i->graphs->data->nbatch : 0;
}

size_t
qn_info_inputs(const qn_info *i)
{
	if (i == NULL)
		return 0;
	return i->nin;
}

qn_symbol_info
qn_info_symbol(const qn_info *i, size_t k)
{
	if (i == NULL || k >= i->npair)
		return (qn_symbol_info){0};
	const qn_graph *g = i->graphs->g;
	const qn_node *q = qn_graph_node(g, i->pair[k].quantize);
	const qn_symbol *sym = i->pair[k].sym;

	return (qn_symbol_info){.name = sym->name,
				.length = sym->len > 0 ? (size_t)sym->len : 1,
				.symmetric = sym->kind == QN_SYM_SYMMETRIC,
				.constant = qn_graph_node(g, q->in[0])->op == QN_OP_const,
				.lo = q->type->elem->qmin,
				.hi = q->type->elem->qmax};
}

/* Symbols and scales of values that the host passes. */
static qn_status
check_values(qn_ctx *ctx, size_t n, const qn_symbol_value *value)
{
	for (size_t i = 0; i < n; i++) {
		const char *symbol = value[i].symbol;

		QN_TRY(QN_GIVEN(ctx, symbol));
		QN_TRY(qn_host_list(&ctx->env, "scale", value[i].n, value[i].scale));
	}
	return QN_OK;
}

static qn_status
read_value(void *arg, qn_arena *scratch)
{
	info_call *c = arg;

	(void)scratch;
	return qn_info_get(c->i, c->what, c->k, c->batch, c->ntrial, c->value, &c->data);
}

qn_status
qn_info_read(qn_info *i, qn_info_value what, size_t k, size_t batch, size_t ntrial,
	     const qn_symbol_value *trial, qn_info_data *out)
{
	info_call c = {
		.i = i, .what = what, .k = k, .batch = batch, .ntrial = ntrial, .value = trial};
	QN_TRY(QN_GIVEN(ctx_of(i), out));
	*out = (qn_info_data){0};
	QN_TRY(qn_host_list(&ctx_of(i)->env, "trial", ntrial, trial));
	QN_TRY(check_values(ctx_of(i), ntrial, trial));
	QN_TRY(call(read_value, &c));
	const qn_type *type = c.data->type;
	out->rank = type->rank;
	out->shape = type->dim;
	out->count = (size_t)qn_type_count(type);
	if (qn_type_is_f32(type))
		out->values = c.data->data;
	else
		out->quantized = c.data->data;
	out->bits = qn_type_is_f32(type) ? 32 : (int)(8 * qn_elem_bytes(type->elem));
	return QN_OK;
}

static qn_status
set_value(void *arg, qn_arena *scratch)
{
	info_call *c = arg;

	(void)scratch;
	return qn_info_store(c->i, c->value);
}

qn_status
qn_info_set(qn_info *i, const qn_symbol_value *value)
{
	QN_TRY(QN_GIVEN(ctx_of(i), value));
	QN_TRY(check_values(ctx_of(i), 1, value));
	return call(set_value, &(info_call){.i = i, .value = value});
}

static qn_status
set_range(void *arg, qn_arena *scratch)
{
	info_call *c = arg;

	(void)scratch;
	return qn_info_store_range(c->i, c->k, c->lo, c->hi);
}

qn_status
qn_info_set_range(qn_info *i, size_t k, double lo, double hi)
{
	return call(set_range, &(info_call){.i = i, .k = k, .lo = lo, .hi = hi});
}

static qn_status
set_default(void *arg, qn_arena *scratch)
{
	info_call *c = arg;

	(void)scratch;
	return qn_info_store_default(c->i, c->k);
}

qn_status
qn_info_set_default(qn_info *i, size_t k)
{
	return call(set_default, &(info_call){.i = i, .k = k});
}

/* ---- the search ---- */

typedef struct search_call {
	qn_info *i;
	const qn_search *search;
} search_call;

/* The method's options, with what the host gives in their place. */
static qn_status
search_opts(qn_env *env, const qn_info *i, const qn_search *s, qn_arena *scratch,
	    qn_method_opts *out)
{
	const double given[] = {s->steps, s->least, s->metric == QN_SEARCH_COSINE};
	qn_status status = QN_OK;

	QN_TRY(qn_method_parse(env, scratch, "output", out));
	for (size_t k = 0; k < QN_COUNT(given); k++) {
		const qn_param_row *p = &out->method->param[k];

		if (given[k] >= 0 && given[k] <= 0)
			continue;
		out->param[k] = given[k];
		if (!(given[k] >= p->least && given[k] <= p->most))
			status = qn_report(env, QN_EUSAGE, "calibrate.search", i->part->out,
					   "%s of the search is %g (expected a number from %g to "
					   "%g, or 0 for %g)",
					   p->name, given[k], p->least, p->most, p->otherwise);
	}
	if (s->metric != QN_SEARCH_MSE && s->metric != QN_SEARCH_COSINE)
		status = qn_report(env, QN_EUSAGE, "calibrate.search", i->part->out,
				   "unknown metric %d (expected QN_SEARCH_MSE or QN_SEARCH_COSINE)",
				   (int)s->metric);
	return status;
}

static qn_status
search_output(void *arg, qn_arena *scratch)
{
	search_call *c = arg;
	qn_env *env = c->i->graphs->m->env;
	qn_method_opts o;
	qn_search known;

	QN_TRY(QN_TAKE(env, qn_search, c->search, &known));
	QN_TRY(search_opts(env, c->i, &known, scratch, &o));
	return o.method->search(&o, c->i);
}

qn_status
qn_search_output(void *search, qn_info *i)
{
	return qn_guard(ctx_of(i), search_output, &(search_call){.i = i, .search = search});
}
