/* SPDX-License-Identifier: Apache-2.0 */
/* path.c - names of files and folders as texts.
 *
 *   out/net.json   folder "out/", base "net.json", joined with "w.npy": "out/w.npy" */
#include <string.h>

#include "formats/file.h"
#include "formats/folder.h"

const char *
qn_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

const char *
qn_path_stem(qn_arena *a, const char *path)
{
	const char *base = qn_path_base(path);
	const char *dot = strrchr(base, '.');

	return qn_arena_strn(a, base,
			     dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base));
}

bool
qn_path_ends(const char *path, const char *end)
{
	const size_t n = strlen(path), k = strlen(end);

	return n >= k && strcmp(path + n - k, end) == 0;
}

const char *
qn_path_folder(qn_arena *a, const char *path)
{
	return qn_arena_strn(a, path, (size_t)(qn_path_base(path) - path));
}

const char *
qn_path_join(qn_arena *a, const char *folder, const char *name)
{
	size_t n = strlen(folder);
	size_t k = strlen(name);
	bool slash = n > 0 && folder[n - 1] != '/' && name[0] != '/';

	if (name[0] == '/')
		n = 0; /* an absolute name stays what it is */
	char *s = QN_NEW(a, char, n + slash + k + 1);
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the name follows */
	memcpy(s, folder, n);
	if (slash)
		s[n] = '/';
	memcpy(s + n + slash, name, k + 1);
	return s;
}

bool
qn_name_ends(const char *name, const char *end)
{
	size_t n = strlen(name);
	size_t k = strlen(end);

	if (n < k)
		return false;
	for (size_t i = 0; i < k; i++) {
		char c = name[n - k + i];

		if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != end[i])
			return false;
	}
	return true;
}
