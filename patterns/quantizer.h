/* SPDX-License-Identifier: Apache-2.0 */
/* quantizer.h - quantizer patterns: what to recognize in a float graph, and how to write it with
 * quantized operands whose scales are symbols.
 *
 *   partition   bias_add(conv2d(x, w), b)   ->  call @conv1.conv2d_bias(x, w, b)          (patterns in list order, root first)
 *   quantize    call @conv1.conv2d_bias     ->  dequantize(conv2d(quantize(x): $conv1.x, quantize(w): $conv1.w, quantize(b): $conv1.x*$conv1.w))
 *
 * A quantized composite takes float values and gives a float value, so partitions stay independent of
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

/* Of i16 samples of sound between -1 and 1. */
#define QN_PCM_SCALE 0x1p-15

/* When the scale of the data of a product is known: before, or at run time, for the tensor or each of its rows. */
typedef enum qn_scale_time { QN_STATIC, QN_AT_RUN_TIME, QN_AT_RUN_TIME_BY_ROW } qn_scale_time;

typedef struct qn_quant_opts {
	qn_scheme scheme;
	bool per_tensor_weights; /* one scale for a weight tensor instead of one per output channel */
	qn_storage activations; /* rfc: not u8, which has no symmetric range */
	bool says_activations;  /* … by a rule of a recipe for an op or a name */
	bool automatic;         /* … which is i8, unless the outputs need i16 (driver/widen.h) */
	bool per_axis; /* activations with a scale for each index of their last axis, their channels */
	qn_scale_time when;
	const char *
		dynamic; /* the layers with scales at run time, as an option names them; NULL: none */
	uint8_t weight_bits;            /* 2, 4 or 8; 0: 8 */
	int32_t weight_block;           /* weights in a block; 0: none */
	const struct qn_qpattern *host; /* tried before the standard ones */
	size_t nhost;
	bool no_standard;
	const char *method; /* of calibration, which a recipe gives; NULL: that of the options */
	const struct qn_skip *skip;     /* of partition; NULL: nothing */
	const struct qn_recipe *recipe; /* NULL: none */
	bool has_recipe;                /* some of its rules are from a text */
	bool mixes;       /* of a recipe: each match gives its result parameters of its own */
	bool accumulates; /* … so do those that read or write what is added up from step to step */
	bool wide_result;       /* … in 16 bits, as something reads it so */
	qn_explain_fn *explain; /* NULL: none */
	void *explain_user;
} qn_quant_opts;

/* The element of an activation, without its parameters. */
qn_elem qn_activation_desc(const qn_quant_opts *opts);
/* How the result of a match is stored. */
qn_storage qn_result_storage(const qn_quant_opts *opts);
/* Whether activations have zero point 0. */
bool qn_activation_symmetric(const qn_quant_opts *opts);

/* A quantizer pattern: the public description, and the pattern that it stands for, which of the
 * standard ones is constant data. */
typedef struct qn_qpattern {
	const qn_pat *pattern;
	qn_quantizer desc;
} qn_qpattern;

/* The patterns of a scheme, longer ones first. */
const qn_qpattern *qn_standard_patterns(qn_scheme scheme, size_t *n);
/* All patterns that partition tries, in this order. */
const qn_qpattern **qn_quant_patterns(const qn_quant_opts *opts, qn_arena *a, size_t *n);
/* The pattern of this name among the host's and the standard ones, or NULL. */
const qn_qpattern *qn_pattern_find(const qn_quant_opts *opts, const char *name);

/* ---- for quantize callbacks; each does what the public function of the same name does
 * inside qn_guard (quern/patterns.h: qn_quantize_activation …) ---- */

qn_graph *qn_qb_graph(qn_quantizing *b);
const qn_quant_opts *qn_qb_opts(const qn_quantizing *b);
const qn_graph *qn_qb_before(const qn_quantizing *b);
/* The node of the composite that the match's root is (op, attributes, name, float type). */
const qn_node *qn_qb_root(const qn_quantizing *b);
/* The node of the composite that slot matched (its values are not those of m). */
const qn_node *qn_qb_matched(const qn_quantizing *b, int slot);
/* The value that stands for value v of the composite, when that is an input of it. */
qn_id qn_qb_value(const qn_quantizing *b, qn_id v);
/* … for input i of the root. */
qn_id qn_qb_input(const qn_quantizing *b, uint32_t i);

qn_id qn_qb_quantize(qn_quantizing *b, qn_id x, const char *owner, const char *operand);
/* The same with one scale, whatever the options say. */
qn_id qn_qb_quantize_tensor(qn_quantizing *b, qn_id x, const char *owner, const char *operand);
/* Whether the data of a product has a scale that is computed at run time: by the options, or by the graph. */
bool qn_qb_is_dynamic(const qn_quantizing *b, qn_id x);
/* Such data as floats, from 16-bit values. */
qn_id qn_qb_dynamic(qn_quantizing *b, qn_id x, const char *owner, const char *operand);
/* Whether a value has a scale for each channel. */
bool qn_qb_has_channels(const qn_quantizing *b, qn_id x);
qn_id qn_qb_quantize_weights(qn_quantizing *b, qn_id x, const char *owner, const char *operand,
			     int axis);
/* The blocks of constant weights [outputs, …, inputs] of type w with about that many of them, consecutive
 * ones of a row, `each` or by the options; false: there are to be none, or a row is shorter than `shortest`, and
 * is one block. */
typedef struct qn_blocks {
	int32_t axis[QN_MAX_RANK];
	int64_t block[QN_MAX_RANK], n; /* n: their number */
	bool partial;
} qn_blocks;
bool qn_weight_blocks(const qn_type *w, int64_t each, int64_t shortest, qn_blocks *out);
bool qn_qb_blocks(const qn_quantizing *b, const qn_type *w, int64_t shortest, qn_blocks *out);
/* Those of a product: a row of fewer weights than two blocks has one, for which there are faster kernels. */
bool qn_qb_product_blocks(const qn_quantizing *b, const qn_type *w, qn_blocks *out);
qn_id qn_qb_quantize_blocks(qn_quantizing *b, qn_id x, const char *owner, const char *operand,
			    const qn_blocks *blocks);
/* desc: storage and limits.  axis < 0: one scale. */
qn_id qn_qb_quantize_symbol(qn_quantizing *b, qn_id x, const char *owner, const char *operand,
			    const qn_elem *desc, bool symmetric, int axis);
qn_id qn_qb_quantize_bias(qn_quantizing *b, qn_id x, const char *name, qn_id a, qn_id w);
qn_id qn_qb_quantize_fixed(qn_quantizing *b, qn_id x, const char *name, const qn_elem *storage,
			   double scale, int64_t zp);
qn_id qn_qb_quantize_result(qn_quantizing *b, qn_id x, const char *name, const qn_node *like);
qn_id qn_qb_dequantize(qn_quantizing *b, qn_id x, const char *name);
qn_id qn_qb_op(qn_quantizing *b, qn_op op, const char *name, uint32_t nin, const qn_id *in,
	       const qn_attrs *attr);

/* ---- the two passes ---- */

/* Float graph -> graph of calls of composites, one for each accepted match; the facts
 * of other nodes say why they were not taken. */
qn_status qn_partition(qn_model *m, const qn_quant_opts *opts) QN_MUST_CHECK;
/* Partitioned graph -> symbolic graph; composites are replaced, the model's stage is `symbolic`. */
qn_status qn_quantize_model(qn_model *m, const qn_quant_opts *opts) QN_MUST_CHECK;

#endif
