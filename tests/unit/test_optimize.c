/* SPDX-License-Identifier: Apache-2.0 */
/* Which steps get which kernels, for what a plan is made for and for its budgets. */
#include "tests/e2e/build.h"

#include "codegen/emit.h"
#include "codegen/kernel_table.h"

#define Q(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.05>>"

/* A dense layer and its requantize. */
static qn_id
dense(builder *b, const char *name, qn_id x, int64_t in, int64_t out)
{
	const qn_id w =
		build_const(b, build_printf(b, "%s.w", name),
			    build_printf(b, "tensor<%lldx%lldx!quant.uniform<i8:f32, 0.02>>",
					 (long long)out, (long long)in),
			    -90, 90);
	const qn_id sum = build_op(b, QN_OP_dense, name, IDS(x, w), NULL, NULL);

	return build_op(
		b, QN_OP_requantize, NULL, IDS(sum), NULL,
		build_printf(b, "tensor<1x%lldx!quant.uniform<i8:f32, 0.3>>", (long long)out));
}

/* `wide` has 64 rows of 512 weights, `narrow` 17 of 64, `thin` 5 rows of 3 weights, which vectors pad to blocks of 16. */
static void
build(builder *b, bool with_wide)
{
	build_begin(b, "net", 7);
	qn_id x = build_input(b, "x", Q("1x3"));
	x = dense(b, "thin", x, 3, 5);
	qn_id y = build_input(b, "y", with_wide ? Q("1x512") : Q("1x64"));
	if (with_wide)
		y = dense(b, "wide", y, 512, 64);
	qn_graph_output(b->g, "a", x);
	qn_graph_output(b->g, "b", dense(b, "narrow", y, 64, 17));
}

static qn_plan *
plan(builder *b, const char *target, qn_optimize optimize, size_t scratch, size_t weights)
{
	qn_plan *p;
	const qn_plan_opts o = {qn_target_find(&b->env, target), optimize, scratch, weights};

	build_check(b, qn_plan_make(b->g, "net", &o, &b->arena, &p) == QN_OK);
	return p;
}

static const qn_kernel *
kernel_of(const qn_plan *p, const char *layer)
{
	for (size_t i = 0; i < p->nstep; i++)
		if (strcmp(p->step[i].name, layer) == 0)
			return p->step[i].kernel;
	fail_msg("no step %s", layer);
	return NULL;
}

static bool
is_fast(const qn_plan *p, const char *layer)
{
	return kernel_of(p, layer)->needs != 0;
}

/* Whether it has a kernel over instructions of the target. */
static bool
is_own(const qn_plan *p, const char *layer)
{
	return (kernel_of(p, layer)->needs & ~(uint32_t)QN_TARGET_ANY) != 0;
}

static void
test_padding(void **state)
{
	builder b;

	(void)state;
	build(&b, true);
	const qn_plan *speed = plan(&b, "cortex-m55", QN_OPTIMIZE_SPEED, 0, 0);
	const qn_plan *size = plan(&b, "cortex-m55", QN_OPTIMIZE_SIZE, 0, 0);
	const qn_plan *balanced = plan(&b, "cortex-m55", QN_OPTIMIZE_BALANCED, 0, 0);

	assert_true(is_fast(speed, "thin") && is_fast(speed, "wide") && is_fast(speed, "narrow"));
	assert_false(is_fast(size, "thin") || is_fast(size, "wide") || is_fast(size, "narrow"));
	/* the whole is within a fifth, as `wide` outweighs what is padded */
	assert_true(balanced->weight_bytes <= size->weight_bytes * 6 / 5);
	assert_int_equal(balanced->weight_bytes, speed->weight_bytes);
	build_end(&b);

	build(&b, false);
	balanced = plan(&b, "cortex-m55", QN_OPTIMIZE_BALANCED, 0, 0);
	size = plan(&b, "cortex-m55", QN_OPTIMIZE_SIZE, 0, 0);
	speed = plan(&b, "cortex-m55", QN_OPTIMIZE_SPEED, 0, 0);
	assert_true(speed->weight_bytes > size->weight_bytes * 6 / 5);
	assert_true(balanced->weight_bytes <= size->weight_bytes * 6 / 5);
	/* 17 rows of 64 become 20, 5 rows of 3 become 8 of 16; the next kernel pads nothing */
	assert_true(is_own(balanced, "thin") != is_own(balanced, "narrow"));
	assert_true(is_fast(balanced, "thin") && is_fast(balanced, "narrow"));
	build_end(&b);
}

/* Generic kernels of four channels have the constants of the plain ones. */
static void
test_generic(void **state)
{
	builder b;

	(void)state;
	build(&b, false);
	const qn_plan *balanced = plan(&b, "generic", QN_OPTIMIZE_BALANCED, 0, 0);
	const qn_plan *size = plan(&b, NULL, QN_OPTIMIZE_SIZE, 0, 0);

	assert_true(is_fast(balanced, "thin") && is_fast(balanced, "narrow"));
	assert_false(is_fast(size, "thin") || is_fast(size, "narrow"));
	assert_int_equal(balanced->weight_bytes, size->weight_bytes);
	build_end(&b);
}

static void
test_budgets(void **state)
{
	builder b;

	(void)state;
	build(&b, true);
	const qn_plan *speed = plan(&b, "cortex-m55", QN_OPTIMIZE_SPEED, 0, 0);
	const qn_plan *size = plan(&b, "cortex-m55", QN_OPTIMIZE_SIZE, 0, 0);
	const size_t least = size->weight_bytes;

	/* what lies between is reached step by step, what is less not at all: the smallest plan shows how much is missing; speed asks for no budget */
	for (size_t most = speed->weight_bytes; most >= least; most -= most > least + 16 ? 16 : 1)
		assert_true(plan(&b, "cortex-m55", QN_OPTIMIZE_BALANCED, 0, most)->weight_bytes <=
			    most);
	assert_int_equal(plan(&b, "cortex-m55", QN_OPTIMIZE_BALANCED, 0, least)->weight_bytes,
			 least);
	assert_int_equal(plan(&b, "cortex-m55", QN_OPTIMIZE_BALANCED, 0, least - 1)->weight_bytes,
			 least);
	assert_int_equal(plan(&b, "cortex-m55", QN_OPTIMIZE_SPEED, 0, least)->weight_bytes,
			 speed->weight_bytes);
	assert_true(speed->scratch_bytes > size->scratch_bytes);
	const qn_plan *small = plan(&b, "cortex-m55", QN_OPTIMIZE_BALANCED, size->scratch_bytes, 0);
	assert_true(small->scratch_bytes <= size->scratch_bytes);
	build_end(&b);
}

/* ---- kernels that cost memory, and a little or much for it ---- */

/* A convolution 3x3 of c channels on an image of `size` rows and columns, between two nodes, so that
 * its values are in scratch. */
static qn_id
conv(builder *b, const char *name, int size, int c)
{
	const char *type =
		build_printf(b, "tensor<1x%dx%dx%dx!quant.uniform<i8:f32, 0.05>>", size, size, c);
	const qn_id in = build_input(b, build_printf(b, "%s.x", name), type),
		    x = build_op(b, QN_OP_relu, NULL, IDS(in), NULL, NULL);
	const qn_id w = build_const(
		b, build_printf(b, "%s.w", name),
		build_printf(b, "tensor<%dx3x3x%dx!quant.uniform<i8:f32, 0.02>>", c, c), -90, 90);
	qn_attrs a = build_attrs(QN_OP_conv2d);
	for (int i = 0; i < 4; i++)
		a.conv2d.pad[i] = 1;
	const qn_id sum = build_op(b, QN_OP_conv2d, name, IDS(x, w), &a, NULL);

	const qn_id y = build_op(b, QN_OP_requantize, NULL, IDS(sum), NULL, type);
	return build_op(b, QN_OP_relu, NULL, IDS(y), NULL, NULL);
}

/* Of `large` Winograd's form saves 160 instructions for a byte of constants, of `small` some 10; both have
 * memory for one of them only. */
static void
build_convs(builder *b)
{
	build_begin(b, "net", 7);
	qn_graph_output(b->g, "a", conv(b, "large", 32, 16));
	qn_graph_output(b->g, "b", conv(b, "small", 8, 32));
	qn_graph_output(b->g, "c", dense(b, "fc", build_input(b, "y", Q("1x512")), 512, 64));
}

static bool
has_name(const qn_plan *p, const char *layer, const char *name)
{
	return strcmp(kernel_of(p, layer)->name, name) == 0;
}

static void
test_candidates(void **state)
{
	builder b;

	(void)state;
	build_convs(&b);
	const qn_plan *speed = plan(&b, "cortex-m4", QN_OPTIMIZE_SPEED, 0, 0);
	const qn_plan *size = plan(&b, "cortex-m4", QN_OPTIMIZE_SIZE, 0, 0);
	const qn_plan *balanced = plan(&b, "cortex-m4", QN_OPTIMIZE_BALANCED, 0, 0);

	assert_true(has_name(speed, "large", "qn_winograd_dsp"));
	assert_true(has_name(speed, "small", "qn_winograd_dsp"));
	assert_true(speed->weight_bytes > size->weight_bytes * 6 / 5 + 256);
	assert_true(has_name(balanced, "large", "qn_winograd_dsp"));
	assert_true(has_name(balanced, "small", "qn_conv2d_dsp_ow"));
	assert_true(balanced->weight_bytes <= size->weight_bytes * 6 / 5 + 256);
	build_end(&b);
}

/* Each budget is kept, and with less of it a network is never estimated to be faster. */
static void
test_candidate_budgets(void **state)
{
	uint64_t least = 0;
	builder b;

	(void)state;
	build_convs(&b);
	const qn_plan *speed = plan(&b, "cortex-m4", QN_OPTIMIZE_SPEED, 0, 0);
	const qn_plan *size = plan(&b, "cortex-m4", QN_OPTIMIZE_SIZE, 0, 0);
	for (size_t most = speed->weight_bytes; most >= size->weight_bytes; most -= 512) {
		const qn_plan *p = plan(&b, "cortex-m4", QN_OPTIMIZE_BALANCED, 0, most);
		uint64_t cost = 0;

		assert_true(p->weight_bytes <= most);
		for (size_t i = 0; i < p->nstep; i++)
			cost += p->step[i].kernel->cost != NULL ? p->step[i].cost : 10000000;
		assert_true(cost >= least);
		least = cost;
	}
	const qn_plan *small = plan(&b, "cortex-m4", QN_OPTIMIZE_BALANCED, size->scratch_bytes, 0);
	assert_true(small->scratch_bytes <= size->scratch_bytes);
	build_end(&b);
}

/* What is said of them. */
static void
test_explain(void **state)
{
	builder b;
	qn_buf text;

	(void)state;
	build_convs(&b);
	qn_buf_init(&text, &b.arena);
	qn_plan_explain(plan(&b, "cortex-m4", QN_OPTIMIZE_BALANCED, 0, 0), &text);
	const char *large = strstr(qn_buf_str(&text), "large"),
		   *small = strstr(qn_buf_str(&text), "small");
	assert_true(large != NULL && small != NULL && large < small);
	assert_non_null(strstr(large, ": qn_winograd_dsp, 3712 bytes of working memory, "
				      "8448 bytes of constants, about "));
	assert_true(strstr(large, "not qn_conv2d_dsp: about ") < small);
	assert_non_null(strstr(
		small,
		": qn_conv2d_dsp, 2368 bytes of working memory, 9600 bytes of constants, about "));
	assert_non_null(strstr(
		small, "not qn_winograd_dsp: with its constants, 23680 bytes more, the constants "
		       "would exceed 6/5 of those of plain kernels, or the budget"));
	build_end(&b);
}

static void
test_names(void **state)
{
	qn_optimize o;
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	assert_int_equal(qn_optimize_find(&b.env, NULL, &o), QN_OK);
	assert_int_equal(o, QN_OPTIMIZE_BALANCED);
	assert_int_equal(qn_optimize_find(&b.env, "size", &o), QN_OK);
	assert_int_equal(o, QN_OPTIMIZE_SIZE);
	assert_int_equal(qn_optimize_find(&b.env, "sped", &o), QN_EUSAGE);
	assert_true(build_reported(&b, "optimize.unknown"));
	build_end(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_generic),
		cmocka_unit_test(test_budgets),
		cmocka_unit_test(test_candidates),
		cmocka_unit_test(test_candidate_budgets),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
