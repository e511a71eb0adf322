/* SPDX-License-Identifier: Apache-2.0 */
/* repair_weights.c - a layer's weights, rounded by the moments of what they are multiplied with. */
#include <math.h>
#include <string.h>

#include "calibrate/repair_impl.h"
#include "calibrate/weight_rounding.h"

enum { FACTORS = 11 }; /* 1, 0.95 … 0.5 */

typedef struct rounding {
	const qn_repairable *l;
	const qn_type *type; /* of the quantized weights, with numbers */
	bool descend;
	double *w, *step, *scaled, *q, *best; /* of an output */
} rounding;

/* The weights of output o and their steps. */
static void
read_output(const rounding *r, const qn_types *t, int64_t o)
{
	const qn_product *p = &r->l->product;
	int64_t idx[QN_MAX_RANK];

	for (int64_t k = 0; k < p->taps; k++) {
		int64_t at = o * p->output_step + k * p->tap_step, zp;

		r->w[k] = (double)r->l->original[at];
		for (int32_t d = r->type->rank - 1; d >= 0; d--) {
			idx[d] = at % r->type->dim[d];
			at /= r->type->dim[d];
		}
		qn_elem_param(t, r->type->elem, qn_type_param_index(r->type, idx), &r->step[k],
			      &zp);
	}
}

/* The integers in r->best; returns the factor of the step that they are for. */
static double
round_output(const rounding *r, qn_rounder *with, bool rescale)
{
	const size_t n = (size_t)r->l->product.taps;
	const double lo = (double)r->type->elem->qmin, hi = (double)r->type->elem->qmax;
	double least = HUGE_VAL, found = 1;

	for (int f = 0; f < (rescale ? FACTORS : 1); f++) {
		const double factor = 1 - 0.05 * f;

		for (size_t k = 0; k < n; k++)
			r->scaled[k] = r->step[k] * factor;
		const double cost =
			qn_round_weights(with, r->w, r->scaled, lo, hi, r->descend, r->q);
		if (cost < least) {
			least = cost;
			found = factor;
			memcpy(r->best, r->q, n * sizeof *r->q);
		}
	}
	return found;
}

/* Whether each output has a scale that no other value uses. */
static const qn_symbol *
own_scales(const qn_model *m, const qn_graph *g, const qn_repairable *l)
{
	const qn_elem *e = qn_graph_node(g, l->w)->type->elem;
	const qn_symbol *sym = e->scale->kind == QN_SCALE_SYM ? e->scale->sym : NULL;

	if (sym == NULL || e->gran != QN_PER_AXIS || sym->len != l->product.outputs)
		return NULL;
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (id != l->w && n->op == QN_OP_quantize &&
		    n->type->elem->scale->kind == QN_SCALE_SYM && n->type->elem->scale->sym == sym)
			return NULL;
	}
	return qn_symbol_find(&m->types, sym->name);
}

qn_status
qn_round_layer(qn_model *m, const qn_graph *g, const qn_repairable *l, const qn_moments *s,
	       bool descend, qn_arena *a)
{
	const qn_node *quantize = qn_graph_node(g, l->w);
	const qn_product *p = &l->product;
	const size_t n = (size_t)p->taps;
	const qn_symbol *own = own_scales(m, g, l);
	double *v = QN_NEW(a, double, 5 * n), *scale = QN_NEW(a, double, (size_t)p->outputs);
	rounding r = {.l = l,
		      .type = qn_type_bind(&m->types, quantize->name, quantize->type),
		      .descend = descend,
		      .w = v,
		      .step = v + n,
		      .scaled = v + 2 * n,
		      .q = v + 3 * n,
		      .best = v + 4 * n};

	if (r.type == NULL)
		return QN_EINVALID;
	for (int64_t group = 0; group < p->w.groups; group++) {
		qn_rounder *with = qn_rounder_new(n, s->second + (size_t)group * n * n, a);

		for (int64_t o = group * p->rows; o < (group + 1) * p->rows; o++) {
			read_output(&r, &m->types, o);
			const double factor = round_output(&r, with, own != NULL);
			scale[o] = qn_round_to(QN_PLAIN_f32, r.step[0] * factor);
			for (size_t k = 0; k < n; k++) {
				const double step = own != NULL ? scale[o] : r.step[k];

				l->weight[o * p->output_step + (int64_t)k * p->tap_step] =
					(float)(r.best[k] * step);
			}
		}
	}
	if (own == NULL)
		return QN_OK;
	qn_symbol *sym = qn_symbol_find(&m->types, own->name);
	sym->bound = false; /* bound anew with the chosen scales */
	return qn_symbol_bind(&m->types, quantize->name, sym->name, (size_t)p->outputs, scale,
			      NULL);
}
