/* SPDX-License-Identifier: Apache-2.0 */
/* equalize_trial.c - how near the outputs of the quantized network are to the float ones with the scales of channels that are
 * tried (driver/equalize.h).
 *
 *   graph with s ─partition─quantize─calibrate─▶ outputs ─▶ error on held-back samples */
#include "driver/equalize_impl.h"

#include <math.h>
#include <string.h>

#include "calibrate/evaluate.h"
#include "driver/quantizer.h"
#include "driver/statistics.h"
#include "ir/diag.h"
#include "patterns/rewrite.h"

enum {
	HOLD = 4, /* these two as calibrate/repair.c */
	LEAST_TO_HOLD = 8
};

/* ---- samples ---- */

/* What is compared of an output: the float operand of a softmax at its end, which says more than
 * probabilities near 0 and 1. */
static qn_id
compared(const qn_graph *g, qn_id output)
{
	qn_id id = output;

	while (qn_graph_node(g, id)->op == QN_OP_dequantize ||
	       qn_graph_node(g, id)->op == QN_OP_quantize)
		id = qn_graph_node(g, id)->in[0];
	if (qn_graph_node(g, id)->op != QN_OP_softmax)
		return output;
	id = qn_graph_node(g, id)->in[0];
	while (qn_graph_node(g, id)->op == QN_OP_quantize)
		id = qn_graph_node(g, id)->in[0];
	return qn_type_is_f32(qn_graph_node(g, id)->type) ? id : output;
}

static bool
is_held(const qn_equalize_search *q, size_t batch)
{
	return q->data->nbatch < LEAST_TO_HOLD || batch % HOLD == HOLD - 1;
}

static void
take_peaks(const qn_equalize_search *q, size_t group, const qn_tensor *y)
{
	const int64_t n = qn_type_count(y->type), channels = q->e.group[group].channels;
	const float *v = y->data;

	for (int64_t i = 0; i < n; i++) {
		float *most = &q->peak[group][i % channels];
		float *least = &q->least[group][i % channels];

		*most = fabsf(v[i]) > *most ? fabsf(v[i]) : *most;
		*least = v[i] < *least ? v[i] : *least;
	}
}

static qn_status
observe_operands(qn_equalize_search *q, qn_evaluator *e, size_t batch)
{
	size_t n = 0;

	QN_TRY(qn_evaluator_run(e, q->noperand, q->operand, batch, q->value));
	for (size_t k = 0; k < q->e.n; k++)
		for (size_t i = 0; i < q->e.group[k].noperand; i++)
			take_peaks(q, k, q->value[n++]);
	return QN_OK;
}

static qn_status
observe_outputs(qn_equalize_search *q, qn_evaluator *e, size_t batch, size_t held)
{
	const qn_graph *g = q->e.g;
	qn_arena *a = q->p->m->scratch;

	q->wanted[held] = QN_NEW(a, float *, g->noutput);
	for (size_t k = 0; k < g->noutput; k++) {
		const qn_tensor *y = NULL;

		const qn_id value = compared(g, g->output[k].value);

		QN_TRY(qn_evaluator_run(e, 1, &value, batch, &y));
		if (!qn_type_is_f32(y->type))
			continue;
		const size_t n = (size_t)qn_type_count(y->type);
		q->wanted[held][k] = qn_arena_copy(a, y->data, n * sizeof(float));
		for (size_t i = 0; i < n; i++) {
			const double v = (double)q->wanted[held][k][i];

			q->power[k] += v * v;
		}
	}
	return QN_OK;
}

qn_status
qn_equalize_observe(qn_equalize_search *q)
{
	qn_arena *a = q->p->m->scratch;
	qn_evaluator *e = qn_evaluator_new(q->e.g, q->data, 0, a);
	const size_t n = q->data->nbatch;

	q->peak = QN_NEW(a, float *, q->e.n + 1);
	q->least = QN_NEW(a, float *, q->e.n + 1);
	q->operand = QN_NEW(a, qn_id, q->e.g->n + 1);
	q->value = QN_NEW(a, const qn_tensor *, q->e.g->n + 1);
	for (size_t k = 0; k < q->e.n; k++) {
		const qn_equal_group *group = &q->e.group[k];

		q->peak[k] = QN_NEW(a, float, (size_t)group->channels);
		q->least[k] = QN_NEW(a, float, (size_t)group->channels);
		for (int64_t i = 0; i < group->channels; i++)
			q->least[k][i] = INFINITY;
		for (size_t i = 0; i < group->noperand; i++)
			q->operand[q->noperand++] = group->operand[i];
	}
	q->wanted = QN_NEW(a, float **, n + 1);
	q->power = QN_NEW(a, double, q->e.g->noutput + 1);
	for (size_t b = 0; b < n; b++) {
		if (is_held(q, b))
			QN_TRY(observe_outputs(q, e, b, q->nheld++));
		if (!is_held(q, b) || n < LEAST_TO_HOLD)
			QN_TRY(observe_operands(q, e, b));
	}
	return QN_OK;
}

/* ---- a trial ---- */

typedef struct trial {
	qn_equalize_search *q;
	double error;
	bool done;
} trial;

static qn_status
output_error(const qn_equalize_search *q, double *error)
{
	const qn_graph *g = qn_model_entry(q->p->m);
	qn_evaluator *e = qn_evaluator_new(g, q->data, 0, q->p->m->scratch);
	size_t held = 0;

	*error = 0;
	for (size_t b = 0; b < q->data->nbatch; b++) {
		if (!is_held(q, b))
			continue;
		for (size_t k = 0; k < g->noutput; k++) {
			const float *want = q->wanted[held][k];
			const qn_tensor *y = NULL;

			const qn_id value = compared(g, g->output[k].value);

			QN_TRY(qn_evaluator_run(e, 1, &value, b, &y));
			for (int64_t i = 0;
			     want != NULL && q->power[k] > 0 && i < qn_type_count(y->type); i++) {
				const double d = qn_tensor_f64(y, i) - (double)want[i];

				*error += d * d / q->power[k];
			}
		}
		held++;
	}
	return QN_OK;
}

/* Always fails, so that the model is as before. */
static qn_status
try_quantized(void *arg, qn_model *m)
{
	trial *t = arg;
	qn_pipeline *p = t->q->p;
	qn_graph *g;
	qn_calib_opts calib;
	qn_samples_id id;

	QN_TRY(qn_equalize_apply(m, &t->q->e, &g));
	qn_model_set_graph(m, g);
	QN_TRY(qn_partition(m, &p->quant));
	QN_TRY(qn_quantize_model(m, &p->quant));
	QN_TRY(qn_calib_options(m, p->opts, p->crc, m->scratch, &calib, &id));
	qn_quantizers_callbacks(&p->quant, m->scratch, &calib);
	QN_TRY(qn_calibrate_model(m, t->q->data, &calib));
	QN_TRY(qn_one_graph(p, "equalize"));
	QN_TRY(output_error(t->q, &t->error));
	t->done = true;
	return QN_ECANCELLED;
}

qn_status
qn_equalize_error(qn_equalize_search *q, double *error)
{
	qn_model *m = q->p->m;
	qn_env *env = m->env;
	qn_arena *graphs = m->graphs, *scratch = m->scratch, *own = qn_arena_child(scratch);
	const qn_diag_mark mark = qn_diag_mark_now(env);
	qn_log_fn *log = env->log, *trace = env->trace;
	trial t = {.q = q};

	m->graphs = qn_arena_child(own);
	m->scratch = own;
	env->log = env->trace = NULL;
	const qn_status status = qn_model_change(m, own, try_quantized, &t);
	env->log = log;
	env->trace = trace;
	m->graphs = graphs;
	m->scratch = scratch;
	qn_arena_release(own);
	*error = t.error;
	if (!t.done)
		return status;
	qn_diag_forget(env, mark);
	return QN_OK;
}
