/* SPDX-License-Identifier: Apache-2.0 */
/* sizes.c - budgets on the command line: "65536", "64K", "1M", and seconds: "90". */
#include <stdio.h>
#include <stdlib.h>

#include "program.h"

bool
program_read_size(const char *option, const char *text, uint64_t least, uint64_t kilo,
		  uint64_t *out)
{
	char *end = NULL;
	uint64_t times = 1;
	char expected[64];

	*out = 0;
	if (text == NULL)
		return true;
	const unsigned long long n =
		text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
	if (end != NULL && (*end == 'K' || *end == 'k'))
		times = kilo;
	else if (end != NULL && *end == 'M')
		times = kilo * kilo;
	if (end != NULL && times > 1)
		end++;
	if (end == NULL || *end != '\0' || n < least || n > (UINT64_MAX >> 24) / times) {
		(void)snprintf(expected, sizeof expected, "an integer from %d on%s", (int)least,
			       kilo > 1 ? ", with K or M" : "");
		(void)program_bad_value(option, text, expected);
		return false;
	}
	*out = n * times;
	return true;
}
