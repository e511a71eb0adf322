/* SPDX-License-Identifier: Apache-2.0 */
/* emit_conv.c - conv2d and conv1d, alone (accumulators out) or with its requantize (codes out). */
#include "codegen/emitter.h"
#include "runtime/form_args.h"
#include "codegen/sum.h"

QN_EMIT_WINDOWS(conv, qn_conv2d_call, "conv2d")

const qn_emit_form qn_emit_op_conv1d = {.fuse = conv_fuse, .emit = conv_emit};
const qn_emit_form qn_emit_op_conv2d = {.fuse = conv_fuse, .emit = conv_emit};
