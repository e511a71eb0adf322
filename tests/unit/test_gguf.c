/* SPDX-License-Identifier: Apache-2.0 */
/* test_gguf.c - GGUF files: what is read, each check with its id, every cut and changed byte, and
 * writing. */
#include "tests/unit/layouts_rig.h"

#include "formats/archive.h"

/* ---- files by hand ---- */

static void
put(qn_buf *b, size_t bytes, uint64_t v)
{
	uint8_t little[8];

	qn_little_put(little, bytes, v);
	qn_buf_put(b, (const char *)little, bytes);
}

static void
put_name(qn_buf *b, const char *s)
{
	put(b, 8, strlen(s));
	qn_buf_puts(b, s);
}

static void
start(fixture *f, qn_buf *b, uint64_t tensors, uint64_t properties)
{
	qn_buf_init(b, &f->arena);
	qn_buf_puts(b, "GGUF");
	put(b, 4, 3);
	put(b, 8, tensors);
	put(b, 8, properties);
}

static void
put_u32(qn_buf *b, const char *key, uint32_t v)
{
	put_name(b, key);
	put(b, 4, QN_VALUE_U32);
	put(b, 4, v);
}

static void
put_tensor(qn_buf *b, const char *name, uint32_t n, const uint64_t *dim, uint32_t type,
	   uint64_t offset)
{
	put_name(b, name);
	put(b, 4, n);
	for (uint32_t i = 0; i < n; i++)
		put(b, 8, dim[i]);
	put(b, 4, type);
	put(b, 8, offset);
}

#define D(...)                                                                                     \
	(const uint64_t[])                                                                         \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static void
end(qn_buf *b, size_t alignment, size_t data)
{
	while (b->n % alignment != 0)
		qn_buf_putc(b, 0);
	for (size_t i = 0; i < data; i++)
		qn_buf_putc(b, (char)(i % 7));
}

static qn_status
read_as(fixture *f, const char *data, size_t n, qn_archive_data *d)
{
	qn_archive_init(d, &f->arena, "GGUF", "x.gguf");
	return qn_gguf_read(d, data, n);
}

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

/* Every kind of value, three tensors that do not lie in their order. */
static qn_buf
sample(fixture *f)
{
	qn_buf b;

	start(f, &b, 4, 8);
	put_u32(&b, "general.alignment", 16);
	put_name(&b, "flag");
	put(&b, 4, QN_VALUE_BOOL);
	put(&b, 1, 1);
	put_name(&b, "least");
	put(&b, 4, QN_VALUE_I64);
	put(&b, 8, (uint64_t)INT64_MIN);
	put_name(&b, "real");
	put(&b, 4, QN_VALUE_F32);
	put(&b, 4, 0x3DCCCCCD);
	put_name(&b, "words");
	put(&b, 4, QN_VALUE_ARRAY);
	put(&b, 4, QN_VALUE_STRING);
	put(&b, 8, 3);
	put_name(&b, "a");
	put_name(&b, "\xC3\xA9\"");
	put(&b, 8, 2);
	qn_buf_put(&b, "\xFF\0", 2); /* a token need not be text */
	put_name(&b, "small");
	put(&b, 4, QN_VALUE_I8);
	put(&b, 1, 0xFE);
	put_name(&b, "none");
	put(&b, 4, QN_VALUE_ARRAY);
	put(&b, 4, QN_VALUE_F64);
	put(&b, 8, 0);
	put_name(&b, "name");
	put(&b, 4, QN_VALUE_STRING);
	put_name(&b, "");
	put_tensor(&b, "q", 2, D(32, 2), 2, 32);
	put_tensor(&b, "f", 2, D(3, 2), 0, 0);
	put_tensor(&b, "scalar", 0, NULL, 1, 80);
	put_tensor(&b, "empty", 1, D(0), 0, 96);
	end(&b, 16, 96);
	return b;
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
	refused(f, &b, QN_EUNSUPPORTED, "gguf.endian", "big-endian");
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
	refused(f, &b, QN_EINVALID, "gguf.alignment", "power of two");
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

/* ---- writing ---- */

static qn_buf
written(fixture *f, const qn_archive_data *d)
{
	qn_archive_data ready;
	qn_buf b;

	if (qn_gguf_prepare(&f->env, &f->arena, d, &ready) != QN_OK)
		fail_msg("%s", all_diags(f));
	qn_buf_init(&b, &f->arena);
	qn_gguf_print(&b, &ready);
	return b;
}

static void
writes_what_it_read(void **state)
{
	fixture *f = *state;
	const qn_buf b = sample(f);
	qn_archive_data d, again;

	assert_int_equal(read_as(f, b.data, b.n, &d), QN_OK);
	const qn_buf out = written(f, &d);
	assert_int_equal(read_as(f, out.data, out.n, &again), QN_OK);
	assert_int_equal(again.n, d.n);
	assert_int_equal(again.nproperty, d.nproperty + 1); /* general.quantization_version */
	for (size_t i = 0; i < d.n; i++) {
		const qn_layout_tensor *x = &d.tensor[i].t, *y = &again.tensor[i].t;

		assert_string_equal(d.tensor[i].name, again.tensor[i].name);
		assert_true(x->layout == y->layout && x->rank == y->rank);
		assert_memory_equal(x->dim, y->dim, sizeof x->dim);
		assert_memory_equal(x->plane[0].data, y->plane[0].data, x->plane[0].bytes);
	}
	for (size_t i = 0; i < d.nproperty; i++) {
		assert_int_equal(d.property[i].type, again.property[i].type);
		assert_int_equal(d.property[i].bytes, again.property[i].bytes);
		assert_memory_equal(d.property[i].data, again.property[i].data,
				    d.property[i].bytes);
	}
	/* A second time the same bytes: offsets are the running sum. */
	const qn_buf third = written(f, &again);
	assert_int_equal(third.n, out.n);
	assert_memory_equal(third.data, out.data, out.n);
}

/* Planes: packed where the bits fit, else f32 with a warning; types that GGUF does not have. */
static void
writes_planes(void **state)
{
	fixture *f = *state;
	const float *x = weights(f, 64, 9);
	const qn_layout_tensor t = qn_layout_of_f32(&f->arena, 2, (const int64_t[]){2, 32}, x);
	qn_layout_tensor q, planes, odd;
	qn_archive_data d, again;

	assert_int_equal(
		qn_layout_repack(&f->env, &f->arena, "t", &t, row_of(f, "q5_1"), true, &q, NULL),
		QN_OK);
	assert_int_equal(qn_layout_to_planar(&f->env, &f->arena, "t", &q, &planes), QN_OK);
	assert_int_equal(qn_layout_repack(&f->env, &f->arena, "t", &t,
					  row_of(f, "TensorScaledLayout"), true, &odd, NULL),
			 QN_OK);
	qn_archive_init(&d, &f->arena, "", "y.gguf");
	assert_true(qn_archive_put(&d, "planes", &planes));
	assert_true(qn_archive_put(&d, "odd", &odd));
	assert_false(qn_archive_put(&d, "odd", &odd));
	const qn_buf b = written(f, &d);
	assert_int_equal(f->diags.n, 1);
	assert_string_equal(last_id(f), "gguf.dequantized");
	assert_string_equal(f->diags.item[0].place, "y.gguf: tensor 'odd'");
	assert_int_equal(read_as(f, b.data, b.n, &again), QN_OK);
	assert_string_equal(again.tensor[0].t.layout->name, "q5_1");
	assert_memory_equal(again.tensor[0].t.plane[0].data, q.plane[0].data, q.plane[0].bytes);
	assert_same_floats(dequant(f, &odd), dequant(f, &again.tensor[1].t), 64);
	/* several are one warning */
	for (int k = 0; k < 4; k++) {
		char name[8];

		(void)snprintf(name, sizeof name, "odd%d", k);
		assert_true(qn_archive_put(&d, qn_arena_str(&f->arena, name), &odd));
	}
	(void)written(f, &d);
	assert_int_equal(f->diags.n, 2);
	assert_string_equal(f->diags.item[1].place, "y.gguf");
	assert_string_equal(f->diags.item[1].message,
			    "5 tensors have no form in GGUF that holds their bits: their values "
			    "become f32: 'odd' (TensorScaledLayout), 'odd0' (TensorScaledLayout), "
			    "'odd1' (TensorScaledLayout) …");
	const qn_layout_tensor bytes =
		qn_layout_plain(qn_dtype_by_name("u8"), 1, (const int64_t[]){8}, x);
	assert_true(qn_archive_put(&d, "bytes", &bytes));
	assert_int_equal(qn_gguf_prepare(&f->env, &f->arena, &d, &again), QN_EUNSUPPORTED);
	assert_string_equal(last_id(f), "archive.type");
}

/* Properties from JSON. */
static void
properties_of_json(void **state)
{
	static const struct {
		const char *json;
		qn_value_type type;
		bool array;
		const char *back; /* NULL: the same */
	} rows[] = {
		{"true", QN_VALUE_BOOL, false, NULL},
		{"7", QN_VALUE_U32, false, NULL},
		{"-7", QN_VALUE_I32, false, NULL},
		{"4294967296", QN_VALUE_U64, false, NULL},
		{"-4294967296", QN_VALUE_I64, false, NULL},
		{"0.5", QN_VALUE_F32, false, NULL},
		{"0.1", QN_VALUE_F64, false, NULL},
		{"\"a\\nb\"", QN_VALUE_STRING, false, NULL},
		{"[1, -2]", QN_VALUE_I64, true, NULL},
		{"[1, 0.5]", QN_VALUE_F64, true, "[1.0, 0.5]"},
		{"[\"a\", \"b\"]", QN_VALUE_STRING, true, NULL},
		{"[1, \"b\"]", QN_VALUE_JSON, false, "[1.0, \"b\"]"},
		{"{\"a\": [true, null]}", QN_VALUE_JSON, false, NULL},
		{"null", QN_VALUE_JSON, false, NULL},
		{"[]", QN_VALUE_JSON, false, NULL},
	};
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_json_doc doc;

		assert_int_equal(qn_json_tree(&f->arena, "x", rows[i].json, strlen(rows[i].json),
					      NULL, &doc),
				 QN_OK);
		const qn_property p = qn_property_of_json(&f->arena, "k", doc.root);
		assert_int_equal(p.type, rows[i].type);
		assert_int_equal(p.array, rows[i].array);
		assert_string_equal(qn_property_json(&f->arena, &p),
				    rows[i].back != NULL ? rows[i].back : rows[i].json);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(reads_all), T(every_cut_and_change), T(headers),       T(properties),
		T(tensors),   T(writes_what_it_read),  T(writes_planes), T(properties_of_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
