/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - running a model at any stage, and measuring it: accuracy, labels, noise of
 * quantization (docs/evaluation.md).
 *
 *   qn_array *y;
 *   qn_run(m, 1, &samples, 1, 1, &y);                     all samples at once, results as f32
 *
 *   qn_measure_opts opts = {.size = sizeof opts, .labels = labels, .against = float_model};
 *   qn_measure(m, 1, &samples, &opts, print_metric, NULL);      top1, auc, cosine, sqnr …
 *
 *   qn_session_new(m, &s);  qn_session_run(s, 1, &hop, 1, 1, &y);  …         a stateful model call by call
 *
 *   qn_run_traced(m, 1, &samples, 1, 1, &y, look, NULL);      and shows the values of trace ops
 *
 * Samples are arrays whose dimension 0 counts them, one array for each input, in order or by the
 * name of the input.  Float inputs take f32 or f64; quantized inputs take their quantized values,
 * or f32 values, which are quantized.  The interpreter computes what emitted C computes, byte for
 * byte. */
#ifndef QUERN_MEASURE_H
#define QUERN_MEASURE_H

#include "quern/quern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the entry graph on every batch of the samples.  out[k], which the context owns, receives
 * all results of output k: quantized values as they are, or with dequantize 1 as f32.  On failure
 * all of them are NULL. */
QN_API qn_status qn_run(qn_model *m, size_t nin, qn_array *const *in, int dequantize, size_t nout,
			qn_array **out);

/* ---- call by call ---- */

/* A run that goes on from call to call: the states of a network (docs/state.md) stay what the last call left, as in
 * NAME_state of emitted C.  It computes on a copy of the model as it is now, so several can be in use at once, and
 * the model may be changed or freed. */
typedef struct qn_session qn_session;

/* A session whose states have their first values; the context owns it.  Errors: those of qn_run, run.dynamic for open
 * shapes; *out is NULL then. */
QN_API qn_status qn_session_new(qn_model *m, qn_session **out);
/* Runs the batches of the samples, one or more, in order: otherwise as qn_run, whatever qn_set_sequence says.  What
 * is wrong with the samples is reported before the first batch and changes no state; after any other error (no memory,
 * cancelled, QN_EIO) reset the session.  in and out may be the same. */
QN_API qn_status qn_session_run(qn_session *s, size_t nin, qn_array *const *in, int dequantize,
				size_t nout, qn_array **out);
/* Sets the states to their first values, as NAME_reset does. */
QN_API void qn_session_reset(qn_session *s);
QN_API void qn_session_free(qn_session *s); /* NULL is allowed */

/* ---- traced values ---- */

/* The value of a `trace` op (docs/ir.md) in one run.  All pointers are valid during the call. */
typedef struct qn_traced {
	size_t size;       /* of the struct in this library */
	const char *key;   /* of the op */
	const char *name;  /* of the value in the graph */
	uint64_t run;      /* which batch of the samples, from 0 */
	const char *type;  /* "tensor<1x4x!quant.uniform<i8:f32, 0.5:-1>>" */
	const char *dtype; /* of an element of `data`: "i8", "i16", "i32", "f32" … */
	int rank;
	const int64_t *shape; /* rank dims */
	/* A quantized value q stands for the float value (q - zero_point) * scale: one of each
	 * (axis -1), or for each index of `axis`.  nscales 0: it is not quantized, or quantized in
	 * blocks, which only `type` describes. */
	int axis;
	size_t nscales;
	const double *scales;
	const int64_t *zero_points;
	const void *data; /* row-major, the bytes that emitted C shows its hook */
	size_t bytes;
} qn_traced;
/* Not 0: the run ends with QN_ECANCELLED.  May not call the library. */
typedef int qn_trace_fn(void *user, const qn_traced *value);

/* qn_run, with a hook for the values of all trace ops: on the calling thread, batch by batch, in
 * the order of the graph, in a loop in each of its runs.  fn NULL is qn_run. */
QN_API qn_status qn_run_traced(qn_model *m, size_t nin, qn_array *const *in, int dequantize,
			       size_t nout, qn_array **out, qn_trace_fn *fn, void *user);

/* ---- labels ---- */

/* Labels of a file, one integer per sample: .npy, an .npz of one array or with one named labels,
 * or a table (.csv).  column, of a table: its name in the header, or its number from 1; NULL: the
 * one named label, else the last.  samples: where they are files and the table has a column of
 * file names, a row is for the sample of its name ("b.png" or "cats/b.png"); else, and with NULL,
 * rows are for samples in order. */
QN_API qn_status qn_labels_open(qn_ctx *ctx, const char *path, const char *column,
				const qn_array *samples, qn_array **out);
/* 1: the samples are files in subfolders, which are their classes. */
QN_API int qn_array_has_labels(const qn_array *x);
/* The name of class k of samples in subfolders; NULL after the last and where there are none. */
QN_API const char *qn_array_class(const qn_array *x, size_t k);

/* 1: no value of the model is float, so that it runs in integers: every integer model, and one that
 * another tool has quantized as a whole. */
QN_API int qn_runs_in_integers(const qn_model *m);

/* ---- metrics ---- */

/* A metric of a model on samples.  Texts live as long as the model. */
typedef struct qn_metric {
	const char *name;   /* "top1", "auc", "cosine" … */
	const char *output; /* the output that it belongs to */
	const char *unit;   /* "%", "dB" or "" */
	double value;       /* of sqnr infinity where there is no difference */
	uint64_t hits, of;  /* of top… and agreement: value is 100 * hits / of; else 0 */
} qn_metric;
typedef void qn_metric_fn(void *user, const qn_metric *metric);

/* What a model is measured by: all metrics for which the options hold what they need. */
typedef struct qn_measure_opts { /* all zero: defaults */
	size_t size;
	/* one integer per sample; NULL: the classes of a folder of folders, or none */
	const qn_array *labels;
	size_t ntop;       /* 0: top1 alone */
	const size_t *top; /* each 1 … the number of classes */
	/* The reference: what this model gives on the same samples.  Where m takes quantized
	 * values, the reference gets the float values that they stand for, unless it takes the
	 * same. */
	qn_model *against;
	/* … or these float values, an array for each output, a sample each index of dimension 0. */
	size_t ntarget;
	qn_array *const *target;
	/* Score of a sample: "value", "value:K" (element K of the first output), "loss"
	 * (-ln(softmax(first output)[label])), "mse-input" (mean of (first output - first
	 * input)^2); NULL: "value" where the first output has one
	 * element per sample. */
	const char *score;
	/* so many consecutive samples have one label and one score, their mean; 0: 1 */
	size_t window;
} qn_measure_opts;

/* Runs the model, at any stage, on all samples and calls fn for each metric: sums in double, in
 * the order of the samples, whatever the number of threads.  Quantized values count as the float
 * values that they stand for.  opts NULL: defaults.  QN_EUSAGE (data.labels): the options hold
 * nothing to measure by. */
QN_API qn_status qn_measure(qn_model *m, size_t nin, qn_array *const *in,
			    const qn_measure_opts *opts, qn_metric_fn *fn, void *user);
/* Metric i of the table and one line about it; NULL after the last.  "top" stands for top1, top5
 * … */
QN_API const char *qn_metric_name(size_t i);
QN_API const char *qn_metric_help(size_t i);

/* ---- noise of quantization ---- */

/* Signal to quantization noise (SQNR) of one quantized value: signal is the sum of squares of the
 * float value over all samples, noise that of the difference. */
typedef struct qn_value_noise {
	size_t size;      /* of the struct in this library */
	const char *name; /* of the value in the float graph */
	/* the layers of the file that it was read from, "conv1, relu1"; its name when there are
	 * none */
	const char *layers;
	double signal, noise;
	/* 10 log10(signal / noise); infinity without a difference, -infinity without a signal */
	double db;
} qn_value_noise;
typedef void qn_noise_fn(void *user, const qn_value_noise *value);

typedef struct qn_noise {
	size_t values;      /* with a signal and a difference */
	double mean, least; /* dB over these values */
	/* the layers of the least; lives as long as the model; NULL when values is 0 */
	const char *worst;
} qn_noise;

/* Measures a calibrated model that was not requantized yet (stop a compile after bind) on
 * samples, and calls fn (may be NULL) for every quantized value in topological order.  Its texts
 * live for the call. Error: noise.stage. */
QN_API qn_status qn_measure_noise(qn_model *m, size_t nin, qn_array *const *in, qn_noise_fn *fn,
				  void *user, qn_noise *out);

/* ---- what each layer costs ---- */

/* Values in bins of equal width from lo to hi, and the range that was chosen for them: what the
 * least and the largest quantized value stand for (of several channels the widest). */
typedef struct qn_histogram {
	const char *value; /* its name in the float graph; NULL: none */
	double lo, hi;
	size_t bins;
	const uint64_t *count; /* by bin */
	double range_lo, range_hi;
} qn_histogram;

/* A layer of the source: all matches of quantizer patterns whose nodes stand for the same layers of
 * its file.  SQNR in dB are those of the network's float outputs on all samples (the sum over
 * several outputs), infinity if they are exact. */
typedef struct qn_layer_cost {
	size_t size;      /* of the struct in this library */
	const char *name; /* a rule of a recipe with this name matches the whole layer */
	/* the layers of the file that it was read from, "conv1, relu1"; its name when there are
	 * none */
	const char *layers;
	const char *op; /* "conv2d"; of several the one with most multiplications */
	size_t matches; /* of patterns: more than 1 where a layer of the file became several */
	/* how its weights are stored: "i4", or "i4-i8" where they differ; NULL: it has none */
	const char *weights;
	uint64_t macs, weight_bytes;
	double alone;         /* when this layer alone is quantized */
	double weights_alone; /* … only its constants … */
	double data_alone;    /* … only its other operands (from the difference of both) */
	double here;          /* SQNR of its own results when all layers are quantized */
	double gain;          /* dB that the network's SQNR gains when this layer alone is float */
	/* with this layer alone quantized: of the angle between the outputs and the float ones */
	double cosine;
	/* percentage points of qn_analysis.accuracy: what the float network loses when this layer
	 * alone is quantized, what the quantized one gains when it alone is float; both 0 where
	 * that is not measured */
	double loss, accuracy_gain;
	/* Of operands that are quantized with one range for all channels; ranges is their
	 * number. */
	size_t ranges;
	double clipped; /* percent of their float values, outside by more than half a step */
	double used; /* percent of the range between the least and the largest value, on average */
	size_t outliers; /* channels, along the last axis, whose range is more than 4 times the median … */
	double worst_outlier; /* … and the largest ratio; 0: one channel, or a median of 0 */
	/* dB by which the noise of its largest operand could fall if the ends of its range were
	 * nearer to 0: what a method that cuts off rare values can bring */
	double range_gain;
	uint64_t saturated; /* elements of accumulators at an end of their type */
	size_t index;       /* of the layer in the order of the graph, from 0 */
	size_t nfrom;
	const size_t *from;                      /* indices of the layers whose results it takes */
	qn_histogram data_values, weight_values; /* of its largest operand, its largest weights */
} qn_layer_cost;
typedef void qn_layer_fn(void *user, const qn_layer_cost *layer);

/* What an analysis takes; steps are those of docs/limits.md. */
typedef struct qn_analyze_plan {
	size_t size; /* of the struct in this library */
	size_t layers;
	uint64_t bytes;       /* of values that are kept between layers */
	uint64_t steps, done; /* of all runs; of those so far */
} qn_analyze_plan;
typedef void qn_analyze_plan_fn(void *user, const qn_analyze_plan *plan);

typedef struct qn_analyze_opts { /* all zero: defaults */
	size_t size;
	/* one integer per sample, as for qn_measure; NULL: the classes of a folder of folders, or
	 * none */
	const qn_array *labels;
	/* called once, when the float and the quantized network have been run on all samples,
	 * before the runs for the layers; NULL: not called */
	qn_analyze_plan_fn *plan;
	void *plan_user;
} qn_analyze_opts;

typedef struct qn_analysis {
	size_t layers, samples;
	double sqnr, cosine; /* of the network's outputs, all layers quantized */
	/* "top1" with labels, "agreement" with the float network without; NULL: the first output
	 * has no row of classes for each sample, or, without labels, the shape of the first
	 * input */
	const char *accuracy;
	double float_percent, percent; /* of it; of the float network, all layers quantized */
	/* dB that the outputs' SQNR would gain if weights cost nothing and the noise of layers adds
	 * up: more than repairs can bring */
	double weights_gain;
} qn_analysis;

/* Measures a model whose symbols are bound but not yet written into its types (stop a compile after
 * calibrate, or after repair) on samples, and calls fn for every layer: the one first that costs
 * the network most alone.  Its texts live for the call.  Takes about three runs of the network for
 * each layer and sample.  opts NULL: defaults.  Ids: analyze.stage, analyze.parts, analyze.output,
 * data.labels. */
QN_API qn_status qn_analyze(qn_model *m, size_t nin, qn_array *const *in,
			    const qn_analyze_opts *opts, qn_layer_fn *fn, void *user,
			    qn_analysis *out);

/* ---- emitted programs on a device ---- */

/* A program that qn_emit wrote with qn_emit_opts.validation.  Texts live for the call. */
typedef struct qn_program {
	size_t size; /* of the struct in this library */
	const char *name, *target;
	uint32_t content; /* NAME_CONTENT */
	size_t steps;
	size_t samples;             /* that the device is going to be given */
	size_t in_bytes, out_bytes; /* of one sample: all inputs, all outputs */
	/* 1: it has states, and a byte comes before the inputs of a sample, which in_bytes counts:
	 * 1 where a sequence begins, so that the states are reset, else 0 */
	int resets;
} qn_program;

/* Where the program runs.  Both functions return 0, or anything else after writing what went wrong
 * into `why`, a text of less than `room` bytes: the call ends with QN_EIO (validate.device).
 * Numbers of several bytes are in little-endian order. */
typedef struct qn_device {
	size_t size;
	/* Before the first sample; NULL: not called.  *traced: of how many steps the device sends a
	 * CRC before the outputs of a sample, the first ones of the program; 0 to p->steps. */
	int (*start)(void *user, const qn_program *p, size_t *traced, char *why, size_t room);
	/* Runs one sample: nin bytes, the inputs in order (p->resets: after the byte).  The answer
	 * has n bytes: the CRC-32 of each traced step in 4 bytes, then the outputs in order. */
	int (*run)(void *user, size_t sample, const void *in, size_t nin, void *answer, size_t n,
		   char *why, size_t room);
	void *user;
} qn_device;

/* A step with a result that is not that of the interpreter. */
typedef struct qn_step_check {
	size_t size;  /* of the struct in this library */
	size_t index; /* as in the report and in NAME.c */
	const char *name;
	const char *layers;  /* of the source file, "conv1, relu1"; its name when there are none */
	size_t wrong;        /* samples in which it differs */
	size_t first_sample; /* the first of them */
	size_t leads;        /* samples in which no step before it differs */
} qn_step_check;

/* An output: what the device gave beside what the interpreter gave, over all samples, as float
 * values. */
typedef struct qn_output_check {
	size_t size; /* of the struct in this library */
	const char *name;
	uint64_t elements, equal, bytes, equal_bytes;
	double max_error, rmse;
	double cosine;       /* 1 where all values of both are 0 */
	size_t first_sample; /* that differs; the number of samples: none does */
} qn_output_check;

typedef struct qn_validation {
	size_t samples;
	size_t traced, wrong_steps;  /* steps that were compared, and those that differ */
	uint64_t bytes, equal_bytes; /* of all outputs */
	/* with labels: samples whose label is the first output's largest element */
	uint64_t labels, hits, device_hits;
	int equal; /* 1: all steps and outputs */
} qn_validation;

typedef struct qn_validate_opts { /* all zero: defaults */
	size_t size;
	const char *name;       /* of the program; NULL: the folder has one */
	const qn_array *labels; /* one integer per sample; NULL: the classes of a folder, or none */
	void (*step)(void *user, const qn_step_check *step); /* for each that differs; or NULL */
	void (*output)(void *user, const qn_output_check *output); /* for each; or NULL */
	void *user;
} qn_validate_opts;

/* Gives the samples to a device that runs the program of a folder, and compares what it sends with
 * what the interpreter computes from the same model (docs/validation.md).  *out is set on success,
 * which does not say that all is equal.  Ids: validate.folder, validate.report, validate.input,
 * validate.device. */
QN_API qn_status qn_validate(qn_ctx *ctx, const char *folder, size_t nin, qn_array *const *in,
			     const qn_validate_opts *opts, const qn_device *device,
			     qn_validation *out);

#ifdef __cplusplus
}
#endif
#endif
