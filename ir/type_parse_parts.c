/* SPDX-License-Identifier: Apache-2.0 */
/* type_parse_parts.c - what element types are written with: storage and expressed type, axes and blocks, the storage of
 * scales and zero points. */
#include <string.h>

#include "ir/type_impl.h"

size_t
qn_parse_word(qn_parser *p, const char **out)
{
	const char *s;

	qn_text_skip(p->text);
	s = *out = p->text->at;
	while (s < p->text->end && ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
				    (*s >= '0' && *s <= '9') || *s == '_'))
		s++;
	return (size_t)(s - *out);
}

bool
qn_is_word(const char *s, size_t n, const char *w)
{
	return n == strlen(w) && memcmp(s, w, n) == 0;
}

qn_plain
qn_plain_named(const char *s, size_t n)
{
	const char *ours = qn_type_of_mlir(s, n);
	size_t i = 0;

	if (ours != NULL)
		return qn_plain_named(ours, strlen(ours));
	while (i < QN_NPLAIN && !qn_is_word(s, n, qn_plain_table[i].name))
		i++;
	return (qn_plain)i;
}

/* The width in "i8" or MLIR's "si8" and "ui8"; -1 when the word is not a storage type.  Saturates at
 * 255, which is refused. */
static int
storage_width(const char *s, size_t n, bool *is_signed)
{
	int v = 0;

	*is_signed = n > 0 && s[0] != 'u';
	if (n > 2 && (s[0] == 's' || s[0] == 'u') && s[1] == 'i') {
		s++;
		n--;
	}
	if (n < 2 || (s[0] != 'i' && s[0] != 'u') || (s[1] == '0' && n > 2))
		return -1;
	for (size_t i = 1; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -1;
		v = v * 10 + (s[i] - '0');
		v = v > 255 ? 255 : v;
	}
	return v;
}

/* The format of this name; QN_SMALL_NONE: it is not one. */
static qn_small_float
small_named(const char *s, size_t n)
{
	for (size_t i = 1; i < QN_NSMALL; i++)
		if (qn_is_word(s, n, qn_small_table[i].name))
			return (qn_small_float)i;
	return QN_SMALL_NONE;
}

/* Floats of few bits, of which constants are stored: all of their bit patterns. */
bool
qn_parse_small_storage(qn_parser *p, qn_elem *d)
{
	const char *s;
	const size_t n = qn_parse_word(p, &s);

	d->small = small_named(s, n);
	if (d->small == QN_SMALL_NONE)
		return false;
	d->bits = qn_small_table[d->small].bits;
	d->is_signed = false;
	qn_storage_range(d->bits, false, &d->qmin, &d->qmax);
	p->text->at += n;
	p->qmin = d->qmin;
	p->qmax = d->qmax;
	return true;
}

qn_status
qn_parse_storage(qn_parser *p, qn_elem *d)
{
	const char *s;
	const size_t n = qn_parse_word(p, &s);
	bool is_signed;
	const int bits = storage_width(s, n, &is_signed);
	qn_where at = p->w;

	at.text = *p->text;
	at.part = p->part;
	if (bits < 0)
		return QN_PARSE_FAIL(p, "type.storage.kind",
				     "expected an integer storage type (i8, u4, …), found %s",
				     qn_parser_found(p));
	d->bits = (uint8_t)bits;
	d->is_signed = is_signed;
	qn_storage_range(bits <= 64 ? d->bits : 0, d->is_signed, &d->qmin, &d->qmax);
	p->text->at += n;
	if (qn_text_eat(p->text, "<")) {
		qn_parser_mark(p, QN_PART_MIN);
		QN_TRY(qn_parser_int(p, "storage minimum", &d->qmin));
		QN_TRY(qn_parser_expect(p, ":"));
		qn_parser_mark(p, QN_PART_MAX);
		QN_TRY(qn_parser_int(p, "storage maximum", &d->qmax));
		QN_TRY(qn_parser_expect(p, ">"));
	}
	p->qmin = d->qmin;
	p->qmax = d->qmax;
	return qn_elem_check_storage(&at, d);
}

qn_status
qn_parse_float_type(qn_parser *p, qn_elem *d)
{
	const char *s;
	const size_t n = qn_parse_word(p, &s);
	const qn_plain plain = qn_plain_named(s, n);

	if (plain == QN_NPLAIN || !qn_plain_table[plain].is_float)
		return QN_PARSE_FAIL(p, "type.expressed",
				     "expected f16, bf16, f32 or f64 as expressed type, found %s",
				     qn_parser_found(p));
	p->text->at += n;
	d->has_expressed = true;
	d->expressed = p->expressed = plain;
	return QN_OK;
}

static qn_status
axis_number(qn_parser *p, int32_t *out)
{
	int64_t v;
	qn_text start = *p->text;

	QN_TRY(qn_parser_int(p, "axis", &v));
	if (v < INT32_MIN || v > INT32_MAX) {
		*p->text = start;
		return QN_PARSE_FAIL(p, "type.literal", "axis %lld is out of range", (long long)v);
	}
	*out = (int32_t)v;
	return QN_OK;
}

qn_status
qn_parse_blocks(qn_parser *p, qn_elem *d, int32_t *axis, int64_t *block)
{
	d->gran = QN_SUB_CHANNEL;
	if (!qn_text_eat(p->text, "}")) {
		do {
			if (d->naxis > QN_MAX_RANK)
				return QN_PARSE_FAIL(p, "type.rank", "more than %d blocked axes",
						     QN_MAX_RANK);
			qn_parser_mark(p, QN_PART_AXIS + d->naxis);
			QN_TRY(axis_number(p, &axis[d->naxis]));
			QN_TRY(qn_parser_expect(p, ":"));
			qn_parser_mark(p, QN_PART_BLOCK + d->naxis);
			QN_TRY(qn_parser_int(p, "block size", &block[d->naxis]));
			d->naxis++;
		} while (qn_text_eat(p->text, ","));
		QN_TRY(qn_parser_expect(p, "}"));
	}
	d->partial = qn_text_eat(p->text, "+");
	return QN_OK;
}

qn_status
qn_parse_granularity(qn_parser *p, qn_elem *d, int32_t *axis, int64_t *block)
{
	d->axis = axis;
	d->block = block;
	if (qn_text_eat(p->text, "{"))
		return qn_parse_blocks(p, d, axis, block);
	d->gran = QN_PER_AXIS;
	d->naxis = 1;
	qn_parser_mark(p, QN_PART_AXIS);
	return axis_number(p, axis);
}

/* Puts the places of axes and blocks into the order of the axes, as the element has them. */
void
qn_parser_sort_parts(qn_parser *p, qn_elem *d, int32_t *axis)
{
	for (int32_t i = 1; i < d->naxis; i++) {
		for (int32_t k = i; k > 0 && axis[k - 1] > axis[k]; k--) {
			const char **a = &p->part[QN_PART_AXIS + k],
				   **b = &p->part[QN_PART_BLOCK + k];
			const char *const above[] = {a[0], b[0]};
			const int32_t number = axis[k];

			axis[k] = axis[k - 1];
			axis[k - 1] = number;
			a[0] = a[-1];
			b[0] = b[-1];
			a[-1] = above[0];
			b[-1] = above[1];
		}
	}
}

/* Of a format of scales, or the expressed type's, at the position; false: none is there. */
static bool
scale_format(qn_parser *p, qn_elem *d)
{
	const char *s;
	const size_t n = qn_parse_word(p, &s);
	bool found = qn_is_word(s, n, qn_plain_table[d->expressed].name);

	for (size_t i = 1; i < QN_NSCALE_STORAGE && !found; i++)
		if (qn_is_word(s, n, qn_scale_storage_names[i])) {
			d->scale_as = (qn_scale_storage)i;
			found = true;
		}
	if (found)
		p->text->at += n;
	return found;
}

/* ".16" after the storage of zero points: bits of their fractions. */
static qn_status
zero_point_fraction(qn_parser *p, qn_elem *d)
{
	int64_t bits;

	if (!qn_text_eat(p->text, "."))
		return QN_OK;
	QN_TRY(qn_parser_int(p, "bits of a fraction", &bits));
	if (bits < 1 || bits > QN_ZP_FRACTION_MOST)
		return QN_PARSE_FAIL(
			p, "type.zp.fraction",
			"zero points with fractions of %lld bits; 1 to %d are possible",
			(long long)bits, QN_ZP_FRACTION_MOST);
	d->zp_fraction = (uint8_t)bits;
	return QN_OK;
}

/* "f16:u4" before the parameters: how scales and zero points are stored; "f32:i64.40": with fractions. */
qn_status
qn_parse_stored_as(qn_parser *p, qn_elem *d)
{
	qn_elem zp = {0};
	const char *s;

	if (!scale_format(p, d) || !qn_text_eat(p->text, ":"))
		return QN_OK;
	const size_t n = qn_parse_word(p, &s);
	const int bits = storage_width(s, n, &zp.is_signed);
	if (bits < 1 || (bits > 32 && (bits != 64 || !zp.is_signed)))
		return QN_PARSE_FAIL(p, bits < 0 ? "type.storage.kind" : "type.storage.width",
				     "expected the storage of zero points, an integer of 1 to 32 "
				     "bits or i64 (u4, i8, …), found %s",
				     qn_parser_found(p));
	d->zp_bits = (uint8_t)bits;
	d->zp_signed = zp.is_signed;
	p->text->at += n;
	QN_TRY(zero_point_fraction(p, d));
	if (d->zp_bits == d->bits && d->zp_signed == d->is_signed && d->zp_fraction == 0)
		d->zp_bits = d->zp_signed = 0; /* as they are anyway */
	return QN_OK;
}
