/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.h - data with a type: a view of bytes that a file, an arena or the caller owns.
 * Bytes are little-endian in files and check sums, and in the host's order in memory. */
#ifndef QN_IR_TENSOR_H
#define QN_IR_TENSOR_H

#include "ir/type.h"

typedef enum qn_layout {
	QN_LAYOUT_CANONICAL
} qn_layout; /* row-major, 1, 2, 4 or 8 bytes per element */

typedef struct qn_tensor {
	const qn_type *type; /* static shape */
	const void *data;    /* qn_tensor_bytes(…) bytes; need not be aligned */
	size_t bytes;
	qn_layout layout;
} qn_tensor;

/* Bytes of a value of this type in canonical layout; 0 when the shape is not static. */
size_t qn_type_bytes(const qn_type *type);

/* A zeroed tensor in the arena; its bytes may be written through the returned pointer. */
qn_tensor *qn_tensor_new(qn_arena *a, const qn_type *type, void **data);
qn_tensor *qn_tensor_of(qn_arena *a, const qn_type *type, const void *data); /* copies */
qn_tensor *qn_tensor_view(qn_arena *a, const qn_type *type, const void *data);

/* Little-endian bytes of a file as a tensor, and a tensor as such bytes: no copy where that is the
 * host's order, else one in the arena. */
qn_tensor *qn_tensor_view_file(qn_arena *a, const qn_type *type, const void *data);
const void *qn_tensor_file_bytes(qn_arena *a, const qn_tensor *x);

/* Element i as a double (integers exactly up to 2^53) or as an integer (floats: truncated); from
 * any plain or storage type. */
double qn_tensor_f64(const qn_tensor *x, int64_t i);
int64_t qn_tensor_i64(const qn_tensor *x, int64_t i);
/* The same for integers, but those of u64 from 2^63 on are 2^64 less: their bits. */
int64_t qn_tensor_bits64(const qn_tensor *x, int64_t i);

/* The whole tensor as f32, converted into the arena (or the view itself when it is f32 and
 * aligned). */
const float *qn_tensor_as_f32(qn_arena *a, const qn_tensor *x);
const int32_t *qn_tensor_as_i32(qn_arena *a, const qn_tensor *x);
const int8_t *qn_tensor_as_i8(qn_arena *a, const qn_tensor *x);

/* Stores into writable canonical data of element type e. */
void qn_store_f64(void *data, qn_plain p, int64_t i, double v);
void qn_store_i64(void *data, qn_plain p, int64_t i, int64_t v);

/* Index of the first NaN or infinity of a float tensor, -1 when there is none. */
int64_t qn_tensor_find_nonfinite(const qn_tensor *x);

/* Equal type, layout and bytes. */
bool qn_tensor_equal(const qn_tensor *a, const qn_tensor *b);

/* CRC-32 (IEEE 802.3, reflected, initial and final xor all ones). */
uint32_t qn_crc32(uint32_t crc, const void *data, size_t bytes); /* crc 0 to begin */
uint32_t qn_tensor_crc(const qn_tensor *x);                      /* the same on every host */
uint32_t qn_tensor_crc_next(uint32_t crc, const qn_tensor *x); /* of pieces, one after the other */

/* Float value -> quantized value and back, element i with scale and zero point: round half to even,
 * then add the zero point, then clamp; NaN gives the zero point. */
int64_t qn_quantize_value(double x, double scale, bool leaf_f32, int64_t zp, int64_t qmin,
			  int64_t qmax);
double qn_dequantize_value(int64_t q, double scale, bool leaf_f32, int64_t zp);
/* Whether values of this uniform type are divided and multiplied in f32 (leaf_f32), not in double. */
bool qn_elem_is_single(const qn_elem *e);

/* Raises weight scales, one or one for each output channel, to the least ones that leave room for the
 * bias (qn_bias_min_weight_scale); false: they all do. */
bool qn_bias_raise_weight_scales(const qn_tensor *bias, int bits, double data_scale, size_t n,
				 double *scale);

/* Converts whole tensors into the caller's memory: to quantized values of the uniform type `to`, or to values
 * of a plain float type.  Any granularity; no symbols. */
void qn_quantize_into(const qn_types *t, const qn_tensor *x, const qn_type *to, void *data);
/* The same with halves rounded away from 0, as TFLite's Quantize does. */
void qn_quantize_away_into(const qn_types *t, const qn_tensor *x, const qn_type *to, void *data);
void qn_dequantize_into(const qn_types *t, const qn_tensor *x, qn_plain to, void *data);

/* Whole tensors.  to/from: a uniform type without symbols, same shape as x.  Integer results are
 * canonical. */
qn_tensor *qn_tensor_quantize(const qn_types *t, qn_arena *a, const qn_tensor *x,
			      const qn_type *to);
qn_tensor *qn_tensor_dequantize(const qn_types *t, qn_arena *a, const qn_tensor *x,
				const qn_type *to);

#endif
