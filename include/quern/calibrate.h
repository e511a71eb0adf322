/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.h - calibration: statistics that are observed in parts, callbacks that find scales
 * themselves, the table of methods (docs/calibration.md).
 *
 * qn_compile calibrates when it has samples; most hosts need nothing of this header.  In parts,
 * on any machine:
 *
 *   qn_calibrate(m, &opts, 1, 2, &a);               machine 1: the first half of the samples
 *   qn_calibrate(m, &opts, 2, 2, &b);               machine 2: the second half
 *   qn_stats_merge(ctx, 2, (qn_stats *[]){a, b}, NULL, &all);
 *   opts.stats = all;                               a method of several passes: again, until
 *   qn_compile(m, &opts);                           qn_stats_complete */
#ifndef QUERN_CALIBRATE_H
#define QUERN_CALIBRATE_H

#include "quern/quern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- methods ---- */

/* Built-in method i and one line about it, its parameters with their defaults included; NULL
 * after the last. */
QN_API const char *qn_method_name(size_t i);
QN_API const char *qn_method_help(size_t i);

/* What was observed of one value: all samples, all elements. */
typedef struct qn_observed {
	size_t size;      /* of the struct in this library */
	const char *name; /* of its symbol, "conv1.x" */
	uint64_t count;   /* elements, at least 1 */
	double min, max;
	int symmetric;  /* 1: the range becomes [-t, t], t the larger one of both ends */
	int64_t lo, hi; /* the range of quantized values */
	/* A histogram: bin i counts the elements in [first + i * width, first + (i + 1) *
	 * width). */
	size_t nbin;
	const uint64_t *bin;
	double first, width;
	/* The smallest and the largest element of each batch. */
	size_t nbatch;
	const float *batch_min, *batch_max;
} qn_observed;

/* A number that texts set: "acme.clip:share=0.001". */
typedef struct qn_method_param {
	const char *name;
	double otherwise, least, most; /* the default, and the range of valid values */
} qn_method_param;

/* A method of the host: how the range of a value is chosen from what was observed. */
typedef struct qn_method_desc {
	size_t size;
	/* "acme.clip": letters, digits and '_' with a dot, which no built-in method has */
	const char *name;
	size_t nparam; /* at most 3 */
	const qn_method_param *param;
	/* Sets the range of float values that quantized values stand for; what lies outside is
	 * clipped. Returns 0; anything else, and a range that is not finite or has *lo > *hi, is
	 * QN_EINVALID (method.callback).  param: in the order of the descriptor.  May be called
	 * from several threads at a time (qn_config.threads), must set the same for the same
	 * arguments, and may not call the library. */
	int (*range)(void *user, const double *param, const qn_observed *value, double *lo,
		     double *hi);
	void *user;
} qn_method_desc;

/* Makes the method known to the context by its name: qn_compile_opts.method, recipes and
 * statistics may have it from now on.  It lasts as long as the context; texts are copied.
 * QN_EUSAGE (method.register): something is missing, or the name is taken. */
QN_API qn_status qn_method_register(qn_ctx *ctx, const qn_method_desc *desc);

/* ---- statistics: observed in parts and merged ---- */

/* Runs the passes that the model needs to be symbolic, then its float graph on samples, and
 * records what opts->method observes of every value.
 *
 * Samples are checked as by qn_compile, with the same warnings.  A quantizer pattern with a
 * calibrate callback is refused (stats.callback), and so are methods of a recipe (stats.method):
 * statistics hold what one method observes.
 *
 * nshard > 0: only part `shard` (1 … nshard) of the samples is run, for one pass over them;
 * nshard 0: all samples, for as many passes as the method takes.  opts->stats: the result of the
 * pass before, or NULL.  opts->calib holds all samples in either case; NULL when opts->stats is
 * complete: then *out is a copy.  *out belongs to the context. */
QN_API qn_status qn_calibrate(qn_model *m, const qn_compile_opts *opts, size_t shard, size_t nshard,
			      qn_stats **out);
/* Merges n >= 1 of them, of the same model, samples and method, that do not overlap
 * (stats.mismatch, stats.overlap); names, one for each, are for messages; NULL: none. */
QN_API qn_status qn_stats_merge(qn_ctx *ctx, size_t n, qn_stats *const *part,
				const char *const *names, qn_stats **out);
QN_API qn_status qn_stats_load(qn_ctx *ctx, const char *path, qn_stats **out);
QN_API qn_status qn_stats_save(const qn_stats *s, const char *path);
/* 1 when it holds all samples and all passes of the method. */
QN_API int qn_stats_complete(const qn_stats *s);
/* Gap k, from 0, in the batches that this pass has observed: *first to *last, from 0; 0: there is
 * none.  *all: the batches of the data set, or NULL. */
QN_API int qn_stats_missing(const qn_stats *s, size_t k, uint64_t *first, uint64_t *last,
			    uint64_t *all);
/* Writes for people what was chosen and why: for one value its range, the share that is clipped,
 * the samples that stretched it and a histogram; value NULL: a line for each.  m: the symbolic
 * model.  A value has the name of its symbol ("conv1.x", "$conv1.x") or of the graph.  samples, n
 * of them: those that were observed, to name the files of a folder; n 0: numbers alone. */
QN_API qn_status qn_stats_explain(qn_model *m, const qn_stats *s, const char *value, size_t n,
				  qn_array *const *samples, qn_write_fn *write, void *user);
/* Frees statistics before their context is closed; NULL is fine. */
QN_API void qn_stats_free(qn_stats *s);

/* ---- callbacks of quantizer patterns (quern/patterns.h) ----
 *
 * One partition (a match of a quantizer pattern) while its symbols get their values:
 *
 *   float      x ──conv2d──▶ y                         what the float graph computes
 *   quantized  x' ─quantize($x)─▶ conv2d ─▶ … ─dequantize─▶ y'
 *
 * Partitions are calibrated in topological order.  x' and y' are computed from the quantized
 * outputs of those before, whose symbols have their final values; a value that needs a symbol
 * without a value is refused (calibrate.future, which names it).
 *
 * A value of a loop is that of all its steps, stacked along a new first axis, for each loop around
 * it the outermost first.  There x' and y' are computed from what the float graph has in each step:
 * what the loop carries depends on partitions that are calibrated later.  The symbol of a carried
 * value belongs to all partitions that read it: set its range, as ranges are merged. */

/* Lives for the duration of the callback that it is passed to. */
typedef struct qn_info qn_info;

/* A symbol of the partition: scale and zero point of one of its quantizes. */
typedef struct qn_symbol_info {
	const char *name; /* "conv1.x"; NULL after the last */
	size_t length;    /* 1: one scale; else one for each index of an axis */
	int symmetric;    /* 1: its zero points are 0 */
	int constant;   /* 1: it quantizes a constant; has values already, which may be replaced */
	int64_t lo, hi; /* the range of quantized values */
} qn_symbol_info;

/* Values for a symbol. */
typedef struct qn_symbol_value {
	const char *symbol;
	size_t n;                  /* 1, or the symbol's length */
	const double *scale;       /* positive; rounded to f32 */
	const int64_t *zero_point; /* NULL: zeros */
} qn_symbol_value;

typedef enum qn_info_value {
	QN_INFO_FLOAT_INPUT = 0, /* input k in the float graph */
	QN_INFO_FLOAT_OUTPUT = 1,
	QN_INFO_INPUT = 2,     /* input k as the quantized graph computes it, a float value */
	QN_INFO_QUANTIZED = 3, /* the result of the quantize of symbol k */
	QN_INFO_OUTPUT = 4     /* the dequantized output */
} qn_info_value;

/* The data of a value; valid until the next call that reads one. */
typedef struct qn_info_data {
	int rank;
	const int64_t *shape;
	size_t count;
	/* NULL for quantized values, and for outputs that are not numbers: bools, indices. */
	const float *values;
	/* NULL for float values; `bits` each, signed when lo of the symbol is negative. */
	const void *quantized;
	int bits;
} qn_info_data;

/* Name of the value that the partition computes. */
QN_API const char *qn_info_name(const qn_info *i);
/* Name of the quantizer pattern that it matched. */
QN_API const char *qn_info_pattern(const qn_info *i);
/* Batches of samples; 0: no samples. */
QN_API size_t qn_info_batches(const qn_info *i);
/* Number of inputs: those of the symbols first, in the order of the symbols, then the others. */
QN_API size_t qn_info_inputs(const qn_info *i);
QN_API qn_symbol_info qn_info_symbol(const qn_info *i, size_t k);
/* Reads a value of one batch, with the trials as values of symbols for this evaluation alone.
 * QUANTIZED, OUTPUT and an INPUT that is computed inside of the partition (of a quantize between
 * two operations of the pattern) need values for the symbols before them: the trials, else those
 * that were set. Only nodes of the partition are run, from inputs that are cached as far as
 * memory allows. */
QN_API qn_status qn_info_read(qn_info *i, qn_info_value what, size_t k, size_t batch, size_t ntrial,
			      const qn_symbol_value *trial, qn_info_data *out);
/* Sets the values of a symbol.  QN_EINVALID: the symbol does not belong to the partition
 * (calibrate.extra), or the values are invalid (symbol.…).  A symbol that a callback leaves
 * without values is an error (calibrate.missing). */
QN_API qn_status qn_info_set(qn_info *i, const qn_symbol_value *value);
/* … to those of a range of float values, as the methods do. */
QN_API qn_status qn_info_set_range(qn_info *i, size_t k, double lo, double hi);
/* … to those that the method of the options finds. */
QN_API qn_status qn_info_set_default(qn_info *i, size_t k);

/* How the search below compares an output with the float output. */
typedef enum qn_search_metric {
	QN_SEARCH_MSE = 0,   /* sum of squared differences over all batches */
	QN_SEARCH_COSINE = 1 /* 1 - cosine of the angle between both */
} qn_search_metric;

typedef struct qn_search { /* all zero: those of the method "output" */
	size_t size;
	qn_search_metric metric;
	int steps;    /* number of factors that may be tried: 2 … 1000; 0: 21 */
	double least; /* the smallest factor: 0.001 … 1; 0: 0.5; the largest is 1 */
} qn_search;

/* Sets all symbols of the partition: begins with what qn_info_set_default sets; for one symbol
 * after the other, those of activations first, tries its scale times some of the factors and
 * takes the one with which QN_INFO_OUTPUT is nearest to QN_INFO_FLOAT_OUTPUT; of equal ones the
 * largest. search: a qn_search, or NULL; so this function is itself a calibrate callback, whose
 * user is the qn_search. Runs the partition on up to 24 batches, evenly chosen, for about 8
 * factors and 2 for each halving of their distance, fewer where a trial is soon worse.  QN_EUSAGE
 * (calibrate.search): out of range; QN_EBUDGET (limit.steps): all searches together exceeded the
 * limit `steps`. */
QN_API qn_status qn_search_output(void *search, qn_info *i);

#ifdef __cplusplus
}
#endif
#endif
