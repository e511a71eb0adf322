/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_write.c - statistics as JSON.  Floats are the bits of a double ("0x3ff0000000000000" is
 * 1), so that nothing is lost and equal statistics have equal bytes. */
#include <string.h>

#include "calibrate/statistics.h"
#include "formats/json_prep.h"

static void
put_bits(qn_json_out *o, const char *key, double v)
{
	uint64_t bits;
	qn_buf b;

	memcpy(&bits, &v, sizeof bits);
	qn_buf_init(&b, o->b->arena);
	qn_buff(&b, "0x%08x%08x", (unsigned)(bits >> 32), (unsigned)(bits & 0xffffffffu));
	qn_json_put_string(o, key, qn_buf_str(&b));
}

static void
put_hash(qn_json_out *o, const char *key, uint32_t hash)
{
	qn_buf b;

	qn_buf_init(&b, o->b->arena);
	qn_buff(&b, "%08x", hash);
	qn_json_put_string(o, key, qn_buf_str(&b));
}

/* Counts from the first to the last that is not 0. */
static void
put_counts(qn_json_out *o, const uint64_t *count, size_t n)
{
	size_t first = 0;

	while (first < n && count[first] == 0)
		first++;
	while (n > first && count[n - 1] == 0)
		n--;
	qn_json_put_u64(o, "first", first < n ? first : 0);
	qn_json_open(o, "count", '[', QN_JSON_FLAT);
	for (size_t i = first; i < n; i++)
		qn_json_put_u64(o, NULL, count[i]);
	qn_json_close(o);
}

static void
put_fine(qn_json_out *o, const qn_bins *b)
{
	qn_json_open(o, "bins", '{', QN_JSON_FLAT);
	if (b->kind == QN_BINS_BITS) {
		qn_json_put_u64(o, "prefix", b->prefix);
		qn_json_put_u64(o, "below", b->below);
	}
	put_counts(o, b->count, b->n);
	qn_json_close(o);
}

static void
put_pairs(qn_json_out *o, const qn_pair_range *pair, uint64_t n)
{
	qn_json_open(o, "pairs", '[', QN_JSON_FLAT);
	for (uint64_t i = 0; i < n; i++) {
		put_bits(o, NULL, (double)pair[i].min);
		put_bits(o, NULL, (double)pair[i].max);
	}
	qn_json_close(o);
}

/* [lowest, highest] of each quarter, [] of a quarter without values. */
static void
put_quarters(qn_json_out *out, const qn_observer *o)
{
	qn_json_open(out, "quarters", '[', QN_JSON_FLAT);
	for (size_t k = 0; k < QN_QUARTERS; k++) {
		qn_json_open(out, NULL, '[', QN_JSON_FLAT);
		if (o->has_quarter[k]) {
			put_bits(out, NULL, (double)o->quarter[k].min);
			put_bits(out, NULL, (double)o->quarter[k].max);
		}
		qn_json_close(out);
	}
	qn_json_close(out);
}

static void
put_value(qn_json_out *out, const qn_value_stats *v, uint64_t covered)
{
	const qn_observer *o = &v->o;

	qn_json_open(out, NULL, '{', QN_JSON_LINES);
	qn_json_put_string(out, "name", v->name);
	qn_json_put_bool(out, "symmetric", v->symmetric);
	qn_json_put_i64(out, "qmin", v->qmin);
	qn_json_put_i64(out, "qmax", v->qmax);
	qn_json_put_u64(out, "n", o->n);
	qn_json_put_bool(out, "nonfinite", o->nonfinite);
	if (o->masked)
		qn_json_put_bool(out, "masked", true);
	if (o->n > 0) {
		put_bits(out, "min", (double)o->min);
		put_bits(out, "max", (double)o->max);
		qn_json_put_u64(out, "min_at", o->min_at);
		qn_json_put_u64(out, "max_at", o->max_at);
		if (qn_observer_has_quarters(o))
			put_quarters(out, o);
	}
	if (o->bin != NULL) {
		qn_json_open(out, "grid", '{', QN_JSON_FLAT);
		if (o->has_grid)
			qn_json_put_i64(out, "exponent", o->exponent);
		put_counts(out, o->bin, QN_HIST_BINS);
		qn_json_close(out);
	}
	if (o->pair != NULL)
		put_pairs(out, o->pair, covered);
	if (o->fine.kind != QN_BINS_NONE)
		put_fine(out, &o->fine);
	qn_json_close(out);
}

/* By input; null of one whose samples stay as they are. */
static void
put_preps(qn_json_out *o, const qn_statistics *s)
{
	bool any = false;

	for (size_t i = 0; s->prep != NULL && i < s->ndata; i++)
		any = any || s->prep[i] != NULL;
	if (!any)
		return;
	qn_json_open(o, "preprocessing", '[', QN_JSON_LINES);
	for (size_t i = 0; i < s->ndata; i++)
		if (s->prep[i] != NULL)
			qn_json_put_prep(o, NULL, s->prep[i]);
		else
			qn_json_put_raw(o, NULL, "null", 4);
	qn_json_close(o);
}

void
qn_statistics_print(qn_buf *b, const qn_statistics *s)
{
	const size_t begin = b->n;
	uint64_t covered = 0;
	qn_json_out o;
	qn_buf method;

	qn_buf_init(&method, b->arena);
	qn_method_print(&method, &s->method);
	qn_json_out_init(&o, b);
	qn_json_open(&o, NULL, '{', QN_JSON_LINES);
	qn_json_put_i64(&o, "quern_statistics", 2);
	qn_json_put_string(&o, "model", s->model);
	put_hash(&o, "model_hash", s->hash);
	qn_json_put_string(&o, "method", qn_buf_str(&method));
	qn_json_open(&o, "data", '[', QN_JSON_FLAT);
	for (size_t i = 0; i < s->ndata; i++)
		qn_json_put_string(&o, NULL, s->data[i]);
	qn_json_close(&o);
	put_preps(&o, s);
	qn_json_put_u64(&o, "batches", s->nbatch);
	qn_json_put_u64(&o, "batch", s->batch);
	qn_json_put_u64(&o, "pass", s->pass + 1);
	qn_json_open(&o, "observed", '[', QN_JSON_FLAT);
	for (size_t i = 0; i < s->nspan; i++) {
		qn_json_open(&o, NULL, '[', QN_JSON_FLAT);
		qn_json_put_u64(&o, NULL, s->span[i].first);
		qn_json_put_u64(&o, NULL, s->span[i].last);
		qn_json_close(&o);
		covered += s->span[i].last - s->span[i].first;
	}
	qn_json_close(&o);
	qn_json_open(&o, "values", '[', QN_JSON_LINES);
	for (size_t i = 0; i < s->n; i++)
		put_value(&o, &s->value[i], covered);
	qn_json_close(&o);
	put_hash(&o, "checksum", 0);
	qn_json_close(&o);
	(void)qn_statistics_seal(b->data + begin, b->n - begin);
}
