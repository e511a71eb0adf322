/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of argument structs: one struct by hand, texts that break its convention, and every
 * struct of the kernels' texts against it. */
#include "tests/e2e/build.h"

#include "codegen/fields.h"
#include "runtime/impl_args.h"

static void
by_hand(void **state)
{
	static const char text[] = "/* What it is. */\n"
				   "typedef struct qn_it_args {\n"
				   "\tint32_t outer, dim[12];\n"
				   "\tint32_t zi; /* rows; of several\n"
				   "\t             * lines */\n"
				   "\tint32_t m;\n"
				   "\tconst uint16_t *table; /* [256] */\n"
				   "\tconst int32_t *mult, *other;\n"
				   "} qn_it_args;\n\n";
	static const qn_field want[] = {
		{"outer", 0, false, QN_PLAIN_i32}, {"dim", 12, true, QN_PLAIN_i32},
		{"zi", 0, true, QN_PLAIN_i32},     {"m", 0, true, QN_PLAIN_i32},
		{"table", 0, true, QN_PLAIN_u16},  {"mult", 0, false, QN_PLAIN_i32},
		{"other", 0, true, QN_PLAIN_i32},
	};
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	qn_fields f = qn_fields_read(text, "qn_it_args", &b.arena);
	assert_null(f.wrong);
	assert_int_equal(f.n, QN_COUNT(want));
	assert_int_equal(f.nint, 4);
	for (size_t i = 0; i < f.n; i++) {
		assert_string_equal(f.item[i].name, want[i].name);
		assert_int_equal(f.item[i].length, want[i].length);
		assert_int_equal(f.item[i].ends_line, want[i].ends_line);
		assert_int_equal(f.item[i].type, want[i].type);
	}
	build_end(&b);
}

static void
refused(void **state)
{
	static const char *const body[][2] = {
		{"\tint16_t n;\n", "expected int32_t or a pointer to const at 'int16_t n;'"},
		{"\tint8_t *y;\n", "expected int32_t or a pointer to const at 'int8_t *y;'"},
		{"\tconst int8_t *w;\n\tint32_t n;\n", "int32_t after a pointer at 'n;'"},
		{"\tint32_t n;\n\tconst void *w;\n",
		 "pointer to elements of an unsupported type at ' *w;'"},
		{"\tint32_t n;\n\tconst int8_t w[4];\n", "expected the name of a field at 'w[4];'"},
		{"\tint32_t n[QN_AXES];\n", "expected the length of an array at 'QN_AXES];'"},
		{"\tint32_t n[0];\n", "expected the length of an array at '];'"},
		{"\tint32_t *n;\n", "expected the name of a field at '*n;'"},
		{"\tint32_t n,\n\t\tm;\n", "expected ', ' or ';' after a field at ','"},
		{"\tint32_t n;\n", "another name after the struct at 'qn_other;'"},
		{"\tint32_t n; /* ", "expected int32_t or a pointer to const at ''"},
	};
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	for (size_t i = 0; i < QN_COUNT(body); i++) {
		qn_buf text;

		qn_buf_init(&text, &b.arena);
		qn_buff(&text, "typedef struct qn_it {\n%s} qn_other;\n", body[i][0]);
		qn_fields f = qn_fields_read(qn_buf_str(&text), "qn_it", &b.arena);
		assert_non_null(f.wrong);
		assert_string_equal(f.wrong, body[i][1]);
	}
	assert_non_null(qn_fields_read("int n;\n", "qn_it", &b.arena).wrong);
	build_end(&b);
}

/* Each struct of arguments in the kernels' texts keeps the convention. */
static void
of_kernels(void **state)
{
	size_t found = 0;
	qn_pieces p;
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	qn_pieces_init(&p, &b.arena, false);
	for (size_t i = 0; i < p.n; i++) {
		if (strstr(p.item[i].name, "_args") == NULL)
			continue;
		qn_fields f = qn_fields_read(p.item[i].text, p.item[i].name, &b.arena);
		if (f.wrong != NULL)
			fail_msg("%s: %s", p.item[i].name, f.wrong);
		assert_true(f.nint > 0);
		found++;
	}
	assert_true(found >= 40);
	build_end(&b);
}

/* What is read is where the compiler puts it. */
static void
places(void **state)
{
	qn_pieces p;
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	qn_pieces_init(&p, &b.arena, false);
	const char *name = "qn_conv2d_args";
	qn_fields f = qn_fields_read(qn_pieces_find(&p, name)->text, name, &b.arena);
	assert_int_equal(f.nint, 22);
	assert_string_equal(f.item[7].name, "k_h");
	assert_int_equal(offsetof(qn_conv2d_args, k_h), 7 * sizeof(int32_t));
	assert_string_equal(f.item[21].name, "mult_n");
	assert_int_equal(offsetof(qn_conv2d_args, mult_n), 21 * sizeof(int32_t));
	assert_int_equal(f.n, 26);
	build_end(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(refused),
		cmocka_unit_test(of_kernels),
		cmocka_unit_test(places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
