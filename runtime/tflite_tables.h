/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_tables.h - tables of functions of one quantized value as TFLite's kernels compute them, where
 * that is not rounded once.
 *
 *   op          bits    kernel                                           entries
 *   hard_swish  8 bits  reference_ops::HardSwish, all in 16-bit integers     256
 *   sqrt        8 bits  elementwise SqrtEvalQuantized: cut off, not rounded  256
 *   abs         8 bits  elementwise AbsEvalQuantized                         256
 *   exp, log,
 *   rsqrt       i16     LUTPopulateInt16 in f32                              513
 *
 * Entries are in the order of the op `table`. */
#ifndef QN_RUNTIME_TFLITE_TABLES_H
#define QN_RUNTIME_TFLITE_TABLES_H

#include "ir/graph.h"

enum { QN_TFLITE_TABLE_MOST = 513 };

/* Quantization parameters of a function, in and out: of one storage. */
typedef struct qn_table_params {
	double in, out; /* scales, which f32 holds */
	int32_t zi, zo;
	int32_t lo, hi; /* the whole storage range */
} qn_table_params;

/* The number of entries; 0: TFLite has no such table for this op and storage, or its multiplier is
 * beyond what the kernel takes. */
int32_t qn_tflite_table(qn_op op, const qn_table_params *c, int32_t *entry) QN_MUST_CHECK;

#endif
