/* SPDX-License-Identifier: Apache-2.0 */
/* match_test.c - tests of a single value: attributes, types, constants, the host's own. */
#include "patterns/pattern.h"

#include <string.h>

static bool
has_list(const int64_t *v, size_t n, const qn_list *want)
{
	return n == (size_t)want->n && memcmp(v, want->v, n * sizeof *v) == 0;
}

/* Whether an attribute of the set's struct has the wanted value. */
static bool
attr_equals(const qn_attr_info *info, const qn_attrs *attrs, const qn_pat_test *t)
{
	const void *at = (const char *)attrs + info->offset;
	const qn_list *list = at;
	const void *real = &t->real; /* by bits: NaN equals itself */

	switch (info->kind) {
	case QN_ATTR_INT:
		return t->value_kind == QN_VALUE_INT && *(const int64_t *)at == t->integer;
	case QN_ATTR_INTS:
		return t->value_kind == QN_VALUE_LIST && has_list(at, info->length, &t->list);
	case QN_ATTR_LIST:
		return t->value_kind == QN_VALUE_LIST &&
		       has_list(list->v, (size_t)list->n, &t->list);
	case QN_ATTR_REAL:
		return (t->value_kind == QN_VALUE_REAL || t->value_kind == QN_VALUE_INT) &&
		       memcmp(at, real, sizeof t->real) == 0;
	case QN_ATTR_ENUM:
		return t->value_kind == QN_VALUE_WORD &&
		       strcmp(qn_enum_name(info, *(const int32_t *)at), t->word) == 0;
	case QN_ATTR_INTEGERS: {
		const qn_integers *all = at;

		if (t->value_kind == QN_VALUE_INT)
			return all->n == 1 && all->v[0] == t->integer;
		return t->value_kind == QN_VALUE_LIST && has_list(all->v, all->n, &t->list);
	}
	case QN_ATTR_REALS: {
		const qn_reals *all = at;

		if (t->value_kind != QN_VALUE_REAL && t->value_kind != QN_VALUE_INT)
			return false;
		/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): equal in all bits */
		return all->n == 1 && memcmp(all->v, real, sizeof t->real) == 0;
	}
	case QN_ATTR_TEXT: {
		const char *const *text = at;

		return t->value_kind == QN_VALUE_WORD &&
		       strcmp(*text != NULL ? *text : "", t->word) == 0;
	}
	}
	return false;
}

static bool
has_attr(const qn_node *n, const qn_pat_test *t)
{
	const qn_attr_set_info *set = qn_opinfo_of(n)->attrs;

	if (n->op == QN_OP_call) {
		const char *is = strcmp(t->text, "pattern") == 0
					 ? n->callee->pattern
					 : qn_graph_attr_value(n->callee, t->text);

		return is != NULL && t->value_kind == QN_VALUE_WORD && strcmp(is, t->word) == 0;
	}
	for (size_t i = 0; i < set->nattr; i++)
		if (strcmp(set->attr[i].name, t->text) == 0)
			return attr_equals(&set->attr[i], n->attr, t);
	return false;
}

static bool
has_shape(const qn_type *type, const qn_list *want)
{
	if (type->is_tuple || type->rank != want->n)
		return false;
	for (int32_t i = 0; i < want->n; i++)
		if (want->v[i] >= 0 && type->dim[i] != want->v[i])
			return false;
	return true;
}

static bool
has_elem(qn_buf *text, const qn_type *type, const char *want)
{
	if (type->is_tuple)
		return false;
	if (strcmp(want, "quant") == 0)
		return type->elem->kind != QN_ELEM_PLAIN;
	text->n = 0;
	qn_elem_print(text, type->elem);
	return strcmp(qn_buf_str(text), want) == 0;
}

static bool
is_number(const qn_node *n, double want)
{
	if (n->op != QN_OP_const || qn_type_count(n->type) < 1)
		return false;
	for (int64_t i = 0; i < qn_type_count(n->type); i++)
		if (qn_tensor_f64(n->value, i) != want)
			return false;
	return true;
}

bool
qn_pat_test_holds(qn_buf *text, const qn_pat_test *t, const qn_graph *g, qn_id value)
{
	const qn_node *n = qn_graph_node(g, value);

	switch (t->kind) {
	case QN_TEST_ATTR:
		return has_attr(n, t);
	case QN_TEST_TYPE:
		text->n = 0;
		qn_type_print(text, n->type);
		return strcmp(qn_buf_str(text), t->text) == 0;
	case QN_TEST_ELEM:
		return has_elem(text, n->type, t->text);
	case QN_TEST_SHAPE:
		return has_shape(n->type, &t->list);
	case QN_TEST_NUMBER:
		return is_number(n, t->real);
	case QN_TEST_WHERE:
		return t->where(t->user, g, value);
	}
	return false;
}
