/* SPDX-License-Identifier: Apache-2.0 */
/* test_types_hostile.c - texts of types that nobody writes: endless, random, cut short, and those
 * at the limits. */
#include "types_fixture.h"

static void
test_hostile(void **state)
{
	enum { N = 100000 };
	static const char *const unit[] = {
		"(",      "{",
		"tuple<", "$a*",
		"0.5*",   "{1.0,",
		"1.0,",   "fmul(",
		"9",      "#",
		"\n",     "\"",
		"$\"",    "tensor<f32>,",
		"\xff",   "!quant.uniform<i8:f32, ",
		"0.5*(",  "?x",
		"1x",     "tensor<",
		"\x01",
	};
	static const char *const prefix[] = {
		"",
		"tensor<",
		"tuple<",
		"tensor<4x!quant.uniform<i8:f32, ",
		"tensor<4x!quant.uniform<i8:f32:0, {",
		"tensor<4x!quant.uniform<i8:f32:{0:1}, ",
		"tensor<4x!quant.uniform<i8:f32:{",
		"tensor<4x!quant.uniform<i8:f32, $",
	};
	fixture *f = *state;
	char *text = malloc(N + 1);

	declare(f, "a", QN_SYM_SYMMETRIC, 0);
	for (size_t k = 0; k < sizeof prefix / sizeof prefix[0]; k++) {
		for (size_t i = 0; i < sizeof unit / sizeof unit[0]; i++) {
			size_t n = strlen(prefix[k]), u = strlen(unit[i]);

			memcpy(text, prefix[k], n);
			for (; n + u <= N; n += u)
				memcpy(text + n, unit[i], u);
			text[n] = '\0';
			assert_null(type(f, text));
			assert_int_equal(f->diags.n, 1);
			qn_diags_clear(&f->env, &f->diags);
		}
	}
	/* random bytes of the grammar's alphabet */
	static const char alphabet[] =
		"tensor<tuple>!quant.uniform:f32i8,{}()$*/0123456789.x?e-\" +@#fmul";
	uint32_t seed = 1;
	for (int k = 0; k < 2000; k++) {
		size_t n = strlen(prefix[k % 8]);

		memcpy(text, prefix[k % 8], n);
		for (size_t i = n; i < n + 60; i++) {
			seed = seed * 1664525u + 1013904223u;
			text[i] = alphabet[(seed >> 16) % (sizeof alphabet - 1)];
		}
		text[n + 60] = '\0';
		const qn_type *x = type(f, text);
		if (x != NULL)
			assert_ptr_equal(type(f, type_text(f, x)), x);
		qn_diags_clear(&f->env, &f->diags);
	}
	free(text);
}

/* n times unit between prefix and suffix; malloc'ed. */
static char *
repeated(const char *prefix, const char *unit, size_t n, const char *suffix)
{
	const size_t u = strlen(unit);
	char *text = malloc(strlen(prefix) + u * n + strlen(suffix) + 1);
	char *at = text + strlen(prefix);

	memcpy(text, prefix, strlen(prefix));
	for (size_t i = 0; i < n; i++, at += u)
		memcpy(at, unit, u);
	memcpy(at, suffix, strlen(suffix) + 1);
	return text;
}

/* Each limit: the last text that is taken and the first that is not. */
static void
test_limits(void **state)
{
	static const struct {
		const char *prefix, *unit;
		size_t most;
		const char *suffix, *id;
	} row[] = {
		{"tensor<?x!quant.uniform<i8:f32, fmul(0.5,", "(", 63, "$a", "type.depth"},
		{"", "tuple<", 64, "", "type.depth"},
		{"tensor<?x!quant.uniform<i8:f32, $b", "*$a", 64, ">>", "scale.size"},
		{"tensor<?x!quant.uniform<i8:f32:0, {0.5", ",0.5", (1 << 20) - 1, "}>>",
		 "type.param.limit"},
		{"tensor<", "1x", 8, "f32>", "type.rank"},
		/* the one too many is refused where it stands, whatever follows */
		{"tensor<", "1x", 8, "!", "type.rank"},
		{"tensor<?x!quant.uniform<i8:f32:{0:1}, ", "{", 8, "!", "type.rank"},
		{"tensor<?x!quant.uniform<i8:f32:{", "0:1,", 8, "!", "type.rank"},
	};
	fixture *f = *state;

	declare(f, "a", QN_SYM_SYMMETRIC, 0);
	declare(f, "b", QN_SYM_SYMMETRIC, 0);
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		char *text = repeated(row[i].prefix, row[i].unit, row[i].most, row[i].suffix);

		/* the first two are not closed: refused for another reason */
		if (type(f, text) == NULL)
			assert_string_not_equal(f->diags.item[0].id, row[i].id);
		else
			assert_true(i > 1);
		qn_diags_clear(&f->env, &f->diags);
		free(text);
		text = repeated(row[i].prefix, row[i].unit, row[i].most + 1, row[i].suffix);
		assert_null(type(f, text));
		expect_diag(f, row[i].id, row[i].prefix);
		free(text);
	}
}

/* Every cut of a valid text is refused with exactly one diagnostic. */
static void
test_truncation(void **state)
{
	static const char whole[] =
		"tuple<tensor<2x?x!quant.uniform<i8<-127:127>:f32:{0:1, 1:2}+, "
		"fmul($\"a/b\",0.5)*{{0.5, 0.25}, {1.0, 2.0}}:$\"a/b\">>, tensor<*xf32>>";
	fixture *f = *state;
	char cut[sizeof whole];

	declare(f, "a/b", QN_SYM_ASYMMETRIC, 0);
	assert_non_null(type(f, whole));
	for (size_t n = 0; n + 1 < sizeof whole; n++) {
		memcpy(cut, whole, n);
		cut[n] = '\0';
		assert_null(type(f, cut));
		assert_int_equal(f->diags.n, 1);
		qn_diags_clear(&f->env, &f->diags);
	}
}

/* What came of reading n bytes: the type's text and how much of it was read, or what was refused. */
static const char *
outcome(fixture *f, const char *s, size_t n)
{
	const qn_type *x = NULL;
	qn_text text;
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_text_init(&text, "t", s, n);
	if (qn_type_parse(&f->t, &text, &x) == QN_OK)
		qn_buff(&b, "%s, %d read", type_text(f, x), (int)(text.at - s));
	for (size_t i = 0; i < f->diags.n; i++)
		qn_buff(&b, "%s %s %s\n", f->diags.item[i].place, f->diags.item[i].id,
			f->diags.item[i].message);
	qn_diags_clear(&f->env, &f->diags);
	return qn_buf_str(&b);
}

/* A text ends at its length: the same comes of each cut of it, whatever the bytes after the cut. */
static void
test_bytes_after(void **state)
{
	static const char *const whole[] = {
		("tuple<tensor<2x?x!quant.uniform<i8<-127:127>:f32:{0:1, 1:2}+, "
		 "fmul($\"a/b\",0.5)*{{0.5, 0.25}, {1.0, 2.0}}:$\"a/b\">>, tensor<*xf32>>"),
		"tensor<3x!quant.uniform<i4:f32:0, {0x3fe0000000000000:-1,0.5:2,1.0e-2}>>",
		"tensor<1x!quant.uniform<u8:f32, $\"a\\\\b\\u0041\":3>>",
		"tensor<1x!quant.calibrated<f32<-1.0:1.0>>>",
	};
	static const char filler[] = " 0x.\"{}[]<>,:a#\\-*$%@+()?\n";
	fixture *f = *state;
	char text[200];

	declare(f, "a/b", QN_SYM_ASYMMETRIC, 0);
	for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
		for (size_t cut = 0; cut <= strlen(whole[i]); cut++) {
			memset(text, 0, sizeof text);
			memcpy(text, whole[i], cut);
			const char *want = outcome(f, text, cut);

			for (const char *c = filler; *c != '\0'; c++) {
				memset(text + cut, *c, sizeof text - cut);
				assert_string_equal(outcome(f, text, cut), want);
			}
		}
	}
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_hostile),
		T(test_limits),
		T(test_truncation),
		T(test_bytes_after),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
