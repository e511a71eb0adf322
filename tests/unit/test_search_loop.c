/* SPDX-License-Identifier: Apache-2.0 */
/* test_search_loop.c - a calibration callback of a host program on a network with a loop: the loop is kept, and a carried value
 * that several partitions read has one symbol. */
#include "tests/unit/search_rig.h"

#include <stdio.h>
#include <string.h>

enum { MOST_STEPS = 200 };

static const char network[] = "model \"net\" stage float\n"
			      "graph @main(%%x: tensor<1x%dx8xf32>) {\n"
			      "  %%w = const : tensor<4x8xf32> rand 1\n"
			      "  %%r = const : tensor<4x4xf32> rand 2\n"
			      "  %%p = const : tensor<4x4xf32> rand 3\n"
			      "  %%zero = const : tensor<1x4xf32> splat 0.0\n"
			      "  %%i = loop {count=%d}\n"
			      "  %%xt = loop_slice %%x, %%i {axis=1}\n"
			      "  %%h = loop_carry %%zero, %%i\n"
			      "  %%a = dense %%xt, %%w\n"
			      "  %%b = dense %%h, %%r\n"
			      "  %%c = dense %%h, %%p\n"
			      "  %%d = add %%a, %%b\n"
			      "  %%f = sub %%d, %%c\n"
			      "  %%n = tanh %%f\n"
			      "  %%e = loop_end %%i, %%n\n"
			      "  %%y = loop_last %%n, %%e\n"
			      "  return %%y\n"
			      "}\n";

/* What a callback was called for, and what it read. */
typedef struct seen {
	int calls, steps;
} seen;

static rig
make(int steps)
{
	rig r = {.ctx = qn_open(NULL)};
	static float x[SAMPLES * MOST_STEPS * IN];
	char text[TEXT];

	for (int i = 0; i < SAMPLES * steps * IN; i++)
		x[i] = (float)((i * 37 + i / 101) % 103 - 50) / 50;
	const int n = snprintf(text, sizeof text, network, steps, steps);
	assert_int_equal(qn_array_new(r.ctx, "f32", 3, (int64_t[]){SAMPLES, steps, IN}, x, &r.x),
			 QN_OK);
	assert_int_equal(qn_file_add(r.ctx, "net.qir", text, (size_t)n), QN_OK);
	assert_int_equal(qn_load(r.ctx, "net.qir", &r.m), QN_OK);
	return r;
}

/* The extremes of all steps of all batches. */
static qn_status
extremes(void *user, qn_info *i)
{
	seen *s = user;

	s->calls++;
	for (size_t k = 0; qn_info_symbol(i, k).name != NULL; k++) {
		float lo = 0, hi = 0;
		qn_info_data d;

		if (qn_info_symbol(i, k).constant)
			continue;
		for (size_t b = 0; b < qn_info_batches(i); b++) {
			if (qn_info_read(i, QN_INFO_FLOAT_INPUT, k, b, 0, NULL, &d) != QN_OK)
				return QN_EINVALID;
			for (size_t e = 0; e < d.count; e++) {
				lo = d.values[e] < lo ? d.values[e] : lo;
				hi = d.values[e] > hi ? d.values[e] : hi;
			}
		}
		s->steps = (int)d.shape[0];
		if (qn_info_set_range(i, k, (double)lo, (double)hi) != QN_OK)
			return QN_EINVALID;
		if (qn_info_read(i, QN_INFO_OUTPUT, 0, 0, 0, NULL, &d) != QN_OK ||
		    d.shape[0] != s->steps)
			return QN_EINVALID;
	}
	return QN_OK;
}

static int
append(void *user, const char *s, size_t n)
{
	char *text = user;

	assert_true(strlen(text) + n < TEXT);
	(void)strncat(text, s, n);
	return 0;
}

/* The quantized graph; the number of its symbols. */
static int
quantize(int steps, qn_compile_opts o, char *text)
{
	rig r = make(steps);
	int n = 0;

	o.stop_after = "bind";
	assert_int_equal(compile(&r, o), QN_OK);
	text[0] = '\0';
	assert_int_equal(qn_print(r.m, QN_FORMAT_IR, append, text), QN_OK);
	qn_close(r.ctx);
	assert_non_null(strstr(text, " = loop {count="));
	for (const char *at = text; (at = strstr(at, "\nsymbol ")) != NULL; at++)
		n++;
	return n;
}

static qn_quantizer
with(qn_status (*fn)(void *, qn_info *), void *user)
{
	return (qn_quantizer){.name = "dense",
			      .text = "dense(x, w=const)",
			      .quantize = quantize_dense,
			      .calibrate = fn,
			      .user = user};
}

static void
test_steps(void **state)
{
	static char text[TEXT];
	int symbols[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		const int steps = i == 0 ? 5 : MOST_STEPS;
		seen s = {0};
		qn_quantizer mine = with(extremes, &s);

		symbols[i] = quantize(
			steps, (qn_compile_opts){.quantizers = &mine, .nquantizers = 1}, text);
		assert_int_equal(s.calls, 3);
		assert_int_equal(s.steps, steps);
	}
	assert_int_equal(symbols[0], symbols[1]);
}

/* The search leaves the values of a loop as it begins with them, as the method does. */
static void
test_search(void **state)
{
	static char want[TEXT], got[TEXT];
	qn_search search = {0};
	qn_quantizer mine = with(qn_search_output, &search);
	seen s = {0};
	qn_quantizer none = with(NULL, &s);

	(void)state;
	(void)quantize(5, (qn_compile_opts){.quantizers = &none, .nquantizers = 1}, want);
	(void)quantize(5, (qn_compile_opts){.quantizers = &mine, .nquantizers = 1}, got);
	assert_string_equal(got, want);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_search),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
