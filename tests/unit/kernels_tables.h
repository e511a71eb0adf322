/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_tables.h - for tests of kernels: tables of random values. */
#ifndef TESTS_UNIT_KERNELS_TABLES_H
#define TESTS_UNIT_KERNELS_TABLES_H

#include "tests/unit/kernel_rig.h"

#include "runtime/fixed.h"
#include "runtime/kernels/conv2d.h"
#include "runtime/kernels/dense.h"
#include "runtime/kernels/elementwise.h"
#include "runtime/kernels/move.h"
#include "runtime/kernels/requantize.h"

/* Code of an accumulator: the last step of conv2d, dense and requantize. */
static inline int64_t
code(int64_t acc, int32_t m, int32_t s, int32_t zo, int32_t lo, int32_t hi, int32_t mode)
{
	return limit((int64_t)qn_apply((int32_t)acc, m, s, mode) + zo, lo, hi);
}

#endif
