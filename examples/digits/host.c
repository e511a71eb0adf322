/* SPDX-License-Identifier: MIT-0 */
/* host.c - runs the emitted digits model on labelled samples: host test_x.npy test_y.npy
 *
 * A sketch of what firmware does: quantize the pixels with the parameters in digits.h, call
 * digits_run, take the largest code. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "digits.h"

/* Skips the header of a NumPy file, version 1. */
static FILE *
open_npy(const char *path)
{
	unsigned char head[10];
	FILE *f = fopen(path, "rb");

	if (f == NULL || fread(head, 1, sizeof head, f) != sizeof head ||
	    fseek(f, head[8] | head[9] << 8, SEEK_CUR) != 0) {
		fprintf(stderr, "host: cannot read %s\n", path);
		exit(1);
	}
	return f;
}

static int8_t
quantize(float v)
{
	double q = rint((double)v / DIGITS_IN_IMAGE_SCALE) + DIGITS_IN_IMAGE_ZERO_POINT;

	return (int8_t)(q < -128 ? -128 : q > 127 ? 127 : q);
}

int
main(int argc, char **argv)
{
	static union {
		uint64_t align[2];
		uint8_t bytes[DIGITS_SCRATCH_BYTES];
	} scratch;
	float pixels[DIGITS_IN_IMAGE_LEN];
	int64_t label;
	int n = 0;
	int correct = 0;

	if (argc != 3)
		return 2;
	FILE *x = open_npy(argv[1]);
	FILE *y = open_npy(argv[2]);
	while (fread(pixels, sizeof pixels, 1, x) == 1 && fread(&label, sizeof label, 1, y) == 1) {
		int8_t image[DIGITS_IN_IMAGE_LEN];
		int8_t probs[DIGITS_OUT_PROBS_LEN];
		digits_inputs in = {image};
		digits_outputs out = {probs};
		int best = 0;

		for (int i = 0; i < DIGITS_IN_IMAGE_LEN; i++)
			image[i] = quantize(pixels[i]);
		digits_run(&scratch, &in, &out);
		for (int i = 1; i < DIGITS_OUT_PROBS_LEN; i++)
			if (probs[i] > probs[best])
				best = i;
		correct += best == label;
		n++;
	}
	printf("emitted C    %6.2f %%  (%d of %d), activation arena %d bytes\n",
	       100.0 * correct / n, correct, n, (int)DIGITS_SCRATCH_BYTES);
	return fclose(x) != 0 || fclose(y) != 0;
}
