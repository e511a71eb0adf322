/* SPDX-License-Identifier: Apache-2.0 */
/* tune_journal.c - candidates that were measured, in a file: to go on from, and to merge.
 *
 *   {"quern_journal": 1, "model": "1a2b3c4d", "samples": "…", "options": "…",
 *    "entries": [{"recipe": "{\"rules\": …}", "weight_bytes": 4015, …, "layers": […], "check": "5e6f7a8b"}, …]}
 *
 * check: the CRC of the entry as it is written without it, so that an entry that was changed is not trusted. */
#include "driver/tune_journal.h"

#include <string.h>

#include "driver/context.h"
#include "driver/host_struct.h"
#include "formats/file.h"
#include "formats/json_out.h"

const qn_tune_entry *
qn_tune_find(const qn_tune_entries *e, const qn_tune_item *item)
{
	for (size_t i = 0; i < e->n; i++) {
		const qn_tune_item *k = &e->of[i].item;

		if ((k->by_layer || !item->by_layer) && strcmp(k->recipe, item->recipe) == 0)
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
put_members(const qn_tune_entry *e, qn_json_out *o)
{
	qn_json_put_string(o, "recipe", e->item.recipe);
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
}

uint32_t
qn_tune_check_of(const qn_tune_entry *e, qn_arena *a)
{
	qn_arena *tmp = qn_arena_child(a);
	qn_json_out o;
	qn_buf b;

	qn_buf_init(&b, tmp);
	qn_json_out_init(&o, &b);
	qn_json_open(&o, NULL, '{', QN_JSON_FLAT);
	put_members(e, &o);
	qn_json_close(&o);
	const uint32_t crc = qn_crc32(0, b.data, b.n);
	qn_arena_release(tmp);
	return crc;
}

static void
put_entry(const qn_tune_entry *e, qn_json_out *o, qn_arena *a)
{
	qn_json_open(o, NULL, '{', QN_JSON_FLAT);
	put_members(e, o);
	qn_json_put_string(o, "check", hex(qn_tune_check_of(e, a), a));
	qn_json_close(o);
}

static void
put_journal(const qn_tune_head *h, const qn_tune_entries *e, qn_buf *b)
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
		put_entry(&e->of[i], &o, b->arena);
	qn_json_close(&o);
	qn_json_close(&o);
}

static qn_status
write_journal(qn_env *env, const qn_tune_head *h, const qn_tune_entries *e, qn_arena *a,
	      const char *path)
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
	const qn_tune_head h = {s->of_model, s->of_samples, s->of_options};

	return write_journal(s->m->env, &h, &s->entries, s->a, path);
}

static const char *
difference_of(const qn_tune_head *a, const qn_tune_head *b)
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
	const qn_tune_head ours = {s->of_model, s->of_samples, s->of_options};
	qn_tune_head h;

	QN_TRY(qn_tune_journal_load(s->m->env, path, s->a, &h, &s->entries));
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
	qn_tune_head first = {0}, h;

	for (size_t i = 0; i < c->n; i++) {
		QN_TRY(qn_tune_journal_load(&c->ctx->env, c->journal[i], a, &h, &all));
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

	QN_TRY(QN_GIVEN(ctx, to));
	if (n == 0)
		return qn_report(&ctx->env, QN_EUSAGE, "tune.merge", "",
				 "there is nothing to merge: give one journal or more");
	QN_TRY(qn_host_pointers(&ctx->env, "journal", n, journal));
	return qn_guard(ctx, merge, &c);
}
