/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c - the method of each value: that of the options, or the one that a recipe gives it.
 *
 *   options kl;  conv1.x percentile   ->   kl observes all values but conv1.x, then percentile observes conv1.x
 *
 * Each method observes its own values and nothing else, in as many passes over the samples as it
 * takes. */
#include <string.h>

#include "calibrate/calibrate.h"
#include "ir/diag.h"

/* The number of a method among those known so far; n: not found. */
static size_t
index_of(const qn_methods *m, const char *text)
{
	size_t i = 1;

	if (text == NULL)
		return 0;
	while (i < m->n && strcmp(m->text[i], text) != 0)
		i++;
	return i;
}

qn_status
qn_methods_of(const qn_calibration *c, const qn_method_opts *o, qn_methods *out)
{
	qn_arena *a = c->m->scratch;
	size_t cap = 0, text_cap = 0;

	*out = (qn_methods){.n = 1,
			    .text = qn_arena_grow(a, NULL, &text_cap, 1, sizeof *out->text),
			    .opts = qn_arena_grow(a, NULL, &cap, 1, sizeof *out->opts)};
	out->opts[0] = *o;
	if (o->method == NULL) {
		QN_TRY(qn_method_parse(c->m->env, a, NULL, &out->opts[0]));
		out->opts[0].mse_weights = o->mse_weights;
	}
	for (size_t i = 0; i < c->nwatch; i++) {
		const char *text = c->watch[i].sym->method;
		const size_t k = index_of(out, text);

		if (k < out->n)
			continue;
		out->text = qn_arena_grow(a, (void *)(uintptr_t)out->text, &text_cap, k + 1,
					  sizeof *out->text);
		out->opts = qn_arena_grow(a, out->opts, &cap, k + 1, sizeof *out->opts);
		out->text[k] = text;
		QN_TRY(qn_method_parse(c->m->env, a, text, &out->opts[k]));
		out->n++;
	}
	return QN_OK;
}

/* ---- ranges ---- */

/* A method that gives the pair itself needs no samples. */
static qn_status
find_unseen(const qn_calibration *c, const qn_method_opts *method, qn_finding **out)
{
	qn_status status = QN_OK;

	*out = QN_NEW(c->m->scratch, qn_finding, c->nwatch);
	for (size_t i = 0; i < c->nwatch; i++) {
		const qn_watch *w = &c->watch[i];
		const qn_elem *e = w->quantize->type->elem;
		bool symmetric = w->sym->kind == QN_SYM_SYMMETRIC;
		qn_seen seen = {
			.opts = method, .symmetric = symmetric, .qmin = e->qmin, .qmax = e->qmax};

		method->method->finish(&seen, c->m->scratch, &(*out)[i]);
		int64_t zp = (*out)[i].zp;
		if (zp < e->qmin || zp > e->qmax || (symmetric && zp != 0))
			status = qn_report(
				c->m->env, QN_EINVALID, "calibrate.zero-point", w->quantize->name,
				"$%s cannot have the zero point %lld: %s", w->sym->name,
				(long long)zp,
				symmetric ? "it is symmetric" : "it is outside the storage range");
	}
	return status;
}

const char *
qn_samples_advice(const qn_model *m)
{
	return qn_graph_reads_tokens(qn_model_entry(m))
		       ? "give samples: a text that the model may continue (--calib FILE.txt), "
			 "or its tokens (--calib FILE.npy --sequence N), as quern tokens "
			 "MODEL.gguf FILE.txt --sequence N -o FILE.npy writes them"
		       : "give samples (--calib FILE.npy)";
}

/* The values of c by one method. */
static qn_status
find(const qn_calibration *c, qn_dataset *data, const qn_method_opts *method, qn_finding **out)
{
	if (method->method->passes == 0)
		return find_unseen(c, method, out);
	if (data == NULL)
		return qn_report(c->m->env, QN_EINVALID, "calibrate.no-data", c->m->name,
				 "calibration data required: the ranges of %zu activations are "
				 "unknown; %s",
				 c->nwatch, qn_samples_advice(c->m));
	qn_statistics *s = qn_calibration_start(c, method, data, NULL, false);
	QN_TRY(qn_calibration_finish(c, data, s));
	return qn_calibration_find(c, s, out);
}

/* Those of the values that a method finds; at: their numbers among all. */
static qn_calibration
values_of(const qn_calibration *c, const char *method, size_t *at)
{
	qn_arena *a = c->m->scratch;
	qn_calibration part = *c;

	part.by_value = QN_NEW(a, qn_observation *, c->real->n);
	part.nlook = 0;
	part.watch = QN_NEW(a, qn_watch, c->nwatch);
	part.nwatch = 0;
	for (size_t i = 0; i < c->nwatch; i++) {
		const char *its = c->watch[i].sym->method;

		if (its == NULL || method == NULL ? its != method : strcmp(its, method) != 0)
			continue;
		at[part.nwatch] = i;
		qn_calibration_watch(&part, &c->watch[i]);
	}
	return part;
}

qn_status
qn_methods_only_one(const qn_calibration *c, const qn_methods *methods)
{
	if (methods->n < 2)
		return QN_OK;
	return qn_report(c->m->env, QN_EINVALID, "stats.method", c->m->name,
			 "statistics are of one calibration method, and the recipe has others "
			 "('%s'): calibrate on samples, without statistics",
			 methods->text[1]);
}

qn_status
qn_methods_find(const qn_calibration *c, qn_dataset *data, const qn_statistics *observed,
		const qn_methods *methods, qn_finding **out)
{
	qn_arena *a = c->m->scratch;
	size_t *at = QN_NEW(a, size_t, c->nwatch);

	if (observed != NULL) {
		QN_TRY(qn_methods_only_one(c, methods));
		return qn_calibration_find(c, observed, out);
	}
	if (methods->n == 1)
		return find(c, data, &methods->opts[0], out);
	*out = QN_NEW(a, qn_finding, c->nwatch);
	for (size_t k = 0; k < methods->n; k++) {
		const qn_calibration part = values_of(c, methods->text[k], at);
		qn_finding *found;

		if (part.nwatch == 0)
			continue;
		QN_TRY(find(&part, data, &methods->opts[k], &found));
		for (size_t i = 0; i < part.nwatch; i++)
			/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a finding for each watch */
			(*out)[at[i]] = found[i];
	}
	return QN_OK;
}

/* ---- searches ---- */

qn_status
qn_methods_search(const qn_calibration *c, const qn_dataset *data, qn_methods *methods,
		  qn_calib_opts *o)
{
	qn_calib_callback *list =
		QN_NEW(c->m->scratch, qn_calib_callback, o->ncallback + methods->n);

	for (size_t i = 0; i < o->ncallback; i++)
		list[i] = o->callback[i];
	o->callback = list;
	for (size_t k = 0; k < methods->n && c->nwatch > 0; k++) {
		const qn_method *row = methods->opts[k].method;

		if (row->search == NULL)
			continue;
		if (data == NULL)
			return qn_report(c->m->env, QN_EINVALID, "calibrate.no-data", c->m->name,
					 "calibration data required: the method %s tries scales on "
					 "samples%s; %s",
					 row->name,
					 o->observed != NULL ? ", and statistics do not have them"
							     : "",
					 qn_samples_advice(c->m));
		list[o->ncallback++] = (qn_calib_callback){
			.fn = row->search, .user = &methods->opts[k], .method = methods->text[k]};
	}
	return QN_OK;
}
