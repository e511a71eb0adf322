/* SPDX-License-Identifier: Apache-2.0 */
/* noise_join.c - see noise_join.h.
 *
 *   boxes   [84, 4]  up to 640    ┐
 *   classes [84, 80] up to 0.98   ┴─concat─▶ output [84, 84], a step of 2.5: all classes are 0
 *
 * The SQNR of the output does not tell, because the large values decide it. */
#include "driver/noise_join.h"

#include <math.h>

#include "calibrate/outcome.h"
#include "ir/diag.h"

enum { FEW_STEPS = 4, MANY_STEPS = 32 };

static int32_t
axis_of(const qn_node *concat)
{
	const int64_t a = concat->attr->axis.axis;

	return (int32_t)(a < 0 ? a + concat->type->rank : a);
}

/* The concat from which an output comes, by moves alone, and which joins along what is `axis` of the output; NULL: there
 * is none. */
static const qn_node *
join_of(const qn_graph *g, qn_id output, int32_t axis)
{
	const qn_node *n = qn_graph_node(g, output);

	while (axis >= 0) {
		if (n->op == QN_OP_concat) {
			if (axis_of(n) == axis)
				return n;
		} else if (n->op == QN_OP_transpose)
			axis = (int32_t)n->attr->perm.perm.v[axis];
		else if (qn_op_keeps_bytes(n->op))
			axis = qn_type_same_axis(n->type, axis, qn_graph_node(g, n->in[0])->type);
		else if (n->op != QN_OP_quantize && n->op != QN_OP_dequantize)
			return NULL;
		n = qn_graph_node(g, n->in[0]);
	}
	return NULL;
}

/* The largest magnitude of output k at positions from `first` on of an axis. */
static double
reach_of(const qn_trials *t, size_t k, const qn_type *y, int32_t axis, int64_t first, int64_t n)
{
	int64_t each = 1, count = qn_type_count(y);
	double most = 0;

	for (int32_t i = axis + 1; i < y->rank; i++)
		each *= y->dim[i];
	for (size_t b = 0; b < t->data->nbatch; b++)
		for (int64_t i = 0; t->wanted[b][k] != NULL && i < count; i++) {
			const int64_t at = i / each % y->dim[axis];

			if (at >= first && at < first + n)
				most = fmax(most, fabs((double)t->wanted[b][k][i]));
		}
	return most;
}

/* The name in the file of what makes a value, the last of its layers. */
static const char *
name_of(const qn_node *n)
{
	const char *const *layer;
	const size_t count = qn_node_origin(n, &layer);

	if (count > 0)
		return layer[count - 1];
	return n->name != NULL ? n->name : qn_opinfo_of(n)->name;
}

/* Of a number, what a reader of a message wants to know. */
static double
rounded(double v)
{
	return rint(v * 1e4) / 1e4;
}

static void
warn(const qn_trials *t, const qn_graph *g, size_t k, double step, const char *join,
     const char *part, double reach)
{
	qn_warn(g->model->env, "accuracy.joined", g->model->name,
		"output '%s' joins values of different sizes ('%s'), and all get its step of %g: "
		"of those of '%s', which reach %g on %zu samples, little or nothing is left; end "
		"the model before the join (--cut for each of its operands), or bring them to one "
		"size (boxes as parts of the image)",
		g->output[k].name, join, rounded(step), part, rounded(reach), t->data->nbatch);
}

void
qn_check_join(const qn_trials *t, const qn_graph *g, size_t k, double step)
{
	const qn_id output = qn_output_compared(g, g->output[k].value);
	const qn_type *y = qn_graph_node(g, output)->type;

	for (int32_t axis = 0; step > 0 && axis < y->rank; axis++) {
		const qn_node *join = join_of(g, output, axis);
		double least = (double)INFINITY, most = 0;
		const char *part = "";

		if (join == NULL || qn_type_count(y) < 1 ||
		    join->type->dim[axis_of(join)] != y->dim[axis])
			continue;
		int64_t at = 0;
		for (uint32_t i = 0; i < join->nin; i++) {
			const qn_node *x = qn_graph_node(g, join->in[i]);
			const int64_t n = x->type->dim[axis_of(join)];
			const double reach = reach_of(t, k, y, axis, at, n);

			at += n;
			most = fmax(most, reach);
			if (reach > 0 && reach < least) {
				least = reach;
				part = name_of(x);
			}
		}
		if (least < FEW_STEPS * step && most >= MANY_STEPS * step)
			warn(t, g, k, step, name_of(join), part, least);
	}
}
