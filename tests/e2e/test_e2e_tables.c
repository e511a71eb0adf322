/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one 8-bit value give, as one table, the bytes that their nodes gave, for each of the
 * 256 values.
 *
 * Random nodes over one or two inputs read what nodes before them gave, and constants of one or of
 * many elements; some of the values in between are outputs.  The inputs hold all bytes, the second one
 * in another order.  Some graphs are emitted, compiled and run too. */
#include "tests/e2e/e2e.h"

#include "passes/passes.h"
#include "runtime/interp.h"

enum { SEEDS = 600, BYTES = 256, MOST_VALUES = 12 };

typedef struct net {
	builder b;
	qn_id value[MOST_VALUES];
	size_t n;
	const char *storage; /* of values of 8 bits */
} net;

static const char *
typed(net *n, const char *storage, int64_t count)
{
	const bool wide = strcmp(storage, "i16") == 0, is_signed = storage[0] == 'i';
	const double scale = (double)build_random(&n->b, 5, 100) / (wide ? 50000 : 1000);
	const int zero = wide ? 0 : (int)build_random(&n->b, -128, 127) + (is_signed ? 0 : 128);

	return build_printf(&n->b, "tensor<1x%lldx!quant.uniform<%s:f32, %f:%d>>", (long long)count,
			    storage, scale, zero);
}

static qn_id
constant(net *n, int64_t count)
{
	const bool is_signed = n->storage[0] == 'i';

	return build_const(&n->b, "k", typed(n, n->storage, count), is_signed ? -128 : 0,
			   is_signed ? 127 : 255);
}

/* A value of 8 bits. */
static qn_id
any(net *n)
{
	return n->value[build_random(&n->b, 0, (int64_t)n->n - 1)];
}

/* A second operand: a number, other numbers for all elements, or a value. */
static qn_id
operand(net *n)
{
	const int64_t k = build_random(&n->b, 0, 9);

	return k < 5 ? constant(n, 1) : k < 6 ? constant(n, BYTES) : any(n);
}

static qn_id
add_binary(net *n, const char *type)
{
	static const qn_op ops[] = {QN_OP_add, QN_OP_sub, QN_OP_mul, QN_OP_squared_difference};
	const qn_op op = ops[build_random(&n->b, 0, 3)];
	const qn_id x = any(n), y = operand(n);

	return build_op(&n->b, op, NULL, IDS(x, y), NULL, type);
}

/* Through 16 bits and back. */
static qn_id
add_wide(net *n, const char *type)
{
	const char *wide = typed(n, "i16", BYTES);
	const qn_id x = build_op(&n->b, QN_OP_requantize, NULL, IDS(any(n)), NULL, wide);
	const qn_id y = build_op(&n->b, QN_OP_tanh, NULL, IDS(x), NULL, typed(n, "i16", BYTES));

	return build_op(&n->b, QN_OP_requantize, NULL, IDS(y), NULL, type);
}

static qn_id
add_where(net *n)
{
	const qn_id x = any(n), y = any(n);
	const qn_type *t = qn_graph_node(n->b.g, x)->type;
	const qn_id same = qn_graph_op(n->b.g, QN_OP_requantize, NULL, 1, &y, NULL, t);
	const qn_id less = build_op(&n->b, QN_OP_less, NULL, IDS(x, same), NULL, NULL);

	return build_op(&n->b, QN_OP_where, NULL, IDS(less, same, x), NULL, NULL);
}

static void
add_node(net *n)
{
	builder *b = &n->b;
	qn_attrs clamp = build_attrs(QN_OP_clamp);
	const char *type = typed(n, n->storage, BYTES);
	qn_id y;

	switch (build_random(b, 0, 7)) {
	case 0:
	case 1:
		y = build_op(b, (qn_op)build_random(b, QN_OP_silu, QN_OP_square), NULL, IDS(any(n)),
			     NULL, type);
		break;
	case 2:
		y = build_op(b, build_random(b, 0, 1) == 0 ? QN_OP_sigmoid : QN_OP_tanh, NULL,
			     IDS(any(n)), NULL, type);
		break;
	case 3:
		y = build_op(b, QN_OP_requantize, NULL, IDS(any(n)), NULL, type);
		break;
	case 4:
		clamp.clamp.lo = n->storage[0] == 'i' ? -90 : 30;
		clamp.clamp.hi = clamp.clamp.lo + (int32_t)build_random(b, 0, 120);
		y = build_op(b, QN_OP_clamp, NULL, IDS(any(n)), &clamp, NULL);
		break;
	case 5:
		y = add_wide(n, type);
		break;
	case 6:
		y = add_where(n);
		break;
	default:
		y = add_binary(n, type);
	}
	n->value[n->n++] = y;
}

static void
build_net(net *n, uint64_t seed)
{
	builder *b = &n->b;

	build_begin(b, "tables", seed);
	n->storage = build_random(b, 0, 1) == 0 ? "i8" : "u8";
	n->n = 0;
	n->value[n->n++] = build_input(b, "x", typed(n, n->storage, BYTES));
	if (build_random(b, 0, 3) == 0)
		n->value[n->n++] = build_input(b, "z", typed(n, n->storage, BYTES));
	const size_t nodes = (size_t)build_random(b, 2, MOST_VALUES - 2);
	while (n->n < nodes)
		add_node(n);
	qn_graph_output(b->g, "y", n->value[n->n - 1]);
	if (build_random(b, 0, 2) == 0)
		qn_graph_output(b->g, "also", n->value[n->n / 2]);
	qn_model_add_graph(&b->model, b->g);
}

/* The outputs one after the other. */
static const uint8_t *
outputs_of(builder *b, const qn_graph *g)
{
	const qn_tensor *x[2];
	uint8_t *out = QN_NEW(&b->arena, uint8_t, BYTES * g->noutput);
	qn_interp *in;

	for (size_t k = 0; k < g->ninput; k++) {
		void *data;

		x[k] = qn_tensor_new(&b->arena, qn_graph_node(g, g->input[k])->type, &data);
		for (size_t i = 0; i < BYTES; i++)
			((uint8_t *)data)[i] = (uint8_t)(k == 0 ? i : i * 77 + 5);
	}
	build_check(b, qn_interp_new(g, &b->arena, &in) == QN_OK &&
			       qn_interp_run(in, x, NULL, NULL) == QN_OK);
	for (size_t k = 0; k < g->noutput; k++)
		memcpy(out + BYTES * k, qn_interp_output(in, k)->data, BYTES);
	return out;
}

static size_t
count(const qn_graph *g, qn_op op)
{
	size_t n = 0;

	for (qn_id id = 1; id < g->n; id++)
		n += qn_graph_node(g, id)->op == op;
	return n;
}

static void
test_random(void **state)
{
	size_t tables = 0, before = 0, after = 0, emitted = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		net n;
		builder *b = &n.b;

		build_net(&n, seed);
		const qn_graph *g = qn_model_entry(&b->model);
		const uint8_t *want = outputs_of(b, g);
		before += g->n;
		build_check(b, qn_tables(&b->model) == QN_OK);
		b->g = qn_model_entry(&b->model);
		build_check(b, qn_model_verify(&b->model) == QN_OK);
		after += b->g->n;
		const size_t found = count(b->g, QN_OP_table);
		if (memcmp(want, outputs_of(b, b->g), BYTES * g->noutput) != 0)
			fail_msg("seed %llu: the outputs differ", (unsigned long long)seed);
		if (found > 0 && seed % 50 == 0 && emitted++ < 3)
			e2e_check(b, 2);
		tables += found;
		build_end(b);
	}
	print_message("%zu tables, %zu nodes of %zu left\n", tables, after, before);
	assert_true(tables > SEEDS / 2 && after < before);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
