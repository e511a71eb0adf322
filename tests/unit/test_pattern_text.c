/* SPDX-License-Identifier: Apache-2.0 */
/* test_pattern_text.c - texts that are no pattern, with the id and the column of what is wrong;
 * canonical texts; what cannot be built by hand. */
#include "tests/unit/pattern_rig.h"

static void
test_errors(void **state)
{
	static const struct {
		const char *text, *id, *place;
	} rows[] = {
		{"", "pattern.syntax", "pattern:1:1"},
		{"relu", "pattern.syntax", "pattern:1:5"},
		{"relu(*", "pattern.syntax", "pattern:1:7"},
		{"relu(*))", "pattern.syntax", "pattern:1:8"},
		{"rel(*)", "pattern.op", "pattern:1:1"},
		{"add(*, rel(*))", "pattern.op", "pattern:1:8"},
		{"input(*)", "pattern.op", "pattern:1:1"},
		{"relu(*, *)", "pattern.arity", "pattern:1:10"},
		{"_", "pattern.syntax", "pattern:1:2"},
		{"x ?relu(y)", "pattern.syntax", "pattern:1:11"},
		{"x ?add(_, y ?relu(z))", "pattern.syntax",
		 "pattern:1:21"}, /* the _ is the other one's */
		{"_=*", "pattern.syntax", "pattern:1:3"},
		{"0a=relu(*)", "pattern.syntax", "pattern:1:2"},
		{"9a=relu(*)", "pattern.syntax", "pattern:1:2"},
		{"* : f33", "type.unknown", "pattern:1:5"},
		{"* : [1,x]", "pattern.syntax", "pattern:1:8"},
		{"* : [1,2,3,4,5,6,7,8,9]", "pattern.syntax", "pattern:1:22"},
		{"* where nobody", "pattern.syntax", "pattern:1:15"},
		{"conv2d(...){strides=[1,1]}", "pattern.attr", "pattern:1:13"},
		{"conv2d(...){stride}", "pattern.syntax", "pattern:1:19"},
		{"a ~ b", "pattern.syntax", "pattern:1:6"},
		{"fn[a, b](...)", "pattern.syntax", "pattern:1:8"},
		{"split(x).x", "pattern.syntax", NULL},
		{"0x7ff0000000000000", "pattern.number", "pattern:1:1"},
		{"expr(x)", "pattern.syntax", "pattern:1:6"},
		{"a | ", "pattern.syntax", "pattern:1:5"},
		{"% ", "pattern.syntax", "pattern:1:3"},
		{"x=relu(x=tanh(*))", "pattern.syntax", "pattern:1:10"},
		{"*{axis=}", "pattern.syntax", "pattern:1:8"},
		{"*{axes=[1,]}", "pattern.syntax", "pattern:1:11"},
		{"* : [1,?", "pattern.syntax", "pattern:1:9"},
		{"fn[*", "pattern.syntax", "pattern:1:5"},
		{"tuple(*).x", "pattern.syntax", "pattern:1:10"},
		{"a ?b", "pattern.syntax", NULL},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_pattern *p;

		qn_diags_clear(&rg->env, &rg->diags);
		if (qn_patterns_parse(new_set(), rows[i].text, &p) != QN_EUSAGE || p != NULL)
			fail_msg("%s is read", rows[i].text);
		if (rg->diags.n != 1 || strcmp(rg->diags.item[0].id, rows[i].id) != 0 ||
		    (rows[i].place != NULL && strcmp(rg->diags.item[0].place, rows[i].place) != 0))
			fail_msg("%s: %zu, %s at %s: %s", rows[i].text, rg->diags.n,
				 rg->diags.item[0].id, rg->diags.item[0].place,
				 rg->diags.item[0].message);
	}
	qn_diags_clear(&rg->env, &rg->diags);
}

/* 64 brackets nested p are read, and a chain of 100 tests; one bracket more is not. */
static void
test_depth(void **state)
{
	(void)state;
	for (int n = 60; n < 70; n++) {
		qn_pattern *p;
		qn_buf b;

		qn_buf_init(&b, &rg->arena);
		for (int i = 0; i < n; i++)
			qn_buf_puts(&b, "(");
		qn_buf_puts(&b, "*");
		for (int i = 0; i < n; i++)
			qn_buf_puts(&b, ")");
		qn_diags_clear(&rg->env, &rg->diags);
		const qn_status status = qn_patterns_parse(new_set(), qn_buf_str(&b), &p);
		if ((status == QN_OK) != (n < 64))
			fail_msg("%d brackets: %s", n, status == QN_OK ? "read" : "refused");
		if (status != QN_OK)
			assert_non_null(strstr(rg->diags.item[0].message, "nested p"));
	}
	qn_diags_clear(&rg->env, &rg->diags);
}

/* Parts nested p without brackets: 255 tests are read, one more is not, whichever argument
 * they stand in. */
static void
test_height(void **state)
{
	static const char *const places[][2] = {
		{"", ""},         {"add(", ", %x)"},     {"add(%x, ", ")"},
		{"fn[", "](%x)"}, {"fn[a -> %x](", ")"},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(places); i++)
		for (int n = 250; n < 258; n++) {
			const bool low = n + (i > 0) < QN_PATTERN_HEIGHT;
			qn_pattern *p;
			qn_buf b;

			qn_buf_init(&b, &rg->arena);
			qn_buf_puts(&b, places[i][0]);
			qn_buf_puts(&b, "*");
			for (int k = 0; k < n; k++)
				qn_buf_puts(&b, " : f32");
			qn_buf_puts(&b, places[i][1]);
			const qn_status status = qn_patterns_parse(new_set(), qn_buf_str(&b), &p);
			if ((status == QN_OK) != low)
				fail_msg("%s with %d tests: %s", places[i][0], n,
					 status == QN_OK ? "read" : rg->diags.item[0].message);
			if (!low)
				assert_string_equal(rg->diags.item[0].id, "pattern.depth");
			qn_diags_clear(&rg->env, &rg->diags);
		}
}

/* Canonical texts of what can be written in several ways. */
static void
test_texts(void **state)
{
	static const char *const rows[][2] = {
		{" relu ( * ) # comment", "relu(*)"},
		{"((a|b)|c)", "(a | b) | c"},
		{"x=(y=*)", "x=y"},
		{"x=(relu(*) | tanh(*))", "x=(relu(*) | tanh(*))"},
		{"(c=conv2d(...)){stride=[1,1]}", "(c=conv2d(...)){stride=[1,1]}"},
		{"c=conv2d(...){stride=[1,1]}{padding=\"same\"}",
		 "c=conv2d(...){stride=[1,1], padding=same}"},
		{"* : f32 [ 1 , ? ]", "* : f32 : [1,?]"},
		{"s.0", "s.0"},
		{"get(s){index=0}", "s.0"},
		{"get(s)", "s.*"},
		{"s.1.*.2", "s.1.*.2"},
		{"s.1{index=2}", "s.1{index=2}"},
		{"g=get(s){index=0}", "g=s.0"},
		{"(g=get(s)){index=0}", "(g=get(s)){index=0}"},
		{"get(s){index=-1}", "s.*{index=-1}"},
		{"(7).1", "(7.0).1"},
		{"(* : f32).1", "(* : f32).1"},
		{"(%a).1", "(%a).1"},
		{"(a | b).1", "(a | b).1"},
		{"(a ~> b).*", "(a ~> b).*"},
		{"input.0", "input.0"},
		{"a ?_.1", "a ?_.1"},
		{"(a ?relu(_)) ?tanh(_)", "a ?relu(_) ?tanh(_)"},
		{"a ?(relu(_) ?tanh(_))", "a ?(relu(_) ?tanh(_))"},
		{"(a | b) ~> c", "(a | b) ~> c"},
		{"R=cast(R | dense(*, *))", "R=cast(R | dense(*, *))"},
		{"-1e-3", "-0.001"},
		{"fn[ -> *]()", "fn[-> *]()"},
		{"%\"a b\"", "%\"a b\""},
		/* words in quotes where they would not read back */
		{"*{mode=\"a_1\"}", "*{mode=a_1}"},
		{"*{mode=\"two words\"}", "*{mode=\"two words\"}"},
		{"*{mode=\"Zero\"}", "*{mode=\"Zero\"}"},
		{"*{mode=\"nan\"}", "*{mode=\"nan\"}"},
		{"*{mode=\"inf\"}", "*{mode=\"inf\"}"},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		assert_string_equal(text_of(read_pattern(new_set(), rows[i][0])), rows[i][1]);
}

/* A nameless wildcard in two places gets a name that no other has, in whatever order these are. */
static void
test_made_names(void **state)
{
	static const char *const names[][2] = {{"a", "b"},
					       {"slot2", "b"},
					       {"a", "slot2"},
					       {"slot2_", "slot2"},
					       {"slot2", "slot2_"}};
	static const char *const texts[] = {
		"concat(a, b, slot2, slot2)", "concat(slot2, b, slot2_, slot2_)",
		"concat(a, slot2, slot2_, slot2_)", "concat(slot2_, slot2, slot2__, slot2__)",
		"concat(slot2, slot2_, slot2__, slot2__)"};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(names); i++) {
		qn_patterns *set = new_set();
		qn_pattern *in[4];

		for (int k = 0; k < 2; k++)
			in[k] = qn_build_named(set, qn_build_any(set),
					       qn_patterns_slot(set, names[i][k]));
		in[2] = in[3] = qn_build_any(set);
		assert_int_equal(qn_build_slot(in[2])->pat.slot, 2);
		assert_string_equal(text_of(qn_build_call(set, qn_build_op(set, "concat"), 4, in)),
				    texts[i]);
	}
}

static void
test_builder_errors(void **state)
{
	qn_patterns *set = new_set(), *other = new_set();
	qn_pattern *x = qn_build_any(set), *y = qn_build_any(other);
	qn_pattern *three[3] = {x, x, x};

	(void)state;
	assert_null(qn_build_op(set, "rleu"));
	assert_null(qn_build_class(set, "MIXED"));
	assert_null(qn_build_call(set, qn_build_op(set, "add"), 3, three));
	assert_null(qn_build_call(set, qn_build_op(set, "relu"), 1, &y));
	assert_null(qn_build_alt(set, 2, (qn_pattern *[]){x, NULL})); /* silent */
	assert_int_equal(qn_build_redirect(set, x, x), QN_OK);
	assert_int_equal(qn_build_redirect(set, x, x), QN_EUSAGE);
	assert_int_equal(qn_build_redirect(set, qn_build_const(set), x), QN_EUSAGE);
	static const char *const ids[] = {"pattern.op",       "pattern.class",
					  "pattern.arity",    "pattern.context",
					  "pattern.redirect", "pattern.redirect"};
	static const char *const names[] = {"rleu", "MIXED",
					    "add"}; /* what is wrong, by its name */
	assert_int_equal(rg->diags.n, QN_COUNT(ids));
	for (size_t i = 0; i < QN_COUNT(ids); i++) {
		assert_string_equal(rg->diags.item[i].id, ids[i]);
		assert_true(rg->diags.item[i].message[0] != '\0');
		if (i < QN_COUNT(names))
			assert_non_null(strstr(rg->diags.item[i].message, names[i]));
	}
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_errors), TEST(test_depth),      TEST(test_height),
		TEST(test_texts),  TEST(test_made_names), TEST(test_builder_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
