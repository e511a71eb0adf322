/* SPDX-License-Identifier: Apache-2.0 */
/* simplify.c - moves casts to where they are fewest, past ops that compute nothing.
 *
 *   %d = dequantize %x                     %t = transpose %x
 *   %t = transpose %d                      %r = reshape %t
 *   %r = reshape %t                  ->    return %r
 *   %q = quantize %r : the type of %x
 *   return %q
 *
 * An op that moves or selects values runs on float values, or on those of a type T: where all that it reads is
 * dequantized from T (dequantizing commutes with it), or where all that reads it quantizes to T (so does
 * quantizing).  quantize(dequantize(x)) of one type is x; dequantize(quantize(x)) is not, and stays.
 *
 * Which of these each op is, is chosen for the whole graph at once: ops are taken in their order, and for every
 * choice of the values that are still to be read, the least number of casts so far is kept.  So the number is the
 * least that there is, unless more than 1024 choices are open at once.  Of equal numbers the one with more
 * integer ops is taken.
 *
 * requires: a calibrated graph.   leaves: one that computes the same. */
#include <string.h>

#include "ir/diag.h"
#include "ir/loops.h"
#include "passes/simplify_impl.h"
#include "passes/solver.h"
#include "patterns/rewrite.h"

/* ---- which ops, which types ---- */

static bool
is_plain_f32(const qn_node *n)
{
	return !n->type->is_tuple && qn_type_is_f32(n->type);
}

static bool
moves_values(const qn_graph *g, const qn_node *n)
{
	const qn_behaviour b = qn_opinfo_of(n)->behaviour;
	bool any = false;

	if ((b != QN_SAME && b != QN_JOIN) || !is_plain_f32(n) || n->op == QN_OP_custom ||
	    (n->facts != NULL && n->facts->skipped) ||
	    (n->op == QN_OP_pad && n->attr->pad.mode == QN_PAD_constant &&
	     n->attr->pad.value != 0) ||
	    ((n->op == QN_OP_scatter_elements) &&
	     n->attr->scatter_elements.reduction != QN_REDUCTION_none) ||
	    (n->op == QN_OP_scatter_nd && n->attr->scatter_nd.reduction != QN_REDUCTION_none))
		return false;
	for (uint32_t i = 0; i < n->nin; i++)
		any = any || qn_couples(g, n, i, false);
	return any;
}

/* The domain of a type with one scale; 0: it has several, or there is no room for more types. */
static uint32_t
domain_of(simplify *s, const qn_elem *e)
{
	if (e->kind != QN_ELEM_UNIFORM || e->gran != QN_PER_TENSOR || e->zp < e->qmin ||
	    e->zp > e->qmax || e->bits > 16 || e->expressed != QN_PLAIN_f32)
		return FLOAT;
	for (uint32_t d = 1; d <= s->ntype; d++)
		if (s->type[d] == e)
			return d;
	if (s->ntype == MOST_TYPES)
		return FLOAT;
	s->type[++s->ntype] = e;
	return s->ntype;
}

/* The type to which a quantize rounds half to even, which is what a moved one does. */
static uint32_t
quantizes_to(simplify *s, const qn_node *n)
{
	return n->op == QN_OP_quantize && n->attr->quantize.ties == QN_TIES_even
		       ? domain_of(s, n->type->elem)
		       : FLOAT;
}

/* Forwards: what values come from. */
static void
find_sources(simplify *s)
{
	const qn_graph *g = s->g;

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);
		bool same = true;
		uint32_t of = FLOAT;

		s->moves[id] = moves_values(g, n);
		if (n->op == QN_OP_dequantize && is_plain_f32(n))
			s->domain[id] = s->all_of[id] =
				domain_of(s, qn_graph_node(g, n->in[0])->type->elem);
		for (uint32_t i = 0; s->moves[id] && i < n->nin; i++) {
			const uint32_t d = s->all_of[n->in[i]];

			if (!qn_couples(g, n, i, false))
				continue;
			s->last[n->in[i]] = id;
			same = same && d != FLOAT && (of == FLOAT || of == d);
			of = d;
		}
		if (s->moves[id])
			s->all_of[id] = same ? of : FLOAT;
	}
}

/* Backwards: where values are wanted. */
static void
find_readers(simplify *s)
{
	const qn_graph *g = s->g;
	bool *mixed = QN_NEW(s->m->scratch, bool, g->n);

	for (size_t i = 0; i < g->noutput; i++)
		s->wanted[g->output[i].value] |= bit(FLOAT);
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);

		if ((s->wanted[id] & bit(FLOAT)) != 0 || mixed[id])
			s->all_to[id] = FLOAT;
		for (uint32_t i = 0; i < n->nin; i++) {
			const qn_id x = n->in[i];
			const bool data = s->moves[id] && qn_couples(g, n, i, false);
			const uint32_t to = data ? s->all_to[id] : quantizes_to(s, n);

			if (!data)
				s->wanted[x] |= bit(to);
			if (to == FLOAT || (s->all_to[x] != FLOAT && s->all_to[x] != to))
				mixed[x] = true;
			s->all_to[x] = to;
		}
	}
}

/* ---- the new graph ---- */

typedef struct rebuild {
	simplify *s;
	qn_graph *dst;
	qn_id *own;   /* by id: the value where it is computed */
	qn_id **cast; /* by id: it in every domain; NULL: none is made yet */
	qn_map casts; /* those that were added, so that equal ones are one */
	bool failed;
} rebuild;

/* A cast of a new value. */
static qn_id
add_cast(rebuild *r, const qn_node *like)
{
	struct {
		uint64_t op, in, ties;
		const qn_type *type;
	} key = {(uint64_t)like->op, like->in[0], 0, like->type};

	if (like->op == QN_OP_quantize && like->attr != NULL)
		key.ties = (uint64_t)like->attr->quantize.ties;
	qn_id *known = qn_map_get(&r->casts, &key, sizeof key);
	if (known == NULL) {
		known = QN_NEW(r->s->m->scratch, qn_id, 1);
		*known = qn_graph_add(r->dst, like);
		qn_map_put(&r->casts, &key, sizeof key, known);
	}
	r->failed = r->failed || *known == 0;
	return *known;
}

/* Value x of the old graph, in a domain. */
static qn_id
in_domain(rebuild *r, qn_id x, uint32_t d)
{
	simplify *s = r->s;

	if (s->domain[x] == d || r->failed)
		return r->own[x];
	if (r->cast[x] == NULL)
		r->cast[x] = QN_NEW(s->m->scratch, qn_id, MOST_TYPES + 1);
	qn_id *id = &r->cast[x][d];
	if (*id != 0)
		return *id;
	const qn_id from = d == FLOAT ? r->own[x] : in_domain(r, x, FLOAT);
	const qn_type *shape = qn_graph_node(s->g, x)->type;
	if (r->failed)
		return 0;
	*id = add_cast(
		r, &(qn_node){
			   .op = d == FLOAT ? QN_OP_dequantize : QN_OP_quantize,
			   .nin = 1,
			   .in = &from,
			   .type = d == FLOAT ? shape
					      : qn_type_with_elem(&s->m->types, shape, s->type[d]),
		   });
	return *id;
}

static void
rebuild_node(rebuild *r, qn_id id)
{
	simplify *s = r->s;
	qn_node n = *qn_graph_node(s->g, id);
	qn_id *in = QN_NEW(s->m->scratch, qn_id, n.nin);
	const uint32_t to = quantizes_to(s, &n);

	if (n.op == QN_OP_dequantize && s->domain[id] != FLOAT) {
		r->own[id] = r->own[n.in[0]];
		return;
	}
	if (to != FLOAT) {
		r->own[id] = in_domain(r, n.in[0], to);
		return;
	}
	for (uint32_t i = 0; i < n.nin; i++)
		in[i] = s->moves[id] && qn_couples(s->g, &n, i, false)
				? in_domain(r, n.in[i], s->domain[id])
				: in_domain(r, n.in[i], FLOAT);
	n.in = in;
	if (s->moves[id])
		n.type = qn_type_with_elem(&s->m->types, n.type,
					   s->domain[id] != FLOAT ? s->type[s->domain[id]]
								  : n.type->elem);
	if (r->failed)
		return;
	if (n.op == QN_OP_quantize || n.op == QN_OP_dequantize)
		r->own[id] = add_cast(r, &n);
	else
		r->own[id] = qn_graph_add(r->dst, &n);
	r->failed = r->failed || r->own[id] == 0;
}

static qn_status
fewest_casts(qn_model *m, const qn_graph *g, qn_graph **out)
{
	qn_arena *a = m->scratch;
	simplify s = {.m = m,
		      .g = g,
		      .moves = QN_NEW(a, bool, g->n),
		      .domain = QN_NEW(a, uint32_t, g->n),
		      .wanted = QN_NEW(a, uint32_t, g->n),
		      .all_of = QN_NEW(a, uint32_t, g->n),
		      .all_to = QN_NEW(a, uint32_t, g->n),
		      .last = QN_NEW(a, qn_id, g->n)};
	rebuild r = {.s = &s,
		     .dst = qn_graph_new(m, g->name),
		     .own = QN_NEW(a, qn_id, g->n),
		     .cast = QN_NEW(a, qn_id *, g->n)};

	qn_map_init(&r.casts, a);
	find_sources(&s);
	find_readers(&s);
	qn_simplify_search(&s);
	qn_graph_copy_facts(r.dst, g);
	for (qn_id id = 1; id < g->n && !r.failed; id++)
		rebuild_node(&r, id);
	for (size_t i = 0; i < g->noutput && !r.failed; i++)
		qn_graph_output(r.dst, g->output[i].name, in_domain(&r, g->output[i].value, FLOAT));
	qn_graph_copy_states(r.dst, g);
	if (r.failed)
		return QN_EINVALID;
	QN_TRY(qn_graph_sweep(m, r.dst, NULL, out));
	return qn_loops_gather(out, m->scratch,
			       NULL); /* casts of what is not of a loop stand before it */
}

qn_status
qn_simplify(qn_model *m)
{
	qn_graph *g;

	if (m->stage != QN_STAGE_CALIBRATED)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "simplify takes a calibrated graph; this one is %s",
				 qn_stage_names[m->stage]);
	/* what nothing reads must not hold a value in float */
	QN_TRY(qn_graph_sweep(m, qn_model_entry(m), NULL, &g));
	QN_TRY(fewest_casts(m, g, &g));
	qn_model_set_graph(m, g);
	return QN_OK;
}
