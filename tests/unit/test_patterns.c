/* SPDX-License-Identifier: Apache-2.0 */
/* test_patterns.c - the matcher, partition, and the driver of local rules. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/run_util.h"

#include "patterns/pattern.h"
#include "patterns/quantizer.h"
#include "patterns/rewrite.h"

enum { A, B, C, D };

static void
parse(const char *text)
{
	qn_status status = qn_model_parse(&rg->m, "test", text, strlen(text));

	no_errors();
	assert_int_equal(status, QN_OK);
	rg->g = qn_model_entry(&rg->m);
}

static bool
matches(const qn_pat *p, const char *root, qn_match *m)
{
	return qn_match_at(qn_matcher_new(rg->m.arena, 0), rg->g, p, qn_graph_find(rg->g, root), m);
}

static const char ops[] = "graph @main(%x: tensor<4xf32>, %y: tensor<4xf32>) {\n"
			  "  %k = const : tensor<4xf32> splat 1.5\n"
			  "  %add = add %x, %y\n"
			  "  %addk = add %k, %x\n"
			  "  %mul = mul %y, %x\n"
			  "  %r = relu %add\n"
			  "  %rc = clip %add {min=0.0}\n"
			  "  %diamond = add %r, %rc\n"
			  "  %deep = mul %addk, %k\n"
			  "  return %diamond, %deep, %mul\n"
			  "}\n";

static void
test_match_table(void **state)
{
	qn_match m;

	(void)state;
	parse(ops);
	assert_true(matches(QN_P_ANY(A), "x", &m));
	assert_int_equal(m.at[A], qn_graph_find(rg->g, "x"));
	assert_true(matches(QN_P_CONST(A), "k", &m));
	assert_false(matches(QN_P_CONST(A), "x", &m));
	assert_true(matches(QN_P_OP(add, A, QN_P_ARGS(QN_P_ANY(B), QN_P_ANY(C))), "add", &m));
	assert_int_equal(m.at[B], qn_graph_find(rg->g, "x"));
	/* another op, another number of operands */
	assert_false(matches(QN_P_OP(mul, A, QN_P_ARGS(QN_P_ANY(B), QN_P_ANY(C))), "add", &m));
	assert_false(matches(QN_P_OP(add, A, QN_P_ARGS(QN_P_ANY(B))), "add", &m));
	assert_true(matches(QN_P_OPN(add, A), "add", &m));
	assert_true(matches(QN_P_CLASS(QN_SAME, A), "r", &m));
	assert_false(matches(QN_P_CLASS(QN_SAME, A), "add", &m));
	assert_true(matches(QN_P_ALT(QN_NO_SLOT, QN_P_ARGS(QN_P_OPN(mul, A), QN_P_OPN(add, B))),
			    "add", &m));
	assert_int_equal(m.at[A], 0);
	assert_int_equal(m.at[B], qn_graph_find(rg->g, "add"));
}

static void
test_match_commutes(void **state)
{
	qn_match m;

	(void)state;
	parse(ops);
	/* the constant stands first in add, last in mul */
	assert_true(matches(QN_P_OP(add, A, QN_P_ARGS(QN_P_ANY(B), QN_P_CONST(C))), "addk", &m));
	assert_int_equal(m.at[C], qn_graph_find(rg->g, "k"));
	assert_int_equal(m.at[B], qn_graph_find(rg->g, "x"));
	/* a failure below comes back to the swapped operands of both */
	assert_true(
		matches(QN_P_OP(mul, A,
				QN_P_ARGS(QN_P_CONST(B),
					  QN_P_OP(add, C, QN_P_ARGS(QN_P_ANY(D), QN_P_CONST(B))))),
			"deep", &m));
	assert_int_equal(m.at[D], qn_graph_find(rg->g, "x"));
}

static void
test_match_diamond(void **state)
{
	qn_match m;

	(void)state;
	parse(ops);
	/* one slot twice asks for the same value */
	assert_true(matches(QN_P_OP(add, A,
				    QN_P_ARGS(QN_P_OP(relu, B, QN_P_ARGS(QN_P_ANY(C))),
					      QN_P_OP(clip, D, QN_P_ARGS(QN_P_ANY(C))))),
			    "diamond", &m));
	assert_int_equal(m.at[C], qn_graph_find(rg->g, "add"));
	assert_false(matches(QN_P_OP(add, A, QN_P_ARGS(QN_P_ANY(B), QN_P_ANY(B))), "add", &m));
}

static uint32_t
count(qn_op kind)
{
	const qn_graph *g = qn_model_entry(&rg->m);
	uint32_t n = 0;

	for (qn_id id = 1; id < g->n; id++)
		n += qn_graph_node(g, id)->op == kind;
	return n;
}

static void
test_partition_longest_first(void **state)
{
	(void)state;
	parse("graph @main(%x: tensor<1x4xf32>) {\n"
	      "  %w = const : tensor<3x4xf32> rand 1\n"
	      "  %b = const : tensor<3xf32> rand 2\n"
	      "  %fc = dense %x, %w\n"
	      "  %y = bias_add %fc, %b\n"
	      "  return %y\n"
	      "}\n");
	assert_int_equal(qn_partition(&rg->m, &(qn_quant_opts){0}), QN_OK);
	no_errors();
	assert_int_equal(rg->m.ngraph, 2);
	assert_string_equal(rg->m.graph[0]->pattern, "dense_bias");
	assert_int_equal(count(QN_OP_call), 1);
	assert_int_equal(count(QN_OP_dense), 0);
}

static void
test_partition_leaves_shared_values(void **state)
{
	(void)state;
	/* the sum without its bias is used outside: the bias must stay out of the composite */
	parse("graph @main(%x: tensor<1x4xf32>) {\n"
	      "  %w = const : tensor<3x4xf32> rand 1\n"
	      "  %b = const : tensor<3xf32> rand 2\n"
	      "  %fc = dense %x, %w\n"
	      "  %y = bias_add %fc, %b\n"
	      "  return %y, %fc\n"
	      "}\n");
	assert_int_equal(qn_partition(&rg->m, &(qn_quant_opts){0}), QN_OK);
	assert_int_equal(rg->m.ngraph, 3);
	assert_string_equal(rg->m.graph[0]->pattern, "dense");
	assert_string_equal(rg->m.graph[1]->pattern, "mix");
}

static void
test_partition_says_why_not(void **state)
{
	(void)state;
	parse("graph @main(%x: tensor<1x4xf32>, %w: tensor<3x4xf32>) {\n"
	      "  %fc = dense %x, %w\n"
	      "  return %fc\n"
	      "}\n");
	assert_int_equal(qn_partition(&rg->m, &(qn_quant_opts){0}), QN_OK);
	assert_int_equal(rg->m.ngraph, 1);
	const qn_graph *g = qn_model_entry(&rg->m);
	const qn_facts *facts = qn_graph_node(g, qn_graph_find(g, "fc"))->facts;
	assert_non_null(facts);
	assert_false(facts->skipped);
	assert_non_null(strstr(facts->note, "weights are not an f32 constant"));
}

static void
test_quantize_symbols(void **state)
{
	(void)state;
	parse("graph @main(%x: tensor<1x4xf32>) {\n"
	      "  %w = const : tensor<3x4xf32> rand 1\n"
	      "  %b = const : tensor<3xf32> rand 2\n"
	      "  %fc = dense %x, %w\n"
	      "  %y = bias_add %fc, %b\n"
	      "  return %y\n"
	      "}\n");
	assert_int_equal(qn_partition(&rg->m, &(qn_quant_opts){0}), QN_OK);
	assert_int_equal(qn_quantize_model(&rg->m, &(qn_quant_opts){0}), QN_OK);
	no_errors();
	assert_int_equal(qn_model_verify(&rg->m), QN_OK);
	assert_int_equal(rg->m.stage, QN_STAGE_SYMBOLIC);
	/* input, data, weights, output; the bias derives its scale */
	assert_int_equal(rg->m.types.nsymbol, 4);
	assert_int_equal(qn_symbol_find(&rg->m.types, "fc.w")->len, 3);
	assert_int_equal(qn_symbol_find(&rg->m.types, "fc.w")->kind, QN_SYM_SYMMETRIC);
	assert_int_equal(qn_symbol_find(&rg->m.types, "fc.x")->kind, QN_SYM_ASYMMETRIC);
	assert_non_null(qn_symbol_find(&rg->m.types, "x.input"));
	assert_non_null(qn_symbol_find(&rg->m.types, "y.output"));
}

/* ---- local rules ---- */

static qn_id
drop_relu(qn_rw *rw, const qn_match *m)
{
	(void)rw;
	return m->at[B];
}

static qn_id
grow(qn_rw *rw, const qn_match *m)
{
	return qn_rw_add(rw, QN_OP_relu, NULL, 1, &m->root, NULL, NULL);
}

static void
test_rewrite_melts_chain(void **state)
{
	const qn_rule rule = {"drop",
			      QN_P_OP(relu, A, QN_P_ARGS(QN_P_OP(relu, B, QN_P_ARGS(QN_P_ANY(C))))),
			      drop_relu};
	qn_graph *out;

	(void)state;
	parse("graph @main(%x: tensor<4xf32>) {\n  %a = relu %x\n  %b = relu %a\n  %c = relu %b\n  "
	      "%d = relu %c\n  return %d as \"y\"\n}\n");
	assert_int_equal(qn_rewrite(&rg->m, rg->g, &rule, 1, NULL, &out), QN_OK);
	assert_int_equal(out->n, 3); /* the input and one relu */
	assert_string_equal(qn_graph_node(out, 2)->name, "a");
	assert_string_equal(out->output[0].name, "y");
}

static void
test_rewrite_shares_equal_nodes(void **state)
{
	qn_graph *out;

	(void)state;
	parse("graph @main(%x: tensor<4xf32>) {\n  %a = relu %x\n  %b = relu %x\n  %c = clip %x "
	      "{min=0.0}\n  %d = clip %x {min=1.0}\n  %s = add %a, %b\n"
	      "  %t = add %c, %d\n  %dead = relu6 %x\n  return %s, %t\n}\n");
	assert_int_equal(qn_rewrite(&rg->m, rg->g, NULL, 0, NULL, &out), QN_OK);
	assert_int_equal(out->n, 1 + 1 + 1 + 2 + 2); /* slot 0, x, one relu, two clips, two adds */
}

static void
test_rewrite_endless_rule(void **state)
{
	const qn_rule rule = {"grow", QN_P_OPN(relu, A), grow};
	qn_graph *out;
	char text[4096] = "graph @main(%x: tensor<4xf32>) {\n  %n0 = relu %x\n";

	/* so many nodes that the stack would be used up before the bound of added nodes ends it */
	(void)state;
	for (int i = 1; i < 100; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "  %%n%d = neg %%n%d\n",
			 i, i - 1);
	snprintf(text + strlen(text), sizeof text - strlen(text), "  return %%n99\n}\n");
	parse(text);
	assert_int_equal(qn_rewrite(&rg->m, rg->g, &rule, 1, NULL, &out), QN_EINTERNAL);
	assert_string_equal(rg->diags.item[0].id, "rewrite.endless");
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_match_table),
		TEST(test_match_commutes),
		TEST(test_match_diamond),
		TEST(test_partition_longest_first),
		TEST(test_partition_leaves_shared_values),
		TEST(test_partition_says_why_not),
		TEST(test_quantize_symbols),
		TEST(test_rewrite_melts_chain),
		TEST(test_rewrite_shares_equal_nodes),
		TEST(test_rewrite_endless_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
