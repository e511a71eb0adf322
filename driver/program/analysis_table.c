/* SPDX-License-Identifier: Apache-2.0 */
/* analysis_table.c - what quern analyze has found, as text: what layers cost, then what explains it. */
#include <string.h>

#include "analysis.h"

enum { MOST_WIDTH = 34 }; /* of the first column, in bytes; of longer names the end stands there */

/* What the names of the layers need. */
static int
width_of(const analysis *a)
{
	size_t width = strlen("layer");

	for (size_t i = 0; i < a->n; i++)
		width = strlen(a->layer[i].layers) > width ? strlen(a->layer[i].layers) : width;
	return width < MOST_WIDTH ? (int)width : MOST_WIDTH;
}

static void
print_name(const char *s, int width)
{
	const size_t n = strlen(s), most = (size_t)width;
	size_t from = n > most ? n - (most - 1) : 0;

	while (from > 0 && ((unsigned char)s[from] & 0xc0) == 0x80)
		from++; /* not in the middle of a character of UTF-8 */
	printf(from > 0 ? "…%-*s" : "%-*s", from > 0 ? width - 1 : width, s + from);
}

/* dB; no noise is "-". */
static void
print_db(double v)
{
	if (v - v != 0)
		printf(" %7s", v > 0 ? "-" : "-inf");
	else
		printf(" %7.2f", v > -0.005 && v < 0 ? 0 : v); /* not -0.00 */
}

/* ---- what they cost ---- */

static void
print_costs(const analysis *a, int width)
{
	printf("%-*s %-10s %-7s %7s %7s %7s %7s %7s %8s", width, "layer", "op", "weights", "alone",
	       "weights", "inputs", "here", "gain", "cosine");
	printf(a->all.accuracy != NULL ? " %6s %6s\n" : "\n", "loss", "won");
	for (size_t i = 0; i < a->n; i++) {
		const qn_layer_cost *l = &a->layer[i];

		print_name(l->layers, width);
		printf(" %-10.10s %-7s", l->op, l->weights != NULL ? l->weights : "-");
		print_db(l->alone);
		print_db(l->weights_alone);
		print_db(l->data_alone);
		print_db(l->here);
		print_db(l->gain);
		printf(" %8.6f", l->cosine);
		if (a->all.accuracy != NULL)
			printf(" %6.1f %6.1f", l->loss, l->accuracy_gain);
		printf("\n");
	}
}

/* ---- what explains it ---- */

static void
print_ranges(const analysis *a, int width)
{
	printf("\n%-*s %12s %12s %9s %9s %7s %8s %7s %9s\n", width, "layer", "MACs", "instructions",
	       "bytes", "clipped %", "used %", "outliers", "worst", "saturated");
	for (size_t i = 0; i < a->n; i++) {
		const qn_layer_cost *l = &a->layer[i];

		print_name(l->layers, width);
		printf(" %12llu", (unsigned long long)l->macs);
		if (a->plan.known)
			printf(" %12llu", (unsigned long long)a->plan.instructions[i]);
		else
			printf(" %12s", "-");
		printf(" %9llu", (unsigned long long)l->weight_bytes);
		if (l->ranges > 0)
			printf(" %9.3f %7.1f %8zu %7.1f", l->clipped, l->used, l->outliers,
			       l->worst_outlier);
		else
			printf(" %9s %7s %8s %7s", "-", "-", "-", "-");
		printf(" %9llu\n", (unsigned long long)l->saturated);
	}
}

static void
print_network(const analysis *a)
{
	printf("\nnetwork: ");
	if (a->all.sqnr - a->all.sqnr != 0)
		printf("no noise");
	else
		printf("%.2f dB, cosine %.6f with all layers quantized", a->all.sqnr,
		       a->all.cosine);
	if (a->all.accuracy != NULL)
		printf(", %s %.2f %% (float %.2f %%, %zu samples)", a->all.accuracy, a->all.percent,
		       a->all.float_percent, a->all.samples);
	printf("\n");
}

void
analysis_print(const analysis *a, const options *o)
{
	const int width = width_of(a);

	print_costs(a, width);
	print_ranges(a, width);
	print_network(a);
	analysis_print_advice(a, o);
}
