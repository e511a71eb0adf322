/* SPDX-License-Identifier: Apache-2.0 */
/* file_open.h - what reading and writing of files have in common. */
#ifndef QN_FORMATS_FILE_OPEN_H
#define QN_FORMATS_FILE_OPEN_H

#include <sys/types.h>

#include "ir/env.h"

/* Reports id (QN_EIO) at path with the system's reason for the error number. */
qn_status qn_file_fail(qn_env *env, const char *id, const char *path, int error) QN_MUST_CHECK;
/* open(2) until no signal comes in between; -1: errno tells why. */
int qn_file_open(const char *path, int flags, mode_t mode);

#endif
