/* SPDX-License-Identifier: Apache-2.0 */
/* net_recurrent.c - recurrent networks of real numbers, as PyTorch and Keras exporters write them:
 *
 *   Reshape -> LSTM, GRU or RNN -> Transpose, Reshape -> (another one) -> MatMul -> Add
 *
 * with one direction or both, peepholes, clip, coupled gates, first values and lengths of sequences. */
#include "tests/networks/net.h"

enum { MOST_STEPS = 9, MOST_HIDDEN = 8, MOST_GATES = 4, MOST_BATCH = 2 };

typedef struct kind {
	const char *op;
	int gates;
} kind;
static const kind kinds[] = {{"LSTM", 4}, {"GRU", 3}, {"RNN", 1}};

/* One node; dirs: 1 or 2. */
typedef struct recurrent {
	const kind *kind;
	int64_t steps, batch, features, hidden, dirs;
	bool backward, lbr, coupled;
	double clip; /* 0: none */
	const net_val *x, *w, *r, *b, *lens, *h0, *c0, *p;
	net_val *y, *yh, *yc;
} recurrent;

/* ---- what it computes ---- */

static double
limited(const recurrent *l, double v)
{
	return l->clip > 0 && v > l->clip ? l->clip : l->clip > 0 && v < -l->clip ? -l->clip : v;
}

static double
sigmoid(const recurrent *l, double v)
{
	return net_sigmoid(limited(l, v), 0);
}

static double
tangent(const recurrent *l, double v)
{
	return net_tanh(limited(l, v), 0);
}

/* Row `row` of matrix m, of direction d, times v. */
static double
dot(const net_val *m, int64_t d, int64_t row, const double *v)
{
	const int64_t rows = m->dim[1], n = m->dim[2];
	double sum = 0;

	for (int64_t k = 0; k < n; k++)
		sum += m->lo[(d * rows + row) * n + k] * v[k];
	return sum;
}

/* The bias of row `row` of W's part (0) or R's (1). */
static double
bias(const recurrent *l, int64_t d, int64_t row, int part)
{
	const int64_t rows = l->kind->gates * l->hidden;

	return l->b == NULL ? 0 : l->b->lo[(2 * d + part) * rows + row];
}

static double
input_part(const recurrent *l, int64_t d, int64_t row, const double *x)
{
	return dot(l->w, d, row, x) + bias(l, d, row, 0);
}

static double
state_part(const recurrent *l, int64_t d, int64_t row, const double *h)
{
	return dot(l->r, d, row, h) + bias(l, d, row, 1);
}

static double
peephole(const recurrent *l, int64_t d, int gate, int64_t k)
{
	return l->p == NULL ? 0 : l->p->lo[(3 * d + gate) * l->hidden + k];
}

/* Gates i, o, f, c; peepholes i, o, f. */
static void
step_lstm(const recurrent *l, int64_t d, const double *x, double *h, double *c)
{
	const int64_t n = l->hidden;
	double next[MOST_HIDDEN];

	for (int64_t k = 0; k < n; k++) {
		double v[MOST_GATES];

		for (int g = 0; g < 4; g++)
			v[g] = input_part(l, d, g * n + k, x) + state_part(l, d, g * n + k, h);
		const double i = sigmoid(l, v[0] + peephole(l, d, 0, k) * c[k]);
		const double f =
			l->coupled ? 1 - i : sigmoid(l, v[2] + peephole(l, d, 2, k) * c[k]);

		c[k] = f * c[k] + i * tangent(l, v[3]);
		next[k] = sigmoid(l, v[1] + peephole(l, d, 1, k) * c[k]) * net_tanh(c[k], 0);
	}
	memcpy(h, next, (size_t)n * sizeof *h);
}

/* Gates z, r, h. */
static void
step_gru(const recurrent *l, int64_t d, const double *x, double *h)
{
	const int64_t n = l->hidden;
	double z[MOST_HIDDEN], r[MOST_HIDDEN], reset[MOST_HIDDEN], next[MOST_HIDDEN];

	for (int64_t k = 0; k < n; k++) {
		z[k] = sigmoid(l, input_part(l, d, k, x) + state_part(l, d, k, h));
		r[k] = sigmoid(l, input_part(l, d, n + k, x) + state_part(l, d, n + k, h));
		reset[k] = r[k] * h[k];
	}
	for (int64_t k = 0; k < n; k++) {
		const int64_t row = 2 * n + k;
		const double past =
			l->lbr ? r[k] * state_part(l, d, row, h) : state_part(l, d, row, reset);
		const double g = tangent(l, input_part(l, d, row, x) + past);

		next[k] = (1 - z[k]) * g + z[k] * h[k];
	}
	memcpy(h, next, (size_t)n * sizeof *h);
}

static void
step_rnn(const recurrent *l, int64_t d, const double *x, double *h)
{
	double next[MOST_HIDDEN];

	for (int64_t k = 0; k < l->hidden; k++)
		next[k] = tangent(l, input_part(l, d, k, x) + state_part(l, d, k, h));
	memcpy(h, next, (size_t)l->hidden * sizeof *h);
}

static void
first_value(const recurrent *l, const net_val *from, int64_t d, int64_t b, double *to)
{
	for (int64_t k = 0; k < l->hidden; k++)
		to[k] = from != NULL ? from->lo[(d * l->batch + b) * l->hidden + k] : 0;
}

static void
put(net_val *y, int s, int64_t at, int64_t n, const double *v)
{
	for (int64_t k = 0; y != NULL && k < n; k++)
		y->lo[s * y->count + at + k] = y->hi[s * y->count + at + k] = v[k];
}

/* Sequence b of sample s in direction d: beyond its length y stays 0. */
static void
run(const recurrent *l, int s, int64_t d, int64_t b)
{
	const int64_t length = l->lens != NULL ? (int64_t)l->lens->lo[b] : l->steps;
	const bool back = d == 1 || l->backward;
	double h[MOST_HIDDEN], c[MOST_HIDDEN];

	first_value(l, l->h0, d, b, h);
	first_value(l, l->c0, d, b, c);
	for (int64_t i = 0; i < length; i++) {
		const int64_t t = back ? length - 1 - i : i;
		const double *x = &l->x->lo[s * l->x->count + (t * l->batch + b) * l->features];

		if (l->kind->gates == 4)
			step_lstm(l, d, x, h, c);
		else if (l->kind->gates == 3)
			step_gru(l, d, x, h);
		else
			step_rnn(l, d, x, h);
		put(l->y, s, ((t * l->dirs + d) * l->batch + b) * l->hidden, l->hidden, h);
	}
	put(l->yh, s, (d * l->batch + b) * l->hidden, l->hidden, h);
	put(l->yc, s, (d * l->batch + b) * l->hidden, l->hidden, c);
}

/* ---- the node ---- */

static net_val *
constant(net *n, int rank, const int64_t *dim, double reach)
{
	double v[2 * MOST_GATES * MOST_HIDDEN * 200];
	int64_t count = 1;

	for (int i = 0; i < rank; i++)
		count *= dim[i];
	for (int64_t i = 0; i < count; i++)
		v[i] = net_real(n, -reach, reach);
	return net_const(n, ONX_FLOAT, rank, dim, v);
}

static net_val *
lengths(net *n, const recurrent *l)
{
	double v[MOST_BATCH];

	for (int64_t b = 0; b < l->batch; b++)
		v[b] = (double)net_draw(n, 1, l->steps);
	v[net_draw(n, 0, l->batch - 1)] = (double)l->steps;
	return net_const(n, ONX_INT32, 1, &l->batch, v);
}

static void
draw_operands(net *n, recurrent *l, net_val **in)
{
	const int64_t rows = l->kind->gates * l->hidden;
	const int64_t state[3] = {l->dirs, l->batch, l->hidden};
	const double reach = l->features > 12 ? 0.35 : 0.7;

	l->w = in[1] = constant(n, 3, (int64_t[]){l->dirs, rows, l->features}, reach);
	l->r = in[2] = constant(n, 3, (int64_t[]){l->dirs, rows, l->hidden}, 0.6);
	if (net_chance(n, 80))
		l->b = in[3] = constant(n, 2, (int64_t[]){l->dirs, 2 * rows}, 0.5);
	if (net_chance(n, 20))
		l->lens = in[4] = lengths(n, l);
	if (net_chance(n, 30))
		l->h0 = in[5] = constant(n, 3, state, 0.8);
	if (l->kind->gates == 4 && net_chance(n, 30))
		l->c0 = in[6] = constant(n, 3, state, 0.8);
	if (l->kind->gates == 4 && net_chance(n, 25))
		l->p = in[7] = constant(n, 2, (int64_t[]){l->dirs, 3 * l->hidden}, 0.5);
}

static void
draw_attributes(net *n, recurrent *l)
{
	onx_int(&n->file, "hidden_size", l->hidden);
	if (l->dirs == 2 || l->backward)
		onx_string(&n->file, "direction", l->dirs == 2 ? "bidirectional" : "reverse");
	if (net_chance(n, 20)) {
		l->clip = net_real(n, 0.5, 2);
		onx_real(&n->file, "clip", (float)l->clip);
	}
	if (l->kind->gates == 3 && net_chance(n, 50)) {
		l->lbr = true;
		onx_int(&n->file, "linear_before_reset", 1);
	}
	if (l->kind->gates == 4 && net_chance(n, 15)) {
		l->coupled = true;
		onx_int(&n->file, "input_forget", 1);
	}
}

/* x: [steps, batch, features].  The result: the values of all steps, again so, or of the last one as rows. */
static net_val *
recurrent_node(net *n, net_val *x, bool whole)
{
	recurrent l = {.kind = &kinds[net_draw(n, 0, 2)],
		       .steps = x->dim[0],
		       .batch = x->dim[1],
		       .features = x->dim[2],
		       .hidden = net_draw(n, 2, MOST_HIDDEN),
		       .dirs = net_chance(n, 30) ? 2 : 1,
		       .x = x};
	net_val *in[8] = {x};

	l.backward = l.dirs == 1 && net_chance(n, 20);
	draw_operands(n, &l, in);
	draw_attributes(n, &l);
	l.y = net_new(n, ONX_FLOAT, 4, (int64_t[]){l.steps, l.dirs, l.batch, l.hidden});
	l.yh = net_new(n, ONX_FLOAT, 3, (int64_t[]){l.dirs, l.batch, l.hidden});
	if (l.kind->gates == 4)
		l.yc = net_new(n, ONX_FLOAT, 3, (int64_t[]){l.dirs, l.batch, l.hidden});
	for (int s = 0; s < NET_SAMPLES; s++)
		for (int64_t d = 0; d < l.dirs; d++)
			for (int64_t b = 0; b < l.batch; b++)
				run(&l, s, d, b);
	net_node(n, l.kind->op, 8, in, l.yc != NULL ? 3 : 2, (net_val *[]){l.y, l.yh, l.yc});
	if (net_chance(n, 25))
		net_give(n, l.yh);
	if (l.yc != NULL && net_chance(n, 15))
		net_give(n, l.yc);
	net_val *y =
		net_transposed(n, whole ? l.y : l.yh,
			       whole ? (const int64_t[]){0, 2, 1, 3} : (const int64_t[]){1, 0, 2});
	if (whole)
		return net_reshaped(n, y, 3, (int64_t[]){l.steps, l.batch, l.dirs * l.hidden});
	return net_reshaped(n, y, 2, (int64_t[]){l.batch, l.dirs * l.hidden});
}

/* ---- the network ---- */

/* Its elements as a sequence. */
static net_val *
sequence(net *n, net_val *x)
{
	int64_t steps = net_draw(n, 2, MOST_STEPS), batch = net_draw(n, 1, MOST_BATCH);

	while (x->count % steps != 0 || x->count / steps > 60)
		steps = steps % MOST_STEPS + 1;
	if (x->count / steps % batch != 0)
		batch = 1;
	return net_reshaped(n, x, 3, (int64_t[]){steps, batch, x->count / steps / batch});
}

void
net_make_recurrent(net *n)
{
	const bool two = net_chance(n, 35), whole = net_chance(n, 50);
	net_val *x = sequence(n, n->input);

	n->apart = 0.15; /* 3 % at most in 97 networks of 100, 14 % at most in 20,000 */
	if (two)
		x = recurrent_node(n, x, true);
	x = recurrent_node(n, x, whole);
	if (net_chance(n, 60)) {
		const int64_t dim[2] = {x->dim[x->rank - 1], net_draw(n, 2, 6)};
		net_val *w = constant(n, 2, dim, 0.8), *y = net_matmul(n, x, w);

		net_node2(n, "MatMul", x, w, y);
		net_val *b = constant(n, 1, &dim[1], 0.5);
		x = net_binary(n, y, b, '+');
		net_node2(n, "Add", y, b, x);
	}
	net_give(n, x);
}
