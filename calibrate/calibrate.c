/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.c - one run over the samples observes all values at once; weights are measured from
 * the constants themselves. */
#include "calibrate/calibrate.h"

#include <math.h>
#include <string.h>

#include "calibrate/observer.h"
#include "calibrate/sweep.h"
#include "ir/diag.h"

typedef struct watch {
	const qn_node *quantize;
	const qn_symbol *sym;
	struct watch *next; /* of the same value */
} watch;

typedef struct calibration {
	qn_model *m;
	const qn_graph *g; /* the symbolic graph */
	const qn_calib_opts *opts;
	watch **by_value; /* float value id -> the quantizes that take it */
	watch *all;
	size_t nwatch;
	struct share *share; /* by worker */
	size_t nshare;
} calibration;

/* What one worker of the sweep sees. */
typedef struct share {
	const calibration *c;
	const qn_dataset *data;
	qn_observer *seen; /* by watch */
} share;

/* The symbol that a quantize node finds values for, NULL when its scale is no lone symbol. */
static const qn_symbol *
symbol_of(const qn_node *n)
{
	const qn_elem *e = n->type->elem;

	return n->op == QN_OP_quantize && e->scale->kind == QN_SCALE_SYM ? e->scale->sym : NULL;
}

static qn_status
bind_range(calibration *c, const qn_node *q, const qn_symbol *sym, double lo, double hi)
{
	double scale;
	int64_t zp;

	if (lo == 0 && hi == 0)
		qn_warn(c->m->env, "calibrate.zero-range", q->name,
			"all values of $%s are 0; its scale is 1", sym->name);
	qn_range_to_params(lo, hi, q->type->elem, sym->kind == QN_SYM_SYMMETRIC, &scale, &zp);
	return qn_symbol_bind(&c->m->types, q->name, sym->name, 1, &scale,
			      sym->kind == QN_SYM_SYMMETRIC ? NULL : &zp);
}

/* A constant's symbol: the range of the data, for each index of the axis. */
static qn_status
bind_constant(calibration *c, const qn_node *q, const qn_symbol *sym, const qn_tensor *data)
{
	int64_t n = qn_type_count(data->type);
	size_t len = sym->len > 0 ? (size_t)sym->len : 1;
	double *lo = QN_NEW(c->m->scratch, double, len);
	double *hi = QN_NEW(c->m->scratch, double, len);
	int64_t *zp = QN_NEW(c->m->scratch, int64_t, len);
	int64_t idx[QN_MAX_RANK] = {0};

	for (int64_t i = 0; i < n; i++) {
		size_t k = qn_type_param_index(q->type, idx);
		double v = qn_tensor_f64(data, i);

		lo[k] = fmin(lo[k], v);
		hi[k] = fmax(hi[k], v);
		for (int32_t d = q->type->rank - 1; d >= 0 && ++idx[d] == q->type->dim[d]; d--)
			idx[d] = 0;
	}
	if (sym->len == 0)
		return bind_range(c, q, sym, lo[0], hi[0]);
	double *scale = lo;
	for (size_t k = 0; k < len; k++)
		qn_range_to_params(lo[k], hi[k], q->type->elem, sym->kind == QN_SYM_SYMMETRIC,
				   &scale[k], &zp[k]);
	return qn_symbol_bind(&c->m->types, q->name, sym->name, len, scale,
			      sym->kind == QN_SYM_SYMMETRIC ? NULL : zp);
}

static qn_status
observe(void *user, const qn_graph *g, qn_id id, const qn_tensor *value)
{
	share *s = user;
	int64_t n = qn_type_count(value->type);

	(void)g;
	for (watch *w = s->c->by_value[id]; w != NULL; w = w->next)
		qn_observer_add(&s->seen[w - s->c->all], value->data, (size_t)n);
	return QN_OK;
}

/* Finds the symbols; binds those of constants, watches for the others. */
static qn_status
prepare(calibration *c, const qn_graph *real, const qn_id *map)
{
	qn_arena *a = c->m->scratch;
	qn_status status = QN_OK;

	c->by_value = QN_NEW(a, watch *, real->n);
	c->all = QN_NEW(a, watch, c->g->n);
	for (qn_id id = 1; id < c->g->n; id++) {
		const qn_node *q = qn_graph_node(c->g, id);
		const qn_symbol *sym = symbol_of(q);

		if (sym == NULL || sym->bound)
			continue;
		const qn_node *x = qn_graph_node(real, map[q->in[0]]);
		if (x->op == QN_OP_const) {
			if (bind_constant(c, q, sym, x->value) != QN_OK)
				status = QN_EINVALID;
			continue;
		}
		if (sym->len > 0) {
			status = qn_report(
				c->m->env, QN_EUNSUPPORTED, "calibrate.axis", q->name,
				"$%s wants one scale per channel of a value that is no constant",
				sym->name);
			continue;
		}
		watch *w = &c->all[c->nwatch++];
		*w = (watch){q, sym, c->by_value[map[q->in[0]]]};
		c->by_value[map[q->in[0]]] = w;
	}
	return status;
}

static void
tell(void *user, qn_env *env, const qn_interp *in, size_t first, size_t n)
{
	const share *s = user;
	size_t step = s->data->nbatch / 10 > 0 ? s->data->nbatch / 10 : 1;
	size_t done = first + s->c->nshare * n;

	(void)in;
	done = done < s->data->nbatch ? done : s->data->nbatch;
	if (done / step != first / step || done == s->data->nbatch)
		qn_log(env, "calibrate: %zu of %zu samples", done * s->data->batch,
		       s->data->nbatch * s->data->batch);
}

/* Each worker has observers; what they saw is merged, in any order the same. */
static qn_status
run(calibration *c, const qn_graph *real, qn_dataset *data)
{
	qn_arena *a = c->m->scratch;
	qn_sweep *sweep;

	QN_TRY(qn_sweep_new(real, data, a, &sweep));
	c->nshare = sweep->nworker;
	c->share = QN_NEW(a, share, c->nshare);
	void **user = QN_NEW(a, void *, c->nshare);
	for (size_t i = 0; i < c->nshare; i++) {
		share *s = &c->share[i];

		*s = (share){.c = c, .data = data, .seen = QN_NEW(a, qn_observer, c->nwatch)};
		user[i] = s;
		for (size_t k = 0; k < c->nwatch; k++) {
			if (c->opts->method == QN_METHOD_PERCENTILE)
				s->seen[k].bin = QN_NEW(a, uint64_t, QN_HIST_BINS);
			s->seen[k].simd = c->m->env->simd;
		}
	}
	QN_TRY(qn_sweep_run(sweep, observe, tell, user));
	for (size_t i = 1; i < c->nshare; i++)
		for (size_t k = 0; k < c->nwatch; k++)
			qn_observer_merge(&c->share[0].seen[k], &c->share[i].seen[k]);
	return QN_OK;
}

static qn_status
bind_watched(calibration *c)
{
	qn_status status = QN_OK;

	for (size_t i = 0; i < c->nwatch; i++) {
		const watch *w = &c->all[i];
		const qn_observer *o = &c->share[0].seen[i];
		double lo = (double)o->min;
		double hi = (double)o->max;

		if (o->nonfinite) {
			status = qn_report(c->m->env, QN_EINVALID, "calibrate.nonfinite",
					   w->quantize->name,
					   "the value of $%s becomes infinite or NaN on these "
					   "samples (its finite "
					   "part: %g to %g); look at the weights before it",
					   w->sym->name, lo, hi);
			continue;
		}
		if (c->opts->method == QN_METHOD_PERCENTILE)
			qn_observer_percentile(
				o, c->opts->percentile > 0 ? c->opts->percentile : 99.99,
				w->sym->kind == QN_SYM_SYMMETRIC, &lo, &hi);
		if (!w->sym->bound)
			QN_TRY(bind_range(c, w->quantize, w->sym, lo, hi));
	}
	return status;
}

qn_status
qn_calibrate_model(qn_model *m, qn_dataset *data, const qn_calib_opts *opts)
{
	const qn_calib_opts defaults = {0};
	calibration c = {.m = m, .g = qn_model_entry(m), .opts = opts != NULL ? opts : &defaults};
	qn_graph *real;
	qn_id *map;

	if (m->stage != QN_STAGE_SYMBOLIC)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "calibrate takes a symbolic graph; this one is %s",
				 qn_stage_names[m->stage]);
	QN_TRY(qn_erase_quantization(m, c.g, &real, &map));
	QN_TRY(prepare(&c, real, map));
	if (c.nwatch > 0 && data == NULL)
		return qn_report(m->env, QN_EINVALID, "calibrate.no-data", m->name,
				 "%zu symbols need samples, and none were given (--calib FILE)",
				 c.nwatch);
	if (c.nwatch > 0)
		QN_TRY(run(&c, real, data));
	QN_TRY(bind_watched(&c));
	return qn_widen_bias_scales(m, c.g, real, map);
}
