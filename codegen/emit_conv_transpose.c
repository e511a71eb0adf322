/* SPDX-License-Identifier: Apache-2.0 */
/* emit_conv_transpose.c - conv2d_transpose, alone (accumulators out) or with its requantize. */
#include "codegen/emitter.h"
#include "codegen/sum.h"
#include "runtime/form_args.h"

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

QN_EMIT_WINDOWS(transpose, qn_conv_transpose_call, "conv_transpose", fields)

const qn_emit_form qn_emit_op_conv2d_transpose = {.fuse = transpose_fuse, .emit = transpose_emit};
