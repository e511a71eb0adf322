/* SPDX-License-Identifier: Apache-2.0 */
/* json_out.c - writes JSON.  A level remembers its closing bracket and how many members it has;
 * everything else follows from that:
 *
 *   level 0 (top) ─ level 1 "{" n=2 ─ level 2 "[" flat n=1
 *                   newline, indent    ", " between members */
#include "formats/json_out.h"

#include <math.h>

#define EXACT_LIMIT                                                                                \
	INT64_C(9007199254740992) /* 2^53: integers up to here survive any JSON reader */

void
qn_json_out_init(qn_json_out *o, qn_buf *b)
{
	*o = (qn_json_out){.b = b};
	o->level[0].flat = true;
}

static void
new_line(qn_json_out *o)
{
	qn_buf_putc(o->b, '\n');
	for (int i = 0; i < o->depth; i++)
		qn_buf_puts(o->b, "  ");
}

/* What stands before a member: comma, newline or blank, key. */
static void
begin(qn_json_out *o, const char *key)
{
	qn_buf_flush(o->b);
	if (o->level[o->depth].n++ > 0)
		qn_buf_puts(o->b, o->level[o->depth].flat ? ", " : ",");
	if (!o->level[o->depth].flat)
		new_line(o);
	if (key != NULL) {
		qn_buf_quoted(o->b, key);
		qn_buf_puts(o->b, ": ");
	}
}

void
qn_json_open(qn_json_out *o, const char *key, char bracket, qn_json_style style)
{
	bool inherited = o->depth > 0 && o->level[o->depth].flat;

	begin(o, key);
	qn_buf_putc(o->b, bracket);
	if (o->depth < QN_JSON_DEPTH)
		o->depth++;
	o->level[o->depth].close = bracket == '{' ? '}' : ']';
	o->level[o->depth].flat = inherited || style == QN_JSON_FLAT;
	o->level[o->depth].n = 0;
}

void
qn_json_close(qn_json_out *o)
{
	char close = o->level[o->depth].close;
	bool lines = !o->level[o->depth].flat && o->level[o->depth].n > 0;

	if (o->depth == 0)
		return;
	o->depth--;
	if (lines)
		new_line(o);
	qn_buf_putc(o->b, close);
	if (o->depth == 0)
		qn_buf_putc(o->b, '\n');
}

void
qn_json_put_string(qn_json_out *o, const char *key, const char *s)
{
	begin(o, key);
	qn_buf_quoted(o->b, s);
}

void
qn_json_put_i64(qn_json_out *o, const char *key, int64_t v)
{
	begin(o, key);
	qn_buff(o->b, v > EXACT_LIMIT || v < -EXACT_LIMIT ? "\"%lld\"" : "%lld", (long long)v);
}

void
qn_json_put_u64(qn_json_out *o, const char *key, uint64_t v)
{
	begin(o, key);
	qn_buff(o->b, v > (uint64_t)EXACT_LIMIT ? "\"%llu\"" : "%llu", (unsigned long long)v);
}

static void
put_special(qn_json_out *o, double v)
{
	if (isnan(v))
		qn_buf_puts(o->b, "\"nan\"");
	else
		qn_buf_puts(o->b, v < 0 ? "\"-inf\"" : "\"inf\"");
}

void
qn_json_put_f64(qn_json_out *o, const char *key, double v)
{
	begin(o, key);
	if (isfinite(v))
		qn_buf_f64(o->b, v);
	else
		put_special(o, v);
}

void
qn_json_put_f32(qn_json_out *o, const char *key, float v)
{
	begin(o, key);
	if (isfinite(v))
		qn_buf_f32(o->b, v);
	else
		put_special(o, (double)v);
}

void
qn_json_put_bool(qn_json_out *o, const char *key, bool v)
{
	begin(o, key);
	qn_buf_puts(o->b, v ? "true" : "false");
}

void
qn_json_put_raw(qn_json_out *o, const char *key, const char *text, size_t n)
{
	begin(o, key);
	qn_buf_put(o->b, text, n);
}

void
qn_json_put_tree(qn_json_out *o, const char *key, const qn_json *v)
{
	switch (v->kind) {
	case QN_JSON_NULL:
		qn_json_put_raw(o, key, "null", 4);
		break;
	case QN_JSON_BOOL:
		qn_json_put_bool(o, key, v->truth);
		break;
	case QN_JSON_NUMBER:
		qn_json_put_f64(o, key, v->number);
		break;
	case QN_JSON_STRING:
		qn_json_put_string(o, key, v->string);
		break;
	case QN_JSON_ARRAY:
	case QN_JSON_OBJECT:
		qn_json_open(o, key, v->kind == QN_JSON_ARRAY ? '[' : '{', QN_JSON_FLAT);
		for (size_t i = 0; i < v->n; i++)
			qn_json_put_tree(o, v->child[i].key, &v->child[i]);
		qn_json_close(o);
		break;
	}
}
