/* SPDX-License-Identifier: Apache-2.0 */
/* type_print.c - the canonical text of types; reading it gives the same type again.
 *
 *     !quant.uniform<i8<-127:127>:f32:0, {1.000000e-01,2.000000e-01:-4}>
 *     !quant.uniform<i4:f32:{0:1, 1:32}, {{5.000000e-01, 2.500000e-01}, {1.000000e+00, 2.000000e+00}}>
 *
 * A storage range that is the default and zero points of 0 are left out.  The blanks are those
 * of MLIR's quant dialect: none in a per-axis list, one after each comma of a sub-channel type. */
#include <stdio.h>
#include <string.h>

#include "ir/type_impl.h"

/* ---- reals ---- */

/* "%.6e" whatever the locale's decimal point is: digit, six digits, exponent. */
static void
six_digits(char out[static 40], double v)
{
	char tmp[40];
	const char *digit = tmp;
	char *to = out;

	(void)snprintf(tmp, sizeof tmp, "%.*e", 6, v);
	const char *e = strchr(tmp, 'e');
	if (*digit == '-')
		*to++ = *digit++;
	*to++ = *digit;
	*to++ = '.';
	if (e != NULL && e - tmp >= 6)
		memcpy(to, e - 6, strlen(e - 6) + 1);
	else
		*to = '\0';
}

/* The short text when reading it (rules included) and rounding to the expressed type gives v again;
 * else the bits.  The smallest subnormals are such a case: their short text is below the limit. */
void
qn_print_real(qn_buf *b, double v, qn_plain expressed)
{
	const qn_float_range limit = qn_float_limits(expressed);
	const bool half = expressed == QN_PLAIN_f16 || expressed == QN_PLAIN_bf16;
	double back = 0.0;
	char text[40];

	if (b->decimal) {
		if (expressed == QN_PLAIN_f64)
			qn_buf_f64(b, v);
		else
			qn_buf_f32(b, (float)v);
		return;
	}
	if (!half) {
		/* as_f32 false keeps the bits of the smallest f32, whose short text is below it */
		const bool as_f32 = expressed == QN_PLAIN_f32 && v != limit.subnormal;
		qn_buf_real(b, v, as_f32);
		return;
	}
	six_digits(text, v);
	if (qn_parse_f64(text, strlen(text), &back) && qn_round_to(expressed, back) == v &&
	    !(v == limit.subnormal && back < v))
		qn_buf_puts(b, text);
	else
		qn_buf_real(b, v, false);
}

/* ---- names ---- */

void
qn_print_name(qn_buf *b, char sigil, const char *name)
{
	static const char bare[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.";

	qn_buf_putc(b, sigil);
	if (name[0] != '\0' && name[strspn(name, bare)] == '\0')
		qn_buf_puts(b, name);
	else
		qn_buf_quoted(b, name);
}

/* ---- scales ---- */

static void
put_param(qn_buf *b, const qn_params *p, size_t i, qn_plain expressed)
{
	qn_print_real(b, p->scale[i], expressed);
	if (p->zp != NULL && p->zp[i] != 0)
		qn_buff(b, ":%lld", (long long)p->zp[i]);
}

/* Opens a brace for each dim that begins at element i, closes one for each that ends after it. */
void
qn_print_params(qn_buf *b, const qn_params *p, qn_plain expressed, bool blank)
{
	if (p->name != NULL) {
		qn_buf_putc(b, '{');
		qn_print_name(b, '@', p->name);
		qn_buf_putc(b, '}');
		return;
	}
	for (size_t i = 0; i < p->n; i++) {
		size_t size = 1; /* elements of the dims inside the one looked at */

		if (i > 0)
			qn_buf_puts(b, blank || p->rank > 1 ? ", " : ",");
		for (int32_t d = p->rank - 1; d >= 0; d--) {
			size *= (size_t)p->shape[d];
			if (i % size == 0)
				qn_buf_putc(b, '{');
		}
		put_param(b, p, i, expressed);
		size = 1;
		for (int32_t d = p->rank - 1; d >= 0; d--) {
			size *= (size_t)p->shape[d];
			if ((i + 1) % size == 0)
				qn_buf_putc(b, '}');
		}
	}
}

static void put_scale(qn_buf *b, const qn_scale *s, qn_plain expressed, bool blank);

/* The right operand of * and / needs parentheses when it is a product or quotient itself. */
static void
put_infix(qn_buf *b, const qn_scale *s, qn_plain expressed, bool blank)
{
	const bool parens = s->b->kind == QN_SCALE_MUL || s->b->kind == QN_SCALE_DIV;

	put_scale(b, s->a, expressed, blank);
	qn_buf_putc(b, s->kind == QN_SCALE_MUL ? '*' : '/');
	if (parens)
		qn_buf_putc(b, '(');
	put_scale(b, s->b, expressed, blank);
	if (parens)
		qn_buf_putc(b, ')');
}

static void
put_scale(qn_buf *b, const qn_scale *s, qn_plain expressed, bool blank)
{
	switch (s->kind) {
	case QN_SCALE_CONST:
		qn_print_real(b, s->value, expressed);
		break;
	case QN_SCALE_VEC:
		qn_print_params(b, s->vec, expressed, blank);
		break;
	case QN_SCALE_SYM:
		qn_print_name(b, '$', s->sym->name);
		break;
	case QN_SCALE_MUL:
	case QN_SCALE_DIV:
		put_infix(b, s, expressed, blank);
		break;
	case QN_SCALE_FMUL:
		qn_buf_puts(b, "fmul(");
		put_scale(b, s->a, expressed, blank);
		qn_buf_putc(b, ',');
		put_scale(b, s->b, expressed, blank);
		qn_buf_putc(b, ')');
		break;
	}
}

void
qn_scale_print(qn_buf *b, const qn_scale *s)
{
	put_scale(b, s, QN_PLAIN_f32, false);
}

/* ---- elements ---- */

static void
put_storage(qn_buf *b, const qn_elem *e)
{
	int64_t lo, hi;

	if (e->small != QN_SMALL_NONE) {
		qn_buf_puts(b, qn_small_table[e->small].name);
		return;
	}
	qn_storage_range(e->bits, e->is_signed, &lo, &hi);
	qn_buff(b, "%c%d", e->is_signed ? 'i' : 'u', e->bits);
	if (e->qmin != lo || e->qmax != hi)
		qn_buff(b, "<%lld:%lld>", (long long)e->qmin, (long long)e->qmax);
}

static void
put_granularity(qn_buf *b, const qn_elem *e)
{
	if (e->gran == QN_PER_AXIS)
		qn_buff(b, ":%d", e->axis[0]);
	if (e->gran != QN_SUB_CHANNEL)
		return;
	qn_buf_puts(b, ":{");
	for (int32_t i = 0; i < e->naxis; i++)
		qn_buff(b, "%s%d:%lld", i > 0 ? ", " : "", e->axis[i], (long long)e->block[i]);
	qn_buf_puts(b, e->partial ? "}+" : "}");
}

/* !quant.super<u4:f32:{1:32}, u6 {1:256}, @NAME> */
static void
put_super(qn_buf *b, const qn_elem *e)
{
	const qn_params *v = e->scale->vec;
	const char *comma = "";

	qn_buf_puts(b, "!quant.super<");
	put_storage(b, e);
	qn_buff(b, ":%s", qn_plain_table[e->expressed].name);
	put_granularity(b, e);
	qn_buff(b, ", u%d {", v->super->bits);
	for (int32_t i = 0; i < e->naxis; i++) {
		const int64_t times = v->shape[e->axis[i]] / v->super->shape[e->axis[i]];

		if (times == 1)
			continue;
		qn_buff(b, "%s%d:%lld", comma, e->axis[i], (long long)(times * e->block[i]));
		comma = ", ";
	}
	qn_buf_puts(b, "}, ");
	qn_print_name(b, '@', v->name);
	qn_buf_putc(b, '>');
}

/* "f16:u4 " */
static void
put_stored(qn_buf *b, const qn_elem *e)
{
	if (e->scale_as == QN_SCALE_AS_EXPRESSED && e->zp_bits == 0)
		return;
	qn_buf_puts(b, e->scale_as == QN_SCALE_AS_EXPRESSED ? qn_plain_table[e->expressed].name
							    : qn_scale_storage_names[e->scale_as]);
	if (e->zp_bits != 0)
		qn_buff(b, ":%c%d", e->zp_signed ? 'i' : 'u', e->zp_bits);
	if (e->zp_fraction != 0)
		qn_buff(b, ".%d", e->zp_fraction);
	qn_buf_putc(b, ' ');
}

static bool
has_super(const qn_elem *e)
{
	if (e->gran != QN_SUB_CHANNEL || e->zp_fraction != 0 || e->scale->kind != QN_SCALE_VEC ||
	    e->scale->vec->super == NULL || e->zp_sym != NULL || e->partial)
		return false;
	for (int32_t i = 0; i < e->naxis; i++)
		if (e->axis[i] >= e->scale->vec->rank)
			return false;
	return true;
}

static void
put_uniform(qn_buf *b, const qn_elem *e)
{
	if (has_super(e)) {
		put_super(b, e);
		return;
	}
	qn_buf_puts(b, "!quant.uniform<");
	put_storage(b, e);
	qn_buff(b, ":%s", qn_plain_table[e->expressed].name);
	put_granularity(b, e);
	qn_buf_puts(b, ", ");
	put_stored(b, e);
	put_scale(b, e->scale, e->expressed, e->gran == QN_SUB_CHANNEL);
	if (e->zp_sym != NULL) {
		qn_buf_putc(b, ':');
		qn_print_name(b, '$', e->zp_sym->name);
	} else if (e->zp != 0) {
		qn_buff(b, ":%lld", (long long)e->zp);
	}
	qn_buf_putc(b, '>');
}

void
qn_elem_print(qn_buf *b, const qn_elem *e)
{
	switch (e->kind) {
	case QN_ELEM_PLAIN:
		qn_buf_puts(b, qn_plain_table[e->plain].name);
		break;
	case QN_ELEM_ANY:
		qn_buf_puts(b, "!quant.any<");
		put_storage(b, e);
		if (e->has_expressed)
			qn_buff(b, ":%s", qn_plain_table[e->expressed].name);
		qn_buf_putc(b, '>');
		break;
	case QN_ELEM_CALIBRATED:
		qn_buff(b, "!quant.calibrated<%s<", qn_plain_table[e->expressed].name);
		qn_print_real(b, e->cal_min, e->expressed);
		qn_buf_putc(b, ':');
		qn_print_real(b, e->cal_max, e->expressed);
		qn_buf_puts(b, ">>");
		break;
	case QN_ELEM_UNIFORM:
		put_uniform(b, e);
		break;
	}
}

/* ---- types ---- */

void
qn_type_print(qn_buf *b, const qn_type *type)
{
	if (type->is_tuple) {
		qn_buf_puts(b, "tuple<");
		for (uint32_t i = 0; i < type->nfield; i++) {
			qn_buf_puts(b, i > 0 ? ", " : "");
			qn_type_print(b, type->field[i]);
		}
		qn_buf_putc(b, '>');
		return;
	}
	qn_buf_puts(b, type->rank < 0 ? "tensor<*x" : "tensor<");
	for (int32_t i = 0; i < type->rank && i < QN_MAX_RANK; i++) {
		if (type->dim[i] == QN_DYNAMIC)
			qn_buf_puts(b, "?x");
		else
			qn_buff(b, "%lldx", (long long)type->dim[i]);
	}
	qn_elem_print(b, type->elem);
	qn_buf_putc(b, '>');
}
