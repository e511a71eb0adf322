/* SPDX-License-Identifier: Apache-2.0 */
/* lut_lines.c - see lut_lines.h. */
#include "runtime/lut_lines.h"

#include <math.h>

enum {
	VALUES = 65536,
	PART = VALUES / QN_LUT_PARTS, /* values */
	WIDEST = 9,                   /* log2 of them */
	NARROWER = 7                  /* where points are scarce */
};

typedef struct curve {
	const double *y;  /* the results of -32768 .. 32768 */
	double tolerance; /* steps of the result */
	int widest;       /* log2 of a line's length */
	double least, most;
} curve;

/* Whether the results lie on a line. */
static bool
is_straight(const curve *c, const double *y, int32_t length)
{
	const double slope = (y[length] - y[0]) / length;

	for (int32_t k = 1; k < length; k++)
		if (fabs(y[0] + slope * k - y[k]) > c->tolerance)
			return false;
	return true;
}

/* log2 of the distance of the points of a part, whose results begin at y. */
static int
distance_of(const curve *c, const double *y)
{
	int k = c->widest;

	for (int32_t at = 0; k > 0 && at < PART;)
		if (is_straight(c, y + at, 1 << k))
			at += 1 << k;
		else
			k--, at = 0;
	return k;
}

/* The number of points. */
static int32_t
divide(const curve *c, uint16_t *part)
{
	int32_t n = 0;

	for (int32_t i = 0; i < QN_LUT_PARTS; i++) {
		const int k = distance_of(c, c->y + i * PART);

		part[i] = (uint16_t)(n << 4 | k);
		n += PART >> k;
		if (n >= QN_LUT_POINTS)
			return INT32_MAX;
	}
	return n + 1;
}

/* The result at the start of a line. */
static int16_t
point_at(const curve *c, const double *y, int32_t length)
{
	const double error = length > 1 ? (y[0] + y[length]) / 2.0 - y[length / 2] : 0.0;
	const double moved = floor(y[0] - error / 2.0 + 0.5);

	return (int16_t)(moved < c->least ? c->least : moved > c->most ? c->most : moved);
}

static void
put_points(qn_lut_lines *lines, const curve *c)
{
	int16_t *next = lines->point;

	for (int32_t i = 0; i < VALUES;) {
		const int32_t length = 1 << (lines->part[i / PART] & 15);

		*next++ = point_at(c, c->y + i, length);
		i += length;
	}
	*next = point_at(c, c->y + VALUES, 1);
}

qn_lut_lines
qn_lut_lines_of(qn_arena *a, qn_lut_code_fn *f, const void *user, double least, double most)
{
	qn_arena *tmp = qn_arena_child(a);
	double *y = QN_NEW(tmp, double, VALUES + 1);
	curve c = {y, 0.5, WIDEST, least, most};
	qn_lut_lines lines = {.part = QN_NEW(a, uint16_t, QN_LUT_PARTS)};

	for (int32_t i = 0; i <= VALUES; i++)
		y[i] = f(user, i - 32768.0);
	while ((lines.n = divide(&c, lines.part)) > QN_LUT_POINTS) {
		c.tolerance *= 2.0;
		c.widest = NARROWER;
	}
	lines.point = QN_NEW(a, int16_t, (size_t)lines.n);
	put_points(&lines, &c);
	qn_arena_release(tmp);
	return lines;
}
