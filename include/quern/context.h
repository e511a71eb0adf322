/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - contexts, and what every call has to do with: status, callbacks, limits, diagnostics,
 * files.
 *
 *   const qn_config config = {.size = sizeof config, .log = print_line, .threads = 4};
 *   qn_ctx *ctx = qn_open(&config);
 *
 *   for (size_t i = 0; i < qn_diag_count(ctx); i++) …qn_diag_get(ctx, i)…
 *   qn_close(ctx);                                     frees everything that came from it
 *
 * Everything else belongs to a context.  Nothing exits, prints or keeps global state. */
#ifndef QUERN_CONTEXT_H
#define QUERN_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* On Windows a program that uses the shared library defines QN_SHARED (CMake and pkg-config do). */
#if defined(_WIN32) || defined(__CYGWIN__)
#if defined(QN_BUILD_SHARED)
#define QN_API __declspec(dllexport)
#elif defined(QN_SHARED)
#define QN_API __declspec(dllimport)
#else
#define QN_API
#endif
#elif defined(__GNUC__)
#define QN_API __attribute__((visibility("default")))
#else
#define QN_API
#endif

/* The result of a call.  The program `quern` exits with the same number (but with 1 for QN_ENOMEM
 * and QN_EIO). */
typedef enum qn_status {
	QN_OK = 0,
	QN_EINVALID = 1, /* the model or the data is wrong; the diagnostics say where */
	QN_EUSAGE = 2,   /* the call or the command line is wrong */
	/* correct, but not supported; the diagnostics name the node and the reason */
	QN_EUNSUPPORTED = 3,
	QN_EACCURACY = 4, /* accuracy threshold not met, or a device computes something else */
	QN_EBUDGET = 5,   /* a limit of size or time was exceeded */
	/* the allocator returned NULL; the context stays usable, the model of the call does not */
	QN_ENOMEM = 6,
	QN_EIO = 7,        /* a file could not be read or written */
	QN_ECANCELLED = 8, /* the host's progress callback ended the call */
	QN_EINTERNAL = 70  /* an internal error of Quern */
} qn_status;

typedef enum qn_severity { QN_ERROR = 0, QN_WARNING = 1, QN_INFO = 2 } qn_severity;

/* Handles.  All of them belong to a context, which frees what is left of them when it is closed. */
typedef struct qn_ctx qn_ctx;     /* everything else belongs to one */
typedef struct qn_model qn_model; /* a network: graphs, constants, quantization parameters */
typedef struct qn_graph qn_graph; /* one graph of a model (quern/graph.h) */
typedef struct qn_array qn_array; /* numbers with an element type and a shape, or samples */
typedef struct qn_stats qn_stats; /* what a calibration observed (quern/calibrate.h) */

/* A value of a graph, which is the node that computes it; values count from 1 in topological
 * order. 0: none. */
typedef uint32_t qn_id;

/* Receives n bytes of text (no NUL at the end).  Anything but 0 stops the call with QN_EIO. */
typedef int qn_write_fn(void *user, const char *text, size_t n);

/* Receives one line without a newline. */
typedef void qn_log_fn(void *user, const char *line);

/* How far a call is: `done` of `total` steps of a stage.  Returns 0 to go on; anything else ends
 * the call with QN_ECANCELLED (cancelled): files are as before, and so is the model, though
 * passes may have been run.  Called often, on the thread of the call; it must not call the
 * library with anything of this context.  A call goes through one stage or several, and through
 * some more than once:
 *
 *   "passes"     passes of qn_compile
 *   "samples"    samples that are checked before a calibration
 *   "rewrite"    passes of qn_rewrite_model over the graph, of at most 100
 *   "calibrate"  batches that a calibration observes, in each pass over the samples
 *   "search"     partitions whose scales a calibrate callback finds
 *   "run", "measure", "noise"     batches of qn_run, qn_measure, qn_measure_noise
 *   "equalize"                    groups of layers that equalization tries
 *   "activations"                 trials of QN_ACTIVATIONS_AUTO, of at most 32
 *   "validate"                    samples that a device runs (qn_validate)
 *   "repairs"                     layers whose weights are rounded or biases corrected
 *   "ranges"                      values whose range is tried narrower
 *   "states"                      batches that are run for the values of states
 *   "layers"                      layers that qn_analyze measures, also for qn_tune
 *   "candidates"                  candidates that qn_tune compiles and measures
 *   "load", "emit"                steps of reading a model, of writing C
 *
 * With several threads, done is an estimate. */
typedef int qn_progress_fn(void *user, const char *stage, uint64_t done, uint64_t total);

/* What a callback that reads files found. */
typedef enum qn_file_result {
	QN_FILE_FOUND = 0,  /* *data and *n are set */
	QN_FILE_UNKNOWN = 1 /* the library looks in the file system */
} qn_file_result;

/* Sets *data and *n to the bytes of a file that the library wants to read: what a call names, and
 * what that file names beside it (weights in a safetensors file, external data of ONNX) under its
 * path. Returns a qn_file_result; anything else is QN_EIO (file.read).  The bytes must not change
 * or go until the models and arrays that were read from them are freed.  May be called from
 * several threads at a time (qn_config.threads), for a file that holds samples. */
typedef int qn_read_file_fn(void *user, const char *path, const void **data, size_t *n);
/* Takes a whole file of n bytes that a call would write, one after the other of several.
 * Anything but 0 is QN_EIO (file.write). */
typedef int qn_write_file_fn(void *user, const char *path, const void *data, size_t n);

/* ---- contexts ---- */

/* The host's allocator: new_size 0 frees p (of old_size bytes) and returns NULL; p NULL
 * allocates; else resizes as realloc does.  NULL means out of memory. */
typedef void *qn_alloc_fn(void *user, void *p, size_t old_size, size_t new_size);

/* Instruction sets of the float arithmetic.  All of them give the same bytes; this is for tests
 * and measurements.  A set that the processor lacks is replaced by the next smaller one, one of
 * another architecture by the baseline. */
typedef enum qn_simd_kind {
	QN_SIMD_BEST = 0,
	QN_SIMD_BASELINE = 1,
	QN_SIMD_AVX2 = 2,
	QN_SIMD_AVX512 = 3,
	QN_SIMD_NEON = 4
} qn_simd_kind;

/* How much a model may ask for (docs/limits.md).  0: the default. */
typedef struct qn_limits {
	/* graphs that call graphs, one inside another: 64, which is also the largest */
	uint64_t nesting;
	uint64_t nodes; /* nodes of a model, those of a called graph counted at each call: 2^20 */
	uint64_t dim;   /* one dimension of a value: 2^31 - 1 */
	uint64_t bytes; /* one value, one file: 2^32 */
	/* multiplications and elements of one run, and of all searches of a calibration: 2^40 */
	uint64_t steps;
	/* steps of all searches for a pattern in a graph: 2^27, about ten seconds */
	uint64_t matching;
} qn_limits;

typedef struct qn_config {
	size_t size;        /* 0 or sizeof(qn_config) (quern/quern.h, Binary interface) */
	qn_alloc_fn *alloc; /* NULL: malloc */
	void *alloc_user;
	qn_log_fn *log; /* notes; NULL: silent */
	void *log_user;
	/* run samples in parallel in compile, run and measure; 0: 1; the results are the same */
	int threads;
	qn_simd_kind simd;        /* the best that may be used */
	qn_limits limits;         /* exceeding one is QN_EBUDGET with its name, "limit.nodes" */
	qn_progress_fn *progress; /* NULL: not called */
	void *progress_user;
	qn_read_file_fn *read_file;   /* NULL: files of the file system, and those of qn_file_add */
	qn_write_file_fn *write_file; /* takes the place of the file system; NULL: it is written */
	void *files_user;             /* of both */
} qn_config;

/* config NULL: defaults.  NULL when out of memory, or when config has a size or members that this
 * release does not know. */
QN_API qn_ctx *qn_open(const qn_config *config);
/* Frees the context and everything that came from it; NULL is fine. */
QN_API void qn_close(qn_ctx *ctx);
/* "0.1.0" */
QN_API const char *qn_version(void);

/* For "did you mean": the nearer of two known names to a mistyped or shortened one (also a word of
 * it: m4 for cortex-m4), `best` when both are as near, NULL when neither is near (or NULL).  Case
 * does not count.  Begin with NULL and call it for each known name: best = qn_nearer_name(wanted,
 * best, name). */
QN_API const char *qn_nearer_name(const char *wanted, const char *best, const char *name);

/* ---- diagnostics: kept until cleared, at most 100; later ones are only counted ---- */

typedef struct qn_diagnostic {
	qn_severity severity;
	const char *id;      /* stable, dotted: "type.scale", "json.cycle" */
	const char *place;   /* file:line:column, file:/json/pointer or a node; "" when unknown */
	const char *message; /* what is wrong, the value, what to do */
} qn_diagnostic;

QN_API size_t qn_diag_count(const qn_ctx *ctx);
/* How many came after the first 100. */
QN_API size_t qn_diag_dropped(const qn_ctx *ctx);
/* Diagnostic i < qn_diag_count, all zero for any other; its texts live until the next clear or
 * close. */
QN_API qn_diagnostic qn_diag_get(const qn_ctx *ctx, size_t i);
QN_API void qn_diag_clear(qn_ctx *ctx);

/* ---- files ----
 *
 * What a call writes is complete or absent: it goes to hidden temporary files (.quern-*) in the
 * same folder, and those of one folder get their names together, under a lock of the folder
 * (flock).  A process that is killed meanwhile leaves the files from before, or a journal which
 * the next call that writes to the folder carries out; that call also removes temporary files of
 * dead processes. Errors (QN_EIO): file.write; file.lock: another program holds the folder for a
 * minute; file.commit: the files from before could not be put back. */

/* Makes n bytes of the host known under a path: calls that read it from now on read them, before
 * they ask qn_config.read_file or the file system: models with the files that they name, samples,
 * labels, statistics, recipes, encodings.  The path's extension names the format; folders cannot
 * be added.  The bytes are not copied: they must not change or go until the models and arrays
 * that were read from them are freed.  A path that was added before gets the new bytes. */
QN_API qn_status qn_file_add(qn_ctx *ctx, const char *path, const void *data, size_t n);
/* Forgets the path; what was read from its bytes still uses them.  0: it was not added. */
QN_API int qn_file_remove(qn_ctx *ctx, const char *path);

/* Writes a file of the host in the same way. */
QN_API qn_status qn_write_file(qn_ctx *ctx, const char *path, const void *data, size_t n);

/* For a signal handler after which the process ends: removes what a call in progress of this
 * context has written so far and not put in place.  May be called at any moment on the thread
 * that uses the context (other threads of the library take no signals); nothing but the end of
 * the process may follow.  While names change, the library blocks signals on its caller's
 * thread. */
QN_API void qn_abandon(qn_ctx *ctx);

#ifdef __cplusplus
}
#endif
#endif
