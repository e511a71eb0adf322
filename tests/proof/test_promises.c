/* SPDX-License-Identifier: Apache-2.0 */
/* Promises of the product, one test each.  tests/proof/mutations.sh plants a fault against each of
 * them and asks this program whether it notices.  With an argument only tests of that name run. */
#include "tests/proof/promises.h"

#include <math.h>
#include <unistd.h>

#include "passes/passes.h"

#define DIGITS "examples/digits/digits.json"

/* ---- the digits ---- */

static void
expect_ok(qn_ctx *ctx, qn_status status)
{
	size_t i;

	for (i = 0; status != QN_OK && i < qn_diag_count(ctx); i++) {
		qn_diagnostic d = qn_diag_get(ctx, i);

		print_error("%s: %s: %s\n", d.id, d.place, d.message);
	}
	assert_int_equal(status, QN_OK);
}

/* The digits as they are, and compiled with their samples. */
static qn_ctx *
open_digits(qn_model **real, qn_model **integer)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_array *calib[1];
	const qn_compile_opts opts = {.calib = calib, .ncalib = 1};

	assert_non_null(ctx);
	expect_ok(ctx, qn_load(ctx, DIGITS, real));
	expect_ok(ctx, qn_load(ctx, DIGITS, integer));
	expect_ok(ctx, qn_array_load(ctx, "examples/digits/calib.npy", &calib[0]));
	expect_ok(ctx, qn_compile(*integer, &opts));
	return ctx;
}

/* ---- no value of the integer graph is real ---- */

static void
check_no_float(const qn_graph *g)
{
	qn_id id;

	for (id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->type->is_tuple || qn_elem_is_float(n->type->elem))
			fail_msg("%s '%s' of the compiled graph is not an integer value",
				 qn_opinfo_of(n)->name, n->name);
	}
}

/* Without a floating-point unit the compiler calls a function for each operation on floats. */
static void
check_objects(qn_ctx *ctx, qn_model *m)
{
#if defined(__x86_64__) || defined(__i386__)
	static const char build[] =
		"cd %s && cc -std=c99 -O1 -fno-pic -fno-stack-protector -mno-sse -mno-80387 -c "
		"digits.c digits_weights.c && ! nm -u digits.o digits_weights.o | grep ' U ' | "
		"grep -v -w -e memcpy -e memset -e 'digits_[a-z0-9_]*' >&2 && rm -r ../${PWD##*/}";
	char dir[] = "/tmp/quern-promises-XXXXXX", cmd[512];

	assert_non_null(mkdtemp(dir));
	expect_ok(ctx, qn_emit(m, dir, NULL, NULL));
	snprintf(cmd, sizeof(cmd), build, dir);
	assert_int_equal(system(cmd), 0);
#else
	(void)ctx;
	(void)m;
	print_message("objects: skipped, no way known here to compile without floats\n");
#endif
}

static void
promise_no_float_value(void **state)
{
	qn_model *real, *m;
	qn_ctx *ctx = open_digits(&real, &m);
	size_t i;

	(void)state;
	assert_int_equal(m->stage, QN_STAGE_INTEGER);
	for (i = 0; i < m->ngraph; i++)
		check_no_float(m->graph[i]);
	check_objects(ctx, m);
	qn_close(ctx);
}

/* ---- padding stands for the real number 0 ---- */

/* Every product is 0, so the bias is all that is left, in the corners as in the middle. */
static void
promise_pad_is_zero_point(void **state)
{
	static const int64_t bias[3] = {1000, -7, 0};
	builder b;
	int64_t i;

	(void)state;
	build_parse(&b, "model \"pad\" stage integer\n"
			"graph @main(%x: tensor<1x4x5x2x!quant.uniform<i8:f32, 0.5:10>>) {\n"
			"  %w = const : tensor<3x3x3x2x!quant.uniform<i8:f32, 0.25>> rand 5\n"
			"  %b = const : tensor<3x!quant.uniform<i32:f32, 0.5*0.25>> [1000, -7, 0]\n"
			"  %y = conv2d %x, %w, %b {pad=[1,2,2,1]}\n"
			"  return %y\n"
			"}\n");
	const qn_tensor *y = run_on(&b, 10);
	assert_int_equal(qn_type_count(y->type), 1 * 5 * 6 * 3);
	for (i = 0; i < qn_type_count(y->type); i++)
		assert_int_equal(qn_tensor_i64(y, i), bias[i % 3]);
	build_end(&b);
}

/* The same of a pad node: legalize writes the code of the real number. */
static void
promise_pad_node_is_zero_point(void **state)
{
	builder b;
	int64_t i;

	(void)state;
	build_parse(&b, "model \"pad\" stage calibrated\n"
			"graph @main(%x: tensor<2x3x!quant.uniform<i8:f32, 0.5:10>>) {\n"
			"  %y = pad %x {before=[1,0], after=[0,2]}\n"
			"  return %y\n"
			"}\n");
	build_check(&b, qn_legalize(&b.model) == QN_OK);
	assert_int_equal(find_op(qn_model_entry(&b.model), QN_OP_pad)->attr->pad.code, 10);
	const qn_tensor *y = run_on(&b, 10);
	assert_int_equal(qn_type_count(y->type), 3 * 5);
	for (i = 0; i < qn_type_count(y->type); i++)
		assert_int_equal(qn_tensor_i64(y, i), 10);
	build_end(&b);
}

/* ---- a bias has the unit of the sums that it is added to ---- */

static void
promise_bias_scale(void **state)
{
	qn_model *real, *m;
	qn_ctx *ctx = open_digits(&real, &m);
	const qn_graph *g = qn_model_entry(m), *f = qn_model_entry(real);
	const qn_node *dense = find_op(g, QN_OP_dense);
	const qn_tensor *b = qn_graph_node(f, find_op(f, QN_OP_dense)->in[2])->value;
	const qn_tensor *codes = qn_graph_node(g, dense->in[2])->value;
	int64_t o, count = qn_type_count(b->type), different = 0;

	(void)state;
	assert_int_equal(qn_type_count(codes->type), count);
	for (o = 0; o < count; o++) {
		double sx = 0, sw = 0;
		int64_t zp;

		qn_elem_param(&m->types, qn_graph_node(g, dense->in[0])->type->elem, 0, &sx, &zp);
		qn_elem_param(&m->types, qn_graph_node(g, dense->in[1])->type->elem, (size_t)o, &sw,
			      &zp);
		assert_int_equal(qn_tensor_i64(codes, o),
				 (int64_t)rint(qn_tensor_f64(b, o) / (sx * sw)));
		different += qn_tensor_i64(codes, o) != (int64_t)rint(qn_tensor_f64(b, o) / sx);
	}
	assert_true(different > 0); /* else the data's scale alone would pass */
	qn_close(ctx);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(promise_no_float_value),
		cmocka_unit_test(promise_pad_is_zero_point),
		cmocka_unit_test(promise_pad_node_is_zero_point),
		cmocka_unit_test(promise_bias_scale),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
