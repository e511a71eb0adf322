/* SPDX-License-Identifier: Apache-2.0 */
/* test_layout_split.c - split and replicated tensors: made, joined, checked, in archives. */
#include "tests/unit/layouts_rig.h"

#include "formats/archive.h"
#include "ir/layout_split.h"

static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

static qn_layout_tensor
plain(int32_t rank, const int64_t *dim)
{
	return qn_layout_plain(qn_dtype_by_name("i8"), rank, dim, bytes);
}

static void
rows_of_a_matrix(void **state)
{
	fixture *f = *state;
	const qn_layout_tensor t = plain(2, (const int64_t[]){5, 2});
	const qn_layout_tensor s = qn_layout_split(&f->arena, &t, 3);
	static const int64_t rows[] = {2, 2, 1};
	float x[10];

	assert_string_equal(s.layout->name, "SplitPrimitiveTensor");
	assert_int_equal(qn_layout_check(&f->env, "t", &s), QN_OK);
	assert_int_equal(s.nplane, 3);
	for (int32_t i = 0; i < 3; i++) {
		assert_int_equal(s.plane[i].dim[0], rows[i]);
		assert_ptr_equal(s.plane[i].data, bytes + 4 * (size_t)i); /* a view */
	}
	qn_layout_dequant(&s, x);
	for (int i = 0; i < 10; i++)
		assert_true(x[i] == (float)(i + 1));
	const qn_layout_tensor back = qn_layout_join(&f->arena, &s);
	assert_true(qn_layout_is_plain(&back) && back.dim[0] == 5);
	assert_memory_equal(back.plane[0].data, bytes, 10);
	/* Parts of 2 rows: three hold all 5. */
	assert_string_equal(qn_layout_split(&f->arena, &t, 4).layout->name, "ReplicatedTensor");
	const qn_layout_tensor v = plain(1, (const int64_t[]){10});
	const qn_layout_tensor r = qn_layout_split(&f->arena, &v, 2);
	assert_string_equal(r.layout->name, "ReplicatedTensor");
	assert_string_equal(qn_layout_meta(&r, "shard_count"), "2");
	assert_int_equal(qn_layout_check(&f->env, "t", &r), QN_OK);
	qn_layout_dequant(&r, x);
	assert_true(x[9] == 10);
	assert_ptr_equal(qn_layout_join(&f->arena, &r).plane[0].data, bytes);
}

/* Parts of columns, as sharktank splits some matrices. */
static void
columns_of_a_matrix(void **state)
{
	fixture *f = *state;
	const qn_layout_tensor a = plain(2, (const int64_t[]){2, 3});
	const qn_layout_tensor b =
		qn_layout_plain(a.plane[0].dtype, 2, (const int64_t[]){2, 2}, bytes + 6);
	qn_layout_tensor s = {.layout = qn_split_row("SplitPrimitiveTensor"),
			      .rank = 2,
			      .dim = {2, 5},
			      .nplane = 2,
			      .plane = {a.plane[0], b.plane[0]}};
	static const float want[] = {1, 2, 3, 7, 8, 4, 5, 6, 9, 10};
	float x[10];

	s.plane[0].name = "0";
	s.plane[1].name = "1";
	qn_layout_set_meta(&s, "shard_count", "2.0");
	qn_layout_set_meta(&s, "shard_dim", "1");
	assert_int_equal(qn_layout_check(&f->env, "t", &s), QN_OK);
	qn_layout_dequant(&s, x);
	assert_same_floats(want, x, 10);
	const qn_layout_tensor back = qn_layout_join(&f->arena, &s);
	qn_layout_dequant(&back, x);
	assert_same_floats(want, x, 10);
}

static void
refused(void **state)
{
	fixture *f = *state;
	const qn_layout_tensor t = plain(2, (const int64_t[]){5, 2});
	const qn_layout_tensor s = qn_layout_split(&f->arena, &t, 3);
	static const char *const ids[] = {"layout.meta",  "layout.meta",  "layout.shape",
					  "layout.shape", "layout.plane", "layout.plane"};

	for (size_t i = 0; i < QN_COUNT(ids); i++) {
		qn_layout_tensor bad = s;

		if (i == 0)
			qn_layout_set_meta(&bad, "shard_count", "2");
		else if (i == 1)
			qn_layout_set_meta(&bad, "shard_dim", "2");
		else if (i == 2)
			bad.dim[0] = 6;
		else if (i == 3)
			bad.plane[1].dim[1] = 1;
		else if (i == 4)
			bad.plane[1].name = "2";
		else
			bad.nplane = 1;
		assert_int_equal(qn_layout_check(&f->env, "t", &bad), QN_EINVALID);
		assert_string_equal(last_id(f), ids[i]);
	}
}

static void
in_archives(void **state)
{
	fixture *f = *state;
	const qn_layout_tensor t = plain(2, (const int64_t[]){5, 2});
	const qn_layout_tensor v = plain(1, (const int64_t[]){10});
	const qn_layout_tensor parts[] = {qn_layout_split(&f->arena, &t, 2),
					  qn_layout_split(&f->arena, &v, 2)};
	qn_archive_data d, ready, again;
	qn_buf b;

	qn_archive_init(&d, &f->arena, "", "x.irpa");
	assert_true(qn_archive_put(&d, "a.w", &parts[0]) && qn_archive_put(&d, "a.v", &parts[1]));
	assert_int_equal(qn_irpa_prepare(&f->env, &f->arena, &d, &ready), QN_OK);
	assert_non_null(qn_archive_named(&ready, "a.w.shard.1"));
	assert_non_null(qn_archive_named(&ready, "a.v.shard.0"));
	assert_null(qn_archive_named(&ready, "a.v.shard.1"));
	qn_buf_init(&b, &f->arena);
	qn_irpa_print(&b, &ready);
	qn_archive_init(&again, &f->arena, "IRPA", "x.irpa");
	if (qn_irpa_read(&again, b.data, b.n) != QN_OK)
		fail_msg("%s", all_diags(f));
	assert_int_equal(again.n, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_ptr_equal(again.tensor[i].t.layout, parts[i].layout);
		const qn_layout_tensor back = qn_layout_join(&f->arena, &again.tensor[i].t);
		assert_memory_equal(back.plane[0].data, bytes, 10);
	}
	assert_int_equal(qn_gguf_prepare(&f->env, &f->arena, &d, &ready), QN_OK);
	assert_string_equal(last_id(f), "gguf.split");
	assert_true(qn_layout_is_plain(&ready.tensor[0].t) && ready.tensor[0].t.dim[0] == 5);
	/* A part under the name of another tensor. */
	assert_true(qn_archive_put(&d, "a.w.shard.0", &t));
	assert_int_equal(qn_irpa_prepare(&f->env, &f->arena, &d, &ready), QN_EINVALID);
	assert_string_equal(last_id(f), "theta.name");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {T(rows_of_a_matrix), T(columns_of_a_matrix), T(refused),
					   T(in_archives)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
