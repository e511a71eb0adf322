/* SPDX-License-Identifier: Apache-2.0 */
/* test_safetensors.c - .safetensors files: headers, there and back, damaged ones. */
#define _POSIX_C_SOURCE 200809L

#include "tests/unit/hurt_files.h"

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
	char *s = safetensors_file("{\"__metadata__\":{\"a\":\"b\"},\"w\":{\"dtype\":\"F32\","
				   "\"shape\":[2],\"data_offsets\":[0,8]},"
				   "\"v\":{\"dtype\":\"I8\",\"shape\":[],\"data_offsets\":[8,9]}}",
				   9, &n);

	hurt(*state, parse_safetensors, s, n);
	free(s);
}

static void
safetensors_headers(void **state)
{
#define W(shape, offsets)                                                                          \
	"\"w\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
	static const struct {
		const char *header;
		size_t data;
		const char *want;
	} rows[] = {
		{"{" W("[2]", "[0,8]") "}  ", 8, ""},
		{"{}", 0, ""},
		{"{\"__metadata__\":{\"format\":\"pt\"}," W("[]", "[0,4]") "}", 4, ""},
		{"{" W("[]", "[4,8]") "}", 8, "safetensors.hole"},
		{"{" W("[]", "[0,4]") "}", 5, "safetensors.hole"},
		{" {" W("[]", "[0,4]") "}", 4, "safetensors.header"},
		{"{\"w\":{\"dtype\":\"F8_E4M3\",\"shape\":[4],\"data_offsets\":[0,4]}}", 4,
		 "safetensors.dtype"},
		{"{" W("[0]",
		       "[0,0]") ",\"v\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
		 1, ""},
		{"{\"__metadata__\":{\"format\":1}}", 0, "safetensors.header"},
		{"{\"__metadata__\":[]}", 0, "safetensors.header"},
		{"[]", 0, "safetensors.header"},
		{"{", 0, "safetensors.header"},
		{"{\"w\":1}", 0, "safetensors.header"},
		{"{" W("[-1]", "[0,8]") "}", 8, "safetensors.header"},
		{"{" W("[1.5]", "[0,8]") "}", 8, "safetensors.header"},
		{"{" W("[1,1,1,1,1,1,1,1,2]", "[0,8]") "}", 8, "safetensors.header"},
		{"{" W("[2]", "[0]") "}", 8, "safetensors.header"},
		{"{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}}", 8,
		 "safetensors.header"},
		{"{\"w\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "safetensors.header"},
		{"{\"w\":{\"dtype\":\"F8_E4M3\",\"shape\":[2],\"data_offsets\":[0,2]}}", 8,
		 "safetensors.dtype"},
		{"{" W("[2]", "[8,0]") "}", 8, "safetensors.offset"},
		{"{" W("[2]", "[-8,0]") "}", 8, "safetensors.offset"},
		{"{" W("[3]", "[0,8]") "}", 8, "safetensors.offset"},
		{"{" W("[4611686018427387904]", "[0,0]") "}", 8, "safetensors.header"},
		{"{" W("[1048576,1048576,1048576]", "[0,0]") "}", 8, "safetensors.offset"},
		{"{" W("[2]", "[4,12]") "}", 8, "safetensors.truncated"},
		{"{" W("[2]", "[0,8]") "," W("[2]", "[0,8]") "}", 8, "safetensors.duplicate"},
		{"{" W("[2]",
		       "[0,8]") ",\"v\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[7,8]}}",
		 8, "safetensors.overlap"},
	};
#undef W
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_safetensors *file = NULL;
		size_t n = 0;
		char *s = safetensors_file(rows[i].header, rows[i].data, &n);
		qn_status status =
			qn_safetensors_parse(&f->t, &f->arena, "x.safetensors", s, n, &file);

		if (strcmp(last_id(f), rows[i].want) != 0 ||
		    (status == QN_OK) != (rows[i].want[0] == '\0'))
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
	static const char *const types[] = {"tensor<2x3xf32>", "tensor<3xi8>",
					    "tensor<2x!quant.uniform<i32:f32, 5.000000e-01>>"};
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(safetensors_headers),
		T(safetensors_hurt),
		T(safetensors_there_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
