/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - results that are elements of the input at regular distances.
 *
 *   slice [4,3] {begin=[3,0], end=[0,3], step=[-2,1]}     start 9, dim {2, 3}, stride {-6, 1}
 *   tile [2] {repeats=[3]}                                start 0, dim {3, 2}, stride {0, 1} */
#ifndef QN_RUNTIME_VIEW_H
#define QN_RUNTIME_VIEW_H

#include "runtime/impl_args.h"
#include "runtime/impl_util.h"

enum { QN_VIEW_AXES = 2 * QN_MAX_RANK };

typedef struct qn_view {
	int32_t rank;
	int64_t start; /* in elements, like the strides */
	int64_t dim[QN_VIEW_AXES], stride[QN_VIEW_AXES];
} qn_view;

/* The view that field `part` of node n's result is (0 when it is not a tuple); v is all 0. */
typedef void qn_view_fn(const qn_graph *g, const qn_node *n, uint32_t part, qn_view *v);

static inline void
qn_view_add(qn_view *v, int64_t dim, int64_t stride)
{
	v->dim[v->rank] = dim;
	v->stride[v->rank++] = stride;
}

void qn_view_real(const qn_eval *e, qn_view_fn *make);
void qn_view_plain(const qn_eval *e, qn_view_fn *make); /* elements of any size */
/* qn_strided_call, an array of them for a tuple. */
void *qn_view_prepare(const qn_graph *g, const qn_node *n, qn_arena *a, qn_view_fn *make);
void qn_view_quantized(const qn_eval *e, const void *args);

/* All implementations of an op from its view. */
#define QN_VIEW_IMPL(op)                                                                           \
	static void op##_real(const qn_eval *e)                                                    \
	{                                                                                          \
		qn_view_real(e, op##_view);                                                        \
	}                                                                                          \
	static void op##_plain(const qn_eval *e)                                                   \
	{                                                                                          \
		qn_view_plain(e, op##_view);                                                       \
	}                                                                                          \
	static void *op##_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)                \
	{                                                                                          \
		return qn_view_prepare(g, n, a, op##_view);                                        \
	}                                                                                          \
	const qn_impl qn_impl_##op = {                                                             \
		.real = op##_real,                                                                 \
		.plain = op##_plain,                                                               \
		.quantized = {.prepare = op##_prepare,                                             \
			      .run = qn_view_quantized,                                            \
			      .families = QN_ALL_FAMILIES},                                        \
	};

#endif
