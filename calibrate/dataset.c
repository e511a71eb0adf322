/* SPDX-License-Identifier: Apache-2.0 */
/* dataset.c - data sets over arrays: dimension 0 indexes samples, a model of batch N consumes N
 * of them at a time. */
#include "calibrate/dataset.h"

#include "ir/diag.h"

typedef struct arrays {
	const qn_graph *g;
	const qn_tensor **data;  /* f32, or the input's own storage type */
	qn_tensor *view;         /* one an input, moved along the data */
	const qn_tensor **views; /* pointers to them */
} arrays;

static qn_status
get(qn_dataset *d, size_t index, const qn_tensor *const **inputs)
{
	arrays *s = d->user;

	for (size_t i = 0; i < s->g->ninput; i++)
		s->view[i].data = (const char *)s->data[i]->data + index * s->view[i].bytes;
	*inputs = s->views;
	return QN_OK;
}

static qn_dataset *
reader(qn_dataset *d, qn_arena *a)
{
	const arrays *from = d->user;
	qn_dataset *copy = QN_NEW(a, qn_dataset, 1);
	arrays *s = QN_NEW(a, arrays, 1);

	*s = *from;
	s->view = qn_arena_copy(a, from->view, s->g->ninput * sizeof *s->view);
	s->views = QN_NEW(a, const qn_tensor *, s->g->ninput);
	for (size_t i = 0; i < s->g->ninput; i++)
		s->views[i] = &s->view[i];
	*copy = *d;
	copy->user = s;
	return copy;
}

static const char *
shape_text(const qn_type *t, qn_arena *a)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buf_puts(&b, "[");
	for (int32_t i = 0; i < t->rank; i++)
		qn_buff(&b, i > 0 ? ",%lld" : "%lld", (long long)t->dim[i]);
	qn_buf_puts(&b, "]");
	return qn_buf_str(&b);
}

static const char *
input_names(const qn_graph *g, qn_arena *a)
{
	qn_buf b;

	qn_buf_init(&b, a);
	for (size_t i = 0; i < g->ninput; i++)
		qn_buff(&b, "%s'%s'", i > 0 ? ", " : "", qn_graph_node(g, g->input[i])->name);
	return qn_buf_str(&b);
}

qn_status
qn_samples_finite(qn_env *env, const qn_tensor *x, const char *name)
{
	int64_t bad = qn_tensor_find_nonfinite(x);

	if (bad < 0)
		return QN_OK;
	int64_t each = x->type->rank > 0 ? qn_type_count(x->type) / x->type->dim[0] : 1;
	return qn_report(env, QN_EINVALID, "data.nonfinite", name,
			 "sample %lld, element %lld is %g; samples must be finite",
			 (long long)(bad / each), (long long)(bad % each), qn_tensor_f64(x, bad));
}

/* The plain type of an array's elements must be that of the input's storage; f64 stands in for
 * f32. */
static qn_status
check_array(const qn_graph *g, const qn_node *in, const qn_tensor *x, const char *name, qn_arena *a)
{
	const qn_type *want = in->type;
	qn_env *env = g->model->env;
	qn_plain have = x->type->elem->plain;

	if (have != want->elem->plain &&
	    !(have == QN_PLAIN_f64 && want->elem->plain == QN_PLAIN_f32))
		return qn_report(env, QN_EINVALID, "data.type", name,
				 "holds %s, but input '%s' takes %s; convert it, for example with "
				 "numpy's astype",
				 qn_plain_table[have].name, in->name,
				 qn_plain_table[want->elem->plain].name);
	if (qn_type_count(want) < 0)
		return qn_report(
			env, QN_EUNSUPPORTED, "data.dynamic", in->name,
			"input '%s' has shape %s with a dim that is not known; such models are "
			"read and checked, but not run: give the input a static type",
			in->name, shape_text(want, a));
	bool fits = want->rank >= 1 && x->type->rank == want->rank && want->dim[0] > 0;
	for (int32_t i = 1; fits && i < want->rank; i++)
		fits = x->type->dim[i] == want->dim[i];
	if (!fits)
		return qn_report(env, QN_EINVALID, "data.shape", name,
				 "has shape %s, but input '%s' has shape %s: dimension 0 counts "
				 "samples, the others must be equal",
				 shape_text(x->type, a), in->name, shape_text(want, a));
	if (x->type->dim[0] == 0)
		return qn_report(env, QN_EINVALID, "data.empty", name,
				 "holds no samples: dimension 0 is 0");
	if (x->type->dim[0] % want->dim[0] != 0)
		return qn_report(env, QN_EINVALID, "data.remainder", name,
				 "holds %lld samples, not a multiple of the model's batch of %lld",
				 (long long)x->type->dim[0], (long long)want->dim[0]);
	return qn_samples_finite(env, x, name);
}

qn_status
qn_dataset_arrays(const qn_graph *g, qn_arena *a, size_t narray, const qn_tensor *const *array,
		  const char *const *names, qn_dataset **out)
{
	qn_env *env = g->model->env;
	arrays *s = QN_NEW(a, arrays, 1);
	qn_dataset *d = QN_NEW(a, qn_dataset, 1);
	qn_status status = QN_OK;

	if (narray != g->ninput)
		return qn_report(env, QN_EINVALID, "data.count", g->model->name,
				 "arrays of samples: %zu, inputs of the model: %zu (%s); give one "
				 "array for each input, in order",
				 narray, g->ninput, input_names(g, a));
	*s = (arrays){g, QN_NEW(a, const qn_tensor *, narray), QN_NEW(a, qn_tensor, narray),
		      QN_NEW(a, const qn_tensor *, narray)};
	*d = (qn_dataset){.get = get, .reader = reader, .user = s};
	for (size_t i = 0; i < narray; i++) {
		const qn_node *in = qn_graph_node(g, g->input[i]);

		if (check_array(g, in, array[i], names[i], a) != QN_OK) {
			status = QN_EINVALID;
			continue;
		}
		size_t n = (size_t)(array[i]->type->dim[0] / in->type->dim[0]);
		if (i > 0 && n != d->nbatch)
			status = qn_report(env, QN_EINVALID, "data.count", names[i],
					   "holds %zu batches, but '%s' holds %zu", n, names[0],
					   d->nbatch);
		d->nbatch = n;
		d->batch = (size_t)in->type->dim[0];
		s->data[i] = array[i];
		if (array[i]->type->elem->plain == QN_PLAIN_f64)
			s->data[i] = qn_tensor_view(
				a,
				qn_type_with_elem(&g->model->types, array[i]->type,
						  qn_elem_plain(&g->model->types, QN_PLAIN_f32)),
				qn_tensor_as_f32(a, array[i]));
		s->view[i] = (qn_tensor){.type = in->type, .bytes = qn_type_bytes(in->type)};
		s->views[i] = &s->view[i];
	}
	*out = d;
	return status;
}
