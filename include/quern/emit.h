/* SPDX-License-Identifier: Apache-2.0 */
/* emit.h - C code of an integer model, its report, and the plan of its memory and steps
 * (docs/emitted-code.md, docs/report.md).
 *
 *   const qn_emit_opts opts = {.size = sizeof opts, .target = "cortex-m4",
 *                              .max_arena_bytes = 64 * 1024};
 *   qn_emit_info info;
 *
 *   qn_emit(m, "out", &opts, &info);                   NAME.c, NAME.h, NAME_weights.c … */
#ifndef QUERN_EMIT_H
#define QUERN_EMIT_H

#include "quern/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- emit ---- */

typedef struct qn_emit_opts { /* all zero: defaults */
	size_t size;
	const char *name; /* prefix of files and symbols; NULL: the model's name */
	/* a name of qn_target_name: whose instructions the C may use; NULL: "generic" */
	const char *target;
	/* What kernels are chosen for: "speed", the fastest of the target; "size", the smallest;
	 * "balanced" or NULL, the fastest as long as the constants stay within 6/5 and the
	 * activation arena within 9/8 of those of portable kernels, plus 256 bytes each, and both
	 * within the budgets.
	 * Target and choice never change the bytes that are computed. */
	const char *optimize;
	/* Budgets in bytes; 0: none.  If balanced, kernels that need less are chosen first.
	 * Exceeding one is QN_EBUDGET, and nothing is written. */
	size_t max_arena_bytes; /* of the activation arena */
	size_t max_weight_bytes;
	/* Samples for the self-test, an array for each input; NULL: no self-test file, or see
	 * drawn_test.  A model without inputs: any pointer.  How their values were preprocessed (qn_data_opts) stands in
	 * NAME.h and in the report. */
	qn_array *const *test;
	size_t ntest;
	size_t test_samples; /* how many of them; 0: 4 */
	/* 1: no self-test file; the samples only say how they were preprocessed */
	int no_self_test;
	/* 1: NAME_proof.c too, a main that runs the program once with every input unknown, for an
	 * analyser */
	int proof;
	/* 1: NAME.c can be included in a C file beside those of other models, with each kernel
	 * once */
	int shared_kernels;
	/* How NAME_weights.c spells bytes: "numbers", decimal; "words", eight in a word, which C
	 * compilers read several times as fast; NULL or "auto": words where all constants have 1
	 * MiB or more.  The bytes in memory are the same. */
	const char *constants;
	/* Receives a text that says for each step which kernel computes it, and why not those
	 * before it in the order of choice; NULL: not written. */
	qn_write_fn *explain;
	void *explain_user;
	/* 1: what qn_validate needs, too: NAME_device.c, a loop that takes samples and sends
	 * outputs, and NAME.integer.qir, the model as it was emitted */
	int validation;
	/* 1: where `ntest` is 0, the self-test's samples are pseudo-random quantized values, the
	 * same for all compilations (integers of 32 bits and more without a scale: from 0 to 127) */
	int drawn_test;
	/* A budget as those above: of the activation arena and all states together, 0: none.
	 * Inputs, outputs and the stack are not counted. */
	size_t max_ram_bytes;
} qn_emit_opts;
/* Target i and one line about it; NULL after the last.  The first is the default. */
QN_API const char *qn_target_name(size_t i);
QN_API const char *qn_target_help(size_t i);

typedef struct qn_emit_info {
	const char *name;     /* the prefix as a C identifier; lives as long as the model */
	size_t scratch_bytes; /* of the activation arena */
	/* what any plan with these kernels needs: the largest sum of buffers that live at once */
	size_t scratch_lower_bound;
	size_t weight_bytes; /* of all constants */
	size_t steps;        /* kernel calls of one run */
	/* of one run, estimated from counts on a target (docs/performance.md): that of the options,
	 * or "generic", on a Cortex-M4, if it was not counted */
	uint64_t instructions;
	const char *instructions_of;
	/* the files that were written, by what follows `name`: ".h, .c, _weights.c, …"; lives as
	 * long as the model */
	const char *files;
} qn_emit_info;

/* A buffer of the activation arena. */
typedef struct qn_plan_buffer {
	size_t size;      /* of the struct in this library */
	const char *name; /* the value that the step computes */
	/* "result"; "work": memory that its kernel needs while it runs; "constants": a copy of
	 * those that the kernel cannot read from program memory */
	const char *use;
	size_t offset, bytes; /* in the arena; a result may lie where an operand ends its life */
	size_t first, last;   /* steps in which it lives, from 0 */
} qn_plan_buffer;
typedef void qn_plan_fn(void *user, const qn_plan_buffer *buffer);

/* Plans the memory of an integer model as qn_emit would with these options, and calls fn for each
 * buffer in the order of the steps; nothing is emitted.  Results that are written straight into
 * the caller's output buffers are not in the arena.  opts NULL: defaults.  info may be NULL. */
QN_API qn_status qn_memory_plan(qn_model *m, const qn_emit_opts *opts, qn_plan_fn *fn, void *user,
				qn_emit_info *info);

/* A step of the program: one kernel call, or a value that is another one's bytes (0
 * instructions). */
typedef struct qn_plan_step {
	size_t size;      /* of the struct in this library */
	const char *name; /* of the value that it computes */
	size_t layers;
	const char *const *layer; /* of the source's file, that it computes */
	uint64_t macs, weight_bytes;
	uint64_t instructions; /* of one run, estimated (qn_emit_info) */
} qn_plan_step;
typedef void qn_step_fn(void *user, const qn_plan_step *step);

/* Plans an integer model as qn_memory_plan does, and calls fn for each step in their order; its
 * texts live for the call.  opts NULL: defaults.  info may be NULL. */
QN_API qn_status qn_plan_steps(qn_model *m, const qn_emit_opts *opts, qn_step_fn *fn, void *user,
			       qn_emit_info *info);

/* Writes the C files and NAME.report.json of an integer model into a folder, which is created if
 * needed: all files or none.  opts NULL: defaults.  info may be NULL. */
QN_API qn_status qn_emit(qn_model *m, const char *folder, const qn_emit_opts *opts,
			 qn_emit_info *info);

/* Receives a piece of a file, of n > 0 bytes; name: "digits_weights.c".  The pieces of a file
 * come one after the other, files one after the other; another name begins the next file.
 * Anything but 0 stops with QN_EIO (emit.write).  It must not call the library with anything of
 * this context. */
typedef int qn_file_fn(void *user, const char *name, const char *text, size_t n);
/* Passes the same files to fn instead; the file system is not touched.  fn is not called before
 * the model's stage, its C and the budgets have been checked; what it was passed when memory runs
 * out or fn stops is the host's to discard. */
QN_API qn_status qn_emit_to(qn_model *m, const qn_emit_opts *opts, qn_file_fn *fn, void *user,
			    qn_emit_info *info);

#ifdef __cplusplus
}
#endif
#endif
