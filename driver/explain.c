/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c - which range was chosen for a value, and why: a line for each value, or all about one.
 *
 *   value          range             scale     zero  clipped %  smallest at  largest at
 *   $conv1.x       0 to 1.93         0.007569  -128  0.2        sample 0     sample 17 */
#include <math.h>
#include <string.h>

#include "calibrate/clip.h"
#include "driver/context.h"
#include "driver/host_struct.h"
#include "driver/statistics.h"
#include "ir/nearest.h"
#include "quern/calibrate.h"

enum { BARS = 16, BAR_WIDTH = 40 };

typedef struct explanation {
	qn_model *m;
	const qn_stats *stats;
	const char *value;
	size_t nsample;
	qn_array *const *samples;
	qn_write_fn *write;
	void *user;
	const qn_calibration *c;
	const qn_finding *found;
} explanation;

/* ---- pieces of text ---- */

/* Rounded to 4 digits, without an exponent where that can be read: 0.007569, -12.5, 4e+20. */
static void
put_real(qn_buf *b, double v)
{
	const double size = fabs(v);
	uint64_t unit = 1;

	if (size > 0 && (size < 1e-5 || size >= 1e9)) {
		qn_buff(b, "%g", (double)(float)v);
		return;
	}
	while (size > 0 && size * (double)unit < 1000)
		unit *= 10;
	uint64_t digits = (uint64_t)rint(size * (double)unit);
	for (; unit > 1 && digits % 10 == 0; unit /= 10)
		digits /= 10;
	qn_buff(b, "%s%llu", v < 0 ? "-" : "", (unsigned long long)(digits / unit));
	for (unit /= 10, qn_buf_puts(b, unit > 0 ? "." : ""); unit > 0; unit /= 10)
		qn_buf_putc(b, (char)('0' + (int)(digits / unit % 10)));
}

/* Blanks up to a column after `begin`, at least one. */
static void
pad_to(qn_buf *b, size_t begin, size_t column)
{
	do
		qn_buf_putc(b, ' ');
	while (b->n < begin + column);
}

static void
put_sample(qn_buf *b, const qn_statistics *s, uint64_t batch)
{
	unsigned long long first = batch * s->batch;

	if (s->batch == 1)
		qn_buff(b, "sample %llu", first);
	else
		qn_buff(b, "samples %llu-%llu", first, first + s->batch - 1);
}

/* Where samples are files of their own: which ones. */
static void
put_paths(qn_buf *b, const explanation *e, uint64_t batch)
{
	const uint64_t first = batch * e->stats->s->batch;

	for (size_t k = 0; k < e->nsample; k++) {
		const qn_source *s = e->samples[k]->source;
		size_t n = s != NULL && s->path != NULL ? qn_source_count(s) : 0;

		for (uint64_t i = first; i < first + e->stats->s->batch && i < n; i++)
			qn_buff(b, ", %s", qn_source_place(s, (size_t)i));
	}
}

/* "calib.npy", or "a.npy, b.npy": the names without what tells their content. */
static void
put_files(qn_buf *b, const qn_statistics *s)
{
	for (size_t i = 0; i < s->ndata; i++) {
		const char *colon = strrchr(s->data[i], ':');
		size_t n = colon != NULL ? (size_t)(colon - s->data[i]) : strlen(s->data[i]);

		qn_buff(b, "%s%.*s", i > 0 ? ", " : "", (int)n, s->data[i]);
	}
}

static void
put_clipped(qn_buf *b, const qn_observer *o, const qn_finding *f)
{
	double share = 100 * qn_clip_share(o, f->lo, f->hi);

	if (share < 0)
		qn_buf_puts(b, "?");
	else
		put_real(b, share);
}

/* ---- the table ---- */

enum { NAME_WIDTH = 20 }; /* of the first column, where all names are shorter */

/* By how much the longest name moves the columns after it. */
static size_t
extra_width(const explanation *e)
{
	size_t width = NAME_WIDTH;

	for (size_t i = 0; i < e->c->nwatch; i++) {
		const size_t n = strlen("$") + strlen(e->stats->s->value[i].name) + 1;

		width = n > width ? n : width;
	}
	return width - NAME_WIDTH;
}

static void
put_row(qn_buf *b, const explanation *e, size_t i, size_t extra)
{
	const qn_statistics *s = e->stats->s;
	const qn_observer *o = &s->value[i].o;
	const qn_finding *f = &e->found[i];
	size_t begin = b->n;
	double scale;
	int64_t zp;

	qn_finding_params(&e->c->watch[i], f, &scale, &zp);
	qn_buff(b, "$%s", s->value[i].name);
	pad_to(b, begin, NAME_WIDTH + extra);
	begin += extra;
	put_real(b, f->lo);
	qn_buf_puts(b, " to ");
	put_real(b, f->hi);
	pad_to(b, begin, 44);
	put_real(b, scale);
	pad_to(b, begin, 56);
	qn_buff(b, "%lld", (long long)zp);
	pad_to(b, begin, 63);
	put_clipped(b, o, f);
	pad_to(b, begin, 75);
	put_sample(b, s, o->min_at);
	pad_to(b, begin, 91);
	put_sample(b, s, o->max_at);
	qn_buf_putc(b, '\n');
}

static void
put_method(qn_buf *b, const qn_statistics *s)
{
	qn_buf_puts(b, "method       ");
	qn_method_print(b, &s->method);
	qn_buff(b, "\nsamples      %llu of ", (unsigned long long)(s->nbatch * s->batch));
	put_files(b, s);
	qn_buf_putc(b, '\n');
	if (s->method.method->search != NULL)
		qn_buf_puts(b,
			    "note         the search of a compilation starts from these ranges\n");
}

static void
put_table(qn_buf *b, const explanation *e)
{
	static const struct {
		const char *name;
		size_t column;
	} head[] = {{"value", NAME_WIDTH}, {"range", 44},       {"scale", 56},    {"zero", 63},
		    {"clipped %", 75},     {"smallest at", 91}, {"largest at", 0}};
	const size_t extra = extra_width(e);
	size_t begin;

	put_method(b, e->stats->s);
	begin = b->n;
	for (size_t i = 0; i < QN_COUNT(head); i++) {
		qn_buf_puts(b, head[i].name);
		if (head[i].column > 0)
			pad_to(b, begin, head[i].column + extra);
	}
	qn_buf_putc(b, '\n');
	for (size_t i = 0; i < e->c->nwatch; i++)
		put_row(b, e, i, extra);
}

/* ---- one value ---- */

static void
put_bar(qn_buf *b, double lo, double hi, uint64_t n, uint64_t most, const char *note)
{
	size_t begin = b->n;
	int width = (int)((double)n / (double)most * BAR_WIDTH);

	qn_buf_puts(b, "  ");
	put_real(b, lo);
	pad_to(b, begin, 14);
	qn_buf_puts(b, "to ");
	put_real(b, hi);
	pad_to(b, begin, 28);
	for (int k = 0; k < width + (n > 0 && width == 0); k++)
		qn_buf_putc(b, '#');
	pad_to(b, begin, 28 + BAR_WIDTH + 1);
	qn_buff(b, "%llu%s\n", (unsigned long long)n, note);
}

/* The grid's bins from the smallest to the largest value, in up to BARS bars of equal width. */
static void
put_histogram(qn_buf *b, const qn_observer *o, const qn_finding *f)
{
	int first = (int)floor(ldexp((double)o->min, -o->exponent));
	int last = (int)floor(ldexp((double)o->max, -o->exponent));
	int each = (last - first) / BARS + 1;
	uint64_t sum[BARS] = {0}, most = 1;

	for (int i = first; i <= last; i++)
		sum[(i - first) / each] += o->bin[i + QN_HIST_HALF];
	for (int k = 0; k < BARS; k++)
		most = sum[k] > most ? sum[k] : most;
	for (int k = 0; first + k * each <= last; k++) {
		double lo = ldexp(first + k * each, o->exponent);
		double hi = ldexp(first + (k + 1) * each, o->exponent);
		bool below = f->lo > (double)o->min, above = f->hi < (double)o->max;
		bool all = (below && hi <= f->lo) || (above && lo >= f->hi);
		bool some = (below && lo < f->lo) || (above && hi > f->hi);

		const char *clipped = some ? "  clipped in part" : "";

		put_bar(b, lo, hi, sum[k], most, all ? "  clipped" : clipped);
	}
}

static void
put_value(qn_buf *b, const explanation *e, size_t i)
{
	const qn_statistics *s = e->stats->s;
	const qn_watch *w = &e->c->watch[i];
	const qn_observer *o = &s->value[i].o;
	const qn_finding *f = &e->found[i];
	double scale;
	int64_t zp;

	qn_finding_params(w, f, &scale, &zp);
	qn_buff(b, "value        %s, %s, symbol $%s\n", w->value,
		s->value[i].symmetric ? "symmetric" : "asymmetric", w->name);
	put_method(b, s);
	qn_buf_puts(b, "range        ");
	put_real(b, f->lo);
	qn_buf_puts(b, " to ");
	put_real(b, f->hi);
	qn_buf_puts(b, "\nparameters   scale ");
	put_real(b, scale);
	qn_buff(b, ", zero point %lld\n", (long long)zp);
	qn_buf_puts(b, "smallest     ");
	put_real(b, (double)o->min);
	qn_buf_puts(b, " in ");
	put_sample(b, s, o->min_at);
	put_paths(b, e, o->min_at);
	qn_buf_puts(b, "\nlargest      ");
	put_real(b, (double)o->max);
	qn_buf_puts(b, " in ");
	put_sample(b, s, o->max_at);
	put_paths(b, e, o->max_at);
	qn_buf_puts(b, "\nclipped      ");
	put_clipped(b, o, f);
	qn_buff(b, " %% of %llu\n", (unsigned long long)o->n);
	if (o->bin != NULL && o->has_grid && o->n > 0)
		put_histogram(b, o, f);
}

/* "$conv1.x" and "conv1.x" are the symbol; else the first symbol of a value of this name. */
static qn_status
find_value(const explanation *e, size_t *out)
{
	const char *name = e->value + (e->value[0] == '$');
	const qn_calibration *c = e->c;

	for (*out = 0; *out < c->nwatch; ++*out)
		if (strcmp(c->watch[*out].name, name) == 0 ||
		    strcmp(c->watch[*out].sym->name, name) == 0)
			return QN_OK;
	for (*out = 0; *out < c->nwatch; ++*out)
		if (strcmp(c->watch[*out].value, name) == 0)
			return QN_OK;
	if (qn_symbol_find(&e->m->types, name) != NULL)
		return qn_report(e->m->env, QN_EUSAGE, "explain.value", "explain",
				 "'%s' needs no calibration: its scales come from a constant; "
				 "--explain all lists the values",
				 e->value);
	const char *best = NULL;
	for (size_t i = 0; i < c->nwatch; i++) {
		best = qn_nearer_name(name, best, c->watch[i].name);
		best = qn_nearer_name(name, best, c->watch[i].value);
	}
	return qn_report(e->m->env, QN_EUSAGE, "explain.value", "explain",
			 "unknown symbol or quantized value '%s'" QN_DID_YOU_MEAN
			 "; --explain all lists the values",
			 e->value, QN_SUGGEST(best));
}

static qn_status
explain(void *arg, qn_arena *scratch)
{
	explanation *e = arg;
	const qn_statistics *s = e->stats->s;
	qn_calibration *c;
	qn_finding *found;
	qn_buf b;
	size_t i;

	QN_TRY(qn_calibration_new(e->m, &c));
	QN_TRY(qn_calibration_check(c, qn_stats_hash(e->m, scratch), s));
	QN_TRY(qn_calibration_find(c, s, &found));
	qn_calibration_idle(c, found);
	e->c = c;
	e->found = found;
	qn_buf_init(&b, scratch);
	if (e->value == NULL) {
		put_table(&b, e);
	} else {
		QN_TRY(find_value(e, &i));
		put_value(&b, e, i);
	}
	if (e->write(e->user, qn_buf_str(&b), b.n) != 0)
		return qn_report(e->m->env, QN_EIO, "print", "", "the text could not be written");
	return QN_OK;
}

qn_status
qn_stats_explain(qn_model *m, const qn_stats *s, const char *value, size_t n,
		 qn_array *const *samples, qn_write_fn *write, void *user)
{
	explanation e = {.m = m,
			 .stats = s,
			 .value = value,
			 .nsample = n,
			 .samples = samples,
			 .write = write,
			 .user = user};

	QN_TRY(QN_GIVEN(qn_model_ctx(m), s, write));
	QN_TRY(qn_host_pointers(m->env, "samples", n, samples));
	return qn_guard_model(m, explain, &e);
}
