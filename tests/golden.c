/* SPDX-License-Identifier: Apache-2.0 */
/* golden.c - runs golden files: a model's text and what should become of it.
 *
 *   # relu keeps the type
 *   graph @main(%x: tensor<4xf32>) {
 *     %y = relu %x
 *     return %y
 *   }
 *   --- print                       the canonical text
 *   model "model" stage float
 *   …
 *   --- error shape.rank op.arity   reading or verifying the model reports exactly these ids, in
 * this order
 *
 *   --- pass clean,partition bound 0.1   what the passes leave; run before and after on seeded data, outputs differ by at most 0.1 (real value)
 *   --- pass partition,quantize=i16/i4   the same with activations of i16 (or u8) and weights of i4
 *   --- symbols partition,quantize,calibrate=kl   what the symbols are after the passes
 *   --- error-in legalize: legalize.float   the last of these passes fails with exactly these ids
 *
 *   golden FILE…             exit 1 when an expectation fails
 *   golden --update FILE…    writes what came out into the files
 *
 * A kind of section is a row of `kinds`; each section gets a model of its own, read and verified
 * anew. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/golden.h"

static void *
heap(void *user, void *p, size_t old_size, size_t new_size)
{
	(void)user;
	(void)old_size;
	if (new_size == 0) {
		free(p);
		return NULL;
	}
	return realloc(p, new_size);
}

bool
complain(const char *text)
{
	(void)fprintf(stderr, "  %s\n", text);
	return false;
}

/* ---- kinds of sections ---- */

/* The canonical text, which must read back as itself. */
static bool
run_print(bench *b, const section *s, outcome *o)
{
	qn_model again;
	qn_buf text;
	const char *once;

	qn_buf_puts(&o->args, s->args);
	if (b->status != QN_OK)
		return false;
	qn_model_print(&o->body, &b->model);
	once = qn_buf_str(&o->body);
	qn_model_init(&again, &b->env, &b->arena, "model");
	if (qn_model_parse(&again, "printed", once, o->body.n) != QN_OK)
		return complain("the printed text cannot be read");
	qn_buf_init(&text, &b->arena);
	qn_model_print(&text, &again);
	if (strcmp(qn_buf_str(&text), once) != 0)
		return complain("the printed text reads back as another model");
	if (!qn_graph_equal(qn_model_entry(&b->model), qn_model_entry(&again)))
		return complain("the graph that was read back is not equal");
	return true;
}

/* The ids of all errors. */
static bool
run_error(bench *b, const section *s, outcome *o)
{
	(void)s;
	if (b->status == QN_OK)
		return complain("the model is read and verified without an error");
	for (size_t i = 0; i < b->diags.n; i++)
		if (b->diags.item[i].severity == QN_ERROR)
			qn_buff(&o->args, "%s%s", o->args.n > 0 ? " " : "", b->diags.item[i].id);
	return true;
}

static const struct {
	const char *name;
	kind_fn *run;
} kinds[] = {
	{"print", run_print},     {"error", run_error},       {"pass", run_pass},
	{"symbols", run_symbols}, {"error-in", run_error_in},
};

/* ---- one section ---- */

static bool
same(const char *what, const char *want, const char *got)
{
	size_t line = 1;
	size_t start = 0;
	size_t i = 0;

	if (strcmp(want, got) == 0)
		return true;
	for (; want[i] == got[i]; i++) {
		if (want[i] == '\n') {
			line++;
			start = i + 1;
		}
	}
	(void)fprintf(stderr, "  %s differs in line %zu\n  want: %.*s\n  got:  %.*s\n", what, line,
		      (int)strcspn(want + start, "\n"), want + start,
		      (int)strcspn(got + start, "\n"), got + start);
	return false;
}

static void
show_diags(const qn_diags *d)
{
	for (size_t i = 0; i < d->n; i++)
		(void)fprintf(stderr, "  %s: %s [%s]\n", d->item[i].place, d->item[i].message,
			      d->item[i].id);
}

static void
trim(qn_buf *b)
{
	while (b->n > 0 && (b->data[b->n - 1] == '\n' || b->data[b->n - 1] == ' '))
		b->data[--b->n] = '\0';
}

/* Writes the section as it came out to `updated`, if that is not NULL; else compares. */
static bool
run_in(bench *b, const char *file, const char *text, const section *s, FILE *updated)
{
	size_t k = 0;
	outcome o;

	while (k < QN_COUNT(kinds) && strcmp(kinds[k].name, s->name) != 0)
		k++;
	if (k == QN_COUNT(kinds))
		return complain("unknown kind of section");
	qn_model_init(&b->model, &b->env, &b->arena, "model");
	b->status = qn_model_parse(&b->model, file, text, strlen(text));
	if (b->status == QN_OK)
		b->status = qn_model_verify(&b->model);
	qn_buf_init(&o.args, &b->arena);
	qn_buf_init(&o.body, &b->arena);
	bool ok = kinds[k].run(b, s, &o);
	trim(&o.body);
	if (updated != NULL && ok)
		(void)fprintf(updated, "--- %s%s%s\n%s%s", s->name, o.args.n > 0 ? " " : "",
			      qn_buf_str(&o.args), qn_buf_str(&o.body), o.body.n > 0 ? "\n" : "");
	else if (ok)
		ok = same("the list", s->args, qn_buf_str(&o.args)) &&
		     same("the text", s->body, qn_buf_str(&o.body));
	if (!ok)
		show_diags(&b->diags);
	return ok;
}

static bool
run_section(const char *file, const char *text, const section *s, FILE *updated)
{
	bench *b = calloc(1, sizeof *b);
	jmp_buf oom;
	volatile bool ok = false; /* lives across the jump */

	if (b == NULL)
		return complain("no memory");
	b->env = (qn_env){.alloc = heap, .diags = &b->diags, .oom = &oom};
	qn_arena_init(&b->arena, &b->env);
	if (setjmp(oom) == 0)
		ok = run_in(b, file, text, s, updated);
	else
		(void)complain("no memory");
	if (!ok)
		(void)fprintf(stderr, "%s: --- %s failed\n", file, s->name);
	qn_arena_release(&b->arena);
	qn_diags_clear(&b->env, &b->diags);
	free(b);
	return ok;
}

/* ---- files ---- */

static char *
read_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;
	long n = 0;

	if (f == NULL)
		return NULL;
	if (fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0)
		text = malloc((size_t)n + 1);
	if (text != NULL)
		text[fread(text, 1, (size_t)n, f)] = '\0';
	(void)fclose(f);
	return text;
}

/* The next "--- " at the beginning of a line, NULL at the end. */
static char *
next_header(char *at)
{
	while (at != NULL && strncmp(at, "--- ", 4) != 0) {
		at = strchr(at, '\n');
		at = at != NULL ? at + 1 : NULL;
	}
	return at;
}

static void
cut_blanks(char *s)
{
	size_t n = strlen(s);

	while (n > 0 && (s[n - 1] == '\n' || s[n - 1] == ' ' || s[n - 1] == '\r'))
		s[--n] = '\0';
}

/* Cuts the section at `at` out of the text; returns where the next one begins. */
static char *
cut_section(char *at, section *s)
{
	static char nothing[1];
	char *name = at + 4;
	char *line = strchr(name, '\n');
	char *next = line != NULL ? next_header(line + 1) : NULL;

	*at = '\0';
	if (line != NULL)
		*line = '\0';
	if (next != NULL)
		next[-1] = '\0';
	s->name = name;
	s->body = line != NULL ? line + 1 : nothing;
	if (line != NULL && line + 1 != next)
		cut_blanks(line + 1);
	else
		s->body = nothing;
	cut_blanks(name);
	name += strcspn(name, " ");
	s->args = *name == '\0' ? nothing : name + 1;
	*name = '\0';
	return next;
}

static bool
run_file(const char *path, bool update)
{
	const char *base = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
	char *text = read_file(path);
	char *at = next_header(text);
	FILE *updated = NULL;
	bool ok = text != NULL && at != NULL;

	if (!ok) {
		(void)fprintf(stderr, "%s: %s\n", path,
			      text == NULL ? "cannot be read" : "has no section");
		free(text);
		return false;
	}
	*at = '\0';
	if (update && (updated = tmpfile()) != NULL)
		(void)fputs(text, updated);
	while (at != NULL) {
		section s;

		at = cut_section(at, &s);
		ok = run_section(base, text, &s, updated) && ok;
	}
	if (ok && updated != NULL) {
		FILE *out = fopen(path, "wb");
		int c;

		rewind(updated);
		while (out != NULL && (c = getc(updated)) != EOF)
			(void)putc(c, out);
		ok = out != NULL && fclose(out) == 0;
	}
	if (updated != NULL)
		(void)fclose(updated);
	free(text);
	return ok;
}

int
main(int argc, char **argv)
{
	bool update = argc > 1 && strcmp(argv[1], "--update") == 0;
	int failed = 0;

	for (int i = update ? 2 : 1; i < argc; i++)
		failed += !run_file(argv[i], update);
	if (argc < (update ? 3 : 2))
		(void)fprintf(stderr, "usage: golden [--update] FILE…\n");
	return failed > 0 || argc < (update ? 3 : 2);
}
