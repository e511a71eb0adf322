/* SPDX-License-Identifier: Apache-2.0 */
/* foreign_names.c - the names that values have in the file of another tool, and their text form.
 *
 *   tensor "conv.bias" constant           a value of the file that no longer has a node
 *   tensor %conv.w "conv.weight" constant, "conv.weight_transposed" */
#include "ir/foreign_names.h"

#include <stdlib.h>
#include <string.h>

#include "ir/graph_text.h"
#include "ir/type_impl.h"

const qn_foreign_name *
qn_model_foreign_names(const qn_model *m, const qn_node *n)
{
	return m->tensors != NULL ? qn_map_gets(m->tensors, n->name) : NULL;
}

void
qn_model_copy_foreign_names(qn_model *m, const qn_node *x, const qn_node *of)
{
	const qn_foreign_name *c = qn_model_foreign_names(m, of);

	if (c != NULL && qn_model_foreign_names(m, x) == NULL)
		qn_map_puts(m->tensors, x->name, (void *)(uintptr_t)c);
}

bool
qn_model_is_taken(const qn_model *m, const qn_node *n)
{
	if (m->tensor_names == NULL || qn_map_gets(m->tensor_names, n->name) == NULL)
		return false;
	for (const qn_foreign_name *c = qn_model_foreign_names(m, n); c != NULL; c = c->next)
		if (strcmp(c->name, n->name) == 0)
			return false;
	return true;
}

static void
make_tables(qn_model *m)
{
	if (m->tensors != NULL)
		return;
	m->tensors = QN_NEW(m->arena, qn_map, 1);
	m->tensor_names = QN_NEW(m->arena, qn_map, 1);
	qn_map_init(m->tensors, m->arena);
	qn_map_init(m->tensor_names, m->arena);
}

/* The name is known from now on. */
static void
know(qn_model *m, qn_foreign_name *c)
{
	qn_map_puts(m->tensor_names, c->name, c);
	m->named = qn_arena_grow(m->arena, (void *)m->named, &m->named_cap, m->nnamed + 1,
				 sizeof *m->named);
	m->named[m->nnamed++] = c;
}

void
qn_model_call(qn_model *m, const char *node, const char *name, bool constant)
{
	make_tables(m);
	const qn_foreign_name *known = qn_map_gets(m->tensor_names, name);
	qn_foreign_name *last = node != NULL ? qn_map_gets(m->tensors, node) : NULL;

	for (int n = 1; last != NULL; n++, last = last->next) {
		if (strcmp(last->name, name) == 0 || n == QN_MAX_FOREIGN_NAMES)
			return;
		if (last->next == NULL)
			break;
	}
	if (node == NULL && known != NULL)
		return;
	qn_foreign_name *own = QN_NEW(m->arena, qn_foreign_name, 1);
	own->name = known != NULL ? known->name : qn_arena_str(m->arena, name);
	own->constant = constant;
	if (last != NULL)
		last->next = own;
	else if (node != NULL)
		qn_map_puts(m->tensors, node, own);
	if (known == NULL)
		know(m, own);
}

/* ---- lists for both file forms ---- */

/* The nodes of all graphs that have names, each name of a node once, in the order of the graphs; and
 * what is known of a name by that alone. */
static size_t
named_nodes(const qn_model *m, qn_arena *a, qn_map *seen, qn_foreign_name_entry **out)
{
	qn_foreign_name_entry *list = NULL;
	size_t n = 0, cap = 0;
	qn_map nodes;

	qn_map_init(&nodes, a);
	for (size_t k = 0; k < m->ngraph; k++)
		for (qn_id id = 1; id < m->graph[k]->n; id++) {
			const qn_node *x = qn_graph_node(m->graph[k], id);
			const qn_foreign_name *c = qn_model_foreign_names(m, x);

			if (c == NULL || qn_map_gets(&nodes, x->name) != NULL)
				continue;
			qn_map_puts(&nodes, x->name, (void *)(uintptr_t)c);
			list = qn_arena_grow(a, list, &cap, n + 1, sizeof *list);
			list[n++] = (qn_foreign_name_entry){x->name, c};
			for (; c != NULL; c = c->next)
				if (qn_map_gets(seen, c->name) == NULL)
					qn_map_puts(seen, c->name, (void *)(uintptr_t)c);
		}
	*out = list;
	return n;
}

static int
by_name(const void *a, const void *b)
{
	const qn_foreign_name_entry *x = a, *y = b;

	return strcmp(x->called->name, y->called->name);
}

size_t
qn_model_foreign_name_list(const qn_model *m, qn_arena *a, const qn_foreign_name_entry **out)
{
	qn_foreign_name_entry *of_nodes = NULL;
	qn_map seen;

	*out = NULL;
	if (m->tensors == NULL || m->stage == QN_STAGE_INTEGER)
		return 0;
	qn_map_init(&seen, a);
	const size_t n = named_nodes(m, a, &seen, &of_nodes);
	qn_foreign_name_entry *list = QN_NEW(a, qn_foreign_name_entry, m->nnamed + n);
	size_t count = 0;
	for (size_t i = 0; i < m->nnamed; i++) {
		const qn_foreign_name *c = m->named[i], *s = qn_map_gets(&seen, c->name);

		if (s == NULL || s->constant != c->constant)
			list[count++] = (qn_foreign_name_entry){NULL, c};
	}
	/* In which order they became known depends on how often the model was saved and read. */
	if (count > 1)
		qsort(list, count, sizeof *list, by_name);
	for (size_t i = 0; i < n; i++)
		list[count++] = of_nodes[i];
	*out = list;
	return count;
}

/* ---- text ---- */

void
qn_foreign_names_print(qn_buf *b, const qn_model *m)
{
	const qn_foreign_name_entry *list;
	const size_t n = qn_model_foreign_name_list(m, b->arena, &list);

	for (size_t i = 0; i < n; i++) {
		const qn_foreign_name *c = list[i].called;

		qn_buf_puts(b, "tensor ");
		if (list[i].node != NULL) {
			qn_print_name(b, '%', list[i].node);
			qn_buf_putc(b, ' ');
		}
		for (const char *before = ""; c != NULL; before = ", ") {
			qn_buf_puts(b, before);
			qn_buf_quoted(b, c->name);
			qn_buf_puts(b, c->constant ? " constant" : "");
			c = list[i].node != NULL ? c->next : NULL;
		}
		qn_buf_putc(b, '\n');
	}
}

bool
qn_foreign_names_read(qn_reader *r)
{
	const char *node = NULL, *name;

	if (qn_text_peek(&r->text, "%") && !qn_read_name(r, "%", &node))
		return false;
	do {
		if (!qn_read_quoted(r, &name))
			return false;
		qn_model_call(r->m, node, name, qn_text_eat(&r->text, "constant"));
	} while (node != NULL && qn_text_eat(&r->text, ","));
	return true;
}
