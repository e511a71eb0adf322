/* SPDX-License-Identifier: Apache-2.0 */
/* growth.h - whether the samples were enough: how much wider each further one is expected to make a
 * range.
 *
 *   8 samples     quarters   0,4: [0, 3]   1,5: [0, 2]   2,6: [0, 4]   3,7: [0, 3]   all: [0, 4]
 *   without the third one the range is [0, 3], 25 % narrower, without another as it is: each sample
 *   widens it by 25 % / 8 = 3.1 %
 *
 * Every fourth batch is a quarter, not each fourth of them in a row: samples that are ordered by
 * class do not look as if something new came at the end. */
#ifndef QN_CALIBRATE_GROWTH_H
#define QN_CALIBRATE_GROWTH_H

#include "calibrate/calibrate.h"

enum {
	QN_GROWTH_FEWEST = 8, /* batches: two in each quarter */
	QN_GROWTH_NAMED = 3   /* values that the warning names */
};

/* Of a range, by each sample.  Measured (docs/calibration.md): 100 samples of five networks stay
 * below 0.0052 however they are chosen, 8 of them are above it in 49 of 50 choices. */
#define QN_GROWTH_MOST 0.0075

/* By each further sample, as a share of the range that was found; ends that the samples do not
 * decide (what lies outside is cut off, or constants reach further) do not grow.  0 where it is not
 * known: fewer than QN_GROWTH_FEWEST batches, statistics of an older program. */
double qn_growth(const qn_seen *s, const qn_finding *f);
/* One warning, data.few, of the values whose range grows by more than QN_GROWTH_MOST. */
void qn_growth_warn(const qn_calibration *c, const qn_finding *found);

#endif
