/* SPDX-License-Identifier: Apache-2.0 */
/* tune_journal_read.c - a journal of quern tune (tune_journal.c), read as if somebody else had written it: what it has
 * is complete, within bounds, and what was written, or it is an error with the place and the way out. */
#include <math.h>
#include <string.h>

#include "driver/tune_journal.h"
#include "formats/file.h"
#include "formats/json_tree.h"

/* Sums of as many layers as there may be stay below 2^60. */
enum { MOST_LAYERS = 1 << 16 };
static const uint64_t most_count = (uint64_t)1 << 44; /* bytes, instructions */
static const double most_noise = 1e12;                /* what tune_measure.c says at most */

typedef struct reader {
	qn_env *env;
	const qn_json_doc *d;
	qn_arena *a;
	bool bad; /* it was reported */
} reader;

static void
refuse(reader *r, const qn_json *v)
{
	if (!r->bad)
		(void)qn_report(r->env, QN_EINVALID, "tune.journal", qn_json_place(r->d, r->a, v),
				"this is not what quern tune writes: %s; remove the journal to "
				"begin again",
				qn_json_describe(r->a, v));
	r->bad = true;
}

static const qn_json *
need(reader *r, const qn_json *v, const char *key, qn_json_kind kind)
{
	const qn_json *m = qn_json_find(v, key);

	if (m != NULL && m->kind == kind)
		return m;
	refuse(r, v);
	return NULL;
}

static uint64_t
count(reader *r, const qn_json *v, const char *key)
{
	const qn_json *m = qn_json_find(v, key);
	uint64_t n = 0;

	if (m == NULL || !qn_json_u64(m, &n) || n > most_count)
		refuse(r, m != NULL ? m : v);
	return n;
}

/* A NaN is none. */
static double
real(reader *r, const qn_json *v, const char *key)
{
	const qn_json *m = qn_json_find(v, key);
	double x = 0;

	if (m == NULL || !qn_json_f64(m, &x) || isnan(x))
		refuse(r, m != NULL ? m : v);
	return x;
}

static double
noise(reader *r, const qn_json *v, const char *key)
{
	const double x = real(r, v, key);

	if (!(x >= 0 && x <= most_noise))
		refuse(r, qn_json_find(v, key));
	return x;
}

static const char *
string(reader *r, const qn_json *v, const char *key)
{
	const qn_json *m = need(r, v, key, QN_JSON_STRING);

	return m != NULL ? qn_arena_str(r->a, m->string) : "";
}

/* Eight digits, as they are written. */
static uint32_t
hash(reader *r, const qn_json *v, const char *key)
{
	static const char digits[] = "0123456789abcdef";
	const char *text = string(r, v, key);
	uint32_t n = 0;

	if (strlen(text) != 8 || strspn(text, digits) != 8) {
		refuse(r, qn_json_find(v, key) != NULL ? qn_json_find(v, key) : v);
		return 0;
	}
	for (; *text != '\0'; text++)
		n = n << 4 | (uint32_t)(strchr(digits, *text) - digits);
	return n;
}

static qn_tune_layer
read_layer(reader *r, const qn_json *v)
{
	qn_tune_layer l = {.name = string(r, v, "name"), .op = string(r, v, "op")};

	l.has_weights = qn_json_find(v, "weights") != NULL;
	l.weights = l.has_weights ? noise(r, v, "weights") : 0;
	l.data = noise(r, v, "data");
	l.bytes = count(r, v, "bytes");
	l.instructions = count(r, v, "instructions");
	return l;
}

static void
read_layers(reader *r, const qn_json *layers, qn_tune_entry *e)
{
	if (layers->kind != QN_JSON_ARRAY || layers->n > MOST_LAYERS) {
		refuse(r, layers);
		return;
	}
	e->nlayer = layers->n;
	e->layer = QN_NEW(r->a, qn_tune_layer, e->nlayer + 1);
	for (size_t i = 0; i < e->nlayer && !r->bad; i++)
		e->layer[i] = read_layer(r, &layers->child[i]);
}

static qn_tune_entry
read_entry(reader *r, const qn_json *v)
{
	const qn_json *layers = qn_json_find(v, "layers");
	qn_tune_entry e = {.item = {.recipe = string(r, v, "recipe"), .by_layer = layers != NULL},
			   .failed = qn_json_find(v, "failed") != NULL};

	if (!r->bad && !qn_tune_recipe_is_ours(e.item.recipe, r->a))
		refuse(r, qn_json_find(v, "recipe"));
	if (!e.failed) {
		e.weight_bytes = count(r, v, "weight_bytes");
		e.arena_bytes = count(r, v, "arena_bytes");
		e.instructions = count(r, v, "instructions");
		e.metric = real(r, v, "value");
		e.sqnr = real(r, v, "sqnr");
	}
	if (layers != NULL)
		read_layers(r, layers, &e);
	const uint32_t check = hash(r, v, "check");
	if (!r->bad && check != qn_tune_check_of(&e, r->a)) {
		(void)qn_report(r->env, QN_EINVALID, "tune.journal", qn_json_place(r->d, r->a, v),
				"this entry was changed: its check sum differs; remove the entry "
				"to measure it again, or the journal to begin again");
		r->bad = true;
	}
	return e;
}

static qn_status
read_text(qn_env *env, const char *path, qn_arena *a, qn_json_doc *d)
{
	const char *data;
	size_t n;

	QN_TRY(qn_file_map(a, path, &data, &n));
	const qn_status status = qn_json_tree(a, path, data, n, NULL, d);
	if (status != QN_EINVALID)
		return status;
	return qn_report(env, QN_EINVALID, "tune.journal", path,
			 "the journal is damaged; remove it to begin again, or choose another name "
			 "with -o");
}

qn_status
qn_tune_journal_load(qn_env *env, const char *path, qn_arena *a, qn_tune_head *h,
		     qn_tune_entries *to)
{
	qn_json_doc d;
	double version = 0;

	QN_TRY(read_text(env, path, a, &d));
	reader r = {.env = env, .d = &d, .a = a};
	const qn_json *v = qn_json_find(d.root, "quern_journal");
	if (v == NULL || !qn_json_f64(v, &version) || version < 1 || version > 1)
		return qn_report(env, QN_EINVALID, "tune.journal", path,
				 "unknown version of a journal of quern tune; remove the file, or "
				 "choose another name with -o");
	*h = (qn_tune_head){hash(&r, d.root, "model"), hash(&r, d.root, "samples"),
			    hash(&r, d.root, "options")};
	const qn_json *entries = need(&r, d.root, "entries", QN_JSON_ARRAY);
	for (size_t i = 0; entries != NULL && i < entries->n && !r.bad; i++) {
		const qn_tune_entry e = read_entry(&r, &entries->child[i]);

		if (!r.bad && qn_tune_find(to, &e.item) == NULL)
			qn_tune_add(to, &e, a);
	}
	return r.bad ? QN_EINVALID : QN_OK;
}
