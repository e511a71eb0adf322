/* SPDX-License-Identifier: Apache-2.0 */
/* output_folder.c - the folder of -o: looked at and made before the work that fills it, with its
 * parents, and removed again, as far as it was made here, when the work fails. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* mkdir */
#endif
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

/* The same form as the library's diagnostics have. */
static qn_status
refuse(const char *path, const char *reason)
{
	fprintf(stderr, "%s: error: %s; give another folder with -o [file.mkdir]\n", path, reason);
	return QN_EIO;
}

/* f->path is a folder now, or the reason in errno. */
static bool
make_one(output_folder *f)
{
	struct stat st;

	if (stat(f->path, &st) == 0) {
		errno = ENOTDIR;
		return S_ISDIR(st.st_mode);
	}
	const bool first = f->made == 0;
	if (first) /* a signal may come as soon as it is there */
		f->made = strlen(f->path);
	if (mkdir(f->path, 0777) == 0)
		return true;
	int error = errno;
	if (first)
		f->made = 0;
	errno = error;
	return error == EEXIST && stat(f->path, &st) == 0 && S_ISDIR(st.st_mode);
}

qn_status
output_folder_make(const char *path, output_folder *f)
{
	size_t n = strlen(path);

	*f = (output_folder){0};
	if (n >= sizeof f->path)
		return refuse(path, strerror(ENAMETOOLONG));
	memcpy(f->path, path, n + 1);
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		f->path[i] = '\0';
		if (!make_one(f)) {
			const char *reason = strerror(errno);

			output_folder_drop(f);
			return refuse(path, reason);
		}
		f->path[i] = path[i];
	}
	return access(path, W_OK | X_OK) == 0 ? QN_OK : refuse(path, strerror(errno));
}

void
output_folder_drop(output_folder *f)
{
	for (size_t n = strlen(f->path); f->made > 0 && n >= f->made; n--) {
		const bool part = f->path[n] == '\0' || f->path[n] == '/';

		f->path[n] = '\0';
		if (part)
			(void)rmdir(f->path); /* what holds anything stays */
	}
}
