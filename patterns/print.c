/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - writes patterns in their text form, which reads back as a pattern that matches alike.
 *
 * A named node is written NAME=…, a wildcard with a name as the name alone, but for those that are also ops.  A node that has
 * several places in the pattern is written in full at each of them, under one name.  Around what
 * binds less than its place there are parentheses. */
#include "patterns/build.h"
#include "patterns/parse.h"
#include "patterns/print_names.h"

#include <string.h>

#include "ir/diag.h"
#include "ir/type_impl.h"

enum { MAX_TEXT = 1 << 20 };

/* How much a form binds, from alternatives to what is whole in itself. */
typedef enum rank { ALTERNATIVE, DOMINATOR, OPTIONAL, NAMED, TESTED, FIELD, PRIMARY } rank;

typedef struct printer {
	qn_buf *b;
	qn_arena *arena;
	qn_map places;                             /* qn_pattern_places */
	const qn_pattern *open[QN_PATTERN_HEIGHT]; /* wildcards sent on to what is being written */
	size_t nopen;
	const qn_pattern *hole;
	int depth;
	bool failed;
} printer;

static void print(printer *pr, const qn_pat *p, rank at_least);

static const char *
name_of(const printer *pr, const qn_pattern *p)
{
	return qn_pattern_print_name(&pr->places, p, pr->arena);
}

static void
print_list(printer *pr, int n, const qn_pat *const *p)
{
	if (n < 0)
		qn_buf_puts(pr->b, "...");
	for (int i = 0; i < n; i++) {
		qn_buf_puts(pr->b, i > 0 ? ", " : "");
		print(pr, p[i], ALTERNATIVE);
	}
}

static void
print_call(printer *pr, const qn_pat *p)
{
	const qn_pat_test *f = p->test;

	if (p->kind == QN_PAT_FUNCTION) {
		qn_buf_puts(pr->b, "fn[");
		if (f->nparam >= 0) {
			print_list(pr, f->nparam, f->param);
			qn_buf_puts(pr->b, f->nparam > 0 ? " -> " : "-> ");
		}
		print(pr, f->body, ALTERNATIVE);
		qn_buf_putc(pr->b, ']');
	} else if (p->kind == QN_PAT_CALL) {
		qn_buf_putc(pr->b, '*');
	} else {
		qn_buf_puts(pr->b,
			    p->kind == QN_PAT_CLASS
				    ? qn_behaviour_names[p->behaviour]
				    : (p->row != NULL ? p->row : qn_opinfo_get(p->op))->name);
	}
	qn_buf_putc(pr->b, '(');
	print_list(pr, p->narg, p->arg);
	qn_buf_putc(pr->b, ')');
}

static void
print_numbers(qn_buf *b, const qn_list *list)
{
	qn_buf_putc(b, '[');
	for (int32_t i = 0; i < list->n; i++) {
		qn_buf_puts(b, i > 0 ? "," : "");
		if (list->v[i] == -1)
			qn_buf_putc(b, '?');
		else
			qn_buff(b, "%lld", (long long)list->v[i]);
	}
	qn_buf_putc(b, ']');
}

/* Whether it reads back as a word without quotes. */
static bool
is_plain_word(const char *s)
{
	if (*s < 'a' || *s > 'z' || strcmp(s, "inf") == 0 || strcmp(s, "nan") == 0)
		return false;
	while ((*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9') || *s == '_')
		s++;
	return *s == '\0';
}

static void
print_attr(qn_buf *b, const qn_pat_test *t)
{
	qn_buff(b, "%s=", t->text);
	if (t->value_kind == QN_VALUE_INT)
		qn_buff(b, "%lld", (long long)t->integer);
	else if (t->value_kind == QN_VALUE_REAL)
		qn_buf_f64(b, t->real);
	else if (t->value_kind == QN_VALUE_WORD && is_plain_word(t->word))
		qn_buf_puts(b, t->word);
	else if (t->value_kind == QN_VALUE_WORD)
		qn_buf_quoted(b, t->word);
	else
		print_numbers(b, &t->list);
}

/* The node as a field, whose printed form does not nest: get(x) as x.*, NULL: it is not one. */
static const qn_pat *
field_of(printer *pr, const qn_pat *p)
{
	return p->kind == QN_PAT_OP && p->op == QN_OP_get && p->narg == 1 &&
			       qn_pattern_of(p) != pr->hole && name_of(pr, qn_pattern_of(p)) == NULL
		       ? p->arg[0]
		       : NULL;
}

/* get(x){index=3} as x.3, likewise. */
static const qn_pat *
numbered_field_of(printer *pr, const qn_pat *p)
{
	return p->kind == QN_PAT_TEST && p->test->kind == QN_TEST_ATTR &&
			       p->test->value_kind == QN_VALUE_INT && p->test->integer >= 0 &&
			       strcmp(p->test->text, "index") == 0
		       ? field_of(pr, p->arg[0])
		       : NULL;
}

static bool
is_plain_attr(printer *pr, const qn_pat *p)
{
	return p->kind == QN_PAT_TEST && p->test->kind == QN_TEST_ATTR &&
	       qn_pattern_of(p) != pr->hole && name_of(pr, qn_pattern_of(p)) == NULL;
}

static void
print_test(printer *pr, const qn_pat *p)
{
	const qn_pat_test *t = p->test;
	const qn_pat *in = p->arg[0];
	qn_buf *b = pr->b;

	if (numbered_field_of(pr, p) != NULL) {
		print(pr, numbered_field_of(pr, p), FIELD);
		qn_buff(b, ".%lld", (long long)t->integer);
		return;
	}
	if (t->kind == QN_TEST_NUMBER && in->kind == QN_PAT_CONST && in->slot == QN_NO_SLOT) {
		qn_buf_f64(b, t->real);
		return;
	}
	print(pr, in, TESTED);
	switch (t->kind) {
	case QN_TEST_ATTR:
		if (is_plain_attr(pr, in) && b->n > 0 && b->data[b->n - 1] == '}') {
			b->n--;
			qn_buf_puts(b, ", ");
		} else {
			qn_buf_puts(b, "{");
		}
		print_attr(b, t);
		qn_buf_putc(b, '}');
		break;
	case QN_TEST_TYPE:
	case QN_TEST_ELEM:
		qn_buff(b, " : %s", t->text);
		break;
	case QN_TEST_SHAPE:
		qn_buf_puts(b, " : ");
		print_numbers(b, &t->list);
		break;
	case QN_TEST_NUMBER:
		pr->failed = true;
		break;
	case QN_TEST_WHERE:
		qn_buff(b, " where %s", t->text);
		break;
	}
}

static void
print_alternatives(printer *pr, const qn_pat *p)
{
	const qn_pattern *hole = pr->hole;

	if (!qn_pattern_of(p)->optional) {
		for (int i = 0; i < p->narg; i++) {
			qn_buf_puts(pr->b, i > 0 ? " | " : "");
			print(pr, p->arg[i], DOMINATOR);
		}
		return;
	}
	print(pr, p->arg[0], OPTIONAL);
	qn_buf_puts(pr->b, " ?");
	pr->hole = qn_pattern_of(p->arg[0]);
	print(pr, p->arg[1], NAMED);
	pr->hole = hole;
}

static void
print_dominator(printer *pr, const qn_pat *p)
{
	const qn_pat *path = p->arg[1];

	print(pr, p->arg[0], OPTIONAL);
	if (!qn_pat_is_wildcard(path) || name_of(pr, qn_pattern_of(path)) != NULL) {
		qn_buf_puts(pr->b, " ~ ");
		print(pr, path, OPTIONAL);
	}
	qn_buf_puts(pr->b, " ~> ");
	print(pr, p->arg[2], OPTIONAL);
}

static void
print_leaf(printer *pr, const qn_pat *p)
{
	if (p->kind == QN_PAT_ANY) {
		qn_buf_putc(pr->b, '*');
	} else if (p->kind == QN_PAT_CONST) {
		qn_buf_puts(pr->b, "const");
	} else if (p->kind == QN_PAT_INPUT && p->test == NULL) {
		qn_buf_puts(pr->b, "input");
	} else if (p->kind == QN_PAT_INPUT) {
		qn_print_name(pr->b, '%', p->test->text);
	} else {
		const qn_pat_test *t = p->test;

		qn_buf_puts(pr->b, "expr(");
		qn_print_name(pr->b, '%',
			      t->graph != NULL ? qn_graph_node(t->graph, t->value)->name : t->text);
		qn_buf_putc(pr->b, ')');
	}
}

/* The name of an input may hold a dot, as a field does. */
static rank
rank_of(printer *pr, const qn_pat *p)
{
	if (p->kind == QN_PAT_ALT)
		return qn_pattern_of(p)->optional ? OPTIONAL : ALTERNATIVE;
	if (p->kind == QN_PAT_DOM)
		return DOMINATOR;
	if (field_of(pr, p) != NULL || numbered_field_of(pr, p) != NULL)
		return FIELD;
	return p->kind == QN_PAT_TEST || (p->kind == QN_PAT_INPUT && p->test != NULL) ? TESTED
										      : PRIMARY;
}

static void
print_impl(printer *pr, const qn_pat *p)
{
	const qn_pat *field = field_of(pr, p);

	if (p->kind == QN_PAT_ANY && p->narg > 0)
		print(pr, p->arg[0], NAMED);
	else if (p->kind == QN_PAT_ALT)
		print_alternatives(pr, p);
	else if (p->kind == QN_PAT_TEST)
		print_test(pr, p);
	else if (p->kind == QN_PAT_DOM)
		print_dominator(pr, p);
	else if (p->kind == QN_PAT_ANY || p->kind == QN_PAT_CONST || p->kind == QN_PAT_INPUT ||
		 p->kind == QN_PAT_EXPR)
		print_leaf(pr, p);
	else if (field != NULL)
		print(pr, field, FIELD);
	else
		print_call(pr, p);
	if (field != NULL)
		qn_buf_puts(pr->b, ".*");
}

static bool
is_open(const printer *pr, const qn_pattern *p)
{
	for (size_t i = 0; i < pr->nopen; i++)
		if (pr->open[i] == p)
			return true;
	return false;
}

static void
print_named(printer *pr, const qn_pat *p, const char *name, rank at_least)
{
	bool outer = (name != NULL ? NAMED : rank_of(pr, p)) < at_least;
	bool inner = name != NULL && rank_of(pr, p) < TESTED;

	qn_buf_puts(pr->b, outer ? "(" : "");
	if (name != NULL)
		qn_buff(pr->b, "%s=", name);
	qn_buf_puts(pr->b, inner ? "(" : "");
	print_impl(pr, p);
	qn_buf_puts(pr->b, inner ? ")" : "");
	qn_buf_puts(pr->b, outer ? ")" : "");
}

static void
print(printer *pr, const qn_pat *p, rank at_least)
{
	const qn_pattern *node = qn_pattern_of(p);
	const char *name = name_of(pr, node);

	if (pr->failed || node == pr->hole) {
		qn_buf_putc(pr->b, '_');
		return;
	}
	if (name != NULL && (qn_pat_is_wildcard(p) || is_open(pr, node)) &&
	    qn_pattern_word_refers(node->set, name)) {
		qn_buf_puts(pr->b, name);
		return;
	}
	if (pr->depth == QN_PATTERN_HEIGHT || pr->b->n > MAX_TEXT) {
		pr->failed = true;
		return;
	}
	pr->depth++;
	if (node->sent_on)
		pr->open[pr->nopen++] = node;
	if (p->kind == QN_PAT_ANY && p->narg > 0 && name == NULL)
		print(pr, p->arg[0], at_least);
	else
		print_named(pr, p, name, at_least);
	if (node->sent_on)
		pr->nopen--;
	pr->depth--;
}

qn_status
qn_patterns_print(qn_buf *b, const qn_pattern *p)
{
	printer pr = {.b = b, .arena = p->set->scratch.arena};

	qn_pattern_places(p, pr.arena, &pr.places);
	print(&pr, &p->pat, ALTERNATIVE);
	if (!pr.failed)
		return QN_OK;
	return qn_report(p->set->scratch.env, QN_EUSAGE, "pattern.depth", "",
			 "the pattern is too large for its text form: at most %d nested parts and "
			 "%d characters are possible",
			 (int)QN_PATTERN_HEIGHT, (int)MAX_TEXT);
}
