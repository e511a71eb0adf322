/* SPDX-License-Identifier: Apache-2.0 */
/* carried_ranges.c - what the loops of a quantized graph carry, where the graph says no type of it: ranges that follow from
 * those of the rest, step by step.
 *
 *   %h = loop_carry %zero, %i {…}         0 to 0    -2 to 2    …    -10 to 10 in 5 steps
 *   %s = loop_slice %d, %i                %d: dequantized, -2 to 2
 *   %n = add %h, %s
 *   %e = loop_end %i, %n
 *
 * A step gives each carry the union of its range and that of its next value, until none grows or the loop ends.  A
 * range of which 16 bits cannot hold the steps of what is added is not known. */
#include <math.h>

#include "ir/fake_quant.h"
#include "ir/loops.h"
#include "passes/requantize.h"

enum { MOST_WORK = 1 << 22 }; /* nodes of all steps of all loops that are looked at */

typedef struct range {
	bool known;
	double lo, hi;
	double step; /* the smallest of quantized values that are moved or added; 0: none are */
} range;

typedef struct ranges {
	qn_types *types;
	const qn_graph *g;
	const qn_loops *loops;
	range *of;     /* by id */
	int64_t *work; /* nodes that may still be looked at, by the loops that follow too */
} ranges;

static range
of_elem(const ranges *s, const qn_elem *e)
{
	double scale;
	int64_t zp;

	if (e == NULL || !qn_rqz_narrow(e))
		return (range){0};
	qn_elem_param(s->types, e, 0, &scale, &zp);
	return (range){true, (double)(e->qmin - zp) * scale, (double)(e->qmax - zp) * scale, scale};
}

static range
of_constant(const qn_node *n)
{
	range r = {.lo = HUGE_VAL, .hi = -HUGE_VAL};

	for (int64_t i = 0; qn_type_is_f32(n->type) && i < qn_type_count(n->type); i++) {
		const double v = qn_tensor_f64(n->value, i);

		if (!isfinite(v))
			return (range){0};
		r = (range){true, fmin(r.lo, v), fmax(r.hi, v), 0};
	}
	return r;
}

static double
smaller(double a, double b)
{
	return a == 0 || (b > 0 && b < a) ? b : a;
}

/* Unknown where an end is not finite: a difference of two such is not a number, which fmin and fmax leave out. */
static range
finite(range r)
{
	r.known = r.known && isfinite(r.lo) && isfinite(r.hi);
	return r;
}

static range
join(range a, range b)
{
	return (range){a.known && b.known, fmin(a.lo, b.lo), fmax(a.hi, b.hi),
		       smaller(a.step, b.step)};
}

static range
of_two(const qn_node *n, range a, range b)
{
	const bool known = a.known && b.known;

	if (n->op == QN_OP_add)
		return (range){known, a.lo + b.lo, a.hi + b.hi, smaller(a.step, b.step)};
	if (n->op == QN_OP_sub)
		return (range){known, a.lo - b.hi, a.hi - b.lo, smaller(a.step, b.step)};
	return (range){known, fmin(fmin(a.lo * b.lo, a.lo * b.hi), fmin(a.hi * b.lo, a.hi * b.hi)),
		       fmax(fmax(a.lo * b.lo, a.lo * b.hi), fmax(a.hi * b.lo, a.hi * b.hi)), 0};
}

/* The union of what is moved or joined. */
static range
of_operands(const ranges *s, const qn_node *n)
{
	range r = {0};
	bool any = false;

	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_type *t = qn_graph_node(s->g, n->in[i])->type;

		if (qn_rqz_is_index(n, i) || (!t->is_tuple && !qn_elem_is_float(t->elem)))
			continue;
		r = any ? join(r, s->of[n->in[i]]) : s->of[n->in[i]];
		any = true;
	}
	if (n->op == QN_OP_pad && n->attr->pad.mode == QN_PAD_constant)
		r = join(r, (range){true, n->attr->pad.value, n->attr->pad.value, 0});
	return r;
}

static range
range_of(const ranges *s, const qn_node *n)
{
	switch ((int)n->op) {
	case QN_OP_const:
		return of_constant(n);
	case QN_OP_dequantize:
		return of_elem(s, qn_graph_node(s->g, n->in[0])->type->elem);
	case QN_OP_const_fake_quant:
		return of_elem(s, qn_fake_quant_elem(s->types, n));
	case QN_OP_add:
	case QN_OP_sub:
	case QN_OP_mul:
		return of_two(n, s->of[n->in[0]], s->of[n->in[1]]);
	case QN_OP_sigmoid:
	case QN_OP_softmax:
		return (range){true, 0, 1, 0};
	case QN_OP_tanh:
		return (range){true, -1, 1, 0};
	case QN_OP_avg_pool:
	case QN_OP_global_avg_pool:
	case QN_OP_reduce_mean:
	case QN_OP_split:
	case QN_OP_get:
		return s->of[n->in[0]];
	default:
		return qn_rqz_moves(s->g, n) && !qn_rqz_joins_sums(n) ? of_operands(s, n)
								      : (range){0};
	}
}

/* All nodes of a loop once more; whether a carry has another range than before. */
static bool
step(const ranges *s, const qn_loop *loop)
{
	bool grows = false;
	qn_id next;

	for (qn_id id = loop->begin; id <= loop->last; id++) {
		const qn_node *n = qn_graph_node(s->g, id);

		if (n->op != QN_OP_loop_carry && n->op != QN_OP_const)
			s->of[id] = finite(range_of(s, n));
	}
	for (qn_id id = loop->begin; id <= loop->last; id++) {
		range *r = &s->of[id];

		if (qn_graph_node(s->g, id)->op != QN_OP_loop_carry || !r->known ||
		    !qn_loop_next(s->g, s->loops, id, &next))
			continue;
		const range all = join(*r, s->of[next]);
		grows = grows || !all.known || all.lo < r->lo || all.hi > r->hi;
		*r = all;
	}
	return grows;
}

/* Loops in others are not looked at: their carries have no range. */
static void
run(const ranges *s, const qn_loop *loop)
{
	const int64_t nodes = loop->last - loop->begin + 1;
	bool grows = true;
	int64_t t = 1;

	for (qn_id id = loop->begin; id <= loop->last; id++) {
		const qn_node *n = qn_graph_node(s->g, id);

		if (n->op == QN_OP_loop && id != loop->begin)
			return;
		if (n->op == QN_OP_loop_carry)
			s->of[id] = s->of[n->in[0]];
		if (n->op == QN_OP_const)
			s->of[id] = finite(range_of(s, n));
	}
	for (; t < loop->count && *s->work >= nodes && grows; t++) {
		grows = step(s, loop);
		*s->work -= nodes;
	}
	for (qn_id id = loop->begin; id <= loop->last; id++)
		if (qn_graph_node(s->g, id)->op == QN_OP_loop_carry && grows && t < loop->count)
			s->of[id].known = false;
	(void)step(s, loop); /* what leaves it */
}

/* By id of a carry, the type whose values reach that far; NULL: it is not known. */
const qn_elem **
qn_carried_reach(qn_model *m, const qn_graph *g, const qn_loops *loops)
{
	const bool *multiplied = qn_rqz_find_multiplied(g, m->scratch);
	const qn_elem **elem = QN_NEW(m->scratch, const qn_elem *, g->n);
	int64_t work = MOST_WORK;
	const ranges s = {&m->types, g, loops, QN_NEW(m->scratch, range, g->n), &work};

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_loop) {
			const qn_loop *loop = &loops->loop[loops->of[id] - 1];

			run(&s, loop);
			id = loop->last;
		} else {
			s.of[id] = finite(range_of(&s, n));
		}
	}
	for (qn_id id = 1; id < g->n; id++) {
		const double most = fmax(fabs(s.of[id].lo), fabs(s.of[id].hi));
		qn_elem d = qn_elem_desc(multiplied[id] ? 8 : 16, true);

		if (qn_graph_node(g, id)->op != QN_OP_loop_carry || !s.of[id].known ||
		    !(most > 0x1p-80 && most < 0x1p100) ||
		    (s.of[id].step > 0 && most / (double)d.qmax > s.of[id].step))
			continue; /* what is added would be less than a step */
		d.scale = qn_scale_const(&m->types, (double)(float)(most / (double)d.qmax));
		if (qn_elem_make(&m->types, qn_graph_node(g, id)->name, &d, &elem[id]) != QN_OK)
			elem[id] = NULL;
	}
	return elem;
}
