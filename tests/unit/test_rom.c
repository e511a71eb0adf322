/* SPDX-License-Identifier: Apache-2.0 */
/* Constants in program memory (--target avr): which are copied before a kernel reads them, and what the
 * target's compilers cannot take. */
#include "tests/e2e/build.h"

#include "codegen/emit.h"
#include "codegen/kernel_text.h"

#define Q(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.05:3>>"
#define W(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.02>>"

static qn_status
plan_for(builder *b, const char *target, qn_plan **p)
{
	const qn_plan_opts o = {.target = qn_target_find(&b->env, target)};

	return qn_plan_make(b->g, "net", &o, &b->arena, p);
}

static const char *
source_of(builder *b, const qn_plan *p, int file)
{
	const qn_emit_style opts = {"--test", 1, .proof = false};
	qn_emitted out[QN_EMITTED_FILES];

	build_check(b, qn_emit_c(p, &opts, NULL, &b->arena, out) == QN_OK);
	return out[file].text;
}

/* y = x + k, k constant. */
static void
sum(builder *b, const char *shape)
{
	build_begin(b, "net", 7);
	qn_id x = build_input(b, "x", build_printf(b, Q("%s"), shape));
	qn_id k = build_const(b, "k", build_printf(b, Q("%s"), shape), -128, 127);
	qn_id y = build_op(b, QN_OP_add, "y", IDS(x, k), NULL, build_printf(b, Q("%s"), shape));

	qn_graph_output(b->g, "y", y);
}

static void
copied(void **state)
{
	qn_plan *p;
	builder b;

	(void)state;
	sum(&b, "1x100");
	build_check(&b, plan_for(&b, "avr", &p) == QN_OK);
	assert_int_equal(p->step[0].load, 104); /* the next element of 8 bytes */
	assert_int_equal(p->scratch_bytes, 112);
	const char *text = source_of(&b, p, 1);
	assert_non_null(strstr(text, "qn_from_rom(s + 0, net_k, 100);"));
	assert_non_null(strstr(text, "static const QN_ROM qn_add_"));
	build_check(&b, plan_for(&b, NULL, &p) == QN_OK);
	assert_int_equal(p->step[0].load, 0);
	assert_int_equal(p->scratch_bytes, 0);
	assert_null(strstr(source_of(&b, p, 1), "ROM"));
	assert_null(strstr(source_of(&b, p, 2), "ROM"));
	build_end(&b);
}

/* The copy lies beside the values that live at that step. */
static void
beside(void **state)
{
	qn_plan *p;
	builder b;

	(void)state;
	build_begin(&b, "net", 7);
	qn_id x = build_input(&b, "x", Q("4x100"));
	for (int i = 0; i < 2; i++) {
		qn_id k = build_const(&b, i == 0 ? "k" : "l", Q("1x100"), -128, 127);

		x = build_op(&b, QN_OP_add, i == 0 ? "r" : "y", IDS(x, k), NULL, Q("4x100"));
	}
	qn_graph_output(b.g, "y", x);
	build_check(&b, plan_for(&b, "avr", &p) == QN_OK);
	assert_int_equal(p->nstep, 2);
	assert_int_equal(p->step[0].offset, 0);
	assert_int_equal(p->step[0].load_offset, 400);
	assert_int_equal(p->step[1].load_offset, 400);
	assert_non_null(strstr(source_of(&b, p, 1), "qn_from_rom(s + 400, net_l, 100);"));
	build_end(&b);
}

/* Where a kernel's weights vary, pointers to constants point to RAM as well. */
static void
varying(void **state)
{
	qn_plan *p;
	builder b;

	(void)state;
	for (int varies = 0; varies < 2; varies++) {
		build_begin(&b, "net", 7);
		qn_id x = build_input(&b, "x", Q("1x8"));
		qn_id w = varies ? build_input(&b, "w", W("4x8"))
				 : build_const(&b, "w", W("4x8"), -127, 127);
		qn_id acc = build_op(&b, QN_OP_dense, "fc", IDS(x, w), NULL, NULL);
		qn_id y = build_op(&b, QN_OP_requantize, "q", IDS(acc), NULL, Q("1x4"));

		qn_graph_output(b.g, "y", y);
		build_check(&b, plan_for(&b, "avr", &p) == QN_OK);
		for (int file = 1; file <= 2; file++) {
			const char *text = source_of(&b, p, file);

			assert_non_null(strstr(text, "#define QN_ROM __memx"));
			assert_int_equal(strstr(text, "#define QN_ROM __flash") == NULL, varies);
		}
		build_end(&b);
	}
}

/* Sums of products for 8-bit values have texts of their own there, and only there. */
static void
own_pieces(void **state)
{
	static const char *const name[] = {"qn_dot4", "qn_dot4_u8", "qn_depthwise_dot4",
					   "qn_depthwise_dot4_u8"};
	static const char *const same[] = {"qn_dot4_s16", "qn_dot4_w4", "qn_depthwise_dot4_s16"};
	qn_pieces rom, other;
	builder b;

	(void)state;
	build_begin(&b, "net", 1);
	qn_pieces_init(&rom, &b.arena, true);
	qn_pieces_init(&other, &b.arena, false);
	for (size_t i = 0; i < QN_COUNT(name); i++) {
		assert_non_null(strstr(qn_pieces_find(&rom, name[i])->text, "int16_t k"));
		assert_null(strstr(qn_pieces_find(&other, name[i])->text, "int16_t k"));
	}
	for (size_t i = 0; i < QN_COUNT(same); i++)
		assert_null(strstr(qn_pieces_find(&rom, same[i])->text, "int16_t k"));
	assert_null(qn_pieces_find(&other, "qn_run1"));
	build_end(&b);
}

static void
refuse(builder *b, const char *message)
{
	qn_plan *p;

	assert_int_equal(plan_for(b, "avr", &p), QN_EUNSUPPORTED);
	assert_true(build_reported(b, "emit.unsupported"));
	if (strstr(b->diags.item[0].message, message) == NULL)
		fail_msg("'%s' is not in '%s'", message, b->diags.item[0].message);
	build_check(b, plan_for(b, NULL, &p) == QN_OK);
	build_end(b);
}

/* avr-gcc takes objects of 32767 bytes, and int has 16 bits. */
static void
too_large(void **state)
{
	builder b;

	(void)state;
	build_begin(&b, "net", 7);
	qn_id x = build_input(&b, "x", Q("1x256"));
	qn_id w = build_const(&b, "big", W("128x256"), -127, 127);
	qn_id acc = build_op(&b, QN_OP_dense, "fc", IDS(x, w), NULL, NULL);
	qn_graph_output(b.g, "y", build_op(&b, QN_OP_requantize, "q", IDS(acc), NULL, Q("1x128")));
	refuse(&b, "constant 'big' has 32768 bytes; objects of target avr can have 32767");

	build_begin(&b, "net", 7);
	x = build_input(&b, "large", Q("1x32768"));
	qn_graph_output(b.g, "y", build_op(&b, QN_OP_relu, "y", IDS(x), NULL, NULL));
	refuse(&b, "input 'large' has 32768 bytes");

	build_begin(&b, "net", 7);
	x = build_input(&b, "x", Q("1x16384"));
	qn_graph_output(b.g, "z", build_op(&b, QN_OP_concat, "wide", IDS(x, x), NULL, NULL));
	refuse(&b, "the result of node 'wide' has 32768 bytes");

	sum(&b, "1x20000");
	qn_id twice = build_op(&b, QN_OP_relu, "r", IDS(b.g->output[0].value), NULL, NULL);
	qn_graph_output(b.g, "z",
			build_op(&b, QN_OP_add, "s",
				 IDS(twice, build_const(&b, "l", Q("1x20000"), -128, 127)), NULL,
				 Q("1x20000")));
	refuse(&b, "the activation arena (scratch buffer) of 'net' has 400");
}

/* An input, a result and a constant of 32767 bytes are taken. */
static void
just_fits(void **state)
{
	qn_plan *p;
	builder b;

	(void)state;
	build_begin(&b, "net", 7);
	qn_id x = build_input(&b, "x", Q("1x32767"));
	qn_id w = build_const(&b, "w", W("1x32767"), -127, 127);
	qn_id acc = build_op(&b, QN_OP_dense, "fc", IDS(x, w), NULL, NULL);
	qn_graph_output(b.g, "y", build_op(&b, QN_OP_requantize, "q", IDS(acc), NULL, Q("1x1")));
	qn_graph_output(b.g, "z", build_op(&b, QN_OP_relu, "r", IDS(x), NULL, NULL));
	build_check(&b, plan_for(&b, "avr", &p) == QN_OK);
	build_end(&b);
}

/* A result of 51,200 bytes, of which a few rows are there at a time. */
static void
fits_in_rows(void **state)
{
	qn_attrs a = build_attrs(QN_OP_max_pool);
	qn_plan *p;
	builder b;

	(void)state;
	build_begin(&b, "net", 7);
	const qn_id x = build_input(&b, "x", Q("1x40x40x2"));
	const qn_id w = build_const(&b, "w", W("32x3x3x2"), -127, 127);
	qn_attrs c = build_attrs(QN_OP_conv2d);
	c.conv2d.padding = QN_PADDING_same;
	qn_id y = build_op(&b, QN_OP_conv2d, "conv", IDS(x, w), &c, NULL);
	y = build_op(&b, QN_OP_requantize, "q", IDS(y), NULL, Q("1x40x40x32"));
	a.pool.kernel[0] = a.pool.kernel[1] = a.pool.stride[0] = a.pool.stride[1] = 4;
	qn_graph_output(b.g, "y", build_op(&b, QN_OP_max_pool, "pool", IDS(y), &a, NULL));
	build_check(&b, plan_for(&b, "avr", &p) == QN_OK);
	assert_int_equal(p->nstep, 1);
	assert_true(p->scratch_bytes < 8192);
	build_end(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copied),       cmocka_unit_test(beside),
		cmocka_unit_test(varying),      cmocka_unit_test(own_pieces),
		cmocka_unit_test(too_large),    cmocka_unit_test(just_fits),
		cmocka_unit_test(fits_in_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
