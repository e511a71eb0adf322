/* SPDX-License-Identifier: Apache-2.0 */
/* host_struct.c - copies the fields of a struct from the host that this release knows, and refuses
 * others that are set. */
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
			return refuse(env, name, ", and bytes after them are not 0", have, size);
	memcpy(to, from, have < size ? have : size);
	memcpy(to, &size, sizeof size);
	return QN_OK;
}

qn_status
qn_host_element_take(qn_env *env, const char *name, size_t first, const void *from, size_t n,
		     size_t i, size_t size, void *to)
{
	const unsigned char *at = from;
	size_t stride, have;

	memcpy(&stride, at, sizeof stride);
	at += i * stride;
	memcpy(&have, at, sizeof have);
	if (n > 1 && (have == 0 || have != stride))
		return qn_report(env, QN_EUSAGE, "struct.size", name,
				 "element %zu of %zu has the size %zu, element 0 has %zu; set "
				 ".size of each to sizeof of this release's header",
				 i, n, have, stride);
	return qn_host_struct_take(env, name, first, at, size, to);
}

qn_status
qn_host_list(qn_env *env, const char *name, size_t n, const void *list)
{
	if (n == 0 || list != NULL)
		return QN_OK;
	return qn_report(env, QN_EUSAGE, "array.null", name,
			 "its length is %zu, but the array is NULL", n);
}

qn_status
qn_host_pointers(qn_env *env, const char *name, size_t n, const void *list)
{
	const void *const *element = list;

	QN_TRY(qn_host_list(env, name, n, list));
	for (size_t i = 0; i < n; i++)
		if (element[i] == NULL)
			return qn_report(env, QN_EUSAGE, "array.null", name,
					 "element %zu of %zu is NULL", i, n);
	return QN_OK;
}
