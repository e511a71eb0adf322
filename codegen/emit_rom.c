/* SPDX-License-Identifier: Apache-2.0 */
/* emit_rom.c - constants of a target that has a memory of its own for them (AVR: flash, which only
 * the instruction LPM reads).
 *
 *   const QN_ROM int8_t net_fc_w[640]          what NAME_weights.c holds, and pointers to it
 *   {
 *           const qn_dense_args a = net_fc_args;           an argument struct, on the stack
 *
 *           qn_dense_s8(&a, s + 64, out->y);
 *   }
 *   qn_from_rom(s + 128, net_c, 64);               a constant that a kernel reads as a value
 *
 * The kernels' texts mention QN_ROM wherever they point to constants: the compiler then refuses a
 * pointer into the wrong memory. */
#include "codegen/emitter.h"

/* Copies begin where any element may. */
enum { LOAD_ALIGN = 8 };

const char *
qn_emit_rom(const qn_emitter *e)
{
	return e->rom ? "QN_ROM " : "";
}

/* Networks that share a C file have one QN_ROM, which must do for all of them. */
void
qn_emit_rom_macro(const qn_emitter *e, qn_buf *b)
{
	if (!e->rom)
		return;
	qn_buf_puts(b,
		    "/* Constants lie in program memory; a definition of your own must be the same "
		    "for all files of the\n"
		    " * network. */\n"
		    "#ifndef QN_ROM\n"
		    "#if defined(QN_PORTABLE) || !defined(__AVR__)\n"
		    "#define QN_ROM\n"
		    "#elif !defined(__FLASH)\n"
		    "#error \"constants in program memory need GNU C: compile with -std=gnu99, or "
		    "define QN_ROM as nothing to have them in RAM\"\n");
	if (e->rom_reads_ram || e->shares)
		qn_buf_puts(b, "#else /* pointers to RAM, too */\n"
			       "#define QN_ROM __memx\n");
	else
		qn_buf_puts(b, "#elif defined(__AVR_HAVE_ELPM__) /* above 64 KB, too */\n"
			       "#define QN_ROM __memx\n"
			       "#else\n"
			       "#define QN_ROM __flash\n");
	qn_buf_puts(b, "#endif\n#endif\n\n");
}

void
qn_emit_loads_begin(qn_emitter *e, const qn_step *s)
{
	if (!e->rom)
		return;
	e->loader = s;
	e->loaded = 0;
	e->before = e->run;
	qn_buf_init(&e->run, e->arena);
	qn_buf_init(&e->loads, e->arena);
}

void
qn_emit_loads_end(qn_emitter *e)
{
	const qn_buf run = e->run;

	if (!e->rom)
		return;
	e->run = e->before;
	qn_buf_put(&e->run, qn_buf_str(&e->loads), e->loads.n);
	e->body += e->run.n; /* it was a place in `run` */
	qn_buf_put(&e->run, run.data, run.n);
}

const char *
qn_emit_load(qn_emitter *e, const char *symbol, size_t bytes)
{
	const size_t at = e->loader->load_offset + e->loaded;
	qn_buf b;

	e->loaded += (bytes + LOAD_ALIGN - 1) / LOAD_ALIGN * LOAD_ALIGN;
	e->uses_scratch = true;
	qn_buff(&e->loads, "\tqn_from_rom(s + %zu, %s, %zu);\n", at, symbol, bytes);
	qn_buf_init(&b, e->arena);
	qn_buff(&b, "s + %zu", at);
	return qn_buf_str(&b);
}

const char *
qn_emit_load_table(qn_emitter *e, const char *symbol, int64_t count)
{
	qn_buf b;

	if (!e->rom || symbol == NULL)
		return symbol;
	qn_buf_init(&b, e->arena);
	qn_buff(&b, "(const int32_t *)(const void *)(%s)",
		qn_emit_load(e, symbol, (size_t)count * sizeof(int32_t)));
	return qn_buf_str(&b);
}

const char *
qn_emit_args_begin(qn_emitter *e, const char *type, const char *symbol)
{
	if (!e->rom)
		return symbol;
	qn_buff(&e->run, "\t{\n\tconst %s a = %s;\n\n", type, symbol);
	return "a";
}

void
qn_emit_args_end(qn_emitter *e)
{
	if (e->rom)
		qn_buf_puts(&e->run, "\t}\n");
}

void
qn_emit_measure_loads(qn_plan *p, qn_arena *a)
{
	qn_arena *tmp = qn_arena_child(a);
	qn_emitter e;

	qn_emitter_init(&e, p, tmp);
	for (size_t i = 0; i < p->nstep; i++) {
		qn_emit_step(&e, i);
		p->step[i].load = e.loaded;
	}
	qn_arena_release(tmp);
}
