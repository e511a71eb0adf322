/* SPDX-License-Identifier: Apache-2.0 */
/* emit.c - the driver: a plan becomes up to eight texts.
 *
 *   NAME.h           what a firmware includes: sizes, parameters, NAME_run
 *   NAME.c           kernel pieces, argument structs, NAME_run
 *   NAME_weights.c   constants
 *   NAME_io.h        float values in and out
 *   NAME_selftest.c  samples with their results (when there are some)
 *   NAME_proof.c     a main for a static analyser (on request)
 *   NAME_device.c    a loop that takes samples and sends outputs (on request)
 *   NAME_sample.h    the next token by the logits of a language model
 *
 * The steps are printed first: only then is known which constants and kernels they mention. */
#include "codegen/emitter.h"

#include <string.h>

#include "codegen/schedule.h"
#include "ir/diag.h"
#include "runtime/impls.h"

void
qn_emitter_init(qn_emitter *e, const qn_plan *p, qn_arena *a)
{
	*e = (qn_emitter){.plan = p, .g = p->g, .arena = a};
	e->macro = qn_ident_upper(a, p->name);
	e->step_of = qn_step_of(p->g, p->step, p->nstep, a);
	e->loops = qn_loops_find(p->g, a);
	qn_plan_traces(p, a, &e->traces);
	qn_names_init_as(&e->names, a, QN_NAME_SYMBOL, p->name);
	qn_emit_names(e);
	qn_hashes_init(&e->by_crc, a);
	qn_hashes_init(&e->by_text, a);
	e->rom = (p->target->features & QN_TARGET_ROM) != 0;
	qn_pieces_init(&e->pieces, a, e->rom);
	qn_map_init(&e->fields, a);
	qn_buf_init(&e->args, a);
	qn_buf_init(&e->run, a);
	qn_buf_init(&e->repeats, a);
	qn_buf_init(&e->reset, a);
	qn_buf_init(&e->host, a);
	qn_map_init(&e->host_ops, a);
}

static void
add_crc(void *user, const char *text, size_t n)
{
	uint32_t *crc = user;

	*crc = qn_crc32(*crc, text, n);
}

/* CRC-32 of what is emitted: header and program as they are without it, and the constants. The
 * options, which only a comment names, and the self-test have no part in it: with other samples the
 * program is the same. */
static uint32_t
content_of(qn_emitter *e)
{
	qn_arena *tmp = qn_arena_child(e->arena);
	uint32_t crc = 0;
	qn_buf b;

	qn_buf_to(&b, tmp, add_crc, &crc);
	qn_emit_header(e, &(qn_emit_style){0}, false, &b);
	qn_emit_source(e, &b);
	for (size_t i = 0; i < e->nconstant; i++) {
		const qn_constant *c = &e->constant[i];

		qn_buf_flush(&b);
		qn_buff(&b, "%s %s %zu %08x\n", c->name, qn_ctype(c->type), c->count,
			(unsigned)c->crc);
	}
	qn_buf_end(&b);
	qn_arena_release(tmp);
	return crc;
}

void
qn_emit_layers(qn_buf *b, const qn_graph *g, const qn_step *s, const char *name)
{
	qn_layers layers;

	qn_step_layers(g, s, name, &layers);
	for (uint32_t i = 0; i < layers.n; i++) {
		qn_buf_puts(b, i > 0 ? ", " : " (");
		qn_emit_comment(b, layers.name[i]);
	}
	qn_buf_puts(b, layers.n > 0 ? ")" : "");
}

/* The comment above a step's statements: name, layers of the source's file, ops, shape of the
 * result. */
static void
title(qn_emitter *e, const qn_step *s)
{
	const qn_node *n = qn_graph_node(e->g, s->node), *core = qn_graph_node(e->g, s->core);

	qn_buf_puts(&e->run, "\n\t/* ");
	qn_emit_comment(&e->run, core->name);
	qn_emit_layers(&e->run, e->g, s, core->name);
	qn_buff(&e->run, ": %s", qn_opinfo_of(core)->name);
	for (uint32_t i = 0; i < s->nepilogue; i++)
		qn_buff(&e->run, " + %s",
			qn_opinfo_of(qn_graph_node(e->g, s->epilogue[i].node))->name);
	qn_buff(&e->run, " -> %s ", qn_plain_table[qn_stored_plain(n->type)].name);
	qn_emit_shape(&e->run, n->type);
	if (s->alias != 0) {
		qn_buf_puts(&e->run, ", the bytes of ");
		qn_emit_comment(&e->run, qn_graph_node(e->g, s->alias)->name);
	}
	qn_buf_puts(&e->run, " */\n");
}

static void
put_call(qn_emitter *e, const qn_step *s)
{
	if (s->alias != 0)
		return;
	if (s->strip != NULL)
		qn_emit_strips(e, s);
	else if (s->kernel->emit != NULL)
		s->kernel->emit(e, s, s->args);
	else
		qn_emit_kernel(e, s, s->kernel, s->args);
}

void
qn_emit_step(qn_emitter *e, size_t i)
{
	const qn_step *s = &e->plan->step[i];
	const size_t from = e->run.n;

	title(e, s);
	qn_emit_loads_begin(e, s);
	put_call(e, s);
	qn_emit_trace_op(e, i);
	qn_emit_traced(e, i);
	qn_emit_loads_end(e);
	qn_emit_indented(e, from, s);
	qn_emit_loop_ends(e, i);
}

void
qn_emit_steps(qn_emitter *e)
{
	size_t *at = QN_NEW(e->arena, size_t, e->plan->nstep + 1);

	for (size_t i = 0; i < e->plan->nstep; i++) {
		qn_emit_step(e, i);
		at[i + 1] = e->run.n;
	}
	/* in program memory their tables would have to lie there, too */
	if (!e->rom && e->plan->optimize != QN_OPTIMIZE_SPEED)
		qn_emit_repeats(e, at);
	qn_emit_output_copies(e);
	qn_emit_reset(e);
}

struct qn_emission {
	qn_emitter e;
	const qn_emit_style *opts;
	const qn_selftest *test;
};

qn_status
qn_emission_make(const qn_plan *p, const qn_emit_style *opts, const qn_selftest *test, qn_arena *a,
		 qn_emission **out)
{
	qn_emission *e = *out = QN_NEW(a, qn_emission, 1);

	e->opts = opts;
	e->test = test != NULL && test->nsample > 0 ? test : NULL;
	qn_emitter_init(&e->e, p, a);
	e->e.shares = opts->shared_kernels;
	qn_emit_steps(&e->e);
	e->e.words =
		opts->constants == QN_CONSTANTS_WORDS ||
		(opts->constants == QN_CONSTANTS_AUTO && e->e.constant_bytes >= QN_CONSTANTS_LARGE);
	e->e.content = content_of(&e->e);
	return QN_OK;
}

static void
print_header(qn_emission *e, qn_buf *b)
{
	qn_emit_header(&e->e, e->opts, e->test != NULL, b);
}

static void
print_source(qn_emission *e, qn_buf *b)
{
	qn_emit_source(&e->e, b);
}

static void
print_weights(qn_emission *e, qn_buf *b)
{
	qn_emit_weights(&e->e, b);
}

static void
print_io(qn_emission *e, qn_buf *b)
{
	qn_emit_io(&e->e, b);
}

static void
print_selftest(qn_emission *e, qn_buf *b)
{
	qn_emit_selftest(&e->e, e->test, b);
}

static void
print_proof(qn_emission *e, qn_buf *b)
{
	qn_emit_proof(&e->e, b);
}

static void
print_device(qn_emission *e, qn_buf *b)
{
	qn_emit_device(&e->e, b);
}

static void
print_sample(qn_emission *e, qn_buf *b)
{
	qn_emit_sample(&e->e, b);
}

static bool
has_sample(const qn_emission *e)
{
	return qn_emitted_samples(&e->e);
}

static bool
has_selftest(const qn_emission *e)
{
	return e->test != NULL;
}

static bool
has_proof(const qn_emission *e)
{
	return e->opts->proof;
}

static bool
has_device(const qn_emission *e)
{
	return e->opts->device;
}

static const struct {
	const char *suffix;
	void (*print)(qn_emission *e, qn_buf *b);
	bool (*wanted)(const qn_emission *e); /* NULL: always */
} files[QN_EMITTED_FILES] = {
	{".h", print_header, NULL},
	{".c", print_source, NULL},
	{"_weights.c", print_weights, NULL},
	{"_io.h", print_io, NULL},
	{"_selftest.c", print_selftest, has_selftest},
	{"_proof.c", print_proof, has_proof},
	{"_device.c", print_device, has_device},
	{"_sample.h", print_sample, has_sample},
};

uint32_t
qn_emission_content(const qn_emission *e)
{
	return e->e.content;
}

const char *
qn_emitted_suffix(int i)
{
	return files[i].suffix;
}

const char *
qn_emission_suffix(const qn_emission *e, int i)
{
	return files[i].wanted != NULL && !files[i].wanted(e) ? NULL : files[i].suffix;
}

void
qn_emission_print(qn_emission *e, int i, qn_buf *b)
{
	files[i].print(e, b);
}

qn_status
qn_emit_c(const qn_plan *p, const qn_emit_style *opts, const qn_selftest *test, qn_arena *a,
	  qn_emitted out[QN_EMITTED_FILES])
{
	qn_emission *e;

	QN_TRY(qn_emission_make(p, opts, test, a, &e));
	for (int i = 0; i < QN_EMITTED_FILES; i++) {
		qn_buf b;

		out[i] = (qn_emitted){.suffix = files[i].suffix};
		if (qn_emission_suffix(e, i) == NULL)
			continue;
		qn_buf_init(&b, a);
		qn_emission_print(e, i, &b);
		out[i].text = qn_buf_str(&b);
		out[i].n = b.n;
	}
	return QN_OK;
}
