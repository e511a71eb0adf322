/* SPDX-License-Identifier: Apache-2.0 */
/* base.h - what every file of the library may use: fixed-width integers, the public status values
 * and three macros. */
#ifndef QN_IR_BASE_H
#define QN_IR_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quern/context.h"

#if defined(__GNUC__)
#define QN_MUST_CHECK __attribute__((warn_unused_result))
#define QN_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define QN_NORETURN __attribute__((noreturn))
#else
#define QN_MUST_CHECK
#define QN_PRINTF(fmt, first)
#define QN_NORETURN
#endif

/* Returns from the enclosing function with the status of `expr` unless that is QN_OK. */
#define QN_TRY(expr)                                                                               \
	do {                                                                                       \
		qn_status try_ = (expr);                                                           \
		if (try_ != QN_OK)                                                                 \
			return try_;                                                               \
	} while (0)

#define QN_COUNT(array) (sizeof(array) / sizeof(array)[0])

#endif
