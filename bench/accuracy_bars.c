/* SPDX-License-Identifier: Apache-2.0 */
/* accuracy_bars.c - one table: a row for each network and metric, a column for each way to store it.
 *
 *   | model | metric | float | official int8 | int8 | i4 | i4 repaired | tuned at 60 % | 16-bit activations |
 *
 * official int8: the file that others made of the network with TFLite's converter. */
#include "accuracy.h"

#include <stdio.h>
#include <string.h>

enum { I8, I4, I4_REPAIRED, TUNED, I16, COLUMNS };

/* What a column is compiled with; recipe: of tuned. */
static void
choose(session *s, size_t column, const char *recipe)
{
	const int repaired = column == I4_REPAIRED;

	s->how = (qn_compile_opts){
		.weights_type = column == I4 || repaired ? QN_WEIGHTS_I4 : QN_WEIGHTS_I8,
		.weight_rounding = repaired ? QN_WEIGHTS_ADAPTIVE : QN_WEIGHTS_NEAREST,
		.bias_correction = repaired,
		.activations = column == I16 ? QN_ACTIVATIONS_I16 : QN_ACTIVATIONS_I8,
		.recipe = column == TUNED ? recipe : NULL};
}

/* Float and the official file need no options; they come with the first column. */
static int
row(session *s, const network *n, const parts *p, const char *recipe, size_t *bytes)
{
	printf("| %s | %s |", n->name, n->metric);
	for (size_t k = 0; k < COLUMNS; k++) {
		network one = *n;
		figures f;

		if (k != I8)
			one.quantized = NULL;
		choose(s, k, recipe);
		if (measure(s, &one, p, p->labels, &f) != 0)
			return 1;
		if (k == I8 && p->labels != NULL)
			print_figure(&f.real);
		else if (k == I8)
			printf(" |");
		if (k == I8 && n->quantized != NULL)
			print_figure(&f.other);
		else if (k == I8)
			printf(" |");
		print_figure(&f.made);
		bytes[k] = f.made_info.weight_bytes;
		(void)fflush(stdout);
	}
	printf("\n");
	return 0;
}

static int
bytes_of(session *s, const network *n, const parts *p, size_t column, size_t *bytes)
{
	network one = *n;
	figures f;

	one.quantized = NULL;
	choose(s, column, NULL);
	if (measure(s, &one, p, p->labels, &f) != 0)
		return 1;
	*bytes = f.made_info.weight_bytes;
	return 0;
}

/* All metrics of the network at i, and the bytes of its constants. */
static int
rows(session *s, size_t i)
{
	size_t int8 = 0, int4 = 0, bytes[COLUMNS];
	parts p;

	if (load_parts(s, &networks[i], &p) != 0 || bytes_of(s, &networks[i], &p, I8, &int8) != 0 ||
	    bytes_of(s, &networks[i], &p, I4, &int4) != 0)
		return 1;
	choose(s, I8, NULL);
	const char *recipe = find_recipe(s, &networks[i], &p, int8, int4);
	if (recipe == NULL)
		return 1;
	for (size_t k = i; k == i || (k < nnetworks && is_repeated(k)); k++)
		if (row(s, &networks[k], &p, recipe, bytes) != 0)
			return 1;
	printf("| %s | bytes | | |", networks[i].name);
	for (size_t k = 0; k < COLUMNS; k++)
		printf(" %zu |", bytes[k]);
	printf("\n");
	return fflush(stdout) == 0 ? 0 : 1;
}

int
bars(session *s, const char *word)
{
	size_t found = 0;
	int code = 0;

	printf("| model | metric | float | official int8 | int8 | i4 | i4 repaired | tuned at "
	       "60 %% | 16-bit activations |\n|---|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < nnetworks && code == 0; i++) {
		if (is_repeated(i) || strstr(networks[i].name, word) == NULL)
			continue;
		code = rows(s, i);
		found++;
	}
	if (found > 0)
		return code;
	fprintf(stderr, "accuracy: no network has '%s' in its name\n", word);
	return 2;
}
