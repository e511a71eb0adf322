/* SPDX-License-Identifier: Apache-2.0 */
/* attributes.c - attributes and types of the nodes of a composition.
 *
 *   {begin = [0, i], end = [n, i + 1]}     by the row of the op; what has a default may be left out
 *   {padding = same, keepdims}             words of an enumeration need no quotes; a name alone is 1
 *   tensor<{%x.dim}x4xf32>                 a type, with expressions in braces */
#include <string.h>

#include "lib/parser.h"

/* ---- attributes ---- */

static bool
invalid(qn_lib_walk *w, const char *op, const qn_attr_info *info, const qn_item *x)
{
	qn_buf b;

	qn_buf_init(&b, w->lib->a);
	qn_item_print(&b, x);
	return qn_lib_fail(w, "attr.value", "invalid value '%s' of attribute '%s' of %s",
			   qn_buf_str(&b), info->name, op);
}

/* The integers of an item, which may be one; false: it has others, or more than `most`. */
static bool
integers_of(const qn_item *x, size_t most, int64_t *v, size_t *n)
{
	const qn_item *at = x->kind == QN_ITEM_LIST ? x->at : x;

	*n = x->kind == QN_ITEM_LIST ? x->n : 1;
	if (*n > most)
		return false;
	for (size_t i = 0; i < *n; i++) {
		if (at[i].kind != QN_ITEM_INT)
			return false;
		v[i] = at[i].i;
	}
	return true;
}

static bool
reals_of(const qn_item *x, double *v, size_t *n)
{
	const qn_item *at = x->kind == QN_ITEM_LIST ? x->at : x;

	*n = x->kind == QN_ITEM_LIST ? x->n : 1;
	for (size_t i = 0; i < *n; i++) {
		if (!qn_item_is_number(&at[i]))
			return false;
		v[i] = qn_item_number(&at[i]);
	}
	return true;
}

/* False: the attribute does not take the item. */
static bool
set_attr(qn_lib_walk *w, const qn_attr_info *info, const qn_item *x, qn_attrs *attrs)
{
	void *at = (char *)attrs + info->offset;
	qn_list list = {0};
	size_t n = 0;

	if (x->kind == QN_ITEM_LIST && !qn_lib_may_look(w, x->n))
		return false;
	switch (info->kind) {
	case QN_ATTR_INT:
		return x->kind == QN_ITEM_INT && integers_of(x, 1, at, &n);
	case QN_ATTR_INTS:
	case QN_ATTR_LIST:
		if (x->kind != QN_ITEM_LIST || !integers_of(x, QN_MAX_RANK, list.v, &n))
			return false;
		list.n = (int32_t)n;
		if (info->kind == QN_ATTR_LIST)
			memcpy(at, &list, sizeof list);
		else if (n == info->length)
			memcpy(at, list.v, n * sizeof list.v[0]);
		return info->kind == QN_ATTR_LIST || n == info->length;
	case QN_ATTR_REAL:
		return qn_item_is_number(x) && reals_of(x, at, &n);
	case QN_ATTR_ENUM:
		return x->kind == QN_ITEM_TEXT &&
		       (*(int32_t *)at = qn_enum_find(info, x->text)) >= 0;
	case QN_ATTR_INTEGERS: {
		int64_t *v = QN_NEW(w->lib->a, int64_t, x->kind == QN_ITEM_LIST ? x->n + 1 : 1);

		*(qn_integers *)at = (qn_integers){.v = v};
		return integers_of(x, SIZE_MAX, v, &((qn_integers *)at)->n);
	}
	case QN_ATTR_REALS: {
		double *v = QN_NEW(w->lib->a, double, x->kind == QN_ITEM_LIST ? x->n + 1 : 1);

		*(qn_reals *)at = (qn_reals){.v = v};
		return reals_of(x, v, &((qn_reals *)at)->n);
	}
	case QN_ATTR_TEXT:
		*(const char **)at = x->text;
		return x->kind == QN_ITEM_TEXT;
	}
	return false;
}

/* A word of an enumeration, or an expression. */
static bool
read_value(qn_lib_walk *w, const qn_attr_info *info, qn_item *x)
{
	const qn_text start = w->r.text;

	if (info->kind == QN_ATTR_ENUM) {
		const char *word = qn_lib_word(w);
		const bool ends = qn_text_peek(&w->r.text, ",") || qn_text_peek(&w->r.text, "}");

		*x = qn_item_text(word);
		if (word != NULL && ends && qn_enum_find(info, word) >= 0)
			return true;
		w->r.text = start;
	}
	return qn_lib_expression(w, x);
}

/* {name = value, flag}, if it is there. */
bool
qn_lib_attrs(qn_lib_walk *w, const qn_opinfo *op, qn_attrs *out)
{
	const qn_attr_set_info *set = op->attrs;
	uint32_t seen = 0;

	qn_attrs_default(set, out);
	if (qn_text_eat(&w->r.text, "{")) {
		do {
			const char *name = qn_lib_word(w);
			size_t k = 0;
			qn_item x = qn_item_int(1);

			while (name != NULL && k < set->nattr &&
			       strcmp(set->attr[k].name, name) != 0)
				k++;
			if (name == NULL || k == set->nattr)
				return qn_read_fail(
					&w->r, "expected an attribute of %s before this", op->name);
			if (qn_text_eat(&w->r.text, "=") && !read_value(w, &set->attr[k], &x))
				return false;
			seen |= 1U << k;
			if (w->mode == QN_LIB_RUN && !set_attr(w, &set->attr[k], &x, out))
				return invalid(w, op->name, &set->attr[k], &x);
		} while (qn_text_eat(&w->r.text, ","));
		if (!qn_read_expect(&w->r, "}"))
			return false;
	}
	for (size_t k = 0; k < set->nattr; k++)
		if (set->attr[k].default_text[0] == '\0' && (seen >> k & 1U) == 0)
			return qn_lib_fail(w, "attr.missing", "attribute '%s' of %s is missing",
					   set->attr[k].name, op->name);
	return true;
}

/* ---- types ---- */

static void
put_dims(qn_buf *b, const qn_item *x)
{
	if (x->kind != QN_ITEM_LIST) {
		qn_item_print(b, x);
		return;
	}
	for (size_t i = 0; i < x->n && i <= QN_MAX_RANK; i++) { /* one too many is an error */
		if (i > 0)
			qn_buf_putc(b, 'x');
		qn_item_print(b, &x->at[i]);
	}
}

/* tensor<{n}x4xf32>: {…} is a number, or a list, which stands for as many dimensions. */
bool
qn_lib_type(qn_lib_walk *w, const qn_type **out)
{
	qn_text *t = &w->r.text;
	int64_t depth = 0;
	qn_buf b;

	qn_buf_init(&b, w->lib->a);
	qn_text_skip(t);
	const char *place = w->mode == QN_LIB_RUN ? qn_lib_place(w) : "";
	while (t->at < t->end && (*t->at != '>' || depth > 1)) {
		qn_item x;

		depth += (*t->at == '<') - (*t->at == '>');
		if (*t->at != '{' || depth > 1) {
			qn_buf_putc(&b, *t->at++);
			continue;
		}
		t->at++;
		if (!qn_lib_expression(w, &x) || !qn_read_expect(&w->r, "}"))
			return false;
		put_dims(&b, &x);
		if (x.kind == QN_ITEM_LIST && x.n == 0 && t->at < t->end && *t->at == 'x')
			t->at++;
	}
	if (!qn_read_expect(&w->r, ">"))
		return false;
	qn_buf_putc(&b, '>');
	*out = NULL;
	return w->mode != QN_LIB_RUN ||
	       qn_type_parse_part(&w->lib->m->types, place, qn_buf_str(&b), out) == QN_OK;
}
