/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_export.c - graphs that are written to ONNX and read back compute the same: every operator of the
 * writer, in real numbers and in codes. */
#include "tests/unit/run_util.h"

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
	double *y = QN_NEW(&rg->arena, double, 4096);

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

static void
test_elements(void **state)
{
	(void)state;
	keeps("graph @main(%x: tensor<2x3x4xf32>, %y: tensor<2x3x4xf32>) {\n"
	      "  %s = const : tensor<4xf32> [1, -2, 0.5, 3]\n"
	      "  %h = const : tensor<f32> [0.5]\n"
	      "  %a = add %x, %y\n  %b = bias_add %a, %s\n  %c = sub %b, %y\n  %d = mul %c, %s\n"
	      "  %e = div %d, %s\n  %f = minimum %e, %x\n  %g = maximum %f, %h\n"
	      "  %l = less %x, %y\n  %w = where %l, %x, %y\n"
	      "  %l2 = greater_equal %x, %y\n  %w2 = where %l2, %g, %w\n"
	      "  %p = prelu %x, %s\n  %r = relu %p\n  %r6 = relu6 %x\n"
	      "  %cl = clip %x {min=-1.0, max=0.5}\n  %c2 = clip %x {max=0.25}\n"
	      "  %sg = sigmoid %x\n  %th = tanh %x\n  %hs = hard_swish %x\n  %si = silu %x\n"
	      "  %ex = exp %x\n  %ab = abs %x\n  %sq = square %x\n  %rt = sqrt %ab\n"
	      "  %ng = neg %x\n  %er = erf %x\n  %lr = leaky_relu %x {alpha=0.25}\n"
	      "  %el = elu %x {alpha=0.5}\n  %hg = hard_sigmoid %x {alpha=0.25, beta=0.5}\n"
	      "  %pw = pow %ab, %h\n  %lg = log %ex\n"
	      "  return %w2, %r, %r6, %cl, %c2, %sg, %th, %hs, %si, %ex, %sq, %rt, %ng, %er, %lr, "
	      "%el, %hg, %pw, %lg\n}\n",
	      1e-6);
}

static void
test_moves(void **state)
{
	(void)state;
	keeps("graph @main(%x: tensor<2x3x4xf32>) {\n"
	      "  %i = const : tensor<2xi32> [2, 0]\n"
	      "  %a = concat %x, %x {axis=1}\n  %b = gather %a, %i {axis=2}\n"
	      "  %c = reduce_mean %x {axes=[1]}\n  %d = reduce_sum %x {axes=[0,2], keepdims=1}\n"
	      "  %e = reduce_max %x {axes=[-1]}\n  %f = reduce_min %x {axes=[]}\n"
	      "  %g = reshape %x {shape=[4,6]}\n  %h = flatten %x\n  %j = expand_dims %x "
	      "{axes=[1]}\n"
	      "  %k = squeeze %j {axes=[1]}\n  %l = transpose %x {perm=[2,0,1]}\n"
	      "  %m = pad %x {before=[0,1,0], after=[1,0,2], value=0.5}\n"
	      "  %n = slice %x {begin=[0,2,0], end=[2,-9,4], step=[1,-1,2]}\n"
	      "  %o = softmax %x\n  %p = log_softmax %x {axis=1}\n"
	      "  %q = matmul %x, %x {transpose_b=1}\n"
	      "  return %b, %c, %d, %e, %f, %g, %h, %k, %l, %m, %n, %o, %p, %q, %x\n}\n",
	      1e-5);
}

static void
test_windows(void **state)
{
	(void)state;
	keeps("graph @main(%x: tensor<2x5x6x4xf32>, %y: tensor<1x7x2xf32>) {\n"
	      "  %w = const : tensor<6x3x2x2xf32> rand 1\n  %b = const : tensor<6xf32> rand 2\n"
	      "  %v = const : tensor<3x3x2xf32> rand 3\n  %k = const : tensor<3x6xf32> rand 4\n"
	      "  %a = conv2d %x, %w, %b {padding=same, stride=[2,1], groups=2}\n"
	      "  %c = conv2d %x, %w {pad=[1,0,0,1], dilation=[2,1], groups=2}\n"
	      "  %d = conv1d %y, %v {padding=same, stride=2}\n"
	      "  %e = max_pool %a {kernel=[2,2], stride=[2,2], padding=same}\n"
	      "  %f = avg_pool %a {kernel=[2,3], pad=[1,0,1,1]}\n"
	      "  %f2 = avg_pool %a {kernel=[2,3], pad=[1,0,1,1], count_include_pad=1}\n"
	      "  %g = global_avg_pool %c\n  %h = reshape %g {shape=[2,6]}\n  %i = dense %h, %k\n"
	      "  return %e, %f, %f2, %d, %i\n}\n",
	      1e-5);
}

/* Integer nodes too: codes in, codes out, constants of codes. */
static void
test_codes(void **state)
{
	(void)state;
	keeps("model \"m\" stage calibrated rounding even\n"
	      "graph @main(%x: tensor<1x3x3x2x!quant.uniform<u8:f32, 0.5:3>>) {\n"
	      "  %w = const : tensor<2x2x2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>> rand 1\n"
	      "  %v = const : tensor<3x18x!quant.uniform<i4:f32, 0.5>> rand 2\n"
	      "  %b = const : tensor<2xf32> [12.5, -3.25]\n"
	      "  %q = quantize %b : tensor<2x!quant.uniform<i32:f32:0, 0.5*{0.5, 0.25}>>\n"
	      "  %c = conv2d %x, %w, %q {padding=same}\n"
	      "  %r = requantize %c : tensor<1x3x3x2x!quant.uniform<i8:f32, 2.0:-5>>\n"
	      "  %a = add %r, %r : tensor<1x3x3x2x!quant.uniform<i8:f32, 0.125>>\n"
	      "  %f = flatten %a\n"
	      "  %g = dense %f, %v\n"
	      "  %d = dequantize %g\n"
	      "  return %r, %a, %d\n}\n",
	      1);
}

/* Narrow ranges, sums of their own scales, rounding away from 0, constants turned and not: nothing of it stands in
 * ONNX's operators. */
static const char kept[] =
	"model \"test\" stage calibrated rounding single options \"made by hand\"\n"
	"param @many = {0.5, 0.25:1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, "
	"0.125}\n"
	"graph @main(%x: tensor<1x3x3x2xf32>, %idle: tensor<2xf32>) {\n"
	"  %\"odd name\" = const : tensor<2x2x2x2x!quant.uniform<i8<-127:127>:f32:0, {0.5, 0.25}>> rand 1\n"
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
		  "  %w = const : tensor<1x4x!quant.uniform<i8<-127:127>:f32, 0.5>> [85, 86, 87, 88]\n"
		  "  %d = dequantize %w\n  %y = add %x, %d\n"
		  "  %q = quantize %y : tensor<1x4x!quant.uniform<i8:f32, 0.5>>\n"
		  "  return %q\n}\n");
	qn_buf b = written();
	const qn_model *back = read_back(&b);
	assert_non_null(strstr(text_of(qn_model_entry(back)), "<-127:127>"));
	for (size_t i = 0; i + 4 < b.n; i++)
		if (memcmp(b.data + i, "UVWX", 4) == 0)
			b.data[i] = (char)0x80;
	back = read_back(&b);
	assert_null(strstr(text_of(qn_model_entry(back)), "<-127:127>"));
	assert_non_null(strstr(text_of(qn_model_entry(back)), "[-128, 86, 87, 88]"));
}

static void
test_refused(void **state)
{
	qn_buf b;

	(void)state;
	read_text(
		"graph @main(%x: tensor<2x3xf32>) {\n"
		"  %s = split %x {axis=1, sizes=[1,2]}\n  %a = get %s {index=0}\n  return %a\n}\n");
	qn_buf_init(&b, &rg->arena);
	assert_int_equal(qn_onnx_write(&rg->m, &b), QN_EUNSUPPORTED);
	assert_string_equal(rg->diags.item[0].id, "export.op");
	assert_non_null(strstr(rg->diags.item[0].message, "split 's'"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_elements), TEST(test_moves),
					   TEST(test_windows), TEST(test_codes),
					   TEST(test_kept), TEST(test_kept_damaged),
					   TEST(test_kept_codes), TEST(test_refused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
