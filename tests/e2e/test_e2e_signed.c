/* SPDX-License-Identifier: Apache-2.0 */
/* Values of u8 that are stored as i8 give the same outputs: random graphs of u8 before and after, on
 * inputs that reach the least and the largest value; some with kernels that know i8 alone. */
#include "tests/e2e/e2e.h"

#include "codegen/inline.h"
#include "codegen/signed.h"
#include "ir/loops.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/random_graph.h"

enum { SEEDS = 600, SAMPLES = 6 };

static const char *const targets[2] = {"cortex-m4", "x86-64-avx2"};

/* For one of the targets, or for the one that the tests were given; whether it has steps for it. */
static bool
emit(builder *b, const char *target)
{
	if (e2e_target_cc() == NULL)
		return e2e_check_portable(b, target, 2);
	e2e_check(b, 2);
	return true;
}

/* Whether the graph was changed; *kept: values that are u8 still; emitted: how often, by target. */
static bool
check_seed(uint64_t seed, size_t emitted[2], size_t *kept, bool *seen)
{
	size_t before, after;
	const qn_graph *flat = NULL, *to = NULL;
	builder b;

	random_graph_build_of(&b, seed, QN_PLAIN_u8);
	build_check(&b, qn_graph_inline(b.g, &b.arena, &flat) == QN_OK &&
				qn_graph_signed(flat, &b.arena, &to) == QN_OK);
	const bool changed = to != flat;
	build_check(&b, qn_loops_prepare(to, &b.arena, &to) == QN_OK);
	const uint8_t *want = outputs_of(&b, b.g, seed, SAMPLES, &before);
	const uint8_t *have = outputs_of(&b, to, seed, SAMPLES, &after);
	if (before != after || memcmp(want, have, before) != 0)
		fail_msg("seed %llu: the outputs differ", (unsigned long long)seed);
	for (qn_id id = 1; changed && id < to->n; id++) {
		const qn_node *n = qn_graph_node(to, id);

		if (n->op == QN_OP_input || n->type->is_tuple)
			continue;
		if (n->type->elem->kind == QN_ELEM_UNIFORM && n->type->elem->plain == QN_PLAIN_u8)
			(*kept)++;
		else
			seen[n->op] = true;
	}
	if (changed && qn_model_entry(&b.model) == NULL)
		qn_model_add_graph(&b.model, b.g);
	for (size_t i = 0; changed && i < 2; i++)
		if (emitted[i] < 3 && emit(&b, targets[i]))
			emitted[i]++;
	build_end(&b);
	return changed;
}

static void
test_random(void **state)
{
	size_t changed = 0, kept = 0, emitted[2] = {0};
	bool seen[QN_NOP] = {false};

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		changed += check_seed(seed, emitted, &kept, seen);
	print_message("%zu of %d graphs have sums of products; %zu values stay u8\n", changed,
		      SEEDS, kept);
	assert_true(changed > SEEDS / 10 && kept > 0);
	assert_true(emitted[0] == 3 && emitted[1] == 3);
	assert_true(seen[QN_OP_conv2d] && seen[QN_OP_add] && seen[QN_OP_pad]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
