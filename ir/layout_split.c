/* SPDX-License-Identifier: Apache-2.0 */
/* layout_split.c - see layout_split.h. */
#include "ir/layout_split.h"

#include <string.h>

#include "ir/diag.h"
#include "ir/layout_impl.h"

enum { MOST_DEVICES = 1 << 20 };

static const char *const part_names[QN_PLANES] = {"0", "1", "2", "3", "4", "5", "6", "7"};

static qn_status check_split(qn_env *env, const char *place, const qn_layout_tensor *t);
static qn_status check_replicated(qn_env *env, const char *place, const qn_layout_tensor *t);
static void dequant_split(const qn_layout_tensor *t, float *out);
static void dequant_whole(const qn_layout_tensor *t, float *out);

static const qn_plane_row parts[QN_PLANES] = {
	{.name = "0"},
	{.name = "1"},
	{.name = "2", .optional = true},
	{.name = "3", .optional = true},
	{.name = "4", .optional = true},
	{.name = "5", .optional = true},
	{.name = "6", .optional = true},
	{.name = "7", .optional = true},
};
static const qn_plane_row whole[] = {{.name = ""}};

static const qn_layout_row rows[] = {
	{.name = "SplitPrimitiveTensor",
	 .help = "parts along one dimension",
	 .nplane = QN_PLANES,
	 .plane = parts,
	 .check = check_split,
	 .dequant = dequant_split},
	{.name = "ReplicatedTensor",
	 .help = "the same tensor several times",
	 .nplane = 1,
	 .plane = whole,
	 .check = check_replicated,
	 .dequant = dequant_whole},
};

const qn_layout_row *
qn_split_row(const char *name)
{
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

bool
qn_layout_is_split(const qn_layout_tensor *t)
{
	return t->layout == &rows[0] || t->layout == &rows[1];
}

/* ---- checking ---- */

static bool
same_dims(const qn_layout_tensor *t, const qn_plane *p, int32_t except)
{
	if (p->rank != t->rank)
		return false;
	for (int32_t k = 0; k < t->rank; k++)
		if (k != except && p->dim[k] != t->dim[k])
			return false;
	return true;
}

static qn_status
bad_parts(qn_env *env, const char *place, const qn_layout_tensor *t, int32_t axis)
{
	return qn_report(env, QN_EINVALID, "layout.shape", place,
			 "the parts together do not have the %lld of dimension %d of the tensor",
			 (long long)t->dim[axis], axis);
}

static qn_status
check_split(qn_env *env, const char *place, const qn_layout_tensor *t)
{
	const int32_t axis = qn_layout_meta_int(t, "shard_dim", QN_MAX_RANK);
	int64_t left;

	if (qn_layout_meta_int(t, "shard_count", MOST_DEVICES) != t->nplane || axis < 0 ||
	    axis >= t->rank)
		return qn_report(env, QN_EINVALID, "layout.meta", place,
				 "shard_count is not the number of parts, %d, or shard_dim no "
				 "dimension of the tensor",
				 t->nplane);
	left = t->dim[axis];
	for (int32_t i = 0; i < t->nplane; i++) {
		const qn_plane *p = &t->plane[i];

		if (strcmp(p->name, part_names[i]) != 0)
			return qn_report(env, QN_EINVALID, "layout.plane", place,
					 "part %d is called '%s' (expected '%s')", i, p->name,
					 part_names[i]);
		if (p->dtype != t->plane[0].dtype || !same_dims(t, p, axis))
			return qn_report(env, QN_EINVALID, "layout.shape", place,
					 "part %d has another element type than part 0, or other "
					 "dimensions than the tensor",
					 i);
		if (p->dim[axis] > left)
			return bad_parts(env, place, t, axis);
		left -= p->dim[axis];
	}
	return left == 0 ? QN_OK : bad_parts(env, place, t, axis);
}

static qn_status
check_replicated(qn_env *env, const char *place, const qn_layout_tensor *t)
{
	if (qn_layout_meta_int(t, "shard_count", MOST_DEVICES) < 1)
		return qn_report(env, QN_EINVALID, "layout.meta", place,
				 "shard_count is missing, or not an integer from 1");
	if (!same_dims(t, &t->plane[0], -1))
		return qn_report(env, QN_EINVALID, "layout.shape", place,
				 "the array has other dimensions than the tensor");
	return QN_OK;
}

/* ---- values ---- */

/* Bytes of the parts in the order of the whole: of each index before the axis, those of all parts. */
static uint8_t *
joined(qn_arena *a, const qn_layout_tensor *t)
{
	const int32_t axis = qn_layout_meta_int(t, "shard_dim", QN_MAX_RANK);
	const int64_t outer = qn_layout_count(axis, t->dim, 1);
	const size_t all = qn_layout_bytes(t);
	uint8_t *out = QN_NEW(a, uint8_t, all + 1), *to = out;

	for (int64_t i = 0; i < outer; i++)
		for (int32_t k = 0; k < t->nplane; k++) {
			const size_t n = t->plane[k].bytes / (size_t)outer;

			if (n > 0)
				memcpy(to, t->plane[k].data + (size_t)i * n, n);
			to += n;
		}
	return out;
}

static void
dequant_split(const qn_layout_tensor *t, float *out)
{
	const int32_t axis = qn_layout_meta_int(t, "shard_dim", QN_MAX_RANK);
	const int64_t outer = qn_layout_count(axis, t->dim, 1);

	for (int64_t i = 0; i < outer; i++)
		for (int32_t k = 0; k < t->nplane; k++) {
			const qn_plane *p = &t->plane[k];
			const int64_t n = qn_layout_count(p->rank, p->dim, 1) / outer;

			for (int64_t j = 0; j < n; j++)
				*out++ = (float)qn_dtype_load(p->dtype, p->data, i * n + j);
		}
}

static void
dequant_whole(const qn_layout_tensor *t, float *out)
{
	for (int64_t i = 0; i < qn_layout_elements(t); i++)
		out[i] = (float)qn_dtype_load(t->plane[0].dtype, t->plane[0].data, i);
}

/* ---- making ---- */

static const char *
json_of(qn_arena *a, int32_t v)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, "%d", v);
	return qn_buf_str(&b);
}

/* Rows of all parts but the last; 0: so many parts cannot be made. */
static int64_t
rows_of_part(const qn_layout_tensor *t, int32_t count)
{
	const int64_t n = t->rank > 1 ? t->dim[0] : 0, each = (n + count - 1) / count;

	return (count - 1) * each < n ? each : 0;
}

qn_layout_tensor
qn_layout_split(qn_arena *a, const qn_layout_tensor *t, int32_t count)
{
	const int64_t each = rows_of_part(t, count);
	qn_layout_tensor out = *t;

	out.nmeta = 0;
	qn_layout_set_meta(&out, "shard_count", json_of(a, count));
	out.layout = &rows[each > 0 ? 0 : 1];
	if (each == 0)
		return out;
	qn_layout_set_meta(&out, "shard_dim", "0");
	out.nplane = count;
	for (int32_t i = 0; i < count; i++) {
		const int64_t left = t->dim[0] - i * each;
		qn_plane *p = &out.plane[i];

		*p = t->plane[0];
		p->name = part_names[i];
		p->dim[0] = left < each ? left : each;
		p->bytes = (size_t)qn_layout_count(p->rank, p->dim, p->dtype->bytes);
		p->data += (size_t)(i * each) * (t->plane[0].bytes / (size_t)t->dim[0]);
	}
	return out;
}

qn_layout_tensor
qn_layout_join(qn_arena *a, const qn_layout_tensor *t)
{
	const qn_dtype *dtype = t->plane[0].dtype;

	return qn_layout_plain(dtype, t->rank, t->dim,
			       t->layout == &rows[0] ? joined(a, t) : t->plane[0].data);
}
