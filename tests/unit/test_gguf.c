/* SPDX-License-Identifier: Apache-2.0 */
/* test_gguf.c - GGUF files: what is read, each check with its id, every cut and changed byte. */
#include "tests/unit/gguf_bytes.h"

/* ---- files by hand ---- */

static qn_status
parse(fixture *f, const char *data, size_t n)
{
	qn_archive_data d;
	qn_status status = read_as(f, data, n, &d);

	for (size_t i = 0; status == QN_OK && i < d.n; i++)
		(void)dequant(f, &d.tensor[i].t);
	for (size_t i = 0; status == QN_OK && i < d.nproperty; i++)
		(void)qn_property_json(&f->arena, &d.property[i]);
	return status;
}

static void
refused(fixture *f, const qn_buf *b, qn_status status, const char *id, const char *words)
{
	qn_archive_data d;

	assert_int_equal(read_as(f, b->data, b->n, &d), status);
	assert_string_equal(last_id(f), id);
	if (strstr(all_diags(f), words) == NULL)
		fail_msg("'%s' without '%s'", all_diags(f), words);
	qn_diags_clear(&f->env, &f->diags);
}

static void
reads_all(void **state)
{
	fixture *f = *state;
	const qn_buf b = sample(f);
	qn_archive_data d;
	uint64_t v;

	if (read_as(f, b.data, b.n, &d) != QN_OK)
		fail_msg("%s", all_diags(f));
	assert_int_equal(d.n, 4);
	assert_int_equal(d.nproperty, 8);
	static const char *const json[] = {
		"16",
		"true",
		"\"-9223372036854775808\"",
		"0.1",
		"[\"a\", \"\xC3\xA9\\\"\", \"\xEF\xBF\xBD\xEF\xBF\xBD\"]",
		"-2",
		"[]",
		"\"\""};
	for (size_t i = 0; i < 8; i++)
		assert_string_equal(qn_property_json(&f->arena, &d.property[i]), json[i]);
	assert_false(qn_property_u64(&d.property[5], &v));
	assert_true(qn_property_u64(&d.property[0], &v) && v == 16);
	const qn_layout_tensor *q = &qn_archive_named(&d, "q")->t;
	assert_string_equal(q->layout->name, "q4_0");
	assert_true(q->rank == 2 && q->dim[0] == 2 && q->dim[1] == 32);
	assert_ptr_equal(q->plane[0].data, b.data + b.n - 96 + 32); /* a view */
	assert_int_equal(qn_layout_check(&f->env, "q", q), QN_OK);
	const qn_layout_tensor *x = &qn_archive_named(&d, "f")->t;
	assert_true(x->dim[0] == 2 && x->dim[1] == 3);
	assert_ptr_equal(x->plane[0].data, b.data + b.n - 96);
	assert_int_equal(qn_archive_named(&d, "scalar")->t.rank, 0);
	assert_int_equal(qn_layout_elements(&qn_archive_named(&d, "scalar")->t), 1);
	assert_null(qn_archive_named(&d, "g"));
}

static void
every_cut_and_change(void **state)
{
	fixture *f = *state;
	const qn_buf b = sample(f);

	hurt(f, parse, b.data, b.n);
}

/* ---- checks ---- */

static void
headers(void **state)
{
	fixture *f = *state;
	qn_buf b;

	start(f, &b, 0, 0);
	assert_int_equal(parse(f, b.data, b.n), QN_OK);
	b.data[0] = 'g';
	refused(f, &b, QN_EINVALID, "gguf.magic", "GGUF");
	b.data[0] = 'G';
	b.data[4] = 1;
	refused(f, &b, QN_EUNSUPPORTED, "gguf.version", "version 1 (expected 2 or 3)");
	memcpy(b.data + 4, "\0\0\0\3", 4);
	refused(f, &b, QN_EUNSUPPORTED, "gguf.endian", "gguf_convert_endian.py");
	start(f, &b, UINT64_C(1) << 60, 0);
	refused(f, &b, QN_EINVALID, "gguf.count", "1152921504606846976 tensors");
	start(f, &b, 0, 5);
	refused(f, &b, QN_EINVALID, "gguf.count", "5 properties");
	b.n = 20;
	refused(f, &b, QN_EINVALID, "gguf.truncated", "ends");
}

static void
properties(void **state)
{
	fixture *f = *state;
	qn_buf b;

	start(f, &b, 0, 1);
	put(&b, 8, 1000);
	qn_buf_puts(&b, "abcdefgh");
	refused(f, &b, QN_EINVALID, "gguf.string", "1000 bytes, but the file has 8 left");
	start(f, &b, 0, 1);
	put_u32(&b, "", 1);
	refused(f, &b, QN_EINVALID, "gguf.key", "0 bytes");
	start(f, &b, 0, 2);
	put_u32(&b, "key", 1);
	put_u32(&b, "key", 1);
	refused(f, &b, QN_EINVALID, "gguf.key",
		"x.gguf: key 'key': gguf.key: the key appears twice");
	start(f, &b, 0, 1);
	put_name(&b, "key");
	put(&b, 4, 13);
	put(&b, 8, 0);
	refused(f, &b, QN_EINVALID, "gguf.type", "values 13");
	start(f, &b, 0, 1);
	put_name(&b, "key");
	put(&b, 4, QN_VALUE_ARRAY);
	put(&b, 4, QN_VALUE_ARRAY);
	put(&b, 8, 0);
	refused(f, &b, QN_EINVALID, "gguf.type", "arrays of arrays");
	start(f, &b, 0, 1);
	put_name(&b, "key");
	put(&b, 4, QN_VALUE_ARRAY);
	put(&b, 4, QN_VALUE_U32);
	put(&b, 8, UINT64_C(1) << 62);
	refused(f, &b, QN_EINVALID, "gguf.count", "but the file has 0 left");
	start(f, &b, 0, 1);
	put_name(&b, "key");
	put(&b, 4, QN_VALUE_BOOL);
	put(&b, 4, 2);
	refused(f, &b, QN_EINVALID, "gguf.bool", "key 'key'");
	start(f, &b, 0, 1);
	put_u32(&b, "general.alignment", 24);
	refused(f, &b, QN_EINVALID, "gguf.alignment", "24 is not a u32 that is a power of two");
}

static void
tensors(void **state)
{
	static const struct {
		const char *name;
		uint32_t n;
		uint64_t dim[5];
		uint32_t type;
		uint64_t offset;
		const char *id, *words;
	} rows[] = {
		{"", 1, {4}, 0, 0, "gguf.name", "0 bytes"},
		{"a name that is longer than the sixty-four bytes that GGUF allows.",
		 1,
		 {4},
		 0,
		 0,
		 "gguf.name",
		 "65 bytes"},
		{"t", 5, {1, 1, 1, 1, 1}, 0, 0, "gguf.dims", "5 dimensions"},
		{"t", 2, {UINT64_C(1) << 40, UINT64_C(1) << 40}, 0, 0, "gguf.dims", "2^60"},
		{"t", 1, {UINT64_MAX}, 0, 0, "gguf.dims", "18446744073709551615"},
		{"t", 1, {32}, 4, 0, "gguf.tensor-type", "type 4 (expected f32, f16"},
		{"t",
		 2,
		 {48, 2},
		 2,
		 0,
		 "gguf.row",
		 "x.gguf: tensor 't': gguf.row: rows of 48 elements are not a multiple of the 32"},
		{"t", 0, {0}, 2, 0, "gguf.row", "rows of 1"},
		{"t", 1, {4}, 0, 8, "gguf.offset", "8 is not a multiple of the alignment, 32"},
		{"t", 1, {4}, 0, UINT64_MAX - 7, "gguf.offset", "2^64"},
		{"t", 1, {17}, 0, 0, "gguf.truncated", "ends at byte 64, the tensor at 68"},
		{"t", 1, {4}, 0, 64, "gguf.truncated", "the tensor at 80"},
	};
	fixture *f = *state;
	qn_buf b;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		start(f, &b, 1, 0);
		put_tensor(&b, rows[i].name, rows[i].n, rows[i].dim, rows[i].type, rows[i].offset);
		end(&b, 32, 64);
		refused(f, &b,
			strcmp(rows[i].id, "gguf.tensor-type") == 0 ? QN_EUNSUPPORTED : QN_EINVALID,
			rows[i].id, rows[i].words);
	}
	for (int twice = 0; twice < 2; twice++) {
		start(f, &b, 2, 0);
		put_tensor(&b, "a", 1, D(9), 0, 0);
		put_tensor(&b, twice ? "a" : "b", 1, D(4), 0, 32);
		end(&b, 32, 64);
		refused(f, &b, QN_EINVALID, twice ? "gguf.name" : "gguf.offset",
			twice ? "twice" : "'a' and 'b' share bytes");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(reads_all), T(every_cut_and_change), T(headers), T(properties), T(tensors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
