/* SPDX-License-Identifier: Apache-2.0 */
/* test_formats.c - files and npy. */
#define _POSIX_C_SOURCE 200809L

#include "tests/unit/hurt_files.h"

#include <sys/stat.h>

/* ---- files ---- */

static void
file_written_and_mapped(void **state)
{
	fixture *f = *state;
	const char *path = in_folder(f, "a.bin");
	const char *data = NULL;
	size_t n = 7;

	assert_int_equal(qn_file_write(&f->env, path, "hello", 5), QN_OK);
	assert_int_equal(qn_file_map(&f->arena, path, &data, &n), QN_OK);
	assert_int_equal(n, 5);
	assert_memory_equal(data, "hello", 5);
	assert_int_equal(qn_file_write(&f->env, path, "", 0), QN_OK);
	assert_int_equal(qn_file_map(&f->arena, path, &data, &n), QN_OK);
	assert_int_equal(n, 0);
	assert_non_null(data);
	assert_int_equal(entries(f, false), 1);
}

static void
file_problems(void **state)
{
	fixture *f = *state;
	const char *data = NULL;
	size_t n = 0;

	assert_int_equal(qn_file_map(&f->arena, in_folder(f, "none"), &data, &n), QN_EIO);
	assert_string_equal(last_id(f), "file.open");
	assert_non_null(strstr(f->diags.item[0].message, "No such file"));
	assert_int_equal(qn_file_map(&f->arena, f->folder, &data, &n), QN_EIO);
	assert_string_equal(last_id(f), "file.read");
	assert_int_equal(mkfifo(in_folder(f, "pipe"), 0600), 0);
	assert_int_equal(qn_file_map(&f->arena, in_folder(f, "pipe"), &data, &n), QN_EIO);
	assert_string_equal(last_id(f), "file.read");
	assert_int_equal(qn_file_write(&f->env, in_folder(f, "no/where"), "x", 1), QN_EIO);
	assert_string_equal(last_id(f), "file.write");
	const qn_file_out in_sub = {.path = in_folder(f, "sub/x"), .data = "x", .n = 1};
	assert_int_equal(qn_files_write(&f->env, in_folder(f, "sub"), 1, &in_sub), QN_OK);
	assert_int_equal(qn_files_write(&f->env, in_folder(f, "sub"), 1, &in_sub), QN_OK);
	assert_int_equal(unlink(in_sub.path), 0);
	assert_int_equal(qn_files_write(&f->env, in_folder(f, "pipe"), 1, &in_sub), QN_EIO);
	assert_string_equal(last_id(f), "file.mkdir");
}

/* The second file cannot be written: the first does not appear, and nothing is left over. */
static void
files_appear_together(void **state)
{
	fixture *f = *state;
	qn_file_out out[2] = {{.path = in_folder(f, "a"), .data = "1", .n = 1},
			      {.path = in_folder(f, "no/b"), .data = "2", .n = 1}};

	assert_int_equal(qn_files_write(&f->env, NULL, 2, out), QN_EIO);
	assert_int_equal(entries(f, false), 0);
	out[1].path = in_folder(f, "b");
	assert_int_equal(qn_files_write(&f->env, NULL, 2, out), QN_OK);
	assert_int_equal(entries(f, false), 2);
	/* A folder in the way of the second rename: the first file keeps its content. */
	assert_int_equal(mkdir(in_folder(f, "c"), 0777), 0);
	out[0].data = "3";
	out[1].path = in_folder(f, "c");
	assert_int_equal(qn_files_write(&f->env, NULL, 2, out), QN_EIO);
	assert_int_equal(entries(f, false), 3);
	const char *data;
	size_t n;
	assert_int_equal(qn_file_map(&f->arena, in_folder(f, "a"), &data, &n), QN_OK);
	assert_true(n == 1 && data[0] == '1');
	/* A folder that was made for files goes with them. */
	out[1].path = in_folder(f, "no/b");
	out[0].path = in_folder(f, "new/a");
	assert_int_equal(qn_files_write(&f->env, in_folder(f, "new"), 2, out), QN_EIO);
	assert_int_equal(entries(f, false), 3);
}

/* What is no regular file is written as it is; a link stays one. */
static void
devices_and_links(void **state)
{
	fixture *f = *state;
	struct stat st;
	const char *data;
	size_t n;

	assert_int_equal(symlink("/dev/null", in_folder(f, "null")), 0);
	assert_int_equal(qn_file_write(&f->env, in_folder(f, "null"), "x", 1), QN_OK);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(qn_file_write(&f->env, in_folder(f, "real"), "1", 1), QN_OK);
	assert_int_equal(symlink("real", in_folder(f, "link")), 0);
	assert_int_equal(qn_file_write(&f->env, in_folder(f, "link"), "2", 1), QN_OK);
	assert_int_equal(lstat(in_folder(f, "link"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(qn_file_map(&f->arena, in_folder(f, "real"), &data, &n), QN_OK);
	assert_true(n == 1 && data[0] == '2');
}

static void
paths(void **state)
{
	fixture *f = *state;

	assert_string_equal(qn_path_folder(&f->arena, "a/b/c.json"), "a/b/");
	assert_string_equal(qn_path_folder(&f->arena, "c.json"), "");
	assert_string_equal(qn_path_base("a/b/c.json"), "c.json");
	assert_string_equal(qn_path_join(&f->arena, "a", "b"), "a/b");
	assert_string_equal(qn_path_join(&f->arena, "a/", "b"), "a/b");
	assert_string_equal(qn_path_join(&f->arena, "", "b"), "b");
	assert_string_equal(qn_path_join(&f->arena, "a", "/b"), "/b");
}

/* ---- npy ---- */

/* A file of version `version` with this dict and n bytes of data, in malloc'ed memory of exactly
 * its size. */
static char *
npy_file(int version, const char *dict, size_t data, size_t *n)
{
	size_t prefix = version == 1 ? 10 : 12;
	size_t length = strlen(dict);
	char *s = calloc(1, prefix + length + data + 1);

	memcpy(s, "\x93NUMPY", 6);
	s[6] = (char)version;
	s[8] = (char)(length & 255);
	s[9] = (char)(length >> 8);
	memcpy(s + prefix, dict, length);
	*n = prefix + length + data;
	return s;
}

static void
npy_headers(void **state)
{
	static const struct {
		int version;
		const char *dict;
		size_t data;
		const char *want; /* type text or diagnostic id */
	} rows[] = {
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24,
		 "tensor<2x3xf32>"},
		{2, "{'shape': (5,), 'descr': '|u1', 'fortran_order': False}", 5, "tensor<5xu8>"},
		{3, "{\"descr\": \"<f8\", \"fortran_order\": False, \"shape\": ()}  \n", 8,
		 "tensor<f64>"},
		{1, "{'descr':'|b1','fortran_order':False,'shape':(0,4)}", 0, "tensor<0x4xbool>"},
		{1, "{'descr': '<i8', 'fortran_order': True, 'shape': (1,), }", 8, "tensor<1xi64>"},
		{1, "{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }", 2,
		 "tensor<1xf16>"},
		{1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 4, "npy.dtype"},
		{1, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", 8, "npy.dtype"},
		{1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4,
		 "npy.dtype"},
		{1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", 24, "npy.order"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 23,
		 "npy.truncated"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 25, "npy.size"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,), }",
		 4, "npy.size"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
		 0, "npy.size"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", 4,
		 "npy.size"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }", 24, "npy.header"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", 8, "npy.header"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8, "npy.header"},
		{1, "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", 8, "npy.header"},
		{1, "{'descr': '<f4', 'fortran_order': False}", 8, "npy.header"},
		{1, "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8,
		 "npy.header"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", 8,
		 "npy.header"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", 8, "npy.header"},
		{1, "", 0, "npy.header"},
		{4, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8, "npy.magic"},
	};
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		size_t n = 0;
		char *s = npy_file(rows[i].version, rows[i].dict, rows[i].data, &n);
		qn_tensor *x = NULL;
		qn_buf b;

		restart(f);
		qn_buf_init(&b, &f->arena);
		if (qn_npy_parse(&f->t, &f->arena, "x.npy", s, n, &x) == QN_OK)
			qn_type_print(&b, x->type);
		else
			qn_buf_puts(&b, last_id(f));
		if (strcmp(qn_buf_str(&b), rows[i].want) != 0)
			fail_msg("row %zu: %s instead of %s", i, qn_buf_str(&b), rows[i].want);
		restart(f);
		free(s);
	}
}

static void
npy_there_and_back(void **state)
{
	static const char *const types[] = {
		"tensor<2x3xf32>", "tensor<4xi8>",        "tensor<i64>",
		"tensor<2x0xu16>", "tensor<1x2x3x4xf16>", "tensor<3xbool>",
	};
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(types); i++) {
		const qn_type *type = NULL;
		qn_tensor *y = NULL;
		void *data = NULL;
		qn_buf b;

		assert_int_equal(qn_type_parse_str(&f->t, "", types[i], &type), QN_OK);
		qn_tensor *x = qn_tensor_new(&f->arena, type, &data);
		for (int64_t k = 0; k < qn_type_count(type); k++)
			qn_store_f64(data, type->elem->plain, k, (double)(k % 2));
		qn_buf_init(&b, &f->arena);
		qn_npy_print(&b, x);
		assert_int_equal((b.n - x->bytes) % 64, 0);
		assert_int_equal(qn_npy_parse(&f->t, &f->arena, "x", b.data, b.n, &y), QN_OK);
		assert_true(qn_tensor_equal(x, y));
	}
}

/* Quantized codes as their storage type, bf16 as f32. */
static void
npy_of_other_types(void **state)
{
	static const uint16_t halves[2] = {0x3f80, 0xc000}; /* 1, -2 */
	fixture *f = *state;
	const qn_type *type = NULL;
	qn_tensor *y = NULL;
	qn_buf b;

	assert_int_equal(qn_type_parse_str(&f->t, "",
					   "tensor<3x!quant.uniform<i4:f32, 5.000000e-01>>", &type),
			 QN_OK);
	qn_buf_init(&b, &f->arena);
	qn_npy_print(&b, qn_tensor_of(&f->arena, type, "\xf8\x00\x07"));
	assert_int_equal(qn_npy_parse(&f->t, &f->arena, "x", b.data, b.n, &y), QN_OK);
	assert_int_equal(y->type->elem->plain, QN_PLAIN_i8);
	assert_int_equal(qn_tensor_i64(y, 0), -8);
	assert_int_equal(qn_type_parse_str(&f->t, "", "tensor<2xbf16>", &type), QN_OK);
	qn_buf_init(&b, &f->arena);
	qn_npy_print(&b, qn_tensor_of(&f->arena, type, halves));
	assert_int_equal(qn_npy_parse(&f->t, &f->arena, "x", b.data, b.n, &y), QN_OK);
	assert_int_equal(y->type->elem->plain, QN_PLAIN_f32);
	assert_true(qn_tensor_f64(y, 0) == 1.0 && qn_tensor_f64(y, 1) == -2.0);
}

static qn_status
parse_npy(fixture *f, const char *s, size_t n)
{
	qn_tensor *x = NULL;
	qn_status status = qn_npy_parse(&f->t, &f->arena, "x.npy", s, n, &x);

	if (status == QN_OK)
		(void)sum(x); /* all of it can be read */
	return status;
}

static void
npy_hurt(void **state)
{
	size_t n = 0;
	char *s = npy_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24,
			   &n);

	hurt(*state, parse_npy, s, n);
	free(s);
	s = npy_file(2, "{'descr': '|i1', 'fortran_order': False, 'shape': (7,), }\n", 7, &n);
	hurt(*state, parse_npy, s, n);
	free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(file_written_and_mapped),
		T(file_problems),
		T(files_appear_together),
		T(devices_and_links),
		T(paths),
		T(npy_headers),
		T(npy_there_and_back),
		T(npy_of_other_types),
		T(npy_hurt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
