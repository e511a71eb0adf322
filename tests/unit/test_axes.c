/* SPDX-License-Identifier: Apache-2.0 */
/* test_axes.c - the axes pass keeps every value to the bit: random graphs with transposes run before
 * and behind it; a long chain melts in one sweep.
 *
 * Values are small integers, so that sums are exact in any order. */
#include "tests/unit/run_util.h"

#include "passes/passes.h"

enum { GRAPHS = 2000, OPS = 14, MOST_VALUES = 2 * OPS + 2, MOST_ELEMENTS = 600, RUNS = 2 };

static qn_id value[MOST_VALUES];
static size_t nvalue;

static const qn_type *
type_of(qn_id x)
{
	return qn_graph_node(rg->g, x)->type;
}

static qn_id
integers(int32_t rank, const int64_t *dim)
{
	void *data;
	const qn_type *t = qn_type_plain(&rg->m.types, QN_PLAIN_f32, rank, dim);
	qn_tensor *x = qn_tensor_new(&rg->arena, t, &data);

	for (int64_t i = 0; i < qn_type_count(t); i++)
		qn_store_f64(data, QN_PLAIN_f32, i, (double)pick(-4, 4));
	return qn_graph_const(rg->g, NULL, x);
}

/* Sums stay exact. */
static qn_id
small(qn_id x)
{
	qn_attrs a = {.clip = {.min = -64, .max = 64}};

	return op(QN_OP_clip, 1, &x, &a, NULL);
}

static qn_id
do_transpose(qn_id x)
{
	qn_attrs a = {0};

	a.perm.perm.n = type_of(x)->rank;
	for (int32_t k = 0; k < a.perm.perm.n; k++) {
		int32_t j = (int32_t)pick(0, k);

		a.perm.perm.v[k] = a.perm.perm.v[j];
		a.perm.perm.v[j] = k;
	}
	return op(QN_OP_transpose, 1, &x, &a, NULL);
}

static qn_id
do_unary(qn_id x)
{
	static const qn_op ops[] = {QN_OP_relu, QN_OP_neg, QN_OP_abs, QN_OP_relu6};

	return op(ops[pick(0, 3)], 1, &x, NULL, NULL);
}

/* Another value of the shape, the value itself, a constant that broadcasts, or a gate. */
static qn_id
do_binary(qn_id x)
{
	static const qn_op ops[] = {QN_OP_add, QN_OP_sub, QN_OP_minimum, QN_OP_maximum};
	const qn_type *t = type_of(x);
	int64_t dim[QN_MAX_RANK];
	int32_t from = (int32_t)pick(0, t->rank);
	qn_id y = 0;

	for (size_t i = 0; i < nvalue && y == 0; i++)
		if (type_of(value[i]) == t && pick(0, 2) == 0)
			y = value[i];
	for (int32_t k = from; k < t->rank; k++)
		dim[k - from] = pick(0, 1) == 0 ? 1 : t->dim[k];
	if (y == 0)
		y = integers(t->rank - from, dim);
	y = op(ops[pick(0, 3)], 2, pick(0, 1) == 0 ? (qn_id[]){x, y} : (qn_id[]){y, x}, NULL, NULL);
	return small(y);
}

static qn_id
do_concat(qn_id x)
{
	qn_attrs a = {0};

	if (type_of(x)->rank == 0)
		return x;
	a.axis.axis = pick(-1, type_of(x)->rank - 1);
	return op(QN_OP_concat, 2,
		  (qn_id[]){x, pick(0, 1) == 0 ? x : op(QN_OP_neg, 1, &x, NULL, NULL)}, &a, NULL);
}

static qn_id
do_lists(qn_id x)
{
	const qn_type *t = type_of(x);
	qn_attrs pad, cut, tile;

	qn_attrs_default(QN_ATTRS(pad), &pad);
	qn_attrs_default(QN_ATTRS(slice), &cut);
	qn_attrs_default(QN_ATTRS(tile), &tile);
	pad.pad.before.n = pad.pad.after.n = tile.tile.repeats.n = t->rank;
	cut.slice.begin.n = cut.slice.end.n = t->rank;
	for (int32_t k = 0; k < t->rank; k++) {
		pad.pad.before.v[k] = pick(0, 1);
		pad.pad.after.v[k] = pick(0, 1);
		tile.tile.repeats.v[k] = pick(0, 9) == 0 ? 2 : 1;
		cut.slice.begin.v[k] = t->dim[k] > 1 ? pick(0, 1) : 0;
		cut.slice.end.v[k] = t->dim[k];
	}
	switch (pick(0, 2)) {
	case 0:
		return op(QN_OP_pad, 1, &x, &pad, NULL);
	case 1:
		return op(QN_OP_slice, 1, &x, &cut, NULL);
	default:
		return op(QN_OP_tile, 1, &x, &tile, NULL);
	}
}

static qn_id
do_reduce(qn_id x)
{
	static const qn_op ops[] = {QN_OP_reduce_sum, QN_OP_reduce_max, QN_OP_reduce_min};
	qn_attrs a;
	qn_id y;

	qn_attrs_default(QN_ATTRS(reduce), &a);
	a.reduce.keepdims = pick(0, 1);
	for (int32_t k = 0; k < type_of(x)->rank; k++)
		if (pick(0, 3) == 0)
			a.reduce.axes.v[a.reduce.axes.n++] =
				pick(0, 1) == 0 ? k : k - type_of(x)->rank;
	y = op(ops[pick(0, 2)], 1, &x, &a, NULL);
	return small(y);
}

static qn_id
do_dims(qn_id x)
{
	const qn_type *t = type_of(x);
	qn_attrs a = {0};

	if (pick(0, 1) == 0 && t->rank < 6) {
		a.axes.axes.v[a.axes.axes.n++] = pick(0, t->rank);
		return op(QN_OP_expand_dims, 1, &x, &a, NULL);
	}
	for (int32_t k = 0; k < t->rank && pick(0, 1) == 0; k++)
		if (t->dim[k] == 1)
			a.axes.axes.v[a.axes.axes.n++] = k;
	return op(QN_OP_squeeze, 1, &x, &a, NULL);
}

/* Neighbours joined, or a dim taken apart. */
static qn_id
do_reshape(qn_id x)
{
	const qn_type *t = type_of(x);
	qn_attrs a = {0};
	qn_list *to = &a.shape.shape;

	if (t->rank == 0)
		return x;
	if (pick(0, 5) == 0)
		return op(QN_OP_flatten, 1, &x, NULL, NULL);
	for (int32_t k = 0; k < t->rank; k++) {
		int64_t d = t->dim[k];

		if (to->n > 0 && pick(0, 2) == 0) {
			to->v[to->n - 1] *= d;
		} else if (d % 2 == 0 && pick(0, 1) == 0 && to->n + t->rank - k < 6) {
			to->v[to->n++] = 2;
			to->v[to->n++] = d / 2;
		} else {
			to->v[to->n++] = d;
		}
	}
	return op(QN_OP_reshape, 1, &x, &a, NULL);
}

/* dense of all but the first axis */
static qn_id
do_dense(qn_id x)
{
	if (type_of(x)->rank < 2)
		return x;
	qn_id m = op(QN_OP_flatten, 1, &x, NULL, NULL);
	if (pick(0, 1) == 0)
		m = op(QN_OP_relu, 1, &m, NULL, NULL);
	qn_id w = integers(2, (int64_t[]){3, type_of(m)->dim[1]});
	m = op(QN_OP_dense, 2, (qn_id[]){m, w}, NULL, NULL);
	return small(m);
}

static qn_id
do_parts(qn_id x)
{
	const qn_type *t = type_of(x);
	qn_attrs a, g = {0};

	if (t->rank == 0 || t->dim[t->rank - 1] < 2)
		return x;
	qn_attrs_default(QN_ATTRS(split), &a);
	a.split.sizes = (qn_list){2, {1, t->dim[t->rank - 1] - 1}};
	qn_id y = op(QN_OP_split, 1, &x, &a, NULL);
	g.get.index = pick(0, 1);
	return op(QN_OP_get, 1, &y, &g, NULL);
}

static qn_id
do_matmul(qn_id x)
{
	const qn_type *t = type_of(x);

	if (t->rank != 2 || qn_type_count(t) == 0)
		return x;
	qn_id w = integers(2, (int64_t[]){t->dim[1], 3});
	qn_id y = op(QN_OP_matmul, 2, (qn_id[]){x, w}, NULL, NULL);
	return small(y);
}

static void
name_output(size_t i)
{
	char name[] = {'y', (char)('A' + (int)i), '\0'};

	qn_graph_output(rg->g, name, value[i]);
}

static void
random_graph(uint64_t seed)
{
	static qn_id (*const makers[])(qn_id) = {
		do_transpose, do_transpose, do_transpose, do_transpose, do_unary,   do_binary,
		do_binary,    do_concat,    do_lists,     do_reduce,    do_reshape, do_reshape,
		do_dims,      do_dense,     do_parts,     do_matmul,
	};
	int64_t dim[5];

	rg->seed = seed;
	fresh_graph();
	nvalue = 0;
	for (int i = 0; i < 2; i++) {
		for (int32_t k = 0; k < 5; k++)
			dim[k] = pick(0, 3) == 0 ? 1 : pick(1, 4);
		if (i == 0)
			value[nvalue++] = qn_graph_input(rg->g, NULL,
							 qn_type_plain(&rg->m.types, QN_PLAIN_f32,
								       (int32_t)pick(2, 5), dim));
		else
			value[nvalue++] = qn_graph_input(rg->g, NULL, type_of(value[0]));
	}
	for (int i = 0; i < OPS; i++) {
		qn_id x = value[pick((int64_t)nvalue / 2, (int64_t)nvalue - 1)];
		qn_id y = makers[pick(0, (int64_t)QN_COUNT(makers) - 1)](x);

		if (qn_type_count(type_of(y)) <= MOST_ELEMENTS)
			value[nvalue++] = y;
	}
	for (size_t i = 2; i < nvalue; i++)
		if (pick(0, 3) == 0 || i + 1 == nvalue)
			name_output(i);
}

static qn_interp *
interpreter(const qn_graph *g)
{
	qn_interp *in = NULL;

	assert_int_equal(qn_interp_new(g, &rg->arena, &in), QN_OK);
	return in;
}

static void
compare(const qn_graph *before, const qn_graph *after, uint64_t seed)
{
	qn_interp *in[2] = {interpreter(before), interpreter(after)};
	const qn_tensor *x[2];

	assert_int_equal(before->ninput, after->ninput);
	for (int run = 0; run < RUNS; run++) {
		for (size_t k = 0; k < before->ninput; k++) {
			void *data;
			qn_tensor *t = qn_tensor_new(
				&rg->arena, qn_graph_node(before, before->input[k])->type, &data);

			for (int64_t i = 0; i < qn_type_count(t->type); i++)
				qn_store_f64(data, QN_PLAIN_f32, i, (double)pick(-4, 4));
			x[k] = t;
		}
		for (int i = 0; i < 2; i++)
			assert_int_equal(qn_interp_run(in[i], x, NULL, NULL), QN_OK);
		for (size_t k = 0; k < before->noutput; k++)
			if (!qn_tensor_equal(qn_interp_output(in[0], k),
					     qn_interp_output(in[1], k)))
				fail_msg("seed %llu: output %zu differs", (unsigned long long)seed,
					 k);
	}
}

static size_t
count(const qn_graph *g, qn_op kind)
{
	size_t n = 0;

	for (qn_id id = 1; id < g->n; id++)
		n += qn_graph_node(g, id)->op == kind;
	return n;
}

static qn_graph *
run_pass(qn_graph *g)
{
	rg->m.ngraph = 0;
	qn_model_add_graph(&rg->m, g);
	qn_status status = qn_axes(&rg->m);
	no_errors();
	assert_int_equal(status, QN_OK);
	status = qn_model_verify(&rg->m);
	no_errors();
	assert_int_equal(status, QN_OK);
	return qn_model_entry(&rg->m);
}

static void
random_graphs_keep_their_values(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
		random_graph(seed);
		compare(rg->g, run_pass(rg->g), seed);
	}
}

/* relu, transpose there and back, 3000 times: one sweep, and nothing of it is left but the relus. */
static void
long_chains_melt(void **state)
{
	qn_attrs there = {0}, back = {0};
	qn_id x;

	(void)state;
	there.perm.perm = (qn_list){4, {0, 2, 3, 1}};
	back.perm.perm = (qn_list){4, {0, 3, 1, 2}};
	x = input("x", "tensor<1x2x3x4xf32>");
	for (int i = 0; i < 3000; i++) {
		x = op(QN_OP_transpose, 1, &x, &there, NULL);
		x = op(i % 2 == 0 ? QN_OP_neg : QN_OP_tanh, 1, &x, NULL, NULL);
		x = op(QN_OP_transpose, 1, &x, &back, NULL);
	}
	qn_graph_output(rg->g, NULL, x);
	qn_graph *after = run_pass(rg->g);
	assert_int_equal(count(after, QN_OP_transpose), 0);
	assert_int_equal(after->n, 3002);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(random_graphs_keep_their_values, rig_setup,
						rig_teardown),
		cmocka_unit_test_setup_teardown(long_chains_melt, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
