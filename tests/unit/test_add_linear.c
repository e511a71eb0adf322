/* SPDX-License-Identifier: Apache-2.0 */
/* test_add_linear.c - sums that are emitted in linear form give for all 65,536 pairs of codes what the
 * form that rounds three times gives; those that cannot, and those of few elements, keep it. */
#include <string.h>

#include "codegen/emit.h"
#include "runtime/impl_args.h"
#include "runtime/interp.h"
#include "tests/e2e/build.h"
#include "tests/unit/kernel_rig.h"

/* A scale, from 2^-6 to 2^1, that is no power of two. */
static const char *
typed(builder *b, bool is_u8, const char *shape)
{
	return build_printf(b, "tensor<%s!quant.uniform<%s:f32, %.9g:%d>>", shape,
			    is_u8 ? "u8" : "i8", pick(1 << 14, 1 << 21) / 1048576.0,
			    is_u8 ? pick(0, 255) : pick(-128, 127));
}

/* The step of x op y, codes of x along one axis and of y along the other, so that all pairs meet. */
static const qn_step *
plan_pairs(builder *b, qn_op op, bool is_u8)
{
	const qn_id in[2] = {build_input(b, "x", typed(b, is_u8, "256x256x")),
			     build_input(b, "y", typed(b, is_u8, "256x256x"))};
	qn_plan *p = NULL;

	qn_graph_output(b->g, "z", build_op(b, op, "z", 2, in, NULL, typed(b, is_u8, "256x256x")));
	build_check(b, qn_plan_make(b->g, "net", &(qn_plan_opts){.target = qn_target_at(0)},
				    &b->arena, &p) == QN_OK);
	return &p->step[0];
}

/* What the interpreter gives for all pairs, and what the kernel does. */
static void
compare_pairs(builder *b, const qn_step *s, bool is_u8)
{
	enum { N = 256 * 256 };
	uint8_t *x = take(N), *y = take(N), *z = take(N);
	const qn_tensor *in[2];
	qn_interp *interp;

	for (int i = 0; i < N; i++) {
		x[i] = (uint8_t)(i / 256);
		y[i] = (uint8_t)(i % 256);
	}
	for (int k = 0; k < 2; k++)
		in[k] = qn_tensor_view(&b->arena, qn_graph_node(b->g, b->g->input[k])->type,
				       k == 0 ? x : y);
	build_check(b, qn_interp_new(b->g, &b->arena, &interp) == QN_OK);
	build_check(b, qn_interp_run(interp, in, NULL, NULL) == QN_OK);
	if (is_u8)
		qn_add_linear_u8(s->args, x, y, z);
	else
		qn_add_linear_s8(s->args, (int8_t *)x, (int8_t *)y, (int8_t *)z);
	assert_memory_equal(z, qn_interp_output(interp, 0)->data, N);
	free(x);
	free(y);
	free(z);
}

static void
test_pairs(void **state)
{
	enum { ROUNDS = 60 };
	int linear = 0;

	(void)state;
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		builder b;
		const bool is_u8 = round % 2 == 0;

		build_begin(&b, "net", round);
		const qn_step *s = plan_pairs(&b, round % 3 == 0 ? QN_OP_sub : QN_OP_add, is_u8);
		const char *name = qn_step_function(b.g, s, &b.arena);
		if (strncmp(name, "qn_add_linear", 13) == 0) {
			compare_pairs(&b, s, is_u8);
			linear++;
		} else {
			assert_string_equal(name, is_u8 ? "qn_add_u8" : "qn_add_s8");
		}
		build_end(&b);
	}
	print_message("%d of %d in linear form\n", linear, ROUNDS);
	assert_true(linear > ROUNDS / 2);
}

static void
test_other_shapes(void **state)
{
	static const char *const shape[][2] = {
		{"5x51x", "5x51x"}, {"16x16x", "16x1x"}, {"16x16x", "1x16x"}};

	(void)state;
	for (size_t i = 0; i < COUNT(shape); i++) {
		builder b;
		qn_plan *p = NULL;

		build_begin(&b, "net", 1);
		const qn_id in[2] = {build_input(&b, "x", typed(&b, false, shape[i][0])),
				     build_input(&b, "y", typed(&b, false, shape[i][1]))};
		qn_graph_output(
			b.g, "z",
			build_op(&b, QN_OP_add, "z", 2, in, NULL, typed(&b, false, shape[i][0])));
		build_check(&b, qn_plan_make(b.g, "net", &(qn_plan_opts){.target = qn_target_at(0)},
					     &b.arena, &p) == QN_OK);
		assert_string_equal(qn_step_function(b.g, &p->step[0], &b.arena), "qn_add_s8");
		build_end(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_other_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
