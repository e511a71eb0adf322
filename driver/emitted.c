/* SPDX-License-Identifier: Apache-2.0 */
/* emitted.c - see emitted.h.
 *
 *   out/net.integer.qir ──▶ model ──▶ its hash = content_hash of      out/net.report.json ──▶ steps */
#include "driver/emitted.h"

#include <string.h>

#include "codegen/emit.h"
#include "driver/context.h"
#include "driver/summary.h"
#include "formats/file.h"
#include "formats/folder.h"
#include "formats/json_tree.h"
#include "ir/nearest.h"

static const char model_end[] = QN_EMITTED_MODEL;

static bool
is_model(const char *name)
{
	return qn_name_ends(name, model_end);
}

/* The program of this name, or where none is wanted (NULL) the only one of the folder. */
static qn_status
find_name(qn_arena *a, const char *folder, const char *wanted, const char **out)
{
	qn_folder f = {0};

	if (!qn_folder_is(folder))
		return qn_report(a->env, QN_EIO, "validate.folder", folder,
				 "is not a folder; give the one that quern compile wrote (-o)");
	QN_TRY(qn_folder_list(a, folder, is_model, &f));
	if (f.n == 0 || f.label != NULL)
		return qn_report(a->env, QN_EINVALID, "validate.folder", folder,
				 "has no NAME%s; compile the model with --validation", model_end);
	const char **name = QN_NEW(a, const char *, f.n);
	for (size_t i = 0; i < f.n; i++) {
		const char *base = qn_path_base(f.path[i]);

		name[i] = qn_arena_strn(a, base, strlen(base) - (sizeof model_end - 1));
		if (wanted == NULL ? f.n == 1 : strcmp(name[i], wanted) == 0)
			*out = name[i];
	}
	if (*out == NULL && wanted == NULL)
		return qn_report(a->env, QN_EINVALID, "validate.folder", folder,
				 "has %zu programs; choose one with --name: %s", f.n,
				 qn_choices(a, f.n, name));
	if (*out == NULL)
		return qn_report(a->env, QN_EINVALID, "validate.folder", folder,
				 "has no program '%s' (--name); choose %s", wanted,
				 qn_choices(a, f.n, name));
	return QN_OK;
}

static const char *
path_of(qn_arena *a, const char *folder, const char *name, const char *end)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, "%s%s", name, end);
	return qn_path_join(a, folder, qn_buf_str(&b));
}

/* ---- the report ---- */

/* 8 hex digits. */
static bool
read_hash(const qn_json_doc *d, const char *key, uint32_t *out)
{
	static const char digits[] = "0123456789abcdef";
	const qn_json *v = qn_json_need(d, d->root, key, QN_JSON_STRING);
	const char *s = v != NULL ? v->string : NULL;

	*out = 0;
	for (; s != NULL && *s != '\0'; s++) {
		const char *digit = strchr(digits, *s);

		if (digit == NULL || s - v->string == 8)
			break;
		*out = *out << 4 | (uint32_t)(digit - digits);
	}
	return s != NULL && *s == '\0' && s - v->string == 8;
}

static const char *
join_layers(const qn_json *step, const char *name, qn_arena *a)
{
	const qn_json *layers = qn_json_find(step, "layers");
	qn_buf b;

	qn_buf_init(&b, a);
	for (size_t i = 0; layers != NULL && layers->kind == QN_JSON_ARRAY && i < layers->n; i++)
		if (layers->child[i].kind == QN_JSON_STRING)
			qn_buff(&b, "%s%s", b.n > 0 ? ", " : "", layers->child[i].string);
	return b.n > 0 ? qn_buf_str(&b) : name;
}

static qn_status
of_another(const qn_json_doc *d, const char *why)
{
	return qn_report(d->env, QN_EINVALID, "validate.report", d->file,
			 "%s; compile the model again with --validation", why);
}

static qn_status
read_steps(const qn_json_doc *d, qn_emitted_program *p)
{
	const qn_json *steps = qn_json_need(d, d->root, "steps", QN_JSON_ARRAY);

	if (steps == NULL)
		return QN_EINVALID;
	p->nstep = steps->n;
	p->step = QN_NEW(d->arena, qn_emitted_step, steps->n + 1);
	for (size_t i = 0; i < steps->n; i++) {
		const qn_json *name = qn_json_need(d, &steps->child[i], "name", QN_JSON_STRING);

		if (name == NULL)
			return QN_EINVALID;
		const qn_id value = qn_graph_find(p->g, name->string);
		if (value == 0)
			return of_another(d, "the model has other steps than the report");
		p->step[i] = (qn_emitted_step){
			name->string, join_layers(&steps->child[i], name->string, d->arena), value};
	}
	return QN_OK;
}

static qn_status
read_report(qn_arena *a, const char *path, qn_emitted_program *p)
{
	const char *text = NULL;
	size_t n = 0;
	uint32_t hash = 0;
	qn_json_doc d;

	QN_TRY(qn_file_map(a, path, &text, &n));
	QN_TRY(qn_json_tree(a, path, text, n, NULL, &d));
	const qn_json *target = qn_json_need(&d, d.root, "target", QN_JSON_STRING);
	if (target == NULL)
		return QN_EINVALID;
	p->target = target->string;
	if (!read_hash(&d, "content_hash", &hash) || !read_hash(&d, "program_hash", &p->content))
		return of_another(&d, "content_hash or program_hash is not 8 hex digits");
	if (hash != qn_model_hash(p->model, a))
		return of_another(&d, "the model beside the report is of another compilation");
	const qn_target *t = qn_target_find(a->env, p->target);
	if (t == NULL)
		return QN_EINVALID;
	QN_TRY(qn_plan_graph(qn_model_entry(p->model), t, a, &p->g));
	return read_steps(&d, p);
}

qn_status
qn_emitted_program_read(qn_ctx *ctx, const char *folder, const char *name, qn_arena *a,
			qn_emitted_program *out)
{
	*out = (qn_emitted_program){0};
	QN_TRY(find_name(a, folder, name, &out->name));
	QN_TRY(qn_load(ctx, path_of(a, folder, out->name, model_end), &out->model));
	return read_report(a, path_of(a, folder, out->name, ".report.json"), out);
}
