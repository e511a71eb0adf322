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

/* ---- drawing ----
 *
 * One draw at most in a list of arguments: their order is the compiler's choice, and networks must not depend on it. */

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
	return type == TFL_UINT8   ? 0
	       : type == TFL_INT8  ? INT8_MIN
	       : type == TFL_INT16 ? INT16_MIN
				   : INT32_MIN;
}

static inline int64_t
highest(int type)
{
	return type == TFL_UINT8   ? UINT8_MAX
	       : type == TFL_INT8  ? INT8_MAX
	       : type == TFL_INT16 ? INT16_MAX
				   : INT32_MAX;
}

/* Samples of quantized values from `least` on, of dim[1] …, none nearer than `apart` to the zero point; the first of input 0
 * begins with all quantized values of 8 bits. */
static inline void
write_samples(const char *folder, const char *name, int k, int type, int samples, int rank,
	      const int32_t *dim, int64_t least, int64_t zp, int apart)
{
	static const char *kind[] = {[TFL_UINT8] = "|u1", [TFL_INT8] = "|i1", [TFL_INT16] = "<i2"};
	char end[16], head[128];
	int64_t span = highest(type) - least + 1;
	int n = 1, at;
	FILE *f;

	snprintf(end, sizeof end, ".%d.npy", k);
	f = create(folder, name, end);
	at = snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': False, 'shape': (%d",
		      kind[type], samples);
	for (int i = 1; i < rank; i++) {
		n *= dim[i];
		at += snprintf(head + at, sizeof head - (size_t)at, ", %d", (int)dim[i]);
	}
	snprintf(head + at, sizeof head - (size_t)at, "), }");
	fprintf(f, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, head);
	for (int i = 0; i < samples * n; i++) {
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

static inline void
write_input(const char *folder, const char *name, int k, int type, int64_t least, int64_t zp,
	    int apart)
{
	write_samples(folder, name, k, type, SAMPLES, 4, (const int32_t[]){1, H, W, C}, least, zp,
		      apart);
}

#endif
