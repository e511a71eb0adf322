/* SPDX-License-Identifier: Apache-2.0 */
/* emit_source.c - NAME.c: the kernels that the steps call, their arguments, and NAME_run. */
#include "codegen/emitter.h"

static void
put_kernels(qn_emitter *e, qn_buf *b)
{
	qn_pieces *p = &e->pieces;
	size_t i;

	qn_pieces_need(p, qn_buf_str(&e->args), e->args.n);
	qn_pieces_need(p, qn_buf_str(&e->run), e->run.n);
	qn_pieces_need(p, qn_buf_str(&e->host), e->host.n);
	for (i = 0; i < p->n; i++)
		if (p->item[i].needed)
			qn_buf_pass(b, p->item[i].text, p->item[i].n);
	qn_buf_pass(b, qn_buf_str(&e->host), e->host.n);
}

/* All multipliers of a program round in one way. */
static void
put_rounding(const qn_emitter *e, qn_buf *b)
{
	qn_buff(b, "#define QN_ROUNDING %d\n\n", e->g->model->rounding);
}

/* Refuses to compile for a core that lacks what the kernels use. */
static void
put_target(const qn_emitter *e, qn_buf *b)
{
	const qn_target *t = e->plan->target;

	if (t->macro != NULL)
		qn_buff(b,
			"#if !defined(%s) && !defined(QN_PORTABLE)\n"
			"#error \"written for %s: compile for such a core, or define QN_PORTABLE "
			"to run it anywhere\"\n"
			"#endif\n\n",
			t->macro, t->name);
}

static void
put_trace(qn_emitter *e, qn_buf *b)
{
	qn_buff(b,
		"#if defined(%s_TRACE)\n"
		"#define %s_TRACED(step, data, bytes) %s_trace(step, data, bytes)\n"
		"#else\n"
		"#define %s_TRACED(step, data, bytes) ((void)0)\n"
		"#endif\n\n",
		e->macro, e->macro, e->plan->name, e->macro);
}

/* Without constants there is no symbol that the self-test shares with the program; a byte stands in. */
static void
put_set(qn_emitter *e, qn_buf *b)
{
	qn_buf_puts(b, "/* Objects of different compilations do not link. */\n"
		       "#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
	qn_buff(b, "extern const unsigned char %s_set_%08x;\n", e->plan->name,
		(unsigned)e->content);
	qn_buff(b, "const unsigned char %s_set_%08x = 0;\n", e->plan->name, (unsigned)e->content);
	qn_buf_puts(b, "#ifdef __cplusplus\n}\n#endif\n\n");
}

static void
put_externs(qn_emitter *e, qn_buf *b)
{
	size_t i;

	if (e->nconstant == 0) {
		put_set(e, b);
		return;
	}
	qn_emit_content_symbol(e, b);
	qn_buff(b,
		"/* Constants, in %s_weights.c; define %s_WEIGHTS_ATTR to place them in a section. "
		"*/\n"
		"#ifndef %s_WEIGHTS_ATTR\n"
		"#define %s_WEIGHTS_ATTR\n"
		"#endif\n"
		"#ifdef __cplusplus\nextern \"C\" {\n#endif\n",
		e->plan->name, e->macro, e->macro, e->macro);
	for (i = 0; i < e->nconstant; i++) {
		qn_buf_flush(b);
		qn_buff(b, "extern %s_WEIGHTS_ATTR const %s %s[%zu];\n", e->macro,
			qn_ctype(e->constant[i].type), e->constant[i].name, e->constant[i].count);
	}
	qn_buf_puts(b, "#ifdef __cplusplus\n}\n#endif\n\n");
}

/* Types of negative size, which do not compile, if the scratch memory is too small. */
static void
put_checks(qn_emitter *e, qn_buf *b)
{
	const qn_plan *p = e->plan;
	size_t i;

	for (i = 0; i < p->nstep; i++) {
		const qn_step *s = &p->step[i];

		if (s->work > 0)
			qn_buff(b,
				"typedef char %s_work_fits_%s[%zu + %zu <= %s_SCRATCH_BYTES ? 1 : "
				"-1];\n",
				p->name, s->name, s->work_offset, s->work, e->macro);
		if (s->alias != 0 || s->in_output)
			continue;
		qn_buf_flush(b);
		qn_buff(b,
			"typedef char %s_scratch_fits_%s[%zu + %zu <= %s_SCRATCH_BYTES ? 1 : "
			"-1];\n",
			p->name, s->name, s->offset, s->bytes, e->macro);
	}
}

void
qn_emit_source(qn_emitter *e, qn_buf *b)
{
	const char *name = e->plan->name;

	qn_emit_notice(e, ".c", "the program", b);
	qn_buff(b, " */\n#include \"%s.h\"\n\n#include <string.h>\n\n", name);
	qn_buf_puts(b, "/* gcc at -O3 unrolls loops over a few channels and then sees stores into "
		       "\"a region of size 0\"\n"
		       " * in branches that are never reached. */\n"
		       "#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 7\n"
		       "#pragma GCC diagnostic ignored \"-Wstringop-overflow\"\n"
		       "#pragma GCC diagnostic ignored \"-Warray-bounds\"\n"
		       "#endif\n\n");
	qn_emit_content_check(e, ".c", b);
	put_trace(e, b);
	put_target(e, b);
	put_rounding(e, b);
	put_kernels(e, b);
	put_externs(e, b);
	qn_buf_pass(b, qn_buf_str(&e->args), e->args.n);
	put_checks(e, b);
	qn_buff(b, "\nvoid\n%s_run(void *scratch, const %s_inputs *in, %s_outputs *out)\n{\n", name,
		name, name);
	if (e->uses_scratch)
		qn_buf_puts(b, "\tint8_t *const s = (int8_t *)scratch;\n");
	qn_emit_windows(e, b);
	if (!e->uses_scratch)
		qn_buf_puts(b, "\n\t(void)scratch;\n");
	if (!e->uses_in)
		qn_buf_puts(b, "\n\t(void)in;\n");
	if (e->g->noutput == 0)
		qn_buf_puts(b, "\n\t(void)out;\n");
	qn_buf_pass(b, qn_buf_str(&e->run), e->run.n);
	qn_buf_puts(b, "}\n");
}
