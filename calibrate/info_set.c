/* SPDX-License-Identifier: Apache-2.0 */
/* info_set.c - what a calibration callback sets its symbols to (info.h).
 *
 *   quantize %x : $s, range -1 to 2     quantize %y : $s, range -3 to 1     ->   $s holds -3 to 2 */
#include <math.h>

#include "calibrate/calibrate.h"
#include "calibrate/info.h"
#include "ir/diag.h"

/* Sets all pairs of the symbol. */
static qn_status
put(qn_info *i, qn_info_pair *p, const qn_symbol_value *value)
{
	const qn_symbol before = *p->sym;
	qn_status status = qn_info_bind(i, p, value->n, value->scale, value->zero_point);
	*p->sym = before;
	QN_TRY(status);
	const double *scale = qn_arena_copy(i->arena, value->scale, value->n * sizeof *scale);
	const int64_t *zp = value->zero_point != NULL ? qn_arena_copy(i->arena, value->zero_point,
								      value->n * sizeof *zp)
						      : NULL;
	for (size_t k = 0; k < i->npair; k++) {
		qn_info_pair *same = &i->pair[k];

		if (same->sym != p->sym)
			continue;
		same->set = true;
		same->n = value->n;
		same->scale = scale;
		same->zp = zp;
	}
	return QN_OK;
}

qn_status
qn_info_store(qn_info *i, const qn_symbol_value *value)
{
	qn_info_pair *p;

	QN_TRY(qn_info_pair_of(i, value->symbol, &p));
	QN_TRY(put(i, p, value));
	for (size_t k = 0; k < i->npair; k++)
		if (i->pair[k].sym == p->sym)
			i->pair[k].range = false;
	return QN_OK;
}

/* The range of pair k's symbol, when pair k has lo to hi: with those that were set for its other
 * pairs, here and in partitions before. */
static void
merge_ranges(const qn_info *i, size_t k, double *lo, double *hi)
{
	const qn_info_pair *p = &i->pair[k];
	const qn_symbol_setting *g = qn_map_get(i->graphs->given, &p->sym, sizeof p->sym);

	for (size_t j = 0; j < i->npair; j++)
		if (j != k && i->pair[j].sym == p->sym && i->pair[j].range) {
			*lo = fmin(*lo, i->pair[j].lo);
			*hi = fmax(*hi, i->pair[j].hi);
		}
	if (g != NULL && g->range) {
		*lo = fmin(*lo, g->lo);
		*hi = fmax(*hi, g->hi);
	}
}

static qn_status
give_pair(qn_info *i, size_t k, double scale, int64_t zp)
{
	const qn_symbol *sym = i->pair[k].sym;
	const bool symmetric = sym->kind == QN_SYM_SYMMETRIC;

	if (sym->len > 0)
		return qn_report(i->graphs->m->env, QN_EUSAGE, "calibrate.length", i->part->out,
				 "symbol $%s has %lld scales; set all of them", sym->name,
				 (long long)sym->len);
	return put(i, &i->pair[k],
		   &(qn_symbol_value){.symbol = sym->name,
				      .n = 1,
				      .scale = &scale,
				      .zero_point = symmetric ? NULL : &zp});
}

static qn_status
check_index(const qn_info *i, size_t k)
{
	if (k < i->npair)
		return QN_OK;
	return qn_report(i->graphs->m->env, QN_EUSAGE, "calibrate.value", i->part->out,
			 "the partition has %zu symbols; number %zu does not exist", i->npair, k);
}

qn_status
qn_info_store_range(qn_info *i, size_t k, double lo, double hi)
{
	double scale;
	int64_t zp;

	QN_TRY(check_index(i, k));
	if (!(lo <= hi) || lo - lo != 0 || hi - hi != 0)
		return qn_report(i->graphs->m->env, QN_EUSAGE, "calibrate.range", i->part->out,
				 "[%g, %g] is not a range of finite numbers", lo, hi);
	double least = lo;
	double most = hi;
	qn_info_pair *p = &i->pair[k];

	merge_ranges(i, k, &least, &most);
	qn_range_to_params(least, most, qn_graph_node(i->graphs->g, p->quantize)->type->elem,
			   p->sym->kind == QN_SYM_SYMMETRIC, &scale, &zp);
	QN_TRY(give_pair(i, k, scale, zp));
	p->range = true;
	p->lo = lo;
	p->hi = hi;
	return QN_OK;
}

qn_status
qn_info_store_default(qn_info *i, size_t k)
{
	const qn_info_graphs *s = i->graphs;
	double scale;
	int64_t zp;

	QN_TRY(check_index(i, k));
	if (i->pair[k].set)
		return QN_OK; /* a constant's */
	if (s->method == NULL || !s->method(s->user, i->pair[k].sym, &scale, &zp))
		return qn_report(
			s->m->env, QN_EINVALID, "calibrate.method", i->part->out,
			"calibration data required: the method observed nothing for symbol $%s",
			i->pair[k].sym->name);
	return give_pair(i, k, scale, zp);
}

/* Of the k-th value of a symbol. */
static int64_t
zero_point(const qn_symbol *s, size_t k)
{
	if (s->len == 0)
		return s->zp;
	return s->vec->zp != NULL ? s->vec->zp[k] : 0;
}

/* Whether pair p has other values than its symbol. */
static bool
differs(const qn_info_pair *p)
{
	const qn_symbol *s = p->sym;
	bool other = false;

	for (size_t k = 0; k < p->n; k++) {
		const double scale = s->len > 0 ? s->vec->scale[k] : s->scale;
		const int64_t zp = zero_point(s, k);
		const double mine = qn_round_to(QN_PLAIN_f32, p->scale[k]);

		other = other || mine < scale || mine > scale ||
			(p->zp != NULL ? p->zp[k] : 0) != zp;
	}
	return other;
}

/* The range that pair k's symbol was set to, by any of its pairs; false: to other values. */
static bool
range_of(const qn_info *i, size_t k, double *lo, double *hi)
{
	bool any = false;

	*lo = HUGE_VAL;
	*hi = -HUGE_VAL;
	for (size_t j = 0; j < i->npair; j++)
		if (i->pair[j].sym == i->pair[k].sym && i->pair[j].range) {
			*lo = fmin(*lo, i->pair[j].lo);
			*hi = fmax(*hi, i->pair[j].hi);
			any = true;
		}
	return any;
}

/* A symbol that a partition before has set takes the same values, or a range that holds both. */
static qn_status
note_given(const qn_info *i, size_t k)
{
	const qn_info_graphs *s = i->graphs;
	const qn_info_pair *p = &i->pair[k];
	qn_symbol_setting *g = qn_map_get(s->given, &p->sym, sizeof p->sym);
	double lo, hi;
	const bool range = range_of(i, k, &lo, &hi);

	if (g == NULL) {
		g = QN_NEW(s->given->arena, qn_symbol_setting, 1);
		*g = (qn_symbol_setting){i->part, range, lo, hi};
		qn_map_put(s->given, &p->sym, sizeof p->sym, g);
		return QN_OK;
	}
	if (p->sym->bound && !differs(p))
		return QN_OK;
	if (!g->range || !range)
		return qn_report(s->m->env, QN_EINVALID, "calibrate.shared", i->part->out,
				 "symbol $%s is shared with the partition '%s', which has set it "
				 "to other values; set it to ranges, which are merged, or to equal "
				 "values",
				 p->sym->name, g->part->out);
	g->lo = fmin(g->lo, lo);
	g->hi = fmax(g->hi, hi);
	if (s->quantized != NULL)
		qn_evaluator_forget(s->quantized); /* what $sym leads to is another value now */
	return QN_OK;
}

qn_status
qn_info_end(qn_info *i)
{
	qn_status status = QN_OK;

	for (size_t k = 0; k < i->npair; k++) {
		qn_info_pair *p = &i->pair[k];

		if (!p->set)
			status = qn_report(
				i->graphs->m->env, QN_EINVALID, "calibrate.missing", i->part->out,
				"the calibration callback of pattern '%s' did not set symbol $%s",
				i->part->pattern, p->sym->name);
		else if (!qn_info_is_repeated(i, k)) {
			QN_TRY(note_given(i, k));
			QN_TRY(qn_info_bind(i, p, p->n, p->scale, p->zp));
		}
	}
	if (i->graphs->quantized != NULL)
		qn_evaluator_changed(i->graphs->quantized);
	return status;
}
