/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - see limits.h. */
#include "ir/limits.h"

#include "ir/diag.h"

static const struct {
	const char *id, *field, *what, *option; /* option NULL: the program has none */
	size_t offset;
	uint64_t preset;
} limits[] = {
#define X(NAME, field, id, preset, what, option)                                                   \
	{id, #field, what, option, offsetof(qn_limits, field), preset},
	QN_LIMITS(X)
#undef X
};

uint64_t
qn_limit(const qn_env *env, qn_limit_kind kind)
{
	uint64_t v =
		*(const uint64_t *)(const void *)((const char *)&env->limits + limits[kind].offset);

	if (v == 0)
		v = limits[kind].preset;
	return kind == QN_LIMIT_NESTING && v > QN_MAX_CALLS ? QN_MAX_CALLS : v;
}

qn_status
qn_limit_report(qn_env *env, qn_limit_kind kind, const char *place, uint64_t have)
{
	const unsigned long long most = qn_limit(env, kind);
	const char *option = limits[kind].option;
	const char *before = option != NULL ? ", the program with " : "", *after = "";

	if (option == NULL)
		option = "";
	else
		after = " N";
	if (have == UINT64_MAX)
		return qn_report(env, QN_EBUDGET, limits[kind].id, place,
				 "more than %llu %s; the host sets this limit (limits.%s)%s%s%s",
				 most, limits[kind].what, limits[kind].field, before, option,
				 after);
	return qn_report(env, QN_EBUDGET, limits[kind].id, place,
			 "%llu %s; the limit is %llu, the host sets it (limits.%s)%s%s%s",
			 (unsigned long long)have, limits[kind].what, most, limits[kind].field,
			 before, option, after);
}

uint64_t
qn_limit_expansion(uint64_t file_bytes)
{
	const uint64_t base = UINT64_C(64) << 20, each = 64;

	return file_bytes < (UINT64_MAX - base) / each ? base + each * file_bytes : UINT64_MAX;
}
