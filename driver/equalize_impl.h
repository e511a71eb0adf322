/* SPDX-License-Identifier: Apache-2.0 */
/* equalize_impl.h - what the files of the pass equalize share: equalize_search.c chooses, equalize_trial.c measures. */
#ifndef QN_DRIVER_EQUALIZE_IMPL_H
#define QN_DRIVER_EQUALIZE_IMPL_H

#include "driver/trial.h"
#include "passes/equalize.h"

typedef struct qn_equalize_search {
	qn_pipeline *p;
	qn_trials trials;
	qn_equalizing e;
	bool *stays;   /* by group: its exponents stay 0 */
	float **peak;  /* by group, by channel: largest magnitude of activations */
	float **least; /* … and the least activation */
	size_t noperand;
	qn_id *operand; /* of all groups */
	const qn_tensor **value;
} qn_equalize_search;

/* Ranges of activations on the samples that fit, outputs on those that are held back. */
qn_status qn_equalize_observe(qn_equalize_search *q) QN_MUST_CHECK;

/* The squared error of the outputs on the samples that are held back, each relative to the output's squares, when the
 * model is quantized with the exponents that the groups have now.  The model is as before then. */
qn_status qn_equalize_error(qn_equalize_search *q, double *error) QN_MUST_CHECK;

/* Keeps exponents of groups, then shifts, with which the error falls below *error; sets *error to what it is then. */
qn_status qn_equalize_scales(qn_equalize_search *q, double *error) QN_MUST_CHECK;
qn_status qn_equalize_biases(qn_equalize_search *q, double *error) QN_MUST_CHECK;

bool qn_equalize_is_scaled(const qn_equal_group *group);
bool qn_equalize_is_shifted(const qn_equal_group *group);

#endif
