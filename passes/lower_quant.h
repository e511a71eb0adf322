/* SPDX-License-Identifier: Apache-2.0 */
/* lower_quant.h - what the files of lower-quant share: one cast that becomes arithmetic, and the parameters
 * of its type as operands of that arithmetic (lower_quant_params.c). */
#ifndef QN_PASSES_LOWER_QUANT_H
#define QN_PASSES_LOWER_QUANT_H

#include "patterns/rewrite.h"

/* One cast that becomes arithmetic. */
typedef struct qn_lowering {
	qn_rw *rw;
	qn_id root;
	qn_id like;               /* a tensor of the shape */
	const qn_type *type;      /* the quantized side */
	qn_plain work;            /* the float type of the arithmetic */
	qn_id block[QN_MAX_RANK]; /* the block of each index of an axis, 0: not made yet */
} qn_lowering;

/* Adds a node, named after the cast and `what`, or as the cast where that is NULL.  0 if an operand is 0.
 * (lower_quant.c) */
qn_id qn_lowering_node(const qn_lowering *l, qn_op op, const char *what, uint32_t nin,
		       const qn_id *in, const qn_attrs *attr, const qn_type *type);

/* What each element has; LEAST and MOST: the ends of the storage range less the zero point. */
typedef enum qn_parameter {
	QN_PARAMETER_SCALE,
	QN_PARAMETER_ZERO_POINT,
	QN_PARAMETER_LEAST,
	QN_PARAMETER_MOST
} qn_parameter;

/* The parameters as an operand that broadcasts to the tensor. */
qn_id qn_lowering_operand(qn_lowering *l, qn_parameter what);

/* Parameters along axis d: 1 where all its elements share them. */
int64_t qn_elem_params_along(const qn_elem *e, int32_t d);
/* Whether any zero point is not 0. */
bool qn_elem_has_zero_points(const qn_types *t, const qn_elem *e);

#endif
