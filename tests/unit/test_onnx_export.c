/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_export.c - graphs that are written to ONNX and read back compute the same: every operator of the
 * writer, in real numbers and in codes. */
#include "tests/unit/run_util.h"

#include <onnx/onnx.pb-c.h>
#include <stdlib.h>

#include "formats/file.h"
#include "import/import.h"
#include "import/onnx_write.h"
#include "passes/passes.h"

static void
read_text(const char *text)
{
	qn_model_init(&rg->m, &rg->env, &rg->arena, "test");
	qn_status status = qn_model_parse(&rg->m, "test", text, strlen(text));

	no_errors();
	assert_int_equal(status, QN_OK);
	rg->g = qn_model_entry(&rg->m);
}

/* The file of the graph. */
static qn_buf
written(void)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_status status = qn_onnx_write(&rg->m, &b);
	no_errors();
	assert_int_equal(status, QN_OK);
	return b;
}

/* Takes the key away under which the file holds the graph itself. */
static void
forget(qn_buf *b)
{
	static const char key[] = "quern.graph";
	size_t found = 0;

	for (size_t i = 0; i + sizeof key < b->n; i++)
		if (memcmp(b->data + i, key, sizeof key - 1) == 0) {
			b->data[i] = 'Q';
			found++;
		}
	assert_int_equal(found, 1);
}

static qn_model *
read_back(const qn_buf *b)
{
	const qn_import_how how = {0};
	qn_model *back = QN_NEW(&rg->arena, qn_model, 1);

	qn_model_init(back, &rg->env, &rg->arena, "test");
	qn_status status = qn_onnx_read(back, "back.onnx", NULL, b->data, b->n, &how);
	no_errors();
	assert_int_equal(status, QN_OK);
	return back;
}

/* Writes the graph and reads the operators of the file into a model of its own, which becomes the test's. */
static void
through_onnx(void)
{
	qn_buf b = written();

	forget(&b);
	qn_model *back = read_back(&b);
	assert_int_equal(qn_axes(back), QN_OK);
	rg->m = *back;
	qn_status status = qn_model_verify(&rg->m);
	no_errors();
	assert_int_equal(status, QN_OK);
	rg->g = qn_model_entry(&rg->m);
}

static const char *
text_of(const qn_graph *g)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_graph_print(&b, g);
	return qn_buf_str(&b);
}

/* What is read is what was written: names, order, types and values. */
static void
is_the_same(void)
{
	const qn_buf b = written();
	qn_model *back = read_back(&b);
	const qn_graph *g = qn_onnx_out_graph(&rg->m);

	assert_string_equal(text_of(qn_model_entry(back)), text_of(g));
	assert_true(qn_graph_equal(qn_model_entry(back), g));
	assert_int_equal(back->stage, rg->m.stage);
	assert_int_equal(back->rounding, rg->m.rounding);
	assert_string_equal(back->options, rg->m.options);
}

/* All outputs one after the other, on inputs of small numbers. */
static double *
results(int64_t *n)
{
	const qn_tensor *x[4];
	qn_interp *in = interp();
	double *y = QN_NEW(&rg->arena, double, 1 << 16);

	rg->seed = 5;
	*n = 0;
	for (size_t i = 0; i < rg->g->ninput; i++) {
		const qn_type *t = qn_graph_node(rg->g, rg->g->input[i])->type;
		int64_t count = qn_type_count(t);

		x[i] = tensor(t, qn_elem_is_float(t->elem) ? reals(count) : codes(count, 0, 100));
	}
	assert_int_equal(qn_interp_run(in, x, NULL, NULL), QN_OK);
	for (size_t k = 0; k < rg->g->noutput; k++) {
		const qn_tensor *t = qn_interp_output(in, k);

		for (int64_t i = 0; i < qn_type_count(t->type); i++)
			y[(*n)++] = qn_tensor_f64(t, i);
	}
	return y;
}

static void
keeps(const char *text, double bound)
{
	int64_t n, again;

	read_text(text);
	is_the_same();
	const double *want = results(&n);
	size_t noutput = rg->g->noutput;
	const char *const first = rg->g->output[0].name;
	through_onnx();
	assert_int_equal(rg->g->noutput, noutput);
	assert_string_equal(rg->g->output[0].name, first);
	const double *have = results(&again);
	assert_int_equal(n, again);
	near(want, have, n, bound);
}

/* The graphs of tests/export, which scripts/check-onnxruntime takes too: every operator that is written. */
static const struct {
	const char *name;
	double bound; /* codes, where there are some */
} files[] = {
	{"elements", 1e-5}, {"integers", 0},  {"moves", 1e-6}, {"norms", 1e-5},
	{"places", 0},      {"scatter18", 0}, {"set20", 1e-5}, {"windows", 1e-5},
	{"codes", 0},       {"wide", 0},      {"order", 1e-5}, {"order_end", 1e-5},
};

static const char *
file_text(const char *name)
{
	const char *text;
	qn_buf path;
	size_t n;

	qn_buf_init(&path, &rg->arena);
	qn_buff(&path, "%s/tests/export/%s.qir", getenv("QUERN_SOURCE"), name);
	assert_int_equal(qn_file_map(&rg->arena, qn_buf_str(&path), &text, &n), QN_OK);
	return qn_arena_strn(&rg->arena, text, n);
}

static void
test_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < QN_COUNT(files); i++) {
		print_message("%s\n", files[i].name);
		keeps(file_text(files[i].name), files[i].bound);
	}
}

/* Element-wise functions, by their rows in ir/ops.def. */
static const struct {
	qn_op op;
	const char *name;
} functions[] = {
#define FUNCTION(name, attributes, behaviour, types, value, facts) {QN_OP_##name, #name},
#include "ir/ops.def"
};

static void
test_functions(void **state)
{
	(void)state;
	for (size_t i = 0; i < QN_COUNT(functions); i++) {
		qn_buf b;

		print_message("%s\n", functions[i].name);
		qn_buf_init(&b, &rg->arena);
		qn_buff(&b,
			"model \"test\" stage float\ngraph @main(%%x: tensor<1x4xf32>) {\n"
			"  %%y = %s %%x\n  return %%y\n}\n",
			functions[i].name);
		if (qn_onnx_out_how(functions[i].op).name != NULL)
			keeps(qn_buf_str(&b), 1e-6);
	}
}

/* Every operator of ir/ops.def either is written with one of ONNX, and a test above has it, or there is a reason. */
static void
test_every_op(void **state)
{
	bool seen[QN_NOP] = {0};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(files); i++) {
		read_text(file_text(files[i].name));
		for (qn_id id = 1; id < rg->g->n; id++)
			seen[qn_graph_node(rg->g, id)->op] = true;
	}
	for (size_t i = 0; i < QN_COUNT(functions); i++)
		seen[functions[i].op] = true;
	for (int op = 0; op < QN_NOP; op++) {
		const qn_onnx_export_row how = qn_onnx_out_how((qn_op)op);

		if ((how.name != NULL) == (how.why != NULL))
			fail_msg("%s: a row in import/onnx_*.c, or a reason in onnx_write_op.c",
				 qn_opinfo_get((qn_op)op)->name);
		if (how.name != NULL && !seen[op])
			fail_msg("%s: a node in a file of tests/export",
				 qn_opinfo_get((qn_op)op)->name);
	}
}

/* Narrow ranges, sums of their own scales, rounding away from 0, constants turned and not: nothing of it stands in
 * ONNX's operators. */
static const char kept[] =
	"model \"test\" stage calibrated rounding single options \"made by hand\"\n"
	"param @many = {0.5, 0.25:1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, "
	"0.5, 0.5, "
	"0.125}\n"
	"graph @main(%x: tensor<1x3x3x2xf32>, %idle: tensor<2xf32>) {\n"
	"  %\"odd name\" = const : tensor<2x2x2x2x!quant.uniform<i8<-127:127>:f32:0, {0.5, 0.25}>> "
	"rand 1\n"
	"  %q = quantize %x {ties=away} : tensor<1x3x3x2x!quant.uniform<u8<1:255>:f32, 0.5:3>>\n"
	"  %b = const : tensor<2xf32> [12.5, -3.25]\n"
	"  %p = quantize %b : tensor<2x!quant.uniform<i32:f32:0, 0.5*{0.5, 0.25}>>\n"
	"  %c = conv2d %q, %\"odd name\", %p {padding=same}\n"
	"  %r = requantize %c {lo=-5, hi=90} : tensor<1x3x3x2x!quant.uniform<i8:f32, 2.0:-5>>\n"
	"  %w = const : tensor<17x18x!quant.uniform<i4<-7:7>:f32, 0.5>> rand 2\n"
	"  %f = flatten %r\n"
	"  %g = dense %f, %w\n"
	"  %d = dequantize %g\n"
	"  %e = relu6 %d\n"
	"  %m = quantize %e : tensor<1x17x!quant.uniform<i8:f32:1, {@many}>>\n"
	"  return %r as \"first\", %m\n}\n";

static void
test_kept(void **state)
{
	(void)state;
	read_text(kept);
	is_the_same();
}

/* Metadata that do not fit the file: the operators are read, and nothing is said of it. */
static void
test_kept_damaged(void **state)
{
	size_t same = 0, other = 0;

	(void)state;
	read_text(kept);
	const qn_buf b = written();
	const char *const want = text_of(qn_onnx_out_graph(&rg->m));
	size_t from = b.n;
	for (size_t i = 0; i + 11 < b.n; i++)
		if (memcmp(b.data + i, "quern.graph", 11) == 0)
			from = i;
	for (size_t i = from; i < b.n; i += 3) {
		const qn_import_how how = {0};
		qn_model *back = QN_NEW(&rg->arena, qn_model, 1);
		char *data = qn_arena_copy(&rg->arena, b.data, b.n);

		data[i] ^= 1;
		qn_model_init(back, &rg->env, &rg->arena, "test");
		if (qn_onnx_read(back, "back.onnx", NULL, data, b.n, &how) != QN_OK) {
			qn_diags_clear(&rg->env, &rg->diags); /* a length of the format */
			continue;
		}
		no_errors();
		assert_int_equal(qn_model_verify(back), QN_OK);
		if (strcmp(text_of(qn_model_entry(back)), want) == 0)
			same++; /* rounding, options, what is unused */
		else
			other++;
	}
	assert_true(other > 100);
	assert_true(same < other);
}

/* A code that the range does not have: the file was changed behind the writer. */
static void
test_kept_codes(void **state)
{
	(void)state;
	read_text("model \"m\" stage calibrated\n"
		  "graph @main(%x: tensor<1x4xf32>) {\n"
		  "  %w = const : tensor<1x4x!quant.uniform<i8<-127:127>:f32, 0.5>> [85, 86, 87, "
		  "88]\n"
		  "  %d = dequantize %w\n  %y = add %x, %d\n"
		  "  %q = quantize %y : tensor<1x4x!quant.uniform<i8:f32, 0.5>>\n"
		  "  return %q\n}\n");
	qn_buf b = written();
	const qn_model *back = read_back(&b);
	assert_non_null(strstr(text_of(qn_model_entry(back)), "<-127:127>"));
	for (size_t i = 0; i + 4 < b.n; i++)
		if (memcmp(b.data + i, "\xd5\xd6\xd7\xd8", 4) == 0) /* u8 in the file */
			b.data[i] = 0;
	back = read_back(&b);
	assert_null(strstr(text_of(qn_model_entry(back)), "<-127:127>"));
	assert_non_null(strstr(text_of(qn_model_entry(back)), "[0, 214, 215, 216]"));
}

/* ---- the nodes of the file ---- */

static Onnx__ModelProto *
unpacked(void)
{
	const qn_buf b = written();
	Onnx__ModelProto *file = onnx__model_proto__unpack(NULL, b.n, (const uint8_t *)b.data);

	assert_non_null(file);
	return file;
}

static size_t
nodes_of(const Onnx__ModelProto *file, const char *op)
{
	size_t n = 0;

	for (size_t i = 0; i < file->graph->n_node; i++)
		n += strcmp(file->graph->node[i]->op_type, op) == 0;
	return n;
}

static const Onnx__NodeProto *
node_of(const Onnx__ModelProto *file, const char *name)
{
	for (size_t i = 0; i < file->graph->n_node; i++)
		if (strcmp(file->graph->node[i]->name, name) == 0)
			return file->graph->node[i];
	fail_msg("no node '%s'", name);
	return NULL;
}

/* A residual block of a quantized network: transposed where it begins alone, one pair a value, u8 in
 * between, nodes named like the layers. */
static void
test_nodes_quantized(void **state)
{
	(void)state;
	read_text("model \"m\" stage calibrated\n"
		  "graph @main(%x: tensor<1x4x6x2x!quant.uniform<i8:f32, 0.5:-3>>) {\n"
		  "  %w = const : tensor<2x3x3x2x!quant.uniform<i8:f32, 0.25>> rand 1\n"
		  "  %v = const : tensor<2x1x1x2x!quant.uniform<i8:f32, 0.25>> rand 2\n"
		  "  %k = const : tensor<3x12x!quant.uniform<i8:f32, 0.125>> rand 3\n"
		  "  %a.acc = conv2d %x, %w {padding=same}\n"
		  "  %a_1 = requantize %a.acc : tensor<1x4x6x2x!quant.uniform<i8:f32, 8.0:-128>>\n"
		  "  %b.acc = conv2d %a_1, %v\n"
		  "  %b_1 = requantize %b.acc : tensor<1x4x6x2x!quant.uniform<i8:f32, 64.0>>\n"
		  "  %sum = add %a_1, %b_1 : tensor<1x4x6x2x!quant.uniform<i8:f32, 64.0>>\n"
		  "  %pool = max_pool %sum {kernel=[2,2], stride=[2,2]}\n"
		  "  %flat = reshape %pool {shape=[1,12]}\n"
		  "  %y.acc = dense %flat, %k\n"
		  "  %y_1 = requantize %y.acc : tensor<1x3x!quant.uniform<i8:f32, 512.0>>\n"
		  "  return %y_1\n}\n");
	Onnx__ModelProto *file = unpacked();
	assert_int_equal(nodes_of(file, "Transpose"), 1);
	assert_int_equal(nodes_of(file, "Reshape"), 1);
	/* x, a, b, sum, pool, flat, y; the output's storage */
	assert_int_equal(nodes_of(file, "QuantizeLinear"), 8);
	/* each of the seven, the input's storage, three weights */
	assert_int_equal(nodes_of(file, "DequantizeLinear"), 11);
	assert_string_equal(node_of(file, "a")->op_type, "Conv");
	assert_string_equal(node_of(file, "y")->op_type, "Gemm");
	assert_string_equal(node_of(file, "sum")->input[0], "a_dequantized");
	assert_string_equal(node_of(file, "a_dequantized")->input[1], "a_scale");
	for (size_t i = 0; i < file->graph->n_initializer; i++)
		if (strcmp(file->graph->initializer[i]->name, "a_zero_point") == 0)
			assert_int_equal(file->graph->initializer[i]->data_type, 2);
	onnx__model_proto__free_unpacked(file, NULL);
	is_the_same();
}

/* Of a float network that was calibrated: no quantized value twice, a pool between pairs of its own. */
static void
test_nodes_calibrated(void **state)
{
	(void)state;
	read_text("model \"m\" stage calibrated\n"
		  "graph @main(%x: tensor<1x4x4x2xf32>) {\n"
		  "  %in = quantize %x : tensor<1x4x4x2x!quant.uniform<i8:f32, 0.5>>\n"
		  "  %back = dequantize %in\n"
		  "  %again = quantize %back : tensor<1x4x4x2x!quant.uniform<i8:f32, 0.5>>\n"
		  "  %w = const : tensor<2x1x1x2x!quant.uniform<i8:f32, 0.25>> rand 1\n"
		  "  %c.acc = conv2d %again, %w\n"
		  "  %c = dequantize %c.acc\n"
		  "  %r = relu %c\n"
		  "  %p = max_pool %r {kernel=[2,2], stride=[2,2]}\n"
		  "  %one = quantize %p : tensor<1x2x2x2x!quant.uniform<i8:f32, 4.0:-128>>\n"
		  "  %two = quantize %p : tensor<1x2x2x2x!quant.uniform<i8:f32, 4.0:-128>>\n"
		  "  %d.acc = conv2d %one, %w\n"
		  "  %e.acc = conv2d %two, %w {stride=[2,2]}\n"
		  "  %d = dequantize %d.acc\n"
		  "  %e = dequantize %e.acc\n"
		  "  return %d, %e\n}\n");
	Onnx__ModelProto *file = unpacked();
	assert_int_equal(nodes_of(file, "QuantizeLinear"), 3); /* x, relu, pool */
	assert_int_equal(nodes_of(file, "DequantizeLinear"), 4);
	assert_int_equal(nodes_of(file, "Transpose"), 2); /* the input; of the outputs one is 1x1 */
	assert_string_equal(node_of(file, "r_quantized")->input[0], "r");
	assert_string_equal(node_of(file, "p")->input[0], "r_dequantized");
	onnx__model_proto__free_unpacked(file, NULL);
	is_the_same();
}

/* A chain of transposes is one, however long it is. */
static void
test_nodes_many(void **state)
{
	enum { LENGTH = 50001 };
	qn_buf b;

	(void)state;
	qn_buf_init(&b, &rg->arena);
	qn_buff(&b, "graph @main(%%x: tensor<1x2x3x4xf32>) {\n"
		    "  %%t0 = transpose %%x {perm=[0,3,1,2]}\n");
	for (int i = 1; i < LENGTH; i++)
		qn_buff(&b, "  %%t%d = transpose %%t%d {perm=[0,%s]}\n", i, i - 1,
			i % 2 == 0 ? "3,1,2" : "2,3,1");
	qn_buff(&b, "  return %%t%d\n}\n", LENGTH - 1);
	read_text(qn_buf_str(&b));
	Onnx__ModelProto *file = unpacked();
	assert_int_equal(nodes_of(file, "Transpose"), 1);
	onnx__model_proto__free_unpacked(file, NULL);
}

static void
test_refused(void **state)
{
	qn_buf b;

	(void)state;
	read_text("graph @main(%x: tensor<2x3xi8>) {\n"
		  "  %t = const : tensor<i8> [2]\n  %s = shift_left %x, %t\n  return %s\n}\n");
	qn_buf_init(&b, &rg->arena);
	assert_int_equal(qn_onnx_write(&rg->m, &b), QN_EUNSUPPORTED);
	assert_string_equal(rg->diags.item[0].id, "export.op");
	assert_non_null(strstr(rg->diags.item[0].message, "shift_left 's'"));
	assert_non_null(strstr(rg->diags.item[0].message, "unsigned"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_files),     TEST(test_functions),       TEST(test_every_op),
		TEST(test_kept),      TEST(test_kept_damaged),    TEST(test_kept_codes),
		TEST(test_refused),   TEST(test_nodes_quantized), TEST(test_nodes_calibrated),
		TEST(test_nodes_many)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
