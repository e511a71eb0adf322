/* SPDX-License-Identifier: Apache-2.0 */
/* open.h - sources from files, folders and the host. */
#ifndef QN_CALIBRATE_OPEN_H
#define QN_CALIBRATE_OPEN_H

#include "calibrate/source.h"

typedef struct qn_open_opts {
	bool has_dtype, has_shape;
	qn_plain dtype; /* of a .bin, or a folder of such */
	int32_t rank;   /* of a sample of these or of a .csv */
	int64_t dim[QN_MAX_RANK];
	qn_prep prep;
} qn_open_opts;

/* Source `index` of a file or folder (docs/data.md), and how many there are: one, those of an
 * .npz, which have names, or those of a folder of test data, in the order of the inputs.  What it reads from lives as long as the arena.  Ids: data.format,
 * data.shape-needed, data.option, data.size, data.empty, data.channels and those of the readers. */
qn_status qn_source_open(qn_types *t, qn_arena *a, const char *path, const qn_open_opts *o,
			 size_t index, size_t *n, const qn_source **out) QN_MUST_CHECK;

/* Samples that the host gives one at a time (data.callback when it returns anything but 0). */
qn_source *qn_source_host(qn_arena *a, const qn_type *type, const char *name, qn_sample_fn *fn,
			  void *user);

/* Images or audio: a folder of them, or one file.  *out stays NULL when path is neither. */
qn_status qn_source_folder(qn_types *t, qn_arena *a, const char *path, bool channels_first,
			   const qn_source **out) QN_MUST_CHECK;

/* What to do where the bytes of a .bin do not fit; "" where their type was given. */
const char *qn_dtype_hint(const qn_open_opts *o);

/* A folder of .bin files, a sample each; o has a shape.  Ids: data.empty, data.size. */
qn_status qn_source_folder_bin(qn_types *t, qn_arena *a, const char *path, const qn_open_opts *o,
			       const qn_source **out) QN_MUST_CHECK;

#endif
