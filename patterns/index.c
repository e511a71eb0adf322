/* SPDX-License-Identifier: Apache-2.0 */
/* index.c - see index.h.
 *
 * The dominator of a value is the nearest common ancestor, in the tree of dominators, of its users.
 * Users have larger ids, so one walk from the last node down finds them all; jump pointers (each
 * node knows one far ancestor, chosen so that any is reached in O(log n) jumps) keep deep trees
 * cheap. */
#include "patterns/index.h"

#include <string.h>

/* Node n of the tree, after all values: everything outside of the graph. */
static void
hang(qn_index *ix, qn_id id, qn_id above)
{
	qn_id far = ix->jump[above];

	ix->above[id] = above;
	ix->depth[id] = ix->depth[above] + 1;
	ix->jump[id] =
		ix->depth[above] - ix->depth[far] == ix->depth[far] - ix->depth[ix->jump[far]]
			? ix->jump[far]
			: above;
}

/* The ancestor of id at this depth, which is not below id. */
static qn_id
climb(const qn_index *ix, qn_id id, uint32_t depth)
{
	while (ix->depth[id] > depth)
		id = ix->depth[ix->jump[id]] >= depth ? ix->jump[id] : ix->above[id];
	return id;
}

static qn_id
common(const qn_index *ix, qn_id a, qn_id b)
{
	a = climb(ix, a, ix->depth[b]);
	b = climb(ix, b, ix->depth[a]);
	while (a != b) {
		bool far = ix->jump[a] != ix->jump[b];

		a = far ? ix->jump[a] : ix->above[a];
		b = far ? ix->jump[b] : ix->above[b];
	}
	return a;
}

void
qn_index_init(qn_index *ix, qn_arena *arena, const qn_graph *g)
{
	*ix = (qn_index){.g = g, .n = g->n, .arena = arena};
	ix->live = QN_NEW(arena, bool, g->n);
	ix->uses = QN_NEW(arena, uint32_t, g->n);
	for (size_t i = 0; i < g->noutput; i++) {
		ix->live[g->output[i].value] = true;
		ix->uses[g->output[i].value]++;
	}
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);

		for (uint32_t i = 0; ix->live[id] && i < n->nin; i++) {
			ix->live[n->in[i]] = true;
			ix->uses[n->in[i]]++;
		}
	}
}

static void
find_dominators(qn_index *ix)
{
	const qn_graph *g = ix->g;
	const qn_id outside = ix->n;
	qn_id *next = QN_NEW(ix->arena, qn_id, ix->n + 1); /* common ancestor of the users so far */

	ix->above = QN_NEW(ix->arena, qn_id, ix->n + 1);
	ix->jump = QN_NEW(ix->arena, qn_id, ix->n + 1);
	ix->depth = QN_NEW(ix->arena, uint32_t, ix->n + 1);
	ix->above[outside] = ix->jump[outside] = outside;
	for (size_t i = 0; i < g->noutput; i++)
		next[g->output[i].value] = outside;
	for (qn_id id = ix->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);

		if (!ix->live[id])
			continue;
		hang(ix, id, next[id]);
		for (uint32_t i = 0; i < n->nin; i++) {
			qn_id *at = &next[n->in[i]];

			*at = *at == 0 ? id : common(ix, *at, id);
		}
	}
}

bool
qn_index_dominates(qn_index *ix, qn_id a, qn_id b)
{
	if (ix->above == NULL)
		find_dominators(ix);
	return ix->live[a] && ix->live[b] && ix->depth[a] < ix->depth[b] &&
	       climb(ix, b, ix->depth[a]) == a;
}

/* ---- numbers ---- */

void
qn_numbers_init(qn_numbers *t, qn_arena *arena)
{
	*t = (qn_numbers){.arena = arena};
	qn_map_init(&t->seen, arena);
	qn_buf_init(&t->key, arena);
}

/* The first constant of equal type and bytes: keys are found by checksum, then compared. */
static const qn_tensor *
first_equal(qn_numbers *t, const qn_tensor *x)
{
	uint32_t key[2] = {qn_crc32(0, x->data, x->bytes), 0};
	qn_tensor *first;

	for (; (first = qn_map_get(&t->seen, key, sizeof key)) != NULL; key[1]++)
		if (first->bytes == x->bytes && first->layout == x->layout &&
		    (x->bytes == 0 || memcmp(first->data, x->data, x->bytes) == 0))
			return first;
	first = qn_arena_copy(t->arena, x, sizeof *x);
	qn_map_put(&t->seen, key, sizeof key, first);
	return first;
}

uint32_t
qn_numbers_of(qn_numbers *t, const qn_node *n, const uint32_t *in)
{
	const qn_attr_set_info *set = qn_opinfo_of(n)->attrs;
	qn_buf *b = &t->key;

	b->n = 0;
	qn_buff(b, "%s(", qn_opinfo_of(n)->name);
	for (uint32_t i = 0; i < n->nin; i++)
		qn_buff(b, "%u,", in[i]);
	for (size_t i = 0; i < set->nattr && n->attr != NULL; i++) {
		qn_buf_putc(b, ';');
		qn_attr_print(b, &set->attr[i], n->attr);
	}
	qn_buf_putc(b, ':');
	qn_type_print(b, n->type);
	if (n->op == QN_OP_input)
		qn_buff(b, "=%s", n->name);
	if (n->callee != NULL)
		qn_buf_put(b, (const char *)&n->callee, sizeof n->callee);
	if (n->value != NULL) {
		const qn_tensor *first = first_equal(t, n->value);

		qn_buf_put(b, (const char *)&first, sizeof first);
	}
	uint32_t *number = qn_map_get(&t->seen, b->data, b->n);
	if (number == NULL) {
		number = QN_NEW(t->arena, uint32_t, 1);
		*number = ++t->last;
		qn_map_put(&t->seen, b->data, b->n, number);
	}
	return *number;
}

const uint32_t *
qn_index_numbers(qn_index *ix, qn_numbers *t)
{
	if (ix->number != NULL)
		return ix->number;
	uint32_t *in = NULL;
	size_t cap = 0;

	ix->number = QN_NEW(ix->arena, uint32_t, ix->n);
	for (qn_id id = 1; id < ix->n; id++) {
		const qn_node *n = qn_graph_node(ix->g, id);

		in = qn_arena_grow(ix->arena, in, &cap, n->nin, sizeof *in);
		for (uint32_t i = 0; i < n->nin; i++)
			in[i] = ix->number[n->in[i]];
		ix->number[id] = qn_numbers_of(t, n, in);
	}
	return ix->number;
}
