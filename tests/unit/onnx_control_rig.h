/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_control_rig.h - the body of a node for tests that use onnx_rig.h.
 *
 *   onx_input(body, "i", ONX_INT64, "");
 *   …
 *   onx_body(file, "body", body);
 *   onx_node(file, "Loop", "m,,x", "y"); */
#ifndef TESTS_UNIT_ONNX_CONTROL_RIG_H
#define TESTS_UNIT_ONNX_CONTROL_RIG_H

#include "tests/unit/onnx_rig.h"

static onx *body; /* of the next Loop or Scan */

static inline int
setup(void **state)
{
	body = calloc(1, sizeof *body);
	onx_begin(body);
	return onnx_setup(state);
}

static inline int
teardown(void **state)
{
	free(body);
	return onnx_teardown(state);
}

static inline void
number(onx *t, const char *name, int64_t v)
{
	onx_ints64(t, name, "", &v);
}

#define CONTROL(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
