/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_lib.c - the language of compositions (docs/compositions.md), each construct through a node of a custom
 * domain.  Values are computed by hand. */
#include "tests/unit/onnx_lib_rig.h"

#include <stdio.h>

/* y of x = 1, -2, 3, 4. */
static void
gives(const char *in, const char *text, const double *want, int64_t n)
{
	if (add(text) != QN_OK)
		fail_msg("%s: %s", rg->diags.item[0].place, rg->diags.item[0].message);
	node(in);
	import(13);
	near(want, run1(V(1, -2, 3, 4)), n, 1e-6);
	another_file();
}

static void
test_values(void **state)
{
	(void)state;
	/* nodes as in the text of graphs, nested, and by arithmetic */
	gives("x", OP("(%x)", "%a = relu %x  %b = add %a, %x  return %b"), V(2, -2, 6, 8), 4);
	gives("x", OP("(%x)", "return relu(%x) * 2 + (1 - %x) / 4"), V(2, 0.75, 5.5, 7.25), 4);
	gives("x", OP("(%x)", "return reshape(-%x) {shape = [%x.count]}"), V(-1, 2, -3, -4), 4);
	gives("x", OP("(%x)", "return @twice(%x)") "graph @twice(%v) { return %v + %v }",
	      V(2, -4, 6, 8), 4);
	/* several results, by lists and by tuples */
	gives("x",
	      OP("(%x)", "%s, %d = @both %x  %l, %r = split %s {axis = 1, sizes = [1, 1]}"
			 " return concat(%r, %l, %d) {axis = 1}") "graph @both(%v) { return %v * "
								  "2, %v - 1 }",
	      V(-4, 2, 0, -3, 8, 6, 2, 3), 8);
	/* a constant by its numbers, of one number, and of a list for each */
	gives("x", OP("(%x)", "%c = const : tensor<{%x.dim}xf32> [[1, 2], [3, 4]] return %x + %c"),
	      V(2, 0, 6, 8), 4);
	gives("x", OP("(%x)", "%c = const : tensor<2x1xf32> splat 0.5 return %x + %c"),
	      V(1.5, -1.5, 3.5, 4.5), 4);
	gives("x",
	      OP("(%x)", "%c = const : tensor<2x2xf32> [10 * i + j for i in 2 for j in [1, 2]]"
			 " return %x + %c"),
	      V(2, 0, 14, 16), 4);
	gives("x",
	      OP("(%x)", "%i = cast %x : tensor<{%x.dim}xi32>\n"
			 "return cast %i * 3 : tensor<2x2xf32>"),
	      V(3, -6, 9, 12), 4);
}

static void
test_optional(void **state)
{
	(void)state;
	gives("x,b", OP("(%x, %b?)", "return has %b ? %x + %b : -%x"), V(11, 18, 13, 24), 4);
	gives("x", OP("(%x, %b?)", "return has %b ? %x + %b : -%x"), V(-1, 2, -3, -4), 4);
	gives("x,x,x",
	      OP("(%all...)", "%s = %all[0] for i in range(1, len(%all)) {"
			      " %s = %s + %all[i] } return %s"),
	      V(3, -6, 9, 12), 4);
	/* an omitted input is not an operand of an op, either */
	gives("x", OP("(%x, %b?)", "%w = const : tensor<1x2xf32> [1, 1] return dense(%x, %w, %b)"),
	      V(-1, 7), 2);
}

static void
test_attributes(void **state)
{
	(void)state;
	onx_int(file, "n", 3);
	onx_real(file, "alpha", 0.5f);
	onx_list(file, "sizes", 2, (const int64_t[]){4, 5});
	onx_string(file, "mode", "sum");
	gives("x",
	      OP("(%x) {n: int, alpha: real = 1, sizes?: ints, mode: \"mean\" | \"sum\" = \"mean\","
		 " extra?: text, k: int = 7}",
		 "return mode == \"sum\" and not has extra"
		 " ? reduce_sum(%x) {axes = [1]} * alpha + (n + sizes[-1] + k) : %x"),
	      V(14.5, 18.5), 2);
	gives("x", OP("(%x) {k: real = 2}", "return %x * k"), V(2, -4, 6, 8), 4);
}

static void
test_statements(void **state)
{
	(void)state;
	gives("x",
	      OP("(%x)",
		 "ys = []\n"
		 "for i in %x.dim[0] {\n"
		 "  if i == 0 { ys = ys + [slice(%x) {begin = [i, 0], end = [i + 1, 2]}] }\n"
		 "  else if i < 5 { %z = slice(%x) {begin = [i, 0], end = [i + 1, 2]}"
		 " ys = [%z * 10] + ys }\n"
		 "  else { ys = none }\n"
		 "}\n"
		 "return concat(ys) {axis = 0}"),
	      V(30, 40, 1, -2), 4);
	/* what is not taken is not computed */
	gives("x", OP("(%x)", "if %x.rank == 3 { return matmul(%x, %x, %x) } return %x"),
	      V(1, -2, 3, 4), 4);
	gives("x", OP("(%x)", "return %x.rank == 2 or 1 / 0 == 0 ? %x : -%x"), V(1, -2, 3, 4), 4);
	gives("x", OP("(%x)", "for i in 3 { if i == 1 { return %x * i } } return %x * 9"),
	      V(1, -2, 3, 4), 4);
	/* a loop of the graph, and one of one step, which is none */
	gives("x",
	      OP("(%x)", "%i = loop {count = 2}\n"
			 "%r = loop_slice %x, %i {axis = 0}\n"
			 "%z = const : tensor<2xf32> 0\n"
			 "%s = loop_carry %z, %i\n"
			 "%n = %s + %r\n"
			 "%e = loop_end %i, %n\n"
			 "return loop_stack(%n, %e) {axis = 0, length = 2}"),
	      V(1, -2, 4, 2), 4);
}

static void
test_numbers(void **state)
{
	static const struct {
		const char *expression;
		double want;
	} rows[] = {
		{"7 / 2", 3},
		{"-7 / 2", -4},
		{"7.0 / 2", 3.5},
		{"1e3 - 2.5e-1", 999.75},
		{"mod(-7, 4)", 1},
		{"2 + 3 * 4 - 1", 13},
		{"min(3, 1, 2) + max(1, 2.5)", 3.5},
		{"floor(2.7) + ceil(2.1) + int(-1.9)", 4},
		{"sqrt(16) + abs(-3)", 7},
		{"sum([1, 2, 3]) + product([2, 5])", 16},
		{"len(range(3, 7)) + range(3)[2]", 6},
		{"reversed([1, 2, 3])[0] + len(repeat(0, 4))", 7},
		{"([1, 2] + [3, 4])[1:3][1]", 3},
		{"[1, 2, 3][:-1] == [1, 2] ? 5 : 6", 5},
		{"1 < 2 and 2 <= 2 and 3 > 2 and 3 >= 3 and 1 != 2 ? 1 : 0", 1},
		{"sum([i * j for i in 3 for j in [1, 10]])", 33},
		{"len([i for i in 0])", 0},
		{"%x.rank * 100 + %x.dim[-1] * 10 + %x.count", 224},
		{"%x.elem == \"f32\" ? 1 : 2", 1},
		{"%b.const + %x.const", 1},
		{"sum(%b.data)", 30},
		{"version", 1},
		{"results", 1},
		{"len(declared) * 10 + len(declared[0])", 10},
	};
	char text[512];

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		(void)snprintf(text, sizeof text,
			       OP("(%%x, %%b?)", "n = %s return %%x * 0.0 + real(n)"),
			       rows[i].expression);
		gives("x,b", text, V(rows[i].want, rows[i].want, rows[i].want, rows[i].want), 4);
	}
}

/* Every text of the library itself, read to its last branch. */
static void
test_library(void **state)
{
	(void)state;
	assert_int_equal(qn_lib_check(&rg->env, &rg->arena), QN_OK);
	no_errors();
}

/* Names and folding: nodes have the name of the model's node, constants are computed. */
static void
test_nodes(void **state)
{
	(void)state;
	assert_int_equal(add(OP("(%x, %b)", "%c = %b * 2 + 1 return %x + %c")), QN_OK);
	node("x,b");
	import(13);
	const qn_node *y = qn_graph_node(rg->g, rg->g->output[0].value);
	assert_int_equal(y->op, QN_OP_add);
	assert_non_null(strstr(y->place, "f.onnx: node 'y' (Op, version 1), acme.qir:2:"));
	assert_int_equal(qn_graph_node(rg->g, y->in[1])->op, QN_OP_const);
	GIVES(V(0, 0, 0, 0), 0, 21, 41, 21, 41);
	/* the same file once more is the same */
	assert_int_equal(add(OP("(%x, %b)", "%c = %b * 2 + 1 return %x + %c")), QN_OK);
	assert_int_equal(add(OP("(%x)", "return %x")), QN_EINVALID);
	qn_diags_clear(&rg->env, &rg->diags);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_values),     TEST(test_optional), TEST(test_attributes),
		TEST(test_statements), TEST(test_numbers),  TEST(test_library),
		TEST(test_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
