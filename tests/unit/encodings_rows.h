/* SPDX-License-Identifier: Apache-2.0 */
/* encodings_rows.h - files of encodings, each a row: what is read, or what is refused and where.
 *
 *   "{'activation_encodings': {'x': [{'bitwidth': 8, 'offset': -3, 'scale': 0.5}]}}"     ' is "
 *   "act x 8 bits -3 0.5"                         a pair: bits, offset, scale, sym when it is symmetric
 *   "e.json/…: of 'x': is …"                      all errors, the first words of each */
#ifndef TESTS_UNIT_ENCODINGS_ROWS_H
#define TESTS_UNIT_ENCODINGS_ROWS_H

#include "tests/unit/run_util.h"

#include "calibrate/encodings_file.h"
#include "tests/unit/encodings_text.h"

typedef struct row {
	const char *text, *want;
} row;

enum { WORDS = 32 }; /* letters of a message */

static const char *const section[QN_ENCODING_SECTIONS] = {"act", "param"};

/* Entries in the order of the file, each where its name finds it. */
static inline void
print_entries(qn_buf *b, const qn_encodings *e)
{
	for (int k = 0; k < QN_ENCODING_SECTIONS; k++)
		for (size_t i = 0; i < e->n[k]; i++) {
			const qn_encoding *x = &e->list[k][i];

			assert_ptr_equal(qn_map_gets(&e->map[k], x->name), x);
			qn_buff(b, "%s %s", section[k], x->name);
			if (x->real)
				qn_buf_puts(b, " float");
			for (size_t p = 0; p < x->n && !x->real; p++)
				qn_buff(b, "%s %lld bits %lld %g%s", p > 0 ? "," : "",
					(long long)x->pair[p].bits, (long long)x->pair[p].offset,
					x->pair[p].scale, x->pair[p].symmetric ? " sym" : "");
			qn_buf_puts(b, "; ");
		}
}

static inline const char *
outcome(const char *text)
{
	const char *json = json_of(text);
	qn_encodings *e;
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	if (qn_encodings_read(&rg->env, &rg->arena, "e.json", json, strlen(json), &e) == QN_OK)
		print_entries(&b, e);
	for (size_t i = 0; i < rg->diags.n; i++)
		qn_buff(&b, "%s: %s; ", rg->diags.item[i].place,
			qn_arena_strn(&rg->arena, rg->diags.item[i].message,
				      strnlen(rg->diags.item[i].message, WORDS)));
	qn_diags_clear(&rg->env, &rg->diags);
	return qn_buf_str(&b);
}

static inline void
check_rows(const row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *have = outcome(rows[i].text);

		if (strcmp(have, rows[i].want) != 0)
			fail_msg("%s\n  is    %s\n  not   %s", rows[i].text, have, rows[i].want);
	}
}

#endif
