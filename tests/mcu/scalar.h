/* SPDX-License-Identifier: Apache-2.0 */
/* scalar.h - what scalar.c compares: scalar_run.c is compiled twice, with a core's instructions and with their
 * definitions in C. */
#ifndef QN_TESTS_MCU_SCALAR_H
#define QN_TESTS_MCU_SCALAR_H

#include "runtime/kernels/scalar_conv.h"
#include "runtime/kernels/scalar_dense.h"
#include "runtime/kernels/scalar_depthwise.h"

enum { JOB_CONV, JOB_DEPTHWISE, JOB_DENSE };

typedef struct job {
	int32_t kind;        /* compilers do not agree on the size of an enum */
	int32_t four;        /* weights have 4 bits */
	qn_scalar_args conv; /* depthwise, too */
	qn_dense_scalar_args dense;
	const int8_t *x;
	uint32_t *work;
	int8_t *y;
} job;

void run_native(const job *j);
void run_portable(const job *j);
/* Which instructions run_native has: 1 the first Thumb set, 2 the second, 3 RISC-V, 0 none. */
int native_set(void);

#endif
