/* SPDX-License-Identifier: Apache-2.0 */
/* test_int_simd.c - layers on codes of 8 bits with the interpreter's fast products and requantizes, in every
 * instruction set of this machine, in bundles and alone: the bytes are those of the plain kernels, which a
 * node that is evaluated by itself runs. */
#include "runtime/int_simd.h"
#include "runtime/interp_impl.h"
#include "tests/e2e/build.h"
#include "tests/unit/kernel_rig.h"

enum { MOST = 3 /* batches of a bundle */ };

static const qn_simd_kind kinds[] = {QN_SIMD_BASELINE, QN_SIMD_AVX2, QN_SIMD_AVX512, QN_SIMD_NEON};

static qn_tensor *
draw(builder *b, const qn_type *t)
{
	const int64_t lo = t->elem->qmin, hi = t->elem->qmax, end = pick(0, 2);
	void *data;
	qn_tensor *x = qn_tensor_new(&b->arena, t, &data);

	for (int64_t i = 0; i < qn_type_count(t); i++)
		qn_store_i64(data, t->elem->plain, i,
			     end == 1   ? lo
			     : end == 2 ? hi
					: build_random(b, lo, hi));
	return x;
}

/* The value of node `id`, one node after the other, of which none has a plan. */
static const qn_tensor *
plain(builder *b, qn_id id, const qn_tensor *x)
{
	const qn_node *n = qn_graph_node(b->g, id);
	const qn_tensor *in[3] = {NULL, NULL, NULL};
	qn_tensor *y = NULL;

	if (n->op == QN_OP_input)
		return x;
	if (n->op == QN_OP_const)
		return n->value;
	for (uint32_t i = 0; i < n->nin; i++)
		in[i] = plain(b, n->in[i], x);
	build_check(b, qn_eval_node(b->g, n, in, &b->arena, &y) == QN_OK);
	return y;
}

/* Whether the interpreter has a plan for the node. */
static bool
is_fast(builder *b, qn_id id)
{
	size_t room = QN_PACK_BYTES;
	qn_work w;

	build_check(b, qn_work_prepare(b->g, qn_graph_node(b->g, id), &b->arena, &room, &w));
	return w.plan != NULL;
}

/* All kinds, so many batches at once. */
static void
check(builder *b, qn_id y)
{
	const qn_type *type = qn_graph_node(b->g, b->g->input[0])->type;
	const qn_tensor *x[MOST], *want[MOST];

	qn_graph_output(b->g, "y", y);
	for (int i = 0; i < MOST; i++) {
		x[i] = draw(b, type);
		want[i] = plain(b, y, x[i]);
	}
	for (size_t k = 0; k < QN_COUNT(kinds); k++) {
		qn_interp *in;

		b->env.simd = kinds[k];
		build_check(b, qn_interp_new_bundle(b->g, (size_t)pick(1, MOST), &b->arena, &in) ==
				       QN_OK);
		const size_t n = qn_interp_bundle(in);
		for (size_t i = 0; i < n; i++)
			build_check(b, qn_interp_load(in, i, &x[i]) == QN_OK);
		build_check(b, qn_interp_run_bundle(in, n, NULL, NULL) == QN_OK);
		for (size_t i = 0; i < n; i++) {
			const qn_tensor got = qn_interp_output_of(in, 0, i);

			assert_memory_equal(got.data, want[i]->data, want[i]->bytes);
		}
	}
}

/* The layer's sums, or codes of any storage made of them. */
static qn_id
requantized(builder *b, qn_id sums, int *fast)
{
	const qn_type *t = qn_graph_node(b->g, sums)->type;
	const int which = pick(0, 3);
	const char *s = "tensor<";

	if (pick(0, 5) == 0)
		return sums;
	for (int32_t i = 0; i < t->rank; i++)
		s = build_printf(b, "%s%lldx", s, (long long)t->dim[i]);
	const char *elem =
		which == 2   ? build_printf(b, "i16:f32, 0.%d5:0", pick(1, 9))
		: which == 1 ? build_printf(b, "u8:f32, %d.5:%d", pick(1, 9), pick(0, 255))
		: which == 0 ? build_printf(b, "i8:f32, %d.5:%d", pick(1, 9), pick(-128, 127))
			     : build_printf(b, "i8:f32, 0.0%d5:%d", pick(1, 9), pick(-128, 127));
	qn_attrs clamp = build_attrs(QN_OP_requantize);
	qn_id y = build_op(b, QN_OP_requantize, "y", 1, &sums, &clamp,
			   build_printf(b, "%s!quant.uniform<%s>>", s, elem));
	*fast += is_fast(b, y);
	return y;
}

/* Scales of some channels along the first axis. */
static const char *
scales(builder *b, int channels)
{
	const char *s = build_printf(b, "i8:f32:0, {0.%d", pick(1, 99));

	for (int i = 1; i < channels; i++)
		s = build_printf(b, "%s,0.%d", s, pick(1, 99));
	return build_printf(b, "%s}", s);
}

static void
test_conv(void **state)
{
	int fast = 0, requantizes = 0;

	(void)state;
	for (uint64_t round = 1; round <= 250; round++) {
		builder b;
		qn_attrs a = build_attrs(QN_OP_conv2d);
		const int kind = pick(0, 2), each = pick(1, 9);
		const int groups = kind == 0 ? 1 : kind == 1 ? pick(1, 40) : pick(2, 4);
		const int c = kind == 2 ? groups * each : kind == 1 ? groups : pick(1, 40);
		const int o = kind == 2 ? groups * pick(1, 5) : kind == 1 ? c : pick(1, 40);
		const int kh = pick(1, 3), kw = pick(1, 4), gap = pick(1, 2);
		const bool is_signed = pick(0, 2) > 0;

		build_begin(&b, "net", round);
		b.model.rounding = pick(0, 1) * pick(0, 3);
		a.conv2d.groups = groups;
		for (int i = 0; i < 2; i++) {
			a.conv2d.stride[i] = pick(1, 3);
			a.conv2d.dilation[i] = gap;
		}
		for (int i = 0; i < 4; i++)
			a.conv2d.pad[i] = pick(0, 1) * pick(0, 4);
		qn_id in[3] = {
			build_input(&b, "x",
				    build_printf(
					    &b,
					    "tensor<%dx%dx%dx%dx!quant.uniform<%s:f32, 0.5:%d>>",
					    pick(1, 2), (kh - 1) * gap + pick(1, 7),
					    (kw - 1) * gap + pick(1, 7), c, is_signed ? "i8" : "u8",
					    is_signed ? pick(-128, 127) : pick(0, 255))),
			build_const(&b, "w",
				    build_printf(&b, "tensor<%dx%dx%dx%dx!quant.uniform<%s>>", o,
						 kh, kw, c / groups,
						 o < 9 && pick(0, 1) == 0 ? scales(&b, o)
									  : "i8:f32, 0.25"),
				    pick(0, 3) == 0 ? 127 : -128, 127),
			0};
		uint32_t n = 2;
		if (pick(0, 1) == 0 && qn_graph_node(b.g, in[1])->type->elem->gran != QN_PER_AXIS)
			in[n++] = build_const(
				&b, "b",
				build_printf(&b, "tensor<%dx!quant.uniform<i32:f32, 0.25*0.5>>", o),
				-20000, 20000);
		qn_id sums = build_op(&b, QN_OP_conv2d, "sums", n, in, &a, NULL);
		fast += is_fast(&b, sums);
		check(&b, requantized(&b, sums, &requantizes));
		build_end(&b);
	}
	assert_true(fast == 250);
	assert_true(requantizes > 80);
}

static void
test_dense(void **state)
{
	int fast = 0, requantizes = 0;

	(void)state;
	for (uint64_t round = 1; round <= 200; round++) {
		builder b;
		const int in_n = pick(1, 200), out = pick(1, 150);

		build_begin(&b, "net", round);
		qn_id in[2] = {
			build_input(&b, "x",
				    build_printf(&b, "tensor<%dx%dx!quant.uniform<i8:f32, 0.5:%d>>",
						 pick(0, 3) == 0 ? pick(60, 140) : pick(1, 9), in_n,
						 pick(-128, 127))),
			build_const(&b, "w",
				    build_printf(&b, "tensor<%dx%dx!quant.uniform<i8:f32, 0.25>>",
						 out, in_n),
				    -128, 127),
		};
		qn_id sums = build_op(&b, QN_OP_dense, "sums", 2, in, NULL, NULL);
		fast += is_fast(&b, sums);
		check(&b, requantized(&b, sums, &requantizes));
		build_end(&b);
	}
	assert_true(fast == 200);
	assert_true(requantizes > 60);
}

/* Sums at the ends of 32 bits, multipliers of all sizes, also 1, and as many channels as make whole vectors
 * or do not. */
static void
test_requantize(void **state)
{
	int fast = 0;

	(void)state;
	for (uint64_t round = 1; round <= 200; round++) {
		builder b;
		const int c = pick(1, 40);

		build_begin(&b, "net", round);
		qn_id x =
			build_input(&b, "x",
				    build_printf(&b, "tensor<%dx%dx!quant.uniform<i32:f32, 0.0%d>>",
						 pick(1, 9), c, pick(1, 99)));
		qn_attrs clamp = build_attrs(QN_OP_requantize);
		qn_id y = build_op(
			&b, QN_OP_requantize, "y", 1, &x, &clamp,
			build_printf(&b, "tensor<%lldx%dx!quant.uniform<i8:f32, %s:%d>>",
				     (long long)qn_graph_node(b.g, x)->type->dim[0], c,
				     pick(0, 1) == 0 ? build_printf(&b, "0.%d", pick(1, 99))
						     : build_printf(&b, "%d.0", 1 << pick(0, 27)),
				     pick(-128, 127)));
		fast += is_fast(&b, y);
		check(&b, y);
		build_end(&b);
	}
	assert_true(fast > 150);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conv),
		cmocka_unit_test(test_dense),
		cmocka_unit_test(test_requantize),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
