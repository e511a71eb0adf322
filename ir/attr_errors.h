/* SPDX-License-Identifier: Apache-2.0 */
/* attr_errors.h - what the readers of the text form and of JSON report of attributes:
 *
 *   attr.unknown   unknown attribute 'paddin' of conv2d (expected stride, dilation, … or padding); did you mean 'padding'?
 *   attr.value     invalid value 'smae' of attribute 'padding' of conv2d (expected explicit, same or valid); did you mean 'same'?
 *   attr.missing   attribute 'axis' of concat is missing (expected an integer) */
#ifndef QN_IR_ATTR_ERRORS_H
#define QN_IR_ATTR_ERRORS_H

#include "ir/graph.h"

/* Texts are made in a; op is the name of the operator, given the value as it was written. */
void qn_attr_unknown(qn_env *env, qn_arena *a, const char *place, const char *op,
		     const qn_attr_set_info *set, const char *name);
void qn_attr_invalid(qn_env *env, qn_arena *a, const char *place, const char *op,
		     const qn_attr_info *info, const char *given);
void qn_attr_missing(qn_env *env, qn_arena *a, const char *place, const char *op,
		     const qn_attr_info *info);

#endif
