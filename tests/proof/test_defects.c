/* SPDX-License-Identifier: Apache-2.0 */
/* Defects that quantizers are known to have, and this one must not: each test fails when its defect
 * is planted (mutations/), which tests/proof/mutations.sh does. */
#include "tests/proof/promises.h"

#include <math.h>

#include "calibrate/calibrate.h"
#include "passes/passes.h"
#include "patterns/quantizer.h"

/* ---- ranges ---- */

static const qn_elem *
code_type(builder *b)
{
	return build_type(b, "tensor<1x!quant.uniform<i8:f32, 1.0>>")->elem;
}

/* Each end of the range has a code that stands for it to half a step; real 0 has one exactly. */
static void
check_range(double min, double max, bool symmetric)
{
	const double end[2] = {min, max};
	builder b;
	double scale;
	int64_t zp;

	build_begin(&b, "range", 1);
	const qn_elem *e = code_type(&b);
	qn_range_to_params(min, max, e, symmetric, &scale, &zp);
	assert_true(zp >= e->qmin && zp <= e->qmax);
	for (int i = 0; i < 2; i++) {
		double code = rint(end[i] / scale) + (double)zp;

		code = fmin(fmax(code, (double)e->qmin), (double)e->qmax);
		assert_true(fabs((code - (double)zp) * scale - end[i]) <= scale * 0.5001);
	}
	build_end(&b);
}

/* The largest value is not cut, also where all are positive and where no code stands for 128. */
static void
defect_symmetric_range(void **state)
{
	(void)state;
	check_range(0, 1, true);
	check_range(-0.25, 1, true);
	check_range(-1, 0.5, true);
}

static void
defect_zero_point(void **state)
{
	(void)state;
	check_range(0, 1, false);
	check_range(-0.3, 1.7, false);
	check_range(-5, 0, false);
}

/* ---- what the passes make of a float graph ---- */

typedef struct samples {
	builder *b;
	const qn_tensor *x[1];
} samples;

static qn_status
get(qn_dataset *set, size_t index, qn_arena *scratch, const qn_tensor *const **inputs)
{
	samples *s = set->user;

	(void)index;
	(void)scratch;
	*inputs = s->x;
	return QN_OK;
}

/* From float to calibrated, on one sample that rises from 0 to 1. */
static void
quantize(builder *b, const char *text, qn_scheme scheme)
{
	const qn_quant_opts opts = {.scheme = scheme};
	samples s = {.b = b};
	qn_dataset set = {.nbatch = 1, .batch = 1, .get = get, .user = &s};
	void *data;

	build_parse(b, text);
	const qn_type *type = qn_graph_node(b->g, b->g->input[0])->type;
	qn_tensor *x = qn_tensor_new(&b->arena, type, &data);
	for (int64_t i = 0; i < qn_type_count(type); i++)
		qn_store_f64(data, QN_PLAIN_f32, i, (double)i / (double)(qn_type_count(type) - 1));
	s.x[0] = x;
	build_check(b, qn_partition(&b->model, &opts) == QN_OK);
	build_check(b, qn_quantize_model(&b->model, &opts) == QN_OK);
	build_check(b, qn_calibrate_model(&b->model, &set, NULL) == QN_OK);
	build_check(b, qn_bind(&b->model) == QN_OK);
	b->g = qn_model_entry(&b->model);
}

#define LAYER                                                                                      \
	"model \"m\" stage float\n"                                                                \
	"graph @main(%x: tensor<1x2xf32>) {\n"                                                     \
	"  %w = const : tensor<2x2xf32> [1.27, -0.5, 0.0127, 0.005]\n"                             \
	"  %b = const : tensor<2xf32> [0.5, -0.25]\n"                                              \
	"  %d = dense %x, %w\n"                                                                    \
	"  %y = bias_add %d, %b\n"

/* The first row of the weights is a hundred times larger than the second one. */
static void
defect_channel_scales(void **state)
{
	builder b;
	double first, second;
	int64_t zp;

	(void)state;
	quantize(&b, LAYER "  return %y\n}\n", QN_SCHEME_TFLITE);
	const qn_node *dense = find_op(b.g, QN_OP_dense);
	const qn_elem *w = qn_graph_node(b.g, dense->in[1])->type->elem;
	assert_int_equal(qn_elem_nparams(w), 2);
	qn_elem_param(&b.model.types, w, 0, &first, &zp);
	qn_elem_param(&b.model.types, w, 1, &second, &zp);
	assert_true(fabs(first - 0.01) < 1e-8 && fabs(second - 0.0001) < 1e-10);
	build_end(&b);
}

static void
defect_all_outputs(void **state)
{
	builder b;

	(void)state;
	quantize(&b, LAYER "  %r = relu %y\n  return %y, %r\n}\n", QN_SCHEME_TFLITE);
	assert_int_equal(b.g->noutput, 2);
	build_check(&b, qn_requantize(&b.model, NULL) == QN_OK);
	build_check(&b, qn_legalize(&b.model) == QN_OK);
	assert_int_equal(qn_model_entry(&b.model)->noutput, 2);
	assert_string_equal(qn_model_entry(&b.model)->output[1].name, "r");
	build_end(&b);
}

/* A bias behind a dense is added to the sum, not in another op with parameters of its own. */
static void
defect_bias_inside(void **state)
{
	builder b;

	(void)state;
	quantize(&b, LAYER "  return %y\n}\n", QN_SCHEME_RFC);
	assert_int_equal(find_op(b.g, QN_OP_dense)->nin, 3);
	for (qn_id id = 1; id < b.g->n; id++)
		assert_true(qn_graph_node(b.g, id)->op != QN_OP_bias_add);
	build_end(&b);
}

/* ---- kernels' arguments ---- */

/* 0 + 0 is 0, whatever codes stand for it. */
static void
defect_add_zero_points(void **state)
{
	builder b;

	(void)state;
	build_parse(&b, "model \"add\" stage integer\n"
			"graph @main(%x: tensor<1x4x!quant.uniform<i8:f32, 0.5:10>>) {\n"
			"  %y = add %x, %x : tensor<1x4x!quant.uniform<i8:f32, 0.7:-3>>\n"
			"  return %y\n"
			"}\n");
	const qn_tensor *y = run_on(&b, 10);
	for (int64_t i = 0; i < qn_type_count(y->type); i++)
		assert_int_equal(qn_tensor_i64(y, i), -3);
	build_end(&b);
}

/* Each output counts the taps inside the image: two rows of padding above, a column on the right,
 * none between the images. */
static void
defect_pad_axes(void **state)
{
	static const int64_t rows[4] = {1, 2, 3, 3}, columns[4] = {3, 3, 3, 2};
	builder b;

	(void)state;
	build_parse(&b, "model \"pad\" stage integer\n"
			"graph @main(%x: tensor<2x4x5x1x!quant.uniform<i8:f32, 0.5:10>>) {\n"
			"  %w = const : tensor<1x3x3x1x!quant.uniform<i8:f32, 0.25>> "
			"[1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
			"  %y = conv2d %x, %w {pad=[2,0,0,1]}\n"
			"  return %y\n"
			"}\n");
	const qn_tensor *y = run_on(&b, 11);
	assert_int_equal(qn_type_count(y->type), 2 * 4 * 4);
	for (int64_t i = 0; i < 2 * 4 * 4; i++)
		assert_int_equal(qn_tensor_i64(y, i), rows[i / 4 % 4] * columns[i % 4]);
	build_end(&b);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defect_symmetric_range), cmocka_unit_test(defect_zero_point),
		cmocka_unit_test(defect_channel_scales),  cmocka_unit_test(defect_all_outputs),
		cmocka_unit_test(defect_bias_inside),     cmocka_unit_test(defect_add_zero_points),
		cmocka_unit_test(defect_pad_axes),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
