/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_seal.c - the checksum at the end of a file of statistics: CRC-32 of all its bytes, the
 * digits themselves counted as zeros.
 *
 *   …
 *     "checksum": "1f0c3a55"
 *   } */
#include <string.h>

#include "calibrate/statistics.h"
#include "ir/tensor.h"

enum { DIGITS = 8 };

static const char before[] = "\"checksum\": \"";
static const char after[] = "\"\n}\n";

/* Where the digits lie; n: there are none. */
static size_t
find_digits(const char *text, size_t n)
{
	const size_t last = sizeof after - 1, first = sizeof before - 1;

	if (n < first + DIGITS + last || memcmp(text + n - last, after, last) != 0)
		return n;
	const size_t at = n - last - DIGITS;
	return memcmp(text + at - first, before, first) == 0 ? at : n;
}

static void
write_digits(const char *text, size_t n, size_t at, char *digits)
{
	uint32_t crc = qn_crc32(0, text, at);

	crc = qn_crc32(crc, "00000000", DIGITS);
	crc = qn_crc32(crc, text + at + DIGITS, n - at - DIGITS);
	for (size_t i = 0; i < DIGITS; i++)
		digits[i] = "0123456789abcdef"[crc >> (4 * (DIGITS - 1 - i)) & 15];
}

bool
qn_statistics_seal(char *text, size_t n)
{
	size_t at = find_digits(text, n);

	if (at == n)
		return false;
	write_digits(text, n, at, text + at);
	return true;
}

qn_seal
qn_statistics_sealed(const char *text, size_t n)
{
	size_t at = find_digits(text, n);
	char digits[DIGITS];

	if (at == n)
		return QN_SEAL_NONE;
	write_digits(text, n, at, digits);
	return memcmp(digits, text + at, DIGITS) == 0 ? QN_SEAL_WHOLE : QN_SEAL_BROKEN;
}
