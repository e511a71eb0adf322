/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_shared.c - what steps all over a network read comes first, with all that it needs.
 *
 *   norm_1  cosine  q_1 = norm_1 * cosine  norm_2  q_2 = norm_2 * cosine …
 *   cosine  norm_1  q_1 = norm_1 * cosine  norm_2  q_2 = norm_2 * cosine …
 *
 * So the first of the blocks that share it is as the others are, and emit_repeats.c makes one function of all.  That is less
 * code, but not faster: gcc inlines kernels that have one call into this function, and their loops get fewer registers
 * (7 percent more instructions in a language model of five blocks on a Cortex-M4).  So it is for the goal size.  The bytes are
 * taken for longer: plan.c keeps the order that needs less memory once steps are joined. */
#include "codegen/schedule.h"

#include "ir/loops.h"

enum { READERS = 3 }; /* two are what an add of two branches has */
enum { SPAN = 3 };    /* the steps from the first reader to the last one: more than 1/3 of all */

typedef struct shared {
	const qn_graph *g;
	const qn_step *step;
	size_t n;
	const uint32_t *of; /* by value: its step plus 1 */
	bool *moves;        /* by step */
} shared;

/* Who reads the result of a step. */
typedef struct readers {
	size_t n, first, last;
} readers;

static void
count_readers(const shared *s, readers *by)
{
	for (size_t i = s->n; i-- > 0;)
		for (uint32_t j = 0; j < s->step[i].nin; j++) {
			const uint32_t of = s->of[s->step[i].in[j]];
			readers *r = of != 0 ? &by[of - 1] : NULL;

			if (r == NULL)
				continue;
			r->last = r->n++ == 0 ? i : r->last;
			r->first = i;
		}
}

/* What is shared, and all that it needs, which in a loop cannot move. */
static void
find_moves(shared *s, qn_arena *a)
{
	const qn_loops loops = qn_loops_find(s->g, a);
	readers *by = QN_NEW(a, readers, s->n + 1);

	count_readers(s, by);
	for (size_t i = s->n; i-- > 0;) {
		const qn_step *t = &s->step[i];

		s->moves[i] |= by[i].n >= READERS && SPAN * (by[i].last - by[i].first) > s->n;
		s->moves[i] &= loops.n == 0 || loops.with[t->node] == 0;
		for (uint32_t j = 0; s->moves[i] && j < t->nin; j++)
			if (s->of[t->in[j]] != 0)
				s->moves[s->of[t->in[j]] - 1] = true;
	}
	/* what needs something that cannot move stays */
	for (size_t i = 0; i < s->n; i++)
		for (uint32_t j = 0; j < s->step[i].nin; j++)
			s->moves[i] &= s->of[s->step[i].in[j]] == 0 ||
				       s->moves[s->of[s->step[i].in[j]] - 1];
}

/* Whether a step that moves comes after one that does not. */
static bool
any_moves(const shared *s)
{
	size_t i = 0;

	while (i < s->n && s->moves[i])
		i++;
	while (i < s->n && !s->moves[i])
		i++;
	return i < s->n;
}

qn_step *
qn_schedule_shared_first(const qn_graph *g, const qn_step *step, size_t nstep, qn_arena *a)
{
	qn_arena *tmp = qn_arena_child(a);
	shared s = {.g = g,
		    .step = step,
		    .n = nstep,
		    .of = qn_step_of(g, step, nstep, tmp),
		    .moves = QN_NEW(tmp, bool, nstep + 1)};
	qn_step *out = NULL;
	size_t n = 0;

	find_moves(&s, tmp);
	if (any_moves(&s)) {
		out = QN_NEW(a, qn_step, nstep);
		for (int moves = 1; moves >= 0; moves--)
			for (size_t i = 0; i < nstep; i++)
				if (s.moves[i] == (moves != 0))
					out[n++] = step[i];
	}
	qn_arena_release(tmp);
	return out;
}
