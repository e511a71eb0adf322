/* SPDX-License-Identifier: Apache-2.0 */
/* emit_sample.c - of a network that reads one token and keeps what was before it as states: one step of a sequence, and
 * NAME_sample.h, which draws the next token by the logits.
 *
 *   story_step(&state, arena, token, logits);
 *   token = story_sample(logits, 256, &random);
 *
 * Such a network has one input of one plain integer, one output, and states. */
#include <math.h>

#include "codegen/emitter.h"

static bool
has_step(const qn_emitter *e)
{
	return qn_graph_reads_tokens(e->g) && qn_type_count(qn_port_of(e, false, 0).type) > 0;
}

bool
qn_emitted_samples(const qn_emitter *e)
{
	const qn_elem *y = has_step(e) ? qn_port_of(e, false, 0).type->elem : NULL;

	return y != NULL && y->kind == QN_ELEM_UNIFORM && y->gran == QN_PER_TENSOR &&
	       qn_family_of(y) != QN_NFAMILY;
}

void
qn_emit_step_function(const qn_emitter *e, qn_buf *b)
{
	const char *name = e->plan->name;

	if (!has_step(e))
		return;
	const qn_port in = qn_port_of(e, true, 0), out = qn_port_of(e, false, 0);
	const char *token = qn_ctype(qn_stored_plain(in.type));

	qn_buff(b,
		"/* One step of a sequence: %s_run of one number. %s: %lld values. */\n"
		"static inline void\n%s_step(%s_state *state, void *scratch, %s %s, %s *%s)\n{\n"
		"\tconst %s_inputs in = {&%s};\n"
		"\t%s_outputs out = {%s};\n\n"
		"\t%s_run(state, scratch, &in, &out);\n}\n\n",
		name, out.name, (long long)qn_type_count(out.type), name, name, token, in.name,
		qn_ctype(qn_stored_plain(out.type)), out.name, name, in.name, name, out.name, name);
}

/* What the functions call, with what that calls. */
static void
put_pieces(const qn_emitter *e, const char *body, size_t n, qn_buf *b)
{
	qn_pieces p;

	qn_pieces_init(&p, e->arena, e->rom);
	qn_pieces_need(&p, body, n);
	for (size_t i = 0; i < p.n; i++) {
		if (!p.item[i].needed)
			continue;
		qn_buff(b, "#ifndef %s_is_here\n#define %s_is_here\n", p.item[i].name,
			p.item[i].name);
		qn_buf_pass(b, p.item[i].text, p.item[i].n);
		qn_buf_puts(b, "#endif\n\n");
	}
}

void
qn_emit_sample(qn_emitter *e, qn_buf *b)
{
	const char *name = e->plan->name, *macro = e->macro;
	const qn_port out = qn_port_of(e, false, 0);
	const char *type = qn_ctype(qn_stored_plain(out.type));
	const qn_variant v = {.family = qn_family_of(out.type->elem), .bits = 8};
	double scale;
	int64_t zp;
	qn_buf body;

	qn_elem_param(&e->g->model->types, out.type->elem, 0, &scale, &zp);
	/* Q12.42 of a step; a scale of 2^20 is as good as any larger one */
	const double step = rint((scale < 0x1p20 ? scale : 0x1p20) * 0x1p42);
	const long long n = (long long)qn_type_count(out.type);

	qn_buf_init(&body, e->arena);
	qn_buff(&body,
		"/* The number whose value is the largest; of equal ones the first. */\n"
		"static inline int32_t\n%s_largest(const %s *%s)\n{\n"
		"\treturn %s(%s, %lld);\n}\n\n"
		"/* A number, drawn with the probabilities of softmax(%s / temperature). "
		"temperature: in "
		"parts of\n"
		" * 256; 0: the largest. *random: the seed at first, and what the generator keeps. "
		"*/\n"
		"static inline int32_t\n%s_sample(const %s *%s, int32_t temperature, uint64_t "
		"*random)\n{\n"
		"\treturn %s(%s, %lld, INT64_C(%lld), temperature, random);\n}\n",
		name, type, out.name, qn_family_name("qn_largest_q", &v, e->arena), out.name, n,
		out.name, name, type, out.name, qn_family_name("qn_sample_q", &v, e->arena),
		out.name, n, (long long)step);
	qn_emit_notice(e, "_sample.h", "the next token of a sequence", b);
	qn_buff(b,
		" *\n * What comes next, by the output of %s_step, in integers. The program itself "
		"needs "
		"nothing of it.\n */\n"
		"#ifndef %s_SAMPLE_H\n#define %s_SAMPLE_H\n\n#include \"%s.h\"\n\n",
		name, macro, macro, name);
	qn_emit_content_check(e, "_sample.h", b);
	qn_emit_rom_macro(e, b);
	put_pieces(e, qn_buf_str(&body), body.n, b);
	qn_buf_pass(b, qn_buf_str(&body), body.n);
	qn_buf_puts(b, "\n#endif\n");
}
