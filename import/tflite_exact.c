/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_exact.c - operators of quantized values in the exact arithmetic of TFLite's kernels, where
 * those do not round once.
 *
 *   functions   table x, its values as the kernel computes them (runtime/tflite_tables.h)
 *   rectifiers  data retyped to the scale r * s_out, r = s_in / s_out in f32: kernels
 *               that divide two f32 give the double computation of a multiplier r
 *   ABS i16     prelu with the slope -1 */
#include "import/tflite.h"
#include "runtime/tflite_tables.h"

static void
params_of(qn_tfl_op *o, const qn_elem *e, double *scale, int64_t *zp)
{
	*scale = 1.0;
	*zp = 0;
	qn_elem_param(&o->im->m->types, e, 0, scale, zp);
}

/* Data and result of one storage, of 8 or 16 bits and with one scale each. */
static bool
of_one_storage(qn_tfl_op *o)
{
	const qn_elem *y = qn_tfl_result(o, 0), *x;

	if (!qn_tfl_result_is_quantized(o) || !qn_tfl_is_quantized(o, o->in[0]))
		return false;
	x = qn_importer_type(o->im, o->in[0])->elem;
	return x->gran == QN_PER_TENSOR && y->gran == QN_PER_TENSOR && x->bits == y->bits &&
	       x->is_signed == y->is_signed && (x->bits == 8 || (x->bits == 16 && x->is_signed));
}

qn_id
qn_tfl_table(qn_tfl_op *o, qn_op op)
{
	int32_t entry[QN_TFLITE_TABLE_MOST];
	const qn_elem *y = qn_tfl_result(o, 0);
	qn_table_params c;
	int64_t zi, zo, n;
	void *data;

	if (!of_one_storage(o))
		return 0;
	params_of(o, qn_importer_type(o->im, o->in[0])->elem, &c.in, &zi);
	params_of(o, y, &c.out, &zo);
	c.zi = (int32_t)zi;
	c.zo = (int32_t)zo;
	c.lo = (int32_t)y->qmin;
	c.hi = (int32_t)y->qmax;
	n = qn_tflite_table(op, &c, entry);
	if (n == 0 || !qn_tfl_take(o->f, (uint64_t)n * 2))
		return 0;
	qn_tensor *t =
		qn_tensor_new(o->im->m->arena, qn_type_tensor(&o->im->m->types, y, 1, &n), &data);
	for (int64_t i = 0; i < n; i++)
		qn_store_i64(data, y->plain, i, entry[i]);
	return qn_tfl_op_of(o, QN_OP_table, 2,
			    (qn_id[]){o->in[0], qn_importer_const(o->im, NULL, t)}, NULL);
}

qn_id
qn_tfl_divided(qn_tfl_op *o)
{
	qn_types *types = &o->im->m->types;
	const qn_elem *x = qn_importer_type(o->im, o->in[0])->elem, *e;
	qn_elem d = *x;
	double in, out;
	int64_t zp;

	if (!of_one_storage(o))
		return o->in[0];
	params_of(o, qn_tfl_result(o, 0), &out, &zp);
	params_of(o, x, &in, &zp);
	/* A product of two f32 is exact in double, so divided by one it is the other again. */
	d.scale = qn_scale_op(types, QN_SCALE_MUL,
			      qn_scale_const(types, (double)((float)in / (float)out)),
			      qn_scale_const(types, out));
	return qn_elem_make(types, o->to[0]->name, &d, &e) == QN_OK ? qn_tfl_retyped(o, o->in[0], e)
								    : 0;
}

/* A quantized value with the scale below / above, one per channel. */
static qn_id
slopes(qn_tfl_op *o, int64_t code, double below, double above)
{
	qn_types *types = &o->im->m->types;
	const qn_type *x = qn_importer_type(o->im, o->in[0]);
	int64_t n = x->rank > 0 ? x->dim[x->rank - 1] : -1;
	qn_elem d = qn_elem_desc(x->elem->bits, x->elem->is_signed);
	const qn_elem *e;
	void *data;

	d.kind = QN_ELEM_UNIFORM;
	d.scale = qn_scale_op(types, QN_SCALE_DIV, qn_scale_const(types, below),
			      qn_scale_const(types, above));
	if (n < 0 || !qn_tfl_take(o->f, (uint64_t)n * 2))
		return qn_importer_refuse(o->im, "import.rank", "data without known channels");
	if (qn_elem_make(types, o->to[0]->name, &d, &e) != QN_OK)
		return qn_importer_refuse(o->im, "import.attr", "alpha %g is not a valid scale",
					  below);
	qn_tensor *t = qn_tensor_new(o->im->m->arena, qn_type_tensor(types, e, 1, &n), &data);
	for (int64_t i = 0; i < n; i++)
		qn_store_i64(data, e->plain, i, code);
	return qn_importer_const(o->im, NULL, t);
}

static qn_id
sloped(qn_tfl_op *o, int64_t code, double below, double above)
{
	qn_id in[2] = {qn_tfl_divided(o), slopes(o, code, below, above)};

	return qn_tfl_op_of(o, QN_OP_prelu, 2, in, NULL);
}

qn_id
qn_tfl_leaky(qn_tfl_op *o, double alpha)
{
	double in, out;
	int64_t zp;

	if (!(alpha > 0.0) || !of_one_storage(o))
		return 0;
	params_of(o, qn_importer_type(o->im, o->in[0])->elem, &in, &zp);
	params_of(o, qn_tfl_result(o, 0), &out, &zp);
	double below = (double)((float)in * (float)alpha / (float)out);
	double above = (double)((float)in / (float)out);
	return above > 0.0 && below > 0.0 ? sloped(o, 1, below, above) : 0;
}

qn_id
qn_tfl_absolute(qn_tfl_op *o)
{
	qn_id y = qn_tfl_table(o, QN_OP_abs);

	return y != 0 || !of_one_storage(o) ? y : sloped(o, -1, 1.0, 1.0);
}
