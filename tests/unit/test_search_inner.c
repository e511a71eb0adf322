/* SPDX-License-Identifier: Apache-2.0 */
/* test_search_inner.c - the method "output" where a partition has symbols inside or takes another one's result, and
 * where an activation has a scale for each channel. */
#include "tests/unit/search_rig.h"

/* ---- symbols inside of a partition ---- */

/* lrn is written out: squares, their sum and the factor are quantized between its operations. */
static rig
make_lrn(void)
{
	rig r = {.ctx = qn_open(NULL)};
	float x[SAMPLES * IN];
	qn_id y;

	for (int i = 0; i < SAMPLES * IN; i++)
		x[i] = (float)(i * 37 % 101 - 50) / 25;
	assert_int_equal(qn_array_new(r.ctx, "f32", 4, (int64_t[]){SAMPLES, 1, 2, 4}, x, &r.x),
			 QN_OK);
	assert_int_equal(qn_model_new(r.ctx, "net", &r.m), QN_OK);
	qn_graph *g = qn_model_main(r.m);
	y = qn_add_input(g, "x", "tensor<1x1x2x4xf32>");
	y = qn_add_op(g, "lrn", "n", 1, &y, "size=3, alpha=0.5", NULL);
	assert_int_equal(qn_add_output(g, "y", y), QN_OK);
	return r;
}

static double
lrn_error(const char *method)
{
	rig r = make_lrn();
	qn_array *real, *y;
	double error = 0;

	assert_int_equal(qn_run(r.m, 1, &r.x, 1, 1, &real), QN_OK);
	assert_int_equal(compile(&r, (qn_compile_opts){.method = method, .passes = quantized}),
			 QN_OK);
	assert_int_equal(qn_diag_count(r.ctx), 0);
	assert_int_equal(qn_run(r.m, 1, &r.x, 1, 1, &y), QN_OK);
	const float *a = qn_array_data(real), *b = qn_array_data(y);
	for (int i = 0; i < SAMPLES * IN; i++)
		error += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
	qn_close(r.ctx);
	return error;
}

static void
test_inner_symbols(void **state)
{
	const double before = lrn_error("minmax");
	const double after = lrn_error("output:steps=5");

	(void)state;
	assert_true(before > 0 && after <= before);
}

/* A partition whose output is places: how many of them are others than in f32.  The scale of the
 * graph's input is not searched for; what is asked is that the search reads i32. */
static size_t
changed_places(const char *method)
{
	rig r = {.ctx = qn_open(NULL)};
	float x[SAMPLES * IN];
	qn_id y;
	qn_array *real, *quant;
	size_t n = 0;

	for (int i = 0; i < SAMPLES * IN; i++)
		x[i] = i == 0 ? 30 : (float)(i * 7 % 11 - 5) / 100;
	assert_int_equal(qn_array_new(r.ctx, "f32", 2, (int64_t[]){SAMPLES, IN}, x, &r.x), QN_OK);
	assert_int_equal(qn_model_new(r.ctx, "net", &r.m), QN_OK);
	qn_graph *g = qn_model_main(r.m);
	y = qn_add_input(g, "x", "tensor<1x8xf32>");
	y = qn_add_op(g, "argmax", "n", 1, &y, "axis=1", NULL);
	assert_int_equal(qn_add_output(g, "y", y), QN_OK);
	assert_int_equal(qn_run(r.m, 1, &r.x, 1, 1, &real), QN_OK);
	assert_int_equal(compile(&r, (qn_compile_opts){.method = method, .passes = quantized}),
			 QN_OK);
	assert_int_equal(qn_run(r.m, 1, &r.x, 1, 1, &quant), QN_OK);
	const int32_t *a = qn_array_data(real), *b = qn_array_data(quant);
	for (int i = 0; i < SAMPLES; i++)
		n += a[i] != b[i];
	qn_close(r.ctx);
	return n;
}

static void
test_places(void **state)
{
	const size_t before = changed_places("minmax"), after = changed_places("output");

	(void)state;
	assert_true(before > 0 && after <= before);
}

static qn_id
two_steps(void *user, qn_quantizing *q, const qn_match *m)
{
	const qn_graph *before = qn_quantizing_before(q);
	const qn_id root = qn_match_root(qn_quantizing_match(q));
	qn_id x = qn_quantize_activation(q, qn_match_get(m, "x"), "r", "x");

	(void)user;
	x = qn_dequantize(q, x, NULL);
	x = qn_quantizing_op(q, qn_match_get(qn_quantizing_match(q), "e"), "inner", 1, &x);
	x = qn_dequantize(q, qn_quantize_activation(q, x, "r", "inner"), NULL);
	return qn_quantizing_op(q, root, qn_value(before, root).name, 1, &x);
}

/* Reads the inputs of both symbols before and after the first one has a value. */
static qn_status
read_inputs(void *user, qn_info *i)
{
	const double half = 0.5;
	const qn_symbol_value trial = {.symbol = "r.x", .n = 1, .scale = &half};
	qn_info_data v;

	assert_string_equal(qn_info_name(i), "y");
	assert_string_equal(qn_info_pattern(i), "steps");
	assert_int_equal(qn_info_inputs(i), 2); /* those of both symbols */
	assert_int_equal(qn_info_batches(i), SAMPLES);
	assert_string_equal(qn_info_symbol(i, 0).name, "r.x");
	assert_string_equal(qn_info_symbol(i, 1).name, "r.inner");
	assert_int_equal(qn_info_read(i, QN_INFO_INPUT, 0, 3, 0, NULL, &v), QN_OK);
	assert_true(v.count == IN && v.values[0] == ((const float *)user)[3 * IN]);
	assert_int_equal(qn_info_read(i, QN_INFO_INPUT, 1, 3, 1, &trial, &v), QN_OK);
	for (size_t k = 0; k < v.count; k++) /* squares of halves */
		assert_true(v.values[k] * 4 == (float)(int)(v.values[k] * 4));
	assert_int_equal(qn_info_set_range(i, 0, -2, 2), QN_OK);
	assert_int_equal(qn_info_read(i, QN_INFO_INPUT, 1, 3, 0, NULL, &v), QN_OK);
	return qn_info_set_range(i, 1, 0, 4);
}

static void
test_inner_input(void **state)
{
	rig r = {.ctx = qn_open(NULL)};
	float x[SAMPLES * IN];
	const qn_quantizer mine = {.name = "steps",
				   .text = "reshape(e=square(x))",
				   .quantize = two_steps,
				   .calibrate = read_inputs,
				   .user = x};
	qn_id y;

	(void)state;
	for (int i = 0; i < SAMPLES * IN; i++)
		x[i] = (float)(i * 37 % 101 - 50) / 25;
	assert_int_equal(qn_array_new(r.ctx, "f32", 2, (int64_t[]){SAMPLES, IN}, x, &r.x), QN_OK);
	assert_int_equal(qn_model_new(r.ctx, "net", &r.m), QN_OK);
	qn_graph *g = qn_model_main(r.m);
	y = qn_add_input(g, "x", "tensor<1x8xf32>");
	y = qn_add_op(g, "square", "s", 1, &y, NULL, NULL);
	y = qn_add_op(g, "reshape", "y", 1, &y, "shape=[1,8]", NULL);
	assert_int_equal(qn_add_output(g, "out", y), QN_OK);
	assert_int_equal(compile(&r, (qn_compile_opts){.scheme = QN_RFC,
						       .passes = quantized,
						       .quantizers = &mine,
						       .nquantizers = 1}),
			 QN_OK);
	assert_int_equal(qn_diag_count(r.ctx), 0);
	qn_close(r.ctx);
}

/* ---- a scale for each channel of an activation ---- */

static qn_id
add_by_channel(void *user, qn_quantizing *q, const qn_match *m)
{
	const qn_quant_type codes = {.bits = 8, .is_signed = 1, .per_axis = 1, .axis = 1};
	const qn_graph *before = qn_quantizing_before(q);
	const qn_id root = qn_match_root(qn_quantizing_match(q));
	qn_id in[2], y;

	(void)user;
	in[0] = qn_dequantize(q, qn_quantize_symbol(q, qn_match_get(m, "a"), "s", "a", &codes),
			      NULL);
	in[1] = qn_dequantize(q, qn_quantize_symbol(q, qn_match_get(m, "b"), "s", "b", &codes),
			      NULL);
	y = qn_quantizing_op(q, root, "s.sum", 2, in);
	y = qn_quantize_symbol(q, y, "s", "y", &codes);
	return qn_dequantize(q, y, qn_value(before, root).name);
}

/* The range of each channel over all batches. */
static qn_status
by_channel(void *user, qn_info *info)
{
	(void)user;
	for (size_t k = 0; qn_info_symbol(info, k).name != NULL; k++) {
		const qn_symbol_info s = qn_info_symbol(info, k);
		double scale[IN], lo[IN] = {0}, hi[IN] = {0};
		int64_t zp[IN];
		qn_info_data v;

		assert_true(s.length == IN && !s.constant && !s.symmetric);
		for (size_t b = 0; b < qn_info_batches(info); b++) {
			assert_int_equal(qn_info_read(info, QN_INFO_FLOAT_INPUT, k, b, 0, NULL, &v),
					 QN_OK);
			for (size_t i = 0; i < IN; i++) {
				const double x = (double)v.values[i];

				lo[i] = x < lo[i] ? x : lo[i];
				hi[i] = x > hi[i] ? x : hi[i];
			}
		}
		for (size_t i = 0; i < IN; i++) {
			scale[i] = (hi[i] - lo[i]) / 250;
			zp[i] = -125 - (int64_t)(lo[i] / scale[i]);
		}
		assert_int_equal(qn_info_set(info, &(qn_symbol_value){s.name, IN, scale, zp}),
				 QN_OK);
	}
	return QN_OK;
}

/* Channel i of x reaches to 2^-i. */
static rig
make_channels(void)
{
	rig r = {.ctx = qn_open(NULL)};
	float x[SAMPLES * IN];
	qn_id in[2];

	for (int i = 0; i < SAMPLES * IN; i++)
		x[i] = (float)(i * 37 % 101 - 50) / 50 / (float)(1 << i % IN);
	assert_int_equal(qn_array_new(r.ctx, "f32", 2, (int64_t[]){SAMPLES, IN}, x, &r.x), QN_OK);
	assert_int_equal(qn_model_new(r.ctx, "net", &r.m), QN_OK);
	qn_graph *g = qn_model_main(r.m);
	in[0] = qn_add_input(g, "x", "tensor<1x8xf32>");
	in[1] = qn_add_op(g, "relu", "r", 1, in, NULL, NULL);
	in[0] = qn_add_op(g, "add", "s", 2, in, NULL, NULL);
	assert_int_equal(qn_add_output(g, "y", in[0]), QN_OK);
	return r;
}

static void
test_channels(void **state)
{
	qn_quantizer mine = {.name = "add",
			     .text = "add(a, b)",
			     .quantize = add_by_channel,
			     .calibrate = by_channel};
	qn_compile_opts o = {
		.scheme = QN_RFC, .quantizers = &mine, .nquantizers = 1, .passes = quantized};
	qn_array *real, *y;
	rig r = make_channels();

	(void)state;
	assert_int_equal(qn_run(r.m, 1, &r.x, 1, 1, &real), QN_OK);
	assert_int_equal(compile(&r, o), QN_OK);
	assert_int_equal(qn_diag_count(r.ctx), 0);
	assert_int_equal(qn_run(r.m, 1, &r.x, 1, 1, &y), QN_OK);
	const float *a = qn_array_data(real), *b = qn_array_data(y);
	for (int i = 0; i < SAMPLES * IN; i++) {
		const float most =
			4.0f / 250 / (float)(1 << i % IN); /* of the channel: three roundings */
		assert_true(a[i] - b[i] < most && b[i] - a[i] < most);
	}
	qn_close(r.ctx);
	/* methods find them, too */
	r = make_channels();
	mine.calibrate = NULL;
	assert_int_equal(compile(&r, o), QN_OK);
	assert_int_equal(qn_diag_count(r.ctx), 0);
	qn_close(r.ctx);
	/* a relu between them compares the integers of each channel */
	r = make_channels();
	mine.calibrate = by_channel;
	o.passes = NULL;
	o.require_int = 1;
	assert_int_equal(compile(&r, o), QN_OK);
	qn_close(r.ctx);
}

/* A matrix that is stored the other way round as the weights of a dense layer: the partition reads another constant than
 * its call did. */
static void
test_turned_weights(void **state)
{
	rig r = {.ctx = qn_open(NULL)};
	float x[SAMPLES * IN], w[OUT * OUT];
	qn_array *weights;

	(void)state;
	for (int i = 0; i < SAMPLES * IN; i++)
		x[i] = (float)(i * 37 % 101 - 50) / 25;
	for (int i = 0; i < OUT * OUT; i++)
		w[i] = (float)(i * 5 % 7 - 3) / 4;
	assert_int_equal(qn_array_new(r.ctx, "f32", 3, (int64_t[]){SAMPLES, 2, OUT}, x, &r.x),
			 QN_OK);
	assert_int_equal(qn_array_new(r.ctx, "f32", 2, (int64_t[]){OUT, OUT}, w, &weights), QN_OK);
	for (int stored = 0; stored < 3; stored++) {
		qn_compile_opts o = {.method = "output:steps=3"};

		o.activations = stored == 1 ? QN_ACTIVATIONS_I16 : QN_ACTIVATIONS_I8;
		o.weights_type = stored == 2 ? QN_WEIGHTS_I4 : QN_WEIGHTS_I8;
		assert_int_equal(qn_model_new(r.ctx, "net", &r.m), QN_OK);
		qn_graph *g = qn_model_main(r.m);
		const qn_id in[2] = {qn_add_input(g, "x", "tensor<1x2x4xf32>"),
				     qn_add_const(g, "w", weights)};
		const qn_id y = qn_add_op(g, "matmul", "n", 2, in, NULL, NULL);
		assert_int_equal(qn_add_output(g, "y", y), QN_OK);
		assert_int_equal(compile(&r, o), QN_OK);
		assert_int_equal(qn_diag_count(r.ctx), 0);
	}
	qn_close(r.ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inner_symbols),  cmocka_unit_test(test_places),
		cmocka_unit_test(test_inner_input),    cmocka_unit_test(test_channels),
		cmocka_unit_test(test_turned_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
