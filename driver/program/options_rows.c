/* SPDX-License-Identifier: Apache-2.0 */
/* options_rows.c - the table of options: name, subject, the commands that have it, what it fills,
 * its help. */
#include "option_columns.h"
#include "options_choices.h"
#include "quern/calibrate.h"
#include "quern/layout.h"
#include "quern/measure.h"

enum { MOST_STEPS = 1 << 20 }; /* of a sequence, tokens of a context */

const option_row option_rows[] = {
	/* ---- calibration ---- */
	{"--calib", 0, GROUP_CALIBRATION, QUANTIZING | CMD_TUNE, LIST(calib),
	 .value = "[INPUT=]FILE",
	 .help = "calibration data: .npy .npz .csv .bin .pb .png .jpg .pgm .ppm .wav or a folder "
		 "of images, audio, or input_0.pb …; one for each input, in order or by name; "
		 ".txt for a language model (.gguf)"},
	{"--method", 0, GROUP_CALIBRATION, QUANTIZING | CMD_TUNE, TEXT(method),
	 .value = "NAME[:PARAM=VALUE,…]", .name_of = qn_method_name,
	 .names = "calibration methods, with their parameters and defaults",
	 .name_help = qn_method_help,
	 .help = "how a range is chosen from the samples (default: minmax); they are "
		 "listed below"},
	{"--stats", 0, GROUP_CALIBRATION, QUANTIZING, TEXT(stats), .value = "FILE.json",
	 .help = "statistics of quern calibrate instead of samples"},
	{"--encodings", 0, GROUP_CALIBRATION, QUANTIZING & ~(unsigned)CMD_CALIBRATE,
	 TEXT(encodings), .value = "FILE.json",
	 .help = "AIMET encodings instead of calibration: scales and offsets by tensor name"},
	{"--from-float", 0, GROUP_CALIBRATION, READING, FLAG(from_float),
	 .help = "dequantize an already quantized .onnx, .tflite or .gguf MODEL and recalibrate "
		 "it"},
	{"--shard", 0, GROUP_CALIBRATION, CMD_CALIBRATE, TEXT(shard), .value = "K/N",
	 .help = "part K of N of the samples, K from 1, for one pass; needs -o"},

	/* ---- samples: these are for all, FILE:scale=…,zero=…,mean=…,std=…,layout=…,shape=…,dtype=… for
	 * one source ---- */
	{"--data", 0, GROUP_SAMPLES, CMD_EVAL | CMD_ANALYZE | CMD_VALIDATE | CMD_TUNE, LIST(data),
	 .value = "[INPUT=]FILE",
	 .help = "samples to evaluate, in the formats of --calib (analyze: default those of "
		 "--calib)"},
	{"--sequence", 0, GROUP_SAMPLES, READING_SAMPLES, COUNT(sequence), .most = MOST_STEPS,
	 .value = "N",
	 .help = "reset the states of a stateful network after every N samples (default: all "
		 "samples are one sequence; of a .txt as many tokens as the model remembers)"},
	{"--input-scale", 0, GROUP_SAMPLES, READING_SAMPLES, TEXT(sample.input_scale),
	 .value = "FACTOR",
	 .help = "values of samples become ((value - ZERO) * FACTOR - mean) / std (default: 1); "
		 "without these options, quantized values are taken as they are"},
	{"--input-zero", 0, GROUP_SAMPLES, READING_SAMPLES, TEXT(sample.input_zero),
	 .value = "ZERO", .help = "the zero point of samples that are quantized (default: 0)"},
	{"--mean", 0, GROUP_SAMPLES, READING_SAMPLES, TEXT(sample.mean), .value = "M,…",
	 .help = "one number, or one for each channel (default: 0)"},
	{"--std", 0, GROUP_SAMPLES, READING_SAMPLES, TEXT(sample.std), .value = "S,…",
	 .help = "one number, or one for each channel (default: 1)"},
	{"--layout", 0, GROUP_SAMPLES, READING_SAMPLES, CHOICE(sample.layout, layouts),
	 .value = "LAYOUT", .help = "where the model has the channels of a sample:"},
	{"--shape", 0, GROUP_SAMPLES, READING_SAMPLES, TEXT(sample.shape), .value = "D,…",
	 .help = "shape of one sample of a .bin, of .bin files in a folder, or of a .csv"},
	{"--dtype", 0, GROUP_SAMPLES, READING_SAMPLES, TEXT(sample.dtype), .value = "TYPE",
	 .help = "element type of a .bin, little-endian: f32 (default), u8, i16 …"},

	/* ---- evaluation ---- */
	{"--labels", 0, GROUP_EVALUATION, CMD_EVAL | CMD_ANALYZE | CMD_VALIDATE | CMD_TUNE,
	 TEXT(labels), .value = "FILE",
	 .help = "classes of the samples: .npy, an .npz with labels, or a .csv (default: the "
		 "subfolders of a folder)"},
	{"--label-column", 0, GROUP_EVALUATION, CMD_EVAL | CMD_ANALYZE | CMD_VALIDATE | CMD_TUNE,
	 TEXT(label_column), .value = "NAME|N",
	 .help = "column of a .csv that holds labels (default: the one with the name label, else "
		 "the last)"},
	{"--against", 0, GROUP_EVALUATION, CMD_EVAL | CMD_TUNE, TEXT(against), .value = "MODEL",
	 .help = "compare with the outputs of this model on the same samples"},
	{"--targets", 0, GROUP_EVALUATION, CMD_EVAL, LIST(target), .value = "FILE",
	 .help = "compare with these values: .npy or .pb, one file for each output in order, or a "
		 "folder with output_0.pb …"},
	{"--top-k", 0, GROUP_EVALUATION, CMD_EVAL, TEXT(top), .value = "K,…",
	 .name_of = qn_metric_name, .names = "metrics", .name_help = qn_metric_help,
	 .help = "accuracy among the K largest outputs (default: 1)"},
	{"--score", 0, GROUP_EVALUATION, CMD_EVAL | CMD_TUNE, TEXT(score),
	 .value = "value[:K]|loss|mse-input",
	 .help = "score of a sample, for auc: the only element or element K of the first output, "
		 "or the mean of (output - input)^2; loss: -ln(softmax(output)[label]), for "
		 "perplexity"},
	{"--window", 0, GROUP_EVALUATION, CMD_EVAL | CMD_TUNE, TEXT(window), .value = "N",
	 .help = "N consecutive samples have one label and one score, the mean of theirs "
		 "(default: 1)"},
	{"--min", 0, GROUP_EVALUATION, CMD_EVAL | CMD_TUNE, LIST(min), .value = "METRIC=VALUE",
	 .help = "exit with 4 when the metric of the integer graph (or the only one) is below"},
	{"--max", 0, GROUP_EVALUATION, CMD_EVAL | CMD_TUNE, LIST(max), .value = "METRIC=VALUE",
	 .help = "exit with 4 when it is above; both may be repeated"},
	{"--min-accuracy", 0, GROUP_EVALUATION, CMD_EVAL, TEXT(min_accuracy), .value = "PERCENT",
	 .help = "the same as --min top1=PERCENT"},
	{"--min-accuracy", 0, GROUP_EVALUATION, CMD_TUNE, TEXT(min_accuracy), .value = "PERCENT",
	 .help = "the least cost at which the metric is not below is wanted; --min and --max: the "
		 "same for another metric"},
	{"--metric", 0, GROUP_EVALUATION, CMD_TUNE, TEXT(metric), .value = "METRIC",
	 .help = "what decides (default: top1, auc, score-error, agreement or sqnr, by "
		 "labels, score and shape)"},
	{"--sqnr", 0, GROUP_EVALUATION, CMD_EVAL, FLAG(sqnr),
	 .help = "also the signal-to-quantization-noise ratio of the activations"},

	{"--device", 0, GROUP_EVALUATION, CMD_VALIDATE, TEXT(device), .value = "COMMAND",
	 .help = "shell command that runs the program: samples on stdin, outputs on stdout "
		 "(default: a build for this machine with $CC, or cc, and $CFLAGS)"},
	{"--time-limit", 0, GROUP_EVALUATION, CMD_VALIDATE, COUNT(time_limit), .most = 86400,
	 .value = "SECONDS",
	 .help = "end the device when it sends nothing for so long (default: 60)"},

	/* ---- quantization ---- */
	{"--scheme", 0, GROUP_QUANTIZATION, QUANTIZING | CMD_TUNE | CMD_QUANTIZE,
	 CHOICE(scheme, schemes), .value = "SCHEME", .help = "quantization scheme:"},
	{"--weights", 0, GROUP_QUANTIZATION, QUANTIZING | CMD_TUNE, CHOICE(weights, granularities),
	 .value = "GRANULARITY", .help = "granularity of weight scales:"},
	{"--activations", 0, GROUP_QUANTIZATION, QUANTIZING, CHOICE(activations, activations),
	 .value = "TYPE", .help = "storage type of activations:"},
	{"--weights-type", 0, GROUP_QUANTIZATION, QUANTIZING, CHOICE(weights_type, weight_types),
	 .value = "TYPE", .help = "storage type of constant weights:"},
	{"--weight-block", 0, GROUP_QUANTIZATION, QUANTIZING, COUNT(weight_block),
	 .most = QN_WEIGHT_BLOCK_MOST, .value = "N",
	 .help = "weights of convolutions, dense and tables of gather get a scale for each N "
		 "inputs of an output channel or elements of a row, 8 to 65536"},
	{"--weight-method", 0, GROUP_QUANTIZATION, QUANTIZING | CMD_TUNE,
	 CHOICE(weight_method, weight_methods), .value = "METHOD",
	 .help = "how weight scales are chosen:"},
	{"--weight-rounding", 0, GROUP_QUANTIZATION, REPAIRING,
	 CHOICE(weight_rounding, weight_roundings), .value = "METHOD",
	 .help = "how weights are rounded, by their layers' inputs on the calibration data:"},
	{"--equalize", 0, GROUP_QUANTIZATION, REPAIRING, FLAG(equalize),
	 .help = "scales of channels (exactly in float) and high biases move between layers, where "
		 "the outputs on the calibration data gain"},
	{"--bias-correction", 0, GROUP_QUANTIZATION, REPAIRING, FLAG(bias_correction),
	 .help = "biases make up for the mean error of each output channel on the calibration "
		 "data"},
	{"--narrow-ranges", 0, GROUP_QUANTIZATION, REPAIRING, FLAG(narrow_ranges),
	 .help = "ranges of activations become narrower where the outputs on the calibration data "
		 "gain"},
	{"--rounding", 0, GROUP_QUANTIZATION, LOWERING | CMD_EVAL, CHOICE(rounding, roundings),
	 .value = "MODE", .help = "how requantization rounds:"},
	{"--recipe", 0, GROUP_QUANTIZATION, QUANTIZING | CMD_QUANTIZE, TEXT(recipe),
	 .value = "FILE.json",
	 .help = "rules that choose storage types, granularity and methods for parts of the graph "
		 "(docs/quantization.md)"},
	{"--dynamic", 0, GROUP_QUANTIZATION, QUANTIZING | CMD_QUANTIZE, TEXT(dynamic),
	 .value = "LAYER,…",
	 .help = "dynamic quantization of conv, dense and matmul: GLOB of names, op:OP "
		 "(docs/quantization.md)"},
	{"--solver", 0, GROUP_QUANTIZATION, QUANTIZING & ~CMD_ANALYZE, CHOICE(solver, solvers),
	 .value = "MODE", .help = "how quantized values are chosen:"},
	{"--skip", 0, GROUP_QUANTIZATION, QUANTIZING | CMD_QUANTIZE, TEXT(skip), .value = "WORD,…",
	 .help = "layers that stay float, to compare accuracy with eval: first, last, name:GLOB, "
		 "op:OP; C cannot be written for them"},
	{"--align", 0, GROUP_QUANTIZATION, LOWERING | CMD_EVAL, .kind = OPT_MAYBE,
	 .offset = offsetof(options, align), .value = "[=METHOD]",
	 .help = "how operands of different scales get a common one: tflite (default), by "
		 "multipliers; fixed-point[:BITS], by scales that are integers of BITS bits, 8 "
		 "(default) to 15, times powers of two; --align alone: fixed-point"},
	{"--inline-bodies", 0, GROUP_QUANTIZATION, LOWERING | CMD_EVAL | CMD_EXPORT,
	 FLAG(inline_bodies),
	 .help = "write out all steps of loops, each with parameters of its own, instead of one "
		 "body"},
	{"--no-approx", 0, GROUP_QUANTIZATION, LOWERING, FLAG(no_approx),
	 .help = "keep avg_pool and resize_bilinear in float, since their integer averages round"},
	{"--merge-always", 0, GROUP_QUANTIZATION, LOWERING | CMD_EVAL, FLAG(merge_always),
	 .help = "merge consecutive requantizes even where values between them saturate"},
	{"--require-int", 0, GROUP_QUANTIZATION, LOWERING, FLAG(require_int),
	 .help = "exit with 3 after the pass requantize when an op stays in float, naming each and "
		 "why"},

	/* ---- output ---- */
	{"--output", 'o', GROUP_OUTPUT, CMD_COMPILE, TEXT(output), .value = "FOLDER",
	 .help = "folder for the files; created with its parents (default: out)"},
	{"--output", 'o', GROUP_OUTPUT, CMD_RUN, LIST(out), .value = "FILE.npy",
	 .help = "write results; one file for each output, in order (default: a summary on "
		 "stdout)"},
	{"--output", 'o', GROUP_OUTPUT, CMD_OPT, TEXT(output), .value = "FILE",
	 .help = "write the result there instead of stdout; FILE.json has its constants in "
		 "FILE.safetensors"},
	{"--output", 'o', GROUP_OUTPUT, CMD_IMPORT, TEXT(output), .value = "FILE",
	 .help = "the graph: FILE.json with its constants in FILE.safetensors, or FILE.qir"},
	{"--output", 'o', GROUP_OUTPUT, CMD_EXPORT, TEXT(output), .value = "FILE",
	 .help = "the file to write: FILE.onnx, or FILE.json or FILE.encodings"},
	{"--output", 'o', GROUP_OUTPUT, CMD_CALIBRATE | CMD_MERGE, TEXT(output),
	 .value = "FILE.json", .help = "write the statistics, or the journal, there"},
	{"--output", 'o', GROUP_OUTPUT, CMD_TUNE, TEXT(output), .value = "NAME.recipe.json",
	 .help = "the recipe; NAME.front.json and NAME.journal.json are beside it (default: named "
		 "after the model's file)"},
	{"--name", 0, GROUP_OUTPUT, CMD_COMPILE, TEXT(name), .value = "NAME",
	 .help = "prefix of files and C symbols (default: the model's name)"},
	{"--name", 0, GROUP_MODEL, CMD_VALIDATE, TEXT(name), .value = "NAME",
	 .help = "the program, where FOLDER has those of several models"},
	{"--target", 0, GROUP_OUTPUT, CMD_COMPILE | CMD_TUNE, NAME(emit_target), .value = "NAME",
	 .name_of = qn_target_name,
	 .help = "the processor that the C is written for (default: generic; see quern targets); "
		 "the results are the same"},
	{"--optimize", 0, GROUP_OUTPUT, CMD_COMPILE | CMD_TUNE, NAME(optimize),
	 .choice = optimizations, .value = "GOAL",
	 .help = "what kernels are chosen for; the results are the same:"},
	{"--max-arena", 0, GROUP_OUTPUT, CMD_COMPILE, TEXT(max_arena), .value = "BYTES",
	 .help = "exit with 5, writing nothing, when the activation arena would be larger; if "
		 "balanced, kernels with less memory are chosen first"},
	{"--max-weights", 0, GROUP_OUTPUT, CMD_COMPILE, TEXT(max_weights), .value = "BYTES",
	 .help = "exit with 5, writing nothing, when the constants would be larger; if balanced, "
		 "kernels with fewer constants are chosen first; 64K is 65536"},
	{"--max-ram", 0, GROUP_OUTPUT, CMD_COMPILE, TEXT(max_ram), .value = "BYTES",
	 .help = "exit with 5, writing nothing, when the activation arena and the states (the keys "
		 "and values of a language model …) would together be larger; inputs, outputs and "
		 "the stack are not counted"},
	{"--max-weights", 0, GROUP_BUDGETS, CMD_TUNE, TEXT(max_weights), .value = "BYTES",
	 .help = "of constants, as compile prints them: 65536, 64K or 1M"},
	{"--max-arena", 0, GROUP_BUDGETS, CMD_TUNE, TEXT(max_arena), .value = "BYTES",
	 .help = "of the activation arena"},
	{"--max-instructions", 0, GROUP_BUDGETS, CMD_TUNE, TEXT(max_instructions), .value = "N",
	 .help = "of one inference, estimated for the target: 800K, 5M"},
	{"--minimize", 0, GROUP_BUDGETS, CMD_TUNE, CHOICE(minimize, costs), .value = "COST",
	 .help = "what to minimize at the given accuracy:"},
	{"--allow-i16", 0, GROUP_BUDGETS, CMD_TUNE, FLAG(allow_i16),
	 .help = "16-bit activations even without a budget for arena or instructions"},
	{"--no-repairs", 0, GROUP_BUDGETS, CMD_TUNE, FLAG(no_repairs),
	 .help = "candidates without weight rounding, bias correction and equalization, in less "
		 "time"},
	{"--jobs", 0, GROUP_BUDGETS, CMD_TUNE, COUNT(jobs), .value = "N",
	 .help = "measure candidates in N processes; the result is the same (default: 1)"},
	{"--shard", 0, GROUP_BUDGETS, CMD_TUNE, TEXT(shard), .value = "K/N",
	 .help = "part K of N of each round of candidates, K from 1; writes "
		 "NAME.K-of-N.journal.json for quern merge"},
	{"--time", 0, GROUP_BUDGETS, CMD_TUNE, TEXT(time), .value = "SECONDS",
	 .help = "begin no candidate after this; run the command again to go on"},
	{"--self-test", 0, GROUP_OUTPUT, CMD_COMPILE, TEXT(self_test), .value = "N",
	 .help = "calibration samples in the self-test (default: 4; 0: no self-test); without "
		 "--calib, "
		 "N samples of pseudo-random values"},
	{"--constants", 0, GROUP_OUTPUT, CMD_COMPILE, NAME(constants), .choice = constant_impls,
	 .value = "IMPL", .help = "how NAME_weights.c is written:"},
	{"--shared-kernels", 0, GROUP_OUTPUT, CMD_COMPILE, FLAG(shared_kernels),
	 .help = "write NAME.c so that one C file can include several models and has each kernel "
		 "once"},
	{"--proof", 0, GROUP_OUTPUT, CMD_COMPILE, FLAG(proof),
	 .help = "also write NAME_proof.c, which runs the program with every input unknown, for "
		 "Frama-C's Eva (docs/proof.md)"},
	{"--validation", 0, GROUP_OUTPUT, CMD_COMPILE, FLAG(validation),
	 .help = "also write what quern validate needs: NAME_device.c and NAME.integer.qir "
		 "(docs/validation.md)"},
	{"--dequantize", 0, GROUP_OUTPUT, CMD_RUN, FLAG(real),
	 .help = "write float values instead of quantized values"},
	{"--trace-ops", 0, GROUP_OUTPUT, CMD_RUN, FLAG(trace_ops),
	 .help = "print a line for each value that a trace op of the graph passes on: key, run, "
		 "type, smallest and largest value"},
	{"--emit", 0, GROUP_OUTPUT, CMD_OPT, CHOICE(emit, emitted_impls), .value = "IMPL",
	 .help = "form of the result:"},
	{"--format", 0, GROUP_OUTPUT, CMD_EXPORT, CHOICE(format, export_formats), .value = "FORMAT",
	 .help = "format of the file (default: by its extension):"},
	{"--encodings-version", 0, GROUP_OUTPUT, CMD_EXPORT,
	 CHOICE(encodings_version, encodings_versions), .value = "VERSION",
	 .help = "version of AIMET encodings:"},
	{"--reduce-range", 0, GROUP_OUTPUT, CMD_EXPORT, FLAG(reduce_range),
	 .help = "7-bit weights in quantized ONNX, for ONNX Runtime on x86 without VNNI, which "
		 "adds u8 x i8 products in 16 bits"},
	{"--svg", 0, GROUP_OUTPUT, CMD_INSPECT, TEXT(svg), .value = "FILE.svg",
	 .help = "write an image of the graph, laid out by Graphviz's dot"},
	{"--dot", 0, GROUP_OUTPUT, CMD_INSPECT, TEXT(dot), .value = "FILE.dot",
	 .help = "write the graph in Graphviz's language"},
	{"--dump", 0, GROUP_OUTPUT, CMD_TENSORS, TEXT(dump), .value = "NAME",
	 .help = "write this tensor to the file of -o: its values, f32 if it is quantized"},
	{"--plane", 0, GROUP_OUTPUT, CMD_TENSORS, TEXT(plane), .value = "PLANE",
	 .help = "with --dump: one plane of it as it is stored, d or qs"},
	{"--output", 'o', GROUP_OUTPUT, CMD_TENSORS, TEXT(output), .value = "FILE.npy",
	 .help = "the file of --dump"},
	{"--to", 0, GROUP_OUTPUT, CMD_CONVERT, NAME(to), .value = "LAYOUT",
	 .name_of = qn_layout_name, .names = "layouts", .name_help = qn_layout_help,
	 .help = "quantize matrices into this layout (default: keep all values)"},
	{"--split", 0, GROUP_OUTPUT, CMD_CONVERT, COUNT(split), .most = 8, .value = "N",
	 .help = "split plain matrices into N parts of their rows, replicate the other plain "
		 "tensors (1: join them again)"},
	{"--json", 0, GROUP_OUTPUT, CMD_TENSORS, FLAG(json), .help = "list as JSON"},
	{"--to", 0, GROUP_QUANTIZATION, CMD_QUANTIZE_TENSOR, NAME(to), .value = "LAYOUT",
	 .name_of = qn_layout_name, .names = "layouts", .name_help = qn_layout_help,
	 .help = "quantize into this layout"},
	{"--type", 0, GROUP_QUANTIZATION, CMD_QUANTIZE_TENSOR, TEXT(type), .value = "TYPE",
	 .help = "type of quantized values: i8 (default), u8, i16, i32, f8E4M3FN …"},
	{"--scale", 0, GROUP_QUANTIZATION, CMD_QUANTIZE_TENSOR, TEXT(scale),
	 .value = "S,…|FILE.npy",
	 .help = "scales that values are multiplied with (default: from the largest magnitude)"},
	{"--offset", 0, GROUP_QUANTIZATION, CMD_QUANTIZE_TENSOR, TEXT(offset),
	 .value = "O,…|FILE.npy",
	 .help = "with --scale: quantized values that are added, as many as scales (default: "
		 "none)"},
	{"--axis", 0, GROUP_QUANTIZATION, CMD_QUANTIZE_TENSOR, TEXT(axis), .value = "N",
	 .help = "a scale for each index of this axis, which count from 0"},
	{"--block", 0, GROUP_QUANTIZATION, CMD_QUANTIZE_TENSOR, COUNT(block),
	 .most = QN_LAYOUT_BLOCK_MOST, .value = "N",
	 .help = "a scale for each N elements of a row"},
	{"--no-saturation", 0, GROUP_QUANTIZATION, CMD_QUANTIZE_TENSOR, FLAG(no_saturation),
	 .help = "a value beyond the range of the type is an error"},
	{"--output", 'o', GROUP_OUTPUT, CMD_QUANTIZE_TENSOR, TEXT(output), .value = "ARCHIVE",
	 .help = "write the tensor as a .irpa, .safetensors or .gguf file (default: none)"},
	{"--name", 0, GROUP_OUTPUT, CMD_QUANTIZE_TENSOR, TEXT(name), .value = "NAME",
	 .help = "the tensor's name in the archive (default: that of the file)"},
	{"--sequence", 0, GROUP_OUTPUT, CMD_TOKENS, COUNT(sequence), .most = MOST_STEPS,
	 .value = "N",
	 .help = "of a text: sequences of N tokens, each after the one before a text, for "
		 "--sequence of other commands; the rest is left out"},
	{"--output", 'o', GROUP_OUTPUT, CMD_TOKENS, TEXT(output), .value = "FILE.npy|FOLDER",
	 .help = "of a text the file of its tokens, otherwise the folder of the C"},
	{"--name", 0, GROUP_OUTPUT, CMD_TOKENS, TEXT(name), .value = "NAME",
	 .help = "prefix of the C (default: the name of the archive)"},
	{"--quant-params", 0, GROUP_QUANTIZATION, CMD_CONVERT | READING, TEXT(quant_params),
	 .value = "FILE.json",
	 .help = "quantize the layers that a quant_params.json of Brevitas names, with its "
		 "scales"},
	{"--json", 0, GROUP_OUTPUT, CMD_EVAL | CMD_ANALYZE | CMD_VALIDATE, FLAG(json),
	 .help = "print metrics and thresholds, what layers cost, or differences, as JSON"},
	{"--json", 0, GROUP_OUTPUT, CMD_INSPECT | CMD_SUPPORTED | CMD_TARGETS, FLAG(json),
	 .help = "print the same as JSON"},
	{"--html", 0, GROUP_OUTPUT, CMD_ANALYZE | CMD_TUNE, TEXT(html), .value = "FILE.html",
	 .help = "also write a page with charts and tables that sort; it loads nothing from "
		 "elsewhere"},
	{"--markdown", 0, GROUP_OUTPUT, CMD_SUPPORTED, FLAG(markdown),
	 .help = "print the page docs/supported-ops.md"},

	/* ---- model ---- */
	{"--input-value", 0, GROUP_MODEL, READING, LIST(value), .value = "NAME=VALUE",
	 .help = "make an input a constant: one number, one for each element with commas between, "
		 "or NAME=FILE.npy; may be repeated"},
	{"--tie", 0, GROUP_MODEL, READING, LIST(tie), .value = "OUTPUT=INPUT",
	 .help = "make a state of an output and the input that takes it in the next run "
		 "(docs/state.md); may be repeated"},
	{"--cut", 0, GROUP_MODEL, READING, LIST(cut), .value = "NAME",
	 .help = "end the model at this value of the file, which becomes its output; what only "
		 "serves "
		 "the rest is not read; may be repeated"},
	{"--front-end", 0, GROUP_MODEL, READING, TEXT(front_end), .value = "OP[:ATTRIBUTE=VALUE,…]",
	 .help = "take sound and compute the model's input from it: log_mel, mfcc, or INPUT=OP of "
		 "several inputs (docs/sound.md)"},
	{"--lib", 0, GROUP_MODEL, READING, LIST(lib), .value = "FILE.qir",
	 .help = "custom operators as graphs of built-in ones (docs/compositions.md); "
		 "may be repeated"},
	{"--stream", 0, GROUP_MODEL,
	 CMD_COMPILE | CMD_RUN | CMD_EVAL | CMD_OPT | CMD_INSPECT | CMD_ANALYZE | CMD_TUNE |
		 CMD_CALIBRATE,
	 TEXT(stream), .value = "axis=A,hop=N",
	 .help = "take N rows of a window along axis A per run, keep the others in states, and "
		 "give the same "
		 "outputs (docs/streaming.md)"},
	{"--input-dim", 0, GROUP_MODEL, READING, LIST(dim), .value = "NAME=N",
	 .help = "length of a dimension that an .onnx or .tflite leaves open: batch=1, or "
		 "image:0=1 by input and axis"},
	{"--context", 0, GROUP_MODEL, READING, COUNT(context), .most = MOST_STEPS, .value = "N",
	 .help = "tokens that a language model (.gguf or a Hugging Face folder) remembers "
		 "(default: 256, or what it was made for)"},
	{"--lax-zp", 0, GROUP_MODEL, READING, FLAG(lax_zp),
	 .help = "accept zero points outside the storage range, as MLIR does (default: an error; "
		 "docs/types.md)"},
	{"--import-limit", 0, GROUP_MODEL,
	 READING | CMD_TENSORS | CMD_CONVERT | CMD_QUANTIZE_TENSOR | CMD_TOKENS, COUNT(limit),
	 .value = "N",
	 .help = "allow a trusted model N times as many nodes, constants and steps (default: 1; "
		 "docs/limits.md)"},
	{"--match-limit", 0, GROUP_MODEL, READING, COUNT(match_limit), .value = "N",
	 .help = "allow pattern matching N times as many steps (default: 1; docs/limits.md)"},

	/* ---- matching ---- */
	{"--at", 0, GROUP_MATCHING, CMD_MATCH, TEXT(at), .value = "NAME",
	 .help = "match at this value only (default: at all values of the entry graph)"},
	{"--greedy", 0, GROUP_MATCHING, CMD_MATCH, FLAG(greedy),
	 .help = "do not return to other alternatives of a part that matched, as TVM does"},
	{"--reassociate", 0, GROUP_MATCHING, CMD_MATCH, FLAG(reassociate),
	 .help = "let div(mul(a, b), c) match mul(a, div(b, c)) too, and the other way round"},

	/* ---- debugging ---- */
	{"--explain", 0, GROUP_DEBUGGING, CMD_COMPILE, CHOICE(explain_kernels, explained),
	 .value = "WHAT", .help = "explain on stdout:"},
	{"--explain", 0, GROUP_DEBUGGING, CMD_CALIBRATE, TEXT(explain), .value = "VALUE|all",
	 .help = "what was chosen for a value and why; all: one line for each (default without "
		 "-o)"},
	{"--explain", 0, GROUP_DEBUGGING, CMD_QUANTIZE, FLAG(explain_matches),
	 .help = "print each match of a pattern: its result, and why it was declined"},
	{"--passes", 0, GROUP_DEBUGGING, CMD_OPT, TEXT(passes), .value = "A,B,…",
	 .name_of = qn_pass_name, .help = "passes to run, in this order (default: none)"},
	{"--expand-blocks", 0, GROUP_DEBUGGING, CMD_OPT, FLAG(expand_blocks),
	 .help = "normalize-quant-types: blocks along one axis become a scale for each index"},
	{"--collapse-scales", 0, GROUP_DEBUGGING, CMD_OPT, FLAG(collapse_scales),
	 .help = "normalize-quant-types: scales and zero points that are all equal become one"},
	{"--print-ir-after", 0, GROUP_DEBUGGING, LOWERING, TEXT(print_after), .value = "PASS|all",
	 .name_of = qn_pass_name, .help = "print the graph's text after a pass, on stderr"},
	{"--stop-after", 0, GROUP_DEBUGGING, LOWERING, TEXT(stop_after), .value = "PASS",
	 .name_of = qn_pass_name,
	 .help = "end after this pass; compile prints the graph's text and writes no files"},
	{"--list-passes", 0, GROUP_DEBUGGING, LOWERING, FLAG(list_passes),
	 .help = "list the passes and exit"},
	{"--trace-rules", 0, GROUP_DEBUGGING, LOWERING, FLAG(trace_rules),
	 .help = "print each rule that is applied or declined, with its node and reason, on "
		 "stderr"},

	/* ---- general ---- */
	{"--threads", 0, GROUP_GENERAL, SAMPLING, COUNT(threads), .value = "N",
	 .help = "threads that run samples; the results are the same (default: one for each "
		 "processor, at most 8)"},
	{"--quiet", 'q', GROUP_GENERAL, ~0u, FLAG(quiet),
	 .help = "no progress and no notes on stderr"},
	{"--help", 'h', GROUP_GENERAL, ~0u, FLAG(help), .help = "this text"},
	{0}};
