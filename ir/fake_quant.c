/* SPDX-License-Identifier: Apache-2.0 */
/* fake_quant.c - from a const_fake_quant to the type that it stands for.
 *
 *   {min=-1.0, max=1.0, is_signed=1}           ->  <i8:f32, 2/255:-1>
 *   {min=0.0, max=6.0, num_bits=4}             ->  <u8<0:15>:f32, 0.4>
 *   {min=[-1.0,-2.0], max=[1.0,2.0], axis=0}   ->  <u8:f32:0, {2/255:127, 4/255:127}>
 *
 * Ranges become parameters as those that calibration finds (range.c).  A range without width, that
 * of zeros alone, has scale 1 and the lowest quantized value as its zero point. */
#include "ir/fake_quant.h"

/* Below this width a range holds nothing but zeros and noise. */
#define NO_RANGE 0x1p-52

qn_elem
qn_fake_quant_storage(const qn_attrs_const_fake_quant *a)
{
	qn_elem d = qn_elem_desc(a->num_bits > 8 ? 16 : 8, a->is_signed != 0);
	const int64_t values = INT64_C(1) << a->num_bits;

	d.qmin = a->is_signed != 0 ? -values / 2 : 0;
	d.qmax = d.qmin + values - 1;
	d.qmin += a->narrow_range != 0;
	return d;
}

void
qn_fake_quant_params(const qn_attrs_const_fake_quant *a, size_t i, double *scale, int64_t *zp)
{
	const qn_elem d = qn_fake_quant_storage(a);
	const double lo = a->min.v[i] > 0.0 ? 0.0 : a->min.v[i];
	const double hi = a->max.v[i] < 0.0 ? 0.0 : a->max.v[i];

	qn_range_to_params(lo, hi, &d, false, scale, zp);
	if (hi - lo < NO_RANGE)
		*zp = d.qmin;
}

const qn_elem *
qn_fake_quant_elem(qn_types *t, const qn_node *n)
{
	const qn_attrs_const_fake_quant *a = &n->attr->const_fake_quant;
	const size_t many = a->min.n;
	const int32_t axis = (int32_t)a->axis;
	double *scale = QN_NEW(t->arena, double, many);
	int64_t *zp = QN_NEW(t->arena, int64_t, many);
	const qn_params *vec;
	const qn_elem *e;
	qn_elem d = qn_fake_quant_storage(a);

	d.expressed = n->type->elem->expressed;
	if (n->type->elem->kind == QN_ELEM_PLAIN)
		d.expressed = n->type->elem->plain;
	for (size_t i = 0; i < many; i++)
		qn_fake_quant_params(a, i, &scale[i], &zp[i]);
	if (axis < 0) {
		d.scale = qn_scale_const(t, scale[0]);
		d.zp = zp[0];
	} else {
		if (qn_params_intern(t, n->name, n->name, many, 1, NULL, scale, zp, &vec) != QN_OK)
			return NULL;
		d.gran = QN_PER_AXIS;
		d.naxis = 1;
		d.axis = &axis;
		d.scale = qn_scale_vec(t, vec);
	}
	return qn_elem_make(t, n->name, &d, &e) == QN_OK ? e : NULL;
}
