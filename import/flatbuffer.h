/* SPDX-License-Identifier: Apache-2.0 */
/* flatbuffer.h - tables in a flatbuffer, read where they lie.
 *
 *   file    u32 offset of the root table, 4 letters that name the kind of file
 *   table   i32 distance back to its vtable, fields
 *   vtable  u16 its own bytes, u16 the table's bytes, u16 place of field 0 in the table (0: absent), …
 *   vector  u32 number of elements, elements; tables and strings as u32 distances
 *
 *   qn_flat f = {.data = bytes, .n = size};
 *   qn_flat_table root = qn_flat_root(&f), graph = qn_flat_table_in(&root, 2);
 *   int64_t axis = qn_flat_int(&graph, 4, QN_FLAT_I32, 1);       1 when the field is absent
 *   if (f.damage != NULL)
 *           …some offset led outside the file
 *
 * Nothing is trusted: each offset is checked where it is followed, numbers need not be aligned, and
 * what cannot be read counts as absent and is noted once in f.damage.  Structures may overlap or
 * lead back to themselves: a reader goes only as deep as the schema, so that does no harm, but it must
 * bound how often it reads one vector. */
#ifndef QN_IMPORT_FLATBUFFER_H
#define QN_IMPORT_FLATBUFFER_H

#include "ir/base.h"

typedef struct qn_flat {
	const uint8_t *data;
	size_t n;           /* bytes */
	const char *damage; /* the first thing that is wrong; NULL: nothing so far */
	size_t damage_at;   /* where */
} qn_flat;

/* at 0: no table; all its fields are absent. */
typedef struct qn_flat_table {
	qn_flat *f;
	size_t at, vtable;
	uint32_t vtable_bytes, bytes;
} qn_flat_table;

/* n elements of the same size from `at` on, all inside the file. */
typedef struct qn_flat_vector {
	qn_flat *f;
	size_t at, n;
	uint32_t each; /* bytes */
} qn_flat_vector;

typedef enum qn_flat_kind {
	QN_FLAT_U8,
	QN_FLAT_I8,
	QN_FLAT_U16,
	QN_FLAT_I16,
	QN_FLAT_U32,
	QN_FLAT_I32,
	QN_FLAT_U64, /* read as i64: offsets and sizes beyond it are none */
	QN_FLAT_I64
} qn_flat_kind;

/* Whether the 4 letters follow the root's offset. */
bool qn_flat_is(const qn_flat *f, const char *letters);
qn_flat_table qn_flat_root(qn_flat *f);

/* Fields of a table, by their number in the schema. */
bool qn_flat_has(const qn_flat_table *t, uint32_t field);
int64_t qn_flat_int(const qn_flat_table *t, uint32_t field, qn_flat_kind kind, int64_t absent);
double qn_flat_real(const qn_flat_table *t, uint32_t field, double absent); /* f32 */
qn_flat_table qn_flat_table_in(const qn_flat_table *t, uint32_t field);
/* each: bytes of an element, 4 for tables and strings. */
qn_flat_vector qn_flat_vector_in(const qn_flat_table *t, uint32_t field, uint32_t each);
/* A string as bytes, not ended by a NUL. */
qn_flat_vector qn_flat_text_in(const qn_flat_table *t, uint32_t field);

/* Element i of a vector; i >= n gives 0 or no table. */
int64_t qn_flat_int_at(const qn_flat_vector *v, size_t i, qn_flat_kind kind);
double qn_flat_real_at(const qn_flat_vector *v, size_t i); /* f32 */
qn_flat_table qn_flat_table_at(const qn_flat_vector *v, size_t i);

#endif
