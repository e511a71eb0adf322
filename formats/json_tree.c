/* SPDX-License-Identifier: Apache-2.0 */
/* json_tree.c - JSON as a tree in an arena; the one file that includes cJSON.
 *
 *   bytes ──qn_json_lex──▶ strict JSON ──cJSON──▶ its tree ──copy──▶ arrays of qn_json, children side by side
 *
 * cJSON reads numbers with strtod; the thread's locale is "C" meanwhile, so that the point of a
 * number is a point.  Its tree is deleted right after the copy; the deferred call is for the
 * case that the arena runs out of memory in between. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "formats/json_tree.h"

#include <cjson/cJSON.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif

#include "ir/diag.h"
#include "ir/map.h"
#include "ir/nearest.h"
#include "ir/text.h"

static const char *const kind_names[] = {"null",     "true or false", "a number",
					 "a string", "an array",      "an object"};

enum { FEW_KEYS = 8 }; /* up to here duplicates are looked for by comparing all pairs */

typedef struct holder {
	cJSON *root;
} holder;

static void
drop(void *ptr)
{
	holder *h = ptr;

	cJSON_Delete(h->root);
	h->root = NULL;
}

/* ---- building ---- */

typedef struct builder {
	qn_json_doc *doc;
	const char *duplicate; /* id */
	qn_status status;
} builder;

static void
report_duplicate(builder *b, const qn_json *v)
{
	b->status = qn_report(b->doc->env, QN_EINVALID, b->duplicate,
			      qn_json_place(b->doc, b->doc->arena, v),
			      "duplicate key '%s'; remove one", v->key);
}

static void
check_keys(builder *b, const qn_json *v)
{
	qn_map seen;

	if (v->n > FEW_KEYS) {
		qn_map_init(&seen, b->doc->arena);
		for (size_t i = 0; i < v->n; i++) {
			const qn_json *child = &v->child[i];

			if (qn_map_gets(&seen, child->key) != NULL)
				report_duplicate(b, child);
			else
				qn_map_puts(&seen, child->key, b);
		}
		return;
	}
	for (size_t i = 1; i < v->n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(v->child[k].key, v->child[i].key) == 0) {
				report_duplicate(b, &v->child[i]);
				break;
			}
}

static qn_json_kind
kind_of(const cJSON *c)
{
	if (cJSON_IsNumber(c))
		return QN_JSON_NUMBER;
	if (cJSON_IsString(c))
		return QN_JSON_STRING;
	if (cJSON_IsArray(c))
		return QN_JSON_ARRAY;
	if (cJSON_IsObject(c))
		return QN_JSON_OBJECT;
	return cJSON_IsBool(c) ? QN_JSON_BOOL : QN_JSON_NULL;
}

/* Fills *v, whose key and parent are set.  Recursion is as deep as the brackets. */
static void
build(builder *b, const cJSON *c, qn_json *v)
{
	qn_arena *a = b->doc->arena;
	size_t i = 0;

	v->kind = kind_of(c);
	if (v->kind == QN_JSON_STRING)
		v->string = qn_arena_str(a, c->valuestring);
	v->truth = cJSON_IsTrue(c) != 0;
	v->number = v->kind == QN_JSON_NUMBER ? c->valuedouble : 0;
	if (!isfinite(v->number))
		b->status = qn_report(b->doc->env, QN_EINVALID, "json.number",
				      qn_json_place(b->doc, a, v),
				      "the number is larger than a double can hold (1.8e308)");
	if (v->kind != QN_JSON_ARRAY && v->kind != QN_JSON_OBJECT)
		return;
	for (const cJSON *k = c->child; k != NULL; k = k->next)
		v->n++;
	qn_json *child = QN_NEW(a, qn_json, v->n);
	v->child = child;
	for (const cJSON *k = c->child; k != NULL; k = k->next, i++) {
		child[i].parent = v;
		child[i].key = v->kind == QN_JSON_OBJECT ? qn_arena_str(a, k->string) : NULL;
		build(b, k, &child[i]);
	}
	if (v->kind == QN_JSON_OBJECT)
		check_keys(b, v);
}

/* The text has passed qn_json_lex, so NULL, like a missing locale, means one thing: no memory. */
static cJSON *
parse_in_c_locale(const char *s, size_t n)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);

	if (c == (locale_t)0)
		return NULL;
	locale_t outer = uselocale(c);
	cJSON *root = cJSON_ParseWithLength(s, n);
	(void)uselocale(outer);
	freelocale(c);
	return root;
}

static qn_status
syntax(const qn_json_doc *d, const char *id, const char *s, const char *at, size_t n,
       const char *reason)
{
	char place[1024];
	qn_text t;

	qn_text_init(&t, d->file, s, n);
	t.at = at;
	return qn_report(d->env, QN_EINVALID, id, qn_text_place(&t, place, sizeof place), "%s",
			 reason);
}

qn_status
qn_json_tree(qn_arena *a, const char *file, const char *s, size_t n, const qn_json_ids *ids,
	     qn_json_doc *out)
{
	static const qn_json_ids own = {"json.syntax", "json.key.duplicate"};
	const char *at = s;
	holder *h = QN_NEW(a, holder, 1);
	qn_json *root = QN_NEW(a, qn_json, 1);

	ids = ids != NULL ? ids : &own;
	*out = (qn_json_doc){.arena = a, .env = a->env, .file = file, .root = root};
	const char *reason = qn_json_lex(s, n, &at);
	if (reason != NULL)
		return syntax(out, ids->syntax, s, at, n, reason);
	qn_arena_defer(a, drop, h);
	h->root = parse_in_c_locale(s, n);
	if (h->root == NULL)
		qn_env_oom(a->env);
	builder b = {.doc = out, .duplicate = ids->duplicate};
	build(&b, h->root, root);
	drop(h);
	return b.status;
}

/* ---- places ---- */

const char *
qn_json_place(const qn_json_doc *d, qn_arena *a, const qn_json *v)
{
	const qn_json *way[QN_JSON_DEPTH + 2];
	size_t n = 0;
	qn_buf b;

	for (; v != NULL && v->parent != NULL && n < QN_COUNT(way); v = v->parent)
		way[n++] = v;
	qn_buf_init(&b, a);
	qn_buff(&b, "%s:", d->file);
	if (n == 0)
		qn_buf_putc(&b, '/');
	while (n > 0) {
		v = way[--n];
		qn_buf_putc(&b, '/');
		if (v->key == NULL)
			qn_buff(&b, "%zu", (size_t)(v - v->parent->child));
		for (const char *p = v->key; p != NULL && *p != '\0'; p++)
			if (*p == '~' || *p == '/')
				qn_buf_puts(&b, *p == '~' ? "~0" : "~1");
			else
				qn_buf_putc(&b, *p);
	}
	return qn_buf_str(&b);
}

/* ---- getters ---- */

const qn_json *
qn_json_find(const qn_json *v, const char *key)
{
	if (v->kind != QN_JSON_OBJECT)
		return NULL;
	for (size_t i = 0; i < v->n; i++)
		if (strcmp(v->child[i].key, key) == 0)
			return &v->child[i];
	return NULL;
}

bool
qn_json_is(const qn_json_doc *d, const qn_json *v, qn_json_kind kind)
{
	if (v->kind == kind)
		return true;
	(void)qn_report(d->env, QN_EINVALID, "json.kind", qn_json_place(d, d->arena, v),
			"this must be %s, not %s", kind_names[kind], kind_names[v->kind]);
	return false;
}

const qn_json *
qn_json_want(const qn_json_doc *d, const qn_json *v, const char *key, qn_json_kind kind)
{
	const qn_json *child = qn_json_find(v, key);

	return child != NULL && qn_json_is(d, child, kind) ? child : NULL;
}

const qn_json *
qn_json_need(const qn_json_doc *d, const qn_json *v, const char *key, qn_json_kind kind)
{
	if (qn_json_find(v, key) != NULL)
		return qn_json_want(d, v, key, kind);
	(void)qn_report(d->env, QN_EINVALID, "json.key.missing", qn_json_place(d, d->arena, v),
			"missing key '%s' (expected %s)", key, kind_names[kind]);
	return NULL;
}

void
qn_json_only(const qn_json_doc *d, const qn_json *v, size_t n, const char *const *keys)
{
	for (size_t i = 0; i < v->n; i++) {
		const qn_json *child = &v->child[i];
		size_t k = 0;

		while (k < n && strcmp(keys[k], child->key) != 0)
			k++;
		if (k < n || child->key[0] == '_')
			continue;
		const char *best = qn_nearest_name(child->key, n, keys);
		(void)qn_report(d->env, QN_EINVALID, "json.key.unknown",
				qn_json_place(d, d->arena, child),
				"unknown key '%s' (expected %s, or a comment whose key begins "
				"with _)" QN_DID_YOU_MEAN,
				child->key, qn_choices(d->arena, n, keys), QN_SUGGEST(best));
	}
}

const char *
qn_json_describe(qn_arena *a, const qn_json *v)
{
	enum { SHOWN = 60 }; /* bytes of a text */
	qn_buf b;
	size_t n;

	qn_buf_init(&b, a);
	switch (v->kind) {
	case QN_JSON_NULL:
		return "null";
	case QN_JSON_BOOL:
		return v->truth ? "true" : "false";
	case QN_JSON_NUMBER:
		if (v->number == floor(v->number) && fabs(v->number) < 1e15)
			qn_buff(&b, "%lld", (long long)v->number);
		else
			qn_buff(&b, "%g", v->number);
		break;
	case QN_JSON_STRING:
		n = strlen(v->string);
		if (n > SHOWN) /* not inside a character */
			for (n = SHOWN; n > 0 && ((unsigned char)v->string[n] & 0xc0) == 0x80;)
				n--;
		qn_buff(&b, "%.*s%s", (int)n, v->string, v->string[n] != '\0' ? "…" : "");
		break;
	case QN_JSON_ARRAY:
		qn_buff(&b, "an array of %zu", v->n);
		break;
	case QN_JSON_OBJECT:
		return "an object";
	}
	return qn_buf_str(&b);
}

/* ---- numbers ---- */

/* Optional '-' and digits: the magnitude. */
static bool
magnitude(const char *s, bool *negative, uint64_t *out)
{
	uint64_t v = 0;

	*negative = *s == '-';
	s += *negative;
	if (*s == '\0')
		return false;
	for (; *s != '\0'; s++) {
		uint64_t digit = (uint64_t)(*s - '0');

		if (*s < '0' || *s > '9' || v > (UINT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*out = v;
	return true;
}

static bool
integer(const qn_json *v, bool *negative, uint64_t *out)
{
	if (v->kind == QN_JSON_STRING)
		return magnitude(v->string, negative, out);
	double m = fabs(v->number);

	if (v->kind != QN_JSON_NUMBER || m > 9007199254740992.0 || m != floor(m))
		return false;
	*negative = v->number < 0;
	*out = (uint64_t)m;
	return true;
}

bool
qn_json_i64(const qn_json *v, int64_t *out)
{
	bool negative = false;
	uint64_t m = 0;

	if (!integer(v, &negative, &m) || m > (uint64_t)INT64_MAX + negative)
		return false;
	*out = negative ? (m > (uint64_t)INT64_MAX ? INT64_MIN : -(int64_t)m) : (int64_t)m;
	return true;
}

bool
qn_json_u64(const qn_json *v, uint64_t *out)
{
	bool negative = false;

	return integer(v, &negative, out) && (!negative || *out == 0);
}

bool
qn_json_f64(const qn_json *v, double *out)
{
	static const char *const names[] = {"inf", "-inf", "nan"};
	const double values[] = {(double)INFINITY, -(double)INFINITY, (double)NAN};

	if (v->kind == QN_JSON_NUMBER) {
		*out = v->number;
		return true;
	}
	for (size_t i = 0; v->kind == QN_JSON_STRING && i < QN_COUNT(names); i++)
		if (strcmp(v->string, names[i]) == 0) {
			*out = values[i];
			return true;
		}
	return false;
}
