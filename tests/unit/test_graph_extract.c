/* SPDX-License-Identifier: Apache-2.0 */
/* test_graph_extract.c - a part of a graph by itself, with symbols and with their values. */
#include "tests/unit/graph_fixture.h"

static const char text[] = "model \"m\" stage symbolic\n"
			   "symbol $a : asym = 0.5:3\n"
			   "symbol $b : sym\n"
			   "graph @main(%x: tensor<1x4xf32>, %z: tensor<1x4xf32>) {\n"
			   "  %w = const : tensor<4xf32> [1.0, 2.0, 3.0, 4.0]\n"
			   "  %q = quantize %x : tensor<1x4x!quant.uniform<i8:f32, $a:$a>>\n"
			   "  %r = relu %q\n"
			   "  %d = dequantize %r\n"
			   "  %s = bias_add %d, %w\n"
			   "  %t = quantize %s : tensor<1x4x!quant.uniform<i8:f32, $b>>\n"
			   "  %u = dequantize %t\n"
			   "  return %u\n"
			   "}\n";

static const qn_graph *
source(fixture *f)
{
	assert_int_equal(qn_model_parse(&f->m, "m.qir", text, sizeof text - 1), QN_OK);
	return qn_model_entry(&f->m);
}

static qn_status
extract(fixture *f, const char *from, const char *to, bool bind, qn_graph **part)
{
	const qn_graph *g = qn_model_entry(&f->m);
	const qn_id in = qn_graph_find(g, from), out = qn_graph_find(g, to);

	return qn_graph_extract(g, 1, &in, 1, &out, bind, &f->arena, part);
}

static void
check_text(fixture *f, const qn_graph *g, const char *want)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_graph_print(&b, g);
	assert_string_equal(qn_buf_str(&b), want);
}

static void
test_part(void **state)
{
	fixture *f = *state;
	qn_graph *part;

	(void)source(f);
	assert_int_equal(extract(f, "q", "s", false, &part), QN_OK);
	check_text(f, part,
		   "graph @main(%q: tensor<1x4x!quant.uniform<i8:f32, $a:$a>>) {\n"
		   "  %w = const : tensor<4xf32> [1.0, 2.0, 3.0, 4.0]\n"
		   "  %r = relu %q : tensor<1x4x!quant.uniform<i8:f32, $a:$a>>\n"
		   "  %d = dequantize %r : tensor<1x4xf32>\n"
		   "  %s = bias_add %d, %w : tensor<1x4xf32>\n"
		   "  return %s\n"
		   "}\n");
	/* A value by itself is a part, too. */
	assert_int_equal(extract(f, "s", "s", false, &part), QN_OK);
	check_text(f, part, "graph @main(%s: tensor<1x4xf32>) {\n  return %s\n}\n");
}

static void
test_bound(void **state)
{
	fixture *f = *state;
	qn_graph *part;

	(void)source(f);
	assert_int_equal(extract(f, "x", "r", true, &part), QN_OK);
	check_text(f, part,
		   "graph @main(%x: tensor<1x4xf32>) {\n"
		   "  %q = quantize %x : tensor<1x4x!quant.uniform<i8:f32, 5.000000e-01:3>>\n"
		   "  %r = relu %q : tensor<1x4x!quant.uniform<i8:f32, 5.000000e-01:3>>\n"
		   "  return %r\n"
		   "}\n");
	assert_int_equal(f->diags.n, 0);
	/* The way to %u passes a symbol without a value. */
	assert_int_equal(extract(f, "x", "u", true, &part), QN_EINVALID);
	assert_string_equal(f->diags.item[0].id, "scale.unbound");
	assert_non_null(strstr(f->diags.item[0].message, "$b"));
}

static void
test_whole(void **state)
{
	fixture *f = *state;
	const qn_graph *g = source(f);
	qn_graph *copy;

	assert_int_equal(qn_graph_bind(g, &f->arena, &copy), QN_EINVALID);
	const double scale = 0.25;
	assert_int_equal(qn_symbol_bind(&f->m.types, "", "b", 1, &scale, NULL), QN_OK);
	assert_int_equal(qn_graph_bind(g, &f->arena, &copy), QN_OK);
	assert_int_equal(copy->n, g->n);
	assert_int_equal(copy->noutput, 1);
	assert_false(qn_elem_has_symbol(qn_graph_node(copy, qn_graph_find(copy, "t"))->type->elem));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_part, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bound, setup, teardown),
		cmocka_unit_test_setup_teardown(test_whole, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
