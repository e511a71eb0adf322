/* SPDX-License-Identifier: Apache-2.0 */
/* vectors.h - what vectors.c compares: vectors_run.c is compiled twice, with a processor's instructions and
 * with their definitions in C. */
#ifndef QN_TESTS_MCU_VECTORS_H
#define QN_TESTS_MCU_VECTORS_H

#include "runtime/kernels/vector_dense.h"
#include "runtime/kernels/vector_depthwise_images.h"
#include "runtime/kernels/vector_elementwise.h"
#include "runtime/kernels/vector_matmul.h"
#include "runtime/kernels/vector_matmul8.h"
#include "runtime/kernels/vector_pool.h"
#include "runtime/kernels/vector_rows16.h"
#include "runtime/kernels/vector_weight_blocks.h"
#include "runtime/kernels/vector_wide.h"

typedef enum job_kind {
	JOB_PRIMITIVES,
	JOB_CONV,
	JOB_WIDE,
	JOB_DEPTHWISE,
	JOB_DEPTHWISE_UP,
	JOB_DENSE,
	JOB_BLOCKS,
	JOB_ADD,
	JOB_POOL,
	JOB_MATMUL,
	JOB_ROWS16,
	JOB_MATMUL8,
} job_kind;

typedef struct job {
	job_kind kind;
	int32_t four;        /* weights have 4 bits; a pool gives the largest values */
	qn_vector_args conv; /* depthwise, too */
	qn_dense_vector_args dense;
	qn_add_linear_args add;
	qn_pool_args pool;
	qn_matmul_args matmul; /* side by side: terms, or where b_n is 1, columns */
	qn_dense_args64 rows16;
	qn_dense_blocks_args64 blocks16; /* where its block is not 0 */
	const int16_t *a, *b;            /* of 16 bits */
	const int8_t *x, *y;
	const int32_t *words; /* of primitives */
	int8_t *work, *z;
} job;

void run_native(const job *j);
void run_portable(const job *j);
/* Which definitions run_native has: ten times QN_VECTORS, and 1 with QN_VNNI or QN_DOT. */
int native_vectors(void);

#endif
