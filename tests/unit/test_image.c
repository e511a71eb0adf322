/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures: PNM, PNG, JPEG, each file cut at every length and changed at every byte. */
#define _POSIX_C_SOURCE 200809L

#include "tests/unit/formats_fixture.h"

#include "formats/image.h"
#include "tests/unit/sample_files.h"

/* ---- pictures ---- */

static qn_status
read_image(fixture *f, const char *s, size_t n)
{
	qn_image x = {0};
	double sum = 0;

	QN_TRY(qn_image_decode(&f->arena, "x", s, n, &x));
	for (int64_t i = 0; i < x.h * x.w * x.c; i++)
		sum += qn_image_value(&x, i);
	return sum >= 0 ? QN_OK : QN_EINTERNAL;
}

/* Decodes and compares the first n values. */
static void
expect_image(fixture *f, const void *data, size_t n, int64_t h, int64_t w, int64_t c,
	     const double *want)
{
	qn_image x = {0};

	if (qn_image_decode(&f->arena, "x", data, n, &x) != QN_OK)
		fail_msg("%s", all_diags(f));
	assert_int_equal(x.h, h);
	assert_int_equal(x.w, w);
	assert_int_equal(x.c, c);
	for (int64_t i = 0; i < h * w * c; i++)
		assert_true(qn_image_value(&x, i) == want[i]);
	hurt(f, read_image, data, n);
}

static void
test_pnm(void **state)
{
	static const char p2[] = "P2 # grey\n3 2\n16\n0 1 2\n3 4 16\n";
	static const char p3[] = "P3 1 2 1000 0 1 2 998 999 1000";
	static const char p5[] = "P5 2 1 255\n\x07\xff";
	static const char p6[] = "P6 1 1 256\n\x01\x00\x00\x02\x00\x03";

	expect_image(*state, p2, sizeof p2 - 1, 2, 3, 1, (const double[]){0, 1, 2, 3, 4, 16});
	expect_image(*state, p3, sizeof p3 - 1, 2, 1, 3, (const double[]){0, 1, 2, 998, 999, 1000});
	expect_image(*state, p5, sizeof p5 - 1, 1, 2, 1, (const double[]){7, 255});
	expect_image(*state, p6, sizeof p6 - 1, 1, 1, 3, (const double[]){256, 2, 3});
}

static void
test_png(void **state)
{
	static const unsigned char grey[] = {0, 1, 2, 253, 254, 255};
	static const unsigned char wide[] = {0, 1, 255, 255};
	static const unsigned char alpha[] = {1, 2, 3, 4};
	bytes b = {0};

	if (qn_stb_decode(&((fixture *)*state)->arena, "x", "x", 1, &(qn_image){0}) ==
	    QN_EUNSUPPORTED)
		skip();
	restart(*state);
	put_png(&b, 3, 2, 8, 0, grey);
	expect_image(*state, b.data, b.n, 2, 3, 1, (const double[]){0, 1, 2, 253, 254, 255});
	b.n = 0;
	put_png(&b, 2, 1, 16, 0, wide);
	expect_image(*state, b.data, b.n, 1, 2, 1, (const double[]){1, 65535});
	b.n = 0;
	put_png(&b, 1, 1, 8, 6, alpha);
	expect_image(*state, b.data, b.n, 1, 1, 4, (const double[]){1, 2, 3, 4});
	b.n = 0;
	put_png(&b, 1, 2, 8, 2, grey);
	expect_image(*state, b.data, b.n, 2, 1, 3, (const double[]){0, 1, 2, 253, 254, 255});
}

static void
test_jpeg(void **state)
{
	double want[64];
	bytes b = {0};

	if (qn_stb_decode(&((fixture *)*state)->arena, "x", "x", 1, &(qn_image){0}) ==
	    QN_EUNSUPPORTED)
		skip();
	restart(*state);
	for (int i = 0; i < 64; i++)
		want[i] = 160;
	put_jpeg(&b, 32);
	expect_image(*state, b.data, b.n, 8, 8, 1, want);
}

static void
test_image_wrong(void **state)
{
	static const struct {
		const char *text, *id;
	} rows[] = {
		{"GIF89a", "image.format"},
		{"", "image.format"},
		{"P2", "image.decode"},
		{"P2 0 1 255 ", "image.decode"},
		{"P2 2 1 70000 1 2", "image.decode"},
		{"P2 2 1 255 1", "image.decode"},
		{"P2 2 1 255 1 256", "image.decode"},
		{"P5 65535 65535 255 x", "image.size"},
		{"P5 30000 1000 255 x", "image.size"},
	};
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		assert_int_equal(read_image(f, rows[i].text, strlen(rows[i].text)), QN_EINVALID);
		assert_string_equal(last_id(f), rows[i].id);
	}
}

/* A hundred bytes that say that they are 2^24 pixels of four 16-bit channels: refused by their header. */
static void
test_png_bomb(void **state)
{
	static const unsigned char pixel[8] = {0};
	static const unsigned char side[4] = {0, 0, 16, 0}; /* 4096 */
	fixture *f = *state;
	bytes b = {0};

	if (qn_stb_decode(&f->arena, "x", "x", 1, &(qn_image){0}) == QN_EUNSUPPORTED)
		skip();
	restart(f);
	put_png(&b, 1, 1, 16, 6, pixel);
	memcpy(b.data + 16, side, sizeof side); /* width, height: after signature, length, IHDR */
	memcpy(b.data + 20, side, sizeof side);
	assert_int_equal(read_image(f, (const char *)b.data, b.n), QN_EINVALID);
	assert_string_equal(last_id(f), "image.size");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_pnm), T(test_png), T(test_jpeg), T(test_image_wrong), T(test_png_bomb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
