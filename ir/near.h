/* SPDX-License-Identifier: Apache-2.0 */
/* near.h - the known name that a mistyped one was most likely meant to be. */
#ifndef QN_IR_NEAR_H
#define QN_IR_NEAR_H

#include <stddef.h>

/* NULL when none is near: more than a third of the letters differ, or more than three.
 * Of several equally near ones the first.  */
const char *qn_near(const char *word, size_t n, const char *const *name);

#endif
