/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.c - the passes in their order, and the one place that runs them. */
#include <string.h>

#include "codegen/inline.h"
#include "driver/compile_options.h"
#include "driver/calibration.h"
#include "driver/context.h"
#include "driver/host_struct.h"
#include "driver/statistics.h"
#include "driver/quant_options.h"
#include "driver/quantizer.h"
#include "passes/passes.h"
#include "patterns/quantizer.h"
#include "patterns/recipe.h"
#include "patterns/rewrite.h"

typedef struct pipeline {
	qn_model *m;
	const qn_compile_opts *opts;
	qn_arena *scratch;
	qn_quant_opts quant;
	uint32_t *crc; /* of the calibration data, by input */
} pipeline;

typedef struct pass_row {
	const char *name;
	const char *help;
	qn_stage
		from; /* the pass is part of the default sequence of models at this stage and before */
	qn_status (*run)(pipeline *p);
} pass_row;

/* Whether the entry graph calls composites that partition has made. */
static bool
is_partitioned(const qn_model *m)
{
	for (size_t i = 0; i + 1 < m->ngraph; i++)
		if (m->graph[i]->pattern != NULL)
			return true;
	return false;
}

/* Whether calibrate has been there: every symbol has its value. */
static bool
is_calibrated(const qn_model *m)
{
	for (size_t i = 0; i < m->types.nsymbol; i++)
		if (!m->types.symbol[i]->bound)
			return false;
	return m->types.nsymbol > 0;
}

/* Passes see one graph: functions of the model's own are inlined.  Before quantize, composites are a
 * sign that it is too late; behind it there are none. */
static qn_status
one_graph(pipeline *p, const char *pass)
{
	const qn_graph *flat;
	qn_graph *copy;

	if (is_partitioned(p->m))
		return qn_report(
			p->m->env, QN_EINVALID, "pass.stage", p->m->name,
			"%s takes a graph that is not partitioned yet; the next pass is quantize",
			pass);
	if (p->m->ngraph < 2)
		return QN_OK;
	QN_TRY(qn_graph_inline(qn_model_entry(p->m), p->m->scratch, &flat));
	QN_TRY(qn_graph_sweep(p->m, flat, NULL, &copy));
	qn_model_set_graph(p->m, copy);
	return QN_OK;
}

static qn_status
run_axes(pipeline *p)
{
	QN_TRY(one_graph(p, "axes"));
	return qn_axes(p->m);
}

static qn_status
run_clean(pipeline *p)
{
	QN_TRY(one_graph(p, "clean"));
	return qn_clean(p->m);
}

static qn_status
run_partition(pipeline *p)
{
	QN_TRY(one_graph(p, "partition"));
	return qn_partition(p->m, &p->quant);
}

static qn_status
run_quantize(pipeline *p)
{
	QN_TRY(qn_quantize_model(p->m, &p->quant));
	qn_model_record(p->m, "scheme=%s weights=%s",
			p->quant.scheme == QN_SCHEME_RFC ? "rfc" : "tflite",
			p->quant.per_tensor_weights ? "per-tensor" : "per-channel");
	if (p->quant.activations != QN_STORAGE_I8)
		qn_model_record(p->m, "activations=%s",
				p->quant.activations == QN_STORAGE_U8 ? "u8" : "i16");
	if (p->quant.weight_bits == 4)
		qn_model_record(p->m, "weights-type=i4");
	if (p->quant.recipe != NULL)
		qn_model_record(p->m, "recipe=%08x", p->quant.recipe->crc);
	return QN_OK;
}

/* The method, and the data by base name and content, never by path. */
static void
record_calibration(pipeline *p, const qn_calib_opts *calib, const qn_samples_id *id)
{
	qn_buf b;

	qn_buf_init(&b, p->scratch);
	qn_method_print(&b, &calib->method);
	qn_model_record(p->m, "method=%s", qn_buf_str(&b));
	if (calib->method.mse_weights)
		qn_model_record(p->m, "weight-method=mse");
	for (size_t i = 0; i < id->n; i++)
		qn_model_record(p->m, "calib=%s", id->name[i]);
}

static qn_status
run_calibrate(pipeline *p)
{
	const qn_compile_opts *o = p->opts;
	qn_calib_opts calib;
	qn_samples_id id;
	qn_dataset *data = NULL;
	bool again =
		is_calibrated(p->m); /* values that are there stay: then nothing new is recorded */

	QN_TRY(qn_calib_options(p->m, o, p->crc, p->scratch, &calib, &id));
	if (o->ncalib > 0)
		QN_TRY(qn_calibration_data(p->m, o, p->scratch, &data));
	qn_quantizers_callbacks(o, p->scratch, &calib);
	QN_TRY(qn_calibrate_model(p->m, data, &calib));
	if (!again)
		record_calibration(p, &calib, &id);
	return QN_OK;
}

static qn_status
run_bind(pipeline *p)
{
	return qn_bind(p->m);
}

static qn_status
run_requantize(pipeline *p)
{
	const qn_compile_opts *o = p->opts;
	const qn_requant_opts opts = {.exact = o->no_approx != 0,
				      .merge_always = o->merge_always != 0,
				      .require_int = o->require_int != 0};

	QN_TRY(one_graph(p, "requantize"));
	QN_TRY(qn_requantize(p->m, &opts));
	if (opts.exact)
		qn_model_record(p->m, "approx=off");
	if (opts.merge_always)
		qn_model_record(p->m, "merge=always");
	return QN_OK;
}

static qn_status
run_align(pipeline *p)
{
	const int bits = p->opts->align != 0 ? p->opts->align : QN_FIX_DEFAULT;

	QN_TRY(one_graph(p, "align"));
	QN_TRY(qn_align_model(p->m, bits));
	qn_model_record(p->m, "align=%d", bits);
	return QN_OK;
}

static qn_status
run_legalize(pipeline *p)
{
	QN_TRY(one_graph(p, "legalize"));
	QN_TRY(qn_legalize(p->m));
	qn_model_record(p->m, "rounding=%s", qn_rounding_names[p->m->rounding]);
	return QN_OK;
}

static const pass_row passes[] = {
	{"axes", "let transposes meet and vanish, or move to the ends of the graph",
	 QN_STAGE_CALIBRATED, run_axes},
	{"clean", "fold constants and batch norms", QN_STAGE_FLOAT, run_clean},
	{"partition", "find what quantizer patterns match and put it into composites",
	 QN_STAGE_FLOAT, run_partition},
	{"quantize", "write composites with quantize and dequantize nodes of symbolic scales",
	 QN_STAGE_FLOAT, run_quantize},
	{"calibrate", "run the samples and give the symbols values", QN_STAGE_SYMBOLIC,
	 run_calibrate},
	{"bind", "put the values into the types", QN_STAGE_SYMBOLIC, run_bind},
	{"requantize", "melt dequantize/quantize pairs, so that values stay integer",
	 QN_STAGE_CALIBRATED, run_requantize},
	{"align", "round scales to small integers times powers of two (only when asked for)",
	 QN_STAGE_CALIBRATED, run_align},
	{"legalize",
	 "make inputs and outputs integer, write codes into attributes, refuse what is float",
	 QN_STAGE_CALIBRATED, run_legalize},
};

const char *
qn_pass_name(size_t i)
{
	return i < QN_COUNT(passes) ? passes[i].name : NULL;
}

const char *
qn_pass_help(size_t i)
{
	return i < QN_COUNT(passes) ? passes[i].help : NULL;
}

static const pass_row *
find(const char *name, size_t n)
{
	for (size_t i = 0; i < QN_COUNT(passes); i++)
		if (strlen(passes[i].name) == n && memcmp(passes[i].name, name, n) == 0)
			return &passes[i];
	return NULL;
}

static qn_status
unknown_pass(qn_env *env, const char *option, const char *name, size_t n)
{
	return qn_report(env, QN_EUSAGE, "pass.unknown", option,
			 "'%.*s' is no pass; the passes are axes, clean, partition, quantize, "
			 "calibrate, bind, requantize, align, legalize",
			 (int)n, name);
}

static qn_status
print_graph(pipeline *p)
{
	qn_buf b;

	qn_buf_init(&b, p->scratch);
	qn_model_print(&b, p->m);
	if (p->opts->print == NULL || p->opts->print(p->opts->print_user, qn_buf_str(&b), b.n) == 0)
		return QN_OK;
	return qn_report(p->m->env, QN_EIO, "print", "", "the graph's text could not be written");
}

/* Runs the pass, its graphs in one new arena and its tables in another, and the verifier. */
static qn_status
run_in(pipeline *p, const pass_row *pass, qn_arena *graphs)
{
	qn_model *m = p->m;
	qn_arena *old = m->graphs;
	qn_arena *tables = qn_arena_child(p->scratch);

	m->graphs = graphs;
	m->scratch = tables;
	qn_status status = pass->run(p);
	if (status == QN_OK && qn_model_verify(m) != QN_OK)
		status = qn_report(m->env, QN_EINTERNAL, "pass.verify", pass->name,
				   "the pass '%s' left a graph that breaks the rules of its stage; "
				   "this is a defect of Quern",
				   pass->name);
	m->graphs = old;
	m->scratch = p->scratch;
	qn_arena_release(tables);
	return status;
}

static bool
holds_graph(const qn_model *m, const qn_arena *graphs)
{
	for (size_t i = 0; i < m->ngraph; i++)
		if (m->graph[i]->arena == graphs)
			return true;
	return false;
}

/* The pass's arena takes the place of the one before when no graph is left there. */
static void
keep_graphs(qn_model *m, qn_arena *graphs)
{
	qn_arena *old = m->graphs;

	if (!holds_graph(m, graphs)) {
		qn_arena_release(graphs);
	} else {
		m->graphs = graphs;
		if (!holds_graph(m, old) && old != m->arena)
			qn_arena_release(old);
	}
}

/* One pass and the checks behind it.  A failure leaves the model as it was. */
static qn_status
run_pass(pipeline *p, const pass_row *pass)
{
	qn_model *m = p->m;
	qn_arena *graphs = qn_arena_child(m->arena);
	qn_graph **graph = qn_arena_copy(p->scratch, m->graph, m->ngraph * sizeof *graph);
	size_t ngraph = m->ngraph;
	qn_stage stage = m->stage;
	const char *options = m->options;
	qn_map *notes = m->notes;
	qn_symbols_state symbols = qn_symbols_save(&m->types, p->scratch);
	m->env->trace_pass = pass->name;
	qn_status status = run_in(p, pass, graphs);

	if (status != QN_OK) {
		qn_arena_release(graphs);
		memcpy(m->graph, graph, ngraph * sizeof *graph);
		m->ngraph = ngraph;
		m->stage = stage;
		m->options = options;
		m->notes = notes;
		qn_symbols_restore(&m->types, &symbols);
		return status;
	}
	keep_graphs(m, graphs);
	const char *print = p->opts->print_after;
	if (print != NULL && (strcmp(print, "all") == 0 || strcmp(print, pass->name) == 0))
		return print_graph(p);
	return QN_OK;
}

/* The passes of a run, in order; each one at most once in the default sequence. */
typedef struct sequence {
	const pass_row **pass;
	size_t n;
} sequence;

/* All that the model's stage still needs.  A symbolic graph keeps its nodes: composites are known by
 * their names. */
static void
default_sequence(pipeline *p, sequence *s)
{
	bool partitioned = is_partitioned(p->m);
	bool calibrated = p->m->stage == QN_STAGE_SYMBOLIC && is_calibrated(p->m);

	s->pass = QN_NEW(p->scratch, const pass_row *, QN_COUNT(passes));
	for (size_t i = 0; i < QN_COUNT(passes); i++)
		if (p->m->stage <= passes[i].from && !(partitioned && i < 3) &&
		    !(p->m->stage == QN_STAGE_SYMBOLIC && passes[i].run == run_axes) &&
		    !(calibrated && passes[i].run == run_calibrate) &&
		    (p->opts->align != 0 || passes[i].run != run_align))
			s->pass[s->n++] = &passes[i];
}

/* A comma list of names; all of them are looked at before the first pass runs. */
static qn_status
listed_sequence(pipeline *p, const char *list, sequence *s)
{
	qn_status status = QN_OK;

	s->pass = QN_NEW(p->scratch, const pass_row *, strlen(list));
	while (*list != '\0') {
		size_t n = strcspn(list, ",");
		const pass_row *pass = find(list, n);

		if (pass == NULL)
			status = unknown_pass(p->m->env, "passes", list, n);
		else
			s->pass[s->n++] = pass;
		list += list[n] == ',' ? n + 1 : n;
	}
	return status;
}

/* Where a pass that an option names stands in the sequence; silence would look like success. */
static qn_status
position(pipeline *p, const sequence *s, const char *option, const char *name, size_t *at)
{
	if (find(name, strlen(name)) == NULL)
		return unknown_pass(p->m->env, option, name, strlen(name));
	for (*at = 0; *at < s->n; ++*at)
		if (strcmp(s->pass[*at]->name, name) == 0)
			return QN_OK;
	return qn_report(p->m->env, QN_EUSAGE, "pass.absent", option,
			 "the pass '%s' does not run here: %s", name,
			 p->opts->passes != NULL ? "it is not among the passes asked for"
			 : p->opts->align == 0 && strcmp(name, "align") == 0
				 ? "the option align is not given"
				 : "the model has it behind it");
}

static qn_status
run_sequence(pipeline *p)
{
	const qn_compile_opts *o = p->opts;
	sequence s = {0};
	size_t at = 0;

	if (o->passes != NULL)
		QN_TRY(listed_sequence(p, o->passes, &s));
	else
		default_sequence(p, &s);
	if (o->print_after != NULL && strcmp(o->print_after, "all") != 0)
		QN_TRY(position(p, &s, "print-ir-after", o->print_after, &at));
	if (o->align != 0)
		QN_TRY(position(p, &s, "align", "align", &at));
	if (o->stop_after != NULL) {
		QN_TRY(position(p, &s, "stop-after", o->stop_after, &at));
		s.n = at + 1;
	}
	if (o->skip != NULL || o->skip_fn != NULL)
		QN_TRY(position(p, &s, "skip", "partition", &at));
	if (p->quant.recipe != NULL)
		QN_TRY(position(p, &s, "recipe",
				qn_recipe_has_skip(p->quant.recipe) ? "partition" : "quantize",
				&at));
	if (o->require_int != 0)
		QN_TRY(position(p, &s, "require-int", "requantize", &at));
	for (size_t i = 0; i < s.n; i++)
		if (s.pass[i]->run == run_calibrate && o->ncalib > 0 && p->crc == NULL)
			QN_TRY(qn_calibration_lint(p->m, o, p->scratch, &p->crc));
	for (size_t i = 0; i < s.n; i++)
		QN_TRY(run_pass(p, s.pass[i]));
	return QN_OK;
}

typedef struct compile_call {
	qn_model *m;
	const qn_compile_opts *opts;
} compile_call;

static qn_status
compile(void *arg, qn_arena *scratch)
{
	compile_call *c = arg;
	pipeline p = {.m = c->m, .opts = c->opts, .scratch = scratch};
	const qn_compile_opts *o = c->opts;

	QN_TRY(qn_compile_opts_check(c->m, o));
	QN_TRY(qn_quant_opts_of(c->m, o, scratch, &p.quant));
	if (c->m->stage != QN_STAGE_INTEGER && o->rounding != QN_ROUND_DEFAULT)
		c->m->rounding = (int32_t)o->rounding - (int32_t)QN_ROUND_DOUBLE;
	return run_sequence(&p);
}

qn_status
qn_compile(qn_model *m, const qn_compile_opts *opts)
{
	qn_compile_opts known;
	compile_call c = {m, &known};

	QN_TRY(QN_TAKE(m->env, qn_compile_opts, opts, &known));
	m->env->trace = known.trace_rules;
	m->env->trace_user = known.trace_user;
	qn_status status = qn_guard_model(m, compile, &c);
	m->env->trace = NULL;
	return status;
}
