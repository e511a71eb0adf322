/* SPDX-License-Identifier: Apache-2.0 */
/* graph_parse.c - reads a model from its text form (docs/ir.md):
 *
 *   model "digits" stage calibrated rounding single options "scheme=tflite"
 *   param @conv1.w.q = {0.1, 0.2:-4, …}
 *   symbol $conv1.w : sym, len 16 = {@conv1.w.q}
 *   graph @main(…) { … } */
#include "ir/graph_text.h"

#include <string.h>

/* Scales and zero points being read. */
typedef struct values {
	double *scale;
	int64_t *zp;
	size_t n, scale_cap, zp_cap;
	int32_t rank; /* 0: not known yet */
	int64_t shape[QN_MAX_RANK];
} values;

static bool
read_choice(qn_reader *r, const char *const *names, size_t n, const char *what, size_t *out)
{
	for (*out = 0; *out < n; ++*out)
		if (qn_text_eat(&r->text, names[*out]))
			return true;
	return qn_read_fail(r, "expected a %s", what);
}

/* After `model`. */
static bool
read_header(qn_reader *r)
{
	size_t k;

	if (!qn_read_quoted(r, &r->m->name))
		return false;
	if (qn_text_eat(&r->text, "stage")) {
		if (!read_choice(r, qn_stage_names, 4,
				 "stage (float, symbolic, calibrated or integer)", &k))
			return false;
		r->m->stage = (qn_stage)k;
	}
	r->m->quantized_here = qn_text_eat(&r->text, "quantized");
	r->m->opened = qn_text_eat(&r->text, "opened");
	if (qn_text_eat(&r->text, "after") && !qn_read_quoted(r, &r->m->after))
		return false;
	if (qn_text_eat(&r->text, "rounding")) {
		if (!read_choice(r, qn_rounding_names, 4,
				 "rounding (double, single, nearest or even)", &k))
			return false;
		r->m->rounding = (int32_t)k;
	}
	return !qn_text_eat(&r->text, "options") || qn_read_quoted(r, &r->m->options);
}

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

/* After `param`. */
static bool
read_param(qn_reader *r)
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

/* After `symbol`. */
static bool
read_symbol(qn_reader *r)
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

/* After `clipped`. */
static bool
read_clipped(qn_reader *r)
{
	int64_t outside, elements;
	qn_clipped c = {0};

	if (!qn_read_quoted(r, &c.value))
		return false;
	if (!qn_text_int(&r->text, &outside) || !qn_text_eat(&r->text, "of") ||
	    !qn_text_int(&r->text, &elements) || outside < 1 || elements < outside)
		return qn_read_fail(r, "expected 'K of N' elements, K from 1 to N");
	c.outside = (uint64_t)outside;
	c.elements = (uint64_t)elements;
	qn_model_clipped(r->m, &c);
	return true;
}

/* After `pruned`. */
static bool
read_pruned(qn_reader *r)
{
	int64_t removed, channels, bytes, macs;
	qn_pruned p = {0};

	if (!qn_read_quoted(r, &p.value))
		return false;
	if (!qn_text_int(&r->text, &removed) || !qn_text_eat(&r->text, "of") ||
	    !qn_text_int(&r->text, &channels) || !qn_text_eat(&r->text, ",") ||
	    !qn_text_eat(&r->text, "bytes") || !qn_text_int(&r->text, &bytes) ||
	    !qn_text_eat(&r->text, ",") || !qn_text_eat(&r->text, "macs") ||
	    !qn_text_int(&r->text, &macs) || removed < 0 || channels <= removed || bytes < 0 ||
	    macs < 0)
		return qn_read_fail(r, "expected 'K of N, bytes B, macs M', K from 0 to N - 1");
	p.removed = (uint64_t)removed;
	p.channels = (uint64_t)channels;
	p.bytes = (uint64_t)bytes;
	p.macs = (uint64_t)macs;
	qn_model_pruned(r->m, &p);
	return true;
}

/* After `widened`. */
static bool
read_widened(qn_reader *r)
{
	qn_widened w = {0};

	if (!qn_read_quoted(r, &w.value))
		return false;
	if (!qn_text_real(&r->text, false, &w.gain) || !qn_text_eat(&r->text, "dB"))
		return qn_read_fail(r, "expected 'X dB'");
	qn_model_widened(r->m, &w);
	return true;
}

/* After `repaired`. */
static bool
read_repaired(qn_reader *r)
{
	qn_repaired p = {0};

	if (!qn_read_quoted(r, &p.value))
		return false;
	if (!qn_text_real(&r->text, false, &p.before) || !qn_text_eat(&r->text, "to") ||
	    !qn_text_real(&r->text, false, &p.after) || !qn_text_eat(&r->text, "dB"))
		return qn_read_fail(r, "expected 'X to Y dB'");
	while (qn_text_eat(&r->text, ",")) {
		bool *const is = qn_text_eat(&r->text, "weights") ? &p.weights
				 : qn_text_eat(&r->text, "bias")  ? &p.bias
								  : NULL;

		if (is == NULL)
			return qn_read_fail(r, "expected weights or bias");
		*is = true;
	}
	qn_model_repaired(r->m, &p);
	return true;
}

static bool
read_model(qn_reader *r)
{
	if (qn_text_eat(&r->text, "model") && !read_header(r))
		return false;
	for (qn_text_skip(&r->text); r->text.at < r->text.end; qn_text_skip(&r->text)) {
		bool ok;

		if (r->m->env->diags->n == QN_MAX_DIAGS)
			return false;
		if (qn_text_eat(&r->text, "symbol"))
			ok = read_symbol(r);
		else if (qn_text_eat(&r->text, "param"))
			ok = read_param(r);
		else if (qn_text_eat(&r->text, "tensor"))
			ok = qn_foreign_names_read(r);
		else if (qn_text_eat(&r->text, "clipped"))
			ok = read_clipped(r);
		else if (qn_text_eat(&r->text, "pruned"))
			ok = read_pruned(r);
		else if (qn_text_eat(&r->text, "widened"))
			ok = read_widened(r);
		else if (qn_text_eat(&r->text, "repaired"))
			ok = read_repaired(r);
		else if (qn_text_eat(&r->text, "streamed"))
			ok = qn_read_streamed(r);
		else if (qn_text_eat(&r->text, "graph"))
			ok = qn_read_graph(r);
		else
			ok = qn_read_fail(r, "expected symbol, param, tensor, clipped, pruned, "
					     "widened, repaired, streamed or graph");
		if (!ok)
			return false;
	}
	return r->m->ngraph > 0 || qn_read_fail(r, "expected a graph");
}

static qn_status
parse(qn_model *m, const char *file, const char *s, size_t n, int64_t fill)
{
	const qn_diags *d = m->env->diags;
	size_t errors = d->nerrors;
	size_t first = d->n;
	qn_reader r = {.m = m, .counted = s, .line_start = s, .line = 1};

	r.filled = QN_MAX_FILLED - fill;
	qn_text_init(&r.text, file != NULL ? file : "", s, n);
	qn_map_init(&r.graphs, m->arena);
	bool ok = read_model(&r);
	if (ok && d->nerrors == errors)
		return QN_OK;
	while (first < d->n && d->item[first].severity != QN_ERROR)
		first++;
	return first < d->n ? d->item[first].status : QN_EINVALID;
}

qn_status
qn_model_parse(qn_model *m, const char *file, const char *s, size_t n)
{
	return parse(m, file, s, n, QN_MAX_FILLED);
}

qn_status
qn_model_parse_small(qn_model *m, const char *file, const char *s, size_t n)
{
	return parse(m, file, s, n, 1 << 20);
}
