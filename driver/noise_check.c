/* SPDX-License-Identifier: Apache-2.0 */
/* noise_check.c - warns where a network quantized with samples does not give what the float network gives.
 *
 *   calibrated graph ─4 samples─▶ outputs ─SQNR─▶ less than 11 dB: accuracy.low
 *
 * Networks of 8 bits reach 15 to 40 dB.  With less than 11 dB more than a quarter of an output's amplitude is noise. */
#include <math.h>

#include "calibrate/calibrate.h"
#include "calibrate/lint.h"
#include "calibrate/outcome.h"
#include "driver/calibration.h"
#include "driver/noise_join.h"
#include "driver/trial.h"
#include "ir/diag.h"

enum {
	SAMPLES = 4, /* so few are not parted (trial.c) */
	LEAST_DECIBEL = 11,
	LEAST_WIDE = 20 /* with 16 bits, where weights of 8 leave 35 to 55 */
};

/* Some samples of a data set, evenly apart. */
typedef struct spread {
	qn_dataset *all;
	size_t apart;
} spread;

static qn_status
get_spread(qn_dataset *d, size_t index, qn_arena *scratch, const qn_tensor *const **inputs)
{
	const spread *s = d->user;

	return s->all->get(s->all, index * s->apart, scratch, inputs);
}

/* Samples from all over the data set; of a stateful network the first whole sequences. */
static qn_dataset
some_of(const qn_graph *g, qn_dataset *all, spread *s)
{
	const size_t steps = all->steps > 1 ? all->steps : 1;
	const size_t each = g->nstate > 0 ? all->sequence : steps;
	qn_dataset few = *all;

	few.nbatch = (SAMPLES + each - 1) / each * each;
	if (few.nbatch > all->nbatch)
		few.nbatch = all->nbatch;
	few.states = NULL; /* recorded for all */
	*s = (spread){all, all->nbatch / few.nbatch};
	if (each == 1 && s->apart > 1) {
		few.get = get_spread;
		few.reader = NULL;
		few.user = s;
	}
	return few;
}

/* The step of an output's quantized values; 0: it has none, or several. */
static double
step_of(const qn_graph *g, qn_id output)
{
	const qn_node *n = qn_graph_node(g, qn_output_compared(g, output));
	const qn_elem *e;
	double scale = 0;
	int64_t zp;

	if (n->op == QN_OP_dequantize) {
		e = qn_graph_node(g, n->in[0])->type->elem;
		if (e->gran == QN_PER_TENSOR)
			qn_elem_param(&g->model->types, e, 0, &scale, &zp);
	}
	return scale;
}

/* The largest float value of output k. */
static double
largest(const qn_trials *t, size_t k, int64_t count)
{
	double most = 0;

	for (size_t b = 0; b < t->data->nbatch; b++)
		for (int64_t i = 0; t->wanted[b][k] != NULL && i < count; i++)
			most = fmax(most, fabs((double)t->wanted[b][k][i]));
	return most;
}

/* Outputs that are smaller than their step on these samples, as those of a detector that saw nothing, count nothing. */
static void
drop_faint(qn_trials *t, const qn_graph *g)
{
	for (size_t k = 0; k < t->noutput; k++) {
		const qn_id output = g->output[k].value;
		const qn_node *n = qn_graph_node(g, qn_output_compared(g, output));

		if (largest(t, k, qn_type_count(n->type)) < step_of(g, output))
			for (int part = 0; part < QN_TRIAL_PARTS; part++)
				t->power[part][k] = 0;
	}
}

/* Whether some weights have fewer than 8 bits or one scale for all channels, or a recipe may say so. */
static bool
has_coarse_weights(const qn_pipeline *p)
{
	return (p->quant.weight_bits != 0 && p->quant.weight_bits < 8) ||
	       p->quant.per_tensor_weights || p->quant.has_recipe;
}

/* What repairs weights, where there are any whose rounding is seen: with 8 bits and a scale per channel it is not. */
static const char *
advice_on_weights(const qn_pipeline *p, const qn_graph *g)
{
	const bool coarse = has_coarse_weights(p);

	for (qn_id id = 1; coarse && id < g->n && p->opts->weight_rounding == QN_WEIGHTS_NEAREST;
	     id++)
		if (qn_opinfo_of(qn_graph_node(g, id))->behaviour == QN_ACC)
			return ", --weight-rounding gptq --bias-correction repairs weights";
	return "";
}

static qn_status
compare(qn_pipeline *p)
{
	qn_model *m = p->m;
	const qn_graph *g = qn_model_entry(m), *reference;
	const qn_id *map;
	qn_dataset *data, few;
	spread from;
	double error[QN_TRIAL_PARTS];

	QN_TRY(qn_calibration_data(m, p->opts, m->scratch, &data));
	QN_TRY(qn_lint_units(g, data, m->scratch));
	few = some_of(g, data, &from);
	qn_trials trials = {.p = p, .data = &few};
	QN_TRY(qn_float_reference(m, g, &reference, &map));
	QN_TRY(qn_trials_observe(&trials, reference));
	for (size_t k = 0; k < g->noutput; k++)
		qn_check_join(&trials, g, k, step_of(g, g->output[k].value));
	drop_faint(&trials, g);
	QN_TRY(qn_trials_error(&trials, NULL, g, m->scratch, error));
	const double db = qn_trial_decibel(&trials, QN_TRIAL_FIT, error[QN_TRIAL_FIT]);
	const bool all = p->opts->activations == QN_ACTIVATIONS_I16;
	const bool fine = all && !has_coarse_weights(p);
	if (!(db >= (fine ? LEAST_WIDE : LEAST_DECIBEL)))
		qn_warn(m->env, "accuracy.low", m->name,
			"on %zu samples the outputs are only %g dB (SQNR) from the float ones, "
			"where %s: quern analyze shows which layers lose it%s%s, and quern tune "
			"tries what else helps",
			few.nbatch, db,
			fine ? "16 bits usually reach 35 to 55" : "8 bits usually reach 15 to 40",
			all || p->opts->activations == QN_ACTIVATIONS_AUTO
				? ""
				: ", --activations auto gives 16 bits to those that need them",
			advice_on_weights(p, g));
	return QN_OK;
}

qn_status
qn_check_noise(qn_pipeline *p)
{
	qn_model *m = p->m;
	qn_arena *scratch = m->scratch;

	if (p->opts->ncalib == 0 || qn_came_quantized(m) ||
	    (m->nrepaired > 0 && m->unrepaired == NULL))
		return QN_OK;
	m->scratch = qn_arena_child(scratch); /* the float graph does not stay in memory */
	const qn_status status = compare(p);
	qn_arena_release(m->scratch);
	m->scratch = scratch;
	return status;
}
