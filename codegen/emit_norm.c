/* SPDX-License-Identifier: Apache-2.0 */
/* emit_norm.c - batch_norm has no integer form. */
#include "codegen/emitter.h"

const qn_emit_form qn_emit_op_batch_norm = {
	.why = "it has no integer form; clean-up folds it into a convolution or makes it one",
};
