/* SPDX-License-Identifier: Apache-2.0 */
/* float_product.h - the matrix product of conv2d and dense: weights [out, terms] are packed
 * once, positions come as pointers.
 *
 *   weights [20, 3]                panel 0 [3][16]: w[0..15][0]  w[0..15][1]  w[0..15][2]
 *                                  panel 1 [3][16]: w[16..19][0] 0 …
 *   position r: terms x[r][run[0] .. + len), x[r][run[1] .. + len) …
 *
 * Every output is the sum of its terms in their order, from +0.0, the bias added last. */
#ifndef QN_RUNTIME_FLOAT_PRODUCT_H
#define QN_RUNTIME_FLOAT_PRODUCT_H

#include "ir/arena.h"
#include "runtime/simd.h"

enum { QN_CHUNK = 64, QN_CHUNK_CAPACITY = QN_CHUNK + 8 }; /* positions, and pointers after them */

typedef struct qn_product {
	const qn_simd *simd;
	int64_t out, nrun, len;
	bool depthwise; /* output j reads channel j; len is 1 */
	int64_t *run;   /* [nrun] */
	float *w, *bias;
	const float *
		from; /* weights that are too many to be packed at once: w has room for `room` panels */
	int64_t room;
	bool finite; /* all weights are */
} qn_product;

/* Room for a product.  The caller fills run; bias is 0 until qn_product_pack.  Packed weights take
 * their bytes from *room; where that is not enough, they are packed again in each run, a few
 * panels at a time. */
void qn_product_init(qn_product *p, const qn_simd *simd, int64_t out, int64_t nrun, int64_t len,
		     qn_arena *a, size_t *room);
/* w [out, nrun * len], which stays where it is; bias [out] or NULL. */
void qn_product_pack(qn_product *p, const float *w, const float *bias);
/* x: n <= QN_CHUNK pointers in QN_CHUNK_CAPACITY; what follows them is overwritten.  shift is
 * added to each.  y: position r at y + r * stride. */
void qn_product_run(const qn_product *p, const float **x, int64_t n, int64_t shift, float *y,
		    int64_t stride);

#endif
