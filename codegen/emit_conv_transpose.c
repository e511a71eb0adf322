/* SPDX-License-Identifier: Apache-2.0 */
/* emit_conv_transpose.c - conv2d_transpose, alone (accumulators out) or with its requantize. */
#include "codegen/emitter.h"
#include "codegen/sum.h"
#include "runtime/form_args.h"

QN_EMIT_WINDOWS(transpose, qn_conv_transpose_call, "conv_transpose")

const qn_emit_form qn_emit_op_conv2d_transpose = {.fuse = transpose_fuse, .emit = transpose_emit};
