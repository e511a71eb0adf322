/* SPDX-License-Identifier: Apache-2.0 */
/* Pools and convolutions that are computed with the convolution before them, some rows at a time, give the
 * bytes that the interpreter gives: random ones of any windows, strides, padding and storage, with the
 * kernels of every kind of target. */
#include "tests/e2e/e2e.h"

#include "codegen/schedule.h"
#include "codegen/strips.h"
#include "tests/e2e/random_maker.h"

enum { NETS = 1, FULL_NETS = 6, BRANCHES = 12, SAMPLES = 4 };

static const char *const targets[] = {"generic",    "cortex-m4", "cortex-m0plus",
				      "cortex-m55", "avr",       "x86-64-avx512vnni"};

/* A pool, or another convolution. */
static qn_id
add_reader(maker *m, qn_id x)
{
	if (chance(m, 50))
		return random_conv2d(m, x);
	return chance(m, 60) ? random_max_pool(m, x) : random_avg_pool(m, x);
}

/* A convolution and a reader of its result, twice where the first is large enough. */
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
		if ((y = add_reader(m, x)) == 0)
			break;
		x = y;
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

typedef struct strip_counts {
	size_t pools, convolutions, kept; /* kept: rows, from a turn to the next */
} strip_counts;

/* Which kernels made rows for which. */
static void
count_strips(builder *b, const qn_plan *p, strip_counts *n)
{

	for (size_t i = 0; i < p->nstep; i++) {
		const qn_strip_of *s = p->step[i].strip;

		if (s == NULL)
			continue;
		const bool convolves = qn_graph_node(p->g, s->reader->core)->op == QN_OP_conv2d;
		n->pools += !convolves;
		n->convolutions += convolves;
		n->kept += s->windows.stride < s->windows.reach;
		print_message("%s with %s, %d at once\n",
			      qn_step_function(p->g, s->conv, &b->arena),
			      qn_step_function(p->g, s->reader, &b->arena), s->windows.at_once);
	}
}

/* Most of the joins that there can be, with some rows at once. */
static const int32_t *
random_joins(builder *b, const qn_plan *p)
{
	int32_t *join = QN_NEW(&b->arena, int32_t, p->g->n);
	maker m = {.b = b};

	qn_strips_find(p, true, join, QN_NEW(&b->arena, bool, p->g->n), &b->arena);
	for (qn_id core = 1; core < p->g->n; core++)
		if (join[core] > 0)
			join[core] = chance(&m, 90) ? (int32_t)pick(&m, 1, join[core] / 2 + 1) : 0;
	return join;
}

static void
test_random(void **state)
{
	const size_t ntarget = e2e_target_cc() != NULL ? 1 : QN_COUNT(targets);
	const char *full = getenv("QUERN_FULL");
	const uint64_t nets = full != NULL && strcmp(full, "1") == 0 ? FULL_NETS : NETS;
	strip_counts n = {0};

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
			build_check(&b, qn_plan_strips(plan, random_joins(&b, plan), &b.arena,
						       &strips) == QN_OK);
			count_strips(&b, strips, &n);
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
	print_message("%zu pools and %zu convolutions, %zu of them keep rows\n", n.pools,
		      n.convolutions, n.kept);
	assert_true(n.pools >= 2 * ntarget && n.convolutions >= 2 * ntarget && n.kept >= ntarget);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
