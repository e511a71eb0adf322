/* SPDX-License-Identifier: Apache-2.0 */
/* float_imported.c - why a node of a model that another tool has quantized stays in float: the values for which
 * the file has no range, by the names that it has for them.
 *
 *   conv2d 'c'   the model, quantized by another tool, has no range for 'x' … */
#include <string.h>

#include "ir/foreign_names.h"
#include "passes/float_left.h"
#include "passes/requantize.h"

bool
qn_came_quantized(const qn_model *m)
{
	return m->stage >= QN_STAGE_CALIBRATED && !m->quantized_here;
}

const char *
qn_left_own_name(const qn_graph *g, const qn_node *n)
{
	const qn_foreign_name *called = qn_model_foreign_names(g->model, n);

	if (n->facts != NULL && n->facts->norigin == 1)
		return n->facts->origin[0];
	return called != NULL ? called->name : n->name;
}

static void
add_name(qn_buf *b, const qn_graph *g, const qn_node *n)
{
	qn_buff(b, "%s'%s'", b->n > 0 ? ", " : "", qn_left_own_name(g, n));
}

/* Whether a node of the file became both: "h" and "h_1", which is its activation. */
static bool
is_part_of(const qn_node *n, const qn_node *x)
{
	size_t k = strlen(x->name);

	return strncmp(n->name, x->name, k) == 0 && n->name[k] == '_';
}

/* The value of the file that would need a range. */
static const qn_node *
source(const qn_graph *g, const qn_node *n)
{
	while (n->nin == 1) {
		const qn_node *x = qn_graph_node(g, n->in[0]);

		if (n->op != QN_OP_dequantize && n->op != QN_OP_transpose &&
		    !(qn_rqz_moves(g, n) && is_part_of(n, x)))
			break;
		n = x;
	}
	return n;
}

const char *
qn_left_no_range_for(const qn_model *m, const char *values)
{
	if (m->opened)
		return qn_left_text(
			m,
			"the model, quantized by another tool, has no range for %s, and "
			"samples did not help; quantize it in the tool that wrote the model, "
			"or dequantize and recalibrate the model: --from-float --calib SAMPLES",
			values);
	return qn_left_text(
		m,
		"the model, quantized by another tool, has no range for %s; calibrate it: "
		"--calib SAMPLES, which preserves the model's own ranges; or quantize it in "
		"the tool that wrote the model, or dequantize and recalibrate the model: "
		"--from-float --calib SAMPLES",
		values);
}

const char *
qn_left_no_range(const qn_graph *g, const qn_node *n, bool is_quantized)
{
	qn_buf values;

	if (!qn_came_quantized(g->model))
		return NULL;
	qn_buf_init(&values, g->model->arena);
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_node *x = qn_graph_node(g, n->in[i]);
		const qn_elem *e =
			x->op == QN_OP_dequantize ? qn_graph_node(g, x->in[0])->type->elem : NULL;
		const bool quantized = e != NULL && e->kind == QN_ELEM_UNIFORM && e->bits <= 16;

		if (qn_left_is_float(x->type) && !quantized && (x->op != QN_OP_const || i < 2))
			add_name(&values, g, source(g, x));
	}
	if (!is_quantized)
		add_name(&values, g, n);
	return values.n > 0 ? qn_left_no_range_for(g->model, qn_buf_str(&values)) : NULL;
}

const char *
qn_left_or_recalibrate(const qn_model *m, const char *why)
{
	return qn_came_quantized(m)
		       ? qn_left_text(m,
				      "%s; dequantize and recalibrate the model: --from-float "
				      "--calib SAMPLES",
				      why)
		       : why;
}
