/* SPDX-License-Identifier: Apache-2.0 */
/* Which steps get plain kernels, for what a plan is made for and for its budgets. */
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

static bool
is_fast(const qn_plan *p, const char *layer)
{
	for (size_t i = 0; i < p->nstep; i++)
		if (strcmp(p->step[i].name, layer) == 0)
			return p->step[i].kernel->needs != 0;
	fail_msg("no step %s", layer);
	return false;
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
	/* 17 rows of 64 become 20, 5 rows of 3 become 8 of 16 */
	assert_true(is_fast(balanced, "thin") != is_fast(balanced, "narrow"));
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

	/* what lies between is reached step by step, what is less not at all, and speed asks for no budget */
	for (size_t most = speed->weight_bytes; most >= least; most -= most > least + 16 ? 16 : 1)
		assert_true(plan(&b, "cortex-m55", QN_OPTIMIZE_BALANCED, 0, most)->weight_bytes <=
			    most);
	assert_int_equal(plan(&b, "cortex-m55", QN_OPTIMIZE_BALANCED, 0, least)->weight_bytes,
			 least);
	assert_int_equal(plan(&b, "cortex-m55", QN_OPTIMIZE_BALANCED, 0, least - 1)->weight_bytes,
			 speed->weight_bytes);
	assert_int_equal(plan(&b, "cortex-m55", QN_OPTIMIZE_SPEED, 0, least)->weight_bytes,
			 speed->weight_bytes);
	assert_true(speed->scratch_bytes > size->scratch_bytes);
	const qn_plan *small = plan(&b, "cortex-m55", QN_OPTIMIZE_BALANCED, size->scratch_bytes, 0);
	assert_true(small->scratch_bytes <= size->scratch_bytes);
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
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
