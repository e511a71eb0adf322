/* SPDX-License-Identifier: Apache-2.0 */
/* analysis_recipe.c - rules for the layers that cost a network most, each of them tried: the network is compiled by them to
 * integers and compared with the float one, as quern eval does.  What one layer costs says little of what a rule brings
 * where noise adds up along a chain, or where the graph's input is what costs. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"

enum { MOST_LAYERS = 3, MOST_KEYS = 3 };

/* Less than this, in dB, is not worth a rule, nor one that is dear, as with --activations auto; and a rule that brings less
 * than the last is not missed. */
static const double least = 0.3, least_dear = 3, nothing = 0.05;
static const char between[] = ",\n  "; /* of rules */

typedef struct trials {
	qn_ctx *ctx;
	const options *o;
	qn_compile_opts compile;
	const sample_list *on;
	qn_model *against; /* the float network */
	qn_status status;  /* of what ends the trials: no memory, cancelled */
} trials;

/* The noise of the outputs, each in parts of its signal. */
typedef struct noise {
	const trials *t;
	double sum;
	size_t n;
} noise;

/* Whether an output is of floats: indices and truths have no noise. */
static bool
is_float(qn_model *m, const char *output)
{
	const char *name;

	for (size_t k = 0; (name = qn_model_output_name(m, k)) != NULL; k++)
		if (strcmp(name, output) == 0)
			return strstr(qn_model_output_type(m, k), "xf32>") != NULL ||
			       strcmp(qn_model_output_type(m, k), "tensor<f32>") == 0;
	return false;
}

static void
add_noise(void *user, const qn_metric *metric)
{
	noise *to = user;

	/* of an output that is 0 on all samples nothing is known */
	if (strcmp(metric->name, "sqnr") != 0 || !is_float(to->t->against, metric->output) ||
	    metric->value <= -HUGE_VAL)
		return;
	to->sum += pow(10, -metric->value / 10);
	to->n++;
}

static void
ignore_buffer(void *user, const qn_plan_buffer *b)
{
	(void)user, (void)b;
}

/* Steps 0: it cannot be planned; the rules are told nevertheless. */
static qn_emit_info
what_takes(const trials *t, qn_model *m)
{
	qn_emit_info info = {0};

	if (program_stream(t->o, m) != QN_OK ||
	    qn_memory_plan(m, NULL, ignore_buffer, NULL, &info) != QN_OK)
		info.steps = 0;
	return info;
}

/* SQNR of the network that is compiled by rules, "{…}, {…}" or none; NaN: it does not compile.  *takes: what it takes. */
static double
decibels(trials *t, const char *rules, qn_emit_info *takes)
{
	const size_t size = strlen(rules) + sizeof "{\"rules\": []}";
	char *recipe = malloc(size);
	const qn_measure_opts against = {.size = sizeof against, .against = t->against};
	qn_compile_opts opts = t->compile;
	qn_model *m = NULL;
	noise sum = {.t = t};
	qn_status status = recipe != NULL ? QN_OK : QN_ENOMEM;

	if (status == QN_OK) {
		(void)snprintf(recipe, size, "{\"rules\": [%s]}", rules);
		opts.recipe = rules[0] != '\0' ? recipe : NULL;
		status = program_load_model(t->ctx, t->o, &m);
	}
	if (status == QN_OK)
		status = qn_compile(m, &opts);
	if (status == QN_OK)
		status = qn_measure(m, t->on->n, t->on->array, &against, add_noise, &sum);
	*takes = status == QN_OK ? what_takes(t, m) : (qn_emit_info){0};
	qn_model_free(m);
	free(recipe);
	qn_diag_clear(t->ctx);
	if (status == QN_ENOMEM || status == QN_ECANCELLED)
		t->status = status;
	return status == QN_OK && sum.n > 0 ? -10 * log10(sum.sum / (double)sum.n) : (double)NAN;
}

/* `before`, a comma, and a rule of a layer (NULL: of none) with these keys; NULL: no memory. */
static char *
extended(const char *before, const qn_layer_cost *l, const char *keys, const char *comment)
{
	char *text = NULL;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	if (to == NULL)
		return NULL;
	fprintf(to, "%s%s{", before, before[0] != '\0' ? between : "");
	if (comment != NULL)
		fprintf(to, "\"_\": \"%s\", ", comment);
	if (l != NULL) {
		fprintf(to, "\"name\": ");
		analysis_put_glob(to, l->name);
		fprintf(to, ", ");
	}
	fprintf(to, "%s}", keys);
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

/* What the rules of a layer may say, the cheapest first; how many there are. */
static size_t
keys_of(const analysis *a, const trials *t, const qn_layer_cost *l, const char **key)
{
	const advice d = analysis_advise(a, l);
	size_t n = 0;

	if (d.keys == NULL)
		return 0;
	key[n++] = d.keys;
	if (strcmp(d.keys, "\"activations\": \"i16\"") != 0 &&
	    t->compile.activations != QN_ACTIVATIONS_I16)
		key[n++] = "\"activations\": \"i16\"";
	if (l->nfrom == 0 && t->compile.activations != QN_ACTIVATIONS_I16)
		key[n++] =
			"\"activations\": \"i16\"}, {\"op\": \"input\", \"activations\": \"i16\"";
	return n;
}

/* Whether the network takes more than 9/8 of the memory or of the instructions with a rule for activations, as far as that
 * is known.  A rule for weights says what it takes. */
static bool
is_dear(const char *key, const qn_emit_info *less, const qn_emit_info *more)
{
	return strstr(key, "\"activations\"") != NULL && less->steps > 0 && more->steps > 0 &&
	       (more->scratch_bytes > less->scratch_bytes / 8 * 9 ||
		more->weight_bytes > less->weight_bytes / 8 * 9 ||
		more->instructions > less->instructions / 8 * 9);
}

/* The best of a layer's rules is added to those of the analysis if it brings enough. */
static void
try_rules(analysis *a, trials *t, const qn_layer_cost *l, const char *const *key, size_t n)
{
	char comment[64];
	double best = a->recipe.after;
	qn_emit_info takes, more = a->recipe.more;
	const char *chosen = NULL;

	for (size_t i = 0; i < n && t->status == QN_OK && best < HUGE_VAL; i++) {
		char *rules = extended(a->recipe.rules, l, key[i], NULL);
		const double db = rules != NULL ? decibels(t, rules, &takes) : (double)NAN;

		a->out_of_memory = a->out_of_memory || rules == NULL;
		free(rules);
		/* a dearer one has to bring as much more */
		if (!(db >= best + least) || (is_dear(key[i], &a->recipe.more, &takes) &&
					      !(db >= a->recipe.after + least_dear)))
			continue;
		best = db;
		more = takes;
		chosen = key[i];
	}
	if (chosen == NULL || a->out_of_memory)
		return;
	const uint64_t bytes = l != NULL ? analysis_more_bytes(l, chosen) : 0;
	int length = snprintf(comment, sizeof comment, "+%.1f dB", best - a->recipe.after);
	if (bytes > 0 && length > 0)
		(void)snprintf(comment + length, sizeof comment - (size_t)length, " for %llu bytes",
			       (unsigned long long)bytes);
	char *rules = extended(a->recipe.rules, l, chosen, comment);
	a->out_of_memory = rules == NULL;
	if (rules == NULL)
		return;
	free(a->recipe.rules);
	a->recipe.rules = rules;
	a->recipe.after = best;
	a->recipe.more = more;
}

/* The first rule, of repairs, goes again where those for layers leave it nothing to bring: compile would say that it kept
 * no repair.  length: of the rules when it was the only one; 0: it is not there. */
static void
drop_repairs(analysis *a, trials *t, size_t length)
{
	const char *const rules = a->recipe.rules;
	qn_emit_info takes;

	if (length == 0 || a->out_of_memory || strlen(rules) == length)
		return;
	const char *const others = rules + length + strlen(between);
	const double db = decibels(t, others, &takes);
	if (!(db >= a->recipe.after - nothing))
		return;
	a->recipe.after = db;
	a->recipe.more = takes;
	memmove(a->recipe.rules, others, strlen(others) + 1);
}

qn_status
analysis_try_rules(analysis *a, qn_ctx *ctx, const options *o, const qn_compile_opts *compile,
		   const sample_list *on)
{
	static const char *const repairs[] = {
		"\"weight-rounding\": \"adaptive\", \"bias-correction\": true"};
	trials t = {.ctx = ctx, .o = o, .compile = *compile, .on = on};
	size_t layers = 0;

	t.compile.stop_after = NULL;
	a->recipe.rules = calloc(1, 1);
	a->out_of_memory = a->out_of_memory || a->recipe.rules == NULL;
	if (a->out_of_memory)
		return QN_ENOMEM;
	const qn_status loaded = program_load_model(ctx, o, &t.against);
	if (loaded != QN_OK)
		return loaded;
	a->recipe.before = a->recipe.after = decibels(&t, "", &a->recipe.less);
	a->recipe.more = a->recipe.less;
	a->recipe.tried = a->recipe.before > -HUGE_VAL;
	if (a->recipe.tried && analysis_costly_weights(a, o) != NULL)
		try_rules(a, &t, NULL, repairs, 1);
	const size_t length = a->recipe.rules != NULL ? strlen(a->recipe.rules) : 0;
	for (size_t i = 0; a->recipe.tried && i < a->n && layers < MOST_LAYERS; i++) {
		const char *key[MOST_KEYS];
		const size_t n = keys_of(a, &t, &a->layer[i], key);

		layers += n > 0;
		try_rules(a, &t, &a->layer[i], key, n);
	}
	drop_repairs(a, &t, length);
	qn_model_free(t.against);
	qn_diag_clear(ctx);
	return t.status != QN_OK ? t.status : a->out_of_memory ? QN_ENOMEM : QN_OK;
}
