/* SPDX-License-Identifier: Apache-2.0 */
/* no_disk.c - a build without the file system (QUERN_FILES=OFF): files are those of the host, through
 * qn_file_add and qn_config.read_file; all others are a clear error. */
#include "formats/disk.h"
#include "formats/folder.h"
#include "ir/diag.h"

#define WITHOUT "this build has no file system (QUERN_FILES=OFF); "

qn_status
qn_disk_map(qn_arena *a, const char *path, const char **data, size_t *n)
{
	*data = NULL;
	*n = 0;
	return qn_report(a->env, QN_EIO, "file.open", path,
			 WITHOUT "add the file with qn_file_add, or set qn_config.read_file");
}

qn_status
qn_disk_write(qn_env *env, const char *folder, size_t n, const qn_file_out *files)
{
	(void)folder;
	return qn_report(env, QN_EIO, "file.write", n > 0 ? files[0].path : "",
			 WITHOUT "set qn_config.write_file");
}

void
qn_files_abandon(qn_env *env)
{
	(void)env; /* nothing is ever half written */
}

bool
qn_disk_came_along(const char *folder, const char *model, const char *path)
{
	(void)folder;
	(void)model;
	(void)path;
	return true;
}

bool
qn_folder_is(const char *path)
{
	(void)path;
	return false;
}

const char *
qn_folder_test_data(qn_arena *a, const char *path, size_t k)
{
	(void)a;
	(void)k;
	return path;
}

size_t
qn_folder_count_test_data(qn_arena *a, const char *path)
{
	(void)a;
	(void)path;
	return 0;
}

qn_status
qn_folder_list(qn_arena *a, const char *path, qn_wanted_fn *wanted, qn_folder *out)
{
	(void)wanted;
	*out = (qn_folder){0};
	return qn_report(a->env, QN_EIO, "file.open", path, WITHOUT "open its files one by one");
}
