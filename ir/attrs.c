/* SPDX-License-Identifier: Apache-2.0 */
/* attrs.c - attribute sets from the rows of ops.def: where each attribute lies in its struct, its
 * default, equality and text.
 *
 *   ATTR(conv2d, stride, INTS, 2, "1,1")
 *   ->  {"stride", QN_ATTR_INTS, 2, offsetof(qn_attrs_conv2d, stride), "1,1"} */
#include <string.h>

#include "ir/graph.h"
#include "ir/text.h"

#define NAME(prefix, name) #name,
#define ENUM(list, names) static const char *const list##_names[] = {names};
#define ATTR(set, name, kind, length, text)                                                        \
	{#name, QN_ATTR_##kind, length, offsetof(qn_attrs_##set, name), text},
#define SET(set, attributes) static const qn_attr_info set##_rows[] = {attributes};
#include "ir/ops.def"

const qn_enum_info qn_enum_table[QN_NENUM] = {
#define ENUM(list, names) {#list, QN_COUNT(list##_names), list##_names},
#include "ir/ops.def"
};

const qn_attr_set_info qn_attr_set_table[QN_NATTRSET] = {
	{"none", 0, 0, NULL, NULL},
#define SET(set, attributes) {#set, QN_COUNT(set##_rows), sizeof(qn_attrs_##set), set##_rows, NULL},
#include "ir/ops.def"
};

static const void *
field(const qn_attr_info *info, const qn_attrs *attrs)
{
	return (const char *)attrs + info->offset;
}

/* Comma-separated numbers; returns how many. */
static int32_t
read_ints(qn_text *t, uint32_t max, int64_t *out)
{
	uint32_t n = 0;

	while (n < max && qn_text_int(t, &out[n])) {
		n++;
		if (!qn_text_eat(t, ","))
			break;
	}
	return (int32_t)n;
}

int32_t
qn_enum_find(const qn_attr_info *info, const char *name)
{
	const qn_enum_info *list = &qn_enum_table[info->length];

	for (size_t k = 0; k < list->n; k++)
		if (strcmp(list->names[k], name) == 0)
			return (int32_t)k;
	return -1;
}

const char *
qn_enum_name(const qn_attr_info *info, int32_t value)
{
	return qn_enum_table[info->length].names[value];
}

void
qn_enum_print_names(qn_buf *b, const qn_attr_info *info)
{
	const qn_enum_info *list = &qn_enum_table[info->length];

	for (size_t k = 0; k < list->n; k++)
		qn_buff(b, "%s%s", k > 0 ? " or " : "", list->names[k]);
}

static void
set_default(const qn_attr_info *info, qn_attrs *attrs)
{
	char *at = (char *)attrs + info->offset;
	qn_text t;

	if (info->default_text[0] == '\0')
		return; /* zeros */
	qn_text_init(&t, "", info->default_text, strlen(info->default_text));
	switch (info->kind) {
	case QN_ATTR_INT:
	case QN_ATTR_INTS:
		(void)read_ints(&t, info->length, (int64_t *)(void *)at);
		break;
	case QN_ATTR_LIST: {
		qn_list *list = (qn_list *)(void *)at;

		list->n = read_ints(&t, QN_MAX_RANK, list->v);
		break;
	}
	case QN_ATTR_REAL:
		(void)qn_text_real(&t, false, (double *)(void *)at);
		break;
	case QN_ATTR_ENUM:
		*(int32_t *)(void *)at = qn_enum_find(info, info->default_text);
		break;
	case QN_ATTR_INTEGERS: /* none */
	case QN_ATTR_REALS:
	case QN_ATTR_TEXT:
		break;
	}
}

void
qn_attrs_default(const qn_attr_set_info *set, qn_attrs *out)
{
	memset(out, 0, sizeof *out);
	if (set->custom != NULL)
		out->custom.op = set->custom;
	for (size_t i = 0; i < set->nattr; i++)
		set_default(&set->attr[i], out);
}

void
qn_attrs_of(const qn_node *n, qn_attrs *out)
{
	memset(out, 0, sizeof *out);
	if (n->attr != NULL) /* an op without any has none */
		memcpy(out, n->attr, qn_opinfo_of(n)->attrs->size);
}

static const char *
text_of(const void *at)
{
	const char *const *text = at;

	return *text != NULL ? *text : "";
}

void
qn_attrs_own(qn_arena *a, const qn_attr_set_info *set, qn_attrs *attrs)
{
	for (size_t i = 0; i < set->nattr; i++) {
		void *at = (char *)attrs + set->attr[i].offset;
		qn_integers *integers = at;
		qn_reals *reals = at;

		if (set->attr[i].kind == QN_ATTR_INTEGERS)
			integers->v =
				qn_arena_copy(a, integers->v, integers->n * sizeof integers->v[0]);
		else if (set->attr[i].kind == QN_ATTR_REALS)
			reals->v = qn_arena_copy(a, reals->v, reals->n * sizeof reals->v[0]);
		else if (set->attr[i].kind == QN_ATTR_TEXT)
			*(const char **)at = qn_arena_str(a, text_of(at));
	}
}

/* Bits are compared, so that 0.0 and -0.0, which print differently, differ and NaN equals itself.
 * */
static bool
value_equal(const qn_attr_info *info, const qn_attrs *a, const qn_attrs *b)
{
	const void *p = field(info, a);
	const void *q = field(info, b);

	switch (info->kind) {
	case QN_ATTR_INT:
	case QN_ATTR_INTS:
		return memcmp(p, q, info->length * sizeof(int64_t)) == 0;
	case QN_ATTR_LIST: {
		const qn_list *x = p;
		const qn_list *y = q;

		return x->n == y->n && memcmp(x->v, y->v, (size_t)x->n * sizeof x->v[0]) == 0;
	}
	case QN_ATTR_REAL:
		return memcmp(p, q, sizeof(double)) == 0;
	case QN_ATTR_ENUM:
		return memcmp(p, q, sizeof(int32_t)) == 0;
	case QN_ATTR_INTEGERS: {
		const qn_integers *x = p;
		const qn_integers *y = q;

		return x->n == y->n &&
		       (x->n == 0 || memcmp(x->v, y->v, x->n * sizeof x->v[0]) == 0);
	}
	case QN_ATTR_REALS: {
		const qn_reals *x = p;
		const qn_reals *y = q;

		return x->n == y->n &&
		       (x->n == 0 || memcmp(x->v, y->v, x->n * sizeof x->v[0]) == 0);
	}
	case QN_ATTR_TEXT:
		return strcmp(text_of(p), text_of(q)) == 0;
	}
	return false;
}

bool
qn_attrs_equal(const qn_attr_set_info *set, const qn_attrs *a, const qn_attrs *b)
{
	for (size_t i = 0; i < set->nattr; i++)
		if (!value_equal(&set->attr[i], a, b))
			return false;
	return true;
}

/* Equal ones have equal hashes. */
uint32_t
qn_attrs_hash(const qn_attr_set_info *set, const qn_attrs *attrs, uint32_t seed)
{
	static const size_t bytes[] = {
		[QN_ATTR_INT] = sizeof(int64_t),
		[QN_ATTR_INTS] = sizeof(int64_t),
		[QN_ATTR_REAL] = sizeof(double),
		[QN_ATTR_ENUM] = sizeof(int32_t),
	};

	for (size_t i = 0; i < set->nattr; i++) {
		const qn_attr_info *info = &set->attr[i];
		const void *p = field(info, attrs);
		const qn_list *list = p;
		const qn_integers *integers = p;
		const qn_reals *reals = p;

		if (info->kind == QN_ATTR_LIST)
			seed = qn_hash(list->v, (size_t)list->n * sizeof list->v[0], seed);
		else if (info->kind == QN_ATTR_INTEGERS)
			seed = qn_hash(integers->v, integers->n * sizeof integers->v[0], seed);
		else if (info->kind == QN_ATTR_REALS)
			seed = qn_hash(reals->v, reals->n * sizeof reals->v[0], seed);
		else if (info->kind == QN_ATTR_TEXT)
			seed = qn_hash(text_of(p), strlen(text_of(p)), seed);
		else
			seed = qn_hash(p,
				       bytes[info->kind] *
					       (info->kind == QN_ATTR_INTS ? info->length : 1),
				       seed);
	}
	return seed;
}

bool
qn_attr_is_default(const qn_attr_set_info *set, const qn_attr_info *info, const qn_attrs *attrs)
{
	qn_attrs defaults;

	if (info->default_text[0] == '\0')
		return false;
	qn_attrs_default(set, &defaults);
	return value_equal(info, attrs, &defaults);
}

static void
print_ints(qn_buf *b, size_t n, const int64_t *v)
{
	qn_buf_putc(b, '[');
	for (size_t i = 0; i < n; i++)
		qn_buff(b, "%s%lld", i > 0 ? "," : "", (long long)v[i]);
	qn_buf_putc(b, ']');
}

static void
print_reals(qn_buf *b, const qn_reals *r)
{
	if (r->n != 1)
		qn_buf_putc(b, '[');
	for (size_t i = 0; i < r->n; i++) {
		qn_buf_puts(b, i > 0 ? "," : "");
		qn_buf_f64(b, r->v[i]);
	}
	if (r->n != 1)
		qn_buf_putc(b, ']');
}

void
qn_attr_print(qn_buf *b, const qn_attr_info *info, const qn_attrs *attrs)
{
	const void *p = field(info, attrs);

	switch (info->kind) {
	case QN_ATTR_INT:
		qn_buff(b, "%lld", (long long)*(const int64_t *)p);
		break;
	case QN_ATTR_INTS:
		print_ints(b, info->length, p);
		break;
	case QN_ATTR_LIST:
		print_ints(b, (size_t)((const qn_list *)p)->n, ((const qn_list *)p)->v);
		break;
	case QN_ATTR_REAL:
		qn_buf_f64(b, *(const double *)p);
		break;
	case QN_ATTR_ENUM:
		qn_buf_puts(b, qn_enum_name(info, *(const int32_t *)p));
		break;
	case QN_ATTR_INTEGERS: {
		const qn_integers *list = p;

		if (list->n == 1)
			qn_buff(b, "%lld", (long long)list->v[0]);
		else
			print_ints(b, list->n, list->v);
		break;
	}
	case QN_ATTR_REALS:
		print_reals(b, p);
		break;
	case QN_ATTR_TEXT:
		qn_buf_quoted(b, text_of(p));
		break;
	}
}
