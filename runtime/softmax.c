/* SPDX-License-Identifier: Apache-2.0 */
/* softmax.c - e^(x[i] - max) and their sum, along one axis, and the integers for quantized values. */
#include "runtime/softmax.h"

#include <math.h>

#include "runtime/exp.h"
#include "runtime/family.h"
#include "runtime/impl_args.h"

/* Bits of the fraction of Q5.26, the form in which the kernels take an exponent. */
#define INPUT_ONE 0x1p26

void
qn_each_axis(const qn_eval *e, qn_axis_fn *run)
{
	const qn_type *type = e->n->type;
	int32_t axis = qn_axis_of(type, e->n->attr->axis.axis);
	int64_t outer = qn_dim_product(type, 0, axis), n = type->dim[axis];
	int64_t inner = qn_dim_product(type, axis + 1, type->rank);
	const float *x = e->in[0];
	float *y = e->out;

	for (int64_t o = 0; n > 0 && o < outer; o++, x += n * inner, y += n * inner)
		for (int64_t i = 0; i < inner; i++)
			run(x + i, y + i, n, inner);
}

double
qn_softmax_sum(const float *x, int64_t n, int64_t step, double *top)
{
	double sum = 0.0;

	*top = (double)x[0];
	for (int64_t i = 1; i < n; i++)
		*top = (double)x[i * step] > *top ? (double)x[i * step] : *top;
	for (int64_t i = 0; i < n; i++)
		sum += qn_exp((double)x[i * step] - *top);
	return sum;
}

bool
qn_softmax_types(const qn_graph *g, const qn_node *n)
{
	const qn_elem *e = n->type->elem;
	double scale;
	int64_t zp;

	if (!qn_int_check_quantized(g, n, qn_in_type(g, n, 0)) ||
	    !qn_int_check_quantized(g, n, n->type))
		return false;
	if (qn_axis_of(n->type, n->attr->axis.axis) != n->type->rank - 1) {
		(void)qn_int_refuse(g, n, "only along the last axis");
		return false;
	}
	qn_fixed_output(n, e, &scale, &zp);
	if (!qn_has_fixed_output(&g->model->types, n, e) && !qn_supports_any_output(n, e)) {
		(void)qn_int_refuse(g, n,
				    "only a result of scale 1/%d and zero point %d in the full "
				    "range of its storage type",
				    (int)(1.0 / scale), (int)zp);
		return false;
	}
	return true;
}

void
qn_softmax_scaling(const qn_graph *g, const qn_node *n, int32_t *m, int32_t *left,
		   int32_t *diff_min)
{
	double most = g->model->rounding == QN_RQ_SINGLE ? 0x1p30 - 1.0 : 0x1p31 - 1.0;
	double M = qn_scale_of(g, qn_in_type(g, n, 0)) * INPUT_ONE;

	qn_multiplier_split(M < most ? M : most, m, left);
	*diff_min = *left < 0 ? 0 : -(int32_t)floor(31.0 * INPUT_ONE / ldexp(1.0, *left));
}
