/* SPDX-License-Identifier: Apache-2.0 */
/* pin.h - inputs of a graph that the caller fixes: each becomes a constant.
 *
 *   sr = "16000"       tensor<1xi64>        {16000}
 *   mask = "1"         tensor<1x4xf32>      {1, 1, 1, 1}
 *   h = an array       tensor<2x1x4xf32>    its elements, of the same shape */
#ifndef QN_IR_PIN_H
#define QN_IR_PIN_H

#include "ir/tensor.h"

typedef struct qn_pin {
	const char
		*name; /* NULL: the input of this number among those without a value in the file */
	size_t number;
	const char *text;       /* numbers with commas between; NULL: value */
	const qn_tensor *value; /* need not live longer than the call */
	bool optional;          /* not an error if no input has the name */
	bool used;              /* an input took it */
} qn_pin;

/* The pin of an input, which is marked as used; NULL: none. */
qn_pin *qn_pin_find(size_t n, qn_pin *pin, const char *name, size_t number);

/* The constant in the arena, of the input's type, whose open dimensions are those of an array of its rank.  One number is that
 * of all elements.  An input of quantized values takes them from an array of integers, and quantizes all else.  NULL after a
 * report (import.value, QN_EUSAGE) of a wrong shape, type or range. */
const qn_tensor *qn_pin_tensor(qn_types *types, qn_arena *a, const char *place, const qn_pin *pin,
			       const qn_type *type);
/* Fills open dimensions (-1) of a shape from an array of this rank. */
void qn_pin_dims(const qn_pin *pin, int32_t rank, int64_t *dim);

/* Reports those that no input took, and names given twice (import.value, QN_EUSAGE). */
qn_status qn_pin_check(qn_env *env, qn_arena *a, const char *place, size_t n, const qn_pin *pin,
		       size_t ninput, const char *const *input) QN_MUST_CHECK;

#endif
