/* SPDX-License-Identifier: Apache-2.0 */
/* mutate.c - a C source with one small fault, for scripts/mutate: which faults do the tests notice?
 *
 *   mutate FILE.c        a line for each fault: number, line, function, what becomes what, separated by tabs
 *   mutate FILE.c N      the source with fault N on stdout
 *
 *   if (a < b && n > 0)      0  if (a <= b && n > 0)        3  if (a < b && n > (0 + 1))
 *       continue;            1  if (a < b || n > 0)         4  if (!(a < b && n > 0))
 *                            2  if (a < b && n >= 0)        5  (no continue)
 *
 * Only bodies of functions are changed, and not what is inside of assert(…) or of a message; nor are numbers in
 * the size of an array or an allocation, as one more is room that nobody uses (one less, an operator's fault,
 * is seen by AddressSanitizer), and in what is returned after qn_rw_fail.  The layout is that of .clang-format:
 * a binary operator has a blank on either side, a pointer's star has not. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A piece of the source from `at`, `len` bytes long, becomes `to`. */
typedef struct edit {
	size_t at, len;
	const char *to;
} edit;

/* At most two pieces change: a negation opens and closes. */
typedef struct fault {
	edit e[2];
	size_t line;
	char function[64];
} fault;

static struct {
	char *text;
	size_t n, line, depth;
	size_t sized;  /* to here a size of memory is computed */
	char name[64]; /* of the function, or the last name before a bracket */
	bool in_body;
	fault *fault;
	size_t nfault;
} src;

static void
die(const char *why, const char *what)
{
	fprintf(stderr, "mutate: %s: %s\n", what, why);
	exit(2);
}

static void
read_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	size_t room = 1 << 22;

	src.text = calloc(1, room + 1);
	src.fault = calloc(1 << 14, sizeof *src.fault);
	if (f == NULL || src.text == NULL || src.fault == NULL)
		die("cannot be read", path);
	src.n = fread(src.text, 1, room, f);
	fclose(f);
}

static void
add2(edit first, edit second)
{
	fault *f = &src.fault[src.nfault];

	if (!src.in_body || src.nfault + 1 == 1 << 14)
		return;
	src.nfault++;
	f->e[0] = first;
	f->e[1] = second;
	f->line = src.line;
	memcpy(f->function, src.name, sizeof f->function);
}

static void
add(size_t at, size_t len, const char *to)
{
	add2((edit){at, len, to}, (edit){0});
}

static bool
is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The place after the bracket that closes the one at `at`; strings and comments between are passed over. */
static size_t
after_bracket(size_t at)
{
	size_t depth = 0;

	for (; at < src.n; at++) {
		char c = src.text[at];

		if (c == '"' || c == '\'') {
			for (at++; at < src.n && src.text[at] != c; at++)
				at += src.text[at] == '\\';
		} else if (c == '(') {
			depth++;
		} else if (c == ')' && --depth == 0) {
			return at + 1;
		}
	}
	return src.n;
}

static void
count_lines(size_t from, size_t to)
{
	for (; from < to; from++)
		src.line += src.text[from] == '\n';
}

/* Past a comment, a string or a line of the preprocessor that begins at `at`; `at` when none does. */
static size_t
after_quiet(size_t at)
{
	const char *t = src.text;
	size_t end = at;

	if (t[at] == '/' && t[at + 1] == '*') {
		const char *close = strstr(t + at + 2, "*/");

		end = close != NULL ? (size_t)(close - t) + 2 : src.n;
	} else if (t[at] == '/' && t[at + 1] == '/') {
		end = at + strcspn(t + at, "\n");
	} else if (t[at] == '#' && (at == 0 || t[at - 1] == '\n')) {
		for (end = at; end < src.n && !(t[end] == '\n' && t[end - 1] != '\\'); end++) {
		}
	} else if (t[at] == '"' || t[at] == '\'') {
		for (end = at + 1; end < src.n && t[end] != t[at]; end++)
			end += t[end] == '\\';
		end++;
	}
	count_lines(at, end);
	return end;
}

/* ---- the faults ---- */

static size_t
operator_at(size_t at)
{
	static const struct {
		const char *from, *to;
	} row[] = {{" < ", " <= "},  {" <= ", " < "},  {" > ", " >= "},  {" >= ", " > "},
		   {" == ", " != "}, {" != ", " == "}, {" && ", " || "}, {" || ", " && "},
		   {" + ", " - "},   {" - ", " + "},   {" * ", " / "},   {" / ", " * "},
		   {" += ", " -= "}, {" -= ", " += "}, {" & ", " | "},   {" | ", " & "},
		   {" ? ", " ? !"}};
	size_t end;

	for (end = at + 1; end < src.n && strchr("<>=!&|+-*/?", src.text[end]) != NULL; end++) {
	}
	for (size_t i = 0; end > at + 1 && i < sizeof row / sizeof row[0]; i++)
		if (strlen(row[i].from) == end - at + 1 && i + 1 < sizeof row / sizeof row[0] &&
		    (src.text[end] == ' ' || src.text[end] == '\n') &&
		    memcmp(src.text + at, row[i].from, end - at) == 0)
			add(at, end - at + (src.text[end] == ' '), row[i].to);
	return end;
}

/* Whether the number at `at` is the size of an array that is declared, T name[4]: more room that nobody uses. */
static bool
is_size_of_array(size_t at)
{
	static const char *const before[] = {"return", "case", "else"};
	size_t end = at > 0 ? at - 1 : 0, name = end;

	if (src.text[end] != '[')
		return false;
	while (name > 0 && is_word(src.text[name - 1]))
		name--;
	size_t type = name;
	while (type > 0 && (src.text[type - 1] == ' ' || src.text[type - 1] == '*'))
		type--;
	if (name == end || type == name || type == 0 || !is_word(src.text[type - 1]))
		return false;
	for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
		if (type >= strlen(before[i]) &&
		    memcmp(src.text + type - strlen(before[i]), before[i], strlen(before[i])) == 0)
			return false;
	return true;
}

/* Whether the line before says that the pass has failed: what is returned then is not looked at. */
static bool
is_after_failure(size_t at)
{
	size_t line = at, before;

	while (line > 0 && src.text[line - 1] != '\n')
		line--;
	for (before = line > 0 ? line - 1 : 0; before > 0 && src.text[before - 1] != '\n';)
		before--;
	const char *call = strstr(src.text + before, "qn_rw_fail(");
	return call != NULL && call < src.text + line;
}

/* A number becomes one more, of the reals twice as much. */
static size_t
number_at(size_t at)
{
	static char text[1 << 20];
	static size_t used;
	size_t end = at;
	bool real = false,
	     hex = src.text[at] == '0' && tolower((unsigned char)src.text[at + 1]) == 'x';

	for (; is_word(src.text[end]) || src.text[end] == '.' ||
	       (strchr("+-", src.text[end]) != NULL && end > at &&
		strchr(hex ? "pP" : "eE", src.text[end - 1]) != NULL);
	     end++)
		real |= src.text[end] == '.' ||
			tolower((unsigned char)src.text[end]) == (hex ? 'p' : 'e');
	if (at >= src.sized && !is_size_of_array(at) && !is_after_failure(at) &&
	    used + 64 < sizeof text && end - at < 40) {
		char *to = text + used;

		used += (size_t)sprintf(to, real ? "(%.*s * 2)" : "(%.*s + 1)", (int)(end - at),
					src.text + at) +
			1;
		add(at, end - at, to);
	}
	return end;
}

/* Whole statements: name = …;  name(…);  continue;  break;  */
static void
statement_at(size_t at, size_t end)
{
	size_t close = at + strcspn(src.text + at, ";{}");
	size_t begin = at;

	while (begin > 0 && (src.text[begin - 1] == '\t' || src.text[begin - 1] == ' '))
		begin--;
	if (begin > 0 && src.text[begin - 1] != '\n')
		return;
	if (src.text[close] != ';' || memchr(src.text + at, '"', close - at) != NULL)
		return;
	const char *after = src.text + end;
	bool jump = (end - at == 8 && memcmp(src.text + at, "continue", 8) == 0) ||
		    (end - at == 5 && memcmp(src.text + at, "break", 5) == 0);
	size_t left = strcspn(after, "=;(");
	bool call = after[0] == '(' && src.text[after_bracket(end)] == ';';
	bool assign = after[left] == '=' && after[left + 1] == ' ' &&
		      memchr(after, ' ', left) == after + left - 1; /* no declaration */
	if (jump || call || assign)
		add(at, close + 1 - at, ";");
}

static size_t
word_at(size_t at)
{
	static const char *const quiet[] = {"assert", "qn_report",     "qn_note",      "qn_warn",
					    "sizeof", "static_assert", "qn_rw_decline"};
	static const char *const sized[] = {"QN_NEW", "qn_arena_grow", "qn_arena_alloc"};
	size_t end = at;

	while (is_word(src.text[end]))
		end++;
	size_t n = end - at;
	for (size_t i = 0; i < sizeof sized / sizeof sized[0]; i++)
		if (src.text[end] == '(' && n == strlen(sized[i]) &&
		    memcmp(src.text + at, sized[i], n) == 0)
			src.sized = after_bracket(end);
	if (src.depth == 0 && src.text[end] == '(') {
		n = n < sizeof src.name ? n : sizeof src.name - 1;
		memcpy(src.name, src.text + at, n);
		src.name[n] = 0;
	}
	if (!src.in_body)
		return end;
	if (n == 2 && memcmp(src.text + at, "if", 2) == 0 && src.text[end + 1] == '(')
		add2((edit){end + 1, 1, "(!("}, (edit){after_bracket(end + 1) - 1, 1, "))"});
	for (size_t i = 0; i < sizeof quiet / sizeof quiet[0]; i++)
		if (src.text[end] == '(' && n == strlen(quiet[i]) &&
		    memcmp(src.text + at, quiet[i], n) == 0) {
			size_t over = after_bracket(end);

			count_lines(end, over);
			return over;
		}
	statement_at(at, end);
	return end;
}

static void
find_faults(void)
{
	size_t at = 0;

	src.line = 1;
	while (at < src.n) {
		size_t end = after_quiet(at);
		char c = src.text[at];

		if (end > at) {
			at = end;
			continue;
		}
		if (c == '\n')
			src.line++;
		if (c == '{' && src.depth++ == 0)
			src.in_body = at > 2 && src.text[at - 1] == '\n' && src.text[at - 2] == ')';
		if (c == '}' && --src.depth == 0)
			src.in_body = false;
		if (isdigit((unsigned char)c))
			at = number_at(at);
		else if (is_word(c))
			at = word_at(at);
		else if (c == ' ' && src.in_body && strchr("<>=!&|+-*/?", src.text[at + 1]) != NULL)
			at = operator_at(at);
		else
			at++;
	}
}

/* ---- output ---- */

static void
print_piece(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		putchar(text[i] == '\n' || text[i] == '\t' ? ' ' : text[i]);
}

static void
list(void)
{
	for (size_t i = 0; i < src.nfault; i++) {
		const fault *f = &src.fault[i];
		size_t begin = f->e[0].at, end = begin;

		while (begin > 0 && src.text[begin - 1] != '\n')
			begin--;
		while (end < src.n && src.text[end] != '\n')
			end++;
		begin += strspn(src.text + begin, "\t");
		printf("%zu\t%zu\t%s\t", i, f->line, f->function);
		print_piece(src.text + begin, end - begin);
		printf("\t");
		print_piece(src.text + begin, f->e[0].at - begin);
		printf("[");
		print_piece(src.text + f->e[0].at, f->e[0].len);
		printf(" -> %s]\n", f->e[0].to);
	}
}

static void
write_with(size_t k)
{
	size_t at = 0;

	for (int i = 0; i < 2 && src.fault[k].e[i].to != NULL; i++) {
		const edit *e = &src.fault[k].e[i];

		fwrite(src.text + at, 1, e->at - at, stdout);
		fputs(e->to, stdout);
		at = e->at + e->len;
	}
	fwrite(src.text + at, 1, src.n - at, stdout);
}

int
main(int argc, char **argv)
{
	if (argc != 2 && argc != 3)
		die("mutate FILE.c [N]", "usage");
	read_file(argv[1]);
	find_faults();
	if (argc == 2) {
		list();
		return 0;
	}
	size_t k = strtoull(argv[2], NULL, 10);
	if (k >= src.nfault)
		die("unknown fault", argv[2]);
	write_with(k);
	return ferror(stdout) != 0;
}
