/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_analyze.c - quern analyze: what each layer costs, as a table with advice or as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_values.h"
#include "program.h"
#include "quern/measure.h"

enum {
	MOST_ADVICE = 3, /* layers that rules are for */
	LAYER_WIDTH = 40 /* of the table's first column, in bytes; longer names are cut */
};

/* Gains below this are not worth a rule, in dB. */
static const double least_gain = 0.5;

typedef struct layers {
	qn_layer_cost *of; /* worst first; texts are copies */
	size_t n, room;
	bool out_of_memory;
} layers;

static char *
copy(const char *s)
{
	const size_t n = s != NULL ? strlen(s) + 1 : 0;
	char *to = n > 0 ? malloc(n) : NULL;

	return to != NULL ? memcpy(to, s, n) : NULL;
}

static void
add(void *user, const qn_layer_cost *cost)
{
	layers *l = user;

	if (l->n == l->room) {
		const size_t room = l->room > 0 ? 2 * l->room : 64;
		qn_layer_cost *more = realloc(l->of, room * sizeof *more);

		l->out_of_memory = l->out_of_memory || more == NULL;
		if (more == NULL)
			return;
		l->of = more;
		l->room = room;
	}
	qn_layer_cost *to = &l->of[l->n++];
	*to = *cost;
	to->name = copy(cost->name);
	to->layers = copy(cost->layers);
	to->weights = copy(cost->weights);
	l->out_of_memory = l->out_of_memory || to->name == NULL || to->layers == NULL ||
			   (cost->weights != NULL && to->weights == NULL);
}

static void
release(layers *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free((char *)l->of[i].name);
		free((char *)l->of[i].layers);
		free((char *)l->of[i].weights);
	}
	free(l->of);
}

/* ---- text ---- */

static void
print_db(double v)
{
	if (v - v != 0)
		printf(" %8s", v > 0 ? "-" : "-inf");
	else
		printf(" %8.2f", v);
}

static void
print_row(const qn_layer_cost *l)
{
	const size_t n = strlen(l->layers);

	if (n > LAYER_WIDTH)
		printf("…%-*s", LAYER_WIDTH - 1, l->layers + n - (LAYER_WIDTH - 1));
	else
		printf("%-*s", LAYER_WIDTH, l->layers);
	printf(" %-16s %-7s %10llu %8llu", l->op, l->weights != NULL ? l->weights : "-",
	       (unsigned long long)l->macs, (unsigned long long)l->weight_bytes);
	print_db(l->alone);
	print_db(l->weights_alone);
	print_db(l->data_alone);
	print_db(l->here);
	print_db(l->gain);
	printf("\n");
}

/* What would help a layer most: other storage of its weights where these cost more than its inputs. */
static const char *
rule_of(const qn_layer_cost *l)
{
	const bool weights = l->weights != NULL && l->weights_alone < l->data_alone;

	if (weights && strcmp(l->weights, "i8") != 0)
		return "\"weights\": \"i8\"";
	return weights ? NULL : "\"activations\": \"i16\"";
}

static void
print_advice(const layers *l, const options *o)
{
	const char *comma = "";
	size_t n = 0;
	bool weights = false;

	for (size_t i = 0; i < l->n; i++)
		weights = weights || (l->of[i].weights != NULL && l->of[i].gain >= least_gain &&
				      l->of[i].weights_alone < l->of[i].data_alone);
	if (weights && o->weight_rounding == 0)
		printf("\nWeights cost most: try --weight-rounding adaptive --bias-correction, "
		       "which "
		       "change neither size nor speed.\n");
	for (size_t i = 0; i < l->n && n < MOST_ADVICE; i++) {
		const qn_layer_cost *c = &l->of[i];
		const char *rule = rule_of(c);

		if (rule == NULL || !(c->gain >= least_gain))
			continue;
		if (n++ == 0)
			printf("\nA recipe for the layers that cost most (--recipe FILE); _ is "
			       "what the "
			       "network's SQNR gains when the layer is float:\n{\"rules\": [");
		printf("%s\n  {\"_\": \"+%.1f dB\", \"name\": ", comma, c->gain);
		json_text(c->name);
		printf(", %s}", rule);
		comma = ",";
	}
	if (n > 0)
		printf("\n]}\n");
}

static void
print_table(const layers *l, const qn_analysis *a, const options *o)
{
	printf("%-*s %-16s %-7s %10s %8s %8s %8s %8s %8s %8s\n", LAYER_WIDTH, "layer", "op",
	       "weights", "MACs", "bytes", "alone", "weights", "inputs", "here", "gain");
	for (size_t i = 0; i < l->n; i++)
		print_row(&l->of[i]);
	printf("\nnetwork: ");
	if (a->sqnr - a->sqnr != 0)
		printf("no noise\n");
	else
		printf("%.2f dB with all layers quantized\n", a->sqnr);
	print_advice(l, o);
}

/* ---- JSON ---- */

static void
put_db(const char *key, double v)
{
	printf(", \"%s\": ", key);
	json_number(v);
}

static void
print_json(const layers *l, const qn_analysis *a)
{
	printf("{\"quern_analyze\": 1, \"version\": \"%s\", \"sqnr\": ", qn_version());
	json_number(a->sqnr);
	printf(",\n  \"layers\": [");
	for (size_t i = 0; i < l->n; i++) {
		const qn_layer_cost *c = &l->of[i];

		printf("%s{\"name\": ", i > 0 ? ",\n    " : "\n    ");
		json_text(c->name);
		printf(", \"layers\": ");
		json_text(c->layers);
		printf(", \"op\": \"%s\", \"matches\": %zu", c->op, c->matches);
		if (c->weights != NULL)
			printf(", \"weights\": \"%s\"", c->weights);
		printf(", \"macs\": %llu, \"weight_bytes\": %llu", (unsigned long long)c->macs,
		       (unsigned long long)c->weight_bytes);
		put_db("alone", c->alone);
		put_db("weights_alone", c->weights_alone);
		put_db("inputs_alone", c->data_alone);
		put_db("here", c->here);
		put_db("gain", c->gain);
		printf("}");
	}
	printf("\n  ]}\n");
}

/* ---- the command ---- */

static qn_status
analyze(qn_ctx *ctx, const options *o)
{
	sample_list calib = {0}, data = {0};
	qn_compile_opts compile;
	qn_model *m = NULL;
	layers l = {0};
	qn_analysis a;

	qn_status status = program_compile_opts(ctx, o, &calib, &compile);
	if (status == QN_OK)
		status = program_load_samples(ctx, o, o->ndata, o->data, &data);
	if (status == QN_OK)
		status = program_load_model(ctx, o, &m);
	if (status == QN_OK)
		status = program_check_used(o, &data, &calib);
	if (status != QN_OK)
		return status;
	compile.stop_after =
		compile.bias_correction != 0 || compile.weight_rounding != QN_WEIGHTS_NEAREST
			? "repair"
			: "calibrate";
	const sample_list *on = data.n > 0 ? &data : &calib;
	const char *stage = qn_model_stage(m);
	if (strcmp(stage, "float") == 0 || strcmp(stage, "symbolic") == 0)
		status = qn_compile(m, &compile);
	if (status == QN_OK)
		status = qn_analyze(m, on->n, on->array, add, &l, &a);
	if (status == QN_OK && l.out_of_memory)
		status = QN_ENOMEM;
	if (status == QN_OK && o->json)
		print_json(&l, &a);
	else if (status == QN_OK)
		print_table(&l, &a, o);
	release(&l);
	return status;
}

int
cmd_analyze(const options *o)
{
	if (o->ncalib == 0 && (o->ndata == 0 || !program_has_ranges(o))) {
		fprintf(stderr, "quern analyze: missing option: --calib FILE\ntry: quern analyze "
				"--help\n");
		return QN_EUSAGE;
	}
	qn_ctx *ctx = program_open(o);
	return ctx == NULL ? 1 : program_close(ctx, analyze(ctx, o));
}
