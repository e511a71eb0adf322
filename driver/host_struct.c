/* SPDX-License-Identifier: Apache-2.0 */
/* host_struct.c - takes over what this release knows of a struct of the host's, and refuses the
 * rest where it says something. */
#include "driver/host_struct.h"

#include <string.h>

/* No struct is larger in any release: a greater number is one that was never set. */
enum { MOST = 4096 };

static qn_status
refuse(qn_env *env, const char *name, const char *what, size_t have, size_t known)
{
	if (env == NULL)
		return QN_EUSAGE;
	return qn_report(
		env, QN_EUSAGE, "struct.size", name,
		"its size is %zu, this release (%s) knows %zu bytes%s; begin with = {0}, or "
		"with sizeof of this release's header in .size",
		have, qn_version(), known, what);
}

qn_status
qn_host_struct_take(qn_env *env, const char *name, size_t first, const void *from, size_t size,
		    void *to)
{
	const unsigned char *byte = from;
	size_t have;

	memset(to, 0, size);
	if (from == NULL)
		return QN_OK;
	memcpy(&have, from, sizeof have);
	if (have == 0)
		have = first;
	if (have < sizeof have || have > MOST)
		return refuse(env, name, "", have, size);
	for (size_t i = size; i < have; i++)
		if (byte[i] != 0)
			return refuse(env, name, ", and there is more behind them that is not 0",
				      have, size);
	memcpy(to, from, have < size ? have : size);
	memcpy(to, &size, sizeof size);
	return QN_OK;
}
