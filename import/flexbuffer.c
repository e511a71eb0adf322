/* SPDX-License-Identifier: Apache-2.0 */
/* flexbuffer.c - see flexbuffer.h. */
#include "import/flexbuffer.h"

#include <string.h>

#include "import/importer.h"
#include "ir/dtypes.h"

/* Kinds of values: in FlexBuffers' order. */
enum {
	FLEX_NULL,
	FLEX_INT,
	FLEX_UINT,
	FLEX_FLOAT,
	FLEX_KEY,
	FLEX_STRING,
	FLEX_INDIRECT_INT,
	FLEX_INDIRECT_UINT,
	FLEX_INDIRECT_FLOAT,
	FLEX_MAP,
	FLEX_VECTOR,
	FLEX_VECTOR_INT,
	FLEX_VECTOR_UINT,
	FLEX_VECTOR_FLOAT,
	FLEX_VECTOR_KEY,
	FLEX_INT_2 = 16, /* 2 integers, unsigned ones, reals; 3 of each, 4 */
	FLEX_FLOAT_4 = 24,
	FLEX_BOOL = 26,
	FLEX_VECTOR_BOOL = 36,
};

/* A value: where it stands, in how many bytes, and what it is. */
typedef struct place {
	size_t at, width;
	unsigned kind;
	size_t inner; /* width of what its offset leads to */
} place;

static bool
fail(qn_flex *f, const char *why)
{
	if (f->why == NULL)
		f->why = why;
	return false;
}

static bool
damaged(qn_flex *f)
{
	return fail(f, "leads outside of the options, which are damaged");
}

static place
place_of(size_t at, size_t width, uint8_t type)
{
	return (place){
		.at = at, .width = width, .kind = type >> 2, .inner = (size_t)1 << (type & 3)};
}

/* Elements and bytes that are read: as many as the options have bytes, unless parts of them overlap. */
static bool
take(qn_flex *f, size_t n)
{
	if (n > f->n - f->taken)
		return damaged(f);
	f->taken += n;
	return true;
}

/* An unsigned number of `width` bytes. */
static bool
number(qn_flex *f, size_t at, size_t width, uint64_t *out)
{
	if (at > f->n || width > f->n - at)
		return damaged(f);
	*out = qn_little_get(f->data + at, width);
	return true;
}

static bool
follow(qn_flex *f, size_t at, size_t width, size_t *out)
{
	uint64_t back = 0;

	if (!number(f, at, width, &back) || back > at)
		return damaged(f);
	*out = at - (size_t)back;
	return true;
}

/* The elements before which their number stands, `each` bytes for one. */
static bool
count(qn_flex *f, size_t at, size_t width, size_t each, size_t *out)
{
	uint64_t n = 0;

	if (at < width || !number(f, at - width, width, &n))
		return damaged(f);
	if (n > (f->n - at) / each)
		return damaged(f);
	*out = (size_t)n;
	return true;
}

/* ---- scalars ---- */

static qn_item
signed_item(uint64_t bits, size_t width)
{
	const uint64_t sign = (uint64_t)1 << (8 * width - 1);

	return qn_item_int(qn_importer_near(width < 8 ? (int64_t)(bits ^ sign) - (int64_t)sign
						      : (int64_t)bits));
}

static bool
real(qn_flex *f, uint64_t bits, size_t width, qn_item *out)
{
	const uint32_t narrow = (uint32_t)bits;
	float single;
	double wide;

	if (width == 4) {
		memcpy(&single, &narrow, sizeof single);
		*out = qn_item_real((double)single);
	} else if (width == 8) {
		memcpy(&wide, &bits, sizeof wide);
		*out = qn_item_real(wide);
	} else {
		return fail(f, "is a number of 8 or 16 bits with a fraction");
	}
	return true;
}

static bool
scalar(qn_flex *f, size_t at, size_t width, unsigned kind, qn_item *out)
{
	uint64_t bits = 0;

	if (!number(f, at, width, &bits))
		return false;
	if (kind == FLEX_FLOAT)
		return real(f, bits, width, out);
	*out = kind == FLEX_INT      ? signed_item(bits, width)
	       : bits > QN_ITEM_MOST ? qn_item_int(QN_ITEM_MOST)
				     : qn_item_int((int64_t)bits);
	return true;
}

static bool
text(qn_flex *f, const place *p, qn_item *out)
{
	size_t at = 0, n = 0;

	if (!follow(f, p->at, p->width, &at))
		return false;
	if (p->kind == FLEX_KEY) {
		const void *end = memchr(f->data + at, '\0', f->n - at);

		if (end == NULL)
			return damaged(f);
		n = (size_t)((const uint8_t *)end - (f->data + at));
	} else if (!count(f, at, p->inner, 1, &n)) {
		return false;
	}
	if (!take(f, n))
		return false;
	*out = qn_item_text(qn_arena_strn(f->a, (const char *)f->data + at, n));
	return true;
}

static bool
simple(qn_flex *f, const place *p, qn_item *out)
{
	size_t at = 0;

	switch (p->kind) {
	case FLEX_NULL:
		*out = (qn_item){0};
		return true;
	case FLEX_INT:
	case FLEX_UINT:
	case FLEX_FLOAT:
	case FLEX_BOOL:
		return scalar(f, p->at, p->width, p->kind, out);
	case FLEX_INDIRECT_INT:
	case FLEX_INDIRECT_UINT:
	case FLEX_INDIRECT_FLOAT:
		return follow(f, p->at, p->width, &at) &&
		       scalar(f, at, p->inner, p->kind - FLEX_INDIRECT_INT + FLEX_INT, out);
	case FLEX_KEY:
	case FLEX_STRING:
		return text(f, p, out);
	default:
		return fail(f, "is neither a number, a text nor a list of such");
	}
}

/* ---- lists ---- */

static bool
is_fixed(unsigned kind)
{
	return kind >= FLEX_INT_2 && kind <= FLEX_FLOAT_4;
}

/* What all elements are; FLEX_VECTOR: each has a type of its own; FLEX_NULL: no list. */
static unsigned
elements(unsigned kind)
{
	if (is_fixed(kind))
		return FLEX_INT + (kind - FLEX_INT_2) % 3;
	switch (kind) {
	case FLEX_VECTOR:
		return FLEX_VECTOR;
	case FLEX_VECTOR_INT:
	case FLEX_VECTOR_UINT:
	case FLEX_VECTOR_FLOAT:
	case FLEX_VECTOR_KEY:
		return kind - FLEX_VECTOR_INT + FLEX_INT;
	case FLEX_VECTOR_BOOL:
		return FLEX_BOOL;
	default:
		return FLEX_NULL;
	}
}

static bool
list(qn_flex *f, const place *p, qn_item *out)
{
	const unsigned kind = elements(p->kind);
	const bool typed = kind != FLEX_VECTOR;
	const size_t width = p->inner;
	size_t at = 0, n = is_fixed(p->kind) ? 2 + (p->kind - FLEX_INT_2) / 3 : 0;

	if (!follow(f, p->at, p->width, &at))
		return false;
	if (!is_fixed(p->kind) && !count(f, at, width, width + !typed, &n))
		return false;
	if (!take(f, n))
		return false;
	qn_item *item = QN_NEW(f->a, qn_item, n + 1);
	for (size_t i = 0; i < n; i++) {
		const uint8_t type = typed ? (uint8_t)(kind << 2) : f->data[at + n * width + i];
		const place e = place_of(at + i * width, width, type);

		if (!simple(f, &e, &item[i]))
			return false;
	}
	*out = qn_item_list(n, item);
	return true;
}

/* ---- the map ---- */

static bool
entry(qn_flex *f, const place *value, const place *key, qn_lib_attr *out)
{
	qn_item name = {0};

	f->key = NULL;
	if (!text(f, key, &name))
		return false;
	f->key = out->name = name.text;
	return elements(value->kind) != FLEX_NULL ? list(f, value, &out->value)
						  : simple(f, value, &out->value);
}

size_t
qn_flex_attributes(qn_flex *f, qn_lib_attr **out)
{
	const size_t width = f->n > 2 ? f->data[f->n - 1] : 0;
	size_t at = 0, n = 0, keys = 0, nkey = 0, found = 0;
	uint64_t key_width = 0;

	*out = NULL;
	if (f->n == 0)
		return 0;
	if (f->n < 3 || width > 8 || (width & (width - 1)) != 0 || width == 0 || width > f->n - 2)
		return (void)damaged(f), 0;
	const place root = place_of(f->n - 2 - width, width, f->data[f->n - 2]);
	if (root.kind != FLEX_MAP)
		return (void)fail(f, "are not a map in the form of FlexBuffers"), 0;
	const size_t each = root.inner;
	if (!follow(f, root.at, width, &at) || at < 3 * each || !count(f, at, each, each + 1, &n) ||
	    !follow(f, at - 3 * each, each, &keys) || !number(f, at - 2 * each, each, &key_width))
		return (void)damaged(f), 0;
	if (key_width == 0 || key_width > 8 || (key_width & (key_width - 1)) != 0 ||
	    !count(f, keys, (size_t)key_width, (size_t)key_width, &nkey) || nkey != n)
		return (void)damaged(f), 0;
	qn_lib_attr *attr = *out = QN_NEW(f->a, qn_lib_attr, n + 1);
	for (size_t i = 0; i < n; i++) {
		const place value = place_of(at + i * each, each, f->data[at + n * each + i]);
		const place key =
			place_of(keys + i * (size_t)key_width, (size_t)key_width, FLEX_KEY << 2);

		if (!entry(f, &value, &key, &attr[found]))
			return 0;
		found += attr[found].value.kind != QN_ITEM_NONE;
	}
	f->key = NULL;
	return found;
}
