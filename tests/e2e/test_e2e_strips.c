/* SPDX-License-Identifier: Apache-2.0 */
/* Pools that are computed with the convolution before them, a window of rows at a time, give the bytes
 * that the interpreter gives: random convolutions and pools of any windows, strides, padding and
 * storage, with the kernels of every kind of target. */
#include "tests/e2e/e2e.h"

#include "codegen/schedule.h"
#include "codegen/strips.h"
#include "tests/e2e/random_maker.h"

enum { NETS = 1, FULL_NETS = 6, BRANCHES = 8, SAMPLES = 4 };

static const char *const targets[] = {"generic",    "cortex-m4", "cortex-m0plus",
				      "cortex-m55", "avr",       "x86-64-avx512vnni"};

/* A convolution and a pool of its result, twice where the first is large enough. */
static void
add_branch(maker *m)
{
	int64_t dim[4] = {1};

	dim[1] = pick(m, 6, 17);
	dim[2] = pick(m, 1, 8);
	dim[3] = pick(m, 1, 6);
	const qn_type *t = shaped(m, code_elem(m, factor(m, 0.01, 0.2), true), 4, dim);
	qn_id x = qn_graph_input(m->b->g, NULL, t), y;
	build_check(m->b, x != 0);

	for (int i = 0; i < 2 && type_of(m, x)->dim[1] > 2; i++) {
		if ((y = random_conv2d(m, x)) == 0)
			break;
		x = y;
		x = chance(m, 60) ? random_max_pool(m, x) : random_avg_pool(m, x);
	}
	qn_graph_output(m->b->g, NULL, x);
}

static void
build_net(builder *b, uint64_t seed)
{
	static const qn_plain codes[5] = {QN_PLAIN_i8, QN_PLAIN_i8, QN_PLAIN_i8, QN_PLAIN_u8,
					  QN_PLAIN_i16};

	build_begin(b, "net", seed * UINT64_C(0x9e3779b97f4a7c15));
	maker m = {.b = b, .weight_bits = 8};
	for (int i = 0; i < BRANCHES; i++) {
		m.code = codes[pick(&m, 0, 4)];
		add_branch(&m);
	}
	qn_model_add_graph(&b->model, b->g);
	build_check(b, qn_model_verify(&b->model) == QN_OK);
}

/* Which kernels made rows for a pool. */
static size_t
count_strips(builder *b, const qn_plan *p, size_t *kept)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nstep; i++) {
		const qn_strip_of *s = p->step[i].strip;

		if (s == NULL)
			continue;
		const qn_attrs *a = qn_graph_node(p->g, s->pool->node)->attr;
		n++;
		*kept += a->pool.stride[0] < a->pool.kernel[0];
		print_message("%s with %s\n", qn_step_function(p->g, s->conv, &b->arena),
			      qn_step_function(p->g, s->pool, &b->arena));
	}
	return n;
}

static void
test_random(void **state)
{
	const size_t ntarget = e2e_target_cc() != NULL ? 1 : QN_COUNT(targets);
	const char *full = getenv("QUERN_FULL");
	const uint64_t nets = full != NULL && strcmp(full, "1") == 0 ? FULL_NETS : NETS;
	size_t n = 0, kept = 0;

	(void)state;
	for (size_t i = 0; i < ntarget; i++) {
		const char *name = e2e_target_cc() != NULL ? getenv("QUERN_TARGET") : targets[i];

		for (uint64_t seed = 1; seed <= nets; seed++) {
			qn_plan *plan = NULL, *strips = NULL;
			builder b;
			e2e t;

			build_net(&b, 100 * i + seed);
			const qn_target *target = qn_target_find(&b.env, name);
			build_check(&b, qn_plan_fast(b.g, "net", target, &b.arena, &plan) == QN_OK);
			build_check(&b, qn_plan_strips(plan, NULL, &b.arena, &strips) == QN_OK);
			n += count_strips(&b, strips, &kept);
			e2e_prepare_plan(&b, strips, &t, SAMPLES);
			if (e2e_target_cc() == NULL) {
				e2e_run_portable(&b, &t);
			} else {
				e2e_write(&b, &t);
				e2e_check_target(&b, &t);
				e2e_remove(&b, &t);
			}
			build_end(&b);
		}
	}
	print_message("%zu pools, %zu of them keep rows\n", n, kept);
	assert_true(n >= 4 * ntarget && kept >= ntarget);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
