/* SPDX-License-Identifier: Apache-2.0 */
/* analysis_advice.c - what would help the layers that cost a network most: a recipe, and options. */
#include <string.h>

#include "analysis.h"
#include "json_values.h"

enum { MOST_RULES = 3 }; /* layers that rules are for */

/* Gains below these are not worth a rule, in dB: of the network, of a layer's inputs by another method. */
static const double least_gain = 0.5, least_method_gain = 2;

/* ---- rules ---- */

advice
analysis_advise(const qn_layer_cost *l)
{
	const bool weights = analysis_weights_cost_most(l);

	if (!(l->gain >= least_gain))
		return (advice){0};
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

static void
print_recipe(const analysis *a, const options *o)
{
	const char *comma = "";
	size_t n = 0;

	for (size_t i = 0; i < a->n && n < MOST_RULES; i++) {
		const qn_layer_cost *l = &a->layer[i];
		const advice d = analysis_advise(l);

		if (d.keys == NULL)
			continue;
		if (n++ == 0) {
			printf("\nA recipe for the layers that cost most");
			if (o->recipe != NULL)
				printf("; add its rules to %s", o->recipe);
			else
				printf(" (--recipe FILE)");
			printf(". _: what is gained at most, if the layer\nwere float "
			       "(network) or its range were the best one (inputs):\n{\"rules\": [");
		}
		printf("%s\n  {\"_\": \"%s +%.1f dB\", \"name\": ", comma, d.where, d.gain);
		analysis_put_glob(stdout, l->name);
		printf(", %s}", d.keys);
		comma = ",";
	}
	if (n > 0)
		printf("\n]}\n");
}

/* ---- options ---- */

/* The worst layer that is worth it and whose weights cost most; NULL: none. */
static const qn_layer_cost *
find_costly_weights(const analysis *a)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->layer[i].gain >= least_gain && analysis_weights_cost_most(&a->layer[i]))
			return &a->layer[i];
	return NULL;
}

void
analysis_print_advice(const analysis *a, const options *o)
{
	const qn_layer_cost *l = find_costly_weights(a);

	if (l != NULL && o->weight_rounding == 0)
		printf("\nWeights cost more than inputs in %s, for one: try --weight-rounding "
		       "adaptive --bias-correction,\nwhich change neither size nor speed.\n",
		       l->layers);
	print_recipe(a, o);
}
