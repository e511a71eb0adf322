/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.c - passes over the samples and the merging of their parts (statistics.h). */
#include "calibrate/statistics.h"

#include <string.h>

#include "ir/diag.h"

qn_seen
qn_statistics_seen(const qn_statistics *s, size_t i)
{
	const qn_value_stats *v = &s->value[i];

	return (qn_seen){&s->method,   &v->o,   s->nbatch, s->batch,
			 v->symmetric, v->qmin, v->qmax,   v->name};
}

bool
qn_statistics_complete(const qn_statistics *s)
{
	return s->nspan == 1 && s->span[0].first == 0 && s->span[0].last == s->nbatch;
}

/* The bins of value i in pass s->pass. */
static qn_bins
plan(const qn_statistics *s, size_t i, const qn_bins *before)
{
	const qn_seen seen = qn_statistics_seen(s, i);
	qn_bins b = {0};

	if (s->method.method->plan != NULL)
		s->method.method->plan(&seen, s->pass, before, &b);
	return b;
}

uint64_t
qn_statistics_plan_bytes(const qn_statistics *s)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < s->n; i++)
		bytes += plan(s, i, NULL).n * sizeof(uint64_t);
	return bytes;
}

void
qn_statistics_plan(qn_statistics *s, qn_arena *a, const qn_bins *before)
{
	for (size_t i = 0; i < s->n; i++) {
		qn_bins b = plan(s, i, before != NULL ? &before[i] : NULL);

		b.count = b.n > 0 ? QN_NEW(a, uint64_t, b.n) : NULL;
		s->value[i].o.fine = b;
		s->value[i].o.again = s->pass > 0;
	}
}

/* ---- passes ---- */

static qn_status
check_complete(qn_env *env, const qn_statistics *s)
{
	/* spans are in order, with a gap before each but one that begins at 0 */
	const size_t next = s->nspan > 0 && s->span[0].first == 0;
	const uint64_t first = next > 0 ? s->span[0].last : 0;
	const uint64_t last = next < s->nspan ? s->span[next].first : s->nbatch;

	if (qn_statistics_complete(s))
		return QN_OK;
	return qn_report(env, QN_EINVALID, "stats.incomplete", s->model,
			 "the statistics miss samples %llu to %llu of %llu in pass %u; calibrate "
			 "the missing shards and merge them",
			 (unsigned long long)(first * s->batch),
			 (unsigned long long)(last * s->batch - 1),
			 (unsigned long long)(s->nbatch * s->batch), s->pass + 1);
}

qn_status
qn_statistics_next(qn_env *env, qn_arena *a, qn_statistics *s)
{
	QN_TRY(check_complete(env, s));
	if (s->pass + 1 >= s->method.method->passes)
		return qn_report(env, QN_EUSAGE, "stats.done", s->model,
				 "the statistics are complete: the method %s needs no further pass",
				 s->method.method->name);
	qn_bins *before = QN_NEW(a, qn_bins, s->n);
	for (size_t i = 0; i < s->n; i++)
		before[i] = s->value[i].o.fine;
	s->pass++;
	s->nspan = 0;
	qn_statistics_plan(s, a, before);
	return QN_OK;
}

qn_status
qn_statistics_check_done(qn_env *env, const qn_statistics *s)
{
	QN_TRY(check_complete(env, s));
	if (s->pass + 1 < s->method.method->passes)
		return qn_report(
			env, QN_EINVALID, "stats.pass", s->model,
			"the method %s takes %u passes over the samples, and this is pass %u; "
			"continue with quern calibrate MODEL --calib … --stats FILE.json",
			s->method.method->name, s->method.method->passes, s->pass + 1);
	return QN_OK;
}

/* ---- merging ---- */

static qn_status
mismatch(qn_env *env, const char *name, const char *what)
{
	return qn_report(env, QN_EINVALID, "stats.mismatch", name,
			 "differs from the previous statistics in %s; only parts of one "
			 "calibration can be merged",
			 what);
}

static bool
same_bits(float a, float b)
{
	/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): 0 and -0 differ, NaN is itself */
	return memcmp(&a, &b, sizeof a) == 0;
}

static bool
same_method(const qn_method_opts *a, const qn_method_opts *b)
{
	/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bits are compared */
	return a->method == b->method && memcmp(a->param, b->param, sizeof a->param) == 0;
}

static bool
same_data(const qn_statistics *a, const qn_statistics *b)
{
	if (a->ndata != b->ndata || a->nbatch != b->nbatch || a->batch != b->batch)
		return false;
	for (size_t i = 0; i < a->ndata; i++)
		if (strcmp(a->data[i], b->data[i]) != 0)
			return false;
	return true;
}

static bool
same_quarters(const qn_observer *x, const qn_observer *y)
{
	bool same = true;

	for (size_t k = 0; k < QN_QUARTERS; k++)
		same = same && x->has_quarter[k] == y->has_quarter[k] &&
		       (!x->has_quarter[k] || (same_bits(x->quarter[k].min, y->quarter[k].min) &&
					       same_bits(x->quarter[k].max, y->quarter[k].max)));
	return same;
}

/* Whether two values hold the same things, so that they add up. */
static bool
same_value(const qn_value_stats *a, const qn_value_stats *b)
{
	const qn_observer *x = &a->o, *y = &b->o;
	bool first = !x->again; /* later passes begin with the same whole of the first */

	return strcmp(a->name, b->name) == 0 && a->symmetric == b->symmetric &&
	       a->qmin == b->qmin && a->qmax == b->qmax && (x->bin == NULL) == (y->bin == NULL) &&
	       (x->pair == NULL) == (y->pair == NULL) && x->fine.kind == y->fine.kind &&
	       x->fine.n == y->fine.n && x->fine.prefix == y->fine.prefix &&
	       x->fine.below == y->fine.below &&
	       (first || (x->n == y->n && same_bits(x->min, y->min) && same_bits(x->max, y->max) &&
			  same_quarters(x, y)));
}

/* A span of the result: where it comes from, and what stands before it there. */
typedef struct piece {
	qn_span span;
	bool from;
	uint64_t before;
} piece;

/* Both lists of spans as one, in ascending order. */
static piece *
join_spans(qn_arena *a, const qn_statistics *x, const qn_statistics *y)
{
	piece *all = QN_NEW(a, piece, x->nspan + y->nspan);
	uint64_t done[2] = {0, 0};
	size_t i = 0, j = 0;

	while (i < x->nspan || j < y->nspan) {
		bool from = i == x->nspan || (j < y->nspan && y->span[j].first < x->span[i].first);
		qn_span s = from ? y->span[j++] : x->span[i++];

		all[i + j - 1] = (piece){s, from, done[from]};
		done[from] += s.last - s.first;
	}
	return all;
}

static void
merge_pairs(qn_arena *a, qn_observer *o, const qn_observer *other, const piece *all, size_t n,
	    uint64_t covered)
{
	qn_pair_range *to = QN_NEW(a, qn_pair_range, (size_t)covered);
	const qn_pair_range *from[] = {o->pair, other->pair};

	o->pair = to;
	for (size_t i = 0; i < n; i++) {
		size_t len = (size_t)(all[i].span.last - all[i].span.first);

		memcpy(to, from[all[i].from] + all[i].before, len * sizeof *to);
		to += len;
	}
}

static qn_status
check_same(qn_env *env, const qn_statistics *into, const char *name, const qn_statistics *from)
{
	if (into->hash != from->hash || into->n != from->n)
		return mismatch(env, name, "the model (or in options that change it)");
	if (!same_method(&into->method, &from->method))
		return mismatch(env, name, "the method");
	if (!same_data(into, from))
		return mismatch(env, name, "the samples: all shards must have the same files");
	if (into->pass != from->pass)
		return mismatch(env, name, "the pass");
	for (size_t i = 0; i < into->n; i++)
		if (!same_value(&into->value[i], &from->value[i]))
			return mismatch(env, name, "what was observed");
	return QN_OK;
}

qn_status
qn_statistics_merge(qn_env *env, qn_arena *a, qn_statistics *into, const char *name,
		    const qn_statistics *from)
{
	size_t n = into->nspan + from->nspan, used = 0;
	qn_span *span = QN_NEW(a, qn_span, n);
	uint64_t covered = 0;

	QN_TRY(check_same(env, into, name, from));
	const piece *all = join_spans(a, into, from);
	for (size_t i = 0; i < n; i++) {
		qn_span s = all[i].span;

		if (used > 0 && s.first < span[used - 1].last)
			return qn_report(env, QN_EINVALID, "stats.overlap", name,
					 "sample %llu is in more than one of the files",
					 (unsigned long long)(s.first * into->batch));
		if (used > 0 && s.first == span[used - 1].last)
			span[used - 1].last = s.last;
		else
			span[used++] = s;
		covered += s.last - s.first;
	}
	for (size_t i = 0; i < into->n; i++) {
		qn_observer *o = &into->value[i].o;

		if (o->pair != NULL)
			merge_pairs(a, o, &from->value[i].o, all, n, covered);
		qn_observer_merge(o, &from->value[i].o);
	}
	into->span = span;
	into->nspan = used;
	return QN_OK;
}
