/* SPDX-License-Identifier: Apache-2.0 */
/* emit.h - integer graph -> C files.
 *
 *   schedule   nodes -> steps (a step is one kernel call: conv2d + requantize, pool, …), each with
 *              its kernel and the kernel's arguments
 *   plan       steps -> offsets in the activation arena, by liveness, in place where the kernel allows
 *   emit       plan  -> NAME.h NAME.c NAME_weights.c NAME_io.h NAME_selftest.c NAME_proof.c
 *                       NAME_device.c */
#ifndef QN_CODEGEN_EMIT_H
#define QN_CODEGEN_EMIT_H

#include "codegen/traces.h"
#include "codegen/target.h"
#include "ir/buf.h"
#include "ir/graph.h"
#include "ir/prep.h"

struct qn_kernel;
struct qn_strip_of;

/* A kernel that a step is not to have, with those of the same weights, and why. */
typedef struct qn_declined {
	const struct qn_kernel *kernel; /* NULL: any but plain ones */
	const char *why;
	const struct qn_declined *next;
} qn_declined;

/* A node that a step computes of the value of the node before it. */
typedef struct qn_epilogue {
	qn_id node;
	void *args; /* as its integer implementation prepares them */
} qn_epilogue;

/* One kernel call: a core node and the nodes that follow it, each the only user of the one before.
 * The value that the step leaves is that of the last one. */
typedef struct qn_step {
	qn_id node; /* the last node */
	qn_id core; /* the first: conv2d of conv2d + requantize; == node when it is alone */
	const qn_epilogue *epilogue; /* those after it, in order */
	uint32_t nepilogue;
	uint32_t nin;
	const qn_id
		*in; /* values read: graph inputs, constants or results of earlier steps; the core
			  * node's operands, then what the others read beside the value before */
	const struct qn_kernel *kernel; /* NULL of an alias */
	void *args;                     /* the kernel's arguments */
	/* as the core node's integer implementation prepares them; the same unless they are packed */
	void *prepared;
	const char *name; /* the node's name as a C identifier, unique */
	/* the dispatch among custom kernels; NULL: none matches */
	const struct qn_override_choice *host;
	uint64_t runs;         /* in an inference: 1, or the steps of the loops in which it is */
	uint64_t cost;         /* of its kernel, in estimated instructions; 0: not known */
	size_t constant_bytes; /* of those that no step before it mentions */
	/* Where the result lies. */
	bool in_output; /* straight in output buffer `output` */
	size_t output;
	size_t offset, bytes; /* else in scratch */
	/* the last step that reads it, its own number where none does; the number of steps where
	 * it is an output */
	size_t last;
	/* Memory in the arena that its kernel writes and that is not read after it. */
	size_t work, work_offset;
	/* how much of it is wanted because the result lies where an operand does */
	size_t work_over;
	/* Memory in scratch for the constants that its kernel cannot read from program memory. */
	size_t load, load_offset;
	/* the kernel's row pointers lie there too, after what it wants: from work - rows *
	 * QN_POINTER_BYTES on */
	bool rows_planned;
	const struct qn_strip_of
		*strip; /* what reads its result is computed with it (strips.h); NULL: nothing is */
	/* the value whose bytes this step's result shares without a kernel call (reshape), or 0 */
	qn_id alias;
	size_t alias_offset; /* the bytes before it there */
	/* the step, an index plus 1, of a concat in whose result this one lies (parts.h), from that byte on; 0: none */
	size_t part_of, part_offset;
} qn_step;

/* The layers of the source's file that a step computes; none where it is the one called `name`, which may be NULL. */
void qn_step_layers(const qn_graph *g, const qn_step *s, const char *name, qn_layers *out);

/* What kernels are chosen for (optimize.c). */
typedef enum qn_optimize {
	/* fast ones, as long as constants and scratch stay about what they are */
	QN_OPTIMIZE_BALANCED,
	QN_OPTIMIZE_SPEED,
	QN_OPTIMIZE_SIZE,
	QN_NOPTIMIZE
} qn_optimize;

extern const char *const qn_optimize_names[QN_NOPTIMIZE]; /* "balanced", "speed", "size" */
/* The one of this name, balanced for NULL; QN_EUSAGE after a report (optimize.unknown). */
qn_status qn_optimize_find(qn_env *env, const char *name, qn_optimize *out) QN_MUST_CHECK;

typedef struct qn_plan {
	const qn_graph
		*g;       /* if the graph has calls, a copy without: steps name nodes of this one */
	const char *name; /* prefix of all symbols: a C identifier */
	const qn_target *target;
	qn_optimize optimize;
	const qn_declined *const
		*declined; /* by core node: the kernels that its step is not to have; NULL: none */
	qn_step *step;
	size_t nstep;
	size_t fullest;       /* the first step at which most of scratch is in use */
	size_t scratch_bytes; /* peak of live values after reuse, a multiple of QN_SCRATCH_ALIGN */
	size_t lower_bound;   /* the largest sum of values live at one step */
	size_t weight_bytes;  /* constants that are emitted, parameter tables included */
	size_t state_bytes;   /* of all states together */
	/* in scratch, at the end: states that get the values of others, one after the other */
	size_t moved_offset;
} qn_plan;

enum { QN_SCRATCH_ALIGN = 16 };

typedef struct qn_plan_opts {
	const qn_target *target;
	qn_optimize optimize;
	size_t max_arena,
		max_weights; /* bytes that balanced plans keep to where they can; 0: any */
} qn_plan_opts;

/* Fails with emit.unsupported for each node that cannot be emitted, emit.float when the graph
 * is not integer. */
qn_status qn_plan_make(const qn_graph *g, const char *name, const qn_plan_opts *opts, qn_arena *a,
		       qn_plan **out) QN_MUST_CHECK;

/* emit.function: the C function of a custom operator or kernel may meet a name of the program. */
qn_status qn_emit_check_custom(const qn_plan *p) QN_MUST_CHECK;

/* The graph whose nodes are steps on the target: flat, of i8 where its kernels know no other, and the nodes of
 * each loop together (inline.h, signed.h, loops.h).  In arena a, or g itself. */
qn_status qn_plan_graph(const qn_graph *g, const qn_target *target, qn_arena *a,
			const qn_graph **out) QN_MUST_CHECK;

/* Sets where in scratch the results and the working memory of the plan's steps lie, and its sizes. */
void qn_plan_place(qn_plan *p, qn_arena *a);

/* For each step its kernel, with the memory that it needs, and the kernels that were tried before it with
 * the reason why each cannot compute the step. */
void qn_plan_explain(const qn_plan *p, qn_buf *b);

/* Products that the target has faster kernels for, which round otherwise than the model does. */
size_t qn_plan_has_ties(const qn_plan *p);

/* The function that a step calls; NULL of an alias and where its op's own emitter decides. */
const char *qn_step_function(const qn_graph *g, const qn_step *s, qn_arena *a);

/* The results of a plan's steps that have a CRC; in arena a. */
void qn_plan_traces(const qn_plan *p, qn_arena *a, qn_traces *out);

/* What the self-test holds: for each sample the input bytes, the output bytes and the CRC-32 of
 * each step's result, of one in a loop the last and the first one. */
typedef struct qn_selftest {
	size_t nsample;
	const void *const *in;  /* [nsample * qn_graph_fed] */
	const void *const *out; /* [nsample * qn_graph_given] */
	const uint32_t *crc;    /* [nsample * the number of traces] */
	size_t sequence;        /* samples after which states are reset; 0: all */
} qn_selftest;

/* How constants of bytes stand in NAME_weights.c. */
typedef enum qn_constants {
	QN_CONSTANTS_AUTO,    /* of QN_CONSTANTS_LARGE bytes in all or more as words */
	QN_CONSTANTS_NUMBERS, /* each as a decimal number */
	QN_CONSTANTS_WORDS,   /* eight in a word, which compilers read faster */
} qn_constants;

enum { QN_CONSTANTS_LARGE = 1 << 20 };

typedef struct qn_emit_style {
	const char *options_text; /* the normalized options, for the header's comment */
	uint32_t content_hash;    /* CRC-32 of the model's canonical text */
	bool proof;               /* with NAME_proof.c */
	bool device;              /* with NAME_device.c */
	uint32_t program_hash;    /* for the report: qn_emission_content */
	bool shared_kernels;      /* each kernel once where NAME.c is included beside others */
	/* by input, of the samples; NULL: none is known, or nothing was done to them */
	const qn_prep *const *prep;
	qn_constants constants;
} qn_emit_style;

/* All steps printed, and with it which constants and kernels the files hold. */
typedef struct qn_emission qn_emission;

enum { QN_EMITTED_FILES = 8 };

/* What follows plan->name in the name of the model that belongs to NAME_device.c. */
#define QN_EMITTED_MODEL ".integer.qir"

/* The plan, opts and test must outlive it; test may be NULL: then there is no self-test. */
qn_status qn_emission_make(const qn_plan *p, const qn_emit_style *opts, const qn_selftest *test,
			   qn_arena *a, qn_emission **out) QN_MUST_CHECK;
/* What follows plan->name in the name of file i: ".h", ".c", "_weights.c", "_io.h", "_selftest.c",
 * "_proof.c", "_device.c", "_sample.h"; NULL for a file that is not there. */
const char *qn_emission_suffix(const qn_emission *e, int i);
/* Of text i whether this emission has it or not. */
const char *qn_emitted_suffix(int i);
/* CRC-32 of header, program and constants: NAME_CONTENT. */
uint32_t qn_emission_content(const qn_emission *e);
/* Prints file i; b may have a sink. */
void qn_emission_print(qn_emission *e, int i, qn_buf *b);

typedef struct qn_emitted {
	const char *
		/* ".h", ".c", "_weights.c", "_io.h", "_selftest.c", "_proof.c", "_device.c", "_sample.h": the
		 * file's name is plan->name and this */
		suffix;
	const char *text;
	size_t n;
} qn_emitted;

/* The texts of all files, in arena a; text NULL for a file that is not there. */
qn_status qn_emit_c(const qn_plan *p, const qn_emit_style *opts, const qn_selftest *test,
		    qn_arena *a, qn_emitted out[QN_EMITTED_FILES]) QN_MUST_CHECK;

#endif
