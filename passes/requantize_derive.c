/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_derive.c - the range of a value that a file leaves without parameters, from those of its operands.
 *
 *   add(dequantize(a), dequantize(b))          the sums of both ranges' ends
 *   where(c, dequantize(x), const)             the union; pad: that of the operand and the value
 *   avg_pool(dequantize(x))                    that of the operand
 *   dequantize(acc)                            the largest sum of products that the weights allow
 *
 *   return where(c, dequantize(x), const)  ->  return dequantize(quantize(where(…)))
 *
 * The values get 16 bits: where all of them are those of one type of 8 bits and constants, 128th parts of its step or,
 * where these do not reach far enough, as small ones as do, in which the former are exact; else the 32767th part of
 * the range. */
#include <math.h>

#include "passes/requantize.h"

enum { MOST_NODES = 64, GRID_STEPS = 256 };

/* From lo to hi; grid: the one type whose values, moved, it has; odd: others too. */
typedef struct reach {
	double lo, hi;
	const qn_elem *grid;
	const qn_elem *wide; /* the one of more than 8 bits that reaches farthest; NULL: none has */
	bool odd, mean; /* mean: its integers are averages, rounded to a step of what they are of */
	double step;    /* the smallest of quantized values that are moved; 0: none are */
} reach;

typedef struct walk {
	const qn_rw *rw;
	int budget;
} walk;

static bool range_of(walk *w, qn_id id, reach *r);

static void
of_params(const qn_types *t, const qn_elem *e, reach *r)
{
	double scale;
	int64_t zp;

	qn_elem_param(t, e, 0, &scale, &zp);
	*r = (reach){.lo = (double)(e->qmin - zp) * scale,
		     .hi = (double)(e->qmax - zp) * scale,
		     .grid = e,
		     .wide = e->bits > 8 ? e : NULL,
		     .step = scale};
}

static void
join(reach *r, const reach *x)
{
	if (r->wide == NULL || (x->wide != NULL && x->hi - x->lo > r->hi - r->lo))
		r->wide = x->wide;
	r->lo = fmin(r->lo, x->lo);
	r->hi = fmax(r->hi, x->hi);
	r->step = r->step == 0 || (x->step > 0 && x->step < r->step) ? x->step : r->step;
	r->mean = r->mean || x->mean;
	r->odd = r->odd || x->odd || (r->grid != NULL && x->grid != NULL && r->grid != x->grid);
	r->grid = r->grid != NULL ? r->grid : x->grid;
}

/* All operands that are moved, one after the other. */
static bool
of_operands(walk *w, const qn_node *n, reach *r)
{
	bool any = false;

	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_type *t = qn_rw_node(w->rw, n->in[i])->type;
		reach x;

		if (qn_rqz_is_index(n, i) || (!t->is_tuple && !qn_elem_is_float(t->elem)))
			continue;
		if (!range_of(w, n->in[i], &x))
			return false;
		if (any)
			join(r, &x);
		else
			*r = x;
		any = true;
	}
	if (any && n->op == QN_OP_pad && n->attr->pad.mode == QN_PAD_constant) {
		const double v = n->attr->pad.value;

		join(r, &(reach){.lo = v, .hi = v});
	}
	return any;
}

static bool
of_constant(const qn_tensor *v, reach *r)
{
	const int64_t n = qn_type_count(v->type);

	*r = (reach){.lo = HUGE_VAL, .hi = -HUGE_VAL};
	for (int64_t i = 0; i < n; i++) {
		const double x = qn_tensor_f64(v, i);

		if (!(fabs(x) < 0x1p100))
			return false;
		r->lo = fmin(r->lo, x);
		r->hi = fmax(r->hi, x);
	}
	return n > 0;
}

static bool
of_two(walk *w, const qn_node *n, reach *r)
{
	reach a, b;

	if (n->nin != 2 || !range_of(w, n->in[0], &a) || !range_of(w, n->in[1], &b))
		return false;
	*r = (reach){.odd = true, .mean = a.mean || b.mean};
	if (n->op == QN_OP_add) {
		r->lo = a.lo + b.lo;
		r->hi = a.hi + b.hi;
	} else if (n->op == QN_OP_sub) {
		r->lo = a.lo - b.hi;
		r->hi = a.hi - b.lo;
	} else {
		r->lo = fmin(fmin(a.lo * b.lo, a.lo * b.hi), fmin(a.hi * b.lo, a.hi * b.hi));
		r->hi = fmax(fmax(a.lo * b.lo, a.lo * b.hi), fmax(a.hi * b.lo, a.hi * b.hi));
	}
	return true;
}

static bool
of_dequantize(const walk *w, qn_id id, reach *r)
{
	const qn_node *n = qn_rw_node(w->rw, id);
	const qn_elem *e = qn_rw_node(w->rw, n->in[0])->type->elem;

	if (qn_rqz_narrow(e)) {
		of_params(&qn_rw_model(w->rw)->types, e, r);
		return true;
	}
	const double most = qn_rqz_largest_sum(w->rw, id);
	*r = (reach){.lo = -most, .hi = most, .odd = true};
	return most > 0;
}

static bool
range_of(walk *w, qn_id id, reach *r)
{
	const qn_node *n = qn_rw_node(w->rw, id);

	if (--w->budget < 0)
		return false;
	switch ((int)n->op) {
	case QN_OP_dequantize:
		return of_dequantize(w, id, r);
	case QN_OP_const:
		return qn_type_is_f32(n->type) && of_constant(n->value, r);
	case QN_OP_add:
	case QN_OP_sub:
	case QN_OP_mul:
		return of_two(w, n, r);
	case QN_OP_avg_pool:
	case QN_OP_avg_pool3d:
	case QN_OP_global_avg_pool:
	case QN_OP_reduce_mean:
	case QN_OP_resize_bilinear:
		if (!range_of(w, n->in[0], r))
			return false;
		r->odd = true;
		r->mean = r->mean || qn_opinfo_of(n)->behaviour == QN_MEAN;
		return true;
	case QN_OP_split:
		return range_of(w, n->in[0], r);
	default:
		return qn_rqz_moves(qn_rw_graph(w->rw), n) && !qn_rqz_joins_sums(n) &&
		       of_operands(w, n, r);
	}
}

double
qn_rqz_reach(const qn_rw *rw, qn_id id)
{
	walk w = {rw, MOST_NODES};
	reach r;

	return range_of(&w, id, &r) ? fmax(fabs(r.lo), fabs(r.hi)) : 0;
}

const qn_elem *
qn_rqz_derived(const qn_rw *rw, qn_id id, bool *exact)
{
	qn_types *t = &qn_rw_model(rw)->types;
	walk w = {rw, MOST_NODES};
	const qn_elem *e = NULL;
	reach r;
	double scale = 0;

	int64_t zp;

	*exact = false;
	if (!range_of(&w, id, &r))
		return NULL;
	const double most = fmax(fabs(r.lo), fabs(r.hi));
	if (r.step > 0 && most / INT16_MAX > r.step * (r.wide != NULL ? 2 : 0.5))
		return NULL; /* quantized values next to a number that dwarfs them */
	if (r.wide != NULL) {
		reach wide;

		of_params(t, r.wide, &wide);
		if (r.lo >= wide.lo && r.hi <= wide.hi)
			return r.wide; /* others are rounded to its steps, its own stay as they are */
	}
	if (r.grid != NULL && !r.odd && r.wide == NULL) {
		qn_elem_param(t, r.grid, 0, &scale, &zp);
		*exact = most < (GRID_STEPS - 1) * scale;
		return *exact ? qn_rqz_wide_elem(t, r.grid)
			      : qn_rqz_parts_elem(t, r.grid, (int)(INT16_MAX * (scale / most)));
	}
	qn_elem d = qn_elem_desc(16, true);
	d.scale = qn_scale_const(t, (double)(float)(most / INT16_MAX));
	return most > 0x1p-80 && most < 0x1p100 && qn_elem_make(t, "derived", &d, &e) == QN_OK
		       ? e
		       : NULL;
}

/* Whether the constants among the operands are values of e. */
static bool
constants_are_values(const qn_rw *rw, const qn_node *n, const qn_elem *e)
{
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_node *c = qn_rw_node(rw, n->in[i]);

		if (c->op != QN_OP_const || !qn_type_is_f32(c->type))
			continue;
		for (int64_t k = 0; k < qn_type_count(c->type); k++)
			if (!qn_rqz_is_value(&qn_rw_model(rw)->types, e, qn_tensor_f64(c->value, k),
					     false))
				return false;
	}
	return true;
}

/* The type of the quantized operands, if one holds all values of the move n exactly; NULL: none does. */
static const qn_elem *
exact_elem(const qn_rw *rw, const qn_node *n)
{
	const qn_elem *e = NULL;

	if (qn_opinfo_of(n)->behaviour != QN_JOIN)
		return NULL;
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_elem *x = qn_rqz_operand_elem(rw, n->in[i]);
		const qn_type *type = qn_rw_node(rw, n->in[i])->type;

		if (qn_rw_node(rw, n->in[i])->op == QN_OP_const || !qn_type_is_f32(type))
			continue;
		if (x == NULL || !qn_rqz_narrow(x) || (e != NULL && x != e))
			return NULL;
		e = x;
	}
	return e != NULL && constants_are_values(rw, n, e) ? e : NULL;
}

qn_id
qn_rqz_derive(qn_rw *rw, const qn_match *m)
{
	const qn_rqz *s = qn_rw_user(rw);
	const char *name = qn_rw_name(rw, m->root);
	const qn_node *n = qn_rw_node(rw, m->root);

	if (!s->derives)
		return qn_rw_decline(rw, "first come the quantizes that read it");
	if (s->given == NULL || name == NULL || qn_map_gets(s->given, name) == NULL ||
	    n->type->is_tuple || !qn_type_is_f32(n->type))
		return qn_rw_decline(rw, "the file does not leave its parameters open");
	if (qn_rqz_skipped(rw, m->root) || qn_rqz_operand_elem(rw, m->root) != NULL)
		return qn_rw_decline(rw, "it is to stay in float, or has parameters");
	if (!qn_rqz_ends(rw, m->root))
		return qn_rw_decline(rw, "an operand has no quantized values");
	bool exact;
	walk w = {rw, MOST_NODES};
	reach r;
	const qn_elem *e = exact_elem(rw, n);
	if (!range_of(&w, m->root, &r) || r.mean)
		return qn_rw_decline(rw, "its range is unknown, or 16 bits cannot hold an average");
	if (e == NULL && s->opts->measured && (r.grid == NULL || r.odd))
		return qn_rw_decline(rw, "samples give its range");
	if (e == NULL)
		e = qn_rqz_derived(rw, m->root, &exact);
	if (e == NULL)
		return qn_rw_decline(rw, "its range does not follow from those of its operands");
	qn_id y = qn_rqz_quantize(rw, m->root, e, name);
	return y != 0 ? qn_rw_add(rw, QN_OP_dequantize, name, 1, &y, NULL, NULL) : 0;
}

/* A move of one operand's values, none of them changed to one that the operand's parameters may not have. */
static bool
passes(const qn_graph *g, const qn_node *n)
{
	return qn_rqz_moves(g, n) && qn_opinfo_of(n)->behaviour != QN_JOIN && n->op != QN_OP_clip &&
	       n->op != QN_OP_relu6 && n->op != QN_OP_pad;
}

/* Whether the second sweep may derive parameters of the value: it is computed, or a sum that is moved. */
static bool
is_open(const qn_graph *g, const qn_node *n)
{
	return n->op == QN_OP_dequantize ? !qn_rqz_narrow(qn_graph_node(g, n->in[0])->type->elem)
					 : n->nin > 0 && !passes(g, n);
}

/* Names of results, and of what is moved there without another operand.  Whether one of
 * them is open. */
bool
qn_rqz_find_quantized(qn_rqz *s, const qn_graph *g)
{
	bool open = false;

	qn_arena *a = g->model->scratch;
	bool *given = QN_NEW(a, bool, g->n);
	qn_map *names = QN_NEW(a, qn_map, 1);

	qn_map_init(names, a);
	for (size_t i = 0; i < g->noutput; i++)
		given[g->output[i].value] = true;
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);

		if (!given[id])
			continue;
		if (passes(g, n))
			given[n->in[0]] = true;
		open = open || is_open(g, n);
		qn_map_puts(names, n->name, (void *)(uintptr_t)n->name);
	}
	s->given = names;
	return open;
}
