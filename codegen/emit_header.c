/* SPDX-License-Identifier: Apache-2.0 */
/* emit_header.c - NAME.h: what the program needs and how to call it.
 *
 *   #define NET_SCRATCH_BYTES 1024
 *   #define NET_OUT_PROBS_SCALE 0.00390625
 *   typedef struct net_inputs { const int8_t *image; } net_inputs;
 *   void net_run(void *scratch, const net_inputs *in, net_outputs *out);
 *
 * Float values occur only in comments and in macros that nothing here expands. */
#include "codegen/emitter.h"

qn_port
qn_port_of(const qn_emitter *e, bool input, size_t k)
{
	const qn_graph *g = e->g;
	qn_id id = input ? g->input[k] : g->output[k].value;
	const qn_node *n = qn_graph_node(g, id);

	return (qn_port){input ? "IN" : "OUT", input ? e->input[k] : e->output[k],
			 input ? n->name : g->output[k].name, n->type};
}

size_t
qn_port_count(const qn_emitter *e, bool input)
{
	return input ? qn_graph_fed(e->g) : qn_graph_given(e->g);
}

/* One scale and zero point that can be printed. */
static bool
has_scale(const qn_type *type)
{
	return type->elem->kind == QN_ELEM_UNIFORM && type->elem->gran == QN_PER_TENSOR;
}

static void
put_summary(qn_emitter *e, const qn_emit_style *opts, qn_buf *b)
{
	const qn_plan *p = e->plan;
	int way;
	size_t k;

	qn_buff(b, " *\n *   model     %08x\n", (unsigned)opts->content_hash);
	if (opts->options_text != NULL && opts->options_text[0] != '\0') {
		qn_buf_puts(b, " *   options   ");
		qn_emit_comment(b, opts->options_text);
		qn_buf_putc(b, '\n');
	}
	if (p->target->lacks != NULL)
		qn_buff(b, " *   target    %s\n", p->target->name);
	for (way = 1; way >= 0; way--) {
		for (k = 0; k < qn_port_count(e, way == 1); k++) {
			qn_port t = qn_port_of(e, way == 1, k);
			qn_buf type;

			qn_buf_init(&type, e->arena);
			type.decimal = true;
			qn_type_print(&type, t.type);
			qn_buff(b, " *   %s    %s ", way == 1 ? "input " : "output", t.name);
			qn_emit_comment(b, qn_buf_str(&type));
			qn_buf_putc(b, '\n');
		}
	}
	if (e->g->nstate > 0)
		qn_buff(b, " *   state     %zu bytes, %zu values in %s_state\n", p->state_bytes,
			e->g->nstate, p->name);
	qn_buff(b,
		" *   memory    %zu bytes of activation arena (scratch buffer), %zu bytes of "
		"constants, %zu step%s\n *\n",
		p->scratch_bytes, p->weight_bytes, p->nstep, p->nstep == 1 ? "" : "s");
	qn_buf_puts(b, " * A quantized value q stands for the float value (q - ZERO_POINT) * "
		       "SCALE.\n */\n");
}

static void
put_port_macros(qn_emitter *e, const qn_port *t, qn_buf *b)
{
	const char *id = qn_ident_upper(e->arena, t->name);
	double scale = 1.0;
	int64_t zp = 0;

	qn_buf_puts(b, "\n/* ");
	qn_emit_comment(b, t->text);
	qn_buf_putc(b, ' ');
	qn_emit_shape(b, t->type);
	qn_buf_puts(b, " */\n");
	if (qn_type_count(t->type) >= 0) {
		qn_buff(b, "#define %s_%s_%s_LEN %lld\n", e->macro, t->way, id,
			(long long)qn_type_count(t->type));
		qn_buff(b, "#define %s_%s_%s_BYTES %zu\n", e->macro, t->way, id,
			qn_type_bytes(t->type));
	}
	if (!has_scale(t->type))
		return;
	qn_elem_param(&e->g->model->types, t->type->elem, 0, &scale, &zp);
	qn_buff(b, "#define %s_%s_%s_SCALE %g\n", e->macro, t->way, id, scale);
	qn_buff(b, "#define %s_%s_%s_ZERO_POINT ", e->macro, t->way, id);
	qn_buff(b, zp < 0 ? "(%lld)\n" : "%lld\n", (long long)zp);
}

/* "{0.5, 0.25}", of no number the one that it stands for. */
static void
put_numbers(qn_buf *b, size_t n, const double *v, double otherwise)
{
	qn_buf_putc(b, '{');
	for (size_t i = 0; i < n; i++)
		qn_buff(b, "%s%g", i > 0 ? ", " : "", v[i]);
	if (n == 0)
		qn_buff(b, "%g", otherwise);
	qn_buf_puts(b, "}\n");
}

/* What the samples of an input went through before they were quantized: those of the calibration, or of a model that
 * came quantized those of its self-test. */
static void
put_prep_macros(qn_emitter *e, const qn_port *t, const qn_prep *p, qn_buf *b)
{
	const char *id = qn_ident_upper(e->arena, t->name), *net = e->macro;
	const qn_model *m = e->g->model;

	qn_buff(b,
		"/* The model was %s on x = ((sample - ZERO) * SCALE - MEAN) / STD, channels "
		"%s:\n"
		" * compute x the same way before it is quantized. */\n",
		m->quantized_here || m->opened ? "calibrated" : "tested",
		p->channels_first ? "first" : "last");
	qn_buff(b, "#define %s_SAMPLE_%s_ZERO %g\n", net, id, p->zero);
	qn_buff(b, "#define %s_SAMPLE_%s_SCALE %g\n", net, id, p->scale);
	qn_buff(b, "#define %s_SAMPLE_%s_MEAN ", net, id);
	put_numbers(b, p->nmean, p->mean, 0);
	qn_buff(b, "#define %s_SAMPLE_%s_STD ", net, id);
	put_numbers(b, p->nstd, p->std, 1);
}

static void
put_struct(qn_emitter *e, bool input, qn_buf *b)
{
	const char *what = input ? "inputs" : "outputs";
	size_t k;

	qn_buff(b, "typedef struct %s_%s {\n", e->plan->name, what);
	for (k = 0; k < qn_port_count(e, input); k++) {
		qn_port t = qn_port_of(e, input, k);

		qn_buff(b, "\t%s%s *%s; /* ", input ? "const " : "",
			qn_ctype(qn_stored_plain(t.type)), t.name);
		qn_emit_shape(b, t.type);
		qn_buf_puts(b, " */\n");
	}
	if (k == 0)
		qn_buf_puts(b, "\tchar unused;\n");
	qn_buff(b, "} %s_%s;\n\n", e->plan->name, what);
}

static void
put_selftest(qn_emitter *e, qn_buf *b)
{
	const char *name = e->plan->name;

	qn_buff(b,
		"/* Runs the samples of %s_selftest.c. 0: all agree; else nonzero, with the sample "
		"and\n"
		" * the step that differ first. A step from %s_%s on is output *step - "
		"%s_%s;\n"
		" * without %s_TRACE only outputs are compared. Not re-entrant. */\n"
		"int %s_selftest(uint32_t *sample, uint32_t *step);\n\n",
		name, e->macro, qn_emit_traces(e), e->macro, qn_emit_traces(e), e->macro, name);
}

void
qn_emit_header(qn_emitter *e, const qn_emit_style *opts, bool selftest, qn_buf *b)
{
	const char *name = e->plan->name, *macro = e->macro;
	int way;
	size_t k;

	qn_emit_notice(e, ".h", "an integer-only neural network", b);
	put_summary(e, opts, b);
	qn_buff(b, "#ifndef %s_H\n#define %s_H\n\n#include <stdint.h>\n\n", macro, macro);
	qn_buff(b, "#define %s_CONTENT 0x%08xu\n", macro, (unsigned)e->content);
	if (e->plan->scratch_bytes > 0)
		qn_buff(b, "#define %s_SCRATCH_BYTES %zu\n", macro, e->plan->scratch_bytes);
	else
		qn_buff(b,
			"#define %s_SCRATCH_BYTES 1 /* none is used; arrays have an element */\n",
			macro);
	qn_buff(b, "#define %s_SCRATCH_ALIGN %d\n", macro, QN_SCRATCH_ALIGN);
	qn_buff(b, "#define %s_STEPS %zu\n", macro, e->plan->nstep);
	if (e->traces.n > e->traces.nstep)
		qn_buff(b,
			"#define %s_TRACES %zu /* from %s_STEPS on the first runs of steps in "
			"loops */\n",
			macro, e->traces.n, macro);
	for (way = 1; way >= 0; way--) {
		for (k = 0; k < qn_port_count(e, way == 1); k++) {
			qn_port t = qn_port_of(e, way == 1, k);

			put_port_macros(e, &t, b);
			if (way == 1 && opts->prep != NULL && opts->prep[k] != NULL)
				put_prep_macros(e, &t, opts->prep[k], b);
		}
	}
	for (k = 0; k < e->g->nstate; k++) {
		qn_port t = qn_state_port_of(e, k);

		put_port_macros(e, &t, b);
	}
	qn_buf_puts(b, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
	put_struct(e, true, b);
	put_struct(e, false, b);
	qn_emit_state_struct(e, b);
	qn_buff(b,
		"/* Computes the outputs. scratch: the activation arena, %s_SCRATCH_BYTES bytes, "
		"aligned to "
		"%s_SCRATCH_ALIGN;\n"
		" * it need not be initialized, and its contents are undefined afterwards. Inputs, "
		"outputs\n"
		" * and scratch must not overlap. Re-entrant: all state is in the arguments. */\n"
		"void %s_run(%svoid *scratch, const %s_inputs *in, %s_outputs *out);\n\n",
		macro, macro, name, qn_emit_state_parameter(e), name, name);
	qn_emit_step_function(e, b);
	if (selftest)
		put_selftest(e, b);
	qn_emit_trace_declarations(e, b);
	qn_buf_puts(b, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
