/* SPDX-License-Identifier: Apache-2.0 */
/* Files that quantize at run time, as ONNX Runtime's quantize_dynamic writes them: with samples they become integers
 * alone that compute the scale of their data themselves, and give what the file gives, at every level of the input. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "tests/unit/onnx_host.h"

#include <math.h>

static const char *
name_of(const char *what, const char *layer)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_buff(&b, "%s%s", what, layer);
	return qn_buf_str(&b);
}

static const char *
words(const char *const *what, const char *layer)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	for (; *what != NULL; what++)
		qn_buff(&b, "%s%s,", *what, layer);
	return qn_buf_str(&b);
}
#define WORDS(layer, ...) words((const char *const[]){__VA_ARGS__, NULL}, layer)

static void
integers(const char *name, int elem, const char *dims, int lo, int hi)
{
	int8_t w[512];
	const size_t n = onx_count(dims);

	assert_true(n <= sizeof w);
	for (size_t i = 0; i < n; i++)
		w[i] = (int8_t)pick(lo, hi);
	onx_tensor(file, name, elem, dims, w, n);
}

static void
numbers(const char *name, const char *dims, double lo, double hi)
{
	float v[64];
	const size_t n = onx_count(dims);

	for (size_t i = 0; i < n; i++)
		v[i] = (float)(lo + (hi - lo) * (double)pick(0, 1000) / 1000);
	onx_floats(file, name, dims, v);
}

/* y = op(DynamicQuantizeLinear(x), w) * (scale of x * scales): the weights and their scales are there already. */
static void
product(const char *op, const char *x, const char *y, const char *k, bool swapped)
{
	onx_node(file, "DynamicQuantizeLinear", x, WORDS(k, "q", "s", "z"));
	onx_node(file, op, WORDS(k, "q", "w", "z", "wz"), name_of("i", k));
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", name_of("i", k), name_of("f", k));
	onx_node(file, "Mul", swapped ? WORDS(k, "ws", "s") : WORDS(k, "s", "ws"),
		 name_of("sc", k));
	onx_node(file, "Mul", swapped ? WORDS(k, "sc", "f") : WORDS(k, "f", "sc"), y);
}

static void
layers(void)
{
	onx_input(file, "x", ONX_FLOAT, "1,16");
	integers("w1", ONX_INT8, "16,12", -127, 127);
	integers("wz1", ONX_INT8, "", 0, 0);
	numbers("ws1", "12", 0.002, 0.004);
	product("MatMulInteger", "x", "m1", "1", false);
	numbers("b1", "12", -0.02, 0.02);
	onx_node(file, "Add", "m1,b1", "a1");
	onx_node(file, "Relu", "a1", "r1");
	integers("w2", ONX_UINT8, "12,5", -128, 127);
	integers("wz2", ONX_UINT8, "", -128, -128); /* 128 */
	numbers("ws2", "", 0.003, 0.003);
	product("MatMulInteger", "r1", "y", "2", true);
}

static void
convolution(void)
{
	onx_input(file, "x", ONX_FLOAT, "1,2,6,5");
	integers("w", ONX_INT8, "3,2,3,3", -127, 127);
	integers("wz", ONX_INT8, "", 0, 0);
	numbers("ws", "", 0.003, 0.003);
	onx_node(file, "DynamicQuantizeLinear", "x", "q,s,z");
	onx_list(file, "pads", 4, (const int64_t[]){1, 1, 1, 1});
	onx_node(file, "ConvInteger", "q,w,z,wz", "i");
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", "i", "f");
	onx_node(file, "Mul", "s,ws", "sc");
	onx_node(file, "Mul", "f,sc", "m");
	numbers("b", "1,3,1,1", -0.02, 0.02);
	onx_node(file, "Add", "m,b", "y");
}

/* A zero point for each column: the weights get scales anew. */
static void
columns(void)
{
	onx_input(file, "x", ONX_FLOAT, "1,16");
	integers("w", ONX_UINT8, "16,5", -128, 127);
	integers("wz", ONX_UINT8, "5", 100, 127);
	numbers("ws", "5", 0.002, 0.004);
	product("MatMulInteger", "x", "y", "", false);
}

/* A zero point for each filter, all of them the same. */
static void
filters(void)
{
	onx_input(file, "x", ONX_FLOAT, "1,2,6,5");
	integers("w", ONX_UINT8, "3,2,3,3", -128, 127);
	integers("wz", ONX_UINT8, "3", -128, -128);
	numbers("ws", "1,3,1,1", 0.002, 0.004);
	product("ConvInteger", "x", "y", "", true);
}

/* The scale of the data alone: the weights have the scale 1. */
static void
unscaled(void)
{
	onx_input(file, "x", ONX_FLOAT, "2,16");
	integers("w", ONX_INT8, "16,5", -127, 127);
	integers("wz", ONX_INT8, "", 0, 0);
	onx_node(file, "DynamicQuantizeLinear", "x", "q,s,z");
	onx_node(file, "MatMulInteger", "q,w,z,wz", "i");
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", "i", "f");
	onx_node(file, "Mul", "f,s", "y");
}

static void
fused(void)
{
	onx_input(file, "x", ONX_FLOAT, "1,16");
	integers("w", ONX_INT8, "16,5", -127, 127);
	numbers("ws", "5", 0.002, 0.004);
	numbers("b", "5", -0.02, 0.02);
	file->domain = "com.microsoft";
	onx_node(file, "DynamicQuantizeMatMul", "x,w,ws,,b", "y");
	file->domain = NULL;
}

/* The same from integers of the data. */
static void
fused_integers(void)
{
	onx_input(file, "x", ONX_FLOAT, "1,16");
	onx_node(file, "DynamicQuantizeLinear", "x", "q,s,z");
	integers("w", ONX_UINT8, "16,5", -128, 127);
	integers("wz", ONX_UINT8, "", -128, -128);
	numbers("ws", "5", 0.002, 0.004);
	numbers("b", "5", -0.02, 0.02);
	file->domain = "com.microsoft";
	onx_node(file, "MatMulIntegerToFloat", "q,w,s,ws,z,wz,b", "y");
	file->domain = NULL;
}

/* Rounded and back, before weights in float. */
static void
rounded_data(void)
{
	onx_input(file, "x", ONX_FLOAT, "1,16");
	onx_node(file, "DynamicQuantizeLinear", "x", "q,s,z");
	onx_node(file, "DequantizeLinear", "q,s,z", "d");
	numbers("w", "16,4", -0.5, 0.5);
	onx_node(file, "MatMul", "d,w", "y");
}

#define WIDE_OUTPUT "{\"rules\": [{\"op\": \"output\", \"activations\": \"i16\"}]}"

/* bound: of the largest output of the level. */
static const struct {
	const char *name;
	void (*build)(void);
	int64_t shape[4];
	int rank, products;
	double bound;
	const char *recipe; /* of those that become float models; NULL: none */
} networks[] = {
	{"layers", layers, {SAMPLES, 16}, 2, 2, 0.02, NULL},
	{"convolution", convolution, {SAMPLES, 2, 6, 5}, 4, 1, 0.02, NULL},
	{"unscaled", unscaled, {SAMPLES, 16}, 2, 1, 0.02, NULL},
	{"fused", fused, {SAMPLES, 16}, 2, 1, 0.02, NULL},
	{"fused_integers", fused_integers, {SAMPLES, 16}, 2, 1, 0.02, NULL},
	{"rounded_data", rounded_data, {SAMPLES, 16}, 2, 1, 0.1, WIDE_OUTPUT},
	{"columns", columns, {SAMPLES, 16}, 2, 1, 0.02, WIDE_OUTPUT},
	{"filters", filters, {SAMPLES, 2, 6, 5}, 4, 1, 0.02, NULL},
};

/* How often a word stands in a text. */
static int
times(const char *text, const char *word)
{
	int n = 0;

	for (const char *p = text; (p = strstr(p, word)) != NULL; p += strlen(word))
		n++;
	return n;
}

/* The samples a hundredth as loud. */
static qn_array *
quiet(host *h)
{
	const size_t count = (size_t)qn_array_dim(h->x, 0) * 60;
	static float v[MOST_OUT];
	int64_t shape[4], n = 1;
	qn_array *x;

	for (int i = 0; i < qn_array_rank(h->x); i++)
		n *= shape[i] = qn_array_dim(h->x, i);
	assert_true((size_t)n <= count && n <= MOST_OUT);
	for (int64_t i = 0; i < n; i++)
		v[i] = ((const float *)qn_array_data(h->x))[i] * 0.01F;
	assert_int_equal(qn_array_new(h->ctx, "f32", qn_array_rank(h->x), shape, v, &x), QN_OK);
	return x;
}

static void
test_networks(void **state)
{
	static double want[2][MOST_OUT], have[MOST_OUT];

	(void)state;
	for (size_t k = 0; k < QN_COUNT(networks); k++) {
		size_t n, again;
		host h;

		another_file();
		networks[k].build();
		onx_output(file, "y");
		begin_host(&h, networks[k].shape, networks[k].rank);
		qn_array *loud = h.x, *low = quiet(&h);
		assert_int_equal(run_host(&h, want[0], &n), QN_OK);
		h.x = low;
		assert_int_equal(run_host(&h, want[1], &n), QN_OK);
		const qn_status status = qn_compile(
			h.m, &(qn_compile_opts){
				     .calib = &loud, .ncalib = 1, .recipe = networks[k].recipe});
		if (status != QN_OK)
			show(h.ctx);
		assert_int_equal(status, QN_OK);
		assert_int_equal(times(text_of(&h), "= dynamic_rescale"), networks[k].products);
		for (int level = 0; level < 2; level++) {
			double most = 0, off = 0;

			h.x = level == 0 ? loud : low;
			assert_int_equal(run_host(&h, have, &again), QN_OK);
			assert_int_equal(n, again);
			for (size_t i = 0; i < n; i++) {
				most = fmax(most, fabs(want[level][i]));
				off = fmax(off, fabs(have[i] - want[level][i]));
			}
			if (!(off <= most * networks[k].bound))
				fail_msg("%s, level %d: %g off of %g", networks[k].name, level, off,
					 most);
		}
		end_host(&h);
	}
}

/* The network with samples of this shape; off: by how much of the largest result its integers may differ. */
static void
with_samples(const int64_t *shape, int rank, int products, double off)
{
	static double want[MOST_OUT], have[MOST_OUT];
	double most = 0;
	size_t n, again;
	host h;

	begin_host(&h, shape, rank);
	assert_int_equal(run_host(&h, want, &n), QN_OK);
	assert_int_equal(qn_compile(h.m, &(qn_compile_opts){.calib = &h.x, .ncalib = 1}), QN_OK);
	assert_int_equal(times(text_of(&h), "= dynamic_rescale"), products);
	assert_int_equal(run_host(&h, have, &again), QN_OK);
	assert_int_equal(n, again);
	for (size_t i = 0; i < n; i++)
		most = fmax(most, fabs(want[i]));
	for (size_t i = 0; i < n; i++)
		assert_true(fabs(have[i] - want[i]) < off * most);
	end_host(&h);
}

/* Queries, keys and values of two heads in one product; scores and result have ranges of the samples. */
static void
test_attention(void **state)
{
	(void)state;
	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,4,8");
	onx_node(file, "DynamicQuantizeLinear", "x", "q,s,z");
	integers("w", ONX_INT8, "8,24", -127, 127);
	numbers("ws", "", 0.004, 0.004);
	numbers("b", "24", -0.02, 0.02);
	integers("wz", ONX_INT8, "", 0, 0);
	onx_int(file, "num_heads", 2);
	file->domain = "com.microsoft";
	onx_node(file, "QAttention", "q,w,b,s,ws,,z,wz", "y");
	file->domain = NULL;
	onx_output(file, "y");
	with_samples((const int64_t[]){SAMPLES, 4, 8}, 3, 3, 0.05);
}

/* A softmax over all axes from the second on, as operators before set 13 had it, reads and gives another shape: 16 bits
 * of data, and so of the result, wherever that is quantized. */
static void
test_flat_softmax(void **state)
{
	(void)state;
	another_file();
	convolution();
	onx_ints64(file, "flat", "2", (const int64_t[]){1, 90});
	onx_node(file, "Reshape", "y,flat", "f_y");
	onx_int(file, "axis", 1);
	onx_node(file, "Softmax", "f_y", "p");
	onx_ints64(file, "shape", "4", (const int64_t[]){1, 3, 6, 5});
	onx_node(file, "Reshape", "p,shape", "back");
	onx_output(file, "back");
	with_samples((const int64_t[]){SAMPLES, 2, 6, 5}, 4, 1, 0.02);
}

/* With a stored scale, in integers to the end. */
static void
test_stored_scale(void **state)
{
	static double want[MOST_OUT], have[MOST_OUT];
	size_t n, again;
	host h;

	(void)state;
	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,16");
	numbers("s", "", 0.02, 0.02);
	integers("z", ONX_UINT8, "", 120, 120);
	onx_node(file, "QuantizeLinear", "x,s,z", "q");
	integers("w", ONX_INT8, "16,5", -127, 127);
	numbers("ws", "", 0.003, 0.003);
	file->domain = "com.microsoft";
	onx_node(file, "MatMulIntegerToFloat", "q,w,s,ws,z", "y");
	file->domain = NULL;
	onx_output(file, "y");
	begin_host(&h, (const int64_t[]){SAMPLES, 16}, 2);
	assert_int_equal(run_host(&h, want, &n), QN_OK);
	assert_int_equal(times(text_of(&h), "= dequantize"), 2);
	assert_int_equal(qn_compile(h.m, &(qn_compile_opts){.calib = &h.x, .ncalib = 1}), QN_OK);
	assert_int_equal(run_host(&h, have, &again), QN_OK);
	assert_int_equal(n, again);
	for (size_t i = 0; i < n; i++)
		assert_true(fabs(have[i] - want[i]) < 1e-4);
	end_host(&h);
}

/* Another zero point than that of the data: plain integers, which stay; the message names the operator. */
static void
test_other_zero_point(void **state)
{
	host h;

	(void)state;
	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,16");
	integers("w", ONX_INT8, "16,5", -127, 127);
	integers("qz", ONX_UINT8, "", 3, 3);
	onx_node(file, "DynamicQuantizeLinear", "x", "q,s,z");
	onx_node(file, "MatMulInteger", "q,w,qz", "i");
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", "i", "f");
	onx_node(file, "Mul", "f,s", "y");
	onx_output(file, "y");
	begin_host(&h, (const int64_t[]){SAMPLES, 16}, 2);
	assert_int_equal(times(text_of(&h), "dynamic_fake_quant"), 0);
	end_host(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_networks, onnx_setup, onnx_teardown),
		cmocka_unit_test_setup_teardown(test_attention, onnx_setup, onnx_teardown),
		cmocka_unit_test_setup_teardown(test_flat_softmax, onnx_setup, onnx_teardown),
		cmocka_unit_test_setup_teardown(test_stored_scale, onnx_setup, onnx_teardown),
		cmocka_unit_test_setup_teardown(test_other_zero_point, onnx_setup, onnx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
