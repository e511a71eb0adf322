/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_resize.h - Resize along one axis: which elements, with which weights, make an element of the result.
 *
 *   2 -> 4, half_pixel, linear       0.75 0.25 0    0     of input 0
 *                                    0.25 …               of input 1, and so on */
#ifndef QN_IMPORT_ONNX_RESIZE_H
#define QN_IMPORT_ONNX_RESIZE_H

#include "import/onnx.h"

typedef enum qn_resize_kind { QN_RESIZE_NEAREST, QN_RESIZE_LINEAR, QN_RESIZE_CUBIC } qn_resize_kind;
typedef enum qn_resize_position {
	QN_PLACE_HALF_PIXEL,
	QN_PLACE_HALF_PIXEL_SYMMETRIC,
	QN_PLACE_PYTORCH_HALF_PIXEL,
	QN_PLACE_ALIGN_CORNERS,
	QN_PLACE_ASYMMETRIC,
	QN_PLACE_TF_HALF_PIXEL_NN,
	QN_PLACE_TF_CROP,
	QN_NPLACE
} qn_resize_position;
typedef enum qn_resize_round {
	QN_ROUND_PREFER_FLOOR,
	QN_ROUND_PREFER_CEIL,
	QN_ROUND_FLOOR,
	QN_ROUND_CEIL,
	QN_ROUND_OLD, /* of Upsample, and Resize before version 11: up where it shrinks, else down */
	QN_NROUND
} qn_resize_round;

/* What the node says of all axes. */
typedef struct qn_resize {
	qn_resize_kind kind;
	qn_resize_position place;
	qn_resize_round round;
	double cubic_a, outside; /* the value of what lies outside, with TF_CROP */
	bool exclude_outside, antialias;
} qn_resize;

typedef struct qn_resize_axis {
	int64_t in, out;
	double scale;      /* out / in, or what the node gives */
	double begin, end; /* of the part that is taken, TF_CROP */
} qn_resize_axis;

/* The position in the input of element i of the result; *outside: it gets the value for that. */
double qn_resize_at(const qn_resize *r, const qn_resize_axis *x, int64_t i, bool *outside);
/* The index that NEAREST takes. */
int64_t qn_resize_index(const qn_resize *r, const qn_resize_axis *x, int64_t i);
/* Adds the weights of element i to row[in], zeroed before.  False: it lies outside. */
bool qn_resize_row(const qn_resize *r, const qn_resize_axis *x, int64_t i, double *row);

#endif
