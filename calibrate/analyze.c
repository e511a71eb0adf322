/* SPDX-License-Identifier: Apache-2.0 */
/* analyze.c - see analyze.h. */
#include "calibrate/analyze.h"

#include <string.h>

#include "calibrate/calibrate.h"
#include "calibrate/evaluate.h"
#include "ir/diag.h"
#include "ir/limits.h"
#include "ir/progress.h"

enum { KEEP_BYTES = 1 << 29 }; /* of values between layers, for all samples and both graphs */

/* A value of all samples. */
typedef struct series {
	size_t n;    /* bytes of one */
	void **data; /* by batch */
} series;

typedef struct analysis {
	qn_model *m;
	qn_dataset *data;
	const qn_graph *g, *real;
	const qn_id *map;
	qn_evaluator *quantized, *floating; /* of g, of real */
	size_t noutput;
	qn_id *output, *real_output; /* of g, of real */
	series *wanted;              /* of the float graph's outputs */
	double *power;               /* of each output: the sum of its squares */
} analysis;

static double
squares(const qn_tensor *x, const float *less)
{
	const float *v = x->data;
	double sum = 0;

	for (int64_t i = 0; i < qn_type_count(x->type); i++) {
		const double d = (double)v[i] - (less != NULL ? (double)less[i] : 0);

		sum += d * d;
	}
	return sum;
}

/* ---- values of all samples ---- */

static series
make_series(const analysis *s, const qn_type *t, qn_arena *a)
{
	series v = {qn_type_bytes(t), QN_NEW(a, void *, s->data->nbatch)};

	for (size_t b = 0; b < s->data->nbatch; b++)
		v.data[b] = qn_arena_alloc(a, v.n > 0 ? v.n : 1, 1);
	return v;
}

/* The value `id` of e with some of its inputs replaced by series. */
static qn_status
collect(const analysis *s, qn_evaluator *e, size_t n, const qn_id *replaced, const series *by,
	qn_id id, qn_arena *a, const series *to)
{
	const void **data = QN_NEW(a, const void *, n + 1);
	const qn_tensor *y;

	for (size_t b = 0; b < s->data->nbatch; b++) {
		for (size_t i = 0; i < n; i++)
			data[i] = by[i].data[b];
		QN_TRY(qn_evaluator_run_with(e, &(qn_replaced){n, replaced, data}, 1, &id, b, &y));
		memcpy(to->data[b], y->data, to->n);
	}
	return QN_OK;
}

/* The noise of the network's outputs where e has this value instead of its own. */
static qn_status
output_noise(const analysis *s, qn_evaluator *e, qn_id id, const series *by, qn_arena *a,
	     double *out)
{
	const qn_id *want = e == s->quantized ? s->output : s->real_output;
	const qn_tensor **y = QN_NEW(a, const qn_tensor *, s->noutput);

	*out = 0;
	for (size_t b = 0; b < s->data->nbatch; b++) {
		const void *data = by != NULL ? by->data[b] : NULL;
		const qn_replaced with = {by != NULL, &id, &data};

		QN_TRY(qn_evaluator_run_with(e, &with, s->noutput, want, b, y));
		for (size_t k = 0; k < s->noutput; k++)
			if (s->power[k] > 0)
				*out += squares(y[k], s->wanted[k].data[b]) / s->power[k];
	}
	return QN_OK;
}

/* ---- a layer ---- */

/* The quantize of a part's constant, whose parameters are bound; NULL: it stays as it is. */
static const qn_node *
quantize_of(const qn_graph *g, qn_id x)
{
	for (qn_id id = x + 1; id < g->n; id++)
		if (qn_graph_node(g, id)->op == QN_OP_quantize && qn_graph_node(g, id)->in[0] == x)
			return qn_graph_node(g, id);
	return NULL;
}

/* A constant as its quantized values stand for it, for all samples the same. */
static qn_status
quantized_constant(const analysis *s, qn_id x, qn_arena *a, series *out, bool *any)
{
	const qn_node *q = quantize_of(s->g, x), *c = qn_graph_node(s->g, x);

	*any = q != NULL && qn_type_is_f32(c->type);
	if (!*any)
		return QN_OK;
	const qn_type *type = qn_type_bind(&s->m->types, q->name, q->type);
	if (type == NULL)
		return QN_EINVALID;
	const qn_tensor *quantized = qn_tensor_quantize(&s->m->types, a, c->value, type);
	const qn_tensor *real = qn_tensor_dequantize(&s->m->types, a, quantized, c->type);
	*out = (series){real->bytes, QN_NEW(a, void *, s->data->nbatch)};
	void *data = qn_arena_copy(a, real->data, real->bytes);
	for (size_t b = 0; b < s->data->nbatch; b++)
		out->data[b] = data;
	return QN_OK;
}

typedef struct operands {
	size_t ndata, nconstant;
	qn_id *data, *constant; /* of the symbolic graph */
	qn_id *real_data, *real_constant;
	series *given, *found,
		*rounded; /* by data: of the float, the quantized graph; by constant */
} operands;

static qn_status
find_operands(const analysis *s, const qn_part *part, qn_arena *a, operands *o)
{
	qn_id *id = QN_NEW(a, qn_id, 4 * (size_t)part->nin);
	series *v = QN_NEW(a, series, 3 * (size_t)part->nin);

	*o = (operands){.data = id,
			.constant = id + part->nin,
			.real_data = id + 2 * (size_t)part->nin,
			.real_constant = id + 3 * (size_t)part->nin,
			.given = v,
			.found = v + part->nin,
			.rounded = v + 2 * (size_t)part->nin};
	for (uint32_t i = 0; i < part->nin; i++) {
		const qn_id x = qn_graph_find(s->g, part->in[i]);
		const qn_node *n = qn_graph_node(s->g, x);
		bool any;

		if (x == 0 || s->map[x] == 0 || !qn_type_is_f32(n->type))
			continue;
		if (n->op == QN_OP_const) {
			QN_TRY(quantized_constant(s, x, a, &o->rounded[o->nconstant], &any));
			if (!any)
				continue;
			o->real_constant[o->nconstant] = s->map[x];
			o->constant[o->nconstant++] = x;
			continue;
		}
		const size_t k = o->ndata++;
		o->data[k] = x;
		o->real_data[k] = s->map[x];
		o->given[k] = make_series(s, n->type, a);
		o->found[k] = make_series(s, n->type, a);
		QN_TRY(collect(s, s->floating, 0, NULL, NULL, s->map[x], a, &o->given[k]));
		QN_TRY(collect(s, s->quantized, 0, NULL, NULL, x, a, &o->found[k]));
	}
	return QN_OK;
}

/* The noise of the layer's output in the quantized graph. */
static qn_status
noise_here(const analysis *s, qn_id out, const series *wanted, double *noise)
{
	double error = 0, power = 0;
	const qn_tensor *y;

	for (size_t b = 0; b < s->data->nbatch; b++) {
		qn_tensor real;

		QN_TRY(qn_evaluator_run(s->quantized, 1, &out, b, &y));
		real = *y;
		real.data = wanted->data[b];
		error += squares(y, wanted->data[b]);
		power += squares(&real, NULL);
	}
	*noise = power > 0 ? error / power : 0;
	return QN_OK;
}

static qn_status
analyze_layer(const analysis *s, qn_layer_noise *l, qn_arena *a)
{
	const qn_id out = l->out, real = s->map[out];
	const qn_type *type = qn_graph_node(s->g, out)->type;
	series y = make_series(s, type, a);
	operands o;

	QN_TRY(find_operands(s, l->part, a, &o));
	QN_TRY(collect(s, s->floating, 0, NULL, NULL, real, a, &y));
	QN_TRY(noise_here(s, out, &y, &l->here));
	/* the layer quantized, its operands those of the float graph */
	QN_TRY(collect(s, s->quantized, o.ndata, o.data, o.given, out, a, &y));
	QN_TRY(output_noise(s, s->floating, real, &y, a, &l->alone));
	if (o.nconstant > 0) {
		QN_TRY(collect(s, s->floating, o.nconstant, o.real_constant, o.rounded, real, a,
			       &y));
		QN_TRY(output_noise(s, s->floating, real, &y, a, &l->weights));
	}
	l->data = l->alone > l->weights ? l->alone - l->weights : 0;
	/* the layer in float, its operands those of the quantized graph */
	QN_TRY(collect(s, s->floating, o.ndata, o.real_data, o.found, real, a, &y));
	return output_noise(s, s->quantized, out, &y, a, &l->without);
}

/* ---- the network ---- */

/* Keeps what layers begin with, and their outputs. */
static qn_status
keep_values(const analysis *s, const qn_noise_analysis *n)
{
	qn_arena *a = s->m->scratch;

	for (size_t i = 0; i < n->n; i++) {
		const qn_part *p = n->layer[i].part;
		qn_id *id = QN_NEW(a, qn_id, (size_t)p->nin + 1);
		size_t count = 0;

		for (uint32_t k = 0; k < p->nin; k++) {
			const qn_id x = qn_graph_find(s->g, p->in[k]);

			if (x != 0 && s->map[x] != 0 && qn_graph_node(s->g, x)->op != QN_OP_const)
				id[count++] = x;
		}
		id[count++] = n->layer[i].out;
		QN_TRY(qn_evaluator_cache(s->quantized, count, id));
		for (size_t k = 0; k < count; k++)
			id[k] = s->map[id[k]];
		QN_TRY(qn_evaluator_cache(s->floating, count, id));
		QN_TRY(qn_progress(s->m->env, "samples", i + 1, n->n));
	}
	return QN_OK;
}

/* Outputs of a float type; their float values and squares. */
static qn_status
find_outputs(analysis *s)
{
	qn_arena *a = s->m->scratch;
	const qn_tensor *y;

	s->output = QN_NEW(a, qn_id, s->g->noutput);
	s->real_output = QN_NEW(a, qn_id, s->g->noutput);
	s->wanted = QN_NEW(a, series, s->g->noutput);
	s->power = QN_NEW(a, double, s->g->noutput);
	for (size_t i = 0; i < s->g->noutput; i++) {
		const qn_id id = s->g->output[i].value;
		const qn_type *type = qn_graph_node(s->g, id)->type;
		const size_t k = s->noutput;

		if (!qn_type_is_f32(type))
			continue;
		s->output[k] = id;
		s->real_output[k] = s->map[id];
		s->wanted[k] = make_series(s, type, a);
		for (size_t b = 0; b < s->data->nbatch; b++) {
			QN_TRY(qn_evaluator_run(s->floating, 1, &s->real_output[k], b, &y));
			memcpy(s->wanted[k].data[b], y->data, s->wanted[k].n);
			s->power[k] += squares(y, NULL);
		}
		s->noutput++;
	}
	if (s->noutput > 0)
		return QN_OK;
	return qn_report(s->m->env, QN_EUNSUPPORTED, "analyze.output", s->m->name,
			 "no output of the network is float: there is nothing to measure by");
}

static qn_status
check(const qn_model *m)
{
	if (m->stage != QN_STAGE_SYMBOLIC)
		return qn_report(m->env, QN_EINVALID, "analyze.stage", m->name,
				 "analyze takes a float model, or one that stopped after calibrate "
				 "or repair; "
				 "this one is %s%s",
				 qn_stage_names[m->stage],
				 m->stage > QN_STAGE_SYMBOLIC
					 ? "; --from-float dequantizes a quantized file"
					 : "");
	if (qn_model_entry(m)->parts == NULL)
		return qn_report(m->env, QN_EINVALID, "analyze.parts", m->name,
				 "analyze needs to know what patterns matched, and this graph does "
				 "not say so; start from the float model, without --solver");
	return QN_OK;
}

qn_status
qn_analyze_noise(qn_model *m, qn_dataset *data, qn_noise_analysis *out)
{
	analysis s = {.m = m, .data = data, .g = qn_model_entry(m)};

	QN_TRY(check(m));
	QN_TRY(qn_float_form(m, s.g, &s.real, &s.map));
	*out = (qn_noise_analysis){.real = s.real, .map = s.map};
	for (const qn_part *p = s.g->parts; p != NULL; p = p->next)
		out->n++;
	out->layer = QN_NEW(m->scratch, qn_layer_noise, out->n);
	out->n = 0;
	for (const qn_part *p = s.g->parts; p != NULL; p = p->next) {
		const qn_id id = qn_graph_find(s.g, p->out);

		if (id != 0 && s.map[id] != 0 && qn_type_is_f32(qn_graph_node(s.g, id)->type))
			out->layer[out->n++] = (qn_layer_noise){.part = p, .out = id};
	}
	s.quantized = qn_evaluator_new(s.g, data, KEEP_BYTES / 2, m->scratch);
	s.floating = qn_evaluator_new(s.real, data, KEEP_BYTES / 2, m->scratch);
	QN_TRY(keep_values(&s, out));
	QN_TRY(find_outputs(&s));
	QN_TRY(output_noise(&s, s.quantized, 0, NULL, m->scratch, &out->all));
	for (size_t i = 0; i < out->n; i++) {
		qn_arena *a = qn_arena_child(m->scratch);
		const uint64_t steps =
			qn_evaluator_steps(s.quantized) + qn_evaluator_steps(s.floating);

		QN_TRY(analyze_layer(&s, &out->layer[i], a));
		qn_arena_release(a);
		if (steps > qn_limit(m->env, QN_LIMIT_STEPS))
			return qn_limit_report(m->env, QN_LIMIT_STEPS, out->layer[i].part->out,
					       steps);
		QN_TRY(qn_progress(m->env, "layers", i + 1, out->n));
	}
	return QN_OK;
}
