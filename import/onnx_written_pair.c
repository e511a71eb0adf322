/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_written_pair.c - quantization that a file has written out in float, as training with learned steps (LSQ, PACT,
 * DoReFa) exports it.
 *
 *   Mul(Round(Clip(Div(x, s), 0, 15)), s)                      dequantize(quantize x), <u8<0:15>:f32, s>
 *   Mul(Clip(Round(Mul(x, 1/s)), -8, 7), s)                    <i8<-8:7>:f32, s>
 *   Mul(Sub(Clip(Add(Round(Div(x, s)), z), 0, 255), z), s)     <u8:f32, s:z>
 *
 * The last operator, which restores the scale, stands for all of them.  Numbers are constants, one for all elements.
 * Weights were folded: they are exact in the scale that requantize finds for them.  With from_float the operators
 * stay, and so they do where a file has one Round alone, which is the network's. */
#include "import/onnx_quant.h"

#include <math.h>
#include <onnx/onnx.pb-c.h>
#include <string.h>

enum { MOST_STEPS = 8 }; /* on one side of the Round */

/* A node of one float operand, or of one and a constant number. */
typedef struct step {
	qn_op op;
	qn_id x;
	double k; /* of mul, div, add, sub */
} step;

/* round(rate * x) limited to lo..hi, times scale, plus offset: lo and hi are among the rounded numbers. */
typedef struct rounding {
	double scale, offset, rate, lo, hi;
} rounding;

static bool
is_number(const qn_onnx *o, qn_id id, double *k)
{
	const qn_tensor *v = qn_importer_known(&o->im, id);

	if (v == NULL || qn_type_count(v->type) != 1 || !qn_type_is_f32(v->type))
		return false;
	*k = qn_tensor_f64(v, 0);
	return isfinite(*k);
}

/* The node as a step; its attributes hold the limits of a clip. */
static bool
step_of(const qn_onnx *o, const qn_node *n, step *s)
{
	*s = (step){.op = n->op, .x = n->nin > 0 ? n->in[0] : 0};
	if (n->op == QN_OP_clip)
		return true;
	if (n->nin != 2 ||
	    (n->op != QN_OP_mul && n->op != QN_OP_div && n->op != QN_OP_add && n->op != QN_OP_sub))
		return false;
	if (is_number(o, n->in[1], &s->k))
		return s->k > 0 || n->op == QN_OP_add || n->op == QN_OP_sub;
	s->x = n->in[1];
	return (n->op == QN_OP_mul || n->op == QN_OP_add) && is_number(o, n->in[0], &s->k) &&
	       (s->k > 0 || n->op == QN_OP_add);
}

/* v rounded, where it is an integer but for the rounding of the file's numbers. */
static bool
is_whole(double v, double *whole)
{
	*whole = rint(v);
	return fabs(v - *whole) < 1e-3;
}

/* Limits of values that are `scale` times rounded ones, plus offset. */
static bool
limit(rounding *r, const qn_attrs *a, double scale, double offset)
{
	const double lo = (a->clip.min - offset) / scale, hi = (a->clip.max - offset) / scale;
	double whole;

	if (isfinite(lo) && !is_whole(lo, &whole))
		return false;
	if (isfinite(lo))
		r->lo = fmax(r->lo, whole);
	if (isfinite(hi) && !is_whole(hi, &whole))
		return false;
	if (isfinite(hi))
		r->hi = fmin(r->hi, whole);
	return true;
}

/* Whether the node rounds: a Round, or a pair that part of the operators made before; its operand. */
static qn_id
rounded_by(const qn_onnx *o, const qn_node *n, rounding *r)
{
	const qn_node *q = n->nin > 0 ? qn_graph_node(o->im.g, n->in[0]) : n;
	int64_t zp;

	r->rate = r->scale = 1;
	if (n->op == QN_OP_round)
		return n->in[0];
	if (n->op != QN_OP_dequantize || q->op != QN_OP_quantize ||
	    q->attr->quantize.ties != QN_TIES_even || q->type->elem->gran != QN_PER_TENSOR)
		return 0;
	qn_elem_param(&o->im.m->types, q->type->elem, 0, &r->scale, &zp);
	r->rate = 1 / r->scale;
	r->lo = (double)(q->type->elem->qmin - zp);
	r->hi = (double)(q->type->elem->qmax - zp);
	return q->in[0];
}

/* The operators from the rounding up to node `id` and the last one; what is rounded, 0: nothing. */
static qn_id
after_round(const qn_onnx *o, qn_id id, const step *last, rounding *r)
{
	const qn_node *node[MOST_STEPS];
	qn_id x;
	int n = 0;
	step s;

	while ((x = rounded_by(o, qn_graph_node(o->im.g, id), r)) == 0) {
		node[n] = qn_graph_node(o->im.g, id);
		if (!step_of(o, node[n], &s) || ++n == MOST_STEPS)
			return 0;
		id = s.x;
	}
	while (n-- > 0) {
		(void)step_of(o, node[n], &s);
		const double by = s.op == QN_OP_mul ? s.k : s.op == QN_OP_div ? 1 / s.k : 1;

		if (s.op == QN_OP_clip && !limit(r, node[n]->attr, r->scale, r->offset))
			return 0;
		r->offset += s.op == QN_OP_add ? s.k : s.op == QN_OP_sub ? -s.k : 0;
		r->scale *= by;
		r->offset *= by;
	}
	r->scale *= last->op == QN_OP_mul ? last->k : 1 / last->k;
	return fabs(r->offset) < 1e-3 * r->scale ? x : 0;
}

/* Whether x times the rate is in units of the scale again. */
static bool
is_restored(const rounding *r)
{
	return fabs(r->rate * r->scale - 1) < 1e-5;
}

/* The value before the steps that lead to the Round of id; 0: these are others. */
static qn_id
before_round(const qn_onnx *o, qn_id id, rounding *r)
{
	step s = {0};

	for (int n = 0; n < MOST_STEPS; n++, id = s.x) {
		const qn_node *node = qn_graph_node(o->im.g, id);
		const bool goes_on = step_of(o, node, &s);

		if (goes_on && s.op == QN_OP_clip && limit(r, node->attr, 1 / r->rate, 0))
			continue;
		if (is_restored(r))
			return id;
		if (!goes_on || (s.op != QN_OP_mul && s.op != QN_OP_div))
			return 0;
		r->rate *= s.op == QN_OP_mul ? s.k : 1 / s.k;
	}
	return 0;
}

/* The type of the rounded numbers, of 8 or 16 bits; NULL: none holds them, or a report. */
static const qn_elem *
elem_of(qn_onnx *o, const rounding *r)
{
	const double range = r->hi - r->lo;
	const qn_elem *e = NULL;

	if (!isfinite(range) || r->lo > 0 || r->hi < 0 || range < 2 || range > 0xffff)
		return NULL;
	const int bits = range > 0xff ? 16 : 8;
	const double half = ldexp(1, bits - 1);
	const bool is_signed = r->lo < 0 && r->lo >= -half && r->hi < half;
	qn_elem d = qn_elem_desc((uint8_t)bits, is_signed);

	d.kind = QN_ELEM_UNIFORM;
	d.scale = qn_scale_const(&o->im.m->types, (double)(float)r->scale);
	d.zp = is_signed ? 0 : -(int64_t)r->lo;
	d.qmin = d.zp + (int64_t)r->lo;
	d.qmax = d.zp + (int64_t)r->hi;
	if (qn_elem_make(&o->im.m->types, o->im.node, &d, &e) != QN_OK)
		o->im.problems++;
	return e;
}

static bool
rounds_once(const qn_onnx *o)
{
	int n = 0;

	for (size_t i = 0; o->graph != NULL && i < o->graph->n_node && n < 2; i++)
		n += o->graph->node[i]->op_type != NULL &&
		     strcmp(o->graph->node[i]->op_type, "Round") == 0;
	return n < 2;
}

qn_id
qn_onnx_written_pair(qn_onnx *o, qn_op op, const qn_id in[2])
{
	const qn_node last = {.op = op, .nin = 2, .in = (qn_id *)in};
	rounding r = {.lo = -HUGE_VAL, .hi = HUGE_VAL};
	const qn_elem *e;
	step s;

	if (o->im.how->from_float || in[0] == 0 || in[1] == 0 || !step_of(o, &last, &s))
		return 0;
	qn_id x = after_round(o, s.x, &s, &r);
	x = x != 0 ? before_round(o, x, &r) : 0;
	if (x == 0 || !qn_type_is_f32(qn_onnx_type(o, x)) || rounds_once(o) ||
	    (e = elem_of(o, &r)) == NULL)
		return 0;
	x = qn_importer_op_unfolded(&o->im, QN_OP_quantize, 1, &x, NULL,
				    qn_type_with_elem(&o->im.m->types, qn_onnx_type(o, x), e));
	return qn_importer_op_unfolded(&o->im, QN_OP_dequantize, 1, &x, NULL, NULL);
}
