/* SPDX-License-Identifier: Apache-2.0 */
/* host_function.h - the C functions that a host gives for emitted programs, of custom operators and of custom kernels:
 * static functions of the program, each name with one text.
 *
 *   my_dense    static void my_dense(const int32_t *p, …) { … }       of kernel "acme.dense"
 *   qn_dense    refused: the library's kernels have such names */
#ifndef QN_IR_HOST_FUNCTION_H
#define QN_IR_HOST_FUNCTION_H

#include "ir/env.h"

typedef struct qn_host_function {
	const char *name, *text; /* of the operator or kernel that it is part of */
	struct qn_host_function *next;
} qn_host_function;

/* What is wrong with a function for this context, NULL when nothing is. */
const char *qn_host_function_problem(const qn_env *env, const char *name, const char *text);
/* Adds f, which must live until it is removed, to env->functions; one whose name is NULL is none. */
void qn_host_function_add(qn_env *env, qn_host_function *f);
void qn_host_function_remove(qn_env *env, const qn_host_function *f);

#endif
