/* SPDX-License-Identifier: Apache-2.0 */
/* near.c - see near.h: the least number of letters to insert, leave out, replace or swap with the next one (optimal string
 * alignment). */
#include "ir/near.h"

#include <string.h>

enum { LONGEST = 64, MOST = 3 }; /* letters of a name; changes */

static int
lesser(int a, int b)
{
	return a < b ? a : b;
}

/* LONGEST: too far away. */
static int
distance(const char *a, const char *b)
{
	int row[3][LONGEST + 1]; /* of i - 2, i - 1 and i letters of a */

	if (strlen(a) > LONGEST || strlen(b) > LONGEST)
		return LONGEST;
	const int n = (int)strlen(a), k = (int)strlen(b);
	for (int i = 0; i <= n; i++) {
		int *at = row[i % 3];
		const int *before = row[(i + 2) % 3], *second = row[(i + 1) % 3];

		at[0] = i;
		for (int j = 1; j <= k; j++) {
			if (i == 0) {
				at[j] = j;
				continue;
			}
			at[j] = lesser(lesser(before[j], at[j - 1]) + 1,
				       before[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				at[j] = lesser(at[j], second[j - 2] + 1);
		}
	}
	return row[n % 3][k];
}

const char *
qn_near(const char *word, size_t n, const char *const *name)
{
	const char *best = NULL;
	int least_far = LONGEST;

	for (size_t i = 0; i < n; i++) {
		const size_t x = strlen(word), y = strlen(name[i]);
		const int far = distance(word, name[i]);

		if (far <= MOST && (size_t)far * 3 <= (x > y ? x : y) + 1 && far < least_far) {
			least_far = far;
			best = name[i];
		}
	}
	return best;
}
