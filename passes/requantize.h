/* SPDX-License-Identifier: Apache-2.0 */
/* requantize.h - what the files of the requantizer share: the slots of its patterns, what it knows
 * of the values, and the rules' callbacks, which are the rows of requantize.c.
 *
 *   requantize.c            the rules in their order, and the pass
 *   requantize_paths.c      does a quantize, moved up, end in quantized values?  is it worth it?
 *   requantize_move.c       quantize(move(y)) -> move(quantize(y)), and ops that come before the requantize
 *   requantize_operand.c    the quantized values that a float operand stands for
 *   requantize_storage.c    the same values in another storage
 *   requantize_widths.c     values in storage types that kernels have
 *   requantize_compare.c    comparisons of a file's values with its constants
 *   requantize_classify.c   quantized values are neither NaN nor infinite
 *   requantize_integer.c      ops with integer arithmetic take quantized values
 *   requantize_channels.c   … some of them with scales for each channel
 *   requantize_order.c      … and what compares them, on their integers
 *   requantize_moves.c      … and what moves them
 *   requantize_aligned.c    … and in one scale for all other ops
 *   requantize_acc.c        products of dequantized operands take quantized values
 *   requantize_dynamic.c    … of data whose scale is computed at run time
 *   requantize_weights.c    weights become signed, without zero points
 *   requantize_regroup.c    … and scales that a reshape repeats
 *   requantize_blocks.c     products with weights in blocks
 *   requantize_table.c      constants with several scales that gather reads
 *   requantize_gaps.c       constants that a file leaves without parameters
 *   requantize_sums.c       sums and other values likewise
 *   requantize_derive.c     their ranges from those of their operands
 *   requantize_leaky.c      a leaky relu of sums, rounded once
 *   requantize_rescale.c    products with a number, and sums with a number of steps, as other parameters
 *   requantize_norm.c       a batch norm goes into quantized weights
 *   requantize_merge.c      pairs become one, or nothing
 *   requantize_constant.c   constants are quantized; weights make room for their bias
 *   requantize_room.c       … and those that a file has quantized */
#ifndef QN_PASSES_REQUANTIZE_H
#define QN_PASSES_REQUANTIZE_H

#include "ir/loops.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"

/* Slots: the root, an op between, a dequantize, what stands before it. */
enum { ROOT, OP, DQ, X };

enum {
	QN_RQZ_MOST_TWICE = 2
}; /* ops of a chain that may be computed twice, float and as integers */

/* What a sweep carries along (qn_rw_user). */
typedef struct qn_rqz {
	const qn_requant_opts *opts;
	bool *ends; /* by id of the graph under construction, for ids below n: see qn_rqz_ends */
	size_t n, cap;
	qn_map twice;         /* names of float values that are too costly to quantize as well */
	const qn_map *inputs; /* names of float inputs where a quantize may end; NULL: none */
	bool prefer; /* results that nothing quantizes get the parameters that the op prefers */
	const qn_map *
		open; /* names of values that nothing quantizes; NULL: parameters are not to be filled in */
	const qn_map *given; /* names of results whose parameters may be derived; NULL: of none */
	bool derives;   /* they are: in a sweep of its own, when all that quantizes read is done */
	qn_map last;    /* names of moves that lead to outputs alone, and of constants that are */
	qn_map weights; /* names of constants that products have as weights */
} qn_rqz;

/* Storage types that moving ops and integer arithmetic work on: at most 16 bits, one scale.
 * Accumulators are requantized first. */
bool qn_rqz_narrow(const qn_elem *e);
/* At most 16 bits with a scale for each index of an axis. */
bool qn_rqz_has_channels(const qn_elem *e);
/* Whether the op is computed channel by channel where its operands have several scales. */
bool qn_rqz_by_channel(qn_op op);
/* Whether integer arithmetic takes, or results in, quantized values of e: narrow ones, or those with
 * a scale for each index of an axis, which most ops need aligned. */
bool qn_rqz_supports(const qn_elem *e);
/* e, or the type of 16 bits and one scale that holds the values of all its channels.  NULL: there is
 * none. */
const qn_elem *qn_rqz_aligned_elem(qn_types *t, const qn_elem *e);
/* Whether few moves lie between the value and what it is moved from: a quantize of it that a rule puts
 * before each of them nests that deep. */
bool qn_rqz_is_near(const qn_rw *rw, qn_id id);
/* The type with one scale, 1, that stores values of e, whose channels are the last axis of x and have one
 * zero point; NULL: they are or have not. */
const qn_elem *qn_rqz_unit_elem(qn_rw *rw, qn_id x, const qn_elem *e);
/* x, after the requantizes that have to stand between it and one to this type, which takes the place of root
 * (requantize_between.c); 0 after an error. */
qn_id qn_rqz_between(qn_rw *rw, qn_id root, qn_id x, const qn_type *to);
/* Whether the multipliers of a requantize are small enough for 64-bit sums, if these are such. */
bool qn_rqz_reaches(const qn_types *t, const qn_elem *from, const qn_elem *to);
/* Quantized values x, in one scale if they have several; 0 after an error, or when x is 0. */
qn_id qn_rqz_aligned(qn_rw *rw, qn_id x);
/* Whether operand i of a custom operator stays as a quantizer pattern stored it: dequantized constants with several
 * scales (weights) or more than 16 bits (a bias), which is not its data. */
bool qn_rqz_is_parameter(const qn_graph *g, const qn_node *n, uint32_t i);
/* Whether the op cannot be computed channel by channel on these operands, dequantized, with a result
 * of type `result`: what has several scales needs one first. */
bool qn_rqz_needs_one_scale(const qn_graph *g, const qn_node *n, const qn_type *result);
/* Whether a note says that the quantizer had to leave the op in float. */
bool qn_rqz_skipped(const qn_rw *rw, qn_id id);
/* quantize(x) to element type e. */
qn_id qn_rqz_quantize(qn_rw *rw, qn_id x, const qn_elem *e, const char *name);
/* Operands of moves after the first, the indices of gather, are not quantized. */
bool qn_rqz_is_index(const qn_node *n, uint32_t i);
/* Whether the node moves, selects or clamps elements, so that quantized values may replace its values. */
bool qn_rqz_moves(const qn_graph *g, const qn_node *n);
/* Whether a quantize of the value, moved up, ends in quantized values on every path: at a dequantize, a
 * constant, or an op with integer arithmetic on dequantized operands; and is worth it. */
bool qn_rqz_ends(const qn_rw *rw, qn_id id);
/* The element type of the quantized values that a float operand stands for: dequantized, then moved
 * by ops that give the same on them; NULL: it stands for none.  After a move they are narrow: those
 * with several scales are aligned before it. */
const qn_elem *qn_rqz_operand_elem(const qn_rw *rw, qn_id id);
/* Those values, the moves done on them; 0: there are none. */
qn_id qn_rqz_operand(qn_rw *rw, qn_id id);
/* Values x of 8 bits in the other storage of 8 bits, or in i16, exactly; 0: not possible. */
qn_id qn_rqz_stored_as(qn_rw *rw, qn_id x, int bits, bool is_signed);
/* l2_norm of x of 16 bits, with a result of this type; 0: declined (requantize_l2_norm.c). */
qn_id qn_rqz_wide_l2_norm(qn_rw *rw, qn_id id, qn_id x, const qn_type *type);
/* The name of the l2_norm of x before its bound: that of node id if it has none. */
const char *qn_rqz_l2_norm_name(qn_rw *rw, qn_id id, qn_id x);
/* y, the l2_norm of x without an epsilon, as far as that of the op allows; 0 after an error, or when y is 0. */
qn_id qn_rqz_bounded_l2_norm(qn_rw *rw, qn_id id, qn_id x, qn_id y);
/* An i16 type with that many steps in one of e's; and with 128, which holds the range of any e of 8 bits. */
const qn_elem *qn_rqz_parts_elem(qn_types *t, const qn_elem *e, int parts);
const qn_elem *qn_rqz_wide_elem(qn_types *t, const qn_elem *e);
/* The plain integers that e's are stored as; NULL: kernels have no such storage. */
const qn_elem *qn_rqz_plain_elem(qn_types *t, const qn_elem *e);
/* The integers of x, stored as e's are, as values of e; 0 after an error, or when x is 0. */
qn_id qn_rqz_relabel(qn_rw *rw, qn_id x, const qn_elem *e);
/* A scatter that adds or multiplies. */
bool qn_rqz_joins_sums(const qn_node *n);
/* Whether an operand without parameters may get them: a constant, or a sum of products. */
bool qn_rqz_may_fill(const qn_rw *rw, qn_id id);
/* Whether v is a value of e, or, a bound, so far off that each one of them lies on one side of it. */
bool qn_rqz_is_value(const qn_types *t, const qn_elem *e, double v, bool is_bound);
/* Whether the numbers among the attributes of a move are values of e. */
bool qn_rqz_represents_attrs(const qn_types *t, const qn_node *n, const qn_elem *e);
/* The largest absolute value of a sum of products before a dequantize and moves; 0: not one with constant
 * weights. */
double qn_rqz_largest_sum(const qn_rw *rw, qn_id id);
/* The sum of products that a float value stands for, of a file that leaves it without parameters, in the 16 bits that hold
 * the largest sum; 0: it is none. */
qn_id qn_rqz_whole_sum(qn_rw *rw, qn_id id);
/* The largest absolute value that operands and constants allow; 0: it is not known. */
double qn_rqz_reach(const qn_rw *rw, qn_id id);
/* The type of 16 bits that follows from the operands' ranges; exact: it holds their quantized values as they are.
 * NULL: none follows. */
const qn_elem *qn_rqz_derived(const qn_rw *rw, qn_id id, bool *exact);
/* The bias of a product of data x and weights w in the accumulator's steps. */
qn_id qn_rqz_bias_const(qn_rw *rw, const char *name, const qn_tensor *bias, const qn_elem *x,
			const qn_elem *w);
/* By id: whether a product with weights reads the value, moved or not (open_written.c). */
bool *qn_rqz_find_multiplied(const qn_graph *g, qn_arena *a);
/* By id of a carry, a type whose values reach as far as the operands and constants of its loop allow; NULL: it is not known
 * (carried_ranges.c). */
const qn_elem **qn_carried_reach(qn_model *m, const qn_graph *g, const qn_loops *loops);
/* Fills s->open from the graph that is to be rewritten. */
void qn_rqz_find_open(qn_rqz *s, const qn_graph *g);
/* Fills s->given from the graph that is to be rewritten; whether there may be something to derive. */
bool qn_rqz_find_quantized(qn_rqz *s, const qn_graph *g);
/* Fills s->last from the graph that is to be rewritten. */
void qn_rqz_find_ends(qn_rqz *s, const qn_graph *g);
/* Fills s->inputs with those that nothing but quantizes reads, if through moves; whether there is such a move. */
bool qn_rqz_find_inputs(qn_rqz *s, const qn_graph *g);
/* Fills s->twice from the graph that is to be rewritten; after s->given. */
void qn_rqz_count_twice(qn_rqz *s, const qn_graph *g);
/* Sets weights. */
void qn_rqz_find_weights(qn_rqz *s, const qn_graph *g);
/* Makes the weights in[1] of product n signed, of 8 bits and without zero points, if they are not: where 8
 * bits do not hold a constant, data in[0] is repeated (concatenated with itself), which any n allows.
 * false: not possible. */
bool qn_rqz_weights(qn_rw *rw, const qn_node *n, qn_id in[2]);
/* The constant b, float or dequantized, as bias of n channels with the sums' element acc, along axis 0; 0:
 * not a bias. */
qn_id qn_rqz_bias_of(qn_rw *rw, qn_id b, int64_t n, const qn_elem *acc);
/* The sums of data x and constant weights w in blocks, with the float or dequantized bias (0: none), as n
 * computes them of float values; 0: not possible, with a reason noted. */
qn_id qn_rqz_block_product(qn_rw *rw, const char *name, const qn_node *n, qn_id x, qn_id w,
			   qn_id bias);
/* Whether n gathers from a dequantized constant with several scales, along an axis that these lie along or in blocks. */
bool qn_rqz_is_table(const qn_rw *rw, const qn_node *n);
/* The constant w in blocks as one of element e; 0: it is not one, or after an error. */
qn_id qn_rqz_stored_constant(qn_rw *rw, qn_id w, const qn_elem *e);
/* A constant in blocks in signed storage of 2, 4 or 8 bits, its zero points moved along; NULL: one does not
 * fit. */
const qn_tensor *qn_rqz_signed_storage(qn_model *m, const qn_tensor *w);
/* A matrix in blocks with its axes swapped; NULL after an error. */
const qn_tensor *qn_rqz_turned_blocks(qn_types *t, const qn_tensor *w, qn_arena *a);
/* Values with a scale of run time; values 0: not such values. */
typedef struct qn_rqz_run_time {
	qn_id values, mantissa, exponent;
} qn_rqz_run_time;
/* Whether the node is the float values of a dynamic_rescale, as a dequantize gives them. */
bool qn_rqz_is_dynamic(const qn_node *n);
/* Whether the data of a float product are such values, of at most 16 bits, moved or not. */
bool qn_rqz_find_dynamic(qn_rw *rw, const qn_node *product, qn_rqz_run_time *out);
/* Sums with their scale of run time, and the constant b, 0 for none, as floats; 0: b is not a bias. */
qn_id qn_rqz_run_time_result(qn_rw *rw, const char *name, qn_id acc, const qn_rqz_run_time *d,
			     qn_id b);
/* Whether a requantize limits its results to less than its storage range. */
bool qn_rqz_limits(const qn_rw *rw, qn_id id);

/* The element type of weights with other scales, rounded to f32 in place, and no zero points; NULL after an error. */
const qn_elem *qn_rqz_with_scales(qn_types *t, const qn_elem *w, double *scale);
/* Constant weights in[1], quantized without zero points, with the scales along axis 0 raised where the sums of data
 * in[0] have no room for the bias, a constant, float or dequantized; false after an error. */
bool qn_rqz_make_room(qn_rw *rw, qn_id in[2], qn_id bias);
/* g with weight scales raised where a bias would exceed 2^30; g itself where none does. */
qn_status qn_rqz_raise_weight_scales(qn_model *m, qn_graph *g, qn_graph **out) QN_MUST_CHECK;

/* g with values of 2 to 7 bits stored in 8, and u16 and i16 as i16 without a zero point; g itself where
 * there are none. */
qn_status qn_rqz_widths(qn_model *m, qn_graph *g, qn_graph **out) QN_MUST_CHECK;

/* e with these parameters along an axis; NULL: reported (requantize_moves.c). */
const qn_elem *qn_rqz_along_axis(qn_model *m, const qn_elem *e, int32_t axis, size_t count,
				 const double *scale, const int64_t *zp);

/* The rules' callbacks, by file. */
qn_rule_fn qn_rqz_hoist, qn_rqz_hoist_part, qn_rqz_shrink, qn_rqz_average;
/* requantize(op(x)): the op of a match, then the parameters of its quantize. */
qn_id qn_rqz_narrowed(qn_rw *rw, const qn_match *m, qn_id x);
qn_rule_fn qn_rqz_leaky;
qn_rule_fn qn_rqz_cast, qn_rqz_cast_back; /* requantize_cast.c */
qn_rule_fn qn_rqz_rescale;
qn_rule_fn qn_rqz_compute, qn_rqz_compare, qn_rqz_compare_constant, qn_rqz_index;
qn_rule_fn qn_rqz_join, qn_rqz_merge, qn_rqz_drop_identity, qn_rqz_drop_clamp, qn_rqz_scast_back;
qn_rule_fn qn_rqz_fold;
qn_rule_fn qn_rqz_fold_integers;
qn_rule_fn qn_rqz_product, qn_rqz_bias;
qn_rule_fn qn_rqz_dynamic_values, qn_rqz_dynamic_bias, qn_rqz_dynamic_result;
qn_rule_fn qn_rqz_sink, qn_rqz_constant_output;
qn_rule_fn qn_rqz_fill, qn_rqz_wide_constant, qn_rqz_fill_weights, qn_rqz_widen, qn_rqz_gate,
	qn_rqz_prefer, qn_rqz_derive;
qn_rule_fn qn_rqz_batch_norm, qn_rqz_norm_parameters;
qn_rule_fn qn_rqz_gather; /* requantize_table.c */
qn_rule_fn qn_rqz_order, qn_rqz_order_compare;
qn_rule_fn qn_rqz_regroup;                      /* requantize_regroup.c */
qn_rule_fn qn_rqz_classify, qn_rqz_where_never; /* requantize_classify.c */
qn_rule_fn qn_rqz_move_channels;                /* requantize_moves.c */
qn_rule_fn qn_rqz_align_result;                 /* requantize_aligned.c */

#endif
