/* SPDX-License-Identifier: Apache-2.0 */
/* op_case.h - what tests of operators share that compare emitted C with the interpreter: types with zero points other than
 * 0, and the check itself.
 *
 *   qn_id x = build_input(&b, "x", Q("2x3x4"));
 *   finish(&b, build_op(&b, QN_OP_requantize, "y", IDS(x), NULL, R("2x3x4"))); */
#ifndef QN_TESTS_OP_CASE_H
#define QN_TESTS_OP_CASE_H

#include "tests/e2e/e2e.h"

#define Q(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.05:3>>"
#define R(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.11:-7>>"
#define W1(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.02>>"

enum { SAMPLES = 5 };

static inline void
finish(builder *b, qn_id y)
{
	qn_graph_output(b->g, "y", y);
	e2e_check(b, SAMPLES);
	build_end(b);
}

#endif
