/* SPDX-License-Identifier: Apache-2.0 */
/* dsp.h - what dsp.c compares: dsp_run.c is compiled twice, with the instructions of the DSP extension and
 * with their definitions in C. */
#ifndef QN_TESTS_MCU_DSP_H
#define QN_TESTS_MCU_DSP_H

#include "runtime/kernels/dsp_conv.h"
#include "runtime/kernels/dsp_conv16.h"
#include "runtime/kernels/dsp_dense.h"
#include "runtime/kernels/dsp_dense_long.h"
#include "runtime/kernels/dsp_depthwise.h"
#include "runtime/kernels/dsp_depthwise_any.h"
#include "runtime/kernels/dsp_winograd.h"
#include "runtime/kernels/matmul8_dsp.h"
#include "runtime/kernels/matmul_dsp.h"
#include "runtime/kernels/pool_dsp.h"

typedef enum job_kind {
	JOB_PRIMITIVES,
	JOB_CONV,
	JOB_CONV_APART,
	JOB_CONV16,
	JOB_DEPTHWISE16,
	JOB_DENSE16,
	JOB_WINOGRAD,
	JOB_DEPTHWISE,
	JOB_DEPTHWISE_ANY,
	JOB_DEPTHWISE_UP,
	JOB_DENSE,
	JOB_DENSE_LONG,
	JOB_POOL,
	JOB_MATMUL8,
	JOB_MATMUL16,
} job_kind;

typedef struct job {
	int kind;         /* a job_kind; compilers differ in the size of those */
	int relu, over;   /* over: the result lies where the operand does */
	int four;         /* weights have 4 bits; a pool gives the largest values */
	qn_dsp_args conv; /* depthwise and Winograd's, too */
	qn_dense_dsp_args dense;
	qn_dense_rows16_args wide;
	qn_pool_args pool;
	qn_matmul_args matmul;
	const int8_t *x;
	const int16_t *a, *b;  /* of 16 bits */
	const uint32_t *words; /* of primitives */
	uint32_t *work;
	int8_t *z;
} job;

void run_native(const job *j);
void run_portable(const job *j);
/* Which definitions run_native has: QN_DSP. */
int native_dsp(void);

#endif
