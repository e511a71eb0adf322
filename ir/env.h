/* SPDX-License-Identifier: Apache-2.0 */
/* env.h - what a context lends to the parts of the library: the host's allocator and log
 * callback, the list of diagnostics, and the place to jump to when memory runs out.  One per
 * context; never shared between threads. */
#ifndef QN_IR_ENV_H
#define QN_IR_ENV_H

#include <setjmp.h>

#include "ir/base.h"

struct qn_diags; /* ir/diag.h */

/* Bytes that the host has added under a path (formats/file_source.c). */
typedef struct qn_memory_file {
	const char *path;
	const void *data;
	size_t n;
	struct qn_memory_file *next;
} qn_memory_file;

typedef struct qn_env {
	qn_alloc_fn *alloc; /* never NULL */
	void *alloc_user;
	qn_log_fn *log; /* NULL: silent */
	void *log_user;
	qn_log_fn *trace; /* of rules that fire or decline; NULL: none */
	void *trace_user;
	const char *trace_pass; /* in which that happens */
	struct qn_diags *diags; /* where qn_report stores; never NULL */
	/* custom operators (ir/custom.h), the last one registered first */
	const struct qn_custom *customs;
	/* kernels of the host (runtime/override.h), the most salient first; what a dispatch may do
	 * beside them (qn_kernel_rules) */
	struct qn_override *overrides;
	bool allow_dequantize, interpreter_only;
	struct qn_host_function *functions; /* of both, in C (ir/host_function.h) */
	/* layouts of the host (ir/layout.h), the last one registered first */
	const struct qn_layout_row *layouts;
	/* of calibration, of the host (calibrate/method_host.c) */
	const struct qn_host_method *methods;
	/* compositions of the host (lib/lib.h), the last file added first */
	const struct qn_lib_file *libs;
	qn_limits limits; /* 0: the default (ir/limits.h) */
	jmp_buf *oom;     /* set by the API's entry for the time of a call */
	size_t threads;   /* that may run samples side by side; 0: 1 */
	/* the context's threads, NULL until they are needed (runtime/pool.h) */
	struct qn_pool *pool;
	/* the best instruction set that float kernels and integer products may use */
	qn_simd_kind simd;
	/* of values of batches that run in lockstep; 0: 256 KiB (runtime/interp.h) */
	size_t bundle_bytes;
	/* runs of a stateful network after which its states are reset; 0: they never are */
	size_t sequence;
	struct qn_mapping *mappings; /* files that are mapped (formats/file.c) */
	/* files on their way (formats/file_write.c), or NULL */
	struct qn_writing *volatile writing;
	/* Set with the first mapping: bytes that nothing will read soon.  Where they are a mapped
	 * file's, they need no memory until they are read again. */
	void (*unneeded)(struct qn_env *env, const void *data, size_t n);
	qn_memory_file *memory_files; /* of the host */
	qn_read_file_fn *read_file;   /* NULL: the file system alone */
	qn_write_file_fn *write_file; /* NULL: the file system */
	void *files_user;
	qn_progress_fn *progress; /* NULL: not called, as on the threads beside the caller's */
	void *progress_user;
	/* of the call, shared by its threads (ir/progress.h); NULL: never */
	struct qn_cancel *cancel;
	/* of the arenas; 0: 64 KiB.  Tests make it small, to have many allocations */
	size_t chunk_bytes;
} qn_env;

/* Raw memory from the host's allocator; NULL when there is none.  Only arena.c, diag.c,
 * parallel.c and pool.c call these. */
void *qn_env_realloc(qn_env *env, void *p, size_t old_size, size_t new_size);
void qn_env_free(qn_env *env, void *p, size_t size);

/* Jumps to env->oom. */
QN_NORETURN void qn_env_oom(qn_env *env);

#endif
