/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_quant.h - what the converters of quantized operators share (onnx_params.c, onnx_quant.c,
 * onnx_qlinear.c). */
#ifndef QN_IMPORT_ONNX_QUANT_H
#define QN_IMPORT_ONNX_QUANT_H

#include "import/onnx.h"

/* Values of a node that say how others are quantized. */
typedef struct qn_onnx_params {
	qn_id scale, zp; /* 0: none */
	int64_t axis;    /* of a vector of scales, or of blocks */
	int64_t block;   /* elements of a block; 0: none */
} qn_onnx_params;

/* Whether scale and zero point are constants. */
bool qn_onnx_params_known(const qn_onnx *o, const qn_onnx_params *p);
/* The quantized type of a value of x's shape; NULL after a report. */
const qn_elem *qn_onnx_elem(qn_onnx *o, const qn_onnx_params *p, qn_plain storage,
			    const qn_type *x);
/* The type for constants: fewer than 4 bits are stored as 4 with their own range, which kernels accept as
 * weights. */
const qn_elem *qn_onnx_weight_elem(qn_onnx *o, const qn_elem *e);
/* The integers x as quantized values of this type: the same bits. */
qn_id qn_onnx_as_quantized(qn_onnx *o, qn_id x, const qn_elem *e);

/* By arithmetic: (x - zp) * scale as f32, scale 0: x - zp; and round(x / scale) + zp as plain integers. */
qn_id qn_onnx_real_of(qn_onnx *o, qn_id x, const qn_onnx_params *p);
qn_id qn_onnx_quantize_plain(qn_onnx *o, qn_id x, const qn_onnx_params *p, qn_plain storage);
/* f32 rounded, ties to even; and as plain integers, saturated. */
qn_id qn_onnx_rounded(qn_onnx *o, qn_id x);
qn_id qn_onnx_stored(qn_onnx *o, qn_id x, qn_plain storage);

/* What DequantizeLinear and QuantizeLinear do.  storage: the storage type if p has no zero point. */
qn_id qn_onnx_dequantize(qn_onnx *o, qn_id x, const qn_onnx_params *p);
qn_id qn_onnx_quantize(qn_onnx *o, qn_id x, const qn_onnx_params *p, qn_plain storage);

/* ---- without QuantizeLinear and DequantizeLinear: from_float (onnx_saturation.c) ---- */

/* Float values x where QuantizeLinear is left out: clipped where its range ends at 0. */
qn_id qn_onnx_saturate(qn_onnx *o, qn_id x, const qn_onnx_params *p, qn_plain storage);
/* Whether all nodes that read the graph's input `name` dequantize it, so that it may hold the float values. */
bool qn_onnx_is_dequantized(const struct Onnx__GraphProto *g, const char *name);

/* ---- quantization written out in float (onnx_written_pair.c) ---- */

/* The value x rounded to a grid, where the product or quotient of in[] is the last of the operators that say so; 0: it
 * is not. */
qn_id qn_onnx_written_pair(qn_onnx *o, qn_op op, const qn_id in[2]);

/* ---- integers without a scale (onnx_integers.c) ---- */

/* Brings the operands in[] of a node to one reading, as the top of the file says; false after a report. */
bool qn_onnx_read_integers(qn_onnx *o, const char *domain, qn_onnx_node *n, qn_id *in);
/* Quantized values as plain integers; and the quantized type with scale 1; NULL after a report. */
qn_id qn_onnx_plain_of(qn_onnx *o, qn_id x);
const qn_elem *qn_onnx_counts(qn_onnx *o, qn_plain storage, int64_t zp);
/* The number that an integer stands for among those of x. */
double qn_onnx_number_of(qn_onnx *o, qn_id x, int64_t integer);
/* Float values quantized to `storage` with scale 1. */
qn_id qn_onnx_units(qn_onnx *o, qn_id x, qn_plain storage);

/* ---- ConvInteger, MatMulInteger (onnx_integer_product.c) ---- */

void qn_onnx_integer_product(qn_onnx *o, const qn_onnx_node *n, qn_id *out);
/* The product a * b where one of them is a sum of integers that became float, and the other a constant
 * scale: the product of data and weights with that scale; 0: it is another product. */
qn_id qn_onnx_scaled_sum(qn_onnx *o, qn_id a, qn_id b);
/* What is known of x is known of y too, which is x in another type. */
void qn_onnx_sum_becomes(qn_onnx *o, qn_id x, qn_id y);
/* x are the numbers that DynamicQuantizeLinear would make integers, with from_float. */
void qn_onnx_is_unscaled(qn_onnx *o, qn_id x);

/* ---- DynamicQuantizeLinear (onnx_dynamic.c) ---- */

/* The values q of x with this scale and zero point are those of a DynamicQuantizeLinear. */
void qn_onnx_is_dynamic(qn_onnx *o, qn_id x, qn_id q, const qn_onnx_params *p);
/* y is a * b, of which one may be such a scale, and the other a constant. */
void qn_onnx_scale_becomes(qn_onnx *o, qn_id a, qn_id b, qn_id y);
/* x rounded to its quantized values q, whose scale this value is, times the constant *factor (0: none); 0: it is
 * another value, or the zero point is. */
qn_id qn_onnx_dynamic_values(qn_onnx *o, qn_id q, qn_id scale, qn_id zp, qn_id *factor);
/* Integers q with these parameters, which may be those of a DynamicQuantizeLinear, as the real data of a product; 0
 * after a report. */
qn_id qn_onnx_product_data(qn_onnx *o, qn_id q, const qn_onnx_params *p);
qn_onnx_fn qn_onnx_dynamic_matmul,
	qn_onnx_matmul_to_float; /* DynamicQuantizeMatMul, MatMulIntegerToFloat */

/* ---- two values of 4 bits in a byte (onnx_matmul_blocks.c) ---- */

/* A constant of bytes with two values in each, the first in the low half, as rows of `last` u4; 0 after a report. */
qn_id qn_onnx_nibbles(qn_onnx *o, qn_id x, int64_t last);
/* The zero point of values of this unsigned type where a file leaves it out: 8 of u4, 128 of u8. */
qn_id qn_onnx_middle(qn_onnx *o, qn_plain storage);

/* The integers x less zp as f32: a dequantize with scale 1. */
qn_id qn_onnx_counted(qn_onnx *o, qn_id x, int64_t zp);

#endif
