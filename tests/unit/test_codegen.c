/* SPDX-License-Identifier: Apache-2.0 */
/* Code generation without a compiler: identifiers, kernel pieces, and that the same graph gives the same
 * text. */
#include "tests/unit/codegen_rig.h"

#include "codegen/ident.h"
#include "codegen/kernel_table.h"

/* ---- identifiers ---- */

static void
identifiers(void **state)
{
	static const char *const row[][2] = {
		{"conv1", "conv1"},
		{"conv1/w:0", "conv1_w_0"},
		{"3x3", "n3x3"},
		{"int", "int_2"},
		{"class", "class_2"},
		{"_x__y_", "x_y"},
		{"", "x"},
		{"\xc3\xa4", "x_2"},
		{"conv1", "conv1_2"},
		{"CONV1", "CONV1_3"},
		{"int", "int_3"},
		{"NULL", "NULL_2"},
	};
	builder b;
	qn_names s;
	size_t i;

	(void)state;
	build_begin(&b, "net", 1);
	qn_names_init(&s, &b.arena);
	for (i = 0; i < QN_COUNT(row); i++)
		assert_string_equal(qn_names_add(&s, row[i][0]), row[i][1]);
	build_end(&b);
}

/* ---- kernel pieces ---- */

static void
pieces_closure(void **state)
{
	static const char *const line[] = {
		"/* top */\n", "/*@ a */\n",   "int a;\n",   "/*@ b */\n", "/* c */ int b = a;\n",
		"/*@ c */\n",  "int c = b;\n", "/*@ d */\n", "int d;\n",   "/*@ end */\n",
		"int e;\n",
	};
	static const char text[] = "x = \"c\" + 'd' + /* d */ b;";
	qn_pieces p;
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	memset(&p, 0, sizeof(p));
	p.arena = &b.arena;
	qn_map_init(&p.by_name, &b.arena);
	qn_pieces_add(&p, line, QN_COUNT(line));
	assert_int_equal(p.n, 4);
	qn_pieces_need(&p, text, strlen(text));
	assert_true(qn_pieces_find(&p, "a")->needed);
	assert_true(qn_pieces_find(&p, "b")->needed);
	assert_false(qn_pieces_find(&p, "c")->needed);
	assert_false(qn_pieces_find(&p, "d")->needed);
	assert_string_equal(qn_pieces_find(&p, "b")->text, "/* c */ int b = a;\n");
	assert_null(qn_pieces_find(&p, "e"));
	build_end(&b);
}

static void
pieces_of_kernels(void **state)
{
	static const char *const want[] = {"qn_dense_s8", "qn_dense_args", "qn_dense_dot",
					   "qn_requant",  "qn_apply",      "qn_apply_twice",
					   "QN_READ8",    "QN_RESTRICT"};
	static const char *const other[] = {"qn_dense_acc", "qn_conv2d_s8", "qn_rows_at",
					    "qn_exp_neg"};
	qn_pieces p;
	builder b;
	size_t i;

	(void)state;
	build_begin(&b, "net", 1);
	qn_pieces_init(&p, &b.arena, false);
	qn_pieces_need(&p, "qn_dense_s8(", 12);
	for (i = 0; i < QN_COUNT(want); i++)
		assert_true(qn_pieces_find(&p, want[i])->needed);
	for (i = 0; i < QN_COUNT(other); i++)
		assert_false(qn_pieces_find(&p, other[i])->needed);
	build_end(&b);
}

/* ---- texts ---- */

static void
make_texts(builder *b, qn_emitted *out, uint64_t seed)
{
	const qn_emit_style opts = {"--x", 1, .proof = true};
	qn_plan *p;

	build_begin(b, "int", seed);
	qn_id x = build_input(b, "in/put", Q("1x4"));
	qn_id y = dense(b, "fc */ qn_softmax_s8 /*", x, 4, 3);
	qn_graph_output(b->g, "int", y);
	qn_graph_output(b->g, "same", y);
	qn_graph_output(b->g, "through", x);
	p = plan(b);
	assert_int_equal(qn_emit_c(p, &opts, NULL, &b->arena, out), QN_OK);
}

static void
same_texts(void **state)
{
	qn_emitted a[QN_EMITTED_FILES], c[QN_EMITTED_FILES];
	builder b1, b2;
	int i;

	(void)state;
	make_texts(&b1, a, 7);
	make_texts(&b2, c, 7);
	for (i = 0; i < 3; i++)
		assert_string_equal(a[i].text, c[i].text);
	assert_null(a[4].text);
	build_end(&b2);
	make_texts(&b2, c, 8);
	for (i = 0; i < 3; i++) /* other weights: each file has the new content in it */
		assert_string_not_equal(a[i].text, c[i].text);
	assert_non_null(strstr(a[0].text, "void int_2_run("));
	assert_non_null(strstr(a[0].text, "int8_t *int_2;"));
	assert_non_null(strstr(a[0].text, "#define INT_2_OUT_SAME_SCALE 0.5\n"));
	assert_non_null(strstr(a[0].text, "#define INT_2_OUT_SAME_ZERO_POINT 3\n"));
	assert_non_null(strstr(a[1].text, "memcpy(out->same, out->int_2, 3);"));
	assert_non_null(strstr(a[1].text, "memcpy(out->through, in->in_put, 4);"));
	assert_null(strstr(a[1].text, "qn_exp_neg"));
	assert_non_null(strstr(a[5].text, "\tint64_t scratch[(INT_2_SCRATCH_BYTES + 7) / 8];\n"));
	assert_non_null(strstr(a[5].text, "\tfor (i = 0; i < INT_2_IN_IN_PUT_LEN; i++)\n"
					  "\t\tin_in_put[i] = any_in_in_put;\n"
					  "\tint_2_run(scratch, &in, &out);\n"));
	assert_non_null(strstr(a[5].text, "\t\tany_out_same = out_same[i];\n"));
	build_end(&b1);
	build_end(&b2);
}

/* Drops comments and lines of the preprocessor. */
static char *
code_of(const char *text)
{
	char *code = calloc(strlen(text) + 1, 1), *to = code;
	bool define = false;

	assert_non_null(code);
	for (; *text != '\0'; text++) {
		if (text[0] == '/' && text[1] == '*') {
			text = strstr(text, "*/") + 1;
			continue;
		}
		define = define ? *text != '\n' : *text == '#';
		if (!define)
			*to++ = *text;
	}
	return code;
}

static void
no_real_numbers(void **state)
{
	qn_emitted out[QN_EMITTED_FILES];
	builder b;
	int i;

	(void)state;
	make_texts(&b, out, 7);
	for (i = 0; i < 3; i++) {
		char *code = code_of(out[i].text), *p;

		assert_null(strstr(code, "float"));
		assert_null(strstr(code, "double"));
		for (p = code; *p != '\0'; p++)
			assert_false(*p == '.' && p[1] >= '0' && p[1] <= '9');
		free(code);
	}
	build_end(&b);
}

/* ---- what cannot be emitted ---- */

static size_t
times_in(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)) != NULL; text++)
		n++;
	return n;
}

/* Steps with equal arguments share a struct, whatever the names; another size needs its own. */
static void
shared_arguments(void **state)
{
	const qn_emit_style opts = {"--test", 7u, .proof = false};
	qn_emitted file[QN_EMITTED_FILES];
	builder b;

	(void)state;
	build_parse(
		&b,
		"model \"shared\" stage integer\n"
		"graph @main(%x: " Q("2x3") ", %y: " Q(
			"4") ") {\n"
			     "  %a_long_name = clamp %x {lo=0, hi=9} : " Q(
				     "2x3") "\n"
					    "  %b = clamp %y {lo=0, hi=9} : " Q(
						    "4") "\n"
							 "  %c = clamp %a_long_name {lo=1, hi=9} "
							 ": " Q("2x3") "\n"
								       "  %d = clamp %x {lo=0, "
								       "hi=9} : " Q(
									       "2x3") "\n"
										      "  %e = "
										      "clamp %y "
										      "{lo=0, "
										      "hi=9} : " Q(
											      "4") "\n"
												   "  %f = clamp %d {lo=2, hi=7} : " Q(
													   "2x3") "\n"
														  "  %g = clamp %e {lo=2, hi=7} : " Q(
															  "4") "\n"
															       "  %h = clamp %c {lo=2, hi=7} : " Q(
																       "2x3") "\n"
																	      "  return %a_long_name, %b, %f, %g, %h\n"
																	      "}\n");
	build_check(&b, qn_emit_c(plan(&b), &opts, NULL, &b.arena, file) == QN_OK);
	const char *text = qn_arena_strn(&b.arena, file[1].text, file[1].n);
	assert_string_equal(file[1].suffix, ".c");
	assert_int_equal(times_in(text, "static const qn_clip_args shared_"), 5);
	assert_int_equal(times_in(text, "qn_clip_s8(&shared_"), 8);
	assert_int_equal(times_in(text, "qn_clip_s8(&shared_a_long_name_args,"), 2);
	assert_int_equal(times_in(text, "qn_clip_s8(&shared_b_args,"), 2);
	assert_int_equal(times_in(text, "qn_clip_s8(&shared_f_args,"), 2);
	build_end(&b);
}

static void
refusals(void **state)
{
	qn_plan *p;
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	qn_id x = build_input(&b, "x", "tensor<1x4xf32>");
	qn_graph_output(b.g, "y", build_op(&b, QN_OP_relu, "r", IDS(x), NULL, NULL));
	assert_int_equal(
		qn_plan_make(b.g, "net", &(qn_plan_opts){.target = qn_target_at(0)}, &b.arena, &p),
		QN_EUNSUPPORTED);
	assert_null(p);
	assert_int_equal(b.diags.nerrors, 2);
	assert_true(build_reported(&b, "emit.float"));
	build_end(&b);
	build_begin(&b, "net", 1);
	x = build_input(&b, "x", Q("1x4"));
	qn_graph_output(b.g, "y",
			build_op(&b, QN_OP_dequantize, "d", IDS(x), NULL, "tensor<1x4xf32>"));
	assert_int_equal(
		qn_plan_make(b.g, "net", &(qn_plan_opts){.target = qn_target_at(0)}, &b.arena, &p),
		QN_EUNSUPPORTED);
	assert_true(build_reported(&b, "emit.unsupported"));
	assert_non_null(strstr(b.diags.item[0].message, "dequantize"));
	build_end(&b);
	build_begin(&b, "net", 1);
	x = build_input(&b, "x", Q("?x4"));
	qn_graph_output(b.g, "y", clamp(&b, "c", x, 0, 1));
	assert_int_equal(
		qn_plan_make(b.g, "net", &(qn_plan_opts){.target = qn_target_at(0)}, &b.arena, &p),
		QN_EUNSUPPORTED);
	assert_true(build_reported(&b, "emit.unsupported"));
	build_end(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identifiers),       cmocka_unit_test(pieces_closure),
		cmocka_unit_test(pieces_of_kernels), cmocka_unit_test(same_texts),
		cmocka_unit_test(no_real_numbers),   cmocka_unit_test(shared_arguments),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
