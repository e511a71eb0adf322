/* SPDX-License-Identifier: Apache-2.0 */
/* test_wire.c - the look at protobuf's bytes before they are unpacked: whatever they are, it ends with a
 * reason, and a file that is whole loses nothing. */
#include "tests/unit/run_util.h"

#include "import/import.h"
#include "tests/unit/onnx_writer.h"

static onx *file;
static const qn_import_how how;

static int
setup(void **state)
{
	file = calloc(1, sizeof *file);
	onx_begin(file);
	return rig_setup(state);
}

static int
teardown(void **state)
{
	free(file);
	return rig_teardown(state);
}

static qn_status
read_bytes(const void *data, size_t n)
{
	/* Behind the copy nothing can be read unnoticed. */
	return qn_onnx_read(&rg->m, "f.onnx", NULL, qn_arena_copy(&rg->arena, data, n), n, &how);
}

static void
expect(const void *data, size_t n, const char *text)
{
	assert_int_equal(read_bytes(data, n), QN_EINVALID);
	assert_int_equal(rg->diags.n, 1);
	assert_string_equal(rg->diags.item[0].id, "import.file");
	if (strstr(rg->diags.item[0].message, text) == NULL)
		fail_msg("not '%s' but '%s'", text, rg->diags.item[0].message);
	qn_diags_clear(&rg->env, &rg->diags);
}

static const uint8_t *
small(size_t *n)
{
	onx_input(file, "x", ONX_FLOAT, "1,2");
	onx_floats(file, "w", "2,2", (const float[]){1, 2, 3, 4});
	onx_real(file, "alpha", 0.5f);
	onx_node(file, "LeakyRelu", "x", "h");
	onx_node(file, "MatMul", "h,w", "y");
	onx_output(file, "y");
	return onx_end(file, 13, n);
}

static void
test_cut_anywhere(void **state)
{
	size_t n;
	const uint8_t *bytes = small(&n);

	(void)state;
	for (size_t k = 0; k < n; k++) {
		assert_int_not_equal(read_bytes(bytes, k), QN_OK);
		assert_true(rg->diags.nerrors > 0);
		qn_diags_clear(&rg->env, &rg->diags);
	}
}

static void
test_any_byte_changed(void **state)
{
	size_t n;
	const uint8_t *bytes = small(&n);
	uint8_t *copy = qn_arena_copy(&rg->arena, bytes, n);

	(void)state;
	for (size_t k = 0; k < n; k++)
		for (int bit = 0; bit < 8; bit++) {
			fresh_graph();
			copy[k] = (uint8_t)(bytes[k] ^ (1 << bit));
			if (read_bytes(copy, n) != QN_OK)
				assert_true(rg->diags.nerrors > 0);
			qn_diags_clear(&rg->env, &rg->diags);
			copy[k] = bytes[k];
		}
}

static void
test_lengths(void **state)
{
	(void)state;
	expect("\x3a\x7f\x00", 3, "length goes beyond");
	expect("\x3a\xff\xff\xff\xff\x0f", 6, "length goes beyond");
	expect("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "too many bytes");
	expect("\x3a\xff", 2, "beyond the end");
	expect("\x3a", 1, "beyond the end");
	expect("\x0d\x01\x02", 3, "beyond the end");
	expect("\x02\x00", 2, "number 0");
	expect("\x0b\x0c", 2, "unknown kind");
	expect("\x38\x01", 2, "given as a number");
	expect("", 0, "has no graph");
}

/* A length of a message that reaches into what follows its parent. */
static void
test_overlapping(void **state)
{
	/* graph, 4 bytes: node of 6 */
	static const uint8_t bytes[] = {0x3a, 4, 0x0a, 6, 0x22, 0, 0x22, 0, 0x22, 0};

	(void)state;
	expect(bytes, sizeof bytes, "length goes beyond");
}

static void
test_twice(void **state)
{
	(void)state;
	expect("\x3a\x00\x3a\x00", 4, "occurs twice");
}

/* 18000 messages inside each other; their lengths take three bytes each. */
static void
test_nested(void **state)
{
	enum { DEEP = 18000 };
	size_t n = 0;
	uint8_t *bytes = qn_arena_alloc(&rg->arena, 3 * DEEP + 8, 1);

	(void)state;
	/* model.graph.node.attribute.g.node.attribute.g …, each as long as what is left */
	static const uint8_t cycle[] = {0x3a, 0x0a, 0x2a, 0x32};
	for (size_t i = 0; i < DEEP; i++) {
		size_t left = 3 * (DEEP - 1 - i);
		bytes[n++] = i == 0 ? cycle[0] : cycle[1 + (i - 1) % 3];
		bytes[n++] = (uint8_t)((left & 127) | 128);
		bytes[n++] = (uint8_t)(left >> 7 & 127);
		if (left >> 14 != 0) { /* does not fit: cut off to what two bytes hold */
			bytes[n - 2] = 0xff;
			bytes[n - 1] = 0x7f;
		}
	}
	assert_int_equal(read_bytes(bytes, n), QN_EINVALID);
	assert_int_equal(rg->diags.n, 1);
	assert_string_equal(rg->diags.item[0].id, "import.file");
}

/* Exactly as deep as is taken, and one more. */
static void
test_depth_limit(void **state)
{
	(void)state;
	for (int deep = 60; deep < 70; deep++) {
		onx_bytes *b = &file->work, *next = &file->inner;
		b->n = 0;
		for (int i = deep; i > 0; i--) {
			static const int field[] = {1, 5, 6}; /* node, attribute, g */
			next->n = 0;
			onx_field(next, field[(i - 1) % 3], b->data, b->n);
			*b = *next;
		}
		next->n = 0;
		onx_field(next, 7, b->data, b->n);
		assert_int_not_equal(read_bytes(next->data, next->n), QN_OK);
		bool too_deep = strstr(rg->diags.item[0].message, "nested") != NULL;
		assert_int_equal(too_deep, deep + 2 > 64);
		qn_diags_clear(&rg->env, &rg->diags);
	}
}

/* Fields that the schema does not have are passed over. */
static void
test_unknown_fields(void **state)
{
	size_t n;

	(void)state;
	onx_text(&file->graph, 99, "something new");
	onx_number(&file->graph, 100, 12345);
	const uint8_t *bytes = small(&n);
	assert_int_equal(read_bytes(bytes, n), QN_OK);
	no_errors();
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_cut_anywhere), TEST(test_any_byte_changed),
		TEST(test_lengths),      TEST(test_overlapping),
		TEST(test_twice),        TEST(test_nested),
		TEST(test_depth_limit),  TEST(test_unknown_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
