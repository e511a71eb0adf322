/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - runs a model on samples, and measures accuracy on labelled ones. */
#include <string.h>

#include "calibrate/sweep.h"
#include "driver/run.h"

qn_status
qn_samples_for(const qn_graph *g, qn_arena *a, size_t n, qn_array *const *in,
	       const char *const *names, qn_dataset **out)
{
	const qn_source **source = QN_NEW(a, const qn_source *, n);

	for (size_t i = 0; i < n; i++) {
		qn_source *s = in[i]->source != NULL
				       ? qn_arena_copy(a, in[i]->source, sizeof *s)
				       : qn_source_tensor(a, in[i]->tensor, in[i]->name);
		if (names != NULL)
			s->name = names[i];
		source[i] = s;
	}
	return qn_dataset_sources(g, a, n, source, out);
}

typedef struct run_call {
	qn_model *m;
	size_t nin;
	qn_array *const *in;
	int real;
	size_t nout;
	qn_array **out;
	const qn_array *labels;   /* NULL: those of the samples */
	const qn_tensor *classes; /* one a sample */
	qn_accuracy accuracy;
} run_call;

/* One worker's part. */
typedef struct run_worker {
	const run_call *c;
	void **data; /* of the results, by output */
	size_t batch;
	uint64_t correct, samples;
} run_worker;

/* Runs all batches; done is called with a run_worker.  Their array is returned in *worker, its
 * length in *n. */
static qn_status
sweep(run_call *c, qn_dataset *d, void **data, qn_sweep_fn *done, qn_arena *a, run_worker **worker,
      size_t *n)
{
	qn_sweep *s;

	QN_TRY(qn_sweep_new(qn_model_entry(c->m), d, a, &s));
	*n = s->nworker;
	*worker = QN_NEW(a, run_worker, *n);
	void **user = QN_NEW(a, void *, *n);
	for (size_t i = 0; i < *n; i++) {
		(*worker)[i] = (run_worker){.c = c, .data = data, .batch = d->batch};
		user[i] = &(*worker)[i];
	}
	return qn_sweep_run(s, NULL, done, user);
}

/* Scales that are symbols are no numbers to compute with: said once, not for every node. */
static qn_status
check_stage(const qn_model *m)
{
	if (m->stage != QN_STAGE_SYMBOLIC || m->types.nsymbol == 0)
		return QN_OK;
	return qn_report(m->env, QN_EINVALID, "run.stage", m->name,
			 "a symbolic model cannot be run, its scales are no numbers yet; run the "
			 "passes calibrate (which needs samples) and bind first");
}

/* The type of all results of an output: dimension 0 counts samples.  NULL when the output's
 * dimension 0 is not the batch and there are several batches. */
static const qn_type *
result_type(qn_types *t, const qn_type *one, const qn_elem *e, const qn_dataset *d)
{
	int64_t dim[QN_MAX_RANK];

	if (d->nbatch == 1)
		return qn_type_tensor(t, e, one->rank, one->dim);
	if (one->rank < 1 || one->dim[0] != (int64_t)d->batch)
		return NULL;
	memcpy(dim, one->dim, (size_t)one->rank * sizeof dim[0]);
	dim[0] = (int64_t)(d->nbatch * d->batch);
	return qn_type_tensor(t, e, one->rank, dim);
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
		if (type == NULL)
			return qn_report(
				c->m->env, QN_EUNSUPPORTED, "run.batch", name,
				"dimension 0 of output '%s' is not the batch of the inputs; "
				"run one batch at a time",
				name);
		all[k] = qn_tensor_new(a, type, &data[k]);
	}
	return QN_OK;
}

/* The public array of a result: codes as they are, or real values. */
static void
publish(run_call *c, size_t k, const qn_tensor *all)
{
	qn_types *t = &c->m->types;
	qn_array *x = qn_array_alloc(qn_box(c->m)->ctx);
	const qn_tensor *v = all;
	const qn_elem *f32 = qn_elem_plain(t, QN_PLAIN_f32);

	c->out[k] = x;
	if (c->real != 0 && all->type->elem->kind == QN_ELEM_UNIFORM)
		v = qn_tensor_dequantize(t, &x->arena, all, qn_type_with_elem(t, all->type, f32));
	const qn_type *type =
		qn_type_plain(&x->types, v->type->elem->plain, v->type->rank, v->type->dim);
	qn_array_set(x, v == all ? qn_tensor_of(&x->arena, type, v->data)
				 : qn_tensor_view(&x->arena, type, v->data));
}

static void
keep_results(void *user, qn_env *env, const qn_interp *in, size_t first, size_t n)
{
	const run_worker *w = user;

	(void)env;
	for (size_t k = 0; k < w->c->nout; k++) {
		for (size_t j = 0; j < n; j++) {
			qn_tensor y = qn_interp_output_of(in, k, j);

			memcpy((char *)w->data[k] + (first + j) * y.bytes, y.data, y.bytes);
		}
	}
}

static qn_status
run(void *arg, qn_arena *scratch)
{
	run_call *c = arg;
	const qn_graph *g = qn_model_entry(c->m);
	void **data = QN_NEW(scratch, void *, c->nout);
	run_worker *worker;
	size_t nworker;
	qn_tensor **all = QN_NEW(scratch, qn_tensor *, c->nout);
	qn_dataset *d;

	if (c->nout != g->noutput)
		return qn_report(c->m->env, QN_EUSAGE, "run.outputs", g->name,
				 "the model has %zu outputs, not %zu", g->noutput, c->nout);
	QN_TRY(check_stage(c->m));
	QN_TRY(qn_samples_for(g, scratch, c->nin, c->in, NULL, &d));
	QN_TRY(qn_dataset_check(d, scratch, &(qn_check){0}));
	QN_TRY(make_results(c, g, d, scratch, all, data));
	QN_TRY(sweep(c, d, data, keep_results, scratch, &worker, &nworker));
	for (size_t k = 0; k < c->nout; k++)
		publish(c, k, all[k]);
	return QN_OK;
}

qn_status
qn_run(qn_model *m, size_t nin, qn_array *const *in, int real, size_t nout, qn_array **out)
{
	run_call c = {.m = m, .nin = nin, .in = in, .real = real, .nout = nout, .out = out};

	for (size_t k = 0; k < nout; k++)
		out[k] = NULL;
	qn_status status = qn_guard_model(m, run, &c);
	for (size_t k = 0; status != QN_OK && k < nout; k++) {
		qn_array_free(out[k]);
		out[k] = NULL;
	}
	return status;
}

/* The classes: an array, or what the samples' own source says. */
static qn_status
find_labels(run_call *c, const qn_dataset *d, qn_arena *a)
{
	const qn_source *s = d->nbatch > 0 && c->nin > 0 ? qn_dataset_source(d, 0) : NULL;

	if (c->labels != NULL)
		return qn_array_read(c->labels, a, &c->classes);
	if (s == NULL || s->label == NULL)
		return qn_report(c->m->env, QN_EUSAGE, "data.labels", s != NULL ? s->name : "",
				 "the samples have no classes: give labels, one integer a sample, "
				 "or a folder with a subfolder for each class");
	const int64_t n = (int64_t)qn_source_count(s);
	c->classes = qn_tensor_view(a, qn_type_plain(&c->m->types, QN_PLAIN_i64, 1, &n), s->label);
	return QN_OK;
}

/* One integer a sample, each of them a class. */
static qn_status
check_labels(const run_call *c, const qn_dataset *d, const qn_type *one)
{
	const qn_tensor *labels = c->classes;
	const char *name = c->labels != NULL ? c->labels->name : qn_dataset_source(d, 0)->name;
	int64_t n = qn_type_count(labels->type);
	int64_t classes = qn_type_count(one) / one->dim[0];

	if (qn_plain_table[labels->type->elem->plain].is_float ||
	    n != (int64_t)(d->nbatch * d->batch))
		return qn_report(
			c->m->env, QN_EINVALID, "data.labels", name,
			"%lld labels of %s for %zu samples; one integer a sample is needed",
			(long long)n, qn_plain_table[labels->type->elem->plain].name,
			d->nbatch * d->batch);
	for (int64_t i = 0; i < n; i++) {
		int64_t label = qn_tensor_i64(labels, i);

		if (label < 0 || label >= classes)
			return qn_report(c->m->env, QN_EINVALID, "data.labels", name,
					 "sample %lld has label %lld, but the output has %lld "
					 "classes, counted from 0",
					 (long long)i, (long long)label, (long long)classes);
	}
	return QN_OK;
}

/* Counts rows of y (the first dim is the batch) whose largest element, the first of equal ones,
 * is the label. */
static uint64_t
count_correct(const qn_tensor *y, const qn_tensor *labels, int64_t first)
{
	int64_t rows = y->type->dim[0];
	int64_t each = qn_type_count(y->type) / rows;
	uint64_t correct = 0;

	for (int64_t r = 0; r < rows; r++) {
		int64_t best = 0;

		for (int64_t j = 1; j < each; j++)
			if (qn_tensor_f64(y, r * each + j) > qn_tensor_f64(y, r * each + best))
				best = j;
		correct += qn_tensor_i64(labels, first + r) == best;
	}
	return correct;
}

static void
count_results(void *user, qn_env *env, const qn_interp *in, size_t first, size_t n)
{
	run_worker *w = user;

	(void)env;
	for (size_t j = 0; j < n; j++) {
		qn_tensor y = qn_interp_output_of(in, 0, j);

		w->correct += count_correct(&y, w->c->classes, (int64_t)((first + j) * w->batch));
		w->samples += w->batch;
	}
}

static qn_status
evaluate(void *arg, qn_arena *scratch)
{
	run_call *c = arg;
	const qn_graph *g = qn_model_entry(c->m);
	const qn_type *one = qn_graph_node(g, g->output[0].value)->type;
	run_worker *worker;
	size_t nworker;
	qn_dataset *d;

	QN_TRY(check_stage(c->m));
	QN_TRY(qn_samples_for(g, scratch, c->nin, c->in, NULL, &d));
	QN_TRY(qn_dataset_check(d, scratch, &(qn_check){0}));
	if (one->is_tuple || one->rank < 2 || one->dim[0] != (int64_t)d->batch)
		return qn_report(c->m->env, QN_EUNSUPPORTED, "eval.output", g->output[0].name,
				 "the first output is no [batch, classes] tensor");
	QN_TRY(find_labels(c, d, scratch));
	QN_TRY(check_labels(c, d, one));
	QN_TRY(qn_dataset_check(d, scratch, &(qn_check){0}));
	QN_TRY(sweep(c, d, NULL, count_results, scratch, &worker, &nworker));
	for (size_t i = 0; i < nworker; i++) {
		c->accuracy.correct += worker[i].correct;
		c->accuracy.samples += worker[i].samples;
	}
	return QN_OK;
}

qn_status
qn_evaluate(qn_model *m, size_t nin, qn_array *const *in, const qn_array *labels, qn_accuracy *out)
{
	run_call c = {.m = m, .nin = nin, .in = in, .labels = labels};
	qn_status status = qn_guard_model(m, evaluate, &c);

	*out = c.accuracy;
	return status;
}
