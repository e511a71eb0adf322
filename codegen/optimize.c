/* SPDX-License-Identifier: Apache-2.0 */
/* optimize.c - which steps have kernels that are fast, and which plain ones.
 *
 *   speed      the fastest kernel of the table that fits
 *   size       plain ones: constants as they are, the least code
 *   balanced   as speed, while constants stay within 6/5 and the arena within 9/8 of those of plain
 *              kernels (and 256 bytes), and both within the caller's budgets; else some steps get the
 *              next kernel that fits and has fewer constants, and the next of those, until they do
 *
 * A fast kernel pads its constants to its blocks, which is little for a layer of 64 channels and five
 * times the bytes for one of three, or has others of its own.  Those that give up the fewest instructions
 * for the bytes that they save are the first to go; where that is not known of a kernel, those that save
 * the most. */
#include <stdlib.h>
#include <string.h>

#include "codegen/kernel_table.h"
#include "codegen/schedule.h"
#include "codegen/strips.h"
#include "ir/diag.h"
#include "ir/nearest.h"

const char *const qn_optimize_names[QN_NOPTIMIZE] = {"balanced", "speed", "size"};

qn_status
qn_optimize_find(qn_env *env, const char *name, qn_optimize *out)
{
	*out = QN_OPTIMIZE_BALANCED;
	if (name == NULL)
		return QN_OK;
	while (*out < QN_NOPTIMIZE && strcmp(qn_optimize_names[*out], name) != 0)
		(*out)++;
	if (*out < QN_NOPTIMIZE)
		return QN_OK;
	const char *best = qn_nearest_name(name, QN_NOPTIMIZE, qn_optimize_names);
	return qn_report(
		env, QN_EUSAGE, "optimize.unknown", "",
		"invalid value '%s' of optimize (expected balanced, speed or size)" QN_DID_YOU_MEAN,
		name, QN_SUGGEST(best));
}

enum { SLACK = 256 }; /* bytes that do not matter, in networks of a few layers */

static const char of_size[] = "plain kernels are requested (optimize size)";
static const char too_much_scratch[] = "with its working memory the activation arena would exceed "
				       "9/8 of that of plain kernels, or the budget";

typedef struct limits {
	size_t scratch, weights;
} limits;

static size_t
limit(size_t balanced, size_t budget)
{
	return budget > 0 && budget < balanced ? budget : balanced;
}

static bool
is_within(const qn_plan *p, const limits *l)
{
	return p->scratch_bytes <= l->scratch && p->weight_bytes <= l->weights;
}

static bool
is_fast(const qn_step *s)
{
	return s->kernel != NULL && s->kernel->needs != 0;
}

/* A fast kernel may have more constants or working memory than the plain one. */
static bool
can_cost(const qn_plan *p)
{
	for (size_t i = 0; i < p->nstep; i++)
		if (is_fast(&p->step[i]) &&
		    (p->step[i].kernel->pack != NULL || p->step[i].kernel->work != NULL))
			return true;
	return false;
}

/* A step with the next kernel that fits it and has fewer constants. */
typedef struct saving {
	const qn_step *step;
	size_t bytes;
	uint64_t rate; /* instructions for 16 bytes */
	bool taken;
} saving;

/* Those that give up the least first, and the most of these. */
static int
by_rate(const void *a, const void *b)
{
	const saving *x = a, *y = b;

	if (x->rate != y->rate)
		return x->rate < y->rate ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->step->core < y->step->core ? -1 : 1;
}

static uint64_t
rate_of(const qn_step *s, const qn_step *next, size_t bytes)
{
	if (s->cost == 0 || next->cost == 0)
		return UINT64_MAX;
	return next->cost > s->cost ? (next->cost - s->cost) / (bytes / 16 + 1) : 0;
}

/* The steps of a plan by core node. */
static const qn_step **
by_core(const qn_plan *p, qn_arena *a)
{
	const qn_step **step = QN_NEW(a, const qn_step *, p->g->n);

	for (size_t i = 0; i < p->nstep; i++)
		step[p->step[i].core] = &p->step[i];
	return step;
}

/* The steps of p that save constants in the plan `next`, by rate. */
static size_t
find_savings(const qn_plan *p, const qn_plan *next, saving *to, qn_arena *a)
{
	const qn_step **other = by_core(next, a);
	size_t n = 0;

	for (size_t i = 0; i < p->nstep; i++) {
		const qn_step *s = &p->step[i], *o = other[s->core];

		if (!is_fast(s) || o == NULL || o->constant_bytes >= s->constant_bytes)
			continue;
		const size_t bytes = s->constant_bytes - o->constant_bytes;
		to[n++] = (saving){.step = s, .bytes = bytes, .rate = rate_of(s, o, bytes)};
	}
	if (n > 0)
		qsort(to, n, sizeof(*to), by_rate);
	return n;
}

/* Takes savings until they are `wanted` bytes or more, and none of those that are not needed then. */
static void
take_savings(saving *s, size_t n, size_t wanted)
{
	size_t saved = 0, taken = 0;

	while (taken < n && saved < wanted) {
		s[taken].taken = true;
		saved += s[taken++].bytes;
	}
	for (size_t i = taken; i-- > 0;)
		if (saved >= wanted && saved - wanted >= s[i].bytes) {
			s[i].taken = false;
			saved -= s[i].bytes;
		}
}

/* The fast step during which most of the arena is in use; NULL: it has no working memory. */
static const qn_step *
fullest(const qn_plan *p)
{
	const qn_step *s = p->nstep > 0 ? &p->step[p->fullest] : NULL;

	return s != NULL && is_fast(s) && s->work > 0 ? s : NULL;
}

/* Kernels that steps are not to have, by core node; in arena a. */
typedef struct choices {
	const qn_declined **declined;
	qn_arena *arena;
} choices;

static void
decline(choices *c, qn_id core, const struct qn_kernel *k, const char *why)
{
	const qn_declined d = {k, why, c->declined[core]};

	c->declined[core] = qn_arena_copy(c->arena, &d, sizeof(d));
}

static choices
choices_new(const qn_plan *p, qn_arena *a)
{
	return (choices){QN_NEW(a, const qn_declined *, p->g->n), a};
}

/* No step is to have any but a plain kernel, for one reason. */
static choices
plain_ones(const qn_plan *p, const char *why, qn_arena *a)
{
	choices c = choices_new(p, a);

	for (qn_id id = 1; id < p->g->n; id++)
		decline(&c, id, NULL, why);
	return c;
}

/* Declines kernels of `next` that are fast and have no fewer constants than those of p; false: there are none. */
static bool
decline_dearer(const qn_plan *p, const qn_plan *next, choices *c)
{
	const qn_step **other = by_core(next, c->arena);
	bool found = false;

	for (size_t i = 0; i < p->nstep; i++) {
		const qn_step *s = &p->step[i], *o = other[s->core];

		if (!is_fast(s) || o == NULL || !is_fast(o) ||
		    o->constant_bytes < s->constant_bytes)
			continue;
		decline(c, o->core, o->kernel, "");
		found = true;
	}
	return found;
}

/* Every fast step of p with its next kernel that has fewer constants, or a plain one: *next, whose choices are *once. */
static qn_status
plan_savings(const qn_plan *p, choices *once, qn_plan **next)
{
	for (size_t i = 0; i < p->nstep; i++)
		if (is_fast(&p->step[i]))
			decline(once, p->step[i].core, p->step[i].kernel, "");
	do
		QN_TRY(qn_plan_with(p, once->declined, once->arena, next));
	while (decline_dearer(p, *next, once));
	return QN_OK;
}

/* Declines for a step what the plan of its saving declines, beyond what it has declined before. */
static void
decline_for_saving(choices *c, const choices *once, qn_id core, const char *why)
{
	const qn_declined *had = c->declined[core];

	for (const qn_declined *d = once->declined[core]; d != had; d = d->next)
		decline(c, core, d->kernel, why);
}

/* Declines kernels of p whose next ones have fewer constants, as many as it takes; *found: there are such.
 * Plans that are tried are in arena tmp. */
static qn_status
save_constants(const qn_plan *p, const limits *l, choices *c, qn_arena *tmp, bool *found)
{
	choices once = choices_new(p, tmp);
	saving *s = QN_NEW(tmp, saving, p->nstep + 1);
	qn_plan *next;

	memcpy(once.declined, c->declined, p->g->n * sizeof(*once.declined));
	QN_TRY(plan_savings(p, &once, &next));
	const size_t n = find_savings(p, next, s, tmp);
	take_savings(s, n, p->weight_bytes - l->weights);
	*found = n > 0;
	for (size_t i = 0; i < n; i++) {
		qn_buf b;

		if (!s[i].taken)
			continue;
		qn_buf_init(&b, c->arena);
		qn_buff(&b,
			"with its constants, %zu bytes more, the constants would exceed 6/5 of "
			"those of plain kernels, or the budget",
			s[i].bytes);
		decline_for_saving(c, &once, s[i].step->core, qn_buf_str(&b));
	}
	return QN_OK;
}

/* Of the choices that were tried, that with the fewest bytes too many: none may keep the limits, and the
 * message names what this one needs. */
typedef struct nearest {
	size_t bytes;
	const qn_declined *const *declined;
} nearest;

static size_t
over(size_t have, size_t most)
{
	return have > most ? have - most : 0;
}

static void
note_tried(nearest *n, const qn_plan *p, const limits *l, const choices *c)
{
	const size_t bytes = over(p->scratch_bytes, l->scratch) + over(p->weight_bytes, l->weights);

	if (bytes < n->bytes)
		*n = (nearest){bytes, qn_arena_copy(c->arena, c->declined,
						    p->g->n * sizeof(*c->declined))};
}

/* A copy of the plan that has the arena of its steps joined (strips.h), as it will be emitted. */
static qn_status
as_joined(const qn_plan *p, const qn_plan_opts *o, qn_arena *tmp, const qn_plan **out)
{
	qn_plan *joined = qn_arena_copy(tmp, p, sizeof(*p)), *copy;

	QN_TRY(qn_strips_choose(&joined, o, tmp));
	copy = qn_arena_copy(tmp, p, sizeof(*p));
	copy->scratch_bytes = joined->scratch_bytes;
	*out = copy;
	return QN_OK;
}

/* Declines kernels of p until the plan, with the arena of its steps joined as p has it, is within the limits; *found:
 * that came to pass. */
static qn_status
fit(const qn_plan *p, const limits *l, const qn_plan_opts *o, choices *c, nearest *best,
    qn_arena *tmp, bool *found)
{
	bool some = true;

	while (!is_within(p, l)) {
		qn_plan *next;

		if (p->weight_bytes > l->weights) {
			QN_TRY(save_constants(p, l, c, tmp, &some));
		} else {
			const qn_step *s = fullest(p);

			some = s != NULL;
			if (some)
				decline(c, s->core, s->kernel, too_much_scratch);
		}
		if (!some)
			return QN_OK;
		QN_TRY(qn_plan_with(p, c->declined, tmp, &next));
		QN_TRY(as_joined(next, o, tmp, &p));
		note_tried(best, p, l, c);
	}
	*found = true;
	return QN_OK;
}

/* *out NULL: the fast plan is the one. */
static qn_status
balance(const qn_plan *fast, const qn_plan_opts *o, qn_arena *a, qn_arena *tmp,
	const qn_declined *const **out)
{
	static const char beyond[] =
		"with fast kernels the constants or the activation arena would exceed the limit";
	const choices all = plain_ones(fast, beyond, a);
	choices some = choices_new(fast, a);
	nearest best = {.bytes = SIZE_MAX};
	bool found = false;
	const qn_plan *joined, *least;
	qn_plan *plain;

	*out = NULL;
	if (!can_cost(fast))
		return QN_OK;
	QN_TRY(qn_plan_with(fast, all.declined, tmp, &plain));
	const limits l = {
		limit(plain->scratch_bytes + plain->scratch_bytes / 8 + SLACK, o->max_arena),
		limit(plain->weight_bytes + plain->weight_bytes / 5 + SLACK, o->max_weights)};
	QN_TRY(as_joined(fast, o, tmp, &joined));
	QN_TRY(as_joined(plain, o, tmp, &least));
	if (is_within(joined, &l))
		return QN_OK;
	note_tried(&best, joined, &l, &some);
	QN_TRY(fit(joined, &l, o, &some, &best, tmp, &found));
	note_tried(&best, least, &l, &all);
	*out = found ? some.declined : is_within(least, &l) ? all.declined : best.declined;
	return QN_OK;
}

qn_status
qn_plan_make(const qn_graph *g, const char *name, const qn_plan_opts *opts, qn_arena *a,
	     qn_plan **out)
{
	qn_arena *tmp = qn_arena_child(a);
	const qn_declined *const *declined = NULL;
	const size_t most = opts->target->most; /* of an object */
	qn_plan_opts within = *opts, *o = &within;
	qn_status status;

	*out = NULL;
	if (most > 0 && (o->max_arena == 0 || o->max_arena > most))
		o->max_arena = most;
	status = qn_plan_fast(g, name, o->target, a, out);
	if (status == QN_OK && o->optimize == QN_OPTIMIZE_BALANCED)
		status = balance(*out, o, a, tmp, &declined);
	else if (status == QN_OK && o->optimize == QN_OPTIMIZE_SIZE)
		declined = plain_ones(*out, of_size, a).declined;
	if (status == QN_OK && declined != NULL)
		status = qn_plan_with(*out, declined, a, out);
	if (status == QN_OK)
		status = qn_plan_order(out, o, a);
	if (status == QN_OK)
		status = qn_plan_check_sizes(*out, a);
	if (status == QN_OK)
		(*out)->optimize = o->optimize;
	qn_arena_release(tmp);
	return status;
}
