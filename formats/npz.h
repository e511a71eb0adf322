/* SPDX-License-Identifier: Apache-2.0 */
/* npz.h - NumPy's zip archives of arrays, members stored or deflated, through libzip. */
#ifndef QN_FORMATS_NPZ_H
#define QN_FORMATS_NPZ_H

#include "ir/tensor.h"

enum { QN_NPZ_MOST = 64 }; /* arrays in a file */
#define QN_NPZ_ALL SIZE_MAX

typedef struct qn_npz_member {
	const char *name;  /* without ".npy" */
	qn_tensor *tensor; /* NULL: not requested */
} qn_npz_member;

/* The arrays in the order of the archive; that of index `only` is decompressed into the arena, all
 * of them with QN_NPZ_ALL.  What they need is known before it is allocated: together not more than
 * limit.bytes, each not more than deflate can make of its bytes.  Ids: npz.support (built without
 * libzip), npz.archive, npz.member, npz.size, limit.bytes and those of npy.h; the place is
 * file/member. */
qn_status qn_npz_parse(qn_types *t, qn_arena *a, const char *place, const char *data, size_t n,
		       size_t only, size_t *count, qn_npz_member **out) QN_MUST_CHECK;

#endif
