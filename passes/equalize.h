/* SPDX-License-Identifier: Apache-2.0 */
/* equalize.h - channels whose scale is free: what layers compute and other layers read, with nothing between that depends on
 * the scale.
 *
 *   %y = conv2d %x, %w    row i of w divided by s[i]          the values of channel i are divided by s[i],
 *   %r = relu %y                                              the outputs of the graph do not change
 *   %z = conv2d %r, %v    column i of v multiplied by s[i]
 *
 * Where biases are far above 0, so that no value of channel i is below c[i] > 0, these may move on:
 *
 *   %y = conv2d %x, %w, %b        c[i] taken from %b      the values of channel i are lower by c[i]: their range begins
 *   %r = relu %y                                          at 0, which it has anyway
 *   %z = conv2d %r, %v, %d        v c added to %d
 *
 * s are powers of two: as long as nothing overflows or is denormal, every product and every sum is the same
 * number with another exponent, so that the float graph computes the same bits. */
#ifndef QN_PASSES_EQUALIZE_H
#define QN_PASSES_EQUALIZE_H

#include "ir/graph.h"

/* Values with the same channels: results of layers, what follows from them, and operands of layers. */
typedef struct qn_equal_group {
	const char *name; /* of the first layer that computes one */
	int64_t channels;
	size_t noperand;
	const qn_id *operand; /* what layers read, in the order of the graph */
	size_t nlayer;
	const qn_id *
		layer; /* whose weights are scaled; one that reads and computes channels is there twice */
	float *rows, *columns; /* by channel, of qn_equalize_measure */
	int8_t *exponent;      /* by channel: s = 2^exponent; the caller's choice, at first 0 */
	/* by channel: c, in values before they are scaled; at first 0.  NULL: no biases can move on */
	float *shift;
} qn_equal_group;

typedef struct qn_equalizing {
	const qn_graph *g;
	size_t n;
	qn_equal_group *group;
	struct qn_equal_use *use; /* of constants */
	size_t nuse;
} qn_equalizing;

enum { QN_EQUALIZE_MOST = 8 }; /* exponents are -8 … 8 */

/* The groups of a float graph (one graph, cleaned), in arena a. */
void qn_equalize_find(const qn_graph *g, qn_arena *a, qn_equalizing *out);

/* Sets rows and columns of group k: the largest magnitude of weights that compute a channel, and of those that
 * read it, with the exponents of all other groups.  a: for what it takes meanwhile. */
void qn_equalize_measure(const qn_equalizing *e, size_t k, qn_arena *a);

/* The graph with constants scaled by the exponents of all groups, and biases that moved on; *out is the model's. */
qn_status qn_equalize_apply(qn_model *m, const qn_equalizing *e, qn_graph **out) QN_MUST_CHECK;

#endif
