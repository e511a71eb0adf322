/* SPDX-License-Identifier: Apache-2.0 */
/* compile_options.c - whether the options of qn_compile make sense for the model.
 *
 *   a scheme for a calibrated model      option.late: nothing would read it
 *   method "mean"                        method.unknown */
#include "driver/compile_options.h"

#include <string.h>

#include "calibrate/calibrate.h"
#include "calibrate/method.h"
#include "ir/diag.h"
#include "passes/passes.h"
#include "quern/calibrate.h"

/* Whether an average of float values is left, which only --no-approx keeps from becoming one of integers. */
static bool
averages_floats(const qn_model *m)
{
	for (size_t i = 0; i < m->ngraph; i++)
		for (qn_id id = 1; id < m->graph[i]->n; id++) {
			const qn_node *n = qn_graph_node(m->graph[i], id);

			if (qn_opinfo_of(n)->behaviour == QN_MEAN && !n->type->is_tuple &&
			    qn_elem_is_float(n->type->elem))
				return true;
		}
	return false;
}

/* Values that the option has, and stages that still read it. */
static qn_status
check_each(const qn_model *m, const qn_compile_opts *o)
{
	const struct {
		const char *name;
		int value, most;
		qn_stage late; /* from this stage on nothing reads the option */
	} rows[] = {
		{"scheme", (int)o->scheme, QN_RFC, QN_STAGE_SYMBOLIC},
		{"weights", (int)o->weights, QN_WEIGHTS_PER_TENSOR, QN_STAGE_SYMBOLIC},
		{"activations", (int)o->activations, QN_ACTIVATIONS_AUTO, QN_STAGE_SYMBOLIC},
		{"weights-type", (int)o->weights_type, QN_WEIGHTS_I2, QN_STAGE_SYMBOLIC},
		{"weight-block", o->weight_block, QN_WEIGHT_BLOCK_MOST, QN_STAGE_SYMBOLIC},
		{"dynamic", o->dynamic != NULL, 1, QN_STAGE_SYMBOLIC},
		{"method", o->method != NULL, 1,
		 o->ncalib > 0 ? QN_STAGE_INTEGER : QN_STAGE_CALIBRATED},
		{"stats", o->stats != NULL, 1, QN_STAGE_CALIBRATED},
		{"encodings", o->encodings != NULL, 1, QN_STAGE_CALIBRATED},
		{"weight-method", (int)o->weight_method, QN_WEIGHTS_BY_MSE, QN_STAGE_CALIBRATED},
		{"weight-rounding", (int)o->weight_rounding, QN_WEIGHTS_ADAPTIVE,
		 QN_STAGE_CALIBRATED},
		{"equalize", o->equalize != 0, 1, QN_STAGE_SYMBOLIC},
		{"bias-correction", o->bias_correction != 0, 1, QN_STAGE_CALIBRATED},
		{"narrow-ranges", o->narrow_ranges != 0, 1, QN_STAGE_CALIBRATED},
		{"inline-bodies", o->inline_bodies != 0, 1, QN_STAGE_INTEGER + 1},
		{"no-approx", o->no_approx != 0, 1,
		 averages_floats(m) ? QN_STAGE_INTEGER : QN_STAGE_CALIBRATED},
		{"merge-always", o->merge_always != 0, 1, QN_STAGE_INTEGER},
		{"align", o->align, QN_FIX_MOST, QN_STAGE_INTEGER},
		{"solver", (int)o->solver, QN_SOLVER_COUPLE_SUMS, QN_STAGE_SYMBOLIC},
		{"rounding", (int)o->rounding, QN_ROUND_EVEN, QN_STAGE_INTEGER},
	};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		if (rows[i].value < 0 || rows[i].value > rows[i].most)
			return qn_report(m->env, QN_EUSAGE, "option.range", rows[i].name,
					 "invalid value %d of this option (expected 0 to %d)",
					 rows[i].value, rows[i].most);
		if (rows[i].value != 0 && m->stage >= rows[i].late)
			return qn_report(m->env, QN_EUSAGE, "option.late", rows[i].name,
					 "the model is %s already, this option would change "
					 "nothing; remove it or %s",
					 qn_stage_text(m),
					 qn_came_quantized(m)
						 ? "dequantize the file and recalibrate it: "
						   "--from-float --calib FILE"
						 : "start from an earlier stage");
	}
	return QN_OK;
}

qn_status
qn_compile_opts_check(const qn_model *m, const qn_compile_opts *o)
{
	static const char *const normalizes = "normalize-quant-types";
	qn_method_opts method;

	if (o->align != 0 && (o->align < QN_FIX_LEAST || o->align > QN_FIX_MOST))
		return qn_report(m->env, QN_EUSAGE, "option.range", "align",
				 "invalid value %d (expected %d to %d bits)", o->align,
				 QN_FIX_LEAST, QN_FIX_MOST);
	if (o->weight_block != 0 &&
	    (o->weight_block < QN_WEIGHT_BLOCK_LEAST || o->weight_block > QN_WEIGHT_BLOCK_MOST))
		return qn_report(m->env, QN_EUSAGE, "option.range", "weight-block",
				 "invalid value %d (expected %d to %d weights)", o->weight_block,
				 QN_WEIGHT_BLOCK_LEAST, QN_WEIGHT_BLOCK_MOST);
	QN_TRY(check_each(m, o));
	if ((o->expand_blocks != 0 || o->collapse_scales != 0) &&
	    (o->passes == NULL || strstr(o->passes, normalizes) == NULL))
		return qn_report(m->env, QN_EUSAGE, "option.pass",
				 o->expand_blocks != 0 ? "expand-blocks" : "collapse-scales",
				 "only the pass %s reads this option, and it is not among the "
				 "given passes",
				 normalizes);
	if (o->encodings != NULL && o->stats != NULL)
		return qn_report(m->env, QN_EUSAGE, "encodings.stats", "encodings",
				 "statistics are for all values, and encodings set some of them; "
				 "give encodings with samples (--calib), or remove one of them");
	if (o->scheme == QN_RFC && o->activations == QN_ACTIVATIONS_U8)
		return qn_report(
			m->env, QN_EUSAGE, "option.activations", "activations",
			"scheme rfc quantizes symmetrically, which u8 cannot; use i8 or i16");
	return qn_method_parse(m->env, m->arena, o->method, &method);
}

/* ---- the table of methods ---- */

const char *
qn_method_name(size_t i)
{
	return qn_method_row(i) != NULL ? qn_method_row(i)->name : NULL;
}

const char *
qn_method_help(size_t i)
{
	return qn_method_row(i) != NULL ? qn_method_row(i)->help : NULL;
}
