/* SPDX-License-Identifier: Apache-2.0 */
/* emit_trace.c - values that the program shows while it runs: the results of all steps to NAME_trace, those of
 * trace ops to NAME_trace_op.
 *
 *   NET_TRACED(4, s + 64, 800);                       compiled where NET_TRACE is defined
 *   NET_TRACED_OP("after conv1", s + 64, 800);        … NET_TRACE_OPS
 *
 * A trace op makes no other call: its value is the bytes of its operand. */
#include "codegen/emitter.h"

static const qn_node *
traced_node(const qn_emitter *e, size_t i)
{
	const qn_node *n = qn_graph_node(e->g, e->plan->step[i].node);

	return n->op == QN_OP_trace ? n : NULL;
}

static bool
has_trace_ops(const qn_emitter *e)
{
	for (size_t i = 0; i < e->plan->nstep; i++)
		if (traced_node(e, i) != NULL)
			return true;
	return false;
}

/* As a string of C and C++; a '?' may begin a trigraph. */
static void
put_string(qn_buf *b, const char *text)
{
	qn_buf_putc(b, '"');
	for (const char *p = text; *p != '\0'; p++) {
		const unsigned char c = (unsigned char)*p;

		if (c == '"' || c == '\\' || c == '?')
			qn_buff(b, "\\%c", c);
		else if (c < ' ' || c > '~')
			qn_buff(b, "\\%03o", (unsigned)c);
		else
			qn_buf_putc(b, *p);
	}
	qn_buf_putc(b, '"');
}

void
qn_emit_trace_op(qn_emitter *e, size_t i)
{
	const qn_node *n = traced_node(e, i);

	if (n == NULL)
		return;
	qn_buff(&e->run, "\t%s_TRACED_OP(", e->macro);
	put_string(&e->run, n->attr->trace.key);
	qn_buff(&e->run, ", %s, %zu);\n", qn_emit_ref(e, e->plan->step[i].node, QN_NPLAIN),
		e->plan->step[i].bytes);
}

void
qn_emit_trace_macros(const qn_emitter *e, qn_buf *b)
{
	const char *macro = e->macro, *name = e->plan->name;

	qn_buff(b,
		"#if defined(%s_TRACE)\n"
		"#define %s_TRACED(step, data, bytes) %s_trace(step, data, bytes)\n"
		"#else\n"
		"#define %s_TRACED(step, data, bytes) ((void)0)\n"
		"#endif\n\n",
		macro, macro, name, macro);
	if (has_trace_ops(e))
		qn_buff(b,
			"#if defined(%s_TRACE_OPS)\n"
			"#define %s_TRACED_OP(key, data, bytes) %s_trace_op(key, data, bytes)\n"
			"#else\n"
			"#define %s_TRACED_OP(key, data, bytes) ((void)0)\n"
			"#endif\n\n",
			macro, macro, name, macro);
}

/* " *   "after conv1"  i8 [1, 28, 28, 8], scale 0.02, zero point -3" */
static void
put_row(const qn_emitter *e, const qn_node *n, qn_buf *b)
{
	double scale;
	int64_t zp;

	qn_buf_puts(b, " *   \"");
	qn_emit_comment(b, n->attr->trace.key);
	qn_buff(b, "\"  %s ", qn_ctype(qn_stored_plain(n->type)));
	qn_emit_shape(b, n->type);
	if (qn_elem_is_quant(n->type->elem)) {
		qn_elem_param(&e->g->model->types, n->type->elem, 0, &scale, &zp);
		qn_buff(b, ", scale %g, zero point %lld", scale, (long long)zp);
		if (n->type->elem->gran != QN_PER_TENSOR)
			qn_buf_puts(b, " and others along an axis");
	}
	qn_buf_putc(b, '\n');
}

void
qn_emit_trace_declarations(const qn_emitter *e, qn_buf *b)
{
	const char *macro = e->macro, *name = e->plan->name;

	qn_buff(b,
		"#if defined(%s_TRACE)\n"
		"/* Called by %s_run after every step, with its result. */\n"
		"void %s_trace(uint32_t step, const void *data, uint32_t bytes);\n"
		"#endif\n\n",
		macro, name, name);
	if (!has_trace_ops(e))
		return;
	qn_buff(b,
		"#if defined(%s_TRACE_OPS)\n"
		"/* Called by %s_run at each trace of the graph, in a loop in each of its runs:\n",
		macro, name);
	for (size_t i = 0; i < e->plan->nstep; i++)
		if (traced_node(e, i) != NULL)
			put_row(e, traced_node(e, i), b);
	qn_buff(b,
		" * data is valid during the call, and must not be written to. */\n"
		"void %s_trace_op(const char *key, const void *data, uint32_t bytes);\n"
		"#endif\n\n",
		name);
}
