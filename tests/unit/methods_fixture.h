/* SPDX-License-Identifier: Apache-2.0 */
/* methods_fixture.h - one value observed in batches, and the range that a method finds for it.
 *
 *   finding f = find("kl", values, n, 4, true);       4 batches, symmetric */
#ifndef TESTS_UNIT_METHODS_FIXTURE_H
#define TESTS_UNIT_METHODS_FIXTURE_H

#include "tests/unit/run_util.h"

#include "calibrate/statistics.h"

/* Statistics of one i8 value that have seen nothing, of a data set of so many batches. */
static inline qn_statistics *
blank(const char *method, size_t nbatch, bool symmetric)
{
	qn_statistics *s = QN_NEW(&rg->arena, qn_statistics, 1);

	assert_int_equal(qn_method_parse(&rg->env, &rg->arena, method, &s->method), QN_OK);
	s->model = "m";
	s->nbatch = nbatch;
	s->batch = 1;
	s->n = 1;
	s->value = QN_NEW(&rg->arena, qn_value_stats, 1);
	s->value[0] = (qn_value_stats){
		.name = "v", .symmetric = symmetric, .qmin = symmetric ? -127 : -128, .qmax = 127};
	s->value[0].o.bin = QN_NEW(&rg->arena, uint64_t, QN_HIST_BINS);
	if ((s->method.method->observes & QN_OBSERVE_PAIRS) != 0)
		s->value[0].o.pair = qn_observer_pairs(&rg->arena, nbatch);
	qn_statistics_plan(s, &rg->arena, NULL);
	return s;
}

/* Batches first … last - 1 of equal parts of x, in descending order when `back`. */
static inline void
see(qn_statistics *s, const float *x, size_t n, size_t first, size_t last, bool back)
{
	qn_span *span = QN_NEW(&rg->arena, qn_span, 1);

	s->value[0].o.pair_first = first;
	for (size_t k = first; k < last; k++) {
		size_t i = back ? last - 1 - (k - first) : k;
		size_t from = i * n / s->nbatch, to = (i + 1) * n / s->nbatch;

		qn_observer_add(&s->value[0].o, i, x + from, to - from);
	}
	*span = (qn_span){first, last};
	s->span = span;
	s->nspan = first < last;
}

static inline qn_finding
finish(const qn_statistics *s)
{
	qn_seen seen = qn_statistics_seen(s, 0);
	qn_finding f = {0};

	assert_int_equal(qn_statistics_check_done(&rg->env, s), QN_OK);
	s->method.method->finish(&seen, &rg->arena, &f);
	return f;
}

static inline qn_finding
find(const char *method, const float *x, size_t n, size_t nbatch, bool symmetric)
{
	qn_statistics *s = blank(method, nbatch, symmetric);

	see(s, x, n, 0, nbatch, false);
	while (s->pass + 1 < s->method.method->passes) {
		assert_int_equal(qn_statistics_next(&rg->env, &rg->arena, s), QN_OK);
		see(s, x, n, 0, nbatch, false);
	}
	return finish(s);
}

/* ---- data ---- */

static inline double
unit(void)
{
	return ((double)pick(0, 1 << 24) + 0.5) / (double)(1 << 24);
}

/* Uniform in [-1, 1]. */
static inline float *
uniform(size_t n)
{
	float *v = QN_NEW(&rg->arena, float, n);

	for (size_t i = 0; i < n; i++)
		v[i] = (float)(2 * unit() - 1);
	v[n / 2] = 1.0f;
	return v;
}

/* Close to N(0, 1): the sum of 12 uniform ones. */
static inline float *
normal(size_t n)
{
	float *v = QN_NEW(&rg->arena, float, n);

	for (size_t i = 0; i < n; i++) {
		double sum = -6;

		for (int k = 0; k < 12; k++)
			sum += unit();
		v[i] = (float)sum;
	}
	return v;
}

/* Statistics as the text of a file, and the text as statistics. */
static inline const char *
text_of(const qn_statistics *s)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_statistics_print(&b, s);
	return qn_buf_str(&b);
}

static inline qn_statistics *
read_text(const char *text)
{
	qn_statistics *s;

	if (qn_statistics_read(&rg->env, &rg->arena, "s.json", text, strlen(text), &s) == QN_OK)
		return s;
	for (size_t i = 0; i < rg->diags.n; i++)
		print_message("%s: %s\n", rg->diags.item[i].place, rg->diags.item[i].message);
	fail();
	return NULL;
}

#endif
