/* SPDX-License-Identifier: Apache-2.0 */
/* archive_impl.h - what an archive is, for the files that work on it (quern/layout.h). */
#ifndef QN_DRIVER_ARCHIVE_IMPL_H
#define QN_DRIVER_ARCHIVE_IMPL_H

#include "driver/stored.h"
#include "formats/archive.h"

struct qn_archive {
	qn_arena arena;
	qn_archive_data d;
	size_t cap;
	qn_stored **handle;     /* of each tensor of d */
	qn_token_table *tokens; /* NULL: not read yet */
	qn_ctx *ctx;
	struct qn_archive *next;
};

#endif
