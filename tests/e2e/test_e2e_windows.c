/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_windows.c - convolutions and pools: emitted C against the interpreter, byte for byte.  Shapes are small and
 * crooked: paddings that differ, strides that leave a rest. */
#include "tests/e2e/op_case.h"

#include "runtime/fixed.h"

/* ---- conv2d ---- */

typedef struct conv_case {
	const char *name, *x, *w, *bias, *y;
	int64_t stride[2], dilation[2], pad[4], groups;
	int32_t padding, rounding;
} conv_case;

#define W3(shape) "tensor<" shape "x!quant.uniform<i8:f32:0, {0.02, 0.003, 0.5}>>"
#define W4(shape) "tensor<" shape "x!quant.uniform<i8:f32:0, {0.02, 0.003, 0.5, 0.01}>>"
#define B1 "x!quant.uniform<i32:f32, 0.05 * 0.02>>"

static const conv_case conv_cases[] = {
	{"plain",
	 Q("1x5x6x2"),
	 W3("3x3x3x2"),
	 NULL,
	 R("1x3x4x3"),
	 {1, 1},
	 {1, 1},
	 {0},
	 1,
	 QN_PADDING_explicit,
	 QN_RQ_DOUBLE},
	{"padded",
	 Q("2x5x6x2"),
	 W1("3x2x3x2"),
	 "tensor<3" B1,
	 R("2x4x3x3"),
	 {2, 2},
	 {1, 1},
	 {2, 1, 0, 2},
	 1,
	 QN_PADDING_explicit,
	 QN_RQ_SINGLE},
	{"dilated",
	 Q("1x7x8x3"),
	 W4("4x3x2x3"),
	 NULL,
	 R("1x7x8x4"),
	 {1, 1},
	 {2, 3},
	 {0},
	 1,
	 QN_PADDING_same,
	 QN_RQ_NEAREST},
	{"depthwise",
	 Q("1x6x5x4"),
	 W4("4x3x3x1"),
	 NULL,
	 R("1x3x3x4"),
	 {2, 2},
	 {1, 1},
	 {0},
	 4,
	 QN_PADDING_same,
	 QN_RQ_DOUBLE},
	{"grouped",
	 Q("1x4x4x4"),
	 W4("4x1x1x2"),
	 NULL,
	 R("1x4x4x4"),
	 {1, 1},
	 {1, 1},
	 {0},
	 2,
	 QN_PADDING_valid,
	 QN_RQ_DOUBLE},
};

static void
conv2d(void **state)
{
	const conv_case *c = *state;
	qn_attrs a = build_attrs(QN_OP_conv2d), clamp = build_attrs(QN_OP_requantize);
	builder b;
	qn_id in[3];

	build_begin(&b, c->name, 11);
	b.model.rounding = c->rounding;
	memcpy(a.conv2d.stride, c->stride, sizeof(c->stride));
	memcpy(a.conv2d.dilation, c->dilation, sizeof(c->dilation));
	memcpy(a.conv2d.pad, c->pad, sizeof(c->pad));
	a.conv2d.groups = c->groups;
	a.conv2d.padding = c->padding;
	in[0] = build_input(&b, "x", c->x);
	in[1] = build_const(&b, "w", c->w, -127, 127);
	in[2] = c->bias != NULL ? build_const(&b, "b", c->bias, -5000, 5000) : 0;
	qn_id acc = build_op(&b, QN_OP_conv2d, "c", c->bias != NULL ? 3 : 2, in, &a, NULL);
	clamp.clamp.lo = -100;
	clamp.clamp.hi = 90;
	qn_id y = build_op(&b, QN_OP_requantize, "c.q", IDS(acc), &clamp, c->y);
	finish(&b, y);
}

/* Accumulators that are an output, and requantized apart. */
static void
conv2d_unfused(void **state)
{
	builder b;

	(void)state;
	build_begin(&b, "unfused", 12);
	qn_id x = build_input(&b, "x", Q("1x5x6x2"));
	qn_id w = build_const(&b, "w", W3("3x3x3x2"), -127, 127);
	qn_id acc = build_op(&b, QN_OP_conv2d, "c", IDS(x, w), NULL, NULL);
	qn_graph_output(b.g, "acc", acc);
	finish(&b, build_op(&b, QN_OP_requantize, "c.q", IDS(acc), NULL, R("1x3x4x3")));
}

/* Accumulators in scratch: an alias stands between them and their requantize. */
static void
accumulators_in_scratch(void **state)
{
	qn_attrs a = build_attrs(QN_OP_reshape);
	builder b;

	(void)state;
	build_begin(&b, "acc", 13);
	qn_id x = build_input(&b, "x", Q("2x7"));
	qn_id w = build_const(&b, "w", W1("3x7"), -127, 127);
	qn_id acc = build_op(&b, QN_OP_dense, "d", IDS(x, w), NULL, NULL);
	a.shape.shape = LIST(3, 2);
	qn_id r = build_op(&b, QN_OP_reshape, "r", IDS(acc), &a, NULL);
	qn_id q = build_op(&b, QN_OP_requantize, "q", IDS(r), NULL, R("3x2"));
	a = build_attrs(QN_OP_transpose);
	a.perm.perm = LIST(1, 0);
	qn_graph_output(b.g, "turned", build_op(&b, QN_OP_transpose, "t", IDS(acc), &a, NULL));
	finish(&b, q);
}

/* ---- pools ---- */

static void
pools(void **state)
{
	qn_attrs a = build_attrs(QN_OP_max_pool);
	builder b;

	(void)state;
	build_begin(&b, "pools", 21);
	qn_id x = build_input(&b, "x", Q("2x7x6x3"));
	a.pool.kernel[0] = 3;
	a.pool.kernel[1] = 2;
	a.pool.stride[0] = a.pool.stride[1] = 2;
	a.pool.pad[0] = a.pool.pad[3] = 1;
	qn_graph_output(b.g, "max", build_op(&b, QN_OP_max_pool, "m", IDS(x), &a, NULL));
	a.pool.padding = QN_PADDING_same;
	a.pool.pad[0] = a.pool.pad[3] = 0;
	qn_id avg = build_op(&b, QN_OP_avg_pool, "a", IDS(x), &a, NULL);
	finish(&b, build_op(&b, QN_OP_global_avg_pool, "g", IDS(avg), NULL, R("2x1x1x3")));
}

/* Windows of many rows keep their row pointers in scratch, those of 16 or fewer on the stack. */
static void
high_windows(void **state)
{
	(void)state;
	for (int rows = 16; rows <= 17; rows++)
		for (int op = 0; op < 3; op++) {
			qn_attrs a = build_attrs(op < 2 ? QN_OP_avg_pool : QN_OP_conv2d);
			builder b;
			e2e t;

			build_begin(&b, "high", 22);
			const qn_id x = build_input(&b, "x", Q("1x40x3x4"));
			qn_id y = 0;
			if (op < 2) {
				a.pool.kernel[0] = rows;
				a.pool.kernel[1] = 2;
				y = build_op(&b, op == 0 ? QN_OP_avg_pool : QN_OP_max_pool, "y",
					     IDS(x), &a, NULL);
			} else {
				a.conv2d.groups = 4;
				const qn_id w = build_const(
					&b, "w",
					build_printf(
						&b, "tensor<4x%dx2x1x!quant.uniform<i8:f32, 0.02>>",
						rows),
					-127, 127);
				const qn_id acc =
					build_op(&b, QN_OP_conv2d, "acc", IDS(x, w), &a, NULL);
				y = build_op(&b, QN_OP_requantize, "y", 1, &acc, NULL,
					     build_printf(&b, R("1x%dx2x4"), 41 - rows));
			}
			qn_graph_output(b.g, "y", y);
			e2e_prepare(&b, &t, 1);
			assert_int_equal(t.plan->step[0].rows_planned, rows > 16);
			assert_int_equal(t.plan->step[0].work, rows > 16 ? 8 * rows : 0);
			e2e_check(&b, 2);
			build_end(&b);
		}
}

int
main(void)
{
	struct CMUnitTest tests[16] = {
		cmocka_unit_test(conv2d_unfused),
		cmocka_unit_test(accumulators_in_scratch),
		cmocka_unit_test(pools),
		cmocka_unit_test(high_windows),
	};
	size_t n = 4, i;

	for (i = 0; i < QN_COUNT(conv_cases); i++)
		tests[n++] = (struct CMUnitTest){conv_cases[i].name, conv2d, NULL, NULL,
						 (void *)(uintptr_t)&conv_cases[i]};
	return _cmocka_run_group_tests("e2e windows", tests, n, NULL, NULL);
}
