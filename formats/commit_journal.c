/* SPDX-License-Identifier: Apache-2.0 */
/* commit_journal.c - see commit_journal.h.  The names in it are those of files of its folder; the temporary ones
 * are ours. */
#include "formats/commit_journal.h"

#include <string.h>

#include "ir/tensor.h"

enum { CRC_FROM = 1, BODY_FROM = 9 };

static const char title[] = "quern-commit-1";

const char *
qn_journal_path_in(qn_arena *a, const char *folder, const char *name)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, "%s%s", folder, name);
	return qn_buf_str(&b);
}

static void
put_text(qn_buf *b, const char *s)
{
	qn_buf_put(b, s, strlen(s) + 1);
}

void
qn_journal_print(qn_buf *b, size_t n, const qn_commit_file *f)
{
	qn_buf body;

	qn_buf_init(&body, b->arena);
	put_text(&body, title);
	for (size_t i = 0; i < n; i++) {
		qn_buf_putc(&body, f[i].gone ? 'd' : f[i].fresh ? 'n' : 'r');
		put_text(&body, f[i].tmp);
		put_text(&body, f[i].old);
		put_text(&body, f[i].name);
	}
	qn_buff(b, "F%08x", (unsigned)qn_crc32(0, body.data, body.n));
	qn_buf_put(b, body.data, body.n);
}

/* The text at *at up to its NUL, NULL when there is none; *at goes on after it. */
static const char *
take_text(const char **at, const char *end)
{
	const char *s = *at;
	const char *nul = memchr(s, '\0', (size_t)(end - s));

	if (nul != NULL)
		*at = nul + 1;
	return nul != NULL ? s : NULL;
}

static bool
is_ours(const char *name)
{
	return strncmp(name, ".quern-", 7) == 0 && strchr(name, '/') == NULL;
}

static bool
parse_step(qn_arena *a, const char *folder, const char **at, const char *end, qn_journal_step *s)
{
	char kind = *(*at)++;
	const char *tmp = take_text(at, end);
	const char *old = tmp != NULL ? take_text(at, end) : NULL;
	const char *name = old != NULL ? take_text(at, end) : NULL;

	if (name == NULL || !is_ours(tmp) || !is_ours(old) || name[0] == '\0' ||
	    strchr(name, '/') != NULL || (kind != 'n' && kind != 'r' && kind != 'd'))
		return false;
	*s = (qn_journal_step){qn_journal_path_in(a, folder, tmp),
			       qn_journal_path_in(a, folder, old),
			       qn_journal_path_in(a, folder, name), kind == 'n', kind == 'd'};
	return true;
}

bool
qn_journal_parse(qn_arena *a, qn_journal *j, const char *text, size_t n)
{
	const char *at = text + BODY_FROM, *end = text + n;
	size_t cap = 0;
	qn_buf crc;

	qn_buf_init(&crc, a);
	if (n < BODY_FROM + sizeof title || memcmp(at, title, sizeof title) != 0)
		return false;
	qn_buff(&crc, "%08x", (unsigned)qn_crc32(0, at, n - BODY_FROM));
	if (memcmp(text + CRC_FROM, crc.data, 8) != 0 || (text[0] != 'F' && text[0] != 'B'))
		return false;
	for (at += sizeof title; at < end; j->n++) {
		j->step = qn_arena_grow(a, j->step, &cap, j->n + 1, sizeof *j->step);
		if (!parse_step(a, j->folder, &at, end, &j->step[j->n]))
			return false;
	}
	return true;
}
