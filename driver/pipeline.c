/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.c - the passes in their order, and the one place that runs them. */
#include <string.h>

#include "calibrate/calibrate.h"
#include "driver/context.h"
#include "passes/passes.h"
#include "patterns/quantizer.h"

typedef struct pipeline {
	qn_model *m;
	const qn_compile_opts *opts;
	qn_arena *scratch;
	qn_quant_opts quant;
} pipeline;

typedef struct pass_row {
	const char *name;
	const char *help;
	qn_stage from;      /* the pass is part of the default sequence of models at this stage and before */
	qn_status (*run)(pipeline *p);
} pass_row;

static qn_status
run_clean(pipeline *p)
{
	return qn_clean(p->m);
}

static qn_status
run_partition(pipeline *p)
{
	return qn_partition(p->m, &p->quant);
}

static qn_status
run_quantize(pipeline *p)
{
	return qn_quantize_model(p->m, &p->quant);
}

static qn_status
run_calibrate(pipeline *p)
{
	const qn_compile_opts *o = p->opts;
	qn_calib_opts calib = {.method = o->method == QN_PERCENTILE ? QN_METHOD_PERCENTILE : QN_METHOD_MINMAX, .percentile = o->percentile};
	const qn_tensor **array = QN_NEW(p->scratch, const qn_tensor *, o->ncalib);
	const char **name = QN_NEW(p->scratch, const char *, o->ncalib);
	qn_dataset *data = NULL;

	for (size_t i = 0; i < o->ncalib; i++) {
		array[i] = o->calib[i]->tensor;
		name[i] = o->calib_names != NULL ? o->calib_names[i] : "calibration data";
	}
	if (o->ncalib > 0)
		QN_TRY(qn_dataset_arrays(qn_model_entry(p->m), p->scratch, o->ncalib, array, name, &data));
	return qn_calibrate_model(p->m, data, &calib);
}

static qn_status
run_bind(pipeline *p)
{
	return qn_bind(p->m);
}

static qn_status
run_requantize(pipeline *p)
{
	return qn_requantize(p->m);
}

static qn_status
run_legalize(pipeline *p)
{
	return qn_legalize(p->m);
}

static const pass_row passes[] = {
	{"clean", "fold constants and batch norms", QN_STAGE_FLOAT, run_clean},
	{"partition", "find what quantizer patterns match and put it into composites", QN_STAGE_FLOAT, run_partition},
	{"quantize", "write composites with quantize and dequantize nodes of symbolic scales", QN_STAGE_FLOAT, run_quantize},
	{"calibrate", "run the samples and give the symbols values", QN_STAGE_SYMBOLIC, run_calibrate},
	{"bind", "put the values into the types", QN_STAGE_SYMBOLIC, run_bind},
	{"requantize", "melt dequantize/quantize pairs, so that values stay integer", QN_STAGE_CALIBRATED, run_requantize},
	{"legalize", "make inputs and outputs integer, write codes into attributes, refuse what is float", QN_STAGE_CALIBRATED, run_legalize},
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
	return qn_report(env, QN_EUSAGE, "pass.unknown", option, "'%.*s' is no pass; the passes are clean, partition, quantize, calibrate, bind, requantize, legalize", (int)n,
	                 name);
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

/* One pass and the checks behind it.  A failure leaves the model as it was. */
static qn_status
run_pass(pipeline *p, const pass_row *pass)
{
	qn_model *m = p->m;
	qn_graph **graph = qn_arena_copy(p->scratch, m->graph, m->ngraph * sizeof *graph);
	size_t ngraph = m->ngraph;
	qn_stage stage = m->stage;
	qn_status status = pass->run(p);

	if (status == QN_OK && qn_model_verify(m) != QN_OK)
		status = qn_report(m->env, QN_EINTERNAL, "pass.verify", pass->name, "the pass '%s' left a graph that breaks the rules of its stage; this is a defect of Quern", pass->name);
	if (status != QN_OK) {
		memcpy(m->graph, graph, ngraph * sizeof *graph);
		m->ngraph = ngraph;
		m->stage = stage;
		return status;
	}
	const char *print = p->opts->print_after;
	if (print != NULL && (strcmp(print, "all") == 0 || strcmp(print, pass->name) == 0))
		return print_graph(p);
	return QN_OK;
}

/* Whether the entry graph calls composites that partition has made. */
static bool
is_partitioned(const qn_model *m)
{
	return m->ngraph > 1 && m->graph[0]->pattern != NULL;
}

static qn_status
run_default(pipeline *p)
{
	bool partitioned = is_partitioned(p->m);

	for (size_t i = 0; i < QN_COUNT(passes); i++) {
		const pass_row *pass = &passes[i];

		if (p->m->stage > pass->from || (partitioned && i < 2))
			continue;
		QN_TRY(run_pass(p, pass));
		if (p->opts->stop_after != NULL && strcmp(p->opts->stop_after, pass->name) == 0)
			break;
	}
	return QN_OK;
}

static qn_status
run_list(pipeline *p, const char *list)
{
	while (*list != '\0') {
		size_t n = strcspn(list, ",");
		const pass_row *pass = find(list, n);

		if (pass == NULL)
			return unknown_pass(p->m->env, "passes", list, n);
		QN_TRY(run_pass(p, pass));
		if (p->opts->stop_after != NULL && strcmp(p->opts->stop_after, pass->name) == 0)
			break;
		list += list[n] == ',' ? n + 1 : n;
	}
	return QN_OK;
}

/* What the emitted files record: options that change the result, and the data by base name and content. */
static void
record_options(pipeline *p)
{
	const qn_compile_opts *o = p->opts;
	qn_buf b;

	qn_buf_init(&b, p->m->arena);
	qn_buff(&b, "scheme=%s weights=%s method=%s", p->quant.scheme == QN_SCHEME_RFC ? "rfc" : "tflite", p->quant.per_tensor_weights ? "per-tensor" : "per-channel",
	        o->method == QN_PERCENTILE ? "percentile" : "minmax");
	if (o->method == QN_PERCENTILE)
		qn_buff(&b, " percentile=%g", o->percentile > 0 ? o->percentile : 99.99);
	qn_buff(&b, " rounding=%s", o->rounding == QN_ROUND_SINGLE ? "single" : o->rounding == QN_ROUND_NEAREST ? "nearest" : "double");
	for (size_t i = 0; i < o->ncalib; i++) {
		const qn_tensor *x = o->calib[i]->tensor;

		qn_buff(&b, " calib=%s:%08x", o->calib_names != NULL ? o->calib_names[i] : "-", qn_crc32(0, x->data, x->bytes));
	}
	qn_box(p->m)->options = qn_buf_str(&b);
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

	p.quant.scheme = o->scheme == QN_RFC ? QN_SCHEME_RFC : QN_SCHEME_TFLITE;
	p.quant.per_tensor_weights = o->weights == QN_WEIGHTS_PER_TENSOR || (o->weights == QN_WEIGHTS_DEFAULT && o->scheme == QN_RFC);
	if (o->stop_after != NULL && find(o->stop_after, strlen(o->stop_after)) == NULL)
		return unknown_pass(c->m->env, "stop-after", o->stop_after, strlen(o->stop_after));
	if (o->print_after != NULL && strcmp(o->print_after, "all") != 0 && find(o->print_after, strlen(o->print_after)) == NULL)
		return unknown_pass(c->m->env, "print-ir-after", o->print_after, strlen(o->print_after));
	if (o->percentile != 0 && !(o->percentile > 50 && o->percentile <= 100))
		return qn_report(c->m->env, QN_EUSAGE, "percentile.range", "percentile", "%g is not above 50 and up to 100", o->percentile);
	if (c->m->stage != QN_STAGE_INTEGER) {
		c->m->rounding = (int32_t)o->rounding;
		record_options(&p);
	}
	return o->passes != NULL ? run_list(&p, o->passes) : run_default(&p);
}

qn_status
qn_compile(qn_model *m, const qn_compile_opts *opts)
{
	const qn_compile_opts defaults = {0};
	compile_call c = {m, opts != NULL ? opts : &defaults};

	return qn_guard_model(m, compile, &c);
}
