/* SPDX-License-Identifier: Apache-2.0 */
/* widen_tell.c - says which layers became 16 bits wide, and notes them in the model (driver/widen.h). */
#include <math.h>

#include "driver/trial.h"
#include "driver/widen.h"
#include "ir/diag.h"

static double
rounded(double db)
{
	static const double most = 999.99;

	return db < most ? rint(100 * db) / 100 : most;
}

/* Where the outputs stay far from the float ones: what 16 bits for all give, and what else there is. */
static void
tell_far(const qn_widening *w, qn_buf *b)
{
	const double all = qn_trial_decibel(&w->trials, QN_TRIAL_HELD, w->with_all);

	if (!w->is_far)
		return;
	if (!w->all_can)
		qn_buff(b, "; with 16 bits for all layers the graph does not become integer");
	else if (!w->all_help)
		qn_buff(b,
			"; 16 bits for all layers give %g dB: other errors cost the accuracy "
			"(quern analyze shows which), as those of weights",
			all);
	else
		qn_buff(b, "; 16 bits for all layers give %g dB", all);
}

void
qn_widen_tell(const qn_widening *w)
{
	qn_model *m = w->p->m;
	const double before = qn_trial_decibel(&w->trials, QN_TRIAL_HELD, w->first[QN_TRIAL_HELD]);
	const double after = qn_trial_decibel(&w->trials, QN_TRIAL_HELD, w->now[QN_TRIAL_HELD]);
	size_t nwide = 0;
	qn_buf b, failed, far;

	qn_buf_init(&b, m->scratch);
	qn_buf_init(&failed, m->scratch);
	qn_buf_init(&far, m->scratch);
	tell_far(w, &far);
	if (w->impossible > 0)
		qn_buff(&failed, " (in %zu of %zu trials the graph did not become integer)",
			w->impossible, w->tried);
	for (size_t k = 0; k < w->all.n; k++) {
		const qn_wide_layer *l = &w->all.layer[k];
		const qn_widened wide = {.value = l->source, .gain = rounded(l->gain)};

		if (!l->wide)
			continue;
		qn_buff(&b, "%s%s", nwide++ > 0 ? ", " : "", l->source);
		if (l->gain > 0) /* else the trials were used up before it was measured */
			qn_buff(&b, " +%g dB", wide.gain);
		for (size_t i = 0; i < l->ninput; i++)
			qn_buff(&b, "%s%s", i > 0 ? ", " : " with input ", l->input[i]);
		qn_model_widened(m, &wide);
	}
	if (nwide > 0)
		qn_log(m->env,
		       "activations: 16 bits for %zu of %zu layers (%s): SQNR of the outputs %g "
		       "dB, before %g dB%s",
		       nwide, w->all.n, qn_buf_str(&b), after, before, qn_buf_str(&far));
	else
		qn_log(m->env,
		       "activations: none of %zu layers needs 16 bits, none brings %d dB%s; SQNR "
		       "of the outputs %g dB%s",
		       w->all.n, (int)QN_WIDEN_LEAST_GAIN, qn_buf_str(&failed), before,
		       qn_buf_str(&far));
	qn_model_record(m, "activations=auto:%zu/%zu:%g:%g", nwide, w->all.n, before, after);
}
