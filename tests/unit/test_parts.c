/* SPDX-License-Identifier: Apache-2.0 */
/* Results that lie within others: slices of consecutive elements in their operands, operands of a concat in its result;
 * and where they must not. */
#include "tests/e2e/build.h"

#include "codegen/emit.h"
#include "codegen/parts.h"
#include "codegen/schedule.h"

#define I8(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.5:3>>"

typedef struct made {
	builder b;
	qn_plan *plan;
} made;

static void
plan_of(made *m, const char *nodes)
{
	build_parse(&m->b, nodes);
	build_check(&m->b, qn_plan_make(m->b.g, "net", &(qn_plan_opts){.target = qn_target_at(0)},
					&m->b.arena, &m->plan) == QN_OK);
}

static const qn_step *
step_of(const made *m, const char *name)
{
	for (size_t i = 0; i < m->plan->nstep; i++)
		if (strcmp(qn_graph_node(m->plan->g, m->plan->step[i].node)->name, name) == 0)
			return &m->plan->step[i];
	fail_msg("no step '%s'", name);
	return NULL;
}

/* ---- slices ---- */

static void
test_consecutive(void **state)
{
	static const struct {
		const char *slice;
		bool is;
		size_t offset;
	} rows[] = {
		{"{begin=[0,2,0], end=[1,5,4]}", true, 8},
		{"{begin=[0,0,0], end=[1,6,4]}", true, 0},
		{"{begin=[0,3,1], end=[1,4,3]}", true, 13}, /* of one row */
		{"{begin=[0,2,1], end=[1,5,4]}", false, 0}, /* columns are left out */
		{"{begin=[0,0,0], end=[1,6,4], step=[1,2,1]}", false, 0},
		{"{begin=[0,5,0], end=[1,-99,4], step=[1,-1,1]}", false, 0},
		{"{begin=[0,-1,0], end=[1,6,4]}", true, 20},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		builder b;
		size_t offset = 0;

		build_begin(&b, "", 1);
		const char *text = build_printf(&b,
						"model \"n\" stage integer\ngraph @main(%%x: " I8(
							"1x6x4") ") { %%s = slice "
								 "%%x %s return %%s }",
						rows[i].slice);
		builder p;
		build_parse(&p, text);
		const qn_node *n = qn_graph_node(p.g, p.g->output[0].value);
		assert_int_equal(qn_slice_is_part(p.g, n, &offset), rows[i].is);
		if (rows[i].is)
			assert_int_equal(offset, rows[i].offset);
		build_end(&p);
		build_end(&b);
	}
}

static void
test_slice(void **state)
{
	made m;

	(void)state;
	plan_of(&m, "model \"n\" stage integer\n"
		    "graph @main(%x: " I8("1x6x4") ", %h: " I8(
			    "1x2x4") " state) {\n"
				     "%a = relu %x\n"
				     "%s = slice %a {begin=[0,1,0], end=[1,4,4]}\n"
				     "%t = slice %x {begin=[0,4,0], end=[1,6,4]}\n"
				     "%y = relu %s\n"
				     "%z = relu %t\n"
				     "%n = slice %a {begin=[0,4,0], end=[1,6,4]}\n"
				     "return %y, %z, %n to %h }");
	const qn_step *a = step_of(&m, "a"), *s = step_of(&m, "s"), *n = step_of(&m, "n");

	assert_int_not_equal(s->alias, 0);
	assert_int_equal(s->offset, a->offset + 4);
	assert_int_not_equal(step_of(&m, "t")->alias, 0);
	/* an output is written at once, so that its operand is not kept for it */
	assert_int_equal(n->alias, 0);
	assert_true(n->in_output);
	build_end(&m.b);
}

/* A result with a row of 4 of the 400 bytes is copied, where the rest would stay for it. */
static void
test_far(void **state)
{
	made m;
	qn_buf text;
	builder b;

	(void)state;
	build_begin(&b, "", 1);
	qn_buf_init(&text, &b.arena);
	qn_buf_puts(&text,
		    "model \"n\" stage integer\ngraph @main(%x: " I8(
			    "1x100x4") ") {\n"
				       "%a = relu %x\n%s = slice %a {begin=[0,1,0], end=[1,2,4]}\n"
				       "%b0 = reverse %a {axes=[1]}\n");
	for (int i = 1; i < 12; i++)
		qn_buff(&text, "%%b%d = reverse %%b%d {axes=[1]}\n", i, i - 1);
	qn_buf_puts(&text, "%y = maximum %b11, %s\nreturn %y }");
	plan_of(&m, qn_buf_str(&text));
	assert_int_equal(step_of(&m, "s")->alias, 0);
	build_end(&m.b);
	build_end(&b);
}

static void
test_constant(void **state)
{
	made m;

	(void)state;
	plan_of(&m, "model \"n\" stage integer\n"
		    "graph @main(%x: " I8(
			    "1x2x4") ") {\n"
				     "%k = const : " I8(
					     "24") " rand 1\n"
						   "%r = reshape %k {shape=[1,6,4]}\n"
						   "%s = slice %r {begin=[0,1,0], end=[1,3,4]}\n"
						   "%y = maximum %x, %s\n"
						   "return %y }");
	assert_int_equal(step_of(&m, "s")->alias, 0);
	build_end(&m.b);
}

/* ---- concat ---- */

static void
test_concat(void **state)
{
	made m;

	(void)state;
	plan_of(&m, "model \"n\" stage integer\n"
		    "graph @main(%x: " I8("1x2x4") ", %h: " I8(
			    "1x3x4") " state) {\n"
				     "%a = relu %x\n"
				     "%b = reverse %x {axes=[1]}\n"
				     "%c = concat %a, %h, %b {axis=1}\n"
				     "%y = reverse %c {axes=[1]}\n"
				     "%n = slice %c {begin=[0,2,0], end=[1,5,4]}\n"
				     "return %y, %n to %h }");
	const qn_step *c = step_of(&m, "c"), *a = step_of(&m, "a"), *b = step_of(&m, "b");

	assert_int_not_equal(a->part_of, 0);
	assert_int_not_equal(b->part_of, 0);
	assert_int_equal(a->offset, c->offset);
	assert_int_equal(b->offset, c->offset + 20);
	assert_int_equal(m.plan->scratch_bytes, 32); /* c alone */
	build_end(&m.b);
}

/* What others read, too, what is joined twice, and columns are copied. */
static void
test_concat_copies(void **state)
{
	made m;

	(void)state;
	plan_of(&m, "model \"n\" stage integer\n"
		    "graph @main(%x: " I8("1x2x4") ") {\n"
						   "%a = relu %x\n"
						   "%b = reverse %x {axes=[1]}\n"
						   "%c = concat %a, %b, %b {axis=1}\n"
						   "%d = concat %c, %a {axis=1}\n"
						   "%e = reverse %x {axes=[2]}\n"
						   "%f = concat %e, %x {axis=2}\n"
						   "return %d, %f }");
	assert_int_equal(step_of(&m, "a")->part_of, 0);
	assert_int_equal(step_of(&m, "b")->part_of, 0);
	assert_int_equal(step_of(&m, "e")->part_of, 0);
	assert_int_not_equal(step_of(&m, "c")->part_of, 0);
	assert_true(step_of(&m, "c")->in_output);
	build_end(&m.b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_consecutive), cmocka_unit_test(test_slice),
		cmocka_unit_test(test_far),         cmocka_unit_test(test_constant),
		cmocka_unit_test(test_concat),      cmocka_unit_test(test_concat_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
