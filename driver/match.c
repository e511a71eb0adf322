/* SPDX-License-Identifier: Apache-2.0 */
/* match.c - matches a custom pattern at the values of a graph, and reads
 * matches. */
#include <string.h>

#include "driver/host_struct.h"
#include "driver/pattern.h"
#include "patterns/memo.h"
#include "patterns/reading.h"

typedef struct match_call {
	const qn_pattern *p;
	const qn_graph *g;
	qn_id value;
	const qn_match_opts *opts;
	qn_match_fn *fn;
	void *user;
	size_t count;
	qn_reading reading; /* of each match */
} match_call;

qn_status
qn_matcher_like(qn_arena *a, const qn_match_opts *opts, qn_matcher **out)
{
	qn_match_opts known;

	QN_TRY(QN_TAKE(a->env, qn_match_opts, opts, &known));
	*out = qn_matcher_new(a, known.flags);
	if (known.steps > 0)
		qn_matcher_set_limit(*out, known.steps);
	return QN_OK;
}

/* *stop: the host has seen enough. */
static qn_status
ask(match_call *c, qn_matcher *s, qn_arena *a, qn_id id, bool *stop)
{
	qn_match m;

	if (qn_match_is(s, c->g, &c->p->pat, id, &m)) {
		qn_reading r = c->reading;

		r.arena = qn_arena_child(a);
		r.matcher = s;
		m.reading = &r;
		c->count++;
		*stop = c->fn != NULL && c->fn(c->user, &m) != 0;
		qn_arena_release(r.arena);
	}
	if (!qn_matcher_exhausted(s))
		return QN_OK;
	return qn_matcher_report(s, c->g, id);
}

static qn_status
match(void *arg, qn_arena *scratch)
{
	match_call *c = arg;
	qn_matcher *s;
	bool stop = false;

	QN_TRY(qn_matcher_like(scratch, c->opts, &s));
	if (c->value >= c->g->n)
		return qn_report(scratch->env, QN_EUSAGE, "graph.value.undefined", "",
				 "value %u, but the graph has %u values", c->value, c->g->n - 1);
	c->reading = (qn_reading){.pat = &c->p->pat};
	c->reading.count = qn_memo_counts(scratch, &c->p->pat, &c->reading.ncount);
	for (size_t k = 0; k < c->reading.ncount; k++)
		if (c->reading.count[k] != QN_MEMO_ONE && c->p->set->name[k] != NULL)
			c->reading.several = true;
	if (c->value != 0)
		return ask(c, s, scratch, c->value, &stop);
	for (qn_id id = c->g->n - 1; id > 0 && !stop; id--)
		QN_TRY(ask(c, s, scratch, id, &stop));
	return QN_OK;
}

qn_status
qn_pattern_match(const qn_pattern *p, qn_graph *g, qn_id v, const qn_match_opts *opts,
		 qn_match_fn *fn, void *user, size_t *count)
{
	QN_TRY(QN_GIVEN(p != NULL ? qn_pattern_ctx(p) : NULL, g));
	match_call c = {.p = p, .g = g, .value = v, .opts = opts, .fn = fn, .user = user};
	qn_status status = qn_guard(qn_pattern_ctx(p), match, &c);

	if (count != NULL)
		*count = c.count;
	return status;
}

/* ---- reading a match ---- */

qn_id
qn_match_root(const qn_match *m)
{
	if (m == NULL)
		return 0;
	return m->root;
}

qn_id
qn_match_value(const qn_match *m, const qn_pattern *p, size_t i)
{
	if (m == NULL || p == NULL || p->pat.slot == QN_NO_SLOT)
		return 0;
	const size_t k = (size_t)p->pat.slot;
	const bool all = qn_reading_count(m->reading, (int)k) != QN_MEMO_ONE;
	const qn_reading *r = qn_reading_of(m, all);
	if (k >= r->nslot || i >= r->end[k] - r->first[k])
		return 0;
	return r->value[r->first[k] + i]->value;
}

qn_binding
qn_match_binding(const qn_match *m, size_t i)
{
	if (m == NULL)
		return (qn_binding){0};
	const qn_reading *r = qn_reading_of(m, m->reading->several);

	if (i >= r->ntold)
		return (qn_binding){0};
	const qn_bound *b = r->told[i];
	return (qn_binding){qn_reading_name(b), b->value, b->graph};
}

/* Whether a part of this name stands on the path of a dominator: only a reading of all knows its first
 * value. */
static bool
is_on_path(const qn_reading *r, const char *name)
{
	if (r->matcher == NULL)
		return false;
	const qn_pattern *p = (const qn_pattern *)(const void *)r->pat; /* the first member */
	for (size_t k = 0; k < r->ncount; k++)
		if (r->count[k] == QN_MEMO_ON_PATH && p->set->name[k] != NULL &&
		    strcmp(p->set->name[k], name) == 0)
			return true;
	return false;
}

qn_id
qn_match_get(const qn_match *m, const char *name)
{
	if (m == NULL || name == NULL)
		return 0;
	const qn_reading *r = qn_reading_of(m, is_on_path(m->reading, name));

	for (size_t i = 0; i < r->ntold; i++)
		if (strcmp(qn_reading_name(r->told[i]), name) == 0)
			return r->told[i]->value;
	return 0;
}
