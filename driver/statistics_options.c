/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_options.c - statistics among the options of a compilation: what they must belong to. */
#include "driver/statistics.h"

#include <string.h>

#include "driver/calibration.h"
#include "driver/context.h"
#include "driver/host_struct.h"
#include "driver/summary.h"
#include "quern/calibrate.h"

uint32_t
qn_stats_hash(const qn_model *m, qn_arena *scratch)
{
	qn_model like = *m;

	like.rounding = 0;
	return qn_model_hash(&like, scratch);
}

/* By base name and content, never by path.  crc: of each input's samples; NULL: not known yet. */
static qn_status
identify(const qn_model *m, const qn_compile_opts *o, const uint32_t *crc, qn_arena *a,
	 qn_samples_id *id)
{
	const size_t n = o->ncalib > 0 ? qn_graph_fed(qn_model_entry(m)) : 0;
	const char **name = QN_NEW(a, const char *, n);
	uint32_t *found = QN_NEW(a, uint32_t, n);
	const qn_prep **prep = QN_NEW(a, const qn_prep *, n);
	qn_dataset *data = NULL;

	*id = (qn_samples_id){.n = n, .name = name, .prep = prep};
	if (n == 0)
		return QN_OK;
	QN_TRY(qn_calibration_data(m, o, a, &data));
	if (crc == NULL)
		QN_TRY(qn_dataset_check(data, a, &(qn_check){.crc = found}));
	for (size_t i = 0; i < n; i++) {
		qn_buf b;

		qn_buf_init(&b, a);
		qn_buff(&b, "%s:%08x",
			o->calib_names != NULL
				? qn_calibration_name(qn_dataset_source(data, i)->name)
				: "-",
			crc != NULL ? crc[i] : found[i]);
		name[i] = qn_buf_str(&b);
		prep[i] = qn_dataset_source(data, i)->prep;
	}
	return QN_OK;
}

static qn_status
differs(const qn_model *m, const char *what, const char *here, const char *there)
{
	return qn_report(
		m->env, QN_EINVALID, "stats.mismatch", m->name,
		"the statistics are of %s %s, not of %s; remove the option, or calibrate again",
		what, there, here);
}

/* A method or samples that are given beside statistics must be theirs. */
static qn_status
check_given(qn_model *m, const qn_compile_opts *o, const qn_statistics *s, qn_samples_id *id,
	    qn_arena *scratch)
{
	qn_method_opts given;
	qn_buf here, there;

	qn_buf_init(&here, scratch);
	qn_buf_init(&there, scratch);
	if (o->method != NULL) {
		QN_TRY(qn_method_parse(m->env, scratch, o->method, &given));
		qn_method_print(&here, &given);
		qn_method_print(&there, &s->method);
		if (strcmp(qn_buf_str(&here), qn_buf_str(&there)) != 0)
			return differs(m, "the method", qn_buf_str(&here), qn_buf_str(&there));
	}
	for (size_t i = 0; i < id->n; i++) {
		const char *theirs = i < s->ndata ? s->data[i] : "no samples";

		if (strcmp(id->name[i], theirs) != 0)
			return differs(m, "the samples", id->name[i], theirs);
	}
	id->n = s->ndata;
	id->name = s->data;
	id->prep = s->prep;
	return QN_OK;
}

qn_status
qn_calib_options(qn_model *m, const qn_compile_opts *o, const uint32_t *crc, qn_arena *scratch,
		 qn_calib_opts *calib, qn_samples_id *id)
{
	qn_calibration *c;

	*calib = (qn_calib_opts){0};
	QN_TRY(identify(m, o, crc, scratch, id));
	if (o->stats == NULL) {
		QN_TRY(qn_method_parse(m->env, scratch, o->method, &calib->method));
	} else {
		const qn_statistics *s = o->stats->s;

		QN_TRY(qn_calibration_new(m, &c));
		QN_TRY(qn_calibration_check(c, qn_stats_hash(m, scratch), s));
		QN_TRY(check_given(m, o, s, id, scratch));
		calib->method = s->method;
		calib->observed = s;
	}
	calib->method.mse_weights = o->weight_method == QN_WEIGHTS_BY_MSE;
	return QN_OK;
}
