/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_tables.c - see tflite_tables.h. */
#include "runtime/tflite_tables.h"

#include <math.h>

#include "runtime/fixed.h"
#include "runtime/impl_util.h"
#include "runtime/math.h"

enum { CODES = 256, LINES = QN_TFLITE_TABLE_MOST - 1 };

/* ---- 16-bit fixed point (gemmlowp's functions of int16) ---- */

/* The high half of 2ab, rounded, ties upwards. */
static int32_t
high16(int32_t a, int32_t b)
{
	return a == INT16_MIN && b == INT16_MIN ? INT16_MAX : qn_sar32(a * b + (1 << 14), 15);
}

/* The same cut off towards 0. */
static int32_t
high16_cut(int32_t a, int32_t b)
{
	return a == INT16_MIN && b == INT16_MIN ? INT16_MAX : a * b / (1 << 15);
}

/* x * 2^n, saturated. */
static int32_t
left16(int32_t x, int32_t n)
{
	return qn_clamp32(qn_shl_sat(x, n), INT16_MIN, INT16_MAX);
}

/* A multiplier of 31 bits as one of 15. */
static int32_t
shorter(int32_t m)
{
	return m >= INT32_MAX - (1 << 15) ? INT16_MAX : (m + (1 << 15)) >> 16;
}

typedef struct hard_swish {
	int32_t out, out_shift, relu, relu_shift;
} hard_swish;

/* TFLite computes both multipliers in f32. */
static bool
hard_swish_make(const qn_table_params *c, hard_swish *h)
{
	float hires = (1.0f / 128.0f) * (float)c->in;
	int32_t out, relu;

	if (!qn_multiplier((double)(hires / (float)c->out), QN_RQ_DOUBLE, &out, &h->out_shift) ||
	    !qn_multiplier((double)(hires / (3.0f / 32768.0f)), QN_RQ_DOUBLE, &relu,
			   &h->relu_shift) ||
	    h->out_shift > 0 || h->relu_shift < -15)
		return false;
	h->out = shorter(out);
	h->relu = shorter(relu);
	return true;
}

/* x of 9 bits: x * (x + 3 limited to 0 … 6) / 6, the factor after x in 1/32768. */
static int32_t
hard_swish_of(const hard_swish *h, int32_t x)
{
	int32_t hires = x * (1 << 7), r = hires;

	if (h->relu_shift > 0)
		r = left16(r, h->relu_shift - 1);
	r = high16(r, h->relu);
	if (h->relu_shift > 0)
		r = left16(r, 1);
	if (h->relu_shift < 0)
		r = qn_rdbpot(r, -h->relu_shift);
	r = qn_sar32(r + (1 << 15), 1);
	return qn_rdbpot(high16_cut(r, high16(hires, h->out)), -h->out_shift);
}

/* ---- tables for 8 bits ---- */

/* The result of the quantized value x + zi, less its zero point. */
typedef struct eight {
	qn_op op;
	const qn_table_params *c;
	hard_swish h;
	int32_t m, s; /* abs */
} eight;

static int32_t
result_of(const eight *e, int32_t x)
{
	if (e->op == QN_OP_hard_swish)
		return hard_swish_of(&e->h, x);
	if (e->op == QN_OP_abs)
		return qn_apply(x < 0 ? -x : x, e->m, e->s, QN_RQ_DOUBLE);
	if (x < 0)
		return 0; /* where TFLite stops with an error */
	float root = (float)sqrt((double)((float)e->c->in * (float)x));
	float q = root / (float)e->c->out;
	return q < 1000.0f ? (int32_t)q : 1000;
}

static int32_t
table_of_8(qn_op op, const qn_table_params *c, int32_t *entry)
{
	eight e = {.op = op, .c = c};

	if (op == QN_OP_hard_swish && !hard_swish_make(c, &e.h))
		return 0;
	if (op == QN_OP_abs &&
	    !qn_multiplier((double)((float)c->in / (float)c->out), QN_RQ_DOUBLE, &e.m, &e.s))
		return 0;
	for (int32_t i = 0; i < CODES; i++) {
		int32_t code = i > c->hi ? i - CODES : i;
		int32_t y = result_of(&e, code - c->zi);

		entry[i] = qn_clamp32(y, c->lo - c->zo, c->hi - c->zo) + c->zo;
	}
	return CODES;
}

/* ---- tables for 16 bits ---- */

static float
value_of(qn_op op, const qn_table_params *c, float x)
{
	if (op == QN_OP_exp)
		return (float)qn_exp((double)x);
	if (op == QN_OP_log)
		return x > 0.0f ? (float)qn_ln((double)x) : (float)(c->lo - c->zo) * (float)c->out;
	return x > 0.0f ? 1.0f / (float)sqrt((double)x) : (float)c->hi * (float)c->out;
}

/* To the nearest integer, halves away from 0; NaN stays. */
static float
nearest(float x)
{
	return (float)(x < 0.0f ? -floor(0.5 - (double)x) : floor((double)x + 0.5));
}

static int32_t
limited(const qn_table_params *c, float y)
{
	return y > (float)c->hi   ? c->hi
	       : y > (float)c->lo ? (int32_t)y
				  : c->lo; /* also an infinity from which another was taken */
}

static int32_t
table_of_16(qn_op op, const qn_table_params *c, int32_t *entry)
{
	float in = (float)c->in, out = (float)c->out;
	float first = in * (float)(c->lo - c->zi), last = in * (float)(c->hi - c->zi);
	float low = out * (float)(c->lo - c->zo), high = out * (float)(c->hi - c->zo);
	float step = (last - first) / (float)LINES, half = step / 2.0f;
	float inverse = (float)(c->hi - c->lo + 1) / (high - low);

	for (int32_t i = 0; i < LINES; i++) {
		float x = first + (float)i * step;
		float y = nearest(value_of(op, c, x) * inverse);
		float next = value_of(op, c, first + (float)(i + 1) * step) * inverse;
		float middle = nearest(value_of(op, c, x + half) * inverse);

		y -= nearest((nearest((next + y) / 2.0f) - middle) / 2.0f);
		entry[i] = limited(c, y);
	}
	entry[LINES] = limited(c, nearest(value_of(op, c, last) * inverse));
	return QN_TFLITE_TABLE_MOST;
}

int32_t
qn_tflite_table(qn_op op, const qn_table_params *c, int32_t *entry)
{
	bool wide = c->hi - c->lo > 255;

	if (!wide && (op == QN_OP_hard_swish || op == QN_OP_sqrt || op == QN_OP_abs))
		return table_of_8(op, c, entry);
	if (wide && (op == QN_OP_exp || op == QN_OP_log || op == QN_OP_rsqrt))
		return table_of_16(op, c, entry);
	return 0;
}
