/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_encodings.c - encodings by the names that values have in an ONNX file, whose nodes
 * are named otherwise: AIMET writes names of tensors, and so does Quern. */
#include "tests/unit/onnx_rig.h"

#include <stdio.h>

#include "calibrate/encodings.h"
#include "driver/encodings.h"
#include "formats/json_graph.h"
#include "passes/passes.h"
#include "patterns/quantizer.h"

/* How a model comes from one pass to the next. */
static enum { AS_IT_IS, TEXT, JSON } form;

/* A node with a name of its own; attributes stand before it. */
static void
named(const char *name, const char *op, const char *in, const char *out)
{
	onx_text(&file->attrs, 3, name);
	onx_node(file, op, in, out);
}

/* As torch exports it: the node "/conv/Conv" gives "/conv/Conv_output_0". */
static void
network(void)
{
	onx_input(file, "image", 1, "1,2,4,4");
	onx_floats(file, "conv.weight", "2,2,1,1", (float[]){1, 2, 3, 4});
	onx_floats(file, "fc.weight", "3,8", (float[24]){1, 2, 3});
	named("/conv/Conv", "Conv", "image,conv.weight", "/conv/Conv_output_0");
	named("/relu/Relu", "Relu", "/conv/Conv_output_0", "/relu/Relu_output_0");
	onx_list(file, "kernel_shape", 2, (int64_t[]){2, 2});
	onx_list(file, "strides", 2, (int64_t[]){2, 2});
	named("/pool/MaxPool", "MaxPool", "/relu/Relu_output_0", "/pool/MaxPool_output_0");
	named("/Flatten", "Flatten", "/pool/MaxPool_output_0", "/Flatten_output_0");
	onx_int(file, "transB", 1);
	named("/fc/Gemm", "Gemm", "/Flatten_output_0,fc.weight", "scores");
	onx_output(file, "scores");
	import(13);
}

/* The model as it is after it was saved, as text or JSON, and read. */
static void
saved(bool json)
{
	qn_model *m = &rg->m;
	qn_buf b, again;

	qn_buf_init(&b, &rg->arena);
	qn_buf_init(&again, &rg->arena);
	if (json)
		qn_json_print(&b, m, NULL, NULL);
	else
		qn_model_print(&b, m);
	qn_model_init(m, &rg->env, &rg->arena, "saved");
	if (json)
		assert_int_equal(qn_json_parse(m, "m.json", NULL, b.data, b.n), QN_OK);
	else
		assert_int_equal(qn_model_parse(m, "m.qir", b.data, b.n), QN_OK);
	if (json)
		qn_json_print(&again, m, NULL, NULL);
	else
		qn_model_print(&again, m);
	assert_string_equal(qn_buf_str(&again), qn_buf_str(&b));
}

static void
quantized_by(const char *text)
{
	qn_encodings *e;

	int at = 0;

	for (at = 0; at < 5; at++) {
		if (form != AS_IT_IS)
			saved(form == JSON);
		assert_int_equal(at == 0   ? qn_axes(&rg->m)
				 : at == 1 ? qn_clean(&rg->m)
				 : at == 2 ? qn_partition(&rg->m, &(qn_quant_opts){0})
				 : at == 3 ? qn_quantize_model(&rg->m, &(qn_quant_opts){0})
					   : QN_OK,
				 QN_OK);
	}
	assert_int_equal(qn_encodings_read(&rg->env, &rg->arena, "e.json", text, strlen(text), &e),
			 QN_OK);
	assert_int_equal(qn_encodings_bind(&rg->m, e), QN_OK);
	assert_int_equal(rg->diags.nerrors, 0);
}

/* Scale and zero point of the symbol that stands for operand i of the node that accumulates in
 * `acc`. */
static void
has(const char *acc, uint32_t i, double scale, int64_t zp)
{
	const qn_graph *g = qn_model_entry(&rg->m);
	const qn_node *n = qn_graph_node(g, qn_graph_find(g, acc));
	const qn_symbol *s = qn_graph_node(g, n->in[i])->type->elem->scale->sym;

	assert_true(s->bound);
	assert_true(s->len > 0 ? s->vec->scale[0] == scale : s->scale == scale);
	assert_int_equal(s->len > 0 ? 0 : s->zp, zp);
}

/* The pool has no entry of its own: it has the parameters of what it chooses from, as its result
 * has. */
static void
test_tensor_names(void **state)
{
	(void)state;
	network();
	quantized_by("{\"version\": \"1.0.0\", \"activation_encodings\": ["
		     "{\"name\": \"image\", \"enc_type\": \"PER_TENSOR\", \"dtype\": \"INT\", "
		     "\"bw\": 8, "
		     "\"is_sym\": false, \"scale\": [0.5], \"offset\": [-3]},"
		     "{\"name\": \"/relu/Relu_output_0\", \"enc_type\": \"PER_TENSOR\", \"dtype\": "
		     "\"INT\", "
		     "\"bw\": 8, \"is_sym\": false, \"scale\": [0.25], \"offset\": [0]}],"
		     "\"param_encodings\": ["
		     "{\"name\": \"conv.weight\", \"enc_type\": \"PER_CHANNEL\", \"dtype\": "
		     "\"INT\", \"bw\": 8, "
		     "\"is_sym\": true, \"scale\": [0.125, 0.75], \"offset\": [-128, -128]},"
		     "{\"name\": \"fc.weight\", \"enc_type\": \"PER_CHANNEL\", \"dtype\": \"INT\", "
		     "\"bw\": 8, "
		     "\"is_sym\": true, \"scale\": [0.5, 1, 2], \"offset\": [-128, -128, -128]}]}");
	const qn_graph *g = qn_model_entry(&rg->m);
	size_t products = 0;
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op != QN_OP_conv2d && n->op != QN_OP_dense)
			continue;
		has(n->name, 0, n->op == QN_OP_conv2d ? 0.5 : 0.25,
		    n->op == QN_OP_conv2d ? -125 : -128);
		has(n->name, 1, n->op == QN_OP_conv2d ? 0.125 : 0.5, 0);
		products++;
	}
	assert_int_equal(products, 2);
	assert_int_equal(rg->diags.n, 0); /* no name is unknown */
}

/* A value of its own stands over what it is chosen from; names that there are not are one
 * warning. */
static void
test_own_first(void **state)
{
	(void)state;
	network();
	quantized_by("{\"activation_encodings\": {"
		     "\"/pool/MaxPool_output_0\": [{\"bitwidth\": 8, \"is_symmetric\": \"False\", "
		     "\"offset\": -10, \"scale\": 0.75}],"
		     "\"/relu/Relu_output_0\": [{\"bitwidth\": 8, \"is_symmetric\": \"False\", "
		     "\"offset\": 0, \"scale\": 0.25}],"
		     "\"/gone/Add_output_0\": [{\"bitwidth\": 8, \"is_symmetric\": \"False\", "
		     "\"offset\": 0, \"scale\": 0.25}]}}");
	const qn_graph *g = qn_model_entry(&rg->m);
	for (qn_id id = 1; id < g->n; id++)
		if (qn_graph_node(g, id)->op == QN_OP_dense)
			has(qn_graph_node(g, id)->name, 0, 0.75, -118);
	assert_int_equal(rg->diags.n, 1);
	assert_string_equal(rg->diags.item[0].id, "encodings.unused");
	assert_non_null(strstr(rg->diags.item[0].message, "1 unknown value"));
	assert_non_null(strstr(rg->diags.item[0].message, "/gone/Add_output_0"));
}

/* Of version 2 a name stands in one section. */
static void
in_two_sections(void **state)
{
	static const char text[] =
		"{\"version\": \"2.0.0\", \"activation_encodings\": [{\"name\": \"x\", "
		"\"output_dtype\": \"uint8\", \"y_scale\": 0.5}], \"encodings\": [{\"name\": "
		"\"x\", "
		"\"output_dtype\": \"uint8\", \"y_scale\": 0.25}]}";
	qn_encodings *e;

	(void)state;
	assert_int_equal(qn_encodings_read(&rg->env, &rg->arena, "e.json", text, strlen(text), &e),
			 QN_EINVALID);
	assert_string_equal(rg->diags.item[0].id, "encodings.value");
	assert_non_null(strstr(rg->diags.item[0].message, "of 'x': is given twice"));
	qn_diags_clear(&rg->env, &rg->diags);
}

/* As Quern writes them, one after the other: "image relu1 … " */
static void
writes(const char *names)
{
	const char *const key = "\"name\": \"";
	qn_buf b, got;

	qn_buf_init(&b, &rg->arena);
	qn_buf_init(&got, &rg->arena);
	qn_encodings_write(&rg->m, QN_ENCODINGS_1, &b);
	for (const char *s = qn_buf_str(&b); (s = strstr(s, key)) != NULL;) {
		s += strlen(key);
		qn_buf_put(&got, s, strcspn(s, "\""));
		qn_buf_putc(&got, ' ');
	}
	assert_string_equal(qn_buf_str(&got), names);
}

/* A weight behind Reshape and Transpose; a pool whose node is called like the tensor of another one. */
static void
moved_network(void)
{
	onx_input(file, "image", 1, "1,2,4,4");
	onx_floats(file, "conv.weight", "2,2,1,1", (float[]){1, 2, 3, 4});
	onx_floats(file, "flat", "8", (float[]){1, 2, 3, 4, 5, 6, 7, 8});
	onx_ints64(file, "rows", "2", (const int64_t[]){2, 4});
	named("sum", "Conv", "image,conv.weight", "pooled");
	named("pooled", "GlobalAveragePool", "pooled", "mean");
	named("squeeze", "Flatten", "mean", "row");
	named("rows.of", "Reshape", "flat,rows", "matrix");
	named("product", "MatMul", "row,matrix", "scores");
	onx_output(file, "scores");
	import(13);
}

static void
test_moved_weight(void **state)
{
	(void)state;
	moved_network();
	quantized_by("{\"activation_encodings\": {"
		     "\"image\": [{\"bitwidth\": 8, \"offset\": -3, \"scale\": 0.5}],"
		     "\"pooled\": [{\"bitwidth\": 8, \"offset\": -10, \"scale\": 0.25}],"
		     "\"mean\": [{\"bitwidth\": 8, \"offset\": -20, \"scale\": 0.125}],"
		     "\"scores\": [{\"bitwidth\": 8, \"offset\": -30, \"scale\": 2}]},"
		     "\"param_encodings\": {\"conv.weight\": ["
		     "{\"bitwidth\": 8, \"offset\": -128, \"scale\": 0.125}], \"flat\": ["
		     "{\"bitwidth\": 8, \"offset\": -128, \"scale\": 0.75}]}}");
	const qn_graph *g = qn_model_entry(&rg->m);
	size_t products = 0;
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_dense || n->op == QN_OP_matmul) {
			has(n->name, 0, 0.125, -108);
			has(n->name, 1, 0.75, 0);
			products++;
		}
	}
	assert_int_equal(products, 1);
	assert_int_equal(rg->diags.n, 0);
	assert_int_equal(qn_bind(&rg->m), QN_OK);
	writes("image pooled row scores conv.weight flat ");
}

static void
quantizing(const char *in, const char *codes, const char *out, const char *scale)
{
	char text[64];

	(void)snprintf(text, sizeof text, "%s,%s,zero", in, scale);
	onx_node(file, "QuantizeLinear", text, codes);
	(void)snprintf(text, sizeof text, "%s,%s,zero", codes, scale);
	onx_node(file, "DequantizeLinear", text, out);
}

/* Values and weights between QuantizeLinear and DequantizeLinear. */
static void
qdq_network(void)
{
	onx_input(file, "x", 1, "1,2");
	onx_tensor(file, "zero", 3, "", "\0", 1);
	onx_floats(file, "xs", "", (float[]){0.5F});
	onx_floats(file, "ys", "", (float[]){2});
	onx_floats(file, "ws", "", (float[]){0.25F});
	onx_tensor(file, "wq", 3, "2,2", "\1\2\3\4", 4);
	quantizing("x", "x.codes", "x.real", "xs");
	onx_node(file, "DequantizeLinear", "wq,ws,zero", "w");
	named("product", "MatMul", "x.real,w", "sum");
	quantizing("sum", "y.codes", "y", "ys");
	onx_output(file, "y");
	import(13);
}

/* What is written of the quantized graph is known in the float one. */
static void
test_quantized(void **state)
{
	qn_buf b;

	(void)state;
	qdq_network();
	assert_int_equal(rg->m.stage, QN_STAGE_CALIBRATED);
	writes("x sum wq ");
	for (int version = QN_ENCODINGS_0; version <= (int)QN_ENCODINGS_2; version++) {
		another_file();
		how.from_float = false;
		qdq_network();
		qn_buf_init(&b, &rg->arena);
		qn_encodings_write(&rg->m, (qn_encodings_version)version, &b);
		char *text = calloc(1, b.n + 1);
		memcpy(text, qn_buf_str(&b), b.n);
		another_file();
		how.from_float = true;
		qdq_network();
		quantized_by(text);
		free(text);
		assert_int_equal(rg->diags.n, 0);
		const qn_graph *g = qn_model_entry(&rg->m);
		for (qn_id id = 1; id < g->n; id++) {
			const qn_node *n = qn_graph_node(g, id);

			if (n->op == QN_OP_matmul || n->op == QN_OP_dense) {
				has(n->name, 0, 0.5, 0);
				has(n->name, 1, 0.25, 0);
			}
		}
		assert_int_equal(qn_bind(&rg->m), QN_OK);
		writes("x sum wq ");
	}
}

/* All of it through files. */
static void
test_saved(void **state)
{
	for (form = TEXT; form <= JSON; form++) {
		another_file();
		test_tensor_names(state);
		another_file();
		test_own_first(state);
		another_file();
		test_moved_weight(state);
	}
	form = AS_IT_IS;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, onnx_setup, onnx_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_tensor_names), TEST(test_own_first),
					   TEST(test_moved_weight), TEST(test_quantized),
					   TEST(in_two_sections),   TEST(test_saved)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
