/* SPDX-License-Identifier: Apache-2.0 */
/* widen_far.c - 16 bits for many layers of a network whose outputs are far from the float ones (driver/widen.h).
 *
 *   noisiest first   a b c d e f g h       all: 21 dB
 *                    a b c d               14 dB, too few ─▶ a … f: 17 dB ─▶ … the fewest that reach 15 dB
 *                    a   c d e             without those that it is near without
 *
 * None of them brings the least gain by itself, because the noise of many layers is about as large. */
#include <math.h>
#include <string.h>

#include "driver/widen.h"
#include "runtime/math.h"

typedef struct far {
	qn_widening *w;
	size_t n, *layer;              /* those that are not wide, the noisiest first */
	double enough[QN_TRIAL_PARTS]; /* errors of outputs that are near */
	size_t most;                   /* trials */
} far;

/* The error of an SQNR. */
static double
error_of(const qn_trials *t, qn_trial_part part, double db)
{
	size_t measured = 0;

	for (size_t k = 0; k < t->noutput; k++)
		measured += t->power[part][k] > 0;
	return (double)measured * qn_exp(-db / 10 * qn_ln(10));
}

static void
set(const far *f, size_t from, size_t to, bool wide)
{
	for (; from < to; from++)
		f->w->all.layer[f->layer[from]].wide = wide;
}

/* Measures the layers that are wide now, and takes the error where it is small enough. */
static qn_status
is_near(far *f, bool *near)
{
	double error[QN_TRIAL_PARTS];

	QN_TRY(qn_widening_try(f->w, error, near));
	*near = *near && error[QN_TRIAL_FIT] <= f->enough[QN_TRIAL_FIT] &&
		error[QN_TRIAL_HELD] <= f->enough[QN_TRIAL_HELD];
	if (*near)
		qn_widening_take(f->w, error);
	return QN_OK;
}

/* The fewest of the noisiest that are enough. */
static qn_status
shorten(far *f)
{
	size_t least = 0, enough = f->n;

	while (least + 1 < enough && f->w->tried < f->most) {
		const size_t half = (least + enough) / 2;
		bool near;

		set(f, 0, f->n, false);
		set(f, 0, half, true);
		QN_TRY(is_near(f, &near));
		if (near)
			enough = half;
		else
			least = half;
	}
	set(f, 0, f->n, false);
	set(f, 0, enough, true);
	f->n = enough;
	return QN_OK;
}

/* Goes back to 8 bits with those without which it is near, too: with from … to at once, else with those of each half. */
static qn_status
thin_out(far *f, size_t from, size_t to)
{
	bool near;

	if (from == to || f->w->tried >= f->most)
		return QN_OK;
	set(f, from, to, false);
	QN_TRY(is_near(f, &near));
	if (near)
		return QN_OK;
	set(f, from, to, true);
	if (to - from == 1)
		return QN_OK;
	QN_TRY(thin_out(f, (from + to) / 2, to));
	return thin_out(f, from, (from + to) / 2);
}

static qn_status
try_all(far *f, double error[QN_TRIAL_PARTS])
{
	qn_widening *w = f->w;

	set(f, 0, f->n, true);
	QN_TRY(qn_widening_try(w, error, &w->all_can));
	w->with_all = error[QN_TRIAL_HELD];
	w->all_help =
		w->all_can && error[QN_TRIAL_HELD] < w->now[QN_TRIAL_HELD] &&
		qn_widen_gain(w->now[QN_TRIAL_FIT], error[QN_TRIAL_FIT]) >= QN_WIDEN_LEAST_GAIN;
	if (!w->all_help)
		set(f, 0, f->n, false);
	return QN_OK;
}

/* Near is 15 dB, or 3 less than what all layers bring, as the last dB cost most layers; but on the samples that choose the
 * least gain has to be left. */
static void
choose_enough(far *f, const double all[QN_TRIAL_PARTS])
{
	const double least = qn_exp(QN_WIDEN_LEAST_GAIN / 10 * qn_ln(10));

	for (qn_trial_part part = 0; part < QN_TRIAL_PARTS; part++) {
		const double near = error_of(&f->w->trials, part, QN_WIDEN_FAR);
		const double before = f->w->now[part];
		const double gained = part == QN_TRIAL_FIT ? before / least : before;

		f->enough[part] = fmax(all[part], fmin(fmax(near, all[part] * least), gained));
	}
}

qn_status
qn_widen_far(qn_widening *w)
{
	far f = {.w = w, .layer = QN_NEW(w->arena, size_t, w->all.n + 1)};
	double all[QN_TRIAL_PARTS];

	w->is_far = w->now[QN_TRIAL_FIT] > error_of(&w->trials, QN_TRIAL_FIT, QN_WIDEN_FAR);
	for (size_t k = 0; k < w->all.n; k++)
		if (!w->all.layer[k].wide)
			f.layer[f.n++] = k;
	if (!w->is_far || f.n == 0)
		return QN_OK;
	f.most = w->tried + QN_WIDEN_FAR_TRIALS;
	QN_TRY(try_all(&f, all));
	if (!w->all_help)
		return QN_OK;
	choose_enough(&f, all);
	qn_widening_take(w, all);
	QN_TRY(shorten(&f));
	return thin_out(&f, 0, f.n > 0 ? f.n - 1 : 0);
}
