/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - scales by what they do to a partition's output (callback.h).
 *
 *   scale of x    1.00 s   0.95 s   0.90 s …      mean squared difference to the float output
 *                  3.1e-4   2.2e-4   2.9e-4        0.95 s is kept, then the weights' scale is tried */
#include <math.h>

#include "calibrate/callback.h"
#include "ir/diag.h"

/* Sums over all elements of all batches, in their order. */
typedef struct sums {
	double error, dot, real, quantized; /* of (y - y')^2, y y', y^2, y'^2 */
} sums;

static qn_status
compare(qn_info *i, const qn_symbol_value *trial, qn_arena *a, sums *out)
{
	const qn_tensor *y, *q;
	float *real = NULL;

	*out = (sums){0};
	for (size_t b = 0; b < i->graphs->data->nbatch; b++) {
		QN_TRY(qn_info_get(i, QN_INFO_FLOAT_OUTPUT, 0, b, 0, NULL, &y));
		const size_t n = (size_t)qn_type_count(y->type);
		if (real == NULL)
			real = QN_NEW(a, float, n);
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
cost(const qn_search *s, const sums *v)
{
	double both = sqrt(v->real) * sqrt(v->quantized);

	if (s->metric == QN_SEARCH_MSE)
		return v->error;
	return both > 0 ? 1 - v->dot / both : v->real > 0 || v->quantized > 0 ? 1 : 0;
}

/* One symbol, the others as they are. */
static qn_status
improve(const qn_search *s, qn_info *i, size_t k, qn_arena *a)
{
	const qn_info_pair *p = &i->pair[k];
	const size_t n = p->n;
	const double *start = p->scale; /* what was set; setting makes another copy */
	double *scale = QN_NEW(a, double, n);
	qn_symbol_value trial = {p->sym->name, n, scale, p->zp}, best = trial;
	double least = HUGE_VAL;

	for (int step = 0; step < s->steps; step++) {
		double factor = 1 - (1 - s->least) * step / (s->steps - 1);
		sums v;

		for (size_t c = 0; c < n; c++)
			scale[c] = start[c] * factor;
		QN_TRY(compare(i, &trial, a, &v));
		if (!(cost(s, &v) < least))
			continue;
		least = cost(s, &v);
		best.scale = qn_arena_copy(a, scale, n * sizeof *scale);
	}
	return qn_info_give(i, &best);
}

qn_status
qn_search_output(void *user, qn_info *info)
{
	const qn_search *s = user;
	const qn_graph *g = info->graphs->g;

	for (size_t k = 0; k < info->npair; k++)
		QN_TRY(qn_info_give_default(info, k));
	for (int constants = 0; constants < 2; constants++)
		for (size_t k = 0; k < info->npair; k++) {
			const qn_node *x = qn_graph_node(g, info->in[k]);

			if ((x->op == QN_OP_const) == (constants != 0))
				QN_TRY(improve(s, info, k, info->arena));
		}
	return QN_OK;
}
