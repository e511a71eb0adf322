/* SPDX-License-Identifier: Apache-2.0 */
/* weight_rounding.c - see weight_rounding.h.  Inside, taps are in ascending order of the diagonal of H. */
#include "calibrate/weight_rounding.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SWEEPS = 16 }; /* of coordinate descent; it ends where nothing changes */

static const double damping = 0.01; /* of the mean of the diagonal, added to it */

struct qn_rounder {
	size_t n;
	size_t *order;            /* of the caller's taps */
	double *h, *r;            /* n * n each, row after row: H damped, and its root */
	double *w, *step, *q, *e; /* of the output that is rounded */
	double *gradient;         /* H e */
};

typedef struct tap {
	double size;
	size_t index;
} tap;

static int
compare(const void *a, const void *b)
{
	const tap *x = a, *y = b;

	if (x->size < y->size || y->size < x->size)
		return x->size < y->size ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

static void
sort(qn_rounder *s, const double *h, qn_arena *a)
{
	tap *taps = QN_NEW(a, tap, s->n);

	for (size_t i = 0; i < s->n; i++)
		taps[i] = (tap){h[i * s->n + i], i};
	qsort(taps, s->n, sizeof *taps, compare);
	for (size_t i = 0; i < s->n; i++)
		s->order[i] = taps[i].index;
}

/* R with R^T R = H, a row after the other; H is positive definite. */
static void
factor(qn_rounder *s)
{
	const size_t n = s->n;

	for (size_t i = 0; i < n; i++) {
		double *row = s->r + i * n;

		for (size_t j = i; j < n; j++)
			row[j] = s->h[i * n + j];
		for (size_t k = 0; k < i; k++) {
			const double *above = s->r + k * n;
			const double f = above[i];

			for (size_t j = i; f != 0 && j < n; j++)
				row[j] -= f * above[j];
		}
		const double root = sqrt(row[i]);
		for (size_t j = i; j < n; j++)
			row[j] /= root;
	}
}

/* For an output. */
static void
make_room(qn_rounder *s, qn_arena *a)
{
	double *v = QN_NEW(a, double, 5 * s->n);

	s->w = v;
	s->step = v + s->n;
	s->q = v + 2 * s->n;
	s->e = v + 3 * s->n;
	s->gradient = v + 4 * s->n;
}

qn_rounder *
qn_rounder_share(const qn_rounder *r, qn_arena *a)
{
	qn_rounder *s = qn_arena_copy(a, r, sizeof *r);

	make_room(s, a);
	return s;
}

qn_rounder *
qn_rounder_new(size_t n, const double *h, qn_arena *a)
{
	qn_rounder *s = QN_NEW(a, qn_rounder, 1);
	double trace = 0;

	*s = (qn_rounder){.n = n,
			  .order = QN_NEW(a, size_t, n),
			  .h = QN_NEW(a, double, n *n),
			  .r = QN_NEW(a, double, n *n)};
	make_room(s, a);
	sort(s, h, a);
	for (size_t i = 0; i < n; i++)
		trace += h[i * n + i];
	const double more = trace > 0 ? damping * trace / (double)n : 1;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			s->h[i * n + j] = h[s->order[i] * n + s->order[j]] + (i == j ? more : 0);
	factor(s);
	return s;
}

static double
clamp(double v, double lo, double hi)
{
	return fmin(fmax(v, lo), hi);
}

static void
round_one_after_the_other(qn_rounder *s, double lo, double hi)
{
	for (size_t i = s->n; i-- > 0;) {
		const double *row = s->r + i * s->n;
		double more = 0;

		for (size_t j = i + 1; j < s->n; j++)
			more += row[j] * s->e[j];
		s->q[i] = clamp(rint((s->w[i] + more / row[i]) / s->step[i]), lo, hi);
		s->e[i] = s->w[i] - s->q[i] * s->step[i];
	}
}

/* The gradient H e, and e^T H e. */
static double
cost_of(qn_rounder *s)
{
	double cost = 0;

	for (size_t i = 0; i < s->n; i++) {
		const double *row = s->h + i * s->n;

		s->gradient[i] = 0;
		for (size_t j = 0; j < s->n; j++)
			s->gradient[i] += row[j] * s->e[j];
		cost += s->e[i] * s->gradient[i];
	}
	return cost;
}

/* Moves each integer to where the cost is least, the others as they are; whether one moved. */
static bool
sweep(qn_rounder *s, double lo, double hi)
{
	bool moved = false;

	for (size_t i = 0; i < s->n; i++) {
		const double *row = s->h + i * s->n;
		const double best = s->e[i] - s->gradient[i] / row[i];
		const double q = clamp(rint((s->w[i] - best) / s->step[i]), lo, hi);
		const double change = (s->q[i] - q) * s->step[i];

		if (!(change * (2 * s->gradient[i] + change * row[i]) <
		      -1e-12 * fabs(change * s->gradient[i])))
			continue;
		s->q[i] = q;
		s->e[i] += change;
		for (size_t j = 0; j < s->n; j++)
			s->gradient[j] += row[j] * change;
		moved = true;
	}
	return moved;
}

double
qn_round_weights(qn_rounder *s, const double *w, const double *step, double lo, double hi,
		 bool descend, double *q)
{
	for (size_t i = 0; i < s->n; i++) {
		s->w[i] = w[s->order[i]];
		s->step[i] = step[s->order[i]];
	}
	round_one_after_the_other(s, lo, hi);
	double cost = cost_of(s);
	if (descend) {
		for (int k = 0; k < MOST_SWEEPS && sweep(s, lo, hi); k++)
			;
		cost = cost_of(s);
	}
	for (size_t i = 0; i < s->n; i++)
		q[s->order[i]] = s->q[i];
	return cost;
}

double
qn_rounding_cost(const qn_rounder *s, const double *w, const double *step, const double *q)
{
	double cost = 0;

	for (size_t i = 0; i < s->n; i++) {
		const size_t a = s->order[i];
		const double *row = s->h + i * s->n;
		double sum = 0;

		for (size_t j = 0; j < s->n; j++) {
			const size_t b = s->order[j];

			sum += row[j] * (w[b] - q[b] * step[b]);
		}
		cost += sum * (w[a] - q[a] * step[a]);
	}
	return cost;
}
