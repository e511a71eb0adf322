/* SPDX-License-Identifier: Apache-2.0 */
/* int_product.h - the product of 8-bit conv2d and dense: sums of 32 bits, exactly those of the
 * plain kernels.  Weights are constants, which are packed once by pairs (int_simd.h); positions come as
 * pointers to copies of 16 bits, less the zero point. */
#ifndef QN_RUNTIME_INT_PRODUCT_H
#define QN_RUNTIME_INT_PRODUCT_H

#include "runtime/impls.h"
#include "runtime/int_simd.h"

enum {
	QN_INT_CHUNK = 64,
	QN_INT_CHUNK_CAPACITY = QN_INT_CHUNK + 8
}; /* positions, and pointers after them */

typedef struct qn_int_product {
	const qn_int_simd *simd;
	int64_t out, nrun;
	int64_t terms, len; /* of a run, and pairs of them */
	bool depthwise;     /* output j reads channel j; terms is 1 */
	int64_t *run;       /* [nrun] */
	int16_t *w;
	int32_t *bias;
} qn_int_product;

/* n 16-bit zeros, aligned to 64 bytes; some may be read after them. */
int16_t *qn_int_zeros(qn_arena *a, int64_t n);
/* Room for a product, taken from *room; false where that does not reach.  The caller fills run. */
bool qn_int_product_init(qn_int_product *p, const qn_int_simd *simd, int64_t out, int64_t nrun,
			 int64_t terms, bool depthwise, qn_arena *a, size_t *room);
/* Outputs from `first` on of the weights and of the bias, which may be NULL. */
void qn_int_product_pack(qn_int_product *p, const int8_t *w, const qn_tensor *bias, int64_t first);
/* x: n <= QN_INT_CHUNK pointers in QN_INT_CHUNK_CAPACITY; what lies after them is overwritten.  y: position r at
 * y + r * stride. */
void qn_int_product_run(const qn_int_product *p, const int16_t **x, int64_t n, int32_t *y,
			int64_t stride);

/* The weights and the bias of an 8-bit layer with sums of 32 bits, where they are constants; false where
 * they are not. */
bool qn_int_product_constants(const qn_graph *g, const qn_node *n, const int8_t **w,
			      const qn_tensor **bias);
/* n quantized values of operand 0, which are signed or not, less the zero point. */
void qn_int_widen(const qn_int_simd *simd, bool is_signed, const void *x, int64_t at, int64_t n,
		  int32_t zero, int16_t *y);

#endif
