/* SPDX-License-Identifier: Apache-2.0 */
/* skip.c - lowers matches back to float (skip.h). */
#include "patterns/skip.h"

#include <string.h>

#include "ir/diag.h"
#include "ir/nearest.h"
#include "patterns/glob.h"
#include "patterns/recipe.h"

static const char *const words[] = {"first", "last", "name:", "op:"};

static qn_status
unknown_op(qn_env *env, const char *name)
{
	const char *best = qn_nearest_op(env, name);

	return qn_report(env, QN_EUSAGE, "skip.op", "skip",
			 "unknown op '%s'" QN_DID_YOU_MEAN " (`quern supported-ops` lists the ops)",
			 name, QN_SUGGEST(best));
}

static qn_status
parse_word(qn_env *env, const char *text, qn_skip_word *out)
{
	qn_op op;

	if (strcmp(text, "first") == 0) {
		*out = (qn_skip_word){QN_SKIP_FIRST, text};
	} else if (strcmp(text, "last") == 0) {
		*out = (qn_skip_word){QN_SKIP_LAST, text};
	} else if (strncmp(text, "name:", 5) == 0 && text[5] != '\0') {
		const char *fault = qn_glob_fault(text + 5);

		*out = (qn_skip_word){QN_SKIP_NAME, text + 5};
		if (fault != NULL)
			return qn_report(env, QN_EUSAGE, "skip.syntax", "skip", "'%s': %s", text,
					 fault);
	} else if (strncmp(text, "op:", 3) == 0) {
		*out = (qn_skip_word){QN_SKIP_OP, text + 3};
		if (qn_op_lookup(env, text + 3, &op) == NULL)
			return unknown_op(env, text + 3);
	} else {
		const char *best = qn_nearest_name(text, QN_COUNT(words), words);

		return qn_report(env, QN_EUSAGE, "skip.syntax", "skip",
				 "invalid value '%s' (expected first, last, name:GLOB or "
				 "op:OP)" QN_DID_YOU_MEAN,
				 text, QN_SUGGEST(best));
	}
	return QN_OK;
}

qn_status
qn_skip_parse(qn_env *env, qn_arena *a, const char *text, qn_skip *out)
{
	qn_skip_word *word = QN_NEW(a, qn_skip_word, strlen(text) + 1);
	qn_status status = QN_OK;
	char *copy = qn_arena_copy(a, text, strlen(text) + 1);

	out->word = word;
	for (char *at = copy; at != NULL;) {
		char *end = strchr(at, ',');

		if (end != NULL)
			*end++ = '\0';
		qn_status one = parse_word(env, at, &word[out->n++]);
		status = one != QN_OK ? one : status;
		at = end;
	}
	return status;
}

/* Whether the node, or a layer that it stands for, has such a name. */
static bool
is_named(const qn_node *n, const char *glob)
{
	const char *const *layer;
	const size_t nlayer = qn_node_origin(n, &layer);

	for (size_t i = 0; i < nlayer; i++)
		if (qn_glob(glob, layer[i]))
			return true;
	return qn_glob(glob, n->name);
}

/* Whether a node of the group is of the name or op. */
static bool
has_node(const qn_graph *g, const qn_group *gr, const qn_skip_word *w)
{
	for (uint32_t k = 0; k < gr->ninner; k++) {
		const qn_node *n = qn_graph_node(g, gr->inner[k]);

		if (n->op == QN_OP_const)
			continue;
		if (w->kind == QN_SKIP_OP ? strcmp(qn_opinfo_of(n)->name, w->text) == 0
					  : is_named(n, w->text))
			return true;
	}
	return false;
}

static bool
holds(const qn_grouper *s, const qn_group *gr, const qn_skip_word *w, qn_id first, qn_id last)
{
	if (w->kind == QN_SKIP_FIRST || w->kind == QN_SKIP_LAST)
		return gr->root == (w->kind == QN_SKIP_FIRST ? first : last);
	return has_node(s->g, gr, w);
}

static const char *
reason(qn_arena *a, const char *before, const char *text)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b, "skipped by %s%s'", before, text);
	return qn_buf_str(&b);
}

static const char *
by_word(qn_arena *a, const qn_skip_word *w)
{
	static const char *const what[] = {"'", "'", "name '", "op '"};

	return reason(a, what[w->kind], w->text);
}

static void
warn_unused(const qn_graph *g, const qn_skip_word *word)
{
	const char *best = word->kind == QN_SKIP_NAME ? qn_nearest_value(g, word->text) : NULL;

	if (best != NULL && strcmp(best, word->text) == 0)
		best = NULL;
	qn_warn(g->model->env, "skip.nothing", "skip",
		"'%s' matches nothing that would be quantized" QN_DID_YOU_MEAN, word->text,
		QN_SUGGEST(best));
}

void
qn_skip_groups(qn_model *m, qn_grouper *s, const qn_skip *skip, const char **why)
{
	bool *used = QN_NEW(s->arena, bool, skip->n);
	qn_id first = s->g->n, last = 0;

	for (size_t i = 0; i < s->ngroup; i++) {
		first = s->group[i].root < first ? s->group[i].root : first;
		last = s->group[i].root > last ? s->group[i].root : last;
	}
	for (size_t i = 0; i < s->ngroup; i++) {
		qn_group *gr = &s->group[i];

		for (size_t k = 0; k < skip->n; k++) {
			if (!holds(s, gr, &skip->word[k], first, last))
				continue;
			used[k] = true;
			if (why[i] == NULL)
				why[i] = by_word(m->arena, &skip->word[k]);
		}
		if (why[i] == NULL && skip->fn != NULL &&
		    skip->fn(skip->user, s->g, gr->root, gr->pattern) != 0)
			why[i] = "skipped by the callback of the host program";
		if (why[i] == NULL && skip->recipe != NULL)
			why[i] = qn_recipe_skips(skip->recipe, m->arena, s->g, gr);
		if (why[i] != NULL)
			gr->label = NULL;
	}
	for (size_t k = 0; k < skip->n; k++)
		if (!used[k])
			warn_unused(s->g, &skip->word[k]);
}

bool
qn_skip_left(const qn_graph *g)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->facts != NULL && n->facts->skipped && !n->type->is_tuple &&
		    qn_elem_is_float(n->type->elem))
			return true;
	}
	return false;
}
