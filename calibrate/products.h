/* SPDX-License-Identifier: Apache-2.0 */
/* products.h - layers with constant weights as products of vectors: convolutions of all kinds, dense, matmul by a constant.
 *
 *   y[position][o] = bias[o] + sum over taps k of patch[position, group of o][k] * w[o][k]
 *
 *   conv2d, weights [O,kh,kw,I/groups]      taps kh * kw * I/groups, positions batch * OH * OW
 *   dense, weights [O,K]                    taps K, positions N
 *   matmul, constant [K,N]                  taps K, outputs N, positions the rows of the other operand */
#ifndef QN_CALIBRATE_PRODUCTS_H
#define QN_CALIBRATE_PRODUCTS_H

#include "runtime/geometry.h"

typedef struct qn_product {
	qn_geometry
		w; /* of three axes; a dense layer is a 1x1 convolution of images of one element */
	bool transposed; /* conv2d_transpose */
	int64_t taps;
	int64_t outputs, rows; /* of all groups; of one */
	int64_t positions;
	int64_t output_step,
		tap_step; /* elements of the weights from an output, a tap, to the next */
} qn_product;

/* The product of a node whose behaviour is ACC and whose shapes are static; false: its right operand
 * is not a single matrix. */
bool qn_product_of(const qn_graph *g, const qn_node *n, qn_product *out);

/* The patch of a group at a position, of the data x of one batch; 0 in the padding. */
void qn_product_patch(const qn_product *p, const double *x, int64_t position, int64_t group,
		      double *patch);

#endif
