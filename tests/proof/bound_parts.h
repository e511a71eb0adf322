/* SPDX-License-Identifier: Apache-2.0 */
/* bound_parts.h - what the bounds of values behind the requantizer are made of: steps, roundings and ranges in codes, and
 * what each op adds. */
#ifndef QN_TESTS_BOUND_PARTS_H
#define QN_TESTS_BOUND_PARTS_H

#include "tests/proof/real_graph.h"

#include <math.h>

/* Roundings in codes.  A multiplier in mode double rounds to nearest twice, the second time with
 * at least one bit behind the point: 1/2 + 1/4. */
#define NEAREST 0.5
#define MULTIPLIER 0.75
/* One of a sum of 64 bits has 15 bits and rounds once: it is off by 2^-15. */
#define MULTIPLIER_64(range) (0.5 + (range)*0x1p-16)
/* f32 before: relative errors of 2^-24, up to 2^6 of them, of a code inside the range. */
#define SLACK(range) ((range)*0x1p-18)

static inline const qn_type *
type_of(const qn_graph *g, qn_id id)
{
	return qn_graph_node(g, id)->type;
}

static inline double
scale_of(const qn_graph *g, const qn_type *t)
{
	double scale;
	int64_t zp;

	qn_elem_param(&g->model->types, t->elem, 0, &scale, &zp);
	return scale;
}

/* The smallest scale of a type, and the largest. */
static inline double
least_scale(const qn_graph *g, const qn_type *t, double *most)
{
	double least = HUGE_VAL, scale;
	int64_t zp;

	*most = 0;
	for (size_t i = 0; i < qn_elem_nparams(t->elem); i++) {
		qn_elem_param(&g->model->types, t->elem, i, &scale, &zp);
		least = fmin(least, scale);
		*most = fmax(*most, scale);
	}
	return least;
}

/* The operand's type: of the codes that the dequantize reads. */
static inline const qn_type *
codes_type(const qn_graph *g, const qn_node *n, uint32_t i)
{
	return type_of(g, qn_graph_node(g, n->in[i])->in[0]);
}

static inline bool
is_wide(const qn_type *t)
{
	return t->elem->bits > 8;
}

/* How many codes there are. */
static inline double
range_of(const qn_type *t)
{
	return is_wide(t) ? 65536 : 256;
}

/* The rounding of a requantize of x with the result q. */
static inline double
multiplier(const qn_type *x, const qn_type *q)
{
	return x->elem->bits == 64 ? MULTIPLIER_64(range_of(q)) : MULTIPLIER;
}

/* A step to which additions and comparisons round an operand, as a part of the larger scale. */
static inline double
step(const qn_type *x)
{
	return is_wide(x) ? 2 * 0x1p-15 : 2 * 0x1p-20;
}

static inline bool
moves(const qn_node *n)
{
	qn_behaviour behaviour = qn_opinfo_of(n)->behaviour;

	return behaviour == QN_SAME || behaviour == QN_JOIN || n->op == QN_OP_get ||
	       n->op == QN_OP_split;
}

/* ---- what an op adds, as a real number (op_bound.c) ---- */

/* The product of dequantized operands that the node is, or that a bias is added to; NULL: neither. */
const qn_node *product_of(const qn_graph *g, const qn_node *n);

/* The error that an op has besides the rounding of its result; that of a squared difference. */
double own_error(const qn_graph *g, const qn_node *n);
double squared_error(const qn_graph *g, const qn_node *n);

/* In codes: of an average over values of so many codes, and of a product of codes with the result q. */
double average_error(const qn_node *n, double range);
double codes_product_error(const qn_graph *g, const qn_node *n, const qn_type *q);

#endif
