/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.c - which values are wanted, and from what was observed of them their ranges. */
#include "calibrate/calibrate.h"
#include "calibrate/clip.h"
#include "calibrate/growth.h"

#include <math.h>
#include <string.h>

#include "ir/diag.h"
#include "ir/foreign_names.h"
#include "ir/limits.h"
#include "runtime/parallel.h"

const qn_symbol *
qn_symbol_to_calibrate(const qn_node *n)
{
	const qn_elem *e = n->type->elem;

	return n->op == QN_OP_quantize && e->scale->kind == QN_SCALE_SYM ? e->scale->sym : NULL;
}

const char *
qn_stage_text(const qn_model *m)
{
	return m->stage == QN_STAGE_CALIBRATED && !m->quantized_here ? "quantized"
								     : qn_stage_names[m->stage];
}

qn_status
qn_calibration_check_stage(const qn_model *m)
{
	if (m->stage == QN_STAGE_SYMBOLIC)
		return QN_OK;
	return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
			 "calibrate takes a symbolic graph; this one is %s%s", qn_stage_text(m),
			 m->stage < QN_STAGE_CALIBRATED
				 ? ""
				 : " already, with its parameters; --from-float "
				   "dequantizes a quantized file, to recalibrate it");
}

static qn_status
new_calibration(qn_model *m, bool keep_fixed, qn_calibration **out)
{
	qn_calibration *c = QN_NEW(m->scratch, qn_calibration, 1);
	qn_graph *real;
	qn_id *map;

	*out = c;
	QN_TRY(qn_calibration_check_stage(m));
	*c = (qn_calibration){.m = m, .g = qn_model_entry(m)};
	QN_TRY(qn_erase_quantization(m, c->g, !keep_fixed, &real, &map));
	c->real = real;
	c->map = map;
	c->mask = qn_mask_values(c->g, m->scratch);
	return qn_calibration_watch_all(c);
}

qn_status
qn_calibration_new(qn_model *m, qn_calibration **out)
{
	return new_calibration(m, false, out);
}

/* The same values, but other ranges of quantized values. */
static bool
have_other_types(const qn_calibration *c, const qn_statistics *s)
{
	bool same_names = s->n == c->nwatch, same_types = true;

	for (size_t i = 0; same_names && i < s->n; i++) {
		const qn_elem *e = c->watch[i].quantize->type->elem;

		same_names = strcmp(s->value[i].name, c->watch[i].name) == 0;
		same_types = same_types && s->value[i].qmin == e->qmin &&
			     s->value[i].qmax == e->qmax &&
			     s->value[i].symmetric == (c->watch[i].sym->kind == QN_SYM_SYMMETRIC);
	}
	return same_names && !same_types;
}

qn_status
qn_calibration_check(const qn_calibration *c, uint32_t hash, const qn_statistics *s)
{
	bool same = s->hash == hash && s->n == c->nwatch;

	for (size_t i = 0; same && i < s->n; i++) {
		const qn_elem *e = c->watch[i].quantize->type->elem;

		same = strcmp(s->value[i].name, c->watch[i].name) == 0 &&
		       s->value[i].symmetric == (c->watch[i].sym->kind == QN_SYM_SYMMETRIC) &&
		       s->value[i].qmin == e->qmin && s->value[i].qmax == e->qmax;
	}
	if (same)
		return QN_OK;
	if (have_other_types(c, s))
		return qn_report(c->m->env, QN_EINVALID, "stats.mismatch", c->m->name,
				 "the statistics are for other storage types (--scheme, "
				 "--activations or a recipe); give the same options to quern "
				 "calibrate");
	return qn_report(c->m->env, QN_EINVALID, "stats.mismatch", c->m->name,
			 "the statistics are of another model ('%s', content %08x; this one has "
			 "%08x) or of other options; calibrate this model with the same --scheme, "
			 "--weights, --weights-type, --weight-block, --activations, --dynamic, "
			 "--skip and --recipe",
			 s->model, s->hash, hash);
}

/* ---- ranges ---- */

typedef struct search {
	const qn_calibration *c;
	const qn_statistics *s;
	qn_finding *found;
	size_t nworker;
} search;

/* Room below what was observed for what was left out. */
static void
widen_mask(const qn_watch *w, const qn_observer *o, qn_finding *f)
{
	const bool zeros = o->n == 0 || !(o->min < 0 || o->max > 0);

	if (o->masked && !f->pair)
		f->lo = fmin(f->lo,
			     qn_mask_end(w->mask, zeros ? 0 : fmax(f->lo, (double)o->min), zeros));
}

/* Constants of the symbol lie inside of its range, whatever the samples are. */
static void
widen_constants(const qn_calibration *c, const qn_watch *w, qn_finding *f)
{
	const qn_elem *e = w->quantize->type->elem;
	double lo, hi;

	if (!qn_constants_range(c, w, &lo, &hi))
		return;
	if (f->pair && (lo < (double)(e->qmin - f->zp) * f->scale ||
			hi > (double)(e->qmax - f->zp) * f->scale)) {
		f->pair = false;
		f->lo = (double)(e->qmin - f->zp) * f->scale;
		f->hi = (double)(e->qmax - f->zp) * f->scale;
	}
	f->lo = fmin(f->lo, lo);
	f->hi = fmax(f->hi, hi);
}

static qn_status
find_share(void *user, size_t worker, qn_arena *scratch)
{
	const search *f = user;

	for (size_t i = worker; i < f->s->n; i += f->nworker) {
		qn_seen seen = qn_statistics_seen(f->s, i);

		if (seen.o->n > 0) {
			f->s->method.method->finish(&seen, scratch, &f->found[i]);
			if (f->found[i].refused)
				return qn_report(scratch->env, QN_EINVALID, "method.callback",
						 seen.name,
						 "calibration method %s of the host failed, or set "
						 "a range that is not finite or is empty",
						 f->s->method.method->name);
			f->found[i].seen = seen.o;
			f->found[i].may_clip = qn_clip_expected(seen.opts);
			qn_clip_guard(&seen, &f->found[i]);
		}
		widen_mask(&f->c->watch[i], seen.o, &f->found[i]);
	}
	return QN_OK;
}

static qn_status
check_finite(const qn_calibration *c, const qn_statistics *s)
{
	qn_status status = QN_OK;

	for (size_t i = 0; i < s->n; i++) {
		const qn_watch *w = &c->watch[i];
		const qn_observer *o = &s->value[i].o;

		if (o->nonfinite)
			status = qn_report(c->m->env, QN_EINVALID, "calibrate.nonfinite",
					   w->quantize->name,
					   "the value of $%s becomes infinite or NaN on these "
					   "samples (its finite "
					   "part: %g to %g); look at the weights before it",
					   w->sym->name, (double)o->min, (double)o->max);
	}
	return status;
}

/* A search counts as a run does. */
static qn_status
check_cost(const qn_calibration *c, const qn_statistics *s)
{
	qn_env *env = c->m->env;
	uint64_t steps = 0;

	for (size_t i = 0; s->method.method->cost != NULL && i < s->n; i++) {
		const qn_seen seen = qn_statistics_seen(s, i);

		steps += s->method.method->cost(&seen);
	}
	if (steps <= qn_limit(env, QN_LIMIT_STEPS))
		return QN_OK;
	return qn_limit_report(env, QN_LIMIT_STEPS, c->m->name, steps);
}

qn_status
qn_calibration_find(const qn_calibration *c, const qn_statistics *s, qn_finding **out)
{
	search f = {.c = c,
		    .s = s,
		    .found = QN_NEW(c->m->scratch, qn_finding, s->n),
		    .nworker = qn_parallel_workers(c->m->env, s->n)};

	*out = f.found;
	QN_TRY(qn_statistics_check_done(c->m->env, s));
	QN_TRY(check_finite(c, s));
	QN_TRY(check_cost(c, s));
	QN_TRY(qn_parallel(c->m->env, f.nworker, find_share, &f));
	for (size_t i = 0; i < s->n; i++) {
		const qn_seen seen = qn_statistics_seen(s, i);

		widen_constants(c, &c->watch[i], &f.found[i]);
		f.found[i].samples = s->nbatch * s->batch;
		f.found[i].growth = qn_growth(&seen, &f.found[i]);
	}
	return QN_OK;
}

/* ---- beside a file of encodings ---- */

/* What the file leaves needs samples; what it gives is not searched. */
static qn_status
check_given(const qn_calibration *c, const qn_dataset *data, const qn_methods *methods,
	    const qn_calib_opts *o)
{
	qn_map seen;
	qn_buf b;

	if (o->given == NULL)
		return QN_OK;
	if (o->ncallback > 0)
		return qn_report(c->m->env, QN_EUSAGE, "encodings.search", c->m->name,
				 "a calibration callback or the method output would replace what "
				 "the encodings give; leave one of them out");
	if (data != NULL || c->nwatch == 0 || methods->opts[0].method->passes == 0)
		return QN_OK;
	qn_map_init(&seen, c->m->scratch);
	qn_buf_init(&b, c->m->scratch);
	for (size_t i = 0; i < c->nwatch; i++) {
		const qn_node *of = qn_encoded_value(c->g, c->watch[i].quantize);

		if (qn_map_gets(&seen, of->name) != NULL)
			continue;
		const qn_foreign_name *called = qn_model_foreign_names(c->m, of);
		qn_buff(&b, "%s'%s'", b.n > 0 ? ", " : "",
			called != NULL ? called->name : of->name);
		qn_map_puts(&seen, of->name, (void *)(uintptr_t)of);
	}
	return qn_encodings_missing(o->given, c->m, qn_buf_str(&b));
}

/* ---- what was cut off ---- */

/* How many elements lie outside of the range of the parameters that a symbol was bound to, by whatever
 * way; what rounds to its ends belongs to it.  -1: not known. */
static int64_t
bound_count(const qn_watch *w, const qn_observer *o)
{
	const qn_elem *e = w->quantize->type->elem;
	const double scale = w->sym->scale, zp = (double)w->sym->zp;

	return qn_clip_count(o, ((double)e->qmin - zp - 0.5) * scale,
			     ((double)e->qmax - zp + 0.5) * scale);
}

/* Notes it for the report, and warns where it is much. */
static void
tell_clipped(const qn_calibration *c, const qn_finding *found)
{
	for (size_t i = 0; found != NULL && i < c->nwatch; i++) {
		const qn_watch *w = &c->watch[i];

		if (found[i].seen == NULL || !w->sym->bound || w->sym->len > 0)
			continue;
		const int64_t outside = bound_count(w, found[i].seen);
		if (outside < 1)
			continue;
		const qn_clipped clipped = {w->sym->name, (uint64_t)outside, found[i].seen->n};
		const double share = (double)outside / (double)clipped.elements;

		qn_model_clipped(c->m, &clipped);
		if (share > QN_CLIP_MOST && share > found[i].may_clip)
			qn_warn(c->m->env, "calibrate.clip", w->quantize->name,
				"the range of $%s clips %g %% of its elements (quern calibrate "
				"--explain shows which): if that costs accuracy, use another "
				"method, with --method or in a recipe; minmax clips nothing",
				w->sym->name, rint(1000 * share) / 10);
	}
}

/* ---- all at once ---- */

qn_status
qn_calibrate_model(qn_model *m, qn_dataset *data, const qn_calib_opts *opts)
{
	qn_calib_opts o = opts != NULL ? *opts : (qn_calib_opts){0};
	qn_calibration *c;
	qn_finding *found = NULL;
	qn_methods methods;

	if (o.given != NULL && m->stage == QN_STAGE_SYMBOLIC)
		QN_TRY(qn_encodings_bind(m, o.given));
	QN_TRY(new_calibration(m, o.keep_fixed, &c));
	QN_TRY(qn_methods_of(c, &o.method, &methods));
	QN_TRY(qn_methods_search(c, data, &methods, &o));
	QN_TRY(check_given(c, data, &methods, &o));
	QN_TRY(qn_calibrate_constants(c, o.method.mse_weights));
	if (c->nwatch > 0)
		QN_TRY(qn_methods_find(c, data, o.observed, &methods, &found));
	if (found != NULL)
		qn_calibration_idle(c, found);
	if (o.ncallback > 0)
		QN_TRY(qn_calibration_call_back(c, found, data, &o));
	else if (c->nwatch > 0)
		QN_TRY(qn_calibration_bind(c, found));
	tell_clipped(c, found);
	if (o.warn_few)
		qn_growth_warn(c, found);
	if (o.keep_fixed)
		return QN_OK; /* biases have fixed scales */
	return qn_widen_bias_scales(m, c->g, c->real, c->map);
}
