/* SPDX-License-Identifier: Apache-2.0 */
/* estimate.h - how many instructions a plan takes on its target, from figures that were fit to counts (estimate_rows.c).
 *
 *   step     conv2d + requantize, 5 x 5 x 64 of 64 inputs        qn_conv2d_dsp: 8.7 a result, 0.82 a MAC, 2.8 an input
 *   plan     the sum over its steps */
#ifndef QN_CODEGEN_ESTIMATE_H
#define QN_CODEGEN_ESTIMATE_H

#include "codegen/emit.h"

/* What a kernel takes, in thousandths of an instruction. */
typedef struct qn_kernel_figure {
	const char *kernel; /* its name begins so, "_relu" left out */
	int32_t bits;       /* of its weights, or of its values when it has none; 0: any */
	int32_t result;     /* for each element of the core node's result … */
	int32_t mac;    /* … multiplication; of kernels without weights, element of operand 0 */
	int32_t window; /* … input of a window, which all channels share */
	int32_t row;    /* … row of a channel */
	int32_t block;  /* … block of weights that is summed */
} qn_kernel_figure;

typedef struct qn_target_figures {
	const char *target; /* of qn_target */
	const char *from;   /* the target whose figures these are */
	const qn_kernel_figure *own;
	size_t nown;
	int32_t portable; /* what portable kernels take, in percent of what they do on a Cortex-M4 */
} qn_target_figures;

/* The row of a target; of one that was not measured the one of "generic". */
const qn_target_figures *qn_target_figures_of(const char *target);
/* What a kernel takes there; NULL: neither it nor its like was measured.  *percent: what to scale it with. */
const qn_kernel_figure *qn_kernel_figure_of(const qn_target_figures *t, const char *kernel,
					    int32_t bits, int32_t *percent);

/* Multiplications of a run of a step, all turns of its loops; its instructions, and those of the whole plan. */
uint64_t qn_step_macs(const qn_plan *p, const qn_step *s);
uint64_t qn_step_instructions(const qn_plan *p, const qn_step *s);
uint64_t qn_plan_instructions(const qn_plan *p);
/* The target whose figures they are: "generic" where the plan's own was not measured. */
const char *qn_plan_measured_on(const qn_plan *p);

#endif
