/* SPDX-License-Identifier: Apache-2.0 */
/* type_parse.c - types from text, by recursive descent; docs/types.md has the whole grammar.
 *
 *     type := "tensor" "<" ( "*x" | { ( INT | "?" ) "x" } ) elem ">" | "tuple" "<" [ type { "," type } ] ">"
 *     elem := PLAIN | "!quant.any<" … | "!quant.calibrated<" … | "!quant.uniform<" …
 *
 * The first thing that is wrong ends the parse: it is reported with its line and column.  Any
 * bytes may come in: nesting, numbers and lists are bounded, and the time is linear in the
 * length. */
#include <string.h>

#include "ir/type_impl.h"

/* ---- helpers of the parser ---- */

static qn_parser
parser_of(qn_types *t, qn_text *text)
{
	return (qn_parser){.t = t,
			   .text = text,
			   .w = {.env = t->arena->env, .place = text->file, .text = *text}};
}

/* Up to 16 printable characters in quotes. */
const char *
qn_parser_found(qn_parser *p)
{
	const char *s = p->text->at;
	size_t n = 0;

	if (s == p->text->end) {
		memcpy(p->found, "the end", sizeof "the end");
		return p->found;
	}
	p->found[n++] = '\'';
	for (; s < p->text->end && n < 17 && *s != '\n'; s++)
		p->found[n++] = *s;
	for (size_t i = 1; i < n; i++)
		if ((unsigned char)p->found[i] < 0x20 || (unsigned char)p->found[i] > 0x7e)
			p->found[i] = '?';
	p->found[n++] = '\'';
	p->found[n] = '\0';
	return p->found;
}

qn_status
qn_parser_expect(qn_parser *p, const char *token)
{
	if (qn_text_eat(p->text, token))
		return QN_OK;
	return QN_PARSE_FAIL(p, "type.syntax", "expected '%s', found %s", token,
			     qn_parser_found(p));
}

qn_status
qn_parser_enter(qn_parser *p)
{
	if (++p->depth <= QN_MAX_DEPTH)
		return QN_OK;
	return QN_PARSE_FAIL(p, "type.depth", "nested deeper than %d", QN_MAX_DEPTH);
}

qn_status
qn_parser_int(qn_parser *p, const char *what, int64_t *out)
{
	if (qn_text_int(p->text, out))
		return QN_OK;
	return QN_PARSE_FAIL(p, "type.literal", "expected an integer as %s, found %s", what,
			     qn_parser_found(p));
}

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
	size_t i = 0;

	while (i < QN_NPLAIN && !is_word(s, n, qn_plain_table[i].name))
		i++;
	return (qn_plain)i;
}

/* ---- storage, expressed type, granularity ---- */

/* The width in "i8"; -1 when the word is no storage type.  Saturates at 255, which is refused. */
static int
storage_width(const char *s, size_t n)
{
	int v = 0;

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

static qn_status
storage(qn_parser *p, qn_elem *d)
{
	const char *s;
	const size_t n = word(p, &s);
	const int bits = storage_width(s, n);
	qn_where at = p->w;

	at.text = *p->text;
	if (bits < 0)
		return QN_PARSE_FAIL(p, "type.storage.kind",
				     "expected an integer storage type (i8, u4, …), found %s",
				     qn_parser_found(p));
	d->bits = (uint8_t)bits;
	d->is_signed = s[0] == 'i';
	qn_storage_range(bits <= 64 ? d->bits : 0, d->is_signed, &d->qmin, &d->qmax);
	p->text->at += n;
	if (qn_text_eat(p->text, "<")) {
		QN_TRY(qn_parser_int(p, "storage minimum", &d->qmin));
		QN_TRY(qn_parser_expect(p, ":"));
		QN_TRY(qn_parser_int(p, "storage maximum", &d->qmax));
		QN_TRY(qn_parser_expect(p, ">"));
	}
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
			QN_TRY(axis_number(p, &axis[d->naxis]));
			QN_TRY(qn_parser_expect(p, ":"));
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
	return axis_number(p, axis);
}

/* ---- bodies ---- */

static qn_status
uniform_body(qn_parser *p, qn_where *start, const qn_elem **out)
{
	int32_t axis[QN_MAX_RANK + 1];
	int64_t block[QN_MAX_RANK + 1];
	qn_elem d = {.kind = QN_ELEM_UNIFORM};

	QN_TRY(storage(p, &d));
	QN_TRY(qn_parser_expect(p, ":"));
	QN_TRY(float_type(p, &d));
	if (qn_text_eat(p->text, ":"))
		QN_TRY(granularity(p, &d, axis, block));
	QN_TRY(qn_parser_expect(p, ","));
	p->gran = d.gran;
	QN_TRY(qn_parse_scale(p, &d.scale));
	if (qn_text_eat(p->text, ":")) {
		if (qn_text_eat(p->text, "$"))
			QN_TRY(qn_parse_symbol(p, &d.zp_sym));
		else
			QN_TRY(qn_parser_int(p, "zero point", &d.zp));
	}
	QN_TRY(qn_parser_expect(p, ">"));
	return qn_elem_make_at(p->t, start, &d, out);
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
	return QN_PARSE_FAIL(p, "type.literal", "expected a real with a point (6.0), found %s",
			     qn_parser_found(p));
}

static qn_status
calibrated_body(qn_parser *p, qn_where *start, const qn_elem **out)
{
	qn_elem d = {.kind = QN_ELEM_CALIBRATED};

	QN_TRY(float_type(p, &d));
	QN_TRY(qn_parser_expect(p, "<"));
	QN_TRY(calibrated_bound(p, &d.cal_min));
	QN_TRY(qn_parser_expect(p, ":"));
	QN_TRY(calibrated_bound(p, &d.cal_max));
	QN_TRY(qn_parser_expect(p, ">"));
	QN_TRY(qn_parser_expect(p, ">"));
	return qn_elem_make_at(p->t, start, &d, out);
}

typedef qn_status body_fn(qn_parser *p, qn_where *start, const qn_elem **out);

static const struct {
	const char *name;
	body_fn *parse;
} bodies[] = {{"uniform", uniform_body}, {"any", any_body}, {"calibrated", calibrated_body}};

static qn_status
quant_elem(qn_parser *p, const qn_elem **out)
{
	const qn_text start = *p->text;
	const char *s = p->text->at += strlen("!quant.");
	const size_t n = word(p, &s);
	qn_where at = p->w;

	at.text = start;
	for (size_t i = 0; i < QN_COUNT(bodies); i++) {
		if (!is_word(s, n, bodies[i].name))
			continue;
		p->text->at += n;
		QN_TRY(qn_parser_expect(p, "<"));
		return bodies[i].parse(p, &at, out);
	}
	return QN_PARSE_FAIL(p, "type.unknown", "expected uniform, any or calibrated, found %s",
			     qn_parser_found(p));
}

static qn_status
elem(qn_parser *p, const qn_elem **out)
{
	const char *s;
	const size_t n = word(p, &s);
	const qn_plain plain = plain_named(s, n);

	if (qn_text_peek(p->text, "!quant."))
		return quant_elem(p, out);
	if (plain == QN_NPLAIN)
		return QN_PARSE_FAIL(p, "type.unknown", "unknown element type at %s",
				     qn_parser_found(p));
	p->text->at += n;
	*out = qn_elem_plain(p->t, plain);
	return QN_OK;
}

/* ---- tensors and tuples ---- */

static bool
at_digit(const qn_parser *p)
{
	return p->text->at < p->text->end && *p->text->at >= '0' && *p->text->at <= '9';
}

/* The 'x' after a dim, which the element type follows without a blank: 3xf32. */
static qn_status
dim_x(qn_parser *p)
{
	qn_text_skip(p->text);
	if (p->text->at == p->text->end || *p->text->at != 'x')
		return qn_parser_expect(p, "x");
	p->text->at++;
	return QN_OK;
}

static qn_status
dims(qn_parser *p, int32_t *rank, int64_t *dim)
{
	*rank = 0;
	if (qn_text_eat(p->text, "*")) {
		*rank = -1;
		return dim_x(p);
	}
	for (;;) {
		int64_t v = QN_DYNAMIC;

		qn_text_skip(p->text);
		if (at_digit(p))
			QN_TRY(qn_parser_int(p, "dim", &v));
		else if (!qn_text_eat(p->text, "?"))
			return QN_OK;
		if (*rank == QN_MAX_RANK)
			return QN_PARSE_FAIL(p, "type.rank", "a tensor has at most %d dims",
					     QN_MAX_RANK);
		dim[(*rank)++] = v;
		QN_TRY(dim_x(p));
	}
}

static qn_status
tensor(qn_parser *p, const qn_type **out)
{
	int64_t dim[QN_MAX_RANK];
	int32_t rank;
	const qn_elem *e = NULL;

	QN_TRY(qn_parser_expect(p, "<"));
	QN_TRY(dims(p, &rank, dim));
	qn_text_skip(p->text);
	qn_where at = p->w;
	at.text = *p->text;
	QN_TRY(elem(p, &e));
	QN_TRY(qn_parser_expect(p, ">"));
	QN_TRY(qn_elem_check_shape(&at, e, rank, dim));
	*out = qn_type_tensor(p->t, e, rank, dim);
	return QN_OK;
}

static qn_status type_of(qn_parser *p, const qn_type **out);

static qn_status
tuple(qn_parser *p, const qn_type **out)
{
	const qn_type **field = NULL;
	size_t cap = 0;
	uint32_t n = 0;

	QN_TRY(qn_parser_expect(p, "<"));
	if (!qn_text_eat(p->text, ">")) {
		do {
			field = qn_arena_grow(p->t->arena, (void *)field, &cap, (size_t)n + 1,
					      sizeof *field);
			QN_TRY(type_of(p, &field[n++]));
		} while (qn_text_eat(p->text, ","));
		QN_TRY(qn_parser_expect(p, ">"));
	}
	*out = qn_type_tuple(p->t, n, field);
	return QN_OK;
}

static qn_status
type_of(qn_parser *p, const qn_type **out)
{
	if (qn_text_eat(p->text, "tensor"))
		return tensor(p, out);
	if (!qn_text_eat(p->text, "tuple"))
		return QN_PARSE_FAIL(p, "type.unknown", "expected tensor<…> or tuple<…>, found %s",
				     qn_parser_found(p));
	QN_TRY(qn_parser_enter(p));
	QN_TRY(tuple(p, out));
	p->depth--;
	return QN_OK;
}

qn_status
qn_type_parse(qn_types *t, qn_text *text, const qn_type **out)
{
	qn_parser p = parser_of(t, text);

	return type_of(&p, out);
}

qn_status
qn_elem_parse(qn_types *t, qn_text *text, const qn_elem **out)
{
	qn_parser p = parser_of(t, text);

	qn_text_skip(text);
	return elem(&p, out);
}

/* The cache saves reading the same text again for every value of a graph; a table that accepts zero
 * points out of range does not use it, because its switch changes what a text means. */
qn_status
qn_type_parse_str(qn_types *t, const char *place, const char *s, const qn_type **out)
{
	qn_text text;
	const qn_type **cached = t->lax_zp ? NULL : qn_map_gets(&t->cache, s);

	if (cached != NULL) {
		*out = *cached;
		return QN_OK;
	}
	qn_text_init(&text, place != NULL ? place : "", s, strlen(s));
	qn_parser p = parser_of(t, &text);
	const qn_type *type = NULL;
	QN_TRY(type_of(&p, &type));
	qn_text_skip(&text);
	if (text.at != text.end)
		return QN_PARSE_FAIL(&p, "type.syntax", "the type ends here, but %s follows",
				     qn_parser_found(&p));
	if (!t->lax_zp)
		qn_map_puts(&t->cache, s, qn_arena_copy(t->arena, &type, sizeof type));
	*out = type;
	return QN_OK;
}
