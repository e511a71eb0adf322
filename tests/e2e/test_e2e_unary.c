/* SPDX-License-Identifier: Apache-2.0 */
/* Emitted C of functions of one code and of prelu against the interpreter, byte for byte. */
#include "tests/e2e/e2e.h"

#include "runtime/fixed.h"

#define Q(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.05:3>>"
#define R(shape) "tensor<" shape "x!quant.uniform<i8<-120:127>:f32, 0.11:-7>>"

enum { SAMPLES = 5 };

/* All of them on one value, then one on the result of each other. */
static void
tables(void **state)
{
	builder b;

	(void)state;
	build_begin(&b, "tables", 71);
	qn_id x = build_input(&b, "x", Q("3x17")), chain = x;
	for (qn_op op = QN_OP_leaky_relu; op <= QN_OP_square; op++) {
		qn_attrs a = build_attrs(op);

		qn_graph_output(b.g, NULL, build_op(&b, op, NULL, IDS(x), &a, R("3x17")));
		chain = build_op(&b, op, NULL, IDS(chain), &a, Q("3x17"));
	}
	qn_id two = build_const(&b, "two", "tensor<1x!quant.uniform<i8:f32, 2.0>>", 1, 1);
	qn_id square = build_op(&b, QN_OP_pow, "pow", IDS(chain, two), NULL, R("3x17"));
	qn_graph_output(b.g, "y", square);
	e2e_check(&b, SAMPLES);
	build_end(&b);
}

/* Equal tables are one constant. */
static void
shared_table(void **state)
{
	qn_attrs a = build_attrs(QN_OP_gelu);
	builder b;
	e2e t;
	size_t count = 0;

	(void)state;
	build_begin(&b, "shared", 72);
	qn_id x = build_input(&b, "x", Q("7"));
	qn_id g = build_op(&b, QN_OP_gelu, "g", IDS(x), &a, Q("7"));
	qn_graph_output(b.g, "y", build_op(&b, QN_OP_gelu, "h", IDS(g), &a, Q("7")));
	e2e_prepare(&b, &t, SAMPLES);
	const qn_emit_style opts = {"--test", 1, .proof = false};
	build_check(&b, qn_emit_c(t.plan, &opts, &t.test, &b.arena, t.file) == QN_OK);
	for (size_t i = 0; i < QN_EMITTED_FILES && t.file[i].text != NULL; i++)
		for (const char *s = t.file[i].text; (s = strstr(s, "[256] = {")) != NULL; s++)
			count++;
	assert_int_equal(count, 1);
	build_end(&b);
}

static void
prelu(void **state)
{
	builder b;

	(void)state;
	for (int32_t mode = QN_RQ_DOUBLE; mode <= QN_RQ_EVEN; mode++) {
		build_begin(&b, "prelu", 73);
		b.model.rounding = mode;
		qn_id x = build_input(&b, "x", Q("2x5x3"));
		qn_id s =
			build_const(&b, "s", "tensor<3x!quant.uniform<i8:f32, 0.02:9>>", -128, 127);
		qn_id v = build_input(&b, "v", R("3"));
		qn_id p = build_op(&b, QN_OP_prelu, "p", IDS(x, s), NULL, R("2x5x3"));
		qn_graph_output(b.g, "y",
				build_op(&b, QN_OP_prelu, "varies", IDS(p, v), NULL, Q("2x5x3")));
		e2e_check(&b, SAMPLES);
		build_end(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables),
		cmocka_unit_test(shared_table),
		cmocka_unit_test(prelu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
