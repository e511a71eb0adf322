/* SPDX-License-Identifier: Apache-2.0 */
/* infer_remainder.c - types of mod and floor_div, on plain numbers of one type, broadcast.
 *
 *   mod  i64 [4], i64 []  ->  i64 [4]      floor_div  f32 [2,1], f32 [3]  ->  f32 [2,3] */
#include "ir/infer.h"

/* Plain numbers of one type, integer or not. */
static const qn_type *
division(const qn_graph *g, const qn_node *n)
{
	const qn_elem *e =
		qn_infer_integers(g, n, false) ? qn_infer_in(g, n, 0)->elem : qn_infer_real(g, n);
	qn_shape y;

	return e != NULL && qn_infer_broadcast(g, n, &y) ? qn_infer_result(g, n, e, &y) : NULL;
}

const qn_type *
qn_infer_floor_div(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	(void)declared;
	return division(g, n);
}

const qn_type *
qn_infer_mod(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	(void)declared;
	return qn_infer_flag(g, n, "fmod", n->attr->mod.fmod) ? division(g, n) : NULL;
}
