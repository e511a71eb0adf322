/* SPDX-License-Identifier: Apache-2.0 */
/* carried_types.c - what the loops of a quantized graph carry in float has the parameters that the graph says of it:
 *
 *   %h = loop_carry %zero, %i                 %z = quantize %zero : T    %c = loop_carry %z, %i    %h = dequantize %c
 *   %d = dequantize %q       of type T   ->   %d = dequantize %q
 *   %e = loop_end %i, %d                      %e = loop_end %i, quantize %d : T
 *
 * T is the type that the next value is dequantized from, or the one to which all quantize that read the carry, or one
 * that follows from the rest of the loop (carried_ranges.c).
 *
 * requires: a calibrated graph.   leaves: one that computes the same, but rounds first values to those of T, and clamps those
 * that are computed or come in as float. */
#include "ir/fake_quant.h"
#include "ir/loops.h"
#include "passes/passes.h"
#include "passes/requantize.h"

/* The type of a carried value; elem NULL: the graph says none. */
typedef struct carried {
	const qn_elem *elem;
	const qn_attrs
		*attr; /* of the quantize to it; NULL: that of the next value, which is exact */
} carried;

typedef struct find_types {
	qn_types *types;
	const qn_graph *g;
	qn_loops loops;
	carried *read;         /* by id: what all readers quantize it to */
	bool *other;           /* by id: something else reads it */
	carried *as;           /* by id of a carry */
	const qn_elem **reach; /* by id of a carry; NULL: types are not derived */
} find_types;

static bool
is_f32(const qn_node *n)
{
	return !n->type->is_tuple && qn_type_is_f32(n->type);
}

static bool
moves(const qn_graph *g, const qn_node *n)
{
	const bool leaves = n->op == QN_OP_loop_last || n->op == QN_OP_loop_stack;

	return is_f32(n) &&
	       (leaves || n->op == QN_OP_loop_slice || (n->nin == 1 && qn_rqz_moves(g, n)));
}

static const qn_elem *
narrow(const qn_elem *e)
{
	return e != NULL && qn_rqz_narrow(e) && e->expressed == QN_PLAIN_f32 ? e : NULL;
}

/* What a quantize, or a fake one, makes of its operand. */
static carried
quantized(const find_types *f, const qn_node *n)
{
	carried c = {0};

	if (n->op == QN_OP_quantize)
		c = (carried){narrow(n->type->elem), n->attr};
	if (n->op == QN_OP_const_fake_quant)
		c.elem = narrow(qn_fake_quant_elem(f->types, n));
	return c;
}

static bool
is_same(const carried *a, const carried *b)
{
	const int64_t even = QN_TIES_even;

	return a->elem == b->elem && (a->attr != NULL ? a->attr->quantize.ties : even) ==
					     (b->attr != NULL ? b->attr->quantize.ties : even);
}

/* Whether a move does to quantized values of e what it does to the values that they stand for, and all that reads it takes
 * these. */
static bool
stays(const find_types *f, qn_id id, const qn_elem *e)
{
	return !f->other[id] && qn_rqz_represents_attrs(f->types, qn_graph_node(f->g, id), e);
}

/* From the last value to the first one. */
static void
find_readers(const find_types *f)
{
	const qn_graph *g = f->g;

	for (size_t i = 0; i < g->noutput; i++)
		f->other[g->output[i].value] = true;
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);
		const bool moved = moves(g, n);
		const carried c = moved ? f->read[id] : quantized(f, n);

		for (uint32_t i = 0; i < n->nin; i++) {
			carried *x = &f->read[n->in[i]];

			if (c.elem == NULL || (moved && !stays(f, id, c.elem)) ||
			    (x->elem != NULL && !is_same(x, &c)))
				f->other[n->in[i]] = true;
			*x = c;
		}
	}
}

/* The type that a value is dequantized from, and moved. */
static const qn_elem *
dequantized(const find_types *f, qn_id id)
{
	const qn_graph *g = f->g;
	const qn_node *n = qn_graph_node(g, id), *at = n;

	while (moves(g, n))
		n = qn_graph_node(g, n->in[0]);
	const qn_elem *e = n->op == QN_OP_dequantize
				   ? narrow(qn_graph_node(g, n->in[0])->type->elem)
				   : quantized(f, n).elem;
	for (; e != NULL && at != n; at = qn_graph_node(g, at->in[0]))
		if (!qn_rqz_represents_attrs(f->types, at, e))
			return NULL;
	return e;
}

static void
range_of(const find_types *f, const qn_elem *e, double *lo, double *hi)
{
	double scale;
	int64_t zp;

	qn_elem_param(f->types, e, 0, &scale, &zp);
	*lo = ((double)(e->qmin - zp) - 0.5) * scale;
	*hi = ((double)(e->qmax - zp) + 0.5) * scale;
}

/* Whether no first value is clamped to the range of e, as far as it is known. */
static bool
holds(const find_types *f, const qn_elem *e, qn_id first)
{
	const qn_node *n = qn_graph_node(f->g, first);
	const qn_elem *from = dequantized(f, first);
	double lo, hi, least, most;

	range_of(f, e, &lo, &hi);
	if (from != NULL) {
		range_of(f, from, &least, &most);
		return from == e || (least >= lo && most <= hi);
	}
	for (int64_t i = 0; n->op == QN_OP_const && i < qn_type_count(n->type); i++) {
		const double v = qn_tensor_f64(n->value, i);

		if (!(v >= lo && v <= hi))
			return false;
	}
	return true;
}

static carried
type_of(const find_types *f, qn_id id)
{
	const qn_node *n = qn_graph_node(f->g, id);
	qn_id next;

	if (!f->other[id] && f->read[id].elem != NULL)
		return f->read[id];
	if (!qn_loop_next(f->g, &f->loops, id, &next))
		return (carried){0};
	const qn_elem *e = dequantized(f, next);
	if (e != NULL && holds(f, e, n->in[0]))
		return (carried){e, NULL};
	return (carried){f->reach != NULL ? f->reach[id] : NULL, NULL};
}

static bool
is_open(const qn_node *n)
{
	return n->op == QN_OP_loop_carry && is_f32(n);
}

/* The types of carried values; whether there is one, and *all: whether all have one. */
static bool
find(qn_model *m, const qn_graph *g, bool derives, find_types *f, bool *all)
{
	qn_arena *a = m->scratch;
	bool any = false;

	*f = (find_types){.types = &m->types, .g = g};
	*all = true;
	for (qn_id id = 1; id < g->n && !any; id++)
		any = is_open(qn_graph_node(g, id));
	if (!any)
		return false;
	f->loops = qn_loops_find(g, a);
	f->read = QN_NEW(a, carried, g->n);
	f->other = QN_NEW(a, bool, g->n);
	f->as = QN_NEW(a, carried, g->n);
	find_readers(f);
	f->reach = derives ? qn_carried_reach(m, g, &f->loops) : NULL;
	any = false;
	for (qn_id id = 1; id < g->n; id++) {
		if (!is_open(qn_graph_node(g, id)))
			continue;
		f->as[id] = type_of(f, id);
		any = any || f->as[id].elem != NULL;
		*all = *all && f->as[id].elem != NULL;
	}
	return any;
}

bool
qn_knows_carried(qn_model *m)
{
	find_types f;
	bool all;

	(void)find(m, qn_model_entry(m), true, &f, &all);
	return all;
}

static qn_id
quantize(const find_types *f, qn_graph *to, qn_id carry, qn_id x)
{
	const carried *c = &f->as[carry];

	return qn_graph_op(to, QN_OP_quantize, NULL, 1, &x, c->attr,
			   qn_type_with_elem(f->types, qn_graph_node(f->g, carry)->type, c->elem));
}

/* By value of a loop_end the carry, in ids of g, that has a type now. */
static void
find_carries(const find_types *f, const qn_node *end, qn_id *carry)
{
	for (qn_id id = end->in[0]; qn_graph_node(f->g, id) != end; id++) {
		const qn_node *n = qn_graph_node(f->g, id);

		if (f->as[id].elem != NULL && n->in[1] == end->in[0] &&
		    n->attr->loop_carry.index + 1 < (int64_t)end->nin)
			carry[n->attr->loop_carry.index + 1] = id;
	}
}

static qn_id
copy_node(const find_types *f, qn_id id, qn_graph *to, const qn_id *map, qn_arena *a)
{
	qn_node n = *qn_graph_node(f->g, id);
	qn_id *in = QN_NEW(a, qn_id, n.nin), *carry = QN_NEW(a, qn_id, n.nin);

	if (n.op == QN_OP_loop_end)
		find_carries(f, qn_graph_node(f->g, id), carry);
	if (f->as[id].elem != NULL)
		carry[0] = id;
	for (uint32_t i = 0; i < n.nin; i++) {
		in[i] = map[n.in[i]];
		if (carry[i] != 0)
			in[i] = quantize(f, to, carry[i], in[i]);
		if (in[i] == 0)
			return 0;
	}
	n.in = in;
	if (f->as[id].elem == NULL)
		return qn_graph_add(to, &n);
	n.type = qn_graph_node(to, in[0])->type;
	const qn_id c = qn_graph_add(to, &n);
	return c != 0 ? qn_graph_op(to, QN_OP_dequantize, NULL, 1, &c, NULL, NULL) : 0;
}

qn_status
qn_carried_types(qn_model *m, qn_graph *g, bool derives, qn_graph **out)
{
	find_types f;
	bool all;

	*out = g;
	if (!find(m, g, derives, &f, &all))
		return QN_OK;
	qn_graph *to = qn_graph_new_in(m, g->name, g->arena);
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n);
	qn_graph_copy_facts(to, g);
	for (qn_id id = 1; id < g->n; id++) {
		map[id] = copy_node(&f, id, to, map, m->scratch);
		if (map[id] == 0)
			return QN_EINVALID;
	}
	qn_graph_copy_outputs(to, g, map);
	*out = to;
	return qn_loops_gather(out, m->scratch, NULL); /* first values are quantized before */
}
