/* SPDX-License-Identifier: Apache-2.0 */
/* eval.c - figures of quern eval as a table, as JSON, and against bounds. */
#include "eval.h"
#include "json_values.h"
#include "quern/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
eval_add(void *user, const qn_metric *m)
{
	evaluation *e = user;

	if (e->n == MAX_FIGURES)
		e->dropped++;
	else
		e->figure[e->n++] = (figure){e->stage, *m};
}

/* ---- a table ---- */

/* Percent and decibel have two decimals, everything else six digits. */
static void
print_value(FILE *to, const qn_metric *m)
{
	if (m->unit[0] != '\0')
		fprintf(to, "%.2f %s", m->value, m->unit);
	else
		fprintf(to, "%.6g", m->value);
}

void
eval_print(const evaluation *e)
{
	if (e->classes != NULL)
		for (size_t k = 0; qn_array_class(e->classes, k) != NULL; k++)
			printf("%-12s %zu is %s\n", "class", k, qn_array_class(e->classes, k));
	for (size_t i = 0; i < e->n; i++) {
		const figure *f = &e->figure[i];

		printf("%-12s %-12s ", f->stage, f->m.name);
		print_value(stdout, &f->m);
		if (f->m.of > 0)
			printf("  (%llu of %llu)", (unsigned long long)f->m.hits,
			       (unsigned long long)f->m.of);
		printf("  %s\n", f->m.output);
	}
	if (e->dropped > 0)
		printf("… and %zu more figures; --json does not print them either\n", e->dropped);
	if (e->has_noise)
		printf("%-12s %6.2f dB (mean of %zu values; least %.2f dB, %s)\n", "sqnr",
		       e->noise.mean, e->noise.values, e->noise.least,
		       e->noise.worst != NULL ? e->noise.worst : "-");
}

/* ---- JSON ---- */

static bool
passes(const gate *g, double v)
{
	return g->is_max ? v <= g->bound : v >= g->bound;
}

/* Whether a gate is about a figure. */
static bool
is_about(const evaluation *e, const gate *g, const figure *f)
{
	return f->stage == e->stage && strcmp(f->m.name, g->metric) == 0;
}

static void
json_gates(const evaluation *e)
{
	const char *comma = "\n    ";

	printf(",\n  \"gates\": [");
	for (size_t i = 0; i < e->ngate; i++)
		for (size_t k = 0; k < e->n; k++) {
			const gate *g = &e->gate[i];

			if (!is_about(e, g, &e->figure[k]))
				continue;
			printf("%s{\"metric\": \"%s\", \"output\": ", comma, g->metric);
			json_text(stdout, e->figure[k].m.output);
			printf(", \"%s\": ", g->is_max ? "max" : "min");
			json_number(stdout, g->bound);
			printf(", \"passed\": %s}",
			       passes(g, e->figure[k].m.value) ? "true" : "false");
			comma = ",\n    ";
		}
	printf("]");
}

void
eval_print_json(const evaluation *e)
{
	printf("{\"quern_eval\": 1, \"version\": \"%s\",\n  \"figures\": [", qn_version());
	for (size_t i = 0; i < e->n; i++) {
		const figure *f = &e->figure[i];

		printf("%s{\"stage\": \"%s\", \"metric\": \"%s\", \"output\": ",
		       i > 0 ? ",\n    " : "\n    ", f->stage, f->m.name);
		json_text(stdout, f->m.output);
		printf(", \"value\": ");
		json_number(stdout, f->m.value);
		printf(", \"unit\": \"%s\"", f->m.unit);
		if (f->m.of > 0)
			printf(", \"hits\": %llu, \"of\": %llu", (unsigned long long)f->m.hits,
			       (unsigned long long)f->m.of);
		printf("}");
	}
	printf("]");
	if (e->has_noise) {
		printf(",\n  \"noise\": {\"values\": %zu, \"mean\": ", e->noise.values);
		json_number(stdout, e->noise.mean);
		printf(", \"least\": ");
		json_number(stdout, e->noise.least);
		printf(", \"worst\": ");
		json_text(stdout, e->noise.worst != NULL ? e->noise.worst : "");
		printf("}");
	}
	if (e->classes != NULL) {
		printf(",\n  \"classes\": [");
		for (size_t k = 0; qn_array_class(e->classes, k) != NULL; k++) {
			printf(k > 0 ? ", " : "");
			json_text(stdout, qn_array_class(e->classes, k));
		}
		printf("]");
	}
	json_gates(e);
	printf("}\n");
}

/* ---- gates ---- */

static qn_status
unknown_metric(const char *option, const char *text, const char *name)
{
	const char *best = NULL;

	for (size_t i = 0; qn_metric_name(i) != NULL; i++)
		best = qn_nearer_name(name, best, qn_metric_name(i));
	fprintf(stderr, "quern eval: %s '%s': unknown metric '%s' (quern eval --help lists them)",
		option, text, name);
	program_suggest(best);
	return QN_EUSAGE;
}

/* Whether a name is in the table; topK is with any K. */
static bool
is_metric(const char *name)
{
	for (size_t i = 0; qn_metric_name(i) != NULL; i++) {
		const char *row = qn_metric_name(i);

		if (strcmp(row, "top") == 0
			    ? strncmp(name, row, 3) == 0 && name[3] >= '1' && name[3] <= '9'
			    : strcmp(name, row) == 0)
			return true;
	}
	return false;
}

/* Of a metric in percent: 0.9 for 90 % would let everything pass. */
static bool
is_fraction(const gate *g)
{
	const bool percent =
		strncmp(g->metric, "top", 3) == 0 || strcmp(g->metric, "agreement") == 0;

	return percent && !g->is_max && g->bound > 0 && g->bound <= 1;
}

static qn_status
add_gate(evaluation *e, const char *option, const char *text, bool is_max)
{
	gate *g = &e->gate[e->ngate];
	const char *equals = strchr(text, '=');
	size_t n = equals != NULL ? (size_t)(equals - text) : 0;
	char *end = NULL;

	*g = (gate){.option = option, .text = text, .is_max = is_max};
	if (n == 0 || n >= sizeof g->metric)
		return program_bad_value(option, text, "METRIC=VALUE like cosine=0.99");
	memcpy(g->metric, text, n);
	if (!is_metric(g->metric))
		return unknown_metric(option, text, g->metric);
	g->bound = strtod(equals + 1, &end);
	if (end == equals + 1 || *end != '\0' || g->bound - g->bound != 0)
		return program_bad_value(option, text, "METRIC=VALUE with a number");
	if (is_fraction(g))
		return program_bad_value(option, text, "percent: 90 for 90 %");
	e->ngate++;
	return QN_OK;
}

qn_status
eval_read_gates(const options *o, evaluation *e)
{
	char *end = NULL;

	for (int i = 0; i < o->nmin; i++)
		if (add_gate(e, "--min", o->min[i], false) != QN_OK)
			return QN_EUSAGE;
	for (int i = 0; i < o->nmax; i++)
		if (add_gate(e, "--max", o->max[i], true) != QN_OK)
			return QN_EUSAGE;
	if (o->min_accuracy == NULL)
		return QN_OK;
	gate *g = &e->gate[e->ngate++];
	*g = (gate){.option = "--min-accuracy", .text = o->min_accuracy, .metric = "top1"};
	g->bound = strtod(g->text, &end);
	if (end == g->text || *end != '\0' || !(g->bound >= 0 && g->bound <= 100))
		return program_bad_value(g->option, g->text, "0 to 100");
	return is_fraction(g) ? program_bad_value(g->option, g->text, "percent: 90 for 90 %")
			      : QN_OK;
}

/* A gate on what was not measured can not pass. */
static qn_status
not_measured(const evaluation *e, const gate *g)
{
	fprintf(stderr, "quern eval: %s %s: %s was not measured; measured:", g->option, g->text,
		g->metric);
	for (size_t i = 0; i < e->n; i++)
		if (e->figure[i].stage == e->stage)
			fprintf(stderr, " %s", e->figure[i].m.name);
	fprintf(stderr,
		"; top… and auc need --labels, the others --against, --targets or --score\n");
	return QN_EUSAGE;
}

qn_status
eval_check(const evaluation *e)
{
	qn_status status = QN_OK;

	for (size_t i = 0; i < e->ngate; i++) {
		const gate *g = &e->gate[i];
		bool found = false;

		for (size_t k = 0; k < e->n; k++) {
			const figure *f = &e->figure[k];

			if (!is_about(e, g, f))
				continue;
			found = true;
			if (passes(g, f->m.value))
				continue;
			fprintf(stderr, "quern eval: %s of '%s' is ", f->m.name, f->m.output);
			print_value(stderr, &f->m);
			fprintf(stderr, ", %s %s %s\n", g->is_max ? "above" : "below", g->option,
				g->text);
			status = status == QN_OK ? QN_EACCURACY : status;
		}
		if (!found)
			status = not_measured(e, g);
	}
	return status;
}
