/* SPDX-License-Identifier: Apache-2.0 */
/* encodings_text.h - JSON in C without backslashes: 'x' stands for "x". */
#ifndef TESTS_UNIT_ENCODINGS_TEXT_H
#define TESTS_UNIT_ENCODINGS_TEXT_H

#include "tests/unit/run_util.h"

static inline const char *
json_of(const char *text)
{
	char *json = qn_arena_str(&rg->arena, text);

	for (char *c = json; *c != '\0'; c++)
		if (*c == '\'')
			*c = '"';
	return json;
}

#endif
