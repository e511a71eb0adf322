/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_quant_rig.h - parameters and results of quantized ONNX files for tests that use onnx_protobuf.h.
 *
 *   scale("s", 0.5);                     constants without dimensions
 *   zero_point("z", ONNX_U8, 10);
 *   gives(V(1, 2), 2, V(12, 14));        a run on 1, 2 gives 12, 14, exactly */
#ifndef TESTS_UNIT_ONNX_QUANT_RIG_H
#define TESTS_UNIT_ONNX_QUANT_RIG_H

#include "tests/unit/onnx_protobuf.h"

#define V(...) ((const double[]){__VA_ARGS__})

static inline size_t
count(qn_op op)
{
	size_t n = 0;

	for (qn_id id = 1; id < rg->g->n; id++)
		n += qn_graph_node(rg->g, id)->op == op;
	return n;
}

static inline void
scale(const char *name, double v)
{
	onnx_const(name, ONNX_FLOAT, NO_DIMS, &v);
}

static inline void
zero_point(const char *name, int type, double v)
{
	onnx_const(name, type, NO_DIMS, &v);
}

static inline void
gives(const double *x, int64_t n, const double *want)
{
	near(want, run1(x), n, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

#endif
