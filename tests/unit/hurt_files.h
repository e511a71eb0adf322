/* SPDX-License-Identifier: Apache-2.0 */
/* hurt_files.h - for tests that read damaged files: what is read of them is used. */
#ifndef TESTS_UNIT_HURT_FILES_H
#define TESTS_UNIT_HURT_FILES_H

#include "tests/unit/formats_fixture.h"

#include <math.h>

#include "formats/npy.h"
#include "formats/safetensors.h"

static inline double
sum(const qn_tensor *x)
{
	double s = 0;

	for (int64_t i = 0; i < qn_type_count(x->type); i++)
		s += isfinite(qn_tensor_f64(x, i)) ? qn_tensor_f64(x, i) : 0;
	return s;
}

#endif
