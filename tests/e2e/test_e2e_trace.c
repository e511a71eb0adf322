/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_trace.c - the hook of emitted C is shown what the interpreter's hook is: the same keys in
 * the same order, the same bytes, for each storage type, in loops, on targets that compute in i8,
 * and where a value lies within another or in the caller's buffers. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "quern/graph.h"
#include "quern/measure.h"

enum { SAMPLES = 5, COUNT = 4 * 4 * 2, TEXT = 1 << 18 };

#define NET_BODY                                                                                   \
	"  %i = trace %x {key=\"input\"}\n"                                                        \
	"  %w = const : tensor<4x3x3x2xf32> rand 1\n"                                              \
	"  %a = conv2d %i, %w {padding=same}\n"                                                    \
	"  %t = trace %a {key=\"after \\\"conv\\\" ?\?/ 100%\"}\n"                                 \
	"  %r = relu %t\n"                                                                         \
	"  %p = max_pool %r {kernel=[2,2], stride=[2,2]}\n"                                        \
	"  %s = slice %p {begin=[0,1,0,0], end=[1,2,2,4]}\n"                                       \
	"  %u = trace %s {key=\"within another\"}\n"                                               \
	"  %c = concat %p, %u {axis=1}\n"                                                          \
	"  %v = trace %c {key=\"joined\"}\n"                                                       \
	"  %f = flatten %v\n"                                                                      \
	"  %w2 = const : tensor<3x24xf32> rand 2\n"                                                \
	"  %d = dense %f, %w2\n"                                                                   \
	"  %z = trace %d {key=\"output\"}\n"                                                       \
	"  return %z\n"

static const char net[] =
	"model \"t\" stage float\ngraph @main(%x: tensor<1x4x4x2xf32>) {\n" NET_BODY "}\n";

static const char loop[] = "model \"t\" stage float\n"
			   "graph @main(%x: tensor<1x4x4x2xf32>) {\n"
			   "  %s = reshape %x {shape=[4,8]}\n"
			   "  %h0 = const : tensor<8xf32> splat 0.25\n"
			   "  %i = loop {count=4}\n"
			   "  %a = loop_slice %s, %i {axis=0}\n"
			   "  %h = loop_carry %h0, %i\n"
			   "  %b = trace %h {key=\"carried\"}\n"
			   "  %m = add %a, %b\n"
			   "  %t = trace %m {key=\"next\"}\n"
			   "  %n = sigmoid %t\n"
			   "  %e = loop_end %i, %n\n"
			   "  %l = loop_last %n, %e\n"
			   "  %y = trace %l {key=\"last\"}\n"
			   "  return %y\n}\n";

/* ---- the interpreter's ---- */

typedef struct shown {
	size_t n, calls;
	int scales; /* of all quantized values */
	char text[TEXT];
} shown;

static int
take(void *user, const qn_traced *v)
{
	shown *s = user;
	const unsigned char *byte = v->data;

	s->n += (size_t)snprintf(s->text + s->n, TEXT - s->n, "%s:", v->key);
	for (size_t i = 0; i < v->bytes; i++)
		s->n += (size_t)snprintf(s->text + s->n, TEXT - s->n, "%02x", byte[i]);
	s->n += (size_t)snprintf(s->text + s->n, TEXT - s->n, "\n");
	assert_true(s->n < TEXT);
	s->calls++;
	s->scales += v->nscales == 1 && v->scales[0] > 0;
	return 0;
}

/* ---- the emitted one ---- */

static const char hook[] = "#include <stdio.h>\n#include \"t.h\"\n"
			   "void t_trace_op(const char *key, const void *data, uint32_t bytes)\n{\n"
			   "\tuint32_t i;\n\n\tprintf(\"%s:\", key);\n"
			   "\tfor (i = 0; i < bytes; i++)\n"
			   "\t\tprintf(\"%02x\", (unsigned)((const unsigned char *)data)[i]);\n"
			   "\tprintf(\"\\n\");\n}\n";

static void
write_file(const char *folder, const char *name, const char *text)
{
	char path[200];
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* Whether what this compiler makes has this machine's byte order: a test of a program for another one may compile for
 * this host. */
static bool
has_own_order(const char *compiler)
{
	const uint16_t one = 1;
	const bool little = *(const unsigned char *)&one == 1;
	char command[300];

	(void)snprintf(command, sizeof command,
		       "%s -dM -E -x c /dev/null | grep -q '__BYTE_ORDER__ __ORDER_%s_ENDIAN__'",
		       compiler, little ? "LITTLE" : "BIG");
	return system(command) == 0;
}

static void
expect_output(const char *folder, const char *way, const shown *want)
{
	static char have[TEXT];
	char command[600];

	(void)snprintf(command, sizeof command,
		       "cd %s && %s -Wall -Wextra -Wpedantic -Werror -DQN_PORTABLE -DT_TRACE_OPS "
		       "-DT_SELFTEST_MAIN *.c -o t && ./t",
		       folder, way);
	FILE *p = popen(command, "r");
	assert_non_null(p);
	const size_t n = fread(have, 1, TEXT - 1, p);
	have[n] = '\0';
	assert_int_equal(pclose(p), 0);
	assert_true(n > want->n);
	if (has_own_order(way))
		assert_memory_equal(have, want->text, want->n);
	else
		print_message("bytes are not compared: the emitted program has another order\n");
	assert_memory_equal(have + want->n, "t: self-test passed", 19); /* and nothing between */
}

/* ---- one model ---- */

static qn_array *
samples_of(qn_ctx *ctx)
{
	float data[SAMPLES * COUNT];
	uint32_t state = 7;
	qn_array *x;

	for (size_t i = 0; i < SAMPLES * COUNT; i++) {
		state = state * 1664525u + 1013904223u;
		data[i] = 4.0f * (float)(state >> 8) / 16777216.0f - 2.0f;
	}
	assert_int_equal(qn_array_new(ctx, "f32", 4, (const int64_t[]){SAMPLES, 4, 4, 2}, data, &x),
			 QN_OK);
	return x;
}

static void
compare(const char *text, qn_activations activations, const char *target, size_t calls)
{
	char folder[] = "/tmp/quern-trace-XXXXXX", command[100];
	qn_config config = {.size = sizeof config, .threads = 3};
	qn_ctx *ctx = qn_open(&config);
	qn_array *x = samples_of(ctx), *y, *plain;
	const qn_compile_opts opts = {.calib = &x, .ncalib = 1, .activations = activations};
	const qn_emit_opts emit = {
		.test = &x, .ntest = 1, .test_samples = SAMPLES, .target = target};
	static shown s;
	qn_model *m;

	memset(&s, 0, sizeof s);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(qn_file_add(ctx, "t.qir", text, strlen(text)), QN_OK);
	assert_int_equal(qn_load(ctx, "t.qir", &m), QN_OK);
	qn_status status = qn_compile(m, &opts);
	if (status == QN_OK)
		status = qn_emit(m, folder, &emit, NULL);
	if (status != QN_OK)
		fail_msg("%s", qn_diag_get(ctx, qn_diag_count(ctx) - 1).message);
	assert_int_equal(qn_run_traced(m, 1, &x, 0, 1, &y, take, &s), QN_OK);
	assert_int_equal(qn_run(m, 1, &x, 0, 1, &plain), QN_OK);
	assert_int_equal(s.calls, SAMPLES * calls);
	assert_int_equal(s.scales, SAMPLES * calls);
	write_file(folder, "hook.c", hook);
	expect_output(folder,
		      "cc -std=c99 -O1 -fsanitize=address,undefined -fno-sanitize-recover=all", &s);
	expect_output(folder, "g++ -std=c++11 -O2 -x c++", &s);
	(void)snprintf(command, sizeof command, "rm -r %s", folder);
	assert_int_equal(system(command), 0);
	qn_close(ctx);
}

static void
shows_equal_bytes(void **state)
{
	(void)state;
	compare(net, QN_ACTIVATIONS_I8, NULL, 5);
	compare(net, QN_ACTIVATIONS_I16, NULL, 5);
	compare(net, QN_ACTIVATIONS_U8, NULL, 5);
}

/* There the steps compute in i8, with quantized values that are 128 less. */
static void
shows_the_type_of_the_graph(void **state)
{
	(void)state;
	compare(net, QN_ACTIVATIONS_U8, "cortex-m4", 5);
	compare(net, QN_ACTIVATIONS_U8, "cortex-m55", 5);
}

static void
shows_each_run_of_a_loop(void **state)
{
	(void)state;
	compare(loop, QN_ACTIVATIONS_I8, NULL, 2 * 4 + 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_equal_bytes),
		cmocka_unit_test(shows_the_type_of_the_graph),
		cmocka_unit_test(shows_each_run_of_a_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
