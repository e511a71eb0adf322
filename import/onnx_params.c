/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_params.c - scales and zero points of ONNX as element types, and values quantized with them.
 *
 *   scale 0.5, zero point 3 (UINT8)                    <u8:f32, 0.5:3>
 *   scale [O], axis 0                                  <i8:f32:0, {…}>
 *   scale [O,K/32], axis 1, block_size 32 (INT4)       <i4:f32:{0:1, 1:32}, {{…}}>
 *
 * Parameters that are computed at run time (DynamicQuantizeLinear) do not make a type: then values are
 * computed from plain integers. */
#include "import/onnx_quant.h"

#include "ir/diag.h"

static const qn_elem *
refused(qn_onnx *o, const char *what)
{
	(void)qn_importer_refuse(&o->im, "import.input", "%s", what);
	return NULL;
}

/* "[2,8]" */
static const char *
shape_text(qn_onnx *o, const qn_type *t)
{
	qn_buf b;

	qn_buf_init(&b, o->im.scratch);
	for (int32_t k = 0; k < t->rank; k++)
		qn_buff(&b, "%s%lld", k > 0 ? "," : "[", (long long)t->dim[k]);
	qn_buff(&b, t->rank == 0 ? "[]" : "]");
	return qn_buf_str(&b);
}

/* Reports that the scales do not lie along the blocks; false. */
static bool
no_blocks(qn_onnx *o, const qn_onnx_params *p, const qn_type *x)
{
	(void)qn_importer_refuse(
		&o->im, "import.input",
		"the scales %s do not match the blocks of %lld (block_size) along axis %lld of the "
		"value %s; one scale for each block is needed, one for each index of the axis in a "
		"vector, or one for all",
		shape_text(o, qn_onnx_type(o, p->scale)), (long long)p->block, (long long)p->axis,
		shape_text(o, x));
	return false;
}

/* The granularity and its axes; room for QN_MAX_RANK of them is in axis and block. */
static bool
granularity(qn_onnx *o, const qn_onnx_params *p, const qn_type *x, qn_elem *d, int32_t *axis,
	    int64_t *block)
{
	const qn_type *s = qn_onnx_type(o, p->scale);
	int32_t at = 0;

	if (qn_type_count(s) == 1 && s->rank <= 1)
		return true;
	if (!qn_onnx_axis(o, p->axis, x->rank, &at))
		return false;
	if (s->rank == 1) {
		d->gran = QN_PER_AXIS;
		d->naxis = 1;
		axis[0] = at;
		if (s->dim[0] == x->dim[at])
			return true;
		(void)qn_importer_refuse(&o->im, "import.input",
					 "one scale per index of the axis is needed, or one for "
					 "all: there are %lld scales, and axis %d of the value %s",
					 (long long)s->dim[0], (int)at, shape_text(o, x));
		return false;
	}
	d->gran = QN_SUB_CHANNEL;
	for (int32_t k = 0; k < x->rank && s->rank == x->rank; k++) {
		int64_t each = k == at ? p->block : 1;

		if (each < 1 || s->dim[k] != x->dim[k] / each + (x->dim[k] % each != 0))
			return no_blocks(o, p, x);
		if (s->dim[k] == 1)
			continue;
		d->partial = d->partial || x->dim[k] % each != 0;
		axis[d->naxis] = k;
		block[d->naxis++] = each;
	}
	return s->rank == x->rank || no_blocks(o, p, x);
}

/* Quantizers that measure a mask of -inf write an infinite scale. */
static bool
are_finite(qn_onnx *o, const qn_tensor *scale)
{
	const int64_t at = qn_tensor_find_nonfinite(scale);

	if (at < 0)
		return true;
	(void)qn_importer_refuse(
		&o->im, "import.input",
		"a scale is infinite or NaN, so that no value can be computed with it: element "
		"%lld is %g; the tool that quantized the file met infinite numbers there; quantize "
		"it again with finite ones, as -10000 for a mask of -inf, or without the node",
		(long long)at, qn_tensor_f64(scale, at));
	return false;
}

/* Scales and zero points into d; false after a report.  A scale of 0 stands for values of 0. */
static bool
numbers(qn_onnx *o, const qn_onnx_params *p, qn_elem *d)
{
	const qn_tensor *s = qn_importer_known(&o->im, p->scale);
	const qn_tensor *z = p->zp != 0 ? qn_importer_known(&o->im, p->zp) : NULL;
	qn_types *types = &o->im.m->types;
	int64_t n = qn_type_count(s->type), nz = z != NULL ? qn_type_count(z->type) : n;
	const qn_params *vec;

	if (!are_finite(o, s))
		return false;
	if (nz != n && nz != 1) {
		(void)qn_importer_refuse(&o->im, "import.input",
					 "one zero point per scale is needed, or one for all: "
					 "there are %lld zero points and %lld scales",
					 (long long)nz, (long long)n);
		return false;
	}
	if (d->gran == QN_PER_TENSOR) {
		d->scale = qn_scale_const(types, qn_importer_scale(qn_tensor_f64(s, 0)));
		d->zp = z != NULL ? qn_tensor_i64(z, 0) : 0;
		return true;
	}
	if (!qn_importer_take(&o->im, 32 * (uint64_t)n))
		return false;
	double *scale = QN_NEW(o->im.scratch, double, (size_t)n);
	int64_t *zp = QN_NEW(o->im.scratch, int64_t, (size_t)n);
	for (int64_t i = 0; i < n; i++) {
		scale[i] = qn_importer_scale(qn_tensor_f64(s, i));
		zp[i] = z != NULL ? qn_tensor_i64(z, nz == 1 ? 0 : i) : 0;
	}
	bool blocks = d->gran == QN_SUB_CHANNEL;
	if (qn_params_intern(types, qn_importer_place(&o->im), NULL, (size_t)n,
			     blocks ? s->type->rank : 1, blocks ? s->type->dim : NULL, scale, zp,
			     &vec) != QN_OK) {
		o->im.problems++;
		return false;
	}
	d->scale = qn_scale_vec(types, vec);
	return true;
}

const qn_elem *
qn_onnx_elem(qn_onnx *o, const qn_onnx_params *p, qn_plain storage, const qn_type *x)
{
	const qn_plain_info *info = &qn_plain_table[storage];
	const qn_elem *e = NULL;
	int32_t axis[QN_MAX_RANK];
	int64_t block[QN_MAX_RANK];

	if (info->is_float || storage == QN_PLAIN_bool || info->bits > 32)
		return refused(o, "quantized values must be integers of at most 32 bits");
	qn_elem d = qn_elem_desc(info->bits, info->is_signed);
	d.kind = QN_ELEM_UNIFORM;
	d.small = x->elem->small;
	d.axis = axis;
	d.block = block;
	if (!granularity(o, p, x, &d, axis, block) || !numbers(o, p, &d))
		return NULL;
	if (qn_elem_make(&o->im.m->types, qn_importer_place(&o->im), &d, &e) != QN_OK)
		o->im.problems++;
	else
		e = qn_elem_normalize(&o->im.m->types, e);
	return e;
}

bool
qn_onnx_params_known(const qn_onnx *o, const qn_onnx_params *p)
{
	return qn_importer_known(&o->im, p->scale) != NULL &&
	       (p->zp == 0 || qn_importer_known(&o->im, p->zp) != NULL);
}

const qn_elem *
qn_onnx_weight_elem(qn_onnx *o, const qn_elem *e)
{
	const qn_elem *wide = NULL;

	if (e == NULL || e->bits >= 4)
		return e;
	qn_elem d = *e;
	d.bits = 4; /* the range stays */
	if (qn_elem_make(&o->im.m->types, o->im.node, &d, &wide) == QN_OK)
		return qn_elem_normalize(&o->im.m->types, wide);
	o->im.problems++;
	return NULL;
}

/* Constants of 2 bits have their bytes in common with those of 4. */
static bool
stored_alike(const qn_elem *have, const qn_elem *e, bool constant)
{
	const qn_plain_info *a = &qn_plain_table[have->plain], *b = &qn_plain_table[e->plain];

	return have->plain == e->plain ||
	       (constant && a->bits == 2 && b->bits == 4 && a->is_signed == b->is_signed);
}

qn_id
qn_onnx_as_quantized(qn_onnx *o, qn_id x, const qn_elem *e)
{
	const qn_tensor *value = qn_importer_known(&o->im, x);
	const qn_type *have = qn_onnx_type(o, x);
	const qn_type *want = qn_type_with_elem(&o->im.m->types, have, e);

	if (have == want)
		return x;
	if (!stored_alike(have->elem, e, value != NULL) || have->elem->kind == QN_ELEM_CALIBRATED)
		return qn_importer_refuse(
			&o->im, "import.type", "its quantized values are %s, its zero point is %s",
			qn_plain_table[have->elem->plain].name, qn_plain_table[e->plain].name);
	if (qn_type_check(&o->im.m->types, o->im.node, want) != QN_OK) {
		o->im.problems++;
		return 0;
	}
	if (value != NULL) {
		const qn_id quantized =
			qn_importer_const(&o->im, qn_graph_node(o->im.g, x)->name,
					  qn_tensor_view(o->im.m->arena, want, value->data));
		if (quantized != 0)
			qn_importer_copy_names(&o->im, quantized, x);
		return quantized;
	}
	if (have->elem->kind != QN_ELEM_PLAIN) {
		const qn_elem *plain = qn_elem_plain(&o->im.m->types, e->plain);

		x = qn_importer_op(&o->im, QN_OP_scast, 1, &x, NULL,
				   qn_type_with_elem(&o->im.m->types, have, plain));
	}
	return qn_importer_op(&o->im, QN_OP_scast, 1, &x, NULL, want);
}

/* ---- by arithmetic ---- */

/* Scale or zero point as f32 that lies along x. */
static qn_id
along(qn_onnx *o, const qn_onnx_params *p, qn_id v, const qn_type *x)
{
	const qn_type *t = qn_onnx_type(o, v);
	int64_t dim[QN_MAX_RANK];
	int32_t at;

	v = qn_importer_cast(&o->im, v, QN_PLAIN_f32);
	if (v == 0 || qn_type_count(t) == 1)
		return qn_importer_reshape(&o->im, v, 0, NULL);
	if (t->rank != 1)
		return qn_importer_refuse(&o->im, "import.constant",
					  "scales and zero points of blocks must be constants");
	if (!qn_onnx_axis(o, p->axis, x->rank, &at))
		return 0;
	for (int32_t k = 0; k < x->rank; k++)
		dim[k] = k == at ? t->dim[0] : 1;
	return qn_importer_reshape(&o->im, v, x->rank, dim);
}

qn_id
qn_onnx_real_of(qn_onnx *o, qn_id x, const qn_onnx_params *p)
{
	const qn_type *t = qn_onnx_type(o, x);

	x = qn_importer_cast(&o->im, x, QN_PLAIN_f32);
	if (p->zp != 0)
		x = qn_importer_binary(&o->im, QN_OP_sub, x, along(o, p, p->zp, t));
	return p->scale != 0 ? qn_importer_binary(&o->im, QN_OP_mul, x, along(o, p, p->scale, t))
			     : x;
}

/* Quantized values of `bits` bits with scale 1 and zero point 0. */
qn_id
qn_onnx_units(qn_onnx *o, qn_id x, qn_plain storage)
{
	qn_types *types = &o->im.m->types;
	qn_elem d = qn_elem_desc(qn_plain_table[storage].bits, qn_plain_table[storage].is_signed);
	const qn_elem *e = NULL;

	d.kind = QN_ELEM_UNIFORM;
	d.scale = qn_scale_const(types, 1.0);
	if (x == 0 || qn_elem_make(types, o->im.node, &d, &e) != QN_OK)
		return 0;
	return qn_importer_op(&o->im, QN_OP_quantize, 1, &x, NULL,
			      qn_type_with_elem(types, qn_onnx_type(o, x), e));
}

qn_id
qn_onnx_rounded(qn_onnx *o, qn_id x)
{
	return qn_importer_unary(&o->im, QN_OP_dequantize, qn_onnx_units(o, x, QN_PLAIN_i32));
}

qn_id
qn_onnx_stored(qn_onnx *o, qn_id x, qn_plain storage)
{
	qn_types *types = &o->im.m->types;

	x = qn_onnx_units(o, x, storage);
	if (x == 0)
		return 0;
	const qn_type *plain =
		qn_type_with_elem(types, qn_onnx_type(o, x), qn_elem_plain(types, storage));
	return qn_importer_op(&o->im, QN_OP_scast, 1, &x, NULL, plain);
}

qn_id
qn_onnx_quantize_plain(qn_onnx *o, qn_id x, const qn_onnx_params *p, qn_plain storage)
{
	const qn_type *t = qn_onnx_type(o, x);

	x = qn_importer_binary(&o->im, QN_OP_div, x, along(o, p, p->scale, t));
	x = qn_onnx_rounded(o, x);
	if (p->zp != 0)
		x = qn_importer_binary(&o->im, QN_OP_add, x, along(o, p, p->zp, t));
	return qn_onnx_stored(o, x, storage);
}
