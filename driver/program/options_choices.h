/* SPDX-License-Identifier: Apache-2.0 */
/* options_choices.h - the values of options that take one of a few words, in the order of the
 * enumerations that they stand for.  The first is the default. */
#ifndef QN_PROGRAM_OPTIONS_CHOICES_H
#define QN_PROGRAM_OPTIONS_CHOICES_H

#include "options.h"

/* qn_scheme_kind */
static const option_choice schemes[] = {
	{"tflite", NULL, "asymmetric activations, integer inputs and outputs (default)"},
	{"rfc", NULL, "symmetric activations, as in TVM's quantization RFC"},
	{0}};

/* qn_weights */
static const option_choice granularities[] = {
	{"default", NULL, "per-channel; with --scheme rfc per-tensor"},
	{"per-channel", NULL, "one scale for each output channel"},
	{"per-tensor", NULL, "one scale for the whole tensor"},
	{0}};

/* qn_activations */
static const option_choice activations[] = {{"i8", "int8", "8 bits, signed (default)"},
					    {"u8", "uint8", "8 bits, unsigned"},
					    {"i16", "int16", "16 bits, with 64-bit accumulators"},
					    {"auto", NULL,
					     "i8, and i16 for layers whose range needs it, found "
					     "on the calibration data"},
					    {0}};

/* qn_weights_type */
static const option_choice weight_types[] = {
	{"i8", "int8", "8 bits (default)"},
	{"i4", "int4", "4 bits, two weights in a byte"},
	{"i2", "int2", "2 bits, four weights in a byte: -1, 0 or 1"},
	{0}};

/* qn_weight_method */
static const option_choice weight_methods[] = {
	{"max", NULL, "max-abs: the largest magnitude (default)"},
	{"mse", NULL, "MSE-optimal: the least squared error"},
	{0}};

/* qn_weight_rounding */
static const option_choice weight_roundings[] = {
	{"nearest", NULL, "each to the nearest (default)"},
	{"gptq", NULL, "one after the other, each making up for the errors of those before"},
	{"adaptive", NULL, "as gptq, then changed one by one while the output's error falls"},
	{0}};

/* qn_rounding */
static const option_choice roundings[] = {
	{"default", NULL, "even for a model from quantized ONNX, double for all others (default)"},
	{"double", NULL, "twice, as TFLite and CMSIS-NN do"},
	{"single", NULL, "once, ties up, as TFLite with single rounding and TVM's UPWARD do"},
	{"nearest", NULL, "once, ties away from 0, as TVM's TONEAREST does"},
	{"even", NULL, "once, ties to even, as ONNX does"},
	{0}};

/* qn_solver */
static const option_choice solvers[] = {
	{"off", NULL, "by patterns, unless the graph has statistics or couplings (default)"},
	{"on", NULL,
	 "by the solver, from statistics, fake quantization and types in the graph, and samples"},
	{"couple-sums", NULL, "as on; also operands and result of add and sub share parameters"},
	{0}};

static const option_choice optimizations[] = {
	{"balanced", NULL,
	 "fast; constants within 6/5, arena within 9/8 of portable kernels, plus 256 B (default)"},
	{"speed", NULL, "the fastest kernels of the target"},
	{"size", NULL, "the smallest kernels and constants"},
	{0}};

static const option_choice costs[] = {
	{"weights", NULL, "bytes of constants (default)"},
	{"arena", NULL, "bytes of the activation arena"},
	{"instructions", NULL, "estimated instructions of one inference"},
	{0}};

static const option_choice constant_impls[] = {
	{"auto", NULL, "words from 1 MiB on, else numbers (default)"},
	{"numbers", NULL, "one number for each element"},
	{"words", NULL, "64-bit words, which compilers read faster"},
	{0}};

static const option_choice explained[] = {
	{"kernels", NULL, "the kernel of each step, and why not those tried before it"}, {0}};

/* qn_layout */
static const option_choice layouts[] = {
	{"nhwc", NULL, "channels last (default)"}, {"nchw", NULL, "channels first"}, {0}};

/* qn_format */
static const option_choice emitted_impls[] = {
	{"ir", NULL, "text (default on stdout and for FILE.qir)"},
	{"json", NULL, "JSON (default for FILE.json)"},
	{0}};

static const option_choice export_formats[] = {
	{"onnx-qdq", NULL, "quantized ONNX with QuantizeLinear and DequantizeLinear (FILE.onnx)"},
	{"encodings", NULL, "AIMET encodings, the parameters alone (FILE.json, FILE.encodings)"},
	{0}};

static const option_choice encodings_versions[] = {
	{"0.6.1", NULL, "an object keyed by names (default)"},
	{"1.0.0", NULL, "lists"},
	{"2.0.0", NULL, "lists with the parameters of QuantizeLinear"},
	{0}};

#endif
