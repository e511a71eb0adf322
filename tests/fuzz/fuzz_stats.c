/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_stats.c - any bytes as a file of statistics.  What is accepted is written and read again to
 * the same bytes, merges with nothing of itself, and gives each value a range. */
#include "tests/fuzz/fuzz.h"

#include "calibrate/statistics.h"

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_model *m = fuzz_model(f);
	qn_statistics *s, *again;
	qn_buf a, b;
	char *text = qn_arena_copy(&f->arena, data, size);

	/* What a changed byte does behind the checksum is looked for. */
	(void)qn_statistics_seal(text, size);
	if (qn_statistics_read(m->env, &f->arena, "s", text, size, &s) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	qn_buf_init(&a, &f->arena);
	qn_statistics_print(&a, s);
	FUZZ_CHECK(qn_statistics_read(m->env, &f->arena, "a", a.data, a.n, &again) == QN_OK);
	qn_buf_init(&b, &f->arena);
	qn_statistics_print(&b, again);
	FUZZ_CHECK(a.n == b.n && memcmp(a.data, b.data, a.n) == 0);
	if (s->nspan > 0)
		FUZZ_CHECK(qn_statistics_merge(m->env, &f->arena, again, "s", s) != QN_OK);
	if (qn_statistics_check_done(m->env, s) != QN_OK)
		return;
	for (size_t i = 0; i < s->n; i++) {
		qn_seen seen = qn_statistics_seen(s, i);
		qn_finding found = {0};

		if (seen.o->n > 0)
			s->method.method->finish(&seen, &f->arena, &found);
		FUZZ_CHECK(found.lo <= found.hi || seen.o->min > 0 || seen.o->max < 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
