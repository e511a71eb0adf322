/* SPDX-License-Identifier: Apache-2.0 */
/* clip.h - what a range cuts off, and how much of it is too much.
 *
 *   found by kl     [0, 0.4], which cuts off 26 % of the elements
 *   with the guard  [0, 2.1], which cuts off 1 % */
#ifndef QN_CALIBRATE_CLIP_H
#define QN_CALIBRATE_CLIP_H

#include "calibrate/method.h"

/* The share of the elements in bins that lie wholly outside of [lo, hi]; -1: there is no grid. */
double qn_clip_share(const qn_observer *o, double lo, double hi);
/* What the options ask for: the share outside of a percentile, anything for a search; else 0. */
double qn_clip_asked(const qn_method_opts *o);
/* For methods with a guard: widens a range that cuts off more than QN_CLIP_MOST until it does not. */
void qn_clip_guard(const qn_seen *s, qn_finding *f);

#endif
