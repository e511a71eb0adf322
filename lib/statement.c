/* SPDX-License-Identifier: Apache-2.0 */
/* statement.c - the statements of a composition.
 *
 *   require %x.rank == 3, import.input, "x has {%x.rank} dimensions, not 3"
 *   %a, %b = split %x {axis = 1, sections = 2}
 *   ys = ys + [%a]
 *   if has %bias { %a = %a + %bias } else if relu { %a = relu(%a) }
 *   for i in len(ys) { … }
 *   return %a, %b */
#include <string.h>

#include "lib/parser.h"

enum { MOST_TARGETS = 16 };

/* What is read over or only checked, like one that is computed: mode for the length of fn. */
static bool
under(qn_lib_walk *w, bool live, bool (*fn)(qn_lib_walk *w))
{
	const qn_lib_mode before = w->mode;

	if (before == QN_LIB_RUN && !live)
		w->mode = QN_LIB_SKIP;
	const bool ok = fn(w);
	w->mode = before;
	return ok;
}

static bool
branches(qn_lib_walk *w, bool taken)
{
	qn_item condition;
	const qn_lib_mode before = w->mode;

	if (before == QN_LIB_RUN && taken)
		w->mode = QN_LIB_SKIP;
	const bool ok = qn_lib_expression(w, &condition);
	w->mode = before;
	if (!ok)
		return false;
	const bool now = !taken && qn_item_holds(&condition);
	if (!under(w, now, qn_lib_block))
		return false;
	if (!qn_text_eat(&w->r.text, "else"))
		return true;
	if (qn_text_eat(&w->r.text, "if"))
		return branches(w, taken || now);
	return under(w, !taken && !now, qn_lib_block);
}

static bool
if_statement(qn_lib_walk *w)
{
	if (++w->nest > QN_LIB_NEST)
		return qn_lib_fail(w, "lib.nesting", "blocks are nested more than %d deep",
				   (int)QN_LIB_NEST);
	const bool ok = branches(w, false);
	w->nest--;
	return ok;
}

/* What `for i in x` goes through: the items of a list, or 0 … x - 1. */
static bool
count_of(qn_lib_walk *w, const qn_item *x, size_t *n)
{
	*n = x->kind == QN_ITEM_LIST ? x->n : x->kind == QN_ITEM_INT && x->i > 0 ? (size_t)x->i : 0;
	if (x->kind == QN_ITEM_LIST || x->kind == QN_ITEM_INT)
		return true;
	return qn_lib_fail(w, "lib.type", "'in' takes a list or a count, not %s",
			   qn_item_names[x->kind]);
}

static bool
for_statement(qn_lib_walk *w)
{
	const char *name = qn_lib_word(w);
	qn_item over;
	size_t n = 0;

	if (name == NULL || !qn_read_expect(&w->r, "in"))
		return name != NULL || qn_read_fail(&w->r, "expected a name after 'for'");
	if (!qn_lib_expression(w, &over))
		return false;
	if (w->mode != QN_LIB_RUN) {
		qn_lib_set(w, name, &(qn_item){.kind = QN_ITEM_ANY});
		return qn_lib_block(w);
	}
	const qn_text start = w->r.text;
	if (!count_of(w, &over, &n))
		return false;
	for (size_t i = 0; i < n && !w->returned; i++) {
		const qn_item at = over.kind == QN_ITEM_LIST ? over.at[i] : qn_item_int((int64_t)i);

		w->r.text = start;
		qn_lib_set(w, name, &at);
		if (!qn_lib_may(w, 1) || !qn_lib_block(w) ||
		    !qn_lib_may_read(w, (size_t)(w->r.text.at - start.at)))
			return false;
	}
	return n > 0 || under(w, false, qn_lib_block);
}

/* "x has {%x.rank} dimensions", what is in braces computed. */
static bool
message(qn_lib_walk *w, const char **out)
{
	qn_text *t = &w->r.text;
	const char *text;
	qn_buf b;

	qn_text_skip(t);
	const qn_text start = *t;
	if (!qn_text_peek(t, "\""))
		return qn_read_expect(&w->r, "\"");
	if (!qn_lib_quoted(w, &text))
		return false;
	if (w->mode == QN_LIB_SKIP)
		return true;
	const qn_text after = *t;
	*t = start;
	qn_buf_init(&b, w->lib->a);
	for (t->at++; t->at < after.at - 1; t->at++) {
		qn_item x;

		if (*t->at != '{') {
			t->at += *t->at == '\\';
			qn_buf_putc(&b, *t->at);
			continue;
		}
		t->at++;
		if (!qn_lib_expression(w, &x) || !qn_text_peek(t, "}"))
			return qn_read_fail(&w->r, "expected '}'");
		qn_item_print(&b, &x);
	}
	*t = after;
	*out = qn_buf_str(&b);
	return true;
}

static bool
require_statement(qn_lib_walk *w)
{
	const qn_lib_mode before = w->mode;
	const char *id, *text = "";
	qn_item condition;
	size_t n;

	if (!qn_lib_expression(w, &condition) || !qn_read_expect(&w->r, ","))
		return false;
	if ((n = qn_text_word(&w->r.text, &id)) == 0)
		return qn_read_fail(&w->r, "expected an id such as import.input");
	if (!qn_read_expect(&w->r, ","))
		return false;
	const bool broken = before == QN_LIB_RUN && !qn_item_holds(&condition);
	if (before == QN_LIB_RUN && !broken)
		w->mode = QN_LIB_SKIP;
	const bool ok = message(w, &text);
	w->mode = before;
	if (!ok || !broken)
		return ok;
	const char *place = qn_lib_place(w);
	qn_buf b;
	qn_buf_init(&b, w->lib->a);
	qn_buff(&b, "%s (%s)", text, place);
	w->lib->host->refuse(w->lib->host->user, qn_arena_strn(w->r.m->arena, id, n), NULL,
			     qn_buf_str(&b));
	return false;
}

static bool
return_statement(qn_lib_walk *w)
{
	qn_lib_items items = {0};
	qn_item x;

	do {
		if (!qn_lib_expression(w, &x) || !qn_lib_push(w, &items, &x))
			return false;
	} while (qn_text_eat(&w->r.text, ","));
	if (w->mode != QN_LIB_RUN)
		return true;
	w->returned = true;
	w->result = qn_item_list(items.n, items.at);
	return true;
}

/* ---- definitions ---- */

/* Field i of a value with several fields, or item i of a list. */
static bool
part_of(qn_lib_walk *w, const qn_item *x, size_t i, qn_item *out)
{
	qn_attrs a;

	*out = *x;
	if (x->kind == QN_ITEM_LIST) {
		*out = i < x->n ? x->at[i] : (qn_item){0};
		return true;
	}
	if (x->kind != QN_ITEM_VALUE || !qn_graph_node(w->lib->g, x->id)->type->is_tuple)
		return i == 0 || w->mode != QN_LIB_RUN ||
		       qn_lib_fail(w, "lib.type", "there is only one result");
	qn_attrs_default(qn_opinfo_get(QN_OP_get)->attrs, &a);
	a.get.index = (int64_t)i;
	*out = qn_item_value(qn_lib_make(w, &(qn_lib_node){.op = QN_OP_get,
							   .info = qn_opinfo_get(QN_OP_get),
							   .nin = 1,
							   .in = &x->id,
							   .attrs = &a}));
	return out->kind == QN_ITEM_VALUE;
}

/* Names before "=", each with its sigil; 0 after a report. */
static size_t
read_targets(qn_lib_walk *w, const char **target)
{
	size_t n = 0;

	do {
		if (n == MOST_TARGETS)
			return (size_t)qn_read_fail(&w->r, "expected at most %d names",
						    (int)MOST_TARGETS);
		target[n] = qn_text_peek(&w->r.text, "%") ? qn_lib_value_name(w) : qn_lib_word(w);
		if (target[n++] == NULL)
			return (size_t)qn_read_fail(&w->r, "expected if, for, require, return, or "
							   "a name and '='");
	} while (qn_text_eat(&w->r.text, ","));
	return qn_read_expect(&w->r, "=") ? n : 0;
}

static bool
define(qn_lib_walk *w)
{
	const char *target[MOST_TARGETS], *const outer = w->target;
	const size_t n = read_targets(w, target);
	qn_item x, part;

	if (n == 0)
		return false;
	w->target = n == 1 && target[0][0] == '%' ? target[0] + 1 : outer;
	const bool ok = n > 1 && qn_text_eat(&w->r.text, "@") ? qn_lib_called(w, n, &x)
							      : qn_lib_expression(w, &x);
	w->target = outer;
	if (!ok)
		return false;
	if (w->mode == QN_LIB_SKIP)
		return true;
	for (size_t i = 0; i < n; i++) {
		if (n == 1)
			part = x;
		else if (!part_of(w, &x, i, &part))
			return false;
		if (w->mode == QN_LIB_RUN && target[i][0] == '%' && part.kind != QN_ITEM_VALUE &&
		    part.kind != QN_ITEM_NONE)
			return qn_lib_fail(w, "lib.type", "%s is a value, not %s", target[i],
					   qn_item_names[part.kind]);
		qn_lib_set(w, target[i], &part);
		if (w->mode == QN_LIB_CHECK && target[i][0] != '%' &&
		    qn_map_gets(&w->def->names, target[i]) == NULL)
			qn_map_puts(&w->def->names, target[i], w->def);
	}
	return true;
}

static bool
statement(qn_lib_walk *w)
{
	static const struct {
		const char *word;
		bool (*read)(qn_lib_walk *w);
	} rows[] = {{"if", if_statement},
		    {"for", for_statement},
		    {"require", require_statement},
		    {"return", return_statement}};

	qn_text_skip(&w->r.text);
	w->at = w->r.text.at;
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (qn_text_eat(&w->r.text, rows[i].word))
			return rows[i].read(w);
	return define(w);
}

bool
qn_lib_block(qn_lib_walk *w)
{
	if (!qn_read_expect(&w->r, "{"))
		return false;
	if (++w->nest > QN_LIB_NEST)
		return qn_lib_fail(w, "lib.nesting", "blocks are nested more than %d deep",
				   (int)QN_LIB_NEST);
	while (!qn_text_eat(&w->r.text, "}")) {
		if (!statement(w))
			return false;
		if (w->returned)
			break;
	}
	w->nest--;
	return true;
}
