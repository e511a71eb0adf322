/* SPDX-License-Identifier: Apache-2.0 */
/* quant_options.c - options of the quantizer; reads recipes (docs/recipe.schema.json).
 *
 *   {"rules": [{"name": "conv1*", "op": "conv2d", "activations": "i16", "weights": "i4",
 *               "granularity": "per-tensor", "skip": false, "method": "kl",
 *               "weight-rounding": "adaptive", "bias-correction": true, "equalize": false}]}
 *
 * Errors have the place in the text: json.…, recipe.value, recipe.op, recipe.glob, recipe.storage,
 * method.…. */
#include "driver/quant_options.h"

#include <stdio.h>
#include <string.h>

#include "driver/quantizer.h"
#include "formats/file.h"
#include "formats/json_tree.h"
#include "ir/nearest.h"
#include "patterns/glob.h"
#include "patterns/recipe.h"
#include "patterns/skip.h"

const char *const qn_weight_roundings[] = {"nearest", "gptq", "adaptive", NULL};

typedef struct reader {
	qn_json_doc doc;
	qn_arena *arena;
	qn_scheme scheme;
} reader;

static void
refuse(reader *r, const qn_json *v, const char *id, const char *why)
{
	(void)qn_report(r->doc.env, QN_EINVALID, id, qn_json_place(&r->doc, r->arena, v),
			"invalid value '%s' of '%s'%s", v->string, v->key, why);
}

/* The index of a member's text among words that end with NULL; -1: the member is not there, or it
 * is reported. */
static int
choice(reader *r, const qn_json *rule, const char *key, const char *const *words)
{
	const qn_json *v = qn_json_want(&r->doc, rule, key, QN_JSON_STRING);

	size_t n = 0;

	for (; v != NULL && words[n] != NULL; n++)
		if (strcmp(qn_type_name(v->string), words[n]) == 0)
			return (int)n;
	if (v == NULL)
		return -1;
	const char *best = qn_nearest_name(v->string, n, words);
	(void)qn_report(r->doc.env, QN_EINVALID, "recipe.value",
			qn_json_place(&r->doc, r->arena, v),
			"invalid value '%s' of '%s' (expected %s)" QN_DID_YOU_MEAN, v->string, key,
			qn_choices(r->arena, n, words), QN_SUGGEST(best));
	return -1;
}

/* "i4", or "i4 block 32". */
static void
read_weights(reader *r, const qn_json *rule, qn_recipe_rule *out)
{
	static const struct {
		const char *name;
		uint8_t bits;
	} types[] = {{"i8", 8}, {"i4", 4}, {"i2", 2}};
	const qn_json *v = qn_json_want(&r->doc, rule, "weights", QN_JSON_STRING);
	char type[8] = "", rest = 0;
	int block = 0;

	if (v == NULL)
		return;
	const int n = sscanf(v->string, "%7s block %d%c", type, &block, &rest);
	for (size_t i = 0; i < QN_COUNT(types); i++) {
		if (strcmp(qn_type_name(type), types[i].name) != 0)
			continue;
		out->has_weights =
			(n == 1 && strcmp(v->string, type) == 0) ||
			(n == 2 && block >= QN_WEIGHT_BLOCK_LEAST && block <= QN_WEIGHT_BLOCK_MOST);
		out->weight_bits = types[i].bits;
		out->weight_block = block;
	}
	if (!out->has_weights)
		refuse(r, v, "recipe.value",
		       " (expected i8, i4 or i2, and after it maybe block and a number from 8 to "
		       "65536, as in 'i4 block 32')");
}

enum { NSTORAGE = QN_STORAGE_I16 + 1 };

static void
read_storage(reader *r, const qn_json *v, qn_recipe_rule *out)
{
	static const char *const activations[] = {"i8",          "u8",
						  "i16",         "i8 per-axis",
						  "u8 per-axis", "i16 per-axis",
						  "dynamic",     "dynamic per-row",
						  "auto",        NULL};
	enum { DYNAMIC = 2 * NSTORAGE, AUTO = DYNAMIC + 2 };
	static const char *const granularity[] = {"per-channel", "per-tensor", NULL};
	int a = choice(r, v, "activations", activations);
	int g = choice(r, v, "granularity", granularity);

	out->has_activations = a >= 0;
	out->automatic = a == AUTO;
	out->when = a < DYNAMIC || a == AUTO ? QN_STATIC : (qn_scale_time)(a - DYNAMIC + 1);
	out->activations = (qn_storage)(a >= 0 && a < DYNAMIC ? a % NSTORAGE : QN_STORAGE_I8);
	out->per_axis = a >= NSTORAGE && a < DYNAMIC;
	read_weights(r, v, out);
	out->has_granularity = g >= 0;
	out->per_tensor = g == 1;
	if (a >= 0 && out->activations == QN_STORAGE_U8 && r->scheme == QN_SCHEME_RFC)
		refuse(r, qn_json_find(v, "activations"), "recipe.storage",
		       ": scheme rfc quantizes symmetrically (expected i8 or i16)");
}

/* A text that the table of methods knows, or NULL. */
static const char *
read_method(reader *r, const qn_json *rule)
{
	const qn_json *v = qn_json_want(&r->doc, rule, "method", QN_JSON_STRING);
	qn_method_opts ignored;

	if (v == NULL ||
	    qn_method_parse_at(r->doc.env, r->arena, qn_json_place(&r->doc, r->arena, v), v->string,
			       &ignored) != QN_OK)
		return NULL;
	return v->string;
}

/* Whether the member is there; *value: what it says. */
static bool
read_bool(reader *r, const qn_json *rule, const char *key, bool *value)
{
	const qn_json *v = qn_json_want(&r->doc, rule, key, QN_JSON_BOOL);

	*value = v != NULL && v->truth;
	return v != NULL;
}

static void
read_repairs(reader *r, const qn_json *v, qn_recipe_rule *out)
{
	const int rounding = choice(r, v, "weight-rounding", qn_weight_roundings);

	out->has_rounding = rounding >= 0;
	out->rounding = (qn_weight_rounding)(rounding >= 0 ? rounding : 0);
	out->has_bias = read_bool(r, v, "bias-correction", &out->bias);
	out->has_equalize = read_bool(r, v, "equalize", &out->equalize);
	out->has_narrow = read_bool(r, v, "narrow-ranges", &out->narrow);
}

static void
read_rule(reader *r, const qn_json *v, qn_recipe_rule *out)
{
	static const char *const keys[] = {
		"name",         "op",     "activations",     "weights",         "granularity",
		"skip",         "method", "weight-rounding", "bias-correction", "equalize",
		"narrow-ranges"};
	const qn_json *name, *op;
	qn_op found;

	if (!qn_json_is(&r->doc, v, QN_JSON_OBJECT))
		return;
	qn_json_only(&r->doc, v, QN_COUNT(keys), keys);
	name = qn_json_want(&r->doc, v, "name", QN_JSON_STRING);
	op = qn_json_want(&r->doc, v, "op", QN_JSON_STRING);
	out->place = qn_json_place(&r->doc, r->arena, v);
	out->name = name != NULL ? name->string : NULL;
	const char *fault = name != NULL ? qn_glob_fault(name->string) : NULL;
	if (fault != NULL) {
		qn_buf b;

		qn_buf_init(&b, r->arena);
		qn_buff(&b, ": not a pattern of names: %s", fault);
		refuse(r, name, "recipe.glob", qn_buf_str(&b));
	}
	out->op = op != NULL ? op->string : NULL;
	out->has_skip = read_bool(r, v, "skip", &out->skip);
	if (op != NULL && strcmp(op->string, "output") != 0 &&
	    qn_op_lookup(r->doc.env, op->string, &found) == NULL) {
		const char *best = qn_nearest_op(r->doc.env, op->string);

		(void)qn_report(
			r->doc.env, QN_EINVALID, "recipe.op", qn_json_place(&r->doc, r->arena, op),
			"unknown op '%s'" QN_DID_YOU_MEAN " (`quern supported-ops` lists the ops)",
			op->string, QN_SUGGEST(best));
	}
	out->method = read_method(r, v);
	read_storage(r, v, out);
	read_repairs(r, v, out);
}

static qn_status
read_recipe(qn_env *env, const char *file, const char *text, size_t n, qn_arena *a,
	    qn_quant_opts *out)
{
	static const char *const keys[] = {"rules"};
	qn_recipe *recipe = QN_NEW(a, qn_recipe, 1);
	reader r = {.arena = a, .scheme = out->scheme};
	size_t errors = env->diags->nerrors;

	QN_TRY(qn_json_tree(a, file, text, n, NULL, &r.doc));
	if (!qn_json_is(&r.doc, r.doc.root, QN_JSON_OBJECT))
		return QN_EINVALID;
	qn_json_only(&r.doc, r.doc.root, QN_COUNT(keys), keys);
	const qn_json *rules = qn_json_need(&r.doc, r.doc.root, "rules", QN_JSON_ARRAY);
	if (rules == NULL)
		return QN_EINVALID;
	qn_recipe_rule *rule = QN_NEW(a, qn_recipe_rule, rules->n);
	for (size_t i = 0; i < rules->n; i++)
		read_rule(&r, &rules->child[i], &rule[i]);
	*recipe = (qn_recipe){rule, rules->n, QN_NEW(a, bool, rules->n), QN_NEW(a, bool, rules->n),
			      qn_crc32(0, text, n)};
	out->recipe = recipe;
	return env->diags->nerrors > errors ? QN_EINVALID : QN_OK;
}

/* ---- layers with scales at run time ---- */

/* A word of "conv1*,op:dense" as a rule. */
static qn_status
read_layer(qn_env *env, const char *word, qn_recipe_rule *out)
{
	static const char op[] = "op:", name[] = "name:";
	qn_op found;

	*out = (qn_recipe_rule){
		.place = "dynamic", .has_activations = true, .when = QN_AT_RUN_TIME, .name = word};
	if (strncmp(word, name, sizeof name - 1) == 0)
		out->name = word + sizeof name - 1;
	if (strncmp(word, op, sizeof op - 1) == 0) {
		out->op = word + sizeof op - 1;
		out->name = NULL;
	}
	const char *fault = out->name != NULL ? qn_glob_fault(out->name) : NULL;
	if (word[0] == '\0' || fault != NULL)
		return qn_report(env, QN_EUSAGE, "recipe.glob", "dynamic",
				 "invalid value '%s': not a pattern of names: %s", word,
				 fault != NULL ? fault : "it is empty");
	if (out->op == NULL || qn_op_lookup(env, out->op, &found) != NULL)
		return QN_OK;
	const char *best = qn_nearest_op(env, out->op);
	return qn_report(env, QN_EUSAGE, "recipe.op", "dynamic",
			 "unknown op '%s'" QN_DID_YOU_MEAN " (`quern supported-ops` lists the ops)",
			 out->op, QN_SUGGEST(best));
}

/* The recipe with one rule more, at its end, for each comma-separated word of opts->dynamic. */
static qn_status
add_layers(qn_env *env, qn_arena *a, qn_quant_opts *opts)
{
	const qn_recipe none = {0}, *from = opts->recipe != NULL ? opts->recipe : &none;
	qn_recipe *to = QN_NEW(a, qn_recipe, 1);
	char *text = qn_arena_str(a, opts->dynamic);
	size_t n = from->n + 1;

	for (const char *p = text; *p != '\0'; p++)
		n += *p == ',';
	qn_recipe_rule *rule = QN_NEW(a, qn_recipe_rule, n);
	for (size_t i = 0; i < from->n; i++)
		rule[i] = from->rule[i];
	for (size_t i = from->n; i < n; i++) {
		const size_t length = strcspn(text, ",");
		const bool last = text[length] == '\0';

		text[length] = '\0';
		QN_TRY(read_layer(env, text, &rule[i]));
		text += last ? length : length + 1;
	}
	*to = (qn_recipe){rule, n, QN_NEW(a, bool, n), QN_NEW(a, bool, n), from->crc};
	opts->recipe = to;
	return QN_OK;
}

qn_status
qn_quant_opts_of(qn_model *m, const qn_compile_opts *o, qn_arena *a, qn_quant_opts *out)
{
	qn_skip *skip = QN_NEW(a, qn_skip, 1);
	const char *text = o->recipe;
	size_t n = text != NULL ? strlen(text) : 0;

	static const uint8_t weight_bits[] = {8, 4, 2};
	*out = (qn_quant_opts){
		.scheme = o->scheme == QN_RFC ? QN_SCHEME_RFC : QN_SCHEME_TFLITE,
		.per_tensor_weights = o->weights == QN_WEIGHTS_PER_TENSOR ||
				      (o->weights == QN_WEIGHTS_DEFAULT && o->scheme == QN_RFC),
		.activations = o->activations == QN_ACTIVATIONS_AUTO ? QN_STORAGE_I8
								     : (qn_storage)o->activations,
		.automatic = o->activations == QN_ACTIVATIONS_AUTO,
		.weight_bits = weight_bits[o->weights_type],
		.weight_block = o->weight_block,
		.skip = skip,
		.explain = o->explain,
		.explain_user = o->explain_user};
	QN_TRY(qn_quantizers_of(m, o, a, out));
	if (text == NULL && o->recipe_file != NULL)
		QN_TRY(qn_file_map(a, o->recipe_file, &text, &n));
	if (text != NULL)
		QN_TRY(read_recipe(m->env, o->recipe_file != NULL ? o->recipe_file : "recipe", text,
				   n, a, out));
	out->dynamic = o->dynamic;
	out->has_recipe = text != NULL;
	if (o->dynamic != NULL)
		QN_TRY(add_layers(m->env, a, out));
	*skip = (qn_skip){.fn = o->skip_fn, .user = o->skip_user, .recipe = out->recipe};
	return o->skip != NULL ? qn_skip_parse(m->env, a, o->skip, skip) : QN_OK;
}
