/* SPDX-License-Identifier: Apache-2.0 */
/* points_carried.c - the points that loops and states carry from step to step (solver.h).
 *
 *   %h = loop_carry %zero, %i
 *   %k = mul %h, %g               one class, in 16 bits: %k and %n
 *   %n = add %k, %x               the same one: %h, %n, and its last value and stack; its range has that of %zero in it
 *   %e = loop_end %i, %n
 *
 * The first value is not of the class: it is quantized to the carry's parameters once, before the loop. */
#include <math.h>

#include "ir/loops.h"
#include "passes/solver.h"
#include "patterns/accumulate.h"

static bool
is_real(const qn_graph *g, qn_id id)
{
	const qn_type *t = qn_graph_node(g, id)->type;

	return !t->is_tuple && qn_elem_is_float(t->elem);
}

static void
unite(const qn_points *p, qn_id carried, qn_id next)
{
	if (is_real(p->g, carried) && qn_graph_node(p->g, next)->op != QN_OP_const)
		qn_points_unite(p, carried, next);
}

void
qn_points_carry(const qn_points *p, const qn_solver_opts *opts)
{
	const qn_graph *g = p->g;
	qn_arena *a = g->model->scratch;
	const qn_loops l = qn_loops_find(g, a);
	const bool *wide = opts->activations.bits > 8 ? NULL : qn_accumulates(g, true, a);
	qn_id next;

	for (qn_id id = 1; id < g->n; id++)
		if (qn_graph_node(g, id)->op == QN_OP_loop_carry && qn_loop_next(g, &l, id, &next))
			unite(p, id, next);
	for (size_t k = 0; k < g->nstate; k++)
		unite(p, g->input[qn_graph_fed(g) + k], g->output[qn_graph_given(g) + k].value);
	for (qn_id id = 1; wide != NULL && id < g->n; id++)
		if (wide[id])
			qn_point_class(p, id)->wide = true;
}

/* The range of a constant, or of the class of a value; false: there is none. */
static bool
range_of(const qn_points *p, qn_id id, double *lo, double *hi)
{
	const qn_node *n = qn_graph_node(p->g, id);
	const qn_class *c = qn_point_class(p, id);

	*lo = n->op == QN_OP_const ? HUGE_VAL : c->lo;
	*hi = n->op == QN_OP_const ? -HUGE_VAL : c->hi;
	for (int64_t i = 0; n->op == QN_OP_const && i < qn_type_count(n->type); i++) {
		const double v = qn_tensor_f64(n->value, i);

		*lo = isfinite(v) ? fmin(*lo, v) : *lo;
		*hi = isfinite(v) ? fmax(*hi, v) : *hi;
	}
	return n->op == QN_OP_const ? *lo <= *hi : c->has_range;
}

/* What has parameters that follow from its op gets its own where they do not reach that far. */
static void
widen(const qn_points *p, qn_class *c, qn_id by)
{
	double lo, hi;

	if (!range_of(p, by, &lo, &hi))
		return;
	if (!c->has_range || lo < c->lo || hi > c->hi)
		c->fixed = NULL;
	c->lo = c->has_range ? fmin(c->lo, lo) : lo;
	c->hi = c->has_range ? fmax(c->hi, hi) : hi;
	c->has_range = true;
}

void
qn_points_begin(const qn_points *p)
{
	const qn_graph *g = p->g;
	const qn_loops l = qn_loops_find(g, g->model->scratch);
	bool *varies = QN_NEW(g->model->scratch, bool, g->n);
	qn_id next;

	for (qn_id id = 1; id < g->n; id++)
		if (qn_point_is_source(p, id))
			varies[qn_point_class(p, id) - p->known] = true;
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);
		qn_class *c = qn_point_class(p, id);

		if (n->op != QN_OP_loop_carry || !is_real(g, id) ||
		    (!c->has_range && varies[c - p->known]))
			continue; /* of later steps nothing is known */
		widen(p, c, n->in[0]);
		if (qn_loop_next(g, &l, id, &next) && qn_graph_node(g, next)->op == QN_OP_const)
			widen(p, c, next);
	}
}
