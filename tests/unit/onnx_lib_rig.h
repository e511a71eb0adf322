/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_lib_rig.h - compositions (docs/compositions.md) for tests that use onnx_rig.h, through a node of a custom domain:
 * y = acme.Op(x [2,2], b) in operator set 13 of its own.
 *
 *   add(OP("(%x)", "return relu(%x)"));
 *   node("x"); */
#ifndef TESTS_UNIT_ONNX_LIB_RIG_H
#define TESTS_UNIT_ONNX_LIB_RIG_H

#include "tests/unit/onnx_rig.h"

#include "lib/lib.h"

static inline qn_status
add(const char *text)
{
	return qn_lib_add(&rg->env, &rg->arena, "acme.qir", text, strlen(text));
}

/* The node y = Op(in), attributes as onx_… gave them before. */
static inline void
node(const char *in)
{
	onx_input(file, "x", ONX_FLOAT, "2,2");
	onx_floats(file, "b", "2", (const float[]){10, 20});
	file->domain = "acme";
	onx_node(file, "Op", in, "y");
	file->domain = NULL;
	onx_output(file, "y");
}

#define OP(signature, body) "graph @op" signature " onnx \"acme\" \"Op\" {\n" body "\n}\n"

#endif
