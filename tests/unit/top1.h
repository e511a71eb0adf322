/* SPDX-License-Identifier: Apache-2.0 */
/* top1.h - how many samples a model gives its label, of how many, through qn_measure. */
#ifndef QN_TESTS_UNIT_TOP1_H
#define QN_TESTS_UNIT_TOP1_H

#include <string.h>

#include "quern/measure.h"

typedef struct top1 {
	uint64_t samples, correct;
} top1;

static inline void
top1_take(void *user, const qn_metric *metric)
{
	if (strcmp(metric->name, "top1") == 0)
		*(top1 *)user = (top1){.samples = metric->of, .correct = metric->hits};
}

/* labels NULL: the classes of a folder of folders. */
static inline qn_status
top1_of(qn_model *m, qn_array *x, const qn_array *labels, top1 *out)
{
	const qn_measure_opts opts = {.labels = labels};

	*out = (top1){0, 0};
	return qn_measure(m, 1, &x, &opts, top1_take, out);
}

#endif
