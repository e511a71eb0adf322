/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - models: reading, describing and writing them (docs/importing.md, docs/ir.md).
 *
 *   const char *dims[] = {"batch=1"};
 *   const qn_import_opts opts = {.size = sizeof opts, .dim = dims, .ndim = 1};
 *   qn_model *m;
 *
 *   qn_import(ctx, "net.onnx", &opts, &m);
 *   …qn_model_input_name(m, 0), qn_model_describe(m).macs…
 *   qn_save(m, "net.json", 1);                         and net.safetensors beside it
 *
 * A model belongs to the context that read it. */
#ifndef QUERN_MODEL_H
#define QUERN_MODEL_H

#include "quern/context.h"

#ifdef __cplusplus
extern "C" {
#endif

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
	/* Of a language model (.gguf, a Hugging Face folder): tokens that it remembers, at most
	 * 2^20; 0: 256, or what it was made for if that is less.  Error: import.context.  Warning:
	 * llm.context (more than it was made for). */
	uint64_t context;
	/* Values of the file, by name, that are the outputs instead of its own: the model ends
	 * there, and what only its rest needs, inputs too, is not read.  Of .onnx the results of
	 * nodes, of .tflite tensors, of other formats nodes.  Error: import.cut. */
	const char *const *cut;
	size_t ncut;
} qn_import_opts;

/* qn_load with options; opts NULL: defaults. */
QN_API qn_status qn_import(qn_ctx *ctx, const char *path, const qn_import_opts *opts,
			   qn_model **out);
/* Frees a model before its context is closed; NULL is fine. */
QN_API void qn_model_free(qn_model *m);

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
	/* layers that repairs looked at, and those that they changed; the means of the SQNR of
	 * these layers' outputs, dB, with their constants as they were and as they are
	 * (docs/calibration.md) */
	size_t repairable, repaired;
	double sqnr_before, sqnr_after;
	size_t states;        /* values that are kept from one run to the next */
	uint64_t state_bytes; /* of all of them; 0 where a shape is open */
	/* layers that lost channels which are the same for all inputs or never read; the channels,
	 * and the bytes of constants and MACs that went with them (docs/report.md) */
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
/* The same of state k: a value that is kept from one run to the next, which is neither an input nor
 * an output (docs/state.md). */
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
	QN_FORMAT_DOT, /* graph view in the language of Graphviz */
	/* QN_FORMAT_SUMMARY as JSON (docs/quern-inspect.schema.json) */
	QN_FORMAT_SUMMARY_JSON
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

#ifdef __cplusplus
}
#endif
#endif
