/* SPDX-License-Identifier: Apache-2.0 */
/* json_values.c - see json_values.h. */
#include "json_values.h"

#include <stdio.h>
#include <stdlib.h>

void
json_text(const char *s)
{
	putchar('"');
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < 0x20)
			printf("\\u%04x", (unsigned)*s);
		else
			putchar(*s);
	}
	putchar('"');
}

void
json_number(double v)
{
	char text[40];

	if (v - v != 0) {
		printf(v > 0 ? "\"inf\"" : "\"-inf\"");
		return;
	}
	for (int digits = 6; digits <= 17; digits++) {
		(void)snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	printf("%s", text);
}
