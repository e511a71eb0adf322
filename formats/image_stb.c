/* SPDX-License-Identifier: Apache-2.0 */
/* image_stb.c - PNG and JPEG through stb_image, in the one file that includes it.
 *
 * stb_image has no place for a host's allocator, so its memory is the C library's: a request of
 * more than MOST_BYTES is refused, and the result is freed with the arena. */
#include <stdlib.h>

#include "formats/image.h"
#include "ir/diag.h"
#include "ir/limits.h"

#ifdef QN_HAVE_STB

enum { MOST_BYTES = 1 << 29 };

static void *
bounded_malloc(size_t n)
{
	return n <= MOST_BYTES ? calloc(1, n)
			       : NULL; /* zeros: what a damaged file leaves out is not by chance */
}

static void *
bounded_realloc(void *p, size_t n)
{
	return n <= MOST_BYTES ? realloc(p, n) : NULL;
}

/* No assert, no file, no state; the plain C of its transforms gives the same bytes everywhere. */
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_NO_STDIO
#define STBI_NO_SIMD
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STBI_NO_FAILURE_STRINGS
#define STBI_NO_THREAD_LOCALS
#define STBI_ASSERT(x) ((void)0)
#define STBI_MALLOC bounded_malloc
#define STBI_REALLOC bounded_realloc
#define STBI_FREE free
#include <stb/stb_image.h>

/* What a JPEG has defined so far. */
typedef struct jpeg_state {
	bool progressive;
	bool table[2][16]; /* DC and AC tables by number */
} jpeg_state;

/* The tables of a DHT segment: class and number, 16 counts, then that many symbols. */
static bool
sound_tables(jpeg_state *j, const unsigned char *p, size_t n)
{
	while (n > 0) {
		size_t count = 0;

		for (size_t i = 1; i <= 16 && i < n; i++)
			count += p[i];
		if (n < 17 || count > 256 || n - 17 < count || p[0] >> 4 > 1)
			return false;
		j->table[p[0] >> 4][p[0] & 15] = true;
		p += 17 + count;
		n -= 17 + count;
	}
	return true;
}

/* The header of a scan: its number of components, for each its name and tables, then the range of
 * coefficients and the bits of a progressive one. */
static bool
sound_scan(const jpeg_state *j, const unsigned char *p, size_t n)
{
	size_t count = n > 0 ? p[0] : 0;

	if (n < 4 + 2 * count)
		return false;
	const unsigned char *range = p + 1 + 2 * count;
	bool dc = !j->progressive || (range[0] == 0 && range[2] >> 4 == 0);
	bool ac = !j->progressive || range[0] > 0;
	for (size_t i = 0; i < count; i++) {
		unsigned char tables = p[2 + 2 * i];

		if ((dc && !j->table[0][tables >> 4]) || (ac && !j->table[1][tables & 15]))
			return false;
	}
	return true;
}

/* The position of the marker that ends the coded data of a scan, which begin at `at`. */
static size_t
skip_scan(const unsigned char *p, size_t n, size_t at)
{
	while (at + 1 < n && (p[at] != 0xff || p[at + 1] == 0 || p[at + 1] == 0xff ||
			      (p[at + 1] >= 0xd0 && p[at + 1] <= 0xd7)))
		at++;
	return at;
}

/* Whether each Huffman table of a JPEG has at most 256 symbols, and each scan the tables that it
 * needs. The stb_image of Debian 12 trusts both, and would write or read past the end of its tables.
 * Segments are walked as it walks them: marker, length, bytes; after a scan's header the coded
 * data. */
static bool
sound_jpeg(const unsigned char *p, size_t n)
{
	jpeg_state j = {0};
	size_t at = 2;

	while (at + 4 <= n) {
		unsigned char marker = p[at + 1];
		size_t length = (size_t)p[at + 2] << 8 | p[at + 3];

		if (p[at] != 0xff || marker == 0xff || marker == 0xd8) {
			at++; /* bytes between segments, fill bytes */
			continue;
		}
		if (marker == 0xd9)
			return true;
		if (length < 2 || length > n - at - 2) /* truncated: nothing is read after it */
			return marker != 0xc4 && marker != 0xda;
		if ((marker == 0xc4 && !sound_tables(&j, p + at + 4, length - 2)) ||
		    (marker == 0xda && !sound_scan(&j, p + at + 4, length - 2)))
			return false;
		j.progressive = j.progressive || marker == 0xc2;
		at += 2 + length;
		if (marker == 0xda)
			at = skip_scan(p, n, at);
	}
	return true;
}

qn_status
qn_stb_decode(qn_arena *a, const char *place, const char *data, size_t n, qn_image *out)
{
	const stbi_uc *p = (const stbi_uc *)data;
	int w = 0;
	int h = 0;
	int c = 0;

	if (n > INT32_MAX || (p[0] == 0xff && !sound_jpeg(p, n)) ||
	    stbi_info_from_memory(p, (int)n, &w, &h, &c) == 0)
		return qn_report(a->env, QN_EINVALID, "image.decode", place,
				 "the image's header is damaged or of an unsupported kind");
	if (w <= 0 || h <= 0 || (int64_t)w * h > QN_IMAGE_MOST / 4)
		return qn_report(
			a->env, QN_EINVALID, "image.size", place,
			"%d x %d pixels; at most 2^24 are supported: make the image smaller", w, h);
	out->wide = stbi_is_16_bit_from_memory(p, (int)n) != 0;
	/* Pixels, coefficients or filtered rows, and copies of them while they grow. */
	const uint64_t bytes = (uint64_t)w * (uint64_t)h * (uint64_t)c * (out->wide ? 8 : 4);
	if (bytes > qn_limit_expansion(n))
		return qn_report(a->env, QN_EINVALID, "image.size", place,
				 "decoding %d x %d pixels with %d channels takes %llu bytes, and a "
				 "image file of %zu bytes may take %llu: 64 MiB, and 64 times its "
				 "size; make the image smaller, or save it as .ppm",
				 w, h, c, (unsigned long long)bytes, n,
				 (unsigned long long)qn_limit_expansion(n));
	out->data = out->wide ? (void *)stbi_load_16_from_memory(p, (int)n, &w, &h, &c, 0)
			      : (void *)stbi_load_from_memory(p, (int)n, &w, &h, &c, 0);
	if (out->data == NULL)
		return qn_report(
			a->env, QN_EINVALID, "image.decode", place,
			"the image cannot be decoded: it is damaged, of an unsupported kind, "
			"or out of memory");
	out->h = h;
	out->w = w;
	out->c = c;
	/* NOLINTNEXTLINE: the arena owns it from here on, whatever happens */
	qn_arena_defer(a, free, (void *)(uintptr_t)out->data);
	return QN_OK;
}

#else

qn_status
qn_stb_decode(qn_arena *a, const char *place, const char *data, size_t n, qn_image *out)
{
	(void)data;
	(void)n;
	(void)out;
	return qn_report(
		a->env, QN_EUNSUPPORTED, "image.support", place,
		"this Quern was built without stb_image (Debian: libstb-dev) and cannot read "
		"PNG or JPEG; save the image as PNM");
}

#endif
