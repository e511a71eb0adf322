/* SPDX-License-Identifier: Apache-2.0 */
/* graph_parse_attrs.c - reads the attributes of a node by the rows of its set.
 *
 *   {stride=[2,2], padding=same}     order is free; what has a default may be left out */
#include <string.h>

#include "ir/attr_errors.h"
#include "ir/graph_text.h"

static const qn_attr_info *
find(const qn_attr_set_info *set, const char *word, size_t n)
{
	for (size_t i = 0; i < set->nattr; i++)
		if (strlen(set->attr[i].name) == n && memcmp(set->attr[i].name, word, n) == 0)
			return &set->attr[i];
	return NULL;
}

/* "[1,2]": the number of items, at most max; -1 when it is not a list of integers, or longer. */
static int32_t
read_list(qn_text *t, int32_t max, int64_t *out)
{
	int32_t n = 0;

	if (!qn_text_eat(t, "["))
		return -1;
	if (qn_text_eat(t, "]"))
		return 0;
	do {
		if (n == max || !qn_text_int(t, &out[n]))
			return -1;
		n++;
	} while (qn_text_eat(t, ","));
	return qn_text_eat(t, "]") ? n : -1;
}

static bool
read_enum(qn_text *t, const qn_attr_info *info, int32_t *out)
{
	const qn_enum_info *list = &qn_enum_table[info->length];

	for (size_t i = 0; i < list->n; i++) {
		if (qn_text_eat(t, list->names[i])) {
			*out = (int32_t)i;
			return true;
		}
	}
	return false;
}

/* How many items "[…]" has at most; 1: no list. */
static size_t
most_items(const qn_text *t)
{
	size_t n = 1;

	for (const char *at = t->at; at < t->end && *at != ']' && *at != '}' && *at != '\n'; at++)
		n += *at == ',';
	return n;
}

/* "1" or "[1,2]", of any length; size: of an item.  NULL: it is neither. */
static void *
read_items(qn_reader *r, size_t size, bool (*item)(qn_text *t, void *to), size_t *n)
{
	qn_text *t = &r->text;

	qn_text_skip(t);
	char *to = qn_arena_alloc(r->m->arena, most_items(t), size);
	*n = 0;
	if (!qn_text_eat(t, "[")) {
		*n = 1;
		return item(t, to) ? to : NULL;
	}
	if (qn_text_eat(t, "]"))
		return to;
	do {
		if (!item(t, to + *n * size))
			return NULL;
		++*n;
	} while (qn_text_eat(t, ","));
	return qn_text_eat(t, "]") ? to : NULL;
}

static bool
integer_item(qn_text *t, void *to)
{
	return qn_text_int(t, to);
}

static bool
real_item(qn_text *t, void *to)
{
	return qn_text_real(t, false, to);
}

/* False when the text is not a value of this attribute. */
static bool
read_value(qn_reader *r, const qn_attr_info *info, qn_attrs *attrs)
{
	qn_text *t = &r->text;
	void *at = (char *)attrs + info->offset;
	qn_list list = {0};

	switch (info->kind) {
	case QN_ATTR_INT:
		return qn_text_int(t, at);
	case QN_ATTR_INTS:
		if (read_list(t, QN_MAX_RANK, list.v) != (int32_t)info->length)
			return false;
		memcpy(at, list.v, info->length * sizeof list.v[0]);
		return true;
	case QN_ATTR_LIST:
		list.n = read_list(t, QN_MAX_RANK, list.v);
		if (list.n < 0)
			return false;
		memcpy(at, &list, sizeof list);
		return true;
	case QN_ATTR_REAL:
		return qn_text_real(t, false, at);
	case QN_ATTR_ENUM:
		return read_enum(t, info, at);
	case QN_ATTR_INTEGERS: {
		qn_integers *all = at;

		all->v = read_items(r, sizeof all->v[0], integer_item, &all->n);
		return all->v != NULL;
	}
	case QN_ATTR_REALS: {
		qn_reals *all = at;

		all->v = read_items(r, sizeof all->v[0], real_item, &all->n);
		return all->v != NULL;
	}
	case QN_ATTR_TEXT:
		return qn_text_peek(t, "\"") && qn_read_quoted(r, at);
	}
	return false;
}

/* The value at the cursor as it is written, up to the next attribute or the end. */
static const char *
given(const qn_reader *r)
{
	enum { SHOWN = 40 };
	qn_text t = r->text;
	int32_t depth = 0;

	qn_text_skip(&t);
	const char *begin = t.at;
	for (; t.at < t.end && *t.at != '\n' && t.at - begin < SHOWN; t.at++) {
		if (depth == 0 && (*t.at == ',' || *t.at == '}'))
			break;
		depth += (*t.at == '[') - (*t.at == ']');
	}
	while (t.at > begin && t.at[-1] == ' ')
		t.at--;
	return qn_arena_strn(r->m->arena, begin, (size_t)(t.at - begin));
}

/* name=value; bit i of *seen stands for row i of the set. */
static bool
read_attr(qn_reader *r, const qn_attr_set_info *set, const char *op, qn_attrs *out, uint32_t *seen,
	  bool *ok)
{
	const char *place = qn_read_place(r);
	const char *word;
	size_t n = qn_text_word(&r->text, &word);

	if (n == 0)
		return qn_read_fail(r, "expected the name of an attribute");
	if (!qn_read_expect(r, "="))
		return false;
	const qn_attr_info *info = find(set, word, n);
	if (info == NULL) {
		*ok = false;
		qn_attr_unknown(r->m->env, r->m->arena, place, op, set,
				qn_arena_strn(r->m->arena, word, n));
		return qn_read_skip(r, ",}");
	}
	uint32_t bit = 1U << (uint32_t)(info - set->attr);
	if ((*seen & bit) != 0) {
		*ok = false;
		(void)qn_report(r->m->env, QN_EINVALID, "attr.duplicate", place,
				"attribute '%s' is given twice", info->name);
		return qn_read_skip(r, ",}");
	}
	*seen |= bit;
	qn_text start = r->text;
	if (read_value(r, info, out) &&
	    (qn_text_peek(&r->text, ",") || qn_text_peek(&r->text, "}")))
		return true;
	*ok = false;
	r->text = start;
	qn_attr_invalid(r->m->env, r->m->arena, place, op, info, given(r));
	return qn_read_skip(r, ",}");
}

bool
qn_read_attrs(qn_reader *r, const qn_opinfo *op, const char *place, qn_attrs *out, bool *ok)
{
	uint32_t seen = 0;

	if (op == NULL) {
		if (!qn_text_eat(&r->text, "{"))
			return true;
		return qn_read_skip(r, "}") && qn_read_expect(r, "}");
	}
	const qn_attr_set_info *set = op->attrs;
	qn_attrs_default(set, out);
	if (qn_text_eat(&r->text, "{") && !qn_text_eat(&r->text, "}")) {
		do {
			if (!read_attr(r, set, op->name, out, &seen, ok))
				return false;
		} while (qn_text_eat(&r->text, ","));
		if (!qn_read_expect(r, "}"))
			return false;
	}
	for (size_t i = 0; i < set->nattr; i++) {
		if (set->attr[i].default_text[0] == '\0' && (seen >> i & 1U) == 0) {
			*ok = false;
			qn_attr_missing(r->m->env, r->m->arena, place, op->name, &set->attr[i]);
		}
	}
	return true;
}

qn_status
qn_attrs_parse(qn_model *m, const qn_opinfo *op, const char *place, const char *text, qn_attrs *out)
{
	qn_reader r = {.m = m, .line = 1};
	size_t errors = m->env->diags->nerrors;
	bool ok = true;
	qn_buf b;

	qn_buf_init(&b, m->arena);
	qn_buff(&b, "{%s}", text);
	r.counted = r.line_start = qn_buf_str(&b);
	qn_text_init(&r.text, place, r.counted, b.n);
	if (qn_read_attrs(&r, op, place, out, &ok) && ok) {
		qn_text_skip(&r.text);
		if (r.text.at == r.text.end)
			return QN_OK;
		(void)qn_read_fail(&r, "expected nothing after the attributes");
	}
	return m->env->diags->nerrors > errors ? QN_EINVALID : QN_EINTERNAL;
}
