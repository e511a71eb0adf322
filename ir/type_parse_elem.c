/* SPDX-License-Identifier: Apache-2.0 */
/* type_parse_elem.c - element types from text.
 *
 *     elem := PLAIN | "!quant.any<" … | "!quant.calibrated<" … | "!quant.uniform<" … | "!quant.super<" … */
#include <string.h>

#include "ir/nearest.h"
#include "ir/type_impl.h"

/* Letters, digits and underscores at the position; not past them. */
static size_t
word(qn_parser *p, const char **out)
{
	const char *s;

	qn_text_skip(p->text);
	s = *out = p->text->at;
	while (s < p->text->end && ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
				    (*s >= '0' && *s <= '9') || *s == '_'))
		s++;
	return (size_t)(s - *out);
}

static bool
is_word(const char *s, size_t n, const char *w)
{
	return n == strlen(w) && memcmp(s, w, n) == 0;
}

/* The plain type of this name, QN_NPLAIN when there is none. */
static qn_plain
plain_named(const char *s, size_t n)
{
	const char *ours = qn_type_of_mlir(s, n);
	size_t i = 0;

	if (ours != NULL)
		return plain_named(ours, strlen(ours));
	while (i < QN_NPLAIN && !is_word(s, n, qn_plain_table[i].name))
		i++;
	return (qn_plain)i;
}

/* ---- storage, expressed type, granularity ---- */

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
		if (is_word(s, n, qn_small_table[i].name))
			return (qn_small_float)i;
	return QN_SMALL_NONE;
}

/* Floats of few bits, of which constants are stored: all of their bit patterns. */
static bool
small_storage(qn_parser *p, qn_elem *d)
{
	const char *s;
	const size_t n = word(p, &s);

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

static qn_status
storage(qn_parser *p, qn_elem *d)
{
	const char *s;
	const size_t n = word(p, &s);
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

static qn_status
float_type(qn_parser *p, qn_elem *d)
{
	const char *s;
	const size_t n = word(p, &s);
	const qn_plain plain = plain_named(s, n);

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

/* axis and block have room for QN_MAX_RANK + 1: the one too many is refused with the type. */
static qn_status
blocks(qn_parser *p, qn_elem *d, int32_t *axis, int64_t *block)
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

static qn_status
granularity(qn_parser *p, qn_elem *d, int32_t *axis, int64_t *block)
{
	d->axis = axis;
	d->block = block;
	if (qn_text_eat(p->text, "{"))
		return blocks(p, d, axis, block);
	d->gran = QN_PER_AXIS;
	d->naxis = 1;
	qn_parser_mark(p, QN_PART_AXIS);
	return axis_number(p, axis);
}

/* Puts the places of axes and blocks into the order of the axes, as the element has them. */
static void
sort_parts(qn_parser *p, qn_elem *d, int32_t *axis)
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
	const size_t n = word(p, &s);
	bool found = is_word(s, n, qn_plain_table[d->expressed].name);

	for (size_t i = 1; i < QN_NSCALE_STORAGE && !found; i++)
		if (is_word(s, n, qn_scale_storage_names[i])) {
			d->scale_as = (qn_scale_storage)i;
			found = true;
		}
	if (found)
		p->text->at += n;
	return found;
}

/* "f16:u4" before the parameters: how scales and zero points are stored. */
static qn_status
stored_as(qn_parser *p, qn_elem *d)
{
	qn_elem zp = {0};
	const char *s;

	if (!scale_format(p, d) || !qn_text_eat(p->text, ":"))
		return QN_OK;
	const size_t n = word(p, &s);
	const int bits = storage_width(s, n, &zp.is_signed);
	if (bits < 1 || bits > 32)
		return QN_PARSE_FAIL(p, bits < 0 ? "type.storage.kind" : "type.storage.width",
				     "expected the storage of zero points, an integer of 1 to 32 "
				     "bits (u4, i8, …), found %s",
				     qn_parser_found(p));
	d->zp_bits = (uint8_t)bits;
	d->zp_signed = zp.is_signed;
	if (d->zp_bits == d->bits && d->zp_signed == d->is_signed)
		d->zp_bits = d->zp_signed = 0; /* as they are anyway */
	p->text->at += n;
	return QN_OK;
}

/* ---- bodies ---- */

static qn_status
uniform_body(qn_parser *p, qn_where *start, const qn_elem **out)
{
	int32_t axis[QN_MAX_RANK + 1];
	int64_t block[QN_MAX_RANK + 1];
	qn_elem d = {.kind = QN_ELEM_UNIFORM};

	if (!small_storage(p, &d))
		QN_TRY(storage(p, &d));
	QN_TRY(qn_parser_expect(p, ":"));
	QN_TRY(float_type(p, &d));
	if (qn_text_eat(p->text, ":"))
		QN_TRY(granularity(p, &d, axis, block));
	QN_TRY(qn_parser_expect(p, ","));
	p->gran = d.gran;
	QN_TRY(stored_as(p, &d));
	qn_parser_mark(p, QN_PART_SCALE);
	QN_TRY(qn_parse_scale(p, &d.scale));
	if (qn_text_eat(p->text, ":")) {
		qn_parser_mark(p, QN_PART_ZP);
		if (qn_text_eat(p->text, "$"))
			QN_TRY(qn_parse_symbol(p, &d.zp_sym));
		else
			QN_TRY(qn_parser_int(p, "zero point", &d.zp));
	}
	if (p->part[QN_PART_ZP] == NULL) /* a 0 that the range does not have */
		p->part[QN_PART_ZP] = p->part[QN_PART_SCALE];
	QN_TRY(qn_parser_expect(p, ">"));
	QN_TRY(qn_elem_make_at(p->t, start, &d, out));
	sort_parts(p, &d, axis);
	return QN_OK;
}

static qn_status
any_body(qn_parser *p, qn_where *start, const qn_elem **out)
{
	qn_elem d = {.kind = QN_ELEM_ANY};

	QN_TRY(storage(p, &d));
	if (qn_text_eat(p->text, ":"))
		QN_TRY(float_type(p, &d));
	QN_TRY(qn_parser_expect(p, ">"));
	return qn_elem_make_at(p->t, start, &d, out);
}

static qn_status
calibrated_bound(qn_parser *p, double *out)
{
	if (qn_text_real(p->text, true, out))
		return QN_OK;
	return QN_PARSE_FAIL(p, "type.literal", "expected a number with a point (6.0), found %s",
			     qn_parser_found(p));
}

static qn_status
calibrated_body(qn_parser *p, qn_where *start, const qn_elem **out)
{
	qn_elem d = {.kind = QN_ELEM_CALIBRATED};

	QN_TRY(float_type(p, &d));
	QN_TRY(qn_parser_expect(p, "<"));
	qn_parser_mark(p, QN_PART_MIN);
	QN_TRY(calibrated_bound(p, &d.cal_min));
	QN_TRY(qn_parser_expect(p, ":"));
	QN_TRY(calibrated_bound(p, &d.cal_max));
	QN_TRY(qn_parser_expect(p, ">"));
	QN_TRY(qn_parser_expect(p, ">"));
	return qn_elem_make_at(p->t, start, &d, out);
}

/* The super-blocks of each axis, which must be those of the parameters. */
static qn_status
check_super(qn_parser *p, const qn_elem *d, const qn_elem *s, const qn_params *v)
{
	for (int32_t i = 0; i < d->naxis; i++) {
		const int32_t axis = d->axis[i];
		int64_t block = d->block[i];

		for (int32_t k = 0; k < s->naxis; k++)
			if (s->axis[k] == axis)
				block = s->block[k];
		if (axis < 0 || axis >= v->rank || d->block[i] < 1 ||
		    v->shape[axis] / v->super->shape[axis] * d->block[i] != block)
			return QN_PARSE_FAIL(p, "type.super.block",
					     "the super-blocks of axis %d are not those of @%s",
					     axis, v->name);
	}
	for (int32_t k = 0; k < s->naxis; k++) {
		bool listed = false;

		for (int32_t i = 0; i < d->naxis; i++)
			listed = listed || d->axis[i] == s->axis[k];
		if (!listed)
			return QN_PARSE_FAIL(p, "type.super.block",
					     "axis %d has super-blocks, but no blocks", s->axis[k]);
	}
	return QN_OK;
}

/* ", u6 {1:256}, @NAME", after the blocks. */
static qn_status
super_params(qn_parser *p, const qn_elem *d, const qn_params **out)
{
	int32_t axis[QN_MAX_RANK + 1] = {0};
	int64_t block[QN_MAX_RANK + 1];
	qn_elem s = {.axis = axis, .block = block};
	qn_scale const *scale = NULL;

	QN_TRY(qn_parser_expect(p, ","));
	qn_text_skip(p->text);
	const qn_text start = *p->text;
	QN_TRY(storage(p, &s));
	QN_TRY(qn_parser_expect(p, "{"));
	QN_TRY(blocks(p, &s, axis, block));
	QN_TRY(qn_parser_expect(p, ","));
	qn_parser_mark(p, QN_PART_SCALE);
	const qn_text name = *p->text;
	QN_TRY(qn_parse_named(p, &scale));
	if (scale->vec->super == NULL || s.is_signed || s.bits != scale->vec->super->bits) {
		*p->text = scale->vec->super == NULL ? name : start;
		return QN_PARSE_FAIL(p, "type.super.value",
				     "the scales of @%s are not u%d times those of super-blocks",
				     scale->vec->name != NULL ? scale->vec->name : "", s.bits);
	}
	QN_TRY(check_super(p, d, &s, scale->vec));
	*out = scale->vec;
	return QN_OK;
}

static qn_status
super_body(qn_parser *p, qn_where *start, const qn_elem **out)
{
	int32_t axis[QN_MAX_RANK + 1];
	int64_t block[QN_MAX_RANK + 1];
	qn_elem d = {.kind = QN_ELEM_UNIFORM, .axis = axis, .block = block};
	const qn_params *v = NULL;

	QN_TRY(storage(p, &d));
	QN_TRY(qn_parser_expect(p, ":"));
	QN_TRY(float_type(p, &d));
	QN_TRY(qn_parser_expect(p, ":"));
	QN_TRY(qn_parser_expect(p, "{"));
	QN_TRY(blocks(p, &d, axis, block));
	const int64_t lo = p->qmin, hi = p->qmax;
	QN_TRY(super_params(p, &d, &v));
	p->qmin = lo;
	p->qmax = hi;
	d.scale = qn_scale_vec(p->t, v);
	QN_TRY(qn_parser_expect(p, ">"));
	QN_TRY(qn_elem_make_at(p->t, start, &d, out));
	sort_parts(p, &d, axis);
	if ((*out)->scale->kind == QN_SCALE_VEC && (*out)->scale->vec == v)
		return QN_OK;
	return QN_FAIL(qn_where_part(start, QN_PART_SCALE), "type.super.exact",
		       "the scales of @%s are not exact as %s", v->name,
		       qn_plain_table[d.expressed].name);
}

typedef qn_status body_fn(qn_parser *p, qn_where *start, const qn_elem **out);

static const struct {
	const char *name;
	body_fn *parse;
} bodies[] = {{"uniform", uniform_body},
	      {"any", any_body},
	      {"calibrated", calibrated_body},
	      {"super", super_body}};

static qn_status
quant_elem(qn_parser *p, const qn_elem **out)
{
	const qn_text start = *p->text;
	const char *s = p->text->at += strlen("!quant.");
	const size_t n = word(p, &s);
	qn_where at = p->w;

	at.text = start;
	at.part = p->part;
	memset(p->part, 0, sizeof p->part);
	for (size_t i = 0; i < QN_COUNT(bodies); i++) {
		if (!is_word(s, n, bodies[i].name))
			continue;
		p->text->at += n;
		QN_TRY(qn_parser_expect(p, "<"));
		return bodies[i].parse(p, &at, out);
	}
	return QN_PARSE_FAIL(p, "type.unknown",
			     "expected uniform, any, calibrated or super, found %s",
			     qn_parser_found(p));
}

static qn_status
unknown_type(qn_parser *p, const char *s, size_t n)
{
	const char *best = qn_nearest_plain(qn_arena_strn(p->t->arena, s, n));

	return QN_PARSE_FAIL(p, "type.unknown", "unknown element type at %s" QN_DID_YOU_MEAN,
			     qn_parser_found(p), QN_SUGGEST(best));
}

qn_status
qn_parse_elem(qn_parser *p, const qn_elem **out)
{
	const char *s;
	const size_t n = word(p, &s);
	const qn_plain plain = plain_named(s, n);

	if (qn_text_peek(p->text, "!quant."))
		return quant_elem(p, out);
	if (plain == QN_NPLAIN)
		return unknown_type(p, s, n);
	p->text->at += n;
	*out = qn_elem_plain(p->t, plain);
	return QN_OK;
}
