/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions that write files: several arrays at once, bytes of the host's, and what is
 * taken back when there is nothing to take back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "quern/quern.h"

static void
arrays(void **state)
{
	static const char *const path[] = {"/tmp/quern-files-a.npy", "/tmp/quern-files-b.npy"};
	static const char *const nowhere[] = {"/tmp/quern-files-a.npy", "/tmp/no/where/b.npy"};
	const int64_t shape[] = {2};
	const float v[] = {1, 2}, u[] = {3, 4};
	qn_ctx *ctx = qn_open(NULL);
	qn_array *x, *y, *z;

	(void)state;
	(void)unlink(path[0]);
	assert_int_equal(qn_array_new(ctx, "f32", 1, shape, v, &x), QN_OK);
	assert_int_equal(qn_array_new(ctx, "f32", 1, shape, u, &y), QN_OK);
	const qn_array *both[] = {x, y};
	assert_int_equal(qn_arrays_save(ctx, 0, NULL, NULL), QN_OK);
	assert_int_equal(qn_arrays_save(ctx, 2, both, nowhere), QN_EIO);
	assert_int_equal(access(path[0], F_OK), -1);
	assert_int_equal(qn_arrays_save(ctx, 2, both, path), QN_OK);
	assert_int_equal(qn_array_load(ctx, path[1], &z), QN_OK);
	assert_memory_equal(qn_array_data(z), u, sizeof u);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(unlink(path[i]), 0);
	qn_abandon(ctx);
	qn_close(ctx);
}

static void
bytes(void **state)
{
	static const char path[] = "/tmp/quern-files-c";
	char text[8] = "";
	qn_ctx *ctx = qn_open(NULL);

	(void)state;
	assert_int_equal(qn_write_file(ctx, path, "hello", 5), QN_OK);
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fread(text, 1, sizeof text, f), 5);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, "hello");
	assert_int_equal(qn_write_file(ctx, "/tmp/no/where", "x", 1), QN_EIO);
	assert_string_equal(qn_diag_get(ctx, 0).id, "file.write");
	assert_int_equal(unlink(path), 0);
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(arrays), cmocka_unit_test(bytes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
