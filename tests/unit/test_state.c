/* SPDX-License-Identifier: Apache-2.0 */
/* test_state.c - states through the public interface, their first values, and mistakes in JSON. */
#define _POSIX_C_SOURCE 200809L

#include "tests/unit/formats_fixture.h"

#include "formats/json_graph.h"
#include "quern/measure.h"

static const char cell[] = "model \"cell\" stage float\n"
			   "graph @main(%x: tensor<1x2xf32>, %h: tensor<1x2xf32>) {\n"
			   "  %n = add %x, %h\n"
			   "  %y = relu %n\n"
			   "  return %y, %n as \"next\"\n"
			   "}\n";

static qn_graph *
parse(fixture *f, const char *text)
{
	qn_model *m = new_model(f);

	assert_int_equal(qn_model_parse(m, "x", text, strlen(text)), QN_OK);
	assert_int_equal(qn_model_verify(m), QN_OK);
	return qn_model_entry(m);
}

static qn_model *
load(qn_ctx *ctx, const char *text, const char *tie)
{
	const char *const ties[] = {tie};
	qn_model *m = NULL;

	assert_int_equal(qn_file_add(ctx, "cell.qir", text, strlen(text)), QN_OK);
	assert_int_equal(qn_import(ctx, "cell.qir",
				   &(qn_import_opts){.size = sizeof(qn_import_opts),
						     .tie = ties,
						     .ntie = tie != NULL},
				   &m),
			 QN_OK);
	return m;
}

/* A running sum, over all samples and over sequences of two. */
static void
test_run(void **state)
{
	static const float x[6][2] = {{1, -1}, {2, -2}, {3, 5}, {4, 0}, {1, 1}, {1, -9}};
	static const float all[6][2] = {{1, 0}, {3, 0}, {6, 2}, {10, 2}, {11, 3}, {12, 0}};
	static const float pairs[6][2] = {{1, 0}, {3, 0}, {3, 5}, {7, 5}, {1, 1}, {2, 0}};
	const int64_t shape[2] = {6, 2};

	(void)state;
	for (int threads = 1; threads <= 3; threads++) {
		qn_ctx *ctx = qn_open(&(qn_config){.threads = threads});
		qn_model *m = load(ctx, cell, "next=h");
		const qn_model_info info = qn_model_describe(m);
		qn_array *in, *out;

		assert_int_equal(info.inputs, 1);
		assert_int_equal(info.outputs, 1);
		assert_int_equal(info.states, 1);
		assert_int_equal(info.state_bytes, 8);
		assert_string_equal(qn_model_state_name(m, 0), "h");
		assert_string_equal(qn_model_state_type(m, 0), "tensor<1x2xf32>");
		assert_null(qn_model_state_name(m, 1));
		assert_null(qn_model_input_name(m, 1));
		assert_null(qn_model_output_name(m, 1));
		assert_int_equal(qn_array_new(ctx, "f32", 2, shape, x, &in), QN_OK);
		assert_int_equal(qn_run(m, 1, &in, 0, 1, &out), QN_OK);
		assert_memory_equal(qn_array_data(out), all, sizeof all);
		qn_array_free(out);
		qn_set_sequence(ctx, 2);
		assert_int_equal(qn_run(m, 1, &in, 0, 1, &out), QN_OK);
		assert_memory_equal(qn_array_data(out), pairs, sizeof pairs);
		qn_set_sequence(ctx, 4);
		assert_int_equal(qn_run(m, 1, &in, 0, 1, &out), QN_EINVALID);
		assert_string_equal(qn_diag_get(ctx, 0).id, "data.sequence");
		qn_close(ctx);
	}
}

/* The first values of a quantized state, in its own type. */
static void
test_init(void **state)
{
	static const char text[] =
		"model \"m\" stage calibrated\n"
		"graph @main(%x: tensor<2x!quant.uniform<i8:f32, 0.5:-3>>,\n"
		"            %h: tensor<2x!quant.uniform<i8:f32, 0.5:-3>> state [1.0, -2.5],\n"
		"            %k: tensor<2x!quant.uniform<i8:f32, 0.5:-3>> state,\n"
		"            %i: tensor<2xi32> state [7, -8]) {\n"
		"  return %x, %h as \"h.next\" to %h, %x as \"k.next\" to %k, %i as \"i.next\" to "
		"%i\n}\n";
	static const int64_t want[3][2] = {{-1, -8}, {-3, -3}, {7, -8}};

	fixture *f = *state;
	const qn_graph *g = parse(f, text);

	assert_int_equal(g->nstate, 3);
	assert_int_equal(qn_graph_fed(g), 1);
	assert_int_equal(qn_graph_given(g), 1);
	for (size_t k = 0; k < 3; k++)
		for (int64_t i = 0; i < 2; i++)
			assert_int_equal(qn_tensor_i64(qn_graph_state_init(g, k, &f->arena), i),
					 want[k][i]);
}

/* Graphs differ if their states do. */
static void
test_equal(void **state)
{
	static const char *const text[] = {"state", "state [1.0, 2.0]", "state [1.0, 3.0]"};
	const qn_graph *g[3];

	fixture *f = *state;
	for (size_t i = 0; i < 3; i++) {
		char graph[256];

		(void)snprintf(graph, sizeof graph,
			       "graph @main(%%x: tensor<2xf32>, %%h: tensor<2xf32> %s) {\n"
			       "  return %%x, %%h as \"n\" to %%h\n}\n",
			       text[i]);
		g[i] = parse(f, graph);
	}
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 3; k++)
			assert_int_equal(qn_graph_equal(g[i], g[k]), i == k);
}

#define JSON(inputs, outputs)                                                                      \
	"{\"quern\": 1, \"graph\": {\"inputs\": [" inputs "], \"outputs\": [" outputs "]}}"
#define X "{\"name\": \"x\", \"type\": \"tensor<2xf32>\"}"
#define H(more) "{\"name\": \"h\", \"type\": \"tensor<2xf32>\"" more "}"
#define NEXT "{\"name\": \"n\", \"value\": \"x\", \"to\": \"h\"}"

static void
test_json_mistakes(void **state)
{
	static const struct {
		const char *json, *id, *place;
	} bad[] = {
		{JSON(H(", \"state\": true") ", " X, "\"x\", " NEXT), "state.order",
		 "x.json:/graph/inputs/1"},
		{JSON(X ", " H(", \"state\": true"), "\"x\""), "state.missing",
		 "x.json:/graph/outputs"},
		{JSON(X ", " H(", \"state\": true"), NEXT ", \"x\""), "state.order",
		 "x.json:/graph/outputs/1"},
		{JSON(X ", " H(""), "\"x\", " NEXT), "state.order", "x.json:/graph/outputs/1/to"},
		{JSON(X ", " H(", \"data\": [1, 2]"), "\"x\""), "json.key.unknown",
		 "x.json:/graph/inputs/1/data"},
		{JSON(X ", " H(", \"state\": 1"), "\"x\""), "json.kind",
		 "x.json:/graph/inputs/1/state"},
		{JSON(X ", " H(", \"state\": true, \"data\": [1]"), "\"x\", " NEXT), "tensor.size",
		 "x.json:/graph/inputs/1/data"},
		{JSON(X ", " H(", \"state\": true, \"data\": [1, \"a\"]"), "\"x\", " NEXT),
		 "json.kind", "x.json:/graph/inputs/1/data/1"},
	};

	fixture *f = *state;
	for (size_t i = 0; i < QN_COUNT(bad); i++) {
		restart(f);
		assert_int_not_equal(qn_json_parse(new_model(f), "x.json", NULL, bad[i].json,
						   strlen(bad[i].json)),
				     QN_OK);
		assert_int_equal(f->diags.n, 1);
		assert_string_equal(f->diags.item[0].id, bad[i].id);
		assert_string_equal(f->diags.item[0].place, bad[i].place);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run),
		T(test_init),
		T(test_equal),
		T(test_json_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
