/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_blocks.c - products with weights in blocks.
 *
 *   dense(dequantize(x), dequantize(w {0:1, 1:32}), b)   ->   dequantize(dense(x, w', b'))
 *
 * w' has the scales of w as integers of one unit for each output channel (ir/block_scales.h), of as many bits,
 * from 15 down to 8, as let the sums fit 32 bits for all inputs; where 8 bits are too many too, or a scale is lost in
 * them, the sums have 64 bits.  That they fit is proven with the values of the weights and of the bias.  Zero points
 * that w' keeps, with fractions too, are offsets of the blocks' sums, which have 16 bits in units of the channel. */
#include <math.h>

#include "ir/block_scales.h"
#include "passes/requantize.h"
#include "runtime/accumulator.h"
#include "runtime/family.h"

/* ---- the constant ---- */

static bool
is_signed_symmetric(const qn_types *t, const qn_elem *e)
{
	double scale;
	int64_t zp;

	for (size_t k = 0; k < qn_elem_nparams(e); k++) {
		qn_elem_param(t, e, k, &scale, &zp);
		if (zp != 0)
			return false;
	}
	return e->is_signed && (e->bits == 8 || e->bits == 4 || e->bits == 2);
}

/* Element i less its zero point; moves idx on to the next one. */
static int64_t
next_centred(const qn_types *t, const qn_tensor *w, int64_t i, int64_t *idx)
{
	const qn_type *type = w->type;
	double scale;
	int64_t zp;

	qn_elem_param(t, type->elem, qn_type_param_index(type, idx), &scale, &zp);
	for (int32_t d = type->rank - 1; d >= 0 && ++idx[d] == type->dim[d]; d--)
		idx[d] = 0;
	return qn_tensor_i64(w, i) - zp;
}

/* The type of values of that many bits with the scales of type. */
static const qn_type *
without_zero_points(qn_types *t, const qn_type *type, uint8_t bits)
{
	const qn_elem *from = type->elem, *made = NULL;
	const qn_params *p = from->scale->kind == QN_SCALE_VEC ? from->scale->vec : NULL;
	qn_elem d = qn_elem_desc(bits, true);

	if (p == NULL || qn_params_intern(t, "weights", NULL, p->n, p->rank, p->shape, p->scale,
					  NULL, &p) != QN_OK)
		return NULL;
	d.expressed = from->expressed;
	d.gran = from->gran;
	d.naxis = from->naxis;
	d.axis = from->axis;
	d.block = from->block;
	d.partial = from->partial;
	d.scale = qn_scale_vec(t, p);
	return qn_elem_make(t, "weights", &d, &made) == QN_OK ? qn_type_with_elem(t, type, made)
							      : NULL;
}

/* w, or its values less their zero points as signed ones of 2, 4 or 8 bits, not more than it has.  Where these
 * do not hold them, the same values in signed storage with the zero points that are left. */
static const qn_tensor *
signed_values(qn_model *m, const qn_tensor *w, qn_arena *a)
{
	qn_types *t = &m->types;
	const int64_t n = qn_type_count(w->type);
	int64_t idx[QN_MAX_RANK] = {0}, lo = 0, hi = 0;
	const uint8_t bits = w->type->elem->bits <= 2 ? 2 : w->type->elem->bits <= 4 ? 4 : 8;
	void *data;

	if (is_signed_symmetric(t, w->type->elem))
		return w;
	if (w->type->elem->zp_fraction != 0)
		return qn_rqz_signed_storage(m, w);
	for (int64_t i = 0; i < n; i++) {
		const int64_t v = next_centred(t, w, i, idx);

		lo = v < lo ? v : lo;
		hi = v > hi ? v : hi;
	}
	if (lo < -(1 << (bits - 1)) || hi >= 1 << (bits - 1))
		return qn_rqz_signed_storage(m, w);
	const qn_type *type = without_zero_points(t, w->type, bits);
	if (type == NULL)
		return NULL;
	qn_tensor *to = qn_tensor_new(a, type, &data);
	for (int64_t i = 0; i < n; i++)
		qn_store_i64(data, type->elem->plain, i, next_centred(t, w, i, idx));
	return to;
}

/* The scales and zero points of a matrix in blocks with its axes swapped. */
static const qn_params *
turned_params(qn_types *t, const qn_params *p)
{
	const int64_t rows = p->shape[0], cols = p->shape[1], shape[2] = {cols, rows};
	double *scale = QN_NEW(t->arena, double, p->n);
	int64_t *zp = QN_NEW(t->arena, int64_t, p->n);
	const qn_params *to = NULL;

	for (int64_t i = 0; i < rows * cols; i++) {
		const int64_t at = i % cols * rows + i / cols;

		scale[at] = p->scale[i];
		zp[at] = p->zp != NULL ? p->zp[i] : 0;
	}
	return qn_params_intern(t, "weights", NULL, p->n, 2, shape, scale,
				p->zp != NULL ? zp : NULL, &to) == QN_OK
		       ? to
		       : NULL;
}

const qn_tensor *
qn_rqz_turned_blocks(qn_types *t, const qn_tensor *w, qn_arena *a)
{
	const int64_t rows = w->type->dim[0], cols = w->type->dim[1], dim[2] = {cols, rows};
	int32_t axis[QN_MAX_RANK];
	const qn_elem *made = NULL;
	qn_elem e = *w->type->elem;
	const qn_params *p = e.scale->kind == QN_SCALE_VEC ? turned_params(t, e.scale->vec) : NULL;
	void *data;

	for (int32_t i = 0; i < e.naxis; i++)
		axis[i] = 1 - e.axis[i];
	e.axis = axis;
	e.scale = p != NULL ? qn_scale_vec(t, p) : NULL;
	if (p == NULL || qn_elem_make(t, "weights", &e, &made) != QN_OK)
		return NULL;
	qn_tensor *to = qn_tensor_new(a, qn_type_tensor(t, made, 2, dim), &data);
	for (int64_t i = 0; i < rows * cols; i++)
		qn_store_i64(data, made->plain, i % cols * rows + i / cols, qn_tensor_i64(w, i));
	return to;
}

static qn_id
signed_weights(qn_rw *rw, qn_id w)
{
	qn_model *m = qn_rw_model(rw);
	const qn_node *n = qn_rw_node(rw, w);
	const qn_tensor *made = n->op == QN_OP_const && n->type->elem->bits <= 8
					? signed_values(m, n->value, m->arena)
					: NULL;

	if (made == NULL)
		return 0;
	return made == n->value ? w : qn_rw_const(rw, qn_rw_name(rw, w), made);
}

/* ---- sums that fit ---- */

/* What is multiplied and added. */
typedef struct product {
	const qn_type *x;
	const qn_tensor *w;
	const double *bias; /* float; NULL: none */
	double sx;
	int64_t far; /* |x - zx| */
} product;

/* Whether no sum of the product with these scales is above the limit. */
static bool
sums_fit(const product *p, const qn_block_scales *b, int64_t limit)
{
	for (int64_t o = 0; o < b->channels; o++) {
		const double bias = p->bias != NULL ? fabs(p->bias[o]) / (p->sx * b->unit[o]) : 0;

		if (!(bias < 0x1p31) ||
		    qn_block_sum_bound(b, p->w, o, p->far) + (int64_t)bias + 1 > limit)
			return false;
	}
	return true;
}

/* The weights' type with scales of at most 15 bits, fewer where offsets need them, for sums of 64 bits. */
static const qn_type *
choose_wide(qn_rw *rw, const product *p, const char *place, qn_block_scales *b)
{
	qn_model *m = qn_rw_model(rw);
	bool lost;

	for (int32_t k = QN_MANTISSA_MOST; k > 0; k--) {
		const qn_type *t =
			qn_block_scales_round(&m->types, place, p->w->type, k, false, &lost);

		if (t == NULL || qn_block_scales_find(&m->types, t, m->scratch, b))
			return t;
	}
	return NULL;
}

/* The weights' type with scales of at least 8 bits for sums up to the limit; NULL: there is none. */
static const qn_type *
choose_narrow(qn_rw *rw, const product *p, const char *place, int64_t limit, qn_block_scales *b)
{
	qn_model *m = qn_rw_model(rw);
	bool lost;

	for (int32_t k = QN_MANTISSA_MOST; p->x->elem->bits <= 8 && k >= QN_MANTISSA_LEAST; k--) {
		const qn_type *t =
			qn_block_scales_round(&m->types, place, p->w->type, k, false, &lost);

		if (t == NULL || lost)
			break;
		if (qn_block_scales_find(&m->types, t, m->scratch, b) && sums_fit(p, b, limit))
			return t;
	}
	return NULL;
}

/* The weights' type with scales for sums of *bits.  Half of 32 bits, where 8 bits of a mantissa are enough for it, is
 * what kernels want that double the sums. */
static const qn_type *
choose(qn_rw *rw, const product *p, const char *place, qn_block_scales *b, int *bits)
{
	const qn_type *type = choose_narrow(rw, p, place, INT32_MAX / 2, b);

	*bits = 32;
	if (type == NULL)
		type = choose_narrow(rw, p, place, INT32_MAX, b);
	if (type == NULL) {
		*bits = 64;
		type = choose_wide(rw, p, place, b);
	}
	return type;
}

/* The sums' element with their scales along this axis. */
static const qn_elem *
sums(qn_types *t, const qn_elem *x, const qn_scale *unit, int bits, int32_t axis)
{
	qn_elem d = qn_elem_desc((uint8_t)bits, true);
	const qn_elem *e = NULL;

	d.expressed = x->expressed;
	d.gran = QN_PER_AXIS;
	d.naxis = 1;
	d.axis = &axis;
	d.scale = qn_scale_op(t, QN_SCALE_MUL, x->scale, unit);
	return qn_elem_make(t, "weights", &d, &e) == QN_OK ? e : NULL;
}

static const double *
bias_values(const qn_rw *rw, qn_id bias, int64_t n)
{
	const qn_node *b = qn_rw_node(rw, bias);
	const qn_node *c = b->op == QN_OP_dequantize ? qn_rw_node(rw, b->in[0]) : b;
	double *v = QN_NEW(qn_rw_model(rw)->scratch, double, (size_t)n);

	if (c->op != QN_OP_const || qn_type_count(c->type) != n)
		return NULL;
	for (int64_t i = 0; i < n; i++) {
		double scale = 1;
		int64_t zp = 0;

		if (b != c)
			qn_elem_param(&qn_rw_model(rw)->types, c->type->elem,
				      c->type->elem->gran == QN_PER_TENSOR ? 0 : (size_t)i, &scale,
				      &zp);
		v[i] = (b != c ? (double)(qn_tensor_i64(c->value, i) - zp)
			       : qn_tensor_f64(c->value, i)) *
		       scale;
	}
	return v;
}

qn_id
qn_rqz_block_product(qn_rw *rw, const char *name, const qn_node *n, qn_id x, qn_id w, qn_id bias)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_type *result = n->type;
	const qn_op op = n->op;
	const qn_attrs *attr = n->attr;
	qn_id in[3] = {x, signed_weights(rw, w), 0};
	qn_block_scales b;
	int64_t zp;
	int bits;

	if (in[1] == 0)
		return qn_rw_decline(rw, "its weights in blocks are not a constant of at most 8 "
					 "bits with zero points within their storage");
	product p = {.x = qn_rw_node(rw, x)->type, .w = qn_rw_node(rw, in[1])->value};
	const int64_t channels = p.w->type->dim[0];
	p.bias = bias != 0 ? bias_values(rw, bias, channels) : NULL;
	if (bias != 0 && p.bias == NULL)
		return qn_rw_decline(rw, "the bias is not a constant with one number per channel");
	qn_elem_param(t, p.x->elem, 0, &p.sx, &zp);
	p.far = qn_code_reach(qn_rw_graph(rw), p.x);
	const qn_type *type = choose(rw, &p, name, &b, &bits);
	const qn_scale *unit = type != NULL ? qn_block_scales_units(t, name, &b) : NULL;
	const qn_elem *e = unit != NULL ? sums(t, p.x->elem, unit, bits, 0) : NULL;
	if (e == NULL)
		return qn_rw_decline(rw, "the scales of its blocks have no common unit");
	if (type != p.w->type)
		in[1] = qn_rw_const(rw, qn_rw_name(rw, in[1]),
				    qn_tensor_view(qn_rw_model(rw)->arena, type, p.w->data));
	if (bias != 0 && (in[2] = qn_rqz_bias_of(rw, bias, channels, e)) == 0)
		return 0;
	e = sums(t, p.x->elem, unit, bits, result->rank - 1);
	return e != NULL ? qn_rw_add(rw, op, name, bias != 0 ? 3 : 2, in, attr,
				     qn_type_with_elem(t, result, e))
			 : 0;
}
