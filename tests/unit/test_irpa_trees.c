/* SPDX-License-Identifier: Apache-2.0 */
/* test_irpa_trees.c - trees of tensors in .irpa and in safetensors files: there and back, damaged, names. */
#include "tests/unit/irpa_rig.h"

static qn_status
parse_safetensors(fixture *f, const char *data, size_t n)
{
	qn_archive_data d;

	qn_archive_init(&d, &f->arena, "safetensors", "x.safetensors");
	return qn_safetensors_read(&d, data, n);
}

/* One tensor of each packed form, a plain one, and properties. */
static void
fill(fixture *f, qn_archive_data *d)
{
	const float *x = weights(f, 512, 11);
	const qn_layout_tensor t = qn_layout_of_f32(&f->arena, 2, (const int64_t[]){2, 256}, x);
	const qn_layout_tensor bias =
		qn_layout_plain(qn_dtype_by_name("i64"), 1, (const int64_t[]){3}, x);
	const qn_property name = qn_property_of_string(&f->arena, "name", "net", 3);
	qn_layout_tensor q;
	char key[64];

	qn_archive_init(d, &f->arena, "", "y");
	for (const char *const *form = packed_names(); *form != NULL; form++) {
		assert_int_equal(qn_layout_repack(&f->env, &f->arena, "t", &t, row_of(f, *form),
						  true, &q, NULL),
				 QN_OK);
		(void)snprintf(key, sizeof key, "blk.%s.w", *form);
		assert_true(qn_archive_put(d, key, &q));
	}
	assert_int_equal(qn_layout_repack(&f->env, &f->arena, "t", &t,
					  row_of(f, "TensorScaledLayout"), true, &q, NULL),
			 QN_OK);
	assert_true(qn_archive_put(d, "blk.scaled", &q));
	assert_true(qn_archive_put(d, "bias", &bias));
	qn_archive_set(d, &name);
	for (int i = 0; i < 3; i++) {
		static const char *const json[] = {"-0.0", "{\"layers\": [1.0, \"a\"]}", "[1, 2]"};
		static const char *const keys[] = {"zero", "hparams", "list"};
		static const qn_value_type types[] = {QN_VALUE_F64, QN_VALUE_JSON, QN_VALUE_U8};
		qn_json_doc doc;
		qn_property p;

		assert_int_equal(qn_json_tree(&f->arena, "x", json[i], strlen(json[i]), NULL, &doc),
				 QN_OK);
		if (!qn_property_as(&f->arena, keys[i], doc.root, types[i], &p))
			p = qn_property_of_json(&f->arena, keys[i], doc.root);
		assert_int_equal(p.type, types[i]);
		qn_archive_set(d, &p);
	}
}

static void
assert_same_archive(fixture *f, const qn_archive_data *d, const qn_archive_data *again)
{
	assert_int_equal(again->n, d->n);
	for (size_t i = 0; i < d->n; i++) {
		const qn_layout_tensor *t = &again->tensor[i].t;
		qn_layout_tensor planar;

		assert_string_equal(again->tensor[i].name, d->tensor[i].name);
		assert_int_equal(
			qn_layout_to_planar(&f->env, &f->arena, "t", &d->tensor[i].t, &planar),
			QN_OK);
		assert_ptr_equal(t->layout, planar.layout);
		assert_int_equal(t->nplane, planar.nplane);
		for (int32_t k = 0; k < t->nplane; k++) {
			assert_string_equal(t->plane[k].name, planar.plane[k].name);
			assert_int_equal(t->plane[k].bytes, planar.plane[k].bytes);
			assert_memory_equal(t->plane[k].data, planar.plane[k].data,
					    planar.plane[k].bytes);
		}
		assert_same_floats(dequant(f, &d->tensor[i].t), dequant(f, t),
				   qn_layout_elements(t));
	}
	assert_int_equal(again->nproperty, d->nproperty);
	for (size_t i = 0; i < d->nproperty; i++) {
		const qn_property *p = &d->property[i], *q = qn_archive_value(again, p->key);

		assert_non_null(q);
		assert_true(q->type == p->type && q->array == p->array && q->bytes == p->bytes);
		assert_memory_equal(q->data, p->data, p->bytes);
	}
}

static void
trees(void **state)
{
	fixture *f = *state;
	qn_archive_data d, ready, again;
	qn_buf b;

	fill(f, &d);
	assert_int_equal(qn_irpa_prepare(&f->env, &f->arena, &d, &ready), QN_OK);
	qn_buf_init(&b, &f->arena);
	qn_irpa_print(&b, &ready);
	assert_int_equal(b.n % 4096, 0);
	if (read_as(f, b.data, b.n, &again) != QN_OK)
		fail_msg("%s", all_diags(f));
	assert_same_archive(f, &d, &again);
	assert_int_equal(qn_safetensors_prepare(&f->env, &f->arena, &d, &ready), QN_OK);
	qn_buf_init(&b, &f->arena);
	qn_safetensors_print_archive(&b, &ready);
	qn_archive_init(&again, &f->arena, "safetensors", "z");
	if (qn_safetensors_read(&again, b.data, b.n) != QN_OK)
		fail_msg("%s", all_diags(f));
	assert_same_archive(f, &d, &again);
	assert_int_equal(f->diags.n, 0);
}

static void
hurt_trees(void **state)
{
	fixture *f = *state;
	static const uint8_t data[16] = {0, 0x3C};
	qn_layout_tensor t = {.layout = row_of(f, "BlockScaledI4Layout"),
			      .rank = 1,
			      .dim = {4},
			      .nplane = 2,
			      .nmeta = 1,
			      .meta = {{"signed", "true"}}};
	qn_archive_data d, ready;
	qn_buf b;

	assert_int_equal(qn_plane_of(&f->env, "t", "d", qn_dtype_by_name("f16"), 2,
				     (const int64_t[]){1, 1}, data, 2, &t.plane[0]),
			 QN_OK);
	assert_int_equal(qn_plane_of(&f->env, "t", "qs", qn_dtype_by_name("u8"), 2,
				     (const int64_t[]){1, 2}, data + 2, 2, &t.plane[1]),
			 QN_OK);
	qn_archive_init(&d, &f->arena, "", "y");
	assert_true(qn_archive_put(&d, "w", &t));
	assert_int_equal(qn_safetensors_prepare(&f->env, &f->arena, &d, &ready), QN_OK);
	qn_buf_init(&b, &f->arena);
	qn_safetensors_print_archive(&b, &ready);
	hurt(f, parse_safetensors, b.data, b.n);
}

static void
names_of_trees(void **state)
{
	fixture *f = *state;
	static const uint8_t data[4] = {0};
	const qn_layout_tensor t =
		qn_layout_plain(qn_dtype_by_name("f32"), 1, (const int64_t[]){1}, data);
	qn_archive_data d, ready;
	qn_layout_tensor q;

	qn_archive_init(&d, &f->arena, "", "y.irpa");
	assert_true(qn_archive_put(&d, "a.b", &t));
	assert_true(qn_archive_put(&d, "a.b.c", &t));
	assert_int_equal(qn_irpa_prepare(&f->env, &f->arena, &d, &ready), QN_EINVALID);
	assert_string_equal(last_id(f), "theta.name");
	assert_non_null(strstr(all_diags(f), "'a.b' is a tensor and the beginning of the name"));
	qn_archive_init(&d, &f->arena, "", "y.irpa");
	assert_true(qn_archive_put(&d, "a\x80z", &t));
	assert_int_equal(qn_irpa_prepare(&f->env, &f->arena, &d, &ready), QN_EINVALID);
	assert_string_equal(last_id(f), "archive.name");
	assert_int_equal(qn_safetensors_prepare(&f->env, &f->arena, &d, &ready), QN_EINVALID);
	assert_int_equal(qn_gguf_prepare(&f->env, &f->arena, &d, &ready), QN_OK);
	assert_int_equal(qn_layout_repack(&f->env, &f->arena, "t", &t,
					  row_of(f, "TensorScaledLayout"), true, &q, NULL),
			 QN_OK);
	qn_archive_init(&d, &f->arena, "", "y.irpa");
	assert_true(qn_archive_put(&d, "a", &q));
	assert_true(qn_archive_put(&d, "a:d", &t));
	assert_int_equal(qn_irpa_prepare(&f->env, &f->arena, &d, &ready), QN_EINVALID);
	assert_string_equal(last_id(f), "theta.name");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(trees),
		T(hurt_trees),
		T(names_of_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
