/* SPDX-License-Identifier: Apache-2.0 */
/* quantizer.h - quantizer patterns: what to recognize in a float graph, and how to write it with
 * quantized operands whose scales are symbols.
 *
 *   partition   bias_add(conv2d(x, w), b)   ->  call @conv1.conv2d_bias(x, w, b)          (patterns in list order, root first)
 *   quantize    call @conv1.conv2d_bias     ->  dequantize(conv2d(quantize(x): $conv1.x, quantize(w): $conv1.w, quantize(b): $conv1.x*$conv1.w))
 *
 * A quantized form takes real values and gives a real value, so partitions stay independent of
 * each other: what happens between a dequantize and the next quantize is the requantizer's work. */
#ifndef QN_PATTERNS_QUANTIZER_H
#define QN_PATTERNS_QUANTIZER_H

#include "patterns/pattern.h"

typedef enum qn_scheme {
	QN_SCHEME_TFLITE, /* asymmetric activations, symmetric weights in [-127, 127], every graph input and output with its own parameters */
	QN_SCHEME_RFC /* symmetric activations and weights, the six patterns of TVM's quantization RFC, no parameters of its own for inputs and outputs */
} qn_scheme;

/* How activations are stored: i8; u8; i16 with zero point 0. */
typedef enum qn_storage { QN_STORAGE_I8, QN_STORAGE_U8, QN_STORAGE_I16 } qn_storage;

typedef struct qn_quant_opts {
	qn_scheme scheme;
	bool per_tensor_weights; /* one scale for a weight tensor instead of one per output channel */
	qn_storage activations; /* rfc: not u8, which has no symmetric codes */
	uint8_t weight_bits;    /* 4, or 0 for 8 */
} qn_quant_opts;

/* The element of an activation, without its parameters. */
qn_elem qn_activation_desc(const qn_quant_opts *opts);
/* Whether activations have zero point 0. */
bool qn_activation_symmetric(const qn_quant_opts *opts);

typedef struct qn_qbuild qn_qbuild;

typedef struct qn_qpattern {
	const char *name;
	const qn_pat *pattern;
	/* NULL: every match.  False declines, with a reason (static text). */
	bool (*accept)(const qn_graph *g, const qn_match *m, const char **reason);
	/* Builds the quantized form; m holds values of the graph under construction, where the
	 * root is not bound.  Returns a real value of the root's type (ending in a dequantize,
	 * or an op on dequantized values), 0 after an error. */
	qn_id (*quantize)(qn_qbuild *b, const qn_match *m);
} qn_qpattern;

/* The patterns of a scheme, longer ones first. */
const qn_qpattern *qn_standard_patterns(qn_scheme scheme, size_t *n);
/* The pattern of this name among the standard ones, or NULL. */
const qn_qpattern *qn_pattern_find(const char *name);

/* ---- for quantize callbacks ---- */

qn_graph *qn_qb_graph(qn_qbuild *b);
const qn_quant_opts *qn_qb_opts(const qn_qbuild *b);
/* The node of the composite that the match's root is (op, attributes, name, float type). */
const qn_node *qn_qb_root(const qn_qbuild *b);
/* The node of the composite that slot matched (its values are not those of m). */
const qn_node *qn_qb_matched(const qn_qbuild *b, int slot);

/* The value that stands for input i of the root, when that is an input of the composite. */
qn_id qn_qb_input(const qn_qbuild *b, uint32_t i);

/* quantize(x), an activation, with a fresh symbol $<owner>.<operand>, one scale for all. */
qn_id qn_qb_quantize(qn_qbuild *b, qn_id x, const char *owner, const char *operand);
/* The same for weights: zero point 0, codes in [-127, 127] or [-7, 7], and for axis >= 0 one scale
 * per index of that axis. */
qn_id qn_qb_quantize_weights(qn_qbuild *b, qn_id x, const char *owner, const char *operand,
			     int axis);
/* quantize(x) with scale scale(a) * scale(w), zero point 0, as i32, for activations of i16 as i64:
 * a bias. */
qn_id qn_qb_quantize_bias(qn_qbuild *b, qn_id x, const char *name, qn_id a, qn_id w);
/* quantize(x) with given parameters. */
qn_id qn_qb_quantize_fixed(qn_qbuild *b, qn_id x, const char *name, const qn_elem *storage,
			   double scale, int64_t zp);
qn_id qn_qb_dequantize(qn_qbuild *b, qn_id x, const char *name);
qn_id qn_qb_op(qn_qbuild *b, qn_op op, const char *name, uint32_t nin, const qn_id *in,
	       const qn_attrs *attr);

/* ---- the two passes ---- */

/* Float graph -> graph of calls of composites, one for each accepted match; the model's notes
 * say why other nodes were not taken. */
qn_status qn_partition(qn_model *m, const qn_quant_opts *opts) QN_MUST_CHECK;
/* Partitioned graph -> symbolic graph; composites are gone, the model's stage is `symbolic`. */
qn_status qn_quantize_model(qn_model *m, const qn_quant_opts *opts) QN_MUST_CHECK;

#endif
