/* SPDX-License-Identifier: Apache-2.0 */
/* infer_convert.c - type of cast, between plain types: the declared one.
 *
 *   cast tensor<4xbool> : tensor<4xf32>      cast tensor<4xf32> : tensor<4xi32> */
#include "ir/infer.h"

const qn_type *
qn_infer_cast(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_type *in = qn_infer_in(g, n, 0);

	if (!qn_infer_cast_tensors(g, n, declared))
		return NULL;
	if (in->elem->kind == QN_ELEM_PLAIN && declared->elem->kind == QN_ELEM_PLAIN)
		return declared;
	(void)qn_infer_error(g, n, "type.cast.kind",
			     "cast converts a plain type to a plain type, not %s to %s; use "
			     "quantize, dequantize or scast",
			     qn_infer_type_text(g, in), qn_infer_type_text(g, declared));
	return NULL;
}
