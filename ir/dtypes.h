/* SPDX-License-Identifier: Apache-2.0 */
/* dtypes.h - element types of stored tensors, and their names in the formats that hold them.
 *
 *   ours    PyTorch     safetensors   GGUF
 *   f16     float16     F16           1
 *
 * Elements lie little-endian, as in files, and need not be aligned. */
#ifndef QN_IR_DTYPES_H
#define QN_IR_DTYPES_H

#include "ir/type.h"

typedef struct qn_dtype {
	const char *name;        /* "f16" */
	const char *torch;       /* "float16", in Theta's properties; NULL: none */
	const char *safetensors; /* "F16"; NULL: none */
	int32_t ggml;            /* type in a GGUF file; -1: none */
	qn_plain plain;          /* u8 for the small floats */
	qn_small_float small;    /* QN_SMALL_NONE: not a float of 8 bits */
	uint8_t bytes;
} qn_dtype;

/* Row i of the table; NULL after the last. */
const qn_dtype *qn_dtype_row(size_t i);
/* The row of that name in one of the formats; NULL: none. */
const qn_dtype *qn_dtype_by_name(const char *name);
const qn_dtype *qn_dtype_by_torch(const char *name);
const qn_dtype *qn_dtype_by_safetensors(const char *name);
const qn_dtype *qn_dtype_by_ggml(uint32_t type);
const qn_dtype *qn_dtype_of_plain(qn_plain p);

bool qn_dtype_is_float(const qn_dtype *t);
/* Range of finite values; epsilon: the distance from 1 to the next value, 0 for integers. */
void qn_dtype_range(const qn_dtype *t, double *min, double *max, double *epsilon);

/* Element i as a double: exact but for integers beyond 2^53. */
double qn_dtype_load(const qn_dtype *t, const void *data, int64_t i);
/* Stores v, rounded half to even; v is within the range of an integer type. */
void qn_dtype_store(const qn_dtype *t, void *data, int64_t i, double v);
/* v as the type stores it. */
double qn_dtype_round(const qn_dtype *t, double v);

/* Bits of a little-endian number of `bytes` bytes, and back. */
uint64_t qn_little_get(const void *data, size_t bytes);
void qn_little_put(void *data, size_t bytes, uint64_t bits);

#endif
