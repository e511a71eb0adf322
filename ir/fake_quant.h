/* SPDX-License-Identifier: Apache-2.0 */
/* fake_quant.h - the quantized type to which a const_fake_quant rounds. */
#ifndef QN_IR_FAKE_QUANT_H
#define QN_IR_FAKE_QUANT_H

#include "ir/graph.h"

/* Storage and limits: i8 or u8 up to 8 bits, i16 or u16 above; without parameters. */
qn_elem qn_fake_quant_storage(const qn_attrs_const_fake_quant *a);
/* The parameters of range i. */
void qn_fake_quant_params(const qn_attrs_const_fake_quant *a, size_t i, double *scale, int64_t *zp);
/* The type of the node's quantized values.  NULL: reported (type.…). */
const qn_elem *qn_fake_quant_elem(qn_types *t, const qn_node *n);

#endif
