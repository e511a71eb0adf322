/* SPDX-License-Identifier: Apache-2.0 */
/* Code generation without a compiler: identifiers, kernel pieces, schedule, memory plan, and that
 * the same graph gives the same text. */
#include "tests/e2e/build.h"

#include "codegen/emit.h"
#include "codegen/ident.h"
#include "codegen/kernel_table.h"
#include "codegen/kernel_text.h"

#define Q(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.5:3>>"

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

/* ---- schedule ---- */

static qn_id
dense(builder *b, const char *name, qn_id x, int k, int o)
{
	char w[96], y[96], full[64];

	snprintf(w, sizeof(w), "tensor<%dx%dx!quant.uniform<i8:f32, 0.25>>", o, k);
	snprintf(y, sizeof(y), Q("1x%d"), o);
	snprintf(full, sizeof(full), "%s.w", name);
	qn_id acc = build_op(b, QN_OP_dense, name, IDS(x, build_const(b, full, w, -127, 127)), NULL,
			     NULL);
	snprintf(full, sizeof(full), "%s.q", name);
	return build_op(b, QN_OP_requantize, full, IDS(acc), NULL, y);
}

static qn_plan *
plan(builder *b)
{
	qn_plan *p = NULL;

	build_check(b, qn_plan_make(b->g, b->model.name, &(qn_plan_opts){.target = qn_target_at(0)},
				    &b->arena, &p) == QN_OK);
	return p;
}

static void
fused_step(void **state)
{
	builder b;
	qn_plan *p;

	(void)state;
	build_begin(&b, "net", 1);
	qn_id y = dense(&b, "fc", build_input(&b, "x", Q("1x4")), 4, 2);
	qn_graph_output(b.g, "y", y);
	p = plan(&b);
	assert_int_equal(p->nstep, 1);
	assert_int_equal(p->step[0].node, y);
	assert_int_equal(p->step[0].core, y - 1);
	assert_int_equal(p->step[0].nepilogue, 1);
	assert_int_equal(p->step[0].epilogue[0].node, y);
	assert_int_equal(p->step[0].nin, 2);
	assert_string_equal(p->step[0].kernel->name, "qn_dense_qw");
	assert_string_equal(p->step[0].name, "fc");
	assert_true(p->step[0].in_output);
	assert_int_equal(p->scratch_bytes, 0);
	assert_int_equal(p->weight_bytes, 8 + 4 + 1);
	build_end(&b);
}

/* An accumulator that is used twice stays a step of its own. */
static void
unfused_step(void **state)
{
	builder b;
	qn_plan *p;

	(void)state;
	build_begin(&b, "net", 1);
	qn_id y = dense(&b, "fc", build_input(&b, "x", Q("1x4")), 4, 2);
	qn_graph_output(b.g, "y", y);
	qn_graph_output(b.g, "acc", y - 1);
	p = plan(&b);
	assert_int_equal(p->nstep, 2);
	assert_int_equal(p->step[0].node, y - 1);
	assert_int_equal(p->step[0].nepilogue, 0);
	assert_string_equal(p->step[0].kernel->name, "qn_dense_acc_ow");
	assert_int_equal(p->step[0].output, 1);
	assert_int_equal(p->step[1].output, 0);
	build_end(&b);
}

static qn_id
clamp(builder *b, const char *name, qn_id x, int64_t lo, int64_t hi)
{
	qn_attrs a = build_attrs(QN_OP_clamp);

	a.clamp.lo = lo;
	a.clamp.hi = hi;
	return build_op(b, QN_OP_clamp, name, IDS(x), &a, NULL);
}

/* A chain of clamps and an add need one buffer; reshape needs none; dead nodes are no steps. */
static void
in_place(void **state)
{
	builder b;
	qn_plan *p;

	(void)state;
	build_begin(&b, "net", 1);
	qn_id x = build_input(&b, "x", Q("1x20"));
	qn_id c1 = clamp(&b, "c1", x, -50, 50);
	(void)clamp(&b, "dead", x, 0, 1);
	qn_id c2 = clamp(&b, "c2", c1, -40, 40);
	qn_attrs shape = build_attrs(QN_OP_reshape);
	shape.shape.shape = LIST(20, 1);
	qn_id r = build_op(&b, QN_OP_reshape, "r", IDS(c2), &shape, NULL);
	qn_id a = build_op(&b, QN_OP_add, "a", IDS(r, r), NULL, Q("20x1"));
	qn_id c3 = clamp(&b, "c3", a, 0, 30);
	qn_graph_output(b.g, "y", c3);
	p = plan(&b);
	assert_int_equal(p->nstep, 5);
	assert_int_equal(p->scratch_bytes, 32);
	assert_int_equal(p->lower_bound, 32);
	assert_int_equal(p->step[2].alias, c2);
	assert_int_equal(p->step[2].offset, p->step[1].offset);
	assert_true(p->step[4].in_output);
	build_end(&b);
}

/* c1, c2 of c1, and the sum of both: two buffers of 16 bytes. */
static qn_id
two_and_sum(builder *b)
{
	qn_id x = build_input(b, "x", Q("1x16"));
	qn_id c1 = clamp(b, "c1", x, -50, 50);
	qn_id c2 = clamp(b, "c2", c1, -40, 40);

	return build_op(b, QN_OP_add, "y", IDS(c1, c2), NULL, Q("1x16"));
}

/* An operand that is read again is not overwritten, nor one that is repeated. */
static void
not_in_place(void **state)
{
	builder b;
	qn_plan *p;

	(void)state;
	build_begin(&b, "net", 1);
	qn_id z = clamp(&b, "z", two_and_sum(&b), 0, 9);
	qn_graph_output(b.g, "z", z);
	p = plan(&b);
	assert_int_not_equal(p->step[0].offset, p->step[1].offset);
	assert_int_equal(p->scratch_bytes, 32);
	build_end(&b);
}

/* Memory that a kernel works in lies beside what lives at its step, and only there. */
static void
working_memory(void **state)
{
	builder b;
	qn_plan *p;

	(void)state;
	build_begin(&b, "net", 1);
	qn_graph_output(b.g, "y", two_and_sum(&b));
	p = plan(&b);
	assert_int_equal(p->scratch_bytes, 32);
	p->step[1].work = 40; /* beside c1 and c2 */
	p->step[2].work = 8;  /* beside both too; no longer the other's */
	qn_plan_place(p, &b.arena);
	assert_int_equal(p->scratch_bytes, 32 + 48);
	assert_int_equal(p->lower_bound, 32 + 48);
	for (size_t i = 1; i < 3; i++) {
		const qn_step *s = &p->step[i];

		assert_int_equal(s->work_offset % QN_SCRATCH_ALIGN, 0);
		assert_true(s->work_offset + s->work <= p->scratch_bytes);
		for (size_t k = 0; k < 2; k++)
			assert_true(s->work_offset + s->work <= p->step[k].offset ||
				    p->step[k].offset + 16 <= s->work_offset);
	}
	build_end(&b);
}

/* ---- memory plan of random graphs ---- */

enum { OWNERS = 1 << 16 };

static qn_id
root_of(const qn_plan *p, qn_id id)
{
	size_t i;

	for (i = 0; i < p->nstep; i++)
		if (p->step[i].node == id && p->step[i].alias != 0)
			return root_of(p, p->step[i].alias);
	return id;
}

static const qn_step *
writer_of(const qn_plan *p, qn_id id)
{
	size_t i;

	for (i = 0; i < p->nstep; i++)
		if (p->step[i].node == id)
			return &p->step[i];
	return NULL;
}

/* The bytes of a value that lies in scratch are still its own. */
static void
check_owner(const qn_plan *p, const qn_id *owner, qn_id id)
{
	const qn_step *w = writer_of(p, root_of(p, id));
	size_t k;

	for (k = 0; w != NULL && !w->in_output && k < w->bytes; k++)
		assert_int_equal(owner[w->offset + k], w->node);
}

static void
check_overlap(const qn_plan *p, const qn_step *s, qn_id in)
{
	const qn_step *w = writer_of(p, root_of(p, in));
	qn_op op = qn_graph_node(p->g, s->node)->op;
	bool may = op == QN_OP_clamp || op == QN_OP_add || op == QN_OP_softmax ||
		   (op == QN_OP_requantize && s->core == s->node);

	if (w == NULL || w->in_output || s->in_output)
		return;
	if (w->part_of != 0 &&
	    &p->step[w->part_of - 1] == s) { /* it is written where it lies in it */
		assert_true(s->offset <= w->offset && w->offset + w->bytes <= s->offset + s->bytes);
		return;
	}
	if (w->offset + w->bytes <= s->offset || s->offset + s->bytes <= w->offset)
		return;
	assert_true(may);
	assert_int_equal(w->offset, s->offset);
	assert_int_equal(w->bytes, s->bytes);
}

/* Plays the steps on an array that says whose each byte is. */
static void
play(const qn_plan *p)
{
	qn_id *owner = calloc(OWNERS, sizeof(*owner));
	size_t i, k;
	uint32_t j;

	assert_non_null(owner);
	assert_true(p->scratch_bytes <= OWNERS);
	for (i = 0; i < p->nstep; i++) {
		const qn_step *s = &p->step[i];

		for (j = 0; j < s->nin; j++)
			check_owner(p, owner, s->in[j]);
		if (s->alias != 0 || s->in_output)
			continue;
		for (j = 0; j < s->nin; j++)
			check_overlap(p, s, s->in[j]);
		if (s->part_of == 0)
			assert_int_equal(s->offset % QN_SCRATCH_ALIGN, 0);
		assert_true(s->offset + s->bytes <= p->scratch_bytes);
		for (k = 0; k < s->bytes; k++)
			owner[s->offset + k] = s->node;
	}
	for (i = 0; i < p->g->noutput; i++)
		check_owner(p, owner, p->g->output[i].value);
	assert_true(p->lower_bound <= p->scratch_bytes);
	free(owner);
}

/* One random node on values of 1 x n codes. */
static qn_id
random_node(builder *b, const qn_id *value, size_t n)
{
	qn_id x = value[build_random(b, 0, (int64_t)n - 1)], y;
	int64_t k = qn_graph_node(b->g, x)->type->dim[1];
	qn_attrs a = build_attrs(QN_OP_concat);
	char text[96];
	size_t i;

	snprintf(text, sizeof(text), Q("1x%d"), (int)k);
	switch (build_random(b, 0, 5)) {
	case 0:
		return clamp(b, NULL, x, -30, 30);
	case 1:
		for (i = n, y = x; i-- > 0;)
			if (qn_graph_node(b->g, value[i])->type->dim[1] == k)
				y = value[i];
		return build_op(b, QN_OP_add, NULL, IDS(x, y), NULL, text);
	case 2:
		if (k > 200)
			return dense(b, "fc", x, (int)k, (int)build_random(b, 1, 40));
		return build_op(b, QN_OP_concat, NULL,
				IDS(x, value[build_random(b, 0, (int64_t)n - 1)]), &a, NULL);
	case 3:
		return build_op(b, QN_OP_requantize, NULL, IDS(x), NULL, text);
	case 4:
		return build_op(b, QN_OP_flatten, NULL, IDS(x), NULL, NULL);
	default:
		return dense(b, "fc", x, (int)k, (int)build_random(b, 1, 40));
	}
}

static void
random_plans(void **state)
{
	size_t exact = 0;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 60; seed++) {
		qn_id value[32];
		builder b;
		qn_plan *p;
		size_t n = 1;

		build_begin(&b, "net", seed);
		value[0] = build_input(&b, "x", Q("1x24"));
		for (; n < QN_COUNT(value); n++)
			value[n] = random_node(&b, value, n);
		for (n = 0; n < 3; n++)
			qn_graph_output(b.g, NULL, value[build_random(&b, 0, 31)]);
		qn_graph_output(b.g, "last", value[31]);
		p = plan(&b);
		play(p);
		exact += p->scratch_bytes == p->lower_bound;
		build_end(&b);
	}
	/* The placement is near the bound: most of these graphs reach it. */
	assert_true(exact >= 40);
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
		cmocka_unit_test(pieces_of_kernels), cmocka_unit_test(fused_step),
		cmocka_unit_test(unfused_step),      cmocka_unit_test(in_place),
		cmocka_unit_test(not_in_place),      cmocka_unit_test(working_memory),
		cmocka_unit_test(random_plans),      cmocka_unit_test(same_texts),
		cmocka_unit_test(no_real_numbers),   cmocka_unit_test(shared_arguments),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
