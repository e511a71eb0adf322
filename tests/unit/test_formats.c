/* SPDX-License-Identifier: Apache-2.0 */
/* test_formats.c - files, npy, safetensors, the JSON tree and the JSON writer.
 *
 * A valid file is cut at every length and changed at every byte: the result is a diagnostic or a tensor, never a bad access (run under
 * ASan and UBSan; each variant lives in memory of exactly its size). */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/file.h"
#include "formats/json_out.h"
#include "formats/json_tree.h"
#include "formats/npy.h"
#include "formats/safetensors.h"
#include "ir/diag.h"

/* ---- fixture ---- */

typedef struct fixture {
	qn_env env;
	qn_diags diags;
	qn_arena arena;
	qn_types t;
	char folder[64];
} fixture;

static void *
heap(void *user, void *p, size_t old_size, size_t new_size)
{
	(void)user;
	(void)old_size;
	if (new_size == 0) {
		free(p);
		return NULL;
	}
	return realloc(p, new_size);
}

static void
restart(fixture *f)
{
	qn_arena_release(&f->arena);
	qn_diags_clear(&f->env, &f->diags);
	qn_types_init(&f->t, &f->arena);
}

static int
setup(void **state)
{
	fixture *f = calloc(1, sizeof *f);

	f->env = (qn_env){.alloc = heap, .diags = &f->diags};
	qn_arena_init(&f->arena, &f->env);
	qn_types_init(&f->t, &f->arena);
	(void)snprintf(f->folder, sizeof f->folder, "/tmp/quern-test-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	*state = f;
	return 0;
}

static int
entries(const fixture *f, bool remove)
{
	DIR *d = opendir(f->folder);
	int n = 0;

	assert_non_null(d);
	for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
		char path[512];

		if (e->d_name[0] == '.')
			continue;
		n++;
		(void)snprintf(path, sizeof path, "%s/%s", f->folder, e->d_name);
		if (remove && unlink(path) != 0)
			(void)rmdir(path);
	}
	(void)closedir(d);
	return n;
}

static int
teardown(void **state)
{
	fixture *f = *state;

	(void)entries(f, true);
	(void)rmdir(f->folder);
	qn_arena_release(&f->arena);
	qn_diags_clear(&f->env, &f->diags);
	free(f);
	return 0;
}

static const char *
last_id(const fixture *f)
{
	return f->diags.n > 0 ? f->diags.item[f->diags.n - 1].id : "";
}

static const char *
in_folder(fixture *f, const char *name)
{
	return qn_path_join(&f->arena, f->folder, name);
}

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
	assert_int_equal(qn_folder_make(&f->env, in_folder(f, "sub")), QN_OK);
	assert_int_equal(qn_folder_make(&f->env, in_folder(f, "sub")), QN_OK);
	assert_int_equal(qn_folder_make(&f->env, in_folder(f, "pipe")), QN_EIO);
	assert_string_equal(last_id(f), "file.mkdir");
}

/* The second file cannot be written: the first does not appear, and nothing is left over. */
static void
files_appear_together(void **state)
{
	fixture *f = *state;
	qn_file_out out[2] = {{in_folder(f, "a"), "1", 1}, {in_folder(f, "no/b"), "2", 1}};

	assert_int_equal(qn_files_write(&f->env, 2, out), QN_EIO);
	assert_int_equal(entries(f, false), 0);
	out[1].path = in_folder(f, "b");
	assert_int_equal(qn_files_write(&f->env, 2, out), QN_OK);
	assert_int_equal(entries(f, false), 2);
	/* A folder in the way of the rename. */
	assert_int_equal(qn_folder_make(&f->env, in_folder(f, "c")), QN_OK);
	assert_int_equal(qn_file_write(&f->env, in_folder(f, "c"), "3", 1), QN_EIO);
	assert_int_equal(entries(f, false), 3);
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

/* A file of version `version` with this dict and n bytes of data, in malloc'ed memory of exactly its size. */
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
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24, "tensor<2x3xf32>"},
		{2, "{'shape': (5,), 'descr': '|u1', 'fortran_order': False}", 5, "tensor<5xu8>"},
		{3, "{\"descr\": \"<f8\", \"fortran_order\": False, \"shape\": ()}  \n", 8, "tensor<f64>"},
		{1, "{'descr':'|b1','fortran_order':False,'shape':(0,4)}", 0, "tensor<0x4xbool>"},
		{1, "{'descr': '<i8', 'fortran_order': True, 'shape': (1,), }", 8, "tensor<1xi64>"},
		{1, "{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }", 2, "tensor<1xf16>"},
		{1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 4, "npy.dtype"},
		{1, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", 8, "npy.dtype"},
		{1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4, "npy.dtype"},
		{1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", 24, "npy.order"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 23, "npy.truncated"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 25, "npy.size"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,), }", 4, "npy.size"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", 0, "npy.size"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", 4, "npy.size"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }", 24, "npy.header"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", 8, "npy.header"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", 8, "npy.header"},
		{1, "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", 8, "npy.header"},
		{1, "{'descr': '<f4', 'fortran_order': False}", 8, "npy.header"},
		{1, "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8, "npy.header"},
		{1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", 8, "npy.header"},
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
		"tensor<2x3xf32>", "tensor<4xi8>", "tensor<i64>", "tensor<2x0xu16>", "tensor<1x2x3x4xf16>", "tensor<3xbool>",
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

	assert_int_equal(qn_type_parse_str(&f->t, "", "tensor<3x!quant.uniform<i4:f32, 5.000000e-01>>", &type), QN_OK);
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

/* ---- every cut and every changed byte ---- */

typedef qn_status parse_fn(fixture *f, const char *s, size_t n);

static void
try_bytes(fixture *f, parse_fn *parse, const char *s, size_t n)
{
	char *exact = malloc(n > 0 ? n : 1);
	size_t errors = 0;

	memcpy(exact, s, n);
	qn_status status = parse(f, exact, n);
	errors = f->diags.nerrors;
	if ((status == QN_OK) != (errors == 0))
		fail_msg("status %d with %zu diagnostics", (int)status, errors);
	restart(f);
	free(exact);
}

static void
hurt(fixture *f, parse_fn *parse, const char *s, size_t n)
{
	static const unsigned char masks[] = {0xff, 0x01, 0x02, 0x08, 0x20, 0x80};
	char *copy = malloc(n);

	memcpy(copy, s, n); /* s may lie in the arena that is released */
	try_bytes(f, parse, copy, n);
	for (size_t i = 0; i < n; i++)
		try_bytes(f, parse, copy, i);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < sizeof masks; k++) {
			copy[i] = (char)((unsigned char)copy[i] ^ masks[k]);
			try_bytes(f, parse, copy, n);
			copy[i] = (char)((unsigned char)copy[i] ^ masks[k]);
		}
	}
	free(copy);
}

static double
sum(const qn_tensor *x)
{
	double s = 0;

	for (int64_t i = 0; i < qn_type_count(x->type); i++)
		s += isfinite(qn_tensor_f64(x, i)) ? qn_tensor_f64(x, i) : 0;
	return s;
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
	char *s = npy_file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24, &n);

	hurt(*state, parse_npy, s, n);
	free(s);
	s = npy_file(2, "{'descr': '|i1', 'fortran_order': False, 'shape': (7,), }\n", 7, &n);
	hurt(*state, parse_npy, s, n);
	free(s);
}

static qn_status
parse_safetensors(fixture *f, const char *s, size_t n)
{
	qn_safetensors *file = NULL;
	qn_status status = qn_safetensors_parse(&f->t, &f->arena, "x.safetensors", s, n, &file);
	const qn_tensor *x = status == QN_OK ? qn_safetensors_find(file, "w") : NULL;

	if (x != NULL)
		(void)sum(x);
	return status;
}

static char *
safetensors_file(const char *header, size_t data, size_t *n)
{
	size_t length = strlen(header);
	char *s = calloc(1, 8 + length + data + 1);

	s[0] = (char)(length & 255);
	s[1] = (char)(length >> 8);
	memcpy(s + 8, header, length);
	*n = 8 + length + data;
	return s;
}

static void
safetensors_hurt(void **state)
{
	size_t n = 0;
	char *s = safetensors_file("{\"__metadata__\":{\"a\":\"b\"},\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
	                           "\"v\":{\"dtype\":\"I8\",\"shape\":[],\"data_offsets\":[8,9]}}", 9, &n);

	hurt(*state, parse_safetensors, s, n);
	free(s);
}

/* ---- safetensors ---- */

static void
safetensors_headers(void **state)
{
#define W(shape, offsets) "\"w\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
	static const struct {
		const char *header;
		size_t data;
		const char *want;
	} rows[] = {
		{"{" W("[2]", "[0,8]") "}  ", 8, ""},
		{"{}", 0, ""},
		{"{\"__metadata__\":{\"format\":\"pt\"}," W("[]", "[4,8]") "}", 8, ""},
		{"{" W("[0]", "[0,0]") ",\"v\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, ""},
		{"{\"__metadata__\":{\"format\":1}}", 0, "safetensors.header"},
		{"{\"__metadata__\":[]}", 0, "safetensors.header"},
		{"[]", 0, "safetensors.header"},
		{"{", 0, "safetensors.header"},
		{"{\"w\":1}", 0, "safetensors.header"},
		{"{" W("[-1]", "[0,8]") "}", 8, "safetensors.header"},
		{"{" W("[1.5]", "[0,8]") "}", 8, "safetensors.header"},
		{"{" W("[1,1,1,1,1,1,1,1,2]", "[0,8]") "}", 8, "safetensors.header"},
		{"{" W("[2]", "[0]") "}", 8, "safetensors.header"},
		{"{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}}", 8, "safetensors.header"},
		{"{\"w\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "safetensors.header"},
		{"{\"w\":{\"dtype\":\"F8_E4M3\",\"shape\":[2],\"data_offsets\":[0,2]}}", 8, "safetensors.dtype"},
		{"{" W("[2]", "[8,0]") "}", 8, "safetensors.offset"},
		{"{" W("[2]", "[-8,0]") "}", 8, "safetensors.offset"},
		{"{" W("[3]", "[0,8]") "}", 8, "safetensors.offset"},
		{"{" W("[4611686018427387904]", "[0,0]") "}", 8, "safetensors.header"},
		{"{" W("[1048576,1048576,1048576]", "[0,0]") "}", 8, "safetensors.offset"},
		{"{" W("[2]", "[4,12]") "}", 8, "safetensors.truncated"},
		{"{" W("[2]", "[0,8]") "," W("[2]", "[0,8]") "}", 8, "safetensors.duplicate"},
		{"{" W("[2]", "[0,8]") ",\"v\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[7,8]}}", 8, "safetensors.overlap"},
	};
#undef W
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_safetensors *file = NULL;
		size_t n = 0;
		char *s = safetensors_file(rows[i].header, rows[i].data, &n);
		qn_status status = qn_safetensors_parse(&f->t, &f->arena, "x.safetensors", s, n, &file);

		if (strcmp(last_id(f), rows[i].want) != 0 || (status == QN_OK) != (rows[i].want[0] == '\0'))
			fail_msg("row %zu: '%s' instead of '%s'", i, last_id(f), rows[i].want);
		restart(f);
		free(s);
	}
	char big[8] = {1, (char)0xe1, (char)0xf5, 5}; /* 100000001 */
	qn_safetensors *file = NULL;
	assert_int_equal(qn_safetensors_parse(&f->t, &f->arena, "x", big, 8, &file), QN_EINVALID);
	assert_string_equal(last_id(f), "safetensors.header");
	assert_int_equal(qn_safetensors_parse(&f->t, &f->arena, "x", big, 7, &file), QN_EINVALID);
	assert_string_equal(last_id(f), "safetensors.truncated");
}

static void
safetensors_there_and_back(void **state)
{
	static const char *const names[] = {"conv1.w", "quo\"te", "bias"};
	static const char *const types[] = {"tensor<2x3xf32>", "tensor<3xi8>", "tensor<2x!quant.uniform<i32:f32, 5.000000e-01>>"};
	fixture *f = *state;
	const qn_tensor *x[3];
	qn_safetensors *file = NULL;
	qn_buf b;

	for (size_t i = 0; i < 3; i++) {
		const qn_type *type = NULL;
		void *data = NULL;

		assert_int_equal(qn_type_parse_str(&f->t, "", types[i], &type), QN_OK);
		x[i] = qn_tensor_new(&f->arena, type, &data);
		for (int64_t k = 0; k < qn_type_count(type); k++)
			qn_store_f64(data, type->elem->plain, k, (double)(k + 1));
	}
	qn_buf_init(&b, &f->arena);
	qn_safetensors_print(&b, 3, names, x);
	assert_int_equal((b.n - 24 - 3 - 8) % 8, 0);
	const char *path = in_folder(f, "w.safetensors");
	assert_int_equal(qn_file_write(&f->env, path, b.data, b.n), QN_OK);
	assert_int_equal(qn_safetensors_open(&f->t, &f->arena, path, &file), QN_OK);
	assert_null(qn_safetensors_find(file, "none"));
	for (size_t i = 0; i < 3; i++) {
		const qn_tensor *y = qn_safetensors_find(file, names[i]);

		assert_non_null(y);
		assert_int_equal(y->bytes, x[i]->bytes);
		assert_memory_equal(y->data, x[i]->data, x[i]->bytes);
	}
	assert_int_equal(qn_safetensors_find(file, "bias")->type->elem->plain, QN_PLAIN_i32);
}

/* ---- the JSON tree ---- */

static const qn_json *
tree(fixture *f, const char *s, qn_json_doc *d)
{
	return qn_json_tree(&f->arena, "x.json", s, strlen(s), NULL, d) == QN_OK ? d->root : NULL;
}

static void
json_values(void **state)
{
	fixture *f = *state;
	qn_json_doc d;
	const qn_json *v =
		tree(f, " {\"a\": [1, -2.5e3, \"9007199254740993\", \"-inf\"], \"A\": {\"\\u00e4/~\": null}, \"t\": true} ", &d);
	const qn_json *a = qn_json_find(v, "a");
	int64_t i = 0;
	double r = 0;

	assert_int_equal(a->n, 4);
	assert_true(qn_json_i64(&a->child[0], &i) && i == 1);
	assert_false(qn_json_i64(tree(f, "[0.5]", &(qn_json_doc){0})->child, &i));
	assert_true(qn_json_i64(&a->child[1], &i) && i == -2500);
	assert_true(qn_json_i64(&a->child[2], &i) && i == INT64_C(9007199254740993));
	assert_true(qn_json_f64(&a->child[3], &r) && isinf(r) && r < 0);
	assert_false(qn_json_i64(&a->child[3], &i));
	assert_true(qn_json_find(v, "t")->truth);
	assert_null(qn_json_find(v, "T"));
	const qn_json *deep = &qn_json_find(v, "A")->child[0];
	assert_string_equal(qn_json_place(&d, &f->arena, deep), "x.json:/A/\xc3\xa4~1~0");
	assert_string_equal(qn_json_place(&d, &f->arena, &a->child[2]), "x.json:/a/2");
	assert_string_equal(qn_json_place(&d, &f->arena, v), "x.json:/");
}

static void
json_integers(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t want;
	} rows[] = {
		{"[9007199254740992]", true, INT64_C(9007199254740992)},
		{"[9007199254740994]", false, 0},
		{"[\"9223372036854775807\"]", true, INT64_MAX},
		{"[\"9223372036854775808\"]", false, 0},
		{"[\"-9223372036854775808\"]", true, INT64_MIN},
		{"[\"-9223372036854775809\"]", false, 0},
		{"[\"99999999999999999999999\"]", false, 0},
		{"[\"\"]", false, 0},
		{"[\"-\"]", false, 0},
		{"[\" 1\"]", false, 0},
		{"[-0]", true, 0},
		{"[1e3]", true, 1000},
		{"[true]", false, 0},
	};
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_json_doc d;
		int64_t v = 0;
		bool ok = qn_json_i64(tree(f, rows[i].text, &d)->child, &v);

		if (ok != rows[i].ok || (ok && v != rows[i].want))
			fail_msg("row %zu: %d %lld", i, ok, (long long)v);
	}
}

static void
json_refused(void **state)
{
	static const struct {
		const char *text, *id, *place;
	} rows[] = {
		{"", "json.syntax", "x.json:1:1"},
		{"{\n  \"a\": 1,\n}", "json.syntax", "x.json:3:1"},
		{"[01]", "json.syntax", "x.json:1:2"},
		{"[1.]", "json.syntax", "x.json:1:4"},
		{"[+1]", "json.syntax", "x.json:1:2"},
		{"[-]", "json.syntax", "x.json:1:3"},
		{"[1e]", "json.syntax", "x.json:1:4"},
		{"[.5]", "json.syntax", "x.json:1:2"},
		{"[NaN]", "json.syntax", "x.json:1:2"},
		{"[1] 2", "json.syntax", "x.json:1:5"},
		{"[1 2]", "json.syntax", NULL},
		{"[1,,2]", "json.syntax", NULL},
		{"[1", "json.syntax", NULL},
		{"[1}", "json.syntax", NULL},
		{"{\"a\" 1}", "json.syntax", NULL},
		{"{1: 2}", "json.syntax", NULL},
		{"\"a\nb\"", "json.syntax", "x.json:1:3"},
		{"\"a", "json.syntax", "x.json:1:1"},
		{"\"\\x\"", "json.syntax", "x.json:1:3"},
		{"\"\\u12g4\"", "json.syntax", "x.json:1:6"},
		{"\"\\u0000\"", "json.syntax", NULL},
		{"\"\\ud800\"", "json.syntax", NULL},
		{"\"\\udc00\\ud800\"", "json.syntax", NULL},
		{"\"\xc0\x80\"", "json.syntax", "x.json:1:2"},
		{"\"\xed\xa0\x80\"", "json.syntax", "x.json:1:2"},
		{"\"\xf4\x90\x80\x80\"", "json.syntax", "x.json:1:2"},
		{"\"\xe2\x82\"", "json.syntax", "x.json:1:2"},
		{"\"\xff\"", "json.syntax", "x.json:1:2"},
		{"\x01[]", "json.syntax", "x.json:1:1"},
		{"\xef\xbb\xbf[]", "json.syntax", "x.json:1:1"},
		{"[1e999]", "json.number", "x.json:/0"},
		{"[0.0000000000000000000000000000000000000000000000000000000000000001]", "json.syntax", "x.json:1:2"},
		{"{\"a\": {\"b\": 1, \"B\": 2, \"b\": 3}}", "json.key.duplicate", "x.json:/a/b"},
		{"{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"a\":1}", "json.key.duplicate", "x.json:/a"},
	};
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_json_doc d;

		assert_null(tree(f, rows[i].text, &d));
		if (strcmp(last_id(f), rows[i].id) != 0)
			fail_msg("row %zu: %s", i, last_id(f));
		if (rows[i].place != NULL && strcmp(f->diags.item[f->diags.n - 1].place, rows[i].place) != 0)
			fail_msg("row %zu: place %s", i, f->diags.item[f->diags.n - 1].place);
		restart(f);
	}
}

static void
json_depth(void **state)
{
	fixture *f = *state;
	char s[2 * 100000];
	qn_json_doc d;

	for (int depth = 64; depth <= 65; depth++) {
		memset(s, '[', (size_t)depth);
		memset(s + depth, ']', (size_t)depth);
		qn_status status = qn_json_tree(&f->arena, "x", s, 2 * (size_t)depth, NULL, &d);
		assert_int_equal(status, depth == 64 ? QN_OK : QN_EINVALID);
	}
	memset(s, '[', sizeof s);
	assert_int_equal(qn_json_tree(&f->arena, "x", s, sizeof s, NULL, &d), QN_EINVALID);
}

/* 200000 keys: comparing all pairs would take minutes. */
static void
json_many_keys(void **state)
{
	fixture *f = *state;
	qn_json_doc d;
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_buf_putc(&b, '{');
	for (int i = 0; i < 200000; i++)
		qn_buff(&b, "\"k%d\":%d,", i, i);
	qn_buf_puts(&b, "\"k77777\":0}");
	assert_int_equal(qn_json_tree(&f->arena, "x", b.data, b.n, NULL, &d), QN_EINVALID);
	assert_int_equal(f->diags.nerrors, 1);
	assert_string_equal(f->diags.item[0].place, "x:/k77777");
}

static void
json_getters(void **state)
{
	static const char *const keys[] = {"a", "b"};
	fixture *f = *state;
	qn_json_doc d;
	const qn_json *v = tree(f, "{\"a\": 1, \"B\": 2, \"_note\": 3}", &d);

	assert_non_null(qn_json_need(&d, v, "a", QN_JSON_NUMBER));
	assert_null(qn_json_want(&d, v, "b", QN_JSON_NUMBER));
	assert_int_equal(f->diags.n, 0);
	assert_null(qn_json_need(&d, v, "b", QN_JSON_NUMBER));
	assert_string_equal(last_id(f), "json.key.missing");
	assert_null(qn_json_want(&d, v, "a", QN_JSON_STRING));
	assert_string_equal(last_id(f), "json.kind");
	qn_json_only(&d, v, 2, keys);
	assert_string_equal(last_id(f), "json.key.unknown");
	assert_int_equal(f->diags.n, 3);
	assert_string_equal(f->diags.item[2].place, "x.json:/B");
}

static qn_status
parse_json(fixture *f, const char *s, size_t n)
{
	qn_json_doc d;

	return qn_json_tree(&f->arena, "x.json", s, n, NULL, &d);
}

static void
json_hurt(void **state)
{
	const char *s = "{\"a\": [1, -2.5e3, \"\\u00e4\\n\xe2\x82\xac\", true, false, null], \"b\": {\"a\": {}}, \"c\": []}";

	hurt(*state, parse_json, s, strlen(s));
}

/* ---- the JSON writer ---- */

static void
write_sample(qn_buf *b)
{
	qn_json_out o;

	qn_json_out_init(&o, b);
	qn_json_open(&o, NULL, '{', QN_JSON_LINES);
	qn_json_put_string(&o, "s", "a\"b\n");
	qn_json_open(&o, "flat", '[', QN_JSON_FLAT);
	qn_json_put_i64(&o, NULL, INT64_C(9007199254740993));
	qn_json_put_i64(&o, NULL, INT64_C(-9007199254740992));
	qn_json_put_f64(&o, NULL, 0.1);
	qn_json_put_f32(&o, NULL, 0.1F);
	qn_json_put_f64(&o, NULL, (double)INFINITY);
	qn_json_open(&o, NULL, '{', QN_JSON_LINES);
	qn_json_put_bool(&o, "t", true);
	qn_json_close(&o);
	qn_json_close(&o);
	qn_json_open(&o, "empty", '{', QN_JSON_LINES);
	qn_json_close(&o);
	qn_json_open(&o, "lines", '[', QN_JSON_LINES);
	qn_json_put_u64(&o, NULL, UINT64_MAX);
	qn_json_put_f32(&o, NULL, 1e-30F);
	qn_json_close(&o);
	qn_json_close(&o);
}

static const char sample[] = "{\n"
                             "  \"s\": \"a\\\"b\\n\",\n"
                             "  \"flat\": [\"9007199254740993\", -9007199254740992, 0.1, 0.1, \"inf\", {\"t\": true}],\n"
                             "  \"empty\": {},\n"
                             "  \"lines\": [\n"
                             "    \"18446744073709551615\",\n"
                             "    1e-30\n"
                             "  ]\n"
                             "}\n";

static void
json_written(void **state)
{
	fixture *f = *state;
	qn_json_doc d;
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	write_sample(&b);
	assert_string_equal(qn_buf_str(&b), sample);
	assert_non_null(tree(f, qn_buf_str(&b), &d));
}

/* Where the decimal point is a comma nothing changes. */
static void
json_locale(void **state)
{
	static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "ps_AF.UTF-8"};
	fixture *f = *state;
	bool tried = false;

	for (size_t i = 0; i < QN_COUNT(names); i++) {
		double r = 0;
		qn_json_doc d;
		qn_buf b;

		if (setlocale(LC_ALL, names[i]) == NULL)
			continue;
		tried = true;
		assert_string_not_equal(localeconv()->decimal_point, ".");
		qn_buf_init(&b, &f->arena);
		write_sample(&b);
		const qn_json *v = tree(f, "[-2.5e-1, 1.5]", &d);
		bool ok = v != NULL && v->n == 2 && qn_json_f64(&v->child[0], &r);
		bool same = strcmp(qn_buf_str(&b), sample) == 0;
		bool kept = strcmp(localeconv()->decimal_point, ".") != 0;
		(void)setlocale(LC_ALL, "C");
		assert_true(ok && same && kept);
		assert_true(r == -0.25);
	}
	if (!tried) {
		print_message("skipped: no locale with a comma as decimal point is installed\n");
		skip();
	}
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(file_written_and_mapped), T(file_problems),       T(files_appear_together), T(paths),
		T(npy_headers),             T(npy_there_and_back),  T(npy_of_other_types),    T(npy_hurt),
		T(safetensors_headers),     T(safetensors_hurt),    T(safetensors_there_and_back),
		T(json_values),             T(json_integers),       T(json_refused),          T(json_depth),
		T(json_many_keys),          T(json_getters),        T(json_hurt),             T(json_written),
		T(json_locale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
