/* SPDX-License-Identifier: Apache-2.0 */
/* emit_source.c - NAME.c: the kernels that the steps call, their arguments, and NAME_run. */
#include "codegen/emitter.h"

static void
need_kernels(qn_emitter *e)
{
	qn_pieces *p = &e->pieces;

	qn_pieces_need(p, qn_buf_str(&e->args), e->args.n);
	qn_pieces_need(p, qn_buf_str(&e->run), e->run.n);
	qn_pieces_need(p, qn_buf_str(&e->repeats), e->repeats.n);
	qn_pieces_need(p, qn_buf_str(&e->reset), e->reset.n);
	qn_pieces_need(p, qn_buf_str(&e->host), e->host.n);
}

static bool
mentions(qn_emitter *e, const char *prefix)
{
	for (size_t i = 0; i < e->pieces.n; i++) {
		const qn_piece *p = &e->pieces.item[i];

		if (p->needed && qn_text_mentions(p->text, p->n, prefix))
			return true;
	}
	return qn_text_mentions(qn_buf_str(&e->run), e->run.n, prefix) ||
	       qn_text_mentions(qn_buf_str(&e->repeats), e->repeats.n, prefix) ||
	       qn_text_mentions(qn_buf_str(&e->reset), e->reset.n, prefix);
}

/* What a host's function uses is not known; it may count on string.h, which has no offsetof. */
static void
put_includes(qn_emitter *e, qn_buf *b)
{
	const bool text = e->host.n > 0 || mentions(e, "mem"), offsets = mentions(e, "offsetof");
	const bool null =
		mentions(e, "NULL") || qn_text_mentions(qn_buf_str(&e->args), e->args.n, "NULL");

	if (offsets || (null && !text))
		qn_buf_puts(b, "#include <stddef.h>\n");
	if (text)
		qn_buf_puts(b, "#include <string.h>\n");
	qn_buf_puts(b, text || offsets || null ? "\n" : "");
}

/* Where networks share a C file, the first one has the text. */
static void
put_piece(const qn_emitter *e, const qn_piece *p, qn_buf *b)
{
	if (e->shares)
		qn_buff(b, "#ifndef %s_is_here\n#define %s_is_here\n", p->name, p->name);
	qn_buf_pass(b, p->text, p->n);
	if (e->shares)
		qn_buf_puts(b, "#endif\n\n");
}

static void
put_kernels(qn_emitter *e, qn_buf *b)
{
	const qn_pieces *p = &e->pieces;

	for (size_t i = 0; i < p->n; i++)
		if (p->item[i].needed)
			put_piece(e, &p->item[i], b);
	qn_buf_pass(b, qn_buf_str(&e->host), e->host.n);
}

/* CRC-32 of all kernels' texts: networks of two versions of them do not share a C file. */
static uint32_t
kernels_crc(const qn_emitter *e)
{
	uint32_t crc = 0;

	for (size_t i = 0; i < e->pieces.n; i++)
		crc = qn_crc32(crc, e->pieces.item[i].text, e->pieces.item[i].n);
	return crc;
}

/* All multipliers of a program round in one way, and of programs that share their kernels. */
static void
put_rounding(const qn_emitter *e, qn_buf *b)
{
	if (e->shares) {
		const unsigned crc = kernels_crc(e);

		qn_buff(b,
			"#if defined(QN_KERNELS) && QN_KERNELS != 0x%08xu\n"
			"#error \"the networks in this file are of two versions of Quern; compile "
			"them "
			"with one\"\n"
			"#elif defined(QN_ROUNDING) && QN_ROUNDING != %d\n"
			"#error \"the networks in this file round in two ways: compile them with "
			"the same "
			"--rounding, or to two objects\"\n"
			"#endif\n"
			"#undef QN_KERNELS\n"
			"#define QN_KERNELS 0x%08xu\n"
			"#undef QN_ROUNDING\n",
			crc, e->g->model->rounding, crc);
	}
	qn_buff(b, "#define QN_ROUNDING %d\n\n", e->g->model->rounding);
}

/* Refuses to compile for a core that lacks what the kernels use. */
static void
put_target(const qn_emitter *e, qn_buf *b)
{
	const qn_target *t = e->plan->target;

	if (t->lacks != NULL)
		qn_buff(b,
			"#if %s && !defined(QN_PORTABLE)\n"
			"#error \"written for %s: compile for such a core%s%s%s, or define "
			"QN_PORTABLE to run it anywhere\"\n"
			"#endif\n"
			"#if defined(__clang__) /* a processor's instructions do without what "
			"the portable definitions use */\n"
			"#pragma clang diagnostic ignored \"-Wunused-function\"\n"
			"#endif\n\n",
			t->lacks, t->name, t->flags != NULL ? " (" : "",
			t->flags != NULL ? t->flags : "", t->flags != NULL ? ")" : "");
}

/* Without constants the self-test and the program share no symbol; a byte is used instead. */
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
		const qn_constant *c = &e->constant[i];

		qn_buff(b, "extern %s_WEIGHTS_ATTR const %s%s %s[%zu];\n", e->macro, qn_emit_rom(e),
			qn_emit_declared_type(e, c), c->name, qn_emit_declared_count(e, c));
	}
	qn_buf_puts(b, "#ifdef __cplusplus\n}\n#endif\n\n");
	qn_emit_word_names(e, b);
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
	need_kernels(e);
	qn_buff(b, " */\n#include \"%s.h\"\n\n", name);
	put_includes(e, b);
	qn_buf_puts(b, "/* gcc at -O3 unrolls loops over a few channels and then sees stores into "
		       "\"a region of size 0\"\n"
		       " * in branches that are never reached, and at -O2 copies of rows onto "
		       "themselves there. */\n"
		       "#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 7\n"
		       "#pragma GCC diagnostic ignored \"-Wstringop-overflow\"\n"
		       "#pragma GCC diagnostic ignored \"-Warray-bounds\"\n"
		       "#pragma GCC diagnostic ignored \"-Wrestrict\"\n"
		       "#endif\n\n");
	qn_emit_content_check(e, ".c", b);
	qn_emit_trace_macros(e, b);
	put_target(e, b);
	qn_emit_rom_macro(e, b);
	put_rounding(e, b);
	put_kernels(e, b);
	put_externs(e, b);
	qn_buf_pass(b, qn_buf_str(&e->args), e->args.n);
	put_checks(e, b);
	qn_emit_reset_function(e, b);
	qn_buf_pass(b, qn_buf_str(&e->repeats), e->repeats.n);
	qn_buff(b, "\nvoid\n%s_run(%svoid *scratch, const %s_inputs *in, %s_outputs *out)\n{\n",
		name, qn_emit_state_parameter(e), name, name);
	if (e->uses_scratch)
		qn_buf_puts(b, "\tint8_t *const s = (int8_t *)scratch;\n");
	qn_emit_windows(e, qn_buf_str(&e->run), e->run.n, b);
	if (!e->uses_scratch)
		qn_buf_puts(b, "\n\t(void)scratch;\n");
	if (!e->uses_in)
		qn_buf_puts(b, "\n\t(void)in;\n");
	if (!e->uses_out) /* no outputs, or none whose shape is known */
		qn_buf_puts(b, "\n\t(void)out;\n");
	if (e->g->nstate > 0 && !e->uses_state) /* all keep their first values */
		qn_buf_puts(b, "\n\t(void)state;\n");
	qn_buf_pass(b, qn_buf_str(&e->run), e->run.n);
	qn_buf_puts(b, "}\n");
}
