/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c - lists of compositions, and parts of lists and values.
 *
 *   [1, 2]     [i * n for i in 4 for n in sizes]     list[0]  list[-1]  list[1:]
 *   %x.rank  %x.dim  %x.count  %x.elem  %x.const  %x.data */
#include <string.h>

#include "lib/parser.h"

static const qn_item anything = {.kind = QN_ITEM_ANY};

/* ---- lists ---- */

bool
qn_lib_push(qn_lib_walk *w, qn_lib_items *to, const qn_item *x)
{
	/* what was there before it grows stays until the end */
	if (!qn_lib_may(w, to->n == to->cap && to->n > 0 ? 2 * to->n : 1))
		return false;
	to->at = qn_arena_grow(w->lib->a, to->at, &to->cap, to->n + 1, sizeof *to->at);
	to->at[to->n++] = *x;
	return true;
}

/* for i in x [for …]: the clauses from `clause` on, with the expression at `body` for each. */
static bool
comprehend(qn_lib_walk *w, qn_text body, qn_text clause, qn_lib_items *to)
{
	qn_item over, x;

	w->r.text = clause;
	if (!qn_text_eat(&w->r.text, "for")) {
		if (w->mode == QN_LIB_SKIP)
			return true; /* it has been */
		w->r.text = body;
		if (!qn_lib_expression(w, &x) || !qn_lib_push(w, to, &x))
			return false;
		w->r.text = clause;
		return true;
	}
	const char *name = qn_lib_word(w);
	if (name == NULL || !qn_read_expect(&w->r, "in"))
		return name != NULL || qn_read_fail(&w->r, "expected a name after 'for'");
	if (!qn_lib_expression(w, &over))
		return false;
	const qn_text next = w->r.text;
	const bool list = over.kind == QN_ITEM_LIST;
	if (w->mode != QN_LIB_RUN) {
		qn_lib_set(w, name, &anything);
		return comprehend(w, body, next, to);
	}
	if (!list && over.kind != QN_ITEM_INT)
		return qn_lib_fail(w, "lib.type", "'in' takes a list or a count, not %s",
				   qn_item_names[over.kind]);
	const int64_t count = list ? (int64_t)over.n : over.i;
	for (int64_t i = 0; i < count; i++) {
		const qn_item now = list ? over.at[i] : qn_item_int(i);

		qn_lib_set(w, name, &now);
		if (!qn_lib_may(w, 1) || !comprehend(w, body, next, to) ||
		    !qn_lib_may_read(w, (size_t)(next.at - body.at)))
			return false;
	}
	if (count > 0)
		return true;
	/* Nothing is computed; what is left is read over. */
	const qn_lib_mode before = w->mode;
	w->mode = QN_LIB_SKIP;
	w->r.text = next;
	const bool ok = comprehend(w, body, next, to);
	w->mode = before;
	return ok;
}

/* The first item of a list, perhaps one for each of something: in a check, the names of `for` are known first. */
static bool
first_item(qn_lib_walk *w, qn_lib_items *to)
{
	const qn_text body = w->r.text;
	const qn_lib_mode before = w->mode;
	qn_item x;

	w->mode = QN_LIB_SKIP;
	const bool ok = qn_lib_expression(w, &x);
	w->mode = before;
	if (!ok)
		return false;
	const qn_text clause = w->r.text;
	if (qn_text_peek(&w->r.text, "for"))
		return comprehend(w, body, clause, to);
	if (before == QN_LIB_SKIP)
		return true;
	w->r.text = body;
	return qn_lib_expression(w, &x) && qn_lib_push(w, to, &x);
}

/* After "[". */
bool
qn_lib_list(qn_lib_walk *w, qn_item *out)
{
	qn_lib_items items = {0};

	if (!qn_text_eat(&w->r.text, "]")) {
		if (!first_item(w, &items))
			return false;
		while (qn_text_eat(&w->r.text, ",")) {
			qn_item x;

			if (!qn_lib_expression(w, &x) || !qn_lib_push(w, &items, &x))
				return false;
		}
		if (!qn_read_expect(&w->r, "]"))
			return false;
	}
	*out = w->mode == QN_LIB_RUN ? qn_item_list(items.n, items.at) : anything;
	return true;
}

/* ---- what follows a name ---- */

/* Numbers of a constant. */
static bool
data_of(qn_lib_walk *w, const qn_node *n, qn_item *out)
{
	if (n->op != QN_OP_const || n->value == NULL)
		return qn_lib_fail(w, "import.constant",
				   "'%s' must be a constant; put the value itself into the model, "
				   "or fix the inputs that it comes from (--input-value "
				   "NAME=VALUE)",
				   n->name);
	const int64_t count = qn_type_count(n->type);
	const bool real = qn_elem_is_float(n->type->elem);
	if (count < 0 || !qn_lib_may(w, (uint64_t)count))
		return false;
	qn_item *at = QN_NEW(w->lib->a, qn_item, (size_t)count + 1);
	for (int64_t i = 0; i < count; i++) {
		const int64_t v = real ? 0 : qn_tensor_i64(n->value, i);

		at[i] = real ? qn_item_real(qn_tensor_f64(n->value, i))
			     : qn_item_int(v < -QN_ITEM_MOST  ? -QN_ITEM_MOST
					   : v > QN_ITEM_MOST ? QN_ITEM_MOST
							      : v);
	}
	*out = qn_item_list((size_t)count, at);
	return true;
}

static const char *
elem_text(qn_lib_walk *w, const qn_type *type)
{
	qn_buf b;

	qn_buf_init(&b, w->lib->a);
	qn_elem_print(&b, type->elem);
	return qn_buf_str(&b);
}

/* Whether it is a constant, and no element is 0. */
static bool
all_set(const qn_node *n)
{
	const int64_t count = n->value != NULL ? qn_type_count(n->type) : -1;

	for (int64_t i = 0; i < count; i++)
		if (qn_tensor_i64(n->value, i) == 0)
			return false;
	return count >= 0;
}

/* .dim, .rank … of a value. */
bool
qn_lib_property(qn_lib_walk *w, qn_item *x)
{
	const char *name = qn_lib_word(w);
	static const char *const names[] = {"rank", "dim", "count", "elem", "const", "data", "all"};
	bool known = false;

	for (size_t i = 0; name != NULL && i < QN_COUNT(names); i++)
		known = known || strcmp(name, names[i]) == 0;
	if (!known)
		return qn_read_fail(&w->r, "expected rank, dim, count, elem, const, data or all");
	if (x->kind == QN_ITEM_ANY)
		return true;
	if (x->kind != QN_ITEM_VALUE)
		return qn_lib_fail(w, "lib.type", "only a value has a .%s, not %s", name,
				   qn_item_names[x->kind]);
	const qn_node *n = qn_graph_node(w->lib->g, x->id);
	const qn_type *t = n->type;
	if (t->is_tuple || t->rank < 0)
		return qn_lib_fail(w, "import.type", "'%s' has several fields, or no known rank",
				   n->name);
	if (strcmp(name, "rank") == 0)
		*x = qn_item_int(t->rank);
	else if (strcmp(name, "dim") == 0)
		*x = qn_item_ints(w->lib->a, (size_t)t->rank, t->dim);
	else if (strcmp(name, "count") == 0)
		*x = qn_item_int(qn_type_count(t));
	else if (strcmp(name, "elem") == 0)
		*x = qn_item_text(elem_text(w, t));
	else if (strcmp(name, "const") == 0)
		*x = qn_item_int(n->op == QN_OP_const);
	else if (strcmp(name, "all") == 0)
		*x = qn_item_int(all_set(n));
	else
		return data_of(w, n, x);
	return true;
}

/* An index, from the end where it is negative; false after a report. */
static bool
place_in(qn_lib_walk *w, const qn_item *at, size_t n, bool end, size_t *out)
{
	const int64_t count = (int64_t)n;

	if (at->kind != QN_ITEM_INT)
		return qn_lib_fail(w, "lib.type", "an index is an integer, not %s",
				   qn_item_names[at->kind]);
	const int64_t i = at->i < 0 ? at->i + count : at->i;
	if (i < 0 || i > count || (i == count && !end))
		return qn_lib_fail(w, "lib.index", "index %lld of %lld items", (long long)at->i,
				   (long long)count);
	*out = (size_t)i;
	return true;
}

/* After "[": [i], [from:to], each of them left out or not. */
bool
qn_lib_indexed(qn_lib_walk *w, qn_item *x)
{
	qn_item from = qn_item_int(0), to = qn_item_int((int64_t)x->n);
	size_t a = 0, b = 0;

	if (!qn_text_peek(&w->r.text, ":") && !qn_lib_expression(w, &from))
		return false;
	const bool slice = qn_text_eat(&w->r.text, ":");
	if (slice && !qn_text_peek(&w->r.text, "]") && !qn_lib_expression(w, &to))
		return false;
	if (!qn_read_expect(&w->r, "]"))
		return false;
	if (x->kind == QN_ITEM_ANY || w->mode != QN_LIB_RUN) {
		*x = anything;
		return true;
	}
	if (x->kind != QN_ITEM_LIST)
		return qn_lib_fail(w, "lib.type", "only a list has items, not %s",
				   qn_item_names[x->kind]);
	if (!place_in(w, &from, x->n, slice, &a) || (slice && !place_in(w, &to, x->n, true, &b)))
		return false;
	*x = slice ? qn_item_list(b > a ? b - a : 0, x->at + a) : x->at[a];
	return true;
}
