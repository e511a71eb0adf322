/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - see trial.h.
 *
 *   float graph ─prepare─quantize─calibrate─▶ outputs ─▶ error on the samples of each part */
#include "driver/trial.h"

#include <math.h>
#include <string.h>

#include "calibrate/evaluate.h"
#include "calibrate/outcome.h"
#include "driver/quantizer.h"
#include "driver/statistics.h"
#include "ir/diag.h"
#include "ir/snapshot.h"
#include "runtime/math.h"

enum {
	HOLD = 4, /* these two as calibrate/repair.c */
	LEAST_TO_HOLD = 8
};

bool
qn_trial_has(const qn_dataset *data, qn_trial_part part, size_t batch)
{
	const bool held = batch % HOLD == HOLD - 1;

	return data->nbatch < LEAST_TO_HOLD || held == (part == QN_TRIAL_HELD);
}

static bool
is_wanted(const qn_trials *t, size_t batch)
{
	return !t->held_only || qn_trial_has(t->data, QN_TRIAL_HELD, batch);
}

/* ---- the float graph ---- */

static qn_id *
compared(const qn_graph *g, qn_arena *a)
{
	qn_id *id = QN_NEW(a, qn_id, g->noutput + 1);

	for (size_t k = 0; k < g->noutput; k++)
		id[k] = k < qn_graph_given(g) ? qn_output_compared(g, g->output[k].value)
					      : g->output[k].value; /* a state as it is */
	return id;
}

static void
keep(qn_trials *t, size_t batch, size_t output, const qn_tensor *y)
{
	const size_t n = (size_t)qn_type_count(y->type);
	const float *v = y->data;
	double power = 0;

	t->wanted[batch][output] = qn_arena_copy(t->p->m->scratch, v, n * sizeof *v);
	for (size_t i = 0; i < n; i++)
		power += (double)v[i] * (double)v[i];
	for (qn_trial_part part = 0; part < QN_TRIAL_PARTS; part++)
		if (qn_trial_has(t->data, part, batch))
			t->power[part][output] += power;
}

qn_status
qn_trials_observe(qn_trials *t, const qn_graph *g)
{
	qn_arena *a = t->p->m->scratch;
	qn_evaluator *e = qn_evaluator_new(g, t->data, 0, a);
	const qn_tensor **y = QN_NEW(a, const qn_tensor *, g->noutput + 1);
	const qn_id *id = compared(g, a);

	t->noutput = g->noutput;
	t->wanted = QN_NEW(a, float **, t->data->nbatch + 1);
	for (qn_trial_part part = 0; part < QN_TRIAL_PARTS; part++)
		t->power[part] = QN_NEW(a, double, g->noutput + 1);
	for (size_t b = 0; b < t->data->nbatch; b++) {
		if (!is_wanted(t, b))
			continue;
		QN_TRY(qn_evaluator_run(e, g->noutput, id, b, y));
		t->wanted[b] = QN_NEW(a, float *, g->noutput + 1);
		for (size_t k = 0; k < g->noutput; k++)
			if (qn_type_is_f32(y[k]->type))
				keep(t, b, k, y[k]);
	}
	qn_evaluator_changed(e); /* its plan is not used again */
	return QN_OK;
}

/* ---- a trial ---- */

typedef struct trial_call {
	const qn_trials *t;
	const qn_trial *trial;
	double *error;
	bool done;
} trial_call;

/* The error of one output on one batch. */
static double
error_of(const float *want, const qn_tensor *y)
{
	double error = 0;

	for (int64_t i = 0; i < qn_type_count(y->type); i++) {
		const double d = qn_tensor_f64(y, i) - (double)want[i];

		error += d * d;
	}
	return error;
}

/* The states of g as it runs itself: before each batch, but only those of a batch and of the next one are there. */
typedef struct own_states {
	const void ***by_batch; /* [nstate][nbatch + 1] */
	void **buffer[2];       /* [nstate] of even and of odd batches */
	const void **first;     /* [nstate] that begin sequences */
} own_states;

static own_states
begin_states(const qn_graph *g, const qn_dataset *data, qn_arena *a)
{
	own_states s = {.by_batch = QN_NEW(a, const void **, g->nstate),
			.buffer = {QN_NEW(a, void *, g->nstate), QN_NEW(a, void *, g->nstate)},
			.first = QN_NEW(a, const void *, g->nstate)};

	for (size_t k = 0; k < g->nstate; k++) {
		const size_t bytes = (size_t)qn_type_bytes(qn_graph_state(g, k)->type);

		s.first[k] = qn_graph_state_init(g, k, a)->data;
		s.buffer[0][k] = qn_arena_alloc(a, bytes, 1);
		s.buffer[1][k] = qn_arena_alloc(a, bytes, 1);
		s.by_batch[k] = QN_NEW(a, const void *, data->nbatch + 1);
		s.by_batch[k][0] = s.first[k];
	}
	return s;
}

/* What batch b leaves is there before the next one, unless that begins a sequence. */
static void
keep_states(const qn_graph *g, const qn_dataset *data, size_t b, const qn_tensor *const *y,
	    const own_states *s)
{
	const bool begins = data->sequence > 0 && (b + 1) % data->sequence == 0;

	for (size_t k = 0; k < g->nstate; k++) {
		const qn_tensor *next = y[qn_graph_given(g) + k];
		void *to = s->buffer[(b + 1) % 2][k];

		memcpy(to, next->data, next->bytes);
		s->by_batch[k][b + 1] = begins ? s->first[k] : to;
	}
}

qn_status
qn_trials_error(const qn_trials *t, qn_evaluator *e, const qn_graph *g, qn_arena *a,
		double error[QN_TRIAL_PARTS])
{
	const qn_tensor **y = QN_NEW(a, const qn_tensor *, g->noutput + 1);
	const qn_id *id = compared(g, a);
	const bool follows = e == NULL && g->nstate > 0;
	qn_dataset own = *t->data;
	own_states states = {0};

	if (follows) {
		states = begin_states(g, &own, a);
		own.states = (const void *const *const *)states.by_batch;
	}
	if (e == NULL)
		e = qn_evaluator_new(g, &own, 0, a);
	error[QN_TRIAL_FIT] = error[QN_TRIAL_HELD] = 0;
	for (size_t b = 0; b < t->data->nbatch; b++) {
		if (!is_wanted(t, b) && !follows)
			continue;
		QN_TRY(qn_evaluator_run(e, g->noutput, id, b, y));
		if (follows)
			keep_states(g, &own, b, y, &states);
		for (size_t k = 0; is_wanted(t, b) && k < g->noutput; k++) {
			const float *want = t->wanted[b][k];
			const double squares = want != NULL ? error_of(want, y[k]) : 0;

			for (qn_trial_part part = 0; part < QN_TRIAL_PARTS; part++)
				if (t->power[part][k] > 0 && qn_trial_has(t->data, part, b))
					error[part] += squares / t->power[part][k];
		}
	}
	return QN_OK;
}

/* Always fails, so that the model is as before. */
static qn_status
try_quantized(void *arg, qn_model *m)
{
	trial_call *c = arg;
	const qn_trial *trial = c->trial;
	qn_pipeline *p = c->t->p;
	qn_quant_opts quant = *trial->quant;
	qn_calib_opts calib;
	qn_samples_id id;

	quant.explain = NULL; /* what is tried is not what becomes of the model */
	if (trial->prepare != NULL)
		QN_TRY(trial->prepare(trial->arg, m));
	QN_TRY(qn_quantize_model(m, &quant));
	m->quantized_here = true; /* until the model is as before */
	QN_TRY(qn_calib_options(m, p->opts, p->crc, m->scratch, &calib, &id));
	qn_quantizers_callbacks(&quant, m->scratch, &calib);
	QN_TRY(qn_calibrate_model(m, c->t->data, &calib));
	QN_TRY(qn_one_graph(p, m->env->trace_pass));
	const qn_graph *g = qn_model_entry(m);
	QN_TRY(qn_trials_error(c->t, NULL, g, m->scratch, c->error));
	if (trial->look != NULL)
		QN_TRY(trial->look(trial->arg, m));
	c->done = true;
	return QN_ECANCELLED;
}

qn_status
qn_trial_run(const qn_trials *t, const qn_trial *trial, double error[QN_TRIAL_PARTS])
{
	qn_model *m = t->p->m;
	qn_env *env = m->env;
	qn_arena *graphs = m->graphs, *scratch = m->scratch, *own = qn_arena_child(scratch);
	const qn_diag_mark mark = qn_diag_mark_now(env);
	qn_log_fn *log = env->log, *trace = env->trace;
	trial_call c = {.t = t, .trial = trial, .error = error};

	m->graphs = qn_arena_child(own);
	m->scratch = own;
	env->log = env->trace = NULL;
	const qn_status status = qn_model_change(m, own, try_quantized, &c);
	env->log = log;
	env->trace = trace;
	m->graphs = graphs;
	m->scratch = scratch;
	qn_arena_release(own);
	if (!c.done)
		return status;
	qn_diag_forget(env, mark);
	return QN_OK;
}

double
qn_trial_decibel(const qn_trials *t, qn_trial_part part, double error)
{
	size_t measured = 0;

	if (!(error > 0)) /* no output was measured, or none differs */
		return (double)INFINITY;
	for (size_t k = 0; k < t->noutput; k++)
		measured += t->power[part][k] > 0;
	const double db = -10 * (qn_ln(error / (double)measured) / qn_ln(10));

	return rint(100 * db) / 100;
}
