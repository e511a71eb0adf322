/* SPDX-License-Identifier: Apache-2.0 */
/* lstm_reference.h - LSTMs on quantized values, and what TensorFlow Lite Micro computes for them: element
 * by element, with 64-bit integers, as micro/kernels/lstm_eval.cc says. */
#ifndef QN_TESTS_LSTM_REFERENCE_H
#define QN_TESTS_LSTM_REFERENCE_H

#include <math.h>
#include <string.h>

#include "ir/tensor.h"

enum { GATES = 4, MOST = 64, SAMPLES = 12 };
enum { INPUT, FORGET, CELL, OUTPUT };

typedef struct lstm_case {
	const char *name;
	bool wide, time_major; /* wide: i16 data and state, i64 biases */
	int batch, steps, inputs, cells;
	float xs;
	int xz;
	float hs;
	int hz, power; /* of the state; of 2, the cell's scale */
	float clip, ws[GATES], rs[GATES];
	bool single; /* an LSTM, one step per run */
} lstm_case;

/* Scales of the weights of most cases. */
#define USUAL .ws = {0.011f, 0.007f, 0.02f, 0.013f}, .rs = {0.009f, 0.012f, 0.006f, 0.01f}

static const lstm_case cases[] = {
	{.name = "lstm_plain",
	 .batch = 1,
	 .steps = 5,
	 .inputs = 3,
	 .cells = 4,
	 .xs = 0.05f,
	 .xz = 7,
	 .hs = 0.0078f,
	 .hz = -3,
	 .power = -11,
	 USUAL},
	{.name = "lstm_clipped",
	 .batch = 2,
	 .steps = 4,
	 .inputs = 5,
	 .cells = 3,
	 .xs = 0.08f,
	 .xz = -128,
	 .hs = 0.0061f,
	 .hz = 12,
	 .power = -12,
	 .clip = 0.7f,
	 .ws = {0.03f, 0.04f, 0.02f, 0.05f},
	 .rs = {0.02f, 0.01f, 0.03f, 0.02f}},
	{.name = "lstm_time_major",
	 .time_major = true,
	 .batch = 2,
	 .steps = 6,
	 .inputs = 2,
	 .cells = 2,
	 .xs = 0.02f,
	 .hs = 0.0079f,
	 .power = -15,
	 USUAL},
	{.name = "lstm_coarse",
	 .batch = 1,
	 .steps = 3,
	 .inputs = 4,
	 .cells = 5,
	 .xs = 1.7f,
	 .xz = 3,
	 .hs = 0.2f,
	 .hz = 60,
	 .power = -3,
	 .clip = 1.4f,
	 .ws = {1.3f, 0.7f, 0.2f, 0.9f},
	 .rs = {0.9f, 1.2f, 0.6f, 1.0f}},
	{.name = "lstm_of_16",
	 .wide = true,
	 .batch = 1,
	 .steps = 4,
	 .inputs = 3,
	 .cells = 4,
	 .xs = 0.0004f,
	 .hs = 0.00003f,
	 .power = -11,
	 USUAL},
	{.name = "lstm_of_16_clipped",
	 .wide = true,
	 .time_major = true,
	 .batch = 2,
	 .steps = 3,
	 .inputs = 3,
	 .cells = 4,
	 .xs = 0.0009f,
	 .hs = 0.00002f,
	 .power = -13,
	 .clip = 0.4f,
	 .ws = {0.04f, 0.03f, 0.02f, 0.05f},
	 .rs = {0.02f, 0.01f, 0.03f, 0.02f}},
	{.name = "lstm_single",
	 .time_major = true,
	 .batch = 2,
	 .steps = 1,
	 .inputs = 3,
	 .cells = 4,
	 .xs = 0.05f,
	 .xz = 7,
	 .hs = 0.0078f,
	 .hz = -3,
	 .power = -11,
	 .clip = 0.5f,
	 .ws = {0.031f, 0.027f, 0.02f, 0.033f},
	 .rs = {0.029f, 0.012f, 0.026f, 0.01f},
	 .single = true},
	{.name = "lstm_single_of_16",
	 .wide = true,
	 .time_major = true,
	 .batch = 1,
	 .steps = 1,
	 .inputs = 3,
	 .cells = 4,
	 .xs = 0.0004f,
	 .hs = 0.00003f,
	 .power = -11,
	 USUAL,
	 .single = true},
	{.name = "lstm_step",
	 .batch = 2,
	 .steps = 1,
	 .inputs = 4,
	 .cells = 5,
	 .xs = 0.05f,
	 .xz = 7,
	 .hs = 0.0078f,
	 .hz = -3,
	 .power = -11,
	 .ws = {0.031f, 0.027f, 0.02f, 0.033f},
	 .rs = {0.029f, 0.012f, 0.026f, 0.01f}},
	{.name = "lstm_once",
	 .batch = 1,
	 .steps = 1,
	 .inputs = 1,
	 .cells = 1,
	 .xs = 0.05f,
	 .xz = 7,
	 .hs = 0.0078f,
	 .hz = -3,
	 .power = -11,
	 USUAL},
};

typedef struct lstm_data {
	int8_t w[GATES][MOST], r[GATES][MOST];
	int32_t bias[GATES][MOST];
	int64_t wide_bias[GATES][MOST];
	uint16_t sigmoid[256];
	int saturated, limited;      /* how often the reference did so */
	int64_t h[MOST], cell[MOST]; /* by batch, what a run of one step leaves to the next */
} lstm_data;

/* ---- the reference ---- */

static int64_t
floor_shift(int64_t x, int n)
{
	return x >= 0 ? x >> n : -((-x + (INT64_C(1) << n) - 1) >> n);
}

/* x * M, M as 31 bits and a power of 2, of which the multiplication takes 31 and 0 of the power: each
 * rounded. */
static int64_t
times(int64_t x, double M)
{
	int e;
	int64_t m = (int64_t)floor(frexp(M, &e) * 0x1p31 + 0.5);

	if (m == INT64_C(1) << 31) {
		m /= 2;
		e++;
	}
	if (e > 0)
		x *= INT64_C(1) << e;
	x = floor_shift(x * m + (INT64_C(1) << 30), 31);
	if (e < 0) { /* ties away from 0 */
		int64_t half = INT64_C(1) << (-e - 1);

		x = x >= 0 ? floor_shift(x + half, -e) : -floor_shift(-x + half, -e);
	}
	return x;
}

/* The same of a 64-bit sum: 15 bits of M, one rounding. */
static int64_t
times_wide(int64_t x, double M)
{
	int e;
	int64_t m = (int64_t)floor(frexp(M, &e) * 0x1p31 + 0.5);

	if (m == INT64_C(1) << 31) {
		m /= 2;
		e++;
	}
	m = m < 0x7fff0000 ? (m + (1 << 15)) >> 16 : 0x7fff;
	return floor_shift(x * m + (INT64_C(1) << (14 - e)), 15 - e);
}

static int64_t
within(lstm_data *d, int64_t x, int bits)
{
	int64_t most = (INT64_C(1) << (bits - 1)) - 1;

	d->saturated += x > most || x < -most - 1;
	return x > most ? most : x < -most - 1 ? -most - 1 : x;
}

/* Of x in 1/12288. */
static int64_t
sigmoid(const lstm_data *d, int64_t x)
{
	int64_t u = x < 0 ? -x : x, at = u / 512, y = INT64_C(0x7fff) * 1024;

	if (at < 255)
		y = d->sigmoid[at] * 512 + u % 512 * (d->sigmoid[at + 1] - d->sigmoid[at]);
	return (x >= 0 ? y + 512 : (INT64_C(1) << 25) - y + 511) / 1024;
}

static int64_t
tanh_of(const lstm_data *d, int64_t x)
{
	int64_t u = x < 0 ? -x : x, at = u / 256, y = INT64_C(0xffff) * 256;

	if (at < 255)
		y = d->sigmoid[at] * 256 + u % 256 * (d->sigmoid[at + 1] - d->sigmoid[at]);
	return floor_shift(x >= 0 ? y - (1 << 23) + 128 : (1 << 23) - y + 127, 8);
}

static int64_t
product(const lstm_case *c, lstm_data *d, const int64_t *x, int n, int64_t zp, float xs,
	const int8_t *w, float ws, int64_t sum)
{
	float scale = xs * ws;
	double M = (double)scale * 4096.0;

	for (int i = 0; i < n; i++)
		sum += (x[i] - zp) * w[i];
	return within(d, c->wide ? times_wide(sum, M) : times(sum, M), 16);
}

/* In 2^-12, before the function. */
static int64_t
gate(const lstm_case *c, lstm_data *d, int g, int k, const int64_t *x, const int64_t *h)
{
	int64_t bias = c->wide ? d->wide_bias[g][k] : d->bias[g][k];

	return within(
		d,
		product(c, d, x, c->inputs, c->xz, c->xs, d->w[g] + k * c->inputs, c->ws[g], bias) +
			product(c, d, h, c->cells, c->hz, c->hs, d->r[g] + k * c->cells, c->rs[g],
				0),
		16);
}

/* The cell's tanh is of a scale 2^power. */
static int64_t
tanh_of_cell(const lstm_data *d, int64_t cell, int power)
{
	int shift = 12 + power;

	return tanh_of(d, shift >= 0 ? cell * 3 * (1 << shift)
				     : floor_shift(cell * 3 + (1 << (-shift - 1)), -shift));
}

static void
reference_step(const lstm_case *c, lstm_data *d, const int64_t *x, int64_t *h, int64_t *cell)
{
	double s = ldexp(1.0, c->power);
	int64_t most = (int64_t)((double)c->clip / s), next[MOST];

	for (int k = 0; k < c->cells; k++) {
		int64_t f = sigmoid(d, 3 * gate(c, d, FORGET, k, x, h));
		int64_t i = sigmoid(d, 3 * gate(c, d, INPUT, k, x, h));
		int64_t a = tanh_of(d, 3 * gate(c, d, CELL, k, x, h));
		int64_t o = sigmoid(d, 3 * gate(c, d, OUTPUT, k, x, h));

		cell[k] = within(d,
				 within(d, times(f * cell[k], 0x1p-15), 16) +
					 within(d, times(i * a, 0x1p-30 / s), 16),
				 16);
		if (c->clip > 0) {
			d->limited += cell[k] > most || cell[k] < -most;
			cell[k] = cell[k] > most ? most : cell[k] < -most ? -most : cell[k];
		}
		next[k] = within(
			d,
			times(tanh_of_cell(d, cell[k], c->power) * o, 0x1p-30 / (double)c->hs) +
				c->hz,
			c->wide ? 16 : 8);
	}
	memcpy(h, next, (size_t)c->cells * sizeof *h);
}

static void
reference(const lstm_case *c, lstm_data *d, const qn_tensor *in, int64_t *y)
{
	for (int b = 0; b < c->batch; b++) {
		int64_t *h = d->h + b * c->cells, *cell = d->cell + b * c->cells, x[MOST];

		for (int k = 0; k < c->cells && c->steps > 1; k++) {
			h[k] = c->hz;
			cell[k] = 0;
		}
		for (int t = 0; t < c->steps; t++) {
			int at = c->time_major ? t * c->batch + b : b * c->steps + t;

			for (int k = 0; k < c->inputs; k++)
				x[k] = qn_tensor_i64(in, at * c->inputs + k);
			reference_step(c, d, x, h, cell);
			memcpy(y + at * c->cells, h, (size_t)c->cells * sizeof *h);
		}
	}
}

#endif
