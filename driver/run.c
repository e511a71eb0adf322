/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - runs a model on samples and keeps what it gives. */
#include <string.h>

#include "calibrate/bind.h"
#include "calibrate/lint.h"
#include "calibrate/sweep.h"
#include "driver/host_struct.h"
#include "driver/run.h"
#include "driver/trace.h"
#include "ir/progress.h"
#include "passes/passes.h"
#include "quern/measure.h"

static qn_status
sources_of(qn_env *env, qn_arena *a, size_t n, qn_array *const *in, const char *const *names,
	   const qn_source **source)
{
	QN_TRY(qn_host_pointers(env, "samples", n, in));
	for (size_t i = 0; i < n; i++) {
		qn_source *s = in[i]->source != NULL
				       ? qn_arena_copy(a, in[i]->source, sizeof *s)
				       : qn_source_tensor(a, in[i]->tensor, in[i]->name);
		if (names != NULL && names[i] != NULL)
			s->name = names[i];
		source[i] = s;
	}
	return QN_OK;
}

qn_status
qn_samples_for(const qn_graph *g, qn_arena *a, size_t n, qn_array *const *in,
	       const char *const *names, qn_dataset **out)
{
	const qn_source **source = QN_NEW(a, const qn_source *, n);

	QN_TRY(sources_of(g->model->env, a, n, in, names, source));
	return qn_dataset_sources(g, a, n, source, out);
}

/* ---- shapes that the samples decide ---- */

/* The type of one sample where the input leaves its shape open; dimension 0 is 1 then. */
static const qn_type *
type_of_one(qn_types *t, const qn_type *want, const qn_type *samples)
{
	const bool ranked = want->rank >= 0;
	int64_t dim[QN_MAX_RANK] = {1};

	if (qn_type_count(want) >= 0 || (ranked && want->rank != samples->rank))
		return want;
	for (int32_t i = 0; i < samples->rank; i++)
		if (ranked && want->dim[i] != QN_DYNAMIC)
			dim[i] = want->dim[i];
		else if (i > 0)
			dim[i] = samples->dim[i];
	return qn_type_with_shape(t, want, samples->rank, dim);
}

/* … of a state, which no samples have the shape of: only dimension 0 may be open. */
static const qn_type *
type_of_state(qn_types *t, const qn_type *want)
{
	int64_t dim[QN_MAX_RANK] = {0};

	if (qn_type_count(want) >= 0 || want->rank < 1)
		return want;
	for (int32_t i = 0; i < want->rank; i++)
		dim[i] = i == 0 && want->dim[i] == QN_DYNAMIC ? 1 : want->dim[i];
	return qn_type_with_shape(t, want, want->rank, dim);
}

static bool
has_open_inputs(const qn_graph *g)
{
	bool open = false;

	for (size_t k = 0; k < qn_graph_fed(g); k++)
		open = open || qn_type_count(qn_graph_node(g, g->input[k])->type) < 0;
	return open;
}

/* The graph for samples: the model's own, or one of their shapes where it leaves shapes open. */
static qn_status
graph_for(qn_model *m, qn_arena *a, size_t n, qn_array *const *in, const qn_graph **out)
{
	const qn_graph *g = *out = qn_model_entry(m);
	const qn_source **source = QN_NEW(a, const qn_source *, n);
	const qn_source **bound = QN_NEW(a, const qn_source *, qn_graph_fed(g));
	const qn_type **type = QN_NEW(a, const qn_type *, g->ninput);
	qn_graph *special;

	if (!has_open_inputs(g))
		return QN_OK;
	QN_TRY(sources_of(m->env, a, n, in, NULL, source));
	QN_TRY(qn_bind_sources(g, a, n, source, bound));
	for (size_t k = 0; k < qn_graph_fed(g); k++)
		type[k] =
			type_of_one(&m->types, qn_graph_node(g, g->input[k])->type, bound[k]->type);
	for (size_t k = qn_graph_fed(g); k < g->ninput; k++)
		type[k] = type_of_state(&m->types, qn_graph_node(g, g->input[k])->type);
	QN_TRY(qn_specialize(g, type, &special));
	*out = special;
	return QN_OK;
}

typedef struct run_call {
	qn_model *m;
	size_t nin;
	qn_array *const *in;
	int dequantize;
	size_t nout;
	qn_array **out;
	qn_trace_fn *trace; /* or NULL */
	void *user;
} run_call;

/* What workers write to: each the results of its own batches. */
typedef struct results {
	qn_tracing tracing; /* first: the observer's user */
	const qn_dataset *d;
	size_t n;
	void **data; /* by output */
} results;

qn_status
qn_check_runs(const qn_model *m)
{
	if (m->stage != QN_STAGE_SYMBOLIC || m->types.nsymbol == 0)
		return QN_OK;
	return qn_report(m->env, QN_EINVALID, "run.stage", m->name,
			 "a symbolic model cannot be run, its scales are unknown; run the passes "
			 "calibrate (which needs samples) and bind first");
}

/* The type of all results of an output: those of all batches along its own dimension 0, as samples of an input of its shape
 * lie. */
static const qn_type *
result_type(qn_types *t, const qn_type *one, const qn_elem *e, const qn_dataset *d)
{
	int64_t dim[QN_MAX_RANK];

	if (qn_dataset_results(d) == 1)
		return qn_type_tensor(t, e, one->rank, one->dim);
	for (int32_t i = 1; i < one->rank; i++)
		dim[i] = one->dim[i];
	dim[0] = (int64_t)qn_dataset_results(d) * (one->rank > 0 ? one->dim[0] : 1);
	return qn_type_tensor(t, e, one->rank > 0 ? one->rank : 1, dim);
}

/* Room for all results of each output, in the graph's own types. */
static qn_status
make_results(run_call *c, const qn_graph *g, const qn_dataset *d, qn_arena *a, qn_tensor **all,
	     void **data)
{
	for (size_t k = 0; k < c->nout; k++) {
		const qn_type *one = qn_graph_node(g, g->output[k].value)->type;
		const char *name = g->output[k].name;

		if (one->is_tuple)
			return qn_report(c->m->env, QN_EUNSUPPORTED, "run.tuple", name,
					 "output '%s' is a tuple; make its fields outputs", name);
		const qn_type *type = result_type(&c->m->types, one, one->elem, d);

		all[k] = qn_tensor_new(a, type, &data[k]);
	}
	return QN_OK;
}

/* The public array of a result: quantized values as they are, or float values. */
static void
publish(run_call *c, size_t k, const qn_tensor *all)
{
	qn_types *t = &c->m->types;
	qn_array *x = qn_array_alloc(qn_box(c->m)->ctx);
	const qn_tensor *v = all;
	const qn_elem *f32 = qn_elem_plain(t, QN_PLAIN_f32);

	c->out[k] = x;
	if (c->dequantize != 0 && all->type->elem->kind == QN_ELEM_UNIFORM)
		v = qn_tensor_dequantize(t, &x->arena, all, qn_type_with_elem(t, all->type, f32));
	const qn_type *type =
		qn_type_plain(&x->types, v->type->elem->plain, v->type->rank, v->type->dim);
	qn_array_set(x, v == all ? qn_tensor_of(&x->arena, type, v->data)
				 : qn_tensor_view(&x->arena, type, v->data));
}

static void
keep_results(void *user, qn_env *env, const qn_interp *in, size_t first, size_t n)
{
	results *r = user;

	(void)env;
	if (r->tracing.fn != NULL) /* then there is one worker */
		r->tracing.run = first + n;
	for (size_t k = 0; k < r->n; k++) {
		for (size_t j = 0; j < n; j++) {
			qn_tensor y = qn_interp_output_of(in, k, j);
			size_t at;

			if (!qn_dataset_gives(r->d, first + j, &at))
				continue;
			memcpy((char *)r->data[k] + at * y.bytes, y.data, y.bytes);
		}
	}
}

/* Runs all batches; with a hook one after the other. */
static qn_status
sweep(const run_call *c, const qn_graph *g, qn_dataset *d, results *r, qn_arena *a)
{
	qn_sweep *s;

	if (c->trace != NULL)
		QN_TRY(qn_sweep_new_in_order(g, d, a, &s));
	else
		QN_TRY(qn_sweep_new(g, d, a, &s));
	s->stage = "run";
	void **user = QN_NEW(a, void *, s->nworker);
	for (size_t i = 0; i < s->nworker; i++)
		user[i] = r;
	if (c->trace == NULL)
		return qn_sweep_run(s, NULL, keep_results, user);
	qn_tracing_prepare(&r->tracing, g, a);
	const qn_status status = qn_sweep_run(s, qn_trace_value, keep_results, user);
	const qn_node *at = r->tracing.ended;
	return at == NULL ? status
			  : qn_report(c->m->env, QN_ECANCELLED, "cancelled", qn_node_place(g, at),
				      "the hook ended run %llu at trace '%s'",
				      (unsigned long long)r->tracing.run, at->attr->trace.key);
}

static qn_status
check_outputs(const run_call *c)
{
	const qn_graph *g = qn_model_entry(c->m);

	if (c->nout == qn_graph_given(g))
		return QN_OK;
	return qn_report(c->m->env, QN_EUSAGE, "run.outputs", g->name,
			 "the model has %zu outputs, not %zu", qn_graph_given(g), c->nout);
}

static qn_status
run(void *arg, qn_arena *scratch)
{
	run_call *c = arg;
	const qn_graph *g = qn_model_entry(c->m);
	results r = {.tracing = {.fn = c->trace, .user = c->user},
		     .n = c->nout,
		     .data = QN_NEW(scratch, void *, c->nout)};
	qn_tensor **all = QN_NEW(scratch, qn_tensor *, c->nout);
	qn_dataset *d;

	QN_TRY(check_outputs(c));
	QN_TRY(qn_check_runs(c->m));
	QN_TRY(graph_for(c->m, scratch, c->nin, c->in, &g));
	QN_TRY(qn_samples_for(g, scratch, c->nin, c->in, NULL, &d));
	QN_TRY(qn_lint_data(g, d, 0, scratch));
	QN_TRY(make_results(c, g, d, scratch, all, r.data));
	r.d = d;
	QN_TRY(sweep(c, g, d, &r, scratch));
	for (size_t k = 0; k < c->nout; k++)
		publish(c, k, all[k]);
	return QN_OK;
}

qn_status
qn_run_on(qn_model *m, qn_interp *in, size_t nin, qn_array *const *samples, int dequantize,
	  size_t nout, qn_array **out, qn_arena *scratch)
{
	run_call c = {.m = m,
		      .nin = nin,
		      .in = samples,
		      .dequantize = dequantize,
		      .nout = nout,
		      .out = out};
	const qn_graph *g = qn_model_entry(m);
	results r = {.n = nout, .data = QN_NEW(scratch, void *, nout)};
	qn_tensor **all = QN_NEW(scratch, qn_tensor *, nout);
	qn_dataset *d;

	QN_TRY(check_outputs(&c));
	QN_TRY(qn_samples_for(g, scratch, nin, samples, NULL, &d));
	if (d->steps > 1)
		return qn_report(
			m->env, QN_EUSAGE, "data.sequence", m->name,
			"the samples are longer than the input; a session takes what the input "
			"takes, or several of them one after the other");
	QN_TRY(qn_dataset_check(d, scratch, &(qn_check){0}));
	QN_TRY(make_results(&c, g, d, scratch, all, r.data));
	r.d = d;
	for (size_t b = 0; b < d->nbatch; b++) {
		qn_arena *tmp = qn_arena_child(scratch);
		const qn_tensor *const *x;
		qn_status status = qn_progress(m->env, "run", b, d->nbatch);

		if (status == QN_OK)
			status = d->get(d, b, tmp, &x);

		if (status == QN_OK)
			status = qn_interp_run(in, x, NULL, NULL);
		if (status == QN_OK)
			keep_results(&r, m->env, in, b, 1);
		qn_arena_release(tmp);
		QN_TRY(status);
	}
	for (size_t k = 0; k < nout; k++)
		publish(&c, k, all[k]);
	return QN_OK;
}

qn_status
qn_run_traced(qn_model *m, size_t nin, qn_array *const *in, int dequantize, size_t nout,
	      qn_array **out, qn_trace_fn *fn, void *user)
{
	run_call c = {.m = m,
		      .nin = nin,
		      .in = in,
		      .dequantize = dequantize,
		      .nout = nout,
		      .out = out,
		      .trace = fn,
		      .user = user};

	for (size_t k = 0; out != NULL && k < nout; k++)
		out[k] = NULL;
	QN_TRY(QN_GIVEN(qn_model_ctx(m), m));
	QN_TRY(qn_host_list(m->env, "out", nout, out));
	qn_status status = qn_guard_model(m, run, &c);
	for (size_t k = 0; status != QN_OK && k < nout; k++) {
		qn_array_free(out[k]);
		out[k] = NULL;
	}
	return status;
}

qn_status
qn_run(qn_model *m, size_t nin, qn_array *const *in, int dequantize, size_t nout, qn_array **out)
{
	return qn_run_traced(m, nin, in, dequantize, nout, out, NULL, NULL);
}
