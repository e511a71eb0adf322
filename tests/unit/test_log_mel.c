/* SPDX-License-Identifier: Apache-2.0 */
/* test_log_mel.c - log_mel and mfcc against their definition in docs/sound.md, computed here in double with libm and a
 * plain Fourier sum: floats to 1e-4 of it, quantized values to one step. */
#define _POSIX_C_SOURCE 200809L /* popen */
#include "tests/unit/run_util.h"

#include <math.h>
#include <stdio.h>

enum { MOST_SAMPLES = 16000, MOST_BINS = 1024, MOST_BANDS = 256 };
static const double PI = 3.14159265358979323846;

/* ---- the definition ---- */

static double
mel(double hertz)
{
	return 1127.0 * log(1.0 + hertz / 700.0);
}

static int
fft_size(int64_t window)
{
	int n = 16;

	while (n < window)
		n *= 2;
	return n;
}

/* |X(k)|^2 of windowed samples; turn: cosines of one turn, of which sines are a quarter before. */
static double
energy(const double *v, int n, const double *turn, int k, int fft)
{
	double re = 0, im = 0;

	for (int i = 0; i < n; i++) {
		const int at = (int)((int64_t)k * i % fft);

		re += v[i] * turn[at];
		im += v[i] * turn[(at + 3 * fft / 4) % fft];
	}
	return re * re + im * im;
}

/* The weight of frequency f in the triangle of channel c. */
static double
triangle(double f, int c, double low, double high, int64_t channels)
{
	const double step = (mel(high) - mel(low)) / (double)(channels + 1);
	const double at = (mel(f) - mel(low)) / step - c;

	return at <= 0 || at >= 2 ? 0 : at < 1 ? at : 2 - at;
}

static void
bands(const double *x, const qn_attrs_mfcc *a, bool sound, double *level)
{
	const int fft = fft_size(a->window);
	const double width = (double)a->sample_rate / fft;
	const int first = sound ? (int)(1.5 + a->low / width) : 1;
	double e[MOST_BINS], v[2 * MOST_BINS], turn[2 * MOST_BINS];

	for (int i = 0; i < fft; i++)
		turn[i] = cos(2 * PI * i / fft);
	for (int i = 0; i < a->window; i++)
		v[i] = x[i] *
		       (0.5 - 0.5 * cos(2 * PI * (i + (sound ? 0.5 : 0)) / (double)a->window));
	for (int k = first; k < fft / 2; k++) {
		e[k] = energy(v, (int)a->window, turn, k, fft);
		e[k] = sound ? e[k] : sqrt(e[k]);
	}
	for (int c = 0; c < a->channels; c++) {
		level[c] = 0;
		for (int k = first; k < fft / 2; k++)
			level[c] += e[k] * triangle(k * width, c, a->low, a->high, a->channels);
	}
}

static double
with_gain(const qn_attrs_log_mel *a, double level, double noise)
{
	const double most = 32767.0 / pow(2, (double)a->gain_bits);
	const double gain = pow(noise + a->offset, -a->strength);
	const double r = level * fmin(gain, most);

	return fft_size(a->window) * (r < 2 ? r * r / 4 : r - 1);
}

/* In steps of attribute `scale`. */
static void
log_mel(const double *pcm, int frames, const qn_attrs *at, double *y)
{
	const qn_attrs_log_mel *a = &at->log_mel;
	double level[MOST_BANDS], noise[MOST_BANDS] = {0};

	for (int f = 0; f < frames; f++, pcm += a->hop) {
		bands(pcm, &at->mfcc, true, level);
		for (int c = 0; c < a->channels; c++) {
			const double s = sqrt(level[c]);

			noise[c] += (c % 2 == 0 ? a->even_smoothing : a->odd_smoothing) *
				    (s - noise[c]);
			double v = fmax(s - noise[c], s * a->min_signal_remaining);
			if (a->pcan == 1)
				v = with_gain(a, v, noise[c]);
			*y++ = v > 1 ? pow(2, (double)a->scale_shift) * log(v) : 0;
		}
	}
}

static void
mfcc(const double *pcm, int frames, const qn_attrs *at, double *y)
{
	const qn_attrs_mfcc *a = &at->mfcc;
	double level[MOST_BANDS];

	for (int f = 0; f < frames; f++, pcm += a->hop) {
		bands(pcm, a, false, level);
		for (int j = 0; j < a->coefficients; j++, y++) {
			*y = 0;
			for (int c = 0; c < a->channels; c++)
				*y += log(level[c] / 32768 + a->log_offset) *
				      cos(PI * j * (c + 0.5) / (double)a->channels);
			*y *= sqrt(2.0 / (double)a->channels) / a->scale;
		}
	}
}

/* ---- comparison ---- */

static int64_t
each(qn_op op, const qn_attrs *a)
{
	return op == QN_OP_mfcc ? a->mfcc.coefficients : a->mfcc.channels;
}

static const char *
type_of(const char *form, int64_t frames, int64_t channels, double scale)
{
	char *text = qn_arena_alloc(&rg->arena, 128, 1);

	(void)snprintf(text, 128, form, (long long)frames, (long long)channels, scale);
	return text;
}

/* The largest difference of a quantized value so far, in steps, and how many were compared. */
static double most_of[2];
static long compared[2];

/* Runs the op on n PCM samples, as floats and as quantized values. */
static void
check(qn_op op, const double *pcm, int n, const qn_attrs *a)
{
	const int frames = (n - (int)a->mfcc.window) / (int)a->mfcc.hop + 1;
	const int64_t count = frames * each(op, a);
	double *want = qn_arena_alloc(&rg->arena, (size_t)count, sizeof *want);
	double *samples = qn_arena_alloc(&rg->arena, (size_t)n, sizeof *samples);

	(op == QN_OP_mfcc ? mfcc : log_mel)(pcm, frames, a, want);
	fresh_graph();
	output(op1(op,
		   input("x", type_of("tensor<1x%lldx!quant.uniform<i16:f32, 0.000030517578125>>",
				      n, 0, 0)),
		   a,
		   type_of("tensor<1x%lldx%lldx!quant.uniform<i16:f32, %.17g>>", frames,
			   each(op, a), a->mfcc.scale)));
	const double *q = run1(pcm);
	compared[op == QN_OP_mfcc] += count;
	for (int64_t i = 0; i < count; i++) {
		most_of[op == QN_OP_mfcc] = fmax(most_of[op == QN_OP_mfcc], fabs(q[i] - want[i]));
		if (fabs(q[i] - want[i]) > 1)
			fail_msg("value %lld of frame %lld is %g, not %g",
				 (long long)(i % each(op, a)), (long long)(i / each(op, a)), q[i],
				 want[i]);
	}
	for (int i = 0; i < n; i++)
		samples[i] = pcm[i] / 32768;
	for (int64_t i = 0; i < count; i++)
		want[i] *= a->mfcc.scale;
	fresh_graph();
	output(op1(op, input("x", type_of("tensor<1x%lldxf32>", n, 0, 0)), a, NULL));
	near(want, run1(samples), count, 1e-4);
}

static void
defaults(qn_op op, qn_attrs *a)
{
	qn_attrs_default(op == QN_OP_mfcc ? QN_ATTRS(mfcc) : QN_ATTRS(log_mel), a);
}

/* ---- sounds ---- */

enum { SILENCE, SQUARE, DC, LEAST, STEP, TONE, SWEEP, HISS, BURST, SOUNDS };

static double
sound(int kind, int i)
{
	switch (kind) {
	case SQUARE:
		return i / 20 % 2 == 0 ? 32767 : -32768;
	case DC:
		return -32768;
	case LEAST:
		return i == 700 ? -1 : 0;
	case STEP:
		return i < 600 ? 0 : 32767;
	case TONE:
		return rint(12000 * sin(2 * PI * 440 * i / 16000) +
			    2 * sin(2 * PI * 5000 * i / 16000));
	case SWEEP:
		return rint(30000 * sin(1e-4 * i * i));
	case HISS:
		return (double)pick(-300, 300);
	case BURST: /* voiced, with pauses of almost nothing */
		return rint(i % 1600 < 900 ? 9000 * sin(i * 0.05) * sin(i * 0.31) * sin(i * 0.9)
					   : (double)pick(-2, 2));
	default:
		return 0;
	}
}

static void
test_sounds(void **state)
{
	double *x = qn_arena_alloc(&rg->arena, MOST_SAMPLES, sizeof *x);

	(void)state;
	for (int kind = 0; kind < SOUNDS; kind++) {
		for (int i = 0; i < 4000; i++)
			x[i] = sound(kind, i);
		for (int op = 0; op < 2; op++) {
			qn_attrs a;

			defaults(op == 0 ? QN_OP_log_mel : QN_OP_mfcc, &a);
			check(op == 0 ? QN_OP_log_mel : QN_OP_mfcc, x, 4000, &a);
		}
	}
}

/* A window alone, and one sample more, which is left out; windows of a power of 2 and odd ones. */
static void
test_windows(void **state)
{
	const int windows[] = {16, 17, 64, 255, 256, 480, 1024, 1025, 2048};
	double x[2100];

	(void)state;
	for (size_t i = 0; i < QN_COUNT(windows); i++) {
		for (int op = 0; op < 2; op++) {
			qn_attrs a;

			defaults(op == 0 ? QN_OP_log_mel : QN_OP_mfcc, &a);
			for (int k = 0; k < 2100; k++)
				x[k] = (double)pick(-9000, 9000);
			a.mfcc.window = windows[i];
			check(op == 0 ? QN_OP_log_mel : QN_OP_mfcc, x, windows[i], &a);
			check(op == 0 ? QN_OP_log_mel : QN_OP_mfcc, x, windows[i] + 1, &a);
		}
	}
}

/* Random attributes, also those with which channels have no bin, and gains at their limit. */
static void
test_attributes(void **state)
{
	double x[1200];

	(void)state;
	for (int round = 0; round < 60; round++) {
		const qn_op op = round % 3 == 0 ? QN_OP_mfcc : QN_OP_log_mel;
		qn_attrs a;

		defaults(op, &a);
		for (int k = 0; k < 1200; k++)
			x[k] = sound(round % SOUNDS, k);
		a.mfcc.sample_rate = pick(8000, 48000);
		a.mfcc.window = pick(16, 600);
		a.mfcc.hop = pick(60, 700);
		a.mfcc.channels = pick(1, 60);
		a.mfcc.low = (double)pick(0, 500);
		a.mfcc.high = a.mfcc.low + (double)pick(50, 3400);
		if (op == QN_OP_mfcc) {
			a.mfcc.coefficients = pick(1, a.mfcc.channels);
			a.mfcc.log_offset = round % 2 == 0 ? 1e-6 : 0.25;
			a.mfcc.scale = 1.0 / (double)pick(4, 100);
		} else {
			a.log_mel.even_smoothing = (double)pick(0, 1000) / 1000;
			a.log_mel.odd_smoothing = (double)pick(0, 100) / 1000;
			a.log_mel.min_signal_remaining = (double)pick(50, 1000) / 1000;
			a.log_mel.pcan = pick(0, 3) != 0;
			a.log_mel.strength = (double)pick(0, 150) / 100;
			a.log_mel.offset = (double)pick(1, 400);
			a.log_mel.gain_bits = pick(16, 24);
			a.log_mel.scale_shift = pick(0, 6);
			a.log_mel.scale = 0.01;
		}
		check(op, x, 1200, &a);
	}
}

/* ---- spoken words ---- */

static const char *const words[] = {"yes", "no",    "up",   "down",      "left",  "right", "on",
				    "off", "stop",  "go",   "okay nabu", "alexa", "zero",  "one",
				    "two", "three", "four", "five",      "six",   "seven"};

/* A word of espeak-ng's, one of five voices, at two thirds of its rate, so 14700 samples a second; how many. */
static int
spoken(size_t word, double *x)
{
	static const char *const voices[] = {"en", "en-us", "en+f2", "en+m3", "en-us+f4"};
	unsigned char head[44], pair[2];
	double before = 0, now = 0;
	char line[120];
	int n = 0;

	(void)snprintf(line, sizeof line, "espeak-ng -v %s --stdout '%s' 2>/dev/null",
		       voices[word / QN_COUNT(words)], words[word % QN_COUNT(words)]);
	FILE *f = popen(line, "r");
	assert_non_null(f);
	if (fread(head, 1, sizeof head, f) == sizeof head)
		for (int i = 0; n < MOST_SAMPLES && fread(pair, 1, 2, f) == 2; i++) {
			const int v = pair[0] | pair[1] << 8;

			before = now;
			now = v < 32768 ? v : v - 65536;
			if (i % 3 == 1)
				x[n++] = now;
			else if (i % 3 == 0)
				x[n++] = rint((before + now) / 2);
		}
	(void)pclose(f);
	return n;
}

static void
test_words(void **state)
{
	const char *full = getenv("QUERN_FULL");
	double *x = qn_arena_alloc(&rg->arena, MOST_SAMPLES, sizeof *x);
	qn_attrs a;

	(void)state;
	for (int op = 0; op < 2; op++)
		most_of[op] = 0, compared[op] = 0;
	for (size_t word = 0; word < 5 * QN_COUNT(words); word += full != NULL ? 1 : 9) {
		const int n = spoken(word, x);

		if (n == 0) {
			print_message("skipped: espeak-ng is not installed\n");
			skip();
		}
		defaults(QN_OP_log_mel, &a);
		check(QN_OP_log_mel, x, n, &a);
		defaults(QN_OP_mfcc, &a);
		check(QN_OP_mfcc, x, n, &a);
	}
	for (int op = 0; op < 2; op++)
		print_message("%s: %ld values of words, at most %.3f steps off\n",
			      op == 0 ? "log_mel" : "mfcc", compared[op], most_of[op]);
}

/* ---- what is refused ---- */

static void
test_types(void **state)
{
	const char *const in[] = {"tensor<1x480x!quant.uniform<i8:f32, 0.0078125>>",
				  "tensor<1x480x!quant.uniform<i16:f32, 0.00006103515625>>",
				  "tensor<1x480x!quant.uniform<i16:f32, 0.000030517578125>>"};
	const char *const texts[] = {"only of i16 samples with scale 1/32768",
				     "only of i16 samples with scale 1/32768",
				     "only a result of i16 with scale 0.0390625"};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(in); i++) {
		fresh_graph();
		output(op1(QN_OP_log_mel, input("x", in[i]), NULL,
			   "tensor<1x1x40x!quant.uniform<i16:f32, 0.03>>"));
		refused("int.unsupported", texts[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sounds, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_windows, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_attributes, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_words, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_types, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
