/* SPDX-License-Identifier: Apache-2.0 */
/* widen_options.c - layers that are to be 16 bits wide as rules of a recipe (driver/widen.h). */
#include <string.h>

#include "driver/widen.h"
#include "patterns/recipe.h"

static void
add_rule(qn_recipe_rule *rule, size_t *n, const char *op, const char *name)
{
	rule[(*n)++] = (qn_recipe_rule){.place = "activations",
					.op = op,
					.name = name,
					.has_activations = true,
					.activations = QN_STORAGE_I16,
					.widens = true};
}

static bool
has_rule(const qn_recipe *r, const char *op, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->rule[i].widens && r->rule[i].op != NULL && strcmp(r->rule[i].op, op) == 0 &&
		    strcmp(r->rule[i].name, name) == 0)
			return true;
	return false;
}

qn_quant_opts
qn_widen_options(const qn_pipeline *p, const qn_wide_layers *all, qn_arena *a)
{
	static const qn_recipe none;
	qn_quant_opts quant = p->quant;
	const qn_recipe *from = quant.recipe != NULL ? quant.recipe : &none;
	qn_recipe *to = QN_NEW(a, qn_recipe, 1);
	size_t n = from->n;

	for (size_t k = 0; k < all->n; k++)
		n += 1 + all->layer[k].ninput;
	qn_recipe_rule *rule = QN_NEW(a, qn_recipe_rule, n + 1);
	*to = (qn_recipe){rule, 0, QN_NEW(a, bool, n + 1), QN_NEW(a, bool, n + 1), from->crc};
	for (; to->n < from->n; to->n++) {
		rule[to->n] = from->rule[to->n];
		to->used[to->n] = from->used[to->n];
	}
	for (size_t k = 0; k < all->n; k++) {
		const qn_wide_layer *l = &all->layer[k];

		if (!l->wide)
			continue;
		add_rule(rule, &to->n, NULL, l->name);
		for (size_t i = 0; i < l->ninput; i++)
			if (!has_rule(to, "input", l->input[i]))
				add_rule(rule, &to->n, "input", l->input[i]);
	}
	if (to->n > 0)
		quant.recipe = to;
	return quant;
}
