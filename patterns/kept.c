/* SPDX-License-Identifier: Apache-2.0 */
/* kept.c - see kept.h.
 *
 *   add ─▶ reshape ─▶ conv in 16 bits             the sum has 16 bits
 *   carry ─▶ … in 16 bits … ─▶ silu ─▶ loop_end    so have the carry and silu's result, which it holds next
 *
 * From the last value to the first one, a value is kept as its readers need it; what a loop or a state holds next is
 * kept as the loop's carry or the state is, so this is done until nothing changes. What a loop or a state adds up has
 * 16 bits from the start, and with loops or states, what computes elements of 16 bits from others of 16 bits does so. */
#include "patterns/kept.h"

#include "patterns/accumulate.h"
#include "patterns/recipe.h"

/* As what a node reads operand i. */
static qn_kept
read_as(const qn_node *n, const qn_kept *own_kept, uint32_t i, const qn_quant_opts *opts)
{
	if (n->op == QN_OP_dynamic_fake_quant)
		return (qn_kept){.storage = QN_KEPT_WIDE};
	if (n->op != QN_OP_call || n->callee->pattern == NULL)
		return (qn_kept){0};
	const qn_node *root = qn_graph_node(n->callee, n->callee->output[0].value);
	if (root->op == QN_OP_log_mel || root->op == QN_OP_mfcc)
		return (qn_kept){.storage = i == 0 ? QN_KEPT_PCM : QN_KEPT_NOISE, .sound = root};
	const qn_quant_opts own = qn_kept_options(own_kept, opts, n->callee);
	if (own.when != QN_STATIC)
		return (qn_kept){.storage = QN_KEPT_WIDE};
	return (qn_kept){.storage = own.activations == QN_STORAGE_I16 ? QN_KEPT_WIDE_RESULT
								      : QN_KEPT_OWN};
}

/* What a node that only moves elements of operand i, or joins it with others, needs it to be kept as: as its result. */
static bool
passes_on(const qn_node *n, uint32_t i, const qn_kept *result, qn_kept *as)
{
	*as = *result;
	if (n->op != QN_OP_concat)
		return i == 0 && qn_opinfo_of(n)->behaviour == QN_SAME;
	if (result->storage == QN_KEPT_WIDE)
		as->storage = QN_KEPT_WIDE_RESULT; /* inputs beside it stay as they are */
	return result->storage != QN_KEPT_NOISE;
}

/* The carry whose next value is operand i > 0 of the loop_end. */
static qn_id
carry_of(const qn_graph *g, const qn_node *end, uint32_t i)
{
	qn_id id = end->in[0];

	for (; qn_graph_node(g, id) != end; id++) {
		const qn_node *c = qn_graph_node(g, id);

		if (c->op == QN_OP_loop_carry && c->in[1] == end->in[0] &&
		    c->attr->loop_carry.index + 1 == (int64_t)i)
			return id;
	}
	return 0;
}

static bool
strengthen(qn_kept *as, qn_kept to)
{
	if (to.storage <= as->storage)
		return false;
	as->storage = to.storage;
	as->sound = to.sound;
	return true;
}

/* What is read, the carry for its next value. */
static qn_kept
kept_for(const qn_graph *g, const qn_kept *as, qn_id id, uint32_t i, const qn_quant_opts *opts)
{
	const qn_node *n = qn_graph_node(g, id);
	qn_kept read;

	if (n->op == QN_OP_loop_end) {
		const qn_id carry = i > 0 ? carry_of(g, n, i) : 0;

		return carry != 0 && qn_kept_wide(&as[carry]) ? as[carry] : (qn_kept){0};
	}
	return passes_on(n, i, &as[id], &read) ? read : read_as(n, &as[id], i, opts);
}

/* Whether a composite computes elements of 16 bits, as its result is kept, from others that are kept so. */
static bool
keeps_wide(const qn_graph *g, const qn_kept *as, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);
	bool wide = false;

	if (n->op != QN_OP_call || n->callee->pattern == NULL || !qn_kept_wide(&as[id]) ||
	    !qn_adds_elements(n->callee))
		return false;
	for (uint32_t i = 0; i < n->nin; i++)
		wide = wide || qn_kept_wide(&as[n->in[i]]);
	return wide;
}

static bool
sweep(const qn_graph *g, qn_kept *as, const qn_quant_opts *opts, bool accumulate)
{
	const size_t fed = qn_graph_fed(g), given = qn_graph_given(g);
	bool changed = false;

	for (size_t k = 0; k < g->nstate; k++) {
		const qn_kept *state = &as[g->input[fed + k]];

		if (qn_kept_wide(state))
			changed = strengthen(&as[g->output[given + k].value], *state) || changed;
	}
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);

		if (accumulate && !as[id].accumulates && keeps_wide(g, as, id))
			changed = as[id].accumulates = true;
		for (uint32_t i = 0; i < n->nin; i++)
			changed =
				strengthen(&as[n->in[i]], kept_for(g, as, id, i, opts)) || changed;
	}
	return changed;
}

const qn_kept *
qn_kept_of(const qn_graph *g, qn_arena *a, const qn_quant_opts *opts)
{
	qn_kept *as = QN_NEW(a, qn_kept, g->n);
	const bool mixes = opts->scheme != QN_SCHEME_RFC && opts->activations != QN_STORAGE_I16;
	const bool *accumulates = mixes ? qn_accumulates(g, false, a) : NULL;

	for (qn_id id = 1; accumulates != NULL && id < g->n; id++)
		as[id].accumulates = accumulates[id];
	while (sweep(g, as, opts, accumulates != NULL))
		continue;
	/* the caller of a network keeps its states, but does not read them */
	for (size_t k = 0; k < g->nstate; k++) {
		qn_kept *state = &as[g->input[qn_graph_fed(g) + k]];

		if (state->storage == QN_KEPT_WIDE_RESULT)
			state->storage = QN_KEPT_WIDE;
	}
	return as;
}

qn_quant_opts
qn_kept_options(const qn_kept *k, const qn_quant_opts *opts, const qn_graph *composite)
{
	qn_quant_opts own = qn_recipe_for_graph(opts, composite);

	if (!k->accumulates || own.says_activations || own.when != QN_STATIC)
		return own;
	own.activations = QN_STORAGE_I16;
	own.per_axis = false;
	return own;
}

bool
qn_kept_accumulate(const qn_kept *k, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (k[i].accumulates)
			return true;
	return false;
}

bool
qn_kept_wide(const qn_kept *k)
{
	return k->storage == QN_KEPT_WIDE_RESULT || k->storage == QN_KEPT_WIDE;
}
