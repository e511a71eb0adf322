/* SPDX-License-Identifier: Apache-2.0 */
/* test_pattern_dominators.c - patterns that are dominators: what they match, also in random graphs. */
#include "tests/unit/pattern_rows.h"

#include "patterns/memo.h"

static void
test_dominators(void **state)
{
	static const char head[] = "graph @main(%x: tensor<1x4x4x2xf32>, %w: tensor<2x1x1x2xf32>, "
				   "%v: tensor<2xf32>) {\n"
				   "  %c = conv2d %x, %w\n  %k = const : tensor<2xf32> splat 2.0\n";
	static const struct {
		const char *body, *pattern, *bindings;
		uint32_t flags;
	} rows[] = {
		{"%r = relu %c  %s = relu %c  %a = add %r, %s  return %a",
		 "c=conv2d(*, *) ~ p=relu(*) ~> a=add(*, *)", "a=a p=r c=c p=s", 0},
		{"%d = conv2d %x, %w  %r = relu %c  %s = relu %d  %a = add %r, %s  return %a",
		 "conv2d(*, *) ~ relu(*) ~> add(*, *)", NULL, 0},
		{"%r = relu %c  %a = add %c, %r  return %a",
		 "c=conv2d(*, *) ~ relu(*) ~> add(*, *)", "c=c", 0},
		{"%t = tanh %c  %d = conv2d %t, %w  %r = relu %c  %a = add %d, %r  return %a",
		 "conv2d(*, *) ~ relu(*) ~> add(*, *)", NULL, 0},
		{"%r = relu %x  %a = add %r, %r  return %a", "conv2d(*, *) ~ relu(*) ~> add(*, *)",
		 NULL, 0},
		/* constants and inputs stand beside the path, of the child too */
		{"%r = relu %c  %p = add %r, %k  %q = relu %p  %a = relu6 %q  return %a",
		 "conv2d(*, *) ~ p=(relu(*) | add(*, const)) ~> relu6(*)", "p=q p=p p=r", 0},
		{"%r = relu %c  %p = add %r, %k  %q = relu %p  %a = relu6 %q  return %a",
		 "conv2d(*, *) ~ (relu(*) | add(*, const)) ~> relu6(*)", NULL,
		 QN_MATCH_NO_PATH_CONST},
		{"%r = relu %c  %a = add %r, %k  return %a",
		 "c=conv2d(*, *) ~ p=relu(*) ~> a=add(*, const)", "a=a p=r c=c", 0},
		{"%r = relu %c  %a = add %r, %k  return %a",
		 "conv2d(*, *) ~ relu(*) ~> add(*, const)", NULL, QN_MATCH_NO_PATH_CONST},
		{"%b = bias_add %c, %v  %r = relu %b  %a = reshape %r {shape=[32]}  return %a",
		 "c=conv2d(*, *) ~ p=(bias_add(*, *) | relu(*)) ~> reshape(*)", "p=r p=b c=c", 0},
		{"%b = bias_add %c, %v  %r = relu %b  %a = reshape %r {shape=[32]}  return %a",
		 "conv2d(*, *) ~ (bias_add(*, *) | relu(*)) ~> reshape(*)", NULL,
		 QN_MATCH_NO_PATH_CONST},
		{"%r = relu %c  %p = add %r, %v  %a = add %p, %v  return %a",
		 "c=conv2d(*, *) ~ p=(relu(*) | add(*, *)) ~> add(*, *)", "p=p p=r c=c", 0},
		/* nothing but these: no way to a parent */
		{"%r = add %v, %k  %a = relu %r  return %a", "conv2d(*, *) ~ add(*, *) ~> relu(*)",
		 NULL, 0},
		{"%a = relu %x  return %a", "input ~> relu(*)", NULL, 0},
		{"%a = relu %x  return %a", "i=input ~> relu(*)", "i=x", QN_MATCH_NO_PATH_CONST},
		/* fields of a tuple count: it is no call */
		{"%r = relu %c  %t = tuple %r, %k  %a = get %t {index=0}  return %a",
		 "conv2d(*, *) ~ (relu(*) | tuple(*, *)) ~> get(*)", NULL, 0},
		/* the parent leads out by another way */
		{"%r = relu %c  %a = relu6 %r  return %a, %c", "conv2d(*, *) ~ relu(*) ~> relu6(*)",
		 NULL, 0},
		{"%r = relu %c  %a = relu6 %r  return %a, %r", "conv2d(*, *) ~ relu(*) ~> relu6(*)",
		 NULL, 0},
		/* the first value that may be the parent is not where all ways meet; greedy stays at it */
		{"%t = tanh %c  %r = relu %t  %a = add %r, %t  return %a",
		 "t=(tanh(*) | relu(*)) ~ p=relu(*) ~> add(*, *)", "p=r t=t", 0},
		{"%t = tanh %c  %r = relu %t  %a = add %r, %t  return %a",
		 "(tanh(*) | relu(*)) ~ relu(*) ~> add(*, *)", NULL, QN_MATCH_GREEDY},
		/* any path; a parent that is the child; a diamond of diamonds */
		{"%r = relu %c  %t = tanh %r  %a = add %r, %t  return %a",
		 "c=conv2d(*, *) ~> add(*, *)", "c=c", 0},
		{"%a = relu %c  return %a", "a=relu(*) ~ relu(*) ~> relu(*)", NULL, 0},
		{"%r = relu %c  %a = add %r, %r  %b = add %a, %a  %d = add %b, %b  return %d",
		 "c=conv2d(*, *) ~ p=(relu(*) | add(*, *)) ~> add(*, *)", "p=b p=a p=r c=c", 0},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_buf b;

		qn_buf_init(&b, &rg->arena);
		qn_buff(&b, "%s%s }", head, rows[i].body);
		read_model(qn_buf_str(&b));
		run_rows(&(row){rows[i].pattern, qn_graph_node(rg->g, rg->g->output[0].value)->name,
				rows[i].bindings, rows[i].flags},
			 1);
	}
}

/* Every way from b to the outputs, tried one by one. */
static bool
leads_through(const qn_graph *g, qn_id a, qn_id b)
{
	bool reached[64] = {0}; /* from b without a */

	reached[b] = true;
	for (qn_id id = b + 1; id < g->n; id++)
		for (uint32_t i = 0; i < qn_graph_node(g, id)->nin; i++)
			reached[id] =
				reached[id] || (reached[qn_graph_node(g, id)->in[i]] && id != a);
	for (size_t i = 0; i < g->noutput; i++)
		if (reached[g->output[i].value])
			return false;
	return true;
}

static void
test_dominators_of_random_graphs(void **state)
{
	enum { NODES = 40 };

	(void)state;
	for (uint64_t seed = 1; seed < 200; seed++) {
		uint64_t s = seed * UINT64_C(0x9E3779B97F4A7C15);
		qn_index ix;

		rg->g = qn_graph_new(&rg->m, "g");
		(void)qn_graph_input(rg->g, "x", type("tensor<4xf32>"));
		for (qn_id id = 2; id < NODES; id++) {
			qn_id in[2];

			for (int i = 0; i < 2; i++) {
				s = s * UINT64_C(6364136223846793005) + 1442695040888963407u;
				in[i] = id - 1 - (qn_id)(s >> 40) % (id - 1 < 6 ? id - 1 : 6);
			}
			assert_int_equal(qn_graph_op(rg->g, QN_OP_add, NULL, 2, in, NULL, NULL),
					 id);
		}
		qn_graph_output(rg->g, "y", NODES - 1);
		qn_graph_output(rg->g, "z", NODES - 1 - (qn_id)(seed % 5));
		qn_index_init(&ix, &rg->arena, rg->g);
		for (qn_id a = 1; a < NODES; a++)
			for (qn_id b = 1; b < NODES; b++)
				if (ix.live[a] && ix.live[b])
					assert_int_equal(qn_index_dominates(&ix, a, b),
							 a != b && leads_through(rg->g, a, b));
	}
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_dominators),
		TEST(test_dominators_of_random_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
