/* SPDX-License-Identifier: Apache-2.0 */
/* emit_samples.c - what emitted code has of samples: the self-test's inputs and the outputs that the interpreter has
 * for them, and what the samples of each input went through. */
#include "calibrate/calibrate.h"
#include "calibrate/lint.h"
#include "driver/emit_impl.h"
#include "driver/run.h"
#include "ir/random.h"
#include "runtime/interp.h"

enum { MOST_INDEX = 127 }; /* of drawn integers that have no scale: tokens, indices */

/* n values for an input, one after the other along dimension 0. */
static const qn_tensor *
draw(qn_types *t, const qn_type *want, size_t n, uint64_t *random, qn_arena *a)
{
	const qn_elem *e = want->elem;
	const bool index = !qn_elem_is_quant(e) && qn_elem_bytes(e) > 2;
	int64_t dim[QN_MAX_RANK] = {1};
	void *data;

	for (int32_t k = 0; k < want->rank; k++)
		dim[k] = want->dim[k];
	dim[0] *= (int64_t)n;
	const qn_type *all = qn_type_tensor(t, e, want->rank > 0 ? want->rank : 1, dim);
	const qn_tensor *x = qn_tensor_new(a, all, &data);
	const int64_t least = index ? 0 : e->qmin, most = index ? MOST_INDEX : e->qmax;

	for (int64_t i = 0; i < qn_type_count(all); i++)
		qn_store_i64(
			data, e->plain, i,
			least + (int64_t)(qn_random_next(random) % (uint64_t)(most - least + 1)));
	return x;
}

/* n samples of pseudo-random quantized values, the same for all models with such inputs. */
static qn_status
draw_samples(const qn_graph *g, size_t n, qn_arena *a, qn_dataset **out)
{
	const size_t inputs = qn_graph_fed(g);
	const qn_tensor **x = QN_NEW(a, const qn_tensor *, inputs);
	const char **name = QN_NEW(a, const char *, inputs);
	uint64_t random = 0;

	for (size_t k = 0; k < inputs; k++) {
		const qn_node *in = qn_graph_node(g, g->input[k]);

		x[k] = draw(&g->model->types, in->type, n, &random, a);
		name[k] = in->name;
	}
	return qn_dataset_arrays(g, a, inputs, x, name, out);
}

qn_status
qn_emit_make_selftest(const qn_emit_call *c, const qn_plan *p, qn_arena *a, qn_selftest *out)
{
	const qn_emit_opts *o = c->opts;
	qn_dataset *d;
	qn_interp *in;
	size_t want = o->test_samples > 0 ? o->test_samples : 4;
	qn_traces traces;

	qn_plan_traces(p, a, &traces);
	if (o->ntest > 0 || qn_graph_fed(p->g) == 0) {
		QN_TRY(qn_samples_for(p->g, a, o->ntest, o->test, NULL, &d));
		QN_TRY(qn_lint_data(p->g, d, want, a));
	} else {
		QN_TRY(draw_samples(p->g, want, a, &d));
	}
	qn_arena *tables = qn_arena_child(a);
	QN_TRY(qn_interp_new(p->g, tables, &in));
	want *= d->steps > 1 ? d->steps : 1; /* a sample is so many */
	size_t n = d->nbatch < want ? d->nbatch : want;
	const void **inputs = QN_NEW(a, const void *, n *qn_graph_fed(p->g));
	const void **outputs = QN_NEW(a, const void *, n *qn_graph_given(p->g));
	uint32_t *crc = QN_NEW(a, uint32_t, n * traces.n);
	for (size_t s = 0; s < n; s++) {
		const qn_tensor *const *x;

		traces.crc = crc + s * traces.n;
		qn_traces_begin(&traces);
		if (s % d->sequence == 0)
			qn_interp_reset(in);
		QN_TRY(d->get(d, s, a, &x));
		QN_TRY(qn_interp_run(in, x, qn_traces_take, &traces));
		for (size_t k = 0; k < qn_graph_fed(p->g); k++)
			inputs[s * qn_graph_fed(p->g) + k] =
				qn_arena_copy(a, x[k]->data, x[k]->bytes);
		for (size_t k = 0; k < qn_graph_given(p->g); k++)
			outputs[s * qn_graph_given(p->g) + k] = qn_arena_copy(
				a, qn_interp_output(in, k)->data, qn_interp_output(in, k)->bytes);
	}
	qn_arena_release(tables);
	*out = (qn_selftest){n, inputs, outputs, crc, d->sequence};
	return QN_OK;
}

qn_status
qn_emit_find_prep(const qn_emit_call *c, const qn_graph *g, qn_arena *a, const qn_prep *const **out)
{
	const qn_prep **prep = QN_NEW(a, const qn_prep *, qn_graph_fed(g));
	qn_dataset *d;

	if (c->opts->ntest == 0) {
		if (c->m->nprep == qn_graph_fed(g))
			*out = c->m->prep;
		return QN_OK;
	}
	QN_TRY(qn_samples_for(g, a, c->opts->ntest, c->opts->test, NULL, &d));
	for (size_t k = 0; k < qn_graph_fed(g); k++)
		prep[k] = qn_dataset_source(d, k)->prep;
	*out = prep;
	return QN_OK;
}
