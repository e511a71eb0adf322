/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors.h - named tensors in one file: u64 header length, JSON header, data.  Tensors are
 * views of the file's bytes. */
#ifndef QN_FORMATS_SAFETENSORS_H
#define QN_FORMATS_SAFETENSORS_H

#include "ir/tensor.h"

typedef struct qn_safetensors qn_safetensors;

/* Checks all of the header: offsets inside the file, not overlapping, sizes equal to dtype *
 * shape, no byte in no tensor, no duplicate names.  Ids: safetensors.header,
 * .dtype, .offset, .overlap, .hole, .truncated, .duplicate. */
qn_status qn_safetensors_open(qn_types *t, qn_arena *a, const char *path,
			      qn_safetensors **out) QN_MUST_CHECK;
qn_status qn_safetensors_parse(qn_types *t, qn_arena *a, const char *place, const char *data,
			       size_t n, qn_safetensors **out) QN_MUST_CHECK;
/* NULL when the name is unknown. */
const qn_tensor *qn_safetensors_find(const qn_safetensors *s, const char *name);
/* The name of a tensor that is nearest to this one; NULL when none is near. */
const char *qn_safetensors_nearest(const qn_safetensors *s, const char *name);

/* Writes a file's bytes: data begins 8-byte aligned, tensors in the given order. */
void qn_safetensors_print(qn_buf *b, size_t n, const char *const *name, const qn_tensor *const *x);

#endif
