/* SPDX-License-Identifier: Apache-2.0 */
/* tune_recipe.c - picks as the rules of a recipe, and back.
 *
 *   i4 i4 i8 i4   ──▶   {"rules": [{"weights": "i4"}, {"name": "conv3", "weights": "i8"}]} */
#include "driver/tune.h"

#include <string.h>

#include "formats/json_out.h"

const char *const qn_tune_storage[QN_TUNE_STORAGES] = {
	"i8", "i8 block 32", "i4", "i4 block 32", "i4 block 16", "i2", "i2 block 16"};

/* The name as a glob that matches nothing else. */
static const char *
glob_of(const char *name, qn_arena *a)
{
	qn_buf b;

	qn_buf_init(&b, a);
	for (; *name != '\0'; name++)
		qn_buff(&b, *name == '*' || *name == '?' || *name == '[' ? "[%c]" : "%c", *name);
	return qn_buf_str(&b);
}

/* The storage that most rows with weights have; of equally many the first. */
static uint8_t
most_frequent(const qn_tune_table *t, const qn_tune_pick *pick)
{
	size_t count[QN_TUNE_STORAGES] = {0};
	uint8_t best = 0;

	for (size_t i = 0; i < t->n; i++)
		count[pick[i].storage] += t->row[i].has_weights;
	for (uint8_t k = 1; k < QN_TUNE_STORAGES; k++)
		if (count[k] > count[best])
			best = k;
	return best;
}

static void
put_rule(qn_json_out *o, const char *name, const char *weights, bool wide)
{
	qn_json_open(o, NULL, '{', QN_JSON_FLAT);
	if (name != NULL)
		qn_json_put_string(o, "name", name);
	if (weights != NULL)
		qn_json_put_string(o, "weights", weights);
	if (wide)
		qn_json_put_string(o, "activations", "i16");
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

const char *
qn_tune_recipe(const qn_tune_table *t, const qn_tune_pick *pick, qn_arena *a)
{
	const uint8_t most = most_frequent(t, pick);
	size_t nwide = 0;
	qn_json_out o;
	qn_buf b;

	for (size_t i = 0; i < t->n; i++)
		nwide += pick[i].wide;
	const bool all_wide = nwide == t->n;
	if (all_wide || nwide == 0) {
		bool mixed = false;

		for (size_t i = 0; i < t->n; i++)
			mixed = mixed || (t->row[i].has_weights && pick[i].storage != most);
		if (!mixed)
			return qn_tune_uniform(most, all_wide, a);
	}
	begin(&o, &b, a);
	put_rule(&o, NULL, qn_tune_storage[most], all_wide);
	for (size_t i = 0; i < t->n; i++) {
		const bool other = t->row[i].has_weights && pick[i].storage != most;
		const bool wide = pick[i].wide && !all_wide;

		if (other || wide)
			put_rule(&o, glob_of(t->row[i].name, a),
				 other ? qn_tune_storage[pick[i].storage] : NULL, wide);
	}
	qn_json_close(&o);
	qn_json_close(&o);
	return qn_buf_str(&b);
}

const char *
qn_tune_uniform(uint8_t storage, bool wide, qn_arena *a)
{
	qn_json_out o;
	qn_buf b;

	begin(&o, &b, a);
	put_rule(&o, NULL, qn_tune_storage[storage], wide);
	qn_json_close(&o);
	qn_json_close(&o);
	return qn_buf_str(&b);
}

uint8_t
qn_tune_storage_named(const char *name)
{
	uint8_t k = 0;

	while (k < QN_TUNE_STORAGES && strcmp(qn_tune_storage[k], name) != 0)
		k++;
	return k;
}

/* What put_rule writes: the first rule is of all layers, the others are of one. */
static bool
is_rule(const qn_json *rule, bool first)
{
	const qn_json *name = qn_json_find(rule, "name");
	const qn_json *weights = qn_json_find(rule, "weights");
	const qn_json *wide = qn_json_find(rule, "activations");
	size_t known = name != NULL;

	known += weights != NULL;
	known += wide != NULL;
	if (rule->kind != QN_JSON_OBJECT)
		return false;
	for (size_t i = 0; i < rule->n; i++)
		if (rule->child[i].kind != QN_JSON_STRING)
			return false;
	return rule->n == known && first == (name == NULL) &&
	       (first ? weights != NULL : known > 1) &&
	       (weights == NULL || qn_tune_storage_named(weights->string) < QN_TUNE_STORAGES) &&
	       (wide == NULL || strcmp(wide->string, "i16") == 0);
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

qn_tune_pick *
qn_tune_picks_of(const qn_tune_table *t, const char *recipe, qn_arena *a)
{
	qn_tune_pick *pick = QN_NEW(a, qn_tune_pick, t->n + 1);
	qn_json_doc d;

	if (qn_json_tree(a, "recipe", recipe, strlen(recipe), NULL, &d) != QN_OK)
		return pick; /* it is a text of ours */
	const qn_json *rules = qn_json_find(d.root, "rules");
	for (size_t i = 0; i < t->n; i++) {
		const char *own = glob_of(t->row[i].name, a);

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
