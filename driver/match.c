/* SPDX-License-Identifier: Apache-2.0 */
/* match.c - asks the values of a graph whether a pattern of the host's matches, and reads
 * matches. */
#include <string.h>

#include "driver/host_struct.h"
#include "driver/pattern.h"

typedef struct match_call {
	const qn_pattern *p;
	const qn_graph *g;
	qn_id value;
	const qn_match_opts *opts;
	qn_match_fn *fn;
	void *user;
	size_t count;
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
ask(match_call *c, qn_matcher *s, qn_id id, bool *stop)
{
	qn_match m;

	if (qn_match_at(s, c->g, &c->p->pat, id, &m)) {
		c->count++;
		*stop = c->fn != NULL && c->fn(c->user, &m) != 0;
	}
	if (!qn_matcher_gave_up(s))
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
				 "value %u of a graph that has %u", c->value, c->g->n - 1);
	if (c->value != 0)
		return ask(c, s, c->value, &stop);
	for (qn_id id = c->g->n - 1; id > 0 && !stop; id--)
		QN_TRY(ask(c, s, id, &stop));
	return QN_OK;
}

qn_status
qn_pattern_match(const qn_pattern *p, qn_graph *g, qn_id v, const qn_match_opts *opts,
		 qn_match_fn *fn, void *user, size_t *count)
{
	match_call c = {p, g, v, opts, fn, user, 0};
	qn_status status = qn_guard(qn_pattern_ctx(p), match, &c);

	if (count != NULL)
		*count = c.count;
	return status;
}

/* ---- reading a match ---- */

qn_id
qn_match_root(const qn_match *m)
{
	return m->root;
}

qn_id
qn_match_value(const qn_match *m, const qn_pattern *p, size_t i)
{
	const qn_id *first = NULL;

	if (p == NULL || p->pat.slot == QN_NO_SLOT)
		return 0;
	for (size_t k = 0; k < m->nbound; k++) {
		const qn_bound *b = &m->bound[k];

		if (b->kind != QN_BOUND_SLOT || b->pat->slot != p->pat.slot)
			continue;
		if (first != NULL && *first == b->value)
			continue; /* another mention of the first */
		first = first != NULL ? first : &b->value;
		if (i-- == 0)
			return b->value;
	}
	return 0;
}

static const char *
name_of(const qn_bound *b)
{
	const qn_pattern *p = (const qn_pattern *)(const void *)b->pat; /* the first member */

	return b->kind == QN_BOUND_SLOT ? qn_pattern_slot_name(p) : NULL;
}

/* Whether binding k says again what the slot's first one said. */
static bool
is_repeated(const qn_match *m, size_t k)
{
	for (size_t i = 0; i < k; i++)
		if (m->bound[i].kind == QN_BOUND_SLOT && m->bound[i].is_first &&
		    m->bound[i].pat->slot == m->bound[k].pat->slot)
			return m->bound[i].value == m->bound[k].value &&
			       m->bound[i].graph == m->bound[k].graph;
	return false;
}

qn_binding
qn_match_binding(const qn_match *m, size_t i)
{
	for (size_t k = 0; k < m->nbound; k++) {
		const qn_bound *b = &m->bound[k];

		if (name_of(b) == NULL || (!b->is_first && is_repeated(m, k)))
			continue;
		if (i-- == 0)
			return (qn_binding){name_of(b), b->value, b->graph};
	}
	return (qn_binding){0};
}

qn_id
qn_match_get(const qn_match *m, const char *name)
{
	for (size_t k = 0; k < m->nbound; k++)
		if (name_of(&m->bound[k]) != NULL && strcmp(name_of(&m->bound[k]), name) == 0)
			return m->bound[k].value;
	return 0;
}
