/* SPDX-License-Identifier: Apache-2.0 */
/* elementwise.c - walks two operands that are broadcast, in runs as long as can be.
 *
 *   x [4096, 16]  y [16]     y is written out 64 times, then 64 runs of 1024 elements
 *   x [4096, 16]  y [1]      the same with 1024 copies of one element */
#include "runtime/elementwise.h"

#include <string.h>

#include "runtime/broadcast.h"

enum { ROOM = 1024 }; /* floats of an operand that is written out */

/* Copies of from [unit], as many as fit and are wanted; how many floats that are. */
static int64_t
repeat(const float *from, int64_t unit, int64_t wanted, float *room)
{
	int64_t most = ROOM / unit * unit;
	int64_t n = wanted < most ? wanted : most;

	memcpy(room, from, (size_t)unit * sizeof *room);
	for (int64_t have = unit; have < n;) {
		int64_t more = have < n - have ? have : n - have;

		memcpy(room + have, room, (size_t)more * sizeof *room);
		have += more;
	}
	return n;
}

/* Whether the operand with these strides repeats while the other one is read in order.  Then *unit
 * elements of it repeat, and the last axis of *wide is the whole run. */
static bool
repeats(const qn_broadcast *b, const int64_t *own, const int64_t *other, int64_t *unit,
	qn_broadcast *wide)
{
	int32_t last = b->rank - 1;

	*wide = *b;
	*unit = 1;
	if (own[last] == 0 && other[last] == 1)
		return true;
	if (last == 0 || own[last] != 1 || other[last] != 1 || own[last - 1] != 0 ||
	    other[last - 1] != b->dim[last] || b->dim[last] > ROOM / 2)
		return false;
	*unit = b->dim[last];
	wide->rank--;
	wide->dim[last - 1] *= *unit;
	return true;
}

typedef struct walk {
	qn_run_fn *run;
	const qn_simd *simd;
	const float *x, *y;
	char *z;
	size_t size; /* bytes of an element of z */
} walk;

static void
walk_repeating(walk w, const qn_broadcast *b, int64_t unit, bool second)
{
	float room[ROOM];
	int64_t at[QN_MAX_RANK] = {0};
	int64_t xo = 0, yo = 0, total = b->dim[b->rank - 1];

	do {
		int64_t length = repeat(second ? w.y + yo : w.x + xo, unit, total, room);

		for (int64_t i = 0; i < total; i += length) {
			int64_t n = total - i < length ? total - i : length;

			w.run(w.simd, second ? w.x + xo + i : room, 1, second ? room : w.y + yo + i,
			      1, w.z, n);
			w.z += (size_t)n * w.size;
		}
	} while (qn_broadcast_next(b, at, &xo, &yo));
}

void
qn_each_run(const qn_eval *e, qn_run_fn *run)
{
	walk w = {run, qn_simd_of(e), e->in[0], e->in[1], e->out, qn_elem_bytes(e->n->type->elem)};
	int64_t at[QN_MAX_RANK] = {0};
	int64_t xo = 0, yo = 0, unit;
	qn_broadcast b, wide;

	if (qn_static_count(e->n->type) == 0)
		return;
	qn_broadcast_make(qn_in_type(e->g, e->n, 0), qn_in_type(e->g, e->n, 1), e->n->type, &b);
	int32_t last = b.rank - 1;
	if (repeats(&b, b.ys, b.xs, &unit, &wide)) {
		walk_repeating(w, &wide, unit, true);
		return;
	}
	if (repeats(&b, b.xs, b.ys, &unit, &wide)) {
		walk_repeating(w, &wide, unit, false);
		return;
	}
	do {
		run(w.simd, w.x + xo, b.xs[last], w.y + yo, b.ys[last], w.z, b.dim[last]);
		w.z += (size_t)b.dim[last] * w.size;
	} while (qn_broadcast_next(&b, at, &xo, &yo));
}
