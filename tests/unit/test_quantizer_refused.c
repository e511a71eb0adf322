/* SPDX-License-Identifier: Apache-2.0 */
/* test_quantizer_refused.c - quantizer patterns of a host: calls and registrations that are refused. */
#include "tests/unit/quantizer_rig.h"

static qn_id
bad_type(void *user, qn_quantizing *q, const qn_match *m)
{
	qn_id x = qn_quantize_activation(q, qn_match_get(m, "x"), "s", "x");

	(void)user;
	return qn_add_op(qn_quantizing_graph(q), "reshape", NULL, 1, &x, "shape=[4]", NULL);
}

static qn_id
bad_requantize(void *user, qn_quantizing *q, const qn_match *m)
{
	qn_id x = qn_quantize_activation(q, qn_match_get(m, "x"), "s", "x");

	(void)user;
	x = qn_add_op(qn_quantizing_graph(q), "requantize", NULL, 1, &x, NULL,
		      "tensor<1x4x!quant.uniform<i8:f32, 0.5>>");
	return qn_dequantize(q, x, NULL);
}

static qn_id
bad_pair(void *user, qn_quantizing *q, const qn_match *m)
{
	qn_graph *g = qn_quantizing_graph(q);
	qn_id x = qn_match_get(m, "x");

	(void)user;
	(void)qn_quantize_activation(q, x, "s", "x");
	x = qn_add_op(g, "quantize", NULL, 1, &x, NULL,
		      "tensor<1x4x!quant.uniform<i8:f32, $s.x*0.5:$s.x>>");
	return qn_dequantize(q, x, NULL);
}

static qn_id
bad_value(void *user, qn_quantizing *q, const qn_match *m)
{
	(void)q;
	(void)m;
	return *(qn_id *)user;
}

static qn_id
bad_axis(void *user, qn_quantizing *q, const qn_match *m)
{
	(void)user;
	return qn_quantize_weights(q, qn_match_get(m, "x"), "s", "x", 2);
}

static qn_id
bad_bits(void *user, qn_quantizing *q, const qn_match *m)
{
	(void)user;
	return qn_quantize_symbol(q, qn_match_get(m, "x"), "s", "x", &(qn_quant_type){.bits = 17});
}

/* The last diagnostic has this id and names the pattern and the node. */
static void
refused(qn_ctx *ctx, qn_model *m, const qn_quantizer *q, const char *passes, const char *first,
	const char *id)
{
	qn_compile_opts o = {.passes = passes, .quantizers = q, .nquantizers = 1};
	static text was, is;

	qn_diag_clear(ctx);
	print_to(m, &was);
	assert_int_not_equal(qn_compile(m, &o), QN_OK);
	print_to(m, &is);
	if (strcmp(passes, "quantize") == 0)
		assert_string_equal(is.s, was.s);
	size_t n = qn_diag_count(ctx);
	assert_true(n > 0);
	assert_string_equal(qn_diag_get(ctx, 0).id, first);
	assert_string_equal(qn_diag_get(ctx, n - 1).id, id);
	assert_non_null(strstr(qn_diag_get(ctx, n - 1).message, "host.sum"));
	assert_string_equal(qn_diag_get(ctx, n - 1).place, "y");
}

static void
test_refused(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m = scaled_model(ctx);
	qn_id none = 0, far = 100000;
	qn_quantizer q = {sizeof(qn_quantizer), "host.sum", scaled_text, NULL, NULL,
			  scaled_sum,           NULL,       NULL};
	qn_compile_opts o = {.passes = "partition", .quantizers = &q, .nquantizers = 1};
	const struct {
		qn_id (*quantize)(void *, qn_quantizing *, const qn_match *);
		void *user;
		const char *first, *id;
	} rows[] = {
		{bad_type, NULL, "quantize.type", "quantize.type"},
		{bad_requantize, NULL, "quantize.requantize", "quantize.requantize"},
		{bad_pair, NULL, "quantize.pair", "quantize.pair"},
		{bad_value, &none, "quantize.callback", "quantize.callback"},
		{bad_value, &far, "quantize.callback", "quantize.callback"},
		{bad_axis, NULL, "quantize.axis", "quantize.callback"},
		{bad_bits, NULL, "quantize.bits", "quantize.callback"},
	};

	(void)state;
	assert_int_equal(qn_compile(m, &o), QN_OK);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		q.quantize = rows[i].quantize;
		q.user = rows[i].user;
		refused(ctx, m, &q, "quantize", rows[i].first, rows[i].id);
	}
	q.name = "other"; /* the composite's pattern is not there */
	refused(ctx, m, &q, "quantize", "quantize.unregistered", "quantize.unregistered");
	qn_close(ctx);
}

static void
test_registration(void **state)
{
	static const char *const ids[] = {"quantizer.register", "quantizer.register",
					  "quantizer.register", "quantizer.register",
					  "quantizer.register", "pattern.syntax",
					  "pattern.context"};
	qn_ctx *ctx = qn_open(NULL), *other = qn_open(NULL);
	qn_pattern *far;
	qn_model *m = scaled_model(ctx);

	(void)state;
	assert_int_equal(qn_pattern_parse(other, "relu(x)", &far), QN_OK);
	const qn_quantizer good = {sizeof(qn_quantizer), "a",  "relu(x)", NULL, NULL,
				   scaled_sum,           NULL, NULL};
	const qn_quantizer bad[] = {
		{sizeof(qn_quantizer), NULL, "relu(x)", NULL, NULL, scaled_sum, NULL, NULL},
		{sizeof(qn_quantizer), "b", NULL, NULL, NULL, scaled_sum, NULL, NULL},
		{sizeof(qn_quantizer), "b", "relu(x)", far, NULL, scaled_sum, NULL, NULL},
		{sizeof(qn_quantizer), "b", "relu(x)", NULL, NULL, NULL, NULL, NULL},
		{sizeof(qn_quantizer), "a", "relu(x)", NULL, NULL, scaled_sum, NULL, NULL},
		{sizeof(qn_quantizer), "b", "relu(x", NULL, NULL, scaled_sum, NULL, NULL},
		{sizeof(qn_quantizer), "b", NULL, far, NULL, scaled_sum, NULL, NULL},
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		qn_quantizer both[2] = {good, bad[i]};
		qn_compile_opts o = {.passes = "partition", .quantizers = both, .nquantizers = 2};

		qn_diag_clear(ctx);
		assert_int_equal(qn_compile(m, &o), QN_EUSAGE);
		assert_string_equal(qn_diag_get(ctx, 0).id, ids[i]);
	}
	qn_close(other);
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_registration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
