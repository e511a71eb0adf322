/* SPDX-License-Identifier: Apache-2.0 */
/* emit_conv.c - conv2d and conv1d, alone (accumulators out) or with its requantize (codes out). */
#include "codegen/emitter.h"
#include "runtime/form_args.h"
#include "codegen/sum.h"

static const char fields[] = "batch, in_h, in_w, in_c\n"
			     "out_h, out_w, out_c\n"
			     "k_h, k_w\n"
			     "stride_h, stride_w\n"
			     "dil_h, dil_w\n"
			     "pad_t, pad_l\n"
			     "groups\n"
			     "zi\n"
			     "zo, lo, hi\n"
			     "mode\n"
			     "mult_n\n";

QN_EMIT_WINDOWS(conv, qn_conv2d_call, "conv2d", fields)

const qn_emit_form qn_emit_op_conv1d = {.fuse = conv_fuse, .emit = conv_emit};
const qn_emit_form qn_emit_op_conv2d = {.fuse = conv_fuse, .emit = conv_emit};
