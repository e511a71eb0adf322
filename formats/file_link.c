/* SPDX-License-Identifier: Apache-2.0 */
/* file_link.c - where links lead (disk.h).
 *
 *   net.bin -> ../blobs/12ab     taken where model.onnx -> ../blobs/34cd is such a link too */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* realpath, PATH_MAX */
#endif
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "formats/disk.h"

/* Whether a path without links is in a folder, which has none either, or below. */
static bool
is_in(const char *folder, size_t n, const char *path)
{
	return (n == 1 && folder[0] == '/') || (strncmp(path, folder, n) == 0 && path[n] == '/');
}

bool
qn_disk_came_along(const char *folder, const char *model, const char *path)
{
	char top[PATH_MAX], real[PATH_MAX];

	if (realpath(path, real) == NULL || realpath(folder[0] != '\0' ? folder : ".", top) == NULL)
		return true;
	if (is_in(top, strlen(top), real))
		return true;
	if (realpath(model, top) == NULL)
		return false;
	const size_t n = (size_t)(strrchr(top, '/') - top);
	return is_in(top, n > 0 ? n : 1, real);
}
