/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_table.h - one row for each kernel that emitted code calls: what the steps that call it are,
 * and what the call looks like.  What is prepared, fused, planned and printed follows from it.
 *
 *   static const qn_kernel softmax[] = {
 *           {.name = "qn_softmax_q", .args = "qn_softmax_args", .families = QN_8BIT_FAMILIES,
 *            QN_CODES_1, .in_place = 1, .fits = qn_fits_fixed},
 *           {.name = "qn_softmax_any_q", .args = "qn_softmax_any_args", …
 *   };
 *   const qn_op_kernels qn_emit_op_softmax = QN_KERNELS(softmax);
 *
 * The rows of an op are tried in order; the first that fits is called, or of those with a cost the one that
 * costs least.  So another kernel for some steps of an op is another row before those that are there.  The rows of all ops are in kernels_*.c;
 * the fields of an argument struct are read from its text (fields.h). */
#ifndef QN_CODEGEN_KERNEL_TABLE_H
#define QN_CODEGEN_KERNEL_TABLE_H

#include "codegen/emit.h"
#include "codegen/target.h"
#include "runtime/family.h"
#include "runtime/kernels/requantize.h"

struct qn_emitter;

/* As what a call points to an operand or to the result. */
typedef enum qn_pointed {
	QN_AS_NONE,  /* not passed, nor are those after it */
	QN_AS_OWN,   /* elements of the value's storage type */
	QN_AS_ANY,   /* void */
	QN_AS_BYTES, /* int8_t, whatever the value's elements are */
} qn_pointed;

/* Where a pointer field of an argument struct comes from: from a constant operand or, where `table`
 * says how its symbol's name ends, from a table that the prepared arguments point to. */
typedef struct qn_pointer {
	uint32_t operand; /* > 0 */
	bool packs;       /* of weights of 4 bits: two in a byte, or as the kernel has them */
	const char *table;
	size_t at;    /* where the prepared arguments hold the table's address */
	size_t count; /* where they hold its number of groups, an int32_t; 0: there is one */
	size_t each;  /* entries of a group */
} qn_pointer;

/* Where the prepared arguments hold what a fused requantize sets. */
typedef struct qn_fused {
	size_t channels; /* the int32_t that counts the result's channels, its last axis */
	size_t zo, lo, hi, mode, mult_n, mult, shift;
} qn_fused;

/* A call keeps up to this number of row pointers on the stack; more are in the activation arena, with the
 * size of the largest pointers, so that plans are the same for all processors. */
enum { QN_STACK_ROWS = 16, QN_POINTER_BYTES = 8 };

/* What a step would be, for the rows to look at. */
typedef struct qn_step_facts {
	const qn_graph *g;
	const qn_step *step;
	const qn_node *core, *node; /* its first and its last node */
	qn_family from, family; /* of operand 0; of the result or, where that has none, `from` */
	uint32_t features;      /* of the target, and QN_TARGET_ANY */
	const qn_declined *declined; /* kernels that it is not to have */
} qn_step_facts;

enum { QN_KERNEL_OPERANDS = 3, QN_KERNEL_POINTERS = 6 };

typedef struct qn_kernel {
	const char *name, *args; /* function and argument struct, with tokens (families.cmake) */
	uint32_t families;       /* bit f: steps of qn_family f; 0: of any storage */
	uint32_t reads;          /* bit f: operand 0 of family f; 0: of any storage */
	/* The call is NAME(&args, operand 0, …, row pointers, result).  An operand that the node does
	 * not have is NULL. */
	qn_pointed in[QN_KERNEL_OPERANDS], out;
	qn_pointer pointer[QN_KERNEL_POINTERS]; /* one for each pointer field, in their order */
	/* It makes some rows of its result as those of a part of its operand: the bytes of its arguments, which
	 * begin as qn_conv2d_args do; 0: not it (strips.h). */
	size_t by_rows;
	/* It makes each element of its result of the one in the same place, so it makes those of some rows alone: how
	 * many int32_t its arguments begin with whose product counts the elements, of which the first one is above 1
	 * where it counts rows; 0: not it (strips.h). */
	uint32_t counts;
	bool narrow; /* of 16-bit values, with sums of 32 bits: its names are those of s16n */
	bool reads_rows; /* of its operand only those of a window at a time; its arguments are qn_pool_args */
	size_t rows;           /* where the arguments say how many row pointers it wants; 0: none */
	bool shrinks;          /* its result may begin where an operand of larger elements does */
	uint32_t in_place;     /* bit j: the result may lie where operand j of the same size lies */
	uint32_t needs;        /* features of the target (target.h); 0: it is a plain one */
	const qn_fused *fused; /* it does the work of a requantize; NULL: of the core node alone */
	/* Why it cannot compute the step, in a few words; NULL when it can.  Optional. */
	const char *(*fits)(const qn_step_facts *f);
	/* Estimated instructions of a Cortex-M4, from arguments that are prepared; of rows that may be right for
	 * the same step.  Optional: NULL of one that is better than all after it. */
	uint64_t (*cost)(const qn_step_facts *f);
	/* Makes the kernel's arguments of those that are prepared and fused: a copy, or another struct, with
	 * constants in the order in which the kernel reads them.  Optional. */
	void *(*pack)(const qn_step_facts *f, qn_arena *a);
	/* Bytes of working memory, from its own arguments; it is passed as elements of this C type before
	 * the result, NULL where it wants none.  Optional. */
	size_t (*work)(const void *args);
	const char *work_type;
	/* That many bytes more, after those, where the result lies where an operand does.  Optional; not with
	 * row pointers. */
	size_t (*work_over)(const void *args);
	/* Prints a step whose call is different; args are the prepared ones.  Optional. */
	void (*emit)(struct qn_emitter *e, const qn_step *s, const void *args);
} qn_kernel;

typedef struct qn_op_kernels {
	const char *why; /* why no C is written for this op; NULL when it is */
	bool alias;      /* the result is the bytes of input 0 */
	const qn_kernel *kernel;
	size_t nkernel;
} qn_op_kernels;

#define QN_KERNELS(rows)                                                                           \
	{                                                                                          \
		.kernel = rows, .nkernel = QN_COUNT(rows)                                          \
	}

/* The operands of most kernels: one or two of the result's kind. */
#define QN_CODES_1 .in = {QN_AS_OWN}, .out = QN_AS_OWN
#define QN_CODES_2 .in = {QN_AS_OWN, QN_AS_OWN}, .out = QN_AS_OWN
#define QN_ANY_1 .in = {QN_AS_ANY}, .out = QN_AS_ANY
#define QN_ANY_2 .in = {QN_AS_ANY, QN_AS_ANY}, .out = QN_AS_ANY

/* A table: a pointer field of the prepared arguments' struct, with that many numbers for each of those
 * that another field counts. */
#define QN_TABLE(type, field, number, numbers)                                                     \
	{                                                                                          \
		.table = #field, .at = offsetof(type, field), .count = offsetof(type, number),     \
		.each = (numbers)                                                                  \
	}

/* What a requantize sets in arguments of this type, whose field channel_count counts the result's channels. */
#define QN_FUSED(type, channel_count)                                                              \
	&(const qn_fused)                                                                          \
	{                                                                                          \
		.channels = offsetof(type, channel_count), .zo = offsetof(type, zo),               \
		.lo = offsetof(type, lo), .hi = offsetof(type, hi), .mode = offsetof(type, mode),  \
		.mult_n = offsetof(type, mult_n), .mult = offsetof(type, mult),                    \
		.shift = offsetof(type, shift)                                                     \
	}

enum { QN_8BIT_FAMILIES = 1 << QN_FAMILY_s8 | 1 << QN_FAMILY_u8 };

const qn_op_kernels *qn_op_kernels_get(qn_op op);
/* The table of a node: for arithmetic on plain integers that of kernels_move.c, of products with weights
 * in blocks that of kernels_blocks.c. */
const qn_op_kernels *qn_op_kernels_of(const qn_graph *g, const qn_node *n);
const qn_op_kernels *qn_blocks_kernels(const qn_graph *g, const qn_node *n); /* NULL: not one */
extern const qn_op_kernels qn_emit_dense_blocks, qn_emit_conv2d_blocks,
	qn_emit_conv2d_transpose_blocks, qn_emit_conv3d_blocks;

/* The first row that fits or, where it has a cost, the one of the least cost; NULL, and *why not, of the last
 * one, when none does. */
const qn_kernel *qn_kernel_choose(const qn_kernel *k, size_t n, const qn_step_facts *f,
				  const char **why);
/* Why the kernel cannot compute the step; NULL when it can. */
const char *qn_kernel_differs(const qn_kernel *k, const qn_step_facts *f);
qn_step_facts qn_step_facts_of(const qn_graph *g, const qn_step *s);
/* Says what kernels there are to choose from; declined: as qn_plan has it. */
void qn_step_facts_choose(qn_step_facts *f, uint32_t features, const qn_declined *const *declined);
/* The int32_t that the arguments hold there. */
int32_t qn_kernel_int(const void *args, size_t at);
/* Sets the fields of the requantize that the step's kernel fuses. */
void qn_kernel_fuse(const qn_step *s);

/* What the rows of several ops test: whether the result has the parameters that its op prefers,
 * operand 0 the storage of the result, a value a scale for each channel. */
const char *qn_fits_fixed(const qn_step_facts *f);
const char *qn_fits_own(const qn_step_facts *f);
const char *qn_fits_channels(const qn_step_facts *f);

/* The row of steps with a custom kernel (emit_custom.c). */
extern const qn_kernel qn_host_kernel;

/* Rows of several files (kernels_unary.c): a table of one value. */
enum { QN_TABLE_KERNELS = 3 };
extern const qn_kernel qn_table_kernels[QN_TABLE_KERNELS];

#endif
