/* SPDX-License-Identifier: Apache-2.0 */
/* statistics.c - the public side of statistics: observing a shard, files, merging. */
#include "driver/statistics.h"

#include <string.h>

#include "calibrate/growth.h"
#include "driver/calibration.h"
#include "driver/context.h"
#include "driver/host_struct.h"
#include "driver/summary.h"
#include "driver/undo.h"
#include "formats/file.h"
#include "quern/calibrate.h"
#include "quern/patterns.h"

/* ---- objects of the context ---- */

typedef struct stats_call {
	qn_ctx *ctx;
	qn_model *m;
	const qn_compile_opts *opts;
	size_t shard, nshard, n;
	qn_stats *const *part;
	const char *const *names;
	const char *path;
	const qn_stats *from;
	uint32_t *crc;  /* of each input's samples; NULL: there are none */
	qn_stats *made; /* under construction; freed by the caller on failure */
} stats_call;

void
qn_stats_free(qn_stats *s)
{
	if (s == NULL)
		return;
	for (qn_stats **p = &s->ctx->stats; *p != NULL; p = &(*p)->next)
		if (*p == s) {
			*p = s->next;
			break;
		}
	qn_env *env = &s->ctx->env;
	qn_arena_release(&s->arena);
	qn_env_free(env, s, sizeof *s);
}

static void
allocate(stats_call *c)
{
	qn_env *env = &c->ctx->env;
	qn_stats *x = qn_env_realloc(env, NULL, 0, sizeof *x);

	if (x == NULL)
		qn_env_oom(env);
	*x = (qn_stats){.ctx = c->ctx, .next = c->ctx->stats};
	c->ctx->stats = c->made = x;
	qn_arena_init(&x->arena, env);
}

/* Reading what was written is the copy: nothing points into another arena then. */
static qn_status
keep(stats_call *c, const qn_statistics *s, qn_arena *scratch)
{
	qn_buf b;

	qn_buf_init(&b, scratch);
	qn_statistics_print(&b, s);
	allocate(c);
	return qn_statistics_read(&c->ctx->env, &c->made->arena, "statistics", b.data, b.n,
				  &c->made->s);
}

static qn_status
done(stats_call *c, qn_status status, qn_stats **out)
{
	*out = status == QN_OK ? c->made : NULL;
	if (status != QN_OK)
		qn_stats_free(c->made);
	return status;
}

/* ---- observing ---- */

/* Shard k of n: batches floor((k - 1) N / n) … floor(k N / n) - 1. */
static qn_span
shard_span(uint64_t nbatch, size_t k, size_t n)
{
	uint64_t each = nbatch / n, rest = nbatch % n;

	return (qn_span){each * (k - 1) + rest * (k - 1) / n, each * k + rest * k / n};
}

/* Statistics that the next pass can be observed into. */
static qn_status
begin(stats_call *c, const qn_calibration *cal, const qn_dataset *data, const qn_calib_opts *o,
      const qn_samples_id *id, qn_arena *scratch, qn_statistics **out)
{
	qn_model *m = c->m;
	qn_statistics *s;
	qn_buf b;

	if (o->observed == NULL) {
		*out = qn_calibration_start(cal, &o->method, data, id, true);
		return QN_OK;
	}
	qn_buf_init(&b, scratch);
	qn_statistics_print(&b, o->observed);
	QN_TRY(qn_statistics_read(m->env, m->scratch, "statistics", b.data, b.n, &s));
	*out = s;
	if (s->nbatch != data->nbatch || s->batch != data->batch)
		return qn_report(m->env, QN_EINVALID, "stats.mismatch", m->name,
				 "the statistics are of %llu batches, not of %zu",
				 (unsigned long long)s->nbatch, data->nbatch);
	if (c->nshard == 0 && s->pass + 1 == s->method.method->passes)
		return qn_statistics_check_done(m->env, s);
	return qn_statistics_next(m->env, m->scratch, s);
}

static qn_status
calibrate(void *arg, qn_arena *scratch)
{
	stats_call *c = arg;
	qn_model *m = c->m;
	qn_calibration *cal;
	qn_calib_opts o;
	qn_samples_id id;
	qn_dataset *data = NULL;
	qn_statistics *s;
	qn_methods methods;

	QN_TRY(qn_calib_options(m, c->opts, c->crc, scratch, &o, &id));
	id.hash = qn_stats_hash(m, scratch);
	if (o.method.method->passes == 0)
		return qn_report(m->env, QN_EUSAGE, "stats.method", m->name,
				 "the method %s observes nothing; use it in quern compile",
				 o.method.method->name);
	if (c->opts->ncalib > 0)
		QN_TRY(qn_calibration_data(m, c->opts, scratch, &data));
	if (data == NULL && o.observed != NULL && qn_stats_complete(c->opts->stats))
		return keep(c, o.observed, scratch);
	if (data == NULL)
		return qn_report(m->env, QN_EINVALID, "calibrate.no-data", m->name,
				 "calibration data required; %s", qn_samples_advice(m));
	QN_TRY(qn_calibration_new(m, &cal));
	QN_TRY(qn_methods_of(cal, &o.method, &methods));
	QN_TRY(qn_methods_only_one(cal, &methods));
	QN_TRY(begin(c, cal, data, &o, &id, scratch, &s));
	if (c->nshard > 0)
		QN_TRY(qn_calibration_observe(cal, data,
					      shard_span(data->nbatch, c->shard, c->nshard), s));
	else
		QN_TRY(qn_calibration_finish(cal, data, s));
	if (c->nshard == 0) {
		qn_finding *found;

		QN_TRY(qn_calibration_find(cal, s, &found));
		qn_growth_warn(cal, found);
	}
	return keep(c, s, scratch);
}

/* The samples, before the first pass, as a compilation looks at them. */
static qn_status
lint(void *arg, qn_arena *scratch)
{
	stats_call *c = arg;
	uint32_t *crc;

	QN_TRY(qn_calibration_lint(c->m, c->opts, scratch, &crc));
	c->crc = qn_arena_copy(c->m->arena, crc, qn_graph_fed(qn_model_entry(c->m)) * sizeof *crc);
	return QN_OK;
}

static qn_status
check_callbacks(const qn_model *m, const qn_compile_opts *o)
{
	if (o->encodings != NULL)
		return qn_report(m->env, QN_EUSAGE, "encodings.stats", "encodings",
				 "statistics are for all values: remove the encodings");
	if (o->activations == QN_ACTIVATIONS_AUTO)
		return qn_report(
			m->env, QN_EUSAGE, "widen.ranges", "activations",
			"statistics are of activations whose storage is known, and auto "
			"chooses it on the samples of qn_compile (quern compile); give i8, u8 "
			"or i16, or a recipe");
	QN_TRY(qn_host_list(m->env, "quantizers", o->nquantizers, o->quantizers));
	for (size_t i = 0; i < o->nquantizers; i++) {
		qn_quantizer q;

		QN_TRY(QN_TAKE_ELEMENT(m->env, qn_quantizer, o->quantizers, o->nquantizers, i, &q));
		if (q.calibrate != NULL)
			return qn_report(m->env, QN_EUSAGE, "stats.callback",
					 q.name != NULL ? q.name : "",
					 "the pattern calibrates its symbols by a callback, which "
					 "statistics cannot store; use it with the samples in "
					 "qn_compile, or remove the callback");
	}
	return QN_OK;
}

/* The passes before calibrate, with the options that they read. */
static qn_status
quantize_first(qn_model *m, const qn_compile_opts *o)
{
	const qn_compile_opts first = {.scheme = o->scheme,
				       .weights = o->weights,
				       .activations = o->activations,
				       .weights_type = o->weights_type,
				       .weight_block = o->weight_block,
				       .quantizers = o->quantizers,
				       .nquantizers = o->nquantizers,
				       .no_standard = o->no_standard,
				       .skip = o->skip,
				       .skip_fn = o->skip_fn,
				       .skip_user = o->skip_user,
				       .dynamic = o->dynamic,
				       .recipe = o->recipe,
				       .recipe_file = o->recipe_file,
				       .explain = o->explain,
				       .explain_user = o->explain_user,
				       .trace_rules = o->trace_rules,
				       .trace_user = o->trace_user,
				       .stop_after = "quantize"};

	return qn_compile(m, &first);
}

static qn_status
all_steps(void *arg, qn_arena *scratch)
{
	stats_call *c = arg;

	if (c->opts->ncalib > 0)
		QN_TRY(lint(c, scratch));
	if (c->m->stage == QN_STAGE_FLOAT) {
		QN_TRY(quantize_first(c->m, c->opts));
		c->m->scratch = scratch;
	}
	return calibrate(c, scratch);
}

static qn_status
observe(void *arg, qn_arena *scratch)
{
	const stats_call *c = arg;

	return qn_undoable(c->m, scratch, all_steps, arg);
}

qn_status
qn_calibrate(qn_model *m, const qn_compile_opts *opts, size_t shard, size_t nshard, qn_stats **out)
{
	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(qn_model_ctx(m), out));
	qn_compile_opts known;
	const qn_compile_opts *o = &known;
	stats_call c = {.ctx = qn_box(m)->ctx, .m = m, .opts = o, .shard = shard, .nshard = nshard};

	*out = NULL;
	QN_TRY(QN_TAKE(m->env, qn_compile_opts, opts, &known));
	if (nshard > 0 && (shard < 1 || shard > nshard))
		return qn_report(m->env, QN_EUSAGE, "option.range", "shard",
				 "shard %zu of %zu does not exist; shards count from 1", shard,
				 nshard);
	QN_TRY(check_callbacks(m, o));
	if (m->stage >= QN_STAGE_CALIBRATED)
		QN_TRY(qn_calibration_check_stage(m));
	return done(&c, qn_guard_model(m, observe, &c), out);
}

int
qn_stats_complete(const qn_stats *s)
{
	if (s == NULL)
		return 0;
	return qn_statistics_complete(s->s) && s->s->pass + 1 == s->s->method.method->passes;
}

int
qn_stats_missing(const qn_stats *s, size_t k, uint64_t *first, uint64_t *last, uint64_t *all)
{
	if (QN_GIVEN(QN_CTX_OF(s), first, last) != QN_OK)
		return 0;
	const qn_statistics *x = s->s;
	uint64_t from = 0;

	if (all != NULL)
		*all = x->nbatch;
	for (size_t i = 0; i <= x->nspan; i++) {
		const uint64_t to = i < x->nspan ? x->span[i].first : x->nbatch;

		if (to > from && k-- == 0) {
			*first = from;
			*last = to - 1;
			return 1;
		}
		from = i < x->nspan ? x->span[i].last : to;
	}
	return 0;
}

/* ---- files and merging ---- */

static qn_status
load(void *arg, qn_arena *scratch)
{
	stats_call *c = arg;
	const char *text;
	size_t n;

	QN_TRY(qn_file_map(scratch, c->path, &text, &n));
	allocate(c);
	return qn_statistics_read(&c->ctx->env, &c->made->arena, c->path, text, n, &c->made->s);
}

qn_status
qn_stats_load(qn_ctx *ctx, const char *path, qn_stats **out)
{
	stats_call c = {.ctx = ctx, .path = path};

	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(ctx, path, out));
	return done(&c, qn_guard(ctx, load, &c), out);
}

static qn_status
save(void *arg, qn_arena *scratch)
{
	stats_call *c = arg;
	qn_buf b;

	qn_buf_init(&b, scratch);
	qn_statistics_print(&b, c->from->s);
	return qn_file_write(&c->ctx->env, c->path, b.data, b.n);
}

qn_status
qn_stats_save(const qn_stats *s, const char *path)
{
	QN_TRY(QN_GIVEN(QN_CTX_OF(s), path));
	stats_call c = {.ctx = s->ctx, .path = path, .from = s};

	return qn_guard(s->ctx, save, &c);
}

static qn_status
merge(void *arg, qn_arena *scratch)
{
	stats_call *c = arg;
	qn_status status;

	QN_TRY(qn_host_pointers(&c->ctx->env, "part", c->n, c->part));
	if (c->names != NULL)
		QN_TRY(qn_host_pointers(&c->ctx->env, "names", c->n, c->names));
	if (c->n == 0)
		return qn_report(&c->ctx->env, QN_EUSAGE, "stats.none", "",
				 "no statistics to merge are given");
	status = keep(c, c->part[0]->s, scratch);
	for (size_t i = 1; status == QN_OK && i < c->n; i++)
		status = qn_statistics_merge(&c->ctx->env, &c->made->arena, c->made->s,
					     c->names != NULL ? c->names[i] : "statistics",
					     c->part[i]->s);
	return status;
}

qn_status
qn_stats_merge(qn_ctx *ctx, size_t n, qn_stats *const *part, const char *const *names,
	       qn_stats **out)
{
	stats_call c = {.ctx = ctx, .n = n, .part = part, .names = names};

	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(ctx, out));
	return done(&c, qn_guard(ctx, merge, &c), out);
}
