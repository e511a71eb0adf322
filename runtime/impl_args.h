/* SPDX-License-Identifier: Apache-2.0 */
/* impl_args.h - what `prepare` of an integer implementation returns: a kernel's argument struct, or a
 * struct that begins with it where the interpreter needs working memory beside it.  Which one it
 * is, the op's file impl_*.c and its rows of codegen/kernels_*.c say.
 *
 *   add           qn_add_args       qn_add_s8(&args, x, y, z)
 *   conv2d        qn_conv2d_call    qn_conv2d_args, and memory for the row pointers of a run
 *
 * Pointers to weights and biases are NULL in prepared arguments: `run` sets them from its
 * inputs, code generation from the names of the constants.  Of conv2d and dense, zo is 0, lo and
 * hi are those of i32, mult_n is 1, mult and shift are NULL: the requantize that follows holds
 * these. */
#ifndef QN_RUNTIME_IMPL_ARGS_H
#define QN_RUNTIME_IMPL_ARGS_H

#include "runtime/geometry.h"
#include "runtime/kernels/aligned.h"
#include "runtime/kernels/binary.h"
#include "runtime/kernels/conv2d.h"
#include "runtime/kernels/conv_transpose.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/difference.h"
#include "runtime/kernels/dynamic.h"
#include "runtime/kernels/logic.h"
#include "runtime/kernels/dense.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/kernels/gather.h"
#include "runtime/kernels/loop.h"
#include "runtime/kernels/gather_blocks.h"
#include "runtime/kernels/matmul.h"
#include "runtime/kernels/move.h"
#include "runtime/kernels/plain.h"
#include "runtime/kernels/plain_fixed.h"
#include "runtime/kernels/pool.h"
#include "runtime/kernels/products.h"
#include "runtime/kernels/products_blocks.h"
#include "runtime/kernels/products_transpose.h"
#include "runtime/kernels/requantize.h"
#include "runtime/kernels/resize.h"
#include "runtime/kernels/softmax.h"
#include "runtime/kernels/unary.h"
#include "runtime/kernels/volume.h"
#include "runtime/kernels/where.h"
#include "runtime/kernels/windows_blocks.h"
#include "runtime/lut.h"

#include "runtime/kernels/l2_norm.h"
#include "runtime/kernels/layer_norm.h"
#include "runtime/kernels/reduce.h"

typedef struct qn_plain_call {
	qn_plain_args args;
	const char *name; /* of fn */
	qn_plain_fn *fn;
} qn_plain_call;

typedef struct qn_plain_along_call {
	qn_plain_along_args args;
	const char *name; /* of fn */
	qn_plain_fn *fn;
} qn_plain_along_call;

typedef struct qn_conv2d_call {
	qn_conv2d_args args;
	void *rows; /* [k_h] pointers, working memory of a run */
} qn_conv2d_call;

typedef struct qn_conv2d_blocks_call {
	qn_conv2d_blocks_args args;
	void *rows; /* [k_h] pointers */
} qn_conv2d_blocks_call;

/* Whether a conv2d_transpose is within what its kernels count with; refuses it if not. */
bool qn_transposed_is_small(const qn_graph *g, const qn_node *n, const qn_geometry *s);

typedef struct qn_conv_transpose_call {
	qn_conv_transpose_args args;
	void *rows; /* [k_h] pointers */
} qn_conv_transpose_call;

typedef struct qn_pool_call {
	qn_pool_args args;
	void *rows; /* [k_h] pointers */
} qn_pool_call;

typedef struct qn_concat_call {
	int32_t n;                  /* number of inputs */
	const qn_concat_args *part; /* [n] */
	const int32_t *offset;      /* [n] byte of the output where the first run goes */
} qn_concat_call;

/* view, split, gather */
typedef struct qn_strided_call {
	qn_transpose_args args;
	int32_t start; /* element of the input with which the kernel begins */
} qn_strided_call;

typedef struct qn_gather_call {
	qn_gather_args args;
	const int32_t *index; /* [args.n] constant indices >= 0; NULL: those of the second input */
	bool wide;            /* these are i64, for qn_gather_wide */
} qn_gather_call;

typedef struct qn_gather_blocks_call {
	qn_gather_blocks_args args;
	const int32_t *index; /* as of qn_gather_call */
} qn_gather_blocks_call;

/* Constant indices of a gather along an axis of dim elements, each >= 0; NULL: they vary. */
const int32_t *qn_gather_indices(const qn_graph *g, const qn_node *n, int64_t dim, qn_arena *a);

typedef struct qn_copy_args {
	int32_t n; /* bytes */
} qn_copy_args;

/* A custom operator: a table, or what its `prepare` returned. */
enum { QN_CUSTOM_PARAMS = 4096 }; /* at most */
typedef struct qn_custom_args {
	qn_lut *lut; /* NULL: there is an integer function */
	int32_t *param;
	int32_t nparam;
} qn_custom_args;

#endif
