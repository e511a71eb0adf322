/* SPDX-License-Identifier: Apache-2.0 */
/* Which pools and convolutions are computed with the convolution before them, maybe after a step between that computes
 * each element alone, how many rows of its result are in memory, and which rows each window wants.  e2e-strips runs them. */
#include "tests/e2e/build.h"

#include "codegen/emit.h"
#include "codegen/strips.h"
#include "runtime/kernels/strip.h"

#define Q(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.5:3>>"

/* conv2d [28, 28, 1] -> [28, 28, 8] with its requantize. */
static qn_id
convolution(builder *b)
{
	qn_attrs a = build_attrs(QN_OP_conv2d);
	qn_id x = build_input(b, "x", Q("1x28x28x1"));
	qn_id w = build_const(b, "w", "tensor<8x3x3x1x!quant.uniform<i8:f32, 0.25>>", -127, 127);

	a.conv2d.padding = QN_PADDING_same;
	qn_id acc = build_op(b, QN_OP_conv2d, "conv", IDS(x, w), &a, NULL);
	return build_op(b, QN_OP_requantize, "conv.q", IDS(acc), NULL, Q("1x28x28x8"));
}

static qn_id
pool(builder *b, const char *name, qn_id x, int kernel, int stride)
{
	qn_attrs a = build_attrs(QN_OP_max_pool);

	a.pool.kernel[0] = a.pool.kernel[1] = kernel;
	a.pool.stride[0] = a.pool.stride[1] = stride;
	return build_op(b, QN_OP_max_pool, name, IDS(x), &a, NULL);
}

static qn_plan *
plan_as(builder *b, qn_optimize optimize)
{
	const qn_plan_opts how = {.target = qn_target_at(0), .optimize = optimize};
	qn_plan *p = NULL;

	build_check(b, qn_plan_make(b->g, "net", &how, &b->arena, &p) == QN_OK);
	return p;
}

static qn_plan *
plan(builder *b)
{
	return plan_as(b, QN_OPTIMIZE_BALANCED);
}

/* The result of 6272 bytes is never there: two rows of 224 are. */
static void
test_joined(void **state)
{
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	qn_graph_output(b.g, "y", pool(&b, "pool", convolution(&b), 2, 2));
	const qn_plan *p = plan(&b);
	assert_int_equal(p->nstep, 1);
	const qn_step *s = &p->step[0];
	assert_non_null(s->strip);
	assert_int_equal(s->strip->rows, 2);
	assert_int_equal(s->strip->row_bytes, 28 * 8);
	assert_int_equal(s->nepilogue, 2);
	assert_int_equal(qn_graph_node(p->g, s->node)->op, QN_OP_max_pool);
	assert_int_equal(p->scratch_bytes, 2 * 28 * 8);
	assert_string_equal(qn_step_function(p->g, s, &b.arena), "qn_conv2d_by4_s8");
	build_end(&b);
}

/* Kernels of 16-bit values for a processor make rows, too. */
static void
test_joined_wide(void **state)
{
#define WIDE(shape, scale) "tensor<" shape "x!quant.uniform<i16:f32, " scale ">>"
	qn_attrs a = build_attrs(QN_OP_conv2d);
	qn_plan *p = NULL;
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	a.conv2d.padding = QN_PADDING_same;
	const qn_id x = build_input(&b, "x", WIDE("1x28x28x1", "0.5"));
	const qn_id w =
		build_const(&b, "w", "tensor<8x3x3x1x!quant.uniform<i8:f32, 0.25>>", -127, 127);
	const qn_id acc = build_op(&b, QN_OP_conv2d, "conv", IDS(x, w), &a, NULL);
	const qn_id c =
		build_op(&b, QN_OP_requantize, "conv.q", IDS(acc), NULL, WIDE("1x28x28x8", "16.0"));
	qn_graph_output(b.g, "y", pool(&b, "pool", c, 2, 2));
	const qn_plan_opts how = {.target = qn_target_find(&b.env, "cortex-m4")};
	build_check(&b, qn_plan_make(b.g, "net", &how, &b.arena, &p) == QN_OK);
	assert_int_equal(p->nstep, 1);
	assert_string_equal(qn_step_function(p->g, &p->step[0], &b.arena), "qn_conv2d_rows16_dsp");
	assert_non_null(p->step[0].strip);
	assert_int_equal(p->step[0].strip->rows, 2);
	build_end(&b);
}

/* [h, w, 8] to more channels. */
static qn_id
widen(builder *b, const char *name, qn_id x, const char *wide)
{
	qn_attrs a = build_attrs(QN_OP_conv2d);
	char text[32];

	snprintf(text, sizeof(text), "%s.w", name);
	qn_id w = build_const(b, text, "tensor<32x1x1x8x!quant.uniform<i8:f32, 0.25>>", -127, 127);
	snprintf(text, sizeof(text), "%s.up", name);
	x = build_op(b, QN_OP_conv2d, text, IDS(x, w), &a, NULL);
	snprintf(text, sizeof(text), "%s.q", name);
	return build_op(b, QN_OP_requantize, text, IDS(x), NULL, wide);
}

/* A window of 3 by 3 of each channel, `stride` apart. */
static qn_id
windows(builder *b, const char *name, qn_id x, int stride, const char *type)
{
	qn_attrs a = build_attrs(QN_OP_conv2d);
	char text[32];

	snprintf(text, sizeof(text), "%s.d", name);
	qn_id w = build_const(b, text, "tensor<32x3x3x1x!quant.uniform<i8:f32, 0.25>>", -127, 127);
	a.conv2d.padding = QN_PADDING_same;
	a.conv2d.groups = 32;
	a.conv2d.stride[0] = a.conv2d.stride[1] = stride;
	snprintf(text, sizeof(text), "%s.each", name);
	x = build_op(b, QN_OP_conv2d, text, IDS(x, w), &a, NULL);
	return build_op(b, QN_OP_requantize, name, IDS(x), NULL, type);
}

/* Both: the begin of a block of MobileNet. */
static qn_id
expand(builder *b, const char *name, qn_id x, int stride, const char *wide, const char *type)
{
	return windows(b, name, widen(b, name, x, wide), stride, type);
}

/* 32 by 32 pixels of 32 channels, 32768 bytes, are never there, but 3 rows.  The fastest program has them all. */
static void
test_convolution(void **state)
{
	(void)state;
	for (int speed = 0; speed < 2; speed++) {
		builder b;

		build_begin(&b, "net", 1);
		qn_id x = build_input(&b, "x", Q("1x32x32x8"));
		x = expand(&b, "down", x, 2, Q("1x32x32x32"), Q("1x16x16x32"));
		x = build_op(&b, QN_OP_neg, "neg", IDS(x), NULL, Q("1x16x16x32"));
		qn_graph_output(b.g, "y",
				build_op(&b, QN_OP_exp, "exp", IDS(x), NULL, Q("1x16x16x32")));
		const qn_plan *p =
			plan_as(&b, speed != 0 ? QN_OPTIMIZE_SPEED : QN_OPTIMIZE_BALANCED);
		assert_int_equal(p->nstep, speed != 0 ? 4 : 3);
		if (speed == 0) {
			const qn_strip_of *s = p->step[0].strip;

			assert_non_null(s);
			assert_int_equal(s->rows, 3);
			assert_int_equal(s->row_bytes, 32 * 32);
			assert_int_equal(p->step[0].nepilogue, 3);
			assert_int_equal(p->step[0].nin, 3);
			assert_int_equal(p->scratch_bytes, 3 * 32 * 32 + 16 * 16 * 32);
		}
		build_end(&b);
	}
}

/* What fits into the caller's budget when steps are joined keeps its fast kernels. */
static void
test_budget(void **state)
{
	const qn_plan_opts how = {.target = qn_target_at(0),
				  .max_arena = 3 * 32 * 32 + 16 * 16 * 32};
	qn_plan *p = NULL;
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	qn_id x = build_input(&b, "x", Q("1x32x32x8"));
	x = expand(&b, "down", x, 2, Q("1x32x32x32"), Q("1x16x16x32"));
	qn_graph_output(b.g, "y", build_op(&b, QN_OP_exp, "exp", IDS(x), NULL, Q("1x16x16x32")));
	build_check(&b, qn_plan_make(b.g, "net", &how, &b.arena, &p) == QN_OK);
	assert_true(p->scratch_bytes <= how.max_arena);
	assert_string_equal(qn_step_function(p->g, p->step[0].strip->reader, &b.arena),
			    "qn_depthwise_by4_s8");
	build_end(&b);
}

/* The begin of a block of EfficientNet: the function between is computed on the new rows, in place.  The most memory is in
 * use where the second convolution reads its result. */
static void
test_between(void **state)
{
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	qn_id x = widen(&b, "up", build_input(&b, "x", Q("1x32x32x8")), Q("1x32x32x32"));
	x = build_op(&b, QN_OP_silu, "silu", IDS(x), NULL, Q("1x32x32x32"));
	x = windows(&b, "down", x, 2, Q("1x16x16x32"));
	qn_graph_output(b.g, "y", build_op(&b, QN_OP_exp, "exp", IDS(x), NULL, Q("1x16x16x32")));
	const qn_plan *p = plan(&b);
	const qn_step *part[QN_STRIP_PARTS];
	assert_int_equal(p->nstep, 2);
	assert_int_equal(qn_strip_parts(&p->step[0], part), 3);
	assert_string_equal(qn_step_function(p->g, part[1], &b.arena), "qn_lut_s8");
	assert_int_equal(p->step[0].strip->count, 0);
	assert_int_equal(p->step[0].strip->each, 32 * 32);
	assert_int_equal(p->step[0].strip->rows, 3);
	assert_int_equal(p->step[0].nepilogue, 4);
	assert_int_equal(p->scratch_bytes, 3 * 32 * 32 + 16 * 16 * 32);
	assert_int_equal(qn_strip_parts(&p->step[1], part), 1);
	build_end(&b);
}

/* What stays: a function whose result is read elsewhere too, as an output. */
static void
test_not_between(void **state)
{
	(void)state;
	builder b;

	build_begin(&b, "net", 1);
	qn_id x = widen(&b, "up", build_input(&b, "x", Q("1x32x32x8")), Q("1x32x32x32"));
	x = build_op(&b, QN_OP_silu, "silu", IDS(x), NULL, Q("1x32x32x32"));
	qn_graph_output(b.g, "z", x);
	qn_graph_output(b.g, "y", windows(&b, "down", x, 2, Q("1x16x16x32")));
	const qn_plan *p = plan(&b);
	assert_int_equal(p->nstep, 3);
	for (size_t i = 0; i < p->nstep; i++)
		assert_null(p->step[i].strip);
	build_end(&b);
}

/* Values of 16 bits become those of 8 in their place where a shift does it. */
static void
test_smaller(void **state)
{
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	qn_id x = build_input(&b, "x", WIDE("1x32x32x8", "0.5"));
	x = widen(&b, "up", x, WIDE("1x32x32x32", "16.0"));
	x = build_op(&b, QN_OP_requantize, "small", IDS(x), NULL, Q("1x32x32x32"));
	qn_graph_output(b.g, "y", windows(&b, "down", x, 2, Q("1x16x16x32")));
	const qn_strip_of *s = plan(&b)->step[0].strip;
	assert_true(s != NULL && s->between != NULL);
	assert_int_equal(s->rows_bytes, (size_t)s->rows * s->row_bytes * 2);
	build_end(&b);
}

/* A requantize of one scale counts all elements as its last number. */
static void
test_between_scales(void **state)
{
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	qn_id x = convolution(&b);
	x = build_op(&b, QN_OP_requantize, "other", IDS(x), NULL,
		     "tensor<1x28x28x8x!quant.uniform<u8:f32, 0.25:3>>");
	qn_graph_output(b.g, "y", pool(&b, "pool", x, 2, 2));
	const qn_strip_of *s = plan(&b)->step[0].strip;
	assert_true(s != NULL && s->count == 2 && s->each == 28 * 8);
	build_end(&b);
}

/* Less than a kilobyte is no reason to join convolutions, but a budget is. */
static void
test_little(void **state)
{
	(void)state;
	for (size_t most = 0; most <= 900; most += 900) {
		const qn_plan_opts how = {.target = qn_target_at(0), .max_arena = most};
		qn_plan *p = NULL;
		builder b;

		build_begin(&b, "net", 1);
		qn_id x = build_input(&b, "x", Q("1x6x6x8"));
		x = expand(&b, "down", x, 2, Q("1x6x6x32"), Q("1x3x3x32"));
		qn_graph_output(b.g, "y",
				build_op(&b, QN_OP_exp, "exp", IDS(x), NULL, Q("1x3x3x32")));
		build_check(&b, qn_plan_make(b.g, "net", &how, &b.arena, &p) == QN_OK);
		assert_int_equal(p->scratch_bytes,
				 (most == 0 ? 6 * 6 * 32 : 3 * 6 * 32) + 3 * 3 * 32);
		build_end(&b);
	}
}

/* Two blocks of one size: no single join makes the arena smaller, both together do. */
static void
test_two_peaks(void **state)
{
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	for (int i = 0; i < 2; i++) {
		char name[16];

		snprintf(name, sizeof(name), "x%d", i);
		const qn_id x = build_input(&b, name, Q("1x32x32x8"));
		snprintf(name, sizeof(name), "y%d", i);
		qn_graph_output(b.g, name,
				expand(&b, name, x, 2, Q("1x32x32x32"), Q("1x16x16x32")));
	}
	const qn_plan *p = plan(&b);
	assert_int_equal(p->nstep, 2);
	assert_non_null(p->step[0].strip);
	assert_non_null(p->step[1].strip);
	assert_true(p->scratch_bytes <= 5 * 32 * 32);
	build_end(&b);
}

/* Others read the convolution's result: a step, or the caller. */
static void
test_read_twice(void **state)
{
	(void)state;
	for (int output = 0; output < 2; output++) {
		builder b;

		build_begin(&b, "net", 1);
		const qn_id c = convolution(&b), y = pool(&b, "pool", c, 2, 2);
		qn_graph_output(b.g, "y", y);
		qn_graph_output(b.g, "z", output != 0 ? c : pool(&b, "other", c, 4, 4));
		const qn_plan *p = plan(&b);
		for (size_t i = 0; i < p->nstep; i++)
			assert_null(p->step[i].strip);
		build_end(&b);
	}
}

/* Another value takes more memory at another time, so less here is no gain. */
static void
test_no_gain(void **state)
{
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	qn_graph_output(b.g, "y", pool(&b, "pool", convolution(&b), 2, 2));
	qn_id large = build_input(&b, "large", Q("1x10000"));
	large = build_op(&b, QN_OP_softmax, "soft", IDS(large), NULL,
			 "tensor<1x10000x!quant.uniform<i8:f32, 0.00390625:-128>>");
	qn_graph_output(b.g, "z", build_op(&b, QN_OP_neg, "neg", IDS(large), NULL, Q("1x10000")));
	const qn_plan *p = plan(&b);
	assert_int_equal(p->nstep, 4);
	assert_int_equal(p->scratch_bytes, 10000);
	for (size_t i = 0; i < p->nstep; i++)
		assert_null(p->step[i].strip);
	build_end(&b);
}

/* Windows of three rows, two apart, one row of padding: 0 and 1, then 1 to 3, of which 1 is there. */
static void
test_rows(void **state)
{
	static const int32_t want[4][6] = {/* first, rows, kept, in_first, in_h, pad_t */
					   {0, 2, 0, 0, 3, 1},
					   {1, 3, 1, 1, 4, 0},
					   {3, 3, 1, 3, 4, 0},
					   {5, 2, 1, 5, 2, 0}};
	int8_t row[3] = {-1, -1, -1};
	qn_strip r = {0};

	(void)state;
	for (int32_t i = 0; i < 4; i++) {
		qn_strip_next(&r, 2 * i - 1, 3, 7, row, 1);
		/* the operand has 7 rows, windows of 3, one row of padding above */
		qn_strip_operand(&r, 7, 1, 3, 1);
		const int32_t have[6] = {r.first, r.rows, r.kept, r.in_first, r.in_h, r.pad_t};
		assert_memory_equal(have, want[i], sizeof(have));
		for (int32_t k = 0; k < r.kept; k++)
			assert_int_equal(row[k], r.first + k);
		for (int32_t k = r.kept; k < r.rows; k++)
			row[k] = (int8_t)(r.first + k);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joined),         cmocka_unit_test(test_joined_wide),
		cmocka_unit_test(test_convolution),    cmocka_unit_test(test_two_peaks),
		cmocka_unit_test(test_budget),         cmocka_unit_test(test_little),
		cmocka_unit_test(test_read_twice),     cmocka_unit_test(test_no_gain),
		cmocka_unit_test(test_rows),           cmocka_unit_test(test_between),
		cmocka_unit_test(test_not_between),    cmocka_unit_test(test_smaller),
		cmocka_unit_test(test_between_scales),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
