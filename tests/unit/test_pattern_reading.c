/* SPDX-License-Identifier: Apache-2.0 */
/* test_pattern_reading.c - what a host reads of a match: the values of parts that match several, of a
 * recursive pattern and on the path of a dominator, in whatever order and as often as they are asked.
 *
 *   tanh(R=(relu(R) | exp(*)))  on  exp e, relu r1, relu r2, tanh t:   relu stands for r2, then r1 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "quern/patterns.h"

enum { CHAIN = 40 };

typedef struct net {
	qn_ctx *ctx;
	qn_model *m;
	qn_graph *g;
} net;

static qn_id
op(net *t, const char *kind, const char *name, qn_id a, qn_id b)
{
	const qn_id in[2] = {a, b};
	const qn_id y = qn_add_op(t->g, kind, name, b != 0 ? 2 : 1, in, NULL, NULL);

	assert_int_not_equal(y, 0);
	return y;
}

static qn_id
begin(net *t)
{
	t->ctx = qn_open(NULL);
	assert_non_null(t->ctx);
	assert_int_equal(qn_model_new(t->ctx, "net", &t->m), QN_OK);
	t->g = qn_model_main(t->m);
	return qn_add_input(t->g, "x", "tensor<4xf32>");
}

/* e = exp x, r1 … rn one relu after the other, t = tanh of the last. */
static void
chain(net *t, int n)
{
	qn_id v = op(t, "exp", "e", begin(t), 0);
	char name[16];

	for (int i = 1; i <= n; i++) {
		(void)snprintf(name, sizeof name, "r%d", i);
		v = op(t, "relu", name, v, 0);
	}
	v = op(t, "tanh", "t", v, 0);
	assert_int_equal(qn_add_output(t->g, "y", v), QN_OK);
}

/* Two ways from e to the sum: relu a1, relu a2, and relu b1. */
static void
two_ways(net *t)
{
	const qn_id e = op(t, "exp", "e", begin(t), 0);
	const qn_id a = op(t, "relu", "a2", op(t, "relu", "a1", e, 0), 0);
	const qn_id s = op(t, "add", "s", a, op(t, "relu", "b1", e, 0));

	assert_int_equal(qn_add_output(t->g, "y", op(t, "tanh", "t", s, 0)), QN_OK);
}

typedef struct asked {
	net *t;
	const qn_pattern *part[4];
	char text[4][400]; /* the names of each part's values */
	char bindings[400];
	bool backwards, names_first;
} asked;

static void
put(const net *t, char *to, qn_id v)
{
	strcat(to, to[0] != '\0' ? " " : "");
	strcat(to, qn_value(t->g, v).name);
}

static void
read_bindings(asked *a, const qn_match *m)
{
	qn_binding b;

	for (size_t i = 0; (b = qn_match_binding(m, i)).name != NULL; i++) {
		assert_ptr_equal(b.graph, a->t->g);
		strcat(a->bindings, a->bindings[0] != '\0' ? " " : "");
		strcat(a->bindings, b.name);
		strcat(a->bindings, "=");
		strcat(a->bindings, qn_value(a->t->g, b.value).name);
	}
	assert_int_equal(qn_match_get(m, "nobody"), 0);
}

static int
read_all(void *user, const qn_match *m)
{
	asked *a = user;

	if (a->names_first)
		read_bindings(a, m);
	for (int i = 0; i < 4; i++) {
		const int k = a->backwards ? 3 - i : i;
		qn_id v;

		for (size_t n = 0; (v = qn_match_value(m, a->part[k], n)) != 0; n++)
			put(a->t, a->text[k], v);
		assert_int_equal(qn_match_value(m, a->part[k], SIZE_MAX), 0);
	}
	if (!a->names_first)
		read_bindings(a, m);
	return 0;
}

/* Reads the match of p at %t in four orders, which all say the same. */
static asked
ask(net *t, const qn_pattern *p, const qn_pattern *const *part, unsigned flags)
{
	const qn_match_opts o = {.size = sizeof o, .flags = flags};
	asked first = {0};

	assert_non_null(p);
	for (int way = 0; way < 4; way++) {
		asked a = {.t = t, .backwards = way % 2 != 0, .names_first = way > 1};
		size_t count;

		memcpy(a.part, part, sizeof a.part);
		assert_int_equal(qn_pattern_match(p, t->g, qn_value_find(t->g, "t"), &o, read_all,
						  &a, &count),
				 QN_OK);
		assert_int_equal(count, 1);
		if (way == 0)
			first = a;
		assert_memory_equal(a.text, first.text, sizeof a.text);
		assert_string_equal(a.bindings, first.bindings);
	}
	return first;
}

static void
test_recursion(void **state)
{
	net t;

	(void)state;
	for (unsigned greedy = 0; greedy < 2; greedy++) {
		chain(&t, 3);
		qn_pattern *any = qn_pat_any(t.ctx), *r = qn_pat_any(t.ctx);
		qn_pattern *relu = qn_pat_named(
			t.ctx, qn_pat_call(t.ctx, qn_callee_op(t.ctx, "relu"), 1, &r), "layer");
		qn_pattern *exp = qn_pat_named(
			t.ctx, qn_pat_call(t.ctx, qn_callee_op(t.ctx, "exp"), 1, &any), "end");
		assert_int_equal(qn_pat_redirect(t.ctx, r, qn_pat_alt(t.ctx, relu, exp)), QN_OK);
		qn_pattern *tanh = qn_pat_call(t.ctx, qn_callee_op(t.ctx, "tanh"), 1, &r);
		const qn_pattern *const part[4] = {relu, exp, any, tanh};
		const asked a = ask(&t, tanh, part, greedy ? QN_MATCH_GREEDY : 0);

		assert_string_equal(a.text[0],
				    "r1 r2 r3"); /* inner ones first, as the parts of any match */
		assert_string_equal(a.text[1], "e");
		assert_string_equal(a.text[2], "x");
		assert_string_equal(a.text[3], "t");
		assert_string_equal(a.bindings, "end=e layer=r1 layer=r2 layer=r3");
		qn_close(t.ctx);
	}
}

static void
test_path(void **state)
{
	net t;

	(void)state;
	for (int named = 0; named < 2; named++) {
		two_ways(&t);
		qn_pattern *any = qn_pat_any(t.ctx);
		qn_pattern *parent = qn_pat_call(t.ctx, qn_callee_op(t.ctx, "exp"), 1, &any);
		qn_pattern *path = qn_pat_call(t.ctx, qn_callee_op(t.ctx, "relu"), -1, NULL);
		qn_pattern *child = qn_pat_call(t.ctx, qn_callee_op(t.ctx, "add"), -1, NULL);
		if (named != 0) {
			parent = qn_pat_named(t.ctx, parent, "from");
			path = qn_pat_named(t.ctx, path, "over");
			child = qn_pat_named(t.ctx, child, "to");
		}
		qn_pattern *dom = qn_pat_dominator(t.ctx, parent, path, child);
		qn_pattern *p = qn_pat_call(t.ctx, qn_callee_op(t.ctx, "tanh"), 1, &dom);
		const qn_pattern *const part[4] = {parent, path, child, p};
		const asked a = ask(&t, p, part, 0);

		assert_string_equal(a.text[0], "e");
		assert_string_equal(a.text[1], "a2 a1 b1");
		assert_string_equal(a.text[2], "s");
		assert_string_equal(a.text[3], "t");
		assert_string_equal(a.bindings,
				    named != 0 ? "to=s over=a2 over=a1 from=e over=b1" : "");
		qn_close(t.ctx);
	}
}

/* The same through texts; a name on a path that the rest of the pattern has too is one value. */
static void
test_texts(void **state)
{
	static const struct {
		const char *text, *bindings;
		int ways;
	} rows[] = {
		{"tanh(R=(relu(R) | exp(v)))", "v=x R=e R=r1 R=r2", 0},
		{"tanh(l=relu(relu(e=exp(*))))", "e=e l=r2", 0},
		{"tanh(e=exp(*) ~ o=relu(*) ~> s=add(*, *))", "s=s o=a2 o=a1 e=e o=b1", 1},
		{"tanh(exp(*) ~> s=add(*, *))", "s=s", 1},
		{"tanh(add(a=relu(*), b=relu(*)))", "a=a2 b=b1", 1},
	};
	net t;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const qn_pattern *const none[4] = {NULL};
		qn_pattern *p;

		if (rows[i].ways != 0)
			two_ways(&t);
		else
			chain(&t, 2);
		assert_int_equal(qn_pattern_parse(t.ctx, rows[i].text, &p), QN_OK);
		assert_string_equal(ask(&t, p, none, 0).bindings, rows[i].bindings);
		qn_close(t.ctx);
	}
}

typedef struct few {
	const net *t;
	const qn_pattern *relu;
	size_t nread;
} few;

static int
count_values(void *user, const qn_match *m)
{
	few *f = user;

	while (qn_match_value(m, f->relu, f->nread) != 0)
		f->nread++;
	return 0;
}

/* With any number of steps: all values are read, or the search ends with an error; never some of them. */
static void
test_steps(void **state)
{
	uint32_t steps = 0;
	net t;

	(void)state;
	chain(&t, CHAIN);
	qn_pattern *any = qn_pat_any(t.ctx);
	qn_pattern *parent = qn_pat_call(t.ctx, qn_callee_op(t.ctx, "exp"), 1, &any);
	qn_pattern *path = qn_pat_call(t.ctx, qn_callee_op(t.ctx, "relu"), -1, NULL);
	qn_pattern *child = qn_pat_call(t.ctx, qn_callee_op(t.ctx, "tanh"), -1, NULL);
	qn_pattern *p = qn_pat_dominator(t.ctx, parent, path, child);
	few f = {.t = &t, .relu = path};
	qn_status status = QN_EBUDGET;

	assert_non_null(p);
	for (steps = 1; status != QN_OK && steps < 100 * CHAIN; steps++) {
		const qn_match_opts o = {.size = sizeof o, .steps = steps};

		f.nread = 0;
		status = qn_pattern_match(p, t.g, qn_value_find(t.g, "t"), &o, count_values, &f,
					  NULL);
		assert_true(status == QN_OK || status == QN_EBUDGET);
		if (status == QN_EBUDGET) {
			assert_int_equal(f.nread, 0);
			assert_string_equal(qn_diag_get(t.ctx, 0).id, "pattern.limit");
			qn_diag_clear(t.ctx);
		}
	}
	assert_int_equal(f.nread, CHAIN);
	assert_true(steps > CHAIN);
	qn_close(t.ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
