/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_rig.h - for tests of tensors: types that are right, random numbers. */
#ifndef TESTS_UNIT_TENSOR_RIG_H
#define TESTS_UNIT_TENSOR_RIG_H

#include "types_fixture.h"

#include <math.h>

#include "ir/tensor.h"

static inline const qn_type *
known(fixture *f, const char *s)
{
	const qn_type *x = type(f, s);

	if (x == NULL)
		fail_msg("%s: %s", s, f->diags.item[0].message);
	return x;
}

static const double inf = (double)INFINITY;

static inline uint32_t
next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* In 0..1, of 24 bits. */
static inline double
uniform(uint32_t *seed)
{
	return next(seed) / 16777216.0;
}

#endif
