/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_qonnx.c - QONNX, what Brevitas and HLS4ML write: values that are rounded to any number of bits and
 * dequantized.
 *
 *   Quant(x, scale, zero point, bits)    quantize, dequantize   (round(x / scale + zp) limited - zp) * scale
 *   BipolarQuant(x, scale)               the same of x < 0 ? -scale : scale, quantized to -1 and 1
 *   Trunc(x, …, bits, …)                 quantized values lose their low bits
 *
 * Weights are quantized to 4, 8 or 32 bits, values to 8 or 16, with the file's range inside.  Where
 * parameters are not wanted (from_float), constants are rounded and values stay. */
#include "import/onnx_qonnx.h"

#include <math.h>
#include <string.h>

enum { MOST_VALUE_BITS = 16 };

const char *const qn_qonnx_roundings[] = {"ROUND", "FLOOR",   "CEIL",      "UP",
					  "DOWN",  "HALF_UP", "HALF_DOWN", "HALF_EVEN"};

int32_t
qn_qonnx_rounding_of(qn_onnx *o, const qn_onnx_node *n, const char *dflt)
{
	const char *given = qn_onnx_string(o, n, "rounding_mode", dflt);

	for (size_t i = 0; i < QN_COUNT(qn_qonnx_roundings); i++) {
		size_t k = 0;

		while (qn_qonnx_roundings[i][k] != '\0' &&
		       (given[k] == qn_qonnx_roundings[i][k] ||
			given[k] == qn_qonnx_roundings[i][k] +
					    (qn_qonnx_roundings[i][k] == '_' ? 0 : 'a' - 'A')))
			k++;
		if (qn_qonnx_roundings[i][k] == '\0' && given[k] == '\0')
			return i == QN_COUNT(qn_qonnx_roundings) - 1 ? QN_QONNX_EVEN : (int32_t)i;
	}
	(void)qn_importer_refuse(&o->im, "import.attr", "unknown rounding_mode '%s'", given);
	return -1;
}

double
qn_qonnx_rounded(double v, qn_qonnx_rounding how)
{
	switch (how) {
	case QN_QONNX_EVEN:
		return rint(v);
	case QN_QONNX_FLOOR:
		return floor(v);
	case QN_QONNX_CEIL:
		return ceil(v);
	case QN_QONNX_UP:
		return v < 0 ? floor(v) : ceil(v);
	case QN_QONNX_DOWN:
		return v < 0 ? ceil(v) : floor(v);
	case QN_QONNX_HALF_UP:
		return v < 0 ? -floor(-v + 0.5) : floor(v + 0.5);
	case QN_QONNX_HALF_DOWN:
		return v < 0 ? -ceil(-v - 0.5) : ceil(v - 0.5);
	}
	return v;
}

/* ---- the type ---- */

bool
qn_qonnx_bits(qn_onnx *o, const qn_onnx_node *n, uint32_t i, int64_t *bits)
{
	double v = 0;

	if (!qn_onnx_const_real(o, n, i, 8, &v))
		return false;
	*bits = v >= 1 && v <= QN_QONNX_MOST_BITS ? (int64_t)v : 0;
	return (*bits > 0 && (double)*bits == v) ||
	       qn_importer_refuse(&o->im, "import.input",
				  "%g bits (expected an integer from 1 to %d)", v,
				  (int)QN_QONNX_MOST_BITS) != 0;
}

void
qn_qonnx_range(qn_onnx *o, const qn_onnx_node *n, qn_qonnx_grid *g)
{
	const bool narrow = qn_onnx_int(o, n, "narrow", 0) != 0;

	g->is_signed = qn_onnx_int(o, n, "signed", 1) != 0;
	g->most = (INT64_C(1) << (g->bits - g->is_signed)) - 1 - (!g->is_signed && narrow);
	g->least = g->is_signed ? -(INT64_C(1) << (g->bits - 1)) + narrow : 0;
}

/* Scale or zero point of x as a vector along its axis, or a scalar; *axis -1: a scalar.  0 after a report. */
static qn_id
along_axis(qn_onnx *o, qn_id v, const qn_type *x, int32_t *axis)
{
	const qn_tensor *known = qn_importer_known(&o->im, v);
	const qn_type *t = known != NULL ? known->type : NULL;
	int32_t longer = 0, at = 0;

	for (int32_t k = 0; t != NULL && k < t->rank; k++)
		if (t->dim[k] != 1) {
			longer++;
			at = x->rank - t->rank + k;
		}
	if (t == NULL || longer > 1 || at < 0 || t->rank > x->rank ||
	    (longer == 1 && qn_type_count(t) != x->dim[at]))
		return qn_importer_refuse(&o->im, "import.constant",
					  "scale and zero point must be constants of one element, "
					  "or of one element per index of an axis");
	*axis = longer == 1 ? at : -1;
	return longer == 1 ? qn_importer_reshape(&o->im, v, 1, &x->dim[at])
			   : qn_importer_reshape(&o->im, v, 0, NULL);
}

/* Zero points are floats in the file; 0 after a report. */
static qn_id
whole_zp(qn_onnx *o, qn_id zp)
{
	const qn_tensor *z = qn_importer_known(&o->im, zp);

	for (int64_t i = 0; i < qn_type_count(z->type); i++)
		if (qn_tensor_f64(z, i) != rint(qn_tensor_f64(z, i)))
			return qn_importer_refuse(&o->im, "import.input",
						  "a zero point of %g; it must be an integer",
						  qn_tensor_f64(z, i));
	return qn_importer_cast(&o->im, zp, QN_PLAIN_i32);
}

/* Storage: 4, 8 or 32 bits of weights and biases, 8 or 16 of values; QN_NPLAIN after a report. */
static qn_plain
storage_of(qn_onnx *o, const qn_qonnx_grid *g, bool constant)
{
	if (constant && g->bits <= 4)
		return g->is_signed ? QN_PLAIN_i4 : QN_PLAIN_u4;
	if (g->bits <= 8)
		return g->is_signed ? QN_PLAIN_i8 : QN_PLAIN_u8;
	if (constant && (g->is_signed || g->bits < QN_QONNX_MOST_BITS))
		return QN_PLAIN_i32;
	if (!constant && g->bits + !g->is_signed <= MOST_VALUE_BITS)
		return QN_PLAIN_i16;
	(void)qn_importer_refuse(&o->im, "import.input",
				 "%lld bits%s; activations have at most %d, signed: export with "
				 "fewer, or dequantize and recalibrate (--from-float)",
				 (long long)g->bits, g->is_signed ? "" : " without a sign",
				 (int)MOST_VALUE_BITS);
	return QN_NPLAIN;
}

const qn_elem *
qn_qonnx_elem(qn_onnx *o, const qn_qonnx_grid *g, qn_id x)
{
	const qn_type *t = qn_onnx_type(o, x);
	const bool constant = qn_importer_known(&o->im, x) != NULL;
	const qn_plain storage = storage_of(o, g, constant);
	int32_t axis, zp_axis = -1;
	qn_onnx_params p = {0};
	const qn_elem *e;

	if (storage == QN_NPLAIN || (p.scale = along_axis(o, g->scale, t, &axis)) == 0)
		return NULL;
	if (g->zp != 0 &&
	    ((p.zp = along_axis(o, g->zp, t, &zp_axis)) == 0 || (p.zp = whole_zp(o, p.zp)) == 0))
		return NULL;
	if (zp_axis >= 0 && zp_axis != axis) {
		(void)qn_importer_refuse(&o->im, "import.input",
					 "scale and zero point are along different axes");
		return NULL;
	}
	p.axis = axis >= 0 ? axis : 0;
	if ((e = qn_onnx_elem(o, &p, storage, t)) == NULL)
		return NULL;
	qn_elem d = *e;
	d.qmin = g->least;
	d.qmax = g->most;
	if (qn_elem_make(&o->im.m->types, o->im.node, &d, &e) == QN_OK)
		return e;
	o->im.problems++;
	return NULL;
}

/* ---- values ---- */

/* The quantized values of a constant; 0 after a report. */
static qn_id
constant_quantized(qn_onnx *o, qn_id x, const qn_elem *e, qn_qonnx_rounding how)
{
	qn_types *types = &o->im.m->types;
	const qn_tensor *v = qn_importer_known(&o->im, x);
	const qn_type *type = qn_type_with_elem(types, v->type, e);
	int64_t idx[QN_MAX_RANK] = {0};
	void *data;

	if (!qn_importer_take_type(&o->im, type))
		return 0;
	if (qn_type_check(types, o->im.node, type) != QN_OK) {
		o->im.problems++;
		return 0;
	}
	qn_tensor *quantized = qn_tensor_new(o->im.m->arena, type, &data);
	for (int64_t i = 0; i < qn_type_count(type); i++) {
		double scale;
		int64_t zp;

		qn_elem_param(types, e,
			      e->gran == QN_PER_TENSOR ? 0 : qn_type_param_index(type, idx), &scale,
			      &zp);
		/* QONNX computes in f32, adds the zero point before it rounds and limits */
		const float q = (float)qn_tensor_f64(v, i) / (float)scale + (float)zp;
		const double whole = qn_qonnx_rounded((double)q, how);
		qn_store_i64(data, e->plain, i,
			     !(whole > (double)e->qmin) ? e->qmin
			     : whole > (double)e->qmax  ? e->qmax
							: (int64_t)whole);
		for (int32_t k = type->rank - 1; k >= 0 && ++idx[k] == type->dim[k]; k--)
			idx[k] = 0;
	}
	const qn_id id = qn_importer_const(&o->im, o->im.node, quantized);
	if (id != 0)
		qn_importer_copy_names(&o->im, id, x);
	return id;
}

qn_id
qn_qonnx_faked(qn_onnx *o, qn_id x, const qn_elem *e, qn_qonnx_rounding how)
{
	const bool constant = qn_importer_known(&o->im, x) != NULL;
	const qn_attrs away = {.quantize = {QN_TIES_away}};

	if (constant)
		x = constant_quantized(o, x, e, how);
	else if (how == QN_QONNX_EVEN || how == QN_QONNX_HALF_UP)
		x = qn_importer_op_unfolded(
			&o->im, QN_OP_quantize, 1, &x, how == QN_QONNX_EVEN ? NULL : &away,
			qn_type_with_elem(&o->im.m->types, qn_onnx_type(o, x), e));
	else
		return qn_importer_refuse(
			&o->im, "import.attr",
			"rounding_mode %s of an activation (expected ROUND or HALF_UP): export "
			"with one of these, or dequantize and recalibrate (--from-float)",
			qn_qonnx_roundings[how]);
	if (x == 0)
		return 0;
	return o->keeps_quantized
		       ? qn_importer_op_unfolded(&o->im, QN_OP_dequantize, 1, &x, NULL, NULL)
		       : qn_importer_unary(&o->im, QN_OP_dequantize, x);
}

bool
qn_qonnx_wanted(const qn_onnx *o, qn_id x)
{
	return o->keeps_quantized || qn_importer_known(&o->im, x) != NULL;
}

static void
bipolar_quant(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_importer *im = &o->im;
	qn_qonnx_grid g = {
		.scale = qn_onnx_in(n, 1), .bits = 2, .least = -1, .most = 1, .is_signed = true};
	const qn_elem *e;

	if (!qn_onnx_need(o, n, 2))
		return;
	qn_id x = qn_importer_cast(im, n->in[0], QN_PLAIN_f32);
	const qn_id scale = qn_importer_cast(im, g.scale, QN_PLAIN_f32);
	if (x == 0 || scale == 0)
		return;
	/* 0 is positive; without parameters the sign of a computed value stays too: it is not a rounding */
	const qn_id in[] = {qn_importer_binary(im, QN_OP_greater_equal, x, qn_importer_f32(im, 0)),
			    scale, qn_importer_unary(im, QN_OP_neg, scale)};
	x = qn_importer_op(im, QN_OP_where, 3, in, NULL, NULL);
	if (x == 0 || !qn_qonnx_wanted(o, x))
		out[0] = x;
	else if ((e = qn_qonnx_elem(o, &g, x)) != NULL)
		out[0] = qn_qonnx_faked(o, x, e, QN_QONNX_EVEN);
}

/* One bit with a sign is -1 and 1, as in QONNX's reference, not -1 and 0. */
static void
one_bit(qn_onnx *o, const qn_onnx_node *n, const qn_qonnx_grid *g, qn_id *out)
{
	const qn_tensor *zp = g->zp != 0 ? qn_importer_known(&o->im, g->zp) : NULL;

	for (int64_t i = 0; zp != NULL && i < qn_type_count(zp->type); i++)
		if (qn_tensor_f64(zp, i) != 0) {
			(void)qn_importer_refuse(
				&o->im, "import.input",
				"one bit with a sign and a zero point of %g; it must be 0",
				qn_tensor_f64(zp, i));
			return;
		}
	bipolar_quant(o, n, out);
}

static void
quant(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_qonnx_grid g = {.scale = qn_onnx_in(n, 1), .zp = qn_onnx_in(n, 2)};
	const qn_elem *e;

	if (!qn_onnx_need(o, n, 4))
		return;
	const int32_t how = qn_qonnx_rounding_of(o, n, "ROUND");
	if (how < 0 || !qn_qonnx_bits(o, n, 3, &g.bits))
		return;
	qn_qonnx_range(o, n, &g);
	if (g.bits == 1 && g.is_signed) {
		one_bit(o, n, &g, out);
		return;
	}
	if (g.most <= g.least) {
		(void)qn_importer_refuse(
			&o->im, "import.input",
			"quantized values from %lld to %lld; for one bit use BipolarQuant",
			(long long)g.least, (long long)g.most);
		return;
	}
	qn_id x = qn_importer_cast(&o->im, n->in[0], QN_PLAIN_f32);
	if (x == 0 || !qn_qonnx_wanted(o, x))
		out[0] = x;
	else if ((e = qn_qonnx_elem(o, &g, x)) != NULL)
		out[0] = qn_qonnx_faked(o, x, e, (qn_qonnx_rounding)how);
}

#define QONNX(op, fn)                                                                              \
	QN_ONNX_READ("qonnx.custom_op.general", op, 1, fn, 0),                                     \
		QN_ONNX_READ("onnx.brevitas", op, 1, fn, 0),                                       \
		QN_ONNX_READ("finn.custom_op.general", op, 1, fn, 0)

const qn_onnx_row qn_onnx_qonnx[] = {
	QONNX("Quant", quant),
	QONNX("IntQuant", quant),
	QONNX("BipolarQuant", bipolar_quant),
	QONNX("Trunc", qn_qonnx_trunc),
	{0},
};
