/* SPDX-License-Identifier: Apache-2.0 */
/* analysis_advice.c - what would help the layers that cost a network most: a recipe, and options. */
#include <string.h>

#include "analysis.h"
#include "json_values.h"

enum { MOST_RULES = 3 }; /* layers that rules are for */

/* Gains below these are not worth a rule, in dB: of the network, of a layer's inputs by another method. */
static const double least_gain = 0.5, least_method_gain = 2;
/* Outputs so near to the float ones need no hint, in dB. */
static const double enough = 40;
/* A channel so many times as wide as the median takes three bits of all others. */
static const double wide_channel = 8;

/* ---- rules ---- */

/* Whether scales of channels may move into the layer, or out of it. */
static bool
has_channels(const qn_layer_cost *l)
{
	static const char *const op[] = {"conv2d", "conv1d", "dense"};

	for (size_t i = 0; l->weights != NULL && i < sizeof op / sizeof op[0]; i++)
		if (strcmp(l->op, op[i]) == 0)
			return true;
	return false;
}

static const qn_layer_cost *
layer_at(const analysis *a, size_t index)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->layer[i].index == index)
			return &a->layer[i];
	return NULL;
}

/* The channels of what the layer takes differ strongly, and layers compute them that could do it in another scale. */
static bool
has_unlike_channels(const analysis *a, const qn_layer_cost *l)
{
	bool moves = !a->equalized && has_channels(l) && l->nfrom > 0 &&
		     l->worst_outlier >= wide_channel;

	for (size_t i = 0; i < l->nfrom && moves; i++)
		moves = layer_at(a, l->from[i]) != NULL && has_channels(layer_at(a, l->from[i]));
	return moves;
}

advice
analysis_advise(const analysis *a, const qn_layer_cost *l)
{
	const bool weights = analysis_weights_cost_most(l);

	if (!(l->gain >= least_gain))
		return (advice){0};
	if (has_unlike_channels(a, l)) /* of its inputs, and of its weights for these */
		return (advice){"\"equalize\": true", "network", l->gain};
	if (weights)
		return (advice){strcmp(l->weights, "i8") != 0 ? "\"weights\": \"i8\"" : NULL,
				"network", l->gain};
	if (l->range_gain >= least_method_gain)
		return (advice){"\"method\": \"mse\"", "inputs", l->range_gain};
	return (advice){"\"activations\": \"i16\"", "network", l->gain};
}

void
analysis_put_glob(FILE *to, const char *name)
{
	char text[2048];
	size_t n = 0;

	for (; *name != '\0' && n + 4 < sizeof text; name++) {
		const bool special = strchr("*?[", *name) != NULL;

		if (special)
			text[n++] = '[';
		text[n++] = *name;
		if (special)
			text[n++] = ']';
	}
	text[n] = '\0';
	json_text(to, text);
}

uint64_t
analysis_more_bytes(const qn_layer_cost *l, const char *keys)
{
	if (strstr(keys, "\"weights\"") == NULL)
		return 0;
	if (strcmp(l->weights, "i4") == 0)
		return l->weight_bytes;
	return strcmp(l->weights, "i2") == 0 ? 3 * l->weight_bytes : 0;
}

static void
print_rule(const qn_layer_cost *l, const advice *d)
{
	const uint64_t bytes = analysis_more_bytes(l, d->keys);

	printf("  {\"_\": \"%s +%.1f dB", d->where, d->gain);
	if (bytes > 0)
		printf(" for %llu bytes", (unsigned long long)bytes);
	printf("\", \"name\": ");
	analysis_put_glob(stdout, l->name);
	printf(", %s}", d->keys);
}

/* Rules that were not tried: beside those of a recipe, or where the model was not float. */
static void
print_untried(const analysis *a, const options *o)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n && n < MOST_RULES; i++) {
		const advice d = analysis_advise(a, &a->layer[i]);

		if (d.keys == NULL)
			continue;
		if (n++ > 0)
			printf(",\n");
		else
			printf("\nRules for the layers that cost most%s%s. _: what is gained at "
			       "most, if the layer\nwere float (network) or its range were the "
			       "best one "
			       "(inputs); they were not tried:\n{\"rules\": [\n",
			       o->recipe != NULL ? "; add them to " : " (--recipe FILE)",
			       o->recipe != NULL ? o->recipe : "");
		print_rule(&a->layer[i], &d);
	}
	if (n > 0)
		printf("\n]}\n");
}

/* What the rules cost, where they cost anything: 16 bits for one layer may take more than for all. */
static void
print_costs(const qn_emit_info *less, const qn_emit_info *more)
{
	if (less->steps == 0 || more->steps == 0 ||
	    (less->weight_bytes == more->weight_bytes &&
	     less->scratch_bytes == more->scratch_bytes &&
	     less->instructions == more->instructions))
		return;
	printf("With it the network takes %zu bytes of constants (%zu without it), an activation "
	       "arena of %zu\n(%zu) and about %llu instructions (%llu).\n",
	       more->weight_bytes, less->weight_bytes, more->scratch_bytes, less->scratch_bytes,
	       (unsigned long long)more->instructions, (unsigned long long)less->instructions);
	if (more->scratch_bytes > 2 * less->scratch_bytes)
		printf("Values are stored twice where 16 bits begin and end: also try "
		       "--activations i16, for all layers.\n");
}

static void
print_recipe(const analysis *a, const options *o)
{
	const tried_recipe *r = &a->recipe;

	if (!r->tried)
		print_untried(a, o);
	else if (r->rules[0] != '\0') {
		printf("\nA recipe for the layers that cost most (--recipe FILE), with which the "
		       "outputs in integers\nare %.2f dB (SQNR) from the float ones on these "
		       "samples, %.2f without it.\n",
		       r->after, r->before);
		print_costs(&r->less, &r->more);
		printf("_: what the rule brings beside those before it:\n"
		       "{\"rules\": [\n  %s\n]}\n",
		       r->rules);
	} else if (r->before < enough)
		printf("\nNo rule for one of the layers that cost most brings anything: the "
		       "outputs in integers are %.2f dB\n(SQNR) from the float ones on these "
		       "samples. Try "
		       "--activations auto, which tries layers together, and\nquern tune.\n",
		       r->before);
}

/* ---- options ---- */

const qn_layer_cost *
analysis_costly_weights(const analysis *a, const options *o)
{
	for (size_t i = 0; o->weight_rounding == 0 && i < a->n; i++)
		if (a->layer[i].gain >= least_gain && analysis_weights_cost_most(&a->layer[i]))
			return &a->layer[i];
	return NULL;
}

/* The worst layer whose rule is to equalize; NULL: none. */
static const qn_layer_cost *
find_unlike_channels(const analysis *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->layer[i].gain >= least_gain && has_unlike_channels(a, &a->layer[i]))
			return &a->layer[i];
	return NULL;
}

void
analysis_print_advice(const analysis *a, const options *o)
{
	const qn_layer_cost *weights = analysis_costly_weights(a, o);
	const qn_layer_cost *channels = find_unlike_channels(a);
	const double gain = a->all.weights_gain;

	if (weights != NULL) {
		printf("\nWeights cost more than inputs in %s, for one: try --weight-rounding "
		       "adaptive --bias-correction,\nwhich change neither size nor speed.",
		       weights->layers);
		if (gain - gain == 0)
			printf(" Weights that cost nothing would bring %.1f dB.", gain);
		printf("\n");
	}
	if (channels != NULL)
		printf("\nChannels of what %s takes differ in range, the widest is %.0f times the "
		       "median: try --equalize,\nwhich moves scales between layers and changes "
		       "neither size nor speed. If the layer cost nothing, that would bring %.1f "
		       "dB.\n",
		       channels->layers, channels->worst_outlier, channels->gain);
	print_recipe(a, o);
}
