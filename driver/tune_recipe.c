/* SPDX-License-Identifier: Apache-2.0 */
/* tune_recipe.c - picks as the rules of a recipe, and back.
 *
 *   i4 i4 i8 i4   ──▶   {"rules": [{"weights": "i4"}, {"name": "conv3", "weights": "i8"}]} */
#include "driver/tune.h"

#include <string.h>

#include "driver/quant_options.h"
#include "formats/json_out.h"
#include "patterns/glob.h"

const char *const qn_tune_storage[QN_TUNE_STORAGES] = {
	"i8", "i8 block 32", "i4", "i4 block 32", "i4 block 16", "i2", "i2 block 16"};

/* The storage that most rows with weights have; of equally many the first. */
static uint8_t
most_frequent(const qn_tune_table *t, const qn_tune_pick *pick)
{
	size_t count[QN_TUNE_STORAGES] = {0};
	uint8_t best = 0;

	for (size_t i = 0; i < t->n; i++)
		count[pick[i].storage] += t->row[i].has_weights;
	for (unsigned k = 1; k < QN_TUNE_STORAGES; k++)
		if (count[k] > count[best])
			best = (uint8_t)k;
	return best;
}

static void
put_repairs(qn_json_out *o, const qn_tune_repairs *r)
{
	if (r->rounding != QN_WEIGHTS_NEAREST)
		qn_json_put_string(o, "weight-rounding", qn_weight_roundings[r->rounding]);
	if (r->bias)
		qn_json_put_bool(o, "bias-correction", true);
	if (r->equalize)
		qn_json_put_bool(o, "equalize", true);
}

/* name NULL: of all layers, with these repairs. */
static void
put_rule(qn_json_out *o, const char *name, const char *weights, bool wide, const qn_tune_repairs *r)
{
	qn_json_open(o, NULL, '{', QN_JSON_FLAT);
	if (name != NULL)
		qn_json_put_string(o, "name", name);
	if (weights != NULL)
		qn_json_put_string(o, "weights", weights);
	if (wide)
		qn_json_put_string(o, "activations", "i16");
	if (name == NULL)
		put_repairs(o, r);
	qn_json_close(o);
}

static void
begin(qn_json_out *o, qn_buf *b, qn_arena *a)
{
	qn_buf_init(b, a);
	qn_json_out_init(o, b);
	qn_json_open(o, NULL, '{', QN_JSON_FLAT);
	qn_json_open(o, "rules", '[', QN_JSON_FLAT);
}

static const char *
end(qn_json_out *o, qn_buf *b)
{
	qn_json_close(o);
	qn_json_close(o);
	return qn_buf_str(b);
}

/* Whether all rows are as the first rule says. */
static bool
is_uniform(const qn_tune_table *t, const qn_tune_pick *pick, uint8_t most, bool all_wide)
{
	for (size_t i = 0; i < t->n; i++)
		if ((t->row[i].has_weights && pick[i].storage != most) || pick[i].wide != all_wide)
			return false;
	return true;
}

const char *
qn_tune_recipe(const qn_tune_table *t, const qn_tune_pick *pick, const qn_tune_repairs *r,
	       qn_arena *a)
{
	const uint8_t most = most_frequent(t, pick);
	size_t nwide = 0;
	qn_json_out o;
	qn_buf b;

	for (size_t i = 0; i < t->n; i++)
		nwide += pick[i].wide;
	const bool all_wide = nwide == t->n;
	if (is_uniform(t, pick, most, all_wide))
		return qn_tune_uniform(most, all_wide, r, a);
	begin(&o, &b, a);
	put_rule(&o, NULL, qn_tune_storage[most], all_wide, r);
	for (size_t i = 0; i < t->n; i++) {
		const bool other = t->row[i].has_weights && pick[i].storage != most;
		const bool wide = pick[i].wide && !all_wide;

		if (other || wide)
			put_rule(&o, qn_glob_of(a, t->row[i].name),
				 other ? qn_tune_storage[pick[i].storage] : NULL, wide, r);
	}
	return end(&o, &b);
}

const char *
qn_tune_uniform(uint8_t storage, bool wide, const qn_tune_repairs *r, qn_arena *a)
{
	qn_json_out o;
	qn_buf b;

	begin(&o, &b, a);
	put_rule(&o, NULL, qn_tune_storage[storage], wide, r);
	return end(&o, &b);
}

uint8_t
qn_tune_storage_named(const char *name)
{
	uint8_t k = 0;

	while (k < QN_TUNE_STORAGES && strcmp(qn_tune_storage[k], name) != 0)
		k++;
	return k;
}

/* Whether the member is not there, or is what is written of this repair. */
static bool
is_repair(const qn_json *rule, const char *key, bool first, size_t *known)
{
	const qn_json *v = qn_json_find(rule, key);

	*known += v != NULL;
	if (v == NULL || !first)
		return v == NULL;
	if (v->kind == QN_JSON_BOOL)
		return v->truth && strcmp(key, "weight-rounding") != 0;
	return v->kind == QN_JSON_STRING && strcmp(key, "weight-rounding") == 0 &&
	       (strcmp(v->string, "gptq") == 0 || strcmp(v->string, "adaptive") == 0);
}

/* Whether the member is not there, or a text. */
static bool
is_text(const qn_json *rule, const char *key, size_t *known, const char **text)
{
	const qn_json *v = qn_json_find(rule, key);

	*known += v != NULL;
	*text = v != NULL && v->kind == QN_JSON_STRING ? v->string : NULL;
	return v == NULL || *text != NULL;
}

/* What put_rule writes: the first rule is of all layers, the others are of one. */
static bool
is_rule(const qn_json *rule, bool first)
{
	const char *name, *weights, *wide;
	size_t known = 0;

	return rule->kind == QN_JSON_OBJECT && is_text(rule, "name", &known, &name) &&
	       is_text(rule, "weights", &known, &weights) &&
	       is_text(rule, "activations", &known, &wide) &&
	       is_repair(rule, "weight-rounding", first, &known) &&
	       is_repair(rule, "bias-correction", first, &known) &&
	       is_repair(rule, "equalize", first, &known) && rule->n == known &&
	       first == (name == NULL) && (first ? weights != NULL : known > 1) &&
	       (weights == NULL || qn_tune_storage_named(weights) < QN_TUNE_STORAGES) &&
	       (wide == NULL || strcmp(wide, "i16") == 0);
}

bool
qn_tune_recipe_is_ours(const char *recipe, qn_arena *a)
{
	qn_json_doc d;
	bool good = qn_json_tree(a, "recipe", recipe, strlen(recipe), NULL, &d) == QN_OK;
	const qn_json *rules = good ? qn_json_find(d.root, "rules") : NULL;

	good = rules != NULL && rules->kind == QN_JSON_ARRAY && rules->n > 0;
	for (size_t i = 0; good && i < rules->n; i++)
		good = is_rule(&rules->child[i], i == 0);
	return good;
}

static void
apply(const qn_json *rule, qn_tune_pick *pick)
{
	const qn_json *weights = qn_json_find(rule, "weights");

	if (weights != NULL)
		pick->storage = qn_tune_storage_named(weights->string);
	pick->wide = pick->wide || qn_json_find(rule, "activations") != NULL;
}

/* The rules of a recipe that is ours. */
static const qn_json *
rules_of(const char *recipe, qn_arena *a)
{
	qn_json_doc d;

	if (qn_json_tree(a, "recipe", recipe, strlen(recipe), NULL, &d) != QN_OK)
		return NULL;
	return qn_json_find(d.root, "rules");
}

qn_tune_pick *
qn_tune_picks_of(const qn_tune_table *t, const char *recipe, qn_arena *a)
{
	qn_tune_pick *pick = QN_NEW(a, qn_tune_pick, t->n + 1);
	const qn_json *rules = rules_of(recipe, a);

	for (size_t i = 0; rules != NULL && i < t->n; i++) {
		const char *own = qn_glob_of(a, t->row[i].name);

		for (size_t k = 0; k < rules->n; k++) {
			const qn_json *name = qn_json_find(&rules->child[k], "name");

			if (name == NULL || strcmp(name->string, own) == 0)
				apply(&rules->child[k], &pick[i]);
		}
		if (!t->row[i].has_weights)
			pick[i].storage = QN_TUNE_I8;
	}
	return pick;
}

qn_tune_repairs
qn_tune_repairs_of(const char *recipe, qn_arena *a)
{
	const qn_json *rules = rules_of(recipe, a);
	const qn_json *first = rules != NULL ? &rules->child[0] : NULL;
	const qn_json *rounding = qn_json_find(first, "weight-rounding");
	qn_tune_repairs r = {.bias = qn_json_find(first, "bias-correction") != NULL,
			     .equalize = qn_json_find(first, "equalize") != NULL};

	if (rounding != NULL)
		r.rounding = strcmp(rounding->string, "gptq") == 0 ? QN_WEIGHTS_GPTQ
								   : QN_WEIGHTS_ADAPTIVE;
	return r;
}

const char *
qn_tune_repaired(const char *recipe, const qn_tune_repairs *r, qn_arena *a)
{
	const qn_json *rules = rules_of(recipe, a);
	qn_json_out o;
	qn_buf b;

	begin(&o, &b, a);
	for (size_t k = 0; rules != NULL && k < rules->n; k++) {
		const qn_json *rule = &rules->child[k], *name = qn_json_find(rule, "name"),
			      *weights = qn_json_find(rule, "weights");

		put_rule(&o, name != NULL ? name->string : NULL,
			 weights != NULL ? weights->string : NULL,
			 qn_json_find(rule, "activations") != NULL, r);
	}
	return end(&o, &b);
}
