/* SPDX-License-Identifier: Apache-2.0 */
/* stored.c - tensors with layouts, as the host sees them. */
#include "driver/stored.h"

#include <string.h>

#include "driver/host_struct.h"
#include "ir/layout_quantizer.h"

/* ---- layouts ---- */

const char *
qn_layout_name(size_t i)
{
	const qn_layout_row *row = qn_layout_builtin(i);

	return row != NULL ? row->name : NULL;
}

const char *
qn_layout_help(size_t i)
{
	const qn_layout_row *row = qn_layout_builtin(i);

	return row != NULL ? row->help : NULL;
}

int
qn_layout_block_size(size_t i)
{
	const qn_layout_row *row = qn_layout_builtin(i), *twin = NULL;

	for (size_t k = 0; row != NULL && row->twin != NULL && twin == NULL; k++)
		if (strcmp(qn_layout_builtin(k)->name, row->twin) == 0)
			twin = qn_layout_builtin(k);
	row = twin != NULL ? twin : row;
	return row != NULL && row->block > 0 ? row->block : 1;
}

typedef struct register_call {
	qn_ctx *ctx;
	const qn_layout_desc *desc;
} register_call;

static qn_status
add(void *arg, qn_arena *scratch)
{
	register_call *c = arg;

	(void)scratch;
	QN_TRY(qn_host_list(&c->ctx->env, "plane", c->desc->nplane, c->desc->plane));
	return qn_layout_add(&c->ctx->env, &c->ctx->arena, c->desc);
}

qn_status
qn_layout_register(qn_ctx *ctx, const qn_layout_desc *desc)
{
	qn_layout_desc known;

	QN_TRY(QN_GIVEN(ctx, desc));
	QN_TRY(QN_TAKE(&ctx->env, qn_layout_desc, desc, &known));
	return qn_guard(ctx, add, &(register_call){ctx, &known});
}

/* ---- handles ---- */

struct qn_stored *
qn_stored_alloc(qn_ctx *ctx, const char *name)
{
	qn_stored *t = qn_env_realloc(&ctx->env, NULL, 0, sizeof *t);

	if (t == NULL)
		qn_env_oom(&ctx->env);
	*t = (qn_stored){.name = "", .ctx = ctx, .next = ctx->stored};
	ctx->stored = t;
	qn_arena_init(&t->arena, &ctx->env);
	t->name = qn_arena_str(&t->arena, name != NULL ? name : "");
	return t;
}

void
qn_stored_free(qn_stored *t)
{
	if (t == NULL || t->of_archive)
		return;
	for (qn_stored **p = &t->ctx->stored; *p != NULL; p = &(*p)->next)
		if (*p == t) {
			*p = t->next;
			break;
		}
	qn_env *env = &t->ctx->env;
	qn_arena_release(&t->arena);
	qn_env_free(env, t, sizeof *t);
}

const char *
qn_stored_name(const qn_stored *t)
{
	if (t == NULL)
		return NULL;
	return t->name;
}

const char *
qn_stored_layout(const qn_stored *t)
{
	if (t == NULL)
		return NULL;
	return t->t.layout->name;
}

int
qn_stored_rank(const qn_stored *t)
{
	if (t == NULL)
		return 0;
	return t->t.rank;
}

int64_t
qn_stored_dim(const qn_stored *t, int axis)
{
	return t != NULL && axis >= 0 && axis < t->t.rank ? t->t.dim[axis] : 0;
}

size_t
qn_stored_planes(const qn_stored *t)
{
	if (t == NULL)
		return 0;
	return (size_t)t->t.nplane;
}

qn_plane_view
qn_stored_plane(const qn_stored *t, size_t i)
{
	if (t == NULL || i >= (size_t)t->t.nplane)
		return (qn_plane_view){0};
	const qn_plane *p = &t->t.plane[i];
	qn_plane_view v = {.name = p->name,
			   .dtype = p->dtype->name,
			   .rank = p->rank,
			   .data = p->data,
			   .bytes = p->bytes};

	memcpy(v.dim, p->dim, sizeof v.dim);
	return v;
}

qn_meta_view
qn_stored_meta(const qn_stored *t, size_t i)
{
	if (t == NULL || i >= (size_t)t->t.nmeta)
		return (qn_meta_view){NULL, NULL};
	return (qn_meta_view){t->t.meta[i].key, t->t.meta[i].json};
}

size_t
qn_stored_bytes(const qn_stored *t)
{
	if (t == NULL)
		return 0;
	return qn_layout_bytes(&t->t);
}

/* ---- making ---- */

qn_status
qn_stored_make(qn_ctx *ctx, qn_guarded_fn *fn, void *call, qn_stored **made, qn_stored **out)
{
	qn_status status = qn_guard(ctx, fn, call);

	*out = status == QN_OK ? *made : NULL;
	if (status != QN_OK)
		qn_stored_free(*made);
	return status;
}
typedef struct stored_call {
	qn_ctx *ctx;
	const char *name, *layout;
	int rank;
	const int64_t *shape;
	size_t nplane, nmeta;
	const qn_plane_view *plane;
	const qn_meta_view *meta;
	const qn_array *array;
	qn_stored *out;
} stored_call;

static qn_status
take_planes(stored_call *c, qn_layout_tensor *t)
{
	qn_env *env = &c->ctx->env;
	qn_arena *a = &c->out->arena;

	for (size_t i = 0; i < c->nplane; i++) {
		const qn_plane_view *v = &c->plane[i];
		const qn_dtype *dtype = v->dtype != NULL ? qn_dtype_by_name(v->dtype) : NULL;

		if (dtype == NULL)
			return qn_report(env, QN_EUSAGE, "layout.dtype", c->name,
					 "plane %zu has the element type '%s' (expected f16, i8, "
					 "u8 …)",
					 i, v->dtype != NULL ? v->dtype : "");
		QN_TRY(qn_host_list(env, "data", v->bytes, v->data));
		QN_TRY(qn_plane_of(env, c->name, qn_arena_str(a, v->name != NULL ? v->name : ""),
				   dtype, v->rank, v->dim, v->data, v->bytes, &t->plane[i]));
		t->nplane++;
	}
	for (size_t i = 0; i < c->nmeta; i++) {
		const char *key = c->meta[i].key, *json = c->meta[i].json;

		QN_TRY(QN_GIVEN(c->ctx, key, json));
		qn_layout_set_meta(t, qn_arena_str(a, key), qn_arena_str(a, json));
	}
	return QN_OK;
}

static qn_status
from_planes(void *arg, qn_arena *scratch)
{
	stored_call *c = arg;
	qn_env *env = &c->ctx->env;

	(void)scratch;
	c->out = qn_stored_alloc(c->ctx, c->name);
	if (c->rank < 0 || c->rank > QN_STORED_RANK || c->nplane > QN_PLANES || c->nmeta > QN_METAS)
		return qn_report(env, QN_EUSAGE, "layout.shape", c->name,
				 "%d dimensions, %zu planes and %zu entries of metadata (at most "
				 "8, 8 and 4)",
				 c->rank, c->nplane, c->nmeta);
	qn_layout_tensor *t = &c->out->t;
	QN_TRY(qn_layout_find(env, c->name, c->layout, &t->layout));
	t->rank = c->rank;
	if (c->rank > 0)
		memcpy(t->dim, c->shape, (size_t)c->rank * sizeof *c->shape);
	QN_TRY(take_planes(c, t));
	return qn_layout_check(env, c->name, t);
}

qn_status
qn_stored_new(qn_ctx *ctx, const char *name, const char *layout, int rank, const int64_t *shape,
	      size_t nplane, const qn_plane_view *plane, size_t nmeta, const qn_meta_view *meta,
	      qn_stored **out)
{
	stored_call c = {.ctx = ctx,
			 .name = name != NULL ? name : "",
			 .layout = layout,
			 .rank = rank,
			 .shape = shape,
			 .nplane = nplane,
			 .plane = plane,
			 .nmeta = nmeta,
			 .meta = meta};

	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(ctx, layout, out));
	QN_TRY(qn_host_list(&ctx->env, "shape", rank > 0 ? (size_t)rank : 0, shape));
	QN_TRY(qn_host_list(&ctx->env, "plane", nplane, plane));
	QN_TRY(qn_host_list(&ctx->env, "meta", nmeta, meta));
	return qn_stored_make(ctx, from_planes, &c, &c.out, out);
}

static qn_status
from_array(void *arg, qn_arena *scratch)
{
	stored_call *c = arg;
	const qn_tensor *x;

	c->out = qn_stored_alloc(c->ctx, c->name);
	QN_TRY(qn_array_read(c->array, scratch, &x));
	const qn_dtype *dtype = qn_dtype_of_plain(x->type->elem->plain);
	if (dtype == NULL)
		return qn_report(&c->ctx->env, QN_EUNSUPPORTED, "layout.dtype", c->name,
				 "an array of %s cannot be stored (expected 8 bits or more)",
				 qn_plain_table[x->type->elem->plain].name);
	uint8_t *data = qn_arena_copy(&c->out->arena, qn_tensor_file_bytes(scratch, x), x->bytes);
	c->out->t = qn_layout_plain(dtype, x->type->rank, x->type->dim, data);
	return QN_OK;
}

qn_status
qn_stored_of_array(qn_ctx *ctx, const char *name, const qn_array *array, qn_stored **out)
{
	stored_call c = {.ctx = ctx, .name = name != NULL ? name : "", .array = array};

	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(ctx, array, out));
	return qn_stored_make(ctx, from_array, &c, &c.out, out);
}

/* ---- arrays ---- */

typedef struct array_call {
	const qn_stored *t;
	bool blocked;
	size_t plane;
	qn_array *x;
} array_call;

static qn_status
make_array(array_call *c, qn_guarded_fn *fn, qn_array **out)
{
	qn_status status = qn_guard(c->t->ctx, fn, c);

	*out = status == QN_OK ? c->x : NULL;
	if (status != QN_OK)
		qn_array_free(c->x);
	return status;
}

static qn_status
too_large(qn_env *env, const qn_stored *t)
{
	return qn_report(env, QN_EUNSUPPORTED, "layout.shape", t->name,
			 "an array of it would have more than 2^40 elements or %d dimensions",
			 QN_MAX_RANK);
}

qn_status
qn_stored_has_values(const qn_stored *t)
{
	if (!qn_layout_is_quantizer(&t->t))
		return qn_layout_readable(&t->ctx->env, t->name, &t->t);
	return qn_report(&t->ctx->env, QN_EUSAGE, "layout.values", t->name,
			 "%s has no values; its planes are scale, rscale and offset",
			 t->t.layout->name);
}

static qn_status
values(void *arg, qn_arena *scratch)
{
	array_call *c = arg;
	const qn_layout_tensor *t = &c->t->t;
	const int64_t block = qn_layout_block(t);
	int64_t dim[QN_MAX_RANK + 1];
	int32_t rank = t->rank;
	void *data;

	(void)scratch;
	QN_TRY(qn_stored_has_values(c->t));
	c->x = qn_array_alloc(c->t->ctx);
	memcpy(dim, t->dim, sizeof t->dim);
	if (c->blocked && block > 1) {
		dim[rank - 1] /= block;
		dim[rank++] = block;
	}
	if (rank > QN_MAX_RANK)
		return too_large(&c->t->ctx->env, c->t);
	const qn_type *type = qn_type_plain(&c->x->types, QN_PLAIN_f32, rank, dim);
	if (qn_type_count(type) < 0)
		return too_large(&c->t->ctx->env, c->t);
	qn_tensor *x = qn_tensor_new(&c->x->arena, type, &data);
	qn_layout_dequant(t, data);
	qn_array_set(c->x, x);
	return QN_OK;
}

qn_status
qn_stored_values(const qn_stored *t, int blocked, qn_array **out)
{
	array_call c = {.t = t, .blocked = blocked != 0};

	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(QN_CTX_OF(t), out));
	return make_array(&c, values, out);
}

static qn_status
plane_array(void *arg, qn_arena *scratch)
{
	array_call *c = arg;
	const qn_plane *p = &c->t->t.plane[c->plane];

	c->x = qn_array_alloc(c->t->ctx);
	const qn_type *type = qn_type_plain(&c->x->types, p->dtype->plain, p->rank, p->dim);
	if (qn_type_count(type) < 0)
		return too_large(&c->t->ctx->env, c->t);
	const qn_tensor *view = qn_tensor_view_file(scratch, type, p->data);
	qn_array_set(c->x, qn_tensor_of(&c->x->arena, type, view->data));
	return QN_OK;
}

qn_status
qn_stored_plane_array(const qn_stored *t, size_t i, qn_array **out)
{
	array_call c = {.t = t, .plane = i};

	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(QN_CTX_OF(t), out));
	if (i >= (size_t)t->t.nplane)
		return qn_report(&t->ctx->env, QN_EUSAGE, "layout.plane", t->name,
				 "plane %zu of %d", i, t->t.nplane);
	return make_array(&c, plane_array, out);
}
