/* SPDX-License-Identifier: Apache-2.0 */
/* type_parse_scale.c - the parameters of a uniform type, by recursive descent.
 *
 *     scale  := factor { ("*" | "/") factor }                    left to right
 *     factor := real | "$" name | "(" scale ")" | "fmul" "(" scale "," scale ")" | list | "{@" name "}"
 *     list   := "{" item { "," item } "}" ;  item := real [ ":" INT ] | list
 *     name   := [A-Za-z0-9_.]+ | JSON string */
#include <string.h>

#include "ir/nearest.h"
#include "ir/type_impl.h"

/* ---- names ---- */

/* The character of four hex digits, below 128; -1 when they are not. */
static int
unicode_escape(const char *s, const char *end)
{
	static const char digits[] = "0123456789abcdef";
	int v = 0;

	if (end - s < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		const char *d = s[i] != '\0' ? strchr(digits, s[i]) : NULL;

		if (d == NULL)
			return -1;
		v = v * 16 + (int)(d - digits);
	}
	return v > 0 && v < 128 ? v : -1;
}

/* Appends the character at *s, which is past a backslash; false when the escape is not known. */
static bool
unescape(qn_buf *b, const char **s, const char *end)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	const char *f = *s < end && **s != '\0' ? strchr(from, **s) : NULL;

	if (f != NULL) {
		qn_buf_putc(b, to[f - from]);
		*s += 1;
		return true;
	}
	const int code = *s < end && **s == 'u' ? unicode_escape(*s + 1, end) : -1;
	if (code < 0)
		return false;
	qn_buf_putc(b, (char)code);
	*s += 5;
	return true;
}

static qn_status
quoted_name(qn_parser *p, const char **out)
{
	const char *s = p->text->at + 1;
	const char *end = p->text->end;
	qn_buf b;

	qn_buf_init(&b, p->t->arena);
	while (s < end && *s != '"') {
		const char c = *s++;

		if ((unsigned char)c < 0x20)
			return QN_PARSE_FAIL(p, "type.literal",
					     "a control character inside a quoted name");
		if (c != '\\')
			qn_buf_putc(&b, c);
		else if (!unescape(&b, &s, end))
			return QN_PARSE_FAIL(p, "type.literal",
					     "unknown escape sequence inside a quoted name");
	}
	if (s == end || b.n == 0)
		return QN_PARSE_FAIL(p, "type.literal", "a quoted name %s",
				     s == end ? "without its closing quote" : "that is empty");
	p->text->at = s + 1;
	*out = qn_buf_str(&b);
	return QN_OK;
}

static qn_status
name(qn_parser *p, const char **out)
{
	const char *s = p->text->at;

	if (s < p->text->end && *s == '"')
		return quoted_name(p, out);
	while (s < p->text->end && qn_text_is_bare(*s))
		s++;
	if (s == p->text->at)
		return QN_PARSE_FAIL(p, "type.literal", "expected a name, found %s",
				     qn_parser_found(p));
	*out = qn_arena_strn(p->t->arena, p->text->at, (size_t)(s - p->text->at));
	p->text->at = s;
	return QN_OK;
}

qn_status
qn_parse_symbol(qn_parser *p, const qn_symbol **out)
{
	const qn_text start = *p->text;
	const char *id = NULL;

	QN_TRY(name(p, &id));
	*out = qn_symbol_find(p->t, id);
	if (*out != NULL)
		return QN_OK;
	*p->text = start;
	const char *best = qn_nearest_symbol(p->t, id);
	return QN_PARSE_FAIL(
		p, "symbol.unknown",
		"unknown symbol '$%s': a symbol must be declared before it is used" QN_DID_YOU_MEAN,
		id, QN_SUGGEST(best));
}

/* ---- lists ---- */

typedef struct list {
	double *scale;
	int64_t *zp;
	size_t n, scale_cap, zp_cap;
	int32_t leaf_depth; /* where the numbers are; -1: none seen yet */
	int64_t shape[QN_MAX_RANK];
} list;

/* A real in range, rounded to the expressed type. */
static qn_status
real(qn_parser *p, double *out)
{
	qn_text_skip(p->text);
	const qn_text start = *p->text;

	if (!qn_text_real(p->text, true, out))
		return QN_PARSE_FAIL(p, "type.literal",
				     "expected a number with a point (0.5) as scale, found %s",
				     qn_parser_found(p));
	p->w.text = start;
	QN_TRY(qn_scale_check_value(&p->w, p->expressed, *out));
	return QN_OK;
}

static qn_status
list_leaf(qn_parser *p, list *l, int32_t depth)
{
	double scale;
	int64_t zp = 0;

	if (l->leaf_depth >= 0 && l->leaf_depth != depth)
		return QN_PARSE_FAIL(p, "type.param.ragged",
				     "a number beside a list; nest all items equally");
	if (++p->nparams > QN_MAX_PARAMS)
		return QN_PARSE_FAIL(p, "type.param.limit", "more than %d parameters in one text",
				     QN_MAX_PARAMS);
	qn_text_skip(p->text);
	const char *at = p->text->at;
	QN_TRY(real(p, &scale));
	if (qn_text_eat(p->text, ":")) {
		qn_text_skip(p->text);
		at = p->text->at;
		QN_TRY(qn_parser_int(p, "zero point", &zp));
	}
	if ((zp < p->qmin || zp > p->qmax) && p->part[QN_PART_ZP] == NULL)
		p->part[QN_PART_ZP] = at;
	l->leaf_depth = depth;
	l->scale = qn_arena_grow(p->t->arena, l->scale, &l->scale_cap, l->n + 1, sizeof *l->scale);
	l->zp = qn_arena_grow(p->t->arena, l->zp, &l->zp_cap, l->n + 1, sizeof *l->zp);
	l->scale[l->n] = qn_round_to(p->expressed, scale);
	l->zp[l->n++] = zp;
	return QN_OK;
}

/* The items of a list at this depth, whose '{' has been eaten, and its '}'. */
static qn_status
list_items(qn_parser *p, list *l, int32_t depth)
{
	int64_t n = 0;

	do {
		n++;
		if (!qn_text_peek(p->text, "{")) {
			QN_TRY(list_leaf(p, l, depth));
			continue;
		}
		if (p->gran == QN_PER_AXIS)
			return QN_PARSE_FAIL(p, "type.param.rank",
					     "a type with an axis takes a flat list");
		if (l->leaf_depth >= 0 && depth >= l->leaf_depth)
			return QN_PARSE_FAIL(p, "type.param.ragged",
					     "a list beside a number; nest all items equally");
		if (depth + 1 >= QN_MAX_RANK)
			return QN_PARSE_FAIL(p, "type.rank", "lists nested deeper than %d",
					     QN_MAX_RANK);
		(void)qn_text_eat(p->text, "{");
		QN_TRY(list_items(p, l, depth + 1));
	} while (qn_text_eat(p->text, ","));
	qn_text_skip(p->text);
	const qn_text end = *p->text;
	QN_TRY(qn_parser_expect(p, "}"));
	if (l->shape[depth] == 0)
		l->shape[depth] = n;
	if (l->shape[depth] == n)
		return QN_OK;
	*p->text = end;
	return QN_PARSE_FAIL(p, "type.param.ragged", "a list of %lld items beside one of %lld",
			     (long long)n, (long long)l->shape[depth]);
}

static qn_status
named_list(qn_parser *p, const qn_params **out)
{
	const qn_text start = *p->text;
	const char *id = NULL;

	QN_TRY(name(p, &id));
	*out = qn_map_gets(&p->t->params_by_name, id);
	if (*out != NULL)
		return QN_OK;
	*p->text = start;
	return QN_PARSE_FAIL(p, "type.param.unknown", "unknown parameters '@%s'", id);
}

qn_status
qn_parse_named(qn_parser *p, const qn_scale **out)
{
	const qn_params *params = NULL;

	QN_TRY(qn_parser_expect(p, "@"));
	QN_TRY(named_list(p, &params));
	*out = qn_scale_vec(p->t, params);
	return QN_OK;
}

/* After the '{'. */
static qn_status
parse_list(qn_parser *p, const qn_scale **out)
{
	list l = {.leaf_depth = -1};
	const qn_params *params = NULL;

	if (qn_text_eat(p->text, "@")) {
		QN_TRY(named_list(p, &params));
		QN_TRY(qn_parser_expect(p, "}"));
	} else {
		QN_TRY(list_items(p, &l, 0));
		QN_TRY(qn_params_intern(p->t, "", NULL, l.n, l.leaf_depth + 1, l.shape, l.scale,
					l.zp, &params));
	}
	*out = qn_scale_vec(p->t, params);
	return QN_OK;
}

/* ---- expressions ---- */

static qn_status
factor_inner(qn_parser *p, const qn_scale **out)
{
	const qn_scale *a = NULL;
	const qn_scale *b = NULL;

	if (qn_text_eat(p->text, "(")) {
		QN_TRY(qn_parse_scale(p, out));
		return qn_parser_expect(p, ")");
	}
	(void)qn_text_eat(p->text, "fmul");
	QN_TRY(qn_parser_expect(p, "("));
	QN_TRY(qn_parse_scale(p, &a));
	QN_TRY(qn_parser_expect(p, ","));
	QN_TRY(qn_parse_scale(p, &b));
	QN_TRY(qn_parser_expect(p, ")"));
	*out = qn_scale_op(p->t, QN_SCALE_FMUL, a, b);
	return QN_OK;
}

static qn_status
factor(qn_parser *p, const qn_scale **out)
{
	const qn_symbol *sym = NULL;
	double v;

	if (qn_text_eat(p->text, "$")) {
		QN_TRY(qn_parse_symbol(p, &sym));
		*out = qn_scale_sym(p->t, sym);
		return QN_OK;
	}
	if (qn_text_peek(p->text, "(") || qn_text_peek(p->text, "fmul")) {
		QN_TRY(qn_parser_enter(p));
		QN_TRY(factor_inner(p, out));
		p->depth--;
		return QN_OK;
	}
	if (p->gran != QN_PER_TENSOR && qn_text_eat(p->text, "{"))
		return parse_list(p, out);
	if (qn_text_peek(p->text, "{"))
		return QN_PARSE_FAIL(p, "type.literal",
				     "a list of scales needs an axis or blocks: i8:f32:0, {…}");
	QN_TRY(real(p, &v));
	*out = qn_scale_const(p->t, qn_round_to(p->expressed, v));
	return QN_OK;
}

/* A poisoned expression (lengths differ, too many operations) is reported where it comes about. */
qn_status
qn_parse_scale(qn_parser *p, const qn_scale **out)
{
	QN_TRY(factor(p, out));
	for (;;) {
		const qn_scale *b = NULL;
		qn_scale_kind op = QN_SCALE_MUL;

		p->w.text = *p->text;
		QN_TRY(qn_scale_check_len(&p->w, *out));
		if (qn_text_eat(p->text, "/"))
			op = QN_SCALE_DIV;
		else if (!qn_text_eat(p->text, "*"))
			return QN_OK;
		QN_TRY(factor(p, &b));
		*out = qn_scale_op(p->t, op, *out, b);
	}
}
