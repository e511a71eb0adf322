/* SPDX-License-Identifier: Apache-2.0 */
/* plain_rig.h - for tests of plain integers: graphs of one op, and random values. */
#ifndef TESTS_UNIT_PLAIN_RIG_H
#define TESTS_UNIT_PLAIN_RIG_H

#include "tests/unit/run_util.h"

#include "runtime/impls.h"

static inline const char *
text(const char *shape, const char *elem)
{
	char *s = qn_arena_alloc(&rg->arena, 64, 1);

	assert_true(strlen(shape) + strlen(elem) < 40);
	strcpy(s, "tensor<");
	strcat(strcat(strcat(strcat(s, shape), *shape != '\0' ? "x" : ""), elem), ">");
	return s;
}

/* Runs the graph on tensors; output 0. */
static inline const qn_tensor *
run_tensors(const qn_tensor *const *x)
{
	qn_interp *in = interp();

	assert_int_equal(qn_interp_run(in, x, NULL, NULL), QN_OK);
	no_errors();
	return qn_interp_output(in, 0);
}

static inline void
expect1(qn_op op, const qn_attrs *attrs, const char *tx, const double *x, const double *want,
	int64_t n)
{
	fresh_graph();
	output(op1(op, input("x", tx), attrs, NULL));
	near(want, run1(x), n, 0.0);
}

#endif
