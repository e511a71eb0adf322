/* SPDX-License-Identifier: Apache-2.0 */
/* test_gguf_write.c - writing GGUF files: what was read, planes, properties. */
#include "tests/unit/gguf_bytes.h"

static qn_buf
written(fixture *f, const qn_archive_data *d)
{
	qn_archive_data ready;
	qn_buf b;

	if (qn_gguf_prepare(&f->env, &f->arena, d, &ready) != QN_OK)
		fail_msg("%s", all_diags(f));
	qn_buf_init(&b, &f->arena);
	qn_gguf_print(&b, &ready);
	return b;
}

static void
writes_what_it_read(void **state)
{
	fixture *f = *state;
	const qn_buf b = sample(f);
	qn_archive_data d, again;

	assert_int_equal(read_as(f, b.data, b.n, &d), QN_OK);
	const qn_buf out = written(f, &d);
	assert_int_equal(read_as(f, out.data, out.n, &again), QN_OK);
	assert_int_equal(again.n, d.n);
	assert_int_equal(again.nproperty, d.nproperty + 1); /* general.quantization_version */
	for (size_t i = 0; i < d.n; i++) {
		const qn_layout_tensor *x = &d.tensor[i].t, *y = &again.tensor[i].t;

		assert_string_equal(d.tensor[i].name, again.tensor[i].name);
		assert_true(x->layout == y->layout && x->rank == y->rank);
		assert_memory_equal(x->dim, y->dim, sizeof x->dim);
		assert_memory_equal(x->plane[0].data, y->plane[0].data, x->plane[0].bytes);
	}
	for (size_t i = 0; i < d.nproperty; i++) {
		assert_int_equal(d.property[i].type, again.property[i].type);
		assert_int_equal(d.property[i].bytes, again.property[i].bytes);
		assert_memory_equal(d.property[i].data, again.property[i].data,
				    d.property[i].bytes);
	}
	/* A second time the same bytes: offsets are the running sum. */
	const qn_buf third = written(f, &again);
	assert_int_equal(third.n, out.n);
	assert_memory_equal(third.data, out.data, out.n);
}

/* Planes: packed where the bits fit, else f32 with a warning; types that GGUF does not have. */
static void
writes_planes(void **state)
{
	fixture *f = *state;
	const float *x = weights(f, 64, 9);
	const qn_layout_tensor t = qn_layout_of_f32(&f->arena, 2, (const int64_t[]){2, 32}, x);
	qn_layout_tensor q, planes, odd;
	qn_archive_data d, again;

	assert_int_equal(
		qn_layout_repack(&f->env, &f->arena, "t", &t, row_of(f, "q5_1"), true, &q, NULL),
		QN_OK);
	assert_int_equal(qn_layout_to_planar(&f->env, &f->arena, "t", &q, &planes), QN_OK);
	assert_int_equal(qn_layout_repack(&f->env, &f->arena, "t", &t,
					  row_of(f, "TensorScaledLayout"), true, &odd, NULL),
			 QN_OK);
	qn_archive_init(&d, &f->arena, "", "y.gguf");
	assert_true(qn_archive_put(&d, "planes", &planes));
	assert_true(qn_archive_put(&d, "odd", &odd));
	assert_false(qn_archive_put(&d, "odd", &odd));
	const qn_buf b = written(f, &d);
	assert_int_equal(f->diags.n, 1);
	assert_string_equal(last_id(f), "gguf.dequantized");
	assert_string_equal(f->diags.item[0].place, "y.gguf: tensor 'odd'");
	assert_int_equal(read_as(f, b.data, b.n, &again), QN_OK);
	assert_string_equal(again.tensor[0].t.layout->name, "q5_1");
	assert_memory_equal(again.tensor[0].t.plane[0].data, q.plane[0].data, q.plane[0].bytes);
	assert_same_floats(dequant(f, &odd), dequant(f, &again.tensor[1].t), 64);
	/* several are one warning */
	for (int k = 0; k < 4; k++) {
		char name[8];

		(void)snprintf(name, sizeof name, "odd%d", k);
		assert_true(qn_archive_put(&d, qn_arena_str(&f->arena, name), &odd));
	}
	(void)written(f, &d);
	assert_int_equal(f->diags.n, 2);
	assert_string_equal(f->diags.item[1].place, "y.gguf");
	assert_string_equal(f->diags.item[1].message,
			    "5 tensors have no form in GGUF that holds their bits: their values "
			    "become f32: 'odd' (TensorScaledLayout), 'odd0' (TensorScaledLayout), "
			    "'odd1' (TensorScaledLayout) …");
	const qn_layout_tensor bytes =
		qn_layout_plain(qn_dtype_by_name("u8"), 1, (const int64_t[]){8}, x);
	assert_true(qn_archive_put(&d, "bytes", &bytes));
	assert_int_equal(qn_gguf_prepare(&f->env, &f->arena, &d, &again), QN_EUNSUPPORTED);
	assert_string_equal(last_id(f), "archive.type");
}

/* Properties from JSON. */
static void
properties_of_json(void **state)
{
	static const struct {
		const char *json;
		qn_value_type type;
		bool array;
		const char *back; /* NULL: the same */
	} rows[] = {
		{"true", QN_VALUE_BOOL, false, NULL},
		{"7", QN_VALUE_U32, false, NULL},
		{"-7", QN_VALUE_I32, false, NULL},
		{"4294967296", QN_VALUE_U64, false, NULL},
		{"-4294967296", QN_VALUE_I64, false, NULL},
		{"0.5", QN_VALUE_F32, false, NULL},
		{"0.1", QN_VALUE_F64, false, NULL},
		{"\"a\\nb\"", QN_VALUE_STRING, false, NULL},
		{"[1, -2]", QN_VALUE_I64, true, NULL},
		{"[1, 0.5]", QN_VALUE_F64, true, "[1.0, 0.5]"},
		{"[\"a\", \"b\"]", QN_VALUE_STRING, true, NULL},
		{"[1, \"b\"]", QN_VALUE_JSON, false, "[1.0, \"b\"]"},
		{"{\"a\": [true, null]}", QN_VALUE_JSON, false, NULL},
		{"null", QN_VALUE_JSON, false, NULL},
		{"[]", QN_VALUE_JSON, false, NULL},
	};
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_json_doc doc;

		assert_int_equal(qn_json_tree(&f->arena, "x", rows[i].json, strlen(rows[i].json),
					      NULL, &doc),
				 QN_OK);
		const qn_property p = qn_property_of_json(&f->arena, "k", doc.root);
		assert_int_equal(p.type, rows[i].type);
		assert_int_equal(p.array, rows[i].array);
		assert_string_equal(qn_property_json(&f->arena, &p),
				    rows[i].back != NULL ? rows[i].back : rows[i].json);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(writes_what_it_read),
		T(writes_planes),
		T(properties_of_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
