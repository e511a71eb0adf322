/* SPDX-License-Identifier: Apache-2.0 */
/* infer_binary.c - types of minimum, maximum, the comparisons and where.
 *
 *   minimum  [2,1] + [1,3]          ->  [2,3] of the inputs' element
 *   less     [4] + []               ->  [4] of bool
 *   where    bool [4] + [1] + [4]   ->  [4] of the element of inputs 1 and 2 */
#include "ir/infer.h"

enum { COMPARE_BITS = 13 }; /* with the 17 bits of a difference of quantized values they fit 31 */

const qn_elem *
qn_infer_chosen(const qn_graph *g, const qn_node *n, uint32_t inputs)
{
	uint32_t first = 0;

	while ((inputs >> first & 1U) == 0)
		first++;
	const qn_elem *e = qn_infer_in(g, n, first)->elem;
	for (uint32_t i = first; i < n->nin; i++) {
		const qn_type *t = qn_infer_in(g, n, i);

		if ((inputs >> i & 1U) == 0)
			continue;
		if (t->is_tuple) {
			(void)qn_infer_error(g, n, "type.tuple",
					     "input %u ('%s') is a tuple; take a field with `get`",
					     i, qn_graph_node(g, n->in[i])->name);
			return NULL;
		}
		if (t->elem != e) {
			(void)qn_infer_error(g, n, "type.mismatch",
					     "input %u ('%s') has %s elements, input %u has %s; "
					     "requantize or cast one of them",
					     i, qn_graph_node(g, n->in[i])->name,
					     qn_infer_elem_text(g, t->elem), first,
					     qn_infer_elem_text(g, e));
			return NULL;
		}
	}
	if (!qn_elem_is_quant(e) || e->gran == QN_PER_TENSOR)
		return e;
	(void)qn_infer_error(g, n, "type.granularity", "%s takes one scale per tensor, not %s",
			     qn_opinfo_of(n)->name, qn_infer_elem_text(g, e));
	return NULL;
}

static const qn_type *
smaller_or_larger(const qn_graph *g, const qn_node *n)
{
	const qn_elem *e = qn_infer_operands(g, n) != QN_OPERANDS_BAD
				   ? qn_infer_chosen(g, n, 1U | 1U << 1)
				   : NULL;
	qn_shape y;

	return e != NULL && qn_infer_broadcast(g, n, &y) ? qn_infer_result(g, n, e, &y) : NULL;
}

const qn_type *
qn_infer_minimum(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	(void)declared;
	return smaller_or_larger(g, n);
}

const qn_type *
qn_infer_maximum(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	(void)declared;
	return smaller_or_larger(g, n);
}

/* Both inputs have one float type, or are quantized. */
static bool
comparable(const qn_graph *g, const qn_node *n)
{
	qn_operands kind = qn_infer_operands(g, n);

	if (qn_infer_integers(g, n, true))
		return true;
	if (kind == QN_OPERANDS_BAD)
		return false;
	if (kind == QN_OPERANDS_FLOAT)
		return qn_infer_float(g, n) != NULL;
	bool ok = qn_infer_uniform(g, n, 0);
	return qn_infer_uniform(g, n, 1) && ok;
}

static const qn_type *
comparison(const qn_graph *g, const qn_node *n)
{
	qn_shape y;

	if (n->attr->compare.bits < 0 || n->attr->compare.bits > COMPARE_BITS) {
		(void)qn_infer_error(g, n, "attr.value", "bits is %lld, must be 0 to %d",
				     (long long)n->attr->compare.bits, COMPARE_BITS);
		return NULL;
	}
	if (!comparable(g, n) || !qn_infer_broadcast(g, n, &y))
		return NULL;
	return qn_infer_result(g, n, qn_elem_plain(&g->model->types, QN_PLAIN_bool), &y);
}

#define COMPARISON(name)                                                                           \
	const qn_type *qn_infer_##name(const qn_graph *g, const qn_node *n,                        \
				       const qn_type *declared)                                    \
	{                                                                                          \
		(void)declared;                                                                    \
		return comparison(g, n);                                                           \
	}

COMPARISON(equal)
COMPARISON(not_equal)
COMPARISON(less)
COMPARISON(less_equal)
COMPARISON(greater)
COMPARISON(greater_equal)

const qn_type *
qn_infer_where(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_type *cond = qn_infer_in(g, n, 0);
	const qn_elem *e = qn_infer_chosen(g, n, 1U << 1 | 1U << 2);
	qn_shape y;

	(void)declared;
	if (cond->is_tuple || cond->elem->kind != QN_ELEM_PLAIN ||
	    cond->elem->plain != QN_PLAIN_bool) {
		(void)qn_infer_error(g, n, "type.element", "the condition '%s' is %s, must be bool",
				     qn_graph_node(g, n->in[0])->name, qn_infer_type_text(g, cond));
		return NULL;
	}
	return e != NULL && qn_infer_broadcast(g, n, &y) ? qn_infer_result(g, n, e, &y) : NULL;
}
