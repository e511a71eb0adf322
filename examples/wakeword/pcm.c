/* SPDX-License-Identifier: MIT-0 */
/*
 * pcm.c - WAV files (16 bits, one channel) as what a microphone would deliver: PCM samples of 16 bits, 16000 a second,
 * least significant byte first, to stdout. Half a second of silence comes before each file and after the last one, and
 * zeros fill the last hop of 480 samples.
 *
 *   pcm okay.wav stop.wav > words.pcm
 *
 * The rate is changed with a sinc of 2 * REACH + 1 samples under Hann's window, cut off below half of the lower rate.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RATE = 16000, HOP = 480, REACH = 24, MOST = 60 * 48000 };
static const double PI = 3.14159265358979323846;

static long written;

static void
put(double v)
{
	const long q = lrint(v < -32768 ? -32768 : v > 32767 ? 32767 : v);

	putchar((int)(q & 255));
	putchar((int)((q >> 8) & 255));
	written++;
}

static void
silence(void)
{
	int i;

	for (i = 0; i < RATE / 2; i++)
		put(0);
}

static unsigned
little(const unsigned char *p, int bytes)
{
	return bytes == 0 ? 0 : p[0] | little(p + 1, bytes - 1) << 8;
}

/* The sample at time t, in samples of x. */
static double
at(const int16_t *x, long n, double t, double cut)
{
	const long middle = (long)floor(t);
	double sum = 0;
	long k;

	for (k = middle - REACH; k <= middle + REACH + 1; k++) {
		const double d = t - (double)k, a = d * cut * PI;

		if (k >= 0 && k < n && fabs(d) <= REACH)
			sum += x[k] * cut * (a == 0 ? 1 : sin(a) / a) *
			       (0.5 + 0.5 * cos(PI * d / REACH));
	}
	return sum;
}

static void
put_clip(const int16_t *x, long n, unsigned rate)
{
	const double step = (double)rate / RATE;
	const double cut = 0.95 * (step > 1 ? 1 / step : 1);
	long i;

	for (i = 0; (double)i * step < (double)n; i++)
		put(at(x, n, (double)i * step, cut));
}

/* Chunks of the file; 0, or what is wrong. */
static const char *
read_wav(FILE *f)
{
	static unsigned char bytes[2 * MOST];
	static int16_t x[MOST];
	unsigned char head[24];
	unsigned rate = 0;

	if (fread(head, 1, 12, f) != 12 || memcmp(head, "RIFF", 4) != 0 ||
	    memcmp(head + 8, "WAVE", 4) != 0)
		return "not a WAV file";
	while (fread(head, 1, 8, f) == 8) {
		const unsigned size = little(head + 4, 4);

		if (memcmp(head, "data", 4) == 0) {
			/* espeak-ng does not know the size when it writes to a pipe */
			const size_t n = fread(bytes, 2, size / 2 < MOST ? size / 2 : MOST, f);
			size_t i;

			for (i = 0; i < n; i++)
				x[i] = (int16_t)little(bytes + 2 * i, 2);
			if (rate == 0 || n == 0)
				return "no samples";
			put_clip(x, (long)n, rate);
			return NULL;
		}
		if (memcmp(head, "fmt ", 4) == 0 && size >= 16 && size <= sizeof head + 24) {
			unsigned char format[48];

			if (fread(format, 1, size, f) != size || little(format, 2) != 1 ||
			    little(format + 2, 2) != 1 || little(format + 14, 2) != 16)
				return "expected PCM of 16 bits, one channel";
			rate = little(format + 4, 4);
			if (rate < 8000 || rate > 48000)
				return "expected 8000 to 48000 samples a second";
		} else if (fseek(f, (long)(size + (size & 1)), SEEK_CUR) != 0) {
			break;
		}
	}
	return "no samples";
}

int
main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		const char *wrong = f == NULL ? "cannot be read" : NULL;

		silence();
		if (wrong == NULL)
			wrong = read_wav(f);
		if (f != NULL)
			fclose(f);
		if (wrong != NULL) {
			fprintf(stderr, "pcm: %s: %s\n", argv[i], wrong);
			return 1;
		}
	}
	silence();
	while (written % HOP != 0)
		put(0);
	return fflush(stdout) != 0;
}
