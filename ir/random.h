/* SPDX-License-Identifier: Apache-2.0 */
/* random.h - numbers that are the same on every host: of a seed, for constants and samples that nobody gave. */
#ifndef QN_IR_RANDOM_H
#define QN_IR_RANDOM_H

#include <stdint.h>

/* The next 64 bits (splitmix64: Steele, Lea and Flood, 2014); *state: the seed before the first. */
uint64_t qn_random_next(uint64_t *state);

#endif
