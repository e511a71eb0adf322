/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_recurrent.h - kinds of recurrent networks of quantized operators in TFLite files, each from x, [1, rows, 1,
 * channels], to a result: SVDF, cells of GRU and LSTM made of operators, the operator of LSTM, counters, variables that
 * are exchanged, branches and loops. */
#ifndef TESTS_TFLITE_RECURRENT_H
#define TESTS_TFLITE_RECURRENT_H

#include "tests/tflite_rows.h"

/* Units that remember `memory` features each. */
static value
svdf(const value *x, int units, int rank, int memory)
{
	const int filters = units * rank, inputs = x->dim[1];
	int8_t *w = store((size_t)(filters * inputs));
	int16_t *v = store(2 * (size_t)(filters * memory));
	int32_t *b = store(4 * (size_t)units);
	const float ws = 0.01f, vs = 1.0f / 32768, ss = x->scale * ws * 64;

	for (int i = 0; i < filters * inputs; i++)
		w[i] = (int8_t)whole(-127, 127);
	for (int i = 0; i < filters * memory; i++)
		v[i] = (int16_t)whole(-30000, 30000);
	for (int i = 0; i < units; i++)
		b[i] = whole(-4000, 4000);
	const int32_t dim[2] = {1, units};
	const int32_t in[5] = {
		x->id,
		tfl_codes(net.t, next_name(), TFL_INT8, DIMS(filters, inputs), ws, 0, w,
			  filters * inputs),
		tfl_codes(net.t, next_name(), TFL_INT16, DIMS(filters, memory), vs, 0, v,
			  2 * filters * memory),
		tfl_codes(net.t, next_name(), TFL_INT32, DIMS(units), ss * vs, 0, b, 4 * units),
		tfl_codes(net.t, next_name(), TFL_INT16, DIMS(1, filters * memory), ss, 0, NULL,
			  0)};
	const value y = result(2, dim, ss * 60, whole(-90, 20));
	tfl_op_of *o = op(QN_TFL_SVDF, 6, 5, in, &y);

	net.t->tensor[in[4]].is_variable = 1;
	tfl_with(o, 0, 'i', rank);
	tfl_with(o, 1, 'b', 1);
	return y;
}

static value
svdfs(const value *x)
{
	const value f = flat(x), a = svdf(&f, 8, 2, 6), b = svdf(&a, 6, 1, 4);

	return head(&b);
}

/* Parts of equal length of a row. */
static void
split(const value *x, int n, value *part)
{
	int32_t *axis = store(4), out[4];
	const int32_t dim[2] = {1, x->dim[1] / n};

	*axis = 1;
	const int at = tfl_tensor(net.t, next_name(), TFL_INT32, 0, NULL, axis, 4);
	for (int i = 0; i < n; i++) {
		part[i] = like(x, 2, dim);
		out[i] = part[i].id;
	}
	tfl_op_of *o = tfl_op(net.t, QN_TFL_SPLIT, INTS(at, x->id), n, out);
	o->options_type = 35;
	tfl_with(o, 0, 'i', n);
}

static value
sigmoid(const value *x)
{
	const value y = result(2, x->dim, 1.0f / 256, -128);

	return one(QN_TFL_LOGISTIC, 0, x, &y);
}

static value
tanh_of(const value *x)
{
	const value y = result(2, x->dim, 1.0f / 128, 0);

	return one(QN_TFL_TANH, 0, x, &y);
}

/* z and r: sigmoid; n = tanh(dense(x, r h)); h = n + z (h - n). */
static value
gru(const value *x)
{
	enum { CELLS = 6 };
	const int32_t dim[2] = {1, CELLS};
	const value f = flat(x), like_h = {.type = TFL_INT8, .rank = 2, .scale = 1.0f / 128};
	const int v = variable(&like_h, 2, dim, 0);
	const value h = read_variable(v, &like_h, 2, dim),
		    xh = result(2, (const int32_t[]){1, f.dim[1] + CELLS}, f.scale, f.zp);
	value hq = result(2, dim, f.scale, f.zp), zr[2];

	(void)one(QN_TFL_QUANTIZE, 89, &h, &hq);
	tfl_op_of *o = op(QN_TFL_CONCATENATION, 10, 2, (int32_t[]){f.id, hq.id}, &xh);
	tfl_with(o, 0, 'i', 1);
	const value gates = dense(&xh, 2 * CELLS, 0), s = sigmoid(&gates);
	split(&s, 2, zr);
	const value rh = result(2, dim, f.scale, f.zp);
	(void)two(QN_TFL_MUL, 21, &zr[1], &h, &rh, 0);
	const value xr = result(2, xh.dim, f.scale, f.zp);
	o = op(QN_TFL_CONCATENATION, 10, 2, (int32_t[]){f.id, rh.id}, &xr);
	tfl_with(o, 0, 'i', 1);
	const value c = dense(&xr, CELLS, 0), n = tanh_of(&c);
	const value d = result(2, dim, 1.0f / 64, 3), e = result(2, dim, 1.0f / 70, -2),
		    next = result(2, dim, like_h.scale, like_h.zp);
	(void)two(QN_TFL_SUB, 28, &h, &n, &d, 0);
	(void)two(QN_TFL_MUL, 21, &zr[0], &d, &e, 0);
	(void)two(QN_TFL_ADD, 11, &n, &e, &next, 0);
	assign(v, &next);
	return head(&next);
}

/* An LSTM whose cell is of i16. */
static value
lstm(const value *x)
{
	enum { CELLS = 5 };
	const int32_t dim[2] = {1, CELLS};
	const value f = flat(x), like_h = {.type = TFL_INT8, .rank = 2, .scale = 1.0f / 128},
		    like_c = {.type = TFL_INT16, .rank = 2, .scale = 1.0f / 4096};
	const int vh = variable(&like_h, 2, dim, 1), vc = variable(&like_c, 2, dim, 0);
	const value h = read_variable(vh, &like_h, 2, dim), c = read_variable(vc, &like_c, 2, dim);
	const value hq = result(2, dim, f.scale, f.zp),
		    xh = result(2, (const int32_t[]){1, f.dim[1] + CELLS}, f.scale, f.zp);
	value gate[4], wide[4];

	(void)one(QN_TFL_QUANTIZE, 89, &h, &hq);
	tfl_with(op(QN_TFL_CONCATENATION, 10, 2, (int32_t[]){f.id, hq.id}, &xh), 0, 'i', 1);
	const value all = dense(&xh, 4 * CELLS, 0);
	split(&all, 4, gate);
	for (int i = 0; i < 4; i++) {
		const value g = i == 2 ? tanh_of(&gate[i]) : sigmoid(&gate[i]);

		wide[i] = result_of(TFL_INT16, 2, dim, 1.0f / 32768, 0);
		(void)one(QN_TFL_QUANTIZE, 89, &g, &wide[i]);
	}
	const value fc = result_of(TFL_INT16, 2, dim, 1.0f / 4096, 0),
		    ig = result_of(TFL_INT16, 2, dim, 1.0f / 32768, 0),
		    next = result_of(TFL_INT16, 2, dim, 1.0f / 4096, 0),
		    t = result_of(TFL_INT16, 2, dim, 1.0f / 32768, 0),
		    th = result_of(TFL_INT16, 2, dim, 1.0f / 32768, 0),
		    out = result(2, dim, like_h.scale, 0);
	(void)two(QN_TFL_MUL, 21, &wide[1], &c, &fc, 0);
	(void)two(QN_TFL_MUL, 21, &wide[0], &wide[2], &ig, 0);
	(void)two(QN_TFL_ADD, 11, &fc, &ig, &next, 0);
	assign(vc, &next);
	(void)one(QN_TFL_TANH, 0, &next, &t);
	(void)two(QN_TFL_MUL, 21, &t, &wide[3], &th, 0);
	(void)one(QN_TFL_QUANTIZE, 89, &th, &out);
	assign(vh, &out);
	return head(&out);
}

/* Weights of a gate, one scale and no zero point. */
static int
gate_weights(int rows, int columns, float scale)
{
	int8_t *w = store((size_t)(rows * columns));

	for (int i = 0; i < rows * columns; i++)
		w[i] = (int8_t)whole(-127, 127);
	return tfl_codes(net.t, next_name(), TFL_INT8, DIMS(rows, columns), scale, 0, w,
			 rows * columns);
}

/* LSTM, and UNIDIRECTIONAL_SEQUENCE_LSTM of one step: their states are variables of the file. */
static value
kept_lstm(const value *x, int code)
{
	enum { CELLS = 5 };
	const int single = code == QN_TFL_LSTM;
	const int32_t dim[3] = {1, single ? CELLS : 1, CELLS}, flat_dim[2] = {1, CELLS};
	int32_t in[20];

	for (int i = 0; i < 20; i++)
		in[i] = -1;
	in[0] = x->id;
	for (int g = 0; g < 4; g++) {
		const float ws = (float)between(0.01, 0.03);
		int32_t *b = store(4 * CELLS);

		for (int i = 0; i < CELLS; i++)
			b[i] = whole(-2000, 2000);
		in[1 + g] = gate_weights(CELLS, x->dim[x->rank - 1], ws);
		in[5 + g] = gate_weights(CELLS, CELLS, (float)between(0.01, 0.03));
		in[12 + g] = tfl_codes(net.t, next_name(), TFL_INT32, DIMS(CELLS), x->scale * ws, 0,
				       b, 4 * CELLS);
	}
	in[18] = tfl_codes(net.t, next_name(), TFL_INT8, DIMS(1, CELLS), 1.0f / 128, 0, NULL, 0);
	in[19] = tfl_codes(net.t, next_name(), TFL_INT16, DIMS(1, CELLS), 1.0f / 2048, 0, NULL, 0);
	net.t->tensor[in[18]].is_variable = net.t->tensor[in[19]].is_variable = 1;
	const value y = single ? result(2, flat_dim, 1.0f / 128, 0) : result(3, dim, 1.0f / 128, 0);
	tfl_op_of *o = op(code, single ? 14 : 71, 20, in, &y);
	tfl_with(o, 0, 'b', QN_TFL_ACT_TANH);
	tfl_with(o, 1, 'f', 6);
	return y;
}

static value
kept_lstms(const value *x)
{
	const int32_t dim[3] = {1, 1, x->dim[3]}, flat_dim[2] = {1, 5};
	const value r = like(x, 3, dim);

	(void)with_list(QN_TFL_RESHAPE, 17, x, 3, dim, &r);
	const value a = kept_lstm(&r, QN_TFL_UNIDIRECTIONAL_SEQUENCE_LSTM),
		    f = like(&a, 2, flat_dim);
	(void)with_list(QN_TFL_RESHAPE, 17, &a, 2, flat_dim, &f);
	const value b = kept_lstm(&f, QN_TFL_LSTM);
	return head(&b);
}

/* The first hops give 0: a counter of i32. */
static value
counter(const value *x)
{
	static const int32_t shape[1] = {1};
	const value c = {.type = TFL_INT32, .rank = 1}, f = flat(x), d = dense(&f, 4, 1),
		    y = head(&d);
	const int v = variable(&c, 1, shape, 1);
	const value old = read_variable(v, &c, 1, shape),
		    next = result_of(TFL_INT32, 1, shape, 0, 0),
		    late = result_of(TFL_BOOL, 1, shape, 0, 0), z = like(&y, 2, y.dim);
	const int step = integers(1, shape), most = integers(1, (const int32_t[]){7});
	uint8_t *zero = store(1);

	*zero = 0;
	tfl_with(op(QN_TFL_ADD, 11, 2, (int32_t[]){old.id, step}, &next), 0, 'b', 0);
	assign(v, &next);
	(void)op(QN_TFL_GREATER, 44, 2, (int32_t[]){next.id, most}, &late);
	const int none_yet =
		tfl_codes(net.t, next_name(), TFL_UINT8, DIMS(1, 1), y.scale, y.zp, zero, 1);
	(void)op(QN_TFL_SELECT_V2, 98, 3, (int32_t[]){late.id, y.id, none_yet}, &z);
	return z;
}

/* Two variables of one type get each other's value and x; one of them through two handles. */
static value
exchanged(const value *x)
{
	const int32_t *dim = x->dim;
	const int va = variable(x, 4, dim, 0), vb = variable(x, 4, dim, 0),
		  again = handle("state0");
	const value a = read_variable(va, x, 4, dim), b = read_variable(vb, x, 4, dim);
	const value sum = like(x, 4, dim);

	assign(again, &b);
	(void)two(QN_TFL_ADD, 11, &a, x, &sum, 0);
	assign(vb, &sum);
	const value late = read_variable(va, x, 4, dim), both = joined(&late, &sum, 3);
	return head(&both);
}

/* A branch that the data choose; its subgraphs follow those of CALL_ONCE. */
typedef struct inner {
	int in, out;
} inner;
static inner then_graph, else_graph, condition_graph, body_graph;
static int counted, next_count, limit_of, step_of, goes_on;

static value
gated(const value *x)
{
	const value a = ring(x, 1), f = flat(&a), d = dense(&f, 6, 0),
		    m = result(1, (const int32_t[]){1}, d.scale, d.zp);
	const value is = result_of(TFL_BOOL, 1, (const int32_t[]){1}, 0, 0), y = own(&d, d.dim);
	int8_t *level = store(1);

	*level = (int8_t)(d.zp + 30 > 127 ? 127 : d.zp + 30);
	tfl_with(op(QN_TFL_REDUCE_MAX, 27, 2, (int32_t[]){d.id, integers(1, (const int32_t[]){1})},
		    &m),
		 0, 'b', 0);
	const int c = tfl_codes(net.t, next_name(), TFL_INT8, DIMS(1), m.scale, m.zp, level, 1);
	(void)op(QN_TFL_GREATER, 44, 2, (int32_t[]){m.id, c}, &is);
	tfl_op_of *o = op(QN_TFL_IF, 92, 2, (int32_t[]){is.id, d.id}, &y);
	tfl_with(tfl_with(o, 0, 'i', 2), 1, 'i', 3);
	then_graph = (inner){like(&d, 2, d.dim).id, like(&y, 2, d.dim).id};
	else_graph = (inner){like(&d, 2, d.dim).id, like(&y, 2, d.dim).id};
	return head(&y);
}

/* h is halved and x added, three times in each run: a loop in a stream. */
static value
looped(const value *x)
{
	const value f = flat(x),
		    like_h = {.type = TFL_INT8, .rank = 2, .scale = f.scale, .zp = f.zp};
	const int v = variable(&like_h, 2, f.dim, 0);
	const value h = read_variable(v, &like_h, 2, f.dim), sum = like(&f, 2, f.dim),
		    y = like(&f, 2, f.dim);
	static const int32_t zero[1], one_of[1] = {1}, three[1] = {3};
	int32_t *start = store(4), *step = store(4), *limit = store(4);

	(void)two(QN_TFL_ADD, 11, &h, &f, &sum, 0);
	*start = zero[0], *step = one_of[0], *limit = three[0];
	const int t0 = tfl_tensor(net.t, next_name(), TFL_INT32, 0, NULL, start, 4);
	const int end = tfl_tensor(net.t, next_name(), TFL_INT32, 0, NULL, NULL, 0);
	tfl_op_of *o = tfl_op(net.t, QN_TFL_WHILE, INTS(t0, sum.id), INTS(end, y.id));
	o->options_type = 93;
	tfl_with(tfl_with(o, 0, 'i', 2), 1, 'i', 3);
	step_of = tfl_tensor(net.t, next_name(), TFL_INT32, 0, NULL, step, 4);
	limit_of = tfl_tensor(net.t, next_name(), TFL_INT32, 0, NULL, limit, 4);
	counted = tfl_tensor(net.t, next_name(), TFL_INT32, 0, NULL, NULL, 0);
	next_count = tfl_tensor(net.t, next_name(), TFL_INT32, 0, NULL, NULL, 0);
	goes_on = tfl_tensor(net.t, next_name(), TFL_BOOL, 0, NULL, NULL, 0);
	body_graph = (inner){like(&f, 2, f.dim).id, like(&f, 2, f.dim).id};
	condition_graph.in = body_graph.in;
	assign(v, &y);
	return head(&y);
}

#endif
