/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.c - custom patterns: each public function is one call inside qn_guard. */
#include "driver/pattern.h"

#include <string.h>

#include "driver/context.h"
#include "driver/host_struct.h"

/* The patterns of a context, made on first use. */
static qn_patterns *
set_of(qn_ctx *ctx)
{
	if (ctx->patterns == NULL) {
		qn_patterns *set = QN_NEW(&ctx->arena, qn_patterns, 1);

		qn_patterns_init(set, &ctx->env, &ctx->arena);
		ctx->patterns = set;
	}
	return ctx->patterns;
}

qn_status
qn_pattern_run(void *arg, qn_arena *scratch)
{
	qn_pattern_call *c = arg;

	(void)scratch;
	c->build(c, set_of(c->ctx));
	return c->status;
}

qn_pattern *
qn_pattern_made(qn_pattern_call c)
{
	if (qn_guard(c.ctx, qn_pattern_run, &c) != QN_OK || c.pattern == NULL)
		return NULL;
	return c.pattern;
}

static qn_callee *
callee_of(qn_pattern_call c)
{
	return qn_guard(c.ctx, qn_pattern_run, &c) == QN_OK ? c.callee : NULL;
}

/* ---- texts ---- */

static void
build_parsed(qn_pattern_call *c, qn_patterns *set)
{
	c->status = qn_patterns_parse(set, c->text, &c->pattern);
}

qn_status
qn_pattern_parse(qn_ctx *ctx, const char *text, qn_pattern **out)
{
	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(ctx, text, out));
	qn_pattern_call c = {.ctx = ctx, .build = build_parsed, .text = text};
	qn_status status = qn_guard(ctx, qn_pattern_run, &c);

	*out = status == QN_OK ? c.pattern : NULL;
	return status;
}

typedef struct print_call {
	const qn_pattern *p;
	qn_write_fn *write;
	void *user;
} print_call;

static qn_status
print(void *arg, qn_arena *scratch)
{
	print_call *c = arg;
	qn_buf b;

	qn_buf_init(&b, scratch);
	QN_TRY(qn_patterns_print(&b, c->p));
	if (c->write(c->user, qn_buf_str(&b), b.n) == 0)
		return QN_OK;
	return qn_report(scratch->env, QN_EIO, "print", "",
			 "the pattern's text could not be written");
}

qn_status
qn_pattern_print(const qn_pattern *p, qn_write_fn *write, void *user)
{
	QN_TRY(QN_GIVEN(p != NULL ? qn_pattern_ctx(p) : NULL, write));
	return qn_guard(qn_pattern_ctx(p), print, &(print_call){p, write, user});
}

/* The host's predicate, called by the library's. */
typedef struct predicate {
	qn_predicate_fn *fn;
	void *user;
} predicate;

bool
qn_pattern_call_predicate(void *user, const qn_graph *g, qn_id value)
{
	const predicate *p = user;

	return p->fn(p->user, g, value) != 0;
}

void *
qn_pattern_predicate_user(const qn_pattern_call *c)
{
	predicate *p = QN_NEW(&c->ctx->arena, predicate, 1);

	*p = (predicate){c->predicate, c->user};
	return p;
}

static void
build_predicate(qn_pattern_call *c, qn_patterns *set)
{
	qn_patterns_predicate(set, c->text, qn_pattern_call_predicate,
			      qn_pattern_predicate_user(c));
}

qn_status
qn_pattern_predicate(qn_ctx *ctx, const char *word, qn_predicate_fn *fn, void *user)
{
	QN_TRY(QN_GIVEN(ctx, word, fn));
	return qn_guard(ctx, qn_pattern_run,
			&(qn_pattern_call){.ctx = ctx,
					   .build = build_predicate,
					   .text = word,
					   .predicate = fn,
					   .user = user});
}

/* ---- leaves ---- */

static void
build_any(qn_pattern_call *c, qn_patterns *set)
{
	c->pattern = qn_build_slot(qn_build_any(set));
}

qn_pattern *
qn_pat_any(qn_ctx *ctx)
{
	return qn_pattern_made((qn_pattern_call){.ctx = ctx, .build = build_any});
}

static void
build_const(qn_pattern_call *c, qn_patterns *set)
{
	c->pattern = qn_build_slot(qn_build_const(set));
}

qn_pattern *
qn_pat_const(qn_ctx *ctx)
{
	return qn_pattern_made((qn_pattern_call){.ctx = ctx, .build = build_const});
}

static void
build_number(qn_pattern_call *c, qn_patterns *set)
{
	c->pattern = qn_build_slot(qn_build_number(set, c->number));
}

qn_pattern *
qn_pat_number(qn_ctx *ctx, double value)
{
	return qn_pattern_made(
		(qn_pattern_call){.ctx = ctx, .build = build_number, .number = value});
}

static void
build_input(qn_pattern_call *c, qn_patterns *set)
{
	c->pattern = qn_build_slot(qn_build_input(set, c->text));
}

qn_pattern *
qn_pat_input(qn_ctx *ctx, const char *name)
{
	return qn_pattern_made((qn_pattern_call){.ctx = ctx, .build = build_input, .text = name});
}

static void
build_expr(qn_pattern_call *c, qn_patterns *set)
{
	if (c->value != 0 && c->value < c->graph->n)
		c->pattern = qn_build_slot(qn_build_expr(set, c->graph, c->value, NULL));
	else
		c->status = qn_report(set->scratch.env, QN_EUSAGE, "graph.value.undefined", "",
				      "value %u, but the graph has %u values", c->value,
				      c->graph->n - 1);
}

qn_pattern *
qn_pat_expr(qn_ctx *ctx, const qn_graph *g, qn_id v)
{
	if (QN_GIVEN(ctx, g) != QN_OK)
		return NULL;
	return qn_pattern_made(
		(qn_pattern_call){.ctx = ctx, .build = build_expr, .graph = g, .value = v});
}

/* ---- calls ---- */

static void
build_op(qn_pattern_call *c, qn_patterns *set)
{
	c->callee = qn_build_op(set, c->text);
}

qn_callee *
qn_callee_op(qn_ctx *ctx, const char *name)
{
	if (QN_GIVEN(ctx, name) != QN_OK)
		return NULL;
	return callee_of((qn_pattern_call){.ctx = ctx, .build = build_op, .text = name});
}

static void
build_any_op(qn_pattern_call *c, qn_patterns *set)
{
	c->callee = qn_build_any_op(set);
}

qn_callee *
qn_callee_any(qn_ctx *ctx)
{
	return callee_of((qn_pattern_call){.ctx = ctx, .build = build_any_op});
}

static void
build_class(qn_pattern_call *c, qn_patterns *set)
{
	c->callee = qn_build_class(set, c->text);
}

qn_callee *
qn_callee_class(qn_ctx *ctx, const char *name)
{
	if (QN_GIVEN(ctx, name) != QN_OK)
		return NULL;
	return callee_of((qn_pattern_call){.ctx = ctx, .build = build_class, .text = name});
}

static void
build_fn_callee(qn_pattern_call *c, qn_patterns *set)
{
	c->status = qn_host_list(&c->ctx->env, "param", c->n > 0 ? (size_t)c->n : 0, c->part);
	if (c->status == QN_OK)
		c->callee = qn_build_function(set, c->n, c->part, c->one);
}

qn_callee *
qn_callee_fn(qn_ctx *ctx, int nparam, qn_pattern *const *param, qn_pattern *body)
{
	return callee_of((qn_pattern_call){
		.ctx = ctx, .build = build_fn_callee, .n = nparam, .part = param, .one = body});
}

static void
build_call(qn_pattern_call *c, qn_patterns *set)
{
	c->status = qn_host_list(&c->ctx->env, "arg", c->n > 0 ? (size_t)c->n : 0, c->part);
	if (c->status == QN_OK)
		c->pattern = qn_build_slot(qn_build_call(set, c->with, c->n, c->part));
}

qn_pattern *
qn_pat_call(qn_ctx *ctx, const qn_callee *callee, int narg, qn_pattern *const *arg)
{
	return qn_pattern_made((qn_pattern_call){
		.ctx = ctx, .build = build_call, .with = callee, .n = narg, .part = arg});
}

qn_pattern *
qn_pat_tuple(qn_ctx *ctx, int n, qn_pattern *const *field)
{
	return qn_pat_call(ctx, qn_callee_op(ctx, "tuple"), n, field);
}

static void
build_get(qn_pattern_call *c, qn_patterns *set)
{
	qn_pat_test index = {.kind = QN_TEST_ATTR,
			     .text = "index",
			     .value_kind = QN_VALUE_INT,
			     .integer = c->index,
			     .real = c->index};

	c->pattern = qn_build_call(set, qn_build_op(set, "get"), 1, &c->one);
	if (c->pattern != NULL && c->index >= 0)
		c->pattern = qn_build_test(set, c->pattern, &index);
	(void)qn_build_slot(c->pattern);
}

qn_pattern *
qn_pat_get(qn_ctx *ctx, qn_pattern *tuple, int index)
{
	return qn_pattern_made(
		(qn_pattern_call){.ctx = ctx, .build = build_get, .one = tuple, .index = index});
}
