/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_qdq.h - parts of small quantized networks for tests that use onnx_rig.h.
 *
 *   image();                       input x of 1,4,6,5 and its pair d
 *   conv("d", "c");                weights of i8
 *   pair("c", "y", 0.05, ONX_UINT8, 120); */
#ifndef TESTS_UNIT_ONNX_QDQ_H
#define TESTS_UNIT_ONNX_QDQ_H

#include <stdio.h>

#include "tests/unit/onnx_rig.h"

static inline void
scalar(const char *name, int type, double v)
{
	if (type == ONX_FLOAT)
		onx_floats(file, name, "", &(const float){(float)v});
	else if (type == ONX_INT32)
		onx_tensor(file, name, type, "", &(const int32_t){(int32_t)v}, sizeof(int32_t));
	else
		onx_tensor(file, name, type, "", &(const uint8_t){(uint8_t)(int)v}, 1);
}

/* y = DequantizeLinear(QuantizeLinear(x, s, z), s, z) */
static inline void
pair(const char *x, const char *y, double s, int type, int z)
{
	char in[224], q[64], scale[64], zero[64];

	snprintf(q, sizeof(q), "%s_q", y);
	snprintf(scale, sizeof(scale), "%s_s", y);
	snprintf(zero, sizeof(zero), "%s_z", y);
	scalar(scale, ONX_FLOAT, s);
	scalar(zero, type, z);
	snprintf(in, sizeof(in), "%s,%s,%s", x, scale, zero);
	onx_node(file, "QuantizeLinear", in, q);
	snprintf(in, sizeof(in), "%s,%s,%s", q, scale, zero);
	onx_node(file, "DequantizeLinear", in, y);
}

/* Weights of i8 behind a DequantizeLinear with one scale. */
static inline void
weights(const char *name, const char *dims, double s)
{
	int8_t w[400];
	char codes[64], scale[64], in[160];
	size_t n = onx_count(dims);

	assert_true(n <= sizeof(w));
	for (size_t i = 0; i < n; i++)
		w[i] = (int8_t)pick(-127, 127);
	snprintf(codes, sizeof(codes), "%s_q", name);
	snprintf(scale, sizeof(scale), "%s_s", name);
	onx_tensor(file, codes, ONX_INT8, dims, w, n);
	scalar(scale, ONX_FLOAT, s);
	snprintf(in, sizeof(in), "%s,%s", codes, scale);
	onx_node(file, "DequantizeLinear", in, name);
}

static inline void
image(void)
{
	onx_input(file, "x", ONX_FLOAT, "1,4,6,5");
	pair("x", "d", 0.02, ONX_UINT8, 128);
}

static inline void
conv(const char *x, const char *y)
{
	char in[64], w[32];

	snprintf(w, sizeof(w), "%s_w", y);
	weights(w, "4,4,3,3", 0.01);
	snprintf(in, sizeof(in), "%s,%s", x, w);
	onx_list(file, "pads", 4, (const int64_t[]){1, 1, 1, 1});
	onx_node(file, "Conv", in, y);
}

/* The last value's pair, the output y; its step. */
static inline double
ends(const char *x, double s, int z)
{
	pair(x, "y", s, ONX_UINT8, z);
	onx_output(file, "y");
	return s;
}

#endif
