/* SPDX-License-Identifier: Apache-2.0 */
/* equalize.c - see equalize.h.
 *
 *   for each group, for each of three ways to choose s:
 *     graph with s ─partition─quantize─calibrate─▶ outputs ─▶ error on held-back samples     less than before: s stays */
#include "driver/equalize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/evaluate.h"
#include "driver/calibration.h"
#include "driver/quantizer.h"
#include "driver/statistics.h"
#include "ir/diag.h"
#include "ir/progress.h"
#include "passes/equalize.h"
#include "patterns/rewrite.h"
#include "runtime/math.h"

enum {
	HOLD = 4, /* these two as calibrate/repair.c */
	LEAST_TO_HOLD = 8,
	ROUNDS = 2 /* what a group gains depends on the others */
};

/* What has to be gained: below this share of the error it is chance. */
static const double least_gain = 0.1;

/* The ranges that s follows from: those of weights count with their scale per tensor, those of activations always. */
typedef enum way { BY_WEIGHTS, BY_ACTIVATIONS, BY_BOTH, NWAY } way;

typedef struct equalizing {
	qn_pipeline *p;
	qn_dataset *data;
	qn_equalizing e;
	float **peak;    /* by group, by channel: largest magnitude of activations */
	float ***wanted; /* by held batch, by output: the float values */
	double *power;   /* by output: sum of their squares */
	size_t nheld, noperand;
	qn_id *operand; /* of all groups */
	const qn_tensor **value;
} equalizing;

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
is_held(const equalizing *q, size_t batch)
{
	return q->data->nbatch < LEAST_TO_HOLD || batch % HOLD == HOLD - 1;
}

static void
take_peaks(const equalizing *q, size_t group, const qn_tensor *y)
{
	const int64_t n = qn_type_count(y->type), channels = q->e.group[group].channels;
	const float *v = y->data;

	for (int64_t i = 0; i < n; i++) {
		float *most = &q->peak[group][i % channels];

		*most = fabsf(v[i]) > *most ? fabsf(v[i]) : *most;
	}
}

static qn_status
observe_operands(equalizing *q, qn_evaluator *e, size_t batch)
{
	size_t n = 0;

	QN_TRY(qn_evaluator_run(e, q->noperand, q->operand, batch, q->value));
	for (size_t k = 0; k < q->e.n; k++)
		for (size_t i = 0; i < q->e.group[k].noperand; i++)
			take_peaks(q, k, q->value[n++]);
	return QN_OK;
}

static qn_status
observe_outputs(equalizing *q, qn_evaluator *e, size_t batch, size_t held)
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

/* Ranges of activations on the samples that fit, outputs on those that are held back. */
static qn_status
observe(equalizing *q)
{
	qn_arena *a = q->p->m->scratch;
	qn_evaluator *e = qn_evaluator_new(q->e.g, q->data, 0, a);
	const size_t n = q->data->nbatch;

	q->peak = QN_NEW(a, float *, q->e.n + 1);
	q->operand = QN_NEW(a, qn_id, q->e.g->n + 1);
	q->value = QN_NEW(a, const qn_tensor *, q->e.g->n + 1);
	for (size_t k = 0; k < q->e.n; k++) {
		const qn_equal_group *group = &q->e.group[k];

		q->peak[k] = QN_NEW(a, float, (size_t)group->channels);
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
	equalizing *q;
	double error;
	bool done;
} trial;

static qn_status
output_error(const equalizing *q, double *error)
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

/* The outputs' error with the exponents that the groups have now. */
static qn_status
measure(equalizing *q, double *error)
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

/* ---- choices ---- */

static int
by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Halves of the logarithms of rows against columns, less their median, rounded: then both are alike. */
static void
choose(equalizing *q, size_t k, way by)
{
	const qn_equal_group *group = &q->e.group[k];
	qn_arena *a = qn_arena_child(q->p->m->scratch);
	double *log = QN_NEW(a, double, (size_t)group->channels), *sorted;
	size_t n = 0;

	qn_equalize_measure(&q->e, k, a);
	for (int64_t i = 0; i < group->channels; i++) {
		const double w = (double)group->rows[i], y = (double)q->peak[k][i];
		double from = sqrt(w * y);

		if (by == BY_WEIGHTS)
			from = w;
		else if (by == BY_ACTIVATIONS)
			from = y;
		log[i] = NAN;
		if (from > 0 && group->columns[i] > 0)
			log[i] = (qn_ln(from) - qn_ln((double)group->columns[i])) / (2 * qn_ln(2));
	}
	sorted = QN_NEW(a, double, (size_t)group->channels);
	for (int64_t i = 0; i < group->channels; i++)
		if (!isnan(log[i]))
			sorted[n++] = log[i];
	qsort(sorted, n, sizeof *sorted, by_value);
	for (int64_t i = 0; i < group->channels; i++) {
		const double s = isnan(log[i]) ? 0 : rint(log[i] - sorted[n / 2]);

		group->exponent[i] = (int8_t)(s > QN_EQUALIZE_MOST    ? QN_EQUALIZE_MOST
					      : s < -QN_EQUALIZE_MOST ? -QN_EQUALIZE_MOST
								      : s);
	}
	qn_arena_release(a);
}

/* Exponents of all groups, one group after the other. */
static void
save(const equalizing *q, int8_t *to)
{
	for (size_t k = 0; k < q->e.n; to += q->e.group[k++].channels)
		memcpy(to, q->e.group[k].exponent, (size_t)q->e.group[k].channels);
}

static void
load(equalizing *q, const int8_t *from)
{
	for (size_t k = 0; k < q->e.n; from += q->e.group[k++].channels)
		memcpy(q->e.group[k].exponent, from, (size_t)q->e.group[k].channels);
}

/* All groups together: a group alone may be of no use where another one spoils the outputs. */
static qn_status
equalize_all(equalizing *q, double *error)
{
	size_t n = 0;

	for (size_t k = 0; k < q->e.n; k++)
		n += (size_t)q->e.group[k].channels;
	int8_t *best = QN_NEW(q->p->m->scratch, int8_t, n + 1);
	const int8_t *none = QN_NEW(q->p->m->scratch, int8_t, n + 1);
	for (way by = BY_WEIGHTS; by < NWAY; by++) {
		double tried;

		load(q, none);
		for (size_t i = 0; i < ROUNDS * q->e.n; i++)
			choose(q, i % q->e.n, by);
		QN_TRY(measure(q, &tried));
		if (!(tried < *error * (1 - least_gain)))
			continue;
		*error = tried;
		save(q, best);
	}
	load(q, best);
	return QN_OK;
}

static bool
is_scaled(const qn_equal_group *group)
{
	for (int64_t i = 0; i < group->channels; i++)
		if (group->exponent[i] != 0)
			return true;
	return false;
}

/* The scales with the least error; none where none are as good.  *error: the least so far. */
static qn_status
equalize_group(equalizing *q, size_t k, double *error)
{
	const qn_equal_group *group = &q->e.group[k];
	const size_t n = (size_t)group->channels;
	int8_t *best = qn_arena_copy(q->p->m->scratch, group->exponent, n);
	const bool was_scaled = is_scaled(group);
	double tried;

	for (way by = BY_WEIGHTS; by < NWAY; by++) {
		choose(q, k, by);
		QN_TRY(measure(q, &tried));
		if (!(tried < *error * (1 - least_gain)))
			continue;
		*error = tried;
		memcpy(best, group->exponent, n);
	}
	memset(group->exponent, 0, n);
	if (was_scaled) {
		QN_TRY(measure(q, &tried));
		if (tried <= *error) {
			*error = tried;
			return QN_OK;
		}
	}
	memcpy(group->exponent, best, n);
	return QN_OK;
}

/* Hundredths of dB. */
static double
decibel(const equalizing *q, double error)
{
	size_t measured = 0;

	for (size_t k = 0; k < q->e.g->noutput; k++)
		measured += q->power[k] > 0;
	const double db = -10 * (qn_ln(error / (double)measured) / qn_ln(10));

	return error > 0 ? rint(100 * db) / 100 : (double)INFINITY;
}

/* What it brought; names of the groups that changed. */
static void
tell(const equalizing *q, size_t nkept, double before, double after)
{
	qn_model *m = q->p->m;
	const char *comma = "";
	qn_buf b;

	qn_buf_init(&b, m->scratch);
	for (size_t k = 0; k < q->e.n; k++) {
		if (!is_scaled(&q->e.group[k]))
			continue;
		qn_buff(&b, "%s%s", comma, q->e.group[k].name);
		comma = ", ";
	}
	if (nkept == 0)
		qn_warn(m->env, "equalize.dropped", m->name,
			"no channels are scaled: none of %zu groups brings the outputs nearer to "
			"the float ones on the samples held back (SQNR %g dB); more samples may "
			"help",
			q->e.n, decibel(q, before));
	else
		qn_log(m->env,
		       "equalize: channels of %zu of %zu groups of layers are scaled (%s): SQNR of "
		       "the outputs %g dB, before %g dB",
		       nkept, q->e.n, qn_buf_str(&b), decibel(q, after), decibel(q, before));
	qn_model_record(m, "equalize=%zu/%zu:%g:%g", nkept, q->e.n, decibel(q, before),
			decibel(q, after));
}

static qn_status
refuse(const qn_pipeline *p)
{
	const qn_compile_opts *o = p->opts;

	if (o->ncalib == 0)
		return qn_report(p->m->env, QN_EUSAGE, "equalize.no-data", p->m->name,
				 "equalization needs the calibration data itself; give samples "
				 "(--calib)");
	if (o->stats != NULL || o->encodings != NULL)
		return qn_report(
			p->m->env, QN_EUSAGE, "equalize.ranges", p->m->name,
			"equalization changes the ranges of activations, so that those of "
			"statistics or encodings do not fit; give samples alone (--calib)");
	return QN_OK;
}

qn_status
qn_run_equalize(qn_pipeline *p)
{
	equalizing q = {.p = p};
	double before = 0, after;
	size_t nkept = 0;
	qn_graph *g;

	QN_TRY(refuse(p));
	QN_TRY(qn_calibration_data(p->m, p->opts, p->m->scratch, &q.data));
	qn_equalize_find(qn_model_entry(p->m), p->m->scratch, &q.e);
	QN_TRY(observe(&q));
	QN_TRY(measure(&q, &before));
	after = before;
	QN_TRY(equalize_all(&q, &after));
	for (size_t i = 0; i < ROUNDS * q.e.n; i++) {
		QN_TRY(equalize_group(&q, i % q.e.n, &after));
		QN_TRY(qn_progress(p->m->env, "equalize", i + 1, ROUNDS * q.e.n));
	}
	for (size_t k = 0; k < q.e.n; k++)
		nkept += is_scaled(&q.e.group[k]);
	tell(&q, nkept, before, after);
	if (nkept == 0)
		return QN_OK;
	QN_TRY(qn_equalize_apply(p->m, &q.e, &g));
	qn_model_set_graph(p->m, g);
	return QN_OK;
}
