/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_open.c - quantized ONNX files that leave values without a range: samples give these one, and what the
 * file gives stays as it is.  Results are compared with those of the file as it stands, which is ONNX's definition. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "tests/unit/onnx_host.h"
#include "tests/unit/onnx_qdq.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "quern/measure.h"

/* ---- the networks: each returns how far results may be off ---- */

/* Small weights, so that what a reader adds is about what it gets. */
static void
small_conv(const char *x, const char *y)
{
	char in[32];

	weights("w", "4,4,1,1", 0.001);
	(void)snprintf(in, sizeof in, "%s,w", x);
	onx_node(file, "Conv", in, y);
}

/* Convolution, sum and product without a range each; the first and the last value have one. */
static double
sum_and_product(void)
{
	image();
	conv("d", "c");
	onx_node(file, "Add", "c,d", "a");
	onx_node(file, "Mul", "a,d", "m");
	small_conv("m", "n"); /* a quarter of the step of m, 0.43, and one of y */
	return 0.1 + ends("n", 0.03, 128);
}

/* The rest of the network is in float. */
static double
float_tail(void)
{
	image();
	conv("d", "c");
	pair("c", "e", 0.0507, ONX_UINT8, 120);
	onx_node(file, "Add", "e,d", "a");
	onx_node(file, "Relu", "a", "y");
	onx_output(file, "y");
	return 0.0365; /* the step of y */
}

/* … and its beginning. */
static double
float_head(void)
{
	onx_input(file, "x", ONX_FLOAT, "1,4,6,5");
	small_conv("x", "c");
	return ends("c", 0.005, 120);
}

/* One branch has a range, the other one none. */
static double
two_branches(void)
{
	image();
	conv("d", "c");
	onx_node(file, "HardSwish", "c", "h");
	small_conv("h", "b");
	pair("b", "e", 0.0211, ONX_UINT8, 120);
	onx_node(file, "Add", "e,h", "a");
	return 0.1 + ends("a", 0.06, 20); /* the step of h, and that of y */
}

/* A value that one reader quantizes has that range for the others too. */
static double
half_fixed(void)
{
	image();
	onx_node(file, "Add", "d,d", "a");
	pair("a", "e", 0.04, ONX_UINT8, 128);
	conv("e", "c");
	onx_node(file, "Mul", "c,a", "m");
	return ends("m", 0.1, 128);
}

/* What a QuantizeLinear limits for one reader is not limited for another. */
static double
limited(void)
{
	image();
	onx_node(file, "HardSwish", "d", "h");
	pair("h", "e", 0.004, ONX_UINT8, 128);
	small_conv("e", "c");
	pair("c", "f", 0.01, ONX_UINT8, 128);
	onx_node(file, "Mul", "h,f", "m");
	onx_node(file, "Mul", "m,d", "n");
	return 0.02 + ends("n", 0.03, 128);
}

/* A number that a Scatter puts among quantized values, and that a difference leaves. */
static double
small_difference(void)
{
	image();
	onx_tensor(file, "at", ONX_INT64, "1,1,1,1", (const int64_t[]){2}, 8);
	onx_floats(file, "v", "1,1,1,1", (const float[]){0.0123f});
	onx_int(file, "axis", 3);
	onx_node(file, "ScatterElements", "d,at,v", "s");
	pair("s", "e", 0.02, ONX_UINT8, 128);
	onx_node(file, "Sub", "e,s", "m");
	return 0.0001 + ends("m", 0.00008, 128); /* a step of 16 bits of s, and one of y */
}

/* A value without a range that is 0 on all samples, beside one in tiny steps. */
static double
all_zero(void)
{
	image();
	onx_node(file, "Sub", "d,d", "m");
	pair("m", "e", 0.000004, ONX_UINT8, 0);
	onx_list(file, "axes", 1, (const int64_t[]){3});
	onx_node(file, "ReduceMean", "e", "r");
	pair("r", "f", 0.000004, ONX_UINT8, 0);
	onx_node(file, "Add", "f,r", "a");
	return ends("a", 0.000004, 0);
}

/* i8 files get i8. */
static double
signed_values(void)
{
	onx_input(file, "x", ONX_FLOAT, "1,4,6,5");
	pair("x", "d", 0.02, ONX_INT8, 0);
	conv("d", "c");
	onx_node(file, "Tanh", "c", "t");
	conv("t", "e");
	onx_node(file, "Sigmoid", "e", "s");
	onx_node(file, "Mul", "s,d", "m");
	pair("m", "y", 0.0201, ONX_INT8, 5);
	onx_output(file, "y");
	return 0.0201 +
	       0.0201; /* the step of y; what half a step of tanh, 1/256, adds over 36 weights */
}

/* Products whose matrix is the first operand. */
static double
matrices(void)
{
	image();
	onx_floats(file, "by", "4", (const float[]){1, 1, 0.7f, 0.8f});
	onx_string(file, "mode", "cubic");
	onx_node(file, "Resize", "d,,by", "r");
	return ends("r", 0.02, 128);
}

/* The softmax of masked scores, in whole steps of 1/256. */
static double
masked_softmax(const char *scores)
{
	onx_int(file, "axis", 3);
	onx_node(file, "Softmax", scores, "p");
	return 1 / 256.0 + ends("p", 1 / 256.0, 0); /* a step of scores of 8 bits, and one of y */
}

/* Scores c of an image d, and which of its elements are large, g. */
static void
scores(void)
{
	image();
	conv("d", "c");
	scalar("half", ONX_FLOAT, 0.11);
	onx_node(file, "Greater", "d,half", "g");
}

/* An attention's mask, as exporters write it: (1 - kept) * -3.4e38 is added to the scores. */
static double
computed_mask(void)
{
	scores();
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", "g", "k");
	scalar("one", ONX_FLOAT, 1.0);
	onx_node(file, "Sub", "one,k", "o");
	scalar("low", ONX_FLOAT, -3.4028234663852886e38);
	onx_node(file, "Mul", "o,low", "m");
	onx_node(file, "Add", "c,m", "s");
	return masked_softmax("s");
}

/* A constant one, beside a bias by position. */
static double
constant_mask(void)
{
	image();
	conv("d", "c");
	onx_floats(file, "m", "5", (const float[]){0.25f, -INFINITY, 0, -3.4e38f, -0.5f});
	onx_node(file, "Add", "c,m", "s");
	return masked_softmax("s");
}

/* What is left out by a Where. */
static double
chosen_mask(void)
{
	scores();
	scalar("low", ONX_FLOAT, -1e9);
	onx_node(file, "Where", "g,c,low", "s");
	return masked_softmax("s");
}

/* Values of different steps, joined before a product whose data have a scale of run time. */
static double
joined_levels(void)
{
	image();
	conv("d", "c");
	pair("c", "e", 0.0507, ONX_UINT8, 120);
	onx_int(file, "axis", 1);
	onx_node(file, "Concat", "d,e", "j");
	onx_node(file, "DynamicQuantizeLinear", "j", "q,s,z");
	onx_node(file, "DequantizeLinear", "q,s,z", "l");
	weights("w", "2,8,1,1", 0.001);
	onx_node(file, "Conv", "l,w", "n");
	return 0.04 + ends("n", 0.03, 128); /* one step of the data, 0.04, and one of y */
}

static const struct {
	const char *name;
	double (*build)(void);
	bool refused; /* without samples */
} networks[] = {
	{"sum_and_product", sum_and_product, true},
	{"float_tail", float_tail, false},
	{"float_head", float_head, true},
	{"two_branches", two_branches, true},
	{"limited", limited, true},
	{"small_difference", small_difference, true},
	{"half_fixed", half_fixed, false},
	{"signed_values", signed_values, true},
	{"all_zero", all_zero, false},
	{"matrices", matrices, false},
	{"computed_mask", computed_mask, true},
	{"constant_mask", constant_mask, true},
	{"chosen_mask", chosen_mask, true},
	{"joined_levels", joined_levels, true},
};

static void
build(host *h, size_t k, double *bound)
{
	another_file();
	*bound = networks[k].build();
	begin_host(h, (const int64_t[]){SAMPLES, 4, 6, 5}, 4);
}

/* ---- the tests ---- */

static void
test_results(void **state)
{
	(void)state;
	static double want[MOST_OUT], have[MOST_OUT];

	for (size_t k = 0; k < QN_COUNT(networks); k++) {
		double bound, off = 0;
		size_t n, again;
		host h;

		build(&h, k, &bound);
		assert_int_equal(run_host(&h, want, &n), QN_OK);
		qn_status status = qn_compile(h.m, &(qn_compile_opts){.calib = &h.x, .ncalib = 1});
		if (status != QN_OK)
			show(h.ctx);
		assert_int_equal(status, QN_OK);
		if (networks[k].refused)
			assert_false(has(h.ctx, "calib.unused", ""));
		assert_int_equal(run_host(&h, have, &again), QN_OK);
		assert_int_equal(n, again);
		for (size_t i = 0; i < n; i++)
			off = fmax(off, fabs(have[i] - want[i]));
		if (!(off <= bound * 1.01))
			fail_msg("%s: %g off", networks[k].name, off);
		end_host(&h);
	}
}

/* Without samples the message names the option that helps. */
static void
test_without_samples(void **state)
{
	(void)state;
	for (size_t k = 0; k < QN_COUNT(networks); k++) {
		double bound;
		host h;

		build(&h, k, &bound);
		const qn_status status = qn_compile(h.m, &(qn_compile_opts){0});
		if (networks[k].refused && status != QN_EUNSUPPORTED)
			fail_msg("%s: compiles", networks[k].name);
		if (status != QN_OK)
			assert_true(has(h.ctx, "legalize.float", "--calib SAMPLES"));
		end_host(&h);
	}
}

/* What stays in float in spite of samples is not to be calibrated with samples. */
static void
test_in_vain(void **state)
{
	(void)state;
	host h;

	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,4,6,5");
	scalar("xs", ONX_FLOAT, 0.02);
	scalar("xz", ONX_UINT8, 128);
	onx_node(file, "QuantizeLinear", "x,xs,xz", "q");
	onx_int(file, "to", ONX_INT32);
	onx_node(file, "Cast", "q", "i");
	onx_tensor(file, "zp", ONX_INT32, "", &(const int32_t){128}, 4);
	onx_node(file, "Mod", "i,zp", "j");
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", "j", "f");
	onx_node(file, "Mul", "f,xs", "d");
	conv("d", "c");
	onx_output(file, "c");
	begin_host(&h, (const int64_t[]){SAMPLES, 4, 6, 5}, 4);
	assert_int_equal(qn_compile(h.m, &(qn_compile_opts){.calib = &h.x, .ncalib = 1}),
			 QN_EUNSUPPORTED);
	assert_true(has(h.ctx, "legalize.float", "samples did not help"));
	assert_false(has(h.ctx, "legalize.float", "calibrate it"));
	end_host(&h);
}

static const char *
text_after(host *h, const char *pass, const char *method)
{
	const qn_compile_opts opts = {
		.calib = &h->x, .ncalib = 1, .stop_after = pass, .method = method};

	assert_int_equal(qn_compile(h->m, &opts), QN_OK);
	return text_of(h);
}

/* Bytes of a file that is in float but for what says what they stand for. */
static void
test_bytes(void **state)
{
	static double want[MOST_OUT], have[MOST_OUT];
	static uint8_t bytes[MOST_OUT];
	const int64_t shape[] = {SAMPLES, 4, 6, 5};
	const qn_activations storages[] = {QN_ACTIVATIONS_I8, QN_ACTIVATIONS_U8,
					   QN_ACTIVATIONS_I16};

	(void)state;
	for (size_t k = 0; k < QN_COUNT(storages); k++) {
		double off = 0;
		size_t n, again;
		host h;

		another_file();
		onx_input(file, "x", ONX_UINT8, "1,4,6,5");
		scalar("s", ONX_FLOAT, 0.02);
		scalar("z", ONX_UINT8, 128);
		onx_node(file, "DequantizeLinear", "x,s,z", "d");
		small_conv("d", "c");
		onx_node(file, "Relu", "c", "y");
		onx_output(file, "y");
		begin_host(&h, shape, 4);
		for (size_t i = 0; i < SAMPLES * 120; i++) /* none of them at an end */
			bytes[i] = (uint8_t)pick(60, 180);
		assert_int_equal(qn_array_new(h.ctx, "u8", 4, shape, bytes, &h.x), QN_OK);
		assert_int_equal(run_host(&h, want, &n), QN_OK);
		const qn_compile_opts opts = {
			.calib = &h.x, .ncalib = 1, .activations = storages[k]};
		assert_int_equal(qn_compile(h.m, &opts), QN_OK);
		assert_non_null(strstr(text_of(&h), "<u8:f32, 2.000000e-02:128>"));
		assert_int_equal(run_host(&h, have, &again), QN_OK);
		for (size_t i = 0; i < n; i++)
			off = fmax(off, fabs(have[i] - want[i]));
		assert_true(off <= 0.0015); /* a step of y is about 0.001 */
		end_host(&h);
	}
}

/* Every quantized type and every constant of the file is in the calibrated graph, to the last digit. */
static void
test_fixed_stays(void **state)
{
	(void)state;
	for (size_t k = 0; k < QN_COUNT(networks); k++) {
		double bound;
		host h;

		build(&h, k, &bound);
		const char *before = text_after(&h, "axes", NULL);
		const char *after = text_after(&h, "calibrate", NULL);
		assert_null(strchr(strstr(after, "graph @"), '$'));
		for (const char *s = before; (s = strstr(s, "!quant.")) != NULL;) {
			const size_t n = strcspn(s, "\n");
			char *line = qn_arena_alloc(&rg->arena, n + 1, 1);

			memcpy(line, s, n);
			line[n] = '\0';
			if (strstr(after, line) == NULL)
				fail_msg("%s: lost %s", networks[k].name, line);
			s += n;
		}
		end_host(&h);
	}
}

/* The method is the one that is asked for. */
static void
test_method(void **state)
{
	(void)state;
	double bound;
	host a, b;

	build(&a, 0, &bound);
	char *minmax = strdup(strstr(text_after(&a, "calibrate", "minmax"), "symbol"));
	assert_non_null(minmax);
	end_host(&a);
	build(&b, 0, &bound);
	const char *text = text_after(&b, "calibrate", "percentile:p=90");
	assert_non_null(strstr(text, "open-method=percentile:p=90"));
	assert_true(strcmp(minmax, strstr(text, "symbol")) != 0);
	free(minmax);
	end_host(&b);
}

/* Samples for a file that has all ranges are of no use, which is said. */
static void
test_nothing_open(void **state)
{
	(void)state;
	host h;

	image();
	conv("d", "c");
	(void)ends("c", 0.05, 120);
	begin_host(&h, (const int64_t[]){SAMPLES, 4, 6, 5}, 4);
	assert_int_equal(qn_compile(h.m, &(qn_compile_opts){.calib = &h.x, .ncalib = 1}), QN_OK);
	assert_true(has(h.ctx, "calib.unused", "--from-float"));
	end_host(&h);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_results),      TEST(test_bytes),       TEST(test_without_samples),
		TEST(test_in_vain),      TEST(test_fixed_stays), TEST(test_method),
		TEST(test_nothing_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
