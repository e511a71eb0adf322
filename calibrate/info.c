/* SPDX-License-Identifier: Apache-2.0 */
/* info.c - see info.h. */
#include "calibrate/info.h"

#include <stdlib.h>
#include <string.h>

#include "calibrate/calibrate.h"
#include "calibrate/evaluate_part.h"
#include "ir/diag.h"
#include "ir/progress.h"

static void
count_uses(qn_info_graphs *s, qn_arena *a)
{
	const qn_graph *g = s->g;
	qn_map count; /* symbol -> how many quantizes want it */

	qn_map_init(&count, a);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_symbol *sym = qn_symbol_to_calibrate(qn_graph_node(g, id));
		uint32_t *n = sym != NULL ? qn_map_get(&count, &sym, sizeof sym) : NULL;

		if (sym != NULL && n == NULL) {
			n = QN_NEW(a, uint32_t, 1);
			qn_map_put(&count, &sym, sizeof sym, n);
		}
		if (n != NULL)
			++*n;
	}
	for (qn_id id = 1; id < g->n; id++) {
		const qn_symbol *sym = qn_symbol_to_calibrate(qn_graph_node(g, id));

		if (sym != NULL)
			s->uses[id] = *(uint32_t *)qn_map_get(&count, &sym, sizeof sym);
	}
}

void
qn_info_graphs_init(qn_info_graphs *s, qn_model *m, const qn_graph *g, const qn_graph *real,
		    const qn_id *map, qn_dataset *data, size_t budget, qn_arena *a)
{
	*s = (qn_info_graphs){.m = m,
			      .given = QN_NEW(a, qn_map, 1),
			      .uses = QN_NEW(a, uint32_t, g->n),
			      .g = g,
			      .map = map,
			      .data = data,
			      .mark = QN_NEW(a, bool, g->n),
			      .stack = QN_NEW(a, qn_id, g->n),
			      .looked = QN_NEW(a, uint64_t, 1),
			      .loops = qn_loops_find(g, a)};
	qn_map_init(s->given, a);
	count_uses(s, a);
	if (data == NULL)
		return;
	s->real = qn_evaluator_new(real, data, budget / 2, a);
	qn_evaluator_stack(s->real);
	s->quantized = qn_evaluator_new(g, data, budget / 2, a);
}

/* ---- the partition's values ---- */

/* A symbol that has values already is set to these. */
static qn_info_pair
pair_for(const qn_info *i, qn_id quantize, const qn_symbol *sym)
{
	qn_info_pair p = {.quantize = quantize,
			  .sym = qn_symbol_find(&i->graphs->m->types, sym->name)};

	if (!sym->bound)
		return p;
	p.set = true;
	p.n = sym->len > 0 ? sym->vec->n : 1;
	p.scale = sym->len > 0 ? sym->vec->scale : &p.sym->scale;
	p.zp = sym->len > 0 ? sym->vec->zp : &p.sym->zp;
	if (sym->len == 0) { /* the symbol itself changes for evaluations */
		p.scale = qn_arena_copy(i->arena, p.scale, sizeof *p.scale);
		p.zp = sym->zp != 0 ? qn_arena_copy(i->arena, p.zp, sizeof *p.zp) : NULL;
	}
	return p;
}

static int
by_id(const void *a, const void *b)
{
	const qn_id x = *(const qn_id *)a;
	const qn_id y = *(const qn_id *)b;

	return (x > y) - (x < y);
}

/* The values between the partition's inputs, which are marked, and its output, in id order; they
 * are marked too.  Nothing else is looked at, so that all partitions together take as long as the
 * graph is. */
static size_t
find_inner(const qn_info *i, qn_id **inner)
{
	const qn_info_graphs *s = i->graphs;
	size_t n = 0;

	/* The stack's bottom is what was found: all of it was pushed once. */
	if (!s->mark[i->out])
		s->stack[n++] = i->out;
	s->mark[i->out] = true;
	for (size_t at = 0; at < n; at++) {
		const qn_node *node = qn_graph_node(s->g, s->stack[at]);

		++*s->looked;
		for (uint32_t k = 0; k < node->nin; k++)
			if (!s->mark[node->in[k]]) {
				s->mark[node->in[k]] = true;
				s->stack[n++] = node->in[k];
			}
	}
	*inner = qn_arena_copy(i->arena, s->stack, n * sizeof **inner);
	qsort(*inner, n, sizeof **inner, by_id);
	return n;
}

/* The quantizes with a symbol between the partition's inputs and its output. */
static void
find_pairs(qn_info *i)
{
	const qn_info_graphs *s = i->graphs;
	qn_id *inner;
	size_t n;

	for (uint32_t k = 0; k < i->part->nin; k++)
		s->mark[qn_graph_find(s->g, i->part->in[k])] = true;
	n = find_inner(i, &inner);
	i->pair = QN_NEW(i->arena, qn_info_pair, n);
	for (size_t k = 0; k < n; k++) {
		const qn_symbol *sym = qn_symbol_to_calibrate(qn_graph_node(s->g, inner[k]));

		if (sym != NULL)
			i->pair[i->npair++] = pair_for(i, inner[k], sym);
		s->mark[inner[k]] = false;
	}
	for (uint32_t k = 0; k < i->part->nin; k++)
		s->mark[qn_graph_find(s->g, i->part->in[k])] = false;
}

static void
add_input(qn_info *i, qn_id id)
{
	bool *taken = i->graphs->mark;

	if (taken[id])
		return;
	taken[id] = true;
	i->in[i->nin++] = id;
}

/* The pairs' inputs, one each, then the composite's others; and what comes from outside, once each:
 * a pair inside reads what depends on the partition's own symbols. */
static void
find_inputs(qn_info *i)
{
	const qn_info_graphs *s = i->graphs;

	i->outer = QN_NEW(i->arena, qn_id, i->part->nin);
	for (uint32_t k = 0; k < i->part->nin; k++) {
		const qn_id id = qn_graph_find(s->g, i->part->in[k]);

		if (!s->mark[id])
			i->outer[i->nouter++] = id;
		s->mark[id] = true;
	}
	for (size_t k = 0; k < i->nouter; k++)
		s->mark[i->outer[k]] = false;
	i->in = QN_NEW(i->arena, qn_id, i->npair + i->part->nin);
	for (size_t k = 0; k < i->npair; k++)
		i->in[i->nin++] = qn_graph_node(s->g, i->pair[k].quantize)->in[0];
	for (size_t k = 0; k < i->nin; k++)
		s->mark[i->in[k]] = true;
	for (uint32_t k = 0; k < i->part->nin; k++)
		add_input(i, qn_graph_find(s->g, i->part->in[k]));
	for (size_t k = 0; k < i->nin; k++)
		s->mark[i->in[k]] = false;
}

qn_status
qn_info_new(const qn_info_graphs *s, const qn_part *part, qn_arena *a, qn_info **out)
{
	qn_info *i = QN_NEW(a, qn_info, 1);
	bool there;

	*i = (qn_info){
		.graphs = s, .part = part, .arena = a, .out = qn_graph_find(s->g, part->out)};
	*out = i;
	there = i->out != 0;
	for (uint32_t k = 0; k < part->nin; k++)
		there = there && qn_graph_find(s->g, part->in[k]) != 0;
	if (!there)
		return qn_report(s->m->env, QN_EINTERNAL, "calibrate.partition", part->out,
				 "the graph no longer has the values of this partition");
	find_pairs(i);
	i->before = QN_NEW(a, qn_symbol, i->npair);
	i->planned = QN_NEW(a, qn_symbol, i->npair);
	find_inputs(i);
	return QN_OK;
}

/* ---- evaluation ---- */

qn_status
qn_info_pair_of(qn_info *i, const char *symbol, qn_info_pair **out)
{
	for (size_t k = 0; k < i->npair; k++)
		if (strcmp(i->pair[k].sym->name, symbol) == 0) {
			*out = &i->pair[k];
			return QN_OK;
		}
	return qn_report(i->graphs->m->env, QN_EINVALID, "calibrate.extra", i->part->out,
			 "symbol $%s does not belong to this partition (pattern '%s'); set only "
			 "the symbols of its own quantizes",
			 symbol, i->part->pattern);
}

bool
qn_info_is_repeated(const qn_info *i, size_t k)
{
	for (size_t j = 0; j < k; j++)
		if (i->pair[j].sym == i->pair[k].sym)
			return true;
	return false;
}

bool
qn_info_is_shared(const qn_info *i, size_t k)
{
	uint32_t here = 0;

	for (size_t j = 0; j < i->npair; j++)
		here += i->pair[j].sym == i->pair[k].sym;
	return i->graphs->uses[i->pair[k].quantize] > here;
}

bool
qn_info_is_in_loop(const qn_info *i)
{
	const qn_loops *l = &i->graphs->loops;

	if (l->n == 0)
		return false;
	for (size_t k = 0; k < i->npair; k++)
		if (l->of[i->pair[k].quantize] != 0)
			return true;
	return l->of[i->out] != 0;
}

qn_status
qn_info_bind(qn_info *i, const qn_info_pair *p, size_t n, const double *scale, const int64_t *zp)
{
	p->sym->bound = false;
	return qn_symbol_bind(&i->graphs->m->types, i->part->out, p->sym->name, n, scale, zp);
}

/* The partition's symbols for one evaluation: what was set, then the trials. */
static qn_status
bind_for_now(qn_info *i, size_t ntrial, const qn_symbol_value *trial)
{
	for (size_t k = 0; k < i->npair; k++)
		if (i->pair[k].set)
			QN_TRY(qn_info_bind(i, &i->pair[k], i->pair[k].n, i->pair[k].scale,
					    i->pair[k].zp));
	for (size_t k = 0; k < ntrial; k++) {
		qn_info_pair *p = NULL; /* gcc -O3 does not see that it is set */

		QN_TRY(qn_info_pair_of(i, trial[k].symbol, &p));
		QN_TRY(qn_info_bind(i, p, trial[k].n, trial[k].scale, trial[k].zero_point));
	}
	return QN_OK;
}

/* Whether the symbols have other values than at the last evaluation; they are noted. */
static bool
other_values(qn_info *i)
{
	bool other = false;

	for (size_t k = 0; k < i->npair; k++) {
		const qn_symbol *now = i->pair[k].sym;
		const qn_symbol *then = &i->planned[k];

		other = other || now->bound != then->bound || now->vec != then->vec ||
			!(now->scale <= then->scale && now->scale >= then->scale) ||
			now->zp != then->zp;
		i->planned[k] = *now;
	}
	return other;
}

static qn_status
evaluate_quantized(qn_info *i, qn_id id, size_t batch, size_t ntrial, const qn_symbol_value *trial,
		   const qn_tensor **out)
{
	qn_evaluator *e = i->graphs->quantized;

	if (!i->kept) {
		QN_TRY(qn_evaluator_cache(e, i->nouter, i->outer));
		i->kept = true;
	}
	for (size_t k = 0; k < i->npair; k++)
		i->before[k] = *i->pair[k].sym;
	qn_status status = bind_for_now(i, ntrial, trial);
	if (other_values(i))
		qn_evaluator_changed(e);
	if (status == QN_OK)
		status = qn_part_is_in_loop(&i->graphs->loops, id)
				 ? qn_info_steps(i, id, batch, out)
				 : qn_evaluator_run(e, 1, &id, batch, out);
	for (size_t k = 0; k < i->npair; k++)
		*i->pair[k].sym = i->before[k];
	return status;
}

static qn_status
evaluate_real(qn_info *i, qn_id id, size_t batch, const qn_tensor **out)
{
	const qn_id real = i->graphs->map[id];

	return qn_evaluator_run(i->graphs->real, 1, &real, batch, out);
}

qn_status
qn_info_get(qn_info *i, qn_info_value what, size_t k, size_t batch, size_t ntrial,
	    const qn_symbol_value *trial, const qn_tensor **out)
{
	qn_env *env = i->graphs->m->env;

	QN_TRY(qn_progress(env, "search", i->done, i->total));
	if (i->graphs->data == NULL)
		return qn_report(
			env, QN_EINVALID, "calibrate.no-data", i->part->out,
			"calibration data required: the calibration callback needs samples");
	if (batch >= i->graphs->data->nbatch)
		return qn_report(env, QN_EUSAGE, "calibrate.batch", i->part->out,
				 "batch %zu does not exist; there are %zu", batch,
				 i->graphs->data->nbatch);
	bool is_input = what == QN_INFO_FLOAT_INPUT || what == QN_INFO_INPUT;
	if ((is_input && k >= i->nin) || (what == QN_INFO_QUANTIZED && k >= i->npair))
		return qn_report(
			env, QN_EUSAGE, "calibrate.value", i->part->out,
			"the partition has %zu inputs and %zu symbols; number %zu does not exist",
			i->nin, i->npair, k);
	switch (what) {
	case QN_INFO_FLOAT_INPUT:
		return evaluate_real(i, i->in[k], batch, out);
	case QN_INFO_FLOAT_OUTPUT:
		return evaluate_real(i, i->out, batch, out);
	case QN_INFO_INPUT:
		return evaluate_quantized(i, i->in[k], batch, ntrial, trial, out);
	case QN_INFO_QUANTIZED:
		return evaluate_quantized(i, i->pair[k].quantize, batch, ntrial, trial, out);
	case QN_INFO_OUTPUT:
		return evaluate_quantized(i, i->out, batch, ntrial, trial, out);
	}
	return QN_EINTERNAL;
}
