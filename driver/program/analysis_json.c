/* SPDX-License-Identifier: Apache-2.0 */
/* analysis_json.c - what quern analyze has found, as JSON (docs/quern-analyze.schema.json). */
#include "analysis.h"
#include "json_values.h"

static void
put_number(FILE *to, const char *key, double v)
{
	fprintf(to, ", \"%s\": ", key);
	json_number(to, v);
}

static void
put_count(FILE *to, const char *key, uint64_t v)
{
	fprintf(to, ", \"%s\": %llu", key, (unsigned long long)v);
}

static void
put_histogram(FILE *to, const char *key, const qn_histogram *h)
{
	if (h->value == NULL)
		return;
	fprintf(to, ",\n     \"%s\": {\"value\": ", key);
	json_text(to, h->value);
	put_number(to, "lo", h->lo);
	put_number(to, "hi", h->hi);
	put_number(to, "range_lo", h->range_lo);
	put_number(to, "range_hi", h->range_hi);
	fprintf(to, ", \"count\": [");
	for (size_t i = 0; i < h->bins; i++)
		fprintf(to, "%s%llu", i > 0 ? "," : "", (unsigned long long)h->count[i]);
	fprintf(to, "]}");
}

static void
put_ranges(FILE *to, const qn_layer_cost *l)
{
	put_number(to, "clipped", l->clipped);
	put_number(to, "used", l->used);
	put_count(to, "outliers", l->outliers);
	put_number(to, "worst_outlier", l->worst_outlier);
	put_number(to, "range_gain", l->range_gain);
}

static void
put_advice(FILE *to, const analysis *a, const qn_layer_cost *l)
{
	const advice d = analysis_advise(a, l);

	if (d.keys == NULL)
		return;
	fprintf(to, ", \"advice\": {\"rule\": {\"name\": ");
	analysis_put_glob(to, l->name);
	fprintf(to, ", %s}, \"where\": \"%s\"", d.keys, d.where);
	put_number(to, "gain", d.gain);
	fprintf(to, "}");
}

static void
put_memory(FILE *to, const compiled_plan *p)
{
	if (p->error != NULL) {
		fprintf(to, ",\n  \"memory\": {\"error\": ");
		json_text(to, p->error);
		fprintf(to, "}");
	}
	if (!p->known)
		return;
	fprintf(to, ",\n  \"memory\": {\"steps\": %zu", p->info.steps);
	put_count(to, "arena_bytes", p->info.scratch_bytes);
	put_count(to, "lower_bound", p->info.scratch_lower_bound);
	put_count(to, "weight_bytes", p->info.weight_bytes);
	put_count(to, "instructions", p->info.instructions);
	fprintf(to, ", \"instructions_of\": \"%s\"", p->info.instructions_of);
	fprintf(to, ", \"buffers\": [");
	for (size_t i = 0; i < p->n; i++) {
		const qn_plan_buffer *b = &p->buffer[i];

		fprintf(to, i > 0 ? ",\n    {\"name\": " : "\n    {\"name\": ");
		json_text(to, b->name);
		fprintf(to, ", \"use\": \"%s\"", b->use);
		put_count(to, "offset", b->offset);
		put_count(to, "bytes", b->bytes);
		put_count(to, "first", b->first);
		put_count(to, "last", b->last);
		fprintf(to, "}");
	}
	fprintf(to, "]}");
}

static void
put_recipe(FILE *to, const tried_recipe *r)
{
	if (!r->tried)
		return;
	fprintf(to, ",\n  \"recipe\": {\"rules\": [%s]", r->rules);
	put_number(to, "before", r->before);
	put_number(to, "sqnr", r->after);
	if (r->more.steps > 0) {
		put_count(to, "weight_bytes", r->more.weight_bytes);
		put_count(to, "arena_bytes", r->more.scratch_bytes);
		put_count(to, "instructions", r->more.instructions);
	}
	fprintf(to, "}");
}

static void
put_layer(FILE *to, const analysis *a, const qn_layer_cost *l)
{
	fprintf(to, "{\"name\": ");
	json_text(to, l->name);
	fprintf(to, ", \"layers\": ");
	json_text(to, l->layers);
	fprintf(to, ", \"op\": ");
	json_text(to, l->op);
	put_count(to, "matches", l->matches);
	if (l->weights != NULL)
		fprintf(to, ", \"weights\": \"%s\"", l->weights);
	put_count(to, "macs", l->macs);
	put_count(to, "weight_bytes", l->weight_bytes);
	if (a->plan.known)
		put_count(to, "instructions", a->plan.instructions[l - a->layer]);
	put_number(to, "alone", l->alone);
	put_number(to, "weights_alone", l->weights_alone);
	put_number(to, "inputs_alone", l->data_alone);
	put_number(to, "here", l->here);
	put_number(to, "gain", l->gain);
	put_number(to, "cosine", l->cosine);
	if (a->all.accuracy != NULL) {
		put_number(to, "loss", l->loss);
		put_number(to, "won", l->accuracy_gain);
	}
	if (l->ranges > 0)
		put_ranges(to, l);
	put_count(to, "saturated", l->saturated);
	put_count(to, "index", l->index);
	fprintf(to, ", \"from\": [");
	for (size_t i = 0; i < l->nfrom; i++)
		fprintf(to, "%s%zu", i > 0 ? ", " : "", l->from[i]);
	fprintf(to, "]");
	put_advice(to, a, l);
	put_histogram(to, "input_values", &l->data_values);
	put_histogram(to, "weight_values", &l->weight_values);
	fprintf(to, "}");
}

void
analysis_print_json(FILE *to, const analysis *a)
{
	fprintf(to, "{\"quern_analyze\": 1, \"version\": \"%s\", \"model\": ", qn_version());
	json_text(to, a->model);
	put_count(to, "samples", a->all.samples);
	put_number(to, "sqnr", a->all.sqnr);
	put_number(to, "weights_gain", a->all.weights_gain);
	put_number(to, "cosine", a->all.cosine);
	if (a->all.accuracy != NULL) {
		fprintf(to, ", \"accuracy\": {\"metric\": \"%s\"", a->all.accuracy);
		put_number(to, "float", a->all.float_percent);
		put_number(to, "quantized", a->all.percent);
		fprintf(to, "}");
	}
	fprintf(to, ",\n  \"layers\": [");
	for (size_t i = 0; i < a->n; i++) {
		fprintf(to, i > 0 ? ",\n    " : "\n    ");
		put_layer(to, a, &a->layer[i]);
	}
	fprintf(to, "\n  ]");
	put_memory(to, &a->plan);
	put_recipe(to, &a->recipe);
	fprintf(to, "}\n");
}
