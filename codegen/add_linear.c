/* SPDX-License-Identifier: Apache-2.0 */
/* add_linear.c - see add_linear.h.
 *
 * TFLite's sum of quantized values rounds three times.  Its result is nearly that of
 *
 *     floor((a x + b y + c) / 2^shift),   a = 2^shift sx / so,   b = 2^shift sy / so
 *
 * and whether a c makes it exactly that for each of the 65,536 pairs of quantized values is found by trying them:
 * each pair whose result is z and not the largest requires a x + b y + c below (z + 1) 2^shift, and each
 * whose result is not the smallest requires z 2^shift or more.  What is left of c after all pairs is
 * empty, or any of it will do. */
#include "codegen/add_linear.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/impl_args.h"

enum {
	CODES = 256,
	MOST_SHIFT = 23,
	LEAST_SHIFT = 14,
	FEW = 256 /* elements for which trying all pairs is not worth it */
};

typedef struct bounds {
	int64_t least, most; /* of c */
} bounds;

static bool
is_unsigned(const qn_step_facts *f)
{
	return f->family == QN_FAMILY_u8;
}

/* The operands lie as the result does. */
static bool
is_plain(const qn_add_args *a, const int32_t *stride)
{
	int32_t want = 1;

	for (int i = 3; i >= 0; want *= a->dim[i--])
		if (a->dim[i] > 1 && stride[i] != want)
			return false;
	return true;
}

/* so = 1: the exact multiplier of an operand, times 2^shift. */
static int32_t
factor(const qn_add_args *a, int32_t m, int32_t s, int shift)
{
	const double real = ldexp((double)m, s - 31) * ldexp((double)a->mo, a->sho - 31 + a->left);

	return (int32_t)floor(ldexp(real, shift) + 0.5);
}

static void
narrow(bounds *c, int64_t sum, int32_t z, const qn_add_args *a, int32_t shift)
{
	const int64_t unit = INT64_C(1) << shift;
	const int64_t least = z * unit - sum, most = (z + 1) * unit - 1 - sum;

	if (z > a->lo && least > c->least)
		c->least = least;
	if (z < a->hi && most < c->most)
		c->most = most;
}

/* The constants with these factors; false when none make it equal. */
static bool
try_factors(const qn_add_args *a, const int16_t *code, int32_t first, int32_t shift, int32_t fx,
	    int32_t fy, qn_add_linear_args *out)
{
	const int64_t reach =
		(INT64_C(1) + INT32_MAX) - CODES * (llabs((long long)fx) + llabs((long long)fy));
	bounds c = {-reach, reach - 1};

	for (int32_t x = 0; x < CODES && c.least <= c.most; x++)
		for (int32_t y = 0; y < CODES; y++)
			narrow(&c, (int64_t)fx * (x + first) + (int64_t)fy * (y + first),
			       code[x * CODES + y], a, shift);
	if (c.least > c.most)
		return false;
	*out = (qn_add_linear_args){.a = fx,
				    .b = fy,
				    .c = (int32_t)(c.least + (c.most - c.least) / 2),
				    .shift = shift,
				    .lo = a->lo,
				    .hi = a->hi};
	return true;
}

/* The factors nearest to the exact ones first, then those beside them. */
static bool
try_shift(const qn_add_args *a, const int16_t *code, int32_t first, int32_t shift,
	  qn_add_linear_args *out)
{
	static const int beside[] = {0, -1, 1, -2, 2, -3, 3};
	const int32_t fx = factor(a, a->mx, a->shx, shift);
	const int32_t fy = factor(a, a->my, a->shy, shift) * (a->sub != 0 ? -1 : 1);

	for (size_t i = 0; i < QN_COUNT(beside); i++)
		for (size_t j = 0; j < QN_COUNT(beside); j++)
			if (try_factors(a, code, first, shift, fx + beside[i], fy + beside[j], out))
				return true;
	return false;
}

static bool
find(const qn_step_facts *f, qn_arena *arena, qn_add_linear_args *out)
{
	const qn_add_args *a = f->step->args;
	const int32_t first = is_unsigned(f) ? 0 : INT8_MIN;
	qn_arena *tmp = qn_arena_child(arena);
	int16_t *code = QN_NEW(tmp, int16_t, CODES * CODES);
	bool found = false;

	for (int32_t x = 0; x < CODES; x++)
		for (int32_t y = 0; y < CODES; y++)
			code[x * CODES + y] = is_unsigned(f)
						      ? qn_add_one_u8(a, x + first, y + first)
						      : qn_add_one(a, x + first, y + first);
	for (int32_t shift = MOST_SHIFT; shift >= LEAST_SHIFT && !found; shift--)
		found = try_shift(a, code, first, shift, out);
	qn_arena_release(tmp);
	return found;
}

static int64_t
elements(const qn_add_args *a)
{
	return (int64_t)a->dim[0] * a->dim[1] * a->dim[2] * a->dim[3];
}

const char *
qn_fits_add_linear(const qn_step_facts *f)
{
	const qn_add_args *a = f->step->args;
	qn_add_linear_args found;

	if (f->from != f->family)
		return "its operand and its result have different storage types";
	if (elements(a) < FEW)
		return "few elements";
	if (!is_plain(a, a->xs) || !is_plain(a, a->ys))
		return "an operand is repeated";
	return find(f, f->g->model->arena, &found) ? NULL
						   : "no linear function gives the same result for "
						     "every pair of quantized values";
}

void *
qn_pack_add_linear(const qn_step_facts *f, qn_arena *a)
{
	qn_add_linear_args *out = QN_NEW(a, qn_add_linear_args, 1);

	(void)find(f, a, out);
	out->n = (int32_t)elements(f->step->args);
	return out;
}
