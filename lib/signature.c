/* SPDX-License-Identifier: Apache-2.0 */
/* signature.c - the heads of the graphs of a file, and what a call gives against them.
 *
 *   graph @norm(%x, %scale, %bias?) {
 *     groups: int,  epsilon: real = 1e-5,  mode: "sum" | "mean" = "mean",  sizes?: ints
 *   } onnx "GroupNormalization" since 18 { … }
 *
 * Bodies are passed over by their brackets; they are read when a graph is used. */
#include <string.h>

#include "lib/parser.h"

static const struct {
	const char *word;
	qn_item_kind kind, of;
} kinds[] = {
	{"int", QN_ITEM_INT, QN_ITEM_NONE},    {"real", QN_ITEM_REAL, QN_ITEM_NONE},
	{"text", QN_ITEM_TEXT, QN_ITEM_NONE},  {"value", QN_ITEM_VALUE, QN_ITEM_NONE},
	{"ints", QN_ITEM_LIST, QN_ITEM_INT},   {"reals", QN_ITEM_LIST, QN_ITEM_REAL},
	{"texts", QN_ITEM_LIST, QN_ITEM_TEXT},
};

static bool
read_params(qn_lib_walk *w, qn_lib_def *d)
{
	size_t cap = 0;

	if (!qn_read_expect(&w->r, "("))
		return false;
	if (qn_text_eat(&w->r.text, ")"))
		return true;
	do {
		qn_lib_param p = {.name = qn_lib_value_name(w)};

		if (p.name == NULL || (d->nparam > 0 && d->param[d->nparam - 1].rest) ||
		    d->nparam == QN_LIB_MOST)
			return p.name != NULL &&
			       qn_read_fail(&w->r,
					    "expected at most %d operands, one with '...' "
					    "as the last",
					    (int)QN_LIB_MOST);
		p.rest = qn_text_eat(&w->r.text, "...");
		p.optional = !p.rest && qn_text_eat(&w->r.text, "?");
		d->param = qn_arena_grow(w->r.m->arena, d->param, &cap, d->nparam + 1,
					 sizeof *d->param);
		d->param[d->nparam++] = p;
	} while (qn_text_eat(&w->r.text, ","));
	return qn_read_expect(&w->r, ")");
}

/* "a" | "b" after the first quote was seen. */
static bool
read_words(qn_lib_walk *w, qn_lib_setting *s)
{
	const char **word = NULL;
	size_t cap = 0;

	do {
		word = qn_arena_grow(w->r.m->arena, (void *)word, &cap, s->nword + 1, sizeof *word);
		if (!qn_read_quoted(&w->r, &word[s->nword++]))
			return false;
	} while (qn_text_eat(&w->r.text, "|"));
	s->kind = QN_ITEM_TEXT;
	s->word = word;
	return true;
}

static bool
read_kind(qn_lib_walk *w, qn_lib_setting *s)
{
	if (qn_text_peek(&w->r.text, "\""))
		return read_words(w, s);
	for (size_t i = 0; i < QN_COUNT(kinds); i++)
		if (qn_text_eat(&w->r.text, kinds[i].word)) {
			s->kind = kinds[i].kind;
			s->of = kinds[i].of;
			return true;
		}
	return qn_read_fail(&w->r, "expected int, real, text, value, ints, reals, texts, or words "
				   "in quotes with '|' between them");
}

/* Whether an item is what the setting takes; integers become real numbers. */
static bool
fits(const qn_lib_setting *s, qn_item *x, qn_arena *a)
{
	if (s->kind == QN_ITEM_REAL && x->kind == QN_ITEM_INT)
		*x = qn_item_real((double)x->i);
	if (x->kind != s->kind)
		return x->kind == QN_ITEM_ANY;
	if (x->kind == QN_ITEM_LIST) {
		qn_item *at = QN_NEW(a, qn_item, x->n + 1);

		for (size_t i = 0; i < x->n; i++) {
			const qn_lib_setting one = {.kind = s->of};

			at[i] = x->at[i];
			if (!fits(&one, &at[i], a))
				return false;
		}
		x->at = at;
	}
	for (size_t i = 0; i < s->nword; i++)
		if (strcmp(s->word[i], x->text) == 0)
			return true;
	return s->nword == 0;
}

static bool
read_settings(qn_lib_walk *w, qn_lib_def *d)
{
	size_t cap = 0;

	do {
		qn_lib_setting s = {.name = qn_lib_word(w)};

		if (s.name == NULL || d->nsetting == QN_LIB_MOST)
			return qn_read_fail(&w->r, "expected the name of an attribute");
		s.optional = qn_text_eat(&w->r.text, "?");
		if (!qn_read_expect(&w->r, ":") || !read_kind(w, &s))
			return false;
		if (qn_text_eat(&w->r.text, "=")) {
			s.has_default = true;
			w->mode = QN_LIB_RUN;
			if (!qn_lib_expression(w, &s.dflt))
				return false;
			if (!fits(&s, &s.dflt, w->r.m->arena))
				return qn_read_fail(&w->r, "expected another default of '%s'",
						    s.name);
		}
		d->setting = qn_arena_grow(w->r.m->arena, d->setting, &cap, d->nsetting + 1,
					   sizeof *d->setting);
		d->setting[d->nsetting++] = s;
		if (qn_map_gets(&d->names, s.name) != NULL)
			return qn_read_fail(&w->r, "expected another name: '%s' is there twice",
					    s.name);
		qn_map_puts(&d->names, s.name, d);
	} while (qn_text_eat(&w->r.text, ","));
	return qn_read_expect(&w->r, "}");
}

/* onnx "com.acme" "Swoosh" since 2, tflite "Swoosh": any number of them. */
static bool
read_operators(qn_lib_walk *w, qn_lib_def *d)
{
	for (;;) {
		qn_lib_operator op = {.graph = d->name,
				      .since = 1,
				      .plain = d->nsetting == 0,
				      .next = d->operators};
		int64_t since = 1;

		op.tflite = qn_text_eat(&w->r.text, "tflite");
		if (!op.tflite && !qn_text_eat(&w->r.text, "onnx"))
			return true;
		op.domain = "";
		if (!qn_read_quoted(&w->r, &op.name))
			return false;
		if (!op.tflite && qn_text_peek(&w->r.text, "\"")) {
			op.domain = op.name;
			if (!qn_read_quoted(&w->r, &op.name))
				return false;
		}
		if (qn_text_eat(&w->r.text, "since") &&
		    (!qn_text_int(&w->r.text, &since) || since < 1 || since > INT32_MAX))
			return qn_read_fail(&w->r, "expected a version of the operator set");
		op.since = (int32_t)since;
		d->operators = qn_arena_copy(w->r.m->arena, &op, sizeof op);
	}
}

static bool
read_graph(qn_lib_walk *w, qn_lib_def *d)
{
	if (!qn_read_name(&w->r, "@", &d->name) || !read_params(w, d))
		return false;
	if (qn_text_eat(&w->r.text, "{")) {
		/* "{" begins attributes when "}" or a name with ':' or '?' follows, and the body else. */
		const qn_text start = w->r.text;
		const bool none = qn_text_eat(&w->r.text, "}");
		const bool settings =
			none || (qn_lib_word(w) != NULL &&
				 (qn_text_peek(&w->r.text, ":") || qn_text_peek(&w->r.text, "?")));

		if (!none)
			w->r.text = start;
		if (none && !qn_text_peek(&w->r.text, "onnx") &&
		    !qn_text_peek(&w->r.text, "tflite") && !qn_text_peek(&w->r.text, "{"))
			return qn_read_fail(&w->r, "expected the body after empty attributes");
		if (settings && ((!none && !read_settings(w, d)) || !read_operators(w, d) ||
				 !qn_read_expect(&w->r, "{")))
			return false;
	} else if (!read_operators(w, d) || !qn_read_expect(&w->r, "{")) {
		return false;
	}
	d->body = (size_t)(w->r.text.at - w->r.text.begin);
	return true;
}

/* The body up to its "}", with those of blocks; comments and texts may hold brackets too. */
static bool
pass_body(qn_lib_walk *w)
{
	qn_text *t = &w->r.text;
	const char *skipped;

	for (int64_t depth = 1; depth > 0;) {
		qn_text_skip(t);
		if (t->at == t->end)
			return qn_read_fail(&w->r, "expected '}'");
		if (*t->at == '"') {
			if (!qn_read_quoted(&w->r, &skipped))
				return false;
			continue;
		}
		depth += (*t->at == '{') - (*t->at == '}');
		t->at++;
	}
	return true;
}

static void
count_lines(qn_arena *a, qn_lib_file *file)
{
	size_t *line = NULL, cap = 0;

	for (size_t i = 0; i <= file->n; i++)
		if (i == 0 || file->text[i - 1] == '\n') {
			line = qn_arena_grow(a, line, &cap, file->nline + 1, sizeof *line);
			line[file->nline++] = i;
		}
	file->line = line;
}

bool
qn_lib_read_file(qn_model *m, qn_lib_file *file)
{
	qn_lib lib = {.m = m, .a = m->arena, .work = 1 << 20, .room = 1 << 20};
	qn_lib_walk w = {.lib = &lib, .r = {.m = m, .line = 1, .syntax_id = "lib.syntax"}};
	qn_lib_def **last = &file->def;

	qn_text_init(&w.r.text, file->name, file->text, file->n);
	w.r.counted = w.r.line_start = file->text;
	qn_map_init(&w.vars, m->arena);
	qn_map_init(&lib.words, m->arena);
	qn_map_init(&lib.defs, m->arena);
	file->nline = 0;
	count_lines(m->arena, file);
	for (qn_text_skip(&w.r.text); w.r.text.at < w.r.text.end; qn_text_skip(&w.r.text)) {
		qn_lib_def *d = QN_NEW(m->arena, qn_lib_def, 1);

		d->file = file;
		w.def = d;
		qn_map_init(&d->names, m->arena);
		if (!qn_read_expect(&w.r, "graph") || !read_graph(&w, d) || !pass_body(&w))
			return false;
		*last = d;
		last = &d->next;
	}
	return true;
}

/* ---- a call ---- */

/* The operands from `from` on, those of lists one by one. */
static bool
rest_of(qn_lib_walk *w, const qn_item *operand, size_t from, size_t n, qn_item *out)
{
	qn_lib_items all = {0};

	for (size_t i = from; i < n; i++) {
		const bool list = operand[i].kind == QN_ITEM_LIST;

		for (size_t k = 0; k < (list ? operand[i].n : 1); k++)
			if (!qn_lib_push(w, &all, list ? &operand[i].at[k] : &operand[i]))
				return false;
	}
	*out = qn_item_list(all.n, all.at);
	return true;
}

static bool
bind_operands(qn_lib_walk *w, const qn_item *operand, size_t n)
{
	const qn_lib_def *d = w->def;

	for (size_t i = 0; i < d->nparam; i++) {
		const qn_lib_param *p = &d->param[i];
		qn_item x = i < n ? operand[i] : (qn_item){0};

		if (p->rest && !rest_of(w, operand, i, n, &x))
			return false;
		if (x.kind == QN_ITEM_NONE && !p->optional)
			return qn_lib_fail(w, "import.input", "input %zu of @%s, %s, is missing", i,
					   d->name, p->name);
		qn_lib_set(w, p->name, &x);
	}
	if (n > d->nparam && (d->nparam == 0 || !d->param[d->nparam - 1].rest))
		for (size_t i = d->nparam; i < n; i++)
			if (operand[i].kind != QN_ITEM_NONE)
				return qn_lib_fail(w, "import.input",
						   "@%s takes %zu inputs, not %zu", d->name,
						   d->nparam, n);
	return true;
}

static void
print_words(qn_buf *b, const qn_lib_setting *s)
{
	for (size_t i = 0; i < s->nword; i++)
		qn_buff(b, "%s%s", i == 0 ? "" : i + 1 < s->nword ? ", " : " or ", s->word[i]);
	for (size_t i = 0; s->nword == 0 && i < QN_COUNT(kinds); i++)
		if (kinds[i].kind == s->kind && kinds[i].of == s->of)
			qn_buf_puts(b, kinds[i].word);
}

static bool
bind_setting(qn_lib_walk *w, const qn_lib_setting *s, const qn_lib_attr *attr, size_t n)
{
	const qn_lib_attr *given = NULL;
	qn_item x = s->dflt;
	qn_buf b;

	for (size_t i = 0; i < n && given == NULL; i++)
		given = strcmp(attr[i].name, s->name) == 0 ? &attr[i] : NULL;
	if (given != NULL && given->value.kind == QN_ITEM_NONE && s->optional)
		given = NULL;
	if (given == NULL && !s->has_default && !s->optional)
		return qn_lib_fail(w, "import.attr", "attribute '%s' of @%s is missing", s->name,
				   w->def->name);
	if (given != NULL) {
		x = given->value;
		if (x.kind == QN_ITEM_LIST && !qn_lib_may(w, x.n)) /* it may be copied */
			return false;
		if (!fits(s, &x, w->lib->a)) {
			qn_buf_init(&b, w->lib->a);
			qn_buff(&b, "%s is '", s->name);
			qn_item_print(&b, &given->value);
			qn_buf_puts(&b, "', which is not supported (expected ");
			print_words(&b, s);
			return qn_lib_fail(w, "import.attr", "%s)", qn_buf_str(&b));
		}
	}
	qn_lib_set(w, s->name, &x);
	return true;
}

bool
qn_lib_bind(qn_lib_walk *w, const qn_item *operand, size_t noperand, const qn_lib_attr *attr,
	    size_t nattr)
{
	const qn_lib_def *d = w->def;

	if (!bind_operands(w, operand, noperand))
		return false;
	for (size_t i = 0; w->strict && i < nattr; i++) {
		bool known = false;

		for (size_t k = 0; k < d->nsetting && !known; k++)
			known = strcmp(d->setting[k].name, attr[i].name) == 0;
		if (!known)
			return qn_lib_fail(w, "import.attr", "@%s has no attribute '%s'", d->name,
					   attr[i].name);
	}
	for (size_t k = 0; k < d->nsetting; k++)
		if (!bind_setting(w, &d->setting[k], attr, nattr))
			return false;
	return true;
}
