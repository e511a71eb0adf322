/* SPDX-License-Identifier: Apache-2.0 */
/* emitter.h - what the files that write C share: the emitter and printing.
 *
 *   e->args  static const qn_dense_args net_fc_args = {        e->run  / * fc * /
 *                    1, 64, 10, / * batch, in, out * /             qn_dense_s8(&net_fc_args, …);
 *
 * A step prints into both; what it mentions of the model's constants goes into e->constant. */
#ifndef QN_CODEGEN_EMITTER_H
#define QN_CODEGEN_EMITTER_H

#include "codegen/emit.h"
#include "codegen/fields.h"
#include "codegen/ident.h"
#include "codegen/kernel_table.h"
#include "codegen/traces.h"
#include "ir/loops.h"

typedef struct qn_constant {
	const char *name; /* the symbol */
	const qn_tensor *value;
	qn_plain type; /* of an element as it is stored */
	size_t count;
	uint32_t crc;
	const char *note; /* what it is, for a comment */
} qn_constant;

/* An argument struct in the text e->args. */
typedef struct qn_args_text {
	const char *type;
	size_t count;   /* 0: no array */
	size_t from;    /* where it begins */
	size_t body, n; /* what stands between its name and its end */
	const char *symbol;
} qn_args_text;

typedef struct qn_emitter {
	const qn_plan *plan;
	const qn_graph *g;
	qn_arena *arena;
	const char *macro;   /* plan->name in capitals: prefix of macros */
	uint32_t content;    /* of header, program and constants: what holds the files together */
	qn_names names;      /* symbols without the prefix */
	const char **input;  /* members of NAME_inputs */
	const char **output; /* members of NAME_outputs */
	uint32_t *step_of;   /* qn_step_of */
	qn_loops loops;
	qn_traces traces;
	qn_constant *constant; /* in order of first use */
	size_t nconstant, constant_cap, constant_bytes;
	qn_hashes by_crc;   /* their places in the list, counted from 1 */
	qn_pieces pieces;   /* the kernels' texts */
	qn_map fields;      /* of argument structs, by their names */
	qn_buf args;        /* argument structs */
	qn_args_text *text; /* each of them, the open one last */
	size_t ntext, text_cap;
	qn_hashes by_text;          /* their places in the list, counted from 1 */
	qn_buf run;                 /* the statements of NAME_run */
	qn_buf repeats;             /* the functions for steps that are repeated */
	size_t body;                /* of them, where those of the loop that began last begin */
	qn_buf reset;               /* the statements of NAME_reset */
	qn_buf host;                /* the integer functions of custom operators */
	qn_map host_ops;            /* those that are in it */
	int64_t window[QN_NFAMILY]; /* most rows that a family's kernels look at at once */
	bool uses_scratch, uses_in, uses_out, uses_state;
	bool rom;              /* constants lie in program memory (emit_rom.c) */
	bool rom_reads_ram;    /* pointers to them also point to RAM */
	const qn_step *loader; /* the step whose statements are printed */
	size_t loaded;         /* bytes of constants that are copied to RAM for it */
	qn_buf loads, before;  /* the statements that do it, and those of the steps before */
	bool shares;           /* kernels with other networks of one C file */
	bool words;            /* constants of bytes are declared as words (emit_words.c) */
} qn_emitter;

void qn_emitter_init(qn_emitter *e, const qn_plan *p, qn_arena *a);
/* Prints args and run of all steps; of step i, which come in order, qn_emit_output_copies after them. */
void qn_emit_steps(qn_emitter *e);
void qn_emit_step(qn_emitter *e, size_t i);

/* An input or output of the graph. */
typedef struct qn_port {
	const char *way;  /* "IN" or "OUT" */
	const char *name; /* as a C identifier */
	const char *text; /* the name in the graph */
	const qn_type *type;
} qn_port;

size_t qn_port_count(const qn_emitter *e, bool input);
qn_port qn_port_of(const qn_emitter *e, bool input, size_t k);

/* Names of inputs and outputs, and those of the program, which constants and argument structs cannot have. */
void qn_emit_names(qn_emitter *e);

/* The texts of the files. */
void qn_emit_header(qn_emitter *e, const qn_emit_style *opts, bool selftest, qn_buf *b);
void qn_emit_source(qn_emitter *e, qn_buf *b);
void qn_emit_weights(qn_emitter *e, qn_buf *b);
void qn_emit_selftest(qn_emitter *e, const qn_selftest *t, qn_buf *b);
void qn_emit_io(qn_emitter *e, qn_buf *b);
/* Of a network that reads one token: NAME_step, for the header; whether there is a NAME_sample.h, and its text. */
void qn_emit_step_function(const qn_emitter *e, qn_buf *b);
bool qn_emitted_samples(const qn_emitter *e);
void qn_emit_sample(qn_emitter *e, qn_buf *b);
void qn_emit_proof(qn_emitter *e, qn_buf *b);
void qn_emit_device(qn_emitter *e, qn_buf *b);

/* What a program that follows the steps needs (emit_selftest.c): the table width, bytes of an element of each
 * step's result, and the function crc32_of. */
void qn_emit_widths(const qn_emitter *e, qn_buf *b);
void qn_emit_crc32(qn_buf *b);

/* ---- printing (emit_print.c) ---- */

/* "int8_t" for i8 …; NULL for types without an integer C type. */
const char *qn_ctype(qn_plain p);
qn_plain qn_stored_plain(const qn_type *type);

/* SPDX line and "NAME<suffix> - <what>" with the notice. */
void qn_emit_notice(qn_emitter *e, const char *suffix, const char *what, qn_buf *b);
/* Refuses to compile with a header of another compilation. */
void qn_emit_content_check(const qn_emitter *e, const char *suffix, qn_buf *b);
/* One constant has the content in the name of its symbol, so that objects of two compilations do
 * not link: a macro for the text that follows. */
void qn_emit_content_symbol(const qn_emitter *e, qn_buf *b);
/* Text that can stand in a comment, on one line. */
void qn_emit_comment(qn_buf *b, const char *text);
/* "[1,8,8,16]" */
/* " (conv1, bn1)": the layers that a step computes, as in a comment; nothing where it is `name` alone. */
void qn_emit_layers(qn_buf *b, const qn_graph *g, const qn_step *s, const char *name);
void qn_emit_shape(qn_buf *b, const qn_type *type);
void qn_emit_int(qn_buf *b, int64_t v, qn_plain p);
/* All elements between braces, in lines of about 100 columns. */
void qn_emit_array(qn_buf *b, const qn_tensor *x, size_t count, qn_plain p, const char *indent);

/* ---- argument structs (emit_args.c) ---- */

/* The fields of a struct of the kernels' texts. */
const qn_fields *qn_emit_fields(qn_emitter *e, const char *type);
/* Adds "static const TYPE NAME_STEP_args = {…" to e->args and returns its symbol: that of an equal
 * struct when there is one.  args begins as the struct does, with its integers; its pointers are
 * the symbols, in order, NULL where one is NULL. */
const char *qn_emit_struct(qn_emitter *e, const qn_step *s, const char *type, const void *args,
			   const char *const *pointer);
/* The same of an array of n structs, which have no pointers. */
const char *qn_emit_structs(qn_emitter *e, const qn_step *s, const char *type, const void *args,
			    size_t n);

/* ---- calls (emit_kernel.c) ---- */

/* The call that row k describes, with these prepared arguments. */
void qn_emit_kernel(qn_emitter *e, const qn_step *s, const qn_kernel *k, const void *args);
/* Its two parts: the symbol of the argument struct, and the statement with these expressions. */
typedef struct qn_call {
	const char *args;  /* of the struct */
	const char *x, *y; /* where operand 0 and the result lie; NULL: where their values do */
} qn_call;
const char *qn_emit_kernel_args(qn_emitter *e, const qn_step *s, const qn_kernel *k,
				const void *args);
void qn_emit_kernel_call(qn_emitter *e, const qn_step *s, const qn_kernel *k, const void *args,
			 const qn_call *c);
/* A step with a pool, whose rows are computed as its windows want them (emit_strips.c). */
void qn_emit_strips(qn_emitter *e, const qn_step *s);
/* Other calls (emit_move.c, emit_custom.c). */
void qn_emit_view(qn_emitter *e, const qn_step *s, const void *args);
void qn_emit_concat(qn_emitter *e, const qn_step *s, const void *args);
void qn_emit_gather(qn_emitter *e, const qn_step *s, const void *args);
void qn_emit_gather_blocks(qn_emitter *e, const qn_step *s, const void *args);
void qn_emit_plain(qn_emitter *e, const qn_step *s, const void *args);
void qn_emit_plain_along(qn_emitter *e, const qn_step *s, const void *args);
/* The begin of a loop, and after step i the ends of those whose last step it is (emit_loop.c). */
void qn_emit_loop(qn_emitter *e, const qn_step *s, const void *args);
void qn_emit_loop_ends(qn_emitter *e, size_t i);
/* Moves the statements of step s, which begin at this byte, into the loops around it. */
void qn_emit_indented(qn_emitter *e, size_t from, const qn_step *s);
/* The trace of step i: in a loop, of its first and its last run. */
void qn_emit_traced(qn_emitter *e, size_t i);
/* If step i is a trace op: the call that shows its value (emit_trace.c).  The macros of both, for the program;
 * the functions that they call, for the header. */
void qn_emit_trace_op(qn_emitter *e, size_t i);
void qn_emit_trace_macros(const qn_emitter *e, qn_buf *b);
void qn_emit_trace_declarations(const qn_emitter *e, qn_buf *b);
/* What follows NAME_ in the macro that counts the traces: STEPS, or with loops TRACES. */
const char *qn_emit_traces(const qn_emitter *e);
void qn_emit_custom(qn_emitter *e, const qn_step *s, const void *args);

/* ---- how constants are declared (emit_words.c) ---- */

/* Whether its bytes are declared as words. */
bool qn_emit_in_words(const qn_emitter *e, const qn_constant *c);
/* The C type and the number of the elements that it is declared with. */
const char *qn_emit_declared_type(const qn_emitter *e, const qn_constant *c);
size_t qn_emit_declared_count(const qn_emitter *e, const qn_constant *c);
/* Where such constants are used: macros, after their declarations, for pointers to their bytes. */
void qn_emit_word_names(const qn_emitter *e, qn_buf *b);
/* Where they are defined: the macro for one word, and the elements between braces. */
void qn_emit_word_order(const qn_emitter *e, qn_buf *b);
void qn_emit_words(const qn_constant *c, qn_buf *b);

/* ---- steps that are repeated (emit_repeats.c) ---- */

/* Moves them from e->run to functions in e->repeats.  at: where the statements of each step begin in e->run, which ends
 * with those of the last one; one more than steps. */
void qn_emit_repeats(qn_emitter *e, const size_t *at);

/* ---- constants in program memory (emit_rom.c) ---- */

/* "QN_ROM " where constants lie there, else nothing. */
const char *qn_emit_rom(const qn_emitter *e);
/* What QN_ROM is, in each file that uses it. */
void qn_emit_rom_macro(const qn_emitter *e, qn_buf *b);
/* A step's statements: constants that its kernel reads as values are copied before them. */
void qn_emit_loads_begin(qn_emitter *e, const qn_step *s);
void qn_emit_loads_end(qn_emitter *e);
/* The expression for such a copy, of int8_t *. */
const char *qn_emit_load(qn_emitter *e, const char *symbol, size_t bytes);
/* A table of 32-bit numbers that a call passes itself: its symbol, or such a copy; NULL for NULL. */
const char *qn_emit_load_table(qn_emitter *e, const char *symbol, int64_t count);
/* What stands after & for an argument struct in a call between the two: its symbol, or a copy of it in RAM. */
const char *qn_emit_args_begin(qn_emitter *e, const char *type, const char *symbol);
void qn_emit_args_end(qn_emitter *e);
/* Sets how much memory the copies of each step take. */
void qn_emit_measure_loads(qn_plan *p, qn_arena *a);

/* ---- families of storage types (emit_family.c) ---- */

/* Bits of one of the step's weights: 8, or 4 or 2 if they are packed. */
int qn_step_weight_bits(const qn_emitter *e, const qn_step *s);
/* The symbol of constant operand j of such a step, packed. */
const char *qn_emit_packed(qn_emitter *e, const qn_step *s, uint32_t j);
/* A name of the kernels' texts with its tokens replaced (runtime/kernels/families.cmake): by those of
 * a family, with weights that are packed or not, or of the step. */
typedef struct qn_variant {
	qn_family family;
	int bits;    /* of a weight: 8, 4 or 2 */
	bool wide;   /* sums of weights in blocks have 64 bits */
	bool narrow; /* sums of 16-bit values have 32 bits */
} qn_variant;
const char *qn_family_name(const char *text, const qn_variant *v, qn_arena *a);
const char *qn_emit_name(qn_emitter *e, const qn_step *s, const char *text);
/* The array of row pointers that a step uses (qn_emit_windows). */
const char *qn_emit_row_name(qn_emitter *e, const qn_step *s);
/* The C type of the elements of its rows: int8_t … */
const char *qn_emit_row_type(const qn_emitter *e, const qn_step *s);
/* The step's kernel looks at that many rows at once. */
void qn_emit_window(qn_emitter *e, const qn_step *s, int64_t rows);
/* The declarations of the arrays of row pointers that statements mention. */
void qn_emit_windows(const qn_emitter *e, const char *text, size_t n, qn_buf *b);

/* ---- values (emit_value.c) ---- */

/* The symbol of a constant with these bytes; equal ones have one symbol. */
const char *qn_emit_constant(qn_emitter *e, const char *base, const char *note, const qn_tensor *x);
/* The same for a table of a kernel's arguments; NULL for NULL. */
const char *qn_emit_table(qn_emitter *e, const qn_step *s, const char *what, qn_plain p,
			  int64_t count, const void *data);
/* The symbol of the constant that the step reads as operand j; NULL when the step has none. */
const char *qn_emit_operand(qn_emitter *e, const qn_step *s, uint32_t j);
/* Whether operand j is there and not a constant. */
bool qn_operand_varies(const qn_emitter *e, const qn_step *s, uint32_t j);
/* As what type an expression points to a value: the value's own. */
#define QN_OWN ((qn_plain)(QN_NPLAIN + 1))
/* A pointer expression for a value, as a pointer to `as` (QN_NPLAIN: any object pointer). */
const char *qn_emit_ref(qn_emitter *e, qn_id id, qn_plain as);
/* Adds statements for the outputs and states that no step writes. */
void qn_emit_output_copies(qn_emitter *e);

/* ---- states (emit_state.c) ---- */

qn_port qn_state_port_of(const qn_emitter *e, size_t k);
/* NAME_state and the declaration of NAME_reset; nothing without states. */
void qn_emit_state_struct(qn_emitter *e, qn_buf *b);
/* "net_state *state, ", or "". */
const char *qn_emit_state_parameter(const qn_emitter *e);
/* Fills e->reset; the function around it. */
void qn_emit_reset(qn_emitter *e);
void qn_emit_reset_function(const qn_emitter *e, qn_buf *b);
/* Adds statements for the states that no step writes. */
void qn_emit_state_copies(qn_emitter *e);

#endif
