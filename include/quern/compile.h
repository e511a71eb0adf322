/* SPDX-License-Identifier: Apache-2.0 */
/* compile.h - from a float model to an integer one: how values are stored, and the options of a
 * compile (docs/quantization.md, docs/calibration.md).
 *
 *   const qn_compile_opts opts = {.size = sizeof opts, .calib = &samples, .ncalib = 1,
 *                                 .method = "mse", .bias_correction = 1};
 *
 *   qn_compile(m, &opts);                              m is an integer model now */
#ifndef QUERN_COMPILE_H
#define QUERN_COMPILE_H

#include "quern/context.h"

#ifdef __cplusplus
extern "C" {
#endif

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
 * (docs/calibration.md): those that bring the outputs at least 3 dB of SQNR on three calibration
 * samples of four, and anything on the others.  It needs samples (calib), not statistics or
 * encodings, and quantizes and calibrates the model at most 33 times more.  Errors: widen.no-data,
 * widen.ranges, calibrate.state; warning: widen.settled. */
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
/* How weights become integers when their scale is known (docs/calibration.md).  All but the nearest
 * need samples (calib). */
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
	/* what was observed before (quern/calibrate.h), instead of running calib */
	const qn_stats *stats;
	/* Path of AIMET's encodings (docs/importing.md): scales by the names of values; what they
	 * do not name is calibrated.  Not with stats, calibrate callbacks or the method
	 * "output". */
	const char *encodings;

	/* ---- storage of activations and weights ---- */

	qn_scheme_kind scheme;
	/* QN_RFC: not u8; language models: better i16 (docs/importing.md); AUTO: not with stats,
	 * encodings */
	qn_activations activations;
	qn_weights_type weights_type;
	qn_weights weights;
	/* Weights of convolutions, dense and tables of gather get a scale for each so many inputs
	 * of an output channel, or elements of a row, QN_WEIGHT_BLOCK_LEAST … _MOST
	 * (docs/quantization.md); 0: as `weights` says */
	int weight_block;
	qn_weight_method weight_method;
	/* Layers that compute the scale of their data at run time, from 16-bit values: globs of
	 * names, and op:OP, comma-separated: "fc1,conv*,op:dense" (docs/quantization.md); NULL:
	 * none.  conv1d, conv2d, conv3d, conv2d_transpose, dense and matmul with constant weights
	 * can; a word that matches none of these is an error (recipe.dynamic). */
	const char *dynamic;
	/* JSON text (docs/quantization.md): storage and repairs of parts of the graph; NULL: that of
	 * recipe_file */
	const char *recipe;
	const char *recipe_file; /* the path of such a text; NULL: none */

	/* ---- repairs: kept where they help on one calibration sample of four ---- */

	qn_weight_rounding weight_rounding;
	/* 1: biases make up for the mean error of each output channel; needs samples (calib) */
	int bias_correction;
	/* 1: scales of channels move between layers, by powers of two, so that the float graph
	 * computes the same, and biases of channels whose values are all far above 0; kept where
	 * the quantized outputs are nearer to the float ones on samples that are held back
	 * (docs/calibration.md).  Needs samples, not statistics or encodings.  Errors:
	 * equalize.no-data, equalize.ranges; warning: equalize.dropped. */
	int equalize;
	/* 1: ranges of activations become narrower where the quantized outputs are nearer to the
	 * float ones then, on samples that choose and on those held back (docs/calibration.md).
	 * Comes after the other repairs; needs samples, not encodings.  Errors: repair.no-data,
	 * narrow.ranges; warning: narrow.dropped. */
	int narrow_ranges;

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

	/* 1: where skip, skip_fn or the recipe leave a node in float, the passes end before
	 * legalize instead of failing there: for measurements, nothing can be emitted */
	int keep_skipped;

	/* ---- loops ---- */

	/* 1: all steps of loops are written out, as if each were a layer of its own, with
	 * parameters of its own; 0: the body of a loop is quantized and emitted once.  Loops of
	 * quantized files are also written out without samples, if the range of a carried value
	 * cannot be derived from the file. */
	int inline_bodies;
} qn_compile_opts;
/* Runs the passes that the model still needs, from float to integer, and verifies it after each.
 * On failure the model is as the last successful pass left it.  opts NULL: defaults. */
QN_API qn_status qn_compile(qn_model *m, const qn_compile_opts *opts);
/* Pass i in the order of the passes and one line about it; NULL after the last.  The last ones run
 * only where qn_compile_opts.passes names them: normalize-quant-types, lower-quant, strip-quant. */
QN_API const char *qn_pass_name(size_t i);
QN_API const char *qn_pass_help(size_t i);

#ifdef __cplusplus
}
#endif
#endif
