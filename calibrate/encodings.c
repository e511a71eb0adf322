/* SPDX-License-Identifier: Apache-2.0 */
/* encodings.c - see encodings.h: first the file by itself, then the symbols that its names stand
 * for. */
#include "calibrate/encodings.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "formats/json_tree.h"
#include "ir/diag.h"

/* One pair of parameters. */
typedef struct pair {
	int64_t bits, offset;
	double scale;
	bool symmetric;
} pair;

/* What a name has: a pair, or one a channel. */
typedef struct encoding {
	const qn_json *at;
	const pair *pair;
	size_t n;
} encoding;

enum { ACTIVATIONS, PARAMS, SECTIONS };
static const char *const sections[SECTIONS] = {"activation_encodings", "param_encodings"};

struct qn_encodings {
	qn_arena *a;
	qn_json_doc doc;
	qn_map name[SECTIONS]; /* -> encoding */
	const encoding *list[SECTIONS];
	size_t n[SECTIONS];
};

/* ---- the file ---- */

static void
bad(const qn_encodings *e, const qn_json *v, const char *why)
{
	(void)qn_report(e->doc.env, QN_EINVALID, "encodings.value", qn_json_place(&e->doc, e->a, v),
			"%s", why);
}

/* A finite number; false when there is none, or after a report. */
static bool
number(const qn_encodings *e, const qn_json *v, const char *key, double *out)
{
	const qn_json *m = qn_json_find(v, key);

	if (m == NULL)
		return false;
	if (qn_json_f64(m, out) && isfinite(*out))
		return true;
	bad(e, m, "is no finite number");
	return false;
}

static void
read_bits(const qn_encodings *e, const qn_json *v, pair *p)
{
	const qn_json *m = qn_json_need(&e->doc, v, "bitwidth", QN_JSON_NUMBER);

	p->bits = 8;
	if (m != NULL && (!qn_json_i64(m, &p->bits) ||
			  (p->bits != 4 && p->bits != 8 && p->bits != 16 && p->bits != 32))) {
		bad(e, m, "is no width of codes; there are 4, 8, 16 and, for biases, 32 bits");
		p->bits = 8;
	}
}

static void
read_words(const qn_encodings *e, const qn_json *v, pair *p)
{
	const qn_json *dtype = qn_json_want(&e->doc, v, "dtype", QN_JSON_STRING);
	const qn_json *sym = qn_json_find(v, "is_symmetric");

	if (dtype != NULL && strcmp(dtype->string, "int") != 0)
		bad(e, dtype,
		    "is not \"int\"; leave the value out here, and have it stay in float "
		    "with --skip");
	if (sym == NULL)
		return;
	if (sym->kind == QN_JSON_BOOL)
		p->symmetric = sym->truth;
	else if (sym->kind == QN_JSON_STRING && strcmp(sym->string, "True") == 0)
		p->symmetric = true;
	else if (sym->kind != QN_JSON_STRING || strcmp(sym->string, "False") != 0)
		bad(e, sym, "is neither \"True\" nor \"False\"");
}

/* Parameters from a range alone: it becomes 2^bits - 1 steps, 0 one of them. */
static void
from_range(const qn_encodings *e, const qn_json *v, double lo, double hi, pair *p)
{
	if (lo > 0 || hi < 0 || lo == hi) {
		bad(e, v, "is a range without 0 or of no width, and there is no scale and offset");
		return;
	}
	p->scale = hi / (ldexp(1, (int)p->bits) - 1) - lo / (ldexp(1, (int)p->bits) - 1);
	if (p->scale < (double)FLT_MIN || p->scale > (double)FLT_MAX)
		bad(e, v, "is a range whose scale is no normal f32");
	else
		p->offset = (int64_t)rint(lo / p->scale);
}

/* The range that is given agrees with scale and offset, but for a code at an end that is not
 * used. */
static bool
agrees(double given, double code, double scale)
{
	return fabs(given - code * scale) <= 1.5 * scale + 1e-5 * fabs(given);
}

static void
read_pair(const qn_encodings *e, const qn_json *v, pair *p)
{
	double lo = 0, hi = 0, offset = 0;
	size_t errors = e->doc.env->diags->nerrors;

	if (!qn_json_is(&e->doc, v, QN_JSON_OBJECT))
		return;
	read_bits(e, v, p);
	read_words(e, v, p);
	const double top = ldexp(1, (int)p->bits) - 1;
	const bool has_lo = number(e, v, "min", &lo), has_hi = number(e, v, "max", &hi);
	const bool has_scale = number(e, v, "scale", &p->scale);
	const bool has_offset = number(e, v, "offset", &offset);
	if (e->doc.env->diags->nerrors > errors)
		return;
	if (has_lo && has_hi && lo > hi)
		bad(e, qn_json_find(v, "min"), "is above max");
	else if (!has_scale && !has_offset && has_lo && has_hi)
		from_range(e, v, lo, hi, p);
	else if (!has_scale || !has_offset)
		bad(e, v, "has neither scale and offset nor min and max");
	else if (p->scale < (double)FLT_MIN || p->scale > (double)FLT_MAX)
		bad(e, qn_json_find(v, "scale"), "is no positive normal f32");
	else if (offset != rint(offset) || offset > 0 || offset < -top)
		bad(e, qn_json_find(v, "offset"),
		    "is no whole number from -(2^bitwidth - 1) to 0: real = (k + offset) * scale "
		    "for "
		    "k from 0, and 0 is a code");
	else if ((has_lo && !agrees(lo, offset, p->scale)) ||
		 (has_hi && !agrees(hi, offset + top, p->scale)))
		bad(e, v, "has a min or max that is not that of its scale and offset");
	else
		p->offset = (int64_t)offset;
}

static void
read_section(qn_encodings *e, int k)
{
	const qn_json *s = qn_json_find(e->doc.root, sections[k]);

	qn_map_init(&e->name[k], e->a);
	if (s == NULL || !qn_json_is(&e->doc, s, QN_JSON_OBJECT))
		return;
	encoding *list = QN_NEW(e->a, encoding, s->n);
	for (size_t i = 0; i < s->n; i++) {
		const qn_json *v = &s->child[i];

		list[i].at = v;
		if (!qn_json_is(&e->doc, v, QN_JSON_ARRAY))
			continue;
		if (v->n == 0 || (v->n > 1 && k == ACTIVATIONS)) {
			bad(e, v,
			    v->n == 0 ? "is empty"
				      : "has more than one encoding: activations have one for all "
					"channels");
			continue;
		}
		pair *p = QN_NEW(e->a, pair, v->n);
		for (size_t c = 0; c < v->n; c++)
			read_pair(e, &v->child[c], &p[c]);
		list[i].pair = p;
		list[i].n = v->n;
		qn_map_puts(&e->name[k], v->key, &list[i]);
	}
	e->list[k] = list;
	e->n[k] = s->n;
}

qn_status
qn_encodings_read(qn_env *env, qn_arena *a, const char *file, const char *text, size_t n,
		  qn_encodings **out)
{
	const size_t errors = env->diags->nerrors;
	qn_encodings *e = QN_NEW(a, qn_encodings, 1);

	*out = e;
	e->a = a;
	QN_TRY(qn_json_tree(a, file, text, n, NULL, &e->doc));
	if (!qn_json_is(&e->doc, e->doc.root, QN_JSON_OBJECT))
		return QN_EINVALID;
	const qn_json *version = qn_json_find(e->doc.root, "version");
	if ((version != NULL &&
	     (version->kind != QN_JSON_STRING || strncmp(version->string, "0.", 2) != 0)) ||
	    (qn_json_find(e->doc.root, sections[ACTIVATIONS]) == NULL &&
	     qn_json_find(e->doc.root, sections[PARAMS]) == NULL))
		return qn_report(env, QN_EINVALID, "encodings.version",
				 qn_json_place(&e->doc, a, version != NULL ? version : e->doc.root),
				 "is no file of encodings of version 0.6.1, which have "
				 "activation_encodings and param_encodings by name; write them in "
				 "that version");
	for (int k = 0; k < SECTIONS; k++)
		read_section(e, k);
	return env->diags->nerrors > errors ? QN_EINVALID : QN_OK;
}

/* ---- symbols ---- */

const qn_node *
qn_encoded_value(const qn_graph *g, const qn_node *quantize)
{
	const qn_node *of = qn_graph_node(g, quantize->in[0]);

	while (of->op == QN_OP_dequantize && qn_graph_node(g, of->in[0])->op == QN_OP_quantize)
		of = qn_graph_node(g, qn_graph_node(g, of->in[0])->in[0]);
	return of;
}

static const encoding *
encoding_of(const qn_encodings *e, const qn_graph *g, const qn_node *q)
{
	const qn_node *of = qn_encoded_value(g, q);
	const qn_map *names = &e->name[of->op == QN_OP_const ? PARAMS : ACTIVATIONS];
	const encoding *own = qn_map_gets(names, q->name);

	return own != NULL ? own : qn_map_gets(names, of->name);
}

/* A symmetric grid has 0 in the middle, with as many codes on both sides or one more below. */
static int64_t
zero_point(const pair *p, const qn_elem *t, bool symmetric)
{
	const int64_t half = (int64_t)1 << (p->bits - 1);

	if ((p->symmetric || symmetric) && (p->offset == -half || p->offset == 1 - half))
		return t->is_signed ? 0 : half;
	return t->qmin - p->offset;
}

static qn_status
check_pair(const qn_encodings *e, qn_model *m, const qn_node *q, const qn_json *at, const pair *p,
	   int64_t zp, bool symmetric)
{
	const qn_elem *t = q->type->elem;

	if (p->bits != t->bits)
		return qn_report(m->env, QN_EINVALID, "encodings.bitwidth",
				 qn_json_place(&e->doc, e->a, at),
				 "has %lld bits, but '%s' is stored in %d; --activations, "
				 "--weights-type or --recipe say how it is stored",
				 (long long)p->bits, q->name, (int)t->bits);
	if (zp < t->qmin || zp > t->qmax)
		return qn_report(m->env, QN_EINVALID, "encodings.value",
				 qn_json_place(&e->doc, e->a, at),
				 "has offset %lld, with which 0 is no code of '%s'",
				 (long long)p->offset, q->name);
	if (symmetric && zp != 0)
		return qn_report(m->env, QN_EINVALID, "encodings.symmetric",
				 qn_json_place(&e->doc, e->a, at),
				 "has offset %lld, but '%s' is stored without a zero point: its "
				 "offset is %lld or %lld",
				 (long long)p->offset, q->name, -(1LL << (p->bits - 1)),
				 1 - (1LL << (p->bits - 1)));
	return QN_OK;
}

static qn_status
bind(const qn_encodings *e, qn_model *m, const qn_node *q, const qn_symbol *sym,
     const encoding *from)
{
	const size_t n = sym->len > 0 ? (size_t)sym->len : 1;
	const bool symmetric = sym->kind == QN_SYM_SYMMETRIC;
	double *scale = QN_NEW(m->scratch, double, n);
	int64_t *zp = QN_NEW(m->scratch, int64_t, n);

	if (from->n != 1 && from->n != n)
		return qn_report(m->env, QN_EINVALID, "encodings.length",
				 qn_json_place(&e->doc, e->a, from->at),
				 "has %zu encodings, but '%s' has %zu (--weights per-channel or "
				 "per-tensor)",
				 from->n, q->name, n);
	for (size_t k = 0; k < n; k++) {
		const size_t i = from->n == 1 ? 0 : k;

		scale[k] = from->pair[i].scale;
		zp[k] = zero_point(&from->pair[i], q->type->elem, symmetric);
		QN_TRY(check_pair(e, m, q, &from->at->child[i], &from->pair[i], zp[k], symmetric));
	}
	return qn_symbol_bind(&m->types, qn_json_place(&e->doc, e->a, from->at), sym->name, n,
			      scale, symmetric ? NULL : zp);
}

enum { MOST_NAMES = 12 };

static void
warn_unused(const qn_encodings *e, qn_model *m)
{
	const qn_graph *g = qn_model_entry(m);
	size_t n = 0;
	qn_buf b;

	qn_buf_init(&b, m->scratch);
	for (int k = 0; k < SECTIONS; k++)
		for (size_t i = 0; i < e->n[k]; i++) {
			const char *name = e->list[k][i].at->key;

			if (qn_graph_find(g, name) == 0 && n++ < MOST_NAMES)
				qn_buff(&b, "%s'%s'", n > 1 ? ", " : "", name);
		}
	if (n > 0)
		qn_warn(m->env, "encodings.unused", e->doc.file,
			"names %zu values that the model does not have: %s%s", n, qn_buf_str(&b),
			n > MOST_NAMES ? ", …" : "");
}

qn_status
qn_encodings_bind(qn_model *m, const qn_encodings *e)
{
	const qn_graph *g = qn_model_entry(m);
	qn_status status = QN_OK;

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *q = qn_graph_node(g, id);

		if (q->op != QN_OP_quantize || q->type->elem->scale->kind != QN_SCALE_SYM ||
		    q->type->elem->scale->sym->bound)
			continue;
		const encoding *from = encoding_of(e, g, q);
		if (from != NULL && bind(e, m, q, q->type->elem->scale->sym, from) != QN_OK)
			status = QN_EINVALID;
	}
	warn_unused(e, m);
	return status;
}

qn_status
qn_encodings_missing(const qn_encodings *e, qn_model *m, const char *names)
{
	return qn_report(m->env, QN_EINVALID, "encodings.missing", e->doc.file,
			 "has no activation_encodings for %s; add them, or give samples to "
			 "calibrate on (--calib FILE.npy)",
			 names);
}
