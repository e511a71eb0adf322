/* SPDX-License-Identifier: Apache-2.0 */
/* test_move.c - kernels that move codes: each element of a random array is looked up at the place where
 * the definition of the operation puts it. */
#include "tests/unit/kernel_rig.h"

#include "runtime/kernels/move.h"

static void
test_transpose(void **state)
{
	(void)state;

	for (int round = 0; round < 300; round++) {
		qn_transpose_args a = {pick(1, 6), 1 << pick(0, 3), {0}, {0}};
		int32_t dim[6], perm[6] = {0, 1, 2, 3, 4, 5}, stride[6], n = 1, at[6] = {0};
		int8_t *x, *y;

		for (int32_t i = a.rank - 1; i >= 0; i--)
			dim[i] = pick(1, 3), stride[i] = n, n *= dim[i];
		for (int32_t i = a.rank - 1; i > 0; i--) {
			int32_t j = pick(0, i), old = perm[i];

			perm[i] = perm[j], perm[j] = old;
		}
		for (int32_t i = 0; i < a.rank; i++)
			a.dim[i] = dim[perm[i]], a.stride[i] = stride[perm[i]];
		x = codes(n * a.size, -128), y = codes(n * a.size, -128);
		qn_transpose(&a, x, y);
		for (int32_t i = 0; i < n; i++, qn_next_index(dim, a.rank, at)) {
			int32_t to = 0;

			for (int32_t k = 0; k < a.rank; k++)
				to = to * a.dim[k] + at[perm[k]];
			assert_memory_equal(y + to * a.size, x + i * a.size, (size_t)a.size);
		}
		free(x), free(y);
	}
}

/* Slices with steps, and the reversal of an axis, by strides alone. */
static void
test_transpose_slice(void **state)
{
	static const int8_t x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, want[] = {7, 5, 11, 9};
	qn_transpose_args a = {2, 1, {2, 2}, {4, -2}}, none = {2, 1, {2, 0}, {4, 1}};
	int8_t y[4] = {1, 2, 3, 4};
	(void)state;

	qn_transpose(&none, x, y);
	assert_int_equal(y[0], 1);
	qn_transpose(&a, x + 7, y);
	assert_memory_equal(y, want, 4);
}

static void
test_concat(void **state)
{
	static const int8_t x[] = {1, 2, 3, 4}, y[] = {5, 6, 7, 8, 9, 10};
	static const int8_t want[] = {1, 2, 5, 6, 7, 3, 4, 8, 9, 10};
	qn_concat_args a = {2, 2, 5}, b = {2, 3, 5};
	int8_t z[10], copy[10];
	(void)state;

	qn_concat_part(&b, y, z + 2);
	qn_concat_part(&a, x, z);
	assert_memory_equal(z, want, 10);
	qn_copy(z, 10, copy);
	qn_copy(copy, 10, copy);
	assert_memory_equal(copy, want, 10);
}

static void
test_pad(void **state)
{
	(void)state;

	for (int round = 0; round < 200; round++) {
		qn_pad_args a = {pick(1, 6), {0}, {0}, {0}, pick(-128, 127)};
		int32_t dim[6], at[6] = {0}, n = 1, m;
		int8_t *x, *y;

		for (int32_t i = 0; i < a.rank; i++) {
			a.dim[i] = pick(round % 10 == 0 ? 0 : 1, 3), n *= a.dim[i];
			a.before[i] = pick(0, 2), a.after[i] = pick(0, 2);
			dim[i] = a.dim[i] + a.before[i] + a.after[i];
		}
		m = qn_count(dim, a.rank);
		x = codes(n, -128), y = codes(m, -128);
		qn_pad_s8(&a, x, y);
		for (int32_t i = 0; i < m; i++, qn_next_index(dim, a.rank, at)) {
			int32_t from = 0, inside = 1;

			for (int32_t k = 0; k < a.rank; k++) {
				int32_t p = at[k] - a.before[k];

				inside &= p >= 0 && p < a.dim[k];
				from = from * a.dim[k] + p;
			}
			assert_int_equal(y[i], inside ? x[from] : a.value);
		}
		free(x), free(y);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transpose),
		cmocka_unit_test(test_transpose_slice),
		cmocka_unit_test(test_concat),
		cmocka_unit_test(test_pad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
