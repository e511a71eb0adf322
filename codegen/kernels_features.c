/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_features.c - features of sound: log_mel and mfcc. */
#include "codegen/kernel_table.h"
#include "runtime/log_mel.h"

/* Samples and results of 16 bits; its tables are those that it was prepared with. */
#define OWN_TABLE(field, number)                                                                   \
	{                                                                                          \
		.table = #field, .at = offsetof(qn_features_call, args.field),                     \
		.count = offsetof(qn_features_call, args.number), .each = 1                        \
	}
#define FEATURES                                                                                   \
	.args = "qn_features_args", .families = 1 << QN_FAMILY_s16,                                \
	.pointer = {OWN_TABLE(wide, wide_n), OWN_TABLE(narrow, narrow_n)},                         \
	.work = qn_features_work, .work_type = "int64_t"

static const qn_kernel log_mel[] = {{.name = "qn_log_mel", QN_CODES_2, FEATURES}};
static const qn_kernel mfcc[] = {{.name = "qn_mfcc", QN_CODES_1, FEATURES}};

const qn_op_kernels qn_emit_op_log_mel = QN_KERNELS(log_mel);
const qn_op_kernels qn_emit_op_mfcc = QN_KERNELS(mfcc);
