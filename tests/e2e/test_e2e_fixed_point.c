/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs whose rescaling is written as fixed-point operations give the bytes of the kernels.
 *
 * Random integer graphs, before and after lower-fixed-point, in the interpreter; some of them emitted,
 * compiled and run too.  Sums of scales that are powers of 2.  Every
 * operation on integers of every width, in emitted C. */
#include "tests/e2e/e2e.h"

#include <math.h>

#include "passes/passes.h"
#include "tests/e2e/random_graph.h"

enum { SEEDS = 96, EMITTED = 6, SAMPLES = 4 };

static void
lower(builder *b)
{
	b->model.stage = QN_STAGE_INTEGER;
	b->model.graphs = b->model.scratch = &b->arena;
	build_check(b, qn_lower_fixed_point(&b->model) == QN_OK);
	build_check(b, qn_model_verify(&b->model) == QN_OK);
	b->g = qn_model_entry(&b->model);
}

/* Of requantize those that are to be lowered. */
static void
count_ops(const qn_graph *g, size_t *count)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op != QN_OP_requantize || n->attr->requantize.align == 0)
			count[n->op]++;
	}
}

/* Inputs are the same, as the lowered graph has the same ones. */
static void
assert_same_outputs(const builder *a, const e2e *x, const builder *b, const e2e *y, uint64_t seed)
{
	const size_t n = a->g->noutput, ni = a->g->ninput;

	assert_int_equal(n, b->g->noutput);
	for (size_t i = 0; i < x->test.nsample; i++) {
		for (size_t k = 0; k < ni; k++)
			assert_memory_equal(
				x->test.in[i * ni + k], y->test.in[i * ni + k],
				qn_type_bytes(qn_graph_node(a->g, a->g->input[k])->type));
		for (size_t k = 0; k < n; k++) {
			const qn_type *t = qn_graph_node(a->g, a->g->output[k].value)->type;

			if (memcmp(x->test.out[i * n + k], y->test.out[i * n + k],
				   qn_type_bytes(t)) != 0)
				fail_msg("seed %llu: output %zu of sample %zu differs",
					 (unsigned long long)seed, k, i);
		}
	}
}

static void
emit_and_run(builder *b, e2e *t)
{
	e2e_write(b, t);
	if (e2e_target_cc() != NULL)
		e2e_check_target(b, t);
	else if (e2e_build_run(b, t, e2e_ways[0].build, true) != 0)
		fail_msg("%s fails in %s", b->model.name, t->dir);
	e2e_remove(b, t);
}

static void
test_random(void **state)
{
	size_t before[QN_NOP] = {0}, after[QN_NOP] = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		builder a, b;
		e2e x, y;

		random_graph_build(&a, seed);
		random_graph_build(&b, seed);
		lower(&b);
		e2e_prepare(&a, &x, SAMPLES);
		e2e_prepare(&b, &y, SAMPLES);
		assert_same_outputs(&a, &x, &b, &y, seed);
		count_ops(a.g, before);
		count_ops(b.g, after);
		if (seed % (SEEDS / EMITTED) == 0)
			emit_and_run(&b, &y);
		build_end(&a);
		build_end(&b);
	}
	assert_true(before[QN_OP_requantize] > 100 && after[QN_OP_requantize] == 0);
	assert_true(before[QN_OP_dense] > 10 && after[QN_OP_integer_dense] > 5);
	assert_true(before[QN_OP_add] > 10 && before[QN_OP_sub] > 5 && before[QN_OP_mul] > 10);
	assert_true(after[QN_OP_fixed_multiply] > before[QN_OP_requantize]);
}

static const char *
power_type(builder *b, const char *storage, int64_t count, int exponent, int64_t zp)
{
	return build_printf(b, "tensor<%lldx!quant.uniform<%s:f32, %.12f:%lld>>", (long long)count,
			    storage, ldexp(1.0, exponent), (long long)zp);
}

/* x + y or x - y; with_lowering: as operations on integers. */
static void
power_graph(builder *b, uint64_t seed, bool with_lowering)
{
	static const char *const storages[] = {"i8", "u8", "i16"};

	build_begin(b, "powers", seed);
	const char *s = storages[build_random(b, 0, 2)];
	const bool wide = s[1] == '1', is_signed = s[0] == 'i';
	const int base = is_signed ? 0 : 128, most = (int)build_random(b, -7, 2);
	const int fine = most - (int)build_random(b, 0, 8);
	const bool swap = build_random(b, 0, 1) == 1;
	int64_t zp[3];

	for (int i = 0; i < 3; i++)
		zp[i] = wide || build_random(b, 0, 2) == 0 ? base : base + build_random(b, -50, 50);
	b->model.rounding = (int32_t)build_random(b, 0, 3);
	const qn_id x = build_input(b, "x", power_type(b, s, 64, swap ? fine : most, zp[0]));
	const qn_id y = build_input(b, "y", power_type(b, s, 64, swap ? most : fine, zp[1]));
	const int result = most + (int)build_random(b, -1, 3);
	const qn_op op = build_random(b, 0, 1) == 0 ? QN_OP_add : QN_OP_sub;
	qn_graph_output(b->g, "z",
			build_op(b, op, "z", IDS(x, y), NULL, power_type(b, s, 64, result, zp[2])));
	qn_model_add_graph(&b->model, b->g);
	if (with_lowering)
		lower(b);
}

static void
test_powers(void **state)
{
	size_t by_shifts = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		size_t count[QN_NOP] = {0};
		builder a, b;
		e2e x, y;

		power_graph(&a, seed, false);
		power_graph(&b, seed, true);
		e2e_prepare(&a, &x, 40);
		e2e_prepare(&b, &y, 40);
		assert_same_outputs(&a, &x, &b, &y, seed);
		count_ops(b.g, count);
		by_shifts += count[QN_OP_saturating_add] == 1 && count[QN_OP_fixed_multiply] == 0;
		build_end(&a);
		build_end(&b);
	}
	assert_in_range(by_shifts, 100, 399);
}

/* All operations on one width. */
static void
add_all(builder *b, const char *elem)
{
	const char *t = build_printf(b, "tensor<3x5x%s>", elem);
	const bool sums = strcmp(elem, "i32") == 0 || strcmp(elem, "i64") == 0;
	static const int64_t m[5] = {1073741824, 0, 2147483647, 1717986918, 1100000000};
	static const int64_t s[5] = {1, 0, -3, 5, -20};
	const qn_id x = build_input(b, build_printf(b, "x_%s", elem), t);
	qn_attrs a = build_attrs(QN_OP_rounding_divide_by_pot);

	a.divide_by_pot.exponent = 3;
	qn_id y = build_op(b, QN_OP_rounding_divide_by_pot, NULL, IDS(x), &a, NULL);
	a = build_attrs(QN_OP_saturating_add);
	a.saturating_add.clamp_min = -100;
	y = build_op(b, QN_OP_saturating_add, NULL, IDS(x, y), &a, NULL);
	a = build_attrs(QN_OP_fixed_multiply);
	a.fixed_multiply.multiplier = (qn_integers){5, m};
	a.fixed_multiply.shift = (qn_integers){5, s};
	a.fixed_multiply.axis = 1;
	y = build_op(b, QN_OP_fixed_multiply, NULL, IDS(y), &a, NULL);
	if (sums) {
		const qn_id w = build_const(b, build_printf(b, "w_%s", elem),
					    build_printf(b, "tensor<2x5x%s>", elem), -9, 9);

		y = build_op(b, QN_OP_integer_dense, NULL, IDS(y, w), NULL, NULL);
	}
	qn_graph_output(b->g, build_printf(b, "y_%s", elem), y);
}

static void
test_widths(void **state)
{
	builder b;

	(void)state;
	build_begin(&b, "widths", 5);
	add_all(&b, "i8");
	add_all(&b, "i16");
	add_all(&b, "i32");
	add_all(&b, "i64");
	qn_model_add_graph(&b.model, b.g);
	b.model.stage = QN_STAGE_INTEGER;
	e2e_check(&b, 6);
	build_end(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_powers),
		cmocka_unit_test(test_widths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
