/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - scales by what they do to a partition's output: the search of the method "output".
 *
 *   scale of x    1.00 s   0.95 s   0.90 s …      mean squared difference to the float output
 *                  3.1e-4   2.2e-4   2.9e-4        0.95 s is kept, then the weights' scale is tried
 *
 * Begins with the scales that the method found; for one symbol after the other, those of
 * activations first, tries the scale times each factor and keeps the one with which the quantized
 * output is nearest to the float one over all batches; of equal ones the largest factor.  So no
 * partition's output is further away than before, given its inputs.  A symbol that is shared with
 * what lies outside of the partition stays as the method found it: a search here would not see
 * there. */
#include <math.h>
#include <string.h>

#include "calibrate/callback.h"
#include "calibrate/method.h"
#include "ir/diag.h"

enum { STEPS, LEAST, COSINE }; /* parameters of the row */

/* Sums over all elements of all batches, in their order. */
typedef struct sums {
	double error, dot, real, quantized; /* of (y - y')^2, y y', y^2, y'^2 */
} sums;

static qn_status
compare(qn_info *i, const qn_symbol_value *trial, float *real, sums *out)
{
	const qn_tensor *y, *q;

	*out = (sums){0};
	for (size_t b = 0; b < i->graphs->data->nbatch; b++) {
		QN_TRY(qn_info_get(i, QN_INFO_FLOAT_OUTPUT, 0, b, 0, NULL, &y));
		const size_t n = (size_t)qn_type_count(y->type);
		for (size_t k = 0; k < n; k++)
			real[k] = ((const float *)y->data)[k];
		QN_TRY(qn_info_get(i, QN_INFO_OUTPUT, 0, b, 1, trial, &q));
		for (size_t k = 0; k < n; k++) {
			double u = (double)real[k], v = (double)((const float *)q->data)[k];

			out->error += (u - v) * (u - v);
			out->dot += u * v;
			out->real += u * u;
			out->quantized += v * v;
		}
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
	return both > 0 ? 1 - v->dot / both : v->real > 0 || v->quantized > 0 ? 1 : 0;
}

/* One symbol, the others as they are. */
static qn_status
improve(const qn_method_opts *o, qn_info *i, size_t k, qn_arena *a)
{
	const qn_info_pair *p = &i->pair[k];
	const size_t n = p->n;
	const int64_t count = qn_type_count(qn_graph_node(i->graphs->g, i->out)->type);
	float *real = QN_NEW(a, float, (size_t)count);
	const double *start = p->scale; /* what was set; setting makes another copy */
	double *scale = QN_NEW(a, double, n);
	double *best = qn_arena_copy(a, start, n * sizeof *start);
	const qn_symbol_value trial = {p->sym->name, n, scale, p->zp};
	double least = HUGE_VAL;

	for (int step = 0; step < (int)o->param[STEPS]; step++) {
		double factor = 1 - (1 - o->param[LEAST]) * step / (o->param[STEPS] - 1);
		sums v;

		for (size_t c = 0; c < n; c++)
			scale[c] = start[c] * factor;
		QN_TRY(compare(i, &trial, real, &v));
		if (!(cost(o, &v) < least))
			continue;
		least = cost(o, &v);
		memcpy(best, scale, n * sizeof *best);
	}
	return qn_info_give(i, &(qn_symbol_value){p->sym->name, n, best, p->zp});
}

qn_status
qn_search_output_of(void *opts, qn_info *info)
{
	const qn_method_opts *o = opts;
	const qn_info_graphs *s = info->graphs;

	for (size_t k = 0; k < info->npair; k++)
		QN_TRY(qn_info_give_default(info, k));
	if (s->data != NULL)
		QN_TRY(qn_evaluator_keep(s->real, 1, &s->map[info->out]));
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
