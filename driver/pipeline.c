/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.c - which passes run, and the one place that runs them. */
#include <string.h>

#include "driver/calibration.h"
#include "driver/compile_options.h"
#include "driver/context.h"
#include "driver/host_struct.h"
#include "driver/pass_rows.h"
#include "driver/solver.h"
#include "driver/statistics.h"
#include "driver/undo.h"
#include "ir/loops.h"
#include "ir/nearest.h"
#include "ir/snapshot.h"
#include "passes/passes.h"
#include "patterns/recipe.h"
#include "patterns/skip.h"

static qn_status
unknown_pass(qn_env *env, qn_arena *scratch, const char *option, const char *text, size_t n)
{
	const char *const name = qn_arena_strn(scratch, text, n);
	const char **known = QN_NEW(scratch, const char *, qn_npasses);

	if (strcmp(name, "stream") == 0)
		return qn_report(env, QN_EUSAGE, "pass.unknown", option,
				 "'stream' runs after all passes of the list: use --stream "
				 "axis=A,hop=N (qn_stream)");
	for (size_t i = 0; i < qn_npasses; i++)
		known[i] = qn_passes[i].name;
	const char *best = qn_nearest_name(name, qn_npasses, known);
	return qn_report(env, QN_EUSAGE, "pass.unknown", option,
			 "unknown pass '%s' (expected %s)" QN_DID_YOU_MEAN, name,
			 qn_choices(scratch, qn_npasses, known), QN_SUGGEST(best));
}

static qn_status
print_graph(qn_pipeline *p)
{
	qn_buf b;

	qn_buf_init(&b, p->scratch);
	qn_model_print(&b, p->m);
	if (p->opts->print == NULL || p->opts->print(p->opts->print_user, qn_buf_str(&b), b.n) == 0)
		return QN_OK;
	return qn_report(p->m->env, QN_EIO, "print", "", "the graph's text could not be written");
}

typedef struct pass_call {
	qn_pipeline *p;
	const qn_pass_row *pass;
	qn_arena *graphs, *tables; /* of the pass: new graphs, and what it needs while it runs */
} pass_call;

/* Runs the pass and the verifier. */
static qn_status
run_in(void *arg, qn_model *m)
{
	const pass_call *c = arg;
	qn_arena *old = m->graphs;

	m->graphs = c->graphs;
	m->scratch = c->tables;
	if (m->stage != QN_STAGE_INTEGER && c->p->opts->rounding != QN_ROUND_DEFAULT)
		m->rounding = (int32_t)c->p->opts->rounding - (int32_t)QN_ROUND_DOUBLE;
	if ((c->pass->flags & QN_PASS_SEES_COMPOSITES) == 0)
		QN_TRY(qn_one_graph(c->p, c->pass->name));
	QN_TRY(c->pass->change != NULL ? c->pass->change(m) : c->pass->run(c->p));
	if (qn_model_verify(m) != QN_OK)
		return qn_report(m->env, QN_EINTERNAL, "pass.verify", c->pass->name,
				 "internal error: the pass '%s' left a graph that breaks the rules "
				 "of its stage",
				 c->pass->name);
	if (!qn_pass_is_on_request(c->pass))
		m->after = c->pass->name;
	m->graphs = old;
	m->scratch = c->p->scratch;
	return QN_OK;
}

/* The pass's arena replaces the one before when no graph is left there. */
static void
keep_graphs(qn_model *m, qn_arena *graphs)
{
	qn_arena *old = m->graphs;

	if (!qn_model_holds(m, graphs)) {
		qn_arena_release(graphs);
	} else {
		m->graphs = graphs;
		if (!qn_model_holds(m, old) && old != m->arena && old != qn_box(m)->kept)
			qn_arena_release(old);
	}
}

/* One pass and the checks after it.  A failure leaves the model as it was. */
static qn_status
run_pass(qn_pipeline *p, const qn_pass_row *pass)
{
	qn_model *m = p->m;
	pass_call c = {p, pass, qn_arena_child(m->arena), qn_arena_child(p->scratch)};

	m->env->trace_pass = pass->name;
	qn_status status = qn_model_change(m, p->scratch, run_in, &c);
	qn_arena_release(c.tables);
	if (status != QN_OK) {
		qn_arena_release(c.graphs);
		return status;
	}
	keep_graphs(m, c.graphs);
	const char *print = p->opts->print_after;
	if (print != NULL && (strcmp(print, "all") == 0 || strcmp(print, pass->name) == 0))
		return print_graph(p);
	return QN_OK;
}

/* The passes of a run, in order; each one at most once in the default sequence. */
typedef struct sequence {
	const qn_pass_row **pass;
	size_t n;
	size_t rest; /* after these, which stop-after leaves out */
} sequence;

/* All that the model's stage still needs.  A symbolic graph keeps its nodes: composites are known
 * by their names. */
static void
default_sequence(qn_pipeline *p, sequence *s)
{
	s->pass = QN_NEW(p->scratch, const qn_pass_row *, qn_npasses);
	for (size_t i = 0; i < qn_npasses; i++)
		if (qn_pass_is_due(p, &qn_passes[i]))
			s->pass[s->n++] = &qn_passes[i];
}

/* A comma list of names; all of them are looked at before the first pass runs. */
static qn_status
listed_sequence(qn_pipeline *p, const char *list, sequence *s)
{
	qn_status status = QN_OK;

	s->pass = QN_NEW(p->scratch, const qn_pass_row *, strlen(list));
	while (*list != '\0') {
		size_t n = strcspn(list, ",");
		const qn_pass_row *pass = qn_pass_find(list, n);

		if (pass == NULL)
			status = unknown_pass(p->m->env, p->scratch, "passes", list, n);
		else
			s->pass[s->n++] = pass;
		list += list[n] == ',' ? n + 1 : n;
	}
	return status;
}

/* Why a pass is not in the sequence. */
static const char *
absence(const qn_pipeline *p, const char *name)
{
	static const struct {
		const char *pass, *reason;
	} rows[] = {
		{"fake-quant", "the model has no const_fake_quant"},
		{"instrument", "it needs samples, and the solver (--solver on)"},
		{"transform", "the solver does not choose what is quantized (--solver on)"},
		{"simplify", "the solver does not choose what is quantized (--solver on)"},
	};

	if (p->opts->passes != NULL &&
	    (p->opts->passes[0] != '\0' || p->m->stage < QN_STAGE_CALIBRATED))
		return "it is not among the given passes";
	if (p->opts->align == 0 && strcmp(name, "align") == 0)
		return "the option align is not given";
	if (p->opts->equalize == 0 && strcmp(name, "equalize") == 0)
		return "neither the option equalize nor a recipe asks for it";
	if (strcmp(name, "inline-bodies") == 0)
		return qn_has_loop(qn_model_entry(p->m)) ? "the option inline-bodies is not given"
							 : "the model has no loops";
	if (strcmp(name, "repair") == 0 && p->opts->bias_correction == 0 &&
	    p->opts->narrow_ranges == 0 && p->opts->weight_rounding == QN_WEIGHTS_NEAREST &&
	    !p->quant.has_recipe)
		return "none of weight-rounding, bias-correction and narrow-ranges is given";
	if (strcmp(name, "repair") == 0 && qn_has_op(p->m, QN_OP_const_fake_quant))
		return "fake quantization in the model says what its ranges are";
	if (qn_pass_is_on_request(qn_pass_find(name, strlen(name))))
		return "it only runs where --passes lists it";
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (strcmp(rows[i].pass, name) == 0)
			return rows[i].reason;
	if (p->m->stage == QN_STAGE_FLOAT && qn_solver_is_due(p))
		return "the solver chooses what is quantized; with --solver off, patterns do";
	return qn_came_quantized(p->m)
		       ? "the model is quantized already; dequantize the file and recalibrate it: "
			 "--from-float --calib FILE"
		       : "the model has already passed it";
}

/* The position of a pass that an option names; without a report it would look like success. */
static qn_status
position(qn_pipeline *p, const sequence *s, const char *option, const char *name, size_t *at)
{
	if (qn_pass_find(name, strlen(name)) == NULL)
		return unknown_pass(p->m->env, p->scratch, option, name, strlen(name));
	for (*at = 0; *at < s->n; ++*at)
		if (strcmp(s->pass[*at]->name, name) == 0)
			return QN_OK;
	for (size_t i = 0; i < s->rest; i++)
		if (strcmp(s->pass[s->n + i]->name, name) == 0)
			return qn_report(
				p->m->env, QN_EUSAGE, "pass.absent", option,
				"the pass '%s' does not run here: stop-after ends the run before "
				"it; give this option when the run goes on from its result",
				name);
	return qn_report(p->m->env, QN_EUSAGE, "pass.absent", option,
			 "the pass '%s' does not run here: %s", name, absence(p, name));
}

/* The pass that has to read the recipe: storage is what quantize reads, and what it says of repairs is of use after it,
 * too. */
static const char *
reader_of_recipe(const qn_pipeline *p, const sequence *s)
{
	const qn_recipe *r = p->quant.recipe;

	if (qn_recipe_has_skip(r) && !qn_is_partitioned(p->m))
		return "partition";
	for (size_t i = 0; i < s->n; i++)
		if (s->pass[i] == &qn_passes[QN_PASS_REPAIR] && qn_recipe_repairs(r))
			return "repair";
	return "quantize";
}

/* A model that is only measured may have skipped layers. */
static bool
ends_before(const qn_pipeline *p, const qn_pass_row *pass)
{
	return p->opts->keep_skipped != 0 && pass == &qn_passes[QN_PASS_LEGALIZE] &&
	       qn_skip_left(qn_model_entry(p->m));
}

/* The solver takes ranges as they were observed, and largest weights: methods are calibrate's. */
static qn_status
check_methods(const qn_pipeline *p)
{
	const char *option = p->opts->method != NULL                       ? "method"
			     : p->opts->weight_method == QN_WEIGHTS_BY_MSE ? "weight-method"
									   : NULL;

	if (option == NULL || p->m->stage != QN_STAGE_FLOAT || p->opts->passes != NULL ||
	    !qn_solver_is_due(p))
		return QN_OK;
	return qn_report(p->m->env, QN_EUSAGE, "pass.absent", option,
			 "the solver takes smallest and largest values as ranges; methods are "
			 "those of calibrate, which does not run here: leave out --%s or --solver",
			 option);
}

static qn_status
run_sequence(qn_pipeline *p)
{
	const qn_compile_opts *o = p->opts;
	sequence s = {0};
	size_t at = 0;

	if (o->passes != NULL)
		QN_TRY(listed_sequence(p, o->passes, &s));
	else if (p->m->after != NULL && qn_pass_find(p->m->after, strlen(p->m->after)) == NULL)
		return unknown_pass(p->m->env, p->scratch, "after", p->m->after,
				    strlen(p->m->after));
	else
		default_sequence(p, &s);
	if (o->print_after != NULL && strcmp(o->print_after, "all") != 0)
		QN_TRY(position(p, &s, "print-ir-after", o->print_after, &at));
	if (o->align != 0)
		QN_TRY(position(p, &s, "align", "align", &at));
	if (o->activations == QN_ACTIVATIONS_AUTO)
		QN_TRY(position(p, &s, "activations", "quantize", &at));
	if (o->stop_after != NULL) {
		QN_TRY(position(p, &s, "stop-after", o->stop_after, &at));
		s.rest = s.n - (at + 1);
		s.n = at + 1;
	}
	if (o->skip != NULL || o->skip_fn != NULL)
		QN_TRY(position(p, &s, "skip", "partition", &at));
	if (p->quant.recipe != NULL) /* quantize refuses rules that partition should have known */
		QN_TRY(position(p, &s, p->quant.has_recipe ? "recipe" : "dynamic",
				reader_of_recipe(p, &s), &at));
	if (o->weight_rounding != QN_WEIGHTS_NEAREST)
		QN_TRY(position(p, &s, "weight-rounding", "repair", &at));
	if (o->inline_bodies != 0 && qn_has_loop(qn_model_entry(p->m)))
		QN_TRY(position(p, &s, "inline-bodies", "inline-bodies", &at));
	QN_TRY(check_methods(p));
	if (o->equalize != 0)
		QN_TRY(position(p, &s, "equalize", "equalize", &at));
	if (o->bias_correction != 0)
		QN_TRY(position(p, &s, "bias-correction", "repair", &at));
	if (o->narrow_ranges != 0)
		QN_TRY(position(p, &s, "narrow-ranges", "repair", &at));
	if (o->require_int != 0)
		QN_TRY(position(p, &s, "require-int", "requantize", &at));
	for (size_t i = 0; i < s.n; i++)
		if (qn_pass_calibrates(s.pass[i]) && o->ncalib > 0 && p->crc == NULL)
			QN_TRY(qn_calibration_lint(p->m, o, p->scratch, &p->crc));
	if (o->ncalib > 0 && p->m->stage == QN_STAGE_INTEGER && qn_came_quantized(p->m))
		qn_warn_of_unused(p->m);
	for (size_t i = 0; i < s.n && !ends_before(p, s.pass[i]); i++) {
		QN_TRY(qn_progress(p->m->env, "passes", i, s.n));
		QN_TRY(run_pass(p, s.pass[i]));
	}
	return qn_progress(p->m->env, "passes", s.n, s.n);
}

typedef struct compile_call {
	qn_model *m;
	const qn_compile_opts *opts;
} compile_call;

static qn_status
run_passes(void *arg, qn_arena *scratch)
{
	(void)scratch;
	return run_sequence(arg);
}

static qn_status
compile(void *arg, qn_arena *scratch)
{
	compile_call *c = arg;
	qn_pipeline p = {.m = c->m, .opts = c->opts, .scratch = scratch};

	QN_TRY(qn_compile_opts_check(c->m, c->opts));
	QN_TRY(qn_quant_opts_of(c->m, c->opts, scratch, &p.quant));
	return qn_undoable(c->m, scratch, run_passes, &p);
}

qn_status
qn_compile(qn_model *m, const qn_compile_opts *opts)
{
	qn_compile_opts known;
	compile_call c = {m, &known};

	QN_TRY(QN_GIVEN(qn_model_ctx(m), m));
	QN_TRY(QN_TAKE(m->env, qn_compile_opts, opts, &known));
	m->env->trace = known.trace_rules;
	m->env->trace_user = known.trace_user;
	qn_status status = qn_guard_model(m, compile, &c);
	m->env->trace = NULL;
	return status;
}
