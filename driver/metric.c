/* SPDX-License-Identifier: Apache-2.0 */
/* metric.c - see metric.h. */
#include "driver/metric.h"

#include <math.h>
#include <stdlib.h>

#include "ir/buf.h"
#include "ir/clamp.h"
#include "runtime/math.h"

/* ---- what a sample gives ---- */

qn_difference
qn_difference_of(const double *y, const double *w, size_t n)
{
	qn_difference d = {.elements = n, .samples = 1};
	size_t best = 0;
	size_t wanted = 0;

	for (size_t i = 0; i < n; i++) {
		double e = y[i] - w[i];

		d.square += e * e;
		d.absolute += fabs(e);
		d.most = fabs(e) > d.most ? fabs(e) : d.most;
		d.yy += y[i] * y[i];
		d.ww += w[i] * w[i];
		d.yw += y[i] * w[i];
		best = y[i] > y[best] ? i : best;
		wanted = w[i] > w[wanted] ? i : wanted;
	}
	d.same = best == wanted;
	return d;
}

void
qn_difference_add(qn_difference *sum, const qn_difference *one)
{
	sum->square += one->square;
	sum->absolute += one->absolute;
	sum->most = one->most > sum->most ? one->most : sum->most;
	sum->yy += one->yy;
	sum->ww += one->ww;
	sum->yw += one->yw;
	sum->elements += one->elements;
	sum->samples += one->samples;
	sum->same += one->same;
}

size_t
qn_rank_of(const double *y, size_t n, size_t label)
{
	size_t before = 0;

	for (size_t i = 0; i < n; i++)
		before += y[i] > y[label] || (i < label && y[i] == y[label]);
	return before;
}

double
qn_mean_square(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (a[i] - b[i]) * (a[i] - b[i]);
	return sum / (double)n;
}

/* ---- the area under the ROC curve ---- */

typedef struct scored {
	double score;
	bool positive;
} scored;

static int
by_score(const void *a, const void *b)
{
	double x = ((const scored *)a)->score;
	double y = ((const scored *)b)->score;

	return (x > y) - (x < y);
}

double
qn_auc(qn_arena *tmp, const double *score, const bool *positive, size_t n)
{
	scored *s = QN_NEW(tmp, scored, n);
	uint64_t below = 0; /* negatives of a smaller score */
	uint64_t twice = 0; /* pairs in the right order count 2, ties 1 */
	uint64_t positives = 0;

	for (size_t i = 0; i < n; i++)
		s[i] = (scored){score[i], positive[i]};
	qsort(s, n, sizeof *s, by_score);
	for (size_t i = 0; i < n;) {
		uint64_t in = 0;
		uint64_t out = 0;
		size_t k = i;

		for (; k < n && s[k].score == s[i].score; k++) {
			in += s[k].positive;
			out += !s[k].positive;
		}
		twice += in * (2 * below + out);
		below += out;
		positives += in;
		i = k;
	}
	return (double)twice / (2.0 * (double)positives * (double)below);
}

/* ---- the table ---- */

/* What a row is computed from: one part of the tally. */
typedef struct figure {
	const qn_tally *t;
	const qn_difference *d; /* of one output */
	size_t top;
	qn_arena *tmp;
	qn_metric *out; /* the value goes here, and hits */
} figure;

typedef enum need {
	BY_LABEL,
	BY_SCORE,
	BY_LOSS,
	BY_SCORE_AND_LABEL,
	BY_TWO_SCORES,
	BY_CLASS, /* by output, of more than one element */
	BY_OUTPUT
} need;

typedef struct metric_row {
	const char *name, *unit, *help;
	need need;
	double (*value)(const figure *f);
} metric_row;

static double
share(const figure *f, uint64_t hits, uint64_t of)
{
	f->out->hits = hits;
	f->out->of = of;
	return of > 0 ? 100.0 * (double)hits / (double)of : 0.0;
}

static double
top(const figure *f)
{
	uint64_t hits = 0;

	for (size_t i = 0; i < f->t->samples; i++)
		hits += f->t->rank[i] < f->top;
	return share(f, hits, f->t->samples);
}

static double
mean_score(const figure *f)
{
	double sum = 0;

	for (size_t i = 0; i < f->t->scores; i++)
		sum += f->t->score[i];
	return sum / (double)f->t->scores;
}

static double
perplexity(const figure *f)
{
	return qn_exp(mean_score(f));
}

static double
score_error(const figure *f)
{
	double sum = 0;

	for (size_t i = 0; i < f->t->scores; i++) {
		double e = fabs(f->t->score[i] - f->t->wanted_score[i]);

		sum += e > 0 ? e / fabs(f->t->wanted_score[i]) : 0;
	}
	return 100 * sum / (double)f->t->scores;
}

static double
auc(const figure *f)
{
	return qn_auc(f->tmp, f->t->score, f->t->positive, f->t->scores);
}

static double
agreement(const figure *f)
{
	return share(f, f->d->same, f->d->samples);
}

static double
mse(const figure *f)
{
	return f->d->square / (double)f->d->elements;
}

static double
mae(const figure *f)
{
	return f->d->absolute / (double)f->d->elements;
}

static double
most(const figure *f)
{
	return f->d->most;
}

static double
cosine(const figure *f)
{
	if (f->d->yy == 0 || f->d->ww == 0)
		return f->d->yy == f->d->ww ? 1 : 0;
	return qn_clamp_f64(f->d->yw / (sqrt(f->d->yy) * sqrt(f->d->ww)), -1, 1);
}

static double
sqnr(const figure *f)
{
	if (f->d->square == 0)
		return HUGE_VAL;
	return f->d->ww == 0 ? -HUGE_VAL : 10 * (qn_ln(f->d->ww / f->d->square) / qn_ln(10));
}

static const metric_row metrics[] = {
	{"top", "%",
	 "topK: samples whose label is among the K largest elements of the first output", BY_LABEL,
	 top},
	{"score", "", "mean of the scores (--score)", BY_SCORE, mean_score},
	{"perplexity", "", "e to the mean of the losses (--score loss)", BY_LOSS, perplexity},
	{"score-error", "%", "mean of |score - reference's score| / |reference's score|",
	 BY_TWO_SCORES, score_error},
	{"auc", "", "area under the ROC curve of the scores, label 1 being the positive class",
	 BY_SCORE_AND_LABEL, auc},
	{"agreement", "%", "samples whose largest element is at the same index as the reference's",
	 BY_CLASS, agreement},
	{"mse", "", "mean of (y - reference)^2 over all elements", BY_OUTPUT, mse},
	{"mae", "", "mean of |y - reference|", BY_OUTPUT, mae},
	{"max-diff", "", "largest |y - reference|", BY_OUTPUT, most},
	{"cosine", "", "sum y*reference / sqrt(sum y^2 * sum reference^2)", BY_OUTPUT, cosine},
	{"sqnr", "dB", "10 log10(sum reference^2 / sum (y - reference)^2)", BY_OUTPUT, sqnr},
};

const char *
qn_metric_name(size_t i)
{
	return i < QN_COUNT(metrics) ? metrics[i].name : NULL;
}

const char *
qn_metric_help(size_t i)
{
	return i < QN_COUNT(metrics) ? metrics[i].help : NULL;
}

/* How often a row is there: by K, by output, once or not at all. */
static size_t
times(const metric_row *r, const qn_tally *t)
{
	switch (r->need) {
	case BY_LABEL:
		return t->rank != NULL ? t->ntop : 0;
	case BY_SCORE:
		return t->score != NULL;
	case BY_LOSS:
		return t->score != NULL && t->losses;
	case BY_SCORE_AND_LABEL:
		return t->score != NULL && t->positive != NULL;
	case BY_TWO_SCORES:
		return t->score != NULL && t->wanted_score != NULL;
	case BY_CLASS:
	case BY_OUTPUT:
		break;
	}
	return t->difference != NULL ? t->outputs : 0;
}

static const char *
top_name(qn_arena *a, size_t k)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, "top%zu", k);
	return qn_buf_str(&b);
}

typedef struct reporting {
	const qn_tally *t;
	qn_arena *a, *tmp;
	qn_metric_fn *fn;
	void *user;
} reporting;

/* The figure of a row for the K or the output k. */
static void
report(const reporting *p, const metric_row *r, size_t k)
{
	const qn_tally *t = p->t;
	const bool by_output = r->need == BY_OUTPUT || r->need == BY_CLASS;
	const size_t n = r->need == BY_LABEL ? t->top[k] : 0;
	const qn_difference *d = by_output ? &t->difference[k] : NULL;

	if (r->need == BY_CLASS && d->elements == d->samples)
		return;
	qn_metric m = {.name = n > 0 ? top_name(p->a, n) : r->name,
		       .output = t->output[by_output ? k : 0],
		       .unit = r->unit};

	m.value = r->value(&(figure){.t = t, .d = d, .top = n, .tmp = p->tmp, .out = &m});
	p->fn(p->user, &m);
}

/* Whether the figure comes after all others. */
static bool
is_last(const qn_tally *t, const metric_row *r, size_t k)
{
	return r->need == BY_CLASS && k == 0 && t->reconstructs;
}

void
qn_metrics_report(const qn_tally *t, qn_arena *a, qn_arena *tmp, qn_metric_fn *fn, void *user)
{
	const reporting p = {.t = t, .a = a, .tmp = tmp, .fn = fn, .user = user};

	for (int last = 0; last <= 1; last++)
		for (size_t i = 0; i < QN_COUNT(metrics); i++)
			for (size_t k = 0; k < times(&metrics[i], t); k++)
				if (is_last(t, &metrics[i], k) == (last == 1))
					report(&p, &metrics[i], k);
}
