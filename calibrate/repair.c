/* SPDX-License-Identifier: Apache-2.0 */
/* repair.c - see repair.h: what the float graph gives, layer after layer, and whether the network is nearer to it then. */
#include "calibrate/repair.h"

#include <math.h>

#include "calibrate/calibrate.h"
#include "calibrate/repair_impl.h"
#include "ir/diag.h"
#include "ir/limits.h"
#include "ir/progress.h"
#include "runtime/math.h"

enum {
	HOLD = 4,             /* one of that many samples is held out */
	LEAST_TO_HOLD = 8,    /* with fewer samples all of them serve both ends */
	KEEP_BYTES = 1 << 29, /* of inputs of layers, for all samples */
	HELD_BYTES = 1 << 28  /* of float outputs of layers, for the samples held back */
};

bool
qn_repair_holds(const qn_repairing *r, size_t batch)
{
	return r->data->nbatch < LEAST_TO_HOLD ||
	       (batch % HOLD == HOLD - 1 && batch / HOLD < r->most_held);
}

bool
qn_repair_fits(const qn_repairing *r, size_t batch)
{
	return r->data->nbatch < LEAST_TO_HOLD || !qn_repair_holds(r, batch);
}

void
qn_repair_add(const float *y, size_t n, size_t channels, double *to)
{
	for (size_t i = 0; i < n; i += channels)
		for (size_t c = 0; c < channels; c++)
			to[c] += (double)y[i + c];
}

qn_symbol *
qn_repair_scales(const qn_repairing *r, const qn_repairable *l)
{
	const qn_scale *s = qn_graph_node(r->all.g, l->w)->type->elem->scale;

	return s->kind == QN_SCALE_SYM ? qn_symbol_find(&r->m->types, s->sym->name) : NULL;
}

/* ---- the float graph ---- */

static void
want(qn_repairing *r, qn_wanted *w, const qn_tensor *y, size_t batch, size_t held)
{
	const size_t n = (size_t)qn_type_count(y->type);

	if (w->fit != NULL && qn_repair_fits(r, batch)) /* a layer's output has channels */
		qn_repair_add(y->data, n, (size_t)y->type->dim[y->type->rank - 1], w->fit);
	if (!qn_repair_holds(r, batch))
		return;
	float *copy = qn_arena_copy(r->m->scratch, y->data, n * sizeof *copy);
	for (size_t i = 0; i < n; i++)
		w->power += (double)copy[i] * (double)copy[i];
	w->held[held] = copy;
}

/* Runs the float graph on all samples. */
static qn_status
observe_real(qn_repairing *r, const qn_graph *real, const qn_id *map)
{
	qn_arena *a = r->m->scratch;
	const size_t n = r->all.n, all = n + r->all.g->noutput;
	qn_evaluator *e = qn_evaluator_new(real, r->data, 0, a);
	qn_evaluator_stack(e);
	qn_id *id = QN_NEW(a, qn_id, all);
	const qn_tensor **y = QN_NEW(a, const qn_tensor *, all);
	size_t held = 0;

	for (size_t i = 0; i < all; i++)
		id[i] = map[i < n ? r->all.layer[i].y : r->all.g->output[i - n].value];
	for (size_t b = 0; b < r->data->nbatch; b++) {
		QN_TRY(qn_evaluator_run(e, all, id, b, y));
		for (size_t i = 0; i < all; i++)
			if (i < n || qn_type_is_f32(y[i]->type))
				want(r, i < n ? &r->layer[i] : &r->output[i - n], y[i], b, held);
		held += qn_repair_holds(r, b);
		QN_TRY(qn_progress(r->m->env, "float samples", b + 1, r->data->nbatch));
	}
	return QN_OK;
}

/* ---- the network ---- */

/* The squared error of its outputs on the samples held back, each relative to the output's squares. */
static qn_status
output_error(const qn_repairing *r, const qn_graph *g, double *error)
{
	qn_arena *a = r->m->scratch;
	qn_evaluator *e = qn_evaluator_new(g, r->data, 0, a);
	qn_id *id = QN_NEW(a, qn_id, g->noutput);
	const qn_tensor **y = QN_NEW(a, const qn_tensor *, g->noutput);
	size_t held = 0;

	*error = 0;
	for (size_t i = 0; i < g->noutput; i++)
		id[i] = g->output[i].value;
	for (size_t b = 0; b < r->data->nbatch; b++) {
		if (!qn_repair_holds(r, b))
			continue;
		QN_TRY(qn_evaluator_run(e, g->noutput, id, b, y));
		for (size_t k = 0; k < g->noutput; k++) {
			const qn_wanted *w = &r->output[k];
			const size_t n = (size_t)qn_type_count(y[k]->type);

			for (size_t i = 0; w->power > 0 && i < n; i++) {
				const double d =
					qn_tensor_f64(y[k], (int64_t)i) - (double)w->held[held][i];

				*error += d * d / w->power;
			}
		}
		held++;
	}
	return QN_OK;
}

/* ---- all layers ---- */

/* At least one, however large it is. */
static size_t
most_held(const qn_repairing *r)
{
	size_t bytes = 1;

	for (size_t i = 0; i < r->all.n; i++)
		bytes += qn_type_bytes(qn_graph_node(r->all.g, r->all.layer[i].y)->type) *
			 (size_t)r->all.layer[i].steps;
	return bytes < HELD_BYTES ? HELD_BYTES / bytes : 1;
}

static void
make_room(qn_repairing *r)
{
	qn_arena *a = r->m->scratch;
	size_t most = 0;

	r->layer = QN_NEW(a, qn_wanted, r->all.n);
	r->output = QN_NEW(a, qn_wanted, r->all.g->noutput);
	r->most_held = most_held(r);
	for (size_t b = 0; b < r->data->nbatch; b++) {
		r->nheld += qn_repair_holds(r, b);
		r->nfit += qn_repair_fits(r, b);
	}
	for (size_t i = 0; i < r->all.n; i++) {
		const qn_repairable *l = &r->all.layer[i];
		const size_t n = (size_t)qn_type_count(qn_graph_node(r->all.g, l->x)->type) *
				 (size_t)l->steps;

		most = n > most ? n : most;
		r->layer[i] = (qn_wanted){.fit = QN_NEW(a, double, (size_t)l->product.outputs),
					  .held = QN_NEW(a, float *, r->nheld)};
	}
	for (size_t i = 0; i < r->all.g->noutput; i++)
		r->output[i].held = QN_NEW(a, float *, r->nheld);
	r->x = QN_NEW(a, double, most);
}

static qn_status
repair_layers(qn_repairing *r, qn_repaired *done)
{
	qn_env *env = r->m->env;

	r->quantized = qn_evaluator_new(r->all.g, r->data, KEEP_BYTES, r->m->scratch);
	qn_evaluator_stack(r->quantized);
	for (size_t k = 0; k < r->all.n; k++) {
		qn_arena *a = qn_arena_child(r->m->scratch);
		const uint64_t steps = qn_evaluator_steps(r->quantized);

		QN_TRY(qn_repair_layer(r, k, a, &done[k]));
		qn_arena_release(a);
		if (steps > qn_limit(env, QN_LIMIT_STEPS))
			return qn_limit_report(env, QN_LIMIT_STEPS, r->all.layer[k].name, steps);
		QN_TRY(qn_progress(env, "repairs", k + 1, r->all.n));
	}
	return QN_OK;
}

/* The float graph before the repairs, to compare with later: it lives as long as the model. */
static qn_status
keep_float_form(qn_model *m)
{
	qn_arena *scratch = m->scratch;
	qn_graph *real;
	qn_id *map;

	if (m->unrepaired != NULL)
		return QN_OK;
	m->scratch = m->arena;
	const qn_status status = qn_erase_quantization(m, qn_model_entry(m), true, &real, &map);
	m->scratch = scratch;
	if (status == QN_OK)
		m->unrepaired = real;
	return status;
}

/* SQNR with two decimals, of the sum of the relative squared errors of so many outputs. */
static double
decibel(double error, size_t outputs)
{
	return error > 0 ? rint(-1000 * (qn_ln(error / (double)outputs) / qn_ln(10))) / 100
			 : (double)INFINITY;
}

/* The repaired graph replaces the model's where its outputs are nearer to the float ones. */
static qn_status
keep_if_better(qn_repairing *r, const qn_repaired *done, qn_graph **out)
{
	qn_model *m = r->m;
	double before, after;
	qn_graph *real;
	qn_id *map;
	qn_symbol *own = QN_NEW(m->scratch, qn_symbol, r->all.n);

	QN_TRY(output_error(r, r->all.g, &after));
	for (size_t k = 0; k < r->all.n; k++) {
		qn_symbol *sym = qn_repair_scales(r, &r->all.layer[k]);

		if (sym == NULL)
			continue;
		own[k] = *sym;
		*sym = r->all.layer[k].scales;
	}
	QN_TRY(output_error(r, qn_model_entry(m), &before));
	size_t measured = 0; /* outputs that are float, and not always 0 */
	for (size_t k = 0; k < r->all.g->noutput; k++)
		measured += r->output[k].power > 0;
	if (measured > 0 && !(after < before)) {
		qn_warn(m->env, "repair.dropped", m->name,
			"weights and biases stay as they were: after repairs the outputs' SQNR on "
			"the samples held back is %g dB, before %g dB; more samples may help",
			decibel(after, measured), decibel(before, measured));
		return QN_OK;
	}
	QN_TRY(keep_float_form(m));
	for (size_t k = 0; k < r->all.n; k++) {
		qn_symbol *sym = qn_repair_scales(r, &r->all.layer[k]);

		if (sym != NULL)
			*sym = own[k];
		qn_model_repaired(m, &done[k]);
	}
	*out = r->all.g;
	QN_TRY(qn_erase_quantization(m, r->all.g, true, &real, &map));
	return qn_widen_bias_scales(m, r->all.g, real, map);
}

qn_status
qn_repair(qn_model *m, qn_dataset *data, const qn_repair_opts *opts, qn_graph **out)
{
	qn_repairing r = {.m = m, .data = data, .o = opts};
	qn_graph *real;
	qn_id *map;

	*out = NULL;
	if (m->stage != QN_STAGE_SYMBOLIC)
		return qn_report(
			m->env, QN_EINVALID, "pass.stage", m->name,
			"repair takes a symbolic graph after its calibration; this one is %s",
			qn_stage_names[m->stage]);
	QN_TRY(qn_repairables_find(m, opts, &r.all));
	QN_TRY(qn_erase_quantization(m, r.all.g, true, &real, &map));
	make_room(&r);
	for (size_t k = 0; k < r.all.n; k++) {
		const qn_symbol *sym = qn_repair_scales(&r, &r.all.layer[k]);

		if (sym != NULL)
			r.all.layer[k].scales = *sym;
	}
	QN_TRY(observe_real(&r, real, map));
	qn_repaired *done = QN_NEW(m->scratch, qn_repaired, r.all.n);
	QN_TRY(repair_layers(&r, done));
	return r.all.n > 0 ? keep_if_better(&r, done, out) : QN_OK;
}
