/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_layout.c - any bytes as blocks of each packed form: planes and unpacked values stand for the
 * same values, and what they stand for can be quantized again, or is refused with a reason.
 *
 *   byte 0: the form     the others: blocks */
#include "tests/fuzz/fuzz.h"

#include "ir/layout.h"

static bool
same(fuzz *f, const qn_layout_tensor *t, const float *want, int64_t n)
{
	float *have = QN_NEW(&f->arena, float, (size_t)n);

	FUZZ_CHECK(qn_layout_check(&f->env, "t", t) == QN_OK);
	qn_layout_dequant(t, have);
	return n == 0 || memcmp(want, have, (size_t)n * sizeof *want) == 0;
}

/* NaNs have the same bits only if they come about the same way. */
static bool
has_nan(const float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (x[i] != x[i])
			return true;
	return false;
}

static void
target(fuzz *f, const char *data, size_t size)
{
	const qn_layout_row *row = size > 0 ? qn_layout_builtin((uint8_t)data[0] % 16) : NULL;

	if (row == NULL || row->packed == NULL)
		return;
	const int64_t blocks = (int64_t)(size - 1) / row->packed->bytes;
	const int64_t dim[] = {1, blocks, row->packed->bytes}, n = blocks * row->block;
	qn_layout_tensor t = {.layout = row, .rank = 2, .dim = {1, n}, .nplane = 1}, other;
	FUZZ_CHECK(qn_plane_of(&f->env, "t", "", qn_dtype_by_name("u8"), 3, dim, data + 1,
			       (size_t)(blocks * row->packed->bytes), &t.plane[0]) == QN_OK);
	float *x = QN_NEW(&f->arena, float, (size_t)n);
	qn_layout_dequant(&t, x);
	const bool nan = has_nan(x, n);
	FUZZ_CHECK(qn_layout_to_planar(&f->env, &f->arena, "t", &t, &other) == QN_OK);
	FUZZ_CHECK(nan || same(f, &other, x, n));
	FUZZ_CHECK(qn_layout_unpack(&f->env, &f->arena, "t", &t, &other) == QN_OK);
	FUZZ_CHECK(nan || same(f, &other, x, n));
	const qn_layout_tensor floats = qn_layout_of_f32(&f->arena, 2, t.dim, x);
	bool exact;
	if (qn_layout_repack(&f->env, &f->arena, "t", &floats, row, true, &other, &exact) != QN_OK)
		FUZZ_CHECK(fuzz_told(f));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
