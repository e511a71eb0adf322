/* SPDX-License-Identifier: Apache-2.0 */
/* source.c - samples in memory, and sources that change the values of another one. */
#include "calibrate/source.h"

#include <string.h>

#include "ir/diag.h"

size_t
qn_source_count(const qn_source *s)
{
	return (size_t)s->type->dim[0];
}

size_t
qn_source_bytes(const qn_source *s)
{
	size_t bytes = qn_plain_table[s->type->elem->plain].bytes;

	for (int32_t i = 1; i < s->type->rank; i++)
		bytes *= (size_t)s->type->dim[i];
	return bytes;
}

const char *
qn_source_place(const qn_source *s, size_t index)
{
	return s->path != NULL ? s->path[index] : s->name;
}

/* ---- memory ---- */

static qn_status
fetch_tensor(const qn_source *s, size_t index, qn_arena *tmp, void *dst)
{
	size_t n = qn_source_bytes(s);

	(void)tmp;
	if (n > 0)
		memcpy(dst, (const char *)s->tensor->data + index * n, n);
	return QN_OK;
}

qn_source *
qn_source_tensor(qn_arena *a, const qn_tensor *x, const char *name)
{
	qn_source *s = QN_NEW(a, qn_source, 1);

	*s = (qn_source){.type = x->type, .name = name, .tensor = x, .fetch = fetch_tensor};
	return s;
}

qn_status
qn_source_load(const qn_source *s, qn_arena *a, const qn_tensor **out)
{
	void *data = NULL;
	qn_status status = QN_OK;

	*out = s->tensor;
	if (s->tensor != NULL)
		return QN_OK;
	*out = qn_tensor_new(a, s->type, &data);
	for (size_t i = 0; i < qn_source_count(s); i++)
		if (s->fetch(s, i, a, (char *)data + i * qn_source_bytes(s)) != QN_OK)
			status = QN_EINVALID;
	return status;
}

/* ---- changed values ---- */

typedef struct changed {
	const qn_source *from;
	const qn_type *one; /* a sample of from; the shape has 1 as dim 0 */
	const qn_type *to;  /* quantized: a sample of the result */
	const qn_types *types;
	qn_prep prep;
	size_t channels, inner; /* the channel of element i is i / inner % channels */
} changed;

static const qn_type *
with_count(qn_types *t, const qn_type *x, int64_t n)
{
	int64_t dim[QN_MAX_RANK];

	memcpy(dim, x->dim, (size_t)x->rank * sizeof dim[0]);
	dim[0] = n;
	return qn_type_plain(t, x->elem->plain, x->rank, dim);
}

/* A sample of the other source as a tensor: where it lies, or in tmp. */
static qn_status
fetch_from(const changed *c, size_t index, qn_arena *tmp, qn_tensor *out)
{
	size_t n = qn_source_bytes(c->from);

	*out = (qn_tensor){.type = c->one, .bytes = n};
	if (c->from->tensor != NULL) {
		out->data = (const char *)c->from->tensor->data + index * n;
		return QN_OK;
	}
	void *data = qn_arena_alloc(tmp, n > 0 ? n : 1, 1);
	out->data = data;
	return c->from->fetch(c->from, index, tmp, data);
}

static qn_source *
change(qn_types *t, qn_arena *a, const qn_source *s, const qn_elem *e, changed **user)
{
	qn_source *to = QN_NEW(a, qn_source, 1);

	*user = QN_NEW(a, changed, 1);
	**user = (changed){.from = s, .one = with_count(t, s->type, 1), .types = t};
	*to = *s;
	to->type = qn_type_with_elem(t, s->type, e);
	to->tensor = NULL;
	to->user = *user;
	return to;
}

static qn_status
fetch_real(const qn_source *s, size_t index, qn_arena *tmp, void *dst)
{
	const changed *c = s->user;
	int64_t n = qn_type_count(c->one);
	qn_tensor x;

	QN_TRY(fetch_from(c, index, tmp, &x));
	for (int64_t i = 0; i < n; i++)
		((float *)dst)[i] = (float)qn_tensor_f64(&x, i);
	return QN_OK;
}

const qn_source *
qn_source_real(qn_types *t, qn_arena *a, const qn_source *s)
{
	changed *c;
	qn_source *to = change(t, a, s, qn_elem_plain(t, QN_PLAIN_f32), &c);

	to->fetch = fetch_real;
	return to;
}

static qn_status
fetch_quantized(const qn_source *s, size_t index, qn_arena *tmp, void *dst)
{
	const changed *c = s->user;
	qn_tensor x;

	QN_TRY(fetch_from(c, index, tmp, &x));
	qn_quantize_into(c->types, &x, c->to, dst);
	return QN_OK;
}

const qn_source *
qn_source_quantized(qn_types *t, qn_arena *a, const qn_source *s, const qn_elem *e)
{
	changed *c;
	const qn_source *real = s->type->elem->plain == QN_PLAIN_f32 ? s : qn_source_real(t, a, s);
	qn_source *to = change(t, a, real, e, &c);

	c->to = qn_type_with_elem(t, c->one, e);
	to->fetch = fetch_quantized;
	return to;
}

static qn_status
fetch_scaled(const qn_source *s, size_t index, qn_arena *tmp, void *dst)
{
	const changed *c = s->user;
	const qn_prep *p = &c->prep;
	int64_t n = qn_type_count(c->one);
	qn_tensor x;

	QN_TRY(fetch_from(c, index, tmp, &x));
	for (int64_t i = 0; i < n; i++) {
		size_t k = (size_t)i / c->inner % c->channels;
		double v = (qn_tensor_f64(&x, i) - p->zero) * p->scale;

		if (p->nmean > 0)
			v -= p->mean[p->nmean > 1 ? k : 0];
		if (p->nstd > 0)
			v /= p->std[p->nstd > 1 ? k : 0];
		((float *)dst)[i] = (float)v;
	}
	return QN_OK;
}

qn_status
qn_source_scaled(qn_types *t, qn_arena *a, const qn_source *s, const qn_prep *p,
		 const qn_source **out)
{
	changed *c;
	qn_source *to = change(t, a, s, qn_elem_plain(t, QN_PLAIN_f32), &c);
	int32_t rank = s->type->rank;
	int32_t axis = p->channels_first ? 1 : rank - 1;

	*out = s;
	if (!p->given)
		return QN_OK;
	c->prep = *p;
	c->channels = rank > 1 ? (size_t)s->type->dim[axis] : 1;
	c->inner = 1;
	for (int32_t i = axis + 1; rank > 1 && i < rank; i++)
		c->inner *= (size_t)s->type->dim[i];
	if ((p->nmean > 1 && p->nmean != c->channels) || (p->nstd > 1 && p->nstd != c->channels))
		return qn_report(
			a->env, QN_EINVALID, "data.channels", s->name,
			"%s has %zu numbers, but the samples have %zu channel%s (%s); give "
			"one number, or one per channel",
			p->nmean > 1 && p->nmean != c->channels ? "mean" : "std",
			p->nmean > 1 && p->nmean != c->channels ? p->nmean : p->nstd, c->channels,
			c->channels == 1 ? "" : "s",
			p->channels_first ? "dimension 1, by layout nchw"
					  : "the last dimension, by layout nhwc");
	to->fetch = fetch_scaled;
	to->prep = &c->prep;
	to->stored = s->type;
	*out = to;
	return QN_OK;
}
