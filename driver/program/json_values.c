/* SPDX-License-Identifier: Apache-2.0 */
/* json_values.c - see json_values.h. */
#include "json_values.h"

#include <stdio.h>
#include <stdlib.h>

void
json_text(FILE *to, const char *s)
{
	putc('"', to);
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			fprintf(to, "\\%c", *s);
		else if ((unsigned char)*s < 0x20 || *s == '<' || (unsigned char)*s == 0x7f)
			fprintf(to, "\\u%04x", (unsigned)*s);
		else
			putc(*s, to);
	}
	putc('"', to);
}

void
json_number(FILE *to, double v)
{
	char text[40];

	if (v - v != 0) {
		fprintf(to, v > 0 ? "\"inf\"" : "\"-inf\"");
		return;
	}
	for (int digits = 6; digits <= 17; digits++) {
		(void)snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	fprintf(to, "%s", text);
}
