/* SPDX-License-Identifier: Apache-2.0 */
/* random_weights.c - random layers with weights of 8, 4 or 2 bits, with one scale, one for each output channel or
 * one for each block of any shape; their biases, and the requantize after them. */
#include <math.h>

#include "runtime/accumulator.h"
#include "runtime/family.h"
#include "tests/e2e/random_maker.h"

enum { MOST_BIAS = 30000, MOST_SCALES = 1024 };

/* ---- types ---- */

static const qn_scale *
scales(maker *m, size_t n, int32_t rank, const int64_t *shape, const double *scale,
       const int64_t *zp)
{
	const qn_params *params = NULL;

	build_check(m->b, qn_params_intern(&m->b->model.types, "random", NULL, n, rank, shape,
					   scale, zp, &params) == QN_OK);
	return qn_scale_vec(&m->b->model.types, params);
}

/* Weights of n output channels: a scale for each or one for all. */
static const qn_elem *
weight_elem(maker *m, int64_t n)
{
	const int32_t axis = 0;
	qn_elem e = qn_elem_desc(m->weight_bits, true);
	double scale[64];
	int64_t i;

	e.qmin = chance(m, 50) ? -e.qmax : -e.qmax - 1;
	e.scale = qn_scale_const(&m->b->model.types, (double)(float)factor(m, 0.002, 0.05));
	if (chance(m, 70)) {
		for (i = 0; i < n; i++)
			scale[i] = (double)(float)factor(m, 0.001, 0.06);
		e.scale = scales(m, (size_t)n, 1, NULL, scale, NULL);
		e.gran = QN_PER_AXIS;
		e.naxis = 1;
		e.axis = &axis;
	}
	return make_elem(m, &e);
}

/* The size of the blocks along an axis; 0: it is not listed. */
static int64_t
block_size(maker *m, int32_t axis, int64_t dim)
{
	if (chance(m, 20))
		return 0;
	if (axis == 0 && chance(m, 70))
		return 1;
	if (dim > 8 && chance(m, 60))
		return pick(m, 8, dim < 64 ? dim : 64);
	return pick(m, 1, dim);
}

enum { MOST_ZERO_BITS = 8 }; /* of a mantissa beside a zero point, so that offsets fit 16 bits */

/* Zero points of n blocks, at times with a fraction; NULL: none. */
static const int64_t *
zero_points(maker *m, qn_elem *e, size_t n)
{
	int64_t *zp = QN_NEW(&m->b->arena, int64_t, n);

	if (chance(m, 50)) {
		e->zp_bits = 32;
		e->zp_signed = true;
		e->zp_fraction = (uint8_t)pick(m, 1, 16);
	}
	const int64_t unit = INT64_C(1) << e->zp_fraction;
	for (size_t i = 0; i < n; i++)
		zp[i] = pick(m, e->qmin * unit, e->qmax * unit);
	return zp;
}

/* Weights in blocks: each output channel, or those that share a block, has mantissas of its own number of bits
 * and its own unit. NULL: too many blocks. */
static const qn_elem *
block_elem(maker *m, int32_t rank, const int64_t *dim)
{
	qn_elem e = qn_elem_desc(m->weight_bits, true);
	int32_t axis[QN_MAX_RANK];
	int64_t block[QN_MAX_RANK], count[QN_MAX_RANK], each = 1;
	double scale[MOST_SCALES];
	const bool zeros = chance(m, 40);

	if (chance(m, 50))
		e.qmin = -e.qmax;
	for (int32_t i = 0; i < rank; i++) {
		const int64_t size = block_size(m, i, dim[i]);

		count[i] = size > 0 ? (dim[i] + size - 1) / size : 1;
		each *= i > 0 ? count[i] : 1;
		if (size == 0)
			continue;
		e.partial = e.partial || dim[i] % size != 0;
		axis[e.naxis] = i;
		block[e.naxis++] = size;
	}
	if (count[0] * each > MOST_SCALES)
		return NULL;
	for (int64_t o = 0; o < count[0]; o++) {
		const int bits = (int)pick(m, 0, zeros ? MOST_ZERO_BITS : 15),
			  unit = bits + (int)pick(m, 4, 8);

		for (int64_t k = 0; k < each; k++)
			scale[o * each + k] =
				ldexp((double)pick(m, 1, bits > 0 ? (1 << bits) - 1 : 1), -unit);
	}
	const size_t n = (size_t)(count[0] * each);
	e.scale = scales(m, n, rank, count, scale, zeros ? zero_points(m, &e, n) : NULL);
	e.gran = QN_SUB_CHANNEL;
	e.axis = axis;
	e.block = block;
	return make_elem(m, &e);
}

static bool
takes_blocks(maker *m, qn_op op, qn_id x)
{
	return op != QN_OP_matmul && type_of(m, x)->elem->gran == QN_PER_TENSOR;
}

/* The sum's type with 64 bits where 32 do not hold the sums of weights in blocks, and at times where they do. */
static const qn_type *
wide_enough(maker *m, const qn_type *sum, const qn_type *x, const qn_tensor *w)
{
	const qn_elem *from = sum->elem;
	qn_block_scales b;
	qn_elem e = qn_elem_desc(64, true);
	int64_t worst = 0;

	if (w->type->elem->gran != QN_SUB_CHANNEL || from->bits == 64)
		return sum;
	build_check(m->b, qn_block_scales_find(&m->b->model.types, w->type, &m->b->arena, &b));
	for (int64_t o = 0; o < b.channels; o++) {
		const int64_t most = qn_block_sum_bound(&b, w, o, qn_code_reach(m->b->g, x));

		worst = most > worst ? most : worst;
	}
	if (worst + MOST_BIAS <= INT32_MAX && chance(m, 80))
		return sum;
	e.scale = from->scale;
	e.gran = from->gran;
	e.naxis = from->naxis;
	e.axis = from->axis;
	return qn_type_with_elem(&m->b->model.types, sum, make_elem(m, &e));
}

/* A bias that is added to sums of this type. */
static qn_id
add_bias(maker *m, const qn_type *sum, int64_t n)
{
	const int32_t axis = 0;
	qn_elem e = *sum->elem;
	const int64_t most = MOST_BIAS * code_unit(m);

	e.axis = e.gran == QN_PER_AXIS ? &axis : NULL;
	return add_const(m, shaped(m, make_elem(m, &e), 1, &n), -most, most);
}

/* ---- the layer ---- */

qn_id
requantize_sum(maker *m, qn_id sum, double spread)
{
	qn_attrs a = build_attrs(QN_OP_requantize);
	const qn_elem *e = type_of(m, sum)->elem;
	double scale = chance(m, 10) ? scale_of(m, sum, 0) * factor(m, 0.4, 4000)
				     : spread * factor(m, 0.4, 2);
	const int64_t unit = code_unit(m);

	change_storage(m);
	scale *= (double)unit / (double)code_unit(m);
	for (size_t i = 0; e->bits == 64 && i < qn_elem_nparams(e); i++)
		scale = fmax(scale, scale_of(m, sum, i) / 64); /* their multipliers are below 128 */
	if (chance(m, 30)) {
		a.clamp.lo = pick(m, -140, 0) * code_unit(m);
		a.clamp.hi = pick(m, 1, 140) * code_unit(m);
	}
	if (chance(m, 15))
		m->sum = sum;
	return add_op(
		m, QN_OP_requantize, 1, &sum, &a,
		qn_type_with_elem(&m->b->model.types, type_of(m, sum), code_elem(m, scale, false)));
}

/* The length of the real weights of one output channel. */
static double
spread_of(maker *m, const qn_tensor *w)
{
	const int64_t terms = qn_type_count(w->type) / w->type->dim[0];
	const int64_t o = pick(m, 0, w->type->dim[0] - 1);
	qn_types *t = &m->b->model.types;
	const qn_tensor *real = qn_tensor_dequantize(
		t, &m->b->arena, w, qn_type_with_elem(t, w->type, qn_elem_plain(t, QN_PLAIN_f32)));
	double sum = 0;

	for (int64_t i = o * terms; i < (o + 1) * terms; i++)
		sum += qn_tensor_f64(real, i) * qn_tensor_f64(real, i);
	return sqrt(fmax(sum, 1e-6));
}

qn_id
add_weighted(maker *m, qn_op op, qn_id x, int32_t rank, const int64_t *dim, const qn_attrs *attr)
{
	const qn_elem *e = m->blocks > 0 && takes_blocks(m, op, x) && chance(m, m->blocks)
				   ? block_elem(m, rank, dim)
				   : NULL;
	const qn_type *type = shaped(m, e != NULL ? e : weight_elem(m, dim[0]), rank, dim);
	qn_id in[3] = {x, add_const(m, type, type->elem->qmin, type->elem->qmax), 0};
	const qn_tensor *w = qn_graph_node(m->b->g, in[1])->value;
	const double spread = scale_of(m, x, 0) * spread_of(m, w);
	const qn_node like = {.op = op, .name = "", .nin = 2, .in = in, .attr = attr};
	const qn_type *sum = qn_opinfo_get(op)->infer(m->b->g, &like, NULL);

	build_check(m->b, sum != NULL);
	sum = wide_enough(m, sum, type_of(m, x), w);
	if (chance(m, 70))
		in[2] = add_bias(m, sum, dim[0]);
	return requantize_sum(m, add_op(m, op, in[2] != 0 ? 3 : 2, in, attr, sum), spread);
}
