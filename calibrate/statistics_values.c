/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_values.c - the observed values of a file of statistics (statistics_read.c). */
#include <math.h>
#include <string.h>

#include "calibrate/statistics_read.h"
#include "ir/diag.h"
#include "ir/limits.h"
#include "ir/text.h"

/* A few bytes of the file request a whole histogram. */
static bool
take(qn_stats_reader *r, const qn_json *v, uint64_t bytes)
{
	if (bytes <= r->room) {
		r->room -= bytes;
		return true;
	}
	r->status = qn_report(r->env, QN_EINVALID, "stats.size", qn_json_place(r->d, r->a, v),
			      "the histograms take more than 64 MiB and 64 times the file: quern "
			      "calibrate did not write this file");
	return false;
}

static int64_t
need_signed(qn_stats_reader *r, const qn_json *v, const char *key, int64_t least, int64_t most)
{
	const qn_json *m = qn_json_find(v, key);
	int64_t n = 0;

	if (m == NULL)
		(void)qn_stats_need(r, v, key, QN_JSON_NUMBER);
	else if (!qn_json_i64(m, &n) || n < least || n > most)
		qn_stats_bad(r, m, "is not an integer in its valid range");
	else
		return n;
	return least;
}

/* An f32 as the bits of a double; 0 after a report. */
static float
real(qn_stats_reader *r, const qn_json *v)
{
	double x = 0;
	qn_text t;

	if (v == NULL)
		return 0;
	if (v->kind == QN_JSON_STRING && strncmp(v->string, "0x", 2) == 0) {
		qn_text_init(&t, "", v->string, strlen(v->string));
		if (qn_text_real(&t, true, &x) && t.at == t.end && fabs(x) <= 0x1.fffffep127 &&
		    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bits are compared */
		    memcmp(&(double){(double)(float)x}, &x, sizeof x) == 0)
			return (float)x;
	}
	qn_stats_bad(r, v, "is not a finite f32, written as 0x and the 16 hex digits of a double");
	return 0;
}

/* {"first": i, "count": […]} of n bins; the sum. */
static uint64_t
counts(qn_stats_reader *r, const qn_json *v, uint64_t *to, size_t n, uint64_t most)
{
	const qn_json *list = qn_stats_need(r, v, "count", QN_JSON_ARRAY);
	uint64_t first = qn_stats_need_number(r, v, "first", n);
	uint64_t sum = 0;

	if (list == NULL)
		return 0;
	if (list->n > n - first) {
		qn_stats_bad(r, list, "has more counts than bins");
		return 0;
	}
	for (size_t i = 0; i < list->n; i++) {
		to[first + i] = qn_stats_number(r, &list->child[i], most - sum);
		sum += to[first + i];
	}
	return sum;
}

/* Whether the first and the last bin that count are those of the smallest and the largest value. */
static bool
range_fits(const qn_observer *o)
{
	double lo = floor(ldexp((double)o->min, -o->exponent)) + QN_HIST_HALF;
	double hi = floor(ldexp((double)o->max, -o->exponent)) + QN_HIST_HALF;
	size_t first = 0, last = QN_HIST_BINS - 1;

	while (first < last && o->bin[first] == 0)
		first++;
	while (last > first && o->bin[last] == 0)
		last--;
	return !(lo < (double)first || lo > (double)first) &&
	       !(hi < (double)last || hi > (double)last);
}

static void
read_grid(qn_stats_reader *r, const qn_json *v, qn_observer *o)
{
	const qn_json *e = qn_json_find(v, "exponent");

	if (!take(r, v, QN_HIST_BINS * sizeof *o->bin))
		return;
	o->bin = QN_NEW(r->a, uint64_t, QN_HIST_BINS);
	o->has_grid = e != NULL;
	if (e != NULL)
		o->exponent = (int)need_signed(r, v, "exponent", -200, 200);
	if (counts(r, v, o->bin, QN_HIST_BINS, o->n) != o->n)
		qn_stats_bad(r, v, "does not count all values");
	if (o->has_grid ? o->n == 0 || !range_fits(o) : qn_observer_reach(o) > 0)
		qn_stats_bad(r, v, "does not hold the range");
}

static void
read_pairs(qn_stats_reader *r, const qn_json *v, qn_observer *o)
{
	if (v->n != 2 * r->covered) {
		qn_stats_bad(r, v, "is not one pair per observed batch");
		return;
	}
	o->pair = QN_NEW(r->a, qn_pair_range, (size_t)r->covered);
	for (size_t i = 0; i < r->covered; i++) {
		o->pair[i].min = real(r, &v->child[2 * i]);
		o->pair[i].max = real(r, &v->child[2 * i + 1]);
	}
}

/* Whether a quarter that has values lies inside of the whole. */
static bool
inside(const qn_observer *o, size_t k)
{
	const qn_pair_range q = o->quarter[k];

	return q.min <= q.max && q.min >= o->min && q.max <= o->max;
}

/* Whether the quarter of a batch has values, and `end` of them. */
static bool
reached(const qn_observer *o, uint64_t batch, float end)
{
	const size_t k = (size_t)(batch % QN_QUARTERS);
	const qn_pair_range q = o->quarter[k];

	return o->has_quarter[k] && (!(q.min > end) && !(q.max < end));
}

/* Absent in files of older programs: not known. */
static void
read_quarters(qn_stats_reader *r, const qn_json *v, qn_observer *o)
{
	bool good = v->n == QN_QUARTERS;

	for (size_t k = 0; good && k < QN_QUARTERS; k++) {
		const qn_json *q = &v->child[k];

		good = q->kind == QN_JSON_ARRAY && (q->n == 0 || q->n == 2);
		if (!good || q->n == 0)
			continue;
		o->has_quarter[k] = true;
		o->quarter[k] = (qn_pair_range){real(r, &q->child[0]), real(r, &q->child[1])};
		good = inside(o, k);
	}
	if (!good || !reached(o, o->min_at, o->min) || !reached(o, o->max_at, o->max))
		qn_stats_bad(
			r, v,
			"is not the four ranges of every fourth batch, which make up the whole");
}

/* The bins of the method's plan for this value and pass, then the counts of the file. */
static void
read_fine(qn_stats_reader *r, const qn_json *v, qn_observer *o)
{
	const qn_json *bins = qn_json_find(v, "bins");
	qn_bins *b = &o->fine;

	if ((bins != NULL) != (b->kind != QN_BINS_NONE)) {
		qn_stats_bad(r, v, "has bins that its method and pass do not have, or misses them");
		return;
	}
	if (bins == NULL)
		return;
	if (b->kind == QN_BINS_BITS) {
		b->prefix = (uint32_t)qn_stats_need_number(r, bins, "prefix",
							   (0x7fffffffu >> b->shift) / b->n);
		b->below = qn_stats_need_number(r, bins, "below", o->n);
	}
	(void)counts(r, bins, b->count, b->n, o->n - b->below);
}

static void
read_value(qn_stats_reader *r, const qn_json *v, qn_value_stats *to)
{
	qn_observer *o = &to->o;
	const qn_json *name = qn_stats_need(r, v, "name", QN_JSON_STRING);
	const qn_json *sym = qn_stats_need(r, v, "symmetric", QN_JSON_BOOL);
	const qn_json *odd = qn_stats_need(r, v, "nonfinite", QN_JSON_BOOL);
	unsigned want = r->s->method.method->observes;

	to->name = name != NULL ? qn_arena_str(r->a, name->string) : "";
	to->symmetric = sym != NULL && sym->truth;
	to->qmin = need_signed(r, v, "qmin", -65536, 0);
	to->qmax = need_signed(r, v, "qmax", 1, 65536);
	const qn_json *masked = qn_json_want(r->d, v, "masked", QN_JSON_BOOL);
	const qn_json *quarters = qn_json_want(r->d, v, "quarters", QN_JSON_ARRAY);

	o->nonfinite = odd != NULL && odd->truth;
	o->masked = masked != NULL && masked->truth;
	o->n = qn_stats_need_number(r, v, "n", UINT64_MAX >> 1);
	if (o->n > 0) {
		o->min = real(r, qn_stats_need(r, v, "min", QN_JSON_STRING));
		o->max = real(r, qn_stats_need(r, v, "max", QN_JSON_STRING));
		o->min_at = qn_stats_need_number(r, v, "min_at", r->s->nbatch - 1);
		o->max_at = qn_stats_need_number(r, v, "max_at", r->s->nbatch - 1);
		if (o->min > o->max)
			qn_stats_bad(r, v, "has a smallest value above its largest");
		if (quarters != NULL)
			read_quarters(r, quarters, o);
	}
	const qn_json *grid = qn_json_want(r->d, v, "grid", QN_JSON_OBJECT);
	const qn_json *pairs = qn_json_want(r->d, v, "pairs", QN_JSON_ARRAY);
	if ((want & QN_OBSERVE_GRID) != 0 && grid == NULL)
		grid = qn_stats_need(r, v, "grid", QN_JSON_OBJECT);
	if ((want & QN_OBSERVE_PAIRS) != 0 && pairs == NULL)
		pairs = qn_stats_need(r, v, "pairs", QN_JSON_ARRAY);
	if (grid != NULL)
		read_grid(r, grid, o);
	if (pairs != NULL && (want & QN_OBSERVE_PAIRS) == 0)
		qn_stats_bad(r, pairs, "is not observed by the method");
	else if (pairs != NULL)
		read_pairs(r, pairs, o);
}

void
qn_stats_read_values(qn_stats_reader *r, const qn_json *list)
{
	static const char *const keys[] = {"name",      "symmetric", "qmin", "qmax",   "n",
					   "nonfinite", "min",       "max",  "min_at", "max_at",
					   "grid",      "pairs",     "bins", "masked", "quarters"};
	qn_statistics *s = r->s;

	if (list == NULL)
		return;
	s->n = list->n;
	s->value = QN_NEW(r->a, qn_value_stats, s->n);
	for (size_t i = 0; i < s->n; i++) {
		if (!qn_json_is(r->d, &list->child[i], QN_JSON_OBJECT)) {
			r->status = QN_EINVALID;
			continue;
		}
		qn_json_only(r->d, &list->child[i], QN_COUNT(keys), keys);
		read_value(r, &list->child[i], &s->value[i]);
	}
	if (r->status != QN_OK)
		return;
	if (!take(r, list, qn_statistics_plan_bytes(s)))
		return;
	qn_statistics_plan(s, r->a, NULL);
	for (size_t i = 0; i < s->n; i++)
		read_fine(r, &list->child[i], &s->value[i].o);
}
