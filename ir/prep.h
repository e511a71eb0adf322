/* SPDX-License-Identifier: Apache-2.0 */
/* prep.h - what is done to the values of samples before a model gets them: ((value - zero) * scale -
 * mean) / std, in double, rounded to f32. */
#ifndef QN_IR_PREP_H
#define QN_IR_PREP_H

#include <stdbool.h>
#include <stddef.h>

/* mean and std are one number for all channels, one for each, or none (0 and 1). */
typedef struct qn_prep {
	bool given; /* false: values stay as they are */
	double zero, scale;
	size_t nmean, nstd;
	const double *mean, *std;
	bool channels_first; /* the channel is dim 1 of the samples, else the last one */
} qn_prep;

/* Given, but values stay as they are. */
static inline bool
qn_prep_is_identity(const qn_prep *p)
{
	return p->given && p->scale == 1 && p->zero == 0 && p->nmean + p->nstd == 0;
}

#endif
