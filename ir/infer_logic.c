/* SPDX-License-Identifier: Apache-2.0 */
/* infer_logic.c - types of operations on truth values and on the bits of integers.
 *
 *   logical_and  bool [2,3], bool [3]  ->  bool [2,3]      shift_left  u8 [4], u8 []  ->  u8 [4] */
#include "ir/infer.h"

static const qn_type *
of_plain(const qn_graph *g, const qn_node *n, bool fits, const char *wanted)
{
	qn_shape y;

	if (fits)
		return qn_infer_broadcast(g, n, &y)
			       ? qn_infer_result(g, n, qn_infer_in(g, n, 0)->elem, &y)
			       : NULL;
	for (uint32_t i = 0; i < n->nin; i++)
		(void)qn_infer_error(g, n, "type.element", "input %u ('%s') is %s; %s takes %s", i,
				     qn_graph_node(g, n->in[i])->name,
				     qn_infer_type_text(g, qn_infer_in(g, n, i)),
				     qn_opinfo_of(n)->name, wanted);
	return NULL;
}

static bool
are_bool(const qn_graph *g, const qn_node *n)
{
	return qn_infer_integers(g, n, true) && qn_infer_in(g, n, 0)->elem->plain == QN_PLAIN_bool;
}

#define LOGICAL(name)                                                                              \
	const qn_type *qn_infer_##name(const qn_graph *g, const qn_node *n,                        \
				       const qn_type *declared)                                    \
	{                                                                                          \
		(void)declared;                                                                    \
		return of_plain(g, n, are_bool(g, n), "bool");                                     \
	}
#define BITWISE(name)                                                                              \
	const qn_type *qn_infer_##name(const qn_graph *g, const qn_node *n,                        \
				       const qn_type *declared)                                    \
	{                                                                                          \
		(void)declared;                                                                    \
		return of_plain(g, n, qn_infer_integers(g, n, false), "integers of one type");     \
	}

LOGICAL(logical_and)
LOGICAL(logical_or)
LOGICAL(logical_xor)
LOGICAL(logical_not)
BITWISE(bitwise_and)
BITWISE(bitwise_or)
BITWISE(bitwise_xor)
BITWISE(bitwise_not)
BITWISE(shift_left)
BITWISE(shift_right)
