/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c - reads the text form of patterns; its grammar is in docs/patterns.md.
 *
 *   y=relu(c=conv2d(x, const){stride=[1,1]} ?bias_add(_, b) : f32)
 *
 * One function a rule of the grammar; NULL after an error, which ends the reading. */
#include "patterns/parse.h"

#include <string.h>

enum { MAX_DEPTH = 64 };

static qn_pattern *read_pattern(qn_pattern_reader *r);

/* The builder's messages name the next token. */
static void
here(qn_pattern_reader *r)
{
	r->set->place = qn_read_place(&r->r);
}

static bool
is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Words of letters, digits and _, joined by dots; each begins with no digit.  NULL: there is
 * none. */
const char *
qn_pattern_read_word(qn_pattern_reader *r)
{
	qn_text *t = &r->r.text;

	qn_text_skip(t);
	const char *from = t->at;
	if (from == t->end || !is_word(*from) || (*from >= '0' && *from <= '9'))
		return NULL;
	while (t->at < t->end &&
	       (is_word(*t->at) || (*t->at == '.' && t->end - t->at > 1 && is_word(t->at[1]) &&
				    !(t->at[1] >= '0' && t->at[1] <= '9'))))
		t->at++;
	return qn_arena_strn(r->set->scratch.arena, from, (size_t)(t->at - from));
}

/* A list of patterns up to one of two tokens, which is eaten; *n -1 for "...". */
static bool
read_list(qn_pattern_reader *r, const char *end, const char *other, qn_pattern ***out, int *n)
{
	qn_text *t = &r->r.text;
	size_t cap = 0;

	*out = NULL;
	*n = 0;
	if (qn_text_peek(t, end) || (other != NULL && qn_text_peek(t, other)))
		return true;
	if (qn_text_eat(t, "...")) {
		*n = -1;
		return true;
	}
	do {
		qn_pattern *p = read_pattern(r);

		if (p == NULL)
			return false;
		*out = qn_arena_grow(r->set->scratch.arena, (void *)*out, &cap, (size_t)*n + 1,
				     sizeof **out);
		(*out)[(*n)++] = p;
	} while (qn_text_eat(t, ","));
	return true;
}

/* "(" arguments ")" of a call. */
static qn_pattern *
read_call(qn_pattern_reader *r, const qn_callee *callee)
{
	qn_pattern **arg;
	int n;

	if (callee == NULL || !qn_read_expect(&r->r, "(") || !read_list(r, ")", NULL, &arg, &n))
		return NULL;
	here(r);
	qn_pattern *p = qn_build_call(r->set, callee, n, arg);
	return p != NULL && qn_read_expect(&r->r, ")") ? p : NULL;
}

/* fn[body](…), fn[x, y -> body](…), fn[...](…) */
static qn_pattern *
read_function(qn_pattern_reader *r)
{
	qn_text *t = &r->r.text;
	qn_pattern **part, *body = NULL;
	int n;

	if (!qn_read_expect(&r->r, "[") || !read_list(r, "]", "->", &part, &n))
		return NULL;
	if (n >= 0 && qn_text_eat(t, "->"))
		body = read_pattern(r);
	else if (n < 0)
		body = qn_build_any(r->set);
	else if (n == 1 && qn_text_peek(t, "]"))
		body = part[0], n = -1;
	else
		(void)qn_read_fail(&r->r,
				   "expected '->' and what the output of the function matches");
	if (body == NULL || !qn_read_expect(&r->r, "]"))
		return NULL;
	return read_call(r, qn_build_function(r->set, n, part, body));
}

/* ---- names ---- */

static qn_pattern_name *
find_name(qn_pattern_reader *r, const char *word)
{
	for (size_t i = 0; i < r->nname; i++)
		if (strcmp(r->name[i].word, word) == 0)
			return &r->name[i];
	r->name = qn_arena_grow(r->set->scratch.arena, r->name, &r->name_cap, r->nname + 1,
				sizeof *r->name);
	r->name[r->nname] = (qn_pattern_name){word, qn_patterns_slot(r->set, word), false, NULL};
	return &r->name[r->nname++];
}

/* A name alone: the value that has it, or any; inside of its own definition what is defined. */
static qn_pattern *
read_reference(qn_pattern_reader *r, const char *word)
{
	qn_pattern_name *name = find_name(r, word);

	if (name->is_open && name->self == NULL)
		name->self = qn_build_named(r->set, qn_build_any(r->set), name->slot);
	return name->is_open ? name->self
			     : qn_build_named(r->set, qn_build_any(r->set), name->slot);
}

static qn_pattern *read_tested(qn_pattern_reader *r);

/* What follows NAME "=". */
static qn_pattern *
read_definition(qn_pattern_reader *r, const char *word)
{
	size_t i = (size_t)(find_name(r, word) - r->name);

	if (r->name[i].is_open)
		return qn_read_fail(&r->r, "'%s' is defined inside of its own definition", word),
		       NULL;
	r->name[i].is_open = true;
	r->name[i].self = NULL;
	qn_pattern *p = read_tested(r);
	qn_pattern *self = r->name[i].self;
	r->name[i].is_open = false;
	if (p == NULL || self == NULL)
		return qn_build_named(r->set, p, r->name[i].slot);
	return qn_build_redirect(r->set, self, p) == QN_OK ? self : NULL;
}

/* ---- the smallest parts ---- */

static bool
is_behaviour(const char *word)
{
	for (size_t i = 0; i <= QN_NONE; i++)
		if (strcmp(qn_behaviour_names[i], word) == 0)
			return true;
	return false;
}

static qn_pattern *
read_expr(qn_pattern_reader *r)
{
	const char *name;

	if (!qn_read_expect(&r->r, "(") || !qn_read_name(&r->r, "%", &name) ||
	    !qn_read_expect(&r->r, ")"))
		return NULL;
	return qn_build_expr(r->set, NULL, 0, name);
}

static qn_pattern *
read_hole(qn_pattern_reader *r)
{
	if (r->hole == NULL)
		return qn_read_fail(&r->r,
				    "'_' stands for the left side of '?', and there is none"),
		       NULL;
	if (r->nhole++ > 0)
		(void)qn_build_slot(r->hole);
	return r->hole;
}

bool
qn_pattern_word_refers(const qn_patterns *set, const char *word)
{
	static const char *const other[] = {"_", "expr", "fn", "const", "input", "where"};
	qn_op op;

	for (size_t i = 0; i < QN_COUNT(other); i++)
		if (strcmp(other[i], word) == 0)
			return false;
	return qn_op_lookup(set->scratch.env, word, &op) == NULL;
}

/* What a word begins that is not a definition. */
static qn_pattern *
read_word(qn_pattern_reader *r, const char *word)
{
	qn_text *t = &r->r.text;
	bool called = qn_text_peek(t, "(");

	if (strcmp(word, "_") == 0)
		return read_hole(r);
	if (strcmp(word, "expr") == 0)
		return read_expr(r);
	if (strcmp(word, "fn") == 0)
		return read_function(r);
	if (strcmp(word, "const") == 0 && !called)
		return qn_build_const(r->set);
	if (strcmp(word, "input") == 0 && !called)
		return qn_build_input(r->set, NULL);
	if (called && is_behaviour(word))
		return read_call(r, qn_build_class(r->set, word));
	if (called)
		return read_call(r, qn_build_op(r->set, word));
	if (!qn_pattern_word_refers(r->set, word))
		return qn_read_fail(&r->r,
				    "expected '(' after '%s': %s(...) is a node of this op, and no "
				    "value can have the name of an op",
				    word, word),
		       NULL;
	return read_reference(r, word);
}

static qn_pattern *
read_primary(qn_pattern_reader *r)
{
	qn_text *t = &r->r.text;
	const char *name;
	double number;

	here(r);
	if (qn_text_eat(t, "(")) {
		qn_pattern *p = read_pattern(r);

		return p != NULL && qn_read_expect(&r->r, ")") ? p : NULL;
	}
	if (qn_text_eat(t, "*"))
		return qn_text_peek(t, "(") ? read_call(r, qn_build_any_op(r->set))
					    : qn_build_any(r->set);
	if (qn_text_peek(t, "%"))
		return qn_read_name(&r->r, "%", &name) ? qn_build_input(r->set, name) : NULL;
	if ((name = qn_pattern_read_word(r)) != NULL)
		return read_word(r, name);
	if (qn_text_real(t, false, &number))
		return qn_build_number(r->set, number);
	(void)qn_read_fail(&r->r, "expected a pattern");
	return NULL;
}

/* ---- what stands around them ---- */

/* [NAME "="] primary, then tests. */
static qn_pattern *
read_tested(qn_pattern_reader *r)
{
	qn_text *t = &r->r.text, start;
	const char *word;
	qn_pattern *p = NULL;

	qn_text_skip(t);
	start = *t;
	if (++r->depth > MAX_DEPTH)
		(void)qn_read_fail(&r->r, "more than %d nested patterns", MAX_DEPTH);
	else if ((word = qn_pattern_read_word(r)) != NULL && qn_text_eat(t, "="))
		p = strcmp(word, "_") != 0 ? read_definition(r, word)
					   : (qn_read_fail(&r->r, "'_' is not a name"), NULL);
	else
		*t = start, p = read_primary(r);
	r->depth--;
	while (p != NULL && qn_pattern_at_suffix(r))
		p = qn_pattern_read_suffix(r, p);
	return p;
}

/* tested { "?" tested }: with or without a node around it. */
static qn_pattern *
read_optional(qn_pattern_reader *r)
{
	qn_pattern *p = read_tested(r);

	while (p != NULL && qn_text_eat(&r->r.text, "?")) {
		qn_pattern *hole = r->hole;
		size_t nhole = r->nhole;

		r->hole = p;
		r->nhole = 0;
		qn_pattern *made = read_tested(r);
		if (made != NULL && r->nhole == 0)
			return qn_read_fail(&r->r, "the right side of '?' needs a '_' for its left "
						   "side; alternatives are written with '|'"),
			       NULL;
		r->hole = hole;
		r->nhole = nhole;
		p = qn_build_optional(r->set, p, made);
	}
	return p;
}

/* parent [ "~" path ] "~>" child */
static qn_pattern *
read_dominator(qn_pattern_reader *r)
{
	qn_text *t = &r->r.text;
	qn_pattern *parent = read_optional(r), *path = NULL;

	if (parent == NULL || !qn_text_peek(t, "~"))
		return parent;
	if (!qn_text_peek(t, "~>")) {
		(void)qn_text_eat(t, "~");
		path = read_optional(r);
	} else {
		path = qn_build_any(r->set);
	}
	if (path == NULL || !qn_read_expect(&r->r, "~>"))
		return NULL;
	return qn_build_dominator(r->set, parent, path, read_optional(r));
}

static qn_pattern *
read_pattern(qn_pattern_reader *r)
{
	qn_pattern *p = read_dominator(r), **part = NULL;
	size_t n = 0, cap = 0;

	if (p == NULL || !qn_text_peek(&r->r.text, "|"))
		return p;
	for (;;) {
		part = qn_arena_grow(r->set->scratch.arena, (void *)part, &cap, n + 1,
				     sizeof *part);
		part[n++] = p;
		if (!qn_text_eat(&r->r.text, "|"))
			return qn_build_alt(r->set, (int)n, part);
		if ((p = read_dominator(r)) == NULL)
			return NULL;
	}
}

static qn_pattern_reader
reader_of(qn_patterns *set, const char *text)
{
	qn_pattern_reader r = {.set = set,
			       .r = {.m = &set->scratch,
				     .line = 1,
				     .counted = text,
				     .line_start = text,
				     .syntax_id = "pattern.syntax"}};

	qn_text_init(&r.r.text, "pattern", text, strlen(text));
	return r;
}

/* Tests and '?' add up too. */
static bool
is_low(qn_pattern_reader *r, const qn_pattern *p)
{
	return p->height < QN_PATTERN_HEIGHT ||
	       qn_report(r->set->scratch.env, QN_EINVALID, "pattern.depth", "pattern",
			 "the pattern has %u nested parts; at most %d can be read", p->height,
			 (int)QN_PATTERN_HEIGHT) == QN_OK;
}

static bool
at_end(qn_pattern_reader *r)
{
	qn_text_skip(&r->r.text);
	r->set->place = "";
	return r->r.text.at == r->r.text.end || qn_read_fail(&r->r, "expected the end");
}

qn_status
qn_patterns_parse(qn_patterns *set, const char *text, qn_pattern **out)
{
	qn_pattern_reader r = reader_of(set, text);

	*out = read_pattern(&r);
	if (*out != NULL && (!at_end(&r) || !is_low(&r, *out)))
		*out = NULL;
	set->place = "";
	return *out != NULL ? QN_OK : QN_EUSAGE;
}

qn_pattern *
qn_build_suffix(qn_patterns *set, qn_pattern *p, const char *before, const char *text,
		const char *after)
{
	qn_buf b;

	qn_buf_init(&b, set->scratch.arena);
	qn_buff(&b, "%s%s%s", before, text, after);
	qn_pattern_reader r = reader_of(set, qn_buf_str(&b));
	if (p != NULL)
		p = qn_pattern_read_suffix(&r, p);
	if (p != NULL && !at_end(&r))
		p = NULL;
	set->place = "";
	return p;
}
