/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - deals bundles of batches to workers in turn: worker w takes w, w + nworker, …  Of a stateful
 * network a bundle is a sequence, whose batches run one after the other. */
#include "calibrate/sweep.h"

#include "ir/progress.h"
#include "runtime/parallel.h"

typedef struct qn_sweeper {
	qn_interp *in;
	qn_dataset *data;
} qn_sweeper;

typedef struct pass {
	const qn_sweep *s;
	qn_observe_fn *observe;
	qn_sweep_fn *done;
	void *const *user;
} pass;

/* in_order: one worker, whose bundles are batches. */
static qn_status
make(const qn_graph *g, qn_dataset *data, bool in_order, qn_arena *a, qn_sweep **out)
{
	qn_sweep *s = QN_NEW(a, qn_sweep, 1);
	size_t nbatch = data->nbatch;

	*out = s;
	s->env = g->model->env;
	s->stage = "samples";
	s->stateful = g->nstate > 0;
	const size_t sequence = data->sequence > 0 ? data->sequence : nbatch;
	const size_t shares = s->stateful ? nbatch / sequence : nbatch;
	s->nworker =
		data->reader != NULL && !in_order ? qn_parallel_workers(g->model->env, shares) : 1;
	s->worker = QN_NEW(a, qn_sweeper, s->nworker);
	/* No larger than leaves every worker something to do. */
	s->bundle = s->nworker > 0 && !in_order ? (nbatch + s->nworker - 1) / s->nworker : 1;
	if (s->stateful)
		s->bundle = sequence;
	for (size_t i = 0; i < s->nworker; i++) {
		s->worker[i].data = i > 0 ? data->reader(data, a) : data;
		QN_TRY(qn_interp_new_bundle(g, s->stateful ? 1 : s->bundle, a, &s->worker[i].in));
		s->bundle = s->stateful ? s->bundle : qn_interp_bundle(s->worker[i].in);
	}
	return QN_OK;
}

qn_status
qn_sweep_new(const qn_graph *g, qn_dataset *data, qn_arena *a, qn_sweep **out)
{
	return make(g, data, false, a, out);
}

qn_status
qn_sweep_new_in_order(const qn_graph *g, qn_dataset *data, qn_arena *a, qn_sweep **out)
{
	return make(g, data, true, a, out);
}

/* Batches first … first + n - 1 in lockstep. */
static qn_status
run_bundle(const pass *p, size_t worker, size_t first, size_t n, qn_arena *scratch)
{
	const qn_sweeper *w = &p->s->worker[worker];

	for (size_t j = 0; j < n; j++) {
		const qn_tensor *const *x;

		QN_TRY(w->data->get(w->data, first + j, scratch, &x));
		QN_TRY(qn_interp_load(w->in, j, x));
	}
	QN_TRY(qn_interp_run_bundle(w->in, n, p->observe, p->user[worker]));
	/* of all batches about as many as this worker has done of its own */
	const size_t nbatch = w->data->nbatch;
	const size_t all = first + n + (p->s->nworker - 1) * p->s->bundle;
	QN_TRY(qn_progress(scratch->env, p->s->stage, all < nbatch ? all : nbatch, nbatch));
	if (p->done != NULL)
		p->done(p->user[worker], scratch->env, w->in, first, n);
	return QN_OK;
}

static qn_status
run_share(void *user, size_t worker, qn_arena *scratch)
{
	const pass *p = user;
	const qn_sweep *s = p->s;
	const size_t nbatch = s->worker[worker].data->nbatch;

	for (size_t first = worker * s->bundle; first < nbatch; first += s->nworker * s->bundle) {
		const size_t n = nbatch - first < s->bundle ? nbatch - first : s->bundle;

		if (!s->stateful) {
			QN_TRY(run_bundle(p, worker, first, n, scratch));
			continue;
		}
		qn_interp_reset(s->worker[worker].in);
		for (size_t j = 0; j < n; j++)
			QN_TRY(run_bundle(p, worker, first + j, 1, scratch));
	}
	return QN_OK;
}

qn_status
qn_sweep_run(qn_sweep *s, qn_observe_fn *observe, qn_sweep_fn *done, void *const *user)
{
	pass p = {.s = s, .observe = observe, .done = done, .user = user};

	return qn_parallel(s->env, s->nworker, run_share, &p);
}

size_t
qn_sweep_batch(const qn_sweep *s, size_t worker, size_t k)
{
	return (k / s->bundle * s->nworker + worker) * s->bundle + k % s->bundle;
}
