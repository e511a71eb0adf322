/* SPDX-License-Identifier: Apache-2.0 */
/* graph_parse_symbol.c - reads lists of parameters and symbols:
 *
 *   param @conv1.w.q = {0.1, 0.2:-4, …}
 *   param @blocks.q = {{0.5, 0.25}, …} * u6 {{1, 63, …}, …}
 *   symbol $conv1.w : sym, len 16 = {@conv1.w.q} */
#include "ir/graph_text.h"

/* Scales and zero points being read. */
typedef struct values {
	double *scale;
	int64_t *zp;
	size_t n, scale_cap, zp_cap;
	int32_t rank; /* 0: not known yet */
	int64_t shape[QN_MAX_RANK];
} values;

/* scale[:zero point].  A decimal literal is rounded to f32; 0x… are the bits of a double. */
static bool
read_pair(qn_reader *r, values *v)
{
	double scale;
	int64_t zp = 0;

	qn_text_skip(&r->text);
	bool exact = r->text.end - r->text.at > 1 && r->text.at[0] == '0' && r->text.at[1] == 'x';
	if (!qn_text_real(&r->text, true, &scale))
		return qn_read_fail(r, "expected a scale, a number with a point");
	if (qn_text_eat(&r->text, ":") && !qn_text_int(&r->text, &zp))
		return qn_read_fail(r, "expected a zero point");
	v->scale = qn_arena_grow(r->m->arena, v->scale, &v->scale_cap, v->n + 1, sizeof *v->scale);
	v->zp = qn_arena_grow(r->m->arena, v->zp, &v->zp_cap, v->n + 1, sizeof *v->zp);
	v->scale[v->n] = exact ? scale : qn_round_to(QN_PLAIN_f32, scale);
	v->zp[v->n++] = zp;
	return true;
}

/* {a, b} or, for scales of blocks, nested: {{a, b}, {c, d}}.  All lists of a level have one
 * length. */
static bool
read_values(qn_reader *r, values *v, int32_t level)
{
	int64_t n = 0;

	if (level == QN_MAX_RANK)
		return qn_read_fail(r, "expected lists nested at most %d deep", QN_MAX_RANK);
	if (!qn_read_expect(r, "{"))
		return false;
	do {
		bool nested = qn_text_peek(&r->text, "{");

		if (nested ? v->rank == level + 1 : v->rank > level + 1)
			return qn_read_fail(r, "expected all items nested equally");
		if (nested ? !read_values(r, v, level + 1) : !read_pair(r, v))
			return false;
		if (v->rank == 0)
			v->rank = level + 1;
		n++;
	} while (qn_text_eat(&r->text, ","));
	if (v->shape[level] == 0)
		v->shape[level] = n;
	if (v->shape[level] != n)
		return qn_read_fail(r, "expected %lld items as in the list before, not %lld",
				    (long long)v->shape[level], (long long)n);
	return qn_read_expect(r, "}");
}

static bool
positive(qn_reader *r, const char *place, const char *name, const values *v)
{
	for (size_t i = 0; i < v->n; i++) {
		if (v->scale[i] > 0 && v->scale[i] - v->scale[i] == 0)
			continue;
		(void)qn_report(r->m->env, QN_EINVALID, "param.scale", place,
				"scale %g (index %zu) of @%s is not finite and positive",
				v->scale[i], i, name);
		return false;
	}
	return true;
}

/* After "{…} *": the integers u6 {…} that the scales of super-blocks are multiplied by. */
static bool
read_super(qn_reader *r, const char *place, const char *name, const values *scales)
{
	const qn_params *out;
	const char *word;
	values v = {0};
	const size_t n = qn_text_word(&r->text, &word);
	const int bits = n == 2 && word[0] == 'u' ? word[1] - '0' : 0;

	if (bits < 1 || bits > 8)
		return qn_read_fail(r, "expected u1 to u8, the integers of super-blocks");
	if (!read_values(r, &v, 0))
		return false;
	if (v.rank != scales->rank) {
		(void)qn_report(r->m->env, QN_EINVALID, "type.super.shape", place,
				"@%s has scales of rank %d times integers of rank %d", name,
				scales->rank, v.rank);
		return true;
	}
	const qn_super_desc d = {.name = name,
				 .bits = (uint8_t)bits,
				 .rank = v.rank,
				 .shape = v.shape,
				 .super_shape = scales->shape,
				 .sub = v.scale,
				 .scale = scales->scale};
	(void)!qn_params_super(&r->m->types, place, &d, &out); /* reported */
	return true;
}

bool
qn_read_param(qn_reader *r)
{
	const char *place = qn_read_place(r);
	const char *name;
	const qn_params *out;
	values v = {0};

	if (!qn_read_name(r, "@", &name) || !qn_read_expect(r, "=") || !read_values(r, &v, 0))
		return false;
	if (qn_text_eat(&r->text, "*"))
		return read_super(r, place, name, &v);
	if (v.n <= QN_INLINE_PARAMS)
		(void)qn_report(r->m->env, QN_EINVALID, "param.length", place,
				"@%s has %zu values; up to %d must be written in the type", name,
				v.n, QN_INLINE_PARAMS);
	else if (positive(r, place, name, &v)) /* what else is wrong has been reported */
		if (qn_params_intern(&r->m->types, place, name, v.n, v.rank, v.shape, v.scale, v.zp,
				     &out) != QN_OK)
			return true;
	return true;
}

/* A symbol's values: one pair, a list, or the named list of a `param`. */
static bool
read_bound(qn_reader *r, values *v, bool *ok)
{
	qn_text start = r->text;

	if (!qn_text_peek(&r->text, "{"))
		return read_pair(r, v);
	(void)qn_text_eat(&r->text, "{");
	if (!qn_text_peek(&r->text, "@")) {
		r->text = start;
		return read_values(r, v, 0);
	}
	const char *place = qn_read_place(r);
	const char *name;
	if (!qn_read_name(r, "@", &name) || !qn_read_expect(r, "}"))
		return false;
	const qn_params *p = qn_map_gets(&r->m->types.params_by_name, name);
	if (p == NULL) {
		*ok = false;
		(void)qn_report(r->m->env, QN_EINVALID, "type.param.unknown", place,
				"unknown parameters '@%s'", name);
		return true;
	}
	v->n = p->n;
	v->rank = p->rank;
	v->scale = qn_arena_copy(r->m->arena, p->scale, p->n * sizeof *p->scale);
	v->zp = p->zp != NULL ? qn_arena_copy(r->m->arena, p->zp, p->n * sizeof *p->zp) : NULL;
	return true;
}

/* ", len 16" and ", method "kl"", if they are there. */
static bool
read_symbol_facts(qn_reader *r, int64_t *len, const char **method)
{
	bool more = qn_text_eat(&r->text, ",");

	if (more && qn_text_eat(&r->text, "len")) {
		if (!qn_text_int(&r->text, len))
			return qn_read_fail(r, "expected 'len' and a number");
		more = qn_text_eat(&r->text, ",");
	}
	if (!more)
		return true;
	if (!qn_text_eat(&r->text, "method"))
		return qn_read_fail(r, "expected 'len' and a number, or 'method' and its text");
	return qn_read_quoted(r, method);
}

bool
qn_read_symbol(qn_reader *r)
{
	const char *place = qn_read_place(r);
	const char *name, *method = NULL;
	qn_symbol *symbol;
	int64_t len = 0;

	if (!qn_read_name(r, "$", &name) || !qn_read_expect(r, ":"))
		return false;
	bool symmetric = qn_text_eat(&r->text, "sym");
	if (!symmetric && !qn_text_eat(&r->text, "asym"))
		return qn_read_fail(r, "expected sym or asym");
	if (!read_symbol_facts(r, &len, &method))
		return false;
	bool ok = qn_symbol_declare(&r->m->types, place, name,
				    symmetric ? QN_SYM_SYMMETRIC : QN_SYM_ASYMMETRIC, len,
				    &symbol) == QN_OK;
	if (ok)
		symbol->method = method;
	if (!qn_text_eat(&r->text, "="))
		return true;
	values v = {0};
	if (!read_bound(r, &v, &ok))
		return false;
	if (ok && v.rank > 1)
		(void)qn_report(r->m->env, QN_EINVALID, "symbol.len", place,
				"symbol $%s takes a flat list", name);
	else if (ok && qn_symbol_bind(&r->m->types, place, name, v.n, v.scale, v.zp) != QN_OK)
		return true; /* reported */
	return true;
}
