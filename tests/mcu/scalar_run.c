/* SPDX-License-Identifier: Apache-2.0 */
/* scalar_run.c - runs a job; RUN is the function's name. */
#include "tests/mcu/scalar.h"

void RUN(const job *j);

void
RUN(const job *j)
{
	switch (j->kind) {
	case JOB_CONV:
		(j->four ? qn_conv2d_scalar_w4 : qn_conv2d_scalar)(&j->conv, j->x, j->work, j->y);
		break;
	case JOB_DEPTHWISE:
		(j->four ? qn_depthwise3_scalar_w4
			 : qn_depthwise3_scalar)(&j->conv, j->x, (uint8_t *)j->work, j->y);
		break;
	case JOB_DENSE:
		(j->four ? qn_dense_scalar_w4 : qn_dense_scalar)(&j->dense, j->x, j->y);
		break;
	}
}

#if !defined(QN_PORTABLE)
int
native_set(void)
{
	return QN_THUMB1 ? 1 : QN_THUMB2 ? 2 : QN_RISCV ? 3 : 0;
}
#endif
