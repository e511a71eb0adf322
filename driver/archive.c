/* SPDX-License-Identifier: Apache-2.0 */
/* archive.c - archives of tensors, as the host sees them: the table of formats, reading, adding
 * tensors, writing.  Their properties: archive_properties.c. */
#include "driver/archive_impl.h"
#include "driver/host_struct.h"

#include "formats/file.h"
#include "formats/folder.h"
#include "formats/quant_params.h"
#include "import/import.h"

static const struct format {
	const char *name, *extension;
	qn_archive_read_fn *read;
	qn_archive_prepare_fn *prepare;
	qn_archive_print_fn *print;
} formats[] = {
	{"GGUF", ".gguf", qn_gguf_read, qn_gguf_prepare, qn_gguf_print},
	{"safetensors", ".safetensors", qn_safetensors_read, qn_safetensors_prepare,
	 qn_safetensors_print_archive},
	{"IRPA", ".irpa", qn_irpa_read, qn_irpa_prepare, qn_irpa_print},
};

static qn_status
format_of(qn_env *env, qn_arena *a, const char *path, const char *also, const struct format **out)
{
	qn_buf b;

	for (size_t i = 0; i < QN_COUNT(formats); i++)
		if (qn_name_ends(path, formats[i].extension)) {
			*out = &formats[i];
			return QN_OK;
		}
	qn_buf_init(&b, a);
	for (size_t i = 0; i < QN_COUNT(formats); i++)
		qn_buff(&b, "%s%s",
			i == 0                                         ? ""
			: i + 1 < QN_COUNT(formats) || also[0] != '\0' ? ", "
								       : " or ",
			formats[i].extension);
	return qn_report(
		env, QN_EUSAGE, "archive.format", path,
		"unknown file extension of an archive of tensors (expected %s%s); quern inspect "
		"lists a model's",
		qn_buf_str(&b), also);
}

/* ---- handles ---- */

static qn_archive *
alloc(qn_ctx *ctx)
{
	qn_archive *x = qn_env_realloc(&ctx->env, NULL, 0, sizeof *x);

	if (x == NULL)
		qn_env_oom(&ctx->env);
	*x = (qn_archive){.ctx = ctx, .next = ctx->archives};
	ctx->archives = x;
	qn_arena_init(&x->arena, &ctx->env);
	qn_archive_init(&x->d, &x->arena, "", "archive");
	return x;
}

void
qn_archive_free(qn_archive *x)
{
	if (x == NULL)
		return;
	for (qn_archive **p = &x->ctx->archives; *p != NULL; p = &(*p)->next)
		if (*p == x) {
			*p = x->next;
			break;
		}
	qn_env *env = &x->ctx->env;
	qn_arena_release(&x->arena);
	qn_env_free(env, x, sizeof *x);
}

qn_ctx *
qn_archive_ctx(const qn_archive *x)
{
	return QN_CTX_OF(x);
}

const char *
qn_archive_text(qn_archive *x, const char *s)
{
	return qn_arena_str(&x->arena, s);
}

qn_status
qn_archive_tokens(qn_archive *x, const qn_token_table **out)
{
	if (x->tokens == NULL) {
		qn_token_table *t = QN_NEW(&x->arena, qn_token_table, 1);

		QN_TRY(qn_tokens_read(&x->d, t));
		x->tokens = t;
	}
	*out = x->tokens;
	return QN_OK;
}

/* Handles for the tensors that have none yet. */
static void
make_handles(qn_archive *x)
{
	size_t have = x->cap; /* 0: none */

	while (have > 0 && x->handle[have - 1] == NULL)
		have--;
	x->handle = qn_arena_grow(&x->arena, x->handle, &x->cap, x->d.n, sizeof(qn_stored *));
	for (size_t i = have; i < x->d.n; i++) {
		x->handle[i] = QN_NEW(&x->arena, qn_stored, 1);
		*x->handle[i] = (qn_stored){.name = x->d.tensor[i].name,
					    .t = x->d.tensor[i].t,
					    .ctx = x->ctx,
					    .of_archive = true};
	}
}

typedef struct archive_call {
	qn_ctx *ctx;
	const char *path;
	qn_archive *x;
} archive_call;

static qn_status
make(archive_call *c, qn_guarded_fn *fn, qn_archive **out)
{
	qn_status status = qn_guard(c->ctx, fn, c);

	*out = status == QN_OK ? c->x : NULL;
	if (status != QN_OK)
		qn_archive_free(c->x);
	return status;
}

/* The bytes of one file. */
static qn_status
read_bytes(qn_archive *x, const struct format *f, const char *path)
{
	const char *data = NULL;
	size_t n = 0;

	QN_TRY(qn_file_map(&x->arena, path, &data, &n));
	qn_archive_init(&x->d, &x->arena, f->name, path);
	return f->read(&x->d, data, n);
}

static qn_status
read_path(void *arg, qn_arena *scratch)
{
	archive_call *c = arg;
	const struct format *f = NULL;

	c->x = alloc(c->ctx);
	qn_archive_data *d = &c->x->d;
	const char *path = qn_arena_str(&c->x->arena, c->path);
	if (qn_folder_is(path)) {
		qn_archive_init(d, &c->x->arena, QN_HUGGING_FACE_FOLDER, path);
		QN_TRY(qn_hugging_face_read(d, path));
	} else if (qn_name_ends(path, ".index.json")) {
		qn_archive_init(d, &c->x->arena, "safetensors index", path);
		QN_TRY(qn_safetensors_read_index(d, path));
	} else {
		QN_TRY(format_of(&c->ctx->env, scratch, path, ", .index.json or a folder", &f));
		QN_TRY(read_bytes(c->x, f, path));
	}
	make_handles(c->x);
	return QN_OK;
}

qn_status
qn_archive_open(qn_ctx *ctx, const char *path, qn_archive **out)
{
	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(ctx, path, out));
	return make(&(archive_call){.ctx = ctx, .path = path}, read_path, out);
}

typedef struct gguf_call {
	archive_call of;
	const qn_archive *from;
} gguf_call;

static qn_status
to_gguf(void *arg, qn_arena *scratch)
{
	gguf_call *c = arg;

	(void)scratch;
	c->of.x = alloc(c->of.ctx);
	QN_TRY(qn_hugging_face_to_gguf(&c->from->d, &c->of.x->d));
	make_handles(c->of.x);
	return QN_OK;
}

qn_status
qn_archive_language_model(const qn_archive *x, qn_archive **out)
{
	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(QN_CTX_OF(x), out));
	gguf_call c = {.of = {.ctx = x->ctx}, .from = x};

	return make(&c.of, to_gguf, out);
}

static qn_status
create(void *arg, qn_arena *scratch)
{
	archive_call *c = arg;

	(void)scratch;
	c->x = alloc(c->ctx);
	return QN_OK;
}

qn_status
qn_archive_new(qn_ctx *ctx, qn_archive **out)
{
	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(ctx, out));
	return make(&(archive_call){.ctx = ctx}, create, out);
}

/* ---- looking ---- */

const char *
qn_archive_format(const qn_archive *x)
{
	return x != NULL ? x->d.format : "";
}

size_t
qn_archive_size(const qn_archive *x)
{
	if (x == NULL)
		return 0;
	return x->d.n;
}

const qn_stored *
qn_archive_get(const qn_archive *x, size_t i)
{
	return x != NULL && i < x->d.n ? x->handle[i] : NULL;
}

const qn_stored *
qn_archive_find(const qn_archive *x, const char *name)
{
	const qn_named_tensor *t = x != NULL && name != NULL ? qn_archive_named(&x->d, name) : NULL;

	return t != NULL ? x->handle[t - x->d.tensor] : NULL;
}

/* ---- building ---- */

typedef struct add_call {
	qn_archive *x;
	const char *name;
	const qn_stored *t;
} add_call;

/* Names of planes and metadata live as long as the archive; their data is the host's. */
static void
copy_texts(qn_arena *a, qn_layout_tensor *t)
{
	for (int32_t i = 0; i < t->nplane; i++)
		t->plane[i].name = qn_arena_str(a, t->plane[i].name);
	for (int32_t i = 0; i < t->nmeta; i++) {
		t->meta[i].key = qn_arena_str(a, t->meta[i].key);
		t->meta[i].json = qn_arena_str(a, t->meta[i].json);
	}
}

static qn_status
add_tensor(void *arg, qn_arena *scratch)
{
	const add_call *c = arg;

	(void)scratch;
	qn_layout_tensor t = c->t->t;

	copy_texts(&c->x->arena, &t);
	if (c->name[0] == '\0' || !qn_archive_put(&c->x->d, c->name, &t))
		return qn_report(&c->x->ctx->env, QN_EUSAGE, "archive.name", c->x->d.place,
				 "the name '%s' is empty or there already", c->name);
	make_handles(c->x);
	return QN_OK;
}

qn_status
qn_archive_add(qn_archive *x, const char *name, const qn_stored *tensor)
{
	add_call c = {.x = x, .name = name, .t = tensor};

	QN_TRY(QN_GIVEN(QN_CTX_OF(x), name, tensor));
	return qn_guard(x->ctx, add_tensor, &c);
}

/* ---- writing ---- */

typedef struct content {
	const struct format *f;
	qn_archive_data d;
} content;

static void
print(void *user, qn_buf *b)
{
	const content *c = user;

	c->f->print(b, &c->d);
}

static qn_status
save(void *arg, qn_arena *scratch)
{
	const archive_call *c = arg;
	qn_env *env = &c->ctx->env;
	qn_archive_data named = c->x->d;
	content of = {0};

	QN_TRY(format_of(env, scratch, c->path, "", &of.f));
	named.place = c->path;
	QN_TRY(of.f->prepare(env, scratch, &named, &of.d));
	return qn_files_write(env, NULL, 1,
			      &(qn_file_out){.path = c->path, .print = print, .user = &of});
}

qn_status
qn_archive_save(qn_archive *x, const char *path)
{
	QN_TRY(QN_GIVEN(QN_CTX_OF(x), path));
	archive_call c = {.ctx = x->ctx, .path = path, .x = x};

	return qn_guard(x->ctx, save, &c);
}

/* ---- quant_params.json ---- */

static qn_status
apply_params(void *arg, qn_arena *scratch)
{
	const archive_call *c = arg;
	qn_archive *x = c->x;
	const char *data = NULL;
	qn_archive_data out;
	size_t n = 0;

	QN_TRY(qn_file_map(scratch, c->path, &data, &n));
	QN_TRY(qn_quant_params_apply(&x->d, c->path, data, n, &out));
	x->d = out;
	x->handle = NULL;
	x->cap = 0;
	make_handles(x);
	return QN_OK;
}

qn_status
qn_archive_apply_quant_params(qn_archive *x, const char *path)
{
	QN_TRY(QN_GIVEN(QN_CTX_OF(x), path));
	archive_call c = {.ctx = x->ctx, .path = path, .x = x};

	return qn_guard(x->ctx, apply_params, &c);
}
