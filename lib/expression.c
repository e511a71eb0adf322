/* SPDX-License-Identifier: Apache-2.0 */
/* expression.c - expressions of a composition, from the loosest to the tightest:
 *
 *   a ? b : c     or     and     == != < <= > >=     + -     * /     - not has     x.dim[1], f(x), (a), [a, b]
 *
 * Numbers are computed; where a value of the graph takes part, a node is made.  Of `?`, `and` and `or` only what
 * decides is computed. */
#include <math.h>
#include <string.h>

#include "lib/parser.h"

static const qn_item anything = {.kind = QN_ITEM_ANY};

bool
qn_lib_skip_expression(qn_lib_walk *w)
{
	const qn_lib_mode before = w->mode;
	qn_item x;

	if (before == QN_LIB_RUN)
		w->mode = QN_LIB_SKIP;
	const bool ok = qn_lib_expression(w, &x);
	w->mode = before;
	return ok;
}

/* Whether the next word is this one and not the beginning of a definition. */
static bool
eat_word(qn_lib_walk *w, const char *word)
{
	return qn_text_eat(&w->r.text, word);
}

/* ---- primaries ---- */

static bool
variable(qn_lib_walk *w, const char *name, qn_item *out)
{
	const qn_item *x = qn_lib_var(w, name);

	*out = anything;
	if (w->mode == QN_LIB_SKIP)
		return true;
	if (x == NULL)
		return qn_lib_fail(w, "lib.name", "@%s does not define '%s' before this",
				   w->def->name, name);
	*out = *x;
	return true;
}

/* After f( of a function or an op. */
static bool
applied(qn_lib_walk *w, const char *name, qn_item *out)
{
	bool values = false, found = false;
	qn_lib_items arg = {0};
	qn_item x;

	if (!qn_text_eat(&w->r.text, ")")) {
		do {
			if (!qn_lib_expression(w, &x) || !qn_lib_push(w, &arg, &x))
				return false;
			values = values || x.kind == QN_ITEM_VALUE;
		} while (qn_text_eat(&w->r.text, ","));
		if (!qn_read_expect(&w->r, ")"))
			return false;
	}
	if (!values || !qn_lib_is_op(w, name)) {
		if (!qn_lib_function(w, name, arg.n, arg.at, out, &found))
			return false;
		if (found)
			return true;
	}
	return qn_lib_op_with(w, name, arg.n, arg.at, out);
}

static bool
worded(qn_lib_walk *w, const char *name, qn_item *out)
{
	static const struct {
		const char *name;
		double v;
	} numbers[] = {{"inf", HUGE_VAL}, {"pi", 3.14159265358979323846}};

	for (size_t i = 0; i < QN_COUNT(numbers); i++)
		if (strcmp(name, numbers[i].name) == 0) {
			*out = qn_item_real(numbers[i].v);
			return true;
		}
	*out = (qn_item){0};
	if (strcmp(name, "none") == 0)
		return true;
	if (w->r.text.at < w->r.text.end && *w->r.text.at == '(') {
		w->r.text.at++;
		return applied(w, name, out);
	}
	if (qn_map_gets(&w->def->names, name) == NULL && qn_lib_is_op(w, name))
		return qn_lib_op(w, name, out);
	return variable(w, name, out);
}

static bool
number(qn_lib_walk *w, qn_item *out)
{
	const qn_text start = w->r.text;
	int64_t i;

	if (qn_text_real(&w->r.text, true, &out->r)) {
		out->kind = QN_ITEM_REAL;
		return true;
	}
	const bool integer = qn_text_int(&w->r.text, &i) && i >= -QN_ITEM_MOST && i <= QN_ITEM_MOST;
	if (integer && (w->r.text.at == w->r.text.end || strchr("eE", *w->r.text.at) == NULL)) {
		*out = qn_item_int(i);
		return true;
	}
	w->r.text = start;
	out->kind = QN_ITEM_REAL;
	return qn_text_real(&w->r.text, false, &out->r) ||
	       qn_read_fail(&w->r, "expected a number, a name, a text, '(' or '['");
}

/* The name of an op of the host, which has a dot; NULL: another word follows. */
static const char *
host_op(qn_lib_walk *w)
{
	qn_text t = w->r.text;
	const char *word;
	const size_t n = qn_text_word(&t, &word);

	if (n == 0 || memchr(word, '.', n) == NULL)
		return NULL;
	const char *name = qn_lib_intern(w->lib, word, n);
	if (!qn_lib_is_op(w, name))
		return NULL;
	w->r.text = t;
	return name;
}

static bool
primary(qn_lib_walk *w, qn_item *out)
{
	qn_text *t = &w->r.text;
	const char *name;

	*out = (qn_item){0};
	if (qn_text_eat(t, "("))
		return qn_lib_expression(w, out) && qn_read_expect(&w->r, ")");
	if (qn_text_eat(t, "["))
		return qn_lib_list(w, out);
	if (qn_text_eat(t, "@"))
		return qn_lib_called(w, 1, out);
	if (qn_text_peek(t, "\"")) {
		out->kind = QN_ITEM_TEXT;
		return qn_lib_quoted(w, &out->text);
	}
	if (qn_text_peek(t, "%"))
		return (name = qn_lib_value_name(w)) != NULL && variable(w, name, out);
	name = host_op(w);
	if (name != NULL)
		return qn_lib_op(w, name, out);
	name = qn_lib_word(w);
	return name != NULL ? worded(w, name, out) : number(w, out);
}

static bool
postfix(qn_lib_walk *w, qn_item *out)
{
	if (!primary(w, out))
		return false;
	for (;;) {
		const char *at = w->r.text.at;

		if (at == w->r.text.end || (*at != '.' && *at != '['))
			return true;
		w->r.text.at++;
		if (*at == '.' ? !qn_lib_property(w, out) : !qn_lib_indexed(w, out))
			return false;
	}
}

static bool
unary(qn_lib_walk *w, qn_item *out)
{
	qn_text *t = &w->r.text;

	if (!qn_lib_may(w, 1))
		return false;
	if (eat_word(w, "has")) {
		if (!postfix(w, out))
			return false;
		if (w->mode == QN_LIB_RUN)
			*out = qn_item_int(out->kind != QN_ITEM_NONE);
		return true;
	}
	if (eat_word(w, "not")) {
		if (!unary(w, out))
			return false;
		if (out->kind != QN_ITEM_ANY)
			*out = qn_item_int(!qn_item_holds(out));
		return true;
	}
	if (!qn_text_peek(t, "-"))
		return postfix(w, out);
	t->at++;
	if (!unary(w, out))
		return false;
	const qn_item x = *out, zero = qn_item_int(0);
	if (x.kind != QN_ITEM_REAL)
		return qn_lib_combine(w, "-", &zero, &x, out);
	out->r = -out->r;
	return true;
}

/* ---- operators ---- */

/* The operator of this level that comes next, NULL: none. */
static const char *
next_operator(qn_lib_walk *w, int level)
{
	static const char *const ops[][7] = {
		{"==", "!=", "<=", ">=", "<", ">", NULL}, {"+", "-", NULL}, {"*", "/", NULL}};

	for (size_t i = 0; ops[level][i] != NULL; i++)
		if (qn_text_eat(&w->r.text, ops[level][i]))
			return ops[level][i];
	return NULL;
}

static bool
level(qn_lib_walk *w, int at, qn_item *out)
{
	enum { TIGHTEST = 3 };
	const char *op;

	if (at == TIGHTEST)
		return unary(w, out);
	if (!level(w, at + 1, out))
		return false;
	while ((op = next_operator(w, at)) != NULL) {
		const qn_item a = *out;
		qn_item b;

		if (!level(w, at + 1, &b))
			return false;
		if (!qn_lib_combine(w, op, &a, &b, out))
			return false;
	}
	return true;
}

/* a and b, a or b: the second only where it decides. */
static bool
logic(qn_lib_walk *w, bool both, qn_item *out)
{
	if (both ? !level(w, 0, out) : !logic(w, true, out))
		return false;
	while (eat_word(w, both ? "and" : "or")) {
		const bool holds = qn_item_holds(out), decided = both ? !holds : holds;
		const qn_lib_mode before = w->mode;
		qn_item b;

		if (before == QN_LIB_RUN && decided)
			w->mode = QN_LIB_SKIP;
		const bool ok = both ? level(w, 0, &b) : logic(w, true, &b);
		w->mode = before;
		if (!ok)
			return false;
		*out = before != QN_LIB_RUN ? anything
		       : decided            ? qn_item_int(!both)
					    : qn_item_int(qn_item_holds(&b));
	}
	return true;
}

/* One of both; the other is read over. */
static bool
choice(qn_lib_walk *w, bool first, qn_item *out)
{
	if (w->mode != QN_LIB_RUN) {
		const bool ok = qn_lib_expression(w, out) && qn_read_expect(&w->r, ":") &&
				qn_lib_expression(w, out);

		*out = anything;
		return ok;
	}
	return (first ? qn_lib_expression(w, out) : qn_lib_skip_expression(w)) &&
	       qn_read_expect(&w->r, ":") &&
	       (first ? qn_lib_skip_expression(w) : qn_lib_expression(w, out));
}

bool
qn_lib_expression(qn_lib_walk *w, qn_item *out)
{
	bool ok;

	*out = (qn_item){0};
	if (++w->nest > QN_LIB_NEST)
		return qn_lib_fail(w, "lib.nesting", "expressions are nested more than %d deep",
				   (int)QN_LIB_NEST);
	ok = logic(w, false, out);
	if (ok && qn_text_eat(&w->r.text, "?"))
		ok = choice(w, qn_item_holds(out), out);
	w->nest--;
	return ok;
}
