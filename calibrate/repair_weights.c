/* SPDX-License-Identifier: Apache-2.0 */
/* repair_weights.c - a layer's weights, rounded by the moments of what they are multiplied with. */
#include <math.h>
#include <string.h>

#include "calibrate/repair_impl.h"
#include "calibrate/weight_rounding.h"
#include "runtime/parallel.h"

enum { FACTORS = 11 }; /* 1, 0.95 … 0.5 */

typedef struct rounding {
	const qn_repairable *l;
	const qn_type *type; /* of the quantized weights, with numbers */
	bool descend, rescale;
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
round_output(const rounding *r, qn_rounder *with)
{
	const size_t n = (size_t)r->l->product.taps;
	const double lo = (double)r->type->elem->qmin, hi = (double)r->type->elem->qmax;
	double least = HUGE_VAL, found = 1;

	for (int f = 0; f < (r->rescale ? FACTORS : 1); f++) {
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

/* Outputs are dealt to workers in turn. */
typedef struct job {
	const qn_types *types;
	rounding r; /* without room for an output */
	const qn_moments *s;
	const qn_rounder *shared; /* of the only group; NULL: there are several */
	double *scale;            /* by output */
	size_t nworker;
} job;

static void
write_output(const rounding *r, int64_t o, double scale)
{
	const qn_product *p = &r->l->product;

	for (int64_t k = 0; k < p->taps; k++)
		r->l->weight[o * p->output_step + k * p->tap_step] =
			(float)(r->best[k] * (r->rescale ? scale : r->step[k]));
}

static qn_status
round_share(void *user, size_t worker, qn_arena *scratch)
{
	const job *j = user;
	const qn_product *p = &j->r.l->product;
	const size_t n = (size_t)p->taps;
	double *v = QN_NEW(scratch, double, 5 * n);
	rounding r = j->r;

	r.w = v;
	r.step = v + n;
	r.scaled = v + 2 * n;
	r.q = v + 3 * n;
	r.best = v + 4 * n;
	qn_rounder *with = j->shared != NULL ? qn_rounder_share(j->shared, scratch) : NULL;
	for (int64_t o = (int64_t)worker; o < p->outputs; o += (int64_t)j->nworker) {
		qn_arena *a = qn_arena_child(scratch);
		const size_t group = (size_t)(o / p->rows);

		if (j->shared == NULL)
			with = qn_rounder_new(n, j->s->second + group * n * n, a);
		read_output(&r, j->types, o);
		const double factor = round_output(&r, with);
		j->scale[o] = qn_round_to(QN_PLAIN_f32, r.step[0] * factor);
		write_output(&r, o, j->scale[o]);
		qn_arena_release(a);
	}
	return QN_OK;
}

qn_status
qn_round_layer(qn_model *m, const qn_graph *g, const qn_repairable *l, const qn_moments *s,
	       bool descend, qn_arena *a)
{
	const qn_node *quantize = qn_graph_node(g, l->w);
	const qn_product *p = &l->product;
	const qn_symbol *own = own_scales(m, g, l);
	job j = {.types = &m->types,
		 .r = {.l = l,
		       .type = qn_type_bind(&m->types, quantize->name, quantize->type),
		       .descend = descend,
		       .rescale = own != NULL},
		 .s = s,
		 .scale = QN_NEW(a, double, (size_t)p->outputs),
		 .nworker = qn_parallel_workers(m->env, (size_t)p->outputs)};

	if (j.r.type == NULL)
		return QN_EINVALID;
	if (p->w.groups == 1)
		j.shared = qn_rounder_new((size_t)p->taps, s->second, a);
	QN_TRY(qn_parallel(m->env, j.nworker, round_share, &j));
	if (own == NULL)
		return QN_OK;
	qn_symbol *sym = qn_symbol_find(&m->types, own->name);
	sym->bound = false; /* bound again, with the chosen scales */
	return qn_symbol_bind(&m->types, quantize->name, sym->name, (size_t)p->outputs, j.scale,
			      NULL);
}
