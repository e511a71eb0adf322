/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - scales by what they do to a partition's output: the search of the method "output".
 *
 *   scale of x    1.00 s   0.95 s   0.90 s …      mean squared difference to the float output
 *                  3.1e-4   2.2e-4   2.9e-4        0.95 s is kept, then the weights' scale is tried
 *
 * Begins with the scales that the method found; for one symbol after the other, those of
 * activations first, tries the scale times some of the factors: every fourth, say, then those
 * around the best, ever closer.  The one with which the quantized output is nearest to the float
 * one over the chosen batches is kept; of equal ones the largest factor.  So no partition's output
 * is further away than before on them, given its inputs.  A trial ends as soon as its error is
 * larger than that of the best.  A symbol that is shared with what lies outside of the partition
 * stays as the method found it: a search here would not see there.  So does a partition in a loop, whose
 * steps are not run by themselves. */
#include <math.h>

#include "calibrate/callback.h"
#include "calibrate/method.h"
#include "ir/diag.h"
#include "ir/limits.h"

enum { STEPS, LEAST, COSINE }; /* parameters of the row */

enum {
	MOST_BATCHES = 24
}; /* that are tried, evenly chosen: some thousand elements of a partition's output */

/* Sums over all elements of the batches, in their order. */
typedef struct sums {
	double error, dot, real, quantized; /* of (y - y')^2, y y', y^2, y'^2 */
} sums;

/* One symbol, the others as they are. */
typedef struct improvement {
	const qn_method_opts *o;
	qn_info *info;
	size_t nbatch, batch[MOST_BATCHES];
	const double *start; /* what was set; setting makes another copy */
	qn_symbol_value trial;
	double *scale;            /* of the trial */
	double *real, *quantized; /* room for the outputs of a batch */
	double least;             /* cost of the best */
	int best;                 /* number of its factor; -1: none was tried */
	bool *tried;              /* by number */
} improvement;

static size_t
choose_batches(size_t have, size_t *batch)
{
	const size_t n = have < MOST_BATCHES ? have : MOST_BATCHES;

	for (size_t i = 0; i < n; i++)
		batch[i] = i * have / n;
	return n;
}

/* What all runs of this calibration's searches took. */
static qn_status
check_steps(const qn_info *i)
{
	qn_env *env = i->graphs->m->env;
	const uint64_t steps = qn_evaluator_steps(i->graphs->quantized);

	if (steps <= qn_limit(env, QN_LIMIT_STEPS))
		return QN_OK;
	return qn_limit_report(env, QN_LIMIT_STEPS, i->part->out, steps);
}

/* Elements as float values: a comparison gives bools, an argmax indices. */
static void
read_elements(const qn_tensor *x, size_t n, double *to)
{
	const float *real = qn_type_is_f32(x->type) ? x->data : NULL;

	for (size_t k = 0; k < n; k++)
		to[k] = real != NULL ? (double)real[k] : qn_tensor_f64(x, (int64_t)k);
}

static void
add(const double *real, const double *quantized, size_t n, sums *out)
{
	for (size_t k = 0; k < n; k++) {
		double u = real[k], v = quantized[k];

		out->error += (u - v) * (u - v);
		out->dot += u * v;
		out->real += u * u;
		out->quantized += v * v;
	}
}

/* *done: the error of all batches; else it is larger than the least with some of them already. */
static qn_status
compare(const improvement *p, sums *out, bool *done)
{
	qn_info *i = p->info;
	const bool error_alone = p->o->param[COSINE] < 1;
	const qn_tensor *y, *q;

	*out = (sums){0};
	*done = true;
	for (size_t k = 0; k < p->nbatch && *done; k++) {
		QN_TRY(qn_info_get(i, QN_INFO_FLOAT_OUTPUT, 0, p->batch[k], 0, NULL, &y));
		const size_t n = (size_t)qn_type_count(y->type);
		read_elements(y, n, p->real); /* the next evaluation may take its memory */
		QN_TRY(qn_info_get(i, QN_INFO_OUTPUT, 0, p->batch[k], 1, &p->trial, &q));
		read_elements(q, n, p->quantized);
		add(p->real, p->quantized, n, out);
		*done = !error_alone || out->error <= p->least;
		QN_TRY(check_steps(i));
	}
	return QN_OK;
}

/* Smaller is better. */
static double
cost(const qn_method_opts *o, const sums *v)
{
	double both = sqrt(v->real) * sqrt(v->quantized);

	if (o->param[COSINE] < 1)
		return v->error;
	if (both > 0)
		return 1 - v->dot / both;
	return v->real > 0 || v->quantized > 0 ? 1 : 0;
}

static double
factor_of(const qn_method_opts *o, int step)
{
	return 1 - (1 - o->param[LEAST]) * step / (o->param[STEPS] - 1);
}

/* Of equal costs the larger factor, whatever the order in which they are tried. */
static qn_status
try_factor(improvement *p, int step)
{
	const double factor = factor_of(p->o, step);
	bool done;
	sums v;

	if (step < 0 || step >= (int)p->o->param[STEPS] || p->tried[step])
		return QN_OK;
	p->tried[step] = true;
	for (size_t c = 0; c < p->trial.n; c++)
		p->scale[c] = p->start[c] * factor;
	QN_TRY(compare(p, &v, &done));
	const double now = cost(p->o, &v);
	if (!done || !(now < p->least || (now <= p->least && step < p->best)))
		return QN_OK;
	p->least = now;
	p->best = step;
	return QN_OK;
}

static qn_status
improve(const qn_method_opts *o, qn_info *i, size_t k, qn_arena *a)
{
	const qn_info_pair *pair = &i->pair[k];
	const size_t n = pair->n;
	const int64_t count = qn_type_count(qn_graph_node(i->graphs->g, i->out)->type);
	const int steps = (int)o->param[STEPS];
	int stride = 1;
	improvement p = {.o = o,
			 .info = i,
			 .start = pair->scale,
			 .scale = QN_NEW(a, double, n),
			 .real = QN_NEW(a, double, (size_t)count),
			 .quantized = QN_NEW(a, double, (size_t)count),
			 .least = HUGE_VAL,
			 .best = -1,
			 .tried = QN_NEW(a, bool, (size_t)steps)};

	p.trial = (qn_symbol_value){pair->sym->name, n, p.scale, pair->zp};
	if (i->graphs->data != NULL)
		p.nbatch = choose_batches(i->graphs->data->nbatch, p.batch);
	while (stride * 8 < steps)
		stride *= 2;
	for (int step = 0; step < steps; step += stride)
		QN_TRY(try_factor(&p, step));
	for (stride /= 2; stride > 0; stride /= 2) {
		const int middle = p.best;

		QN_TRY(try_factor(&p, middle - stride));
		QN_TRY(try_factor(&p, middle + stride));
	}
	for (size_t c = 0; c < n; c++)
		p.scale[c] = p.start[c] * factor_of(o, p.best > 0 ? p.best : 0);
	return qn_info_store(i, &p.trial);
}

qn_status
qn_search_output_of(void *opts, qn_info *info)
{
	const qn_method_opts *o = opts;
	const qn_info_graphs *s = info->graphs;

	for (size_t k = 0; k < info->npair; k++)
		QN_TRY(qn_info_store_default(info, k));
	if (qn_info_is_in_loop(info))
		return QN_OK;
	if (s->data != NULL) {
		size_t batch[MOST_BATCHES], n = choose_batches(s->data->nbatch, batch);

		qn_evaluator_choose(s->real, n, batch);
		qn_evaluator_choose(s->quantized, n, batch);
		QN_TRY(qn_evaluator_cache(s->real, 1, &s->map[info->out]));
	}
	for (int constants = 0; constants < 2; constants++)
		for (size_t k = 0; k < info->npair; k++) {
			const qn_node *x = qn_graph_node(s->g, info->in[k]);
			qn_arena *a;

			if ((x->op == QN_OP_const) != (constants != 0) ||
			    qn_info_is_repeated(info, k) || qn_info_is_shared(info, k))
				continue;
			a = qn_arena_child(info->arena);
			QN_TRY(improve(o, info, k, a));
			qn_arena_release(a);
		}
	return QN_OK;
}
