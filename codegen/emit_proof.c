/* SPDX-License-Identifier: Apache-2.0 */
/* emit_proof.c - NAME_proof.c: a main that runs the program once with every input unknown, for an
 * analyser that follows all values at once (Frama-C's Eva).
 *
 *   frama-c -eva … net_proof.c net.c net_weights.c
 *
 * What a volatile object holds is unknown to it. The arena is not initialized, so that a read of bytes
 * that were not written is found; all elements of the outputs are read at the end. */
#include "codegen/emitter.h"

typedef void put_port(const qn_emitter *e, const qn_port *p, const char *way, qn_buf *b);

/* "static volatile int8_t any_image;" */
static void
put_volatile(const qn_emitter *e, const qn_port *p, const char *way, qn_buf *b)
{
	(void)e;
	qn_buff(b, "static volatile %s any_%s_%s;\n", qn_ctype(qn_stored_plain(p->type)), way,
		p->name);
}

/* "int8_t in_image[NET_IN_IMAGE_LEN];" */
static void
put_buffer(const qn_emitter *e, const qn_port *p, const char *way, qn_buf *b)
{
	qn_buff(b, "\t%s %s_%s[%s_%s_%s_LEN];\n", qn_ctype(qn_stored_plain(p->type)), way, p->name,
		e->macro, p->way, qn_ident_upper(e->arena, p->name));
}

static void
put_pointer(const qn_emitter *e, const qn_port *p, const char *way, qn_buf *b)
{
	(void)e;
	qn_buff(b, "\t%s.%s = %s_%s;\n", way, p->name, way, p->name);
}

/* Elements of an input come from its volatile object, those of an output go there. */
static void
put_elements(const qn_emitter *e, const qn_port *p, const char *way, qn_buf *b)
{
	const char *form =
		p->way[0] == 'I' ? "\t\t%s_%s[i] = any_%s_%s;\n" : "\t\tany_%s_%s = %s_%s[i];\n";

	qn_buff(b, "\tfor (i = 0; i < %s_%s_%s_LEN; i++)\n", e->macro, p->way,
		qn_ident_upper(e->arena, p->name));
	qn_buff(b, form, way, p->name, way, p->name);
}

static void
put_ports(const qn_emitter *e, bool input, put_port *put, qn_buf *b)
{
	for (size_t k = 0; k < qn_port_count(e, input); k++) {
		qn_port p = qn_port_of(e, input, k);

		put(e, &p, input ? "in" : "out", b);
	}
}

static void
put_state_elements(const qn_emitter *e, const qn_port *p, const char *way, qn_buf *b)
{
	qn_buff(b, "\tfor (i = 0; i < %s_STATE_%s_LEN; i++)\n\t\tstate.%s[i] = any_%s_%s;\n",
		e->macro, qn_ident_upper(e->arena, p->name), p->name, way, p->name);
}

/* A state that may be any: that of the first run, and of all later ones. */
static void
put_states(const qn_emitter *e, put_port *put, qn_buf *b)
{
	for (size_t k = 0; k < e->g->nstate; k++) {
		const qn_port p = qn_state_port_of(e, k);

		put(e, &p, "state", b);
	}
}

void
qn_emit_proof(qn_emitter *e, qn_buf *b)
{
	const char *name = e->plan->name;

	qn_emit_notice(e, "_proof.c", "one run with every input unknown, for an analyser", b);
	qn_buff(b, " *\n * It is not part of the firmware.\n */\n#include \"%s.h\"\n\n", name);
	qn_emit_content_check(e, "_proof.c", b);
	qn_buf_puts(b, "/* An analyser takes what these hold for unknown. */\n");
	put_ports(e, true, put_volatile, b);
	put_ports(e, false, put_volatile, b);
	put_states(e, put_volatile, b);
	qn_buff(b, "\nint\nmain(void)\n{\n\tint64_t scratch[(%s_SCRATCH_BYTES + 7) / 8];\n",
		e->macro);
	put_ports(e, true, put_buffer, b);
	put_ports(e, false, put_buffer, b);
	qn_buff(b, "\t%s_inputs in;\n\t%s_outputs out;\n", name, name);
	if (e->g->nstate > 0)
		qn_buff(b, "\t%s_state state;\n", name);
	qn_buf_puts(b, "\tint32_t i;\n\n");
	if (qn_graph_fed(e->g) == 0)
		qn_buf_puts(b, "\tin.unused = 0;\n");
	if (qn_graph_given(e->g) == 0)
		qn_buf_puts(b, "\tout.unused = 0;\n");
	put_ports(e, true, put_pointer, b);
	put_ports(e, false, put_pointer, b);
	put_ports(e, true, put_elements, b);
	put_states(e, put_state_elements, b);
	qn_buff(b, "\t%s_run(%sscratch, &in, &out);\n", name, e->g->nstate > 0 ? "&state, " : "");
	put_ports(e, false, put_elements, b);
	if (e->g->ninput + qn_graph_given(e->g) == 0)
		qn_buf_puts(b, "\t(void)i;\n");
	qn_buf_puts(b, "\treturn 0;\n}\n");
}
