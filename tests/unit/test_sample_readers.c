/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of samples one by one: CSV, WAV, .npz, folders; each file cut at every
 * length and changed at every byte. */
#define _POSIX_C_SOURCE 200809L

#include "tests/unit/formats_fixture.h"

#include <sys/stat.h>

#include "formats/csv.h"
#include "formats/folder.h"
#include "formats/npy.h"
#include "formats/npz.h"
#include "formats/wav.h"
#include "tests/unit/sample_files.h"

/* ---- CSV ---- */

static qn_status
read_csv(fixture *f, const char *s, size_t n)
{
	qn_csv c;
	qn_status status = qn_csv_index(&f->arena, "x.csv", s, n, &c);

	for (size_t i = 0; status == QN_OK && i < c.rows; i++)
		status = qn_csv_read(&c, &f->env, i, QN_NEW(&f->arena, float, c.columns));
	return status;
}

static void
test_csv(void **state)
{
	static const char text[] =
		"\xEF\xBB\xBF"
		"age; \"the; height\"\r\n\r\n 41 ;1.5e0\n\"-3\"; +.25 \r\n7.;1E-3";
	const float want[] = {41, 1.5f, -3, 0.25f, 7, 1e-3f};
	fixture *f = *state;
	float have[6];
	qn_csv c;

	assert_int_equal(qn_csv_index(&f->arena, "x.csv", text, sizeof text - 1, &c), QN_OK);
	assert_int_equal(c.rows, 3);
	assert_int_equal(c.columns, 2);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(qn_csv_read(&c, &f->env, i, have + 2 * i), QN_OK);
	assert_memory_equal(have, want, sizeof want);
	hurt(f, read_csv, text, sizeof text - 1);
}

static void
test_csv_wrong(void **state)
{
	static const struct {
		const char *text, *id, *place;
	} rows[] = {
		{"", "csv.empty", "x.csv"},
		{"a,b\n\n", "csv.empty", "x.csv"},
		{"1,2\n3\n", "csv.columns", "x.csv:2"},
		{"a,b\n1,2\n3,4,5", "csv.columns", "x.csv:3"},
		{"1,\"2\n3,4", "csv.quote", "x.csv:1"},
		{"1,\"2\" 3", "csv.quote", "x.csv:1"},
		{"1,2\n\n3,x", "csv.number", "x.csv:3"},
		{"a,2\n", "csv.number", "x.csv:1"}, /* a header has no number at all */
		{"1,nan", "csv.number", "x.csv:1"},
		{"1,inf", "csv.number", "x.csv:1"},
		{"1,0x10", "csv.number", "x.csv:1"},
		{"1;2,5", "csv.number", "x.csv:1"}, /* a decimal comma */
		{"1,", "csv.number", "x.csv:1"},
		{"1,2e", "csv.number", "x.csv:1"},
		{"1,1.2.3", "csv.number", "x.csv:1"},
	};
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		assert_int_equal(read_csv(f, rows[i].text, strlen(rows[i].text)), QN_EINVALID);
		assert_string_equal(last_id(f), rows[i].id);
		assert_string_equal(f->diags.item[f->diags.n - 1].place, rows[i].place);
		restart(f);
	}
}

/* ---- WAV ---- */

static qn_status
read_wav(fixture *f, const char *s, size_t n)
{
	qn_wav w;

	QN_TRY(qn_wav_parse(&f->env, "x.wav", s, n, &w));
	qn_wav_read(&w, false, QN_NEW(&f->arena, float, (size_t)(w.frames * w.channels) + 1));
	return QN_OK;
}

static void
test_wav(void **state)
{
	static const struct {
		uint32_t tag, bits;
		uint64_t code[4];
		float want[4];
	} rows[] = {
		{1, 8, {0, 64, 128, 255}, {-1, -0.5f, 0, 127.0f / 128}},
		{1, 16, {0x8000, 0xc000, 0, 0x7fff}, {-1, -0.5f, 0, 32767.0f / 32768}},
		{1, 24, {0x800000, 0xffffff, 0, 0x400000}, {-1, -1.0f / 8388608, 0, 0.5f}},
		{1, 32, {0x80000000, 0xc0000000, 0, 0x40000000}, {-1, -0.5f, 0, 0.5f}},
		{3, 32, {0xbf800000, 0x3e800000, 0, 0x40400000}, {-1, 0.25f, 0, 3}},
	};
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		bytes b = {0};
		float have[4];
		qn_wav w;

		wav_begin(&b, rows[i].tag, 2, rows[i].bits, 8000, rows[i].bits / 2);
		for (int k = 0; k < 4; k++)
			put(&b, rows[i].code[k], rows[i].bits / 8);
		assert_int_equal(qn_wav_parse(&f->env, "x", (char *)b.data, b.n, &w), QN_OK);
		assert_int_equal(w.frames, 2);
		assert_int_equal(w.channels, 2);
		qn_wav_read(&w, false, have);
		assert_memory_equal(have, rows[i].want, sizeof have);
		qn_wav_read(&w, true, have);
		assert_true(have[1] == rows[i].want[2] && have[2] == rows[i].want[1]);
		hurt(f, read_wav, (char *)b.data, b.n);
	}
}

/* Lengths that programs say before they know them: the data end with the file, with its last whole frame. */
static void
test_wav_open(void **state)
{
	static const uint32_t lengths[] = {0x7FFFF000, 0x80000000, 0xFFFFFFFF};
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(lengths); i++) {
		bytes b = {0};
		float have[2];
		qn_wav w;

		wav_begin(&b, 1, 1, 16, 8000, lengths[i]);
		put(&b, 0x4000, 2);
		put(&b, 0xc000, 2);
		put(&b, 0, 1);
		assert_int_equal(qn_wav_parse(&f->env, "x", (char *)b.data, b.n, &w), QN_OK);
		assert_int_equal(w.frames, 2);
		qn_wav_read(&w, false, have);
		assert_true(have[0] == 0.5f && have[1] == -0.5f);
	}
}

static void
test_wav_wrong(void **state)
{
	fixture *f = *state;
	bytes b = {0};

	assert_int_equal(read_wav(f, "RIFX", 4), QN_EINVALID);
	assert_string_equal(last_id(f), "wav.format");
	wav_begin(&b, 1, 1, 16, 8000, 3); /* half a frame */
	put(&b, 0, 3);
	assert_int_equal(read_wav(f, (char *)b.data, b.n), QN_EINVALID);
	assert_string_equal(last_id(f), "wav.truncated");
	b.n = 0;
	wav_begin(&b, 1, 1, 16, 8000, 1000); /* cut off */
	put(&b, 0, 4);
	assert_int_equal(read_wav(f, (char *)b.data, b.n), QN_EINVALID);
	assert_string_equal(last_id(f), "wav.truncated");
	b.n = 0;
	wav_begin(&b, 2, 1, 4, 8000, 4); /* ADPCM */
	put(&b, 0, 4);
	assert_int_equal(read_wav(f, (char *)b.data, b.n), QN_EUNSUPPORTED);
	assert_string_equal(last_id(f), "wav.format");
}

/* ---- .npz ---- */

static qn_status
read_npz(fixture *f, const char *s, size_t n)
{
	qn_npz_member *m;
	size_t count;

	return qn_npz_parse(&f->t, &f->arena, "x.npz", s, n, QN_NPZ_ALL, &count, &m);
}

static zip_entry
npy_entry(fixture *f, const char *name, const float *v, int64_t n)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_npy_print(&b, qn_tensor_of(&f->arena, qn_type_plain(&f->t, QN_PLAIN_f32, 1, &n), v));
	return (zip_entry){name, (unsigned char *)b.data, b.n, b.n, qn_crc32(0, b.data, b.n), 0, 0};
}

/* The same entry as a deflate stream of one stored block. */
static zip_entry
deflated(const zip_entry *e, bytes *room)
{
	zip_entry d = *e;

	room->n = 0;
	put(room, 1, 1);
	put(room, e->size, 2);
	put(room, ~e->size & 0xffff, 2);
	put_bytes(room, e->data, e->size);
	d.data = room->data;
	d.packed = room->n;
	d.method = 8;
	return d;
}

static void
test_npz(void **state)
{
	const float v[] = {1, 2, 3}, w[] = {4};
	fixture *f = *state;
	bytes b = {0};
	bytes room;
	zip_entry e[3] = {npy_entry(f, "a.npy", v, 3), npy_entry(f, "b.npy", w, 1)};
	qn_npz_member *m = NULL;
	size_t count = 0;

	e[1] = deflated(&e[1], &room);
	e[2] = (zip_entry){"note.txt", (const unsigned char *)"x", 1, 1, qn_crc32(0, "x", 1), 0, 0};
	put_zip(&b, e, 3);
	qn_status status = qn_npz_parse(&f->t, &f->arena, "x.npz", (char *)b.data, b.n, QN_NPZ_ALL,
					&count, &m);
	if (status == QN_EUNSUPPORTED)
		skip();
	if (status != QN_OK)
		fail_msg("%s", all_diags(f));
	assert_int_equal(count, 2);
	assert_string_equal(m[0].name, "a");
	assert_memory_equal(m[0].tensor->data, v, sizeof v);
	assert_string_equal(m[1].name, "b");
	assert_memory_equal(m[1].tensor->data, w, sizeof w);
	assert_int_equal(qn_npz_parse(&f->t, &f->arena, "x", (char *)b.data, b.n, 1, &count, &m),
			 QN_OK);
	assert_null(m[0].tensor);
	assert_memory_equal(m[1].tensor->data, w, sizeof w);
	hurt(f, read_npz, (char *)b.data, b.n);
}

static void
expect_npz(fixture *f, zip_entry *e, size_t n, qn_status want, const char *id)
{
	bytes b = {0};

	put_zip(&b, e, n);
	qn_status status = read_npz(f, (char *)b.data, b.n);
	if (status == QN_EUNSUPPORTED && want != QN_EUNSUPPORTED)
		skip();
	assert_int_equal(status, want);
	if (strcmp(f->diags.item[0].id, id) != 0)
		fail_msg("expected %s: %s", id, all_diags(f));
	restart(f);
}

static void
test_npz_wrong(void **state)
{
	const float v[] = {1, 2, 3};
	fixture *f = *state;
	zip_entry e[QN_NPZ_MOST + 1];
	bytes room;

	e[0] = npy_entry(f, "a.npy", v, 3);
	e[0].crc ^= 1;
	expect_npz(f, e, 1, QN_EINVALID, "npz.member");
	e[0] = npy_entry(f, "a.npy", v, 3);
	e[0].name = "a.txt";
	expect_npz(f, e, 1, QN_EINVALID, "npz.archive");
	expect_npz(f, e, 0, QN_EINVALID, "npz.archive");
	/* a bomb: 3 GB that a few bytes are said to become */
	e[0] = npy_entry(f, "a.npy", v, 3);
	e[0] = deflated(&e[0], &room);
	e[0].size = 3000000000u;
	expect_npz(f, e, 1, QN_EINVALID, "npz.size");
	/* 80 MB that a kilobyte may have become, in one member or in two */
	for (size_t n = 1; n <= 2; n++) {
		for (size_t i = 0; i < n; i++) {
			e[i] = npy_entry(f, i == 0 ? "a.npy" : "b.npy", v, 3);
			e[i] = deflated(&e[i], &room);
			e[i].size = 80000000u / (uint32_t)n;
		}
		expect_npz(f, e, n, QN_EINVALID, n == 1 ? "npz.size" : "npz.member");
	}
	f->env.limits.bytes = 100;
	e[0] = npy_entry(f, "a.npy", v, 3);
	expect_npz(f, e, 1, QN_EBUDGET, "limit.bytes");
	f->env.limits.bytes = 0;
	for (size_t i = 0; i < QN_COUNT(e); i++) {
		e[i] = npy_entry(f, "a.npy", v, 0);
		e[i].size = e[i].packed = 0;
		e[i].crc = 0;
		qn_buf name;
		qn_buf_init(&name, &f->arena);
		qn_buff(&name, "%zu.npy", i);
		e[i].name = qn_buf_str(&name);
	}
	expect_npz(f, e, QN_COUNT(e), QN_EINVALID, "npz.size");
}

/* ---- folders ---- */

static bool
is_pgm(const char *name)
{
	return qn_name_ends(name, ".pgm");
}

static void
touch(fixture *f, const char *name)
{
	FILE *file = fopen(in_folder(f, name), "wb");

	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
}

static void
test_folder(void **state)
{
	static const char *const want[] = {"B.PGM", "a.pgm", "a10.pgm", "a9.pgm"};
	fixture *f = *state;
	qn_folder list;

	assert_int_equal(mkdir(in_folder(f, "10"), 0777), 0);
	assert_int_equal(mkdir(in_folder(f, "9"), 0777), 0);
	touch(f, "10/x.pgm");
	touch(f, "10/y.pgm");
	touch(f, "9/z.pgm");
	touch(f, "9/.hidden.pgm");
	touch(f, "9/note.txt");
	assert_int_equal(qn_folder_list(&f->arena, f->folder, is_pgm, &list), QN_OK);
	assert_int_equal(list.n, 3);
	assert_memory_equal(list.label, ((const int64_t[]){10, 10, 9}), 24);
	touch(f, "10/../a.pgm");
	assert_int_equal(mkdir(in_folder(f, "cat"), 0777), 0);
	assert_int_equal(unlink(in_folder(f, "a.pgm")), 0);
	assert_int_equal(qn_folder_list(&f->arena, f->folder, is_pgm, &list), QN_OK);
	assert_memory_equal(list.label, ((const int64_t[]){0, 0, 1}), 24);
	for (size_t i = 0; i < QN_COUNT(want); i++)
		touch(f, want[QN_COUNT(want) - 1 - i]);
	assert_int_equal(qn_folder_list(&f->arena, f->folder, is_pgm, &list), QN_OK);
	assert_int_equal(list.n, QN_COUNT(want));
	assert_null(list.label);
	for (size_t i = 0; i < QN_COUNT(want); i++)
		assert_string_equal(qn_path_base(list.path[i]), want[i]);
	assert_int_equal(qn_folder_list(&f->arena, in_folder(f, "none"), is_pgm, &list), QN_EIO);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_csv),       T(test_csv_wrong), T(test_wav),       T(test_wav_open),
		T(test_wav_wrong), T(test_npz),       T(test_npz_wrong), T(test_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
