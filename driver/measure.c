/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - runs a model on samples and reports figures of the results (driver/metric.h).
 *
 *   samples ──▶ model ──▶ y of sample 0, 1, 2 …     each sample fills a place of its own, in any order, by any thread
 *                              ↓
 *                  rank, score, differences ──▶ sums in the order of the samples ──▶ figures */
#include "driver/measure.h"

#include <math.h>

#include "calibrate/lint.h"
#include "calibrate/sweep.h"
#include "driver/host_struct.h"
#include "driver/run.h"
#include "ir/diag.h"

/* ---- one sample after the other, by many threads ---- */

typedef struct worker {
	const qn_measurement *c;
	float *real;            /* a batch of the largest output */
	double *y, *want, *tmp; /* a sample of it */
	size_t bad, bad_output; /* the first sample with a NaN or an infinity; SIZE_MAX: none */
} worker;

static bool
is_finite(const double *y, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(y[i]))
			return false;
	return true;
}

/* w->y is row i of output k; those of the first output are samples. */
static void
measure_row(worker *w, size_t k, size_t i)
{
	const qn_measurement *c = w->c;
	const qn_measured *o = &c->out[k];

	if (!is_finite(w->y, o->each)) {
		const size_t sample = qn_measured_sample(o, c->out[0].rows, i);

		if (sample < w->bad) {
			w->bad = sample;
			w->bad_output = k;
		}
		return;
	}
	if (k == 0 && c->rank != NULL)
		c->rank[i] = (uint32_t)qn_rank_of(w->y, o->each, (size_t)c->label[i]);
	if (k == 0 && c->score != NULL)
		c->score[i] = qn_score_of(&c->scoring, i, w->y, w->tmp);
	if (o->want == NULL)
		return;
	qn_row_get(o->want, o->each, i, w->want);
	if (k == 0 && c->wanted_score != NULL)
		c->wanted_score[i] = qn_score_of(&c->scoring, i, w->want, w->tmp);
	o->difference[i] = qn_difference_of(w->y, w->want, o->each);
}

static void
measure_batches(void *user, qn_env *env, const qn_interp *in, size_t first, size_t n)
{
	worker *w = user;
	const qn_measurement *c = w->c;

	(void)env;
	for (size_t j = 0; j < n; j++) {
		size_t at;

		if (!qn_dataset_gives(c->d, first + j, &at))
			continue;
		for (size_t k = 0; k < c->noutput; k++) {
			qn_tensor y = qn_interp_output_of(in, k, j);

			if (c->out[k].real != NULL) {
				qn_dequantize_into(&c->m->types, &y, QN_PLAIN_f32, w->real);
				y = (qn_tensor){.type = c->out[k].real, .data = w->real};
			}
			for (size_t b = 0; b < c->out[k].rows; b++) {
				qn_row_get(&y, c->out[k].each, b, w->y);
				measure_row(w, k, at * c->out[k].rows + b);
			}
		}
	}
}

static qn_status
run_all(qn_measurement *c, qn_arena *a)
{
	size_t most = 0;
	size_t bad = SIZE_MAX;
	const char *name = "";
	qn_sweep *s;

	for (size_t k = 0; k < c->noutput; k++)
		if (c->out[k].rows * c->out[k].each > most)
			most = c->out[k].rows * c->out[k].each; /* of a batch */
	QN_TRY(qn_sweep_new(qn_model_entry(c->m), c->d, a, &s));
	s->stage = "measure";
	worker *w = QN_NEW(a, worker, s->nworker);
	void **user = QN_NEW(a, void *, s->nworker);
	for (size_t i = 0; i < s->nworker; i++) {
		w[i] = (worker){.c = c,
				.real = QN_NEW(a, float, most),
				.y = QN_NEW(a, double, most),
				.want = QN_NEW(a, double, most),
				.tmp = QN_NEW(a, double, most),
				.bad = SIZE_MAX};
		user[i] = &w[i];
	}
	QN_TRY(qn_sweep_run(s, NULL, measure_batches, user));
	for (size_t i = 0; i < s->nworker; i++)
		if (w[i].bad < bad) {
			bad = w[i].bad;
			name = c->out[w[i].bad_output].name;
		}
	return bad == SIZE_MAX ? QN_OK
			       : qn_report(c->m->env, QN_EINVALID, "eval.nonfinite", name,
					   "sample %zu gives a NaN or an infinity, for which no "
					   "metric can be computed; inspect it with quern run",
					   bad);
}

/* ---- figures ---- */

/* Scores of windows in place of those of their samples. */
static void
average(double *score, size_t samples, size_t window)
{
	for (size_t i = 0; score != NULL && i < samples / window; i++) {
		double sum = 0;

		for (size_t k = 0; k < window; k++)
			sum += score[i * window + k];
		score[i] = sum / (double)window;
	}
}

static void
tell(qn_measurement *c, qn_arena *scratch)
{
	static const size_t one[] = {1};
	const char **name = QN_NEW(scratch, const char *, c->noutput);
	qn_difference *sum = QN_NEW(scratch, qn_difference, c->noutput);
	bool *positive = NULL;
	qn_tally t = {.samples = c->samples,
		      .rank = c->rank,
		      .ntop = c->o->ntop > 0 ? c->o->ntop : 1,
		      .top = c->o->ntop > 0 ? c->o->top : one,
		      .scores = c->samples / c->window,
		      .score = c->score,
		      .losses = c->scoring.of_label,
		      .wanted_score = c->wanted_score,
		      .outputs = c->noutput,
		      .output = name,
		      .difference = c->nwant > 0 ? sum : NULL,
		      .reconstructs = qn_reconstructs(qn_model_entry(c->m))};

	average(c->score, c->samples, c->window);
	average(c->wanted_score, c->samples, c->window);
	if (c->label != NULL && c->score != NULL && !c->scoring.of_label)
		positive = QN_NEW(scratch, bool, t.scores);
	for (size_t i = 0; positive != NULL && i < t.scores; i++)
		positive[i] = c->label[i] == c->scoring.positive;
	t.positive = positive;
	for (size_t k = 0; k < c->noutput; k++) {
		name[k] = qn_arena_str(c->m->arena, c->out[k].name);
		for (size_t i = 0; c->nwant > 0 && i < qn_dataset_results(c->d) * c->out[k].rows;
		     i++)
			qn_difference_add(&sum[k], &c->out[k].difference[i]);
	}
	qn_metrics_report(&t, c->m->arena, scratch, c->fn, c->user);
}

static qn_status
measure(void *arg, qn_arena *scratch)
{
	qn_measurement *c = arg;

	QN_TRY(qn_check_runs(c->m));
	if (qn_graph_fed(qn_model_entry(c->m)) == 0)
		return qn_report(
			c->m->env, QN_EINVALID, "eval.input", c->m->name,
			"the model has no input, so there are no samples to measure it on");
	QN_TRY(qn_samples_for(qn_model_entry(c->m), scratch, c->nin, c->in, NULL, &c->d));
	QN_TRY(qn_lint_data(qn_model_entry(c->m), c->d, 0, scratch));
	QN_TRY(qn_measurement_set_up(c, scratch));
	QN_TRY(run_all(c, scratch));
	tell(c, scratch);
	return QN_OK;
}

/* ---- the public functions ---- */

int
qn_runs_in_integers(const qn_model *m)
{
	if (m == NULL)
		return 0;
	const qn_graph *g = qn_model_entry(m);
	bool integers = m->stage >= QN_STAGE_CALIBRATED;

	for (qn_id id = 1; id < g->n; id++) {
		const qn_type *t = qn_graph_node(g, id)->type;

		integers = integers && (t->is_tuple || !qn_elem_is_float(t->elem));
	}
	return integers;
}

/* What the reference gives on the samples, then the model itself. */
static qn_status
measure_against(void *arg, qn_arena *scratch)
{
	qn_measurement *c = arg;
	size_t n = qn_model_describe(c->o->against).outputs;
	qn_array **y = QN_NEW(scratch, qn_array *, n);
	qn_array **x = NULL;

	QN_TRY(qn_host_pointers(c->m->env, "in", c->nin, c->in));
	const qn_diag_mark mark = qn_diag_mark_now(c->m->env);
	qn_status ran = qn_measurement_translate(c, scratch, &x);
	if (ran == QN_OK)
		ran = qn_run(c->o->against, c->nin, x, 1, n, y);
	if (ran != QN_OK)
		qn_diag_append(c->m->env, mark, " (in the reference model '%s')",
			       qn_model_name(c->o->against));
	QN_TRY(ran);
	c->want = y;
	c->nwant = n;
	qn_status status = qn_guard_model(c->m, measure, c);
	for (size_t k = 0; k < n; k++)
		qn_array_free(y[k]);
	return status;
}

qn_status
qn_measure(qn_model *m, size_t nin, qn_array *const *in, const qn_measure_opts *opts,
	   qn_metric_fn *fn, void *user)
{
	qn_measure_opts o;
	qn_measurement c = {.m = m, .nin = nin, .in = in, .o = &o, .fn = fn, .user = user};

	QN_TRY(QN_GIVEN(qn_model_ctx(m), fn));
	QN_TRY(QN_TAKE(m->env, qn_measure_opts, opts, &o));
	QN_TRY(qn_host_pointers(m->env, "target", o.ntarget, o.target));
	QN_TRY(qn_host_list(m->env, "top", o.ntop, o.top));
	c.nwant = o.ntarget;
	c.want = o.target;
	if (o.against == NULL)
		return qn_guard_model(m, measure, &c);
	if (o.ntarget > 0)
		return qn_report(m->env, QN_EUSAGE, "eval.target", m->name,
				 "outputs can be compared with a reference model or with given "
				 "values, not with both");
	return qn_guard(qn_box(m)->ctx, measure_against, &c);
}
