/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_files.h - draws, and writes the inputs of TFLite files, for scripts/check-tflite.
 *
 *   write_input("files", "01.ADD.i8.0", 1, TFL_INT8, -128, zp, 0);       files/01.ADD.i8.0.1.npy */
#ifndef TESTS_TFLITE_FILES_H
#define TESTS_TFLITE_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "tests/unit/tflite_writer.h"

enum { H = 8, W = 8, C = 4, N = H * W * C, SAMPLES = 4 };

/* ---- drawing ---- */

static uint32_t seed = 12345; /* of both programs */

static inline uint32_t
draw(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed >> 8;
}

static inline double
between(double lo, double hi)
{
	return lo + (hi - lo) * (double)draw() / 16777216.0;
}

static inline int
whole(int lo, int hi)
{
	return lo + (int)(draw() % (uint32_t)(hi - lo + 1));
}

/* ---- writing ---- */

static inline FILE *
create(const char *folder, const char *name, const char *end)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s%s", folder, name, end);
	f = fopen(path, "wb");
	if (f == NULL) {
		perror(path);
		exit(1);
	}
	return f;
}

static inline int64_t
lowest(int type)
{
	return type == TFL_UINT8 ? 0 : type == TFL_INT8 ? -128 : -32768;
}

static inline int64_t
highest(int type)
{
	return type == TFL_UINT8 ? 255 : type == TFL_INT8 ? 127 : 32767;
}

/* Samples of quantized values from `least` on, none nearer than `apart` to the zero point; the first has all
 * quantized values of 8 bits. */
static inline void
write_input(const char *folder, const char *name, int k, int type, int64_t least, int64_t zp,
	    int apart)
{
	static const char *kind[] = {[TFL_UINT8] = "|u1", [TFL_INT8] = "|i1", [TFL_INT16] = "<i2"};
	char end[16], head[128];
	int64_t span = highest(type) - least + 1;
	FILE *f;

	snprintf(end, sizeof end, ".%d.npy", k);
	f = create(folder, name, end);
	snprintf(head, sizeof head,
		 "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d, %d, %d), }", kind[type],
		 SAMPLES, H, W, C);
	fprintf(f, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, head);
	for (int i = 0; i < SAMPLES * N; i++) {
		int64_t v = i < N && k == 0 && type != TFL_INT16 ? least + i % span
								 : least + draw() % span;

		if (v - zp < apart && zp - v < apart)
			v = zp + apart <= highest(type) ? zp + apart : zp - apart;
		fputc((int)(v & 255), f);
		if (type == TFL_INT16)
			fputc((int)(v >> 8 & 255), f);
	}
	fclose(f);
}

#endif
