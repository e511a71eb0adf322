/* SPDX-License-Identifier: Apache-2.0 */
/* glob.c - see glob.h. */
#include "patterns/glob.h"

#include <stddef.h>
#include <string.h>

#include "ir/buf.h"

/* The character at *s, past which *s goes; bytes that are no UTF-8 stand for themselves. */
static uint32_t
next_char(const char **s)
{
	const unsigned char *b = (const unsigned char *)*s;
	const int more = (b[0] >= 0xc0) + (b[0] >= 0xe0) + (b[0] >= 0xf0);
	uint32_t c = more == 0 ? b[0] : b[0] & (0x3fu >> more);

	for (int i = 1; i <= more; i++) {
		if ((b[i] & 0xc0u) != 0x80) {
			*s += 1;
			return b[0];
		}
		c = c << 6 | (b[i] & 0x3fu);
	}
	*s += more + 1;
	return c;
}

/* Whether c is in the class whose "[" *s is past, past whose "]" *s goes; at the text's end the
 * class ends too. */
static bool
in_class(const char **s, uint32_t c)
{
	const bool other = **s == '!';
	bool in = false;

	*s += other;
	for (bool first = true; **s != '\0' && (first || **s != ']'); first = false) {
		const uint32_t low = next_char(s);
		uint32_t high = low;

		if (s[0][0] == '-' && s[0][1] != ']' && s[0][1] != '\0') {
			++*s;
			high = next_char(s);
		}
		in = in || (c >= low && c <= high);
	}
	*s += **s == ']';
	return in != other;
}

/* Whether c is what stands at *glob, which is no "*"; *glob goes past that. */
static bool
takes(const char **glob, uint32_t c)
{
	const uint32_t g = next_char(glob);

	return g == '?' || (g == '[' ? in_class(glob, c) : g == c);
}

/* The last `*` takes one character more whenever the rest does not fit: no other can help. */
bool
qn_glob(const char *glob, const char *s)
{
	const char *star = NULL, *from = s;

	while (*s != '\0') {
		const char *g = glob, *rest = s;

		if (*glob == '*') {
			star = ++glob;
			from = s;
		} else if (*glob != '\0' && takes(&g, next_char(&rest))) {
			glob = g;
			s = rest;
		} else if (star != NULL) {
			glob = star;
			(void)next_char(&from);
			s = from;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return *glob == '\0';
}

const char *
qn_glob_fault(const char *glob)
{
	for (const char *s = glob; *s != '\0';) {
		if (next_char(&s) != '[')
			continue;
		const char *end = s + (*s == '!');
		const char *close = *end != '\0' ? strchr(end + 1, ']') : NULL;

		if (close == NULL)
			return "its '[' has no ']'; [[] stands for a bracket";
		while (end < close) {
			const uint32_t low = next_char(&end);

			if (*end != '-' || end + 1 >= close)
				continue;
			++end;
			if (next_char(&end) < low)
				return "it has a range whose end comes before its start";
		}
		s = close + 1;
	}
	return NULL;
}

enum { MOST = 256 }; /* characters of a name that count */

static uint32_t
least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

const char *
qn_glob_of(qn_arena *a, const char *name)
{
	qn_buf b;

	qn_buf_init(&b, a);
	for (; *name != '\0'; name++)
		qn_buff(&b, *name == '*' || *name == '?' || *name == '[' ? "[%c]" : "%c", *name);
	return qn_buf_str(&b);
}

uint32_t
qn_glob_distance(const char *glob, const char *name, uint32_t most)
{
	uint32_t row[MOST +
		     1]; /* [i]: from what was read of the glob to the name's first i characters */
	uint32_t c[MOST];
	size_t n = 0;

	while (*name != '\0' && n < MOST)
		c[n++] = next_char(&name);
	for (size_t i = 0; i <= n; i++)
		row[i] = (uint32_t)i;
	while (*glob != '\0') {
		const char *after = glob;
		const bool star = *glob == '*';
		uint32_t before = row[0]; /* [i - 1] without this part of the glob */

		(void)takes(&after, 0);
		row[0] += !star;
		for (size_t i = 1; i <= n; i++) {
			const char *g = glob;
			const uint32_t skipped = row[i] + !star;
			const uint32_t added = row[i - 1] + !star;
			const uint32_t both = before + (star || !takes(&g, c[i - 1]));

			before = row[i];
			row[i] = least(least(skipped, added), both);
		}
		glob = after;
	}
	return least(row[n], most + 1);
}
