/* SPDX-License-Identifier: Apache-2.0 */
/* quern.h - the public interface of libquern, a quantizing graph compiler.
 *
 *   qn_ctx *ctx = qn_open(NULL);
 *   qn_model *m;
 *   qn_array *calib;
 *   qn_compile_opts opts = {0};
 *
 *   if (qn_load(ctx, "model.json", &m) == QN_OK && qn_array_load(ctx, "calib.npy", &calib) == QN_OK) {
 *           opts.calib = &calib;
 *           opts.ncalib = 1;
 *           if (qn_compile(m, &opts) == QN_OK)        float -> integer
 *                   qn_emit(m, "out", NULL, NULL);    out/NAME.c, NAME.h, NAME_weights.c, NAME_selftest.c, NAME.report.json
 *   }
 *   for (size_t i = 0; i < qn_diag_count(ctx); i++) …qn_diag_get(ctx, i)…
 *   qn_close(ctx);                                     frees all that came from it
 *
 * Every function returns a status unless said otherwise; what went wrong is in the context's
 * diagnostics, each with a stable id, a place, and a message with the value and the way out.
 * Nothing exits, prints or keeps global state.  A context and all that came from it belong to one
 * thread at a time; contexts are independent of each other.  Threads that a context needs
 * (qn_config.threads) wait between calls and end with qn_close; they use the host's allocator one
 * at a time and block all signals.  A process made by fork opens contexts of its own.  The
 * floating-point environment is set to the default for the time of a call and restored.
 *
 * Binary interface: a program that was built with the header of release 0.N runs with every library
 * 0.N.x (the shared library's name has both numbers).  Structs that the host fills and that may
 * grow begin with `size`: sizeof the struct as the host compiled it; 0 stands for the members of
 * release 0.1, so that `= {0}` stays right.  New members stand behind all others and mean by 0 what
 * was before; the library takes members that the host does not have for 0, and refuses a struct
 * that is larger than its own where a byte that it does not know is not 0 (QN_EUSAGE, struct.size).
 * All other structs are frozen: elements of arrays (qn_op_attr, qn_rewrite_rule), qn_limits, and
 * what the library fills or returns; what comes later gets functions or structs of its own.
 * Enumerators keep their numbers. */
#ifndef QUERN_H
#define QUERN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define QN_API __attribute__((visibility("default")))
#else
#define QN_API
#endif

/* What a call came to.  The program `quern` exits with the same number (memory and input/output
 * problems exit with 1). */
typedef enum qn_status {
	QN_OK = 0,
	QN_EINVALID = 1,     /* the model or the data is wrong; the diagnostics say where */
	QN_EUSAGE = 2,       /* the call or the command line is wrong */
	QN_EUNSUPPORTED = 3, /* correct, but Quern has no form for it; the diagnostics name the node and the reason */
	QN_EACCURACY = 4,    /* an accuracy gate failed */
	QN_EBUDGET = 5,      /* a size or time budget was exceeded */
	QN_ENOMEM = 6,       /* the allocator returned NULL; the context stays usable, the model of the call does not */
	QN_EIO = 7,          /* a file could not be read or written */
	QN_EINTERNAL = 70    /* a defect of Quern */
} qn_status;

typedef enum qn_severity { QN_ERROR = 0, QN_WARNING = 1, QN_INFO = 2 } qn_severity;

typedef struct qn_ctx qn_ctx;
typedef struct qn_model qn_model;
typedef struct qn_array qn_array;
typedef struct qn_graph qn_graph;
typedef struct qn_stats qn_stats;

/* ---- contexts ---- */

/* The host's allocator: new_size 0 frees p (old_size bytes) and returns NULL, p NULL allocates,
 * else moves.  NULL means out of memory. */
typedef void *qn_alloc_fn(void *user, void *p, size_t old_size, size_t new_size);

/* One line of progress or note, without a newline. */
typedef void qn_log_fn(void *user, const char *line);

/* Instruction sets of the float arithmetic.  All give the same bytes; this is for tests and
 * measurements.  A set that the processor lacks is replaced by the next smaller one, one of another
 * architecture by the baseline. */
typedef enum qn_simd_kind {
	QN_SIMD_BEST = 0,
	QN_SIMD_BASELINE = 1,
	QN_SIMD_AVX2 = 2,
	QN_SIMD_AVX512 = 3,
	QN_SIMD_NEON = 4
} qn_simd_kind;
/* How much a model may ask for (docs/limits.md).  0: the default. */
typedef struct qn_limits {
	uint64_t nesting; /* graphs called by graphs, one inside the other: 64, which is also the most */
	uint64_t nodes;   /* nodes of a model, those of a called graph counted at each call: 2^20 */
	uint64_t dim;     /* one dimension of a value: 2^31 - 1 */
	uint64_t bytes;   /* one value, one file: 2^32 */
	uint64_t steps;   /* multiplications and elements for one run, and for all searches of a calibration: 2^40 */
	uint64_t matching; /* steps of the searches for a pattern at all values of a graph together: 2^27, some ten seconds */
} qn_limits;

typedef struct qn_config {
	size_t size;        /* 0, or sizeof(qn_config), as explained at the top */
	qn_alloc_fn *alloc; /* NULL: malloc */
	void *alloc_user;
	qn_log_fn *log; /* NULL: silent */
	void *log_user;
	int threads;       /* that run samples side by side in qn_compile, qn_run, qn_evaluate; 0: 1; the results are the same */
	qn_simd_kind simd; /* the best that may be used */
	qn_limits limits; /* exceeding one is QN_EBUDGET with its name, "limit.nodes" */
} qn_config;

/* NULL when there is no memory, or config has a size or members that this release does not know;
 * config NULL: defaults. */
QN_API qn_ctx *qn_open(const qn_config *config);
QN_API void qn_close(qn_ctx *ctx); /* frees the context and all models and arrays of it */

/* Files.  What a call writes is whole: it goes to hidden temporary files (.quern-*) in the same
 * folder, and those of one folder get their names together, under a lock of the folder (flock).  A
 * process that is killed meanwhile leaves the files from before, or a journal which the next call
 * that writes to the folder carries out; that call removes temporary files of dead processes too.
 * Errors (QN_EIO): file.write; file.lock when another program holds the folder for a minute;
 * file.commit when the files from before could not be put back.
 *
 * For a handler of signals after which the process ends: removes what a call in progress of this
 * context has written so far and not put in place.  It may be called at any moment on the thread
 * that uses the context (other threads of the library take no signals), and nothing but the end of
 * the process may follow.  While names change, the library blocks signals on its caller's thread. */
QN_API void qn_abandon(qn_ctx *ctx);

/* Writes a file of the host's in the same way. */
QN_API qn_status qn_write_file(qn_ctx *ctx, const char *path, const void *data, size_t n);
QN_API const char *qn_version(void); /* "0.1.0" */

/* For "did you mean": of two known names the one that a mistyped or shortened name was more likely
 * meant to be, best where both are as near, NULL when neither is near (or NULL).  Case does not
 * count.  Begin with NULL and call it for each known name: best = qn_nearer_name(wanted, best, name). */
QN_API const char *qn_nearer_name(const char *wanted, const char *best, const char *name);

/* ---- diagnostics: kept until cleared, at most 100, later ones are counted ---- */

typedef struct qn_diagnostic {
	qn_severity severity;
	const char *id;      /* stable, dotted: "type.scale", "json.cycle" */
	const char *place;   /* file:line:column, file:/json/pointer or a node; "" when there is none */
	const char *message; /* what, with the value, and the way out */
} qn_diagnostic;

QN_API size_t qn_diag_count(const qn_ctx *ctx);
QN_API size_t qn_diag_dropped(const qn_ctx *ctx);
QN_API qn_diagnostic qn_diag_get(const qn_ctx *ctx, size_t i); /* texts live until the next clear or close */
QN_API void qn_diag_clear(qn_ctx *ctx);

/* ---- models ---- */

/* Reads a model; the format follows the name's end: .json (docs/json-format.md), .qir (text
 * form, docs/ir.md), .onnx or .tflite (docs/importing.md).  *out belongs to the context. */
QN_API qn_status qn_load(qn_ctx *ctx, const char *path, qn_model **out);

/* An input that becomes a constant when the model is read: a sample rate, a mask, a length, a state that begins at 0. */
typedef struct qn_input_value {
	const char *name; /* of the input, as the file has it */
	const char *text; /* numbers with commas between, "16000", "0.5,-1", "true": one for all elements, or one for each */
	const qn_array *array; /* with text NULL: of the input's shape, or of one element for all; it may be freed after the call */
	int optional; /* 1: a model without such an input is no error */
	int used;     /* set by qn_import: 1 when the model has such an input */
} qn_input_value;

/* How a model is read. */
typedef struct qn_import_opts {
	size_t size; /* 0, or sizeof(qn_import_opts), as explained at the top */
	const char *const *dim; /* "NAME=N": the length of a dimension that the file leaves open, by its name ("batch=1") or by input and axis ("image:0=1"); of .onnx and .tflite only (import.dim) */
	size_t ndim;
	int from_float; /* an already quantized model: take its real values and forget its parameters, so that it is calibrated anew; of .onnx and .tflite only (import.from-float) */
	qn_input_value *value; /* inputs that become constants, of models of any format; import.value: an unknown name, a wrong shape, type or range; a warning, import.fixed: an output depends on no other input */
	size_t nvalue;
	uint64_t limit; /* how many times as much a file of another tool may ask for as docs/limits.md says, for files that are trusted; 0: 1, at most 2^20 */
} qn_import_opts;
/* qn_load with these; opts NULL: none.  What Quern cannot take is QN_EUNSUPPORTED with a diagnostic
 * for each node: its name, operator and version, the condition and the value that breaks it, a way
 * out. */
QN_API qn_status qn_import(qn_ctx *ctx, const char *path, const qn_import_opts *opts, qn_model **out);
QN_API void qn_model_free(qn_model *m); /* before the context is closed; NULL is fine */

QN_API const char *qn_model_name(const qn_model *m);
QN_API const char *qn_model_stage(const qn_model *m); /* "float", "symbolic", "calibrated" or "integer" */

typedef struct qn_model_info {
	size_t inputs, outputs, nodes; /* nodes: without inputs and constants */
	uint64_t parameters;           /* elements of the constants */
	uint64_t macs;                 /* multiplications of conv2d and dense for one run */
	uint64_t constant_bytes;
} qn_model_info;
QN_API qn_model_info qn_model_describe(const qn_model *m);
/* k < inputs or outputs, else NULL; texts live as long as the model. */
QN_API const char *qn_model_input_name(const qn_model *m, size_t k);
QN_API const char *qn_model_output_name(const qn_model *m, size_t k);
QN_API const char *qn_model_input_type(qn_model *m, size_t k); /* "tensor<1x8x8x1xf32>", scales as decimals; NULL when there is no memory */
QN_API const char *qn_model_output_type(qn_model *m, size_t k);
QN_API const char *qn_model_kinds(qn_model *m); /* "conv2d 4, dense 1"; NULL when there is no memory */

/* Receives text in pieces; anything but 0 stops with QN_EIO. */
typedef int qn_write_fn(void *user, const char *text, size_t n);

typedef enum qn_format {
	QN_FORMAT_IR,     /* text form */
	QN_FORMAT_JSON,   /* JSON, all constants inside */
	QN_FORMAT_SUMMARY, /* for people: inputs, outputs, sizes, nodes by kind, a line a node */
	QN_FORMAT_DOT      /* a picture in Graphviz's language */
} qn_format;
QN_API qn_status qn_print(qn_model *m, qn_format format, qn_write_fn *write, void *user);
/* Writes path as JSON; with_weights: constants in a safetensors file beside it, of the same base
 * name.  All files or none. */
QN_API qn_status qn_save(qn_model *m, const char *path, int with_weights);
/* Writes path in text form. */
QN_API qn_status qn_save_text(qn_model *m, const char *path);

typedef enum qn_export_format {
	QN_EXPORT_ONNX_QDQ = 0, /* ONNX: operators on real numbers between QuantizeLinear and DequantizeLinear, constants as codes */
	QN_EXPORT_ENCODINGS = 1, /* AIMET's encodings (JSON, version 0.6.1): scale, offset, min and max of each quantized value by its name */
	QN_EXPORT_ENCODINGS_1 = 2, /* the same in version 1.0.0 */
	QN_EXPORT_ENCODINGS_2 = 3  /* the same in version 2.0.0 */
} qn_export_format;
/* Writes a float or calibrated model (stages before requantize: stop a compile after bind) for
 * another tool. The file holds what the graph computes, with the graph's own inputs and outputs;
 * reading an ONNX file back gives the same graph (docs/importing.md says what is not kept).  Ids:
 * export.stage, export.op (lists the nodes that the format has no operator for), import.support
 * (built without ONNX).  A warning, export.saturation, when layers of an ONNX file can saturate in ONNX Runtime on x86
 * processors without VNNI. */
QN_API qn_status qn_export(qn_model *m, const char *path, qn_export_format format);
/* Gives the convolutions (not depthwise ones), dense layers and products with constants of a calibrated model 7-bit weights
 * of -64..63 with twice their scale, biases to match, so that pairs of products with 8-bit data fit 16 bits.  The model is
 * less accurate: measure it.  Id: pass.stage. */
QN_API qn_status qn_reduce_range(qn_model *m);

/* ---- operators of the host's own ---- */

/* What quantization may do around an operator. */
typedef enum qn_op_behaviour {
	QN_OP_REAL_ONLY = 0, /* stays float: a model with it can be run, not compiled */
	QN_OP_SAME = 1,      /* one input; moves, selects or clamps elements: codes in and out have the same parameters */
	QN_OP_MIX = 2,       /* any parameters in, own parameters out, found by calibration */
	QN_OP_TABLE = 3,     /* one input, element by element: becomes a table of all codes, made with the float function */
	QN_OP_FIXED = 4      /* like MIX, but the result's parameters are fixed_scale and fixed_zero_point */
} qn_op_behaviour;

typedef struct qn_op_attr {
	const char *name;
	int is_real;              /* else a 64-bit integer */
	const char *default_text; /* "0.5", "3"; NULL: must be given */
} qn_op_attr;

typedef union qn_op_value {
	int64_t integer;
	double real;
} qn_op_value;

/* An operand or the result of a call. */
typedef struct qn_op_type {
	int rank;             /* -1: not known (in `shape` only) */
	const int64_t *shape; /* rank dims; -1: dynamic (in `shape` only) */
	int bits;             /* of the codes: 8 or 16; 0: f32 */
	int is_signed;
	double scale;         /* real = (code - zero_point) * scale */
	int64_t zero_point, lo, hi; /* lo, hi: the range of the codes */
} qn_op_type;

typedef struct qn_op_call {
	size_t nin;
	const qn_op_type *in;
	qn_op_type out;         /* not set in `shape` */
	const qn_op_value *attr; /* in the order of the descriptor */
} qn_op_call;

/* All callbacks may be called from several threads at a time (qn_config.threads) and must give the
 * same results for the same arguments.  None may call the library. */
typedef struct qn_op_desc {
	size_t size;
	const char *name; /* "acme.softsign": has a dot, which no built-in operator has */
	unsigned min_inputs, max_inputs;
	qn_op_behaviour behaviour;
	double fixed_scale;
	int64_t fixed_zero_point;
	size_t nattr; /* at most 8 */
	const qn_op_attr *attr;
	/* The result's rank (0 … 8) and dims; -1 with a reason (static text) in *why.  NULL: the
	 * shape of input 0. */
	int (*shape)(void *user, const qn_op_call *c, int64_t dim[8], const char **why);
	/* The float function, row-major.  Never NULL.  Of a TABLE operator it is also called with
	 * all codes' real values as one vector. */
	void (*real)(void *user, const qn_op_call *c, const float *const *in, float *out);
	/* The integer function's parameters (sizes, multipliers, tables: whatever it needs), at
	 * most cap of them: their number, or -1 with a reason in *why where the types of the call
	 * are not taken.  NULL, like `codes`: no integer form but that of a TABLE. */
	int (*prepare)(void *user, const qn_op_call *c, int32_t *param, int cap, const char **why);
	/* The integer function and the same as C text that also compiles as C++: "static void
	 * CODES_NAME(const int32_t *param, const void *const *in, void *out) { … }".  Integers
	 * alone; the text may use what runtime/fixed.h and the kernels define (qn_apply, qn_clamp32
	 * …), which is then emitted with it. */
	void (*codes)(const int32_t *param, const void *const *in, void *out);
	const char *codes_name, *codes_text;
	void *user;
} qn_op_desc;

/* Makes the operator known to models that the context loads or builds from now on; it lasts as long
 * as the context.  Texts are copied.  QN_EUSAGE (op.register) when something is missing or the name
 * is taken. */
QN_API qn_status qn_op_register(qn_ctx *ctx, const qn_op_desc *desc);

/* m * 2^(s-31) for a real multiplier M >= 0, as qn_apply of the emitted code takes it: m in [2^30,
 * 2^31) or 0, s in [-31, 30].  QN_EINVALID when M is negative, not finite or 2^30 and more. */
QN_API qn_status qn_multiplier_of(double M, int32_t *m, int32_t *s);

/* ---- building and reading graphs ---- */

/* A value of a graph, which is the node that gives it; they count from 1 in topological order.
 * 0: none. */
typedef uint32_t qn_id;

/* A float model whose one graph, "main", is empty:
 *
 *   qn_model *m;
 *   qn_status s = qn_model_new(ctx, "net", &m);
 *   qn_graph *g = qn_model_main(m);
 *   qn_id x = qn_add_input(g, "image", "tensor<1x8x8x1xf32>");
 *   qn_id w = qn_add_const(g, "w", weights);                    a qn_array of shape 4x3x3x1
 *   qn_id y = qn_add_op(g, "conv2d", "conv", 2, (qn_id[]){x, w}, "padding=same", NULL);
 *   s = qn_add_output(g, "features", y);
 *
 * A function that adds returns 0 after reporting an error, and so does one that is given a 0: only
 * the last result needs to be looked at. */
QN_API qn_status qn_model_new(qn_ctx *ctx, const char *name, qn_model **out);
/* The entry graph; lives until the next pass. */
QN_API qn_graph *qn_model_main(qn_model *m);

/* Names are unique in a graph: one that is taken becomes NAME_1, NAME_2, …; NULL: the op's name
 * and a number.
 * type: text of docs/types.md. */
QN_API qn_id qn_add_input(qn_graph *g, const char *name, const char *type);
/* Copies the array; its element type is the constant's. */
QN_API qn_id qn_add_const(qn_graph *g, const char *name, const qn_array *value);
/* op: a name of `quern supported-ops`, the n inputs in the order of docs/ir.md.  attrs:
 * "stride=[2,2], padding=same", NULL: defaults.  type: the result's where the op does not derive
 * it (quantize, cast …), else NULL. */
QN_API qn_id qn_add_op(qn_graph *g, const char *op, const char *name, size_t n, const qn_id *in,
		       const char *attrs, const char *type);
/* QN_EINVALID when the value is 0 or the name is taken by another output. */
QN_API qn_status qn_add_output(qn_graph *g, const char *name, qn_id value);

/* Number of values of a graph: 1 … n. */
QN_API size_t qn_graph_size(const qn_graph *g);

typedef struct qn_value_info {
	const char *name, *op; /* op "input" or "const": no inputs */
	size_t nin;
	const qn_id *in;
	int rank;             /* -1: not known, or a tuple */
	const int64_t *shape; /* rank dims; -1: dynamic */
	const void *data;     /* const: the elements, row-major, of `bytes` bytes, not aligned; else NULL */
	size_t bytes;
} qn_value_info;

/* What value v is; all members live as long as the graph.  A v that the graph does not have: op is
 * NULL. */
QN_API qn_value_info qn_value(const qn_graph *g, qn_id v);
/* The value of this name, or 0. */
QN_API qn_id qn_value_find(const qn_graph *g, const char *name);
/* Type and attributes as qn_add_op takes them; texts live as long as the model; NULL when there is
 * no memory. */
QN_API const char *qn_value_type(qn_graph *g, qn_id v);
QN_API const char *qn_value_attrs(qn_graph *g, qn_id v);

/* ---- patterns over graphs (docs/patterns.md) ---- */

/* What a value may look like; made from text or by the functions below, lives as long as the
 * context, belongs to it alone (pattern.context).  A pattern that stands in several places matches
 * one and the same value at all of them.  A function that makes one returns NULL after reporting an
 * error (pattern.…), and so does one that is given a NULL. */
typedef struct qn_pattern qn_pattern;
/* What is called: an operator, any one, a function.  It is no pattern by itself. */
typedef struct qn_callee qn_callee;

/* relu(c=conv2d(x, const){stride=[1,1]} ?bias_add(_, b)).  QN_EUSAGE: a diagnostic tells the
 * column. */
QN_API qn_status qn_pattern_parse(qn_ctx *ctx, const char *text, qn_pattern **out);
/* The text, which reads back as a pattern that matches alike.  QN_EUSAGE (pattern.depth): too large
 * for a text. */
QN_API qn_status qn_pattern_print(const qn_pattern *p, qn_write_fn *write, void *user);

/* Not 0: the value passes.  Called in any order and number. */
typedef int qn_predicate_fn(void *user, const qn_graph *g, qn_id value);
/* A word for `where` in texts that are read from now on, beside `scalar` (one element) and
 * `output`. */
QN_API qn_status qn_pattern_predicate(qn_ctx *ctx, const char *word, qn_predicate_fn *fn, void *user);

QN_API qn_pattern *qn_pat_any(qn_ctx *ctx);
QN_API qn_pattern *qn_pat_const(qn_ctx *ctx);
QN_API qn_pattern *qn_pat_number(qn_ctx *ctx, double value);      /* a constant whose elements are all this (finite) number */
QN_API qn_pattern *qn_pat_input(qn_ctx *ctx, const char *name);   /* an input of the graph; name NULL: any */
QN_API qn_pattern *qn_pat_expr(qn_ctx *ctx, const qn_graph *g, qn_id v); /* what is computed as v of g is, which must live as long as the pattern is used */

QN_API qn_callee *qn_callee_op(qn_ctx *ctx, const char *name);    /* pattern.op: there is none of this name */
QN_API qn_callee *qn_callee_any(qn_ctx *ctx);                     /* any op, any function */
QN_API qn_callee *qn_callee_class(qn_ctx *ctx, const char *name); /* ops of this behaviour: "MIX", "SAME" … (docs/ir.md) */
/* A graph of the model that has one output.  nparam < 0: any parameters. */
QN_API qn_callee *qn_callee_fn(qn_ctx *ctx, int nparam, qn_pattern *const *param, qn_pattern *body);

/* narg < 0: any number of arguments, none inspected.  pattern.arity: more than the op takes. */
QN_API qn_pattern *qn_pat_call(qn_ctx *ctx, const qn_callee *callee, int narg, qn_pattern *const *arg);
QN_API qn_pattern *qn_pat_tuple(qn_ctx *ctx, int n, qn_pattern *const *field); /* n < 0: any */
QN_API qn_pattern *qn_pat_get(qn_ctx *ctx, qn_pattern *tuple, int index);      /* index < 0: any */
QN_API qn_pattern *qn_pat_alt(qn_ctx *ctx, qn_pattern *a, qn_pattern *b);      /* a, else b */
/* p, else what wrap makes of p. */
typedef qn_pattern *qn_pat_wrap_fn(void *user, qn_ctx *ctx, qn_pattern *p);
QN_API qn_pattern *qn_pat_optional(qn_ctx *ctx, qn_pattern *p, qn_pat_wrap_fn *wrap, void *user);
/* child, all of whose inputs come over values of path alone from one value of parent, which nothing
 * outside uses; constants and inputs of the graph that calls on the way read are passed over.  path
 * NULL: anything. */
QN_API qn_pattern *qn_pat_dominator(qn_ctx *ctx, qn_pattern *parent, qn_pattern *path, qn_pattern *child);
/* p with attributes, "stride=[2,2], padding=same"; with a type, "f32", "[1,?,8]", "f32[1,?,8]",
 * "quant" or a whole one ("tensor<1x8xf32>"); where fn says so (name: its word when printed). */
QN_API qn_pattern *qn_pat_attrs(qn_ctx *ctx, qn_pattern *p, const char *attrs);
QN_API qn_pattern *qn_pat_type(qn_ctx *ctx, qn_pattern *p, const char *type);
QN_API qn_pattern *qn_pat_where(qn_ctx *ctx, qn_pattern *p, const char *name, qn_predicate_fn *fn, void *user);
/* p under a name, for qn_match_get and texts. */
QN_API qn_pattern *qn_pat_named(qn_ctx *ctx, qn_pattern *p, const char *name);
/* Makes a wildcard stand for target, in which it may occur: a recursive pattern.  Once
 * (pattern.redirect). */
QN_API qn_status qn_pat_redirect(qn_ctx *ctx, qn_pattern *wildcard, qn_pattern *target);

typedef enum qn_match_flags {
	QN_MATCH_GREEDY = 1,       /* alternatives and swapped operands are not tried again once they were good for their own part, as in TVM */
	QN_MATCH_REASSOC = 2,      /* div(mul(a, b), c) matches mul(a, div(b, c)) too, and the other way round */
	QN_MATCH_NO_PATH_CONST = 4 /* constants and inputs of the graph count like any value on the way of a dominator, as in earlier releases of TVM */
} qn_match_flags;

typedef struct qn_match_opts { /* all zero: defaults */
	size_t size;
	unsigned flags; /* of qn_match_flags */
	uint32_t steps; /* of the search at one value, then QN_EBUDGET (pattern.limit); 0: 10^6, and 64 for each node; all together: qn_limits.matching */
} qn_match_opts;

/* A match; lives for the time of the call that it is given to. */
typedef struct qn_match qn_match;
typedef int qn_match_fn(void *user, const qn_match *m); /* anything but 0 ends the search */

/* Whether p matches value v of the graph, or with v = 0 each value, from the last one down: fn (may
 * be NULL) is called for each match, *count (may be NULL) says how many there were. */
QN_API qn_status qn_pattern_match(const qn_pattern *p, qn_graph *g, qn_id v, const qn_match_opts *opts, qn_match_fn *fn, void *user, size_t *count);

QN_API qn_id qn_match_root(const qn_match *m);
/* Value i that the part p of the pattern matched, 0 past the last: one, but for what stands on the
 * path of a dominator, inside of itself, or in an alternative that was not taken.  Parts of a
 * function's body match values of that function's graph. */
QN_API qn_id qn_match_value(const qn_match *m, const qn_pattern *p, size_t i);
/* The first value of a named part, or 0. */
QN_API qn_id qn_match_get(const qn_match *m, const char *name);

typedef struct qn_binding {
	const char *name;
	qn_id value;
	const qn_graph *graph; /* whose value it is: another than the match's inside of a function's body */
} qn_binding;
/* Named part i in the order of the pattern; name NULL past the last. */
QN_API qn_binding qn_match_binding(const qn_match *m, size_t i);

/* What a rule or a partition may do. */
typedef enum qn_group_flags {
	QN_ALLOW_DUP = 1,  /* a value inside of a match may be read outside by what only the root needs: it is computed twice */
	QN_OVERLAP = 2,    /* a value may lie inside of several matches and be read anywhere */
	QN_ONCE = 4,       /* rules: at most one pass that changes something */
	QN_CHECK_LATE = 8  /* partitions: what `check` refuses keeps its values from other matches, as in TVM */
} qn_group_flags;

/* Returns the value of g (the graph under construction, to which it may add) that takes the place
 * of the match's root; qn_match_root(m): leave it; 0: an error.  m holds values of g; before,
 * before_root: the same root as it was before this pass. */
typedef qn_id qn_rewrite_fn(void *user, qn_graph *g, const qn_match *m, const qn_graph *before, qn_id before_root);

typedef struct qn_rewrite_rule {
	const char *name; /* for messages; NULL: none */
	const qn_pattern *pattern;
	qn_rewrite_fn *fn;
	void *user;
	unsigned flags; /* of qn_group_flags */
} qn_rewrite_rule;

/* Runs the rules in order over the entry graph, each on all its matches whose inner values are read
 * nowhere else, round after round until a round changes nothing.  The result of fn must have the
 * type of the root (rewrite.type).  rewrite.fixpoint: the rules still change something after 100
 * passes.  On failure the model is as it was.  *passes (may be NULL): how many passes were run, one
 * a rule and round. */
QN_API qn_status qn_rewrite_model(qn_model *m, size_t n, const qn_rewrite_rule *rules, const qn_match_opts *opts, size_t *passes);

typedef struct qn_cut_opts { /* all zero: defaults */
	size_t size;
	const char *label; /* of the new graphs: "<root>.<label>"; NULL: "part" */
	size_t nattr;      /* attributes of the new graphs: texts, not empty */
	const char *const *key, *const *value;
	int (*check)(void *user, const qn_graph *g, qn_id root); /* 0: refuses a match; NULL: takes all */
	void *user;
	unsigned flags; /* of qn_group_flags */
	const qn_match_opts *match;
} qn_cut_opts;

/* Puts each match into a graph of its own, called from where its root was.  Its inputs are what the
 * leaves of the pattern matched, constants only where the pattern does not ask for a constant.  The
 * graph says as "PartitionedFromPattern" which ops it holds: "conv2d_bias_add_relu_".  Matches are
 * found from the outputs up, share no inner values and none that is read elsewhere; so a longer
 * pattern is run first.  *count (may be NULL): how many. */
QN_API qn_status qn_cut_model(qn_model *m, const qn_pattern *p, const qn_cut_opts *opts, size_t *count);

/* ---- arrays ---- */

/* NumPy files; an array belongs to the context.  Saving samples that are read on demand reads all
 * of them. */
QN_API qn_status qn_array_load(qn_ctx *ctx, const char *path, qn_array **out);
QN_API qn_status qn_array_save(const qn_array *x, const char *path);
/* Several that belong together: all files or none of a folder change. */
QN_API qn_status qn_arrays_save(qn_ctx *ctx, size_t n, const qn_array *const *array,
				const char *const *path);
/* Copies data: dtype is "f32", "f64", "i8", "u8", "i16", "i32", "i64" …, rank <= 8, row-major. */
QN_API qn_status qn_array_new(qn_ctx *ctx, const char *dtype, int rank, const int64_t *shape, const void *data, qn_array **out);
QN_API const void *qn_array_data(const qn_array *x); /* NULL for samples that are read on demand */
QN_API int qn_array_rank(const qn_array *x);
QN_API int64_t qn_array_dim(const qn_array *x, int axis);
QN_API const char *qn_array_dtype(const qn_array *x);
QN_API const char *qn_array_name(const qn_array *x); /* the input that samples are for, or a member's name in its .npz; "" when there is none */
QN_API void qn_array_free(qn_array *x); /* before the context is closed; NULL is fine */

/* ---- samples: arrays whose dimension 0 counts samples (docs/data.md) ---- */

typedef enum qn_data_layout { QN_NHWC = 0, QN_NCHW = 1 } qn_data_layout;

/* How samples are read; all zero: as they are.  With input_scale, mean or std values become f32:
 * (value * input_scale - mean) / std, in double, rounded once. */
typedef struct qn_data_opts { /* all zero: defaults */
	size_t size;
	const char *dtype;    /* elements of a .bin, or of a folder of such: "f32" when NULL, "u8" … */
	int rank;             /* of one sample of a .bin or .csv; of a folder: each .bin in it is one; 0: not given, rank <= 7 */
	const int64_t *shape;
	double input_scale;   /* finite; 0: 1 */
	size_t nmean, nstd;   /* 0: none, 1: for all channels, else one a channel */
	const double *mean, *std; /* finite; std is not 0 */
	qn_data_layout layout; /* where the channels of a sample are: last, or first */
	const char *input;    /* the model's input that the samples are for; NULL: by their order, or by the names in an .npz */
	double input_zero;    /* finite; taken from values first: ((value - input_zero) * input_scale - mean) / std */
} qn_data_opts;

/* Samples of a file or folder: .npy, .npz, .csv, .bin, pictures, sounds, or a folder of pictures or
 * of sounds. Pictures, sounds and rows of a .csv are read when they are needed, any number of
 * times; the files must stay as they are until the array is freed.  An .npz gives an array for each
 * of its members: *n is how many came, at most `most` (data.count otherwise).  opts NULL: defaults.
 * On failure nothing stays in out. */
QN_API qn_status qn_samples_open(qn_ctx *ctx, const char *path, const qn_data_opts *opts, size_t most, qn_array **out, size_t *n);

/* Writes sample `index` to dst, of the array's type without dimension 0, row-major.  0, or any
 * other number for failure (data.callback names it).  An index may be asked for several times, in
 * any order and from any thread of the call that needs it, but by one at a time; the bytes must be
 * the same each time. */
typedef int qn_sample_fn(void *user, size_t index, void *dst);

/* Samples that the host has: shape[0] is their number.  input: the model's input that they are for,
 * or NULL. */
QN_API qn_status qn_samples_new(qn_ctx *ctx, const char *dtype, int rank, const int64_t *shape, const char *input, qn_sample_fn *fn, void *user, qn_array **out);

/* ---- calibration callbacks ---- */

/* One partition (a match of a quantizer pattern) while its symbols are being found; lives for the
 * time of the callback that it is given to.
 *
 *   float      x ──conv2d──▶ y                         what the real graph computes
 *   quantized  x' ─quantize($x)─▶ codes ─conv2d─▶ … ─dequantize─▶ y'
 *
 * Partitions are calibrated in topological order.  x' and y' are computed from the quantized
 * outputs of those before, whose symbols have their final values; a value that needs a symbol
 * without a value is refused (calibrate.future, which names it). */
typedef struct qn_info qn_info;

/* A symbol of the partition, that is of one of its quantizes. */
typedef struct qn_symbol_info {
	const char *name;    /* "conv1.x"; NULL past the last */
	size_t length;       /* 1: one scale; else one for each index of an axis */
	int symmetric;       /* its zero points are 0 */
	int constant;        /* it quantizes a constant; has values already, which may be replaced */
	int64_t lo, hi;      /* the codes */
} qn_symbol_info;

/* Values for a symbol. */
typedef struct qn_symbol_value {
	const char *symbol;
	size_t n;                  /* 1, or the symbol's length */
	const double *scale;       /* positive; rounded to f32 */
	const int64_t *zero_point; /* NULL: zeros */
} qn_symbol_value;

typedef enum qn_info_value {
	QN_INFO_FLOAT_INPUT = 0,  /* input k in the float graph */
	QN_INFO_FLOAT_OUTPUT = 1,
	QN_INFO_INPUT = 2,        /* input k as the quantized graph computes it, a real value */
	QN_INFO_CODES = 3,        /* the codes of the quantize of symbol k */
	QN_INFO_OUTPUT = 4        /* the dequantized output */
} qn_info_value;

/* The data of a value; valid until the next call that reads one. */
typedef struct qn_info_data {
	int rank;
	const int64_t *shape;
	size_t count;
	const float *real; /* NULL for codes and for outputs without real values: bools, places */
	const void *codes; /* NULL for real values; `bits` each, signed or not as lo of the symbol says */
	int bits;
} qn_info_data;

QN_API const char *qn_info_name(const qn_info *i);    /* of the value that the partition gives */
QN_API const char *qn_info_pattern(const qn_info *i);
QN_API size_t qn_info_batches(const qn_info *i);      /* of the samples; 0: there are none */
/* The symbols' inputs come first, in the order of the symbols, then the partition's others. */
QN_API size_t qn_info_inputs(const qn_info *i);
QN_API qn_symbol_info qn_info_symbol(const qn_info *i, size_t k);
/* A value of one batch, with the trials as values of symbols for this evaluation alone.  CODES,
 * OUTPUT and an INPUT that is computed inside of the partition (of a quantize between two
 * operations of the pattern) need values for the symbols before them: those of the trials, else
 * those that were set.
 * Only nodes of the partition are run, from inputs that are kept as far as the budget goes. */
QN_API qn_status qn_info_read(qn_info *i, qn_info_value what, size_t k, size_t batch, size_t ntrial,
			      const qn_symbol_value *trial, qn_info_data *out);
/* Gives a symbol its values.  QN_EINVALID: the symbol belongs to another partition or to none
 * (calibrate.extra), or the values are none (symbol.…).  What a callback leaves without values is
 * an error (calibrate.missing). */
QN_API qn_status qn_info_set(qn_info *i, const qn_symbol_value *value);
/* … those of a range of real values, as the methods do. */
QN_API qn_status qn_info_set_range(qn_info *i, size_t k, double lo, double hi);
/* … those that the method of the options finds. */
QN_API qn_status qn_info_set_default(qn_info *i, size_t k);

/* How the search below judges an output. */
typedef enum qn_search_metric {
	QN_SEARCH_MSE = 0,   /* sum of squared differences to the float output, over all batches */
	QN_SEARCH_COSINE = 1 /* 1 - cosine of the angle between both */
} qn_search_metric;

typedef struct qn_search { /* all zero: those of the method "output" */
	size_t size;
	qn_search_metric metric;
	int steps;    /* factors that may be tried: 2 … 1000; 0: 21 */
	double least; /* the smallest one: 0.001 … 1; 0: 0.5; the largest is 1 */
} qn_search;

/* Sets all symbols of the partition: begins with what qn_info_set_default sets; for one symbol
 * after the other, those of activations first, tries its scale times some of the factors and keeps
 * the one with which QN_INFO_OUTPUT is nearest to QN_INFO_FLOAT_OUTPUT; of equal ones the largest.
 * search: a qn_search, or NULL; so this is a calibrate callback itself, whose user is the qn_search.
 * Runs the partition on up to 24 batches, evenly chosen, for about 8 factors and 2 for each halving
 * of their distance, less where a trial is worse early.  QN_EUSAGE (calibrate.search): out of range;
 * QN_EBUDGET (limit.steps): all searches together took more than the limit `steps`. */
QN_API qn_status qn_search_output(void *search, qn_info *i);

/* ---- how values are stored ---- */

typedef enum qn_scheme_kind {
	QN_TFLITE = 0, /* asymmetric activations, symmetric weights, one scale per output channel, integer inputs and outputs */
	QN_RFC = 1     /* TVM's quantization RFC: symmetric, per-tensor weights, its six patterns; no parameters for inputs and outputs that no pattern gives */
} qn_scheme_kind;

/* How the scales of weights are found, without samples; the method "output" begins with them. */
typedef enum qn_weight_method {
	QN_WEIGHTS_BY_MAX = 0, /* the largest absolute value */
	QN_WEIGHTS_BY_MSE = 1  /* of 80 thresholds from 0.3 to 1 of it the one with the least squared error */
} qn_weight_method;
typedef enum qn_rounding {
	QN_ROUND_DEFAULT = 0, /* what the model says; TFLite's double rounding where it says nothing */
	QN_ROUND_DOUBLE = 1,
	QN_ROUND_SINGLE = 2,
	QN_ROUND_NEAREST = 3,
	QN_ROUND_EVEN = 4
} qn_rounding;
typedef enum qn_weights { QN_WEIGHTS_DEFAULT = 0, QN_WEIGHTS_PER_CHANNEL = 1, QN_WEIGHTS_PER_TENSOR = 2 } qn_weights;

/* How activations are stored: in 8 bits with any zero point, signed or not; in 16 bits, symmetric
 * (TFLite's 16x8: 64-bit accumulators and biases). */
typedef enum qn_activations { QN_ACTIVATIONS_I8 = 0, QN_ACTIVATIONS_U8 = 1, QN_ACTIVATIONS_I16 = 2 } qn_activations;
/* How constant weights are stored: codes [-127, 127], or [-7, 7], of which emitted code packs two
 * into a byte. */
typedef enum qn_weights_type { QN_WEIGHTS_I8 = 0, QN_WEIGHTS_I4 = 1 } qn_weights_type;

/* ---- quantizer patterns (docs/patterns.md) ---- */

/* One match while its quantized form is written; lives for the time of the callback that it is
 * given to.
 *
 *   bias_add(c=conv2d(x, w), b)  ->  dequantize(conv2d(quantize(x): $c.x, quantize(w): $c.w, quantize(b): $c.x*$c.w))
 *
 * A quantized form takes real values and gives a real value of the same type, so matches stay
 * independent of each other: what happens between a dequantize and the next quantize is the
 * requantizer's work. */
typedef struct qn_quantizing qn_quantizing;

/* A rule of the quantizer.  Texts live as long as the call that they are given to. */
typedef struct qn_quantizer { /* frozen: they stand in arrays */
	const char *name;          /* the composites carry it; one of a standard pattern takes that one's place */
	const char *text;          /* the pattern, "relu(x)"; or NULL and */
	const qn_pattern *pattern; /* … one of the context's own */
	/* 0: declines the match of values of g, with a reason (static text) in *why.  NULL: takes
	 * all. */
	int (*accept)(void *user, const qn_graph *g, const qn_match *m, const char **why);
	/* Returns a real value of the type of the match's root; 0: an error (quantize.callback).  m
	 * holds values of the graph under construction: what goes into the match; its root and what
	 * lies inside are 0. */
	qn_id (*quantize)(void *user, qn_quantizing *q, const qn_match *m);
	/* Finds the symbols' values; NULL: the method of the options does. */
	qn_status (*calibrate)(void *user, qn_info *info);
	void *user;
} qn_quantizer;

/* What the options, and a recipe, say of this match.  Frozen. */
typedef struct qn_quantizing_info {
	qn_scheme_kind scheme;
	qn_activations activations;
	qn_weights_type weights_type;
	int per_tensor_weights; /* not 0: one scale for a weight tensor */
} qn_quantizing_info;

QN_API qn_quantizing_info qn_quantizing_options(const qn_quantizing *q);
/* The graph under construction, on which qn_add_op and qn_add_const work. */
QN_API qn_graph *qn_quantizing_graph(qn_quantizing *q);
/* The float graph of the match alone, and the match in it. */
QN_API const qn_graph *qn_quantizing_before(const qn_quantizing *q);
QN_API const qn_match *qn_quantizing_match(const qn_quantizing *q);
/* What stands for value v of the float graph in the one under construction: 0 unless it is one of
 * its inputs. */
QN_API qn_id qn_quantizing_value(const qn_quantizing *q, qn_id v);

/* Those that follow add a node to the graph under construction and return it, 0 after reporting an
 * error or when they are given a 0. */

/* quantize(x) with a fresh symbol "$owner.operand" (a number behind when it is taken), stored as
 * activations are: one scale, with a zero point unless the scheme or the storage is symmetric. */
QN_API qn_id qn_quantize_activation(qn_quantizing *q, qn_id x, const char *owner, const char *operand);
/* … stored as weights are: codes -127 … 127, or -7 … 7, zero point 0.  axis >= 0: a scale for each
 * index of it; -1: one. */
QN_API qn_id qn_quantize_weights(qn_quantizing *q, qn_id x, const char *owner, const char *operand, int axis);

typedef struct qn_codes {
	int bits;      /* 2 … 16 */
	int is_signed;
	int symmetric; /* zero point 0 */
	int narrow;    /* without the smallest code: -127 … 127 */
	int per_axis, axis; /* a scale for each index of the axis */
} qn_codes;
/* … stored as told. */
QN_API qn_id qn_quantize_symbol(qn_quantizing *q, qn_id x, const char *owner, const char *operand, const qn_codes *codes);
/* quantize(x) in units of scale(a) * scale(w), zero point 0, as i32, or as i64 where activations
 * are i16: a bias.  a, w: codes; where w has a scale for each index of an axis, so has x along its
 * own axis 0. */
QN_API qn_id qn_quantize_bias(qn_quantizing *q, qn_id x, const char *name, qn_id a, qn_id w);
/* quantize(x) with these parameters; bits and is_signed of codes count. */
QN_API qn_id qn_quantize_fixed(qn_quantizing *q, qn_id x, const char *name, const qn_codes *codes, double scale, int64_t zero_point);
/* quantize(x) with the parameters that the arithmetic of a FIXED operator, value v of the float
 * graph, gives its result. */
QN_API qn_id qn_quantize_result(qn_quantizing *q, qn_id x, const char *name, qn_id v);
QN_API qn_id qn_dequantize(qn_quantizing *q, qn_id x, const char *name);
/* The operator of value v of the float graph with its attributes on other inputs. */
QN_API qn_id qn_quantizing_op(qn_quantizing *q, qn_id v, const char *name, size_t n, const qn_id *in);

/* Not 0: the match of a pattern, whose root is this value of g, stays float. */
typedef int qn_skip_fn(void *user, const qn_graph *g, qn_id root, const char *pattern);

/* A match of a quantizer pattern that was looked at.  Texts live as long as the model. */
typedef struct qn_explained {
	const char *pass;     /* "partition": taken, skipped or not; "quantize": those that were taken once more */
	const char *pattern, *root;
	const char *why;      /* why it was not taken or skipped; NULL: it was taken */
	size_t nin;           /* of those that were taken or skipped: the values that go in */
	const char *const *in;
	size_t nsymbol;       /* the symbols that its quantized form has made ("quantize") */
	const char *const *symbol;
} qn_explained;
typedef void qn_explain_fn(void *user, const qn_explained *e);

/* ---- compiling ---- */

typedef struct qn_compile_opts { /* all zero: defaults */
	size_t size;
	qn_scheme_kind scheme;
	const char *method;     /* "NAME" or "NAME:PARAM=VALUE,…", see qn_method_name; NULL: minmax, or that of stats */
	const qn_stats *stats;  /* what was observed before, instead of calib, which is not run then */
	qn_weight_method weight_method;
	qn_weights weights;     /* default: what the scheme says */
	qn_activations activations;   /* QN_RFC: not u8 */
	qn_weights_type weights_type;
	const qn_quantizer *quantizers; /* tried before the standard patterns, in this order */
	size_t nquantizers;
	int no_standard; /* not 0: no standard patterns */
	const char *skip; /* what stays float though a pattern matches: "first,last,name:conv1*,op:softmax"; NULL: nothing */
	qn_skip_fn *skip_fn; /* … or what this says; NULL: nothing */
	void *skip_user;
	const char *recipe; /* JSON (docs/quantization.md): how parts of the graph are stored; NULL: */
	const char *recipe_file; /* … read from there; NULL: none */
	qn_explain_fn *explain; /* is told of each match; NULL: none */
	void *explain_user;
	qn_rounding rounding;   /* how integer nodes round */
	int no_approx;    /* not 0: averages of codes, which round twice (avg_pool, resize_bilinear), are left out and stay in float */
	int merge_always; /* not 0: chains of requantizes become one even where values in between saturate */
	int align;        /* 8 to 15: scales become integers of so many bits times powers of two, and sums of two values exact (docs/quantization.md); 0: they stay */
	int require_int;  /* not 0: behind requantize, whether or not legalize follows, QN_EUNSUPPORTED and a "legalize.float" for each op that stays in float */
	qn_array *const *calib; /* samples: an array for each input, in order or by its name */
	const char *const *calib_names; /* for messages and, without their folders, reports, one an array; NULL: the files' own, and none in the report */
	size_t ncalib; /* of a model that another tool has quantized they give values a range which it leaves in float, and only these; where there are none, a warning, "calib.unused" */
	const char *passes;      /* comma list; NULL: all that the model's stage still needs */
	const char *stop_after;  /* name of a pass, or NULL */
	const char *print_after; /* name of a pass, "all", or NULL: the graph's text goes to print */
	qn_write_fn *print;
	void *print_user;
	qn_log_fn *trace_rules; /* a line for each rule whose pattern matched: "clean: fold-constant at add 'a': declined: an input is no constant"; NULL: none */
	void *trace_user;
	const char *encodings; /* path of AIMET's encodings (docs/importing.md): parameters by the names of values, instead of calib and weights; what it does not name is calibrated.  Not with stats, callbacks or method "output".  NULL: none */
} qn_compile_opts;

/* Runs passes over the model; it is verified after each.  On failure the model is as the last
 * pass that went well left it. */
QN_API qn_status qn_compile(qn_model *m, const qn_compile_opts *opts);
/* The methods of calibration with a line about each, parameters with their defaults included;
 * NULL past the last. */
QN_API const char *qn_method_name(size_t i);
QN_API const char *qn_method_help(size_t i);
/* The passes in their order; NULL past the last. */
QN_API const char *qn_pass_name(size_t i);
QN_API const char *qn_pass_help(size_t i);

/* ---- statistics of a calibration: observed in parts, on any machine, and added up ---- */

/* Runs the passes that the model needs to be symbolic, then its float form on samples, and
 * remembers what opts->method wants to know of every value (docs/calibration.md).
 *
 * Samples are looked at as by qn_compile, with the same warnings.  A quantizer pattern with a
 * calibrate callback is refused (stats.callback), and so are methods of a recipe (stats.method):
 * statistics hold what one method observes.
 *
 * With nshard > 0 only part `shard` (1 … nshard) of the samples is run, for one pass over them;
 * else all, for as many passes as the method takes.  opts->stats: where the pass before ended, or
 * NULL.  opts->calib holds all samples in either case; NULL when opts->stats is complete: then *out
 * is a copy.  *out belongs to the context. */
QN_API qn_status qn_calibrate(qn_model *m, const qn_compile_opts *opts, size_t shard, size_t nshard, qn_stats **out);
/* Adds up n >= 1 of them, which must come from the same model, samples and method and not overlap
 * (stats.mismatch, stats.overlap); names, one each, are for messages. */
QN_API qn_status qn_stats_merge(qn_ctx *ctx, size_t n, qn_stats *const *part, const char *const *names, qn_stats **out);
QN_API qn_status qn_stats_load(qn_ctx *ctx, const char *path, qn_stats **out);
QN_API qn_status qn_stats_save(const qn_stats *s, const char *path);
/* Whether all samples and all passes of the method are in it. */
QN_API int qn_stats_complete(const qn_stats *s);
/* Writes for people what was chosen and why: for one value its range, the share that is clipped,
 * the samples that stretched it and a histogram; value NULL: a line for each.  m: the symbolic
 * model.  A value is named as its symbol ("conv1.x", "$conv1.x") or as in the graph.  samples, n of
 * them: those that were observed, to tell which files of a folder they are; n 0: their numbers
 * alone. */
QN_API qn_status qn_stats_explain(qn_model *m, const qn_stats *s, const char *value, size_t n, qn_array *const *samples, qn_write_fn *write, void *user);
QN_API void qn_stats_free(qn_stats *s); /* before the context is closed; NULL is fine */

/* Signal to quantization noise of a calibrated model that was not requantized yet (the pass bind
 * was the last), on samples: for every value that it quantizes, 10 log10 of the sum of squares of
 * the real value over that of the difference. */
typedef struct qn_noise {
	size_t values;      /* with a difference and a signal */
	double mean, least; /* dB over these values */
	const char *worst;  /* the value of the least; lives as long as the model; NULL when values is 0 */
} qn_noise;
QN_API qn_status qn_measure_noise(qn_model *m, size_t nin, qn_array *const *in, qn_noise *out);

/* Runs the graph, at any stage, on every batch of the samples (an array for each input).  Float
 * inputs take f32 or f64; integer inputs take their codes, or f32 values, which are quantized.
 * Output k receives all results, codes as they are, or with real != 0 dequantized to f32. */
QN_API qn_status qn_run(qn_model *m, size_t nin, qn_array *const *in, int real, size_t nout, qn_array **out);

typedef struct qn_accuracy {
	uint64_t samples, correct; /* top-1: the index of the largest element of the first output is the label */
} qn_accuracy;
/* labels: integers, one a sample; NULL: the classes of a folder of folders (docs/data.md). */
QN_API qn_status qn_evaluate(qn_model *m, size_t nin, qn_array *const *in, const qn_array *labels, qn_accuracy *out);

/* Labels of a file, integers, one a sample: .npy, an .npz of one array or with one called labels,
 * or a table (.csv).  column, of a table: its name in the header, or its number from 1; NULL: the
 * one called label, else the last.  samples: where they are files and the table has a column of
 * file names, a row is for the sample of its name ("b.png" or "cats/b.png"); else, and with NULL,
 * rows are for samples in order. */
QN_API qn_status qn_labels_open(qn_ctx *ctx, const char *path, const char *column, const qn_array *samples, qn_array **out);
/* The name of class k of samples in subfolders; NULL past the last and where there are none. */
QN_API const char *qn_array_class(const qn_array *x, size_t k);

/* A figure of a model on samples.  Texts live as long as the model.  Frozen. */
typedef struct qn_metric {
	const char *name;   /* "top1", "auc", "cosine" … */
	const char *output; /* the output that it is of */
	const char *unit;   /* "%", "dB" or "" */
	double value;       /* of sqnr an infinity where there is no difference */
	uint64_t hits, of;  /* of top… and agreement: value is 100 * hits / of; else 0 */
} qn_metric;
typedef void qn_metric_fn(void *user, const qn_metric *metric);

/* What is measured (docs/evaluation.md): all figures for which there is what they need. */
typedef struct qn_measure_opts { /* all zero: defaults */
	size_t size;
	const qn_array *labels; /* integers, one a sample; NULL: the classes of a folder of folders, or none */
	size_t ntop;            /* 0: top1 alone */
	const size_t *top;      /* 1 … the number of classes */
	qn_model *against;      /* the reference is what this model gives on the same samples (codes of the model: on the real values that they stand for, unless it takes the same codes); NULL: */
	size_t ntarget;         /* … it is these real values, an array an output, a sample each index of dimension 0; 0: none */
	qn_array *const *target;
	const char *score;      /* of a sample: "value", "value:K" (element K of the first output), "mse-input" (mean of (first output - first input)^2);
	                           NULL: "value" where the first output has one element a sample */
	size_t window;          /* so many consecutive samples have one label and one score, their mean; 0: 1 */
} qn_measure_opts;

/* Runs the model, at any stage, on all samples and tells fn each figure: sums in double, in the
 * order of the samples, whatever the number of threads.  Codes count as the real values that they
 * stand for.  opts NULL: defaults.  QN_EUSAGE (data.labels) when there is nothing to measure. */
QN_API qn_status qn_measure(qn_model *m, size_t nin, qn_array *const *in, const qn_measure_opts *opts, qn_metric_fn *fn, void *user);
/* Metric i of the table and a line about it; NULL past the last.  "top" stands for top1, top5 … */
QN_API const char *qn_metric_name(size_t i);
QN_API const char *qn_metric_help(size_t i);

typedef struct qn_emit_options { /* all zero: defaults */
	size_t size;
	const char *name;        /* prefix of files and symbols; NULL: the model's name */
	qn_array *const *test;   /* samples for the self-test, an array for each input; NULL: no self-test file.  A model without inputs: any pointer */
	size_t ntest;
	size_t test_samples;     /* how many of them; 0: 4 */
	size_t max_scratch_bytes; /* budgets; 0: none.  Exceeding one, with `optimize` balanced after slower kernels were tried, is QN_EBUDGET, and nothing is written */
	size_t max_weight_bytes;
	const char *target;      /* a name of qn_target_name: whose instructions the C may use; NULL: "generic".  The bytes that are computed do not depend on it */
	/* Receives a text that says for each step which kernel computes it, and why not those that were asked
	 * before; NULL: it is not written.  Anything but 0 stops with QN_EIO (emit.write). */
	qn_write_fn *explain;
	void *explain_user;
	int proof;               /* 1: NAME_proof.c too, a main that runs the program once with every input unknown, for an analyser */
	int shared_kernels;      /* 1: NAME.c can be included in a C file beside those of other models, with each kernel once */
	const char *constants;   /* how NAME_weights.c spells bytes: "numbers", decimal; "words", eight in a word, which C compilers read several
	                           times as fast; NULL or "auto": words where all constants have 1 MiB or more.  The bytes in memory are the same */
	/* What kernels are chosen for: "speed", the fastest of the target; "size", the smallest; "balanced" or NULL, the
	 * fastest as long as constants are at most a fifth and scratch at most an eighth above those of the smallest, and
	 * within the budgets.  The bytes that are computed do not depend on it. */
	const char *optimize;
} qn_emit_options;

/* Target i of the table and a line about it; NULL past the last.  The first one is the default. */
QN_API const char *qn_target_name(size_t i);
QN_API const char *qn_target_help(size_t i);

typedef struct qn_emit_info {
	const char *name; /* the prefix as a C identifier; lives as long as the model */
	size_t scratch_bytes, scratch_lower_bound, weight_bytes, steps;
} qn_emit_info;

/* Writes the C files and NAME.report.json of an integer model into a folder, which is made if
 * need be: all files or none. */
QN_API qn_status qn_emit(qn_model *m, const char *folder, const qn_emit_options *opts, qn_emit_info *info);

/* Receives a piece of a file, of n > 0 bytes; name: "digits_weights.c".  The pieces of a file come
 * one after the other, files one after the other; another name begins the next file.  Anything but
 * 0 stops with QN_EIO (emit.write).  It must not call the library with anything of this context. */
typedef int qn_file_fn(void *user, const char *name, const char *text, size_t n);
/* The same files, handed to fn: the file system is not touched.  Nothing is handed over before the
 * model's stage, its form in C and the budgets have been checked; what was handed over when memory
 * runs out or fn stops is the host's to throw away. */
QN_API qn_status qn_emit_to(qn_model *m, const qn_emit_options *opts, qn_file_fn *fn, void *user, qn_emit_info *info);

/* ---- operators ---- */

typedef struct qn_op_support {
	const char *name;
	int real;    /* has a float form: f32 */
	int int8;    /* has an integer form on signed 8-bit codes */
	int uint8;   /* … on unsigned 8-bit codes */
	int int16;   /* … on 16-bit codes */
	int emitted; /* its integer form can be written as C */
} qn_op_support;

/* Operator i of the built-in table; name NULL past the last.  Structure (input, const, call …) is
 * left out. */
QN_API qn_op_support qn_supported_op(size_t i);

/* An operator of another tool's files that qn_load takes (docs/importing.md).  Frozen. */
typedef struct qn_source_op {
	const char *format;        /* "ONNX" or "TFLite" */
	const char *domain, *name; /* domain "": the format's own; "Conv", "CONV_2D" */
	int min, max;              /* versions of ONNX's operator set; max 0: the newest.  TFLite: 0, 0 */
} qn_source_op;

/* Operator i, by format, domain and name, versions rising; name NULL past the last.  ONNX is left
 * out where the library was built without it. */
QN_API qn_source_op qn_supported_source_op(size_t i);

#ifdef __cplusplus
}
#endif
#endif
