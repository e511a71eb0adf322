/* SPDX-License-Identifier: Apache-2.0 */
/* type.c - the table of types; tensor and tuple types.
 *
 *     key { rank, element, dims… }  or  { -2, fields… }  ──▶ one qn_type
 *
 * Elements and fields are interned before, so their addresses stand for them inside a key. */
#include <string.h>

#include "ir/clamp.h"
#include "ir/type_impl.h"

#define MAX_COUNT (INT64_C(1) << 40) /* elements of a tensor that anything is computed for */

static void
maps_of(qn_types *t, qn_map *maps[QN_TYPES_MAPS])
{
	qn_map *const all[QN_TYPES_MAPS] = {
		&t->elems,          &t->types,           &t->scales, &t->params_by_content,
		&t->params_by_name, &t->symbols_by_name, &t->cache};

	memcpy(maps, all, sizeof all);
}

void
qn_types_init(qn_types *t, qn_arena *arena)
{
	qn_map *maps[QN_TYPES_MAPS];

	*t = (qn_types){.arena = arena};
	maps_of(t, maps);
	for (size_t i = 0; i < QN_COUNT(maps); i++)
		qn_map_init(maps[i], arena);
}

qn_types_snapshot
qn_types_save(const qn_types *t, qn_arena *a)
{
	qn_types_snapshot s = {.nsymbol = t->nsymbol, .nparam = t->nparam};
	qn_symbol *symbol = QN_NEW(a, qn_symbol, t->nsymbol);
	qn_types now = *t;
	qn_map *maps[QN_TYPES_MAPS];

	for (size_t i = 0; i < t->nsymbol; i++)
		symbol[i] = *t->symbol[i];
	s.symbol = symbol;
	maps_of(&now, maps);
	for (size_t i = 0; i < QN_COUNT(maps); i++)
		s.count[i] = qn_map_count(maps[i]);
	return s;
}

/* What is interned refers to what was there before it alone, so the table can be cut at any point. */
void
qn_types_restore(qn_types *t, const qn_types_snapshot *s)
{
	qn_map *maps[QN_TYPES_MAPS];

	maps_of(t, maps);
	for (size_t i = 0; i < QN_COUNT(maps); i++)
		qn_map_shrink(maps[i], s->count[i]);
	for (size_t i = 0; i < s->nsymbol; i++)
		*t->symbol[i] = s->symbol[i];
	t->nsymbol = s->nsymbol;
	t->nparam = s->nparam;
}

static const qn_type *
intern(qn_types *t, const uint64_t *key, size_t words, const qn_type *type)
{
	qn_type *found = qn_map_get(&t->types, key, words * sizeof *key);

	if (found != NULL)
		return found;
	found = qn_arena_copy(t->arena, type, sizeof *type);
	if (type->is_tuple)
		found->field = qn_arena_copy(t->arena, (const void *)type->field,
					     type->nfield * sizeof *type->field);
	else if (type->rank > 0)
		found->dim =
			qn_arena_copy(t->arena, type->dim, (size_t)type->rank * sizeof *type->dim);
	qn_map_put(&t->types, key, words * sizeof *key, found);
	return found;
}

/* A rank beyond QN_MAX_RANK is kept (with the first dims), so that qn_type_check can say it. */
const qn_type *
qn_type_tensor(qn_types *t, const qn_elem *e, int32_t rank, const int64_t *dim)
{
	const int32_t n = (int32_t)qn_clamp_i64(rank, 0, QN_MAX_RANK);
	uint64_t key[2 + QN_MAX_RANK];
	qn_type type = {.rank = rank, .dim = dim};

	if (rank > QN_MAX_RANK)
		type.rank = QN_MAX_RANK + 1;
	type.elem = qn_elem_shaped(t, e, rank, dim);
	key[0] = (uint64_t)(int64_t)type.rank;
	key[1] = (uint64_t)(uintptr_t)type.elem;
	if (n > 0)
		memcpy(key + 2, dim, (size_t)n * sizeof *dim);
	else
		type.dim = NULL;
	return intern(t, key, 2 + (size_t)n, &type);
}

const qn_type *
qn_type_plain(qn_types *t, qn_plain p, int32_t rank, const int64_t *dim)
{
	return qn_type_tensor(t, qn_elem_plain(t, p), rank, dim);
}

const qn_type *
qn_type_tuple(qn_types *t, uint32_t n, const qn_type *const *field)
{
	uint64_t few[16];
	uint64_t *key = n < QN_COUNT(few) ? few : QN_NEW(t->arena, uint64_t, (size_t)n + 1);
	const qn_type type = {.is_tuple = true, .rank = -1, .nfield = n, .field = field};

	key[0] = (uint64_t)INT64_C(-2); /* no rank of a tensor */
	for (uint32_t i = 0; i < n; i++)
		key[1 + i] = (uint64_t)(uintptr_t)field[i];
	return intern(t, key, (size_t)n + 1, &type);
}

bool
qn_type_same_shape(const qn_type *a, const qn_type *b)
{
	if (a->rank != b->rank)
		return false;
	for (int32_t i = 0; i < a->rank; i++)
		if (a->dim[i] != b->dim[i])
			return false;
	return true;
}

const qn_type *
qn_type_with_elem(qn_types *t, const qn_type *shape, const qn_elem *e)
{
	return qn_type_tensor(t, e, shape->rank, shape->dim);
}

const qn_type *
qn_type_with_shape(qn_types *t, const qn_type *elem, int32_t rank, const int64_t *dim)
{
	return qn_type_tensor(t, elem->elem, rank, dim);
}

int64_t
qn_type_count(const qn_type *type)
{
	int64_t n = 1;
	bool zero = false;

	if (type->is_tuple || type->rank < 0 || type->rank > QN_MAX_RANK)
		return -1;
	for (int32_t i = 0; i < type->rank; i++) {
		if (type->dim[i] < 0)
			return -1;
		zero = zero || type->dim[i] == 0;
	}
	for (int32_t i = 0; i < type->rank && !zero; i++) {
		if (type->dim[i] > MAX_COUNT / n)
			return -1;
		n *= type->dim[i];
	}
	return zero ? 0 : n;
}

bool
qn_type_is_f32(const qn_type *t)
{
	return !t->is_tuple && t->elem->kind == QN_ELEM_PLAIN && t->elem->plain == QN_PLAIN_f32;
}
