/* SPDX-License-Identifier: Apache-2.0 */
/* test_json_read.c - reading models as JSON: the order of nodes, long chains, keys that are ignored, what partition left. */
#define _POSIX_C_SOURCE 200809L

#include "tests/unit/json_models.h"

#define HEAD                                                                                       \
	"{\"quern\": 1, \"graph\": {\"inputs\": [{\"name\": \"x\", \"type\": "                     \
	"\"tensor<1x4xf32>\"}], "
#define OUT ", \"outputs\": [\"y\"]}}"

static void
order_of_nodes(void **state)
{
	fixture *f = *state;
	const char *s =
		HEAD "\"nodes\": [{\"name\": \"y\", \"op\": \"add\", \"inputs\": [\"b\", \"a\"]}, "
		     "{\"name\": \"a\", \"op\": \"relu\", \"inputs\": [\"x\"]}, "
		     "{\"name\": \"b\", \"op\": \"relu6\", \"inputs\": [\"a\"]}]" OUT;
	const qn_model *m = from_json(f, s, strlen(s), NULL);
	const qn_graph *g = qn_model_entry(m);

	assert_int_equal(g->n, 5);
	assert_string_equal(qn_graph_node(g, 2)->name, "a");
	assert_string_equal(qn_graph_node(g, 3)->name, "b");
	assert_string_equal(qn_graph_node(g, 4)->name, "y");
	assert_string_equal(qn_graph_node(g, 4)->place, "x.json:/graph/nodes/0");
	assert_string_equal(g->name, "main");
	assert_string_equal(g->output[0].name, "y");
	assert_string_equal(m->name, "none");
}

/* 50000 nodes in the reverse order: no deep recursion, no quadratic search. */
static void
long_chain(void **state)
{
	fixture *f = *state;
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_buf_puts(&b, HEAD "\"nodes\": [");
	for (int i = 50000; i > 0; i--)
		qn_buff(&b, "{\"name\": \"n%d\", \"op\": \"relu\", \"inputs\": [\"%c%d\"]},\n", i,
			i > 1 ? 'n' : 'm', i - 1);
	qn_buf_puts(&b, "{\"name\": \"m0\", \"op\": \"relu\", \"inputs\": [\"x\"]}], \"outputs\": "
			"[\"n50000\"]}}");
	const qn_model *m = from_json(f, b.data, b.n, NULL);
	assert_int_equal(qn_model_entry(m)->n, 50003);
}

static void
ignored_keys(void **state)
{
	fixture *f = *state;
	const char *s = "{\"quern\": 1, \"producer\": \"me\", \"_note\": [1], \"name\": \"n\", "
			"\"graph\": {\"_a\": 1, \"inputs\": "
			"[{\"name\": \"x\", \"type\": \"tensor<2xf32>\", \"_b\": 2}], \"nodes\": "
			"[{\"name\": \"y\", \"op\": \"clip\", "
			"\"inputs\": [\"x\"], \"attrs\": {\"min\": \"-inf\", \"max\": 6, \"_c\": "
			"3}, \"_d\": {}}], \"outputs\": "
			"[{\"name\": \"o\", \"value\": \"y\", \"_e\": 0}]}}";
	const qn_model *m = from_json(f, s, strlen(s), NULL);

	assert_string_equal(m->name, "n");
	assert_true(qn_graph_node(qn_model_entry(m), 2)->attr->clip.max == 6.0);
}

/* The pattern that made a composite; a constant after a node. */
static void
pattern_and_after(void **state)
{
	fixture *f = *state;
	const char *s = "{\"quern\": 1, \"functions\": [{\"name\": \"f\", \"pattern\": \"dense\", "
			"\"inputs\": [{\"name\": \"a\", "
			"\"type\": \"tensor<2xf32>\"}], \"constants\": {\"c2\": {\"type\": "
			"\"tensor<2xf32>\", \"data\": [1, 2], "
			"\"after\": \"r\"}, \"c1\": {\"type\": \"tensor<2xf32>\", \"data\": [3, "
			"4]}}, \"nodes\": [{\"name\": "
			"\"r\", \"op\": \"relu\", \"inputs\": [\"c1\"]}], \"outputs\": [\"r\", "
			"\"c2\"]}], \"graph\": {\"outputs\": []}}";
	const qn_model *m = from_json(f, s, strlen(s), NULL);
	const qn_graph *g = m->graph[0];

	assert_string_equal(g->pattern, "dense");
	assert_string_equal(qn_graph_node(g, 2)->name, "c1");
	assert_string_equal(qn_graph_node(g, 3)->name, "r");
	assert_string_equal(qn_graph_node(g, 4)->name, "c2");
	const char *json = json_text(f, m);
	assert_string_equal(json_text(f, from_json(f, json, strlen(json), NULL)), json);
	assert_non_null(strstr(json, "\"pattern\": \"dense\""));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(order_of_nodes),
		T(long_chain),
		T(ignored_keys),
		T(pattern_and_after),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
