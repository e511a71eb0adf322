/* SPDX-License-Identifier: Apache-2.0 */
/* infer_stats.c - types of stats_ref, stats and coupled_ref: that of their operand, f32.
 *
 *   stats {layer=[-1.0,2.0]}                                         f32 [4,2]  ->  f32 [4,2]
 *   stats {axis_stats=[-1.0,0.5,0.0,2.0], axis=1}                    f32 [4,2]  ->  f32 [4,2] */
#include <math.h>

#include "ir/infer.h"

static const qn_type *
same_type(const qn_graph *g, const qn_node *n, bool ok)
{
	const qn_elem *e = qn_infer_real(g, n);

	if (e == NULL)
		return NULL;
	if (e->plain != QN_PLAIN_f32)
		ok = qn_infer_error(g, n, "type.element", "the input is %s, must be f32",
				    qn_infer_elem_text(g, e));
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	return ok ? qn_infer_result(g, n, e, &x) : NULL;
}

bool
qn_infer_key(const qn_graph *g, const qn_node *n, const char *key)
{
	return (key != NULL && key[0] != '\0') ||
	       qn_infer_error(g, n, "attr.value", "the key is empty");
}

/* -1, or an axis of the input counted from 0, with `many` entries where that is not 0. */
static bool
axis_ok(const qn_graph *g, const qn_node *n, int64_t axis, size_t many)
{
	const qn_type *x = qn_infer_in(g, n, 0);
	const bool known = !x->is_tuple && x->rank >= 0;

	if (axis < -1 || axis >= (known ? x->rank : QN_MAX_RANK))
		return qn_infer_error(g, n, "attr.value",
				      "axis = %lld; it must be an axis of the input, counted from "
				      "0, or -1 for none",
				      (long long)axis);
	if (axis >= 0 && many > 0 && known && !qn_dim_fits(x->dim[axis], (int64_t)many))
		return qn_infer_error(
			g, n, "attr.value",
			"%zu ranges along axis %lld; there must be one for each index", many,
			(long long)axis);
	return true;
}

static bool
pairs_ok(const qn_graph *g, const qn_node *n, const char *attr, const qn_reals *r)
{
	for (size_t i = 0; i + 1 < r->n; i += 2)
		if (!isfinite(r->v[i]) || !isfinite(r->v[i + 1]) || r->v[i] > r->v[i + 1])
			return qn_infer_error(g, n, "attr.value",
					      "range %zu of %s is %g..%g; both ends must be "
					      "finite, and the first "
					      "at most the second",
					      i / 2, attr, r->v[i], r->v[i + 1]);
	return true;
}

const qn_type *
qn_infer_stats_ref(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	bool ok = qn_infer_key(g, n, n->attr->stats_ref.key);

	(void)declared;
	ok = axis_ok(g, n, n->attr->stats_ref.axis, 0) && ok;
	return same_type(g, n, ok);
}

const qn_type *
qn_infer_stats(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_stats *a = &n->attr->stats;
	bool ok = true;

	(void)declared;
	if (a->layer.n != 2 && (a->layer.n != 0 || a->axis_stats.n == 0))
		ok = qn_infer_error(g, n, "attr.value",
				    "layer has %zu numbers; it must have two, or axis_stats must "
				    "be given",
				    a->layer.n);
	if (a->axis_stats.n % 2 != 0 || (a->axis_stats.n > 0) != (a->axis >= 0))
		ok = qn_infer_error(g, n, "attr.value",
				    "axis_stats has %zu numbers, axis is %lld; both or none must "
				    "be given, two numbers for each index",
				    a->axis_stats.n, (long long)a->axis);
	ok = axis_ok(g, n, a->axis, a->axis_stats.n / 2) && ok;
	ok = pairs_ok(g, n, "layer", &a->layer) && ok;
	ok = pairs_ok(g, n, "axis_stats", &a->axis_stats) && ok;
	return same_type(g, n, ok);
}

const qn_type *
qn_infer_coupled_ref(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	(void)declared;
	return same_type(g, n, qn_infer_key(g, n, n->attr->coupled_ref.key));
}
