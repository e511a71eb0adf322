/* SPDX-License-Identifier: Apache-2.0 */
/* tuning_print.c - the front of quern tune as it grows, and the result:
 *
 *          weights     arena  instructions      value       SQNR
 *     1      27313     16000       3377024    89.75 %   27.54 dB  front, within
 *     9      17105     16000       3516240    89.25 %   21.06 dB  front, within, best */
#include <stdio.h>

#include "tuning.h"

static void
print_heading(void)
{
	printf("%5s %10s %9s %13s %10s %11s\n", "", "weights", "arena", "instructions", "value",
	       "SQNR");
}

static void
print_db(double v)
{
	if (v - v != 0)
		printf(" %11s", "exact");
	else
		printf(" %8.2f dB", v);
}

/* Only what is on the front or the best is printed: the others are in the file. */
void
tuning_print_point(void *user, const qn_tune_point *p)
{
	tuning *t = user;

	if (p->number <= t->told)
		return;
	if (t->told == 0 && !t->o->quiet)
		print_heading();
	t->told = p->number;
	if (t->o->quiet || (p->front == 0 && p->best == 0))
		return;
	printf("%5zu %10zu %9zu %13llu %10.4g", p->number, p->weight_bytes, p->arena_bytes,
	       (unsigned long long)p->instructions, p->metric);
	print_db(p->sqnr);
	printf("  %s%s%s\n", p->front != 0 ? "front" : "",
	       p->within != 0 ? (p->front != 0 ? ", within" : "within") : "",
	       p->best != 0 ? ", best" : "");
	(void)fflush(stdout);
}

/* With a unit two decimals; an area or an error may be small. */
static void
print_value(const qn_tuned *out, double v)
{
	if (out->unit[0] != '\0')
		printf("%.2f %s", v, out->unit);
	else
		printf("%.4g", v);
}

/* Those of the recipe. */
static void
print_repairs(const qn_tune_point *b)
{
	const struct {
		bool has;
		const char *name;
	} rows[] = {{b->weight_rounding == QN_WEIGHTS_ADAPTIVE, "weight-rounding adaptive"},
		    {b->bias_correction != 0, "bias-correction"},
		    {b->equalize != 0, "equalize"}};
	const char *comma = "";

	printf("repairs      ");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (!rows[i].has)
			continue;
		printf("%s%s", comma, rows[i].name);
		comma = ", ";
	}
	printf("%s\n", comma[0] == '\0' ? "none" : "");
}

void
tuning_print_result(const tuning *t, const qn_tuned *out)
{
	const qn_tune_point *b = &out->best;

	printf("candidates   %zu measured%s\n", out->candidates,
	       out->complete != 0 ? "" : "; the search is not complete: run it again to go on");
	if (out->recipe == NULL) {
		printf("recipe       none\n");
		return;
	}
	printf("%-12s ", out->metric);
	print_value(out, b->metric);
	printf(", float ");
	print_value(out, out->real);
	printf("\n");
	printf("weights      %zu bytes\n", b->weight_bytes);
	printf("arena        %zu bytes\n", b->arena_bytes);
	printf("instructions about %llu\n", (unsigned long long)b->instructions);
	print_repairs(b);
	if (!t->o->allow_i16 && t->o->max_arena == NULL && t->o->max_instructions == NULL)
		printf("activations  8 bits; 16 were not tried (--allow-i16)\n");
	printf("files        %s, %s, %s%s%s\n", t->files.recipe, t->files.front, t->files.journal,
	       t->o->html != NULL ? ", " : "", t->o->html != NULL ? t->o->html : "");
}
