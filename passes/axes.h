/* SPDX-License-Identifier: Apache-2.0 */
/* axes.h - what the files of the axes pass share.
 *
 *   axes.c           the rules, and the pass
 *   axes_sink.c        op(transpose(x)) -> transpose(op(x)): element by element
 *   axes_attrs.c       the same of ops with axes among their attributes
 *   axes_product.c   reshapes; dense and matmul take a transpose into their weights
 *
 * A permutation p is that of transpose: axis k of the value is axis p.v[k] of the input. */
#ifndef QN_PASSES_AXES_H
#define QN_PASSES_AXES_H

#include "passes/passes.h"
#include "patterns/rewrite.h"

/* A node that reads a transpose, and that transpose. */
typedef struct qn_ax {
	qn_rw *rw;
	qn_id root;
	const qn_node *n; /* root */
	uint32_t operand; /* the one that is transposed */
	qn_id t;          /* the transpose, or the reshape of one */
	qn_id x;          /* what it reads */
	const qn_list *p;
} qn_ax;

/* Returns what replaces the node, or 0 after qn_rw_decline. */
typedef qn_id qn_ax_fn(const qn_ax *s);

qn_ax_fn qn_ax_unary, qn_ax_whole, qn_ax_broadcast, qn_ax_concat, qn_ax_last, qn_ax_layer_norm;
qn_ax_fn qn_ax_softmax, qn_ax_lists, qn_ax_expand, qn_ax_reduce, qn_ax_argmax;
qn_ax_fn qn_ax_squeeze, qn_ax_expand_dims, qn_ax_gather, qn_ax_part;
qn_ax_fn qn_ax_reshape, qn_ax_dense, qn_ax_matmul;

qn_list qn_ax_inverse(const qn_list *p);
/* Whether the transpose moves dims of 1 alone, so that it is a reshape. */
bool qn_ax_is_free(const qn_type *from, const qn_list *p);
/* transpose(y) under the name of s->t; y where p is the identity; 0 where y is 0. */
qn_id qn_ax_put(const qn_ax *s, qn_id y, const qn_list *p);
qn_id qn_ax_transpose(qn_rw *rw, const char *name, qn_id x, const qn_list *p);
qn_id qn_ax_as(qn_rw *rw, const char *name, qn_id x, int32_t rank, const int64_t *dim);
/* The node's op over other operands, of the type that transposed by p is the node's, under its
 * name; attr NULL: its attributes. */
qn_id qn_ax_op(const qn_ax *s, const qn_id *in, const qn_attrs *attr, const qn_list *p);
/* op'(x, the other operands as they are), then the transpose. */
qn_id qn_ax_below(const qn_ax *s, const qn_attrs *attr, const qn_list *p);
/* Whether the value is a constant, casts aside. */
bool qn_ax_is_const(const qn_rw *rw, qn_id id);

/* The operand is not a transpose itself but the reshape or split of one. */
static inline bool
qn_ax_is_reshaped(const qn_ax *s)
{
	return qn_rw_node(s->rw, s->t)->op != QN_OP_transpose;
}

#define QN_AX_DIRECT(s)                                                                            \
	do {                                                                                       \
		if (qn_ax_is_reshaped(s))                                                          \
			return qn_rw_decline((s)->rw, "the transpose is after another op");        \
	} while (0)

static inline int32_t
qn_ax_from_front(int64_t axis, int32_t rank)
{
	return (int32_t)(axis < 0 ? axis + rank : axis);
}

#endif
