/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_op_rig.h - for tests of single operators of TFLite files: the tensors that they read and return. */
#ifndef TESTS_UNIT_TFLITE_OP_RIG_H
#define TESTS_UNIT_TFLITE_OP_RIG_H

#include "tests/unit/tflite_rig.h"

#define F32 TFL_FLOAT32

static inline int
ints(const char *name, int n, const int32_t *v)
{
	return tfl_tensor(file, name, TFL_INT32, 1, &n, v, 4 * n);
}

static inline int
one(const char *name, int32_t v)
{
	static int32_t kept[TFL_MOST];

	kept[file->ntensor] = v;
	return tfl_tensor(file, name, TFL_INT32, 0, NULL, &kept[file->ntensor], 4);
}

static inline int
real_x(int rank, const int32_t *dim)
{
	return tfl_tensor(file, "x", F32, rank, dim, NULL, 0);
}

static inline int
real_y(int rank, const int32_t *dim)
{
	return tfl_tensor(file, "y", F32, rank, dim, NULL, 0);
}

#endif
