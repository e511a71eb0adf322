/* SPDX-License-Identifier: Apache-2.0 */
/* When constants of bytes are declared as words (codegen/emit_words.c): from 1 MiB of all constants on,
 * or when it is asked for, where there are 64 of them or more. */
#include "tests/e2e/build.h"

#include "codegen/emit.h"

#define Q(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.05:3>>"
#define W(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.02>>"

static const char *
weights_of(builder *b, qn_constants form, qn_emitted out[QN_EMITTED_FILES])
{
	const qn_emit_style opts = {"--test", 1, .proof = false, .constants = form};
	qn_plan *p;

	build_check(b, qn_plan_make(b->g, "net", &(qn_plan_opts){.target = qn_target_at(0)},
				    &b->arena, &p) == QN_OK);
	build_check(b, qn_emit_c(p, &opts, NULL, &b->arena, out) == QN_OK);
	return out[2].text;
}

/* y = dense x with weights [out, in]; its table of a multiplier and a shift has 5 bytes. */
static void
layer(builder *b, int64_t out, int64_t in)
{
	build_begin(b, "net", 7);
	qn_id x = build_input(b, "x", build_printf(b, Q("1x%lld"), (long long)in));
	qn_id w = build_const(
		b, "w", build_printf(b, W("%lldx%lld"), (long long)out, (long long)in), -127, 127);
	qn_id acc = build_op(b, QN_OP_dense, "fc", IDS(x, w), NULL, NULL);

	qn_graph_output(b->g, "y",
			build_op(b, QN_OP_requantize, "q", IDS(acc), NULL,
				 build_printf(b, Q("1x%lld"), (long long)out)));
}

static bool
in_words(int64_t out, int64_t in, qn_constants form)
{
	qn_emitted file[QN_EMITTED_FILES];
	builder b;

	layer(&b, out, in);
	const bool words = strstr(weights_of(&b, form, file), "uint64_t") != NULL;
	assert_int_equal(strstr(file[1].text, "#define net_w ((const int8_t *)net_w") != NULL,
			 words);
	assert_int_equal(strstr(file[2].text, "QN_W(") != NULL, words);
	build_end(&b);
	return words;
}

static void
by_size(void **state)
{
	(void)state;
	assert_true(in_words(1024, 1024, QN_CONSTANTS_AUTO));
	assert_false(in_words(1024, 1023, QN_CONSTANTS_AUTO));
	assert_false(in_words(1024, 1024, QN_CONSTANTS_NUMBERS));
	assert_true(in_words(8, 8, QN_CONSTANTS_WORDS));
	assert_false(in_words(9, 7, QN_CONSTANTS_WORDS));
}

/* 65 weights are nine words, the last one of one byte. */
static void
last_word(void **state)
{
	qn_emitted file[QN_EMITTED_FILES];
	builder b;
	unsigned want = 256;

	(void)state;
	layer(&b, 5, 13);
	for (qn_id id = 1; id < b.g->n; id++)
		if (strcmp(qn_graph_node(b.g, id)->name, "w") == 0)
			want = (unsigned)qn_tensor_i64(qn_graph_node(b.g, id)->value, 64) & 255u;
	const char *text = weights_of(&b, QN_CONSTANTS_WORDS, file);
	assert_non_null(strstr(text, "uint64_t net_w[9] = {\n"));
	assert_non_null(strstr(text, build_printf(&b, ",QN_W(0x00000000000000%02x),\n};", want)));
	build_end(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_size),
		cmocka_unit_test(last_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
