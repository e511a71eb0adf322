/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs without the channels that are constant or unread give the bytes that they gave with them.
 *
 * Random graphs get weights of 0 in rows and columns, and biases from none to the largest, so that
 * channels are constant, nearly so, or unread; then they run before and after the pass, on inputs that
 * reach the least and the largest value.  Some are emitted, compiled and run too. */
#include "tests/e2e/e2e.h"

#include "passes/passes.h"
#include "runtime/interp.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/random_graph.h"

enum { SEEDS = 400, SAMPLES = 6 };

/* ---- weights that leave channels out ---- */

static void
set(const qn_tensor *x, int64_t i, int64_t v)
{
	qn_store_i64((void *)(uintptr_t)x->data, x->type->elem->plain, i, v);
}

static void
thin_out(builder *b, const qn_node *n)
{
	const qn_tensor *w = qn_graph_node(b->g, n->in[1])->value;
	const qn_tensor *bias = n->nin > 2 ? qn_graph_node(b->g, n->in[2])->value : NULL;
	const int64_t out = w->type->dim[0], count = qn_type_count(w->type);
	const int64_t depth = w->type->dim[w->type->rank - 1];

	for (int64_t o = 0; o < out; o++) {
		if (build_random(b, 0, 2) == 0)
			for (int64_t k = 0; k < count / out; k++)
				set(w, o * (count / out) + k, 0);
		if (bias != NULL && build_random(b, 0, 2) == 0)
			set(bias, o, build_random(b, 0, 1) * build_random(b, -70000, 70000));
	}
	for (int64_t k = 0; k < depth; k++)
		if (build_random(b, 0, 3) == 0)
			for (int64_t i = k; i < count; i += depth)
				set(w, i, 0);
}

static void
thin_out_all(builder *b)
{
	for (qn_id id = 1; id < b->g->n; id++) {
		const qn_node *n = qn_graph_node(b->g, id);

		if ((n->op == QN_OP_dense || n->op == QN_OP_conv1d || n->op == QN_OP_conv2d ||
		     n->op == QN_OP_conv3d) &&
		    qn_graph_node(b->g, n->in[1])->op == QN_OP_const &&
		    (n->nin < 3 || qn_graph_node(b->g, n->in[2])->op == QN_OP_const))
			thin_out(b, n);
	}
}

/* ---- before and after ---- */

/* Whether channels went. */
static bool
check_seed(uint64_t seed, bool emit, bool *seen)
{
	size_t before, after;
	builder b;

	if (seed % 3 == 0)
		random_graph_build(&b, seed);
	else
		random_graph_build_of(&b, seed, seed % 3 == 1 ? QN_PLAIN_i8 : QN_PLAIN_u8);
	b.seed = seed;
	thin_out_all(&b);
	const uint8_t *want = outputs_of(&b, b.g, seed, SAMPLES, &before);
	if (qn_model_entry(&b.model) == NULL)
		qn_model_add_graph(&b.model, b.g);
	build_check(&b, qn_prune(&b.model) == QN_OK);
	b.g = qn_model_entry(&b.model);
	build_check(&b, qn_model_verify(&b.model) == QN_OK);
	const uint8_t *have = outputs_of(&b, b.g, seed, SAMPLES, &after);
	if (before != after || memcmp(want, have, before) != 0)
		fail_msg("seed %llu: the outputs differ", (unsigned long long)seed);
	for (size_t i = 0; i < b.model.npruned; i++)
		seen[qn_graph_node(b.g, qn_graph_find(b.g, b.model.pruned[i].value))->op] = true;
	const bool some = b.model.npruned > 0;
	if (emit && some)
		e2e_check(&b, 2);
	build_end(&b);
	return some;
}

static void
test_random(void **state)
{
	bool seen[QN_NOP] = {false};
	size_t pruned = 0, emitted = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const bool some = check_seed(seed, emitted < 3 && seed % 40 == 0, seen);

		pruned += some;
		emitted += some && seed % 40 == 0;
	}
	print_message("%zu of %d graphs lost channels\n", pruned, SEEDS);
	assert_true(pruned > 0);
	assert_true(seen[QN_OP_conv2d]);
}

/* ---- layers in a row, most channels gone ---- */

typedef struct net {
	builder b;
	int k; /* layers so far */
} net;

static const char *
codes(net *n, int64_t side, int64_t c, double scale, int zero)
{
	return build_printf(&n->b, "tensor<1x%lldx%lldx%lldx!quant.uniform<i8:f32, %f:%d>>",
			    (long long)side, (long long)side, (long long)c, scale, zero);
}

/* A convolution with its requantize, padded or not; depthwise where out is 0. */
static qn_id
add_conv(net *n, qn_id x, int64_t out)
{
	builder *b = &n->b;
	qn_attrs a = build_attrs(QN_OP_conv2d);
	const qn_type *t = qn_graph_node(b->g, x)->type;
	const int64_t c = t->dim[3], window = build_random(b, 0, 1) == 0 ? 1 : 3;
	const char *name = build_printf(b, "l%d", n->k++);
	double scale;
	int64_t zero;

	qn_elem_param(&b->model.types, t->elem, 0, &scale, &zero);
	const int64_t padding = t->dim[1] >= window ? build_random(b, 0, 3) : 0;
	a.conv2d.padding = padding == 0 ? QN_PADDING_same : QN_PADDING_explicit;
	if (padding > 1) /* above and to the left, or below and to the right */
		a.conv2d.pad[padding - 2] = a.conv2d.pad[padding] = 1;
	a.conv2d.groups = out == 0 ? c : 1;
	const int64_t channels = out == 0 ? c : out;
	qn_id in[3] = {
		x,
		build_const(b, build_printf(b, "%s.w", name),
			    build_printf(b,
					 "tensor<%lldx%lldx%lldx%lldx!quant.uniform<i8:f32, 0.02>>",
					 (long long)channels, (long long)window, (long long)window,
					 (long long)(out == 0 ? 1 : c)),
			    -127, 127),
		build_const(b, build_printf(b, "%s.b", name),
			    build_printf(b, "tensor<%lldx!quant.uniform<i32:f32, 0.02*%f>>",
					 (long long)channels, scale),
			    -9000, 9000)};
	const qn_id acc =
		build_op(b, QN_OP_conv2d, name, 2 + (uint32_t)build_random(b, 0, 1), in, &a, NULL);
	qn_attrs clamp = build_attrs(QN_OP_requantize);
	const int zo = (int)build_random(b, -128, 127);
	if (build_random(b, 0, 1) == 0)
		clamp.clamp.lo = zo;
	return build_op(b, QN_OP_requantize, build_printf(b, "%s.q", name), 1, &acc, &clamp,
			codes(n, qn_graph_node(b->g, acc)->type->dim[1], channels, 0.5, zo));
}

/* x with the same sizes and channels: what channels are followed through. */
static qn_id
add_between(net *n, qn_id x)
{
	builder *b = &n->b;
	const qn_type *t = qn_graph_node(b->g, x)->type;
	const int64_t side = t->dim[1], c = t->dim[3];
	qn_attrs pool = build_attrs(QN_OP_max_pool), pad = build_attrs(QN_OP_pad),
		 resize = build_attrs(QN_OP_resize_nearest), shape = build_attrs(QN_OP_reshape),
		 perm = build_attrs(QN_OP_transpose), slice = build_attrs(QN_OP_slice);

	switch (build_random(b, 0, 10)) {
	case 0:
	case 1:
		pool.pool.kernel[0] = pool.pool.kernel[1] = 3;
		pool.pool.padding = QN_PADDING_same;
		return build_op(b, build_random(b, 0, 1) == 0 ? QN_OP_max_pool : QN_OP_avg_pool,
				NULL, IDS(x), &pool, NULL);
	case 2:
		return build_op(b, build_random(b, 0, 1) == 0 ? QN_OP_hard_swish : QN_OP_abs, NULL,
				IDS(x), NULL, codes(n, side, c, 0.5, -9));
	case 3: {
		const qn_id k = build_const(
			b, "k",
			build_printf(b, "tensor<%lldx!quant.uniform<i8:f32, 0.02>>", (long long)c),
			-128, 127);
		static const qn_op ops[] = {QN_OP_mul, QN_OP_sub, QN_OP_add, QN_OP_prelu};

		return build_op(b, ops[build_random(b, 0, 3)], NULL, IDS(x, k), NULL,
				codes(n, side, c, 0.5, 5));
	}
	case 4:
		pad.pad.before = pad.pad.after = LIST(0, 1, 1, 0);
		pad.pad.code = (int32_t)build_random(b, -128, 127);
		x = build_op(b, QN_OP_pad, NULL, IDS(x), &pad, NULL);
		slice.slice.begin = LIST(0, 0, 0, 0);
		slice.slice.end = LIST(1, side, side, c);
		return build_op(b, QN_OP_slice, NULL, IDS(x), &slice, NULL);
	case 5:
		resize.resize.size[0] = resize.resize.size[1] = side;
		return build_op(b,
				build_random(b, 0, 1) == 0 ? QN_OP_resize_nearest
							   : QN_OP_resize_bilinear,
				NULL, IDS(x), &resize, NULL);
	case 6:
		perm.perm.perm = LIST(0, 2, 1, 3);
		return build_op(b, QN_OP_transpose, NULL, IDS(x), &perm, NULL);
	case 7:
		shape.shape.shape = LIST(1, side * side * c);
		x = build_op(b, QN_OP_reshape, NULL, IDS(x), &shape, NULL);
		shape.shape.shape = LIST(1, -1, side, c);
		return build_op(b, QN_OP_reshape, NULL, IDS(x), &shape, NULL);
	case 8:
		return build_op(b, build_random(b, 0, 1) == 0 ? QN_OP_minimum : QN_OP_maximum, NULL,
				IDS(x, x), NULL, NULL);
	default:
		return build_op(b, QN_OP_requantize, NULL, IDS(x), NULL,
				codes(n, side, c, 0.4, -20));
	}
}

/* y beside x, with the same parameters. */
static qn_id
add_beside(net *n, qn_id x, qn_id y)
{
	builder *b = &n->b;
	const qn_type *t = qn_graph_node(b->g, x)->type, *u = qn_graph_node(b->g, y)->type;

	if (u->dim[1] != t->dim[1])
		return x;
	x = build_op(b, QN_OP_requantize, NULL, IDS(x), NULL,
		     codes(n, t->dim[1], t->dim[3], 0.5, -4));
	y = build_op(b, QN_OP_requantize, NULL, IDS(y), NULL,
		     codes(n, t->dim[1], u->dim[3], 0.5, -4));
	return build_op(b, QN_OP_concat, NULL, IDS(x, y), NULL, NULL);
}

/* All elements through a dense layer, or the mean of each channel. */
static qn_id
add_end(net *n, qn_id x)
{
	builder *b = &n->b;
	const qn_type *t = qn_graph_node(b->g, x)->type;
	qn_attrs mean = build_attrs(QN_OP_reduce_mean);
	qn_id in[2];
	double scale;
	int64_t zero;

	qn_elem_param(&b->model.types, t->elem, 0, &scale, &zero);
	if (build_random(b, 0, 1) == 0) {
		mean.reduce.axes = LIST(1, 2);
		x = build_op(b, QN_OP_reduce_mean, NULL, IDS(x), &mean,
			     build_printf(b, "tensor<1x%lldx!quant.uniform<i8:f32, %f:%d>>",
					  (long long)t->dim[3], 0.5, 3));
	} else {
		x = build_op(b, QN_OP_flatten, NULL, IDS(x), NULL, NULL);
	}
	in[0] = x;
	in[1] = build_const(b, "end",
			    build_printf(b, "tensor<2x%lldx!quant.uniform<i8:f32, 0.02>>",
					 (long long)qn_graph_node(b->g, x)->type->dim[1]),
			    -127, 127);
	return build_op(b, QN_OP_requantize, "last",
			IDS(build_op(b, QN_OP_dense, NULL, 2, in, NULL, NULL)), NULL,
			"tensor<1x2x!quant.uniform<i8:f32, 0.9:3>>");
}

static void
build_net(net *n, uint64_t seed)
{
	builder *b = &n->b;

	n->k = 0;
	build_begin(b, "chain", seed);
	qn_id x = build_input(b, "x", codes(n, 6, 3, 0.5, 7));
	for (int layers = (int)build_random(b, 2, 6); layers > 0; layers--) {
		const int64_t kind = build_random(b, 0, 5);
		const qn_type *t = qn_graph_node(b->g, x)->type;

		if (kind < 2 || n->k == 0) {
			x = add_conv(n, x, build_random(b, 1, 9));
		} else if (kind == 2) {
			x = add_conv(n, x, 0);
		} else if (kind == 3) { /* a sum of two branches */
			const qn_id branch = add_conv(n, x, t->dim[3]);

			if (qn_graph_node(b->g, branch)->type->dim[1] == t->dim[1])
				x = build_op(b, QN_OP_add, NULL, IDS(x, branch), NULL,
					     codes(n, t->dim[1], t->dim[3], 0.5, 3));
		} else if (kind == 4) {
			x = add_beside(n, x, add_conv(n, x, build_random(b, 1, 5)));
		} else {
			x = add_between(n, x);
		}
	}
	if (build_random(b, 0, 1) == 0)
		qn_graph_output(b->g, "y", add_conv(n, x, 3));
	else
		qn_graph_output(b->g, "y", add_end(n, x));
}

static void
test_chains(void **state)
{
	size_t pruned = 0, removed = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		size_t before, after;
		net n;

		build_net(&n, seed);
		thin_out_all(&n.b);
		const uint8_t *want = outputs_of(&n.b, n.b.g, seed, SAMPLES, &before);
		qn_model_add_graph(&n.b.model, n.b.g);
		build_check(&n.b, qn_prune(&n.b.model) == QN_OK);
		n.b.g = qn_model_entry(&n.b.model);
		build_check(&n.b, qn_model_verify(&n.b.model) == QN_OK);
		const uint8_t *have = outputs_of(&n.b, n.b.g, seed, SAMPLES, &after);
		if (before != after || memcmp(want, have, before) != 0)
			fail_msg("chain %llu: the outputs differ", (unsigned long long)seed);
		pruned += n.b.model.npruned > 0;
		for (size_t i = 0; i < n.b.model.npruned; i++)
			removed += (size_t)n.b.model.pruned[i].removed;
		/* once more changes nothing */
		const qn_graph *first = n.b.g;
		build_check(&n.b, qn_prune(&n.b.model) == QN_OK);
		if (qn_model_entry(&n.b.model) != first)
			fail_msg("chain %llu: a second run removes more", (unsigned long long)seed);
		if (seed % 100 == 0)
			e2e_check(&n.b, 2);
		build_end(&n.b);
	}
	print_message("%zu of %d chains lost %zu channels\n", pruned, SEEDS, removed);
	assert_true(pruned > SEEDS / 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_chains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
