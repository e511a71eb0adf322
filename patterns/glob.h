/* SPDX-License-Identifier: Apache-2.0 */
/* glob.h - names with wildcards, as recipes and --skip take them.
 *
 *   conv*  block[0-3].add  [!x]?     * any text, ? one character, [abc] [a-z] one of them, [!abc] none of them
 *
 * A "]" right after "[" or "[!" stands for itself, so [[] is a bracket.  Names are UTF-8. */
#ifndef QN_PATTERNS_GLOB_H
#define QN_PATTERNS_GLOB_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/arena.h"

/* Whether the name is one that the glob describes. */
bool qn_glob(const char *glob, const char *name);
/* NULL: the glob is well formed; else what is wrong with it. */
const char *qn_glob_fault(const char *glob);
/* The glob that describes this name and no other. */
const char *qn_glob_of(qn_arena *a, const char *name);
/* How many characters have to be changed, added or left out until it is; more than `most` is
 * most + 1. */
uint32_t qn_glob_distance(const char *glob, const char *name, uint32_t most);

#endif
