/* SPDX-License-Identifier: Apache-2.0 */
/* dtype.h - which plain type stands for an element type in a file of tensors: the storage type,
 * four-bit codes a byte each.
 *
 *   f32 ─▶ f32      !quant.uniform<i8:f32, 0.5> ─▶ i8      !quant.uniform<u4:f32, 0.5> ─▶ u8      i4 ─▶ i8 */
#ifndef QN_FORMATS_DTYPE_H
#define QN_FORMATS_DTYPE_H

#include "ir/tensor.h"

static inline qn_plain
qn_dtype_of(const qn_elem *e)
{
	return e->plain == QN_PLAIN_i4   ? QN_PLAIN_i8
	       : e->plain == QN_PLAIN_u4 ? QN_PLAIN_u8
					 : e->plain;
}

#endif
