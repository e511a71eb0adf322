/* SPDX-License-Identifier: Apache-2.0 */
/* importer_names.c - the names that values have in the file, which other tools know them by; nodes may
 * be named otherwise.
 *
 *   Reshape(Parameter193) -> Parameter193_reshape1    the constant: Parameter193, Parameter193_reshape1
 *   Pooling66             -> Pooling66_Output_0       max_pool and the transposes around it */
#include <string.h>

#include "import/importer.h"
#include "ir/foreign_names.h"

void
qn_importer_add_name(qn_importer *im, const char *name, qn_id x, qn_id from)
{
	const qn_node *n;

	do {
		n = qn_graph_node(im->g, x);
		qn_model_call(im->m, n->name, name, n->op == QN_OP_const);
		x = n->op == QN_OP_transpose || n->op == QN_OP_dequantize || n->op == QN_OP_quantize
			    ? n->in[0]
			    : 0;
	} while (x >= from && x != 0);
}

void
qn_importer_copy_names(qn_importer *im, qn_id x, qn_id of)
{
	const qn_foreign_name *c = qn_model_foreign_names(im->m, qn_graph_node(im->g, of));

	for (; c != NULL; c = c->next)
		qn_model_call(im->m, qn_graph_node(im->g, x)->name, c->name, true);
}
