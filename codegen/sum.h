/* SPDX-License-Identifier: Apache-2.0 */
/* sum.h - what conv2d and dense share: sums of products with weights, a bias and, when a requantize
 * is fused, a table of multipliers and shifts. */
#ifndef QN_CODEGEN_SUM_H
#define QN_CODEGEN_SUM_H

#include "codegen/emitter.h"

/* Where a kernel's argument struct holds what a requantize sets. */
typedef struct qn_sum_fields {
	int32_t *zo, *lo, *hi, *mode, *mult_n;
	const int32_t **mult;
	const int8_t **shift;
} qn_sum_fields;

/* Sets the fields if the requantize rescales accumulators with one multiplier or one per channel,
 * the channel being the last axis of `channels`. */
bool qn_sum_fuse(const qn_sum_fields *f, int32_t channels, const qn_requantize_args *r);

typedef struct qn_sum {
	const char *type, *kernel;
	bool rows; /* the kernel wants row pointers */
	int32_t mult_n;
	const int32_t *mult;
	const int8_t *shift;
} qn_sum;

/* args: the kernel's argument struct. */
void qn_emit_sum(qn_emitter *e, const qn_step *s, const void *args, const qn_sum *sum);

/* NAME_fuse and NAME_emit of a product over windows of rows: call is the struct whose member args
 * are the kernel's, qn_KERNEL_args. */
#define QN_EMIT_WINDOWS(name, call, kernel_name)                                                   \
	static bool name##_fuse(void *args, const qn_requantize_args *r)                           \
	{                                                                                          \
		call *c = args;                                                                    \
		qn_sum_fields f = {&c->args.zo,     &c->args.lo,   &c->args.hi,   &c->args.mode,   \
				   &c->args.mult_n, &c->args.mult, &c->args.shift};                \
                                                                                                   \
		return qn_sum_fuse(&f, c->args.out_c, r);                                          \
	}                                                                                          \
	static void name##_emit(qn_emitter *e, const qn_step *s, const void *args)                 \
	{                                                                                          \
		const call *c = args;                                                              \
		const qn_sum sum = {                                                               \
			.type = "qn_" kernel_name "_args_a",                                       \
			.kernel = c->args.mult != NULL ? "qn_" kernel_name "_qw"                   \
						       : "qn_" kernel_name "_acc_ow",              \
			.rows = true,                                                              \
			.mult_n = c->args.mult_n,                                                  \
			.mult = c->args.mult,                                                      \
			.shift = c->args.shift,                                                    \
		};                                                                                 \
                                                                                                   \
		qn_emit_window(e, s, c->args.k_h);                                                 \
		qn_emit_sum(e, s, &c->args, &sum);                                                 \
	}

#endif
