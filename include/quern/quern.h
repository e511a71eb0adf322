/* SPDX-License-Identifier: Apache-2.0 */
/* quern.h - libquern, a quantizing graph compiler: contexts, models, samples, compile, emit.
 *
 *   qn_ctx *ctx = qn_open(NULL);
 *   qn_model *m;
 *   qn_array *calib;
 *   qn_compile_opts opts = {0};
 *
 *   if (qn_load(ctx, "model.json", &m) == QN_OK &&
 *       qn_array_load(ctx, "calib.npy", &calib) == QN_OK) {
 *           opts.calib = &calib;
 *           opts.ncalib = 1;
 *           if (qn_compile(m, &opts) == QN_OK)        float -> integer
 *                   qn_emit(m, "out", NULL, NULL);    NAME.c, NAME.h, NAME_weights.c …
 *   }
 *   for (size_t i = 0; i < qn_diag_count(ctx); i++) …qn_diag_get(ctx, i)…
 *   qn_close(ctx);                                     frees everything that came from it
 *
 * That is all that most hosts need.  The other subjects have headers of their own, each of which
 * includes this one; this one includes none of them:
 *
 *   quern/calibrate.h   statistics in parts, calibration callbacks, the methods
 *   quern/measure.h     running a model, accuracy, labels, noise of quantization
 *   quern/graph.h       building a graph value by value, reading one, the table of operators
 *   quern/patterns.h    patterns over graphs, rewrite rules, partitions, quantizer patterns
 *   quern/host_ops.h    operators that the host defines
 *   quern/layout.h      quantized tensors as named planes, packed forms, quantizers
 *
 * Every function returns a status unless its comment says otherwise.  What went wrong is in the
 * diagnostics of the context, each with a stable id, a place, and a message with the value and
 * what to do.  Nothing exits, prints or keeps global state.
 *
 * Threads: a context and everything that came from it are used by one thread at a time; contexts
 * are independent of each other.  The threads of a context (qn_config.threads) wait between calls
 * and end with qn_close; they call the host's allocator one at a time and block all signals.  A
 * process made by fork opens contexts of its own.  The floating-point environment is set to the
 * default during a call and restored.
 *
 * Binary interface: a program that was built with the headers of release 0.N runs with every
 * library 0.N.x (the shared library's name has both numbers).  Structs that the host fills and
 * that may grow begin with `size`: sizeof the struct as the host compiled it; 0 stands for the
 * members of release 0.1, so `= {0}` is always right.  New members come after all others and 0
 * means what was before.  The library takes members that the host does not have as 0, and refuses
 * a struct that is larger than its own where a byte that it does not know is not 0 (QN_EUSAGE,
 * struct.size).  In an array of such structs every element says its size, unless there is only
 * one.  What the library fills and passes by pointer may grow too, and has a `size` where the
 * host stores it.  All other structs are frozen: what comes later gets functions or structs of
 * its own.  Enumerators keep their numbers. */
#ifndef QUERN_H
#define QUERN_H

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
 *   "calibrate"  batches that a calibration observes, in each pass over the samples
 *   "search"     partitions whose scales a calibrate callback finds
 *   "run", "measure", "noise"     batches of qn_run, qn_measure, qn_measure_noise
 *   "equalize"                    groups of layers that equalization tries
 *   "activations"                 trials of QN_ACTIVATIONS_AUTO, of at most 32
 *   "validate"                    samples that a device runs (qn_validate)
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
	size_t size;        /* 0 or sizeof(qn_config), see above */
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
 * does not count.  Begin with NULL and call it for each known name: best = qn_nearer_name(wanted, best, name). */
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
/* Diagnostic i < qn_diag_count; its texts live until the next clear or close. */
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

/* ---- models: read ---- */

/* Reads a model.  The file extension names the format: .json (docs/json-format.md), .qir (text
 * form, docs/ir.md), .onnx, .tflite or .gguf (docs/importing.md), or it is a Hugging Face
 * folder.  *out belongs to the context; NULL on
 * failure. What is not supported is QN_EUNSUPPORTED with a diagnostic for each node: its name,
 * operator and version, the condition and the value that breaks it, what to do. */
QN_API qn_status qn_load(qn_ctx *ctx, const char *path, qn_model **out);

/* An input that becomes a constant when the model is read: a sample rate, a mask, a length, a
 * state that begins at 0. */
typedef struct qn_input_value {
	const char *name; /* of the input in the file */
	/* comma-separated numbers, "16000", "0.5,-1", "true": one for all elements, or one for
	 * each */
	const char *text;
	/* if text is NULL: of the input's shape, or one element for all; may be freed after the
	 * call */
	const qn_array *array;
	int optional; /* 1: a model without such an input is not an error */
	int used;     /* set by qn_import: 1 when the model has such an input */
} qn_input_value;

typedef struct qn_import_opts { /* all zero: defaults */
	size_t size;
	/* "NAME=N": the length of a dimension that the file leaves open, by its name ("batch=1")
	 * or by input and axis ("image:0=1").  For .onnx and .tflite.  Error: import.dim. */
	const char *const *dim;
	size_t ndim;
	/* 1: dequantize an already quantized model, so that it can be recalibrated.  For .onnx,
	 * .tflite and .gguf.  Error: import.from-float. */
	int from_float;
	/* Inputs that become constants, for all formats.  Errors: import.value (unknown name,
	 * wrong shape, type or range).  Warning: import.fixed (an output depends on no other
	 * input). */
	qn_input_value *value;
	size_t nvalue;
	/* For trusted files of other tools: how many times the limits of docs/limits.md they may
	 * ask for; 0: 1, at most 2^20. */
	uint64_t limit;
	/* 1: accept zero points outside the storage range of their type, which MLIR does not
	 * check; 0: error type.zp.range (docs/types.md).  Real 0 is then not always exact. */
	int lax_zp;
	/* "OUTPUT=INPUT": the output's value is that of the input in the next run, so that both
	 * become a state (docs/state.md); types must be equal.  A value for the input is its first
	 * one; without it all elements begin at 0.  Where all outputs are tied, the first one is
	 * returned as well.  Error: import.tie. */
	const char *const *tie;
	size_t ntie;
	/* "[INPUT=]OP[:ATTRIBUTE=VALUE,…]", OP log_mel or mfcc: the input takes sound, samples
	 * between -1 and 1 or 16-bit PCM, of which the model then computes the features that it
	 * had as its input (docs/sound.md); INPUT may be left out where there is one.
	 * "OP:samples=N,…" sets the number of samples; with "OP:stream,…" a run gets those after
	 * the ones of the run before.  NULL: none.  Error: import.front-end. */
	const char *front_end;
	/* A quant_params.json, as Brevitas exports it: float layers that it names get quantizers of
	 * their inputs and outputs, their weights and biases are quantized (docs/importing.md).
	 * NULL: none.  Errors: quant-params.…. */
	const char *quant_params;
	/* Of a language model (.gguf, a Hugging Face folder): tokens that it remembers, at most 2^20;
	 * 0: 256, or what it was made for if that is less.  Error: import.context.  Warning:
	 * llm.context (more than it was made for). */
	uint64_t context;
	/* Values of the file, by name, that are the outputs instead of its own: the model ends there, and what
	 * only its rest needs, inputs too, is not read.  Of .onnx the results of nodes, of .tflite tensors, of
	 * other formats nodes.  Error: import.cut. */
	const char *const *cut;
	size_t ncut;
} qn_import_opts;

/* qn_load with options; opts NULL: defaults. */
QN_API qn_status qn_import(qn_ctx *ctx, const char *path, const qn_import_opts *opts,
			   qn_model **out);
/* Frees a model before its context is closed; NULL is fine. */
QN_API void qn_model_free(qn_model *m);

/* Of stateful networks (docs/state.md): the samples of every call with this context are sequences of
 * `steps` batches each; the states are set to their first values at the beginning of each.  0, the
 * default: the samples of a call are one sequence.  Samples that are not a multiple of `steps`
 * batches are an error of the call that reads them (data.sequence).  Different sequences run in
 * parallel. */
QN_API void qn_set_sequence(qn_ctx *ctx, size_t steps);

/* ---- models: describe ---- */

QN_API const char *qn_model_name(const qn_model *m);
/* "float", "symbolic", "calibrated" or "integer" */
QN_API const char *qn_model_stage(const qn_model *m);

typedef struct qn_model_info {
	size_t inputs, outputs, nodes; /* nodes: without inputs and constants */
	uint64_t parameters;           /* elements of the constants */
	/* multiply-accumulates of convolutions, dense layers and products in one run */
	uint64_t macs;
	uint64_t constant_bytes;
	/* layers that repairs looked at, and those that they changed; the means of the SQNR of these
	 * layers' outputs, dB, with their constants as they were and as they are (docs/calibration.md) */
	size_t repairable, repaired;
	double sqnr_before, sqnr_after;
	size_t states;        /* values that are kept from one run to the next */
	uint64_t state_bytes; /* of all of them; 0 where a shape is open */
	/* layers that lost channels which are the same for all inputs or never read; the channels, and
	 * the bytes of constants and MACs that went with them (docs/report.md) */
	size_t pruned;
	uint64_t pruned_channels, pruned_bytes, pruned_macs;
	/* 1: it reads one token in each run and keeps states, as language models do */
	int reads_tokens;
	size_t widened; /* layers that QN_ACTIVATIONS_AUTO gave 16-bit activations */
} qn_model_info;
QN_API qn_model_info qn_model_describe(const qn_model *m);

/* Name of input or output k, NULL after the last; lives as long as the model. */
QN_API const char *qn_model_input_name(const qn_model *m, size_t k);
QN_API const char *qn_model_output_name(const qn_model *m, size_t k);
/* The same of state k: a value that is kept from one run to the next, which is neither an input nor an
 * output (docs/state.md). */
QN_API const char *qn_model_state_name(const qn_model *m, size_t k);
QN_API const char *qn_model_state_type(qn_model *m, size_t k);
/* Its type, "tensor<1x8x8x1xf32>", scales as decimals; NULL after the last and when out of
 * memory. */
QN_API const char *qn_model_input_type(qn_model *m, size_t k);
QN_API const char *qn_model_output_type(qn_model *m, size_t k);
/* Its nodes by operator, "conv2d 4, dense 1"; NULL when out of memory. */
QN_API const char *qn_model_kinds(qn_model *m);

/* ---- models: write ---- */

typedef enum qn_format {
	QN_FORMAT_IR,   /* text form (docs/ir.md) */
	QN_FORMAT_JSON, /* JSON, all constants inside */
	/* for people: inputs, outputs, sizes, nodes by operator, one line per node */
	QN_FORMAT_SUMMARY,
	QN_FORMAT_DOT /* graph view in the language of Graphviz */
} qn_format;
QN_API qn_status qn_print(qn_model *m, qn_format format, qn_write_fn *write, void *user);

/* Writes path (FILE.json) as JSON; with_weights 1: constants in a safetensors file beside it, of
 * the same base name.  All files or none. */
QN_API qn_status qn_save(qn_model *m, const char *path, int with_weights);
/* Writes path in text form. */
QN_API qn_status qn_save_text(qn_model *m, const char *path);

typedef enum qn_export_format {
	/* ONNX: float operators between QuantizeLinear and DequantizeLinear, quantized constants */
	QN_EXPORT_ONNX_QDQ = 0,
	/* AIMET's encodings (JSON, version 0.6.1): scale, offset, min and max of each quantized
	 * value */
	QN_EXPORT_ENCODINGS = 1,
	QN_EXPORT_ENCODINGS_1 = 2, /* the same in version 1.0.0 */
	QN_EXPORT_ENCODINGS_2 = 3  /* the same in version 2.0.0 */
} qn_export_format;
/* Writes a float or calibrated model (before requantize: stop a compile after bind) for another
 * tool.  The file holds what the graph computes, with the graph's own inputs and outputs; reading
 * an ONNX file back gives the same graph (docs/importing.md says what is not preserved). Errors:
 * export.stage, export.op (lists the nodes that the format has no operator for), export.support
 * (built without ONNX).  Warning: export.saturation, when layers of an ONNX file can saturate in
 * ONNX Runtime on x86 processors without VNNI. */
QN_API qn_status qn_export(qn_model *m, const char *path, qn_export_format format);

/* Gives convolutions (not depthwise ones), dense layers and products with constants of a
 * calibrated model 7-bit weights, -64 … 63 at twice their scale, with biases to match, so that
 * pairs of products with 8-bit activations fit 16 bits.  The model is less accurate: measure it.
 * Error: pass.stage. */
QN_API qn_status qn_reduce_range(qn_model *m);

/* ---- arrays ---- */

/* Reads a NumPy file (.npy). */
QN_API qn_status qn_array_load(qn_ctx *ctx, const char *path, qn_array **out);
/* Copies data: dtype "f32", "f64", "i8", "u8", "i16", "i32", "i64" …, rank 0 … 8, row-major. */
QN_API qn_status qn_array_new(qn_ctx *ctx, const char *dtype, int rank, const int64_t *shape,
			      const void *data, qn_array **out);
/* Writes a NumPy file; samples that are read on demand are all read. */
QN_API qn_status qn_array_save(const qn_array *x, const char *path);
/* Writes n files that belong together: in each folder all or none change. */
QN_API qn_status qn_arrays_save(qn_ctx *ctx, size_t n, const qn_array *const *array,
				const char *const *path);
/* Row-major; lives as long as the array.  NULL for samples that are read on demand. */
QN_API const void *qn_array_data(const qn_array *x);
QN_API int qn_array_rank(const qn_array *x);
/* Dimension 0 <= axis < rank. */
QN_API int64_t qn_array_dim(const qn_array *x, int axis);
QN_API const char *qn_array_dtype(const qn_array *x);
/* The input that samples are for, or the name of a member of an .npz; "" when there is none. */
QN_API const char *qn_array_name(const qn_array *x);
/* Frees an array before its context is closed; NULL is fine. */
QN_API void qn_array_free(qn_array *x);

/* ---- samples: arrays whose dimension 0 counts samples (docs/data.md) ---- */

typedef enum qn_data_layout { QN_NHWC = 0, QN_NCHW = 1 } qn_data_layout;

/* How samples are read; all zero: as they are.  With input_scale, mean or std values become f32:
 * ((value - input_zero) * input_scale - mean) / std, computed in double, rounded once. */
typedef struct qn_data_opts {
	size_t size;
	const char *dtype; /* elements of a .bin or a folder of them: "u8" …; NULL: "f32" */
	/* of one sample of a .bin or .csv, 0 … 7; in a folder each .bin is a sample; 0: not
	 * given */
	int rank;
	const int64_t *shape;
	double input_scale;       /* finite; 0: 1 */
	size_t nmean, nstd;       /* 0: none, 1: for all channels, else one for each channel */
	const double *mean, *std; /* finite; std is not 0 */
	qn_data_layout layout;    /* where the channels of a sample are: last or first */
	/* the model's input that the samples are for; NULL: by order, or by the names in an .npz */
	const char *input;
	double input_zero; /* finite */
	/* 1: an input_zero of 0 was not chosen.  Signed 8-bit samples that get a scale, and were mostly
	 * stored with a zero point, are a warning then (data.zero) */
	int input_zero_unknown;
} qn_data_opts;

/* Opens samples of a file or folder: .npy, .npz, .csv, .bin, images, audio, or a folder of images
 * or audio.  Images, audio and rows of a .csv are read when they are needed, any number of times;
 * the files must not change until the array is freed.  An .npz gives an array for each of its
 * members: *n says how many, at most `most` (else QN_EUSAGE, data.count).  opts NULL: defaults.
 * On failure out holds nothing. */
QN_API qn_status qn_samples_open(qn_ctx *ctx, const char *path, const qn_data_opts *opts,
				 size_t most, qn_array **out, size_t *n);

/* Writes sample `index` to dst: the array's type without dimension 0, row-major.  Returns 0, or
 * any other number on failure (QN_EIO, data.callback).  An index may be asked for several times,
 * in any order and from any thread of the call that needs it, but by one at a time; the bytes
 * must be the same each time. */
typedef int qn_sample_fn(void *user, size_t index, void *dst);

/* Samples that the host computes or holds: shape[0] is their number.  input: the model's input
 * that they are for, or NULL. */
QN_API qn_status qn_samples_new(qn_ctx *ctx, const char *dtype, int rank, const int64_t *shape,
				const char *input, qn_sample_fn *fn, void *user, qn_array **out);

/* ---- how values are stored (docs/quantization.md) ---- */

typedef enum qn_scheme_kind {
	/* asymmetric activations, symmetric weights, one scale per output channel, integer inputs
	 * and outputs */
	QN_TFLITE = 0,
	/* TVM's quantization RFC: symmetric, per-tensor weights, its six patterns; no parameters
	 * for inputs and outputs that no pattern quantizes */
	QN_RFC = 1
} qn_scheme_kind;

/* Storage of activations: 8 bits with any zero point, signed or not; 16 bits, symmetric (TFLite's
 * 16x8: 64-bit accumulators and biases); or i8, and i16 for the layers whose range needs it
 * (docs/calibration.md): those that bring the outputs at least 3 dB of SQNR on three calibration samples of
 * four, and anything on the others.  It needs samples (calib), not statistics or encodings, and quantizes
 * and calibrates the model at most 33 times more.  Errors: widen.no-data, widen.ranges, widen.states; warning:
 * widen.settled. */
typedef enum qn_activations {
	QN_ACTIVATIONS_I8 = 0,
	QN_ACTIVATIONS_U8 = 1,
	QN_ACTIVATIONS_I16 = 2,
	QN_ACTIVATIONS_AUTO = 3
} qn_activations;
/* Storage of constant weights: -127 … 127; -7 … 7, of which emitted code packs two into a byte; -1,
 * 0 and 1, four in a byte. */
typedef enum qn_weights_type {
	QN_WEIGHTS_I8 = 0,
	QN_WEIGHTS_I4 = 1,
	QN_WEIGHTS_I2 = 2
} qn_weights_type;
/* Weights in a block with one scale. */
enum { QN_WEIGHT_BLOCK_LEAST = 8, QN_WEIGHT_BLOCK_MOST = 65536 };
/* Granularity of weights; default: that of the scheme. */
typedef enum qn_weights {
	QN_WEIGHTS_DEFAULT = 0,
	QN_WEIGHTS_PER_CHANNEL = 1,
	QN_WEIGHTS_PER_TENSOR = 2
} qn_weights;
/* Scale of weights; needs no samples.  The method "output" begins with it. */
typedef enum qn_weight_method {
	QN_WEIGHTS_BY_MAX = 0, /* max-abs */
	QN_WEIGHTS_BY_MSE = 1  /* MSE-optimal among 80 thresholds from 0.3 to 1 of max-abs */
} qn_weight_method;
/* How weights become integers when their scale is known (docs/calibration.md).  All but the nearest need
 * samples (calib). */
typedef enum qn_weight_rounding {
	QN_WEIGHTS_NEAREST = 0,
	QN_WEIGHTS_GPTQ = 1,    /* one after the other, each making up for the others' errors */
	QN_WEIGHTS_ADAPTIVE = 2 /* the same, then by coordinate descent on the output's error */
} qn_weight_rounding;
typedef enum qn_rounding {
	/* that of the model; TFLite's double rounding where it says nothing */
	QN_ROUND_DEFAULT = 0,
	QN_ROUND_DOUBLE = 1,
	QN_ROUND_SINGLE = 2,
	QN_ROUND_NEAREST = 3,
	QN_ROUND_EVEN = 4
} qn_rounding;

/* ---- compile ---- */

/* For quantizer patterns; quern/patterns.h describes them. */
typedef struct qn_quantizer qn_quantizer;
typedef struct qn_explained qn_explained;
/* Not 0: the match of a pattern, whose root is this value of g, stays float. */
typedef int qn_skip_fn(void *user, const qn_graph *g, qn_id root, const char *pattern);
/* Receives each match of a quantizer pattern that was considered. */
typedef void qn_explain_fn(void *user, const qn_explained *e);

typedef enum qn_solver {
	QN_SOLVER_OFF, /* the default; a graph with statistics or couplings uses QN_SOLVER_ON */
	QN_SOLVER_ON,
	QN_SOLVER_COUPLE_SUMS
} qn_solver;

typedef struct qn_compile_opts { /* all zero: defaults */
	size_t size;

	/* ---- calibration: how scales of activations are found ---- */

	/* Samples: an array for each input, in order or by its name.  For a model that another
	 * tool has quantized they give a range to values that it left float, and only to these;
	 * warning calib.unused when there are none. */
	qn_array *const *calib;
	size_t ncalib;
	/* Names for messages and, without their folders, reports, one for each array; NULL: the
	 * files' own, and none in the report. */
	const char *const *calib_names;
	/* "NAME" or "NAME:PARAM=VALUE,…", see qn_method_name; NULL: minmax, or that of stats */
	const char *method;
	const qn_stats
		*stats; /* what was observed before (quern/calibrate.h), instead of running calib */
	/* Path of AIMET's encodings (docs/importing.md): scales by the names of values; what they
	 * do not name is calibrated.  Not with stats, calibrate callbacks or the method
	 * "output". */
	const char *encodings;

	/* ---- storage of activations and weights ---- */

	qn_scheme_kind scheme;
	qn_activations
		activations; /* QN_RFC: not u8; language models: better i16 (docs/importing.md); AUTO: not with stats, encodings */
	qn_weights_type weights_type;
	qn_weights weights;
	/* Weights of conv1d, conv2d, dense and tables of gather get a scale for each so many inputs of an
	 * output channel, or elements of a row, QN_WEIGHT_BLOCK_LEAST … _MOST (docs/quantization.md); 0: as `weights` says */
	int weight_block;
	qn_weight_method weight_method;
	/* Layers that compute the scale of their data at run time, from 16-bit values: globs of names,
	 * and op:OP, comma-separated: "fc1,conv*,op:dense" (docs/quantization.md); NULL: none.  conv1d,
	 * conv2d, conv3d, conv2d_transpose, dense and matmul with constant weights can; a word that
	 * matches none of these is an error (recipe.dynamic). */
	const char *dynamic;
	/* JSON text (docs/quantization.md): storage and repairs of parts of the graph; NULL: */
	const char *recipe;
	const char *recipe_file; /* … read from this path; NULL: none */

	/* ---- repairs: kept where they help on one calibration sample of four ---- */

	qn_weight_rounding weight_rounding;
	/* 1: biases make up for the mean error of each output channel; needs samples (calib) */
	int bias_correction;
	/* 1: scales of channels move between layers, by powers of two, so that the float graph computes
	 * the same, and biases of channels whose values are all far above 0; kept where the quantized
	 * outputs are nearer to the float ones on samples that are held back (docs/calibration.md).  Needs samples, not statistics or encodings.  Errors:
	 * equalize.no-data, equalize.ranges; warning: equalize.dropped. */
	int equalize;

	/* ---- arithmetic of the integer graph ---- */

	qn_rounding rounding;
	/* 1: averages, which round twice (avg_pool, resize_bilinear), are not quantized and stay
	 * float */
	int no_approx;
	/* 1: consecutive requantizes are merged even where values in between saturate */
	int merge_always;
	/* 8 … 15: scales become integers of so many bits times powers of two, sums of two values
	 * exact, and operands and channels of different scales are brought to one by small integers
	 * and shifts (docs/quantization.md); 0: scales stay as calibrated. */
	int align;
	/* 1: after requantize, whether or not legalize follows, QN_EUNSUPPORTED and a
	 * "legalize.float" for each operator that stays float. */
	int require_int;

	/* ---- what is quantized ---- */

	/* how quantized values are chosen (docs/quantization.md): by patterns; by the solver, from
	 * statistics, fake quantization, explicit types and couplings, and from samples where there
	 * are none; or so, operands and results of add and sub sharing parameters */
	qn_solver solver;

	/* stays float though a pattern matches: "first,last,name:conv1*,op:softmax"; NULL:
	 * nothing */
	const char *skip;
	qn_skip_fn *skip_fn; /* … or where this returns not 0; NULL: nothing */
	void *skip_user;
	const qn_quantizer *quantizers; /* tried before the standard patterns, in this order */
	size_t nquantizers;
	int no_standard; /* 1: no standard patterns */

	/* ---- passes ---- */

	const char *passes;     /* comma-separated; NULL: all that the model's stage still needs */
	const char *stop_after; /* name of a pass; NULL: run all */

	/* ---- debugging: what happens during the compile ---- */

	qn_explain_fn *explain; /* NULL: none */
	void *explain_user;
	/* name of a pass or "all": the graph's text goes to print; NULL: none */
	const char *print_after;
	qn_write_fn *print;
	void *print_user;
	/* one line for each rule whose pattern matched: "clean: fold-constant at add 'a': …";
	 * NULL: none */
	qn_log_fn *trace_rules;
	void *trace_user;

	/* ---- the pass normalize-quant-types ---- */

	int expand_blocks; /* 1: blocks along one axis become a scale for each of its indices */
	/* 1: scales and zero points of an axis or of blocks that are all equal become one */
	int collapse_scales;

	/* ---- layers that stay float ---- */

	/* 1: where skip, skip_fn or the recipe leave a node in float, the passes end before legalize
	 * instead of failing there: for measurements, nothing can be emitted */
	int keep_skipped;

	/* ---- loops ---- */

	/* 1: all steps of loops are written out, as if each were a layer of its own, with parameters of
	 * its own; 0: the body of a loop is quantized and emitted once.  Loops are written out in any
	 * case for equalize, repairs, QN_ACTIVATIONS_AUTO, the solver, scheme RFC, dynamic layers, fake quantization, and in
	 * a graph that came quantized where a value that a loop carries did not. */
	int inline_bodies;
} qn_compile_opts;
/* Runs the passes that the model still needs, from float to integer, and verifies it after each.
 * On failure the model is as the last successful pass left it.  opts NULL: defaults. */
QN_API qn_status qn_compile(qn_model *m, const qn_compile_opts *opts);
/* Pass i in the order of the passes and one line about it; NULL after the last.  The last ones run only
 * where qn_compile_opts.passes names them: normalize-quant-types, lower-quant, strip-quant. */
QN_API const char *qn_pass_name(size_t i);
QN_API const char *qn_pass_help(size_t i);

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
	/* Samples for the self-test, an array for each input; NULL: no self-test file.  A model
	 * without inputs: any pointer.  How their values were preprocessed (qn_data_opts) stands in
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
	/* 1: what qn_validate needs, too: NAME_device.c, a loop that takes samples and sends outputs,
	 * and NAME.integer.qir, the model as it was emitted */
	int validation;
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
	/* the files that were written, by what follows `name`: ".h, .c, _weights.c, …"; lives as long as
	 * the model */
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

/* A step of the program: one kernel call, or a value that is another one's bytes (0 instructions). */
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
