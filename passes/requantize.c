/* SPDX-License-Identifier: Apache-2.0 */
/* requantize.c - folds dequantize/quantize pairs, so that values stay integer from end to end.
 *
 *   quantize(dequantize(x))            ->  requantize(x)
 *   quantize(move(dequantize(x)))      ->  move(requantize(x))             a chain of any length, moved up one node at a time
 *   quantize(max_pool(dequantize(x)))  ->  requantize(max_pool(x))         8-bit x: the op that shrinks the data comes first; slice likewise
 *   quantize(get(split(dequantize(x))))  ->  get(split(requantize(x)))
 *   quantize(gather(dequantize(w), i))  ->  gather(w, i)                 a constant in blocks, or with a scale per row: requantize_table.c
 *   argmax(dequantize(x))              ->  argmax(x)                        indices of elements are integers anyway
 *   quantize(concat(…dequantize(x)…))  ->  concat(…requantize(x)…)
 *   quantize(add(dequantize(a), dequantize(b)))  ->  add(a, b)             ops with integer arithmetic of their own; softmax, global_avg_pool …
 *   quantize(avg_pool(dequantize(x)))  ->  requantize(avg_pool(x))         averages of quantized values: equal parameters in and out
 *   quantize(leaky_relu(dequantize(acc)))  ->  maximum(requantize(acc), scast(requantize(acc)))   rounded once: requantize_leaky.c
 *   less(dequantize(a), dequantize(b))  ->  less(a, b)                 the comparisons, whose result is plain
 *   conv2d(dequantize(x), dequantize(w), b)  ->  dequantize(conv2d(x, w, b'))   files of quantized graphs: requantize_acc.c
 *   batch_norm(dequantize(conv2d(…)))  ->  dequantize(conv2d(…)); another one  ->  a depthwise conv2d: requantize_norm.c
 *   mul(dequantize(x), number)         ->  dequantize(scast(x))        its scale times the number; a sum with a number of steps: its zero point
 *   quantize(const)                    ->  quantized const
 *   relu(x)                            ->  x                               its smallest quantized value stands for 0; relu6, clip likewise
 *   requantize(requantize(x)), requantize(quantize(x))  ->  one of them    where the values in between cannot saturate;
 *                                                                          not where x is a graph input, which has its own parameters
 *
 * requires: a calibrated graph.  leaves: a calibrated graph; what is still float has a reason that
 * legalize reports. docs/quantization.md has the same rules by letters.  A dequantize that is never followed by
 * a quantize, and a lone quantize/dequantize pair (fake quantization of a float value), stay. */
#include "ir/diag.h"
#include "passes/requantize.h"

#define Q(inner) QN_P_OP(quantize, ROOT, QN_P_ARGS(inner))
#define DEQ QN_P_OP(dequantize, DQ, QN_P_ARGS(QN_P_ANY(X)))
#define CHAIN(op) QN_P_OP(requantize, ROOT, QN_P_ARGS(QN_P_OPN(op, OP)))

static const qn_rule rules[] = {
	{"fold-constant", Q(QN_P_CONST(X)), qn_rqz_fold},
	{"fold-constant", QN_P_OP(scast, ROOT, QN_P_ARGS(QN_P_CONST(X))), qn_rqz_fold_integers},
	{"fold-constant", QN_P_OP(clamp, ROOT, QN_P_ARGS(QN_P_CONST(X))), qn_rqz_fold_integers},
	{"integer-cast", QN_P_OPN(cast, ROOT), qn_rqz_cast},
	{"cast-back", QN_P_OPN(cast, ROOT), qn_rqz_cast_back},
	{"regroup", QN_P_OPN(reshape, ROOT), qn_rqz_regroup},
	{"finite", QN_P_OPN(is_nan, ROOT), qn_rqz_classify},
	{"finite", QN_P_OPN(is_inf, ROOT), qn_rqz_classify},
	{"finite", QN_P_OPN(where, ROOT), qn_rqz_where_never},
	{"rescale", QN_P_CLASS(QN_MIX, ROOT), qn_rqz_rescale},
	{"gate", QN_P_OPN(mul, ROOT), qn_rqz_gate},
	{"fill-weights", QN_P_CLASS(QN_ACC, ROOT), qn_rqz_fill_weights},
	{"integer-product", QN_P_CLASS(QN_ACC, ROOT), qn_rqz_product},
	{"dynamic-values", QN_P_OPN(dynamic_fake_quant, ROOT), qn_rqz_dynamic_values},
	{"dynamic-bias", QN_P_OPN(add, ROOT), qn_rqz_dynamic_bias},
	{"dynamic-bias", QN_P_OPN(bias_add, ROOT), qn_rqz_dynamic_bias},
	{"dynamic-result", Q(QN_P_OPN(dynamic_rescale, OP)), qn_rqz_dynamic_result},
	{"integer-bias", QN_P_OPN(add, ROOT), qn_rqz_bias},
	{"integer-bias", QN_P_OPN(bias_add, ROOT), qn_rqz_bias},
	{"norm-parameters", QN_P_OPN(batch_norm, ROOT), qn_rqz_norm_parameters},
	{"norm-parameters", QN_P_OPN(layer_norm, ROOT), qn_rqz_norm_parameters},
	{"norm-parameters", QN_P_OPN(rms_norm, ROOT), qn_rqz_norm_parameters},
	{"norm-parameters", QN_P_OPN(instance_norm, ROOT), qn_rqz_norm_parameters},
	{"batch-norm", QN_P_OPN(batch_norm, ROOT), qn_rqz_batch_norm},
	{"join", Q(DEQ), qn_rqz_join},
	{"shrink-first", Q(QN_P_OP(max_pool, OP, QN_P_ARGS(DEQ))), qn_rqz_shrink},
	{"shrink-first", Q(QN_P_OP(max_pool3d, OP, QN_P_ARGS(DEQ))), qn_rqz_shrink},
	{"shrink-first", Q(QN_P_OP(reduce_max, OP, QN_P_ARGS(DEQ))), qn_rqz_shrink},
	{"shrink-first", Q(QN_P_OP(reduce_min, OP, QN_P_ARGS(DEQ))), qn_rqz_shrink},
	{"integer-index", QN_P_CLASS(QN_INDEX, ROOT), qn_rqz_index},
	{"shrink-first", Q(QN_P_OP(slice, OP, QN_P_ARGS(DEQ))), qn_rqz_shrink},
	{"integer-average", Q(QN_P_OP(avg_pool, OP, QN_P_ARGS(QN_P_ANY(X)))), qn_rqz_average},
	{"integer-average", Q(QN_P_OP(avg_pool3d, OP, QN_P_ARGS(QN_P_ANY(X)))), qn_rqz_average},
	{"integer-average", Q(QN_P_OP(resize_bilinear, OP, QN_P_ARGS(QN_P_ANY(X)))),
	 qn_rqz_average},
	{"leaky-ends", Q(QN_P_OPN(leaky_relu, OP)), qn_rqz_leaky},
	{"table", Q(QN_P_OPN(gather, OP)), qn_rqz_gather},
	{"order-channels", Q(QN_P_CLASS(QN_SAME, OP)), qn_rqz_order},
	{"order-channels", Q(QN_P_CLASS(QN_JOIN, OP)), qn_rqz_order},
	{"move-channels", Q(QN_P_CLASS(QN_SAME, OP)), qn_rqz_move_channels},
	{"move-channels", Q(QN_P_CLASS(QN_JOIN, OP)), qn_rqz_move_channels},
	{"hoist", Q(QN_P_CLASS(QN_SAME, OP)), qn_rqz_hoist},
	{"align-result", Q(QN_P_CLASS(QN_SAME, OP)), qn_rqz_align_result},
	{"align-result", Q(QN_P_CLASS(QN_JOIN, OP)), qn_rqz_align_result},
	{"align-result", Q(QN_P_OP(get, OP, QN_P_ARGS(QN_P_OPN(split, X)))), qn_rqz_align_result},
	{"hoist-part", Q(QN_P_OP(get, OP, QN_P_ARGS(QN_P_OPN(split, X)))), qn_rqz_hoist_part},
	{"hoist-join", Q(QN_P_CLASS(QN_JOIN, OP)), qn_rqz_hoist},
	{"to-integer-mix", Q(QN_P_CLASS(QN_MIX, OP)), qn_rqz_compute},
	{"to-integer-lut", Q(QN_P_CLASS(QN_LUT, OP)), qn_rqz_compute},
	{"to-integer-fixed", Q(QN_P_CLASS(QN_FIXED, OP)), qn_rqz_compute},
	{"wide-constant", QN_P_CLASS(QN_MIX, ROOT), qn_rqz_wide_constant},
	{"fill-constant", Q(QN_P_CLASS(QN_MIX, OP)), qn_rqz_fill},
	{"fill-constant", Q(QN_P_OPN(pow, OP)), qn_rqz_fill},
	{"widen-sum", Q(QN_P_CLASS(QN_MIX, OP)), qn_rqz_widen},
	{"widen-sum", Q(QN_P_CLASS(QN_LUT, OP)), qn_rqz_widen},
	{"widen-sum", Q(QN_P_CLASS(QN_FIXED, OP)), qn_rqz_widen},
	{"widen-sum", Q(QN_P_CLASS(QN_MEAN, OP)), qn_rqz_widen},
	{"derive", QN_P_CLASS(QN_JOIN, ROOT), qn_rqz_derive},
	{"derive", QN_P_CLASS(QN_SAME, ROOT), qn_rqz_derive},
	{"derive", QN_P_CLASS(QN_MIX, ROOT), qn_rqz_derive},
	{"prefer", QN_P_CLASS(QN_FIXED, ROOT), qn_rqz_prefer},
	{"order-channels", QN_P_CLASS(QN_MIX, ROOT), qn_rqz_order_compare},
	{"integer-compare", QN_P_CLASS(QN_MIX, ROOT), qn_rqz_compare},
	{"compare-constant", QN_P_CLASS(QN_MIX, ROOT), qn_rqz_compare_constant},
	{"merge-requantize", CHAIN(requantize), qn_rqz_merge},
	{"merge-quantize", CHAIN(quantize), qn_rqz_merge},
	{"drop-clamp", QN_P_CLASS(QN_SAME, ROOT), qn_rqz_drop_clamp},
	{"scast-back", QN_P_OP(scast, ROOT, QN_P_ARGS(QN_P_OPN(scast, OP))), qn_rqz_scast_back},
	{"identity", QN_P_OP(requantize, ROOT, QN_P_ARGS(QN_P_ANY(X))), qn_rqz_drop_identity},
};

/* What is left when the chains have ended in quantized values: moves and constants that lead to outputs. */
static const qn_rule ends[] = {
	{"constant-output", QN_P_CONST(ROOT), qn_rqz_constant_output},
	{"sink-dequantize", QN_P_CLASS(QN_SAME, ROOT), qn_rqz_sink},
	{"sink-dequantize", QN_P_CLASS(QN_JOIN, ROOT), qn_rqz_sink},
	{"sink-dequantize", QN_P_OP(get, ROOT, QN_P_ARGS(QN_P_OPN(split, X))), qn_rqz_sink},
};

qn_status
qn_requantize_inputs(qn_model *m, qn_graph *g, qn_graph **out)
{
	qn_rqz state = {
		.opts = &(const qn_requant_opts){.exact = true}}; /* what was left out stays out */

	*out = g;
	if (qn_came_quantized(m))
		qn_rqz_find_open(&state, g);
	for (qn_id id = 1; state.open != NULL && id < g->n; id++)
		state.prefer =
			state.prefer || qn_opinfo_of(qn_graph_node(g, id))->behaviour == QN_FIXED;
	if (!qn_rqz_find_inputs(&state, g) && !state.prefer)
		return QN_OK;
	qn_rqz_count_twice(&state, g);
	qn_rqz_find_weights(&state, g);
	return qn_rewrite(m, g, rules, QN_COUNT(rules), &state, out);
}

/* All rules, and once more where results of a file that came quantized have no parameters.  These are derived by the
 * second sweep alone, so that they do not reach what a quantize makes of the same value, whatever else is an output. */
static qn_status
sweep(qn_model *m, qn_rqz *s, qn_graph **g)
{
	const bool came = qn_came_quantized(m);

	for (int i = 0; i < 2; i++) {
		if (came)
			qn_rqz_find_open(s, *g);
		s->derives = came && qn_rqz_find_quantized(s, *g) && i > 0;
		if (i > 0 && !s->derives)
			break;
		s->n = 0;
		qn_rqz_count_twice(s, *g);
		qn_rqz_find_weights(s, *g);
		QN_TRY(qn_rewrite(m, *g, rules, QN_COUNT(rules), s, g));
	}
	return QN_OK;
}

qn_status
qn_requantize(qn_model *m, const qn_requant_opts *opts)
{
	const qn_requant_opts defaults = {0};
	qn_graph *g = qn_model_entry(m);
	qn_rqz state = {.opts = opts != NULL ? opts : &defaults};

	if (m->stage != QN_STAGE_CALIBRATED)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "requantize takes a calibrated graph; this one is %s",
				 qn_stage_names[m->stage]);
	QN_TRY(qn_unpack_floats(m, g, &g));
	QN_TRY(qn_carried_types(m, g, true, &g));
	QN_TRY(qn_expand_activations(m, g, &g));
	QN_TRY(qn_rqz_widths(m, g, &g));
	QN_TRY(qn_rqz_raise_weight_scales(m, g, &g));
	QN_TRY(sweep(m, &state, &g));
	qn_rqz_find_ends(&state, g);
	QN_TRY(qn_rewrite(m, g, ends, QN_COUNT(ends), &state, &g));
	if (state.opts->require_int)
		QN_TRY(qn_require_integer(m, g, state.opts->exact));
	qn_model_set_graph(m, g);
	return QN_OK;
}
