/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_lib.c - the language of compositions (docs/compositions.md), each construct through a node of a custom
 * domain: y = acme.Op(x [2,2], b) in operator set 13 of its own.  Values are computed by hand. */
#include "tests/unit/onnx_rig.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/lib.h"

static qn_status
add(const char *text)
{
	return qn_lib_add(&rg->env, &rg->arena, "acme.qir", text, strlen(text));
}

/* The node y = Op(in), attributes as onx_… gave them before. */
static void
node(const char *in)
{
	onx_input(file, "x", ONX_FLOAT, "2,2");
	onx_floats(file, "b", "2", (const float[]){10, 20});
	file->domain = "acme";
	onx_node(file, "Op", in, "y");
	file->domain = NULL;
	onx_output(file, "y");
}

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

#define OP(signature, body) "graph @op" signature " onnx \"acme\" \"Op\" {\n" body "\n}\n"

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

/* ---- what is wrong ---- */

/* What is found before any model is read. */
static void
test_refused(void **state)
{
	static const struct {
		const char *text, *id, *place, *message;
	} rows[] = {
		{"op", "lib.syntax", "acme.qir:1:1", "expected 'graph'"},
		{"graph @a(%x) { return %x", "lib.syntax", "acme.qir:1:25", "expected '}'"},
		{"graph @a(x) { return 1 }", "lib.syntax", "acme.qir:1:10", "expected '%'"},
		{"graph @a(%r..., %x) { return %x }", "lib.syntax", "acme.qir:1:19", "as the last"},
		{"graph @a(%x) {n: number} { return %x }", "lib.syntax", "acme.qir:1:18",
		 "expected int, real"},
		{"graph @a(%x) {n: int = 1.5} { return %x }", "lib.syntax", "acme.qir:1:27",
		 "another default"},
		{"graph @a(%x) {n: int, n: int} { return %x }", "lib.syntax", "acme.qir:1:29",
		 "twice"},
		{"graph @a(%x) {n: value = relu(1)} { return %x }", "lib.type", "acme.qir:1:33",
		 "without a value"},
		{"graph @a(%x) onnx \"A\" since 0 { return %x }", "lib.syntax", "acme.qir:1:31",
		 "version"},
		{"graph @a(%x) {\n  %y = relu %z\n  return %y }", "lib.name", "acme.qir:2:3",
		 "does not define '%z'"},
		{"graph @a(%x) { return n }", "lib.name", "acme.qir:1:16", "does not define 'n'"},
		{"graph @a(%x) { if 0 { %y = nosuch(%x) } return %x }", "op.unknown",
		 "acme.qir:1:23", "'nosuch'"},
		{"graph @a(%x) { return @b(%x) }", "lib.name", "acme.qir:1:16", "'@b'"},
		{"graph @a(%x) { return split(%x) {axes = 1} }", "lib.syntax", "acme.qir:1:39",
		 "an attribute of split"},
		{"graph @a(%x) { return split(%x) }", "attr.missing", "acme.qir:1:16", "'sizes'"},
		{"graph @a(%x) { return %x.size }", "lib.syntax", "acme.qir:1:31", "expected rank"},
		{"graph @a(%x) { x + 1 return %x }", "lib.syntax", "acme.qir:1:18", "expected '='"},
		{"graph @a(%x) { require 1, id, \"{nosuch}\" return %x }", "lib.name",
		 "acme.qir:1:16", "nosuch"},
		{"graph @a(%x) { require 1 return %x }", "lib.syntax", "acme.qir:1:26",
		 "expected ','"},
		{"graph @a(%x) { return min(1) }", "lib.type", "acme.qir:1:16", "min takes"},
		{"graph @a(%x) { return %x } graph @a(%x) { return %x }", "lib.name", "acme.qir",
		 "defined twice"},
		{"graph @a(%x) onnx \"s\" \"O\" { return %x }"
		 "graph @b(%x) onnx \"s\" \"O\" { return %x }",
		 "lib.operator", "acme.qir", "'O'"},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		assert_int_equal(add(rows[i].text), QN_EINVALID);
		const qn_diag *d = &rg->diags.item[0];
		if (rg->diags.n == 0 || strcmp(d->id, rows[i].id) != 0 ||
		    strcmp(d->place, rows[i].place) != 0 ||
		    strstr(d->message, rows[i].message) == NULL)
			fail_msg("row %zu: %s: %s [%s]", i, rg->diags.n > 0 ? d->place : "nothing",
				 d->message, d->id);
	}
}

/* A list of a list of … of two equal lists each, 60 deep. */
#define DOUBLED(name, item) name " = [" item "] for i in 60 { " name " = [" name ", " name "] } "

/* What only the model shows: the message has the node of the model and the place in the text. */
static void
test_node_refused(void **state)
{
	static const struct {
		const char *text, *id, *message, *place;
	} rows[] = {
		{OP("(%x)", "require %x.rank == 3, import.rank, \"rank {%x.rank}, not {1 + 2}\"\n"
			    "return %x"),
		 "import.rank", "rank 2, not 3 (acme.qir:2:", "node 'y' (Op"},
		{OP("(%x)", "return reshape(%x) {shape = [3]}"), "shape.reshape", "",
		 "acme.qir:2:"},
		{OP("(%x)", "return %x.dim[2]"), "lib.index", "index 2 of 2", "node 'y' (Op"},
		{OP("(%x)", "return 1 / 0"), "lib.range", "divided by 0", "node 'y' (Op"},
		{OP("(%x)", "return 9007199254740992 + 1"), "lib.range", "2^53", ""},
		{OP("(%x)", "return %x + \"a\""), "lib.type", "a text cannot be an operand", ""},
		{OP("(%x)", "%y = 3 return %y"), "lib.type", "%y is a value, not an integer", ""},
		{OP("(%x)", "return min(\"a\", 1)"), "lib.type", "min does not take a text", ""},
		{OP("(%x)", "return sum(%x.data)"), "import.constant", "'x' must be a constant",
		 ""},
		{OP("(%x)", "for i in 0.5 { y = i } return %x"), "lib.type", "a list or a count",
		 ""},
		{OP("(%x)", "y = %x"), "lib.return", "@op returns nothing", ""},
		{OP("(%x)", "return split(%x) {axis = \"a\", sizes = [2]}"), "attr.value", "'a'",
		 ""},
		{OP("(%x)", "%c = const : tensor<2xf32> [1] return %c"), "lib.type",
		 "do not fit its type", ""},
		{OP("(%x, %b)", "return %x"), "import.input", "%b, is missing", "node 'y' (Op"},
		{OP("()", "return const : tensor<1xf32> 1"), "import.input", "takes 0 inputs", ""},
		{OP("(%x) {n: int}", "return %x * n"), "import.attr", "'n' of @op is missing", ""},
		{OP("(%x)", "return @op(%x)"), "limit.nesting", "64 deep", ""},
		{OP("(%x)", "n = 0 for i in 9000000 { n = n + i } return %x"), "lib.work",
		 "compute too much", ""},
		{OP("(%x)", "return %x + len(range(9000000))"), "lib.work", "compute too much", ""},
		{OP("(%x)", "return 3"), "lib.type", "result 0 of @op is an integer", ""},
		{OP("(%x)", "return [%x]"), "lib.type", "result 0 of @op is a list", ""},
		/* lists of lists: few items, many paths to them */
		{OP("(%x)", DOUBLED("a", "1") DOUBLED("b", "1") "c = a == b return %x"), "lib.work",
		 "compute too much", ""},
		{OP("(%x)", DOUBLED("a", "1") "require 0, import.attr, \"{a}\" return %x"),
		 "import.attr", "[[[[", ""},
		{OP("(%x)", DOUBLED("a", "1") "return slice(%x) {begin = a, end = [1]}"),
		 "attr.value", "[[[[", ""},
		{OP("(%x)", DOUBLED("a", "") "%c = const : tensor<1xf32> a return %c"), "lib.type",
		 "do not fit its type", ""},
		{OP("(%x)", "a = [1] for i in 99 { a = [a] } c = a == a return %x"), "lib.nesting",
		 "lists are nested more than 64 deep", ""},
		{OP("(%x)",
		    "a = [1] for i in 99 { a = [a] } %c = const : tensor<1xf32> a return %c"),
		 "lib.type", "do not fit its type", ""},
		{OP("(%x)", "a = range(100000) for i in 4000000 { b = sum(a) } return %x"),
		 "lib.work", "compute too much", ""},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		assert_int_equal(add(rows[i].text), QN_OK);
		node("x");
		import_fails(13, rows[i].id, rows[i].message);
		if (rows[i].place[0] != '\0') {
			another_file();
			assert_int_equal(add(rows[i].text), QN_OK);
			node("x");
			import_fails(13, rows[i].id, rows[i].place);
		}
	}
	another_file(); /* one place, though the type is a text of its own */
	assert_int_equal(add(OP("(%x)", "n = 2 %c = const : tensor<{n}xq9> 1 return %c")), QN_OK);
	node("x");
	assert_int_not_equal(import_from(NULL, 13), QN_OK);
	assert_string_equal(rg->diags.item[0].id, "type.unknown");
	assert_string_equal(rg->diags.item[0].place, "acme.qir:2:7");
	another_file();
	onx_int(file, "m", 1);
	assert_int_equal(add(OP("(%x)", "return %x")), QN_OK);
	node("x");
	import_fails(13, "import.attr", "@op has no attribute 'm'");
	another_file();
	onx_string(file, "mode", "c");
	assert_int_equal(add(OP("(%x) {mode: \"a\" | \"b\"}", "return %x")), QN_OK);
	node("x");
	import_fails(13, "import.attr", "mode is 'c', which is not supported (expected a or b)");
}

/* Brackets without end, and what a few characters could make. */
static void
test_hostile(void **state)
{
	static const char *const begin[] = {"(", "[", "not ", "-", "relu(", "1 ? "};
	char text[4096];

	(void)state;
	for (size_t i = 0; i < QN_COUNT(begin); i++) {
		size_t n = (size_t)snprintf(text, sizeof text, "graph @a(%%x) { y = ");

		while (n < sizeof text - 16)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s", begin[i]);
		another_file();
		assert_int_equal(add(text), QN_EINVALID);
	}
	/* a text of a megabyte of one op each is one thing, one that doubles with each line another */
	size_t n = (size_t)snprintf(text, sizeof text, "%s",
				    "graph @op(%x) onnx \"acme\" \"Op\" { l = [1] ");
	for (int i = 0; i < 60; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "l = l + l ");
	(void)snprintf(text + n, sizeof text - n, "return %%x }");
	another_file();
	assert_int_equal(add(text), QN_OK);
	node("x");
	import_fails(13, "lib.work", "compute too much");
}

/* A megabyte of text that a loop reads again and again: a comment, a text, a name, one that is not computed. */
static void
test_read_again(void **state)
{
	enum { LONG = 1 << 20 };
	static const struct {
		const char *begin, *end;
		char fill;
	} rows[] = {{"#", "\n", 'x'},
		    {"a = \"", "\"", 'x'},
		    {"", " = 1", 'x'},
		    {"if 0 { a = \"", "\" }", 'x'},
		    {"require 1, import.attr, \"", "\"", 'x'},
		    {"l = [i for ", "j in 9]", ' '},
		    {"%y = @other(%x) } return %x } graph @other(%x) { if 1 {", "", ' '}};
	char *text = malloc(LONG + 512);

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		const int n = snprintf(
			text, 512, "graph @op(%%x) onnx \"acme\" \"Op\" { for i in 4000000 { %s",
			rows[i].begin);

		memset(text + n, rows[i].fill, LONG);
		(void)snprintf(text + n + LONG, 512 - (size_t)n, "%s } return %%x }\n",
			       rows[i].end);
		another_file();
		assert_int_equal(add(text), QN_OK);
		node("x");
		import_fails(13, "lib.work", "compute too much");
	}
	free(text);
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
		TEST(test_values),       TEST(test_optional),   TEST(test_attributes),
		TEST(test_statements),   TEST(test_numbers),    TEST(test_refused),
		TEST(test_node_refused), TEST(test_hostile),    TEST(test_library),
		TEST(test_nodes),        TEST(test_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
