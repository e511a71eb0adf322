/* SPDX-License-Identifier: Apache-2.0 */
/* clip.h - what a range cuts off, and how much of it is too much.
 *
 *   found by kl     [0, 0.4], which cuts off 26 % of the elements
 *   with the guard  [0, 2.1], which cuts off 1 % */
#ifndef QN_CALIBRATE_CLIP_H
#define QN_CALIBRATE_CLIP_H

#include "calibrate/method.h"

/* How many elements are in bins that lie wholly outside of [lo, hi], and their share of all; -1: there
 * is no grid. */
int64_t qn_clip_count(const qn_observer *o, double lo, double hi);
double qn_clip_share(const qn_observer *o, double lo, double hi);
/* What a method with a guard may cut off: its parameter clip; others QN_CLIP_MOST. */
double qn_clip_most(const qn_method_opts *o);
/* What the options ask for: the share outside of a percentile, clip where it was given, anything for a
 * search; else 0. */
double qn_clip_expected(const qn_method_opts *o);
/* For methods with a guard: widens a range that cuts off more than it may until it does not. */
void qn_clip_guard(const qn_seen *s, qn_finding *f);

#endif
