/* SPDX-License-Identifier: Apache-2.0 */
/* tune_journal.c - candidates that were measured, in a file: to go on from, and to merge.
 *
 *   {"quern_journal": 1, "model": "1a2b3c4d", "samples": "…", "options": "…",
 *    "entries": [{"recipe": "{\"rules\": …}", "weight_rounding": true, …, "layers": […]}, …]} */
#include <math.h>
#include <string.h>

#include "driver/tune.h"
#include "formats/file.h"
#include "formats/json_out.h"

const qn_tune_entry *
qn_tune_find(const qn_tune_entries *e, const qn_tune_item *item)
{
	for (size_t i = 0; i < e->n; i++) {
		const qn_tune_item *k = &e->of[i].item;

		if (k->rounding == item->rounding && k->bias == item->bias &&
		    (k->by_layer || !item->by_layer) && strcmp(k->recipe, item->recipe) == 0)
			return &e->of[i];
	}
	return NULL;
}

void
qn_tune_add(qn_tune_entries *e, const qn_tune_entry *one, qn_arena *a)
{
	e->of = qn_arena_grow(a, e->of, &e->cap, e->n + 1, sizeof *e->of);
	e->of[e->n++] = *one;
}

/* ---- writing ---- */

static const char *
hex(uint32_t v, qn_arena *a)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, "%08x", v);
	return qn_buf_str(&b);
}

static void
put_layers(const qn_tune_entry *e, qn_json_out *o)
{
	qn_json_open(o, "layers", '[', QN_JSON_FLAT);
	for (size_t i = 0; i < e->nlayer; i++) {
		const qn_tune_layer *l = &e->layer[i];

		qn_json_open(o, NULL, '{', QN_JSON_FLAT);
		qn_json_put_string(o, "name", l->name);
		qn_json_put_string(o, "op", l->op);
		if (l->has_weights)
			qn_json_put_f64(o, "weights", l->weights);
		qn_json_put_f64(o, "data", l->data);
		qn_json_put_u64(o, "bytes", l->bytes);
		qn_json_put_u64(o, "instructions", l->instructions);
		qn_json_close(o);
	}
	qn_json_close(o);
}

static void
put_entry(const qn_tune_entry *e, qn_json_out *o)
{
	qn_json_open(o, NULL, '{', QN_JSON_FLAT);
	qn_json_put_string(o, "recipe", e->item.recipe);
	qn_json_put_bool(o, "weight_rounding", e->item.rounding);
	qn_json_put_bool(o, "bias_correction", e->item.bias);
	if (e->failed) {
		qn_json_put_bool(o, "failed", true);
	} else {
		qn_json_put_u64(o, "weight_bytes", e->weight_bytes);
		qn_json_put_u64(o, "arena_bytes", e->arena_bytes);
		qn_json_put_u64(o, "instructions", e->instructions);
		qn_json_put_f64(o, "value", e->metric);
		qn_json_put_f64(o, "sqnr", e->sqnr);
	}
	if (e->item.by_layer)
		put_layers(e, o);
	qn_json_close(o);
}

typedef struct head {
	uint32_t model, samples, options;
} head;

static void
put_journal(const head *h, const qn_tune_entries *e, qn_buf *b)
{
	qn_json_out o;

	qn_json_out_init(&o, b);
	qn_json_open(&o, NULL, '{', QN_JSON_LINES);
	qn_json_put_i64(&o, "quern_journal", 1);
	qn_json_put_string(&o, "version", qn_version());
	qn_json_put_string(&o, "model", hex(h->model, b->arena));
	qn_json_put_string(&o, "samples", hex(h->samples, b->arena));
	qn_json_put_string(&o, "options", hex(h->options, b->arena));
	qn_json_open(&o, "entries", '[', QN_JSON_LINES);
	for (size_t i = 0; i < e->n; i++)
		put_entry(&e->of[i], &o);
	qn_json_close(&o);
	qn_json_close(&o);
}

static qn_status
write_journal(qn_env *env, const head *h, const qn_tune_entries *e, qn_arena *a, const char *path)
{
	qn_arena *tmp = qn_arena_child(a);
	qn_buf b;

	qn_buf_init(&b, tmp);
	put_journal(h, e, &b);
	const qn_status status = qn_file_write(env, path, b.data, b.n);
	qn_arena_release(tmp);
	return status;
}

qn_status
qn_tune_journal_write(const qn_tune_search *s, const char *path)
{
	const head h = {s->of_model, s->of_samples, s->of_options};

	return write_journal(s->m->env, &h, &s->entries, s->a, path);
}

/* ---- reading ---- */

typedef struct reader {
	qn_env *env;
	const qn_json_doc *d;
	qn_arena *a;
	bool bad;
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
number(reader *r, const qn_json *v, const char *key)
{
	const qn_json *m = qn_json_find(v, key);
	uint64_t n = 0;

	if (m == NULL || !qn_json_u64(m, &n))
		refuse(r, v);
	return n;
}

/* A NaN is none. */
static double
real(reader *r, const qn_json *v, const char *key)
{
	const qn_json *m = qn_json_find(v, key);
	double x = 0;

	if (m == NULL || !qn_json_f64(m, &x) || isnan(x))
		refuse(r, v);
	return x;
}

static const char *
string(reader *r, const qn_json *v, const char *key)
{
	const qn_json *m = need(r, v, key, QN_JSON_STRING);

	return m != NULL ? qn_arena_str(r->a, m->string) : "";
}

static bool
truth(reader *r, const qn_json *v, const char *key)
{
	const qn_json *m = need(r, v, key, QN_JSON_BOOL);

	return m != NULL && m->truth;
}

static qn_tune_layer
read_layer(reader *r, const qn_json *v)
{
	qn_tune_layer l = {.name = string(r, v, "name"), .op = string(r, v, "op")};

	l.has_weights = qn_json_find(v, "weights") != NULL;
	l.weights = l.has_weights ? real(r, v, "weights") : 0;
	l.data = real(r, v, "data");
	l.bytes = number(r, v, "bytes");
	l.instructions = number(r, v, "instructions");
	return l;
}

/* A recipe is one of ours: rules with weights or activations, of texts. */
static void
check_recipe(reader *r, const qn_json *v, const char *recipe)
{
	qn_json_doc d;
	bool good = qn_json_tree(r->a, "recipe", recipe, strlen(recipe), NULL, &d) == QN_OK;
	const qn_json *rules = good ? qn_json_find(d.root, "rules") : NULL;

	good = rules != NULL && rules->kind == QN_JSON_ARRAY && rules->n > 0 &&
	       qn_json_find(&rules->child[0], "weights") != NULL;
	for (size_t i = 0; good && i < rules->n; i++)
		for (size_t k = 0; k < rules->child[i].n; k++)
			good = good && rules->child[i].child[k].kind == QN_JSON_STRING;
	if (!good)
		refuse(r, v);
}

static qn_tune_entry
read_entry(reader *r, const qn_json *v)
{
	const qn_json *layers = qn_json_find(v, "layers");
	qn_tune_entry e = {.item = {.recipe = string(r, v, "recipe"),
				    .rounding = truth(r, v, "weight_rounding"),
				    .bias = truth(r, v, "bias_correction"),
				    .by_layer = layers != NULL},
			   .failed = qn_json_find(v, "failed") != NULL};

	if (!r->bad)
		check_recipe(r, v, e.item.recipe);
	if (!e.failed) {
		e.weight_bytes = number(r, v, "weight_bytes");
		e.arena_bytes = number(r, v, "arena_bytes");
		e.instructions = number(r, v, "instructions");
		e.metric = real(r, v, "value");
		e.sqnr = real(r, v, "sqnr");
	}
	e.nlayer = layers != NULL && layers->kind == QN_JSON_ARRAY ? layers->n : 0;
	e.layer = QN_NEW(r->a, qn_tune_layer, e.nlayer + 1);
	for (size_t i = 0; i < e.nlayer && !r->bad; i++)
		e.layer[i] = read_layer(r, &layers->child[i]);
	return e;
}

static uint32_t
read_hash(reader *r, const qn_json *v, const char *key)
{
	const char *text = string(r, v, key);
	uint32_t n = 0;

	for (; *text != '\0'; text++)
		n = n << 4 | (uint32_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
	return n;
}

static qn_status
read_journal(qn_env *env, const char *path, qn_arena *a, head *h, qn_tune_entries *to)
{
	const char *data;
	qn_json_doc d;
	double version = 0;
	size_t n;

	QN_TRY(qn_file_map(a, path, &data, &n));
	QN_TRY(qn_json_tree(a, path, data, n, NULL, &d));
	reader r = {.env = env, .d = &d, .a = a};
	const qn_json *v = qn_json_find(d.root, "quern_journal");
	if (v == NULL || !qn_json_f64(v, &version) || version < 1 || version > 1)
		return qn_report(env, QN_EINVALID, "tune.journal", path,
				 "unknown version of a journal of quern tune; remove the file, or "
				 "choose another name with -o");
	*h = (head){read_hash(&r, d.root, "model"), read_hash(&r, d.root, "samples"),
		    read_hash(&r, d.root, "options")};
	const qn_json *entries = need(&r, d.root, "entries", QN_JSON_ARRAY);
	for (size_t i = 0; entries != NULL && i < entries->n && !r.bad; i++) {
		const qn_tune_entry e = read_entry(&r, &entries->child[i]);

		if (!r.bad && qn_tune_find(to, &e.item) == NULL)
			qn_tune_add(to, &e, a);
	}
	return r.bad ? QN_EINVALID : QN_OK;
}

static const char *
difference_of(const head *a, const head *b)
{
	if (a->model != b->model)
		return "model";
	if (a->samples != b->samples)
		return "samples";
	return a->options != b->options ? "options" : NULL;
}

qn_status
qn_tune_journal_read(qn_tune_search *s, const char *path)
{
	const head ours = {s->of_model, s->of_samples, s->of_options};
	head h;

	QN_TRY(read_journal(s->m->env, path, s->a, &h, &s->entries));
	const char *other = difference_of(&ours, &h);
	if (other == NULL)
		return QN_OK;
	return qn_report(s->m->env, QN_EUSAGE, "tune.journal", path,
			 "the journal is of a search with other %s; remove it, or choose another "
			 "name with -o",
			 strcmp(other, "model") == 0 ? "values in the model" : other);
}

/* ---- merging ---- */

typedef struct merge_call {
	qn_ctx *ctx;
	size_t n;
	const char *const *journal;
	const char *to;
} merge_call;

static qn_status
merge(void *arg, qn_arena *a)
{
	const merge_call *c = arg;
	qn_tune_entries all = {.n = 0};
	head first = {0}, h;

	for (size_t i = 0; i < c->n; i++) {
		QN_TRY(read_journal(&c->ctx->env, c->journal[i], a, &h, &all));
		if (i == 0)
			first = h;
		const char *other = difference_of(&first, &h);
		if (other != NULL)
			return qn_report(&c->ctx->env, QN_EUSAGE, "tune.merge", c->journal[i],
					 "this journal is of a search with another %s than that of "
					 "'%s'; merge those of one search",
					 strcmp(other, "model") == 0 ? "model" : other,
					 c->journal[0]);
	}
	return write_journal(&c->ctx->env, &first, &all, a, c->to);
}

qn_status
qn_tune_merge(qn_ctx *ctx, size_t n, const char *const *journal, const char *to)
{
	merge_call c = {ctx, n, journal, to};

	if (n == 0 || to == NULL)
		return qn_report(&ctx->env, QN_EUSAGE, "tune.merge", "",
				 "there is nothing to merge: give one journal or more, and the "
				 "file to write");
	return qn_guard(ctx, merge, &c);
}
