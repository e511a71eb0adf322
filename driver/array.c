/* SPDX-License-Identifier: Apache-2.0 */
/* array.c - the public arrays: tensors of plain types with memory of their own. */
#include <string.h>

#include "driver/context.h"
#include "formats/file.h"
#include "formats/npy.h"

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

/* ---- load, new, save ---- */

typedef struct array_call {
	qn_ctx *ctx;
	const char *path, *dtype;
	int rank;
	const int64_t *shape;
	const void *data;
	const qn_array *from;
	qn_array *x; /* the array under construction; freed by the caller on failure */
} array_call;

static qn_status
load(void *arg, qn_arena *scratch)
{
	array_call *c = arg;
	qn_tensor *t;

	(void)scratch;
	c->x = qn_array_alloc(c->ctx);
	QN_TRY(qn_npy_read(&c->x->types, &c->x->arena, c->path, &t));
	c->x->tensor = t;
	c->x->name = qn_arena_str(&c->x->arena, c->path);
	return QN_OK;
}

static qn_status
create(void *arg, qn_arena *scratch)
{
	array_call *c = arg;
	qn_plain p = 0;

	(void)scratch;
	while (p < QN_NPLAIN && strcmp(qn_plain_table[p].name, c->dtype) != 0)
		p++;
	if (p == QN_NPLAIN)
		return qn_report(&c->ctx->env, QN_EUSAGE, "array.dtype", "",
				 "'%s' is no element type", c->dtype);
	if (c->rank < 0 || c->rank > QN_MAX_RANK)
		return qn_report(&c->ctx->env, QN_EUSAGE, "array.rank", "",
				 "rank %d is not within 0 and %d", c->rank, QN_MAX_RANK);
	for (int i = 0; i < c->rank; i++)
		if (c->shape[i] < 0)
			return qn_report(&c->ctx->env, QN_EUSAGE, "array.shape", "",
					 "dimension %d is %lld", i, (long long)c->shape[i]);
	c->x = qn_array_alloc(c->ctx);
	const qn_type *type = qn_type_plain(&c->x->types, p, c->rank, c->shape);
	if (qn_type_count(type) < 0)
		return qn_report(&c->ctx->env, QN_EUSAGE, "array.shape", "",
				 "the array has more than 2^40 elements");
	c->x->tensor = qn_tensor_of(&c->x->arena, type, c->data);
	return QN_OK;
}

static qn_status
save(void *arg, qn_arena *scratch)
{
	array_call *c = arg;
	qn_buf b;

	qn_buf_init(&b, scratch);
	qn_npy_print(&b, c->from->tensor);
	return qn_file_write(&c->ctx->env, c->path, b.data, b.n);
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

	return make(&c, load, out);
}

qn_status
qn_array_new(qn_ctx *ctx, const char *dtype, int rank, const int64_t *shape, const void *data,
	     qn_array **out)
{
	array_call c = {.ctx = ctx, .dtype = dtype, .rank = rank, .shape = shape, .data = data};

	return make(&c, create, out);
}

qn_status
qn_array_save(const qn_array *x, const char *path)
{
	array_call c = {.ctx = x->ctx, .path = path, .from = x};

	return qn_guard(x->ctx, save, &c);
}

/* ---- reading ---- */

const void *
qn_array_data(const qn_array *x)
{
	return x->tensor->data;
}

int
qn_array_rank(const qn_array *x)
{
	return x->tensor->type->rank;
}

int64_t
qn_array_dim(const qn_array *x, int axis)
{
	return x->tensor->type->dim[axis];
}

const char *
qn_array_dtype(const qn_array *x)
{
	return qn_plain_table[x->tensor->type->elem->plain].name;
}
