/* SPDX-License-Identifier: Apache-2.0 */
/* idle.c - scales of values that are 0 on all samples.
 *
 *   add(%state, %x)        %state: all 0     %x: scale 0.0003     ->     %state: scale 0.0003
 *
 * Any scale is right for a value of zeros, but what is added to others is brought to the coarsest scale of them: with
 * a scale of 1 the others would lose their bits, or the multiplier of the sum is one that integers cannot have.  So
 * such a value has the finest scale of what it is added to, or compared or joined with; where that is 0 too, of the
 * result.  What zeros are computed from follows: the mean of squares that are 0, to which an epsilon is added, has its
 * scale, and so have the squares.  A sum that is 0 where its operands are not has no finer scale than it can be brought
 * to.  Others keep scale 1. */
#include <math.h>

#include "calibrate/calibrate.h"

typedef struct idle {
	const qn_calibration *c;
	const qn_finding *found;
	qn_map watch;    /* by symbol: its first */
	qn_id *quantize; /* by id of a value: the first quantize of it; 0: none */
} idle;

/* Ops whose operands and result are of one unit. */
static const bool shares[QN_NOP] = {
	[QN_OP_add] = true,     [QN_OP_sub] = true,     [QN_OP_squared_difference] = true,
	[QN_OP_minimum] = true, [QN_OP_maximum] = true, [QN_OP_bias_add] = true,
	[QN_OP_where] = true,   [QN_OP_concat] = true,
};

/* Ops with a multiplier of the operand's scale over the result's, which has to fit if the result's is that of zeros. */
static const bool scales[QN_NOP] = {
	[QN_OP_mul] = true,        [QN_OP_div] = true,         [QN_OP_square] = true,
	[QN_OP_reduce_sum] = true, [QN_OP_reduce_mean] = true, [QN_OP_global_avg_pool] = true,
	[QN_OP_avg_pool] = true,   [QN_OP_avg_pool3d] = true,
};

/* The quantize whose result the op reads, dequantized; 0: none. */
static qn_id
operand(const idle *s, const qn_node *n, uint32_t k)
{
	const qn_node *d = qn_graph_node(s->c->g, n->in[k]);

	if (d->op != QN_OP_dequantize)
		return 0;
	return qn_graph_node(s->c->g, d->in[0])->op == QN_OP_quantize ? d->in[0] : 0;
}

/* The watch of the values of a quantize; NULL: their scale does not follow from samples. */
static const qn_watch *
watch_of(const idle *s, qn_id q)
{
	const qn_symbol *sym = q != 0 ? qn_symbol_to_calibrate(qn_graph_node(s->c->g, q)) : NULL;

	return sym != NULL && !sym->bound ? qn_map_get(&s->watch, &sym, sizeof sym) : NULL;
}

static bool
is_zero(const idle *s, const qn_watch *w)
{
	const qn_finding *f = &s->found[w - s->c->watch];

	return w->channel < 0 && !f->pair && qn_range_is_zero(f->lo, f->hi);
}

/* The scale of the values of a quantize; 0: it is not known, or there are many. */
static double
scale_of(const idle *s, qn_id q)
{
	const qn_watch *w = watch_of(s, q);
	const qn_elem *e = q != 0 ? qn_graph_node(s->c->g, q)->type->elem : NULL;
	double scale = 0;
	int64_t zp;

	if (w != NULL && w->channel >= 0)
		return 0;
	if (w != NULL && is_zero(s, w))
		return w->sym->idle;
	if (w != NULL)
		qn_finding_params(w, &s->found[w - s->c->watch], &scale, &zp);
	else if (e != NULL && e->gran == QN_PER_TENSOR &&
		 (e->scale->kind != QN_SCALE_SYM || e->scale->sym->bound))
		qn_elem_param(&s->c->m->types, e, 0, &scale, &zp);
	return scale;
}

/* The finest scale of the operands of n but k; 0: they have none that counts. */
static double
finest_beside(const idle *s, const qn_node *n, uint32_t k)
{
	double finest = 0;

	for (uint32_t i = 0; i < n->nin; i++) {
		const double scale = i != k ? scale_of(s, operand(s, n, i)) : 0;

		if (scale > 0 && (scale < QN_SCALE_OF_ZEROS || scale > QN_SCALE_OF_ZEROS) &&
		    (finest == 0 || scale < finest))
			finest = scale;
	}
	return finest;
}

/* The value times itself, of which a mul reads two quantizes. */
static bool
is_square(const idle *s, const qn_node *n)
{
	const qn_id a = operand(s, n, 0), b = n->op == QN_OP_mul ? operand(s, n, 1) : 0;

	return n->op == QN_OP_square ||
	       (a != 0 && b != 0 &&
		qn_graph_node(s->c->g, a)->in[0] == qn_graph_node(s->c->g, b)->in[0]);
}

/* What operand k of n may have as its scale: the finest of the others', if it shares one with them, else what suits the
 * result's. */
static double
scale_beside(const idle *s, qn_id id, uint32_t k)
{
	const qn_node *n = qn_graph_node(s->c->g, id);
	const double finest = shares[n->op] ? finest_beside(s, n, k) : 0;
	const double result = scale_of(s, s->quantize[id]);

	if (finest > 0)
		return finest;
	return is_square(s, n) ? sqrt(result) : result;
}

/* The finest scale for the result of an add or sub that a quantize reads, 0 for another op: the sum is computed in steps
 * of 2^-15 of twice the coarsest operand's scale, or finer ones, and the multiplier after it must be below 1. */
static double
finest_of_sum(const idle *s, qn_id q)
{
	const qn_node *n = qn_graph_node(s->c->g, qn_graph_node(s->c->g, q)->in[0]);
	double coarsest = 0;

	if (n->op != QN_OP_add && n->op != QN_OP_sub)
		return 0;
	for (uint32_t i = 0; i < n->nin; i++)
		coarsest = fmax(coarsest, scale_of(s, operand(s, n, i)));
	return ldexp(coarsest, -13);
}

void
qn_calibration_idle(const qn_calibration *c, const qn_finding *found)
{
	const qn_graph *g = c->g;
	idle s = {.c = c, .found = found, .quantize = QN_NEW(c->m->scratch, qn_id, g->n)};

	qn_map_init(&s.watch, c->m->scratch);
	for (size_t i = 0; i < c->nwatch; i++)
		if (qn_map_get(&s.watch, &c->watch[i].sym, sizeof c->watch[i].sym) == NULL)
			qn_map_put(&s.watch, &c->watch[i].sym, sizeof c->watch[i].sym,
				   &c->watch[i]);
	for (qn_id id = g->n; --id > 0;)
		if (qn_graph_node(g, id)->op == QN_OP_quantize)
			s.quantize[qn_graph_node(g, id)->in[0]] = id;
	for (qn_id id = g->n; --id > 0;) { /* a result before its operands */
		const qn_node *n = qn_graph_node(g, id);

		for (uint32_t k = 0; (shares[n->op] || scales[n->op]) && k < n->nin; k++) {
			const qn_id q = operand(&s, n, k);
			const qn_watch *w = watch_of(&s, q);

			if (w == NULL || !is_zero(&s, w))
				continue;
			const double beside = scale_beside(&s, id, k);
			const double scale = fmax(beside, finest_of_sum(&s, q));
			if (beside > 0 && (w->sym->idle == 0 || scale < w->sym->idle))
				qn_symbol_find(&c->m->types, w->sym->name)->idle = scale;
		}
	}
}
