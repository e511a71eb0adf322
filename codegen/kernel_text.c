/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_text.c - see kernel_text.h. */
#include "codegen/kernel_text.h"

#include <string.h>

#include "ir/buf.h"

/* The name between the marker's opening and its closing, NULL when the line is not a marker. */
static const char *
marker(qn_arena *a, const char *line)
{
	static const char open[] = "/*@ ", close[] = " */\n";
	const char *name = line + sizeof(open) - 1;
	size_t n = strlen(line);

	if (n < sizeof(open) + sizeof(close) - 1 || strncmp(line, open, sizeof(open) - 1) != 0)
		return NULL;
	n -= sizeof(open) - 1 + sizeof(close) - 1;
	if (strcmp(name + n, close) != 0)
		return NULL;
	return qn_arena_strn(a, name, n);
}

static void
close_piece(qn_pieces *p, const char *name, qn_buf *text)
{
	size_t i = p->n;

	if (name == NULL || qn_map_gets(&p->by_name, name) != NULL)
		return;
	p->item = qn_arena_grow(p->arena, p->item, &p->cap, p->n + 1, sizeof(*p->item));
	p->item[i].name = name;
	p->item[i].text = qn_buf_str(text);
	p->item[i].n = text->n;
	p->item[i].needed = false;
	p->n++;
	/* The array moves as it grows, so the map holds the place by its number, counted from 1. */
	qn_map_puts(&p->by_name, name, qn_arena_copy(p->arena, &i, sizeof(i)));
}

void
qn_pieces_add(qn_pieces *p, const char *const *line, size_t nline)
{
	const char *name = NULL;
	qn_buf text;
	size_t i;

	qn_buf_init(&text, p->arena);
	for (i = 0; i < nline; i++) {
		const char *next = marker(p->arena, line[i]);

		if (next == NULL) {
			qn_buf_puts(&text, line[i]);
			continue;
		}
		close_piece(p, name, &text);
		if (strcmp(next, "end") == 0)
			return;
		name = next;
		qn_buf_init(&text, p->arena);
	}
	close_piece(p, name, &text);
}

/* A text whose lines do not have a word. */
static const char *const *
without(const char *word, const char *const *line, size_t nline, qn_arena *a)
{
	const char **copy = QN_NEW(a, const char *, nline + 1);
	const size_t n = strlen(word);

	for (size_t i = 0; i < nline; i++) {
		const char *from = line[i], *at = strstr(from, word);
		qn_buf b;

		copy[i] = from;
		if (at == NULL)
			continue;
		qn_buf_init(&b, a);
		for (; at != NULL; from = at + n, at = strstr(from, word))
			qn_buff(&b, "%.*s", (int)(at - from), from);
		qn_buf_puts(&b, from);
		copy[i] = qn_buf_str(&b);
	}
	return copy;
}

/* Pieces for program memory come first: of two of one name the first one counts. */
static bool
is_for_rom(const qn_kernel_file *f)
{
	return strcmp(f->name, "rom.h") == 0;
}

void
qn_pieces_init(qn_pieces *p, qn_arena *arena, bool rom)
{
	size_t i;

	memset(p, 0, sizeof(*p));
	p->arena = arena;
	qn_map_init(&p->by_name, arena);
	for (i = 0; i < qn_kernel_nfile && rom; i++)
		if (is_for_rom(&qn_kernel_files[i]))
			qn_pieces_add(p, qn_kernel_files[i].line, qn_kernel_files[i].nline);
	for (i = 0; i < qn_kernel_nfile; i++) {
		const qn_kernel_file *f = &qn_kernel_files[i];

		if (is_for_rom(f))
			continue;
		qn_pieces_add(p, rom ? f->line : without("QN_ROM ", f->line, f->nline, arena),
			      f->nline);
	}
}

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Past a comment or a literal that begins at s, s itself when none does. */
static const char *
past_inert(const char *s, const char *end)
{
	char quote = *s;

	if (end - s >= 2 && s[0] == '/' && s[1] == '*') {
		for (s += 2; end - s >= 2 && (s[0] != '*' || s[1] != '/'); s++)
			continue;
		return end - s >= 2 ? s + 2 : end;
	}
	if (quote != '"' && quote != '\'')
		return s;
	for (s++; s < end && *s != quote; s++)
		if (*s == '\\' && end - s >= 2)
			s++;
	return s < end ? s + 1 : end;
}

const char *
qn_code_word(const char **s, const char *end)
{
	while (*s < end) {
		const char *begin = past_inert(*s, end);

		if (begin != *s) {
			*s = begin;
			continue;
		}
		if (!is_word(**s)) {
			++*s;
			continue;
		}
		while (*s < end && is_word(**s))
			++*s;
		return begin;
	}
	return NULL;
}

bool
qn_text_mentions(const char *text, size_t n, const char *prefix)
{
	const char *s = text, *end = text + n, *word;

	while ((word = qn_code_word(&s, end)) != NULL)
		if ((size_t)(s - word) >= strlen(prefix) &&
		    strncmp(word, prefix, strlen(prefix)) == 0)
			return true;
	return false;
}

bool
qn_code_has_word(const char *text, size_t n, const char *word)
{
	const char *s = text, *end = text + n, *w;

	while ((w = qn_code_word(&s, end)) != NULL)
		if ((size_t)(s - w) == strlen(word) && memcmp(w, word, strlen(word)) == 0)
			return true;
	return false;
}

void
qn_pieces_need(qn_pieces *p, const char *text, size_t n)
{
	const char *s = text, *end = text + n, *word;

	while ((word = qn_code_word(&s, end)) != NULL) {
		const size_t *i = qn_map_get(&p->by_name, word, (size_t)(s - word));

		if (i == NULL || p->item[*i].needed)
			continue;
		p->item[*i].needed = true;
		qn_pieces_need(p, p->item[*i].text, p->item[*i].n);
	}
}

const qn_piece *
qn_pieces_find(const qn_pieces *p, const char *name)
{
	const size_t *i = qn_map_gets(&p->by_name, name);

	return i != NULL ? &p->item[*i] : NULL;
}
