/* SPDX-License-Identifier: Apache-2.0 */
/* options_rows.c - the options of each command: what they are called, what they fill, their help.
 * Rows that commands share are macros. */
#include <stddef.h>

#include "options.h"

#define TEXT(member) OPT_TEXT, offsetof(options, member), 0
/* Below the options of a command that has it stand the methods. */
#define METHOD_VALUE "NAME[:PARAM=VALUE,…]"
#define LIST(member) OPT_LIST, offsetof(options, member), offsetof(options, n##member)
#define COUNT(member) OPT_COUNT, offsetof(options, member), 0
#define FLAG(member) OPT_FLAG, offsetof(options, member), 0

#define STORAGE_ROWS                                                                               \
	{"--recipe", 0, TEXT(recipe), "FILE.json",                                                 \
	 "rules that say for parts of the graph how they are stored (docs/quantization.md)"},      \
	{                                                                                          \
		"--skip", 0, TEXT(skip), "WORD,…",                                                 \
			"what stays float although a pattern matches: first, last, name:GLOB, "    \
			"op:OP"                                                                    \
	}

#define QUANT_ROWS                                                                                 \
	{"--calib", 0, LIST(calib), "[INPUT=]FILE",                                                \
	 "samples to calibrate on: .npy .npz .csv .bin .png .jpg .pgm .ppm .wav or a folder; one " \
	 "for each input, in order or by name; of a model that is quantized already, values that " \
	 "have no range get one, the others keep theirs (see --from-float)"},                      \
		{"--scheme", 0, TEXT(scheme), "tflite|rfc",                                        \
		 "tflite: asymmetric activations, integer inputs and outputs (default); rfc: "     \
		 "symmetric, TVM's RFC"},                                                          \
		{"--method", 0, TEXT(method), METHOD_VALUE,                                        \
		 "how a range is chosen from the samples (default minmax), see below"},            \
		{"--stats", 0, TEXT(stats), "FILE.json",                                           \
		 "statistics of quern calibrate instead of samples"},                              \
		{"--weights", 0, TEXT(weights), "per-channel|per-tensor",                          \
		 "how many scales a weight tensor has (default: per-channel; rfc: per-tensor)"},   \
		{"--activations", 0, TEXT(activations), "i8|u8|i16",                               \
		 "how activations are stored: in 8 bits, signed (default) or not, or in 16 bits "  \
		 "with 64-bit accumulators"},                                                      \
		{"--weights-type", 0, TEXT(weights_type), "i8|i4",                                 \
		 "how constant weights are stored: a byte each (default) or two in a byte"},       \
		STORAGE_ROWS,                                                                      \
	{                                                                                          \
		"--weight-method", 0, TEXT(weight_method), "max|mse",                              \
			"how scales of weights are found: from the largest (default), or by the "  \
			"least squared error"                                                      \
	}

#define ENCODINGS_ROW                                                                              \
	{                                                                                          \
		"--encodings", 0, TEXT(encodings), "FILE.json",                                    \
			"AIMET's encodings: scales and offsets of values and weights by name, "    \
			"instead of calibration"                                                   \
	}

#define ROUNDING_ROW                                                                               \
	{                                                                                          \
		"--rounding", 0, TEXT(rounding), "default|double|single|nearest|even",             \
			"how integer nodes round: as the model says, which is even for a "         \
			"quantized .onnx, else double (default), as TFLite does (double), as "     \
			"TVM does (single), ties away (nearest), ties to even as ONNX does (even)" \
	}

#define ALIGN_ROW                                                                                  \
	{                                                                                          \
		"--align", 0, OPT_MAYBE, offsetof(options, align), 0, "[=BITS]",                   \
			"round scales to integers of BITS bits, 8 (default) to 15, times powers "  \
			"of two"                                                                   \
	}

#define REQUANT_ROWS                                                                               \
	{"--no-approx", 0, FLAG(no_approx), NULL,                                                  \
	 "leave averages of codes out: avg_pool and resize_bilinear stay in float"},               \
		{"--merge-always", 0, FLAG(merge_always), NULL,                                    \
		 "make one of two requantizes even where values in between saturate"},             \
	{                                                                                          \
		"--require-int", 0, FLAG(require_int), NULL,                                       \
			"exit with 3 behind requantize, listing each op that stays in float and "  \
			"why"                                                                      \
	}

#define DATA_ROWS                                                                                  \
	{"--input-scale", 0, TEXT(input_scale), "FACTOR",                                          \
	 "values of samples become ((value - ZERO) * FACTOR - mean) / std (default 1)"},           \
		{"--input-zero", 0, TEXT(input_zero), "ZERO",                                      \
		 "the zero point of samples that are codes (default 0)"},                          \
		{"--mean", 0, TEXT(mean), "M,…", "one number, or one a channel (default 0)"},      \
		{"--std", 0, TEXT(std), "S,…", "one number, or one a channel (default 1)"},        \
		{"--layout", 0, TEXT(layout), "nhwc|nchw",                                         \
		 "where the model has the channels of a sample (default nhwc: last)"},             \
		{"--shape", 0, TEXT(shape), "D,…",                                                 \
		 "of one sample of a .bin, of the .bin of a folder, or of a .csv"},                \
	{                                                                                          \
		"--dtype", 0, TEXT(dtype), "TYPE",                                                 \
			"of a .bin's elements, little-endian: f32 (default), u8, i16 …"          \
	}

/* How models are read. */
#define MODEL_ROWS                                                                                 \
	{"--input-value", 0, LIST(value), "NAME=VALUE",                                            \
	 "fix an input, which becomes a constant: one number for all elements, one for each with " \
	 "commas between, or NAME=FILE.npy; may be repeated"},                                     \
		{"--input-dim", 0, LIST(dim), "NAME=N",                                            \
		 "the length of a dimension that an .onnx or .tflite leaves open: batch=1, or "    \
		 "image:0=1 "                                                                      \
		 "by input and axis"},                                                             \
		{"--import-limit", 0, COUNT(limit), "N",                                           \
		 "let a model that you trust ask for N times as many nodes, constants and steps "  \
		 "(default 1, see docs/limits.md)"},                                               \
		{"--match-limit", 0, COUNT(match_limit), "N",                                      \
		 "let the search for a pattern at all values take N times as many steps (default " \
		 "1, see "                                                                         \
		 "docs/limits.md)"},                                                               \
	{                                                                                          \
		"--from-float", 0, FLAG(from_float), NULL,                                         \
			"of an already quantized .onnx or .tflite take the real values, and "      \
			"calibrate them anew; MODEL alone, not that of --against"                  \
	}

#define PASS_ROWS                                                                                  \
	{"--print-ir-after", 0, TEXT(print_after), "PASS|all",                                     \
	 "print the graph's text after a pass, on stderr"},                                        \
		{"--trace-rules", 0, FLAG(trace_rules), NULL,                                      \
		 "print each rule that fires or declines, with its node and the reason, on "       \
		 "stderr"},                                                                        \
		{"--stop-after", 0, TEXT(stop_after), "PASS",                                      \
		 "end after this pass; compile prints the graph's text then and writes no files"}, \
	{                                                                                          \
		"--list-passes", 0, FLAG(list_passes), NULL, "list the passes and end"             \
	}

#define THREADS_ROW                                                                                \
	{                                                                                          \
		"--threads", 0, COUNT(threads), "N",                                               \
			"threads that run samples; the results are the same (default: as many as " \
			"there are processors, at most 8)"                                         \
	}

#define COMMON_ROWS                                                                                \
	{"--quiet", 'q', FLAG(quiet), NULL, "no progress on stderr"},                              \
		{"--help", 'h', FLAG(help), NULL, "this text"},                                    \
	{                                                                                          \
		NULL, 0, OPT_FLAG, 0, 0, NULL, NULL                                                \
	}

const option_row compile_options[] = {
	QUANT_ROWS,
	ENCODINGS_ROW,
	ROUNDING_ROW,
	{"--output", 'o', TEXT(output), "FOLDER",
	 "where the files go; it is made if need be, with its parents (default: out)"},
	{"--name", 0, TEXT(name), "NAME",
	 "prefix of files and C symbols (default: the model's name)"},
	{"--target", 0, TEXT(emit_target), "NAME",
	 "the processor that the C is written for (default generic); quern targets lists them. The "
	 "results are the same"},
	{"--optimize", 0, TEXT(optimize), "balanced|speed|size",
	 "speed: the fastest kernels of the target; size: the smallest; balanced (default): the "
	 "fastest as "
	 "long as constants and scratch stay within 6/5 and 9/8 of the smallest, and within "
	 "--max-scratch "
	 "and "
	 "--max-weights. The results are the same"},
	{"--explain", 0, TEXT(explain), "kernels",
	 "print on stdout which kernel each step has and why not those asked before it"},
	{"--self-test", 0, TEXT(self_test), "N",
	 "samples in the self-test, taken from the calibration data (default 4; 0: none)"},
	{"--constants", 0, TEXT(constants), "FORM",
	 "how NAME_weights.c spells bytes: numbers, words (eight in one: compilers read it faster) "
	 "or auto (default: words from 1 MiB on)"},
	{"--shared-kernels", 0, FLAG(shared_kernels), NULL,
	 "write NAME.c so that one C file can include those of several models and has each kernel "
	 "once"},
	{"--proof", 0, FLAG(proof), NULL,
	 "write NAME_proof.c too: a main that runs the program once with every input unknown, for "
	 "an "
	 "analyser such as Frama-C's Eva (docs/proof.md)"},
	{"--max-scratch", 0, TEXT(max_scratch), "BYTES",
	 "exit with 5, writing nothing, when the scratch buffer would be larger"},
	{"--max-weights", 0, TEXT(max_weights), "BYTES",
	 "exit with 5, writing nothing, when the constants would be larger"},
	REQUANT_ROWS,
	ALIGN_ROW,
	DATA_ROWS,
	PASS_ROWS,
	THREADS_ROW,
	MODEL_ROWS,
	COMMON_ROWS,
};

const option_row run_options[] = {
	{"--output", 'o', LIST(out), "FILE.npy",
	 "where results go; one file for each output, in order (default: a summary on stdout)"},
	{"--real", 0, FLAG(real), NULL, "write real values instead of codes"},
	DATA_ROWS,
	THREADS_ROW,
	MODEL_ROWS,
	COMMON_ROWS,
};

const option_row opt_options[] = {
	{"--passes", 0, TEXT(passes), "A,B,…", "passes to run, in this order (default: none)"},
	{"--emit", 0, TEXT(emit), "ir|json",
	 "form of the result (default: as FILE ends, .qir or .json; ir on stdout)"},
	{"--output", 'o', TEXT(output), "FILE",
	 "write the result there instead of stdout; FILE.json takes its constants along in "
	 "FILE.safetensors"},
	QUANT_ROWS,
	ENCODINGS_ROW,
	ROUNDING_ROW,
	REQUANT_ROWS,
	ALIGN_ROW,
	DATA_ROWS,
	PASS_ROWS,
	THREADS_ROW,
	MODEL_ROWS,
	COMMON_ROWS,
};

const option_row import_options[] = {
	{"--output", 'o', TEXT(output), "FILE",
	 "where the graph goes: FILE.json with its constants in FILE.safetensors, or FILE.qir"},
	MODEL_ROWS,
	COMMON_ROWS,
};

const option_row export_options[] = {
	{"--format", 0, TEXT(emit), "onnx-qdq|encodings",
	 "the form of the file: quantized ONNX, or AIMET's encodings, the parameters alone "
	 "(default: what FILE ends in)"},
	{"--encodings-version", 0, TEXT(encodings_version), "0.6.1|1.0.0|2.0.0",
	 "of encodings: an object by names (default), lists, or lists in the words of "
	 "QuantizeLinear"},
	{"--reduce-range", 0, FLAG(reduce_range), NULL,
	 "of quantized ONNX: 7-bit weights, for ONNX Runtime on x86 without VNNI, which adds pairs "
	 "of u8 x i8 products in 16 bits (default: 8-bit, and a warning where that can saturate)"},
	{"--output", 'o', TEXT(output), "FILE",
	 "the file to write: FILE.onnx, or FILE.json or FILE.encodings"},
	QUANT_ROWS,
	ENCODINGS_ROW,
	DATA_ROWS,
	THREADS_ROW,
	MODEL_ROWS,
	COMMON_ROWS,
};

const option_row inspect_options[] = {
	{"--svg", 0, TEXT(svg), "FILE.svg", "draw the graph with Graphviz's dot instead"},
	{"--dot", 0, TEXT(dot), "FILE.dot", "write the drawing in Graphviz's language instead"},
	MODEL_ROWS,
	COMMON_ROWS,
};

const option_row match_options[] = {
	{"--at", 0, TEXT(at), "NAME", "ask this value only (default: all of the entry graph)"},
	{"--greedy", 0, FLAG(greedy), NULL,
	 "do not come back to alternatives that were good for their own part, as TVM does"},
	{"--reassociate", 0, FLAG(reassociate), NULL,
	 "let div(mul(a, b), c) match mul(a, div(b, c)) too, and the other way round"},
	MODEL_ROWS,
	COMMON_ROWS,
};

const option_row quantize_options[] = {
	{"--explain", 0, FLAG(explain_matches), NULL,
	 "print each match of a pattern: what became of it, and why not"},
	{"--scheme", 0, TEXT(scheme), "tflite|rfc", "which patterns there are (default tflite)"},
	STORAGE_ROWS,
	MODEL_ROWS,
	COMMON_ROWS,
};

const option_row targets_options[] = {COMMON_ROWS};

const option_row supported_options[] = {
	{"--markdown", 0, FLAG(markdown), NULL, "print docs/supported-ops.md"},
	COMMON_ROWS,
};

const option_row eval_options[] = {
	{"--data", 0, LIST(data), "[INPUT=]FILE", "samples, as with --calib"},
	{"--labels", 0, TEXT(labels), "FILE",
	 "their classes: .npy, an .npz with labels, or a .csv (default: the subfolders of a "
	 "folder)"},
	{"--label-column", 0, TEXT(label_column), "NAME|N",
	 "of a .csv: the column of labels (default: the one called label, else the last)"},
	{"--top-k", 0, TEXT(top), "K,…", "accuracy among the K largest (default 1)"},
	{"--score", 0, TEXT(score), "value[:K]|mse-input",
	 "a number for each sample, for auc: the only element, or element K, of the first output; "
	 "or mean of (output - input)^2"},
	{"--window", 0, TEXT(window), "N",
	 "N consecutive samples have one label and one score, the mean of theirs (default 1)"},
	{"--against", 0, TEXT(against), "MODEL",
	 "compare with what this model gives on the same samples"},
	{"--targets", 0, LIST(target), "FILE.npy",
	 "compare with these values; one file for each output, in order"},
	{"--min", 0, LIST(min), "METRIC=VALUE",
	 "exit with 4 when the integer graph (or the only one) is below; may be repeated"},
	{"--max", 0, LIST(max), "METRIC=VALUE", "… above"},
	{"--min-accuracy", 0, TEXT(min_accuracy), "PERCENT", "the same as --min top1=PERCENT"},
	{"--json", 0, FLAG(json), NULL, "print figures and gates as JSON"},
	{"--sqnr", 0, FLAG(sqnr), NULL,
	 "with --calib, --stats or --encodings: also the signal to quantization noise of the "
	 "values"},
	DATA_ROWS,
	QUANT_ROWS,
	ENCODINGS_ROW,
	ROUNDING_ROW,
	ALIGN_ROW,
	THREADS_ROW,
	MODEL_ROWS,
	COMMON_ROWS,
};

const option_row calibrate_options[] = {
	{"--output", 'o', TEXT(output), "FILE.json", "write the statistics there"},
	{"--shard", 0, TEXT(shard), "K/N",
	 "part K of N of the samples, K from 1, for one pass; needs -o"},
	{"--explain", 0, TEXT(explain), "VALUE|all",
	 "what was chosen for a value and why; all: a line for each (default without -o)"},
	DATA_ROWS,
	QUANT_ROWS,
	THREADS_ROW,
	MODEL_ROWS,
	COMMON_ROWS,
};

const option_row merge_options[] = {
	{"--output", 'o', TEXT(output), "FILE.json", "where the sum goes"},
	COMMON_ROWS,
};
