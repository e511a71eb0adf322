/* SPDX-License-Identifier: Apache-2.0 */
/* function.c - what compositions compute with numbers and lists: operators and the functions of a table.
 *
 *   7 / 2 = 3 (integers: rounded down)    7.0 / 2 = 3.5     [1, 2] + [3] = [1, 2, 3]
 *   min(a, b)  max(a, b)  mod(a, b)  abs(a)  floor(a)  ceil(a)  sqrt(a)  int(a)  real(a)
 *   len(x)  sum(x)  product(x)  range(a, b)  reversed(x)  repeat(x, n) */
#include <math.h>
#include <string.h>

#include "lib/parser.h"

static bool
integer(qn_lib_walk *w, double exact, int64_t v, qn_item *out)
{
	*out = qn_item_int(v);
	if (exact >= -(double)QN_ITEM_MOST && exact <= (double)QN_ITEM_MOST && v >= -QN_ITEM_MOST &&
	    v <= QN_ITEM_MOST)
		return true;
	return qn_lib_fail(w, "lib.range", "an integer is beyond 2^53");
}

static int64_t
floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* a op b of two integers. */
static bool
integers(qn_lib_walk *w, char op, int64_t a, int64_t b, qn_item *out)
{
	const double product = (double)a * (double)b;

	if (op == '/' && b == 0)
		return qn_lib_fail(w, "lib.range", "%lld is divided by 0", (long long)a);
	if (op == '*')
		return integer(w, product, fabs(product) <= (double)QN_ITEM_MOST ? a * b : 0, out);
	const int64_t v = op == '+' ? a + b : op == '-' ? a - b : floor_div(a, b);
	return integer(w, (double)v, v, out);
}

static bool
joined(qn_lib_walk *w, const qn_item *a, const qn_item *b, qn_item *out)
{
	if (!qn_lib_may(w, a->n + b->n))
		return false;
	qn_item *at = QN_NEW(w->lib->a, qn_item, a->n + b->n + 1);
	for (size_t i = 0; i < a->n + b->n; i++)
		at[i] = i < a->n ? a->at[i] : b->at[i - a->n];
	*out = qn_item_list(a->n + b->n, at);
	return true;
}

static bool
arithmetic(qn_lib_walk *w, char op, const qn_item *a, const qn_item *b, qn_item *out)
{
	static const struct {
		char op;
		qn_op made;
	} rows[] = {{'+', QN_OP_add}, {'-', QN_OP_sub}, {'*', QN_OP_mul}, {'/', QN_OP_div}};

	if (a->kind == QN_ITEM_VALUE || b->kind == QN_ITEM_VALUE)
		for (size_t i = 0; i < QN_COUNT(rows); i++)
			if (rows[i].op == op)
				return qn_lib_binary(w, rows[i].made, a, b, out);
	if (op == '+' && a->kind == QN_ITEM_LIST && b->kind == QN_ITEM_LIST)
		return joined(w, a, b, out);
	if (!qn_item_is_number(a) || !qn_item_is_number(b))
		return qn_lib_fail(w, "lib.type", "%s '%c' %s: these cannot be computed",
				   qn_item_names[a->kind], op, qn_item_names[b->kind]);
	if (a->kind == QN_ITEM_INT && b->kind == QN_ITEM_INT)
		return integers(w, op, a->i, b->i, out);
	const double x = qn_item_number(a), y = qn_item_number(b);
	*out = qn_item_real(op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : x / y);
	return true;
}

/* The order of two numbers: -1, 0, 1. */
static int
order(const qn_item *a, const qn_item *b)
{
	const double x = qn_item_number(a), y = qn_item_number(b);

	return (x > y) - (x < y);
}

/* Whether two items are equal, in *out; each of theirs counts (lib.work), and lists nest `nest` deep so far. */
static bool
equal(qn_lib_walk *w, const qn_item *a, const qn_item *b, int nest, bool *out)
{
	*out = a->kind == b->kind;
	if (!qn_lib_may(w, 1) ||
	    (*out && a->kind == QN_ITEM_TEXT && !qn_lib_may_read(w, strlen(a->text))))
		return false;
	if (a->kind == QN_ITEM_INT && b->kind == QN_ITEM_INT)
		*out = a->i == b->i;
	else if (qn_item_is_number(a) && qn_item_is_number(b))
		*out = qn_item_number(a) >= qn_item_number(b) &&
		       qn_item_number(a) <= qn_item_number(b);
	else if (*out && a->kind == QN_ITEM_TEXT)
		*out = a->text == b->text || strcmp(a->text, b->text) == 0;
	else if (*out && a->kind == QN_ITEM_VALUE)
		*out = a->id == b->id;
	if (!*out || a->kind != QN_ITEM_LIST)
		return true;
	if (nest == QN_LIB_NEST)
		return qn_lib_fail(w, "lib.nesting", "lists are nested more than %d deep",
				   (int)QN_LIB_NEST);
	*out = a->n == b->n;
	for (size_t i = 0; *out && i < a->n; i++)
		if (!equal(w, &a->at[i], &b->at[i], nest + 1, out))
			return false;
	return true;
}

bool
qn_lib_combine(qn_lib_walk *w, const char *op, const qn_item *a, const qn_item *b, qn_item *out)
{
	if (w->mode != QN_LIB_RUN || a->kind == QN_ITEM_ANY || b->kind == QN_ITEM_ANY) {
		*out = (qn_item){.kind = QN_ITEM_ANY};
		return true;
	}
	if (strchr("+-*/", op[0]) != NULL)
		return arithmetic(w, op[0], a, b, out);
	if (op[1] == '=' && (op[0] == '=' || op[0] == '!')) {
		bool same;

		if (!equal(w, a, b, 0, &same))
			return false;
		*out = qn_item_int(same == (op[0] == '='));
		return true;
	}
	if (!qn_item_is_number(a) || !qn_item_is_number(b))
		return qn_lib_fail(w, "lib.type", "%s and %s have no order", qn_item_names[a->kind],
				   qn_item_names[b->kind]);
	const int o = order(a, b);
	*out = qn_item_int(op[0] == '<' ? o < (op[1] == '=') : o > -(op[1] == '='));
	return true;
}

/* ---- the table ---- */

typedef bool function_fn(qn_lib_walk *w, const qn_item *arg, size_t n, qn_item *out);

static bool
extreme(const qn_item *arg, size_t n, int sign, qn_item *out)
{
	*out = arg[0];
	for (size_t i = 1; i < n; i++)
		if (order(&arg[i], out) == sign)
			*out = arg[i];
	return true;
}

static bool
smallest(qn_lib_walk *w, const qn_item *arg, size_t n, qn_item *out)
{
	(void)w;
	return extreme(arg, n, -1, out);
}

static bool
largest(qn_lib_walk *w, const qn_item *arg, size_t n, qn_item *out)
{
	(void)w;
	return extreme(arg, n, 1, out);
}

static bool
remainder_of(qn_lib_walk *w, const qn_item *arg, size_t n, qn_item *out)
{
	(void)n;
	if (arg[0].kind != QN_ITEM_INT || arg[1].kind != QN_ITEM_INT || arg[1].i == 0)
		return qn_lib_fail(w, "lib.range", "mod takes integers, the second not 0");
	*out = qn_item_int(arg[0].i - floor_div(arg[0].i, arg[1].i) * arg[1].i);
	return true;
}

static bool
magnitude(qn_lib_walk *w, const qn_item *arg, size_t n, qn_item *out)
{
	(void)w;
	(void)n;
	*out = arg[0];
	if (out->kind == QN_ITEM_INT)
		out->i = out->i < 0 ? -out->i : out->i;
	else
		out->r = fabs(out->r);
	return true;
}

static bool
rounded(qn_lib_walk *w, double v, qn_item *out)
{
	return v >= -(double)QN_ITEM_MOST && v <= (double)QN_ITEM_MOST
		       ? integer(w, v, (int64_t)v, out)
		       : qn_lib_fail(w, "lib.range", "an integer is beyond 2^53");
}

static bool
below(qn_lib_walk *w, const qn_item *arg, size_t n, qn_item *out)
{
	(void)n;
	return rounded(w, floor(qn_item_number(&arg[0])), out);
}

static bool
above(qn_lib_walk *w, const qn_item *arg, size_t n, qn_item *out)
{
	(void)n;
	return rounded(w, ceil(qn_item_number(&arg[0])), out);
}

static bool
to_integer(qn_lib_walk *w, const qn_item *arg, size_t n, qn_item *out)
{
	(void)n;
	return rounded(w, trunc(qn_item_number(&arg[0])), out);
}

static bool
to_real(qn_lib_walk *w, const qn_item *arg, size_t n, qn_item *out)
{
	(void)w;
	(void)n;
	*out = qn_item_real(qn_item_number(&arg[0]));
	return true;
}

static bool
root(qn_lib_walk *w, const qn_item *arg, size_t n, qn_item *out)
{
	(void)w;
	(void)n;
	*out = qn_item_real(sqrt(qn_item_number(&arg[0])));
	return true;
}

static bool
length(qn_lib_walk *w, const qn_item *arg, size_t n, qn_item *out)
{
	(void)w;
	(void)n;
	*out = qn_item_int((int64_t)arg[0].n);
	return true;
}

static bool
folded(qn_lib_walk *w, const char *op, int64_t first, const qn_item *x, qn_item *out)
{
	*out = qn_item_int(first);
	if (!qn_lib_may_look(w, x->n))
		return false;
	for (size_t i = 0; i < x->n; i++) {
		const qn_item a = *out;

		if (!qn_lib_combine(w, op, &a, &x->at[i], out))
			return false;
	}
	return true;
}

static bool
sum(qn_lib_walk *w, const qn_item *arg, size_t n, qn_item *out)
{
	(void)n;
	return folded(w, "+", 0, &arg[0], out);
}

static bool
product(qn_lib_walk *w, const qn_item *arg, size_t n, qn_item *out)
{
	(void)n;
	return folded(w, "*", 1, &arg[0], out);
}

/* range(n): 0 … n - 1; range(a, b): a … b - 1. */
static bool
range(qn_lib_walk *w, const qn_item *arg, size_t n, qn_item *out)
{
	const qn_item *to = &arg[n - 1];
	const int64_t from = n == 2 ? arg[0].i : 0;
	const size_t count = to->i > from ? (size_t)(to->i - from) : 0;

	if (to->kind != QN_ITEM_INT || arg[0].kind != QN_ITEM_INT)
		return qn_lib_fail(w, "lib.type", "range takes integers");
	if (!qn_lib_may(w, count))
		return false;
	qn_item *at = QN_NEW(w->lib->a, qn_item, count + 1);
	for (size_t i = 0; i < count; i++)
		at[i] = qn_item_int(from + (int64_t)i);
	*out = qn_item_list(count, at);
	return true;
}

static bool
reversed(qn_lib_walk *w, const qn_item *arg, size_t n, qn_item *out)
{
	const size_t count = arg[0].n;

	(void)n;
	if (!qn_lib_may(w, count))
		return false;
	qn_item *at = QN_NEW(w->lib->a, qn_item, count + 1);
	for (size_t i = 0; i < count; i++)
		at[i] = arg[0].at[count - 1 - i];
	*out = qn_item_list(count, at);
	return true;
}

/* repeat(x, n): [x, x, …]. */
static bool
repeated(qn_lib_walk *w, const qn_item *arg, size_t n, qn_item *out)
{
	const size_t count = arg[1].i > 0 ? (size_t)arg[1].i : 0;

	(void)n;
	if (arg[1].kind != QN_ITEM_INT)
		return qn_lib_fail(w, "lib.type", "repeat takes an item and a count");
	if (!qn_lib_may(w, count))
		return false;
	qn_item *at = QN_NEW(w->lib->a, qn_item, count + 1);
	for (size_t i = 0; i < count; i++)
		at[i] = arg[0];
	*out = qn_item_list(count, at);
	return true;
}

static const struct {
	const char *name;
	size_t min, max; /* arguments */
	char takes;      /* n: numbers, l: a list, a: anything */
	function_fn *fn;
} functions[] = {
	{"min", 2, QN_LIB_MOST, 'n', smallest},
	{"max", 2, QN_LIB_MOST, 'n', largest},
	{"mod", 2, 2, 'n', remainder_of},
	{"abs", 1, 1, 'n', magnitude},
	{"floor", 1, 1, 'n', below},
	{"ceil", 1, 1, 'n', above},
	{"sqrt", 1, 1, 'n', root},
	{"int", 1, 1, 'n', to_integer},
	{"real", 1, 1, 'n', to_real},
	{"len", 1, 1, 'l', length},
	{"sum", 1, 1, 'l', sum},
	{"product", 1, 1, 'l', product},
	{"range", 1, 2, 'n', range},
	{"reversed", 1, 1, 'l', reversed},
	{"repeat", 2, 2, 'a', repeated},
};

bool
qn_lib_function(qn_lib_walk *w, const char *name, size_t n, const qn_item *arg, qn_item *out,
		bool *found)
{
	size_t k = 0;

	while (k < QN_COUNT(functions) && strcmp(functions[k].name, name) != 0)
		k++;
	*found = k < QN_COUNT(functions);
	if (!*found)
		return true;
	if (n < functions[k].min || n > functions[k].max)
		return qn_lib_fail(w, "lib.type", "%s takes %zu arguments, not %zu", name,
				   functions[k].min, n);
	*out = (qn_item){.kind = QN_ITEM_ANY};
	if (w->mode != QN_LIB_RUN)
		return true;
	for (size_t i = 0; i < n; i++)
		if (functions[k].takes == 'n'
			    ? !qn_item_is_number(&arg[i])
			    : functions[k].takes == 'l' && arg[i].kind != QN_ITEM_LIST)
			return qn_lib_fail(w, "lib.type", "%s does not take %s", name,
					   qn_item_names[arg[i].kind]);
	return functions[k].fn(w, arg, n, out);
}
