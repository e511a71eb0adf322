/* SPDX-License-Identifier: Apache-2.0 */
/* add_linear.h - sums of 8-bit quantized values as one multiplication each, where that is proved to be equal. */
#ifndef QN_CODEGEN_ADD_LINEAR_H
#define QN_CODEGEN_ADD_LINEAR_H

#include "codegen/kernel_table.h"

const char *qn_fits_add_linear(const qn_step_facts *f);
void *qn_pack_add_linear(const qn_step_facts *f, qn_arena *a);

#endif
