/* SPDX-License-Identifier: Apache-2.0 */
/* form_args.h - what `prepare` of an integer form returns: a kernel's argument struct, or a
 * struct that begins with it where the interpreter needs working memory beside it.
 *
 *   op                               prepared                     kernel
 *   conv2d                           qn_conv2d_call               qn_conv2d_acc
 *   dense                            qn_dense_args                qn_dense_acc
 *   requantize                       qn_requantize_args           qn_requantize_s8 or _s32_s8
 *   add, sub, bias_add               qn_add_args                  qn_add_s8
 *   … with scales for each channel   qn_add_axis_args             qn_add_axis_s8, mul and requantize likewise
 *   minimum, maximum                 qn_minmax_args               qn_minmax_s8
 *   div                              qn_div_args                  qn_div_s8
 *   equal, less …                    qn_compare_args              qn_compare_s8
 *   squared_difference               qn_difference_args           qn_squared_difference_s8
 *   logical_and, _or, _xor, _not     qn_logic_args, qn_not_args   qn_logic, qn_not
 *   arithmetic, comparisons and bits of plain integers
 *                                    qn_plain_call                qn_plain_apply with a function
 *   where                            qn_where_args                qn_where
 *   cast                             qn_cast_args                 qn_cast
 *   matmul                           qn_matmul_args               qn_matmul_acc
 *   conv1d                           qn_conv2d_call               qn_conv2d_acc, of height 1
 *   conv2d_transpose                 qn_conv_transpose_call       qn_conv_transpose_acc
 *   mul                              qn_mul_args                  qn_mul_s8
 *   relu, relu6, clip, clamp         qn_clip_args                 qn_clip_s8
 *   max_pool, avg_pool               qn_pool_call                 qn_max_pool_s8, qn_avg_pool_s8
 *   conv3d                           qn_conv3d_args               qn_conv3d_acc
 *   max_pool3d, avg_pool3d           qn_pool3d_args               qn_max_pool3d_s8, qn_avg_pool3d_s8
 *   global_avg_pool                  qn_mean_args                 qn_mean_s8
 *   softmax                          qn_softmax_args              qn_softmax_s8
 *   ops of behaviour LUT             qn_lut                       qn_lut_q
 *   sigmoid, tanh                    qn_lut                       qn_lut_q, i16: qn_sigmoid_s16, qn_tanh_s16
 *   prelu                            qn_prelu_args                qn_prelu_s8
 *   reduce_mean, reduce_sum          qn_reduce_args               qn_reduce_sum_s8
 *   reduce_prod                      qn_reduce_args               qn_reduce_prod_s8
 *   reduce_max, reduce_min           qn_reduce_args               qn_reduce_max_s8
 *   argmax, argmin                   qn_argmax_args               qn_argmax_s8_s32 or _s64
 *   cumsum                           qn_cumsum_args               qn_cumsum_s8
 *   log_softmax                      qn_log_softmax_args          qn_log_softmax_s8
 *   l2_norm                          qn_l2_norm_args              qn_l2_norm_s8, not for i16
 *   layer_norm, rms_norm, instance_norm
 *                                    qn_norm_args                 qn_norm_s8
 *   transpose                        qn_transpose_args            qn_transpose
 *   concat                           qn_concat_call               qn_concat_part, once an input
 *   pad                              qn_pad_args                  qn_pad_s8
 *   pad, any other mode              qn_pad_copy_args             qn_pad_copy
 *   slice, expand, tile, reverse, depth_to_space, space_to_depth
 *                                    qn_strided_call              qn_transpose
 *   split                            qn_strided_call, one a part  qn_transpose, once a part
 *   squeeze, expand_dims             qn_strided_call              qn_transpose; emitted: none
 *   gather                           qn_gather_call               qn_gather, qn_gather_wide
 *   gather_elements                  qn_elements_args             qn_gather_elements
 *   gather_nd                        qn_nd_args                   qn_gather_nd
 *   scatter_elements                 qn_elements_args             qn_scatter_elements_s8
 *   scatter_nd                       qn_nd_args                   qn_scatter_nd_s8
 *   one_hot                          qn_one_hot_args              qn_one_hot
 *   top_places                       qn_top_args                  qn_top_places_s8_s32 or _s64
 *   top_k                            qn_top_args                  emitted: top_places and gather_elements
 *   trilu                            qn_trilu_args                qn_trilu
 *   resize_nearest                   qn_nearest_args              qn_nearest
 *   resize_bilinear                  qn_bilinear_args             qn_bilinear_s8
 *   reshape, flatten, scast          qn_copy_args                 qn_copy
 *   operators of the host's          qn_custom_args               qn_lut_q or the host's function
 *   dequantize                       none (NULL is never returned; runs in the interpreter only)
 *
 * Pointers to weights and biases are NULL in prepared arguments: `run` sets them from its
 * inputs, code generation from the names of the constants.  Of conv2d and dense, zo is 0, lo and
 * hi are those of i32, mult_n is 1, mult and shift are NULL: the requantize that follows holds
 * these. */
#ifndef QN_RUNTIME_FORM_ARGS_H
#define QN_RUNTIME_FORM_ARGS_H

#include "runtime/kernels/binary.h"
#include "runtime/kernels/conv2d.h"
#include "runtime/kernels/conv_transpose.h"
#include "runtime/kernels/convert.h"
#include "runtime/kernels/difference.h"
#include "runtime/kernels/logic.h"
#include "runtime/kernels/dense.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/kernels/gather.h"
#include "runtime/kernels/matmul.h"
#include "runtime/kernels/move.h"
#include "runtime/kernels/plain.h"
#include "runtime/kernels/pool.h"
#include "runtime/kernels/products.h"
#include "runtime/kernels/requantize.h"
#include "runtime/kernels/resize.h"
#include "runtime/kernels/softmax.h"
#include "runtime/kernels/unary.h"
#include "runtime/kernels/volume.h"
#include "runtime/kernels/where.h"
#include "runtime/lut.h"

#include "runtime/kernels/l2_norm.h"
#include "runtime/kernels/layer_norm.h"
#include "runtime/kernels/reduce.h"

typedef struct qn_plain_call {
	qn_plain_args args;
	const char *name; /* of fn */
	qn_plain_fn *fn;
} qn_plain_call;

typedef struct qn_conv2d_call {
	qn_conv2d_args args;
	void *rows; /* [k_h] pointers, working memory of a run */
} qn_conv2d_call;

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
	bool wide; /* these are i64, for qn_gather_wide */
} qn_gather_call;

typedef struct qn_copy_args {
	int32_t n; /* bytes */
} qn_copy_args;

/* An operator of the host's: a table, or what its `prepare` gave. */
enum { QN_CUSTOM_PARAMS = 4096 }; /* at most */
typedef struct qn_custom_args {
	const qn_lut *lut; /* NULL: there is an integer function */
	int32_t *param;
	int32_t nparam;
} qn_custom_args;

#endif
