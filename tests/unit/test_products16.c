/* SPDX-License-Identifier: Apache-2.0 */
/* Products of values of 16 bits for the DSP extension and for vectors, against the plain kernels, which tests of their own
 * compare with other arithmetic: of two activations with odd and even sizes, strides of the operands, one scale and one for
 * each column, the largest sums; of dense layers with plain weights and with weights in blocks. */
#include <stdbool.h>

#include "runtime/kernels/matmul_dsp.h"
#include "runtime/kernels/vector_matmul.h"
#include "runtime/kernels/vector_rows16.h"
#include "tests/unit/kernel_rig.h"

enum { MOST = 4096 };

static int16_t a[MOST], b[MOST], want[MOST], got[MOST];
static int32_t mult[16];
static int8_t shift[16];

/* Values of the whole range, or only its ends. */
static void
fill(int16_t *x, int32_t ends)
{
	for (int32_t i = 0; i < MOST; i++)
		x[i] = (int16_t)(ends != 0 ? (pick(0, 1) != 0 ? INT16_MIN : INT16_MAX)
					   : pick(INT16_MIN, INT16_MAX));
}

static qn_matmul_args
any_args(void)
{
	qn_matmul_args p = {.dim = {1, pick(1, 2), pick(1, 3), 1},
			    .m = pick(1, 3),
			    .k = pick(1, 40),
			    .n = pick(1, 16),
			    .zo = 0,
			    .lo = INT16_MIN + pick(0, 99),
			    .hi = INT16_MAX - pick(0, 99),
			    .mode = pick(0, 3),
			    .mult = mult,
			    .shift = shift};

	p.mult_n = pick(0, 1) != 0 ? p.n : 1;
	p.a_m = p.k + pick(0, 2);
	p.a_k = 1;
	p.as[2] = p.m * p.a_m;
	p.as[1] = p.dim[2] * p.as[2];
	p.bs[2] = pick(0, 1) != 0 ? 0 : p.k * p.n;
	p.bs[1] = p.dim[2] * p.k * p.n;
	for (int i = 0; i < 16; i++) {
		mult[i] = pick(1 << 30, INT32_MAX);
		shift[i] = (int8_t)pick(-31, 7);
	}
	return p;
}

static void
compare(const qn_matmul_args *p)
{
	const int32_t n = p->dim[1] * p->dim[2] * p->m * p->n;

	for (int32_t i = 0; i < n; i++)
		if (want[i] != got[i])
			fail_msg("m %d, k %d, n %d: result %d is %d, expected %d", (int)p->m,
				 (int)p->k, (int)p->n, (int)i, got[i], want[i]);
}

typedef void kernel(const qn_matmul_args *p, const int16_t *x, const int16_t *y, int16_t *z);

/* Of terms, or of columns that lie side by side. */
static void
compare_both(bool side_by_side, kernel *one, kernel *other)
{
	for (int32_t i = 0; i < 2000; i++) {
		qn_matmul_args p = any_args();

		p.b_k = side_by_side ? p.n : 1;
		p.b_n = side_by_side ? 1 : p.k;
		fill(a, i % 4 == 0);
		fill(b, i % 4 == 0);
		qn_matmul_s16(&p, a, b, want);
		one(&p, a, b, got);
		compare(&p);
		other(&p, a, b, got);
		compare(&p);
	}
}

static void
terms(void **state)
{
	(void)state;
	compare_both(false, qn_matmul_terms_dsp, qn_matmul_terms_vector);
}

static void
columns(void **state)
{
	(void)state;
	compare_both(true, qn_matmul_columns_dsp, qn_matmul_columns_vector);
}

static void
dense(void **state)
{
	static int8_t w[MOST];
	static int64_t bias[16];

	(void)state;
	for (int32_t i = 0; i < 1000; i++) {
		const qn_matmul_args any = any_args();
		const int32_t in = any.k, out = any.n, batch = any.m;
		qn_dense_args64 p = {
			.batch = batch, .in = in, .out = out, .lo = any.lo, .hi = any.hi};
		qn_dense_blocks_args64 q = {
			.batch = batch, .in = in, .out = out, .lo = any.lo, .hi = any.hi};

		fill(a, i % 4 == 0);
		fill(b, i % 8 == 0);
		for (int32_t k = 0; k < MOST; k++)
			w[k] = (int8_t)(i % 4 == 0 ? (pick(0, 1) != 0 ? -128 : 127)
						   : pick(-128, 127));
		for (int32_t o = 0; o < 16; o++)
			bias[o] = pick(-(1 << 19), 1 << 19);
		p.mode = q.mode = any.mode;
		p.mult_n = q.mult_n = any.mult_n;
		p.mult = q.mult = mult;
		p.shift = q.shift = shift;
		p.w = q.w = w;
		p.bias = q.bias = pick(0, 2) != 0 ? bias : NULL;
		q.block = pick(1, in);
		q.blocks = (in + q.block - 1) / q.block;
		q.mantissa = b;
		qn_dense_s16(&p, a, want);
		qn_dense_rows16_vector(&p, a, got);
		assert_memory_equal(want, got, sizeof *got * (size_t)(batch * out));
		qn_dense_blocks_s16(&q, a, want);
		qn_dense_blocks_rows16_vector(&q, a, got);
		assert_memory_equal(want, got, sizeof *got * (size_t)(batch * out));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(terms), cmocka_unit_test(columns),
					   cmocka_unit_test(dense)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
