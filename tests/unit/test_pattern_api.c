/* SPDX-License-Identifier: Apache-2.0 */
/* test_pattern_api.c - patterns as a host uses them: built, asked, rewritten with, taken out; what it
 * can get wrong; memory that runs out at every step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "quern/patterns.h"
#include "tests/unit/host_heap.h"

/* %a = add %x, %y   %r = relu %a   %t = tanh %r   %s = mul %t, %a */
static qn_status
build(qn_ctx *ctx, qn_model **m)
{
	qn_status s = qn_model_new(ctx, "net", m);

	if (s != QN_OK)
		return s;
	qn_graph *g = qn_model_main(*m);
	qn_id x = qn_add_input(g, "x", "tensor<4xf32>"), y = qn_add_input(g, "y", "tensor<4xf32>");
	qn_id a = qn_add_op(g, "add", "a", 2, (qn_id[]){x, y}, NULL, NULL);
	qn_id r = qn_add_op(g, "relu", "r", 1, &a, NULL, NULL);
	qn_id t = qn_add_op(g, "tanh", "t", 1, &r, NULL, NULL);
	return qn_add_output(g, "out", qn_add_op(g, "mul", "s", 2, (qn_id[]){t, a}, NULL, NULL));
}

static int
is_even(void *user, const qn_graph *g, qn_id value)
{
	(void)g;
	++*(int *)user;
	return value % 2 == 0;
}

static qn_pattern *
with_relu(void *user, qn_ctx *ctx, qn_pattern *p)
{
	(void)user;
	return qn_pat_call(ctx, qn_callee_op(ctx, "relu"), 1, &p);
}

typedef struct seen {
	char names[100];
	const qn_pattern *part;
	qn_graph *g;
} seen;

static int
note(void *user, const qn_match *m)
{
	seen *s = user;
	qn_binding b;

	strncat(s->names, qn_value(s->g, qn_match_root(m)).name, 20);
	for (size_t i = 0; (b = qn_match_binding(m, i)).name != NULL; i++) {
		strncat(s->names, " ", 2);
		strncat(s->names, b.name, 20);
		assert_int_equal(qn_match_get(m, b.name), b.value);
	}
	strncat(s->names, ";", 2);
	if (s->part != NULL)
		assert_int_equal(qn_match_value(m, s->part, 0), qn_value_find(s->g, "a"));
	return 0;
}

/* tanh(add(*, *) or relu of it), named, built by hand. */
static qn_status
ask(qn_ctx *ctx, qn_model *m)
{
	qn_pattern *two[2] = {qn_pat_any(ctx), qn_pat_input(ctx, "y")};
	qn_pattern *sum =
		qn_pat_named(ctx, qn_pat_call(ctx, qn_callee_op(ctx, "add"), 2, two), "sum");
	qn_pattern *maybe = qn_pat_optional(ctx, sum, with_relu, NULL);
	qn_pattern *tanh = qn_pat_call(ctx, qn_callee_op(ctx, "tanh"), 1, &maybe);
	qn_pattern *p = qn_pat_type(ctx, tanh, "f32[4]");
	seen s = {.part = sum, .g = qn_model_main(m)};
	size_t count;

	if (p == NULL)
		return QN_ENOMEM;
	qn_status status = qn_pattern_match(p, s.g, 0, NULL, note, &s, &count);
	if (status != QN_OK)
		return status;
	assert_int_equal(count, 1);
	assert_string_equal(s.names, "t sum;");
	return QN_OK;
}

/* relu(v) -> leaky_relu(v) */
static qn_id
soften(void *user, qn_graph *g, const qn_match *m, const qn_graph *before, qn_id before_root)
{
	qn_id v = qn_match_get(m, "v");

	(void)user;
	assert_string_equal(qn_value(before, before_root).op, "relu");
	return qn_add_op(g, "leaky_relu", "soft", 1, &v, "alpha=0.1", NULL);
}

static qn_status
change(qn_ctx *ctx, qn_model *m)
{
	qn_pattern *p;
	size_t n;
	qn_status s = qn_pattern_parse(ctx, "relu(v)", &p);

	if (s == QN_OK)
		s = qn_rewrite_model(
			m, 1, &(qn_rewrite_rule){.name = "soften", .pattern = p, .fn = soften},
			NULL, &n);
	if (s != QN_OK)
		return s;
	assert_int_equal(n, 2);
	assert_int_not_equal(qn_value_find(qn_model_main(m), "soft"), 0);
	assert_int_equal(qn_value_find(qn_model_main(m), "r"), 0);
	s = qn_pattern_parse(ctx, "tanh(leaky_relu(*))", &p);
	if (s == QN_OK)
		s = qn_cut_model(m, p,
				 &(qn_cut_opts){.label = "block",
						.nattr = 1,
						.key = (const char *const[]){"Composite"},
						.value = (const char *const[]){"dsp"}},
				 &n);
	if (s != QN_OK)
		return s;
	assert_int_equal(n, 1);
	s = qn_pattern_parse(
		ctx, "fn[tanh(*)](a){Composite=dsp, PartitionedFromPattern=leaky_relu_tanh_}", &p);
	if (s == QN_OK)
		s = qn_pattern_match(p, qn_model_main(m), 0, NULL, NULL, NULL, &n);
	if (s == QN_OK)
		assert_int_equal(n, 1);
	return s;
}

static qn_status
job(qn_ctx *ctx)
{
	qn_model *m;
	qn_status s = build(ctx, &m);

	if (s == QN_OK)
		s = ask(ctx, m);
	return s == QN_OK ? change(ctx, m) : s;
}

static void
does_the_job(void **state)
{
	qn_ctx *ctx = qn_open(NULL);

	(void)state;
	assert_int_equal(job(ctx), QN_OK);
	assert_int_equal(qn_diag_count(ctx), 0);
	qn_close(ctx);
}

static void
survives_a_heap_that_ends(void **state)
{
	heap h = {0};
	size_t fail_at = 0;
	qn_status s;

	(void)state;
	do {
		h = (heap){.fail_at = ++fail_at};
		qn_config config = {.alloc = host_alloc, .alloc_user = &h};
		qn_ctx *ctx = qn_open(&config);

		s = ctx == NULL ? QN_ENOMEM : job(ctx);
		qn_close(ctx);
		assert_int_equal(h.live, 0);
	} while (s != QN_OK && fail_at < 10000);
	assert_int_equal(s, QN_OK);
}

static int
append(void *user, const char *s, size_t n)
{
	strncat(user, s, n);
	return 0;
}

/* One of each, as text. */
static void
builds_every_form(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m;
	int asked = 0;
	char text[400] = "";

	(void)state;
	assert_int_equal(build(ctx, &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_pattern *any = qn_pat_any(ctx), *r = qn_pat_any(ctx);
	qn_pattern *parts[] = {
		qn_pat_const(ctx),
		qn_pat_number(ctx, 0.5),
		qn_pat_expr(ctx, g, qn_value_find(g, "a")),
		qn_pat_tuple(ctx, -1, NULL),
		qn_pat_get(ctx, qn_pat_tuple(ctx, 1, &any), 0),
		qn_pat_alt(ctx, qn_pat_input(ctx, NULL),
			   qn_pat_call(ctx, qn_callee_any(ctx), 0, NULL)),
		qn_pat_call(ctx, qn_callee_class(ctx, "MIX"), -1, NULL),
		qn_pat_call(ctx, qn_callee_fn(ctx, -1, NULL, qn_pat_any(ctx)), -1, NULL),
		qn_pat_dominator(ctx, qn_pat_any(ctx), NULL, qn_pat_any(ctx)),
		qn_pat_attrs(ctx, qn_pat_call(ctx, qn_callee_op(ctx, "clip"), -1, NULL), "min=0.0"),
		qn_pat_where(ctx, qn_pat_any(ctx), "even", is_even, &asked),
		r,
	};
	enum { N = sizeof parts / sizeof parts[0] };
	assert_int_equal(
		qn_pat_redirect(ctx, r, qn_pat_call(ctx, qn_callee_op(ctx, "relu"), 1, &r)), QN_OK);
	qn_pattern *all = qn_pat_call(ctx, qn_callee_op(ctx, "concat"), N, parts);
	assert_int_equal(qn_pattern_print(all, append, text), QN_OK);
	char *slot = strstr(text, "slot"); /* of the recursive one, which needs a name */
	assert_non_null(slot);
	*slot = '\0';
	assert_string_equal(text, "concat(const, 0.5, expr(%a), tuple(...), tuple(*).0, "
				  "input | *(), MIX(...), fn[*](...), * ~> *, clip(...){min=0.0}, "
				  "* where even, ");
	size_t n;
	assert_int_equal(qn_pattern_match(parts[10], g, 0, NULL, NULL, NULL, &n), QN_OK);
	assert_int_equal(n, 3); /* of 6 values */
	assert_int_equal(asked, 6);
	assert_int_equal(qn_pattern_predicate(ctx, "even", is_even, &asked), QN_OK);
	assert_int_equal(qn_pattern_parse(ctx, "* where even", &any), QN_OK);
	assert_int_equal(qn_pattern_match(any, g, 0, NULL, NULL, NULL, &n), QN_OK);
	assert_int_equal(n, 3);
	assert_int_equal(qn_diag_count(ctx), 0);
	qn_close(ctx);
}

static void
tells_what_is_wrong(void **state)
{
	qn_ctx *ctx = qn_open(NULL), *other = qn_open(NULL);
	qn_pattern *x = qn_pat_any(ctx), *y = qn_pat_any(other), *p = x;
	qn_pattern *two[2] = {x, x};
	qn_model *m;

	(void)state;
	assert_int_equal(build(ctx, &m), QN_OK);
	assert_null(qn_callee_op(ctx, "rleu"));
	assert_null(qn_pat_call(ctx, qn_callee_op(ctx, "relu"), 2, two));
	assert_null(qn_pat_alt(ctx, x, y));
	assert_null(qn_pat_alt(ctx, x, NULL));
	assert_null(qn_pat_type(ctx, x, "f32 : i8[]]"));
	assert_null(qn_pat_attrs(ctx, x, "a=1} where scalar"));
	assert_int_equal(qn_pattern_parse(ctx, "relu(", &p), QN_EUSAGE);
	assert_null(p);
	assert_int_equal(qn_cut_model(m, y, NULL, NULL), QN_EUSAGE);
	assert_int_equal(qn_rewrite_model(m, 1, &(qn_rewrite_rule){.fn = soften}, NULL, NULL),
			 QN_EUSAGE);
	assert_int_equal(qn_pattern_match(x, qn_model_main(m), 99, NULL, NULL, NULL, NULL),
			 QN_EUSAGE);
	assert_int_equal(qn_pattern_parse(ctx, "mul(add(u, v), v) | mul(*, add(u, v))", &p), QN_OK);
	assert_int_equal(qn_pattern_match(p, qn_model_main(m), 0, &(qn_match_opts){.steps = 3},
					  NULL, NULL, NULL),
			 QN_EBUDGET);
	static const char *const ids[] = {
		"pattern.op",      "pattern.arity",   "pattern.context",
		"pattern.syntax",  "pattern.syntax",  "pattern.syntax",
		"pattern.context", "pattern.context", "graph.value.undefined",
		"pattern.limit"};
	for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
		assert_string_equal(qn_diag_get(ctx, i).id, ids[i]);
	assert_int_equal(qn_diag_count(ctx), sizeof ids / sizeof ids[0]);
	qn_close(ctx);
	qn_close(other);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(does_the_job),
		cmocka_unit_test(builds_every_form),
		cmocka_unit_test(tells_what_is_wrong),
		cmocka_unit_test(survives_a_heap_that_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
