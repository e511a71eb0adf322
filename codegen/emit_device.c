/* SPDX-License-Identifier: Apache-2.0 */
/* emit_device.c - NAME_device.c: a loop that takes samples and sends the CRC of each step and the
 * outputs, for quern validate (docs/validation.md).
 *
 *   cc -DNET_TRACE -DNET_DEVICE_MAIN net.c net_weights.c net_device.c     stdin and stdout
 *   arm-none-eabi-gcc -DNET_TRACE board.c net.c net_weights.c net_device.c     board.c reads and writes */
#include "codegen/emitter.h"

/* "static int8_t in_image[NET_IN_IMAGE_LEN];" */
static void
put_buffers(const qn_emitter *e, bool input, qn_buf *b)
{
	for (size_t k = 0; k < qn_port_count(e, input); k++) {
		const qn_port p = qn_port_of(e, input, k);

		qn_buff(b, "static %s %s_%s[%s_%s_%s_LEN];\n", qn_ctype(qn_stored_plain(p.type)),
			input ? "in" : "out", p.name, e->macro, p.way,
			qn_ident_upper(e->arena, p.name));
	}
}

static void
put_callbacks(const qn_emitter *e, qn_buf *b)
{
	const char *name = e->plan->name;

	qn_buff(b,
		"/* Reads, or writes, that many bytes; 0 when all of them went. */\n"
		"int %s_device_read(void *to, uint32_t bytes);\n"
		"int %s_device_write(const void *from, uint32_t bytes);\n"
		"int %s_device(void);\n\n",
		name, name, name);
}

/* Values of several bytes travel in little-endian order. */
static void
put_order(qn_buf *b)
{
	qn_buf_puts(b, "static void\n"
		       "to_little_endian(void *values, uint32_t bytes, uint32_t size)\n"
		       "{\n"
		       "\tconst uint16_t one = 1;\n"
		       "\tuint8_t low, *p = (uint8_t *)values, t;\n"
		       "\tuint32_t i, k;\n\n"
		       "\tmemcpy(&low, &one, 1);\n"
		       "\tfor (i = 0; low == 0 && i < bytes; i += size)\n"
		       "\t\tfor (k = 0; k < size / 2; k++) {\n"
		       "\t\t\tt = p[i + k];\n"
		       "\t\t\tp[i + k] = p[i + size - 1 - k];\n"
		       "\t\t\tp[i + size - 1 - k] = t;\n"
		       "\t\t}\n"
		       "}\n\n");
}

/* The CRCs of steps in loops are not made in the order of their numbers. */
static bool
has_loops(const qn_emitter *e)
{
	return e->traces.n > e->traces.nstep;
}

static void
put_trace(const qn_emitter *e, qn_buf *b)
{
	qn_buff(b, "#if defined(%s_TRACE)\n", e->macro);
	qn_emit_widths(e, b);
	if (has_loops(e))
		qn_buff(b,
			"static uint32_t crc[%s_TRACES]; /* sent in the order of the numbers "
			"*/\n\n",
			e->macro);
	else
		qn_buf_puts(b, "static int failed;\n\n");
	qn_emit_crc32(b);
	qn_buff(b,
		"void\n"
		"%s_trace(uint32_t step, const void *data, uint32_t bytes)\n"
		"{\n",
		e->plan->name);
	if (has_loops(e))
		qn_buf_puts(b,
			    "\tcrc[step] = crc32_of((const uint8_t *)data, bytes, width[step]);\n");
	else
		qn_buff(b,
			"\tuint32_t crc = crc32_of((const uint8_t *)data, bytes, width[step]);\n\n"
			"\tto_little_endian(&crc, 4, 4);\n"
			"\tfailed = failed != 0 || %s_device_write(&crc, 4) != 0;\n",
			e->plan->name);
	qn_buf_puts(b, "}\n#endif\n\n");
}

/* After a run: what the trace has sent, or what is sent now. */
static void
put_traced(const qn_emitter *e, qn_buf *b)
{
	qn_buff(b, "#if defined(%s_TRACE)\n", e->macro);
	if (has_loops(e))
		qn_buff(b,
			"\t\tto_little_endian(crc, (uint32_t)sizeof(crc), 4);\n"
			"\t\tif (%s_device_write(crc, (uint32_t)sizeof(crc)) != 0)\n",
			e->plan->name);
	else
		qn_buf_puts(b, "\t\tif (failed != 0)\n");
	qn_buf_puts(b, "\t\t\treturn 1;\n#endif\n");
}

/* "if (net_device_read(in_image, sizeof(in_image)) != 0)" for each input, or the outputs. */
static void
put_transfers(const qn_emitter *e, bool input, qn_buf *b)
{
	const bool resets = e->g->nstate > 0;

	if (input && resets)
		qn_buff(b,
			"\t\tif (%s_device_read(&begins, 1) != 0)\n"
			"\t\t\treturn 0;\n"
			"\t\tif (begins != 0)\n"
			"\t\t\t%s_reset(&state);\n",
			e->plan->name, e->plan->name);
	for (size_t k = 0; k < qn_port_count(e, input); k++) {
		const qn_port p = qn_port_of(e, input, k);
		qn_buf swap;

		qn_buf_init(&swap, e->arena);
		qn_buff(&swap, "\t\tto_little_endian(%s_%s, (uint32_t)sizeof(%s_%s), %d);\n",
			input ? "in" : "out", p.name, input ? "in" : "out", p.name,
			qn_plain_table[qn_stored_plain(p.type)].bytes);
		if (!input)
			qn_buf_puts(b, qn_buf_str(&swap));
		qn_buff(b,
			"\t\tif (%s_device_%s(%s_%s, (uint32_t)sizeof(%s_%s)) != 0)\n"
			"\t\t\treturn %d;\n",
			e->plan->name, input ? "read" : "write", input ? "in" : "out", p.name,
			input ? "in" : "out", p.name, input && k == 0 && !resets ? 0 : 1);
		if (input)
			qn_buf_puts(b, qn_buf_str(&swap));
	}
}

static void
put_loop(const qn_emitter *e, qn_buf *b)
{
	const char *name = e->plan->name, *macro = e->macro;

	qn_buff(b,
		"/* Until no sample comes any more: 0.  1: the connection broke. */\n"
		"int\n%s_device(void)\n{\n"
		"\tuint8_t *s = scratch + (%s_SCRATCH_ALIGN - (uintptr_t)scratch %% "
		"%s_SCRATCH_ALIGN);\n"
		"\t%s_inputs in;\n\t%s_outputs out;\n%s\n",
		name, macro, macro, name, name,
		e->g->nstate > 0 ? "\tuint8_t begins; /* a sequence */\n" : "");
	for (int way = 1; way >= 0; way--) {
		for (size_t k = 0; k < qn_port_count(e, way == 1); k++) {
			const char *port = qn_port_of(e, way == 1, k).name;

			qn_buff(b, way == 1 ? "\tin.%s = in_%s;\n" : "\tout.%s = out_%s;\n", port,
				port);
		}
		if (qn_port_count(e, way == 1) == 0)
			qn_buf_puts(b, way == 1 ? "\tin.unused = 0;\n" : "\tout.unused = 0;\n");
	}
	if (e->g->nstate > 0)
		qn_buff(b, "\t%s_reset(&state);\n", name);
	qn_buff(b,
		"\tif (%s_device_write(greeting, (uint32_t)sizeof(greeting) - 1) != 0)\n"
		"\t\treturn 1;\n"
		"\tfor (;;) {\n",
		name);
	put_transfers(e, true, b);
	qn_buff(b, "\t\t%s_run(%ss, &in, &out);\n", name, e->g->nstate > 0 ? "&state, " : "");
	put_traced(e, b);
	put_transfers(e, false, b);
	if (qn_graph_fed(e->g) == 0) /* nothing says how often */
		qn_buf_puts(b, "\t\treturn 0;\n");
	qn_buf_puts(b, "\t}\n}\n\n");
}

static void
put_main(const qn_emitter *e, qn_buf *b)
{
	const char *name = e->plan->name;

	qn_buff(b,
		"#ifdef %s_DEVICE_MAIN\n"
		"#include <stdio.h>\n\n"
		"int\n%s_device_read(void *to, uint32_t bytes)\n{\n"
		"\treturn fflush(stdout) != 0 || fread(to, 1, bytes, stdin) != bytes;\n}\n\n"
		"int\n%s_device_write(const void *from, uint32_t bytes)\n{\n"
		"\treturn fwrite(from, 1, bytes, stdout) != bytes;\n}\n\n"
		"int\nmain(void)\n{\n\treturn %s_device();\n}\n#endif\n",
		e->macro, name, name, name);
}

void
qn_emit_device(qn_emitter *e, qn_buf *b)
{
	const char *macro = e->macro, *name = e->plan->name;
	const int version = e->g->nstate > 0 ? 2 : 1; /* 2: a byte before each sample */

	qn_emit_notice(e, "_device.c", "takes samples, sends what the program computes", b);
	qn_buff(b,
		" *\n"
		" * For quern validate (docs/validation.md).  With %s_TRACE defined here and for "
		"%s.c the CRC-32 of each\n"
		" * step comes before the outputs.  With %s_DEVICE_MAIN defined this file is a "
		"program that reads stdin and\n"
		" * writes stdout; else %s_device_read and %s_device_write are yours.\n */\n"
		"#include \"%s.h\"\n\n#include <string.h>\n",
		macro, name, macro, name, name, name);
	qn_emit_content_check(e, "_device.c", b);
	qn_emit_rom_macro(e, b);
	put_callbacks(e, b);
	put_buffers(e, true, b);
	put_buffers(e, false, b);
	if (e->g->nstate > 0)
		qn_buff(b, "static %s_state state;\n", name);
	qn_buff(b,
		"static uint8_t scratch[%s_SCRATCH_BYTES + %s_SCRATCH_ALIGN];\n"
		"#if defined(%s_TRACE)\n"
		"static const char greeting[] = \"quern-device %d %08x %zu\\n\";\n"
		"#else\n"
		"static const char greeting[] = \"quern-device %d %08x 0\\n\";\n"
		"#endif\n\n",
		macro, macro, macro, version, (unsigned)e->content, e->traces.n, version,
		(unsigned)e->content);
	put_order(b);
	put_trace(e, b);
	put_loop(e, b);
	put_main(e, b);
}
