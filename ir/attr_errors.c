/* SPDX-License-Identifier: Apache-2.0 */
/* attr_errors.c - see attr_errors.h. */
#include "ir/attr_errors.h"

#include "ir/diag.h"
#include "ir/nearest.h"

/* What a value of the attribute looks like. */
static const char *
expected(qn_arena *a, const qn_attr_info *info)
{
	qn_buf b;

	qn_buf_init(&b, a);
	switch (info->kind) {
	case QN_ATTR_INT:
		return "an integer";
	case QN_ATTR_INTS:
		qn_buff(&b, "a list of %u integers", info->length);
		break;
	case QN_ATTR_LIST:
		qn_buff(&b, "a list of at most %d integers", QN_MAX_RANK);
		break;
	case QN_ATTR_REAL:
		return "a number, inf or -inf";
	case QN_ATTR_INTEGERS:
		return "an integer or a list of integers";
	case QN_ATTR_REALS:
		return "a number or a list of numbers";
	case QN_ATTR_TEXT:
		return "a text in quotes";
	case QN_ATTR_ENUM:
		return qn_choices(a, qn_enum_table[info->length].n,
				  qn_enum_table[info->length].names);
	}
	return qn_buf_str(&b);
}

void
qn_attr_unknown(qn_env *env, qn_arena *a, const char *place, const char *op,
		const qn_attr_set_info *set, const char *name)
{
	const char **known = QN_NEW(a, const char *, set->nattr);

	for (size_t i = 0; i < set->nattr; i++)
		known[i] = set->attr[i].name;
	if (set->nattr == 0) {
		(void)qn_report(env, QN_EINVALID, "attr.unknown", place,
				"unknown attribute '%s': %s has no attributes", name, op);
		return;
	}
	const char *best = qn_nearest_name(name, set->nattr, known);
	(void)qn_report(env, QN_EINVALID, "attr.unknown", place,
			"unknown attribute '%s' of %s (expected %s)" QN_DID_YOU_MEAN, name, op,
			qn_choices(a, set->nattr, known), QN_SUGGEST(best));
}

void
qn_attr_invalid(qn_env *env, qn_arena *a, const char *place, const char *op,
		const qn_attr_info *info, const char *given)
{
	const char *best = NULL;

	if (info->kind == QN_ATTR_ENUM)
		best = qn_nearest_name(given, qn_enum_table[info->length].n,
				       qn_enum_table[info->length].names);
	(void)qn_report(env, QN_EINVALID, "attr.value", place,
			"invalid value '%s' of attribute '%s' of %s (expected %s)" QN_DID_YOU_MEAN,
			given, info->name, op, expected(a, info), QN_SUGGEST(best));
}

void
qn_attr_missing(qn_env *env, qn_arena *a, const char *place, const char *op,
		const qn_attr_info *info)
{
	(void)qn_report(env, QN_EINVALID, "attr.missing", place,
			"attribute '%s' of %s is missing (expected %s)", info->name, op,
			expected(a, info));
}
