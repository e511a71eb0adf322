/* SPDX-License-Identifier: Apache-2.0 */
/* file_open.h - what reading and writing of files have in common. */
#ifndef QN_FORMATS_FILE_OPEN_H
#define QN_FORMATS_FILE_OPEN_H

#include <sys/types.h>

#include "ir/env.h"

/* Reports id (QN_EIO) at path with the system's reason for the error number. */
qn_status qn_file_fail(qn_env *env, const char *id, const char *path, int error) QN_MUST_CHECK;
/* open(2) until no signal comes in between; -1: errno has the reason. */
int qn_file_open(const char *path, int flags, mode_t mode);
/* write(2) of all bytes, and fsync(2): an errno, 0 when it is done. */
int qn_file_put(int fd, const char *p, size_t n);
int qn_file_sync(int fd);

/* qn_file_map without a look at what an interrupted command has left. */
qn_status qn_file_map_as_is(qn_arena *a, const char *path, const char **data,
			    size_t *n) QN_MUST_CHECK;

#endif
