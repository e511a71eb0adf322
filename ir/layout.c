/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c - tensors of planes: making, checking, looking at them. */
#include "ir/layout.h"

#include <stdlib.h>
#include <string.h>

#include "ir/diag.h"
#include "ir/layout_impl.h"

enum { COUNT_BITS = 60 };

int64_t
qn_layout_count(int32_t rank, const int64_t *dim, int64_t each)
{
	const int64_t most = INT64_C(1) << COUNT_BITS;
	int64_t n = each;

	for (int32_t i = 0; i < rank; i++)
		if (dim[i] <= 0)
			return dim[i] == 0 ? 0 : -1;
	for (int32_t i = 0; i < rank; i++) {
		if (n > most / dim[i])
			return -1;
		n *= dim[i];
	}
	return n;
}

qn_status
qn_plane_of(qn_env *env, const char *place, const char *name, const qn_dtype *dtype, int32_t rank,
	    const int64_t *dim, const void *data, size_t n, qn_plane *out)
{
	const int64_t bytes =
		rank >= 0 && rank <= QN_MAX_RANK ? qn_layout_count(rank, dim, dtype->bytes) : -1;

	if (bytes < 0 || (uint64_t)bytes != n)
		return qn_report(
			env, QN_EINVALID, "layout.shape", place,
			"plane '%s': %zu bytes of data, but its shape of %d dimensions and "
			"type %s need %lld",
			name, n, rank, dtype->name, (long long)bytes);
	*out = (qn_plane){.name = name, .dtype = dtype, .rank = rank, .data = data, .bytes = n};
	if (rank > 0)
		memcpy(out->dim, dim, (size_t)rank * sizeof *dim);
	return QN_OK;
}

static bool
is_little(void)
{
	const uint16_t one = 1;
	uint8_t first;

	memcpy(&first, &one, 1);
	return first == 1;
}

qn_layout_tensor
qn_layout_plain(const qn_dtype *dtype, int32_t rank, const int64_t *dim, const void *data)
{
	qn_layout_tensor t = {.layout = qn_layout_builtin(0), .rank = rank, .nplane = 1};

	t.plane[0] = (qn_plane){.name = "", .dtype = dtype, .rank = rank, .data = data};
	if (rank > 0) {
		memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
		memcpy(t.plane[0].dim, dim, (size_t)rank * sizeof *dim);
	}
	t.plane[0].bytes = (size_t)qn_layout_count(rank, dim, dtype->bytes);
	return t;
}

qn_layout_tensor
qn_layout_of_f32(qn_arena *a, int32_t rank, const int64_t *dim, const float *x)
{
	const int64_t n = qn_layout_count(rank, dim, 1);
	const qn_dtype *f32 = qn_dtype_by_name("f32");

	if (is_little())
		return qn_layout_plain(f32, rank, dim, x);
	uint8_t *data = QN_NEW(a, uint8_t, (size_t)n * sizeof *x);
	for (int64_t i = 0; i < n; i++)
		qn_dtype_store(f32, data, i, (double)x[i]);
	return qn_layout_plain(f32, rank, dim, data);
}

/* ---- looking ---- */

const qn_plane *
qn_layout_plane(const qn_layout_tensor *t, const char *name)
{
	for (int32_t i = 0; i < t->nplane; i++)
		if (strcmp(t->plane[i].name, name) == 0)
			return &t->plane[i];
	return NULL;
}

const char *
qn_layout_meta(const qn_layout_tensor *t, const char *key)
{
	for (int32_t i = 0; i < t->nmeta; i++)
		if (strcmp(t->meta[i].key, key) == 0)
			return t->meta[i].json;
	return NULL;
}

int32_t
qn_layout_meta_int(const qn_layout_tensor *t, const char *key, int32_t most)
{
	const char *json = qn_layout_meta(t, key);
	char *end = NULL;
	const long v = json != NULL ? strtol(json, &end, 10) : -1;

	if (json == NULL || end == json || v < 0 || v > most)
		return -1;
	return end[strspn(end, ".0")] == '\0' ? (int32_t)v : -1; /* "2.0" is one too */
}

void
qn_layout_set_meta(qn_layout_tensor *t, const char *key, const char *json)
{
	for (int32_t i = 0; i < t->nmeta; i++)
		if (strcmp(t->meta[i].key, key) == 0) {
			t->meta[i].json = json;
			return;
		}
	if (t->nmeta < QN_METAS)
		t->meta[t->nmeta++] = (qn_meta){key, json};
}

int64_t
qn_layout_elements(const qn_layout_tensor *t)
{
	return qn_layout_count(t->rank, t->dim, 1);
}

size_t
qn_layout_bytes(const qn_layout_tensor *t)
{
	size_t n = 0;

	for (int32_t i = 0; i < t->nplane; i++)
		n += t->plane[i].bytes;
	return n;
}

bool
qn_layout_is_plain(const qn_layout_tensor *t)
{
	return t->layout == qn_layout_builtin(0);
}

int64_t
qn_layout_block(const qn_layout_tensor *t)
{
	const qn_plane *qs = qn_layout_plane(t, "qs");

	if (t->layout->block > 0)
		return t->layout->block;
	if (qs == NULL || qs->rank != t->rank + 1 || qs->dim[t->rank - 1] == 0)
		return 1;
	return t->dim[t->rank - 1] / qs->dim[t->rank - 1];
}

/* ---- checking ---- */

static qn_status
check_names(qn_env *env, const char *place, const qn_layout_tensor *t)
{
	const qn_layout_row *row = t->layout;

	for (int32_t i = 0; i < row->nplane; i++)
		if (!row->plane[i].optional && qn_layout_plane(t, row->plane[i].name) == NULL)
			return qn_report(env, QN_EINVALID, "layout.plane", place,
					 "%s has no plane '%s'", row->name, row->plane[i].name);
	for (int32_t i = 0; i < t->nplane; i++) {
		int32_t k = 0;

		while (k < row->nplane && strcmp(row->plane[k].name, t->plane[i].name) != 0)
			k++;
		if (k == row->nplane)
			return qn_report(env, QN_EINVALID, "layout.plane", place,
					 "%s knows no plane '%s'", row->name, t->plane[i].name);
	}
	return QN_OK;
}

/* A plane of a layout with blocks of one size: leading dims, blocks, tail. */
static qn_status
check_plane(qn_env *env, const char *place, const qn_layout_tensor *t, const qn_plane_row *row)
{
	const qn_plane *p = qn_layout_plane(t, row->name);
	int64_t want[QN_MAX_RANK + 2];
	int32_t rank = t->rank;

	if (p == NULL)
		return QN_OK;
	memcpy(want, t->dim, (size_t)t->rank * sizeof *want);
	want[rank - 1] /= t->layout->block;
	for (int k = 0; k < 2 && row->tail[k] > 0; k++)
		want[rank++] = row->tail[k];
	if (p->rank != rank || memcmp(p->dim, want, (size_t)rank * sizeof *want) != 0)
		return qn_report(env, QN_EINVALID, "layout.shape", place,
				 "plane '%s' of %s does not have the tensor's leading dimensions, "
				 "%lld blocks and %d elements for each",
				 row->name, t->layout->name, (long long)want[t->rank - 1],
				 row->tail[0] * (row->tail[1] > 0 ? row->tail[1] : 1));
	if (row->dtype != NULL && strcmp(row->dtype, p->dtype->name) != 0)
		return qn_report(env, QN_EINVALID, "layout.dtype", place,
				 "plane '%s' of %s has the type %s (expected %s)", row->name,
				 t->layout->name, p->dtype->name, row->dtype);
	if (row->dtype == NULL && !qn_dtype_is_float(p->dtype))
		return qn_report(env, QN_EINVALID, "layout.dtype", place,
				 "plane '%s' of %s has the type %s (expected a float type)",
				 row->name, t->layout->name, p->dtype->name);
	return QN_OK;
}

qn_status
qn_layout_check(qn_env *env, const char *place, const qn_layout_tensor *t)
{
	const qn_layout_row *row = t->layout;

	if (t->rank < 0 || t->rank > QN_MAX_RANK || qn_layout_elements(t) < 0)
		return qn_report(env, QN_EINVALID, "layout.shape", place,
				 "the shape has a dimension below 0, or too many elements");
	QN_TRY(check_names(env, place, t));
	if (row->check != NULL)
		return row->check(env, place, t);
	if (t->rank == 0 || t->dim[t->rank - 1] % row->block != 0)
		return qn_report(env, QN_EINVALID, "layout.shape", place,
				 "rows of %lld elements are not a multiple of the %d of a block of "
				 "%s",
				 t->rank == 0 ? 1LL : (long long)t->dim[t->rank - 1], row->block,
				 row->name);
	for (int32_t i = 0; i < row->nplane; i++)
		QN_TRY(check_plane(env, place, t, &row->plane[i]));
	return QN_OK;
}
