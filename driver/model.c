/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - the public side of models: describing, writing, freeing; load.c reads them. */
#include <string.h>

#include "driver/context.h"
#include "driver/draw.h"
#include "driver/host_struct.h"
#include "driver/summary.h"
#include "formats/file.h"
#include "formats/json_graph.h"

typedef struct model_call {
	qn_ctx *ctx;
	qn_model *m;
	const char *path;
	int with_weights;
	qn_format format;
	qn_write_fn *write;
	void *user;
	const qn_type *type;
	const char *text;
} model_call;

void
qn_model_free(qn_model *m)
{
	if (m == NULL)
		return;
	qn_model_box *box = qn_box(m);
	for (qn_model_box **p = &box->ctx->models; *p != NULL; p = &(*p)->next)
		if (*p == box) {
			*p = box->next;
			break;
		}
	qn_env *env = &box->ctx->env;
	qn_arena_release(&box->arena);
	qn_env_free(env, box, sizeof *box);
}

const char *
qn_model_name(const qn_model *m)
{
	if (m == NULL)
		return NULL;
	return m->name;
}

const char *
qn_model_stage(const qn_model *m)
{
	if (m == NULL)
		return NULL;
	return qn_stage_names[m->stage];
}

const char *
qn_model_input_name(const qn_model *m, size_t k)
{
	if (m == NULL)
		return NULL;
	const qn_graph *g = qn_model_entry(m);

	return k < qn_graph_fed(g) ? qn_graph_node(g, g->input[k])->name : NULL;
}

const char *
qn_model_output_name(const qn_model *m, size_t k)
{
	if (m == NULL)
		return NULL;
	const qn_graph *g = qn_model_entry(m);

	return k < qn_graph_given(g) ? g->output[k].name : NULL;
}

static qn_status
print_type(void *arg, qn_arena *scratch)
{
	model_call *c = arg;
	qn_buf b;

	(void)scratch;
	qn_buf_init(&b, c->m->arena);
	b.decimal = true;
	qn_type_print(&b, c->type);
	c->text = qn_buf_str(&b);
	return QN_OK;
}

static const char *
type_text(qn_model *m, qn_id id)
{
	model_call c = {.m = m, .type = qn_graph_node(qn_model_entry(m), id)->type};

	return qn_guard(qn_box(m)->ctx, print_type, &c) == QN_OK ? c.text : NULL;
}

const char *
qn_model_input_type(qn_model *m, size_t k)
{
	if (m == NULL)
		return NULL;
	const qn_graph *g = qn_model_entry(m);

	return k < qn_graph_fed(g) ? type_text(m, g->input[k]) : NULL;
}

const char *
qn_model_output_type(qn_model *m, size_t k)
{
	if (m == NULL)
		return NULL;
	const qn_graph *g = qn_model_entry(m);

	return k < qn_graph_given(g) ? type_text(m, g->output[k].value) : NULL;
}

const char *
qn_model_state_name(const qn_model *m, size_t k)
{
	if (m == NULL)
		return NULL;
	const qn_graph *g = qn_model_entry(m);

	return k < g->nstate ? qn_graph_state(g, k)->name : NULL;
}

const char *
qn_model_state_type(qn_model *m, size_t k)
{
	if (m == NULL)
		return NULL;
	const qn_graph *g = qn_model_entry(m);

	return k < g->nstate ? type_text(m, g->input[qn_graph_fed(g) + k]) : NULL;
}

static qn_status
print_kinds(void *arg, qn_arena *scratch)
{
	model_call *c = arg;
	qn_buf b;

	(void)scratch;
	qn_buf_init(&b, c->m->arena);
	qn_summary_kinds(&b, c->m);
	c->text = qn_buf_str(&b);
	return QN_OK;
}

const char *
qn_model_kinds(qn_model *m)
{
	model_call c = {.m = m};

	if (m == NULL)
		return NULL;
	return qn_guard(qn_box(m)->ctx, print_kinds, &c) == QN_OK ? c.text : NULL;
}

/* ---- writing ---- */

static qn_status
print(void *arg, qn_arena *scratch)
{
	model_call *c = arg;
	qn_buf b;

	qn_buf_init(&b, scratch);
	switch (c->format) {
	case QN_FORMAT_IR:
		qn_model_print(&b, c->m);
		break;
	case QN_FORMAT_JSON:
		qn_json_print(&b, c->m, &(qn_json_opts){0}, NULL);
		break;
	case QN_FORMAT_SUMMARY:
		qn_summary_print(&b, c->m);
		break;
	case QN_FORMAT_SUMMARY_JSON:
		qn_summary_print_json(&b, c->m);
		break;
	case QN_FORMAT_DOT:
		qn_draw(&b, c->m);
		break;
	}
	if (c->write(c->user, qn_buf_str(&b), b.n) != 0)
		return qn_report(c->m->env, QN_EIO, "print", "", "the text could not be written");
	return QN_OK;
}

qn_status
qn_print(qn_model *m, qn_format format, qn_write_fn *write, void *user)
{
	model_call c = {.m = m, .format = format, .write = write, .user = user};

	QN_TRY(QN_GIVEN(qn_model_ctx(m), write));
	if ((int)format < 0 || (int)format > (int)QN_FORMAT_SUMMARY_JSON)
		return qn_report(m->env, QN_EUSAGE, "option.range", "format",
				 "%d is not a qn_format (expected QN_FORMAT_IR to "
				 "QN_FORMAT_SUMMARY_JSON)",
				 (int)format);
	return qn_guard(qn_box(m)->ctx, print, &c);
}

static qn_status
save(void *arg, qn_arena *scratch)
{
	model_call *c = arg;
	qn_buf json, weights, name;
	qn_file_out files[2];

	qn_buf_init(&json, scratch);
	qn_buf_init(&weights, scratch);
	qn_buf_init(&name, scratch);
	qn_buff(&name, "%s.safetensors", qn_path_stem(scratch, c->path));
	qn_json_print(&json, c->m,
		      &(qn_json_opts){.weights_file = c->with_weights ? qn_buf_str(&name) : NULL,
				      .seal = true},
		      &weights);
	files[0] = (qn_file_out){.path = c->path, .data = json.data, .n = json.n};
	files[1] = (qn_file_out){
		.path = qn_path_join(scratch, qn_path_folder(scratch, c->path), qn_buf_str(&name)),
		.data = weights.data,
		.n = weights.n};
	return qn_files_write(c->m->env, NULL, c->with_weights ? 2 : 1, files);
}

qn_status
qn_save(qn_model *m, const char *path, int with_weights)
{
	model_call c = {.m = m, .path = path, .with_weights = with_weights};

	QN_TRY(QN_GIVEN(qn_model_ctx(m), path));
	if (!qn_path_ends(path, ".json"))
		return qn_report(m->env, QN_EUSAGE, "model.format", path,
				 "a model in JSON needs the file extension .json");
	return qn_guard(qn_box(m)->ctx, save, &c);
}

static qn_status
save_text(void *arg, qn_arena *scratch)
{
	model_call *c = arg;
	qn_buf b;

	qn_buf_init(&b, scratch);
	qn_model_print(&b, c->m);
	return qn_file_write(c->m->env, c->path, b.data, b.n);
}

qn_status
qn_save_text(qn_model *m, const char *path)
{
	model_call c = {.m = m, .path = path};

	QN_TRY(QN_GIVEN(qn_model_ctx(m), path));
	return qn_guard(qn_box(m)->ctx, save_text, &c);
}
