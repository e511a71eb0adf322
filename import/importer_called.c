/* SPDX-License-Identifier: Apache-2.0 */
/* importer_called.c - the names that values have in the file, which other tools know them by; nodes may
 * be named otherwise.
 *
 *   Reshape(Parameter193) -> Parameter193_reshape1    the constant: Parameter193, Parameter193_reshape1
 *   Pooling66             -> Pooling66_Output_0       max_pool and the transposes around it */
#include <string.h>

#include "import/importer.h"

enum { MOST_NAMES = 8 }; /* of a value: a chain of operators that do nothing costs no time */

static void
add_name(qn_importer *im, const char *node, const char *name, bool constant)
{
	qn_model *m = im->m;
	qn_called *first = qn_map_gets(m->tensors, node), *last = NULL;
	int n = 0;

	for (qn_called *c = first; c != NULL; c = c->next, n++) {
		if (strcmp(c->name, name) == 0)
			return;
		last = c;
	}
	if (n == MOST_NAMES)
		return;
	const qn_called *known = qn_map_gets(m->tensor_names, name);
	qn_called *own = QN_NEW(m->arena, qn_called, 1);
	own->name = known != NULL ? known->name : qn_arena_copy(m->arena, name, strlen(name) + 1);
	own->constant = constant;
	if (last == NULL)
		qn_map_puts(m->tensors, node, own);
	else
		last->next = own;
	if (known == NULL)
		qn_map_puts(m->tensor_names, name, own);
}

void
qn_importer_called(qn_importer *im, const char *name, qn_id x, qn_id from)
{
	qn_model *m = im->m;
	const qn_node *n;

	if (m->tensors == NULL) {
		m->tensors = QN_NEW(m->arena, qn_map, 1);
		m->tensor_names = QN_NEW(m->arena, qn_map, 1);
		qn_map_init(m->tensors, m->arena);
		qn_map_init(m->tensor_names, m->arena);
	}
	do {
		n = qn_graph_node(im->g, x);
		add_name(im, n->name, name, n->op == QN_OP_const);
		x = n->op == QN_OP_transpose || n->op == QN_OP_dequantize || n->op == QN_OP_quantize
			    ? n->in[0]
			    : 0;
	} while (x >= from && x != 0);
}

void
qn_importer_called_as(qn_importer *im, qn_id x, qn_id of)
{
	const qn_called *c = qn_model_called(im->m, qn_graph_node(im->g, of));

	for (; c != NULL; c = c->next)
		add_name(im, qn_graph_node(im->g, x)->name, c->name, true);
}
