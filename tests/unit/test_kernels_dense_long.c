/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels_dense_long.c - dense layers whose sums are too large for two of them in a word, with the DSP extension, on the
 * definitions in C, against the interpreter. */
#include "codegen/kernels_dsp.h"
#include "runtime/kernels/dsp_dense_long.h"
#include "tests/unit/layer_rig.h"

static bool
call(const char *name, const qn_step *s, const int8_t *const *x, void *work, int8_t *y)
{
	if (strcmp(name, "qn_dense_long_dsp") != 0)
		return false;
	qn_dense_long_dsp(s->args, x[0], work, y);
	return true;
}

/* A layer of so many inputs and channels, of which all weights and values are near one end when `same`. */
static const char *
check(builder *b, int in, int out, int w, int x, bool same)
{
	const layer l = {
		.op = QN_OP_dense,
		.x = build_printf(b, "tensor<%dx%dx!quant.uniform<i8:f32, 0.5:%d>>", pick(1, 2), in,
				  pick(-128, 127)),
		.w = build_printf(b, "tensor<%dx%dx!quant.uniform<i8:f32, 0.25>>", out, in),
		.bias = pick(0, 1) == 0
				? NULL
				: build_printf(b, "tensor<%dx!quant.uniform<i32:f32, 0.25*0.5>>",
					       out),
		.y = build_printf(b, "i8:f32, %d.0:%d", same ? 16384 : 1024, pick(-128, 127)),
		.w_lo = same ? w : -127,
		.w_hi = same ? w : 127,
		.bias_lo = -10000000,
		.bias_hi = 10000000,
		.x_lo = same ? x : -128,
		.x_hi = same ? x : 127,
	};

	return check_layer(b, &l, "cortex-m4", call);
}

/* Inputs of one to five parts, parts that are full, and sums at both ends of what they can be. */
static void
test_long(void **state)
{
	static const int deep[] = {1008, 1512, 2016, 2520, 1005, 1011, 1013, 1510};
	static const int ends[][2] = {{127, -128}, {-127, -128}, {127, 127}, {-127, 127}};
	int reached = 0, all = 0;

	(void)state;
	for (uint64_t round = 1; round <= 120; round++) {
		const bool same = round % 2 == 0;
		const int *end = ends[round / 2 % 4];
		builder b;

		build_begin(&b, "net", round);
		const int in = round % 3 == 0 ? deep[round / 3 % 8] : pick(517, 2600);
		reached += strcmp(check(&b, in, pick(1, 19), end[0], end[1], same),
				  "qn_dense_long_dsp") == 0;
		all++;
		build_end(&b);
	}
	assert_true(reached > all * 2 / 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_long)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
