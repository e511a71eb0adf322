/* SPDX-License-Identifier: Apache-2.0 */
/* infer_clamp.c - types of relu, relu6, clip and clamp: that of the input.  Bounds of clip are
 * float values, those of clamp quantized values. */
#include "ir/infer.h"

static const qn_type *
input_type(const qn_graph *g, const qn_node *n)
{
	return qn_infer_operands(g, n) != QN_OPERANDS_BAD ? qn_infer_in(g, n, 0) : NULL;
}

const qn_type *
qn_infer_relu(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	(void)declared;
	return input_type(g, n);
}

const qn_type *
qn_infer_relu6(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	(void)declared;
	return input_type(g, n);
}

const qn_type *
qn_infer_clip(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_clip *a = &n->attr->clip;
	const qn_type *t = input_type(g, n);

	(void)declared;
	if (a->min <= a->max) /* false for NaN */
		return t;
	(void)qn_infer_error(g, n, "attr.value", "min is %g, max is %g; min must not be larger",
			     a->min, a->max);
	return NULL;
}

const qn_type *
qn_infer_clamp(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_clamp *a = &n->attr->clamp;
	const qn_type *t = input_type(g, n);
	bool ok = t != NULL;

	(void)declared;
	if (ok && qn_elem_is_float(t->elem))
		ok = qn_infer_error(g, n, "type.element",
				    "clamp takes quantized values, the input is %s; use clip",
				    qn_infer_type_text(g, t));
	if (a->lo > a->hi)
		ok = qn_infer_error(g, n, "attr.value",
				    "lo is %lld, hi is %lld; lo must not be larger",
				    (long long)a->lo, (long long)a->hi);
	return ok ? t : NULL;
}
