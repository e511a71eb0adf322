/* SPDX-License-Identifier: Apache-2.0 */
/* emit_state.c - the states of a network in C: a struct that the caller owns, and its first values.
 *
 *   typedef struct net_state { int8_t h[8]; } net_state;
 *   void net_reset(net_state *state);
 *   void net_run(net_state *state, void *scratch, const net_inputs *in, net_outputs *out); */
#include <string.h>

#include "codegen/emitter.h"
#include "codegen/schedule.h"
#include "codegen/states.h"

qn_port
qn_state_port_of(const qn_emitter *e, size_t k)
{
	const qn_node *n = qn_graph_state(e->g, k);

	return (qn_port){"STATE", e->input[qn_graph_fed(e->g) + k], n->name, n->type};
}

void
qn_emit_state_struct(qn_emitter *e, qn_buf *b)
{
	const char *name = e->plan->name, *macro = e->macro;

	if (e->g->nstate == 0)
		return;
	qn_buff(b,
		"/* What is kept from one run to the next, one for each stream of inputs; copied, "
		"it "
		"is a second\n"
		" * stream that goes on from there. */\n"
		"typedef struct %s_state {\n",
		name);
	for (size_t k = 0; k < e->g->nstate; k++) {
		const qn_port t = qn_state_port_of(e, k);

		qn_buff(b, "\t%s %s[%s_STATE_%s_LEN]; /* ", qn_ctype(qn_stored_plain(t.type)),
			t.name, macro, qn_ident_upper(e->arena, t.name));
		qn_emit_shape(b, t.type);
		qn_buf_puts(b, " */\n");
	}
	qn_buff(b,
		"} %s_state;\n\n"
		"/* Sets the first values: before the first run, and where a new sequence begins. "
		"*/\n"
		"void %s_reset(%s_state *state);\n\n",
		name, name, name);
}

const char *
qn_emit_state_parameter(const qn_emitter *e)
{
	qn_buf b;

	if (e->g->nstate == 0)
		return "";
	qn_buf_init(&b, e->arena);
	qn_buff(&b, "%s_state *state, ", e->plan->name);
	return qn_buf_str(&b);
}

/* ---- NAME_reset ---- */

static bool
all_bytes_equal(const qn_tensor *x)
{
	const unsigned char *p = x->data;

	return x->bytes == 0 || memcmp(p, p + 1, x->bytes - 1) == 0;
}

static void
put_reset(qn_emitter *e, size_t k)
{
	const qn_port t = qn_state_port_of(e, k);
	const qn_tensor *x = qn_graph_state_init(e->g, k, e->arena);
	qn_buf *b = &e->reset;

	if (x->bytes == 0)
		return;
	if (all_bytes_equal(x)) {
		qn_buff(b, "\tmemset(state->%s, 0x%02x, %zu);\n", t.name,
			*(const unsigned char *)x->data, x->bytes);
		return;
	}
	const char *symbol = qn_emit_constant(e, t.name, t.text, x);
	qn_buff(b, "\t%s(state->%s, %s, %zu);\n", e->rom ? "qn_from_rom" : "memcpy", t.name, symbol,
		x->bytes);
}

void
qn_emit_reset(qn_emitter *e)
{
	for (size_t k = 0; k < e->g->nstate; k++)
		put_reset(e, k);
}

void
qn_emit_reset_function(const qn_emitter *e, qn_buf *b)
{
	if (e->g->nstate == 0)
		return;
	qn_buff(b, "\nvoid\n%s_reset(%s_state *state)\n{\n", e->plan->name, e->plan->name);
	if (e->reset.n == 0)
		qn_buf_puts(b, "\t(void)state;\n");
	qn_buf_pass(b, e->reset.data, e->reset.n);
	qn_buf_puts(b, "}\n");
}

/* ---- the end of NAME_run ---- */

static void
put_copy(qn_emitter *e, const char *to, qn_id value, size_t bytes)
{
	const qn_node *n = qn_graph_node(e->g, qn_value_root(e->plan->step, e->step_of, value));
	const bool rom = e->rom && n->op == QN_OP_const;
	const char *from = rom ? qn_emit_constant(e, n->name, n->name, n->value)
			       : qn_emit_ref(e, value, QN_NPLAIN);

	qn_buff(&e->run, "\t%s(%s, %s, %zu);\n", rom ? "qn_from_rom" : "memcpy", to, from, bytes);
}

void
qn_emit_state_copies(qn_emitter *e)
{
	const qn_graph *g = e->g;
	const qn_plan *p = e->plan;
	qn_buf to;

	for (int stored = 0; stored < 2; stored++) {
		size_t offset = p->moved_offset;

		for (size_t k = 0; k < g->nstate; k++) {
			const size_t out = qn_graph_given(g) + k;
			const qn_id id = g->output[out].value;
			const uint32_t w = e->step_of[qn_value_root(p->step, e->step_of, id)];
			const size_t bytes = qn_type_bytes(qn_graph_state(g, k)->type);
			const bool moved = qn_state_is_moved(g, p->step, e->step_of, k);
			const bool written =
				w != 0 && p->step[w - 1].in_output && p->step[w - 1].output == out;

			if (written || bytes == 0 || (stored == 0 && !moved) ||
			    qn_state_stays(g, p->step, e->step_of, k))
				continue;
			qn_buf_init(&to, e->arena);
			e->uses_scratch = e->uses_scratch || moved;
			e->uses_state = true;
			if (stored == 0) {
				qn_buff(&to, "s + %zu", offset);
				put_copy(e, qn_buf_str(&to), id, bytes);
			} else if (moved) {
				qn_buff(&e->run, "\tmemcpy(state->%s, s + %zu, %zu);\n",
					qn_state_port_of(e, k).name, offset, bytes);
			} else {
				qn_buff(&to, "state->%s", qn_state_port_of(e, k).name);
				put_copy(e, qn_buf_str(&to), id, bytes);
			}
			offset += moved ? bytes : 0;
		}
	}
}
