/* SPDX-License-Identifier: Apache-2.0 */
/* solver.c - see solver.h.  The range of a point is the union over all samples, whichever thread runs them. */
#include "driver/solver.h"

#include <math.h>
#include <string.h>

#include "calibrate/sweep.h"
#include "driver/calibration.h"
#include "ir/diag.h"
#include "passes/passes.h"
#include "passes/solver.h"
#include "patterns/quantizer.h"

bool
qn_solver_is_due(const qn_pipeline *p)
{
	return p->opts->solver != QN_SOLVER_OFF || qn_has_op(p->m, QN_OP_stats) ||
	       qn_has_op(p->m, QN_OP_stats_ref) || qn_has_op(p->m, QN_OP_coupled_ref);
}

static qn_solver_opts
options(const qn_pipeline *p)
{
	return (qn_solver_opts){.activations = qn_activation_desc(&p->quant),
				.symmetric = qn_activation_symmetric(&p->quant),
				.couple_sums = p->opts->solver == QN_SOLVER_COUPLE_SUMS,
				.weight_bits = p->quant.weight_bits,
				.weight_block = p->quant.weight_block,
				.per_tensor_weights = p->quant.per_tensor_weights};
}

/* ---- statistics ---- */

/* Of one worker. */
typedef struct gathered {
	const qn_graph *g;
	const qn_mask *mask; /* by id */
	qn_found_range *at;  /* by id */
	qn_id bad;           /* a point with a value that is not finite; 0: none */
} gathered;

static void
widen(qn_found_range *r, double v)
{
	r->lo = r->seen && r->lo < v ? r->lo : v;
	r->hi = r->seen && r->hi > v ? r->hi : v;
	r->seen = true;
}

static void
widen_axis(qn_found_range *r, size_t k, double v, bool first)
{
	double *pair = &r->axis[2 * k];

	pair[0] = first || v < pair[0] ? v : pair[0];
	pair[1] = first || v > pair[1] ? v : pair[1];
}

static qn_status
observe(void *user, const qn_graph *g, qn_id id, const qn_tensor *value)
{
	gathered *w = user;
	const qn_node *n = qn_graph_node(g, id);
	int64_t inner = 1;

	if (n->op != QN_OP_stats_ref || g != w->g)
		return QN_OK;
	qn_found_range *r = &w->at[id];
	const bool first = !r->seen;
	for (int32_t k = (int32_t)n->attr->stats_ref.axis + 1; r->naxis > 0 && k < n->type->rank;
	     k++)
		inner *= n->type->dim[k];
	for (int64_t i = 0; i < qn_type_count(value->type); i++) {
		const double v = qn_tensor_f64(value, i);

		/* not where each index of an axis has a range: there may be nothing else in one of them */
		if (r->naxis == 0 && qn_mask_leaves_out(w->mask[id], v)) {
			r->masked = true;
			continue;
		}
		if (!isfinite(v)) {
			w->bad = id;
			return QN_OK;
		}
		widen(r, v);
		if (r->naxis > 0)
			widen_axis(r, (size_t)(i / inner) % r->naxis, v,
				   first && (size_t)(i / inner) < r->naxis && i % inner == 0);
	}
	return QN_OK;
}

static gathered *
new_gathered(const qn_graph *g, qn_arena *a)
{
	gathered *w = QN_NEW(a, gathered, 1);

	*w = (gathered){
		.g = g, .mask = qn_mask_values(g, a), .at = QN_NEW(a, qn_found_range, g->n)};
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op != QN_OP_stats_ref || n->attr->stats_ref.axis < 0)
			continue;
		w->at[id].naxis = (size_t)n->type->dim[n->attr->stats_ref.axis];
		w->at[id].axis = QN_NEW(a, double, 2 * w->at[id].naxis);
	}
	return w;
}

static void
merge(gathered *to, const gathered *from)
{
	to->bad = to->bad != 0 ? to->bad : from->bad;
	for (qn_id id = 1; id < to->g->n; id++) {
		const qn_found_range *r = &from->at[id];
		qn_found_range *all = &to->at[id];
		const bool first = !all->seen;

		all->masked = all->masked || r->masked;
		if (!r->seen)
			continue;
		widen(all, r->lo);
		widen(all, r->hi);
		for (size_t k = 0; k < r->naxis; k++) {
			widen_axis(all, k, r->axis[2 * k], first);
			widen_axis(all, k, r->axis[2 * k + 1], false);
		}
	}
}

/* Room below what was observed for what masks left out. */
static void
widen_masks(const gathered *all)
{
	for (qn_id id = 1; id < all->g->n; id++) {
		qn_found_range *r = &all->at[id];

		if (!r->masked)
			continue;
		qn_mask_widen(all->mask[id], &r->lo, &r->hi, r->seen);
		r->seen = true;
	}
}

/* Runs the samples and makes statistics of all points. */
static qn_status
gather(qn_pipeline *p)
{
	const qn_graph *g = qn_model_entry(p->m);
	qn_dataset *data = NULL;
	qn_sweep *sweep;

	QN_TRY(qn_calibration_data(p->m, p->opts, p->scratch, &data));
	QN_TRY(qn_sweep_new(g, data, p->scratch, &sweep));
	void **user = QN_NEW(p->scratch, void *, sweep->nworker);
	gathered *all = new_gathered(g, p->scratch);
	for (size_t i = 0; i < sweep->nworker; i++)
		user[i] = new_gathered(g, p->scratch);
	QN_TRY(qn_sweep_run(sweep, observe, NULL, user));
	for (size_t i = 0; i < sweep->nworker; i++)
		merge(all, user[i]);
	if (all->bad != 0)
		return qn_report(p->m->env, QN_EINVALID, "calibrate.nonfinite",
				 qn_node_place(g, qn_graph_node(g, all->bad)),
				 "'%s' has a value that is not finite on the samples; remove these "
				 "samples, or limit the value",
				 qn_graph_node(g, all->bad)->name);
	widen_masks(all);
	return qn_resolve_statistics(p->m, all->at);
}

qn_status
qn_solver_instrument(qn_pipeline *p)
{
	const qn_solver_opts opts = options(p);

	QN_TRY(qn_instrument(p->m, &opts));
	return p->opts->ncalib > 0 ? gather(p) : QN_OK;
}

qn_status
qn_solver_transform(qn_pipeline *p)
{
	const qn_solver_opts opts = options(p);

	QN_TRY(qn_transform(p->m, &opts));
	qn_model_record(p->m, "solver=%s", opts.couple_sums ? "couple-sums" : "on");
	return QN_OK;
}
