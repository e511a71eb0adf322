/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels_small.c - dense layers with channels whose multipliers are smaller than kernels take, as those of channels
 * that are almost 0: their multipliers get fewer bits where all results stay, on the definitions in C, against the
 * interpreter. */
#include <math.h>

#include "codegen/kernels_dsp.h"
#include "codegen/kernels_scalar.h"
#include "runtime/kernels/dsp_dense_long.h"
#include "runtime/kernels/scalar_dense.h"
#include "tests/unit/layer_rig.h"

static bool
call(const char *name, const qn_step *s, const int8_t *const *x, void *work, int8_t *y)
{
	if (strcmp(name, "qn_dense_dsp") == 0)
		qn_dense_dsp(s->args, x[0], work, y);
	else if (strcmp(name, "qn_dense_long_dsp") == 0)
		qn_dense_long_dsp(s->args, x[0], work, y);
	else if (strcmp(name, "qn_dense_scalar") == 0)
		qn_dense_scalar(s->args, x[0], y);
	else
		return false;
	return true;
}

/* Scales of channels, some of 2^-22 to 2^-29; with those of x and y they are the multipliers. */
static const char *
scales(builder *b, int channels)
{
	const char *s = "";

	for (int i = 0; i < channels; i++)
		s = build_printf(b, "%s%s%.5g", s, i > 0 ? ", " : "",
				 pick(0, 1) == 0 ? 0.001 * pick(1, 400)
						 : ldexp(pick(64, 127) / 128.0, -pick(22, 29)));
	return s;
}

/* most: the size of biases, so that the sums of small channels are some results wide. */
static const char *
check(builder *b, const char *target, int in, int most)
{
	const int out = pick(1, 14);
	const char *scale = scales(b, out);
	const layer l = {
		.op = QN_OP_dense,
		.x = build_printf(b, "tensor<%dx%dx!quant.uniform<i8:f32, 1.0:%d>>", pick(1, 3), in,
				  pick(-128, 127)),
		.w = build_printf(b, "tensor<%dx%dx!quant.uniform<i8:f32:0, {%s}>>", out, in,
				  scale),
		.bias = build_printf(b, "tensor<%dx!quant.uniform<i32:f32:0, {%s}>>", out, scale),
		.y = build_printf(b, "i8:f32, 1.0:%d", pick(-128, 127)),
		.w_lo = -127,
		.w_hi = 127,
		.bias_lo = -most,
		.bias_hi = most,
		.x_lo = -128,
		.x_hi = 127,
	};

	return check_layer(b, &l, target, call);
}

static void
check_all(const char *target, int least, int most, const char *want)
{
	int reached = 0;

	for (uint64_t round = 1; round <= 300; round++) {
		builder b;

		build_begin(&b, "net", round);
		const int in = pick(least, least + 300);
		reached += strcmp(check(&b, target, in, most), want) == 0;
		build_end(&b);
	}
	if (reached < 150)
		fail_msg("%s: %d of 300 have %s", target, reached, want);
}

static void
test_small(void **state)
{
	(void)state;
	check_all("cortex-m4", 1, 3000000, "qn_dense_dsp");
	check_all("cortex-m4", 1200, 3000000, "qn_dense_long_dsp");
	check_all("cortex-m0plus", 1, 3000000, "qn_dense_scalar");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_small)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
