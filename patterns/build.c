/* SPDX-License-Identifier: Apache-2.0 */
/* build.c - see build.h. */
#include "patterns/build.h"

#include <math.h>
#include <string.h>

#include "ir/diag.h"
#include "ir/nearest.h"

const char *const qn_behaviour_names[] = {"EDGE", "ACC", "SAME",  "JOIN",  "MEAN",
					  "MIX",  "LUT", "FIXED", "INDEX", "NONE"};

static qn_status
fail(qn_patterns *set, const char *id, const char *fmt, ...)
{
	va_list args;
	qn_buf b;

	qn_buf_init(&b, set->scratch.arena);
	va_start(args, fmt);
	qn_bufvf(&b, fmt, args);
	va_end(args);
	return qn_report(set->scratch.env, QN_EUSAGE, id, set->place, "%s", qn_buf_str(&b));
}

/* ---- sets ---- */

static bool
is_one_element(void *user, const qn_graph *g, qn_id value)
{
	(void)user;
	return !qn_graph_node(g, value)->type->is_tuple &&
	       qn_type_count(qn_graph_node(g, value)->type) == 1;
}

static bool
is_output(void *user, const qn_graph *g, qn_id value)
{
	(void)user;
	for (size_t i = 0; i < g->noutput; i++)
		if (g->output[i].value == value)
			return true;
	return false;
}

void
qn_patterns_init(qn_patterns *set, qn_env *env, qn_arena *arena)
{
	*set = (qn_patterns){.place = ""};
	qn_model_init(&set->scratch, env, arena, "pattern");
	qn_patterns_predicate(set, "scalar", is_one_element, NULL);
	qn_patterns_predicate(set, "output", is_output, NULL);
}

void
qn_patterns_predicate(qn_patterns *set, const char *name, qn_where_fn *fn, void *user)
{
	set->predicate = qn_arena_grow(set->scratch.arena, set->predicate, &set->predicate_cap,
				       set->npredicate + 1, sizeof *set->predicate);
	set->predicate[set->npredicate++] =
		(qn_predicate){qn_arena_str(set->scratch.arena, name), fn, user};
}

const qn_predicate *
qn_patterns_find_predicate(const qn_patterns *set, const char *name)
{
	for (size_t i = set->npredicate; i > 0; i--)
		if (strcmp(set->predicate[i - 1].name, name) == 0)
			return &set->predicate[i - 1];
	return NULL;
}

/* ---- slots ---- */

int
qn_patterns_slot(qn_patterns *set, const char *name)
{
	set->name = qn_arena_grow(set->scratch.arena, (void *)(uintptr_t)set->name, &set->name_cap,
				  set->nslot + 1, sizeof *set->name);
	set->name[set->nslot] = name != NULL ? qn_arena_str(set->scratch.arena, name) : NULL;
	return (int)set->nslot++;
}

qn_pattern *
qn_build_slot(qn_pattern *p)
{
	if (p != NULL && p->pat.slot == QN_NO_SLOT)
		p->pat.slot = qn_patterns_slot(p->set, NULL);
	return p;
}

const char *
qn_pattern_slot_name(const qn_pattern *p)
{
	return p->pat.slot != QN_NO_SLOT ? p->set->name[p->pat.slot] : NULL;
}

/* ---- nodes ---- */

static void
grow_over(qn_pattern *p, const qn_pat *part)
{
	uint32_t below = ((const qn_pattern *)(const void *)part)->height; /* the first member */

	p->height = p->height > below ? p->height : below + 1;
}

static qn_pattern *
add(qn_patterns *set, const qn_pat *like)
{
	qn_pattern *p = QN_NEW(set->scratch.arena, qn_pattern, 1);

	*p = (qn_pattern){.pat = *like, .set = set};
	p->pat.slot = QN_NO_SLOT;
	for (int i = 0; i < like->narg; i++)
		grow_over(p, like->arg[i]);
	for (int i = 0; like->kind == QN_PAT_FUNCTION && i < like->test->nparam; i++)
		grow_over(p, like->test->param[i]);
	if (like->kind == QN_PAT_FUNCTION)
		grow_over(p, like->test->body);
	return p;
}

/* Whether a part can be used here; NULL has been reported where it was made. */
static bool
usable(qn_patterns *set, const qn_patterns *of)
{
	if (of != set)
		(void)fail(set, "pattern.context",
			   "a part of this pattern was created in another context");
	return of == set;
}

static bool
all_usable(qn_patterns *set, int n, qn_pattern *const *p)
{
	for (int i = 0; i < n; i++)
		if (p[i] == NULL || !usable(set, p[i]->set))
			return false;
	return true;
}

static const qn_pat *const *
parts(qn_patterns *set, int n, qn_pattern *const *p)
{
	const qn_pat **part = QN_NEW(set->scratch.arena, const qn_pat *, (size_t)(n > 0 ? n : 0));

	for (int i = 0; i < n; i++)
		part[i] = &p[i]->pat;
	return part;
}

static qn_pattern *
add_with(qn_patterns *set, qn_pat_kind kind, int n, qn_pattern *const *p)
{
	if (!all_usable(set, n, p))
		return NULL;
	return add(set, &(qn_pat){.kind = kind, .narg = n, .arg = parts(set, n, p)});
}

qn_pattern *
qn_build_named(qn_patterns *set, qn_pattern *p, int slot)
{
	if (p != NULL && p->pat.slot != QN_NO_SLOT)
		p = add_with(set, QN_PAT_ANY, 1, &p);
	if (p != NULL)
		p->pat.slot = slot;
	return p;
}

qn_pattern *
qn_build_any(qn_patterns *set)
{
	return add(set, &(qn_pat){.kind = QN_PAT_ANY});
}

qn_pattern *
qn_build_const(qn_patterns *set)
{
	return add(set, &(qn_pat){.kind = QN_PAT_CONST});
}

/* A copy of a test with its texts. */
static qn_pat_test *
copy_test(qn_patterns *set, const qn_pat_test *like)
{
	qn_pat_test *t = qn_arena_copy(set->scratch.arena, like, sizeof *like);

	t->text = t->text != NULL ? qn_arena_str(set->scratch.arena, t->text) : NULL;
	t->word = t->word != NULL ? qn_arena_str(set->scratch.arena, t->word) : NULL;
	return t;
}

qn_pattern *
qn_build_input(qn_patterns *set, const char *name)
{
	qn_pattern *p = add(set, &(qn_pat){.kind = QN_PAT_INPUT});

	if (name != NULL)
		p->pat.test = copy_test(set, &(qn_pat_test){.text = name});
	return p;
}

qn_pattern *
qn_build_expr(qn_patterns *set, const qn_graph *g, qn_id value, const char *name)
{
	qn_pattern *p = add(set, &(qn_pat){.kind = QN_PAT_EXPR});

	p->pat.test = copy_test(set, &(qn_pat_test){.text = name, .graph = g, .value = value});
	return p;
}

qn_pattern *
qn_build_number(qn_patterns *set, double value)
{
	if (isfinite(value))
		return qn_build_test(set, qn_build_const(set),
				     &(qn_pat_test){.kind = QN_TEST_NUMBER, .real = value});
	(void)fail(set, "pattern.number", "a pattern takes finite numbers only");
	return NULL;
}

/* ---- calls ---- */

static qn_callee *
callee(qn_patterns *set, const qn_callee *like)
{
	return qn_arena_copy(set->scratch.arena, like, sizeof *like);
}

qn_callee *
qn_build_op(qn_patterns *set, const char *name)
{
	qn_op op;
	const qn_opinfo *row = qn_op_lookup(set->scratch.env, name, &op);

	if (row != NULL && op != QN_OP_input && op != QN_OP_const)
		return callee(set,
			      &(qn_callee){.set = set, .kind = QN_PAT_OP, .op = op, .row = row});
	const char *best = qn_nearest_op(set->scratch.env, name);
	(void)fail(set, "pattern.op",
		   "unknown op '%s'" QN_DID_YOU_MEAN " (`quern supported-ops` lists the ops)", name,
		   QN_SUGGEST(best));
	return NULL;
}

qn_callee *
qn_build_any_op(qn_patterns *set)
{
	return callee(set, &(qn_callee){.set = set, .kind = QN_PAT_CALL});
}

qn_callee *
qn_build_class(qn_patterns *set, const char *name)
{
	for (size_t i = 0; i < QN_COUNT(qn_behaviour_names); i++)
		if (strcmp(qn_behaviour_names[i], name) == 0)
			return callee(set, &(qn_callee){.set = set,
							.kind = QN_PAT_CLASS,
							.behaviour = (qn_behaviour)i});
	const char *best = qn_nearest_name(name, QN_COUNT(qn_behaviour_names), qn_behaviour_names);
	(void)fail(set, "pattern.class", "unknown behaviour '%s' (expected %s)" QN_DID_YOU_MEAN,
		   name,
		   qn_choices(set->scratch.arena, QN_COUNT(qn_behaviour_names), qn_behaviour_names),
		   QN_SUGGEST(best));
	return NULL;
}

qn_callee *
qn_build_function(qn_patterns *set, int nparam, qn_pattern *const *param, qn_pattern *body)
{
	if (!all_usable(set, nparam, param) || !all_usable(set, 1, &body))
		return NULL;
	return callee(set,
		      &(qn_callee){.set = set,
				   .kind = QN_PAT_FUNCTION,
				   .function = copy_test(
					   set, &(qn_pat_test){.nparam = nparam,
							       .param = parts(set, nparam, param),
							       .body = &body->pat})});
}

qn_pattern *
qn_build_call(qn_patterns *set, const qn_callee *c, int narg, qn_pattern *const *arg)
{
	if (c == NULL || !usable(set, c->set) || !all_usable(set, narg, arg))
		return NULL;
	if (c->row != NULL && narg > (int)c->row->max_in) {
		(void)fail(set, "pattern.arity", "%s takes at most %u inputs, the pattern has %d",
			   c->row->name, c->row->max_in, narg);
		return NULL;
	}
	return add(set, &(qn_pat){.kind = c->kind,
				  .op = c->op,
				  .row = c->op == QN_OP_custom ? c->row : NULL,
				  .behaviour = c->behaviour,
				  .narg = narg < 0 ? -1 : narg,
				  .arg = parts(set, narg, arg),
				  .test = c->function});
}

/* ---- what is made of patterns ---- */

qn_pattern *
qn_build_alt(qn_patterns *set, int n, qn_pattern *const *p)
{
	return add_with(set, QN_PAT_ALT, n, p);
}

qn_pattern *
qn_build_optional(qn_patterns *set, qn_pattern *p, qn_pattern *made)
{
	qn_pattern *alt = qn_build_alt(set, 2, (qn_pattern *[]){p, made});

	if (alt != NULL)
		alt->optional = true;
	return alt;
}

qn_pattern *
qn_build_dominator(qn_patterns *set, qn_pattern *parent, qn_pattern *path, qn_pattern *child)
{
	qn_pattern *three[3] = {qn_build_slot(parent), path, child};

	return add_with(set, QN_PAT_DOM, 3, three);
}

/* What is below tests. */
static const qn_pat *
tested(const qn_pat *p)
{
	while (p->kind == QN_PAT_TEST)
		p = p->arg[0];
	return p;
}

/* An attribute that the op does not have would make a pattern that never matches. */
static bool
attr_fits(qn_patterns *set, const qn_pat *p, const qn_pat_test *t)
{
	const qn_opinfo *row = p->row != NULL ? p->row : qn_opinfo_get(p->op);
	const qn_attr_set_info *attrs = row->attrs;
	const char **known;

	if (p->kind != QN_PAT_OP || p->op == QN_OP_call)
		return true;
	known = QN_NEW(set->scratch.arena, const char *, attrs->nattr);
	for (size_t i = 0; i < attrs->nattr; i++) {
		if (strcmp(attrs->attr[i].name, t->text) == 0)
			return true;
		known[i] = attrs->attr[i].name;
	}
	const char *best = qn_nearest_name(t->text, attrs->nattr, known);
	(void)fail(set, "pattern.attr",
		   "unknown attribute '%s' of %s (expected %s)" QN_DID_YOU_MEAN, t->text, row->name,
		   qn_choices(set->scratch.arena, attrs->nattr, known), QN_SUGGEST(best));
	return false;
}

qn_pattern *
qn_build_test(qn_patterns *set, qn_pattern *p, const qn_pat_test *like)
{
	if (!all_usable(set, 1, &p) ||
	    (like->kind == QN_TEST_ATTR && !attr_fits(set, tested(&p->pat), like)))
		return NULL;
	qn_pattern *t = add_with(set, QN_PAT_TEST, 1, &p);
	t->pat.test = copy_test(set, like);
	return t;
}

qn_status
qn_build_redirect(qn_patterns *set, qn_pattern *wildcard, qn_pattern *target)
{
	if (wildcard == NULL || target == NULL)
		return QN_EUSAGE; /* reported where it was made */
	if (!usable(set, wildcard->set) || !usable(set, target->set))
		return QN_EUSAGE;
	if (!qn_pat_is_wildcard(&wildcard->pat) || wildcard->sent_on)
		return fail(set, "pattern.redirect",
			    "only a wildcard can be redirected to another pattern, and only once");
	wildcard->pat.narg = 1;
	wildcard->pat.arg = parts(set, 1, &target);
	wildcard->sent_on = true;
	wildcard->height = target->height + 1;
	(void)qn_build_slot(wildcard);
	return QN_OK;
}
