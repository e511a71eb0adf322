/* SPDX-License-Identifier: Apache-2.0 */
/* emit.c - integer model -> files in a folder or in the hands of the host: the C texts and
 * the report. */
#include "codegen/emit.h"

#include <stdio.h>
#include <string.h>

#include "calibrate/calibrate.h"
#include "codegen/estimate.h"
#include "codegen/ident.h"
#include "driver/emit_impl.h"
#include "driver/host_struct.h"
#include "driver/report.h"
#include "driver/summary.h"
#include "formats/file.h"
#include "formats/json_graph.h"
#include "ir/nearest.h"

enum { EMIT_STEPS = 3 }; /* plan, C text, files: of the progress */

static const char *
file_name(qn_arena *a, const char *folder, const char *name, const char *suffix)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, "%s%s", name, suffix);
	return qn_path_join(a, folder, qn_buf_str(&b));
}

/* What the states take, which no choice of kernels changes. */
static size_t
state_bytes(const qn_model *m)
{
	return (size_t)qn_model_describe(m).state_bytes;
}

/* The budget of the arena alone; 0: none. */
static size_t
arena_budget(const qn_emit_call *c)
{
	const size_t most = c->opts->max_arena_bytes, ram = c->opts->max_ram_bytes;
	const size_t states = state_bytes(c->m), rest = ram > states ? ram - states : 1;

	if (ram == 0)
		return most;
	return most > 0 && most < rest ? most : rest;
}

static qn_status
check_budget(qn_env *env, const qn_plan *p, const char *id, const char *what, size_t have,
	     size_t most, const char *hint)
{
	static const char *const way[QN_NOPTIMIZE] = {
		[QN_OPTIMIZE_BALANCED] = ", with the kernels that need the least",
		[QN_OPTIMIZE_SPEED] = ": optimize 'balanced' meets it where it can",
		[QN_OPTIMIZE_SIZE] = ", with the smallest kernels",
	};

	if (most == 0 || have <= most)
		return QN_OK;
	return qn_report(env, QN_EBUDGET, id, p->name,
			 "the model needs %zu bytes of %s, %zu more than the budget of %zu%s%s",
			 have, what, have - most, most, way[p->optimize], hint);
}

static qn_status
check_ram(const qn_emit_call *c, const qn_plan *p)
{
	const size_t states = state_bytes(c->m);
	char what[96];

	(void)snprintf(what, sizeof what, "RAM (activation arena %zu, states %zu)",
		       p->scratch_bytes, states);
	return check_budget(c->m->env, p, "budget.ram", what, p->scratch_bytes + states,
			    c->opts->max_ram_bytes,
			    qn_graph_reads_tokens(p->g) && states > 0
				    ? "; a language model that remembers fewer tokens (--context) "
				      "has smaller states"
				    : "");
}

/* Sizes for the caller, against the caller's budgets. */
static qn_status
measure(qn_emit_call *c, const qn_plan *p)
{
	const qn_emit_opts *o = c->opts;

	c->info = (qn_emit_info){.name = qn_arena_str(c->m->arena, p->name),
				 .scratch_bytes = p->scratch_bytes,
				 .scratch_lower_bound = p->lower_bound,
				 .weight_bytes = p->weight_bytes,
				 .steps = p->nstep,
				 .instructions = qn_plan_instructions(p),
				 .instructions_of = qn_plan_measured_on(p)};
	const char *arena_hint = p->target == qn_target_at(0)
					 ? "; a processor's kernels (--target) may need less"
					 : "";
	qn_status scratch = check_budget(c->m->env, p, "budget.arena", "activation arena",
					 p->scratch_bytes, o->max_arena_bytes, arena_hint);
	qn_status weights = check_budget(
		c->m->env, p, "budget.weights", "constants", p->weight_bytes, o->max_weight_bytes,
		"; quern tune finds the layers that can do with weights of "
		"4 or 2 bits");

	const qn_status ram = check_ram(c, p);

	return scratch != QN_OK ? scratch : weights != QN_OK ? weights : ram;
}

/* Which kernel each step has and why, for the caller. */
static qn_status
explain(const qn_emit_call *c, const qn_plan *p, qn_arena *a)
{
	qn_buf b;

	if (c->opts->explain == NULL)
		return QN_OK;
	qn_buf_init(&b, a);
	qn_plan_explain(p, &b);
	if (c->opts->explain(c->opts->explain_user, qn_buf_str(&b), b.n) != 0)
		return qn_report(c->m->env, QN_EIO, "emit.write", "",
				 "the explanation could not be written");
	return QN_OK;
}

/* One of the emitted texts. */
typedef struct text {
	qn_emission *e;
	int i;
} text;

static void
print_text(void *user, qn_buf *b)
{
	const text *t = user;

	qn_emission_print(t->e, t->i, b);
}

/* The model in text form. */
static void
print_model(void *user, qn_buf *b)
{
	const qn_emit_call *c = user;

	qn_model_print(b, c->m);
}

typedef struct report_call {
	const qn_model *m;
	const qn_plan *plan;
	const qn_emit_style *opts;
} report_call;

static void
print_report(void *user, qn_buf *b)
{
	const report_call *r = user;

	qn_report_print(b, r->m, r->plan, r->opts);
}

/* One file on its way to the host. */
typedef struct handing {
	const qn_emit_call *c;
	const char *name;
	bool stopped;
} handing;

static void
hand_piece(void *user, const char *piece, size_t n)
{
	handing *h = user;

	if (n > 0 && !h->stopped)
		h->stopped = h->c->fn(h->c->user, h->name, piece, n) != 0;
}

static qn_status
hand_over(const qn_emit_call *c, size_t n, const qn_file_out *files, qn_arena *a)
{
	if (c->fn == NULL)
		return qn_files_write(c->m->env, c->folder, n, files);
	for (size_t i = 0; i < n; i++) {
		qn_arena *tmp = qn_arena_child(a);
		handing h = {.c = c, .name = files[i].path};
		qn_buf b;

		qn_buf_to(&b, tmp, hand_piece, &h);
		files[i].print(files[i].user, &b);
		qn_buf_end(&b);
		qn_arena_release(tmp);
		if (h.stopped)
			return qn_report(
				c->m->env, QN_EIO, "emit.write", h.name,
				"the callback of the host program did not accept the file");
	}
	return QN_OK;
}

/* Whether a name is the wanted one, with _ for -. */
static bool
is_spelled(const char *name, const char *wanted)
{
	for (; *name != '\0' && (*name == *wanted || (*name == '_' && *wanted == '-')); name++)
		wanted++;
	return *name == '\0' && *wanted == '\0';
}

/* A name that only differs in punctuation ("my-net", my_net) needs no warning; one that could not be
 * preserved does, and so does a chosen one that differs in more than that. */
static void
warn_of_name(qn_env *env, const char *name, const char *wanted, bool given, qn_arena *a)
{
	if (strcmp(qn_ident_clean(a, wanted), name) != 0)
		qn_warn(env, "emit.name", wanted,
			"files and symbols are named '%s': the model's name is too long, or "
			"reserved in C, in a header or by other files; choose one with --name",
			name);
	else if (given && !is_spelled(name, wanted))
		qn_warn(env, "emit.name", wanted,
			"files and symbols are named '%s': a name consists of letters, digits and "
			"single underscores between them, and begins with a letter",
			name);
}

/* Kernels made for a target round twice or, where that gives the same as the model's rounding, once. */
static void
warn_of_rounding(qn_env *env, const qn_plan *p)
{
	const qn_model *m = p->g->model;
	const size_t n = qn_plan_has_ties(p);

	if (n > 0)
		qn_warn(env, "emit.rounding", m->name,
			"plain kernels compute %zu of the layers, several times slower than those "
			"made for %s: they have sums that are ties, as scales that are powers of 2 "
			"give them, and this model's rounding is '%s'. With 'double' or 'single' "
			"(--rounding single) it gets them, and results of ties differ by one step",
			n, p->target->name, qn_rounding_names[m->rounding]);
}

static qn_status
find_constants(const qn_emit_call *c, qn_constants *out)
{
	static const char *const name[] = {"auto", "numbers", "words"};
	const char *wanted = c->opts->constants;

	for (size_t i = 0; i < QN_COUNT(name); i++) {
		if (wanted != NULL && strcmp(name[i], wanted) != 0)
			continue;
		*out = (qn_constants)i;
		return QN_OK;
	}
	const char *best = qn_nearest_name(wanted, QN_COUNT(name), name);
	return qn_report(
		c->m->env, QN_EUSAGE, "emit.constants", c->m->name,
		"invalid value '%s' of constants (expected auto, numbers or words)" QN_DID_YOU_MEAN,
		wanted, QN_SUGGEST(best));
}

/* The plan, within the budgets. */
qn_status
qn_emit_plan(qn_emit_call *c, qn_arena *a, qn_plan **out)
{
	qn_plan_opts how = {.max_arena = arena_budget(c), .max_weights = c->opts->max_weight_bytes};
	const char *name = c->opts->name != NULL ? c->opts->name : c->m->name;

	QN_TRY(qn_progress(c->m->env, "emit", 0, EMIT_STEPS));
	if (c->m->stage != QN_STAGE_INTEGER)
		return qn_report(
			c->m->env, QN_EINVALID, "emit.stage", c->m->name,
			"only an integer model can be emitted; this one is %s: compile it first",
			qn_stage_text(c->m));
	how.target = qn_target_find(c->m->env, c->opts->target);
	if (how.target == NULL)
		return QN_EUSAGE;
	QN_TRY(qn_optimize_find(c->m->env, c->opts->optimize, &how.optimize));
	QN_TRY(qn_plan_make(qn_model_entry(c->m), name, &how, a, out));
	QN_TRY(qn_emit_check_custom(*out));
	warn_of_name(c->m->env, (*out)->name, name, c->opts->name != NULL, a);
	warn_of_rounding(c->m->env, *out);
	QN_TRY(explain(c, *out, a));
	QN_TRY(measure(c, *out));
	return qn_progress(c->m->env, "emit", 1, EMIT_STEPS);
}

/* The ends of the names of the files that are written: ".h, .c, …". */
static const char *
endings(const qn_emit_call *c, const char *name, size_t n, const qn_file_out *file, qn_arena *tmp)
{
	const size_t prefix = strlen(file_name(tmp, c->folder, name, ""));
	qn_buf b;

	qn_buf_init(&b, c->m->arena);
	for (size_t i = 0; i < n; i++)
		if (!file[i].remove)
			qn_buff(&b, "%s%s", b.n > 0 ? ", " : "", file[i].path + prefix);
	return qn_buf_str(&b);
}

static qn_status
emit(void *arg, qn_arena *a)
{
	qn_emit_call *c = arg;
	qn_plan *plan;
	qn_selftest test;
	qn_emission *emission;
	text texts[QN_EMITTED_FILES];
	qn_file_out files[QN_EMITTED_FILES + 2];
	size_t n = 0;

	QN_TRY(qn_emit_plan(c, a, &plan));
	const bool tests = c->opts->no_self_test == 0 &&
			   (c->opts->ntest > 0 || c->opts->drawn_test != 0 ||
			    (c->opts->test != NULL && qn_graph_fed(plan->g) == 0));
	if (tests)
		QN_TRY(qn_emit_make_selftest(c, plan, a, &test));
	qn_emit_style opts = {.options_text = c->m->options,
			      .content_hash = qn_model_hash(c->m, a),
			      .proof = c->opts->proof != 0,
			      .device = c->opts->validation != 0,
			      .shared_kernels = c->opts->shared_kernels != 0};
	QN_TRY(qn_emit_find_prep(c, plan->g, a, &opts.prep));
	QN_TRY(find_constants(c, &opts.constants));
	QN_TRY(qn_emission_make(plan, &opts, tests ? &test : NULL, a, &emission));
	QN_TRY(qn_progress(c->m->env, "emit", 2, EMIT_STEPS));
	for (int i = 0; i < QN_EMITTED_FILES; i++) {
		const char *suffix = qn_emission_suffix(emission, i);

		texts[i] = (text){emission, i};
		if (suffix != NULL)
			files[n++] =
				(qn_file_out){.path = file_name(a, c->folder, plan->name, suffix),
					      .print = print_text,
					      .user = &texts[i]};
		else if (c->fn ==
			 NULL) /* that of a compilation before would not build with these */
			files[n++] = (qn_file_out){
				.path = file_name(a, c->folder, plan->name, qn_emitted_suffix(i)),
				.remove = true};
	}
	opts.program_hash = qn_emission_content(emission);
	if (opts.device || c->fn == NULL)
		files[n++] =
			(qn_file_out){.path = file_name(a, c->folder, plan->name, QN_EMITTED_MODEL),
				      .print = opts.device ? print_model : NULL,
				      .user = c,
				      .remove = !opts.device};
	report_call report = {c->m, plan, &opts};
	files[n++] = (qn_file_out){.path = file_name(a, c->folder, plan->name, ".report.json"),
				   .print = print_report,
				   .user = &report};
	c->info.files = endings(c, plan->name, n, files, a);
	return hand_over(c, n, files, a);
}

qn_status
qn_emit_guard(qn_emit_call *c, qn_guarded_fn *fn, const qn_emit_opts *opts, qn_emit_info *info)
{
	qn_status status = QN_TAKE(c->m->env, qn_emit_opts, opts, &c->known);

	c->opts = &c->known;
	if (status == QN_OK)
		status = qn_guard_model(c->m, fn, c);
	if (info != NULL)
		*info = c->info;
	return status;
}

qn_status
qn_emit(qn_model *m, const char *folder, const qn_emit_opts *opts, qn_emit_info *info)
{
	QN_TRY(QN_GIVEN(qn_model_ctx(m), folder));
	return qn_emit_guard(&(qn_emit_call){.m = m, .folder = folder}, emit, opts, info);
}

qn_status
qn_emit_to(qn_model *m, const qn_emit_opts *opts, qn_file_fn *fn, void *user, qn_emit_info *info)
{
	QN_TRY(QN_GIVEN(qn_model_ctx(m), fn));
	return qn_emit_guard(&(qn_emit_call){.m = m, .folder = "", .fn = fn, .user = user}, emit,
			     opts, info);
}

const char *
qn_target_name(size_t i)
{
	return qn_target_at(i) != NULL ? qn_target_at(i)->name : NULL;
}

const char *
qn_target_help(size_t i)
{
	return qn_target_at(i) != NULL ? qn_target_at(i)->help : NULL;
}
