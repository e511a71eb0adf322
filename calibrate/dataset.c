/* SPDX-License-Identifier: Apache-2.0 */
/* dataset.c - data sets over sources: dimension 0 indexes samples, a model of batch N consumes N of
 * them at a time.  What lies in memory as the model wants it is passed on where it lies; the rest
 * is fetched into a buffer that each reader has. */
#include "calibrate/dataset.h"

#include <math.h>
#include <string.h>

#include "calibrate/bind.h"
#include "ir/mask.h"
#include "calibrate/steps.h"
#include "ir/diag.h"
#include "ir/progress.h"

/* A view of a reader: one tensor per input, and where fetched samples go. */
typedef struct sources {
	const qn_graph *g;
	const qn_source *const *raw; /* by input, as they came */
	const qn_source **source;    /* by input, as the model takes them */
	qn_tensor *view;
	const qn_tensor **views; /* pointers to them */
	void **buffer;           /* NULL where samples lie in memory */
} sources;

/* Samples of input i in a batch: its dimension 0, or 1 number. */
static size_t
batch_of(const qn_graph *g, size_t i)
{
	const qn_type *t = qn_graph_node(g, g->input[i])->type;

	return t->rank > 0 ? (size_t)t->dim[0] : 1;
}

typedef struct get_call {
	const qn_dataset *d;
	size_t index;
} get_call;

static qn_status
fetch_batch(void *arg, qn_arena *tmp)
{
	const get_call *c = arg;
	const sources *s = c->d->user;

	for (size_t i = 0; i < qn_graph_fed(s->g); i++) {
		const qn_source *from = s->source[i];
		size_t n = qn_source_bytes(from);
		size_t batch = batch_of(s->g, i);

		for (size_t b = 0; s->buffer[i] != NULL && b < batch; b++)
			QN_TRY(from->fetch(from, c->index * batch + b, tmp,
					   (char *)s->buffer[i] + b * n));
	}
	return QN_OK;
}

/* Runs fn with an arena that is freed afterwards. */
static qn_status
with_arena(qn_env *env, qn_arena_fn *fn, void *arg)
{
	qn_arena tmp;

	qn_arena_init(&tmp, env);
	qn_status status = qn_arena_try(&tmp, fn, arg);
	qn_arena_release(&tmp);
	if (status == QN_ENOMEM && env->oom != NULL)
		qn_env_oom(env);
	return status;
}

static qn_status
get(qn_dataset *d, size_t index, qn_arena *scratch, const qn_tensor *const **inputs)
{
	sources *s = d->user;
	get_call c = {d, index};
	bool fetches = false;

	for (size_t i = 0; i < qn_graph_fed(s->g); i++) {
		fetches = fetches || s->buffer[i] != NULL;
		if (s->buffer[i] == NULL)
			s->view[i].data =
				(const char *)s->source[i]->tensor->data + index * s->view[i].bytes;
	}
	*inputs = s->views;
	return fetches ? with_arena(scratch->env, fetch_batch, &c) : QN_OK;
}

static qn_dataset *
reader(qn_dataset *d, qn_arena *a)
{
	const sources *from = d->user;
	size_t n = qn_graph_fed(from->g);
	qn_dataset *copy = QN_NEW(a, qn_dataset, 1);
	sources *s = QN_NEW(a, sources, 1);

	copy->arena = a;
	*s = *from;
	s->view = QN_NEW(a, qn_tensor, n);
	s->views = QN_NEW(a, const qn_tensor *, n);
	s->buffer = QN_NEW(a, void *, n);
	for (size_t i = 0; i < n; i++) {
		const qn_type *type = qn_graph_node(s->g, s->g->input[i])->type;

		s->view[i] = (qn_tensor){.type = type, .bytes = qn_type_bytes(type)};
		s->views[i] = &s->view[i];
		if (s->source[i]->tensor == NULL) {
			s->buffer[i] = qn_arena_alloc(a, s->view[i].bytes + 1, 1);
			s->view[i].data = s->buffer[i];
		}
	}
	*copy = *d;
	copy->user = s;
	return copy;
}

/* What to do where input i has one value for all samples of the others. */
static const char *
constant_hint(const qn_graph *g, qn_arena *a, size_t i, size_t n, size_t others)
{
	qn_buf b;

	if (n != 1 && others != 1)
		return "";
	qn_buf_init(&b, a);
	qn_buff(&b, "; fix a value that is the same for all samples: --input-value %s=FILE.npy",
		qn_graph_node(g, g->input[i])->name);
	return qn_buf_str(&b);
}

/* The samples in a batch: dimension 0 of the first output where an input has it too, as a state [layers, N, …] has not;
 * else of the first input. */
static size_t
samples_in_batch(const qn_graph *g)
{
	const qn_type *y = qn_graph_node(g, g->output[0].value)->type;
	const size_t n = y->is_tuple || y->rank == 0 ? 0 : (size_t)y->dim[0];

	for (size_t i = 0; i < qn_graph_fed(g); i++)
		if (batch_of(g, i) == n)
			return n;
	return qn_graph_fed(g) > 0 ? batch_of(g, 0) : 1;
}

/* The numbers of samples of the inputs, against each other. */
static qn_status
count_batches(const qn_graph *g, qn_arena *a, const qn_source *const *raw, qn_dataset *d)
{
	qn_status status = QN_OK;

	d->nbatch = 1; /* what has no inputs gives its results once */
	for (size_t i = 0; i < qn_graph_fed(g); i++) {
		size_t n = qn_source_count(raw[i]) / batch_of(g, i);

		if (i > 0 && n != d->nbatch)
			status = qn_report(g->model->env, QN_EINVALID, "data.count", raw[i]->name,
					   "holds %zu %s, but '%s' holds %zu%s", n,
					   n == 1 ? "batch" : "batches", raw[0]->name, d->nbatch,
					   constant_hint(g, a, n == 1 ? i : 0, n, d->nbatch));
		d->nbatch = i == 0 || n > d->nbatch ? n : d->nbatch;
	}
	d->batch = samples_in_batch(g);
	d->sequence = d->steps > 1                  ? d->steps
		      : g->model->env->sequence > 0 ? g->model->env->sequence
						    : d->nbatch;
	if (status == QN_OK && g->nstate > 0 && d->nbatch % d->sequence != 0)
		return qn_report(g->model->env, QN_EINVALID, "data.sequence",
				 qn_graph_fed(g) > 0 ? raw[0]->name : g->model->name,
				 "holds %zu steps, which is not a multiple of a sequence of %zu; "
				 "cut the samples, or set --sequence to the steps of a sequence",
				 d->nbatch, d->sequence);
	return status;
}

/* Arrays [batches, 2, 1, 64] of an input [2, 1, 64] as [2 * batches, 1, 64]: the same elements. */
static const qn_source *
flattened(const qn_graph *g, qn_arena *a, size_t i, const qn_source *s)
{
	const qn_type *want = qn_graph_node(g, g->input[i])->type, *have = s->type;
	int64_t dim[QN_MAX_RANK] = {0};

	if (s->tensor == NULL || want->rank < 1 || have->rank != want->rank + 1 ||
	    memcmp(have->dim + 1, want->dim, (size_t)want->rank * sizeof dim[0]) != 0)
		return s;
	memcpy(dim, want->dim, (size_t)want->rank * sizeof dim[0]);
	dim[0] *= have->dim[0];
	qn_source *flat = qn_arena_copy(a, s, sizeof *s);
	flat->type = qn_type_with_shape(&g->model->types, have, want->rank, dim);
	flat->tensor = qn_tensor_view(a, flat->type, s->tensor->data);
	return flat;
}

qn_status
qn_dataset_sources(const qn_graph *g, qn_arena *a, size_t n, const qn_source *const *source,
		   qn_dataset **out)
{
	qn_dataset d = {.get = get, .reader = reader};
	const qn_source **raw = QN_NEW(a, const qn_source *, qn_graph_fed(g));
	sources s = {.g = g, .raw = raw, .source = QN_NEW(a, const qn_source *, qn_graph_fed(g))};
	qn_status status = QN_OK;

	QN_TRY(qn_bind_sources(g, a, n, source, raw));
	for (size_t i = 0; i < qn_graph_fed(g); i++)
		raw[i] = flattened(g, a, i, raw[i]);
	QN_TRY(qn_steps_cut(g, a, raw, &d.steps));
	for (size_t i = 0; i < qn_graph_fed(g); i++)
		if (qn_fit_source(g, a, qn_graph_node(g, g->input[i]), raw[i], &s.source[i]) !=
		    QN_OK)
			status = QN_EINVALID;
	QN_TRY(status);
	QN_TRY(count_batches(g, a, raw, &d));
	d.user = &s;
	*out = reader(&d, a);
	return QN_OK;
}

qn_status
qn_dataset_arrays(const qn_graph *g, qn_arena *a, size_t narray, const qn_tensor *const *array,
		  const char *const *names, qn_dataset **out)
{
	const qn_source **source = QN_NEW(a, const qn_source *, narray);

	for (size_t i = 0; i < narray; i++)
		source[i] = qn_source_tensor(a, array[i], names[i]);
	QN_TRY(qn_dataset_sources(g, a, narray, source, out));
	return qn_dataset_check(*out, a, &(qn_check){0});
}

const qn_source *
qn_dataset_source(const qn_dataset *d, size_t k)
{
	return ((const sources *)d->user)->raw[k];
}

/* ---- looking at the samples ---- */

typedef struct check_call {
	const qn_check *check;
	const qn_source *s;
	const qn_type *one; /* the type of a sample, dim 0 is 1 */
	size_t input, index, count;
	void *data; /* of samples that are fetched */
	bool mask;  /* -inf stands for what is left out */
	uint32_t crc;
} check_call;

/* The first element that a sample must not have, or -1. */
static int64_t
find_bad(const check_call *c, const qn_tensor *x, bool *finite)
{
	const int64_t n = qn_type_count(c->one);
	int64_t bad = n > 0 ? qn_tensor_find_nonfinite(x) : -1;

	*finite = bad < 0;
	while (bad >= 0 && c->mask && qn_tensor_f64(x, bad) < 0 && isinf(qn_tensor_f64(x, bad))) {
		do
			bad++;
		while (bad < n && isfinite(qn_tensor_f64(x, bad)));
		if (bad == n)
			bad = -1;
	}
	return bad;
}

/* Sample c->index. */
static qn_status
check_sample(check_call *c, qn_env *env, const void *data)
{
	const qn_tensor x = {.type = c->one, .data = data, .bytes = qn_source_bytes(c->s)};
	bool finite;
	int64_t bad = find_bad(c, &x, &finite);

	if (c->check->crc != NULL && x.bytes > 0)
		c->crc = qn_tensor_crc_next(c->crc, &x);
	if (bad >= 0)
		return qn_report(env, QN_EINVALID, "data.nonfinite",
				 qn_source_place(c->s, c->index),
				 "sample %zu, element %lld is %g; samples must be finite: repair "
				 "or remove it",
				 c->index, (long long)bad, qn_tensor_f64(&x, bad));
	if (c->check->look != NULL && finite)
		c->check->look(c->check->user, c->input, c->index, data);
	return QN_OK;
}

static qn_status
fetch_one(void *arg, qn_arena *tmp)
{
	check_call *c = arg;

	if (c->s->tensor != NULL)
		return check_sample(c, tmp->env,
				    (const char *)c->s->tensor->data +
					    c->index * qn_source_bytes(c->s));
	QN_TRY(c->s->fetch(c->s, c->index, tmp, c->data));
	return check_sample(c, tmp->env, c->data);
}

qn_status
qn_dataset_check(const qn_dataset *d, qn_arena *scratch, const qn_check *check)
{
	const sources *s = d->user;
	const qn_mask *mask = qn_mask_values(s->g, scratch);
	qn_status status = QN_OK;
	size_t n = check->batches > 0 && check->batches < d->nbatch ? check->batches : d->nbatch;

	for (size_t i = 0; i < qn_graph_fed(s->g); i++) {
		const qn_type *type = s->raw[i]->type;
		int64_t dim[QN_MAX_RANK] = {1};

		for (int32_t k = 1; k < type->rank; k++)
			dim[k] = type->dim[k];
		check_call c = {.check = check,
				.s = s->raw[i],
				.one = qn_type_plain(&s->g->model->types, type->elem->plain,
						     type->rank, dim),
				.input = i,
				.mask = mask[s->g->input[i]] >= QN_MASK_OPERAND,
				.count = n * batch_of(s->g, i)};
		if (c.s->tensor == NULL)
			c.data = qn_arena_alloc(scratch, qn_source_bytes(c.s) + 1, 1);
		for (; c.index < c.count; c.index++) {
			qn_status one = c.s->tensor != NULL
						? fetch_one(&c, scratch)
						: with_arena(scratch->env, fetch_one, &c);
			status = status == QN_OK ? one : status;
			QN_TRY(qn_progress(scratch->env, "samples", c.index + 1, c.count));
		}
		if (check->crc != NULL)
			check->crc[i] = c.crc;
	}
	return status;
}
