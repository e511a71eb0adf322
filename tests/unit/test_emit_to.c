/* SPDX-License-Identifier: Apache-2.0 */
/* test_emit_to.c - the files of a model handed to the host: those that qn_emit writes, nothing before the
 * checks, and an end where the host says so. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/host_fixture.h"

static void
expect(host *h, qn_status want, qn_status have, const char *id)
{
	assert_int_equal(have, want);
	assert_int_equal(qn_diag_count(h->ctx), 1);
	assert_string_equal(qn_diag_get(h->ctx, 0).id, id);
	qn_diag_clear(h->ctx);
}

static void
open_compiled(host *h)
{
	*h = (host){.step = 0.2f};
	host_open(h);
	host_build(h);
	host_compile(h);
}

static void
gives_the_files_of_qn_emit(void **state)
{
	char folder[] = "/tmp/quern-emit-to-XXXXXX", path[200];
	static char text[HOST_TEXT];
	host h;

	(void)state;
	open_compiled(&h);
	host_emit(&h);
	assert_int_equal(h.status, QN_OK);
	assert_int_equal(h.nfile, HOST_FILES);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(qn_emit(h.m, folder, &(qn_emit_opts){.test = &h.x, .ntest = 1}, NULL),
			 QN_OK);
	for (size_t i = 0; i < h.nfile; i++) {
		(void)snprintf(path, sizeof path, "%s/%s", folder, h.file[i].name);
		FILE *f = fopen(path, "rb");
		assert_non_null(f);
		assert_int_equal(fread(text, 1, sizeof text, f), h.file[i].n);
		assert_memory_equal(text, h.file[i].text, h.file[i].n);
		(void)fclose(f);
		assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(folder), 0);
	host_drop_files(&h);
	host_close(&h);
}

static void
ends_where_the_host_says_so(void **state)
{
	host h;
	size_t pieces;

	(void)state;
	open_compiled(&h);
	host_emit(&h);
	pieces = h.calls;
	host_drop_files(&h);
	for (size_t k = 1; k <= pieces; k++) {
		h.stop_at = k;
		host_emit(&h);
		assert_int_equal(h.calls, k);
		expect(&h, QN_EIO, h.status, "emit.write");
		host_drop_files(&h);
	}
	h.stop_at = 0; /* the model is as it was */
	host_emit(&h);
	assert_int_equal(h.status, QN_OK);
	assert_int_equal(h.calls, pieces);
	host_drop_files(&h);
	host_close(&h);
}

static void
hands_over_nothing_before_the_checks(void **state)
{
	host h = {.step = 0.2f};
	qn_emit_info info = {.steps = 77};

	(void)state;
	host_open(&h);
	host_build(&h);
	expect(&h, QN_EINVALID, qn_emit_to(h.m, NULL, host_take, &h, NULL), "emit.stage");
	host_compile(&h);
	expect(&h, QN_EUSAGE, qn_emit_to(h.m, NULL, NULL, NULL, NULL), "array.null");
	expect(&h, QN_EBUDGET,
	       qn_emit_to(h.m, &(qn_emit_opts){.max_weight_bytes = 1}, host_take, &h, &info),
	       "budget.weights");
	assert_true(info.weight_bytes > 1);
	assert_int_equal(info.steps, 1);
	assert_int_equal(h.calls, 0);
	/* Names of the host's own; no samples: no self-test. */
	assert_int_equal(qn_emit_to(h.m, &(qn_emit_opts){.name = "other"}, host_take, &h, NULL),
			 QN_OK);
	assert_int_equal(h.nfile, HOST_FILES - 1);
	for (size_t i = 0; i < h.nfile; i++)
		assert_memory_equal(h.file[i].name, "other", 5);
	host_drop_files(&h);
	host_close(&h);
}

static void
survives_a_heap_that_ends(void **state)
{
	size_t at = 0;
	host h;

	(void)state;
	do {
		open_compiled(&h);
		h.until_failure = ++at;
		host_emit(&h);
		assert_true(h.status == QN_OK || h.status == QN_ENOMEM);
		h.until_failure = 0;
		if (h.status == QN_ENOMEM)
			expect(&h, QN_ENOMEM, h.status, "memory");
		host_drop_files(&h);
		host_close(&h);
		assert_int_equal(h.live, 0);
		assert_int_equal(h.blocks, 0);
	} while (h.status != QN_OK && at < 10000);
	assert_int_equal(h.status, QN_OK);
	assert_true(at > 3);
}

/* Sizes of what is handed over. */
typedef struct sizes {
	size_t all, most;
} sizes;

static int
weigh(void *user, const char *name, const char *text, size_t n)
{
	sizes *s = user;

	(void)name, (void)text;
	s->all += n;
	s->most = n > s->most ? n : s->most;
	return 0;
}

/* No text stands in memory as a whole. */
static void
comes_in_pieces(void **state)
{
	enum { IN = 64, OUT = 2000 };
	static float w[OUT * IN];
	host h = {.step = 0.1f};
	qn_array *weights, *x;
	sizes s = {0, 0};

	(void)state;
	for (int i = 0; i < OUT * IN; i++)
		w[i] = 0.01f * (float)(i * 7 % 251 - 125);
	host_open(&h);
	assert_int_equal(qn_array_new(h.ctx, "f32", 2, (const int64_t[]){OUT, IN}, w, &weights),
			 QN_OK);
	assert_int_equal(qn_array_new(h.ctx, "f32", 2, (const int64_t[]){20, IN}, w, &x), QN_OK);
	assert_int_equal(qn_model_new(h.ctx, "large", &h.m), QN_OK);
	qn_graph *g = qn_model_main(h.m);
	qn_id in[2] = {qn_add_input(g, "x", "tensor<1x64xf32>"), qn_add_const(g, "w", weights)};
	assert_int_equal(qn_add_output(g, "y", qn_add_op(g, "dense", "y", 2, in, NULL, NULL)), 0);
	assert_int_equal(qn_compile(h.m, &(qn_compile_opts){.calib = &x, .ncalib = 1}), QN_OK);
	assert_int_equal(qn_emit_to(h.m, NULL, weigh, &s, NULL), QN_OK);
	assert_true(s.all > 4 * OUT * IN);
	assert_true(s.most < s.all / 4);
	host_close(&h);
	assert_int_equal(h.live, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_the_files_of_qn_emit),
		cmocka_unit_test(ends_where_the_host_says_so),
		cmocka_unit_test(hands_over_nothing_before_the_checks),
		cmocka_unit_test(comes_in_pieces),
		cmocka_unit_test(survives_a_heap_that_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
