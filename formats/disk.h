/* SPDX-License-Identifier: Apache-2.0 */
/* disk.h - files of the file system: what formats/file_source.c asks when neither the host's memory
 * nor its callback has a file.  Without the file system (QUERN_FILES=OFF) no_disk.c stands in for
 * file.c, file_write.c, file_link.c, commit.c, commit_journal.c, folder.c and folder_lock.c. */
#ifndef QN_FORMATS_DISK_H
#define QN_FORMATS_DISK_H

#include "formats/file.h"

/* qn_file_map and qn_files_write (formats/file.h) on the file system. */
qn_status qn_disk_map(qn_arena *a, const char *path, const char **data, size_t *n) QN_MUST_CHECK;
qn_status qn_disk_write(qn_env *env, const char *folder, size_t n,
			const qn_file_out *files) QN_MUST_CHECK;

/* Whether `path`, all links followed, is in the model's folder or below, or in or below the one where
 * the model itself lies; true also for one that does not exist: opening it reports why. */
bool qn_disk_came_along(const char *folder, const char *model, const char *path);

#endif
