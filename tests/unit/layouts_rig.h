/* SPDX-License-Identifier: Apache-2.0 */
/* layouts_rig.h - what the tests of layouts and archives share: bytes from hexadecimal digits,
 * tensors over them, and a generator of weights. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#endif
#ifndef QN_TESTS_LAYOUTS_RIG_H
#define QN_TESTS_LAYOUTS_RIG_H

#include <math.h>

#include "tests/unit/formats_fixture.h"

#include "ir/layout.h"

/* "00 3C" or "003C" as bytes in the arena. */
static inline uint8_t *
hex(fixture *f, const char *digits, size_t *n)
{
	uint8_t *out = QN_NEW(&f->arena, uint8_t, strlen(digits) / 2 + 1);
	size_t k = 0;
	unsigned byte;

	for (const char *p = digits; *p != '\0'; p++)
		if (*p != ' ' && sscanf(p, "%2x", &byte) == 1) {
			out[k++] = (uint8_t)byte;
			p++;
		}
	if (n != NULL)
		*n = k;
	return out;
}

static inline const qn_layout_row *
row_of(fixture *f, const char *name)
{
	const qn_layout_row *row = NULL;

	assert_int_equal(qn_layout_find(&f->env, "", name, &row), QN_OK);
	return row;
}

/* A packed tensor of n rows of `columns` over bytes. */
static inline qn_layout_tensor
packed(fixture *f, const char *layout, int64_t n, int64_t columns, const uint8_t *bytes)
{
	const qn_layout_row *row = row_of(f, layout);
	qn_layout_tensor t = {.layout = row, .rank = 2, .dim = {n, columns}, .nplane = 1};
	const int64_t dim[] = {n, columns / row->block, row->packed->bytes};

	assert_int_equal(qn_plane_of(&f->env, "t", "", qn_dtype_by_name("u8"), 3, dim, bytes,
				     (size_t)(dim[0] * dim[1] * dim[2]), &t.plane[0]),
			 QN_OK);
	assert_int_equal(qn_layout_check(&f->env, "t", &t), QN_OK);
	return t;
}

static inline float *
dequant(fixture *f, const qn_layout_tensor *t)
{
	float *x = QN_NEW(&f->arena, float, (size_t)qn_layout_elements(t) + 1);

	qn_layout_dequant(t, x);
	return x;
}

static inline void
assert_same_floats(const float *want, const float *have, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (memcmp(&want[i], &have[i], sizeof *want) != 0)
			fail_msg("element %lld: %a, expected %a", (long long)i, (double)have[i],
				 (double)want[i]);
}

/* The next 32 bits of a generator (xorshift). */
static inline uint32_t
next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Weights about 0, some larger than the others. */
static inline float *
weights(fixture *f, int64_t n, uint32_t seed)
{
	float *x = QN_NEW(&f->arena, float, (size_t)n);
	uint32_t state = seed;

	for (int64_t i = 0; i < n; i++) {
		const float a = (float)(next_random(&state) % 20001) / 10000.0F - 1.0F;
		const float b = (float)(next_random(&state) % 10001) / 10000.0F;

		x[i] = a * b * b * 0.3F;
	}
	return x;
}

static inline const char *const *
packed_names(void)
{
	static const char *const names[] = {"q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q2_K",
					    "q3_K", "q4_K", "q5_K", "q6_K", NULL};

	return names;
}

#endif
