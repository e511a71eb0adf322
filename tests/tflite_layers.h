/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_layers.h - quantized operators of TFLite files with random parameters, as TFLite's converter writes them.
 *
 *   const value y = dense(&x, 10, 1);         FULLY_CONNECTED with RELU, a result with parameters of its own
 *
 * Numbers of options are those of BuiltinOptions. */
#ifndef TESTS_TFLITE_LAYERS_H
#define TESTS_TFLITE_LAYERS_H

#include <math.h>

#include "tests/tflite_files.h"

enum { POOL = 1 << 15, WIDEST = 16 /* channels */ };

/* A value: NHWC, or rows of dim[1] elements where the rank is 2; scale 0: not quantized. */
typedef struct value {
	int id, type, rank;
	int32_t dim[4];
	float scale;
	int64_t zp;
} value;

typedef struct network {
	tfl_file *t;
	size_t used;
	int names;
	char name[TFL_MOST][16];
	union {
		int8_t i8[POOL];
		int32_t i32[POOL / 4];
	} pool; /* what the file's constants point to */
} network;

static network net; /* it is large */

/* ---- tensors ---- */

static inline void *
store(size_t bytes)
{
	void *at = net.pool.i8 + net.used;

	net.used += (bytes + 7) / 8 * 8;
	assert(net.used <= POOL);
	return at;
}

static inline const char *
next_name(void)
{
	snprintf(net.name[net.names], sizeof net.name[0], "v%d", net.names);
	return net.name[net.names++];
}

static inline int
integers(int n, const int32_t *v)
{
	int32_t *to = store(4 * (size_t)n);

	memcpy(to, v, 4 * (size_t)n);
	return tfl_tensor(net.t, next_name(), TFL_INT32, DIMS(n), to, 4 * n);
}

/* A result with parameters of its own. */
static inline value
result_of(int type, int rank, const int32_t *dim, float scale, int64_t zp)
{
	value y = {.type = type, .rank = rank, .scale = scale, .zp = zp};

	memcpy(y.dim, dim, (size_t)rank * sizeof *dim);
	y.id = scale > 0 ? tfl_codes(net.t, next_name(), type, rank, dim, scale, zp, NULL, 0)
			 : tfl_tensor(net.t, next_name(), type, rank, dim, NULL, 0);
	return y;
}

static inline value
result(int rank, const int32_t *dim, float scale, int64_t zp)
{
	return result_of(TFL_INT8, rank, dim, scale, zp);
}

static inline value
like(const value *x, int rank, const int32_t *dim)
{
	return result_of(x->type, rank, dim, x->scale, x->zp);
}

static inline float
near(float scale)
{
	return scale * (float)between(0.7, 1.4);
}

static inline value
own(const value *x, const int32_t *dim)
{
	const int zp = whole(-100, 100);

	return result(x->rank, dim, near(x->scale), zp);
}

/* ---- operators ---- */

static inline tfl_op_of *
op(int code, int options, int nin, const int32_t *in, const value *y)
{
	const int32_t out = y->id;
	tfl_op_of *o = tfl_op(net.t, code, nin, in, 1, &out);

	o->options_type = options;
	return o;
}

/* None, RELU or RELU6. */
static inline int
activation(void)
{
	static const int of[] = {0, 0, 1, 3};

	return of[whole(0, 3)];
}

/* Weights with a scale for each index of the axis (-1: one scale) and a bias; `taps` products make up a sum. */
static inline void
weights(const value *x, int rank, const int32_t *dim, int axis, int taps, int32_t *in)
{
	const int n = axis < 0 ? 1 : dim[axis], out = axis < 0 ? dim[0] : n;
	int count = 1;

	for (int i = 0; i < rank; i++)
		count *= dim[i];
	int8_t *w = store((size_t)count);
	int32_t *b = store(4 * (size_t)out);
	for (int i = 0; i < count; i++)
		w[i] = (int8_t)whole(-127, 127);
	in[0] = tfl_codes(net.t, next_name(), TFL_INT8, rank, dim, 1, 0, w, count);
	in[1] = tfl_codes(net.t, next_name(), TFL_INT32, DIMS(out), 1, 0, b, 4 * out);
	tfl_tensor_of *tw = &net.t->tensor[in[0]], *tb = &net.t->tensor[in[1]];
	tw->nscale = tb->nscale = n;
	tw->axis = axis > 0 ? axis : 0;
	for (int i = 0; i < n; i++) {
		tw->scale[i] = (float)(between(0.7, 1.4) / (73 * sqrt(taps)));
		tb->scale[i] = tw->scale[i] * x->scale;
		tw->zp[i] = tb->zp[i] = 0;
	}
	for (int i = 0; i < out; i++) /* up to 30 steps of the data */
		b[i] = (int32_t)(between(-30, 30) / (double)tw->scale[n > 1 ? i : 0]);
}

static inline value
dense(const value *x, int32_t units, int act)
{
	const int32_t w[2] = {units, x->dim[1]}, dim[2] = {1, units};
	int32_t in[3] = {x->id};

	weights(x, 2, w, -1, x->dim[1], in + 1);
	const int zp = whole(-100, 100);
	const value y = result(2, dim, near(x->scale), zp);
	tfl_with(op(QN_TFL_FULLY_CONNECTED, 8, 3, in, &y), 0, 'b', act);
	return y;
}

static inline value
two(int code, int options, const value *a, const value *b, const value *y, int act)
{
	tfl_op_of *o = op(code, options, 2, (int32_t[]){a->id, b->id}, y);

	tfl_with(o, 0, 'b', act);
	return *y;
}

static inline value
one(int code, int options, const value *x, const value *y)
{
	(void)op(code, options, 1, &x->id, y);
	return *y;
}

static inline value
with_list(int code, int options, const value *x, int n, const int32_t *v, const value *y)
{
	(void)op(code, options, 2, (int32_t[]){x->id, integers(n, v)}, y);
	return *y;
}

#endif
