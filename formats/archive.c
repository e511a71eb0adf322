/* SPDX-License-Identifier: Apache-2.0 */
/* archive.c - see archive.h. */
#include "formats/archive.h"

#include <stdint.h>
#include <string.h>

void
qn_archive_init(qn_archive_data *d, qn_arena *a, const char *format, const char *place)
{
	*d = (qn_archive_data){.arena = a, .format = format, .place = place};
	qn_map_init(&d->names, a);
	qn_map_init(&d->keys, a);
}

/* An index as the value of a map, which is not NULL. */
static void *
stored_index(size_t i)
{
	return (void *)(uintptr_t)(i + 1);
}

static size_t
index_of(const qn_map *m, const char *key)
{
	return (size_t)(uintptr_t)qn_map_gets(m, key);
}

bool
qn_archive_put(qn_archive_data *d, const char *name, const qn_layout_tensor *t)
{
	if (index_of(&d->names, name) != 0)
		return false;
	d->tensor = qn_arena_grow(d->arena, d->tensor, &d->cap, d->n + 1, sizeof *d->tensor);
	d->tensor[d->n] = (qn_named_tensor){.name = qn_arena_str(d->arena, name), .t = *t};
	qn_map_puts(&d->names, name, stored_index(d->n));
	d->n++;
	return true;
}

void
qn_archive_set(qn_archive_data *d, const qn_property *p)
{
	const size_t i = index_of(&d->keys, p->key);

	if (i != 0) {
		const char *key = d->property[i - 1].key;

		d->property[i - 1] = *p;
		d->property[i - 1].key = key; /* that of p need not live on */
		return;
	}
	d->property = qn_arena_grow(d->arena, d->property, &d->property_cap, d->nproperty + 1,
				    sizeof *d->property);
	d->property[d->nproperty] = *p;
	d->property[d->nproperty].key = qn_arena_str(d->arena, p->key);
	qn_map_puts(&d->keys, p->key, stored_index(d->nproperty));
	d->nproperty++;
}

const qn_named_tensor *
qn_archive_named(const qn_archive_data *d, const char *name)
{
	const size_t i = index_of(&d->names, name);

	return i != 0 ? &d->tensor[i - 1] : NULL;
}

const qn_property *
qn_archive_value(const qn_archive_data *d, const char *key)
{
	const size_t i = index_of(&d->keys, key);

	return i != 0 ? &d->property[i - 1] : NULL;
}

const char *
qn_archive_at(qn_arena *a, const char *place, const char *what, const char *name)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, "%s: %s '%s'", place, what, name);
	return qn_buf_str(&b);
}

qn_named_tensor *
qn_archive_change(qn_archive_data *d, const char *name)
{
	const size_t i = index_of(&d->names, name);

	return i != 0 ? &d->tensor[i - 1] : NULL;
}
