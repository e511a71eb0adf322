/* SPDX-License-Identifier: Apache-2.0 */
/* types_rows.h - for tests of the text of types: what a rule reports of a text. */
#ifndef TESTS_UNIT_TYPES_ROWS_H
#define TESTS_UNIT_TYPES_ROWS_H

#include "types_fixture.h"

/* The text without the ^, as the element or type, is refused so and there. */
static inline void
expect_at(fixture *f, const char *marked, const char *id, bool is_type)
{
	const char *mark = strchr(marked, '^');
	const int column = mark != NULL ? (int)(mark - marked) : -1;
	char text[256], place[32];

	assert_true(column >= 0 && strlen(marked) < sizeof text);
	(void)snprintf(text, sizeof text, "%.*s%s", column, marked, mark + 1);
	(void)snprintf(place, sizeof place, is_type ? "t:1:%d" : "1:%d", column + 1);
	if (is_type)
		assert_null(type(f, text));
	else
		assert_null(elem(f, text));
	if (f->diags.n > 0 && strcmp(f->diags.item[0].place, place) != 0)
		fail_msg("%s: at %s, not %s: %s", text, f->diags.item[0].place, place,
			 f->diags.item[0].message);
	expect_diag(f, id, text);
}

#endif
