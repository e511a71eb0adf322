/* SPDX-License-Identifier: Apache-2.0 */
/* dtype.h - which plain type stands for an element type in a file of tensors: the storage type;
 * quantized values of 2 and 4 bits take a byte each.
 *
 *   f32 ─▶ f32      !quant.uniform<i8:f32, 0.5> ─▶ i8      !quant.uniform<u4:f32, 0.5> ─▶ u8      i4 ─▶ i8 */
#ifndef QN_FORMATS_DTYPE_H
#define QN_FORMATS_DTYPE_H

#include "ir/tensor.h"

static inline qn_plain
qn_dtype_of(const qn_elem *e)
{
	bool narrow = e->plain != QN_PLAIN_bool && qn_plain_table[e->plain].bits < 8;

	if (!narrow)
		return e->plain;
	return qn_plain_table[e->plain].is_signed ? QN_PLAIN_i8 : QN_PLAIN_u8;
}

#endif
