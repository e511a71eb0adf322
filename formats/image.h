/* SPDX-License-Identifier: Apache-2.0 */
/* image.h - images as pixels: PNM by our own reader, PNG and JPEG by stb_image.
 *
 *   P2 3 1 255 0 128 255  ──▶  h 1, w 3, c 1: 0 128 255
 *
 * Channels are those of the file: 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha; a palette is
 * looked up. Values are those of the file: 0 to 255, or to 65535 (16-bit PNG, PNM with a larger
 * maximum). */
#ifndef QN_FORMATS_IMAGE_H
#define QN_FORMATS_IMAGE_H

#include "ir/arena.h"

enum { QN_IMAGE_MOST = 1 << 26 }; /* height * width * channels */

typedef struct qn_image {
	int64_t h, w, c;
	bool wide;        /* 16 bits per value, in the host's order; else 8 */
	const void *data; /* row by row, channels side by side */
} qn_image;

/* Pixels in the arena.  Ids: image.format (no such file), image.support (built without stb_image),
 * image.decode (damaged, with the reason), image.size (more than QN_IMAGE_MOST values). */
qn_status qn_image_decode(qn_arena *a, const char *place, const char *data, size_t n,
			  qn_image *out) QN_MUST_CHECK;

/* The parts of it, by the first bytes of the file. */
qn_status qn_pnm_decode(qn_arena *a, const char *place, const char *data, size_t n,
			qn_image *out) QN_MUST_CHECK;
qn_status qn_stb_decode(qn_arena *a, const char *place, const char *data, size_t n,
			qn_image *out) QN_MUST_CHECK;

static inline double
qn_image_value(const qn_image *x, int64_t i)
{
	return x->wide ? (double)((const uint16_t *)x->data)[i]
		       : (double)((const uint8_t *)x->data)[i];
}

#endif
