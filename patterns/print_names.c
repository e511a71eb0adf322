/* SPDX-License-Identifier: Apache-2.0 */
/* print_names.c - see print_names.h. */
#include "patterns/print_names.h"

#include <string.h>

#include "ir/buf.h"

typedef struct place {
	const qn_pat *pat;
	const qn_pattern *hole;
} place;

typedef struct places {
	qn_map *count;
	qn_arena *arena;
	place *todo;
	size_t n, cap;
} places;

/* Counts a place of p, and looks at its parts the first time. */
static void
count(places *list, const qn_pat *p, const qn_pattern *hole)
{
	const qn_pattern *node = qn_pattern_of(p);

	if (node == hole)
		return;
	uint32_t *n = qn_map_get(list->count, &node, sizeof node);
	if (n != NULL) {
		++*n;
		return;
	}
	n = QN_NEW(list->arena, uint32_t, 1);
	*n = 1;
	qn_map_put(list->count, &node, sizeof node, n);
	list->todo =
		qn_arena_grow(list->arena, list->todo, &list->cap, list->n + 1, sizeof *list->todo);
	list->todo[list->n++] = (place){p, hole};
}

void
qn_pattern_places(const qn_pattern *root, qn_arena *a, qn_map *out)
{
	places list = {.count = out, .arena = a};

	qn_map_init(out, a);
	count(&list, &root->pat, NULL);
	while (list.n > 0) {
		place at = list.todo[--list.n];
		const qn_pat *p = at.pat;
		const qn_pattern *hole =
			qn_pattern_of(p)->optional ? qn_pattern_of(p->arg[0]) : at.hole;

		for (int i = 0; i < p->narg; i++)
			count(&list, p->arg[i], i > 0 ? hole : at.hole);
		if (p->kind != QN_PAT_FUNCTION)
			continue;
		for (int i = 0; i < p->test->nparam; i++)
			count(&list, p->test->param[i], at.hole);
		count(&list, p->test->body, at.hole);
	}
}

const char *
qn_pattern_print_name(const qn_map *by, const qn_pattern *p, qn_arena *a)
{
	const char *name = qn_pattern_slot_name(p);
	const uint32_t *n = qn_map_get(by, &p, sizeof p);
	qn_buf b;

	if (name != NULL || p->pat.slot == QN_NO_SLOT || n == NULL || *n < 2)
		return name;
	qn_buf_init(&b, a);
	qn_buff(&b, "slot%d", p->pat.slot);
	for (size_t i = 0; i < p->set->nslot;)
		if (p->set->name[i] != NULL && strcmp(p->set->name[i], qn_buf_str(&b)) == 0) {
			qn_buf_putc(&b, '_');
			i = 0;
		} else {
			i++;
		}
	return qn_buf_str(&b);
}
