/* SPDX-License-Identifier: Apache-2.0 */
/* optimize.c - which steps have kernels that are fast, and which plain ones.
 *
 *   speed      the first kernel of the table that fits
 *   size       plain ones: constants as they are, the least code
 *   balanced   as speed, while constants stay within 6/5 and scratch within 9/8 of those of plain
 *              kernels (and 256 bytes), and both within the caller's budgets; else the steps that pay most for it get
 *              plain kernels
 *
 * A fast kernel pads its constants to its blocks, which is little for a layer of 64 channels and five
 * times the bytes for one of three. */
#include <string.h>

#include "codegen/kernel_table.h"
#include "codegen/schedule.h"
#include "codegen/strips.h"
#include "ir/diag.h"

const char *const qn_optimize_names[QN_NOPTIMIZE] = {"balanced", "speed", "size"};

qn_status
qn_optimize_find(qn_env *env, const char *name, qn_optimize *out)
{
	*out = QN_OPTIMIZE_BALANCED;
	if (name == NULL)
		return QN_OK;
	while (*out < QN_NOPTIMIZE && strcmp(qn_optimize_names[*out], name) != 0)
		(*out)++;
	return *out < QN_NOPTIMIZE
		       ? QN_OK
		       : qn_report(env, QN_EUSAGE, "optimize.unknown", "",
				   "unknown optimize '%s'; known are balanced, speed, size", name);
}

enum { SLACK = 256 }; /* bytes that do not matter, in networks of a few layers */

static const char of_size[] = "plain kernels are asked for (size)";
static const char too_many_constants[] = "it would add the most constants where they are over 6/5 "
					 "of those of plain kernels, or over the "
					 "budget";
static const char too_much_scratch[] = "with its working memory scratch would be over 9/8 of that "
				       "of plain kernels, or over the budget";

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

/* The fast step with the most constants above those of its plain kernel; NULL: none has more. */
static const qn_step *
dearest(const qn_plan *p, const qn_plan *plain, qn_arena *a)
{
	size_t *bytes = QN_NEW(a, size_t, p->g->n);
	const qn_step *found = NULL;
	size_t most = 0;

	for (size_t i = 0; i < plain->nstep; i++)
		bytes[plain->step[i].core] = plain->step[i].constant_bytes;
	for (size_t i = 0; i < p->nstep; i++) {
		const qn_step *s = &p->step[i];

		if (is_fast(s) && s->constant_bytes > bytes[s->core] + most) {
			most = s->constant_bytes - bytes[s->core];
			found = s;
		}
	}
	return found;
}

/* The fast step while which most of scratch is in use; NULL: it has no working memory. */
static const qn_step *
fullest(const qn_plan *p)
{
	const qn_step *s = p->nstep > 0 ? &p->step[p->fullest] : NULL;

	return s != NULL && is_fast(s) && s->work > 0 ? s : NULL;
}

/* Why each node's step has a plain kernel, one reason for all. */
static const char **
for_all(const qn_plan *p, const char *why, qn_arena *a)
{
	const char **all = QN_NEW(a, const char *, p->g->n);

	for (qn_id id = 1; id < p->g->n; id++)
		all[id] = why;
	return all;
}

/* Gives steps plain kernels until the plan is within the limits; *found: that came to pass. */
static qn_status
fit(const qn_plan *fast, const qn_plan *plain, const limits *l, const char **why, qn_arena *a,
    bool *found)
{
	const qn_plan *p = fast;

	while (!is_within(p, l)) {
		const bool constants = p->weight_bytes > l->weights;
		const qn_step *s = constants ? dearest(p, plain, a) : fullest(p);
		qn_plan *next;

		if (s == NULL)
			return QN_OK;
		why[s->core] = constants ? too_many_constants : too_much_scratch;
		QN_TRY(qn_plan_with(fast, why, a, &next));
		p = next;
	}
	*found = true;
	return QN_OK;
}

/* *why NULL: the fast plan is the one.  Plans that are tried are in arena tmp. */
static qn_status
balance(const qn_plan *fast, const qn_plan_opts *o, qn_arena *a, qn_arena *tmp, const char ***why)
{
	const char **some = QN_NEW(a, const char *, fast->g->n);
	const char **all = for_all(fast, too_many_constants, a);
	bool found = false;
	qn_plan *plain;

	*why = NULL;
	if (!can_cost(fast))
		return QN_OK;
	QN_TRY(qn_plan_with(fast, all, tmp, &plain));
	const limits l = {
		limit(plain->scratch_bytes + plain->scratch_bytes / 8 + SLACK, o->max_scratch),
		limit(plain->weight_bytes + plain->weight_bytes / 5 + SLACK, o->max_weights)};
	if (is_within(fast, &l))
		return QN_OK;
	QN_TRY(fit(fast, plain, &l, some, tmp, &found));
	*why = found ? some : is_within(plain, &l) ? all : NULL;
	return QN_OK;
}

qn_status
qn_plan_make(const qn_graph *g, const char *name, const qn_plan_opts *o, qn_arena *a, qn_plan **out)
{
	qn_arena *tmp = qn_arena_child(a);
	const char **why = NULL;
	qn_status status;

	*out = NULL;
	status = qn_plan_fast(g, name, o->target, a, out);
	if (status == QN_OK && o->optimize == QN_OPTIMIZE_BALANCED)
		status = balance(*out, o, a, tmp, &why);
	else if (status == QN_OK && o->optimize == QN_OPTIMIZE_SIZE)
		why = for_all(*out, of_size, a);
	if (status == QN_OK && why != NULL)
		status = qn_plan_with(*out, why, a, out);
	if (status == QN_OK)
		status = qn_strips_choose(out, a);
	if (status == QN_OK)
		(*out)->optimize = o->optimize;
	qn_arena_release(tmp);
	return status;
}
