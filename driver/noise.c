/* SPDX-License-Identifier: Apache-2.0 */
/* noise.c - how far the values of a calibrated model are from the float ones.
 *
 *   dequantize(conv(quantize(x), …))   beside   conv(x, …)      signal to noise in dB, a value at a time */
#include <math.h>
#include <string.h>

#include "calibrate/calibrate.h"
#include "driver/context.h"
#include "driver/run.h"
#include "ir/loops.h"
#include "ir/progress.h"
#include "runtime/interp.h"
#include "runtime/math.h"
#include "quern/measure.h"

/* Sums over all samples, by id of the calibrated graph. */
typedef struct level {
	double signal, noise;
} level;

static double
decibel(const level *l)
{
	if (!(l->noise > 0))
		return (double)INFINITY;
	if (!(l->signal > 0))
		return -(double)INFINITY;
	return 10 * (qn_ln(l->signal / l->noise) / qn_ln(10));
}

typedef struct noise_call {
	qn_model *m;
	size_t nin;
	qn_array *const *in;
	qn_noise_fn *fn; /* NULL: only the summary is wanted */
	void *user;
	qn_noise *out;
	const qn_graph *g, *float_impl;
	const qn_id *map;
	level *of; /* by id of g */
	/* by id of the float graph: a copy of this batch's value, where it is compared; of a node in a loop
	 * those of all steps */
	float **real;
	qn_loops loops, real_loops;
	size_t *step, *real_step; /* by id: which of them comes next */
} noise_call;

/* Where the value that comes next begins, of `runs` in a batch. */
static int64_t
next_value(size_t *step, uint64_t runs, const qn_type *type)
{
	const size_t at = *step;

	*step = at + 1 < runs ? at + 1 : 0;
	return (int64_t)at * qn_type_count(type);
}

/* Values with an error of quantization: results of dequantize. */
static bool
is_compared(const noise_call *c, qn_id id)
{
	return qn_graph_node(c->g, id)->op == QN_OP_dequantize && c->map[id] != 0 &&
	       qn_loop_runs(&c->loops, id) == qn_loop_runs(&c->real_loops, c->map[id]);
}

static qn_status
keep_real(void *user, const qn_graph *g, qn_id id, const qn_tensor *value)
{
	noise_call *c = user;

	(void)g;
	if (c->real[id] != NULL)
		memcpy(c->real[id] + next_value(&c->real_step[id], qn_loop_runs(&c->real_loops, id),
						value->type),
		       value->data, value->bytes);
	return QN_OK;
}

static qn_status
compare(void *user, const qn_graph *g, qn_id id, const qn_tensor *value)
{
	noise_call *c = user;
	const float *x = value->data;

	if (g != c->g || !is_compared(c, id))
		return QN_OK;
	const float *real = c->real[c->map[id]] +
			    next_value(&c->step[id], qn_loop_runs(&c->loops, id), value->type);
	for (int64_t i = 0; i < qn_type_count(value->type); i++) {
		double e = (double)x[i] - (double)real[i];

		c->of[id].signal += (double)real[i] * (double)real[i];
		c->of[id].noise += e * e;
	}
	return QN_OK;
}

/* The layers that the value of this name comes from in the source's file, "a, b"; the name itself where
 * it is the same. */
static const char *
layers_or(const noise_call *c, const char *name)
{
	const qn_node *n = qn_graph_node(c->float_impl, qn_graph_find(c->float_impl, name));
	qn_buf b;

	if (n->facts == NULL || n->facts->norigin == 0)
		return name;
	qn_buf_init(&b, c->m->scratch);
	for (uint32_t i = 0; i < n->facts->norigin; i++)
		qn_buff(&b, "%s%s", i > 0 ? ", " : "", n->facts->origin[i]);
	return qn_buf_str(&b);
}

static void
tell(const noise_call *c, qn_id id)
{
	const level *l = &c->of[id];
	const char *name = qn_graph_node(c->float_impl, c->map[id])->name;
	const qn_value_noise v = {.size = sizeof v,
				  .name = name,
				  .layers = layers_or(c, name),
				  .signal = l->signal,
				  .noise = l->noise,
				  .db = decibel(l)};

	c->fn(c->user, &v);
}

/* In ascending order of ids, so that the mean is always the same. */
static void
sum_up(const noise_call *c)
{
	qn_noise n = {0};
	double sum = 0;

	for (qn_id id = 1; id < c->g->n; id++) {
		const level *l = &c->of[id];

		if (c->fn != NULL && is_compared(c, id))
			tell(c, id);
		if (!(l->signal > 0) || !(l->noise > 0))
			continue;
		const double db = decibel(l);
		sum += db;
		if (n.values++ == 0 || db < n.least) {
			n.least = db;
			n.worst = qn_graph_node(c->float_impl, c->map[id])->name;
		}
	}
	n.mean = n.values > 0 ? sum / (double)n.values : 0;
	if (n.worst != NULL)
		n.worst = qn_arena_str(c->m->arena, layers_or(c, n.worst));
	*c->out = n;
}

static qn_status
measure(void *arg, qn_arena *scratch)
{
	noise_call *c = arg;
	qn_interp *real_run, *run;
	const qn_graph *real;
	const qn_id *map;
	qn_dataset *d;

	c->g = qn_model_entry(c->m);
	if (c->m->stage != QN_STAGE_CALIBRATED)
		return qn_report(c->m->env, QN_EINVALID, "noise.stage", c->m->name,
				 "noise can only be measured on a calibrated model; this one is %s",
				 qn_stage_text(c->m));
	QN_TRY(qn_float_reference(c->m, c->g, &real, &map));
	c->map = map;
	c->float_impl = real;
	c->of = QN_NEW(scratch, level, c->g->n);
	c->real = QN_NEW(scratch, float *, real->n);
	c->loops = qn_loops_find(c->g, scratch);
	c->real_loops = qn_loops_find(real, scratch);
	c->step = QN_NEW(scratch, size_t, c->g->n);
	c->real_step = QN_NEW(scratch, size_t, real->n);
	for (qn_id id = 1; id < c->g->n; id++)
		if (is_compared(c, id) && c->real[map[id]] == NULL)
			c->real[map[id]] = qn_arena_alloc(
				scratch, (size_t)qn_loop_runs(&c->real_loops, map[id]),
				qn_type_bytes(qn_graph_node(real, map[id])->type));
	QN_TRY(qn_samples_for(c->g, scratch, c->nin, c->in, NULL, &d));
	QN_TRY(qn_interp_new(real, scratch, &real_run));
	QN_TRY(qn_interp_new(c->g, scratch, &run));
	for (size_t i = 0; i < d->nbatch; i++) {
		const qn_tensor *const *x;

		QN_TRY(d->get(d, i, scratch, &x));
		QN_TRY(qn_interp_run(real_run, x, keep_real, c));
		QN_TRY(qn_interp_run(run, x, compare, c));
		QN_TRY(qn_progress(c->m->env, "noise", i + 1, d->nbatch));
	}
	sum_up(c);
	return QN_OK;
}

qn_status
qn_measure_noise(qn_model *m, size_t nin, qn_array *const *in, qn_noise_fn *fn, void *user,
		 qn_noise *out)
{
	noise_call c = {.m = m, .nin = nin, .in = in, .fn = fn, .user = user, .out = out};

	QN_TRY(QN_GIVEN(qn_model_ctx(m), out));
	*out = (qn_noise){0};
	return qn_guard_model(m, measure, &c);
}
