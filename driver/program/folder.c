/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c - whether a folder is one of .bin files, which --shape is for: one of images beside
 * them on the same command line is not; files with numbers, as test data of ONNX has them. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* opendir, stat, access */
#endif
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

enum { MOST_PATH = 4096 };

static bool
is_bin(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && name[0] != '.' && strcmp(name + n - 4, ".bin") == 0;
}

/* Looks into folders as deep as `depth`. */
static bool
holds_bin(const char *path, int depth)
{
	DIR *d = opendir(path);
	bool found = false;

	if (d == NULL)
		return false;
	for (const struct dirent *e; !found && (e = readdir(d)) != NULL;) {
		char sub[MOST_PATH];
		int n = snprintf(sub, sizeof sub, "%s/%s", path, e->d_name);

		found = is_bin(e->d_name) || (depth > 0 && e->d_name[0] != '.' && n > 0 &&
					      (size_t)n < sizeof sub && holds_bin(sub, depth - 1));
	}
	(void)closedir(d);
	return found;
}

bool
program_is_folder(const char *path)
{
	struct stat s;

	return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

bool
program_holds_bin(const char *path)
{
	return holds_bin(path, 1);
}

bool
program_numbered(const char *folder, const char *prefix, size_t k, char *out, size_t size)
{
	int n = snprintf(out, size, "%s/%s%zu.pb", folder, prefix, k);

	return n > 0 && (size_t)n < size && access(out, F_OK) == 0;
}
