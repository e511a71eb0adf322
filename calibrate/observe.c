/* SPDX-License-Identifier: Apache-2.0 */
/* observe.c - passes over the samples: workers look at batches side by side, each with observers of
 * its own, which are then merged into the statistics. */
#include "calibrate/calibrate.h"
#include "calibrate/sweep.h"
#include "ir/diag.h"
#include "ir/loops.h"

/* What one worker of the sweep sees. */
typedef struct share {
	const qn_calibration *c;
	const qn_dataset *data;
	const qn_sweep *sweep;
	size_t worker;
	uint64_t first;    /* batch of the whole data set */
	qn_observer *seen; /* by watch */
	size_t *nseen; /* by look: values so far, of a loop as many in a batch as it has steps */
	const qn_loops *loops;
	float *kept;    /* what is left of a mask: room for the largest value that may be one */
	float *channel; /* elements of a channel: room for the most of any value */
} share;

/* A part of a data set, as a data set. */
typedef struct part {
	qn_dataset *whole;
	size_t first;
} part;

static qn_status
part_get(qn_dataset *d, size_t index, qn_arena *scratch, const qn_tensor *const **inputs)
{
	const part *p = d->user;

	return p->whole->get(p->whole, p->first + index, scratch, inputs);
}

static qn_dataset *part_reader(qn_dataset *d, qn_arena *a);

static qn_dataset *
make_part(qn_dataset *whole, size_t first, size_t n, qn_arena *a)
{
	qn_dataset *d = QN_NEW(a, qn_dataset, 1);
	part *p = QN_NEW(a, part, 1);

	*p = (part){whole, first};
	*d = (qn_dataset){.nbatch = n,
			  .batch = whole->batch,
			  .sequence = whole->sequence,
			  .get = part_get,
			  .user = p};
	d->reader = whole->reader != NULL ? part_reader : NULL;
	return d;
}

static qn_dataset *
part_reader(qn_dataset *d, qn_arena *a)
{
	const part *p = d->user;

	return make_part(p->whole->reader(p->whole, a), p->first, d->nbatch, a);
}

/* The elements of index `channel` of the axis, one after the other in `to`. */
static size_t
gather(const qn_tensor *value, int32_t axis, int64_t channel, float *to)
{
	const qn_type *t = value->type;
	const float *x = value->data;
	int64_t outer = 1, inner = 1;

	for (int32_t k = 0; k < axis; k++)
		outer *= t->dim[k];
	for (int32_t k = axis + 1; k < t->rank; k++)
		inner *= t->dim[k];
	for (int64_t o = 0; o < outer; o++)
		for (int64_t i = 0; i < inner; i++)
			to[o * inner + i] = x[(o * t->dim[axis] + channel) * inner + i];
	return (size_t)(outer * inner);
}

static qn_status
observe(void *user, const qn_graph *g, qn_id id, const qn_tensor *value)
{
	share *s = user;
	int64_t n = qn_type_count(value->type);

	(void)g;
	for (const qn_observation *l = s->c->by_value[id]; l != NULL; l = l->next) {
		size_t k = l->watch;
		const qn_watch *w = &s->c->watch[k];
		const size_t seen = s->nseen[l->number]++ / (size_t)qn_loop_runs(s->loops, id);
		size_t batch = qn_sweep_batch(s->sweep, s->worker, seen);
		const float *x = value->data;
		size_t left = (size_t)n;

		if (w->channel >= 0) {
			left = gather(value, l->axis, w->channel, s->channel);
			x = s->channel;
		}
		if (w->mask >= QN_MASK_OPERAND) {
			const size_t all = left;

			left = qn_mask_drop(x, all, s->kept);
			x = s->kept;
			s->seen[k].masked = s->seen[k].masked || left < all;
		}
		qn_observer_add(&s->seen[k], s->first + batch, x, left);
	}
	return QN_OK;
}

/* Elements of the largest value that may be a mask, or that has channels. */
static size_t
room_for(const qn_calibration *c, bool channels)
{
	size_t room = 0;

	for (size_t k = 0; k < c->nwatch; k++)
		for (const qn_use *u = c->watch[k].use; u != NULL; u = u->next) {
			size_t n = (size_t)qn_type_count(u->quantize->type);

			if ((channels ? c->watch[k].channel >= 0
				      : c->watch[k].mask >= QN_MASK_OPERAND) &&
			    n > room)
				room = n;
		}
	return room;
}

/* Observers that have seen nothing, for the same things as those of the statistics. */
static qn_observer *
blank_observers(const qn_statistics *s, qn_env *env, qn_arena *a)
{
	qn_observer *seen = QN_NEW(a, qn_observer, s->n);

	for (size_t k = 0; k < s->n; k++) {
		const qn_observer *o = &s->value[k].o;

		seen[k] = (qn_observer){.simd = env->simd,
					.again = o->again,
					.pair = o->pair,
					.pair_first = o->pair_first,
					.fine = o->fine};
		if (o->bin != NULL && !o->again)
			seen[k].bin = QN_NEW(a, uint64_t, QN_HIST_BINS);
		if (o->fine.n > 0)
			seen[k].fine.count = QN_NEW(a, uint64_t, o->fine.n);
	}
	return seen;
}

qn_status
qn_calibration_observe(const qn_calibration *c, qn_dataset *data, qn_span span, qn_statistics *s)
{
	qn_env *env = c->m->env;
	qn_arena *a = c->m->scratch;
	const size_t sequence = data->sequence > 0 ? data->sequence : data->nbatch;
	if (c->real->nstate > 0 && (span.first % sequence != 0 || span.last % sequence != 0))
		return qn_report(
			env, QN_EINVALID, "data.sequence", c->m->name,
			"the shard ends within a sequence: batches %lld to %lld of sequences of "
			"%zu; set --sequence so that shards have whole sequences",
			(long long)span.first, (long long)span.last, sequence);
	qn_dataset *d = make_part(data, (size_t)span.first, (size_t)(span.last - span.first), a);
	const qn_loops loops = qn_loops_find(c->real, a);
	qn_sweep *sweep;

	for (size_t k = 0; k < s->n; k++) {
		qn_observer *o = &s->value[k].o;

		o->pair_first = span.first;
		if (o->pair != NULL)
			o->pair = qn_observer_pairs(a, d->nbatch);
	}
	QN_TRY(qn_sweep_new(c->real, d, a, &sweep));
	sweep->stage = "calibrate";
	share *worker = QN_NEW(a, share, sweep->nworker);
	void **user = QN_NEW(a, void *, sweep->nworker);
	for (size_t i = 0; i < sweep->nworker; i++) {
		worker[i] = (share){c,
				    d,
				    sweep,
				    i,
				    span.first,
				    blank_observers(s, env, a),
				    QN_NEW(a, size_t, c->nlook),
				    &loops,
				    QN_NEW(a, float, room_for(c, false)),
				    QN_NEW(a, float, room_for(c, true))};
		user[i] = &worker[i];
	}
	QN_TRY(qn_sweep_run(sweep, observe, NULL, user));
	for (size_t k = 0; k < s->n; k++)
		if (s->value[k].o.pair != NULL)
			qn_observer_end_pairs(s->value[k].o.pair, d->nbatch);
	for (size_t i = 0; i < sweep->nworker; i++)
		for (size_t k = 0; k < s->n; k++)
			qn_observer_merge(&s->value[k].o, &worker[i].seen[k]);
	if (span.first < span.last)
		s->span = qn_arena_copy(a, &span, sizeof span);
	s->nspan = span.first < span.last;
	return QN_OK;
}

qn_statistics *
qn_calibration_start(const qn_calibration *c, const qn_method_opts *method, const qn_dataset *data,
		     const qn_samples_id *id, bool histograms)
{
	qn_arena *a = c->m->scratch;
	qn_statistics *s = QN_NEW(a, qn_statistics, 1);
	unsigned want = method->method->observes | (histograms ? QN_OBSERVE_GRID : 0);

	*s = (qn_statistics){.model = c->m->name,
			     .method = *method,
			     .nbatch = data->nbatch,
			     .batch = data->batch,
			     .n = c->nwatch,
			     .value = QN_NEW(a, qn_value_stats, c->nwatch)};
	if (id != NULL) {
		s->hash = id->hash;
		s->ndata = id->n;
		s->data = id->name;
		s->prep = id->prep;
	}
	for (size_t k = 0; k < s->n; k++) {
		const qn_watch *w = &c->watch[k];
		qn_value_stats *v = &s->value[k];

		*v = (qn_value_stats){.name = w->name,
				      .symmetric = w->sym->kind == QN_SYM_SYMMETRIC,
				      .qmin = w->quantize->type->elem->qmin,
				      .qmax = w->quantize->type->elem->qmax};
		if ((want & QN_OBSERVE_GRID) != 0)
			v->o.bin = QN_NEW(a, uint64_t, QN_HIST_BINS);
		if ((want & QN_OBSERVE_PAIRS) != 0)
			v->o.pair = QN_NEW(a, qn_pair_range, 1);
	}
	qn_statistics_plan(s, a, NULL);
	return s;
}

qn_status
qn_calibration_finish(const qn_calibration *c, qn_dataset *data, qn_statistics *s)
{
	qn_span all = {0, s->nbatch};

	if (s->nspan == 0)
		QN_TRY(qn_calibration_observe(c, data, all, s));
	while (s->pass + 1 < s->method.method->passes) {
		QN_TRY(qn_statistics_next(c->m->env, c->m->scratch, s));
		QN_TRY(qn_calibration_observe(c, data, all, s));
	}
	return QN_OK;
}
