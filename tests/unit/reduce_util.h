/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_util.h - types and codes for the tests of reductions and normalizations. */
#ifndef TESTS_UNIT_REDUCE_UTIL_H
#define TESTS_UNIT_REDUCE_UTIL_H

#include "tests/unit/run_util.h"

#include <math.h>

enum { D0 = 2, D1 = 3, D2 = 4, D3 = 5, COUNT = D0 * D1 * D2 * D3 };

static const int64_t dims[4] = {D0, D1, D2, D3};

/* "tensor<2x3x…xELEM>" */
static inline const char *
shaped(int32_t rank, const int64_t *dim, const char *elem)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_buf_puts(&b, "tensor<");
	for (int32_t i = 0; i < rank; i++)
		qn_buff(&b, "%lldx", (long long)dim[i]);
	qn_buff(&b, "%s>", elem);
	return qn_buf_str(&b);
}

static inline const char *
quantized(double scale, int64_t zp)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_buff(&b, "!quant.uniform<i8:f32, ");
	qn_buf_f64(&b, (double)(float)scale);
	qn_buff(&b, ":%lld>", (long long)zp);
	return qn_buf_str(&b);
}

static inline double
code_of(double real, double scale, double zp)
{
	return fmin(127, fmax(-128, floor(real / (double)(float)scale + 0.5) + zp));
}

static inline qn_attrs
attrs_of(qn_op kind)
{
	qn_attrs a;

	qn_attrs_default(qn_opinfo_get(kind)->attrs, &a);
	return a;
}

#endif
