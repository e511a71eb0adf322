/* SPDX-License-Identifier: Apache-2.0 */
/* test_saturation.c - which products of 8-bit data can saturate where pairs of products are added in 16 bits.
 *
 *   weights of one output   127 127 | 1 1     the first pair's sum is above 128
 *                           1 127 | 127 1     none is */
#include "tests/unit/pattern_rig.h"

#include "passes/passes.h"

#define X "%x: tensor<2x4x!quant.uniform<i8:f32, 0.1>>"
#define W "!quant.uniform<i8<-127:127>:f32, 0.01>>"

static void
test_pairs(void **state)
{
	static const struct {
		const char *body;
		size_t products, saturating;
		const char *first;
	} rows[] = {
		{"%w = const : tensor<2x4x" W " [127, 127, 1, 1, 1, 1, 1, 1]  %y = dense %x, %w", 1,
		 1, "y"},
		{"%w = const : tensor<2x4x" W " [1, 127, 127, 1, 1, 1, 1, 1]  %y = dense %x, %w", 1,
		 0, NULL},
		{"%w = const : tensor<2x4x" W " [1, 1, 1, 1, 0, 0, 127, 2]  %y = dense %x, %w", 1,
		 1, "y"},
		{"%w = const : tensor<2x4x" W " [1, 1, 1, 1, 0, 0, 127, 1]  %y = dense %x, %w", 1,
		 0, NULL},
		{"%w = const : tensor<2x4x" W
		 " [-127, -2, 127, -127, 0, 0, 0, 0]  %y = dense %x, %w",
		 1, 1, "y"},
		{"%w = const : tensor<2x4x" W
		 " [-127, -1, 127, -127, 0, 0, 0, 0]  %y = dense %x, %w",
		 1, 0, NULL},
		/* the columns of a matmul, its rows where they are transposed */
		{"%w = const : tensor<4x2x" W " [127, 1, 127, 1, 1, 1, 1, 1]  %y = matmul %x, %w",
		 1, 1, "y"},
		{"%w = const : tensor<4x2x" W " [127, 127, 1, 1, 1, 1, 1, 1]  %y = matmul %x, %w",
		 1, 0, NULL},
		{"%w = const : tensor<2x4x" W
		 " [127, 127, 1, 1, 1, 1, 1, 1]  %y = matmul %x, %w {transpose_b=1}",
		 1, 1, "y"},
		{"%w = const : tensor<2x4x" W
		 " [127, 1, 1, 1, 127, 1, 1, 1]  %y = matmul %x, %w {transpose_b=1}",
		 1, 0, NULL},
		/* several: the first one is named */
		{"%w = const : tensor<2x4x" W " [127, 127, 1, 1, 1, 1, 1, 1]  "
		 "%v = const : tensor<2x4x" W " [1, 1, 1, 1, 1, 1, 1, 1]  "
		 "%a = dense %x, %v  %b = dense %x, %w  %y = dense %x, %w",
		 3, 2, "b"},
		/* the last weight of an odd number has no other one beside it */
		{"%s = slice %x {begin=[0,0], end=[2,3], step=[1,1]}  %w = const : tensor<2x3x" W
		 " [0, 0, 127, 127, 0, 0]  %y = dense %s, %w",
		 1, 0, NULL},
		{"%s = slice %x {begin=[0,0], end=[2,3], step=[1,1]}  %w = const : tensor<2x3x" W
		 " [0, 0, 127, 127, 2, 0]  %y = dense %s, %w",
		 1, 1, "y"},
		{"%y = relu %x", 0, 0, NULL},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_buf b;

		qn_buf_init(&b, &rg->arena);
		qn_buff(&b, "graph @main(%s) {\n  %s\n  return %%y\n}\n", X, rows[i].body);
		read_model(qn_buf_str(&b));
		qn_saturation s = qn_saturation_of(&rg->m);
		if (s.products != rows[i].products || s.saturating != rows[i].saturating ||
		    (s.first == NULL) != (rows[i].first == NULL) ||
		    (s.first != NULL && strcmp(s.first->name, rows[i].first) != 0))
			fail_msg("%s: %zu of %zu, %s", rows[i].body, s.saturating, s.products,
				 s.first != NULL ? s.first->name : "none");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_pairs, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
