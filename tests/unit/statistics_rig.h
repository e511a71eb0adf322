/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_rig.h - for tests of files of statistics: parts of a run, and what is refused. */
#ifndef TESTS_UNIT_STATISTICS_RIG_H
#define TESTS_UNIT_STATISTICS_RIG_H

#include "tests/unit/methods_fixture.h"

/* A value by a method, batches first … last - 1 of 8 observed. */
static inline qn_statistics *
part(const char *method, size_t first, size_t last)
{
	static const char *const data[] = {"calib.npy:0badcafe"};
	qn_statistics *s = blank(method, 8, true);
	float x[64];

	for (int i = 0; i < 64; i++)
		x[i] = (float)((i * 37) % 64 - 31) / 8;
	s->hash = 0x12345678;
	s->ndata = 1;
	s->data = data;
	see(s, x, 64, first, last, false);
	return s;
}

static inline void
expect(qn_status status, const char *id)
{
	assert_int_not_equal(status, QN_OK);
	assert_true(rg->diags.n > 0);
	assert_string_equal(rg->diags.item[0].id, id);
	qn_diags_clear(&rg->env, &rg->diags);
}

/* Of a text with a checksum that is right. */
static inline void
refuse(char *text, const char *id)
{
	qn_statistics *s;

	(void)qn_statistics_seal(text, strlen(text));
	if (qn_statistics_read(&rg->env, &rg->arena, "s.json", text, strlen(text), &s) == QN_OK)
		fail_msg("is read: %s", text);
	expect(QN_EINVALID, id);
}

/* The text with the first `from` replaced. */
static inline char *
edit(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	qn_buf b;

	if (at == NULL)
		fail_msg("no %s in %s", from, text);
	qn_buf_init(&b, &rg->arena);
	qn_buf_put(&b, text, (size_t)(at - text));
	qn_buff(&b, "%s%s", to, at + strlen(from));
	return b.data;
}

#endif
