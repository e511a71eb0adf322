/* SPDX-License-Identifier: Apache-2.0 */
/* analysis.c - keeps what quern analyze finds (analysis.h). */
#include "analysis.h"

#include <stdlib.h>
#include <string.h>

static void *
copy(analysis *a, const void *from, size_t n)
{
	void *to = from != NULL && n > 0 ? malloc(n) : NULL;

	a->out_of_memory = a->out_of_memory || (from != NULL && n > 0 && to == NULL);
	return to != NULL ? memcpy(to, from, n) : NULL;
}

static char *
copy_text(analysis *a, const char *s)
{
	return copy(a, s, s != NULL ? strlen(s) + 1 : 0);
}

static void
copy_histogram(analysis *a, qn_histogram *h)
{
	h->value = copy_text(a, h->value);
	h->count = h->value != NULL ? copy(a, h->count, h->bins * sizeof *h->count) : NULL;
}

static bool
grow(analysis *a)
{
	const size_t room = a->room > 0 ? 2 * a->room : 64;
	qn_layer_cost *more = a->n < a->room ? a->layer : realloc(a->layer, room * sizeof *more);

	a->out_of_memory = a->out_of_memory || more == NULL;
	if (more == NULL)
		return false;
	a->room = a->n < a->room ? a->room : room;
	a->layer = more;
	return true;
}

void
analysis_add(void *user, const qn_layer_cost *cost)
{
	analysis *a = user;

	if (!grow(a))
		return;
	qn_layer_cost *to = &a->layer[a->n++];
	*to = *cost;
	to->name = copy_text(a, cost->name);
	to->layers = copy_text(a, cost->layers);
	to->op = copy_text(a, cost->op);
	to->weights = copy_text(a, cost->weights);
	to->from = copy(a, cost->from, cost->nfrom * sizeof *cost->from);
	copy_histogram(a, &to->data_values);
	copy_histogram(a, &to->weight_values);
}

static void
release_histogram(const qn_histogram *h)
{
	free((void *)(uintptr_t)h->value);
	free((void *)(uintptr_t)h->count);
}

void
analysis_release(analysis *a)
{
	for (size_t i = 0; i < a->n; i++) {
		const qn_layer_cost *l = &a->layer[i];

		free((void *)(uintptr_t)l->name);
		free((void *)(uintptr_t)l->layers);
		free((void *)(uintptr_t)l->op);
		free((void *)(uintptr_t)l->weights);
		free((void *)(uintptr_t)l->from);
		release_histogram(&l->data_values);
		release_histogram(&l->weight_values);
	}
	free(a->layer);
	for (size_t i = 0; i < a->plan.n; i++)
		free((void *)(uintptr_t)a->plan.buffer[i].name);
	free(a->plan.buffer);
	free(a->recipe.rules);
	free(a->plan.error);
	free(a->plan.instructions);
	*a = (analysis){0};
}

bool
analysis_weights_cost_most(const qn_layer_cost *l)
{
	return l->weights != NULL && l->weights_alone < l->data_alone;
}
