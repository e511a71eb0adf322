/* SPDX-License-Identifier: Apache-2.0 */
/* test_api_beyond.c - indices beyond the last: 0 or NULL. */
#include "tests/unit/api_null.h"

static void
dimensions(void **state)
{
	(void)state;
	assert_int_equal(qn_array_dim(x, 1), 4);
	assert_int_equal(qn_stored_dim(t, 1), 4);
	for (int axis = -2; axis < 100; axis++)
		if (axis < 0 || axis > 1) {
			NOTHING(qn_array_dim(x, axis));
			NOTHING(qn_stored_dim(t, axis));
		}
}

static void
parts(void **state)
{
	(void)state;
	assert_int_equal(qn_archive_add(a, "t", t), QN_OK);
	assert_non_null(qn_archive_get(a, 0));
	assert_non_null(qn_stored_plane(t, 0).data);
	for (size_t i = 1; i < 1000; i *= 3) {
		const qn_plane_view plane = qn_stored_plane(t, i);

		NOTHING(qn_archive_get(a, i));
		NOTHING(plane.name);
		NOTHING(plane.data);
		NOTHING(qn_stored_meta(t, i).key);
		NOTHING(qn_diag_get(ctx, i).id);
		NOTHING(qn_model_input_name(m, i));
		NOTHING(qn_value(g, (qn_id)i + 9).op);
	}
	NOTHING(qn_archive_get(a, SIZE_MAX));
	NOTHING(qn_stored_plane(t, SIZE_MAX).name);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {TEST(dimensions), TEST(parts)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
