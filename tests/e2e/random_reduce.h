/* SPDX-License-Identifier: Apache-2.0 */
/* random_reduce.h - rows of the list of random ops, in random_reduce.c. */
#ifndef QN_TESTS_RANDOM_REDUCE_H
#define QN_TESTS_RANDOM_REDUCE_H

#include "tests/e2e/random_maker.h"

random_op random_reduce, random_argmax, random_cumsum, random_l2_norm, random_log_softmax,
	random_norm;

#endif
