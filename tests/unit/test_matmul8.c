/* SPDX-License-Identifier: Apache-2.0 */
/* Products of two activations of 8 bits for the DSP extension and for vectors, against the plain kernel, which tests of its
 * own compare with other arithmetic: sizes around those that are taken at once, zero points, strides, one scale and one for
 * each column, no byte beyond the operands read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/kernels/matmul8_dsp.h"
#include "runtime/kernels/vector_matmul8.h"

enum { COLUMNS = 40 };

static uint32_t seed = 1;

static int32_t
draw(int32_t below)
{
	seed = seed * 1664525U + 1013904223U;
	return (int32_t)(seed >> 8) % below;
}

static int32_t mult[COLUMNS];
static int8_t shift[COLUMNS];

/* n bytes and not one more: any, or only ends. */
static int8_t *
bytes(int32_t n)
{
	int8_t *x = malloc((size_t)n);
	const int32_t ends = draw(4) == 0;

	assert_non_null(x);
	for (int32_t i = 0; i < n; i++)
		x[i] = (int8_t)(ends != 0 ? (draw(2) != 0 ? -128 : 127) : draw(256) - 128);
	return x;
}

static qn_matmul_args
any_args(int32_t columns)
{
	qn_matmul_args p = {.dim = {1, 1 + draw(2), 1 + draw(2), 1},
			    .m = 1 + draw(3),
			    .k = 1 + draw(50),
			    .n = 1 + draw(COLUMNS),
			    .za = draw(256) - 128,
			    .zb = draw(256) - 128,
			    .zo = draw(256) - 128,
			    .lo = -128 + draw(100),
			    .hi = 127 - draw(100),
			    .mode = draw(4),
			    .a_k = 1,
			    .mult = mult,
			    .shift = shift};

	p.mult_n = draw(2) != 0 ? p.n : 1;
	p.a_m = p.k;
	p.as[2] = p.m * p.a_m;
	p.as[1] = p.dim[2] * p.as[2];
	p.b_k = columns != 0 ? p.n : 1;
	p.b_n = columns != 0 ? 1 : p.k;
	p.bs[2] = draw(2) != 0 ? 0 : p.k * p.n;
	p.bs[1] = p.dim[2] * p.k * p.n;
	for (int i = 0; i < COLUMNS; i++) {
		mult[i] = INT32_C(1) << 30 | draw(1 << 23) << 7;
		shift[i] = (int8_t)-draw(16);
	}
	return p;
}

typedef void kernel(const qn_matmul_args *p, const int8_t *a, const int8_t *b, uint32_t *work,
		    int8_t *y);

static void
compare(int32_t columns, kernel *one, kernel *other)
{
	for (int32_t i = 0; i < 2000; i++) {
		const qn_matmul_args p = any_args(columns);
		const int32_t runs = p.dim[1] * p.dim[2], n = runs * p.m * p.n;
		int8_t *a = bytes(runs * p.m * p.k), *b = bytes(runs * p.k * p.n);
		int8_t *want = malloc((size_t)n), *got = malloc((size_t)n);
		uint32_t *work = malloc((size_t)p.k * sizeof(int16_t));

		assert_true(want != NULL && got != NULL && work != NULL);
		qn_matmul_s8(&p, a, b, want);
		memset(got, 0, (size_t)n);
		one(&p, a, b, work, got);
		assert_memory_equal(want, got, (size_t)n);
		memset(got, 0, (size_t)n);
		other(&p, a, b, work, got);
		assert_memory_equal(want, got, (size_t)n);
		free(a);
		free(b);
		free(want);
		free(got);
		free(work);
	}
}

static void
terms(void **state)
{
	(void)state;
	compare(0, qn_matmul8_terms_dsp, qn_matmul8_terms_vector);
}

static void
columns(void **state)
{
	(void)state;
	compare(1, qn_matmul8_columns_dsp, qn_matmul8_columns_vector);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(terms), cmocka_unit_test(columns)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
