/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_sparse.c - constants of which only parts are stored.
 *
 *   traversal_order   the order in which dimensions are nested, those of the blocks last
 *   block_map         which dimension block dimension i belongs to
 *   dimensions        each dense (all indices) or compressed: segments [0, 2, 3] and
 *                     indices [0, 3, 1] hold indices 0 and 3 in row 0, 1 in row 1
 *
 *   order [0,1,2,3], map [0,1], blocks of 1x4, data …       4x4 of the values of 16 blocks
 *
 * (SparsityParameters of the schema; the layout of the TACO compiler's papers.) */
#include "import/tflite.h"

#include <string.h>

enum { MOST_LEVELS = 2 * QN_MAX_RANK, SPARSE_CSR = 1 };

typedef struct level {
	bool compressed;
	int64_t size;   /* of a dense one */
	int32_t dim;    /* of the tensor */
	int64_t stride; /* what one step of its index adds to the index of dim */
	qn_flat_vector segments, indices;
	qn_flat_kind segment_kind, index_kind;
} level;

typedef struct walk {
	qn_tfl *f;
	const qn_tfl_tensor *t;
	int32_t nlevel;
	level level[MOST_LEVELS];
	int64_t index[QN_MAX_RANK];
	const char *data;
	size_t n, next, each; /* values; the next one; bytes of one */
	char *out;
	bool bad;
} walk;

/* Int32Vector 1, Uint16Vector 2, Uint8Vector 3: tables whose field 0 is the vector. */
static bool
index_vector(const qn_flat_table *dim, uint32_t type_field, qn_flat_vector *v, qn_flat_kind *kind)
{
	static const qn_flat_kind kinds[] = {QN_FLAT_I32, QN_FLAT_I32, QN_FLAT_U16, QN_FLAT_U8};
	static const uint32_t bytes[] = {4, 4, 2, 1};
	int64_t type = qn_flat_int(dim, type_field, QN_FLAT_U8, 0);
	qn_flat_table t = qn_flat_table_in(dim, type_field + 1);

	if (type < 1 || type > 3)
		return false;
	*kind = kinds[type];
	*v = qn_flat_vector_in(&t, 0, bytes[type]);
	return true;
}

static bool
read_level(const qn_flat_table *dim, level *l)
{
	l->compressed =
		qn_flat_int(dim, QN_TFL_FIELD_sparse_dim_format, QN_FLAT_I8, 0) == SPARSE_CSR;
	l->size = qn_flat_int(dim, QN_TFL_FIELD_sparse_dim_dense_size, QN_FLAT_I32, 0);
	if (!l->compressed)
		return l->size > 0;
	return index_vector(dim, QN_TFL_FIELD_sparse_dim_segments_type, &l->segments,
			    &l->segment_kind) &&
	       index_vector(dim, QN_TFL_FIELD_sparse_dim_indices_type, &l->indices, &l->index_kind);
}

/* Which dimension each level runs along, and by how much; blocks are dense. */
static bool
read_levels(walk *w, const qn_flat_table *s)
{
	qn_flat_vector order = qn_flat_vector_in(s, QN_TFL_FIELD_sparsity_traversal_order, 4);
	qn_flat_vector map = qn_flat_vector_in(s, QN_TFL_FIELD_sparsity_block_map, 4);
	qn_flat_vector dims = qn_flat_vector_in(s, QN_TFL_FIELD_sparsity_dims, 4);
	int64_t block[QN_MAX_RANK];
	uint32_t seen = 0;

	if (dims.n != order.n || map.n > (size_t)w->t->rank ||
	    order.n != (size_t)w->t->rank + map.n || order.n > MOST_LEVELS)
		return false;
	w->nlevel = (int32_t)order.n;
	for (int32_t i = 0; i < QN_MAX_RANK; i++)
		block[i] = 1;
	for (int32_t i = w->nlevel - 1; i >= 0; i--) {
		qn_flat_table dim = qn_flat_table_at(&dims, (size_t)i);
		int64_t k = qn_flat_int_at(&order, (size_t)i, QN_FLAT_I32);
		level *l = &w->level[i];

		if (k < 0 || k >= w->nlevel || (seen >> k & 1U) != 0 || !read_level(&dim, l))
			return false;
		seen |= 1U << k;
		bool is_block = k >= w->t->rank;
		if (is_block && l->compressed)
			return false;
		int64_t d =
			is_block ? qn_flat_int_at(&map, (size_t)(k - w->t->rank), QN_FLAT_I32) : k;
		if (d < 0 || d >= w->t->rank || (is_block && i < w->t->rank) ||
		    (is_block && block[d] != 1))
			return false;
		l->dim = (int32_t)d;
		l->stride = is_block ? 1 : block[d];
		if (is_block)
			block[d] = l->size;
	}
	return true;
}

static void
put(walk *w)
{
	int64_t at = 0;

	for (int32_t i = 0; i < w->t->rank; i++) {
		if (w->index[i] < 0 || w->index[i] >= w->t->dim[i]) {
			w->bad = true;
			return;
		}
		at = at * w->t->dim[i] + w->index[i];
	}
	if (w->next == w->n) {
		w->bad = true;
		return;
	}
	memcpy(w->out + (size_t)at * w->each, w->data + w->next++ * w->each, w->each);
}

static void descend(walk *w, int32_t depth, int64_t position);

static void
step(walk *w, int32_t depth, int64_t index, int64_t position)
{
	level *l = &w->level[depth];
	int64_t before = w->index[l->dim];

	w->index[l->dim] = before + index * l->stride;
	descend(w, depth + 1, position);
	w->index[l->dim] = before;
}

/* position: how many nodes of this level stand before. Each way down ends in a value or in an empty
 * segment, so steps are bounded by values and dense sizes, which the tensor's bound. */
static void
descend(walk *w, int32_t depth, int64_t position)
{
	if (w->bad)
		return;
	if (depth == w->nlevel) {
		put(w);
		return;
	}
	const level *l = &w->level[depth];
	if (!l->compressed) {
		w->bad = l->size > w->t->dim[l->dim];
		for (int64_t i = 0; i < l->size && !w->bad; i++)
			step(w, depth, i, position * l->size + i);
		return;
	}
	int64_t first = qn_flat_int_at(&l->segments, (size_t)position, l->segment_kind);
	int64_t last = qn_flat_int_at(&l->segments, (size_t)position + 1, l->segment_kind);
	if ((size_t)position + 1 >= l->segments.n || first < 0 || last < first ||
	    (size_t)last > l->indices.n)
		w->bad = true;
	for (int64_t i = first; i < last && !w->bad; i++)
		step(w, depth, qn_flat_int_at(&l->indices, (size_t)i, l->index_kind), i);
}

const void *
qn_tfl_dense_bytes(qn_tfl *f, const qn_tfl_tensor *t, const qn_flat_table *sparsity,
		   const void *data, size_t bytes, size_t each, int64_t count)
{
	walk *w = QN_NEW(f->im.scratch, walk, 1);

	*w = (walk){.f = f, .t = t, .data = data, .n = bytes / each, .each = each};
	if (!qn_tfl_take(f, (uint64_t)count * each))
		return NULL;
	w->out = QN_NEW(f->im.m->arena, char, (size_t)count *each + 1);
	if (!read_levels(w, sparsity))
		w->bad = true;
	descend(w, 0, 0);
	if (!w->bad && w->next == w->n)
		return w->out;
	(void)qn_importer_refuse(
		&f->im, "import.type",
		"tensor '%s' has a sparse storage that does not match its shape; store it densely",
		t->name);
	return NULL;
}
