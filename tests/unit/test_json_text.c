/* SPDX-License-Identifier: Apache-2.0 */
/* test_json_text.c - the strict JSON reader and the writer. */
#define _POSIX_C_SOURCE 200809L

#include <locale.h>
#include <math.h>

#include "tests/unit/formats_fixture.h"

#include "formats/json_out.h"
#include "formats/json_tree.h"

/* ---- the JSON tree ---- */

static const qn_json *
tree(fixture *f, const char *s, qn_json_doc *d)
{
	return qn_json_tree(&f->arena, "x.json", s, strlen(s), NULL, d) == QN_OK ? d->root : NULL;
}

static void
json_values(void **state)
{
	fixture *f = *state;
	qn_json_doc d;
	const qn_json *v = tree(f,
				" {\"a\": [1, -2.5e3, \"9007199254740993\", \"-inf\"], \"A\": "
				"{\"\\u00e4/~\": null}, \"t\": true} ",
				&d);
	const qn_json *a = qn_json_find(v, "a");
	int64_t i = 0;
	double r = 0;

	assert_int_equal(a->n, 4);
	assert_true(qn_json_i64(&a->child[0], &i) && i == 1);
	assert_false(qn_json_i64(tree(f, "[0.5]", &(qn_json_doc){0})->child, &i));
	assert_true(qn_json_i64(&a->child[1], &i) && i == -2500);
	assert_true(qn_json_i64(&a->child[2], &i) && i == INT64_C(9007199254740993));
	assert_true(qn_json_f64(&a->child[3], &r) && isinf(r) && r < 0);
	assert_false(qn_json_i64(&a->child[3], &i));
	assert_true(qn_json_find(v, "t")->truth);
	assert_null(qn_json_find(v, "T"));
	const qn_json *deep = &qn_json_find(v, "A")->child[0];
	assert_string_equal(qn_json_place(&d, &f->arena, deep), "x.json:/A/\xc3\xa4~1~0");
	assert_string_equal(qn_json_place(&d, &f->arena, &a->child[2]), "x.json:/a/2");
	assert_string_equal(qn_json_place(&d, &f->arena, v), "x.json:/");
}

static void
json_integers(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t want;
	} rows[] = {
		{"[9007199254740992]", true, INT64_C(9007199254740992)},
		{"[9007199254740994]", false, 0},
		{"[\"9223372036854775807\"]", true, INT64_MAX},
		{"[\"9223372036854775808\"]", false, 0},
		{"[\"-9223372036854775808\"]", true, INT64_MIN},
		{"[\"-9223372036854775809\"]", false, 0},
		{"[\"99999999999999999999999\"]", false, 0},
		{"[\"\"]", false, 0},
		{"[\"-\"]", false, 0},
		{"[\" 1\"]", false, 0},
		{"[-0]", true, 0},
		{"[1e3]", true, 1000},
		{"[true]", false, 0},
	};
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_json_doc d;
		int64_t v = 0;
		bool ok = qn_json_i64(tree(f, rows[i].text, &d)->child, &v);

		if (ok != rows[i].ok || (ok && v != rows[i].want))
			fail_msg("row %zu: %d %lld", i, ok, (long long)v);
	}
}

static void
json_refused(void **state)
{
	static const struct {
		const char *text, *id, *place;
	} rows[] = {
		{"", "json.syntax", "x.json:1:1"},
		{"{\n  \"a\": 1,\n}", "json.syntax", "x.json:3:1"},
		{"[01]", "json.syntax", "x.json:1:2"},
		{"[1.]", "json.syntax", "x.json:1:4"},
		{"[+1]", "json.syntax", "x.json:1:2"},
		{"[-]", "json.syntax", "x.json:1:3"},
		{"[1e]", "json.syntax", "x.json:1:4"},
		{"[.5]", "json.syntax", "x.json:1:2"},
		{"[NaN]", "json.syntax", "x.json:1:2"},
		{"[1] 2", "json.syntax", "x.json:1:5"},
		{"[1 2]", "json.syntax", NULL},
		{"[1,,2]", "json.syntax", NULL},
		{"[1", "json.syntax", NULL},
		{"[1}", "json.syntax", NULL},
		{"{\"a\" 1}", "json.syntax", NULL},
		{"{1: 2}", "json.syntax", NULL},
		{"\"a\nb\"", "json.syntax", "x.json:1:3"},
		{"\"a", "json.syntax", "x.json:1:1"},
		{"\"\\x\"", "json.syntax", "x.json:1:3"},
		{"\"\\u12g4\"", "json.syntax", "x.json:1:6"},
		{"\"\\u0000\"", "json.syntax", NULL},
		{"\"\\ud800\"", "json.syntax", NULL},
		{"\"\\udc00\\ud800\"", "json.syntax", NULL},
		{"\"\xc0\x80\"", "json.syntax", "x.json:1:2"},
		{"\"\xed\xa0\x80\"", "json.syntax", "x.json:1:2"},
		{"\"\xf4\x90\x80\x80\"", "json.syntax", "x.json:1:2"},
		{"\"\xe2\x82\"", "json.syntax", "x.json:1:2"},
		{"\"\xff\"", "json.syntax", "x.json:1:2"},
		{"\x01[]", "json.syntax", "x.json:1:1"},
		{"\xef\xbb\xbf[]", "json.syntax", "x.json:1:1"},
		{"[1e999]", "json.number", "x.json:/0"},
		{"[0.0000000000000000000000000000000000000000000000000000000000000001]",
		 "json.syntax", "x.json:1:2"},
		{"{\"a\": {\"b\": 1, \"B\": 2, \"b\": 3}}", "json.key.duplicate", "x.json:/a/b"},
		{"{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"a\":"
		 "1}",
		 "json.key.duplicate", "x.json:/a"},
	};
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_json_doc d;

		assert_null(tree(f, rows[i].text, &d));
		if (strcmp(last_id(f), rows[i].id) != 0)
			fail_msg("row %zu: %s", i, last_id(f));
		if (rows[i].place != NULL &&
		    strcmp(f->diags.item[f->diags.n - 1].place, rows[i].place) != 0)
			fail_msg("row %zu: place %s", i, f->diags.item[f->diags.n - 1].place);
		restart(f);
	}
}

static void
json_depth(void **state)
{
	fixture *f = *state;
	char s[2 * 100000];
	qn_json_doc d;

	for (int depth = 64; depth <= 65; depth++) {
		memset(s, '[', (size_t)depth);
		memset(s + depth, ']', (size_t)depth);
		qn_status status = qn_json_tree(&f->arena, "x", s, 2 * (size_t)depth, NULL, &d);
		assert_int_equal(status, depth == 64 ? QN_OK : QN_EINVALID);
	}
	memset(s, '[', sizeof s);
	assert_int_equal(qn_json_tree(&f->arena, "x", s, sizeof s, NULL, &d), QN_EINVALID);
}

/* 200000 keys: comparing all pairs would take minutes. */
static void
json_many_keys(void **state)
{
	fixture *f = *state;
	qn_json_doc d;
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_buf_putc(&b, '{');
	for (int i = 0; i < 200000; i++)
		qn_buff(&b, "\"k%d\":%d,", i, i);
	qn_buf_puts(&b, "\"k77777\":0}");
	assert_int_equal(qn_json_tree(&f->arena, "x", b.data, b.n, NULL, &d), QN_EINVALID);
	assert_int_equal(f->diags.nerrors, 1);
	assert_string_equal(f->diags.item[0].place, "x:/k77777");
}

static void
json_getters(void **state)
{
	static const char *const keys[] = {"a", "b"};
	fixture *f = *state;
	qn_json_doc d;
	const qn_json *v = tree(f, "{\"a\": 1, \"B\": 2, \"_note\": 3}", &d);

	assert_non_null(qn_json_need(&d, v, "a", QN_JSON_NUMBER));
	assert_null(qn_json_want(&d, v, "b", QN_JSON_NUMBER));
	assert_int_equal(f->diags.n, 0);
	assert_null(qn_json_need(&d, v, "b", QN_JSON_NUMBER));
	assert_string_equal(last_id(f), "json.key.missing");
	assert_null(qn_json_want(&d, v, "a", QN_JSON_STRING));
	assert_string_equal(last_id(f), "json.kind");
	qn_json_only(&d, v, 2, keys);
	assert_string_equal(last_id(f), "json.key.unknown");
	assert_int_equal(f->diags.n, 3);
	assert_string_equal(f->diags.item[2].place, "x.json:/B");
}

static qn_status
parse_json(fixture *f, const char *s, size_t n)
{
	qn_json_doc d;

	return qn_json_tree(&f->arena, "x.json", s, n, NULL, &d);
}

static void
json_hurt(void **state)
{
	const char *s = "{\"a\": [1, -2.5e3, \"\\u00e4\\n\xe2\x82\xac\", true, false, null], "
			"\"b\": {\"a\": {}}, \"c\": []}";

	hurt(*state, parse_json, s, strlen(s));
}

/* ---- the JSON writer ---- */

static void
write_sample(qn_buf *b)
{
	qn_json_out o;

	qn_json_out_init(&o, b);
	qn_json_open(&o, NULL, '{', QN_JSON_LINES);
	qn_json_put_string(&o, "s", "a\"b\n");
	qn_json_open(&o, "flat", '[', QN_JSON_FLAT);
	qn_json_put_i64(&o, NULL, INT64_C(9007199254740993));
	qn_json_put_i64(&o, NULL, INT64_C(-9007199254740992));
	qn_json_put_f64(&o, NULL, 0.1);
	qn_json_put_f32(&o, NULL, 0.1F);
	qn_json_put_f64(&o, NULL, (double)INFINITY);
	qn_json_open(&o, NULL, '{', QN_JSON_LINES);
	qn_json_put_bool(&o, "t", true);
	qn_json_close(&o);
	qn_json_close(&o);
	qn_json_open(&o, "empty", '{', QN_JSON_LINES);
	qn_json_close(&o);
	qn_json_open(&o, "lines", '[', QN_JSON_LINES);
	qn_json_put_u64(&o, NULL, UINT64_MAX);
	qn_json_put_f32(&o, NULL, 1e-30F);
	qn_json_close(&o);
	qn_json_close(&o);
}

static const char sample[] =
	"{\n"
	"  \"s\": \"a\\\"b\\n\",\n"
	"  \"flat\": [\"9007199254740993\", -9007199254740992, 0.1, 0.1, \"inf\", {\"t\": true}],\n"
	"  \"empty\": {},\n"
	"  \"lines\": [\n"
	"    \"18446744073709551615\",\n"
	"    1e-30\n"
	"  ]\n"
	"}\n";

static void
json_written(void **state)
{
	fixture *f = *state;
	qn_json_doc d;
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	write_sample(&b);
	assert_string_equal(qn_buf_str(&b), sample);
	assert_non_null(tree(f, qn_buf_str(&b), &d));
}

/* Where the decimal point is a comma nothing changes. */
static void
json_locale(void **state)
{
	static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE",
					    "ps_AF.UTF-8"};
	fixture *f = *state;
	bool tried = false;

	for (size_t i = 0; i < QN_COUNT(names); i++) {
		double r = 0;
		qn_json_doc d;
		qn_buf b;

		if (setlocale(LC_ALL, names[i]) == NULL)
			continue;
		tried = true;
		assert_string_not_equal(localeconv()->decimal_point, ".");
		qn_buf_init(&b, &f->arena);
		write_sample(&b);
		const qn_json *v = tree(f, "[-2.5e-1, 1.5]", &d);
		bool ok = v != NULL && v->n == 2 && qn_json_f64(&v->child[0], &r);
		bool same = strcmp(qn_buf_str(&b), sample) == 0;
		bool kept = strcmp(localeconv()->decimal_point, ".") != 0;
		(void)setlocale(LC_ALL, "C");
		assert_true(ok && same && kept);
		assert_true(r == -0.25);
	}
	if (!tried) {
		print_message("skipped: no locale with a comma as decimal point is installed\n");
		skip();
	}
}

/* Values in messages: texts of at most 60 bytes, whole characters, nothing after their end. */
static void
json_described(void **state)
{
#define TEN "0123456789"
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"[\"low\"]", "low"},
		{"[\"\"]", ""},
		{"[\"" TEN TEN TEN TEN TEN TEN "\"]", TEN TEN TEN TEN TEN TEN},
		{"[\"" TEN TEN TEN TEN TEN TEN "x\"]", TEN TEN TEN TEN TEN TEN "…"},
		{"[\"" TEN TEN TEN TEN TEN "012345678ä\"]", TEN TEN TEN TEN TEN "012345678…"},
		{"[true]", "true"},
		{"[-2]", "-2"},
		{"[0.5]", "0.5"},
		{"[[1, 2]]", "an array of 2"},
	};
	fixture *f = *state;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const qn_json *v = tree(f, rows[i].text, &(qn_json_doc){0});

		assert_string_equal(qn_json_describe(&f->arena, v->child), rows[i].want);
	}
}

/* As in C: at most so many bytes, and none after the end of the text. */
static void
buf_precision(void **state)
{
	fixture *f = *state;
	const char four[4] = {'a', 'b', 'c', 'd'};
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_buff(&b, "%.*s|%.*s|%.*s|%.*s", 60, "ab", 1, "ab", 0, "ab", 4, four);
	assert_string_equal(qn_buf_str(&b), "ab|a||abcd");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(json_values),    T(json_integers),  T(json_refused),  T(json_depth),
		T(json_many_keys), T(json_getters),   T(json_hurt),     T(json_written),
		T(json_locale),    T(json_described), T(buf_precision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
