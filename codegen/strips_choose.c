/* SPDX-License-Identifier: Apache-2.0 */
/* strips_choose.c - which steps are joined with the readers of their results (strips.h), so that the activation arena gets
 * smaller.
 *
 *   step        1     2     3     4     5
 *   in use    18 k  55 k  28 k  55 k  12 k     the result of 2, which 3 reads, or that of 1 with it: whichever leaves less
 *
 * The first step at which most memory is in use is looked at, until no join there makes that less or moves it
 * to a later step.  Those that turn out not to matter are undone: joined steps call their kernels more often. */
#include <string.h>

#include "codegen/schedule.h"
#include "codegen/strips.h"

enum {
	MOST_PLACED = 1 << 15, /* steps, in all plans that are tried */
	ROOM = 16,             /* a part of the arena that more rows at once may take */
	LITTLE = 1024          /* bytes for which 500 of code and 150 of the stack are too many */
};

typedef struct search {
	const qn_plan *plan;    /* without joins */
	const qn_joinable *can; /* by core node */
	int32_t *join;          /* of the best plan so far (qn_strips_join) */
	const qn_plan *best;
	size_t placed;
	qn_arena *arena;
} search;

static bool
may_try(const search *s)
{
	return s->placed < MOST_PLACED;
}

/* The value in whose step most memory is in use first; that of a later step has a higher id. */
static qn_id
fullest_of(const qn_plan *p)
{
	return p->step[p->fullest].node;
}

static bool
is_better(const qn_plan *p, const qn_plan *than)
{
	return p->scratch_bytes < than->scratch_bytes ||
	       (p->scratch_bytes == than->scratch_bytes && fullest_of(p) > fullest_of(than));
}

/* The plan with other rows for one step. */
static qn_status
try_rows(search *s, qn_id core, int32_t rows, qn_plan **out)
{
	const int32_t now = s->join[core];

	s->join[core] = rows;
	s->placed += s->plan->nstep;
	const qn_status status = qn_plan_place_strips(s->plan, s->join, s->arena, out);
	s->join[core] = now;
	return status;
}

/* The last step that reads `read`, which step i or the one between makes. */
static size_t
last_of(const qn_plan *p, size_t i, qn_id read)
{
	while (i + 1 < p->nstep && p->step[i].node != read)
		i++;
	return p->step[i].last;
}

/* The best join of a result that is in memory at the fullest step; *found: it is better than none. */
static qn_status
join_one(search *s, bool *found)
{
	const qn_plan *now = s->best;
	qn_id best = 0;

	for (size_t i = 0; i <= now->fullest && may_try(s); i++) {
		const qn_step *step = &now->step[i];
		qn_plan *p = NULL;

		if (s->can[step->core].most == 0 || s->join[step->core] != 0 ||
		    last_of(now, i, s->can[step->core].read) < now->fullest)
			continue;
		QN_TRY(try_rows(s, step->core, 1, &p));
		if (is_better(p, s->best)) {
			s->best = p;
			best = step->core;
		}
	}
	*found = best != 0;
	if (*found)
		s->join[best] = 1;
	return QN_OK;
}

/* Undoes the joins that do not make the arena smaller, and those of convolutions that do not by much and that an
 * arena of at most `most` bytes (0: any) does without. */
static qn_status
keep_needed(search *s, size_t most)
{
	for (qn_id core = 1; core < s->plan->g->n && may_try(s); core++) {
		qn_plan *p = NULL;

		if (s->join[core] == 0)
			continue;
		QN_TRY(try_rows(s, core, 0, &p));
		const bool wanted = s->can[core].pool || (most > 0 && p->scratch_bytes > most);
		if (p->scratch_bytes > s->best->scratch_bytes + (wanted ? 0 : LITTLE))
			continue;
		s->join[core] = 0;
		s->best = p;
	}
	return QN_OK;
}

/* As many rows at once, by powers of 2, as the arena has room for: of at most `most` bytes (0: any), or of the least. */
static qn_status
make_more_at_once(search *s, size_t most)
{
	const size_t bytes = s->best->scratch_bytes;
	const size_t more = bytes + bytes / ROOM, within = most > bytes ? most : bytes;
	const size_t room = most > 0 && within < more ? within : more;

	for (int32_t rows = 2; may_try(s); rows *= 2) {
		bool any = false;

		for (qn_id core = 1; core < s->plan->g->n && may_try(s); core++) {
			qn_plan *p = NULL;

			if (s->join[core] != rows / 2 || rows > s->can[core].most / 2)
				continue;
			QN_TRY(try_rows(s, core, rows, &p));
			if (p->scratch_bytes > room)
				continue;
			s->join[core] = rows;
			any = true;
		}
		if (!any)
			break;
	}
	return QN_OK;
}

qn_status
qn_strips_choose(qn_plan **p, const qn_plan_opts *o, qn_arena *a)
{
	qn_arena *tmp = qn_arena_child(a);
	qn_joinable *can = QN_NEW(tmp, qn_joinable, (*p)->g->n);
	search s = {.plan = *p,
		    .can = can,
		    .join = QN_NEW(tmp, int32_t, (*p)->g->n),
		    .best = *p,
		    .arena = tmp};
	const bool convolutions = o->optimize != QN_OPTIMIZE_SPEED && !(*p)->target->is_host;
	bool found = qn_strips_find(*p, convolutions, can, tmp) > 0;
	qn_status status = QN_OK;

	while (found && status == QN_OK)
		status = join_one(&s, &found);
	if (status == QN_OK && s.best->scratch_bytes < (*p)->scratch_bytes) {
		status = keep_needed(&s, o->max_arena);
		if (status == QN_OK)
			status = make_more_at_once(&s, o->max_arena);
		if (status == QN_OK)
			status = qn_plan_strips(*p, s.join, a, p);
	}
	qn_arena_release(tmp);
	return status;
}
