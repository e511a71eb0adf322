/* SPDX-License-Identifier: Apache-2.0 */
/* repair_draw.h - random numbers for the tests of repairs: the same ones in each run. */
#ifndef TESTS_UNIT_REPAIR_DRAW_H
#define TESTS_UNIT_REPAIR_DRAW_H

#include <stdint.h>

static uint32_t seed = 1;

/* -1 … 1 */
static inline double
draw(void)
{
	seed = seed * 1664525u + 1013904223u;
	return (double)(seed >> 8) / 8388608.0 - 1;
}

#endif
