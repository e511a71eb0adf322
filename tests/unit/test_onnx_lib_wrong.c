/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_lib_wrong.c - compositions that are wrong, as a text or for a node, with the place of what is wrong; and
 * short ones that would compute without end. */
#include "tests/unit/onnx_lib_rig.h"

#include <stdio.h>
#include <stdlib.h>

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
		{"graph @a(%x) {n: int = const : tensor<1xf32> splat 1} { return %x }", "lib.type",
		 "acme.qir:1:32", "a default is a number"},
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_refused),
		TEST(test_node_refused),
		TEST(test_hostile),
		TEST(test_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
