/* SPDX-License-Identifier: Apache-2.0 */
/* flatbuffer.c - reads flatbuffers with every offset checked (format: google/flatbuffers,
 * "FlatBuffer Internals"). */
#include "import/flatbuffer.h"

#include <string.h>

static void
damaged(qn_flat *f, size_t at, const char *what)
{
	if (f->damage != NULL)
		return;
	f->damage = what;
	f->damage_at = at;
}

/* bytes from `at` on lie inside the file. */
static bool
inside(const qn_flat *f, size_t at, size_t bytes)
{
	return at <= f->n && bytes <= f->n - at;
}

/* Little-endian, unsigned; the caller has looked that it is inside. */
static uint64_t
number(const qn_flat *f, size_t at, uint32_t bytes)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < bytes; i++)
		v |= (uint64_t)f->data[at + i] << (8 * i);
	return v;
}

static uint32_t
kind_bytes(qn_flat_kind kind)
{
	return UINT32_C(1) << ((uint32_t)kind / 2);
}

static int64_t
integer(const qn_flat *f, size_t at, qn_flat_kind kind)
{
	uint32_t bits = 8 * kind_bytes(kind);
	uint64_t v = number(f, at, kind_bytes(kind));

	if (((uint32_t)kind & 1U) != 0 && bits < 64 && (v >> (bits - 1) & 1U) != 0)
		v |= ~UINT64_C(0) << bits;
	return (int64_t)v; /* two's complement, as in all of the library */
}

static double
real(const qn_flat *f, size_t at)
{
	uint32_t bits = (uint32_t)number(f, at, 4);
	float v;

	memcpy(&v, &bits, sizeof v);
	return (double)v;
}

/* The place that the u32 at `at` leads to; 0: none. */
static size_t
follow(qn_flat *f, size_t at)
{
	if (!inside(f, at, 4)) {
		damaged(f, at, "an offset is after the end");
		return 0;
	}
	uint64_t to = at + number(f, at, 4);
	if (to <= at || to >= f->n) {
		damaged(f, at, "an offset is outside the file");
		return 0;
	}
	return (size_t)to;
}

static qn_flat_table
table_of(qn_flat *f, size_t at)
{
	qn_flat_table t = {.f = f}, none = {.f = f};

	if (at == 0)
		return none;
	if (!inside(f, at, 4)) {
		damaged(f, at, "a table is after the end");
		return none;
	}
	int64_t vtable = (int64_t)at - integer(f, at, QN_FLAT_I32);
	if (vtable < 0 || !inside(f, (size_t)vtable, 4)) {
		damaged(f, at, "a table's list of fields is outside the file");
		return none;
	}
	t.at = at;
	t.vtable = (size_t)vtable;
	t.vtable_bytes = (uint32_t)number(f, t.vtable, 2);
	t.bytes = (uint32_t)number(f, t.vtable + 2, 2);
	if (t.vtable_bytes < 4 || !inside(f, t.vtable, t.vtable_bytes) || t.bytes < 4 ||
	    !inside(f, at, t.bytes)) {
		damaged(f, at, "a table goes beyond the end");
		return none;
	}
	return t;
}

bool
qn_flat_is(const qn_flat *f, const char *letters)
{
	return inside(f, 4, 4) && memcmp(f->data + 4, letters, 4) == 0;
}

qn_flat_table
qn_flat_root(qn_flat *f)
{
	return table_of(f, follow(f, 0));
}

/* Where a field of that many bytes lies; 0: absent. */
static size_t
field_at(const qn_flat_table *t, uint32_t field, uint32_t bytes)
{
	size_t slot = 4 + 2 * (size_t)field;

	if (t->at == 0 || slot + 2 > t->vtable_bytes)
		return 0;
	uint32_t place = (uint32_t)number(t->f, t->vtable + slot, 2);
	if (place == 0)
		return 0;
	if (place < 4 || place + bytes > t->bytes) {
		damaged(t->f, t->at, "a field is outside its table");
		return 0;
	}
	return t->at + place;
}

bool
qn_flat_has(const qn_flat_table *t, uint32_t field)
{
	return field_at(t, field, 1) != 0;
}

int64_t
qn_flat_int(const qn_flat_table *t, uint32_t field, qn_flat_kind kind, int64_t absent)
{
	size_t at = field_at(t, field, kind_bytes(kind));

	return at != 0 ? integer(t->f, at, kind) : absent;
}

double
qn_flat_real(const qn_flat_table *t, uint32_t field, double absent)
{
	size_t at = field_at(t, field, 4);

	return at != 0 ? real(t->f, at) : absent;
}

qn_flat_table
qn_flat_table_in(const qn_flat_table *t, uint32_t field)
{
	size_t at = field_at(t, field, 4);

	return table_of(t->f, at != 0 ? follow(t->f, at) : 0);
}

qn_flat_vector
qn_flat_vector_in(const qn_flat_table *t, uint32_t field, uint32_t each)
{
	qn_flat_vector none = {.f = t->f, .each = each}, v = none;
	size_t at = field_at(t, field, 4);

	if (at == 0 || (at = follow(t->f, at)) == 0)
		return none;
	if (!inside(t->f, at, 4)) {
		damaged(t->f, at, "a vector is after the end");
		return none;
	}
	v.n = (size_t)number(t->f, at, 4);
	v.at = at + 4;
	if (v.n > (t->f->n - v.at) / each) {
		damaged(t->f, at, "a vector has more elements than the file has bytes");
		return none;
	}
	return v;
}

qn_flat_vector
qn_flat_text_in(const qn_flat_table *t, uint32_t field)
{
	return qn_flat_vector_in(t, field, 1);
}

int64_t
qn_flat_int_at(const qn_flat_vector *v, size_t i, qn_flat_kind kind)
{
	return i < v->n && v->each == kind_bytes(kind) ? integer(v->f, v->at + i * v->each, kind)
						       : 0;
}

double
qn_flat_real_at(const qn_flat_vector *v, size_t i)
{
	return i < v->n && v->each == 4 ? real(v->f, v->at + i * v->each) : 0.0;
}

qn_flat_table
qn_flat_table_at(const qn_flat_vector *v, size_t i)
{
	return table_of(v->f, i < v->n && v->each == 4 ? follow(v->f, v->at + i * v->each) : 0);
}
