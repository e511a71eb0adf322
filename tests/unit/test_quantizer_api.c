/* SPDX-License-Identifier: Apache-2.0 */
/* test_quantizer_api.c - quantizer patterns of a host: a standard one rebuilt through the public
 * header, one of its own, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "quern/patterns.h"

enum { TEXT = 1 << 16 };

typedef struct text {
	char s[TEXT];
	size_t n;
} text;

static int
append(void *user, const char *s, size_t n)
{
	text *t = user;

	assert_true(t->n + n < TEXT);
	memcpy(t->s + t->n, s, n);
	t->n += n;
	t->s[t->n] = '\0';
	return 0;
}

static qn_array *
ramp(qn_ctx *ctx, int rank, const int64_t *shape)
{
	static float data[1024];
	int64_t n = 1;
	qn_array *x;

	for (int i = 0; i < rank; i++)
		n *= shape[i];
	for (int64_t i = 0; i < n; i++)
		data[i] = (float)((i * 7) % 13 - 6) / 8;
	assert_int_equal(qn_array_new(ctx, "f32", rank, shape, data, &x), QN_OK);
	return x;
}

/* relu(bias_add(conv2d(x))), then a convolution with the bias inside. */
static qn_model *
two_layers(qn_ctx *ctx)
{
	qn_model *m;

	assert_int_equal(qn_model_new(ctx, "net", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id x = qn_add_input(g, "x", "tensor<1x4x4x2xf32>");
	qn_id w = qn_add_const(g, "w", ramp(ctx, 4, (int64_t[]){3, 3, 3, 2}));
	qn_id b = qn_add_const(g, "b", ramp(ctx, 1, (int64_t[]){3}));
	qn_id c = qn_add_op(g, "conv2d", "c", 2, (qn_id[]){x, w}, "padding=same", NULL);
	qn_id y = qn_add_op(g, "bias_add", "y", 2, (qn_id[]){c, b}, NULL, NULL);
	qn_id r = qn_add_op(g, "relu", "r", 1, &y, NULL, NULL);
	qn_id v = qn_add_const(g, "v", ramp(ctx, 4, (int64_t[]){3, 1, 1, 3}));
	qn_id z = qn_add_op(g, "conv2d", "z", 3, (qn_id[]){r, v, b}, NULL, NULL);
	assert_int_equal(qn_add_output(g, "out", z), QN_OK);
	return m;
}

static void
print_to(qn_model *m, text *t)
{
	t->n = 0;
	assert_int_equal(qn_print(m, QN_FORMAT_IR, append, t), QN_OK);
}

/* ---- conv2d_bias through the public header ---- */

static int
takes_weights(void *user, const qn_graph *g, const qn_match *m, const char **why)
{
	++*(int *)user;
	if (strcmp(qn_value(g, qn_match_get(m, "w")).op, "const") == 0)
		return 1;
	*why = "the weights are computed";
	return 0;
}

static qn_id
conv_bias(void *user, qn_quantizing *q, const qn_match *m)
{
	const qn_graph *before = qn_quantizing_before(q);
	const qn_match *inside = qn_quantizing_match(q);
	qn_id c = qn_match_get(inside, "c") != 0 ? qn_match_get(inside, "c")
						 : qn_match_get(inside, "d");
	const char *name = qn_value(before, c).name;
	const qn_quantizing_info *o = qn_quantizing_options(q);
	qn_id b = qn_match_get(m, "b");
	char acc[64];
	qn_id in[3];

	(void)user;
	assert_int_equal(qn_match_root(m), 0);
	assert_int_equal(qn_quantizing_value(q, qn_match_get(inside, "x")), qn_match_get(m, "x"));
	(void)snprintf(acc, sizeof acc, "%s.acc", name);
	in[0] = qn_quantize_activation(q, qn_match_get(m, "x"), name, "x");
	in[1] = qn_quantize_weights(q, qn_match_get(m, "w"), name, "w",
				    o->per_tensor_weights ? -1 : 0);
	in[2] = qn_quantize_bias(q, b, qn_value(qn_quantizing_graph(q), b).name, in[0], in[1]);
	return qn_dequantize(q, qn_quantizing_op(q, c, acc, 3, in),
			     qn_value(before, qn_match_root(inside)).name);
}

static const char conv_bias_text[] = "bias_add(c=conv2d(x, w), b) | d=conv2d(x, w, b)";

static void
test_standard_again(void **state)
{
	static const char *const passes[] = {"partition", "partition,quantize"};
	static text want, got;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		qn_ctx *ctx = qn_open(NULL);
		int asked = 0;
		qn_quantizer mine = {sizeof(qn_quantizer), "conv2d_bias", conv_bias_text, NULL,
				     takes_weights,        conv_bias,     NULL,           &asked};
		qn_compile_opts o = {.passes = passes[i % 2], .scheme = i < 2 ? QN_TFLITE : QN_RFC};
		qn_model *a = two_layers(ctx);
		qn_model *b = two_layers(ctx);

		assert_int_equal(qn_compile(a, &o), QN_OK);
		o.quantizers = &mine;
		o.nquantizers = 1;
		assert_int_equal(qn_compile(b, &o), QN_OK);
		assert_int_equal(asked, 2);
		print_to(a, &want);
		print_to(b, &got);
		assert_string_equal(got.s, want.s);
		assert_non_null(strstr(got.s, i % 2 ? "$c.w*$c.x" : "pattern \"conv2d_bias\""));
		qn_close(ctx);
	}
}

/* ---- a pattern of the host's own ---- */

/* add(x, mul(x, 0.5)) in codes of its own: 6 bits, unsigned, then an op on real values. */
static qn_id
scaled_sum(void *user, qn_quantizing *q, const qn_match *m)
{
	const qn_quant_type codes = {.bits = 6, .symmetric = 0};
	qn_graph *g = qn_quantizing_graph(q);
	qn_id x = qn_quantize_symbol(q, qn_match_get(m, "x"), "sum", "x", &codes);
	qn_id in[2];

	(void)user;
	in[0] = qn_dequantize(q, x, NULL);
	in[1] = qn_match_get(m, "k"); /* a constant inside of the match */
	in[1] = qn_add_op(g, "mul", NULL, 2, in, NULL, NULL);
	qn_id y = qn_add_op(g, "add", NULL, 2, in, NULL, NULL);
	y = qn_quantize_fixed(q, y, NULL, &(qn_quant_type){.bits = 8, .is_signed = 1}, 0.125, 3);
	return qn_dequantize(q, y, "sum");
}

static const char scaled_text[] = "add(x, mul(x, k=const))";

static qn_model *
scaled_model(qn_ctx *ctx)
{
	qn_model *m;

	assert_int_equal(qn_model_new(ctx, "sum", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id x = qn_add_input(g, "x", "tensor<1x4xf32>");
	qn_id k = qn_add_const(g, "k", ramp(ctx, 1, (int64_t[]){4}));
	qn_id p = qn_add_op(g, "mul", "p", 2, (qn_id[]){x, k}, NULL, NULL);
	qn_id y = qn_add_op(g, "add", "y", 2, (qn_id[]){x, p}, NULL, NULL);
	assert_int_equal(qn_add_output(g, "out", y), QN_OK);
	return m;
}

static void
test_own(void **state)
{
	static text got;
	qn_ctx *ctx = qn_open(NULL);
	qn_pattern *made;
	qn_model *m = scaled_model(ctx);

	(void)state;
	assert_int_equal(qn_pattern_parse(ctx, scaled_text, &made), QN_OK);
	qn_quantizer mine = {.name = "host.sum", .pattern = made, .quantize = scaled_sum};
	qn_compile_opts o = {
		.passes = "partition", .quantizers = &mine, .nquantizers = 1, .no_standard = 1};
	assert_int_equal(qn_compile(m, &o), QN_OK);
	print_to(m, &got);
	assert_non_null(strstr(got.s, "pattern \"host.sum\""));
	o.passes = "quantize";
	assert_int_equal(qn_compile(m, &o), QN_OK);
	print_to(m, &got);
	assert_non_null(strstr(got.s, "u6:f32, $sum.x:$sum.x"));
	assert_non_null(strstr(got.s, ":3>"));
	qn_array *calib = ramp(ctx, 2, (int64_t[]){8, 4});
	o = (qn_compile_opts){.passes = "calibrate,bind", .calib = &calib, .ncalib = 1};
	assert_int_equal(qn_compile(m, &o), QN_OK);
	assert_int_equal(qn_diag_count(ctx), 1); /* each sample is larger than the one before */
	assert_string_equal(qn_diag_get(ctx, 0).id, "data.few");
	qn_close(ctx);
}

static qn_id
half_of(void *user, qn_quantizing *q, const qn_match *m)
{
	qn_id x = qn_match_get(m, "x");

	(void)user;
	return qn_add_op(qn_quantizing_graph(q), "relu6", NULL, 1, &x, NULL, NULL);
}

/* A form of one node stands for the layers of its composite, as one of several does. */
static void
test_one_node(void **state)
{
	static text got;
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m;
	qn_pattern *made;

	(void)state;
	assert_int_equal(qn_model_new(ctx, "net", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id x = qn_add_input(g, "x", "tensor<1x4xf32>");
	qn_id first = qn_add_op(g, "relu", "first", 1, &x, NULL, NULL);
	qn_id second = qn_add_op(g, "tanh", "second", 1, &first, NULL, NULL);
	assert_int_equal(qn_add_output(g, "out", second), QN_OK);
	assert_int_equal(qn_pattern_parse(ctx, "tanh(relu(x))", &made), QN_OK);
	qn_quantizer mine = {.name = "host.half", .pattern = made, .quantize = half_of};
	qn_compile_opts o = {.passes = "partition,quantize",
			     .quantizers = &mine,
			     .nquantizers = 1,
			     .no_standard = 1};
	assert_int_equal(qn_compile(m, &o), QN_OK);
	print_to(m, &got);
	const char from[] = " from [\"first\", \"second\"]", *made_of = strstr(got.s, "= relu6 ");
	assert_non_null(made_of);
	made_of = strstr(made_of, " from [");
	if (made_of == NULL || strncmp(made_of, from, strlen(from)) != 0)
		fail_msg("%s", got.s);
	qn_close(ctx);
}

/* What a callback reads of its match is that of the composite, in values of the graph under
 * construction; what is computed inside, or in the graph of a function, has none there. */
static qn_id
reads_match(void *user, qn_quantizing *q, const qn_match *m)
{
	const qn_match *inside = qn_quantizing_match(q);
	qn_id x = qn_match_get(m, "x");
	char *names = user;
	size_t i = 0;

	for (; qn_match_binding(inside, i).name != NULL; i++) {
		const qn_binding in = qn_match_binding(inside, i), out = qn_match_binding(m, i);
		const int own = in.graph == qn_quantizing_before(q);

		strcat(strcat(names, in.name), own ? " " : "' ");
		assert_string_equal(out.name, in.name);
		assert_ptr_equal(out.graph, qn_quantizing_graph(q));
		assert_int_equal(out.value, own ? qn_quantizing_value(q, in.value) : 0);
		assert_int_equal(out.value != 0, own && strchr("xyk", in.name[0]) != NULL);
	}
	assert_null(qn_match_binding(m, i).name);
	assert_int_equal(qn_match_root(m), 0);
	return qn_add_op(qn_quantizing_graph(q), "relu6", NULL, 1, &x, NULL, NULL);
}

static void
test_match_outside(void **state)
{
	static const char *const rows[][2] = {
		{"s=add(x, p=mul(y, k=const))", "x y k p s "},
		{"s=add(x, *)", "x s "},
		{"add(*, p=mul(x, const))", "x p "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		qn_ctx *ctx = qn_open(NULL);
		qn_model *m = scaled_model(ctx);
		char names[100] = "";
		qn_quantizer mine = {.name = "host.sum",
				     .text = rows[i][0],
				     .quantize = reads_match,
				     .user = names};
		qn_compile_opts o = {.passes = "partition,quantize",
				     .quantizers = &mine,
				     .nquantizers = 1,
				     .no_standard = 1};

		assert_int_equal(qn_compile(m, &o), QN_OK);
		assert_string_equal(names, rows[i][1]);
		qn_close(ctx);
	}
}

/* Bytes that say what they stand for keep their parameters through 64 moves and no more. */
static void
test_moves(void **state)
{
	(void)state;
	for (int n = 62; n < 67; n++) {
		static text got;
		qn_ctx *ctx = qn_open(NULL);
		qn_compile_opts o = {.passes = "partition,quantize"};
		const float half = 0.5F;
		qn_array *k;
		qn_model *m;

		assert_int_equal(qn_model_new(ctx, "net", &m), QN_OK);
		assert_int_equal(qn_array_new(ctx, "f32", 0, NULL, &half, &k), QN_OK);
		qn_graph *g = qn_model_main(m);
		qn_id x = qn_add_input(g, "x", "tensor<1x4xu8>");
		qn_id step = qn_add_const(g, "step", k);
		x = qn_add_op(g, "cast", NULL, 1, &x, NULL, "tensor<1x4xf32>");
		x = qn_add_op(g, "div", NULL, 2, (qn_id[]){x, step}, NULL, NULL);
		for (int i = 0; i < n; i++)
			x = qn_add_op(g, "relu", NULL, 1, &x, NULL, NULL);
		x = qn_add_op(g, "sigmoid", "s", 1, &x, NULL, NULL);
		assert_int_equal(qn_add_output(g, "out", x), QN_OK);
		assert_int_equal(qn_compile(m, &o), QN_OK);
		print_to(m, &got);
		assert_int_equal(strstr(got.s, "$s.x") == NULL, n <= 64);
		qn_close(ctx);
	}
}

/* ---- what is refused ---- */

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

/* ---- skip and explain ---- */

typedef struct told {
	size_t taken, symbols, other;
	char why[256];
} told;

static void
tell(void *user, const qn_explained *e)
{
	told *t = user;

	if (e->why != NULL && t->other++ == 0)
		(void)snprintf(t->why, sizeof t->why, "%s %s: %s", e->pattern, e->root, e->why);
	if (e->why == NULL && strcmp(e->pass, "partition") == 0)
		t->taken++;
	t->symbols += e->nsymbol;
}

static int
skip_pattern(void *user, const qn_graph *g, qn_id root, const char *pattern)
{
	return strcmp(pattern, user) == 0 && qn_value(g, root).name[0] == 'y';
}

/* The layer y = bias_add(c) is the first match, z the second. */
static void
test_skip(void **state)
{
	static const struct {
		const char *skip, *host;
		size_t taken;
		const char *why, *warning;
	} rows[] = {
		{"first", NULL, 1, "conv2d_bias y: skipped by 'first'", NULL},
		{"last", NULL, 1, "conv2d_bias z: skipped by 'last'", NULL},
		{"first,last", NULL, 0, "conv2d_bias y: skipped by 'first'", NULL},
		{"name:c", NULL, 1, "conv2d_bias y: skipped by name 'c'", NULL},
		{"name:?", NULL, 0, "conv2d_bias y: skipped by name '?'", NULL},
		{"name:*z*", NULL, 1, "conv2d_bias z: skipped by name '*z*'", NULL},
		{"op:bias_add", NULL, 1, "conv2d_bias y: skipped by op 'bias_add'", NULL},
		{"op:relu", NULL, 2, "", "skip.nothing"},
		{"name:b", NULL, 2, "", "skip.nothing"}, /* a constant is not of the match */
		{NULL, "conv2d_bias", 1,
		 "conv2d_bias y: skipped by the callback of the host program", NULL},
		{NULL, "conv2d", 2, "", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		qn_ctx *ctx = qn_open(NULL);
		qn_model *m = two_layers(ctx);
		told t = {0};
		qn_compile_opts o = {.passes = "partition,quantize",
				     .skip = rows[i].skip,
				     .explain = tell,
				     .explain_user = &t};
		const char *skipped = strstr(rows[i].why, "skipped");

		if (rows[i].host != NULL) {
			o.skip_fn = skip_pattern;
			o.skip_user = (void *)(uintptr_t)rows[i].host;
		}
		assert_int_equal(qn_compile(m, &o), QN_OK);
		assert_int_equal(t.taken, rows[i].taken);
		assert_int_equal(t.symbols, 2 * rows[i].taken);
		assert_int_equal(qn_diag_count(ctx), rows[i].warning != NULL);
		if (rows[i].warning != NULL)
			assert_string_equal(qn_diag_get(ctx, 0).id, rows[i].warning);
		if (skipped != NULL)
			assert_true(t.other >= 1);
		qn_close(ctx);
	}
}

/* A constant that a pattern takes with it has no name or op that a layer is skipped by. */
static void
test_skip_constant(void **state)
{
	static const struct {
		const char *skip;
		size_t taken;
	} rows[] = {{"name:exponent", 1}, {"op:const", 1}, {"name:p", 0}, {"op:add", 0}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		qn_ctx *ctx = qn_open(NULL);
		qn_model *m;
		qn_pattern *made;
		told t = {0};
		qn_compile_opts o = {.passes = "partition",
				     .skip = rows[i].skip,
				     .explain = tell,
				     .explain_user = &t};

		assert_int_equal(qn_model_new(ctx, "net", &m), QN_OK);
		qn_graph *g = qn_model_main(m);
		qn_id x = qn_add_input(g, "x", "tensor<1x4xf32>");
		qn_id e = qn_add_const(g, "exponent", ramp(ctx, 1, (int64_t[]){1}));
		qn_id p = qn_add_op(g, "add", "p", 2, (qn_id[]){x, e}, NULL, NULL);
		assert_int_equal(qn_add_output(g, "out", p), QN_OK);
		assert_int_equal(qn_pattern_parse(ctx, "add(*, const)", &made), QN_OK);
		qn_quantizer mine = {.name = "host.half", .pattern = made, .quantize = half_of};
		o.quantizers = &mine;
		o.nquantizers = 1;
		o.no_standard = 1;
		assert_int_equal(qn_compile(m, &o), QN_OK);
		assert_int_equal(t.taken, rows[i].taken);
		assert_int_equal(qn_diag_count(ctx), rows[i].taken);
		if (rows[i].taken)
			assert_string_equal(qn_diag_get(ctx, 0).id, "skip.nothing");
		qn_close(ctx);
	}
}

/* Matches that cannot be taken out, and why. */
static void
test_explain(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m;
	told t = {0};
	qn_compile_opts o = {.passes = "partition", .explain = tell, .explain_user = &t};

	(void)state;
	assert_int_equal(qn_model_new(ctx, "net", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id x = qn_add_input(g, "x", "tensor<1x4x4x2xf32>");
	qn_id w = qn_add_const(g, "w", ramp(ctx, 4, (int64_t[]){3, 1, 1, 2}));
	qn_id b = qn_add_const(g, "b", ramp(ctx, 1, (int64_t[]){3}));
	qn_id c = qn_add_op(g, "conv2d", "c", 2, (qn_id[]){x, w}, NULL, NULL);
	qn_id y = qn_add_op(g, "bias_add", "y", 2, (qn_id[]){c, b}, NULL, NULL);
	assert_int_equal(qn_add_output(g, "out", y), QN_OK);
	assert_int_equal(qn_add_output(g, "inner", c), QN_OK);
	assert_int_equal(qn_compile(m, &o), QN_OK);
	assert_string_equal(t.why,
			    "conv2d_bias y: 'c', an inner node of the match, is used elsewhere");
	assert_int_equal(t.taken, 2);
	qn_close(ctx);

	ctx = qn_open(NULL);
	t = (told){0};
	o.passes = "partition";
	m = two_layers(ctx);
	assert_int_equal(qn_compile(m, &o), QN_OK);
	assert_string_equal(t.why, "conv2d c: 'c' belongs to the match of 'conv2d_bias' at 'y'");
	qn_close(ctx);
}

/* ---- recipes ---- */

static void
test_recipe(void **state)
{
	static const struct {
		const char *recipe;
		const char *has[3]; /* of the text behind quantize */
	} rows[] = {
		/* the last rule that has the key wins, key by key */
		{"{\"rules\": [{\"activations\": \"u8\"}, {\"name\": \"c\", \"activations\": "
		 "\"i16\", "
		 "\"weights\": \"i4\"}]}",
		 {"u8:f32, $x.input", "i16:f32, $c.x", "i4<-7:7>:f32:0, $c.w"}},
		{"{\"rules\": [{\"name\": \"c\", \"activations\": \"i16\"}, {\"activations\": "
		 "\"u8\"}]}",
		 {"u8:f32, $c.x", "u8:f32, $z.x", "u8:f32, $out.output"}},
		{"{\"rules\": [{\"op\": \"conv2d\", \"granularity\": \"per-tensor\"}, {\"name\": "
		 "\"z\", "
		 "\"granularity\": \"per-channel\"}]}",
		 {"i8<-127:127>:f32, $c.w", "i8<-127:127>:f32:0, $z.w", "i8:f32, $x.input"}},
		{"{\"rules\": [{\"op\": \"output\", \"activations\": \"i16\"}, {\"op\": \"input\", "
		 "\"name\": \"x\", \"activations\": \"u8\"}]}",
		 {"i16:f32, $out.output", "u8:f32, $x.input", "i8:f32, $c.x"}},
		{"{\"rules\": [{\"skip\": true}, {\"name\": \"z\", \"skip\": false}]}",
		 {"%y = bias_add %c, %b", "$z.w", "$x.input"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		qn_ctx *ctx = qn_open(NULL);
		qn_model *m = two_layers(ctx);
		qn_compile_opts o = {.passes = "partition,quantize", .recipe = rows[i].recipe};
		static text got;

		assert_int_equal(qn_compile(m, &o), QN_OK);
		assert_int_equal(qn_diag_count(ctx), 0);
		print_to(m, &got);
		for (size_t k = 0; k < 3; k++)
			if (strstr(got.s, rows[i].has[k]) == NULL)
				fail_msg("row %zu: no '%s' in\n%s", i, rows[i].has[k], got.s);
		qn_close(ctx);
	}
}

/* A rule that matches nothing is told the names nearest to its own, at most three: the nearest first, of equally near ones
 * the first in the graph; none that has nothing in common with it. */
static void
test_recipe_near(void **state)
{
	static const struct {
		const char *names, *rule, *near;
	} rows[] = {
		{"dense_234 dense_23 dense_2 dense_3", "dense_1",
		 "'dense_1'; did you mean 'dense_2', 'dense_3' or 'dense_23'?"},
		{"abcd abce abcf abcg", "abcx", "'abcx'; did you mean 'abcd', 'abce' or 'abcf'?"},
		{"ab qq", "xx", "'xx'"},
		{"aq bq", "xq", "'xq'; did you mean 'aq' or 'bq'?"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		qn_ctx *ctx = qn_open(NULL);
		qn_model *m;
		char names[80], recipe[80];
		qn_compile_opts o = {.passes = "partition,quantize", .recipe = recipe};

		(void)snprintf(names, sizeof names, "%s", rows[i].names);
		(void)snprintf(recipe, sizeof recipe,
			       "{\"rules\": [{\"name\": \"%s\", \"skip\": true}]}", rows[i].rule);
		assert_int_equal(qn_model_new(ctx, "net", &m), QN_OK);
		qn_graph *g = qn_model_main(m);
		qn_id x = qn_add_input(g, "input_of_the_model", "tensor<1x4xf32>");
		for (char *name = strtok(names, " "); name != NULL; name = strtok(NULL, " "))
			x = qn_add_op(g, "relu", name, 1, &x, NULL, NULL);
		assert_int_equal(qn_add_output(g, "output_of_the_model", x), QN_OK);
		assert_int_equal(qn_compile(m, &o), QN_EINVALID);
		assert_string_equal(qn_diag_get(ctx, 0).id, "recipe.nothing");
		const char *end = strstr(qn_diag_get(ctx, 0).message, "output named ");
		assert_non_null(end);
		assert_string_equal(end + strlen("output named "), rows[i].near);
		qn_close(ctx);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_standard_again), cmocka_unit_test(test_own),
		cmocka_unit_test(test_refused),        cmocka_unit_test(test_registration),
		cmocka_unit_test(test_skip),           cmocka_unit_test(test_explain),
		cmocka_unit_test(test_skip_constant),  cmocka_unit_test(test_one_node),
		cmocka_unit_test(test_recipe),         cmocka_unit_test(test_recipe_near),
		cmocka_unit_test(test_match_outside),  cmocka_unit_test(test_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
