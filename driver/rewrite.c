/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite.c - custom rules and partitions. */
#include "driver/host_struct.h"
#include "driver/pattern.h"
#include "ir/snapshot.h"
#include "patterns/cut.h"
#include "patterns/fixpoint.h"

/* Patterns of another context have sets, and slots, of their own. */
static qn_status
check_context(qn_model *m, const qn_pattern *p)
{
	if (p != NULL && qn_pattern_ctx(p) == qn_box(m)->ctx)
		return QN_OK;
	return qn_report(m->env, QN_EUSAGE, "pattern.context", "",
			 p == NULL ? "the pattern is missing"
				   : "the pattern was created in another context than the model");
}

/* ---- rules ---- */

typedef struct rewrite_call {
	qn_model *m;
	size_t n;
	const qn_rewrite_rule *rule;
	const qn_match_opts *opts;
	size_t passes;
	const qn_fixpoint_rule *to_try;
	const qn_matcher *matcher;
} rewrite_call;

static qn_status
to_fixpoint(void *arg, qn_model *m)
{
	rewrite_call *c = arg;

	return qn_rewrite_to_fixpoint(m, c->to_try, c->n, c->matcher, &c->passes);
}

static qn_id
call_host(void *user, qn_graph *dst, const qn_match *m, const qn_graph *before, qn_id before_root)
{
	const qn_rewrite_rule *r = user;

	return r->fn(r->user, dst, m, before, before_root);
}

static qn_status
rewrite(void *arg, qn_arena *scratch)
{
	rewrite_call *c = arg;
	qn_fixpoint_rule *rule = QN_NEW(scratch, qn_fixpoint_rule, c->n);
	qn_rewrite_rule *given = QN_NEW(scratch, qn_rewrite_rule, c->n);
	qn_matcher *s;

	QN_TRY(qn_host_list(c->m->env, "rules", c->n, c->rule));
	for (size_t i = 0; i < c->n; i++) {
		const qn_rewrite_rule *r = &given[i];

		QN_TRY(QN_TAKE_ELEMENT(c->m->env, qn_rewrite_rule, c->rule, c->n, i, &given[i]));
		QN_TRY(check_context(c->m, r->pattern));
		const bool fn = r->fn != NULL;
		QN_TRY(QN_GIVEN(qn_model_ctx(c->m), fn));
		rule[i] = (qn_fixpoint_rule){r->name != NULL ? r->name : "", &r->pattern->pat,
					     call_host, (void *)(uintptr_t)r, r->flags};
	}
	QN_TRY(qn_matcher_like(scratch, c->opts, &s));
	c->to_try = rule;
	c->matcher = s;
	return qn_model_change(c->m, scratch, to_fixpoint, c);
}

qn_status
qn_rewrite_model(qn_model *m, size_t n, const qn_rewrite_rule *rules, const qn_match_opts *opts,
		 size_t *passes)
{
	QN_TRY(QN_GIVEN(qn_model_ctx(m), m));
	rewrite_call c = {.m = m, .n = n, .rule = rules, .opts = opts};
	qn_status status = qn_guard_model(m, rewrite, &c);

	qn_box(m)->checked = false; /* by rules that are not the library's */
	if (passes != NULL)
		*passes = c.passes;
	return status;
}

/* ---- partitions ---- */

typedef struct cut_call {
	qn_model *m;
	const qn_pattern *p;
	const qn_cut_opts *opts;
	size_t count;
	qn_cut cut;
	const qn_matcher *matcher;
} cut_call;

static qn_status
cut_pattern(void *arg, qn_model *m)
{
	cut_call *c = arg;

	return qn_cut_pattern(m, &c->cut, c->matcher, &c->count);
}

static bool
check_host(void *user, const qn_graph *g, qn_id root)
{
	const qn_cut_opts *o = user;

	return o->check(o->user, g, root) != 0;
}

static qn_status
cut(void *arg, qn_arena *scratch)
{
	cut_call *c = arg;
	const qn_cut_opts *o = c->opts;
	qn_graph_attr *attr = QN_NEW(scratch, qn_graph_attr, o->nattr);
	qn_matcher *s;

	QN_TRY(check_context(c->m, c->p));
	QN_TRY(qn_host_pointers(c->m->env, "key", o->nattr, o->key));
	QN_TRY(qn_host_pointers(c->m->env, "value", o->nattr, o->value));
	for (size_t i = 0; i < o->nattr; i++) {
		attr[i] = (qn_graph_attr){o->key[i], o->value[i]};
		if (attr[i].key[0] == '\0' || attr[i].value[0] == '\0')
			return qn_report(c->m->env, QN_EUSAGE, "attr.value", "",
					 "keys and values of attributes must not be empty");
	}
	QN_TRY(qn_matcher_like(scratch, o->match, &s));
	c->cut = (qn_cut){.pattern = &c->p->pat,
			  .label = o->label != NULL ? o->label : "part",
			  .nattr = o->nattr,
			  .attr = attr,
			  .check = o->check != NULL ? check_host : NULL,
			  .user = (void *)(uintptr_t)o,
			  .flags = o->flags};
	c->matcher = s;
	return qn_model_change(c->m, scratch, cut_pattern, c);
}

qn_status
qn_cut_model(qn_model *m, const qn_pattern *p, const qn_cut_opts *opts, size_t *count)
{
	qn_cut_opts known;
	cut_call c = {.m = m, .p = p, .opts = &known};

	QN_TRY(QN_GIVEN(qn_model_ctx(m), p));
	QN_TRY(QN_TAKE(m->env, qn_cut_opts, opts, &known));
	qn_status status = qn_guard_model(m, cut, &c);

	if (count != NULL)
		*count = c.count;
	return status;
}
