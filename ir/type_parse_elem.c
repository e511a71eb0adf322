/* SPDX-License-Identifier: Apache-2.0 */
/* type_parse_elem.c - element types from text.
 *
 *     elem := PLAIN | "!quant.any<" … | "!quant.calibrated<" … | "!quant.uniform<" … | "!quant.super<" … */
#include <string.h>

#include "ir/nearest.h"
#include "ir/type_impl.h"

static qn_status
uniform_body(qn_parser *p, qn_where *start, const qn_elem **out)
{
	int32_t axis[QN_MAX_RANK + 1];
	int64_t block[QN_MAX_RANK + 1];
	qn_elem d = {.kind = QN_ELEM_UNIFORM};

	if (!qn_parse_small_storage(p, &d))
		QN_TRY(qn_parse_storage(p, &d));
	QN_TRY(qn_parser_expect(p, ":"));
	QN_TRY(qn_parse_float_type(p, &d));
	if (qn_text_eat(p->text, ":"))
		QN_TRY(qn_parse_granularity(p, &d, axis, block));
	QN_TRY(qn_parser_expect(p, ","));
	p->gran = d.gran;
	QN_TRY(qn_parse_stored_as(p, &d));
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
	qn_parser_sort_parts(p, &d, axis);
	return QN_OK;
}

static qn_status
any_body(qn_parser *p, qn_where *start, const qn_elem **out)
{
	qn_elem d = {.kind = QN_ELEM_ANY};

	QN_TRY(qn_parse_storage(p, &d));
	if (qn_text_eat(p->text, ":"))
		QN_TRY(qn_parse_float_type(p, &d));
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

	QN_TRY(qn_parse_float_type(p, &d));
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
	QN_TRY(qn_parse_storage(p, &s));
	QN_TRY(qn_parser_expect(p, "{"));
	QN_TRY(qn_parse_blocks(p, &s, axis, block));
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

	QN_TRY(qn_parse_storage(p, &d));
	QN_TRY(qn_parser_expect(p, ":"));
	QN_TRY(qn_parse_float_type(p, &d));
	QN_TRY(qn_parser_expect(p, ":"));
	QN_TRY(qn_parser_expect(p, "{"));
	QN_TRY(qn_parse_blocks(p, &d, axis, block));
	const int64_t lo = p->qmin, hi = p->qmax;
	QN_TRY(super_params(p, &d, &v));
	p->qmin = lo;
	p->qmax = hi;
	d.scale = qn_scale_vec(p->t, v);
	QN_TRY(qn_parser_expect(p, ">"));
	QN_TRY(qn_elem_make_at(p->t, start, &d, out));
	qn_parser_sort_parts(p, &d, axis);
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
	const size_t n = qn_parse_word(p, &s);
	qn_where at = p->w;

	at.text = start;
	at.part = p->part;
	memset(p->part, 0, sizeof p->part);
	for (size_t i = 0; i < QN_COUNT(bodies); i++) {
		if (!qn_is_word(s, n, bodies[i].name))
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
	const size_t n = qn_parse_word(p, &s);
	const qn_plain plain = qn_plain_named(s, n);

	if (qn_text_peek(p->text, "!quant."))
		return quant_elem(p, out);
	if (plain == QN_NPLAIN)
		return unknown_type(p, s, n);
	p->text->at += n;
	*out = qn_elem_plain(p->t, plain);
	return QN_OK;
}
