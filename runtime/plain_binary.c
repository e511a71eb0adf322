/* SPDX-License-Identifier: Apache-2.0 */
/* plain_binary.c - ops of two broadcast operands on plain types.
 *
 *   i32   7 / -2 = -3      7 / 0 = 0      least / -1 = least      (wraps around, never traps)
 *
 * One row per op, with a function for each kind of number; integers of all widths share it, as their
 * low bits do not depend on the higher ones, or they were widened with their sign. */
#include <math.h>

#include "runtime/broadcast.h"
#include "runtime/math.h"
#include "runtime/plain.h"

typedef void binary_fn(const qn_number *x, const qn_number *y, qn_number *z, int64_t n);

/* A function of n pairs: `value` of the numbers a and b, to the member `out`. */
#define EACH(name, T, member, out, value)                                                          \
	static void name(const qn_number *x, const qn_number *y, qn_number *z, int64_t n)          \
	{                                                                                          \
		for (int64_t i = 0; i < n; i++) {                                                  \
			T a = x[i].member, b = y[i].member;                                        \
			z[i].out = (value);                                                        \
		}                                                                                  \
	}
#define SIGNED(name, value) EACH(name##_s, int64_t, i, i, value)
#define UNSIGNED(name, value) EACH(name##_u, uint64_t, u, u, value)
#define REAL(name, value) EACH(name##_r, double, f, f, value)
/* The same formula for all kinds. */
#define ALL(name, value) SIGNED(name, value) UNSIGNED(name, value) REAL(name, value)
#define COMPARE(name, value)                                                                       \
	EACH(name##_s, int64_t, i, u, value)                                                       \
	EACH(name##_u, uint64_t, u, u, value)                                                      \
	EACH(name##_r, double, f, u, value)

/* -1 is apart: the least i64 divided by it would trap. */
static int64_t
quotient(int64_t a, int64_t b)
{
	if (b == -1)
		return (int64_t)(0 - (uint64_t)a);
	return b == 0 ? 0 : a / b;
}

/* The quotient toward -infinity. */
static int64_t
floored(int64_t a, int64_t b)
{
	int64_t q = quotient(a, b);

	return b != 0 && b != -1 && a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/* With the sign of a; 0 where b is. */
static int64_t
remainder_of(int64_t a, int64_t b)
{
	return b == 0 || b == -1 ? 0 : a % b;
}

static int64_t
floored_remainder(int64_t a, int64_t b)
{
	int64_t r = remainder_of(a, b);

	return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

/* A signed number rounds down; it stays if b is not a number of bits. */
static int64_t
shifted_right(int64_t a, int64_t b)
{
	if (b <= 0)
		return a;
	b = b < 63 ? b : 63;
	return a < 0 ? ~(~a >> b) : a >> b;
}

static uint64_t
shifted_left(uint64_t a, uint64_t b)
{
	return b < 64 ? a << b : 0;
}

SIGNED(floor_div, floored(a, b))
UNSIGNED(floor_div, b == 0 ? 0 : a / b)
REAL(floor_div, floor(a / b))
SIGNED(mod, floored_remainder(a, b))
UNSIGNED(mod, b == 0 ? 0 : a % b)
REAL(mod, qn_floor_mod(a, b))
SIGNED(fmod, remainder_of(a, b))
REAL(fmod, qn_fmod(a, b))
UNSIGNED(squared_difference, (a - b) * (a - b))
REAL(squared_difference, (a - b) * (a - b))
UNSIGNED(bitwise_and, a &b)
UNSIGNED(bitwise_or, a | b)
UNSIGNED(bitwise_xor, a ^ b)
SIGNED(shift_left, b < 0 ? a : (int64_t)shifted_left((uint64_t)a, (uint64_t)b))
UNSIGNED(shift_left, shifted_left(a, b))
SIGNED(shift_right, shifted_right(a, b))
UNSIGNED(shift_right, b < 64 ? a >> b : 0)
UNSIGNED(add, a + b)
REAL(add, a + b)
UNSIGNED(sub, a - b)
REAL(sub, a - b)
UNSIGNED(mul, a *b)
REAL(mul, a *b)
SIGNED(div, quotient(a, b))
UNSIGNED(div, b == 0 ? 0 : a / b)
REAL(div, a / b)
ALL(minimum, a < b ? a : b)
ALL(maximum, a > b ? a : b)
COMPARE(equal, a <= b && a >= b)
COMPARE(not_equal, !(a <= b && a >= b))
COMPARE(less, a < b)
COMPARE(less_equal, a <= b)
COMPARE(greater, a > b)
COMPARE(greater_equal, a >= b)

typedef struct row {
	binary_fn *by[QN_NKIND];
} row;

#define WRAPPING(op) [QN_OP_##op] = {{op##_u, op##_u, op##_r}}
#define BITS(op) [QN_OP_##op] = {{op##_u, op##_u, NULL}} /* of integers only */
#define KINDS(op) [QN_OP_##op] = {{op##_s, op##_u, op##_r}}

static const row rows[QN_NOP] = {
	[QN_OP_logical_and] = {{NULL, bitwise_and_u, NULL}}, /* of 0 and 1 */
	[QN_OP_logical_or] = {{NULL, bitwise_or_u, NULL}},
	[QN_OP_logical_xor] = {{NULL, bitwise_xor_u, NULL}},
	WRAPPING(squared_difference),
	KINDS(floor_div),
	KINDS(mod),
	BITS(bitwise_and),
	BITS(bitwise_or),
	BITS(bitwise_xor),
	[QN_OP_shift_left] = {{shift_left_s, shift_left_u, NULL}},
	[QN_OP_shift_right] = {{shift_right_s, shift_right_u, NULL}},
	WRAPPING(add),
	WRAPPING(sub),
	WRAPPING(mul),
	KINDS(div),
	KINDS(minimum),
	KINDS(maximum),
	KINDS(equal),
	KINDS(not_equal),
	KINDS(less),
	KINDS(less_equal),
	KINDS(greater),
	KINDS(greater_equal),
};

/* mod {fmod=1} */
static const row fmod_row = {{fmod_s, mod_u, fmod_r}};

/* What the walk over two operands does with a run of each. */
typedef struct walk {
	const qn_eval *e;
	qn_plain x, y, z;
	binary_fn *fn; /* not of pow */
	bool is_pow;
} walk;

static uint64_t
integer_power(qn_number a, qn_number b, bool is_signed)
{
	uint64_t y = 1;

	if (is_signed && b.i < 0) { /* 1 / a^-b toward zero */
		if (a.u == 1)
			return 1;
		return a.i != -1 ? 0 : (b.u & 1) != 0 ? UINT64_MAX : 1;
	}
	for (; b.u != 0; b.u >>= 1, a.u *= a.u)
		y *= (b.u & 1) != 0 ? a.u : 1;
	return y;
}

/* Integers of two types have one sign each: an unsigned base is no -1. */
static void
power(const walk *w, qn_number *x, qn_number *y, int64_t n)
{
	const qn_number_kind kx = qn_number_kind_of(w->x), ky = qn_number_kind_of(w->y);

	if (kx != QN_KIND_REAL && ky != QN_KIND_REAL) {
		for (int64_t i = 0; i < n; i++)
			x[i].u = integer_power(x[i], y[i], ky == QN_KIND_SIGNED);
		return;
	}
	qn_plain_convert(w->x, QN_PLAIN_f64, n, x);
	qn_plain_convert(w->y, QN_PLAIN_f64, n, y);
	for (int64_t i = 0; i < n; i++)
		x[i].f = qn_pow(x[i].f, y[i].f);
	qn_plain_convert(QN_PLAIN_f64, w->z, n, x);
}

static void
run(const walk *w, int64_t xo, int64_t xs, int64_t yo, int64_t ys, int64_t zo, int64_t total)
{
	qn_number x[QN_PLAIN_RUN_LENGTH], y[QN_PLAIN_RUN_LENGTH], z[QN_PLAIN_RUN_LENGTH];

	for (int64_t i = 0, n; i < total; i += n) {
		n = total - i < QN_PLAIN_RUN_LENGTH ? total - i : QN_PLAIN_RUN_LENGTH;
		qn_plain_load(w->x, w->e->in[0], xo + i * xs, xs, n, x);
		qn_plain_load(w->y, w->e->in[1], yo + i * ys, ys, n, y);
		if (w->is_pow)
			power(w, x, y, n);
		else
			w->fn(x, y, z, n);
		qn_plain_store(w->z, w->e->out, zo + i, n, w->is_pow ? x : z);
	}
}

static void
each_run(walk w)
{
	const qn_type *tx = qn_in_type(w.e->g, w.e->n, 0), *ty = qn_in_type(w.e->g, w.e->n, 1);
	int64_t at[QN_MAX_RANK] = {0};
	int64_t xo = 0, yo = 0, zo = 0;
	qn_broadcast b;

	if (qn_static_count(w.e->n->type) == 0)
		return;
	w.x = qn_plain_of(tx);
	w.y = qn_plain_of(ty);
	w.z = qn_plain_of(w.e->n->type);
	qn_broadcast_make(tx, ty, w.e->n->type, &b);
	int32_t last = b.rank - 1;
	do {
		run(&w, xo, b.xs[last], yo, b.ys[last], zo, b.dim[last]);
		zo += b.dim[last];
	} while (qn_broadcast_next(&b, at, &xo, &yo));
}

void
qn_plain_binary(const qn_eval *e)
{
	qn_number_kind kind = qn_number_kind_of(qn_plain_of(qn_in_type(e->g, e->n, 0)));

	bool truncates = e->n->op == QN_OP_mod && e->n->attr->mod.fmod != 0;

	each_run((walk){.e = e, .fn = (truncates ? &fmod_row : &rows[e->n->op])->by[kind]});
}

void
qn_plain_pow(const qn_eval *e)
{
	each_run((walk){.e = e, .is_pow = true});
}
