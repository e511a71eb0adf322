/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_made.c - custom patterns that are made of others: alternatives, dominators,
 * tests. */
#include "driver/pattern.h"

/* ---- what is made of patterns ---- */

static void
build_alt(qn_pattern_call *c, qn_patterns *set)
{
	c->pattern = qn_build_slot(qn_build_alt(set, 2, (qn_pattern *[]){c->one, c->two}));
}

qn_pattern *
qn_pat_alt(qn_ctx *ctx, qn_pattern *a, qn_pattern *b)
{
	return qn_pattern_made(
		(qn_pattern_call){.ctx = ctx, .build = build_alt, .one = a, .two = b});
}

static void
build_optional(qn_pattern_call *c, qn_patterns *set)
{
	c->pattern = qn_build_slot(qn_build_optional(set, c->one, c->two));
}

qn_pattern *
qn_pat_optional(qn_ctx *ctx, qn_pattern *p, qn_pat_wrap_fn *wrap, void *user)
{
	if (QN_GIVEN(ctx, wrap) != QN_OK)
		return NULL;
	qn_pattern *made = p != NULL ? wrap(user, ctx, p) : NULL;

	return qn_pattern_made(
		(qn_pattern_call){.ctx = ctx, .build = build_optional, .one = p, .two = made});
}

static void
build_dominator(qn_pattern_call *c, qn_patterns *set)
{
	c->pattern = qn_build_slot(qn_build_dominator(set, c->one, c->two, c->three));
}

qn_pattern *
qn_pat_dominator(qn_ctx *ctx, qn_pattern *parent, qn_pattern *path, qn_pattern *child)
{
	if (ctx == NULL)
		return NULL;
	return qn_pattern_made((qn_pattern_call){.ctx = ctx,
						 .build = build_dominator,
						 .one = parent,
						 .two = path != NULL ? path : qn_pat_any(ctx),
						 .three = child});
}

static void
build_attrs(qn_pattern_call *c, qn_patterns *set)
{
	c->pattern = qn_build_slot(qn_build_suffix(set, c->one, "{", c->text, "}"));
}

qn_pattern *
qn_pat_attrs(qn_ctx *ctx, qn_pattern *p, const char *attrs)
{
	if (QN_GIVEN(ctx, attrs) != QN_OK)
		return NULL;
	return qn_pattern_made(
		(qn_pattern_call){.ctx = ctx, .build = build_attrs, .one = p, .text = attrs});
}

static void
build_type(qn_pattern_call *c, qn_patterns *set)
{
	c->pattern = qn_build_slot(qn_build_suffix(set, c->one, ":", c->text, ""));
}

qn_pattern *
qn_pat_type(qn_ctx *ctx, qn_pattern *p, const char *type)
{
	if (QN_GIVEN(ctx, type) != QN_OK)
		return NULL;
	return qn_pattern_made(
		(qn_pattern_call){.ctx = ctx, .build = build_type, .one = p, .text = type});
}

static void
build_where(qn_pattern_call *c, qn_patterns *set)
{
	qn_pat_test test = {
		.kind = QN_TEST_WHERE, .text = c->text, .where = qn_pattern_call_predicate};

	test.user = qn_pattern_predicate_user(c);
	c->pattern = qn_build_slot(qn_build_test(set, c->one, &test));
}

qn_pattern *
qn_pat_where(qn_ctx *ctx, qn_pattern *p, const char *name, qn_predicate_fn *fn, void *user)
{
	if (QN_GIVEN(ctx, name, fn) != QN_OK)
		return NULL;
	return qn_pattern_made((qn_pattern_call){.ctx = ctx,
						 .build = build_where,
						 .one = p,
						 .text = name,
						 .predicate = fn,
						 .user = user});
}

static void
build_named(qn_pattern_call *c, qn_patterns *set)
{
	c->pattern = qn_build_named(set, c->one, qn_patterns_slot(set, c->text));
}

qn_pattern *
qn_pat_named(qn_ctx *ctx, qn_pattern *p, const char *name)
{
	if (QN_GIVEN(ctx, name) != QN_OK)
		return NULL;
	return qn_pattern_made(
		(qn_pattern_call){.ctx = ctx, .build = build_named, .one = p, .text = name});
}

static void
redirect(qn_pattern_call *c, qn_patterns *set)
{
	c->status = qn_build_redirect(set, c->one, c->two);
}

qn_status
qn_pat_redirect(qn_ctx *ctx, qn_pattern *wildcard, qn_pattern *target)
{
	return qn_guard(
		ctx, qn_pattern_run,
		&(qn_pattern_call){.ctx = ctx, .build = redirect, .one = wildcard, .two = target});
}
