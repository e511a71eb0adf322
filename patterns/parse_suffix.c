/* SPDX-License-Identifier: Apache-2.0 */
/* parse_suffix.c - the tests that follow a pattern in its text form.
 *
 *   conv2d(...){stride=[2,2], padding=same}      split(x).1      * : f32[1,?,8]      const where scalar */
#include "patterns/parse.h"

#include <string.h>

/* ---- attributes ---- */

/* "[" numbers "]"; what: of the numbers, for messages; unknown: whether ? is one, -1. */
static bool
read_numbers(qn_pattern_reader *r, bool unknown, qn_list *out)
{
	qn_text *t = &r->r.text;

	*out = (qn_list){0};
	if (!qn_read_expect(&r->r, "["))
		return false;
	if (qn_text_eat(t, "]"))
		return true;
	do {
		int64_t *v = &out->v[out->n];

		if (out->n == QN_MAX_RANK)
			return qn_read_fail(&r->r, "a list has at most %d numbers", QN_MAX_RANK);
		if (unknown && qn_text_eat(t, "?"))
			*v = -1;
		else if (!qn_text_int(t, v) || (unknown && *v < 0))
			return qn_read_fail(&r->r, "expected %s",
					    unknown ? "a dimension or '?'" : "an integer");
		out->n++;
	} while (qn_text_eat(t, ","));
	return qn_read_expect(&r->r, "]");
}

static bool
read_value(qn_pattern_reader *r, qn_pat_test *test)
{
	qn_text *t = &r->r.text;
	qn_text start = *t;

	if (qn_text_peek(t, "[")) {
		test->value_kind = QN_VALUE_LIST;
		return read_numbers(r, false, &test->list);
	}
	if (qn_text_peek(t, "\"")) {
		test->value_kind = QN_VALUE_WORD;
		return qn_read_quoted(&r->r, &test->word);
	}
	if ((test->word = qn_pattern_read_word(r)) != NULL && strcmp(test->word, "inf") != 0 &&
	    strcmp(test->word, "nan") != 0) {
		test->value_kind = QN_VALUE_WORD;
		return true;
	}
	*t = start;
	if (qn_text_real(t, false, &test->real)) {
		const char *end = t->at;

		*t = start;
		if (qn_text_int(t, &test->integer) && t->at == end) {
			test->value_kind = QN_VALUE_INT;
			return true;
		}
		t->at = end;
		test->value_kind = QN_VALUE_REAL;
		return true;
	}
	return qn_read_fail(&r->r, "expected the value of an attribute: 3, 0.5, [1,2], same or "
				   "\"text\"");
}

static qn_pattern *
read_attributes(qn_pattern_reader *r, qn_pattern *p)
{
	do {
		qn_pat_test test = {.kind = QN_TEST_ATTR};

		r->set->place = qn_read_place(&r->r);
		test.text = qn_pattern_read_word(r);
		if (test.text == NULL)
			return qn_read_fail(&r->r, "expected the name of an attribute"), NULL;
		if (!qn_read_expect(&r->r, "=") || !read_value(r, &test))
			return NULL;
		p = qn_build_test(r->set, p, &test);
	} while (p != NULL && qn_text_eat(&r->r.text, ","));
	return p != NULL && qn_read_expect(&r->r, "}") ? p : NULL;
}

/* split(x).1: the field that `get` takes; .*: any. */
static qn_pattern *
read_field(qn_pattern_reader *r, qn_pattern *p)
{
	qn_pat_test test = {.kind = QN_TEST_ATTR, .text = "index", .value_kind = QN_VALUE_INT};

	p = qn_build_call(r->set, qn_build_op(r->set, "get"), 1, &p);
	if (qn_text_eat(&r->r.text, "*"))
		return p;
	if (!qn_text_int(&r->r.text, &test.integer))
		return qn_read_fail(&r->r, "expected the number of a field, or '*'"), NULL;
	test.real = (double)test.integer;
	return qn_build_test(r->set, p, &test);
}

/* ---- types ---- */

static qn_pattern *
read_shape(qn_pattern_reader *r, qn_pattern *p)
{
	qn_pat_test test = {.kind = QN_TEST_SHAPE};

	return read_numbers(r, true, &test.list) ? qn_build_test(r->set, p, &test) : NULL;
}

/* The rest of a type, or of an element type, is its canonical text. */
static qn_pattern *
read_type(qn_pattern_reader *r, qn_pattern *p)
{
	qn_text *t = &r->r.text;
	qn_types *types = &r->set->scratch.types;
	qn_pat_test test = {.kind = QN_TEST_ELEM, .text = "quant"};
	const qn_type *type;
	const qn_elem *elem;
	qn_buf b;

	qn_buf_init(&b, r->set->scratch.arena);
	if (qn_text_peek(t, "["))
		return read_shape(r, p);
	if (qn_text_peek(t, "tensor") || qn_text_peek(t, "tuple")) {
		if (qn_type_parse(types, t, &type) != QN_OK)
			return NULL;
		qn_type_print(&b, type);
		test = (qn_pat_test){.kind = QN_TEST_TYPE, .text = qn_buf_str(&b)};
		return qn_build_test(r->set, p, &test);
	}
	if (!qn_text_eat(t, "quant")) {
		if (qn_elem_parse(types, t, &elem) != QN_OK)
			return NULL;
		qn_elem_print(&b, elem);
		test.text = qn_buf_str(&b);
	}
	p = qn_build_test(r->set, p, &test);
	return p != NULL && qn_text_peek(t, "[") ? read_shape(r, p) : p;
}

/* ---- predicates ---- */

static qn_pattern *
read_where(qn_pattern_reader *r, qn_pattern *p)
{
	const char *word = qn_pattern_read_word(r);
	const qn_predicate *known = word != NULL ? qn_patterns_find_predicate(r->set, word) : NULL;
	qn_buf b;

	if (known != NULL)
		return qn_build_test(r->set, p,
				     &(qn_pat_test){.kind = QN_TEST_WHERE,
						    .text = known->name,
						    .where = known->fn,
						    .user = known->user});
	qn_buf_init(&b, r->set->scratch.arena);
	for (size_t i = 0; i < r->set->npredicate; i++)
		qn_buff(&b, "%s%s", i > 0 ? ", " : "", r->set->predicate[i].name);
	(void)qn_read_fail(&r->r, "expected one of %s after 'where'", qn_buf_str(&b));
	return NULL;
}

bool
qn_pattern_at_suffix(qn_pattern_reader *r)
{
	qn_text *t = &r->r.text;

	return qn_text_peek(t, "{") || qn_text_peek(t, ":") || qn_text_peek(t, "where") ||
	       (qn_text_peek(t, ".") && !qn_text_peek(t, "..."));
}

qn_pattern *
qn_pattern_read_suffix(qn_pattern_reader *r, qn_pattern *p)
{
	qn_text *t = &r->r.text;

	r->set->place = qn_read_place(&r->r);
	if (qn_text_eat(t, "{"))
		return read_attributes(r, p);
	if (qn_text_eat(t, ":"))
		return read_type(r, p);
	if (qn_text_eat(t, "."))
		return read_field(r, p);
	return qn_text_eat(t, "where") ? read_where(r, p)
				       : (qn_read_fail(&r->r, "expected a test"), NULL);
}
