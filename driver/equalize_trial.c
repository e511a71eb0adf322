/* SPDX-License-Identifier: Apache-2.0 */
/* equalize_trial.c - what the pass equalize observes of channels, and the error of the quantized network with the scales of
 * channels that are tried (driver/trial.h). */
#include "driver/equalize_impl.h"

#include <math.h>

#include "calibrate/evaluate.h"
#include "patterns/rewrite.h"

/* ---- samples ---- */

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

qn_status
qn_equalize_observe(qn_equalize_search *q)
{
	qn_arena *a = q->p->m->scratch;
	qn_dataset *data = q->trials.data;
	qn_evaluator *e = qn_evaluator_new(q->e.g, data, 0, a);

	qn_evaluator_stack(e);
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
	for (size_t b = 0; b < data->nbatch; b++)
		if (qn_trial_has(data, QN_TRIAL_FIT, b))
			QN_TRY(observe_operands(q, e, b));
	return qn_trials_observe(&q->trials, q->e.g);
}

/* ---- a trial ---- */

/* The graph with the exponents that groups have now. */
static qn_status
prepare(void *arg, qn_model *m)
{
	qn_equalize_search *q = arg;
	qn_quant_opts quant = q->p->quant;
	qn_graph *g;

	quant.explain = NULL; /* what is tried is not what becomes of the model */
	QN_TRY(qn_equalize_apply(m, &q->e, &g));
	qn_model_set_graph(m, g);
	return qn_partition(m, &quant);
}

qn_status
qn_equalize_error(qn_equalize_search *q, double *error)
{
	double parts[QN_TRIAL_PARTS];
	const qn_trial trial = {.prepare = prepare, .arg = q, .quant = &q->p->quant};

	QN_TRY(qn_trial_run(&q->trials, &trial, parts));
	*error = parts[QN_TRIAL_HELD];
	return QN_OK;
}
