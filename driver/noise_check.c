/* SPDX-License-Identifier: Apache-2.0 */
/* noise_check.c - warns where a network quantized with samples does not give what the float network gives.
 *
 *   calibrated graph ─4 samples─▶ outputs ─SQNR─▶ less than 10 dB: accuracy.low
 *
 * Networks of 8 bits reach 15 to 40 dB.  With less than 10 dB a third of an output's amplitude is noise. */
#include <math.h>

#include "calibrate/calibrate.h"
#include "driver/calibration.h"
#include "driver/trial.h"
#include "ir/diag.h"

enum {
	SAMPLES = 4, /* so few are not parted (trial.c) */
	LEAST_DECIBEL = 10
};

/* The first ones; of a stateful network whole sequences. */
static qn_dataset
some_of(const qn_graph *g, const qn_dataset *all)
{
	const size_t steps = all->steps > 1 ? all->steps : 1;
	const size_t each = g->nstate > 0 ? all->sequence : steps;
	qn_dataset few = *all;

	few.nbatch = (SAMPLES + each - 1) / each * each;
	if (few.nbatch > all->nbatch)
		few.nbatch = all->nbatch;
	few.states = NULL; /* recorded for all */
	return few;
}

static qn_status
compare(qn_pipeline *p)
{
	qn_model *m = p->m;
	const qn_graph *g = qn_model_entry(m), *reference;
	const qn_id *map;
	qn_dataset *all, few;
	double error[QN_TRIAL_PARTS];

	QN_TRY(qn_calibration_data(m, p->opts, m->scratch, &all));
	few = some_of(g, all);
	qn_trials trials = {.p = p, .data = &few};
	QN_TRY(qn_float_reference(m, g, &reference, &map));
	QN_TRY(qn_trials_observe(&trials, reference));
	QN_TRY(qn_trials_error(&trials, qn_evaluator_new(g, &few, 0, m->scratch), g, m->scratch,
			       error));
	const double db = qn_trial_decibel(&trials, QN_TRIAL_FIT, error[QN_TRIAL_FIT]);
	const bool wide = p->opts->activations == QN_ACTIVATIONS_I16 ||
			  p->opts->activations == QN_ACTIVATIONS_AUTO;
	if (!(db >= LEAST_DECIBEL))
		qn_warn(m->env, "accuracy.low", m->name,
			"on %zu samples the outputs are only %g dB (SQNR) from the float ones, "
			"where 8 bits usually reach 15 to 40: quern analyze shows which layers "
			"lose it%s, and quern tune tries what else helps",
			few.nbatch, db,
			wide ? "" : ", --activations auto gives 16 bits to those that need them");
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
