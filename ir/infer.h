/* SPDX-License-Identifier: Apache-2.0 */
/* infer.h - what the shape rules share.  A rule reports all that is wrong with its node and then
 * returns NULL:
 *
 *   bool ok = qn_infer_rank(g, n, 0, 4);
 *   ok = qn_infer_range(g, n, "stride", 2, a->stride, 1) && ok;
 *   if (!ok)
 *           return NULL;
 *   return qn_infer_result(g, n, elem, &shape); */
#ifndef QN_IR_INFER_H
#define QN_IR_INFER_H

#include "ir/graph.h"

#define OP(name, min_in, max_in, attributes, behaviour, family) qn_infer_fn qn_infer_##name;
#include "ir/ops.def"

/* A shape being made; rank -1: unranked. */
typedef struct qn_shape {
	int32_t rank;
	int64_t dim[QN_MAX_RANK];
} qn_shape;

typedef enum qn_operands {
	QN_OPERANDS_BAD,   /* reported */
	QN_OPERANDS_FLOAT, /* all of plain float (or calibrated) elements */
	QN_OPERANDS_CODES  /* all quantized or integer */
} qn_operands;

/* The most elements that a value may have. */
#define QN_MAX_COUNT (INT64_C(1) << 40)

/* Reports an error of node n and returns false; refuse: QN_EUNSUPPORTED, for what is correct but
 * has no form. */
bool qn_infer_error(const qn_graph *g, const qn_node *n, const char *id, const char *fmt, ...)
	QN_PRINTF(4, 5);
bool qn_infer_refuse(const qn_graph *g, const qn_node *n, const char *id, const char *fmt, ...)
	QN_PRINTF(4, 5);

const qn_type *qn_infer_in(const qn_graph *g, const qn_node *n, uint32_t i);
/* What the shape rule of n's op says, NULL after a report; values that are stored as floats of few bits are constants,
 * which dequantize alone reads (type.storage.float). */
const qn_type *qn_infer_type(const qn_graph *g, const qn_node *n, const qn_type *declared);
/* Texts for messages, in the model's arena. */
const char *qn_infer_type_text(const qn_graph *g, const qn_type *type);
const char *qn_infer_elem_text(const qn_graph *g, const qn_elem *e);

qn_shape qn_shape_of(const qn_type *type);
/* Whether two dims may be equal: equal or one unknown.  merge: the known one. */
bool qn_dim_fits(int64_t a, int64_t b);
int64_t qn_dim_merge(int64_t a, int64_t b);
/* The product of the static dims among n, and in *dynamic the number of others; QN_MAX_COUNT + 1
 * when it is larger than QN_MAX_COUNT. */
int64_t qn_dims_product(int32_t n, const int64_t *dim, int32_t *dynamic);

/* No dim and no product of dims above QN_MAX_COUNT (shape.size).  It holds for every value of a
 * graph, so sums of a few dims cannot overflow. */
bool qn_infer_size(const qn_graph *g, const qn_node *n, int32_t rank, const int64_t *dim);
/* Input i has this rank, or is unranked (shape.rank). */
bool qn_infer_rank(const qn_graph *g, const qn_node *n, uint32_t i, int32_t rank);
/* An attribute that is 0 or 1 (attr.value). */
bool qn_infer_flag(const qn_graph *g, const qn_node *n, const char *attr, int64_t v);
/* Bits of fixed-point scales: 0 or QN_FIX_LEAST to QN_FIX_MOST (attr.value). */
bool qn_infer_align(const qn_graph *g, const qn_node *n, int64_t bits);
/* A key is not empty (attr.value). */
bool qn_infer_key(const qn_graph *g, const qn_node *n, const char *key);
/* An epsilon is finite and not negative (attr.value). */
bool qn_infer_epsilon(const qn_graph *g, const qn_node *n, double epsilon);
/* Input i is a vector of `dim` elements (shape.rank, shape.channels). */
bool qn_infer_vector(const qn_graph *g, const qn_node *n, uint32_t i, int64_t dim);
/* All values of the attribute lie in [min, QN_WINDOW_MAX] (attr.value). */
bool qn_infer_range(const qn_graph *g, const qn_node *n, const char *attr, int32_t count,
		    const int64_t *v, int64_t min);

/* type.tuple, type.mixed. */
qn_operands qn_infer_operands(const qn_graph *g, const qn_node *n);
/* A plain float element that all inputs have (type.mismatch).  NULL: reported. */
const qn_elem *qn_infer_float(const qn_graph *g, const qn_node *n);
/* The same for ops without an integer implementation, which refuse quantized inputs
 * (unsupported.quantized). */
const qn_elem *qn_infer_real(const qn_graph *g, const qn_node *n);
/* The element of SAME ops: input 0's.  NULL: reported. */
const qn_elem *qn_infer_same(const qn_graph *g, const qn_node *n);
/* The element of MIX and FIXED ops: that of float inputs, or the declared one for quantized inputs
 * (type.needed, type.element).  NULL: reported. */
const qn_elem *qn_infer_mix(const qn_graph *g, const qn_node *n, const qn_type *declared);
/* The same, also for plain integers of one type, but bool: that type. */
const qn_elem *qn_infer_numbers(const qn_graph *g, const qn_node *n, const qn_type *declared);
/* All inputs are plain integers, or bool where that is allowed, and of one type; reports
 * nothing. */
bool qn_infer_integers(const qn_graph *g, const qn_node *n, bool or_bool);
/* The element of ACC ops (inputs: data, weights with output channels on axis 0, optional bias):
 * float, or the accumulator, i32, or i64 for data of more than 8 bits, whose scale is data scale *
 * weight scale, on axis `channel` of the result when the weights are quantized per axis.  NULL:
 * reported. */
const qn_elem *qn_infer_acc(const qn_graph *g, const qn_node *n, int32_t channel);
/* The same; where the declared type has a scale of kind fmul, so has the accumulator. */
const qn_elem *qn_infer_acc_as(const qn_graph *g, const qn_node *n, int32_t channel,
			       const qn_type *declared);
/* The element of a product of two operands, either of which may be an activation: float, or the
 * accumulator.  Input 1 may have a zero point, or one scale for each column (its axis
 * `column`), which then lie along axis `channel` of the result; declared as in qn_infer_acc_as.  NULL: reported. */
const qn_elem *qn_infer_product(const qn_graph *g, const qn_node *n, int32_t column,
				int32_t channel, const qn_type *declared);
/* Input i is uniformly quantized, not in blocks (type.element, unsupported.subchannel). */
bool qn_infer_uniform(const qn_graph *g, const qn_node *n, uint32_t i);
/* What convolutions share: pads of `count` numbers, given for explicit padding only (attr.value);
 * channels in and out that fit the groups, each of which takes `each` channels (shape.channels);
 * the length of a kernel (shape.window); the shape of input i, all unknown when it is unranked. */
bool qn_infer_pads(const qn_graph *g, const qn_node *n, int32_t padding, int32_t count,
		   const int64_t *pad);
bool qn_infer_groups(const qn_graph *g, const qn_node *n, int64_t groups, int64_t in, int64_t out,
		     int64_t each);
bool qn_infer_kernel(const qn_graph *g, const qn_node *n, int64_t kernel);
qn_shape qn_infer_shape_of_rank(const qn_graph *g, const qn_node *n, uint32_t i, int32_t rank);
/* The common shape of the inputs, broadcast as numpy does (shape.broadcast). */
bool qn_infer_broadcast(const qn_graph *g, const qn_node *n, qn_shape *y);
/* The input and the declared type are tensors of one shape (type.needed, type.tuple,
 * type.cast.shape). */
bool qn_infer_cast_tensors(const qn_graph *g, const qn_node *n, const qn_type *declared);
/* e with its quantized axis moved to `axis`.  NULL: reported. */
const qn_elem *qn_infer_move_axis(const qn_graph *g, const qn_node *n, const qn_elem *e,
				  int32_t axis);

/* e after an op that moves axis k of the input, unchanged, to axis to[k] of the value; to[k] < 0: the op
 * changes the axis (type.axis.merged).  NULL: reported. */
const qn_elem *qn_infer_mapped_axis(const qn_graph *g, const qn_node *n, const qn_elem *e,
				    const int32_t *to);
/* Input i is a tensor of i32 or i64 (type.tuple, type.element). */
bool qn_infer_index(const qn_graph *g, const qn_node *n, uint32_t i);
/* The same for input `index`, and all inputs are tensors of known rank. */
bool qn_infer_indexed(const qn_graph *g, const qn_node *n, uint32_t index);
/* Elements along the axis have one scale, so that quantized values compare as they do (unsupported.subchannel,
 * type.axis.merged). */
bool qn_infer_comparable(const qn_graph *g, const qn_node *n, int32_t axis);
/* The element of indices that an op computes: i32, or i64 if that is declared (type.element).  NULL:
 * reported. */
const qn_elem *qn_infer_index_elem(const qn_graph *g, const qn_node *n, const qn_type *declared);
/* Constant indices, tuples of ndim, lie on the axes of these dims; none on an empty one
 * (shape.index). */
bool qn_infer_check_indices(const qn_graph *g, const qn_node *n, uint32_t input, int32_t ndim,
			    const int64_t *dim);
/* A result may have that many dims (shape.rank). */
bool qn_infer_result_rank(const qn_graph *g, const qn_node *n, int32_t rank);
/* Indices, input 1, each of which is an index along the axis in attribute `at` of the data beside it. */
bool qn_infer_beside(const qn_graph *g, const qn_node *n, int64_t at, const qn_shape *x,
		     const qn_shape *index, int32_t *axis);
/* Indices, input 1, whose last dim holds tuples of *length indices into the data after its
 * first `batch` dims. */
bool qn_infer_tuples(const qn_graph *g, const qn_node *n, const qn_shape *x, const qn_shape *index,
		     int64_t batch, int32_t *length);
/* The element that these inputs (bit i: input i) have, one scale per tensor if any: what chooses
 * between elements must not change what they mean (type.mismatch, type.granularity).  NULL:
 * reported. */
const qn_elem *qn_infer_chosen(const qn_graph *g, const qn_node *n, uint32_t inputs);

/* The attribute `axis` as an index from the front, rank >= 0 (attr.value). */
bool qn_infer_axis(const qn_graph *g, const qn_node *n, int64_t axis, int32_t rank, int32_t *out);

/* The type, after checking its size and that the element fits the shape (shape.size, type.…).
 * NULL: reported. */
const qn_type *qn_infer_result(const qn_graph *g, const qn_node *n, const qn_elem *e,
			       const qn_shape *shape);

#endif
