/* SPDX-License-Identifier: Apache-2.0 */
/* calibration.c - see calibration.h. */
#include "driver/calibration.h"

#include <string.h>

#include "calibrate/lint.h"
#include "driver/score.h"
#include "ir/diag.h"

qn_status
qn_calibration_data(const qn_model *m, const qn_compile_opts *opts, qn_arena *a, qn_dataset **out)
{
	return qn_samples_for(qn_model_entry(m), a, opts->ncalib, opts->calib, opts->calib_names,
			      out);
}

const char *
qn_calibration_name(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--; /* a folder's name may end in slashes */
	while (n > 0 && path[n - 1] != '/')
		n--;
	return path + n;
}

/* Before the first pass: errors come at once, and the batch norms whose statistics the samples are
 * compared with are still there. */
qn_status
qn_calibration_lint(const qn_model *m, const qn_compile_opts *opts, qn_arena *a, uint32_t **crc)
{
	const qn_graph *g = qn_model_entry(m);
	qn_dataset *data = NULL;
	qn_lint lint;

	*crc = QN_NEW(a, uint32_t, qn_graph_fed(g));
	qn_arena *look = qn_arena_child(a);
	QN_TRY(qn_calibration_data(m, opts, look, &data));
	qn_lint_init(&lint, data, qn_graph_fed(g), look);
	lint.with_states = g->nstate > 0;
	QN_TRY(qn_dataset_check(data, look,
				&(qn_check){.crc = *crc, .look = qn_lint_sample, .user = &lint}));
	qn_lint_samples(&lint, m->env);
	const size_t told = m->env->diags->n;
	if (m->stage == QN_STAGE_FLOAT)
		QN_TRY(qn_lint_model(data, g, look));
	if (m->stage == QN_STAGE_FLOAT && qn_gives_classes(g) && m->env->diags->n == told)
		QN_TRY(qn_lint_outputs(data, g, look)); /* else the reason is known */
	qn_arena_release(look);
	return QN_OK;
}
