/* SPDX-License-Identifier: Apache-2.0 */
/* npy.h - NumPy's array files, format versions 1 to 3, little-endian, C order. */
#ifndef QN_FORMATS_NPY_H
#define QN_FORMATS_NPY_H

#include "ir/tensor.h"

/* A view of the file's bytes.  dtypes: b1 i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8.  Errors name the file
 * and the value: npy.magic, npy.header, npy.dtype, npy.order (Fortran), npy.truncated, npy.size. */
qn_status qn_npy_read(qn_types *t, qn_arena *a, const char *path, qn_tensor **out) QN_MUST_CHECK;

/* The same from bytes in memory, which must live as long as the tensor. */
qn_status qn_npy_parse(qn_types *t, qn_arena *a, const char *place, const char *data, size_t n,
		       qn_tensor **out) QN_MUST_CHECK;

/* The file's bytes (version 1.0).  Quantized types are written as their storage type. */
void qn_npy_print(qn_buf *b, const qn_tensor *x);

#endif
