/* SPDX-License-Identifier: Apache-2.0 */
/* test_scale.c - peak memory of a compilation, counted by the host's allocator:
 *
 *   at most the model's bytes once + 64 MB + 3 kB a node      (values of one sample are tiny here)
 *
 * The quick tier takes graphs of 10,000 nodes, QUERN_FULL=1 also 100,000 and a safetensors file of
 * 400 MB, whose mapped bytes count as the model's, so that the allocator may hand out the quantized weights once,
 * a quarter of the file, and 16 MB. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/poison.h"
#include "quern/patterns.h"

#define MB ((size_t)1 << 20)
/* Some 50 objects a node stand in arenas; AddressSanitizer has a zone behind each. */
enum { NODE_BYTES = 3000 + 50 * QN_RED_ZONE, WIDTH = 4096, LAYERS = 6 };

typedef struct meter {
	size_t now, peak;
} meter;

static void *
counted(void *user, void *p, size_t old_size, size_t new_size)
{
	meter *m = user;

	if (new_size == 0) {
		m->now -= old_size;
		free(p);
		return NULL;
	}
	p = realloc(p, new_size);
	if (p != NULL)
		m->now += new_size - old_size;
	m->peak = m->now > m->peak ? m->now : m->peak;
	return p;
}

static char folder[] = "/tmp/quern-scale-XXXXXX";

static const char *
in_folder(const char *name)
{
	static char path[2][120];
	static int which;

	which = !which;
	(void)snprintf(path[which], sizeof path[which], "%s/%s", folder, name);
	return path[which];
}

/* relu, mul, clip, relu … */
static size_t
print_chain(FILE *f, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i % 3 == 0)
			fprintf(f, "%%n%zu = relu %%n%zu\n", i + 1, i);
		else if (i % 3 == 1)
			fprintf(f, "%%n%zu = mul %%n%zu, %%n0\n", i + 1, i);
		else
			fprintf(f, "%%n%zu = clip %%n%zu {min=-1.0, max=1.0}\n", i + 1, i);
	}
	fprintf(f, "return %%n%zu }\n", n);
	return n;
}

/* A value, two of it, one of both: nothing but moves, which a quantize at the end climbs through. */
static size_t
print_diamonds(FILE *f, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(f,
			"%%a%zu = relu %%n%zu\n%%b%zu = clip %%n%zu {min=-1.0, max=1.0}\n"
			"%%n%zu = maximum %%a%zu, %%b%zu\n",
			i, i, i, i, i + 1, i, i);
	fprintf(f, "return %%n%zu }\n", n);
	return 3 * n;
}

/* Compiles and emits the model; returns the peak. */
static size_t
compile(const char *model, int64_t width)
{
	meter m = {0};
	const int64_t shape[2] = {2, width};
	float *x = calloc((size_t)(2 * width), sizeof *x);
	qn_ctx *ctx = qn_open(&(qn_config){.alloc = counted, .alloc_user = &m, .threads = 2});
	qn_array *samples;
	qn_model *net;

	assert_non_null(x);
	for (int64_t i = 0; i < 2 * width; i++)
		x[i] = (float)(i % 7 - 3) / 4.0f;
	assert_int_equal(qn_array_new(ctx, "f32", 2, shape, x, &samples), QN_OK);
	assert_int_equal(qn_load(ctx, model, &net), QN_OK);
	assert_int_equal(qn_compile(net, &(qn_compile_opts){.calib = &samples, .ncalib = 1}),
			 QN_OK);
	assert_int_equal(
		qn_emit(net, in_folder("out"), &(qn_emit_opts){.test = &samples, .ntest = 1}, NULL),
		QN_OK);
	qn_close(ctx);
	assert_int_equal(m.now, 0);
	free(x);
	return m.peak;
}

static void
check_graph(const char *what, size_t (*print)(FILE *, size_t), size_t count)
{
	const char *path = in_folder("net.qir");
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fprintf(f, "model \"net\" stage float\ngraph @main(%%n0: tensor<1x8xf32>) {\n");
	size_t n = print(f, count);
	size_t bytes = (size_t)ftell(f);
	assert_int_equal(fclose(f), 0);
	size_t peak = compile(path, 8);
	print_message("%zu nodes, %s: %zu kB, %zu bytes a node\n", n, what, peak / 1024, peak / n);
	assert_true(peak <= bytes + 64 * MB + n * NODE_BYTES);
	/* a graph of this size leaves nothing to the 64 MB but what does not grow */
	assert_true(peak <= bytes + 4 * MB + n * NODE_BYTES);
}

static bool
full(void)
{
	const char *v = getenv("QUERN_FULL");

	return v != NULL && strcmp(v, "1") == 0;
}

static void
graphs(void **state)
{
	(void)state;
	check_graph("chain", print_chain, 10000);
	check_graph("diamonds", print_diamonds, 10000);
	if (!full())
		return;
	check_graph("chain", print_chain, 100000);
	check_graph("diamonds", print_diamonds, 100000);
}

/* ---- patterns asked at every value ---- */

enum { CHAIN = 100000 };

typedef struct searched {
	qn_ctx *ctx;
	qn_model *net;
} searched;

/* tanh, then CHAIN relus; with `blocks` every third is the sum of the two before.  seen: tanh is an
 * output too. */
static searched
make_chain(qn_limits limits, bool blocks, bool seen, meter *m)
{
	searched s = {
		.ctx = qn_open(&(qn_config){.alloc = counted, .alloc_user = m, .limits = limits})};

	assert_int_equal(qn_model_new(s.ctx, "net", &s.net), QN_OK);
	qn_graph *g = qn_model_main(s.net);
	qn_id x = qn_add_input(g, "x", "tensor<1x8xf32>"), before = 0;
	x = qn_add_op(g, "tanh", "t", 1, &x, NULL, NULL);
	const qn_id t = x;
	for (int i = 0; i < CHAIN; i++) {
		qn_id in[2] = {x, before};

		before = x;
		x = blocks && i % 3 == 2 ? qn_add_op(g, "add", NULL, 2, in, NULL, NULL)
					 : qn_add_op(g, "relu", NULL, 1, in, NULL, NULL);
	}
	assert_int_equal(qn_add_output(g, "y", x), QN_OK);
	if (seen)
		assert_int_equal(qn_add_output(g, "z", t), QN_OK);
	return s;
}

static int
read_first(void *user, const qn_match *m)
{
	const qn_id t = qn_match_get(m, "t");

	assert_true(t == 0 || t == *(const qn_id *)user);
	return 0;
}

/* Recursion and long paths at 100,000 values: each value is looked at a few times, not as often as
 * there are values after it.  The limit holds the tests to that: it is 500 steps a value. */
static void
patterns(void **state)
{
	static const struct {
		const char *text;
		bool blocks, seen;
		size_t count;
	} rows[] = {
		{"R=relu(R | tanh(*))", false, false, CHAIN},
		{"relu(R=relu(R | t=tanh(*)))", false, false, CHAIN - 1},
		{"R=relu(R | sigmoid(*))", false, false, 0},
		{"t=tanh(*) ~ relu(*) ~> relu(*)", false, false, CHAIN},
		{"t=tanh(*) ~ p=relu(*) ~> relu(*)", false, false, CHAIN},
		{"t=tanh(*) ~ relu(*) ~> relu(*)", false, true, 0},
		{"sigmoid(*) ~ relu(*) ~> relu(*)", false, false, 0},
		{"t=tanh(*) ~ (relu(*) | add(*, *)) ~> add(*, *)", true, false, CHAIN / 3},
		{"t=tanh(*) ~ (relu(*) | add(*, *)) ~> add(*, *)", true, true, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		meter m = {0};
		size_t count;
		qn_pattern *p;
		searched s = make_chain((qn_limits){.matching = 500 * (uint64_t)CHAIN},
					rows[i].blocks, rows[i].seen, &m);
		qn_id t = qn_value_find(qn_model_main(s.net), "t");
		const size_t before = m.now;

		m.peak = m.now;
		assert_int_equal(qn_pattern_parse(s.ctx, rows[i].text, &p), QN_OK);
		if (qn_pattern_match(p, qn_model_main(s.net), 0, NULL, read_first, &t, &count) !=
		    QN_OK)
			fail_msg("%s: %s", rows[i].text, qn_diag_get(s.ctx, 0).message);
		if (count != rows[i].count)
			fail_msg("%s: %zu matches, not %zu", rows[i].text, count, rows[i].count);
		assert_true(m.peak - before <= CHAIN * (size_t)NODE_BYTES);
		qn_close(s.ctx);
	}
}

/* What is too much in all ends with an error that names the limit, which the host can raise. */
static void
patterns_limit(void **state)
{
	for (int enough = 0; enough < 2; enough++) {
		meter m = {0};
		searched s =
			make_chain((qn_limits){.matching = (enough ? 100 : 1) * (uint64_t)CHAIN},
				   false, false, &m);
		qn_pattern *p;
		size_t count;

		(void)state;
		assert_int_equal(qn_pattern_parse(s.ctx, "tanh(*) ~ relu(*) ~> relu(*)", &p),
				 QN_OK);
		const qn_status status =
			qn_pattern_match(p, qn_model_main(s.net), 0, NULL, NULL, NULL, &count);
		assert_int_equal(status, enough ? QN_OK : QN_EBUDGET);
		if (!enough) {
			assert_string_equal(qn_diag_get(s.ctx, 0).id, "limit.matching");
			assert_non_null(
				strstr(qn_diag_get(s.ctx, 0).message,
				       "(limits.matching), the program with --match-limit N"));
		}
		qn_close(s.ctx);
	}
}

/* LAYERS dense layers of WIDTH x WIDTH: 402,653,184 bytes of weights. */
static void
write_weights(void)
{
	const size_t each = (size_t)WIDTH * WIDTH * sizeof(float);
	float row[WIDTH];
	char head[1024];
	size_t n = 0;
	FILE *f = fopen(in_folder("big.safetensors"), "wb");
	FILE *g = fopen(in_folder("big.json"), "w");

	assert_non_null(f);
	assert_non_null(g);
	fprintf(g, "{\"quern\": 1, \"graph\": {\"inputs\": [{\"name\": \"d0\", \"type\": "
		   "\"tensor<1x4096xf32>\"}], \"constants\": {");
	for (int i = 0; i < LAYERS; i++) {
		n += (size_t)snprintf(head + n, sizeof head - n,
				      "%s\"w%d\":{\"dtype\":\"F32\",\"shape\":[4096,4096],"
				      "\"data_offsets\":[%zu,%zu]}",
				      i > 0 ? "," : "{", i, (size_t)i * each,
				      ((size_t)i + 1) * each);
		fprintf(g,
			"%s\"w%d\": {\"type\": \"tensor<4096x4096xf32>\", \"file\": "
			"\"big.safetensors\", \"tensor\": \"w%d\"}",
			i > 0 ? ", " : "", i, i);
	}
	head[n++] = '}';
	while (n % 8 != 0)
		head[n++] = ' ';
	fprintf(g, "}, \"nodes\": [");
	for (int i = 0; i < LAYERS; i++)
		fprintf(g,
			"%s{\"name\": \"d%d\", \"op\": \"dense\", \"inputs\": [\"d%d\", \"w%d\"]}",
			i > 0 ? ", " : "", i + 1, i, i);
	fprintf(g, "], \"outputs\": [{\"name\": \"y\", \"value\": \"d%d\"}]}}\n", LAYERS);
	assert_int_equal(fclose(g), 0);
	uint64_t length = n;
	assert_int_equal(fwrite(&length, sizeof length, 1, f), 1);
	assert_int_equal(fwrite(head, 1, n, f), n);
	for (size_t i = 0; i < (size_t)LAYERS * WIDTH; i++) {
		for (size_t k = 0; k < WIDTH; k++)
			row[k] = (float)((i * 31 + k * 17) % 61) / 3000.0f - 0.01f;
		assert_int_equal(fwrite(row, sizeof row, 1, f), 1);
	}
	assert_int_equal(fclose(f), 0);
}

static void
weights(void **state)
{
	const size_t bytes = (size_t)LAYERS * WIDTH * WIDTH * sizeof(float);

	(void)state;
	if (!full())
		skip();
	write_weights();
	size_t peak = compile(in_folder("big.json"), WIDTH);
	print_message("%zu kB of weights: %zu kB besides\n", bytes / 1024, peak / 1024);
	assert_true(peak <= bytes / 4 + 16 * MB);
}

static int
begin(void **state)
{
	(void)state;
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static int
end(void **state)
{
	static const char *const suffix[] = {".h",    ".c",          "_weights.c",
					     "_io.h", "_selftest.c", ".report.json"};
	char name[60];

	(void)state;
	for (size_t i = 0; i < sizeof suffix / sizeof suffix[0]; i++) {
		(void)snprintf(name, sizeof name, "out/net%s", suffix[i]);
		(void)remove(in_folder(name));
		(void)snprintf(name, sizeof name, "out/big%s", suffix[i]);
		(void)remove(in_folder(name));
	}
	(void)remove(in_folder("out"));
	(void)remove(in_folder("net.qir"));
	(void)remove(in_folder("big.json"));
	(void)remove(in_folder("big.safetensors"));
	return remove(folder);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(graphs),
		cmocka_unit_test(patterns),
		cmocka_unit_test(patterns_limit),
		cmocka_unit_test(weights),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
