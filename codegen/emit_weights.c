/* SPDX-License-Identifier: Apache-2.0 */
/* emit_weights.c - NAME_weights.c: constants and tables of multipliers, each with its bytes once.
 *
 *   / * conv1.w, 144 bytes * /
 *   NET_WEIGHTS_ATTR const int8_t net_conv1_w[144] = {
 *           12,-7,… */
#include "codegen/emitter.h"

static void
put_declaration(const qn_emitter *e, const qn_constant *c, const char *before, qn_buf *b)
{
	qn_buff(b, "%s%s_WEIGHTS_ATTR const %s%s %s[%zu]", before, e->macro, qn_emit_rom(e),
		qn_emit_declared_type(e, c), c->name, qn_emit_declared_count(e, c));
}

void
qn_emit_weights(qn_emitter *e, qn_buf *b)
{
	size_t i;

	qn_emit_notice(e, "_weights.c", "its constants", b);
	qn_buff(b, " */\n#include \"%s.h\"\n\n", e->plan->name);
	qn_emit_content_check(e, "_weights.c", b);
	qn_emit_content_symbol(e, b);
	if (e->nconstant == 0) {
		/* A translation unit must hold something. */
		qn_buff(b, "typedef char %s_has_no_weights;\n", e->plan->name);
		return;
	}
	qn_emit_rom_macro(e, b);
	qn_emit_word_order(e, b);
	qn_buff(b,
		"#ifndef %s_WEIGHTS_ATTR\n"
		"#define %s_WEIGHTS_ATTR\n"
		"#endif\n\n"
		"#ifdef __cplusplus\nextern \"C\" {\n#endif\n",
		e->macro, e->macro);
	for (i = 0; i < e->nconstant; i++) {
		const qn_constant *c = &e->constant[i];

		qn_buf_puts(b, "\n/* ");
		qn_emit_comment(b, c->note);
		qn_buff(b, ", %zu bytes */\n", c->value->bytes);
		put_declaration(e, c, "extern ", b);
		qn_buf_puts(b, ";\n");
		put_declaration(e, c, "", b);
		qn_buf_puts(b, " = {\n");
		if (qn_emit_in_words(e, c))
			qn_emit_words(c, b);
		else
			qn_emit_array(b, c->value, c->count, c->type, "\t");
		qn_buf_puts(b, "};\n");
	}
	qn_buf_puts(b, "\n#ifdef __cplusplus\n}\n#endif\n");
}
