/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.h - what the programs have in common that compare kernels with a processor's instructions and with
 * their definitions in C: numbers drawn the same everywhere, and the line that says how it went.
 *
 *   ok, 1200 jobs, kind 2, on definitions 1 */
#ifndef QN_TESTS_MCU_JOBS_H
#define QN_TESTS_MCU_JOBS_H

#include "bench/mcu/board.h"

static uint64_t seed = 1;

static inline int32_t
pick(int32_t lo, int32_t hi)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return lo + (int32_t)((seed >> 33) % (uint64_t)((int64_t)hi - lo + 1));
}

/* n bytes: any value from `least` on, or often an end. */
static inline void
draw_bytes(int8_t *to, int32_t n, int32_t least)
{
	const int32_t how = pick(0, 2);

	for (int32_t i = 0; i < n; i++)
		to[i] = (int8_t)(how == 0 && pick(0, 2) > 0 ? (pick(0, 1) == 0 ? least : 127)
							    : pick(least, 127));
}

static inline char *
append(char *to, const char *text)
{
	while (*text != '\0')
		*to++ = *text++;
	*to = '\0';
	return to;
}

static inline char *
append_number(char *to, int n)
{
	if (n > 9)
		to = append_number(to, n / 10);
	*to++ = (char)('0' + n % 10);
	*to = '\0';
	return to;
}

/* n jobs of `all` gave the same bytes; the next one is of this kind.  The program's exit code. */
static inline int
report_jobs(int n, int all, int kind, int definitions)
{
	char line[80], *at = append(line, n == all ? "ok, " : "differs after ");

	at = append(append_number(at, n), " jobs, kind ");
	at = append(append_number(at, kind), ", on definitions ");
	append(append_number(at, definitions), "\n");
	mcu_print(line);
	return n == all ? 0 : 1;
}

/* Defines count_equal: the number of jobs before the first one whose bytes, which run_native and run_portable leave
 * at `place`, differ.  The program has draw(), its JOBS, and the arrays native and portable. */
#define COUNT_EQUAL(place)                                                                         \
	static int count_equal(job *j)                                                             \
	{                                                                                          \
		int n = 0;                                                                         \
                                                                                                   \
		for (; n < JOBS; n++) {                                                            \
			draw(j, n);                                                                \
			memset(native, 1, sizeof(native));                                         \
			memset(portable, 1, sizeof(portable));                                     \
			j->place = native + n % 4;                                                 \
			run_native(j);                                                             \
			j->place = portable + n % 4;                                               \
			run_portable(j);                                                           \
			if (memcmp(native, portable, sizeof(native)) != 0)                         \
				break;                                                             \
		}                                                                                  \
		return n;                                                                          \
	}

#if defined(JOBS_HOST)
#include <stdio.h>

void
mcu_print(const char *text)
{
	(void)fputs(text, stdout);
}

int
main(void)
{
	return mcu_main();
}
#endif

#endif
