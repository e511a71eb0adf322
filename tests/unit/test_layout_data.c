/* SPDX-License-Identifier: Apache-2.0 */
/* test_layout_data.c - a real weight matrix, quantized and dequantized, equals what ggml's reference
 * code makes of it, bit for bit (QUERN_DATA, layouts/). */
#include "tests/unit/layouts_rig.h"

#include "formats/npy.h"

static const float *
load(fixture *f, const char *name, int64_t dim[2])
{
	const char *data = getenv("QUERN_DATA");
	const char *path = qn_path_join(&f->arena, data, qn_path_join(&f->arena, "layouts", name));
	qn_tensor *x;

	assert_int_equal(qn_npy_read(&f->t, &f->arena, path, &x), QN_OK);
	assert_int_equal(x->type->rank, 2);
	memcpy(dim, x->type->dim, 2 * sizeof *dim);
	return qn_tensor_as_f32(&f->arena, x);
}

static void
as_reference(void **state)
{
	static const char *const forms[] = {"f16", "q4_0", "q8_0", "q4_K"};
	fixture *f = *state;
	char name[64];
	int64_t dim[2], dims[2];

	if (getenv("QUERN_DATA") == NULL) {
		print_message("skipped: QUERN_DATA is not set\n");
		return;
	}
	const float *x = load(f, "dtln_conv1d_2.src.npy", dim);
	for (size_t i = 0; i < QN_COUNT(forms); i++) {
		qn_layout_tensor t = qn_layout_of_f32(&f->arena, 2, dim, x), q;

		(void)snprintf(name, sizeof name, "dtln_conv1d_2.%s.dequant.npy", forms[i]);
		const float *want = load(f, name, dims);
		if (i == 0) {
			uint8_t *half = QN_NEW(&f->arena, uint8_t, (size_t)(dim[0] * dim[1] * 2));

			for (int64_t k = 0; k < dim[0] * dim[1]; k++)
				qn_dtype_store(qn_dtype_by_name("f16"), half, k, (double)x[k]);
			q = qn_layout_plain(qn_dtype_by_name("f16"), 2, dim, half);
		} else {
			assert_int_equal(qn_layout_repack(&f->env, &f->arena, "t", &t,
							  row_of(f, forms[i]), true, &q, NULL),
					 QN_OK);
		}
		assert_same_floats(want, dequant(f, &q), dim[0] * dim[1]);
		qn_layout_tensor planar;
		assert_int_equal(qn_layout_to_planar(&f->env, &f->arena, "t", &q, &planar), QN_OK);
		assert_same_floats(want, dequant(f, &planar), dim[0] * dim[1]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {T(as_reference)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
