/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_recurrent.c - RNN, GRU and LSTM, as a loop over the sequence, whose length is known.
 *
 *   x [S,B,I], w [D,G*H,I], r [D,G*H,H]      G gates: 1, 3 (z r h), 4 (i o f c);  D directions
 *   each step           a = x[t] w' + b + h r'      then the gates, h and c
 *
 * Sequences of different lengths are unrolled: after its end a sequence keeps its state, and its results are
 * 0.  There the products of x are made of all steps at once.
 *
 * The result consists of dense, add, mul and functions of one value, which quantize like any other. */
#include "import/onnx_recurrent.h"
#include "import/importer_steps.h"

#include <math.h>
#include <string.h>

typedef struct cell cell;

/* One step: from the projections [B,G*H] and the state to the new state. */
typedef bool step_fn(cell *c, qn_id p);

struct cell {
	qn_onnx *o;
	const qn_onnx_node *n;
	int64_t gates, steps, batch, in, hidden;
	int32_t direction, directions; /* that is unrolled now */
	bool layout;                   /* batch first */
	step_fn *step;
	double clip; /* of gates before their function; infinity: none */
	qn_id r, rb; /* [G*H,H], [G*H] or 0 */
	qn_id peep;  /* [3H] or 0 */
	qn_id h, c;  /* [B,H] */
	qn_lengths lengths;
};

/* ---- pieces ---- */

static qn_id
add(cell *c, qn_id a, qn_id b)
{
	return qn_importer_binary(&c->o->im, QN_OP_add, a, b);
}

static qn_id
mul(cell *c, qn_id a, qn_id b)
{
	return qn_importer_binary(&c->o->im, QN_OP_mul, a, b);
}

/* 1 - x. */
static qn_id
rest(cell *c, qn_id x)
{
	return qn_importer_binary(&c->o->im, QN_OP_sub, qn_importer_f32(&c->o->im, 1), x);
}

/* x w' + b; b may be 0. */
static qn_id
affine(cell *c, qn_id x, qn_id w, qn_id b)
{
	qn_importer *im = &c->o->im;
	qn_attrs a = qn_importer_attrs(QN_OP_matmul);

	if (x == 0 || w == 0)
		return 0;
	if (qn_importer_known(im, w) != NULL && (b == 0 || qn_importer_known(im, b) != NULL))
		return qn_importer_op(im, QN_OP_dense, b != 0 ? 3 : 2, (qn_id[]){x, w, b}, NULL,
				      NULL);
	a.matmul.transpose_b = 1;
	qn_id y = qn_importer_op(im, QN_OP_matmul, 2, (qn_id[]){x, w}, &a, NULL);
	return b != 0 ? add(c, y, b) : y;
}

/* Gate k of [B,G*H], or of a vector [G*H]. */
static qn_id
gate(cell *c, qn_id x, int64_t k)
{
	if (x == 0)
		return 0;
	int32_t axis = qn_importer_type(&c->o->im, x)->rank - 1;
	return qn_importer_slice(&c->o->im, x, axis, k * c->hidden, (k + 1) * c->hidden);
}

/* Gate k of two sums, added. */
static qn_id
gates(cell *c, qn_id x, qn_id y, int64_t k)
{
	const qn_id part = gate(c, y, k);

	return add(c, gate(c, x, k), part);
}

/* Function k of this direction (there are `each`), by its name in the file or the standard one. */
static qn_id
activate(cell *c, int32_t each, int32_t k, const char *standard, qn_id x)
{
	qn_attrs a = qn_importer_attrs(QN_OP_clip);

	if (isfinite(c->clip)) {
		a.clip.min = -c->clip;
		a.clip.max = c->clip;
		x = qn_importer_op(&c->o->im, QN_OP_clip, 1, &x, &a, NULL);
	}
	return qn_onnx_activation(c->o, c->n, (size_t)(c->direction * each + k), standard, x);
}

/* ---- cells ---- */

static bool
rnn_step(cell *c, qn_id p)
{
	qn_id a = add(c, p, affine(c, c->h, c->r, c->rb));

	c->h = activate(c, 1, 0, "Tanh", a);
	return c->h != 0;
}

/* z, r: sigmoid; h: tanh of the projection and of the state, which r multiplies before or after its product. */
static bool
gru_step(cell *c, qn_id p)
{
	bool behind = qn_onnx_int(c->o, c->n, "linear_before_reset", 0) != 0;
	qn_importer *im = &c->o->im;
	qn_id rzr = qn_importer_slice(im, c->r, 0, 0, 2 * c->hidden);
	qn_id bzr = c->rb != 0 ? qn_importer_slice(im, c->rb, 0, 0, 2 * c->hidden) : 0;
	qn_id rh = qn_importer_slice(im, c->r, 0, 2 * c->hidden, 3 * c->hidden);
	qn_id bh = gate(c, c->rb, 2);
	qn_id hr = affine(c, c->h, rzr, bzr);
	qn_id z = activate(c, 2, 0, "Sigmoid", gates(c, p, hr, 0));
	qn_id r = activate(c, 2, 0, "Sigmoid", gates(c, p, hr, 1));
	qn_id part =
		behind ? mul(c, r, affine(c, c->h, rh, bh)) : affine(c, mul(c, r, c->h), rh, bh);
	qn_id h = activate(c, 2, 1, "Tanh", add(c, gate(c, p, 2), part));

	qn_id old = mul(c, z, c->h);
	c->h = add(c, mul(c, rest(c, z), h), old);
	return c->h != 0;
}

/* x + peephole k * state, where there are peepholes. */
static qn_id
peep(cell *c, qn_id x, int64_t k, qn_id state)
{
	return c->peep != 0 ? add(c, x, mul(c, gate(c, c->peep, k), state)) : x;
}

static bool
lstm_step(cell *c, qn_id p)
{
	bool coupled = qn_onnx_int(c->o, c->n, "input_forget", 0) != 0;
	qn_id a = add(c, p, affine(c, c->h, c->r, c->rb));
	qn_id i = activate(c, 3, 0, "Sigmoid", peep(c, gate(c, a, 0), 0, c->c));
	qn_id f = coupled ? rest(c, i)
			  : activate(c, 3, 0, "Sigmoid", peep(c, gate(c, a, 2), 2, c->c));
	qn_id g = activate(c, 3, 1, "Tanh", gate(c, a, 3));

	qn_id new = mul(c, i, g);
	c->c = add(c, mul(c, f, c->c), new);
	qn_id out = activate(c, 3, 0, "Sigmoid", peep(c, gate(c, a, 1), 1, c->c));
	double clip = c->clip;
	c->clip = HUGE_VAL; /* it limits what gates get, not the state */
	c->h = mul(c, out, activate(c, 3, 2, "Tanh", c->c));
	c->clip = clip;
	return c->h != 0;
}

/* ---- one direction ---- */

/* Input i [D,…] of this direction, without its first axis; 0: left out. */
static qn_id
of_direction(cell *c, uint32_t i, int32_t axis)
{
	qn_id x = qn_onnx_in(c->n, i);

	if (x == 0)
		return 0;
	x = qn_importer_slice(&c->o->im, x, axis, c->direction, c->direction + 1);
	return qn_importer_drop_dim(&c->o->im, x, axis);
}

static qn_id
initial(cell *c, uint32_t i)
{
	int64_t dim[] = {c->batch, c->hidden};

	if (qn_onnx_in(c->n, i) != 0)
		return of_direction(c, i, c->layout ? 1 : 0);
	void *data;
	const qn_type *type = qn_type_plain(&c->o->im.m->types, QN_PLAIN_f32, 2, dim);
	if (!qn_importer_take_type(&c->o->im, type))
		return 0;
	return qn_importer_const(&c->o->im, NULL, qn_tensor_new(c->o->im.m->arena, type, &data));
}

/* Step i, whose result is y [1,1,B,H]; false after a report. */
static bool
advance(cell *c, int64_t i, qn_id p, qn_id *y)
{
	qn_id h = c->h, s = c->c;

	if (!c->step(c, p))
		return false;
	*y = qn_onnx_going(c->o, &c->lengths, i, c->h, qn_importer_f32(&c->o->im, 0));
	c->h = qn_onnx_going(c->o, &c->lengths, i, c->h, h);
	c->c = qn_onnx_going(c->o, &c->lengths, i, c->c, s);
	*y = qn_importer_reshape(&c->o->im, *y, 4, (int64_t[]){1, 1, c->batch, c->hidden});
	return *y != 0;
}

/* What is the same in all steps. */
static void
read_direction(cell *c, qn_id *w, qn_id *b)
{
	qn_importer *im = &c->o->im;
	const int64_t wide = c->gates * c->hidden;
	const qn_id both = of_direction(c, 3, 0);

	*w = of_direction(c, 1, 0);
	*b = both != 0 ? qn_importer_slice(im, both, 0, 0, wide) : 0;
	c->r = of_direction(c, 2, 0);
	c->rb = both != 0 ? qn_importer_slice(im, both, 0, wide, 2 * wide) : 0;
	c->h = initial(c, 5);
	c->c = c->gates == 4 ? initial(c, 6) : 0;
	c->peep = c->gates == 4 ? of_direction(c, 7, 0) : 0;
}

/* x [S,B,I] through one direction: the states of all steps [S,1,B,H] in the order of time, c->h and c->c the
 * last ones; 0 after a report. */
static qn_id
repeat(cell *c, qn_id x, bool backwards)
{
	qn_importer *im = &c->o->im;
	qn_importer_steps s;
	qn_id w, b;

	read_direction(c, &w, &b);
	if (c->h == 0 || (c->gates == 4 && c->c == 0))
		return 0;
	qn_importer_steps_begin(im, c->steps, &s);
	c->h = qn_importer_steps_carry(&s, c->h);
	c->c = c->gates == 4 ? qn_importer_steps_carry(&s, c->c) : 0;
	const qn_id p = affine(c, qn_importer_steps_slice(&s, x, 0, backwards), w, b);
	if (p == 0 || !c->step(c, p))
		return 0;
	const qn_id next[] = {c->h, c->c};
	if (!qn_importer_steps_end(&s, c->gates == 4 ? 2 : 1, next))
		return 0;
	const qn_id all = qn_importer_steps_stack(&s, c->h, 0, backwards);
	c->h = qn_importer_steps_last(&s, c->h);
	c->c = c->gates == 4 ? qn_importer_steps_last(&s, c->c) : 0;
	return qn_importer_expand_dim(im, all, 1);
}

/* The same, step by step, of sequences of different lengths. */
static qn_id
unroll(cell *c, qn_id x, bool backwards)
{
	qn_importer *im = &c->o->im;
	qn_id *y = QN_NEW(im->scratch, qn_id, (size_t)c->steps), w, b;

	read_direction(c, &w, &b);
	qn_id p = qn_importer_reshape(im, x, 2, (int64_t[]){c->steps * c->batch, c->in});
	p = affine(c, p, w, b);
	if (backwards)
		p = qn_onnx_turned(c->o, &c->lengths, p);
	for (int64_t i = 0; i < c->steps; i++) {
		qn_id now =
			p != 0 ? qn_importer_slice(im, p, 0, i * c->batch, (i + 1) * c->batch) : 0;
		if (!advance(c, i, now, &y[i]))
			return 0;
	}
	qn_id all = qn_importer_join(im, c->steps, y, 0);
	if (!backwards)
		return all;
	all = qn_importer_reshape(im, all, 2, (int64_t[]){c->steps * c->batch, c->hidden});
	return qn_importer_reshape(im, qn_onnx_turned(c->o, &c->lengths, all), 4,
				   (int64_t[]){c->steps, 1, c->batch, c->hidden});
}

/* ---- the node ---- */

/* Shapes as the standard has them; false after a report. */
static bool
read_shapes(cell *c, qn_id x)
{
	qn_importer *im = &c->o->im;
	const qn_onnx_node *n = c->n;
	const qn_type *t = qn_importer_type(im, x);
	const qn_type *w = qn_onnx_type(c->o, n->in[1]), *r = qn_onnx_type(c->o, n->in[2]);

	if (t->rank != 3 || w->rank != 3 || r->rank != 3 || r->dim[2] < 1 || t->dim[0] < 1 ||
	    w->dim[0] != c->directions || r->dim[0] != c->directions ||
	    w->dim[1] != c->gates * r->dim[2] || r->dim[1] != w->dim[1] || w->dim[2] != t->dim[2]) {
		(void)qn_importer_refuse(im, "import.input",
					 "the shapes of x, w and r do not match");
		return false;
	}
	c->steps = t->dim[0];
	c->batch = t->dim[1];
	c->in = t->dim[2];
	c->hidden = r->dim[2];
	if ((uint64_t)c->steps > qn_importer_most(im, 1 << 16)) {
		(void)qn_importer_refuse(im, "import.size",
					 "a sequence of %lld steps is too long%s",
					 (long long)c->steps, qn_importer_more(im));
		return false;
	}
	c->lengths = (qn_lengths){.steps = c->steps, .batch = c->batch};
	return qn_onnx_in(n, 4) == 0 || qn_onnx_lengths(c->o, n, 4, &c->lengths);
}

/* A last state [1,B,H] of each direction, joined; batch first where the layout says so. */
static qn_id
last_state(cell *c, qn_id *h)
{
	const int64_t perm[] = {1, 0, 2};
	qn_id y = qn_importer_join(&c->o->im, c->directions, h, 0);

	return c->layout ? qn_importer_transpose(&c->o->im, y, perm) : y;
}

static void
recurrent(qn_onnx *o, const qn_onnx_node *n, cell *c, qn_id *out)
{
	const int64_t swap[] = {1, 0, 2}, first[] = {2, 0, 1, 3};
	const char *direction = qn_onnx_string(o, n, "direction", "forward");
	bool both = strcmp(direction, "bidirectional") == 0;
	qn_id y[2] = {0}, h[2] = {0}, s[2] = {0};

	c->o = o;
	c->n = n;
	c->layout = qn_onnx_int(o, n, "layout", 0) != 0;
	c->clip = qn_onnx_float(o, n, "clip", HUGE_VAL);
	c->directions = both ? 2 : 1;
	if (!qn_onnx_need(o, n, 3))
		return;
	qn_id x = n->in[0];
	if (c->layout && qn_onnx_type(o, x)->rank == 3)
		x = qn_importer_transpose(&o->im, x, swap);
	if (x == 0 || !read_shapes(c, x))
		return;
	for (c->direction = 0; c->direction < c->directions; c->direction++) {
		int32_t d = c->direction;
		const bool backwards = d == 1 || strcmp(direction, "reverse") == 0;

		y[d] = c->lengths.of != NULL ? unroll(c, x, backwards) : repeat(c, x, backwards);
		h[d] = qn_importer_expand_dim(&o->im, c->h, 0);
		s[d] = c->c != 0 ? qn_importer_expand_dim(&o->im, c->c, 0) : 0;
		if (y[d] == 0)
			return;
	}
	qn_id all = qn_importer_join(&c->o->im, c->directions, y, 1);
	if (c->layout)
		all = qn_importer_transpose(&o->im, all, first);
	qn_id results[] = {all, n->nout > 1 ? last_state(c, h) : 0,
			   n->nout > 2 && c->gates == 4 ? last_state(c, s) : 0};
	for (uint32_t i = 0; i < n->nout && i < 3; i++)
		out[i] = results[i];
}

static void
rnn(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	cell c = {.gates = 1, .step = rnn_step};

	recurrent(o, n, &c, out);
}

static void
gru(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	cell c = {.gates = 3, .step = gru_step};

	recurrent(o, n, &c, out);
}

static void
lstm(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	cell c = {.gates = 4, .step = lstm_step};

	recurrent(o, n, &c, out);
}

const qn_onnx_row qn_onnx_recurrent[] = {
	QN_ONNX_READ("", "RNN", 7, rnn, 0),
	QN_ONNX_READ("", "GRU", 7, gru, 0),
	QN_ONNX_READ("", "LSTM", 7, lstm, 0),
	{0},
};
