/* SPDX-License-Identifier: Apache-2.0 */
/* impl_fake_quant.c - const_fake_quant: what a quantize and a dequantize with its type give. */
#include "ir/fake_quant.h"
#include "runtime/impl_util.h"

static void
fake_quant_real(const qn_eval *e)
{
	const qn_attrs_const_fake_quant *a = &e->n->attr->const_fake_quant;
	const qn_elem d = qn_fake_quant_storage(a);
	const qn_type *type = e->n->type;
	const int32_t axis = (int32_t)a->axis;
	const int64_t count = qn_static_count(type), channels = (int64_t)a->min.n;
	const int64_t inner = axis < 0 ? count : qn_dim_product(type, axis + 1, type->rank);
	const float *x = e->in[0];
	float *y = e->out;

	for (int64_t first = 0; first < count; first += inner) {
		double scale;
		int64_t zp;

		qn_fake_quant_params(a, (size_t)(first / inner % channels), &scale, &zp);
		for (int64_t i = first; i < first + inner; i++)
			y[i] = (float)qn_dequantize_value(
				qn_quantize_value((double)x[i], scale, true, zp, d.qmin, d.qmax),
				scale, true, zp);
	}
}

const qn_impl qn_impl_const_fake_quant = {.real = fake_quant_real};
