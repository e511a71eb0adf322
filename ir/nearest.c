/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c - see nearest.h: the least number of letters to insert, leave out, replace or swap with
 * the next one (optimal string alignment), without regard to the case of ASCII letters. */
#include "ir/nearest.h"

#include <limits.h>
#include <string.h>

enum {
	LONGEST = 64, /* letters that are compared, after what is equal at both ends */
	MOST = 3,     /* changes */
	PREFIX = 3    /* letters of a name that stand for the whole of it */
};

static int
lesser(int a, int b)
{
	return a < b ? a : b;
}

static int
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static bool
same(char a, char b)
{
	return lower(a) == lower(b);
}

static int
changes(const char *a, int n, const char *b, int k)
{
	int row[3][LONGEST + 1]; /* of i - 2, i - 1 and i letters of a */

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
				       before[j - 1] + !same(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
				at[j] = lesser(at[j], second[j - 2] + 1);
		}
	}
	return row[n % 3][k];
}

/* Changes from a to b; INT_MAX when these are more than a typo or an abbreviation makes. */
static int
distance(const char *a, const char *b)
{
	size_t n = strlen(a), k = strlen(b), equal = 0;
	const size_t longer = n > k ? n : k;

	for (; n > 0 && k > 0 && same(*a, *b); a++, b++, n--, k--)
		equal++;
	if (equal >= PREFIX && (n == 0 || k == 0)) /* one begins with the other */
		return n + k < LONGEST ? (int)(n + k) : LONGEST;
	for (; n > 0 && k > 0 && same(a[n - 1], b[k - 1]); n--)
		k--;
	if (n > LONGEST || k > LONGEST)
		return INT_MAX;
	const int far = changes(a, (int)n, b, (int)k);
	return far <= MOST && (size_t)far * 3 <= longer + 1 ? far : INT_MAX;
}

const char *
qn_nearer_name(const char *wanted, const char *best, const char *name)
{
	if (wanted == NULL || name == NULL)
		return best;
	const int far = distance(wanted, name);

	return far < (best != NULL ? distance(wanted, best) : INT_MAX) ? name : best;
}

const char *
qn_nearest_name(const char *wanted, size_t n, const char *const *name)
{
	const char *best = NULL;

	for (size_t i = 0; i < n; i++)
		best = qn_nearer_name(wanted, best, name[i]);
	return best;
}
