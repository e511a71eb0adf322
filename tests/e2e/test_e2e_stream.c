/* SPDX-License-Identifier: Apache-2.0 */
/* Random networks over a window of time, streamed by a random hop, give in each window of one signal the bytes of the
 * network over that window.  Some are emitted, compiled and run too, also with the kernels of the Cortex-M4.
 *
 *   seed 7 -> x [1x17x3x2] -> conv2d 4x3, stride 2, same -> relu -> max_pool -> (conv2d 1x1, conv2d 3x3) add -> dense */
#include "tests/e2e/e2e.h"

#include "passes/passes.h"
#include "tests/streamed.h"

enum { SEEDS = 300, WINDOWS = 5, EMITTED = 2 };

typedef struct net {
	builder b;
	bool real;
	int64_t stride; /* product of the strides so far */
	int n;          /* values so far */
} net;

static const qn_type *
type_of(const net *t, qn_id id)
{
	return qn_graph_node(t->b.g, id)->type;
}

/* [1, dims of x's image or others, c] as text; of the storage that the network has. */
static const char *
type_text(net *t, const int64_t *dim, int rank)
{
	builder *b = &t->b;
	qn_buf s;

	qn_buf_init(&s, &b->arena);
	qn_buf_puts(&s, "tensor<");
	for (int i = 0; i < rank; i++)
		qn_buff(&s, "%lldx", (long long)dim[i]);
	if (t->real)
		qn_buf_puts(&s, "f32>");
	else
		qn_buff(&s, "!quant.uniform<i8:f32, 0.0%d:%d>>", (int)build_random(b, 2, 9),
			(int)build_random(b, -128, 127));
	return qn_buf_str(&s);
}

static qn_id
weights(net *t, int rank, const int64_t *dim)
{
	builder *b = &t->b;
	const char *quant = "!quant.uniform<i8<-127:127>:f32, 0.02>";
	qn_buf s;

	qn_buf_init(&s, &b->arena);
	qn_buf_puts(&s, "tensor<");
	for (int i = 0; i < rank; i++)
		qn_buff(&s, "%lldx", (long long)dim[i]);
	qn_buff(&s, "%s>", t->real ? "f32" : quant);
	return build_const(b, NULL, qn_buf_str(&s), t->real ? -3 : -127, t->real ? 3 : 127);
}

/* A value with parameters of its own, of an accumulator. */
static qn_id
requantized(net *t, qn_id acc)
{
	const qn_type *y = type_of(t, acc);

	if (t->real)
		return acc;
	return build_op(&t->b, QN_OP_requantize, build_printf(&t->b, "q%d", t->n++), IDS(acc), NULL,
			type_text(t, y->dim, y->rank));
}

/* Padding along the rows and the columns: none, same, causal or any. */
static void
draw_padding(net *t, int32_t *padding, int64_t *pad, int64_t reach, int64_t wide)
{
	builder *b = &t->b;
	const int64_t how = build_random(b, 0, 4);

	*padding = how == 0 ? QN_PADDING_valid : how == 1 ? QN_PADDING_same : QN_PADDING_explicit;
	if (how < 2)
		return;
	pad[0] = how == 2 ? reach - 1 : build_random(b, 0, reach - 1);
	pad[1] = how == 2 ? 0 : build_random(b, 0, reach - 1);
	pad[2] = pad[3] = (wide - 1) / 2;
}

static int64_t
draw_stride(net *t, int64_t rows)
{
	const int64_t stride = rows > 8 && t->stride < 3 && build_random(&t->b, 0, 3) == 0 ? 2 : 1;

	t->stride *= stride;
	return stride;
}

static qn_id
convolution(net *t, qn_id x)
{
	builder *b = &t->b;
	qn_attrs a = build_attrs(QN_OP_conv2d);
	const qn_type *in = type_of(t, x);
	const int64_t c = in->dim[3], deep = build_random(b, 0, 1);
	const int64_t wide = in->dim[2] >= 3 ? 1 + 2 * build_random(b, 0, 1) : 1;
	const int64_t high = build_random(b, 1, in->dim[1] > 6 ? 4 : 1);
	const int64_t spread = high < 3 && in->dim[1] > 8 ? build_random(b, 1, 2) : 1;
	const int64_t out = deep != 0 ? c : build_random(b, 1, 6);
	const int64_t dim[4] = {out, high, wide, deep != 0 ? 1 : c};
	const qn_id in_ids[2] = {x, weights(t, 4, dim)};

	a.conv2d.groups = deep != 0 ? c : 1;
	a.conv2d.dilation[0] = spread;
	a.conv2d.stride[0] = draw_stride(t, in->dim[1]);
	draw_padding(t, &a.conv2d.padding, a.conv2d.pad, (high - 1) * spread + 1, wide);
	return requantized(
		t, build_op(b, QN_OP_conv2d, build_printf(b, "c%d", t->n++), 2, in_ids, &a, NULL));
}

static qn_id
pool(net *t, qn_id x)
{
	builder *b = &t->b;
	const qn_op op = build_random(b, 0, 1) != 0 ? QN_OP_max_pool : QN_OP_avg_pool;
	qn_attrs a = build_attrs(op);
	const qn_type *in = type_of(t, x);
	const int64_t high = build_random(b, 1, in->dim[1] > 6 ? 3 : 1);

	a.pool.kernel[0] = high;
	a.pool.kernel[1] = 1;
	a.pool.stride[0] = draw_stride(t, in->dim[1]);
	draw_padding(t, &a.pool.padding, a.pool.pad, high, 1);
	if (op == QN_OP_avg_pool && build_random(b, 0, 1) != 0)
		a.pool.count_include_pad = 1;
	if (a.pool.count_include_pad == 0 && build_random(b, 0, 1) != 0)
		a.pool.ceil_mode = 1;
	return build_op(b, op, build_printf(b, "p%d", t->n++), IDS(x), &a, NULL);
}

/* Two branches with windows of their own, which meet. */
static qn_id
branches(net *t, qn_id x)
{
	builder *b = &t->b;
	const qn_type *in = type_of(t, x);
	const int64_t c = in->dim[3];
	qn_id y[2];

	for (int i = 0; i < 2; i++) {
		const int64_t high = build_random(b, 1, 4);
		const int64_t dim[4] = {c, high, 1, c};
		qn_attrs a = build_attrs(QN_OP_conv2d);

		a.conv2d.padding = QN_PADDING_explicit;
		a.conv2d.pad[0] = build_random(b, 0, high - 1);
		a.conv2d.pad[1] = high - 1 - a.conv2d.pad[0];
		const qn_id ids[2] = {x, weights(t, 4, dim)};
		y[i] = requantized(t, build_op(b, QN_OP_conv2d, build_printf(b, "b%d", t->n++), 2,
					       ids, &a, NULL));
	}
	if (t->real && build_random(b, 0, 1) == 0) {
		qn_attrs a = build_attrs(QN_OP_concat);

		a.axis.axis = 3;
		return build_op(b, QN_OP_concat, build_printf(b, "k%d", t->n++), IDS(y[0], y[1]),
				&a, NULL);
	}
	return build_op(b, QN_OP_add, build_printf(b, "a%d", t->n++), IDS(y[0], y[1]), NULL,
			type_text(t, in->dim, in->rank));
}

static qn_id
rows_left_out(net *t, qn_id x)
{
	builder *b = &t->b;
	const qn_type *in = type_of(t, x);
	qn_attrs a = build_attrs(QN_OP_slice);

	if (in->dim[1] < 5)
		return x;
	a.slice.begin = LIST(0, build_random(b, 0, 2), 0, 0);
	a.slice.end = LIST(1, in->dim[1] - build_random(b, 0, 2), in->dim[2], in->dim[3]);
	return build_op(b, QN_OP_slice, build_printf(b, "s%d", t->n++), IDS(x), &a, NULL);
}

/* All rows become one value, or stay. */
static qn_id
head(net *t, qn_id x)
{
	builder *b = &t->b;
	const qn_type *in = type_of(t, x);
	qn_attrs a = build_attrs(QN_OP_avg_pool);

	switch (build_random(b, 0, 2)) {
	case 0:
		return x;
	case 1:
		a.pool.kernel[0] = a.pool.stride[0] = in->dim[1];
		a.pool.kernel[1] = a.pool.stride[1] = in->dim[2];
		return build_op(b, QN_OP_avg_pool, "pooled", IDS(x), &a, NULL);
	default: {
		const qn_id flat = build_op(b, QN_OP_flatten, "flat", IDS(x), NULL, NULL);
		const int64_t dim[2] = {3, in->dim[1] * in->dim[2] * in->dim[3]};
		const qn_id ids[2] = {flat, weights(t, 2, dim)};

		return requantized(t, build_op(b, QN_OP_dense, "dense", 2, ids, NULL, NULL));
	}
	}
}

static void
build_net(net *t, uint64_t seed)
{
	static qn_id (*const layer[])(net *, qn_id) = {convolution, convolution, pool, branches,
						       rows_left_out};
	builder *b = &t->b;

	build_begin(b, "", seed);
	b->model.name = build_printf(b, "s%llu", (unsigned long long)seed);
	t->real = seed % 4 == 0;
	b->model.stage = t->real ? QN_STAGE_FLOAT : QN_STAGE_INTEGER;
	t->stride = 1;
	for (int i = 0; i < 8; i++)
		(void)build_random(b, 0, 1);
	const int64_t dim[4] = {1, build_random(b, 6, 24), build_random(b, 1, 4),
				build_random(b, 1, 5)};
	qn_id x = build_input(b, "x", type_text(t, dim, 4));
	const int64_t layers = build_random(b, 1, 6);
	for (int64_t i = 0; i < layers; i++)
		x = layer[build_random(b, 0, 4)](t, x);
	qn_graph_output(b->g, "y", head(t, x));
	qn_model_add_graph(&b->model, b->g);
}

/* Whether the streamed network has states; it is emitted then, if wanted. */
static bool
check_seed(uint64_t seed, bool emit)
{
	net t = {.real = false};
	builder *b = &t.b;

	build_net(&t, seed);
	const qn_graph *window = b->g;
	const int64_t rows = qn_graph_node(window, window->input[0])->type->dim[1];
	const int64_t most = (rows - 1) / t.stride;
	if (most < 1) {
		build_end(b);
		return false;
	}
	const char *text =
		build_printf(b, "axis=1,hop=%lld",
			     (long long)(t.stride * build_random(b, 1, most < 4 ? most : 4)));
	build_check(b, qn_stream_model(&b->model, text) == QN_OK);
	b->g = qn_model_entry(&b->model);
	build_check(b, qn_model_verify(&b->model) == QN_OK);
	if (!streamed_equal(window, b->g, &b->arena, seed, WINDOWS))
		fail_msg("seed %llu, %s: window and hops differ", (unsigned long long)seed, text);
	const bool some = b->g->nstate > 1 && !t.real;
	if (some && emit)
		e2e_check(b, 12);
	build_end(b);
	return some;
}

static void
test_random(void **state)
{
	size_t some = 0, emitted = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const bool emit = emitted < EMITTED && seed % 20 == 3;
		const bool has = check_seed(seed, emit);

		some += has;
		emitted += has && emit;
	}
	print_message("%zu of %d networks keep rows of several values\n", some, SEEDS);
	assert_true(some > SEEDS / 4);
	assert_int_equal(emitted, EMITTED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
