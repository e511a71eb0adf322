/* SPDX-License-Identifier: Apache-2.0 */
/* random_maker.h - what makes a random graph: seeded numbers, random types, and a list of ops.
 *
 *   random_ops[pick(m, 0, random_nops - 1)](m, x)    adds one op, or a few, to value x */
#ifndef QN_TESTS_RANDOM_MAKER_H
#define QN_TESTS_RANDOM_MAKER_H

#include "tests/e2e/build.h"

enum { MOST_VALUES = 24, MOST_ELEMENTS = 900 };

typedef struct maker {
	builder *b;
	/* storage of activations: i8, u8 or i16; that of the op being added */
	qn_plain code;
	uint8_t weight_bits; /* 8, 4 or 2 */
	int64_t blocks;      /* percent of the layers that may have weights in blocks */
	/* bits of the scales of codes, whose sums are aligned; 0: any scales */
	int32_t align;
	bool mixed;               /* ops have storages of their own, as a recipe gives them */
	qn_id value[MOST_VALUES]; /* all have codes and one scale; unless mixed, of that storage */
	size_t n;
	qn_id sum;  /* an accumulator that becomes an output too, or 0 */
	qn_id loop; /* the innermost one that is being filled, or 0 */
	int depth;  /* of that */
} maker;

/* Adds an op on x and returns its result; 0: the op does not suit x. */
typedef qn_id random_op(maker *m, qn_id x);

/* Family unary. */
random_op random_unary, random_pow, random_prelu;
/* view, split, gather, resize, pad (random_view.c) */
random_op random_slice, random_dims, random_repeat, random_depth, random_split, random_gather,
	random_resize, random_pad_copy, random_expand;
/* random_indexed.c */
random_op random_elements, random_tuples, random_one_hot, random_trilu, random_reverse,
	random_top_k;
/* random_volume.c */
random_op random_conv3d, random_pool3d;

/* random_channels.c */
random_op random_channels;

/* random_loop.c */
random_op random_loop;

/* random_ops.c */
random_op random_conv2d, random_max_pool, random_avg_pool, random_scast;
extern random_op *const random_ops[];
extern const size_t random_nops;

/* random_binary.c */
random_op do_sub, do_squared_difference, do_minmax, do_div, do_compare, do_where, do_matmul,
	do_conv1d, do_conv2d_transpose;

/* Mixed graphs: another storage for the ops to come, now and then; x in it. (random_graph.c) */
void change_storage(maker *m);
qn_id in_storage(maker *m, qn_id x);
/* x, or its integers at another scale: products of products soon leave what multipliers reach. */
qn_id in_reach(maker *m, qn_id x);

/* What the lists of ops are made of (random_nodes.c). */
qn_id add_op(maker *m, qn_op op, uint32_t nin, const qn_id *in, const qn_attrs *attr,
	     const qn_type *type);
/* Random integers in [lo, hi], both among them where there is room. */
qn_id add_const(maker *m, const qn_type *type, int64_t lo, int64_t hi);
qn_id add_codes_const(maker *m, const qn_elem *e, int32_t rank, const int64_t *dim);
qn_id reshaped(maker *m, qn_id x, int32_t rank);
qn_id with_rank(maker *m, qn_id x, int32_t rank);
qn_id partner(maker *m, qn_id x);
qn_id add_pair(maker *m, qn_op op, qn_id x, qn_id y, double scale);
int64_t divisor(maker *m, int64_t n);

/* random_weights.c */
/* The requantize of a sum whose values are about 74 * spread; one in ten saturates or vanishes. */
qn_id requantize_sum(maker *m, qn_id sum, double spread);
/* An op with weights of these dimensions, maybe a bias, and its requantize. */
qn_id add_weighted(maker *m, qn_op op, qn_id x, int32_t rank, const int64_t *dim,
		   const qn_attrs *attr);

/* ---- numbers ---- */

static inline int64_t
pick(maker *m, int64_t lo, int64_t hi)
{
	return build_random(m->b, lo, hi);
}

static inline bool
chance(maker *m, int64_t percent)
{
	return pick(m, 1, 100) <= percent;
}

/* A factor in [lo, hi]. */
static inline double
factor(maker *m, double lo, double hi)
{
	return lo + (hi - lo) * (double)pick(m, 0, 1000) / 1000.0;
}

static inline const qn_type *
type_of(const maker *m, qn_id id)
{
	return qn_graph_node(m->b->g, id)->type;
}

static inline double
scale_of(maker *m, qn_id id, size_t i)
{
	double scale = 1.0;
	int64_t zp = 0;

	qn_elem_param(&m->b->model.types, type_of(m, id)->elem, i, &scale, &zp);
	return scale;
}

/* ---- types ---- */

static inline const qn_elem *
make_elem(maker *m, const qn_elem *desc)
{
	const qn_elem *e = NULL;

	build_check(m->b, qn_elem_make(&m->b->model.types, "random", desc, &e) == QN_OK);
	return e;
}

/* How many codes of the storage one of i8 stands for. */
static inline int64_t
code_unit(const maker *m)
{
	return m->code == QN_PLAIN_i16 ? 256 : 1;
}

static inline qn_elem
code_desc(const maker *m)
{
	return qn_elem_desc(m->code == QN_PLAIN_i16 ? 16 : 8, m->code != QN_PLAIN_u8);
}

/* Of 2 to 7 bits (i16: 9 to 15) in the bytes of the storage, as files have them. */
static inline void
narrow_range(maker *m, qn_elem *e, double *scale)
{
	const int lost = (int)pick(m, 1, e->bits == 16 ? 7 : 6);

	e->qmax = (e->qmax + 1) / (1 << lost) - 1;
	e->qmin = e->is_signed ? -e->qmax - 1 : 0;
	*scale *= (double)(1 << lost);
}

/* Codes; the zero point is 0 in one of ten, and for i16. */
static inline const qn_elem *
code_elem(maker *m, double scale, bool whole_range)
{
	qn_elem e = code_desc(m);

	if (!whole_range && chance(m, 15))
		e.qmin++;
	else if (!whole_range && chance(m, 6))
		narrow_range(m, &e, &scale);
	if (m->align != 0)
		scale = qn_fixed_value(qn_fix(scale, m->align));
	e.scale = qn_scale_const(&m->b->model.types, (double)(float)scale);
	e.zp = chance(m, 10) ? 0 : pick(m, e.qmin, e.qmax);
	if (chance(m, 60))
		e.zp /= 4;
	if (m->code == QN_PLAIN_i16 || e.zp < e.qmin)
		e.zp = m->code == QN_PLAIN_i16 ? 0 : e.qmin;
	return make_elem(m, &e);
}

/* The parameters that the op prefers for its result or, of 8 bits, any others near them. */
static inline const qn_elem *
fixed_elem(maker *m, qn_op op)
{
	const qn_node like = {.op = op};
	qn_elem e = code_desc(m);
	double scale;

	qn_fixed_output(&like, &e, &scale, &e.zp);
	if (qn_supports_any_output(&like, &e) && e.bits <= 8 && m->align == 0 && chance(m, 40)) {
		scale = (double)(float)(scale * (double)pick(m, 20, 150) / 100);
		e.zp = pick(m, e.qmin, e.qmax);
	}
	e.scale = qn_scale_const(&m->b->model.types, scale);
	return make_elem(m, &e);
}

static inline const qn_type *
shaped(maker *m, const qn_elem *e, int32_t rank, const int64_t *dim)
{
	return qn_type_tensor(&m->b->model.types, e, rank, dim);
}

#endif
