/* SPDX-License-Identifier: Apache-2.0 */
/* tune_text.c - what a search leaves: the recipe with comments, and the front (docs/tuning.md).
 *
 *   {"_": "kws: 16305 bytes of constants, …",
 *    "rules": [{"_": "9 of 10 layers with weights", "weights": "i4"},
 *              {"_": "384 bytes more than i4; alone 41.2 dB, i4 34.2 dB", "name": "fc", "weights": "i8"}]} */
#include <math.h>
#include <string.h>

#include "codegen/estimate.h"
#include "driver/quant_options.h"
#include "driver/tune.h"
#include "formats/json_out.h"
#include "runtime/math.h"

static const char *text(qn_arena *a, const char *fmt, ...) QN_PRINTF(2, 3);

static const char *
text(qn_arena *a, const char *fmt, ...)
{
	va_list args;
	qn_buf b;

	qn_buf_init(&b, a);
	va_start(args, fmt);
	qn_bufvf(&b, fmt, args);
	va_end(args);
	return qn_buf_str(&b);
}

/* With one decimal. */
static double
decibel(double noise)
{
	return noise > 0 ? rint(-100 * (qn_ln(noise) / qn_ln(10))) / 10 : (double)INFINITY;
}

/* For people: with so many parts of one. */
static double
rounded(double v, double parts)
{
	return v - v != 0 ? v : rint(v * parts) / parts;
}

static const char *
unit_of(const qn_tune_search *s)
{
	return s->unit != NULL && s->unit[0] != '\0' ? s->unit : "";
}

/* A share and decibels have so many decimals; an area or an error may be small, and has four digits. */
static const char *
value_text(const qn_tune_search *s, double v, qn_arena *a)
{
	double parts = 1000;

	if (unit_of(s)[0] != '\0')
		return text(a, "%g %s", rounded(v, parts), unit_of(s));
	while (fabs(v) * parts < 1000 && parts < 1e18)
		parts *= 10;
	return text(a, "%g", rounded(v, parts));
}

/* ---- the recipe ---- */

static const char *
figures(const qn_tune_search *s, const qn_tune_entry *e, qn_arena *a)
{
	const char *on = s->o->ndata > 0 ? "other than those for calibration"
					 : "which are those for calibration";

	return text(a,
		    "%s: %llu bytes of constants, activation arena of %llu bytes, about %llu "
		    "instructions (%s); %s %s, float %s, SQNR %g dB, on %zu samples %s",
		    s->m->name, (unsigned long long)e->weight_bytes,
		    (unsigned long long)e->arena_bytes, (unsigned long long)e->instructions,
		    s->o->target != NULL ? s->o->target : "generic", s->metric,
		    value_text(s, e->metric, a), value_text(s, s->real, a), rounded(e->sqnr, 100),
		    s->samples, on);
}

/* The options of compile that give these kernels. */
static const char *
options(const qn_tune_search *s, const qn_tune_entry *e, qn_arena *a)
{
	const qn_tune_opts *o = s->o;
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buf_puts(&b, "compile with --recipe");
	if (o->target != NULL)
		qn_buff(&b, " --target %s", o->target);
	if (o->optimize != NULL)
		qn_buff(&b, " --optimize %s", o->optimize);
	if (o->stream != NULL)
		qn_buff(&b, " --stream %s", o->stream);
	if (o->max_weight_bytes > 0)
		qn_buff(&b, " --max-weights %zu", o->max_weight_bytes);
	if (qn_tune_saves_arena(s))
		qn_buff(&b, " --max-arena %llu", (unsigned long long)e->arena_bytes);
	else if (o->max_arena_bytes > 0)
		qn_buff(&b, " --max-arena %zu", o->max_arena_bytes);
	return qn_buf_str(&b);
}

/* The repairs of a candidate in words, and its SQNR. */
static void
put_repairs(const qn_tune_entry *e, qn_buf *b)
{
	const qn_tune_repairs r = qn_tune_repairs_of(e->item.recipe, b->arena);

	qn_buff(b, "%s, %s%s: %g dB",
		r.rounding != QN_WEIGHTS_NEAREST ? "weight rounding" : "rounded to nearest",
		r.bias ? "bias correction" : "no bias correction", r.equalize ? ", equalized" : "",
		rounded(e->sqnr, 100));
}

/* What the repairs brought: the SQNR with others. */
static const char *
repairs(const qn_tune_search *s, const qn_tune_entry *e, qn_arena *a)
{
	static const qn_tune_repairs none = {.rounding = QN_WEIGHTS_NEAREST};
	const char *bare = qn_tune_repaired(e->item.recipe, &none, a);
	qn_buf b;

	qn_buf_init(&b, a);
	put_repairs(e, &b);
	for (size_t i = 0; i < s->nlist; i++) {
		const qn_tune_entry *o = s->list[i];

		if (o->failed || o == e ||
		    strcmp(qn_tune_repaired(o->item.recipe, &none, a), bare) != 0)
			continue;
		qn_buf_puts(&b, "; ");
		put_repairs(o, &b);
	}
	return qn_buf_str(&b);
}

/* What a rule of one layer brought, against the storage that the others have. */
static const char *
brought(const qn_tune_row *r, qn_tune_pick p, uint8_t others, qn_arena *a)
{
	const uint8_t k = r->has_weights ? p.storage : QN_TUNE_I8;
	const uint64_t bytes = p.wide ? r->wide_bytes : r->bytes[k];
	const bool known = r->can[others] && r->has_weights && others != k;
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, "%s: ", r->op);
	if (p.wide)
		qn_buff(&b, "16-bit activations: alone %g dB, 8-bit %g dB", decibel(r->data[1]),
			decibel(r->data[0]));
	if (known)
		qn_buff(&b, "%s%llu bytes, %s %llu; alone %g dB, %s %g dB",
			p.wide ? "; weights: " : "", (unsigned long long)bytes,
			qn_tune_storage[others], (unsigned long long)r->bytes[others],
			decibel(r->weights[k]), qn_tune_storage[others],
			decibel(r->weights[others]));
	else if (!p.wide)
		qn_buff(&b, "%llu bytes; alone %g dB", (unsigned long long)bytes,
			decibel(r->weights[k]));
	return qn_buf_str(&b);
}

static void
put_member(qn_json_out *o, const qn_json *v)
{
	if (v->kind == QN_JSON_BOOL)
		qn_json_put_bool(o, v->key, v->truth);
	else
		qn_json_put_string(o, v->key, v->string);
}

static void
put_rules(const qn_tune_search *s, const qn_tune_entry *e, qn_json_out *o, qn_arena *a)
{
	const qn_tune_table t = qn_tune_table_of(s, a);
	const qn_tune_pick *pick = qn_tune_picks_of(&t, e->item.recipe, a);
	size_t weighted = 0, most = 0, at = 0;
	uint8_t others = QN_TUNE_I8;
	qn_json_doc d;

	if (qn_json_tree(a, "recipe", e->item.recipe, strlen(e->item.recipe), NULL, &d) != QN_OK)
		return;
	const qn_json *rules = qn_json_find(d.root, "rules");
	for (size_t k = 0; k < rules->n; k++) {
		const qn_json *rule = &rules->child[k], *w = qn_json_find(rule, "weights");

		qn_json_open(o, NULL, '{', QN_JSON_FLAT);
		if (k == 0) {
			others = qn_tune_storage_named(w->string);
			for (size_t i = 0; i < t.n; i++) {
				weighted += t.row[i].has_weights;
				most += t.row[i].has_weights && pick[i].storage == others;
			}
			qn_json_put_string(
				o, "_", text(a, "%zu of %zu layers with weights", most, weighted));
		} else { /* rules follow the rows */
			while (at < t.n && (!t.row[at].has_weights || pick[at].storage == others) &&
			       !pick[at].wide)
				at++;
			if (at < t.n)
				qn_json_put_string(o, "_",
						   brought(&t.row[at], pick[at], others, a));
			at++;
		}
		for (size_t i = 0; i < rule->n; i++)
			put_member(o, &rule->child[i]);
		qn_json_close(o);
	}
}

const char *
qn_tune_recipe_text(const qn_tune_search *s, const qn_tune_entry *e, qn_arena *a)
{
	qn_json_out o;
	qn_buf b;

	qn_buf_init(&b, a);
	qn_json_out_init(&o, &b);
	qn_json_open(&o, NULL, '{', QN_JSON_LINES);
	qn_json_put_string(&o, "_", figures(s, e, a));
	qn_json_put_string(&o, "_options", options(s, e, a));
	qn_json_put_string(&o, "_repairs", repairs(s, e, a));
	qn_json_open(&o, "rules", '[', QN_JSON_LINES);
	put_rules(s, e, &o, a);
	qn_json_close(&o);
	qn_json_close(&o);
	return qn_buf_str(&b);
}

/* ---- the front ---- */

static void
put_point(const qn_tune_search *s, const qn_tune_entry *e, qn_json_out *o, qn_arena *a)
{
	const qn_tune_repairs r = qn_tune_repairs_of(e->item.recipe, a);

	qn_json_open(o, NULL, '{', QN_JSON_FLAT);
	qn_json_put_u64(o, "weight_bytes", e->weight_bytes);
	qn_json_put_u64(o, "arena_bytes", e->arena_bytes);
	qn_json_put_u64(o, "instructions", e->instructions);
	qn_json_put_f64(o, "value", e->metric);
	qn_json_put_f64(o, "sqnr", e->sqnr);
	qn_json_put_string(o, "weight_rounding", qn_weight_roundings[r.rounding]);
	qn_json_put_bool(o, "bias_correction", r.bias);
	qn_json_put_bool(o, "equalize", r.equalize);
	qn_json_put_bool(o, "front", qn_tune_is_front(s, e));
	qn_json_put_bool(o, "within", qn_tune_is_within(s, e));
	qn_json_put_bool(o, "best", e == s->best);
	qn_json_put_string(o, "recipe", e->item.recipe);
	qn_json_close(o);
}

static void
put_limits(const qn_tune_search *s, qn_json_out *o)
{
	qn_json_open(o, "limits", '{', QN_JSON_FLAT);
	if (s->o->max_weight_bytes > 0)
		qn_json_put_u64(o, "weight_bytes", s->o->max_weight_bytes);
	if (s->o->max_arena_bytes > 0)
		qn_json_put_u64(o, "arena_bytes", s->o->max_arena_bytes);
	if (s->o->max_instructions > 0)
		qn_json_put_u64(o, "instructions", s->o->max_instructions);
	if (s->o->has_threshold != 0)
		qn_json_put_f64(o, "value", s->o->threshold);
	qn_json_close(o);
}

const char *
qn_tune_front_text(const qn_tune_search *s, qn_arena *a)
{
	const char *target = s->o->target != NULL ? s->o->target : "generic";
	qn_json_out o;
	qn_buf b;

	qn_buf_init(&b, a);
	qn_json_out_init(&o, &b);
	qn_json_open(&o, NULL, '{', QN_JSON_LINES);
	qn_json_put_i64(&o, "quern_front", 1);
	qn_json_put_string(&o, "version", qn_version());
	qn_json_put_string(&o, "model", s->m->name);
	qn_json_put_string(&o, "metric", s->metric);
	qn_json_put_string(&o, "unit", unit_of(s));
	qn_json_put_f64(&o, "float", s->real);
	qn_json_put_f64(&o, "tolerance", qn_tune_tolerance(s));
	qn_json_put_string(&o, "decided_on", s->o->ndata > 0 ? "data" : "calib");
	qn_json_put_u64(&o, "samples", s->samples);
	qn_json_put_string(&o, "target", target);
	qn_json_put_string(&o, "instructions_of", qn_target_figures_of(target)->from);
	put_limits(s, &o);
	qn_json_open(&o, "points", '[', QN_JSON_LINES);
	for (size_t i = 0; i < s->nlist; i++)
		if (!s->list[i]->failed)
			put_point(s, s->list[i], &o, a);
	qn_json_close(&o);
	qn_json_close(&o);
	return qn_buf_str(&b);
}
