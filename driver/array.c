/* SPDX-License-Identifier: Apache-2.0 */
/* array.c - the public arrays: tensors of plain types with memory of their own. */
#include <string.h>

#include "driver/context.h"
#include "driver/host_struct.h"
#include "formats/folder.h"
#include "formats/npy.h"
#include "formats/pb.h"
#include "ir/nearest.h"

struct qn_array *
qn_array_alloc(qn_ctx *ctx)
{
	qn_array *x = qn_env_realloc(&ctx->env, NULL, 0, sizeof *x);

	if (x == NULL)
		qn_env_oom(&ctx->env);
	*x = (qn_array){.name = "samples", .ctx = ctx, .next = ctx->arrays};
	ctx->arrays = x;
	qn_arena_init(&x->arena, &ctx->env);
	qn_types_init(&x->types, &x->arena);
	return x;
}

void
qn_array_free(qn_array *x)
{
	if (x == NULL)
		return;
	for (qn_array **p = &x->ctx->arrays; *p != NULL; p = &(*p)->next)
		if (*p == x) {
			*p = x->next;
			break;
		}
	qn_env *env = &x->ctx->env;
	qn_arena_release(&x->arena);
	qn_env_free(env, x, sizeof *x);
}

void
qn_array_set(qn_array *x, const qn_tensor *tensor)
{
	x->tensor = tensor;
	x->type = tensor->type;
}

qn_status
qn_array_read(const qn_array *x, qn_arena *a, const qn_tensor **out)
{
	*out = x->tensor;
	return x->tensor != NULL ? QN_OK : qn_source_load(x->source, a, out);
}

qn_plain
qn_dtype_named(qn_env *env, const char *name)
{
	qn_plain p = 0;

	while (p < QN_NPLAIN && strcmp(qn_plain_table[p].name, qn_type_name(name)) != 0)
		p++;
	if (p < QN_NPLAIN)
		return p;
	const char *best = qn_nearest_plain(name);
	(void)qn_report(env, QN_EUSAGE, "array.dtype", "",
			"unknown element type '%s' (expected f32, f64, i8, u8, i16, u16, i32, i64 "
			"or another of docs/types.md)" QN_DID_YOU_MEAN,
			name, QN_SUGGEST(best));
	return p;
}

const qn_type *
qn_array_type(qn_array *x, const char *dtype, int rank, const int64_t *shape)
{
	qn_env *env = &x->ctx->env;
	if (qn_host_list(env, "shape", rank > 0 ? (size_t)rank : 0, shape) != QN_OK)
		return NULL;
	qn_plain p = qn_dtype_named(env, dtype);
	const qn_type *type = NULL;

	if (p == QN_NPLAIN)
		return NULL;
	if (rank < 0 || rank > QN_MAX_RANK) {
		(void)qn_report(env, QN_EUSAGE, "array.rank", "", "rank %d is not in 0..%d", rank,
				QN_MAX_RANK);
		return NULL;
	}
	for (int i = 0; i < rank; i++)
		if (shape[i] < 0) {
			(void)qn_report(env, QN_EUSAGE, "array.shape", "", "dimension %d is %lld",
					i, (long long)shape[i]);
			return NULL;
		}
	type = qn_type_plain(&x->types, p, rank, shape);
	if (qn_type_count(type) >= 0)
		return type;
	(void)qn_report(env, QN_EUSAGE, "array.shape", "", "the array has more than 2^40 elements");
	return NULL;
}

/* ---- load, new, save ---- */

typedef struct array_call {
	qn_ctx *ctx;
	const char *path, *dtype;
	int rank;
	const int64_t *shape;
	const void *data;
	qn_array *x; /* the array under construction; freed by the caller on failure */
} array_call;

static qn_status
load(void *arg, qn_arena *scratch)
{
	array_call *c = arg;
	qn_tensor *t;

	(void)scratch;
	c->x = qn_array_alloc(c->ctx);
	QN_TRY((qn_name_ends(c->path, ".pb") ? qn_pb_read : qn_npy_read)(&c->x->types, &c->x->arena,
									 c->path, &t));
	qn_array_set(c->x, t);
	c->x->name = qn_arena_str(&c->x->arena, c->path);
	return QN_OK;
}

static qn_status
create(void *arg, qn_arena *scratch)
{
	array_call *c = arg;
	(void)scratch;
	c->x = qn_array_alloc(c->ctx);
	const qn_type *type = qn_array_type(c->x, c->dtype, c->rank, c->shape);
	if (type == NULL)
		return QN_EUSAGE;
	QN_TRY(qn_host_list(&c->ctx->env, "data", (size_t)qn_type_count(type), c->data));
	qn_array_set(c->x, qn_tensor_of(&c->x->arena, type, c->data));
	return QN_OK;
}

static qn_status
make(array_call *c, qn_guarded_fn *fn, qn_array **out)
{
	qn_status status = qn_guard(c->ctx, fn, c);

	*out = NULL;
	if (status == QN_OK)
		*out = c->x;
	else
		qn_array_free(c->x);
	return status;
}

qn_status
qn_array_load(qn_ctx *ctx, const char *path, qn_array **out)
{
	array_call c = {.ctx = ctx, .path = path};

	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(ctx, path, out));
	return make(&c, load, out);
}

qn_status
qn_array_new(qn_ctx *ctx, const char *dtype, int rank, const int64_t *shape, const void *data,
	     qn_array **out)
{
	array_call c = {.ctx = ctx, .dtype = dtype, .rank = rank, .shape = shape, .data = data};

	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(ctx, dtype, out));
	return make(&c, create, out);
}

/* ---- reading ---- */

const void *
qn_array_data(const qn_array *x)
{
	return x != NULL && x->tensor != NULL ? x->tensor->data : NULL;
}

int
qn_array_rank(const qn_array *x)
{
	if (x == NULL)
		return 0;
	return x->type->rank;
}

int64_t
qn_array_dim(const qn_array *x, int axis)
{
	return x != NULL && axis >= 0 && axis < x->type->rank ? x->type->dim[axis] : 0;
}

const char *
qn_array_dtype(const qn_array *x)
{
	if (x == NULL)
		return NULL;
	return qn_plain_table[x->type->elem->plain].name;
}
