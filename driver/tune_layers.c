/* SPDX-License-Identifier: Apache-2.0 */
/* tune_layers.c - what each layer costs with each storage, from candidates that have one storage for all layers.
 *
 *              i8          i4          i4 block 32        … noise, bytes, instructions
 *   conv1      2e-5, 288   3e-3, 152   1e-3, 184
 *   fc         … */
#include "driver/tune.h"

#include <string.h>

/* The entry of round 0 with this storage; NULL: it failed. */
static const qn_tune_entry *
uniform(const qn_tune_search *s, uint8_t storage, bool wide, qn_arena *a)
{
	const qn_tune_repairs usual = qn_tune_usual_repairs(s);
	const char *recipe = qn_tune_uniform(storage, wide, &usual, a);

	for (size_t i = 0; i < s->nlist; i++)
		if (s->list[i]->nlayer > 0 && strcmp(s->list[i]->item.recipe, recipe) == 0)
			return s->list[i];
	return NULL;
}

static const qn_tune_layer *
layer_named(const qn_tune_entry *e, const char *name)
{
	for (size_t i = 0; e != NULL && i < e->nlayer; i++)
		if (strcmp(e->layer[i].name, name) == 0)
			return &e->layer[i];
	return NULL;
}

/* Rows too short for two blocks have one scale: the storage without blocks stands for these. */
static bool
is_plain(const qn_tune_row *r, uint8_t storage, uint64_t bytes)
{
	static const uint8_t plain[QN_TUNE_STORAGES] = {0, 0, 2, 2, 2, 5, 5};
	const uint8_t k = plain[storage];

	return k != storage && r->can[k] && r->bytes[k] == bytes;
}

static void
take(qn_tune_row *r, uint8_t storage, const qn_tune_layer *l)
{
	if (l == NULL || is_plain(r, storage, l->bytes))
		return;
	r->can[storage] = true;
	r->weights[storage] = l->weights;
	r->bytes[storage] = l->bytes;
	r->instructions[storage] = l->instructions;
}

qn_tune_table
qn_tune_table_of(const qn_tune_search *s, qn_arena *a)
{
	const qn_tune_entry *base = uniform(s, QN_TUNE_I8, false, a);
	const qn_tune_entry *wide = uniform(s, QN_TUNE_I8, true, a);
	qn_tune_table t = {.n = base != NULL ? base->nlayer : 0, .wide = wide != NULL};

	t.row = QN_NEW(a, qn_tune_row, t.n + 1);
	if (base == NULL)
		return t;
	t.bytes = base->weight_bytes;
	t.instructions = base->instructions;
	for (size_t i = 0; i < t.n; i++) {
		const qn_tune_layer *l = &base->layer[i], *w = layer_named(wide, l->name);
		qn_tune_row *r = &t.row[i];

		*r = (qn_tune_row){.name = l->name,
				   .op = l->op,
				   .has_weights = l->has_weights,
				   .data = {l->data, w != NULL ? w->data : l->data},
				   .wide_bytes = w != NULL ? w->bytes : l->bytes,
				   .wide_instructions =
					   w != NULL ? w->instructions : l->instructions};
		take(r, QN_TUNE_I8, l);
		t.bytes -= l->bytes < t.bytes ? l->bytes : t.bytes;
		t.instructions -=
			l->instructions < t.instructions ? l->instructions : t.instructions;
		for (uint8_t k = 1; k < QN_TUNE_STORAGES && l->has_weights; k++)
			take(r, k, layer_named(uniform(s, k, false, a), l->name));
	}
	return t;
}
