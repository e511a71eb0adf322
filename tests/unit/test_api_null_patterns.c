/* SPDX-License-Identifier: Apache-2.0 */
/* test_api_null_patterns.c - functions of patterns, matches and callbacks of quantizer patterns with NULL for each
 * pointer that must not be NULL. */
#include "tests/unit/api_null.h"

static qn_pattern *
wrap(void *user, qn_ctx *c, qn_pattern *part)
{
	(void)user;
	(void)c;
	return part;
}

static int
always(void *user, const qn_graph *of, qn_id v)
{
	(void)user;
	(void)of;
	(void)v;
	return 1;
}

/* ---- patterns.h ---- */

static void
patterns(void **state)
{
	const qn_rewrite_rule rule = {.pattern = p};
	qn_callee *op = qn_callee_any(ctx);
	qn_pattern *out = p;

	(void)state;
	SILENT(qn_pattern_parse(NULL, "x", &out));
	assert_null(out);
	REFUSED("text", qn_pattern_parse(ctx, NULL, &out));
	REFUSED("out", qn_pattern_parse(ctx, "x", NULL));
	SILENT(qn_pattern_print(NULL, put, NULL));
	REFUSED("write", qn_pattern_print(p, NULL, NULL));
	SILENT(qn_pattern_predicate(NULL, "w", always, NULL));
	REFUSED("word", qn_pattern_predicate(ctx, NULL, always, NULL));
	REFUSED("fn", qn_pattern_predicate(ctx, "w", NULL, NULL));
	NOTHING(qn_pat_any(NULL));
	NOTHING(qn_pat_const(NULL));
	NOTHING(qn_pat_number(NULL, 1));
	NOTHING(qn_pat_input(NULL, NULL));
	NOTHING(qn_pat_expr(NULL, g, 1));
	REPORTED("g", qn_pat_expr(ctx, NULL, 1));
	NOTHING(qn_callee_op(NULL, "relu"));
	REPORTED("name", qn_callee_op(ctx, NULL));
	NOTHING(qn_callee_any(NULL));
	NOTHING(qn_callee_class(NULL, "MIX"));
	REPORTED("name", qn_callee_class(ctx, NULL));
	NOTHING(qn_callee_fn(NULL, 1, &p, p));
	REPORTED("param", qn_callee_fn(ctx, 1, NULL, p));
	NOTHING(qn_callee_fn(ctx, 1, &p, NULL));
	NOTHING(qn_pat_call(NULL, op, 1, &p));
	NOTHING(qn_pat_call(ctx, NULL, 1, &p));
	REPORTED("arg", qn_pat_call(ctx, op, 1, NULL));
	NOTHING(qn_pat_tuple(NULL, 1, &p));
	REPORTED("arg", qn_pat_tuple(ctx, 1, NULL));
	NOTHING(qn_pat_get(NULL, p, 0));
	NOTHING(qn_pat_get(ctx, NULL, 0));
	NOTHING(qn_pat_alt(NULL, p, p));
	NOTHING(qn_pat_alt(ctx, NULL, p));
	NOTHING(qn_pat_alt(ctx, p, NULL));
	NOTHING(qn_pat_optional(NULL, p, wrap, NULL));
	NOTHING(qn_pat_optional(ctx, NULL, wrap, NULL));
	REPORTED("wrap", qn_pat_optional(ctx, p, NULL, NULL));
	NOTHING(qn_pat_dominator(NULL, p, NULL, p));
	NOTHING(qn_pat_dominator(ctx, NULL, NULL, p));
	NOTHING(qn_pat_dominator(ctx, p, NULL, NULL));
	NOTHING(qn_pat_attrs(NULL, p, "a=1"));
	NOTHING(qn_pat_attrs(ctx, NULL, "a=1"));
	REPORTED("attrs", qn_pat_attrs(ctx, p, NULL));
	NOTHING(qn_pat_type(NULL, p, "f32"));
	NOTHING(qn_pat_type(ctx, NULL, "f32"));
	REPORTED("type", qn_pat_type(ctx, p, NULL));
	NOTHING(qn_pat_where(NULL, p, "w", always, NULL));
	NOTHING(qn_pat_where(ctx, NULL, "w", always, NULL));
	REPORTED("name", qn_pat_where(ctx, p, NULL, always, NULL));
	REPORTED("fn", qn_pat_where(ctx, p, "w", NULL, NULL));
	NOTHING(qn_pat_named(NULL, p, "n"));
	NOTHING(qn_pat_named(ctx, NULL, "n"));
	REPORTED("name", qn_pat_named(ctx, p, NULL));
	SILENT(qn_pat_redirect(NULL, p, p));
	SILENT(qn_pat_redirect(ctx, NULL, p));
	SILENT(qn_pat_redirect(ctx, p, NULL));
	SILENT(qn_pattern_match(NULL, g, 0, NULL, NULL, NULL, NULL));
	REFUSED("g", qn_pattern_match(p, NULL, 0, NULL, NULL, NULL, NULL));
	SILENT(qn_rewrite_model(NULL, 1, &rule, NULL, NULL));
	REFUSED("rules", qn_rewrite_model(m, 1, NULL, NULL, NULL));
	REFUSED("fn", qn_rewrite_model(m, 1, &rule, NULL, NULL));
	SILENT(qn_cut_model(NULL, p, NULL, NULL));
	REFUSED("p", qn_cut_model(m, NULL, NULL, NULL));
}

static int
look(void *user, const qn_match *match)
{
	(void)user;
	NOTHING(qn_match_value(match, NULL, 0));
	NOTHING(qn_match_get(match, NULL));
	return 0;
}

static void
matches(void **state)
{
	size_t n;

	(void)state;
	NOTHING(qn_match_root(NULL));
	NOTHING(qn_match_value(NULL, p, 0));
	NOTHING(qn_match_get(NULL, "x"));
	NOTHING(qn_match_binding(NULL, 0).name);
	assert_int_equal(qn_pattern_match(p, g, 0, NULL, look, NULL, &n), QN_OK);
	assert_int_equal(n, 1);
}

static qn_id
quantize_relu(void *user, qn_quantizing *q, const qn_match *match)
{
	const qn_quant_type i8 = {.bits = 8, .is_signed = 1};
	const qn_id in = qn_match_get(match, "x");

	(void)user;
	REPORTED("owner", qn_quantize_activation(q, in, NULL, "x"));
	REPORTED("operand", qn_quantize_activation(q, in, "y", NULL));
	REPORTED("owner", qn_quantize_weights(q, in, NULL, "x", -1));
	REPORTED("operand", qn_quantize_weights(q, in, "y", NULL, -1));
	REPORTED("owner", qn_quantize_symbol(q, in, NULL, "x", &i8));
	REPORTED("operand", qn_quantize_symbol(q, in, "y", NULL, &i8));
	REPORTED("type", qn_quantize_symbol(q, in, "y", "x", NULL));
	REPORTED("type", qn_quantize_fixed(q, in, "y", NULL, 1, 0));
	REPORTED("in", qn_quantizing_op(q, qn_match_root(qn_quantizing_match(q)), "y", 1, NULL));
	qn_id y = qn_quantize_activation(q, in, "y", "x");
	y = qn_add_op(qn_quantizing_graph(q), "relu", "y", 1, &y, NULL, NULL);
	return qn_dequantize(q, y, NULL);
}

static qn_status
calibrate(void *user, qn_info *i)
{
	qn_info_data data;

	(void)user;
	REFUSED("out", qn_info_read(i, QN_INFO_FLOAT_INPUT, 0, 0, 0, NULL, NULL));
	REFUSED("trial", qn_info_read(i, QN_INFO_OUTPUT, 0, 0, 1, NULL, &data));
	REFUSED("symbol",
		qn_info_read(i, QN_INFO_OUTPUT, 0, 0, 1, &(qn_symbol_value){.n = 0}, &data));
	REFUSED("value", qn_info_set(i, NULL));
	REFUSED("symbol", qn_info_set(i, &(qn_symbol_value){.n = 0}));
	REFUSED("scale", qn_info_set(i, &(qn_symbol_value){.symbol = "y.x", .n = 1}));
	return qn_info_set_default(i, 0);
}

/* Handles that only callbacks have. */
static void
callbacks(void **state)
{
	const qn_quant_type i8 = {.bits = 8};
	const qn_id one = 1;
	qn_info_data data;

	(void)state;
	NOTHING(qn_quantizing_options(NULL));
	NOTHING(qn_quantizing_graph(NULL));
	NOTHING(qn_quantizing_before(NULL));
	NOTHING(qn_quantizing_match(NULL));
	NOTHING(qn_quantizing_value(NULL, 1));
	NOTHING(qn_quantize_activation(NULL, 1, "y", "x"));
	NOTHING(qn_quantize_weights(NULL, 1, "y", "x", -1));
	NOTHING(qn_quantize_symbol(NULL, 1, "y", "x", &i8));
	NOTHING(qn_quantize_bias(NULL, 1, "b", 1, 1));
	NOTHING(qn_quantize_fixed(NULL, 1, "y", &i8, 1, 0));
	NOTHING(qn_quantize_result(NULL, 1, "y", 1));
	NOTHING(qn_dequantize(NULL, 1, "y"));
	NOTHING(qn_quantizing_op(NULL, 1, "y", 1, &one));
	NOTHING(qn_info_name(NULL));
	NOTHING(qn_info_pattern(NULL));
	NOTHING(qn_info_batches(NULL));
	NOTHING(qn_info_inputs(NULL));
	NOTHING(qn_info_symbol(NULL, 0).name);
	SILENT(qn_info_read(NULL, QN_INFO_FLOAT_INPUT, 0, 0, 0, NULL, &data));
	SILENT(qn_info_set(NULL, &(qn_symbol_value){.n = 0}));
	SILENT(qn_info_set_range(NULL, 0, 0, 1));
	SILENT(qn_info_set_default(NULL, 0));
	SILENT(qn_search_output(NULL, NULL));
	const qn_quantizer q = {.name = "test.relu",
				.text = "relu(x)",
				.quantize = quantize_relu,
				.calibrate = calibrate};
	const qn_compile_opts o = {.quantizers = &q,
				   .nquantizers = 1,
				   .calib = &x,
				   .ncalib = 1,
				   .stop_after = "calibrate"};
	assert_int_equal(qn_compile(m, &o), QN_OK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(patterns),
		TEST(matches),
		TEST(callbacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
