/* SPDX-License-Identifier: Apache-2.0 */
/* emit_selftest.c - NAME_selftest.c: samples, their expected results, and a function that checks them.
 *
 *   cc -DNET_TRACE -DNET_SELFTEST_MAIN net.c net_weights.c net_selftest.c && ./a.out
 *   net: self-test passed (4 samples, outputs and 6 steps)
 *
 * The CRC of a step is CRC-32 (IEEE 802.3) of its bytes, quantized values of several bytes little-endian. */
#include "codegen/emitter.h"

/* The constant that has the content in its name, or the byte that stands in for one, with which only
 * this compilation links. */
static void
put_constant(const qn_emitter *e, qn_buf *b)
{
	qn_buf_puts(b, "#ifdef __cplusplus\nextern \"C\"\n#else\nextern\n#endif\n");
	if (e->nconstant == 0) {
		qn_buff(b, "const unsigned char %s_set_%08x;\n\n", e->plan->name,
			(unsigned)e->content);
		return;
	}
	const qn_constant *c = &e->constant[0];
	qn_buff(b, "const %s%s %s_%08x[%zu];\n\n", qn_emit_rom(e), qn_emit_declared_type(e, c),
		c->name, (unsigned)e->content, qn_emit_declared_count(e, c));
}

/* "static const int8_t in_image[2][64] = {{…}, {…}};" */
static void
put_samples(qn_emitter *e, const char *prefix, const char *port, const qn_type *type,
	    size_t nsample, const void *const *data, size_t step, qn_buf *b)
{
	size_t count = (size_t)qn_type_count(type), i;
	qn_plain plain = qn_stored_plain(type);

	qn_buff(b, "static const %s%s %s_%s[%zu][%zu] = {\n", qn_emit_rom(e), qn_ctype(plain),
		prefix, port, nsample, count);
	for (i = 0; i < nsample; i++) {
		qn_buf_puts(b, "\t{\n");
		qn_emit_array(b, qn_tensor_view(e->arena, type, data[i * step]), count, plain,
			      "\t\t");
		qn_buf_puts(b, "\t},\n");
	}
	qn_buf_puts(b, "};\n");
}

static void
put_data(qn_emitter *e, const qn_selftest *t, qn_buf *b)
{
	const qn_graph *g = e->g;
	size_t k;

	for (k = 0; k < qn_graph_fed(g); k++)
		put_samples(e, "in", e->input[k], qn_graph_node(g, g->input[k])->type, t->nsample,
			    t->in + k, qn_graph_fed(g), b);
	for (k = 0; k < qn_graph_given(g); k++)
		put_samples(e, "want", e->output[k], qn_graph_node(g, g->output[k].value)->type,
			    t->nsample, t->out + k, qn_graph_given(g), b);
	for (k = 0; k < qn_graph_fed(g) && e->rom; k++)
		qn_buff(b, "static %s ram_%s[%s_IN_%s_LEN];\n",
			qn_ctype(qn_stored_plain(qn_graph_node(g, g->input[k])->type)), e->input[k],
			e->macro, qn_ident_upper(e->arena, e->input[k]));
	for (k = 0; k < qn_graph_given(g); k++)
		qn_buff(b, "static %s got_%s[%s_OUT_%s_LEN];\n",
			qn_ctype(qn_stored_plain(qn_graph_node(g, g->output[k].value)->type)),
			e->output[k], e->macro, qn_ident_upper(e->arena, e->output[k]));
	if (g->nstate > 0)
		qn_buff(b, "static %s_state state;\n", e->plan->name);
	qn_buff(b, "static uint8_t scratch[%s_SCRATCH_BYTES + %s_SCRATCH_ALIGN];\n\n", e->macro,
		e->macro);
}

void
qn_emit_widths(const qn_emitter *e, qn_buf *b)
{
	const qn_plan *p = e->plan;
	const size_t n = e->traces.n;

	qn_buf_puts(b, "/* Bytes of a code. */\n");
	qn_buff(b, "static const %suint8_t width[%zu] = {%s", qn_emit_rom(e), n > 0 ? n : 1,
		n > 0 ? "" : "0");
	for (size_t k = 0; k < n; k++, qn_buf_flush(b))
		qn_buff(b, "%zu,",
			qn_elem_bytes(
				qn_graph_node(e->g, p->step[e->traces.step[k]].node)->type->elem));
	qn_buf_puts(b, "};\n");
}

void
qn_emit_crc32(qn_buf *b)
{
	qn_buf_puts(b, "/* Bytes of quantized values in little-endian order, whatever the "
		       "machine's is. */\n"
		       "static uint32_t\n"
		       "crc32_of(const uint8_t *data, uint32_t bytes, uint32_t size)\n"
		       "{\n"
		       "\tconst uint16_t one = 1;\n"
		       "\tuint8_t low;\n"
		       "\tuint32_t crc = 0xffffffffu, i, k;\n\n"
		       "\tmemcpy(&low, &one, 1);\n"
		       "\tfor (i = 0; i < bytes; i++) {\n"
		       "\t\tcrc ^= data[low == 1 ? i : i - i % size + size - 1 - i % size];\n"
		       "\t\tfor (k = 0; k < 8; k++)\n"
		       "\t\t\tcrc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1u)));\n"
		       "\t}\n"
		       "\treturn crc ^ 0xffffffffu;\n"
		       "}\n\n");
}

/* CRC, size of an element and name of each step, and the function that NAME_run calls. */
static void
put_trace(qn_emitter *e, const qn_selftest *t, qn_buf *b)
{
	const size_t n = e->traces.n, room = n > 0 ? n : 1; /* C has no empty arrays */
	size_t i, k;

	qn_buff(b, "#if defined(%s_TRACE)\nstatic const %suint32_t step_crc[%zu][%zu] = {\n",
		e->macro, qn_emit_rom(e), t->nsample, room);
	for (i = 0; i < t->nsample; i++) {
		qn_buf_puts(b, n > 0 ? "\t{" : "\t{0");
		for (k = 0; k < n; k++, qn_buf_flush(b))
			qn_buff(b, "%s0x%08xu,", k % 7 == 6 ? "\n\t " : "",
				(unsigned)t->crc[i * n + k]);
		qn_buf_puts(b, "},\n");
	}
	qn_buf_puts(b, "};\n");
	qn_emit_widths(e, b);
	qn_buf_puts(b, "static uint32_t at_sample, bad_step;\n\n");
	qn_emit_crc32(b);
	qn_buff(b,
		"void\n"
		"%s_trace(uint32_t step, const void *data, uint32_t bytes)\n"
		"{\n"
		"\tif (bad_step == %s_%s &&\n"
		"\t    crc32_of((const uint8_t *)data, bytes, width[step]) != "
		"step_crc[at_sample][step])\n"
		"\t\tbad_step = step;\n"
		"}\n"
		"#endif\n\n",
		e->plan->name, e->macro, qn_emit_traces(e));
}

/* memcpy and memcmp of what lies in program memory. */
static void
put_rom_functions(qn_buf *b)
{
	qn_buf_puts(b, "static void\n"
		       "load(void *to, const QN_ROM void *from, size_t n)\n{\n"
		       "\tsize_t i;\n\n"
		       "\tfor (i = 0; i < n; i++)\n"
		       "\t\t((uint8_t *)to)[i] = ((const QN_ROM uint8_t *)from)[i];\n"
		       "}\n\n"
		       "static int\n"
		       "differs(const void *got, const QN_ROM void *want, size_t n)\n{\n"
		       "\tsize_t i;\n\n"
		       "\tfor (i = 0; i < n; i++)\n"
		       "\t\tif (((const uint8_t *)got)[i] != ((const QN_ROM uint8_t *)want)[i])\n"
		       "\t\t\treturn 1;\n"
		       "\treturn 0;\n"
		       "}\n\n");
}

/* The index of the first output that differs, or their number. */
static void
put_outputs_check(qn_emitter *e, qn_buf *b)
{
	size_t k;

	if (e->rom)
		put_rom_functions(b);
	qn_buf_puts(b, "static uint32_t\nbad_output(uint32_t i)\n{\n");
	for (k = 0; k < qn_graph_given(e->g); k++)
		qn_buff(b, "\tif (%s(got_%s, want_%s[i], sizeof(got_%s)) != 0)\n\t\treturn %zu;\n",
			e->rom ? "differs" : "memcmp", e->output[k], e->output[k], e->output[k], k);
	if (k == 0)
		qn_buf_puts(b, "\t(void)i;\n");
	qn_buff(b, "\treturn %zu;\n}\n\n", k);
}

/* States are reset where a sequence begins. */
static void
put_reset(const qn_emitter *e, const qn_selftest *t, qn_buf *b)
{
	if (e->g->nstate == 0)
		return;
	if (t->sequence > 0 && t->sequence < t->nsample)
		qn_buff(b, "\t\tif (i %% %zu == 0)\n", t->sequence);
	else
		qn_buf_puts(b, "\t\tif (i == 0)\n");
	qn_buff(b, "\t\t\t%s_reset(&state);\n", e->plan->name);
}

static void
put_function(qn_emitter *e, const qn_selftest *t, qn_buf *b)
{
	const char *name = e->plan->name, *macro = e->macro, *traces = qn_emit_traces(e);
	const qn_graph *g = e->g;
	const char *state = g->nstate > 0 ? "&state, " : "";
	size_t k;

	qn_buff(b,
		"int\n%s_selftest(uint32_t *sample, uint32_t *step)\n{\n"
		"\tuint8_t *s = scratch + (%s_SCRATCH_ALIGN - (uintptr_t)scratch %% "
		"%s_SCRATCH_ALIGN);\n"
		"\t%s_inputs in;\n\t%s_outputs out;\n\tuint32_t i, bad;\n\n",
		name, macro, macro, name, name);
	if (qn_graph_fed(g) == 0)
		qn_buf_puts(b, "\tin.unused = 0;\n");
	for (k = 0; k < qn_graph_given(g); k++)
		qn_buff(b, "\tout.%s = got_%s;\n", e->output[k], e->output[k]);
	if (e->nconstant > 0)
		qn_buff(b,
			"\t(void)*(const volatile %s%s *)%s_%08x; /* links with its own constants "
			"only */\n",
			qn_emit_rom(e), qn_emit_declared_type(e, &e->constant[0]),
			e->constant[0].name, (unsigned)e->content);
	else
		qn_buff(b,
			"\t(void)*(const volatile unsigned char *)&%s_set_%08x; /* links with its "
			"own program only */\n",
			name, (unsigned)e->content);
	qn_buff(b, "\tfor (i = 0; i < %zu; i++) {\n", t->nsample);
	put_reset(e, t, b);
	for (k = 0; k < qn_graph_fed(g); k++) {
		const char *port = e->input[k];

		if (e->rom)
			qn_buff(b, "\t\tload(ram_%s, in_%s[i], sizeof(ram_%s));\n", port, port,
				port);
		qn_buff(b, e->rom ? "\t\tin.%s = ram_%s;\n" : "\t\tin.%s = in_%s[i];\n", port,
			port);
	}
	qn_buff(b,
		"\t\t*sample = i;\n"
		"#if defined(%s_TRACE)\n\t\tat_sample = i;\n\t\tbad_step = %s_%s;\n#endif\n"
		"\t\t%s_run(%ss, &in, &out);\n"
		"#if defined(%s_TRACE)\n\t\tif (bad_step != %s_%s) {\n"
		"\t\t\t*step = bad_step;\n\t\t\treturn 1;\n\t\t}\n#endif\n"
		"\t\tbad = bad_output(i);\n"
		"\t\tif (bad != %zu) {\n\t\t\t*step = %s_%s + bad;\n\t\t\treturn 1;\n\t\t}\n"
		"\t}\n\treturn 0;\n}\n\n",
		macro, macro, traces, name, state, macro, macro, traces, qn_graph_given(g), macro,
		traces);
}

/* "step bn1 (conv1, bn1, relu1)", "first run of step h (lstm)" */
static void
put_label(const qn_emitter *e, size_t trace, qn_buf *b)
{
	const size_t i = e->traces.step[trace];
	const qn_step *s = &e->plan->step[i];
	const char *run = trace >= e->traces.nstep  ? "first run of "
			  : e->traces.first[i] != 0 ? "last run of "
						    : "";
	qn_arena *tmp = qn_arena_child(e->arena);
	qn_buf layers;

	qn_buf_init(&layers, tmp);
	qn_emit_layers(&layers, e->g, s, s->name);
	qn_buff(b, "\t\"%sstep %s", run, s->name);
	for (const char *p = qn_buf_str(&layers); *p != '\0'; p++)
		qn_buf_putc(b, *p == '"' ? '\'' : *p); /* else as a comment may be */
	qn_buf_puts(b, "\",\n");
	qn_arena_release(tmp);
}

/* The line of a test that passed: what it has compared. */
static void
put_passed(const qn_emitter *e, const qn_selftest *t, qn_buf *b)
{
	const qn_plan *p = e->plan;
	const char *samples = t->nsample == 1 ? "" : "s", *steps = p->nstep == 1 ? "" : "s";

	qn_buff(b,
		"#if defined(%s_TRACE)\n"
		"\tprintf(\"%s: self-test passed (%zu sample%s, outputs and %zu step%s)\\n\");\n"
		"#else\n"
		"\tprintf(\"%s: self-test passed (%zu sample%s, outputs; define %s_TRACE to "
		"compare "
		"%zu step%s)\\n\");\n"
		"#endif\n",
		e->macro, p->name, t->nsample, samples, p->nstep, steps, p->name, t->nsample,
		samples, e->macro, p->nstep, steps);
}

static void
put_main(qn_emitter *e, const qn_selftest *t, qn_buf *b)
{
	const qn_plan *p = e->plan;
	size_t k;

	qn_buff(b, "#ifdef %s_SELFTEST_MAIN\n/* Steps, then outputs. */\n", e->macro);
	qn_buff(b, "static const char *const label[%zu] = {\n", e->traces.n + qn_graph_given(e->g));
	for (k = 0; k < e->traces.n; k++, qn_buf_flush(b))
		put_label(e, k, b);
	for (k = 0; k < qn_graph_given(e->g); k++)
		qn_buff(b, "\t\"output %s\",\n", e->output[k]);
	qn_buff(b,
		"};\n\nint\nmain(void)\n{\n\tuint32_t sample = 0, step = 0;\n\n"
		"\tif (%s_selftest(&sample, &step) != 0) {\n"
		"\t\tprintf(\"%s: sample %%lu: %%s differs\\n\", (unsigned long)sample, "
		"label[step]);\n"
		"\t\treturn 1;\n\t}\n",
		p->name, p->name);
	put_passed(e, t, b);
	qn_buff(b, "\treturn 0;\n}\n#endif\n");
}

void
qn_emit_selftest(qn_emitter *e, const qn_selftest *t, qn_buf *b)
{
	qn_emit_notice(e, "_selftest.c", "samples and their results", b);
	qn_buff(b,
		" *\n"
		" * With %s_TRACE defined here and for %s.c each step is checked, without it the "
		"outputs.\n"
		" * With %s_SELFTEST_MAIN defined this file is a program.\n */\n"
		"#include \"%s.h\"\n\n#include <string.h>\n"
		"#ifdef %s_SELFTEST_MAIN\n#include <stdio.h>\n#endif\n\n",
		e->macro, e->plan->name, e->macro, e->plan->name, e->macro);
	qn_emit_content_check(e, "_selftest.c", b);
	qn_emit_rom_macro(e, b);
	put_constant(e, b);
	put_data(e, t, b);
	put_trace(e, t, b);
	put_outputs_check(e, b);
	put_function(e, t, b);
	put_main(e, t, b);
}
