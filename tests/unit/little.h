/* SPDX-License-Identifier: Apache-2.0 */
/* little.h - elements of this host as the little-endian bytes of a file. */
#ifndef QN_TESTS_LITTLE_H
#define QN_TESTS_LITTLE_H

#include <stddef.h>
#include <stdint.h>

/* n bytes: elements of `each` bytes. */
static inline void
put_little(void *to, const void *from, size_t n, size_t each)
{
	const uint16_t one = 1;
	const uint8_t *p = from;
	const size_t turn = *(const uint8_t *)&one == 1 ? 0 : each - 1; /* on a big-endian host */
	uint8_t *q = to;

	for (size_t i = 0; i < n; i++)
		q[i / each * each + (turn > 0 ? turn - i % each : i % each)] = p[i];
}

#endif
