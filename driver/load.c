/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - reads models of all formats for the host: qn_load, qn_import. */
#include <string.h>

#include "driver/context.h"
#include "driver/host_struct.h"
#include "driver/limits.h"
#include "formats/file.h"
#include "formats/json_graph.h"
#include "import/import.h"
#include "import/quant_params.h"
#include "passes/passes.h"

enum { MOST_TIMES = 1 << 20 }; /* of qn_import_opts.limit */

typedef struct load_call {
	qn_ctx *ctx;
	const char *path;
	qn_import_how how;
	qn_import_opts opts;
	size_t ninit; /* values for inputs that are tied, by state */
	qn_pin *init;
	qn_model_box *box; /* under construction */
} load_call;

/* The last name of the path of a folder, dots included: "models/tiny-1.5/" is tiny-1.5. */
static const char *
folder_name(qn_arena *a, const char *path)
{
	size_t n = strlen(path);

	while (n > 0 && path[n - 1] == '/')
		n--;
	const char *name = qn_path_base(qn_arena_strn(a, path, n));
	return name[strspn(name, ".")] != '\0' ? name : "model"; /* ".", "..", "/" */
}

/* Whether the host ties an output to this input. */
static bool
is_tied(const load_call *c, const char *input)
{
	for (size_t i = 0; i < c->opts.ntie; i++) {
		const char *equals = strchr(c->opts.tie[i], '=');

		if (equals != NULL && strcmp(equals + 1, input) == 0)
			return true;
	}
	return false;
}

/* The inputs that the host fixes, and the first values of those that it ties. */
static qn_status
take_values(load_call *c, qn_arena *scratch)
{
	qn_status status = QN_OK;

	c->how.pin = QN_NEW(scratch, qn_pin, c->opts.nvalue + 1);
	c->init = QN_NEW(scratch, qn_pin, c->opts.nvalue + 1);
	for (size_t i = 0; i < c->opts.nvalue; i++) {
		qn_input_value *v = &c->opts.value[i];
		const bool tied = v->name != NULL && is_tied(c, v->name);
		qn_pin *pin = tied ? &c->init[c->ninit++] : &c->how.pin[c->how.npin++];

		v->used = 0;
		*pin = (qn_pin){.name = v->name, .text = v->text, .optional = v->optional != 0};
		if (v->name == NULL || (v->text == NULL) == (v->array == NULL))
			status = qn_report(&c->ctx->env, QN_EUSAGE, "import.value", c->path,
					   "fixed input %zu needs a name, and a text or an array",
					   i);
		else if (v->array != NULL)
			QN_TRY(qn_array_read(v->array, scratch, &pin->value));
	}
	return status;
}

/* Tells the host which of its values were used; whether an input became a constant. */
static bool
mark_used(load_call *c)
{
	bool fixed = false;
	size_t npin = 0, ninit = 0;

	for (size_t i = 0; i < c->opts.nvalue; i++) {
		qn_input_value *v = &c->opts.value[i];
		const bool tied = is_tied(c, v->name);

		v->used = tied ? c->init[ninit++].used : c->how.pin[npin++].used;
		fixed = fixed || (!tied && v->used);
	}
	return fixed;
}

/* Options that only the formats of other tools have a meaning for. */
static qn_status
check_own_format(const load_call *c)
{
	qn_env *env = &c->ctx->env;
	qn_status status = QN_OK;

	if (c->how.ndim > 0)
		status = qn_report(env, QN_EUSAGE, "import.dim", c->path,
				   "'%s': open dimensions are set while an .onnx or .tflite is "
				   "read; here, write them in the type of the input",
				   c->how.dim[0]);
	if (c->how.from_float)
		status = qn_report(env, QN_EUSAGE, "import.from-float", c->path,
				   "only an .onnx or .tflite can be dequantized while it is read; "
				   "recalibrate the float model that this file was made from");
	return status;
}

static qn_status
check_context(const load_call *c)
{
	const qn_import_format f = qn_import_format_of(c->path);

	if (c->opts.context == 0 || f == QN_IMPORT_GGUF || f == QN_IMPORT_HUGGING_FACE)
		return c->opts.context <= QN_CONTEXT_MOST
			       ? QN_OK
			       : qn_report(&c->ctx->env, QN_EUSAGE, "import.context", c->path,
					   "a context of %llu tokens (expected at most %d)",
					   (unsigned long long)c->opts.context,
					   (int)QN_CONTEXT_MOST);
	return qn_report(&c->ctx->env, QN_EUSAGE, "import.context", c->path,
			 "only language models have a context: .gguf, or a Hugging Face folder");
}

/* Warns of outputs that fixed inputs make constants: a program without steps, most likely not what
 * was meant. */
static void
warn_of_fixed(const load_call *c, qn_arena *scratch)
{
	const qn_graph *g = qn_model_entry(&c->box->m);
	bool *varies = QN_NEW(scratch, bool, g->n);

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		varies[id] = n->op == QN_OP_input;
		for (uint32_t i = 0; i < n->nin; i++)
			varies[id] = varies[id] || varies[n->in[i]];
	}
	for (size_t k = 0; k < qn_graph_given(g); k++)
		if (!varies[g->output[k].value])
			qn_warn(&c->ctx->env, "import.fixed", c->path,
				"output '%s' is a constant: it depends only on fixed inputs%s",
				g->output[k].name,
				qn_graph_fed(g) == 0 ? "; no input is left, do not fix all of them"
						     : "");
}

static qn_status
load(void *arg, qn_arena *scratch)
{
	load_call *c = arg;
	qn_env *env = &c->ctx->env;
	const char *text;
	size_t n;

	QN_TRY(qn_progress(env, "load", 0, 1));
	qn_import_format foreign = qn_import_format_of(c->path);
	qn_box_new(c->ctx,
		   foreign == QN_IMPORT_HUGGING_FACE ? folder_name(scratch, c->path)
						     : qn_path_stem(scratch, c->path),
		   &c->box);
	qn_model_box *box = c->box;
	box->m.types.lax_zp = c->opts.lax_zp != 0;
	QN_TRY(check_context(c));
	QN_TRY(qn_host_pointers(env, "dim", c->opts.ndim, c->opts.dim));
	QN_TRY(qn_host_pointers(env, "cut", c->opts.ncut, c->opts.cut));
	QN_TRY(qn_host_pointers(env, "tie", c->opts.ntie, c->opts.tie));
	QN_TRY(qn_host_list(env, "value", c->opts.nvalue, c->opts.value));
	QN_TRY(take_values(c, scratch));
	if (foreign == QN_IMPORT_NONE)
		QN_TRY(check_own_format(c));
	if (foreign != QN_IMPORT_NONE) {
		box->m.scratch = scratch;
		QN_TRY(qn_import_read(&box->m, c->path, foreign, &c->how));
	} else if (qn_path_ends(c->path, ".json") && !qn_import_is_index(c->path)) {
		QN_TRY(qn_json_read(&box->m, c->path));
	} else if (qn_path_ends(c->path, ".qir")) {
		QN_TRY(qn_file_map(&box->arena, c->path, &text, &n));
		QN_TRY(qn_model_parse(&box->m, c->path, text, n));
	} else {
		return qn_import_refuse(scratch, c->path);
	}
	if (qn_model_entry(&box->m) == NULL)
		return qn_report(env, QN_EINVALID, "model.empty", c->path, "the file has no graph");
	box->m.scratch = scratch;
	if (foreign != QN_IMPORT_ONNX && foreign != QN_IMPORT_TFLITE) /* these read them */
		QN_TRY(qn_pin_inputs(&box->m, c->path, c->how.npin, c->how.pin));
	if (c->opts.quant_params != NULL)
		QN_TRY(qn_import_quant_params(&box->m, c->opts.quant_params));
	if (c->opts.front_end != NULL)
		QN_TRY(qn_front_end(&box->m, c->path, c->opts.front_end));
	QN_TRY(qn_cut(&box->m, c->path, c->how.ncut, c->how.cut));
	QN_TRY(qn_tie_states(&box->m, c->path, c->opts.ntie, c->opts.tie, c->ninit, c->init));
	if (mark_used(c))
		warn_of_fixed(c, scratch);
	qn_status status = qn_model_verify(&box->m);
	if (status == QN_OK)
		status = qn_limits_check(&box->m, scratch);
	box->m.scratch = &box->arena;
	box->checked = true;
	return status == QN_OK ? qn_progress(env, "load", 1, 1) : status;
}

qn_status
qn_load(qn_ctx *ctx, const char *path, qn_model **out)
{
	return qn_import(ctx, path, NULL, out);
}

qn_status
qn_import(qn_ctx *ctx, const char *path, const qn_import_opts *opts, qn_model **out)
{
	load_call c = {.ctx = ctx, .path = path};
	qn_import_opts o;

	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(ctx, path, out));
	QN_TRY(QN_TAKE(&ctx->env, qn_import_opts, opts, &o));
	c.opts = o;
	c.how = (qn_import_how){.ndim = o.ndim,
				.dim = o.dim,
				.from_float = o.from_float != 0,
				.context = (int64_t)o.context,
				.ncut = o.ncut,
				.cut = o.cut,
				.times = o.limit < MOST_TIMES ? o.limit : MOST_TIMES};
	qn_status status = qn_guard(ctx, load, &c);
	if (status == QN_OK)
		*out = &c.box->m;
	else if (c.box != NULL)
		qn_model_free(&c.box->m);
	return status;
}
