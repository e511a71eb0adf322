/* SPDX-License-Identifier: Apache-2.0 */
/* Products of two activations of 8 bits for the DSP extension and for vectors, against the plain kernel, which tests of its
 * own compare with other arithmetic: sizes around those that are taken at once, zero points, strides, one scale and one for
 * each column, no byte beyond the operands read. */
#include <string.h>

#include "runtime/kernels/matmul8_dsp.h"
#include "runtime/kernels/vector_matmul8.h"
#include "tests/unit/kernel_rig.h"

enum { COLUMNS = 40 };

static int32_t mult[COLUMNS];
static int8_t shift[COLUMNS];

/* n codes, any or only ends. */
static int8_t *
any_codes(int32_t n)
{
	int8_t *x = codes(n, -128);

	if (pick(0, 3) == 0)
		for (int32_t i = 0; i < n; i++)
			x[i] = pick(0, 1) != 0 ? -128 : 127;
	return x;
}

static qn_matmul_args
any_args(int32_t columns)
{
	qn_matmul_args p = {.dim = {1, pick(1, 2), pick(1, 2), 1},
			    .m = pick(1, 3),
			    .k = pick(1, 50),
			    .n = pick(1, COLUMNS),
			    .za = pick(-128, 127),
			    .zb = pick(-128, 127),
			    .zo = pick(-128, 127),
			    .lo = pick(-128, -29),
			    .hi = pick(28, 127),
			    .mode = pick(0, 3),
			    .a_k = 1,
			    .mult = mult,
			    .shift = shift};

	p.mult_n = pick(0, 1) != 0 ? p.n : 1;
	p.a_m = p.k;
	p.as[2] = p.m * p.a_m;
	p.as[1] = p.dim[2] * p.as[2];
	p.b_k = columns != 0 ? p.n : 1;
	p.b_n = columns != 0 ? 1 : p.k;
	p.bs[2] = pick(0, 1) != 0 ? 0 : p.k * p.n;
	p.bs[1] = p.dim[2] * p.k * p.n;
	for (int i = 0; i < COLUMNS; i++) {
		mult[i] = pick(1 << 30, INT32_MAX);
		shift[i] = (int8_t)-pick(0, 15);
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
		int8_t *a = any_codes(runs * p.m * p.k), *b = any_codes(runs * p.k * p.n);
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
