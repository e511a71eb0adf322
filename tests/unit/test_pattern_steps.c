/* SPDX-License-Identifier: Apache-2.0 */
/* test_pattern_steps.c - what the matcher keeps from value to value, and how many steps and how much depth a search
 * may take. */
#include "tests/unit/pattern_rows.h"

#include "patterns/memo.h"

/* ---- what is kept from root to root ---- */

static uint64_t
draw(uint64_t *s, uint64_t n)
{
	*s = *s * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (*s >> 33) % n;
}

/* relu, tanh and add of what came shortly before. */
static void
random_graph(uint64_t seed, int n)
{
	const float one = 1.0f;
	qn_id last[4], id;

	rg->g = qn_graph_new(&rg->m, "g");
	last[0] = qn_graph_input(rg->g, "x", type("tensor<4xf32>"));
	last[1] = qn_graph_const(rg->g, "k", qn_tensor_of(&rg->arena, type("tensor<f32>"), &one));
	last[2] = last[3] = last[0];
	for (int i = 0; i < n; i++) {
		static const qn_op op[] = {QN_OP_relu, QN_OP_relu, QN_OP_relu,
					   QN_OP_tanh, QN_OP_add,  QN_OP_add};
		const qn_op o = op[draw(&seed, QN_COUNT(op))];
		qn_id in[2] = {last[draw(&seed, 3) > 0 ? 2 + draw(&seed, 2) : 0],
			       last[draw(&seed, 4)]};

		id = qn_graph_op(rg->g, o, NULL, o == QN_OP_add ? 2 : 1, in, NULL, NULL);
		assert_int_not_equal(id, 0);
		last[0] = last[2];
		last[2] = last[3];
		last[3] = id;
	}
	qn_graph_output(rg->g, "y", last[3]);
	if (draw(&seed, 3) == 0)
		qn_graph_output(rg->g, "z", last[2]);
}

/* An answer that was kept names the same value for each part as the search does: the only one, or the first. */
static void
check_first(const qn_pattern *p, bool is, const qn_match *kept, const qn_match *searched,
	    uint64_t seed, const char *text)
{
	size_t n;
	const qn_memo_count *count = qn_memo_counts(&rg->arena, &p->pat, &n);

	assert_true(n <= QN_MAX_SLOTS);
	for (size_t k = 0; is && k < n; k++)
		if (count[k] != QN_MEMO_ON_PATH && kept->at[k] != searched->at[k])
			fail_msg("seed %d, %s: part %zu is %u, not %u", (int)seed, text, k,
				 kept->at[k], searched->at[k]);
}

static void
compare(const char *text, uint64_t seed, uint32_t flags, size_t *found)
{
	qn_pattern *p = read_pattern(new_set(), text);
	qn_matcher *asks = qn_matcher_new(&rg->arena, flags);
	qn_matcher *binds = qn_matcher_new(&rg->arena, flags);

	for (qn_id id = rg->g->n - 1; id > 0; id--) {
		qn_matcher *plain = qn_matcher_new(&rg->arena, flags | QN_MATCH_FORGET);
		qn_match m, few;
		const bool is = qn_match_at(plain, rg->g, &p->pat, id, &m);
		const char *want = is ? bindings_of(&m) : NULL;

		assert_false(qn_matcher_exhausted(plain));
		if (qn_match_is(asks, rg->g, &p->pat, id, &few) != is)
			fail_msg("seed %d, %s at %u: %sa match", (int)seed, text, id,
				 is ? "" : "not ");
		check_first(p, is, &few, &m, seed, text);
		const char *got =
			qn_match_at(binds, rg->g, &p->pat, id, &m) ? bindings_of(&m) : NULL;
		if (!same_text(got, want))
			fail_msg("seed %d, %s at %u: %s, not %s", (int)seed, text, id,
				 got != NULL ? got : "no", want != NULL ? want : "no");
		*found += is;
	}
}

/* One matcher that is asked at all values answers and binds as one that forgets. */
static void
test_kept_answers(void **state)
{
	static const char *const patterns[] = {
		"R=relu(R | tanh(*))",
		"R=relu(R | t=tanh(y))",
		"R=(relu(R) | add(R, const) | add(R, R) | tanh(*))",
		"R=add(R | x=tanh(*), w)",
		"R=add(w, R | x=relu(*))",
		"add(R=relu(R | t=tanh(*)), *)",
		"add(R=relu(R | t=tanh(*)), relu(R | *))",
		"t=tanh(*) ~ relu(*) ~> relu(*)",
		"t=tanh(*) ~ p=(relu(*) | add(*, *)) ~> add(*, *)",
		"t=tanh(y) ~ (relu(*) | add(*, *)) ~> add(*, y)",
		"t=tanh(*) ~ (relu(*) | add(*, y)) ~> add(*, y)",
		"t=(tanh(*) | relu(*)) ~ (relu(*) | add(*, *)) ~> (relu(*) | add(*, *))",
		"add(t=tanh(*) ~ p=relu(*) ~> relu(*), p)",
		"add(t=tanh(*) ~ relu(*) ~> relu(*), t)",
		"t=tanh(*) ~> add(*, *)",
		"* ~ relu(*) ~> relu(*)",
		"t=tanh(*) ~ (relu(*) | (u=relu(*) ~ add(*, *) ~> relu(*))) ~> add(*, *)",
		"S=(S | relu(S | tanh(*)))",
	};
	size_t found[QN_COUNT(patterns)] = {0};

	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		random_graph(seed * UINT64_C(0x9E3779B97F4A7C15), 24);
		for (size_t i = 0; i < QN_COUNT(patterns); i++)
			compare(patterns[i], seed, seed % 5 == 0 ? QN_MATCH_NO_PATH_CONST : 0,
				&found[i]);
	}
	for (size_t i = 0; i < QN_COUNT(patterns); i++)
		if (found[i] == 0)
			print_message("%s matched nowhere\n", patterns[i]);
}

/* tanh, then `n` relus; with `blocks` every third is the sum of the two before. */
static void
chain(int n, bool blocks)
{
	fresh_graph();
	qn_id x = qn_graph_input(rg->g, "x", type("tensor<4xf32>")), before = 0;
	x = op1(QN_OP_tanh, x, NULL, NULL);
	for (int i = 0; i < n; i++) {
		const qn_id in[2] = {x, before};
		const bool sum = blocks && i % 3 == 2;

		before = x;
		x = op(sum ? QN_OP_add : QN_OP_relu, sum ? 2 : 1, in, NULL, NULL);
	}
	output(x);
}

/* A matcher that is asked at all values looks at each a few times, whatever lies above it. */
static void
test_steps(void **state)
{
	enum { N = 600 };
	static const struct {
		const char *text;
		bool blocks;
		uint32_t count;
		uint64_t most; /* steps for each value */
	} rows[] = {
		{"R=relu(R | tanh(*))", false, N, 7},
		{"relu(R=relu(R | t=tanh(*)))", false, N - 1, 8},
		{"R=relu(R | sigmoid(*))", false, 0, 6},
		{"R=(relu(R) | add(R, *) | tanh(*))", true, N + 1, 7},
		{"t=tanh(*) ~ relu(*) ~> relu(*)", false, N, 13},
		{"t=tanh(*) ~ p=relu(*) ~> c=relu(*)", false, N, 17},
		{"sigmoid(*) ~ relu(*) ~> relu(*)", false, 0, 12},
		{"t=tanh(*) ~ (relu(*) | add(*, *)) ~> add(*, *)", true, N / 3, 22},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_pattern *p = read_pattern(new_set(), rows[i].text);
		qn_matcher *s = qn_matcher_new(&rg->arena, 0);
		uint32_t count = 0;
		qn_match m;

		chain(N, rows[i].blocks);
		for (qn_id id = rg->g->n - 1; id > 0; id--)
			count += qn_match_is(s, rg->g, &p->pat, id, &m);
		if (count != rows[i].count || s->spent > rows[i].most * N)
			fail_msg("%s: %u matches, %llu steps", rows[i].text, count,
				 (unsigned long long)s->spent);
	}
}

/* One matcher looks at graphs of equal size in turn, and at one that has grown. */
static void
test_several_graphs(void **state)
{
	static const char text[] = "graph @other(%p: tensor<4xf32>, %q: tensor<4xf32>) {\n"
				   "  %s = add %p, %q\n  %t = add %p, %q\n  return %s, %t\n}\n"
				   "graph @main(%p: tensor<4xf32>, %q: tensor<4xf32>) {\n"
				   "  %s = add %p, %q\n  %t = add %q, %p\n  return %s, %t\n}\n";
	qn_matcher *s = qn_matcher_new(&rg->arena, 0);
	qn_match m;

	(void)state;
	read_model(text);
	const qn_pattern *p = read_pattern(new_set(), "expr(%s)");
	const qn_graph *other = qn_model_graph(&rg->m, "other");
	for (int turn = 0; turn < 2; turn++) {
		assert_false(qn_match_at(s, rg->g, &p->pat, qn_graph_find(rg->g, "t"), &m));
		assert_true(qn_match_at(s, other, &p->pat, qn_graph_find(other, "t"), &m));
	}
	const qn_id in[2] = {qn_graph_find(rg->g, "p"), qn_graph_find(rg->g, "q")};
	const qn_id again = op(QN_OP_add, 2, in, NULL, NULL);
	assert_true(qn_match_at(s, rg->g, &p->pat, again, &m));
}

/* ---- limits ---- */

/* A pattern of its own kind over 100000 nodes needs no stack. */
static void
test_depth(void **state)
{
	enum { DEPTH = 100000 };
	qn_pattern *p = read_pattern(new_set(), "R=relu(R | %x)");
	qn_match m;

	(void)state;
	rg->g = qn_graph_new(&rg->m, "g");
	qn_id id = qn_graph_input(rg->g, "x", type("tensor<4xf32>"));
	for (int i = 0; i < DEPTH; i++)
		id = qn_graph_op(rg->g, QN_OP_relu, NULL, 1, &id, NULL, NULL);
	qn_graph_output(rg->g, "y", id);
	assert_true(qn_match_at(qn_matcher_new(&rg->arena, 0), rg->g, &p->pat, id, &m));
	assert_int_equal(m.nbound, DEPTH + 1); /* R at each, and the input */
	/* a pattern of 100000 parts, made by hand */
	qn_patterns *set = new_set();
	qn_pattern *deep = qn_build_any(set);
	for (int i = 0; i < DEPTH; i++)
		deep = qn_build_call(set, qn_build_op(set, "relu"), 1, &deep);
	assert_true(qn_match_at(qn_matcher_new(&rg->arena, 0), rg->g, &deep->pat, id, &m));
	qn_buf b;
	qn_buf_init(&b, &rg->arena);
	assert_int_equal(qn_patterns_print(&b, deep), QN_EUSAGE);
	assert_string_equal(rg->diags.item[0].id, "pattern.depth");
}

/* Swapped operands at 40 levels are 2^40 ways to fail. */
static void
test_step_limit(void **state)
{
	qn_buf b;
	qn_match m;

	(void)state;
	rg->g = qn_graph_new(&rg->m, "g");
	qn_id x = qn_graph_input(rg->g, "x", type("tensor<4xf32>")), in[2];
	qn_id id = x;
	qn_buf_init(&b, &rg->arena);
	for (int i = 0; i < 40; i++) {
		in[0] = id;
		in[1] = qn_graph_op(rg->g, QN_OP_relu, NULL, 1, &x, NULL, NULL);
		id = qn_graph_op(rg->g, QN_OP_add, NULL, 2, in, NULL, NULL);
		qn_buf_puts(&b, "add(*, ");
	}
	qn_buf_puts(&b, "const");
	for (int i = 0; i < 40; i++)
		qn_buf_putc(&b, ')');
	qn_pattern *p = read_pattern(new_set(), qn_buf_str(&b));
	qn_matcher *s = qn_matcher_new(&rg->arena, 0);
	assert_false(qn_match_at(s, rg->g, &p->pat, id, &m));
	assert_false(qn_matcher_exhausted(s)); /* a relu is soon seen not to be an add */
	p = read_pattern(
		new_set(),
		"add(add(add(add(add(add(add(add(add(add(add(add(add(add(add(add(add(add("
		"add(add(add(add(*, *), *), *), *), *), *), *), *), *), *), *), *), *), *), "
		"*), *), *), *), *), *), *), const)");
	qn_matcher_set_limit(s, 10000);
	assert_false(qn_match_at(s, rg->g, &p->pat, id, &m));
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_kept_answers), TEST(test_steps),      TEST(test_several_graphs),
		TEST(test_depth),        TEST(test_step_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
