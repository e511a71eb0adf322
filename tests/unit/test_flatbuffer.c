/* SPDX-License-Identifier: Apache-2.0 */
/* test_flatbuffer.c - the flatbuffer reader on what writers write, and on bytes that lie: cut short,
 * leading outside, round in circles, or counting what is not there. */
#include "tests/unit/tflite_rig.h"

#include "import/flatbuffer.h"

/* A table {7 as i8, -2 as i32, 0.5, [1,2,3], "ab", a table {9}} */
static size_t
sample(tfl_file *t)
{
	size_t root, inner;

	t->n = 8;
	root = tfl_table(t, 7);
	tfl_lead(t, 0, root);
	tfl_set(t, root, 0, 7, 1);
	tfl_set(t, root, 1, -2, 4);
	tfl_set_real(t, root, 2, 0.5f);
	tfl_link(t, root, 3, tfl_i32s(t, 3, (const int32_t[]){1, 2, 3}));
	tfl_link(t, root, 4, tfl_bytes(t, "ab", 2, 1));
	inner = tfl_table(t, 1);
	tfl_link(t, root, 5, inner);
	tfl_set(t, inner, 0, 9, 8);
	return root;
}

static void
test_reads_fields(void **state)
{
	(void)state;
	sample(file);
	qn_flat f = {.data = file->b, .n = file->n};
	qn_flat_table root = qn_flat_root(&f);
	qn_flat_table inner = qn_flat_table_in(&root, 5), none = qn_flat_table_in(&root, 6);
	qn_flat_vector v = qn_flat_vector_in(&root, 3, 4), text = qn_flat_text_in(&root, 4);

	assert_int_equal(qn_flat_int(&root, 0, QN_FLAT_I8, 0), 7);
	assert_int_equal(qn_flat_int(&root, 1, QN_FLAT_I32, 0), -2);
	assert_int_equal(qn_flat_int(&root, 1, QN_FLAT_U32, 0), UINT32_C(0xfffffffe));
	assert_true(qn_flat_real(&root, 2, 0.0) == 0.5);
	assert_int_equal(v.n, 3);
	assert_int_equal(qn_flat_int_at(&v, 2, QN_FLAT_I32), 3);
	assert_int_equal(qn_flat_int_at(&v, 3, QN_FLAT_I32), 0);
	assert_int_equal(text.n, 2);
	assert_int_equal(qn_flat_int_at(&text, 1, QN_FLAT_U8), 'b');
	assert_int_equal(qn_flat_int(&inner, 0, QN_FLAT_I64, 0), 9);
	assert_int_equal(none.at, 0);
	assert_int_equal(qn_flat_int(&none, 0, QN_FLAT_I64, 5), 5);
	assert_int_equal(qn_flat_int(&root, 100, QN_FLAT_I32, 6), 6);
	assert_null(f.damage);
}

/* Whatever is asked of it, a file cut after n bytes is read inside its bytes only. */
static void
test_cut_short(void **state)
{
	(void)state;
	sample(file);
	for (size_t n = 0; n < file->n; n++) {
		uint8_t *copy = malloc(n + 1); /* an end that the sanitizer sees */
		qn_flat f = {.data = copy, .n = n};

		memcpy(copy, file->b, n);
		qn_flat_table root = qn_flat_root(&f), inner = qn_flat_table_in(&root, 5);
		qn_flat_vector v = qn_flat_vector_in(&root, 3, 4);
		(void)qn_flat_int(&inner, 0, QN_FLAT_I64, 0);
		for (size_t i = 0; i < v.n; i++)
			(void)qn_flat_int_at(&v, i, QN_FLAT_I32);
		assert_non_null(f.damage);
		free(copy);
	}
}

static void
damaged_at(size_t at, uint32_t v, const char *what)
{
	size_t root = sample(file);
	qn_flat f = {.data = file->b, .n = file->n};

	tfl_put(file, at != SIZE_MAX ? at : root, v, 4);
	qn_flat_table t = qn_flat_root(&f);
	qn_flat_vector vector = qn_flat_vector_in(&t, 3, 4);
	(void)qn_flat_table_at(&vector, 0);
	assert_non_null(f.damage);
	assert_string_equal(f.damage, what);
}

static void
test_lies(void **state)
{
	(void)state;
	size_t root = sample(file), slot = tfl_field(file, root, 3);
	size_t vector = slot + (file->b[slot] | (size_t)file->b[slot + 1] << 8);

	damaged_at(0, 0, "an offset is outside the file");
	damaged_at(0, UINT32_MAX, "an offset is outside the file");
	damaged_at(SIZE_MAX, 0x7fffffff, "a table's list of fields is outside the file");
	damaged_at(SIZE_MAX, 0x80000000, "a table's list of fields is outside the file");
	damaged_at(slot, 0, "an offset is outside the file");
	damaged_at(vector, UINT32_MAX, "a vector has more elements than the file has bytes");
	damaged_at(vector, (uint32_t)file->n, "a vector has more elements than the file has bytes");
}

/* Tables that lead to each other are read as deep as somebody asks. */
static void
test_circle(void **state)
{
	(void)state;
	size_t root = sample(file), slot = tfl_field(file, root, 5);
	qn_flat f = {.data = file->b, .n = file->n};
	qn_flat_table t = qn_flat_root(&f);

	/* the vector's first element leads to the inner table, which is read as root's kind */
	for (int i = 0; i < 1000; i++) {
		qn_flat_table again = qn_flat_root(&f);

		t = qn_flat_table_in(&again, 5);
	}
	assert_int_equal(t.at, slot + file->b[slot]);
	assert_null(f.damage);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_reads_fields, tflite_setup, tflite_teardown),
		cmocka_unit_test_setup_teardown(test_cut_short, tflite_setup, tflite_teardown),
		cmocka_unit_test_setup_teardown(test_lies, tflite_setup, tflite_teardown),
		cmocka_unit_test_setup_teardown(test_circle, tflite_setup, tflite_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
