/* SPDX-License-Identifier: Apache-2.0 */
/* test_irpa.c - IREE parameter archives: the layout of its own sample, each check, chains, splats, other
 * files. */
#include "tests/unit/irpa_rig.h"

enum { HEADER = 88 };

static qn_status
parse(fixture *f, const char *data, size_t n)
{
	qn_archive_data d;

	return read_as(f, data, n, &d);
}

/* ---- bytes ---- */

typedef struct bytes {
	char data[1024];
	size_t n;
} bytes;

static void
put(bytes *b, size_t each, uint64_t v)
{
	qn_little_put(b->data + b->n, each, v);
	b->n += each;
}

/* A header with one entry of `entry` bytes at 96, names at 208, data at 256. */
static void
start(bytes *b, uint64_t entry, uint64_t count, uint64_t names, uint64_t data)
{
	memset(b, 0, sizeof *b);
	memcpy(b->data, "IRPA", 4);
	b->n = 8;
	put(b, 8, HEADER);
	put(b, 8, 0);
	put(b, 8, 0);
	put(b, 8, count);
	put(b, 8, 96);
	put(b, 8, entry);
	put(b, 8, 208);
	put(b, 8, names);
	put(b, 8, 256);
	put(b, 8, data);
	b->n = 96;
}

static void
entry(bytes *b, uint64_t size, uint32_t type, uint64_t name, uint64_t length)
{
	put(b, 8, size);
	put(b, 4, type);
	put(b, 8, 0);
	put(b, 8, name);
	put(b, 8, length);
	put(b, 8, 0);
	put(b, 8, 0);
	put(b, 8, 0);
}

/* One entry key0 of 16 bytes. */
static void
sample(bytes *b)
{
	start(b, 76, 1, 4, 16);
	entry(b, 76, 2, 0, 4);
	put(b, 8, 0);
	put(b, 8, 16);
	memcpy(b->data + 208, "key0", 4);
	for (int i = 0; i < 16; i++)
		b->data[256 + i] = (char)(i + 1);
	b->n = 272;
}

static void
refused(fixture *f, const bytes *b, qn_status status, const char *id, const char *words)
{
	qn_archive_data d;

	assert_int_equal(read_as(f, b->data, b->n, &d), status);
	assert_string_equal(last_id(f), id);
	if (strstr(all_diags(f), words) == NULL)
		fail_msg("'%s' without '%s'", all_diags(f), words);
	qn_diags_clear(&f->env, &f->diags);
}

/* ---- writing: where IREE's sample has everything ---- */

static void
layout_of_the_sample(void **state)
{
	static const uint8_t data[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
	static const size_t segments[] = {0x60, 0x4C, 0xAC, 4, 0xC0, 0x10};
	fixture *f = *state;
	qn_archive_data d, again;
	qn_layout_tensor t =
		qn_layout_plain(qn_dtype_by_name("u8"), 1, (const int64_t[]){16}, data);
	qn_buf b;

	qn_layout_set_meta(&t, "raw", "true"); /* without metadata */
	qn_archive_init(&d, &f->arena, "IRPA", "x");
	assert_true(qn_archive_put(&d, "key0", &t));
	qn_buf_init(&b, &f->arena);
	qn_irpa_print(&b, &d);
	assert_int_equal(b.n, 4096);
	assert_memory_equal(b.data, "IRPA\0\0\0\0\x58", 9);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(qn_little_get(b.data + 40 + 8 * i, 8), segments[i]);
	assert_int_equal(qn_little_get(b.data + 0x60, 8), 76);
	assert_int_equal(qn_little_get(b.data + 0x60 + 52, 8), 64);
	assert_memory_equal(b.data + 0xAC, "key0", 4);
	assert_memory_equal(b.data + 0xC0, data, 16);
	assert_int_equal(read_as(f, b.data, b.n, &again), QN_OK);
	assert_int_equal(again.n, 1);
	assert_memory_equal(qn_archive_named(&again, "key0")->t.plane[0].data, data, 16);
}

static void
every_cut_and_change(void **state)
{
	fixture *f = *state;
	bytes b;

	sample(&b);
	hurt(f, parse, b.data, b.n);
}

/* ---- reading ---- */

static void
kinds_of_entries(void **state)
{
	fixture *f = *state;
	qn_archive_data d;
	bytes b, next;

	start(&b, 0, 0, 0, 0);
	b.n = 272;
	assert_int_equal(read_as(f, b.data, b.n, &d), QN_OK);
	assert_int_equal(d.n, 0);
	/* skip is left out, splat is filled */
	start(&b, 64 + 85, 2, 4, 0);
	entry(&b, 60, 0, 0, 0);
	b.n = 96 + 64;
	entry(&b, 85, 1, 0, 4);
	put(&b, 8, 12);
	memcpy(b.data + b.n, "\x00\x00\x80\x3f", 4);
	b.n += 16;
	put(&b, 1, 4);
	qn_little_put(b.data + 56, 8, 256); /* names behind the entries */
	memcpy(b.data + 256, "ones", 4);
	b.n = 260;
	assert_int_equal(read_as(f, b.data, b.n, &d), QN_OK);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.tensor[0].t.plane[0].bytes, 12);
	for (int i = 0; i < 3; i++)
		assert_true(qn_dtype_load(qn_dtype_by_name("f32"), d.tensor[0].t.plane[0].data,
					  i) == 1);
	/* a chain of two: the second one's offsets count from its own header */
	sample(&b);
	sample(&next);
	memcpy(next.data + 208, "key1", 4);
	qn_little_put(b.data + 16, 8, 272);
	memcpy(b.data + 272, next.data, next.n);
	b.n = 272 + next.n;
	assert_int_equal(read_as(f, b.data, b.n, &d), QN_OK);
	assert_int_equal(d.n, 2);
	assert_non_null(qn_archive_named(&d, "key1"));
	/* of two of one name the last */
	memcpy(b.data + 272 + 208, "key0", 4);
	b.data[272 + 256] = 77;
	assert_int_equal(read_as(f, b.data, b.n, &d), QN_OK);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.tensor[0].t.plane[0].data[0], 77);
	/* an unknown type is left out with a warning */
	sample(&b);
	b.data[96 + 8] = 9;
	assert_int_equal(read_as(f, b.data, b.n, &d), QN_OK);
	assert_string_equal(last_id(f), "irpa.type");
}

static void
files_elsewhere(void **state)
{
	fixture *f = *state;
	qn_archive_data d;
	bytes b;

	start(&b, 92, 1, 32, 0);
	entry(&b, 92, 3, 0, 4);
	put(&b, 8, 4);
	put(&b, 8, 9);
	put(&b, 8, 2);
	put(&b, 8, 3);
	memcpy(b.data + 208, "key0other.bin", 13);
	b.n = 240;
	qn_little_put(b.data + 72, 8, 0);
	refused(f, &b, QN_EIO, "file.open", "other.bin");
	assert_int_equal(qn_file_write(&f->env, in_folder(f, "other.bin"), "abcdef", 6), QN_OK);
	assert_int_equal(read_as(f, b.data, b.n, &d), QN_OK);
	assert_int_equal(d.tensor[0].t.plane[0].bytes, 3);
	assert_memory_equal(d.tensor[0].t.plane[0].data, "cde", 3);
	qn_little_put(b.data + 96 + 76, 8, 5);
	refused(f, &b, QN_EINVALID, "irpa.range", "bytes 5 and 3 more, of 6");
	memcpy(b.data + 212, "../o.bin!", 9);
	refused(f, &b, QN_EINVALID, "irpa.external", "no '..'");
}

static void
checks(void **state)
{
	fixture *f = *state;
	bytes b;

	sample(&b);
	b.data[0] = 'J';
	refused(f, &b, QN_EINVALID, "irpa.magic", "IRPA");
	sample(&b);
	b.data[4] = 1;
	refused(f, &b, QN_EUNSUPPORTED, "irpa.version", "version 1.0");
	sample(&b);
	b.data[6] = 1;
	refused(f, &b, QN_EUNSUPPORTED, "irpa.version", "version 0.1");
	sample(&b);
	b.data[8] = 96;
	refused(f, &b, QN_EINVALID, "irpa.header", "96 bytes");
	sample(&b); /* 2^64 - 8 and 16 overflow */
	qn_little_put(b.data + 96 + 60, 8, UINT64_MAX - 7);
	refused(f, &b, QN_EINVALID, "irpa.range", "18446744073709551608 and 16 more, of 16");
	sample(&b);
	qn_little_put(b.data + 96 + 20, 8, 3);
	refused(f, &b, QN_EINVALID, "irpa.range", "the name of an entry");
	sample(&b);
	qn_little_put(b.data + 32, 8, 2);
	refused(f, &b, QN_EINVALID, "irpa.entry", "2 entries");
	sample(&b);
	qn_little_put(b.data + 96, 8, 70);
	refused(f, &b, QN_EINVALID, "irpa.entry", "70 bytes (its type needs 76)");
	sample(&b);
	qn_little_put(b.data + 96, 8, 90);
	refused(f, &b, QN_EINVALID, "irpa.entry", "90 bytes (expected 60 to 76)");
	sample(&b);
	qn_little_put(b.data + 16, 8, 8); /* not at a multiple of 16 */
	refused(f, &b, QN_EINVALID, "irpa.header", "next header at 8");
	sample(&b);
	qn_little_put(b.data + 16, 8, UINT64_MAX - 15);
	refused(f, &b, QN_EINVALID, "irpa.range", "the next header");
	start(&b, 85, 1, 4, 0);
	entry(&b, 85, 1, 0, 4);
	put(&b, 8, 10);
	b.n += 16;
	put(&b, 1, 4);
	memcpy(b.data + 208, "key0", 4);
	b.n = 256;
	refused(f, &b, QN_EINVALID, "irpa.splat", "4 bytes for 10");
	b.data[96 + 84] = 2;
	qn_little_put(b.data + 96 + 60, 8, UINT64_C(1) << 40);
	refused(f, &b, QN_EUNSUPPORTED, "irpa.splat", "1099511627776 bytes");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(layout_of_the_sample),
		T(every_cut_and_change),
		T(kinds_of_entries),
		T(files_elsewhere),
		T(checks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
