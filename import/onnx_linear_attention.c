/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_linear_attention.c - LinearAttention: a matrix S [B, H, dk, dv] that is carried from step to step, written out.
 *
 *   S *= exp(g)                    gated, gated_delta: decay g of a head, or of each of its dk rows
 *   v  = beta * (v - k^T S)        delta, gated_delta: what S holds for this key goes out (erase gate: k times the gate)
 *   S += k v^T
 *   y  = scale * q^T S             several heads of q share one S */
#include "import/onnx.h"

#include <math.h>
#include <string.h>

typedef struct linear {
	qn_onnx *o;
	int64_t batch, steps, heads, group, dk, dv; /* group: heads of q for each of the others */
	qn_id q, k, v; /* [B, T, heads, group, dk], [B, T, heads, dk, 1], [B, T, heads, 1, dv] */
	qn_id keep;    /* exp of decay [B, T, heads, dk or 1, 1]; 0: all is kept */
	qn_id beta;    /* [B, T, heads or 1, 1, 1]; 0: no delta rule */
	qn_id erase;   /* k as it erases [B, T, heads, 1, dk] */
} linear;

static qn_id
refuse(linear *l, const char *what)
{
	return qn_importer_refuse(&l->o->im, "import.input", "%s", what);
}

/* x [B, T, heads * each] as [B, T, heads, a, b] with a * b = each; 0 after a report. */
static qn_id
split(linear *l, qn_id x, int64_t heads, int64_t a, int64_t b, const char *what)
{
	const int64_t dim[] = {l->batch, l->steps, heads, a, b};
	const qn_type *t = qn_onnx_type(l->o, x);

	if (t->rank != 3 || t->dim[0] != l->batch || t->dim[1] != l->steps ||
	    t->dim[2] != heads * a * b)
		return refuse(l, what);
	return qn_importer_reshape(&l->o->im, x, 5, dim);
}

/* Step t of [B, T, …] as [B, …]. */
static qn_id
at(linear *l, qn_id x, int64_t t)
{
	return x == 0 ? 0
		      : qn_importer_drop_dim(&l->o->im,
					     qn_importer_slice(&l->o->im, x, 1, t, t + 1), 1);
}

static qn_id
binary(linear *l, qn_op op, qn_id a, qn_id b)
{
	return qn_importer_binary(&l->o->im, op, a, b);
}

/* ---- inputs ---- */

/* Decay of a head, or of each row. */
static qn_id
decay_of(linear *l, qn_id g)
{
	const qn_type *t = qn_onnx_type(l->o, g);
	const bool rows = t->rank == 3 && t->dim[2] == l->heads * l->dk && l->dk > 1;
	const qn_id x = split(l, g, l->heads, rows ? l->dk : 1, 1,
			      "decay must be [B, T, kv_num_heads] or [B, T, kv_num_heads * dk]");

	return qn_importer_unary(&l->o->im, QN_OP_exp, x);
}

static qn_id
beta_of(linear *l, qn_id b)
{
	const qn_type *t = qn_onnx_type(l->o, b);
	const int64_t heads = t->rank == 3 && t->dim[2] == 1 ? 1 : l->heads;

	return split(l, b, heads, 1, 1, "beta must be [B, T, kv_num_heads] or [B, T, 1]");
}

/* Heads and sizes; false after a report. */
static bool
open_sizes(linear *l, const qn_onnx_node *n)
{
	qn_onnx *o = l->o;
	const int64_t q_heads = qn_onnx_int(o, n, "q_num_heads", 0);
	const qn_type *q = qn_onnx_type(o, n->in[0]), *v = qn_onnx_type(o, n->in[2]);

	l->heads = qn_onnx_int(o, n, "kv_num_heads", 0);
	if (l->heads < 1 || q_heads < 1 || q_heads % l->heads != 0 || q->rank != 3 ||
	    v->rank != 3 || q->dim[2] < q_heads || q->dim[2] % q_heads != 0 ||
	    v->dim[2] < l->heads || v->dim[2] % l->heads != 0 || q->dim[0] < 1 || q->dim[1] < 1)
		return refuse(l, "query, key and value must be [B, T, heads * size], q_num_heads "
				 "a multiple of kv_num_heads") != 0;
	l->batch = q->dim[0];
	l->steps = q->dim[1];
	l->group = q_heads / l->heads;
	l->dk = q->dim[2] / q_heads;
	l->dv = v->dim[2] / l->heads;
	return true;
}

/* What the update rule takes, and no more; false after a report. */
static bool
open_rule(linear *l, const qn_onnx_node *n)
{
	static const char *const rules[] = {"linear", "gated", "delta", "gated_delta"};
	const qn_id decay = qn_onnx_in(n, 4), beta = qn_onnx_in(n, 5), gate = qn_onnx_in(n, 6);
	const int32_t rule =
		qn_onnx_choice(l->o, n, "update_rule", "gated_delta", QN_COUNT(rules), rules);
	const bool gated = rule == 1 || rule == 3, delta = rule >= 2;

	if (rule < 0)
		return false;
	if (gated != (decay != 0) || delta != (beta != 0) || (gate != 0 && !delta))
		return refuse(l, "decay belongs to the rules gated and gated_delta, beta and the "
				 "erase gate to delta and gated_delta") != 0;
	if (gated && (l->keep = decay_of(l, decay)) == 0)
		return false;
	if (delta && (l->beta = beta_of(l, beta)) == 0)
		return false;
	l->erase =
		delta ? split(l, n->in[1], l->heads, 1, l->dk, "the sizes of key do not match") : 0;
	if (gate != 0)
		l->erase = binary(l, QN_OP_mul, l->erase,
				  split(l, gate, l->heads, 1, l->dk,
					"the erase gate must be [B, T, kv_num_heads * dk]"));
	return !delta || l->erase != 0;
}

static bool
open_values(linear *l, const qn_onnx_node *n)
{
	double scale = qn_onnx_float(l->o, n, "scale", 0);

	if (scale == 0)
		scale = 1 / sqrt((double)l->dk);
	l->q = split(l, n->in[0], l->heads, l->group, l->dk, "the sizes of query do not match");
	l->k = split(l, n->in[1], l->heads, l->dk, 1, "key must be [B, T, kv_num_heads * dk]");
	l->v = split(l, n->in[2], l->heads, 1, l->dv, "value must be [B, T, kv_num_heads * dv]");
	l->q = l->q != 0 ? binary(l, QN_OP_mul, l->q, qn_importer_f32(&l->o->im, scale)) : 0;
	return l->q != 0 && l->k != 0 && l->v != 0;
}

/* The state before the first step, 0: zeros; false after a report. */
static bool
open_state(linear *l, qn_id past)
{
	const int64_t dim[] = {l->batch, l->heads, l->dk, l->dv};
	const qn_type *t = past != 0 ? qn_onnx_type(l->o, past) : NULL;

	return t == NULL || (t->rank == 4 && memcmp(t->dim, dim, sizeof dim) == 0) ||
	       refuse(l, "the past state must be [B, kv_num_heads, dk, dv]") != 0;
}

/* ---- steps ---- */

/* The state after step t of one before it, which is 0 where that is zero. */
static qn_id
next(linear *l, qn_id state, int64_t t)
{
	qn_id v = at(l, l->v, t), k = at(l, l->k, t);

	if (l->keep != 0 && state != 0)
		state = binary(l, QN_OP_mul, state, at(l, l->keep, t));
	if (l->beta != 0 && state != 0)
		v = binary(l, QN_OP_sub, v, binary(l, QN_OP_matmul, at(l, l->erase, t), state));
	if (l->beta != 0)
		v = binary(l, QN_OP_mul, v, at(l, l->beta, t));
	const qn_id write = binary(l, QN_OP_mul, k, v);
	return state != 0 ? binary(l, QN_OP_add, state, write) : write;
}

static void
linear_attention(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	linear l = {.o = o};

	if (!qn_onnx_need(o, n, 3))
		return;
	if (qn_onnx_int(o, n, "state_window", 0) != 0) {
		(void)qn_importer_refuse(&o->im, "import.attr", "a window of states");
		return;
	}
	qn_id state = qn_onnx_in(n, 3);
	if (!open_sizes(&l, n) || !open_rule(&l, n) || !open_values(&l, n) ||
	    !open_state(&l, state) || !qn_importer_take(&o->im, (uint64_t)l.steps * sizeof(qn_id)))
		return;
	const int64_t dim[] = {l.batch, 1, l.heads * l.group * l.dv};
	qn_id *y = QN_NEW(o->im.scratch, qn_id, (size_t)l.steps);
	for (int64_t t = 0; t < l.steps; t++) {
		if (!qn_importer_step(&o->im) || (state = next(&l, state, t)) == 0)
			return;
		y[t] = qn_importer_reshape(&o->im, binary(&l, QN_OP_matmul, at(&l, l.q, t), state),
					   3, dim);
		if (y[t] == 0)
			return;
	}
	out[0] = qn_importer_join(&o->im, l.steps, y, 1);
	if (n->nout > 1)
		out[1] = state;
}

const qn_onnx_row qn_onnx_linear_attentions[] = {
	QN_ONNX_READ("", "LinearAttention", 27, linear_attention, 0),
	QN_ONNX_READ("com.microsoft", "LinearAttention", 1, linear_attention, 0),
	{0},
};
