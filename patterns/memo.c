/* SPDX-License-Identifier: Apache-2.0 */
/* memo.c - see memo.h.
 *
 *   todo   R at r8 ─▶ …        a record, a choice "failed", a goal LEARN below the parts of R
 *   todo   parts ─▶ LEARN ─▶ …     LEARN is reached: it holds.  The choice is come back to first: it fails
 *
 * A failure counts for whatever else is bound: more bindings only forbid more.  It does not where a
 * pattern came back to itself at the same value, which depends on where the search began. */
#include "patterns/memo.h"

#include <string.h>

/* The slots that a part can bind, and whether answers about it are kept. */
typedef struct scope {
	bool kept;
	size_t nslot;
	int *slot;
} scope;

typedef struct known {
	bool holds, only; /* only: there is no other way to hold */
	size_t n;
	qn_bound *first; /* what it binds, one for a slot */
} known;

typedef struct qn_memo_record {
	known *answer;
	const scope *scope;
	size_t nbound;
	uint32_t nchoice, turned;
	uint64_t met;
} record;

/* ---- parts of patterns ---- */

typedef struct walk {
	qn_arena *arena;
	qn_map seen;
	const qn_pat **todo;
	size_t n, cap;
} walk;

static void
push(walk *w, const qn_pat *p)
{
	if (qn_map_get(&w->seen, &p, sizeof p) != NULL)
		return;
	qn_map_put(&w->seen, &p, sizeof p, (void *)(uintptr_t)p);
	w->todo = qn_arena_grow(w->arena, (void *)(uintptr_t)w->todo, &w->cap, w->n + 1,
				sizeof(qn_pat *));
	w->todo[w->n++] = p;
}

static void
push_parts(walk *w, const qn_pat *p, const qn_pat *without)
{
	for (int i = 0; i < p->narg; i++)
		if (p->arg[i] != without)
			push(w, p->arg[i]);
	if (p->kind != QN_PAT_FUNCTION)
		return;
	for (int i = 0; i < p->test->nparam; i++)
		push(w, p->test->param[i]);
	push(w, p->test->body);
}

/* All parts of the patterns in the list, which are in it themselves; the part `without` of the
 * dominator `of` is passed over. */
static void
walk_all(walk *w, const qn_pat *of, const qn_pat *without)
{
	for (size_t i = 0; i < w->n; i++)
		push_parts(w, w->todo[i], of != NULL && w->todo[i] == of ? without : NULL);
}

static walk
begin_walk(qn_arena *a)
{
	walk w = {.arena = a};

	qn_map_init(&w.seen, a);
	return w;
}

static bool
reaches_itself(qn_arena *a, const qn_pat *p)
{
	walk w = begin_walk(a);

	push_parts(&w, p, NULL);
	walk_all(&w, NULL, NULL);
	return qn_map_get(&w.seen, &p, sizeof p) != NULL;
}

static bool
has_slot(const walk *w, int slot)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->todo[i]->slot == slot)
			return true;
	return false;
}

/* Names on a path stand for many values, and bind none unless the rest of the pattern has them
 * too. */
static bool
path_is_private(qn_matcher *s, const qn_pat *dominator)
{
	walk path = begin_walk(s->arena), rest = begin_walk(s->arena);

	push(&path, dominator->arg[1]);
	walk_all(&path, NULL, NULL);
	push(&rest, s->root);
	walk_all(&rest, dominator, dominator->arg[1]);
	for (size_t i = 0; i < path.n; i++)
		if (path.todo[i]->slot != QN_NO_SLOT && has_slot(&rest, path.todo[i]->slot))
			return false;
	return true;
}

/* Of a goal MATCH of pattern p, or of the PATH of dominator p. */
static scope *
scope_of(qn_matcher *s, const qn_pat *p)
{
	const void *key[2] = {s->root, p};
	scope *x = qn_map_get(&s->scopes, key, sizeof key);

	if (x != NULL)
		return x;
	x = QN_NEW(s->arena, scope, 1);
	qn_map_put(&s->scopes, key, sizeof key, x);
	if (p->kind == QN_PAT_DOM)
		x->kept = path_is_private(s, p);
	else
		x->kept = p->kind == QN_PAT_ANY && p->narg > 0 && reaches_itself(s->arena, p);
	if (!x->kept)
		return x;
	walk w = begin_walk(s->arena);
	push(&w, p->kind == QN_PAT_DOM ? p->arg[0] : p);
	walk_all(&w, NULL, NULL);
	x->slot = QN_NEW(s->arena, int, w.n);
	for (size_t i = 0; i < w.n; i++) {
		size_t k = 0;

		while (k < x->nslot && x->slot[k] != w.todo[i]->slot)
			k++;
		if (k == x->nslot && w.todo[i]->slot != QN_NO_SLOT)
			x->slot[x->nslot++] = w.todo[i]->slot;
	}
	return x;
}

static bool
is_deep(qn_matcher *s, const qn_pat *root)
{
	walk w = begin_walk(s->arena);

	push(&w, root);
	walk_all(&w, NULL, NULL);
	for (size_t i = 0; i < w.n; i++)
		if (w.todo[i]->kind == QN_PAT_DOM ||
		    (w.todo[i]->kind == QN_PAT_ANY && w.todo[i]->narg > 0 &&
		     scope_of(s, w.todo[i])->kept))
			return true;
	return false;
}

const qn_memo_count *
qn_memo_counts(qn_arena *a, const qn_pat *p, size_t *n)
{
	walk all = begin_walk(a), paths = begin_walk(a), loops = begin_walk(a);
	qn_memo_count *count;

	push(&all, p);
	walk_all(&all, NULL, NULL);
	*n = 0;
	for (size_t i = 0; i < all.n; i++) {
		const qn_pat *part = all.todo[i];

		if (part->slot != QN_NO_SLOT && (size_t)part->slot >= *n)
			*n = (size_t)part->slot + 1;
		if (part->kind == QN_PAT_DOM)
			push(&paths, part->arg[1]);
		/* a way that comes back to a part leads through a wildcard that was sent on */
		if (part->kind == QN_PAT_ANY && part->narg > 0 && reaches_itself(a, part))
			push(&loops, part);
	}
	walk_all(&paths, NULL, NULL);
	walk_all(&loops, NULL, NULL);
	count = QN_NEW(a, qn_memo_count, *n);
	for (size_t i = 0; i < loops.n; i++)
		if (loops.todo[i]->slot != QN_NO_SLOT && reaches_itself(a, loops.todo[i]))
			count[loops.todo[i]->slot] = QN_MEMO_SEVERAL;
	for (size_t i = 0; i < paths.n; i++)
		if (paths.todo[i]->slot != QN_NO_SLOT)
			count[paths.todo[i]->slot] = QN_MEMO_ON_PATH;
	return count;
}

void
qn_memo_begin(qn_matcher *s, const qn_graph *g, const qn_pat *p)
{
	s->nrecord = 0;
	s->root = p;
	if (s->asked != p) {
		const bool *deep = qn_map_get(&s->deep, &p, sizeof p);

		if (deep == NULL) {
			bool *now = QN_NEW(s->arena, bool, 1);

			*now = is_deep(s, p);
			qn_map_put(&s->deep, &p, sizeof p, now);
			deep = now;
		}
		s->keeps = *deep && (s->flags & (QN_MATCH_GREEDY | QN_MATCH_FORGET)) == 0;
		s->asked = p;
		s->known_of = NULL;
		s->spent = 0;
	}
	if (s->keeps && g != NULL && (s->known_of != g || s->known_n != g->n)) {
		qn_map_init(&s->known, s->arena);
		s->known_of = g;
		s->known_n = g->n;
	}
}

/* ---- answers ---- */

static void
add_key(qn_matcher *s, const void *p, size_t n)
{
	qn_buf_put(&s->key, p, n);
}

/* What the answer depends on, in s->key. */
static void
make_key(qn_matcher *s, const qn_goal *goal, const scope *x)
{
	const uint32_t what[3] = {(uint32_t)goal->kind, goal->fresh, goal->value};

	s->key.n = 0;
	add_key(s, &goal->pat, sizeof goal->pat);
	add_key(s, &goal->graph, sizeof goal->graph);
	add_key(s, what, sizeof what);
	for (size_t i = 0; i < x->nslot; i++) {
		const qn_first *first = qn_search_first(s, x->slot[i]);
		const uint32_t bound[2] = {(uint32_t)x->slot[i], first->value};

		if (first->graph == NULL)
			continue;
		add_key(s, bound, sizeof bound);
		add_key(s, &first->graph, sizeof first->graph);
	}
}

/* Binds what the answer binds. */
static void
take(qn_matcher *s, const known *k)
{
	for (size_t i = 0; i < k->n; i++) {
		const qn_goal goal = {.pat = k->first[i].pat,
				      .graph = k->first[i].graph,
				      .value = k->first[i].value};

		qn_search_bind(s, QN_BOUND_SLOT, &goal);
	}
}

static void
begin_record(qn_matcher *s, const qn_goal *goal, const scope *x, known *answer)
{
	qn_goal mine = *goal;

	s->record = qn_arena_grow(s->arena, s->record, &s->record_cap, s->nrecord + 1,
				  sizeof *s->record);
	mine.record = (uint32_t)s->nrecord;
	s->record[s->nrecord++] = (record){.answer = answer,
					   .scope = x,
					   .nbound = s->nbound,
					   .turned = s->turned,
					   .met = s->met,
					   .nchoice = s->nchoice};
	qn_search_remember(s, &mine, QN_WAY_FAILED);
	mine.kind = QN_GOAL_LEARN;
	qn_search_push(s, mine);
	s->base = s->todo; /* other ways of the goal lead to LEARN, too */
}

qn_memo_answer
qn_memo_lookup(qn_matcher *s, const qn_goal *goal)
{
	const scope *x = s->keeps ? scope_of(s, goal->pat) : NULL;

	if (x == NULL || !x->kept)
		return QN_MEMO_UNKNOWN;
	make_key(s, goal, x);
	known *k = qn_map_get(&s->known, s->key.data, s->key.n);
	if (k == NULL) {
		k = QN_NEW(s->arena, known, 1);
		k->n = SIZE_MAX; /* nothing is known so far */
		qn_map_put(&s->known, s->key.data, s->key.n, k);
	}
	if (k->n == SIZE_MAX) {
		begin_record(s, goal, x, k);
		return QN_MEMO_UNKNOWN;
	}
	if (!k->holds)
		return QN_MEMO_FAILS;
	if (!s->decide)
		return QN_MEMO_UNKNOWN; /* all that it binds is wanted */
	if (!k->only)
		qn_search_remember(s, goal, QN_WAY_AGAIN);
	take(s, k);
	return QN_MEMO_HOLDS;
}

void
qn_memo_learn(qn_matcher *s, const qn_goal *goal)
{
	const record *r = &s->record[goal->record];
	known *k = r->answer;
	const bool only = s->nchoice == r->nchoice + 1 && s->met == r->met;

	if (only)
		qn_search_forget(s, r->nchoice);
	if (only && goal->pat->kind == QN_PAT_DOM)
		qn_search_mark_only(s, goal);
	if (k->n != SIZE_MAX)
		return;
	*k = (known){.holds = true, .only = only};
	k->first = QN_NEW(s->arena, qn_bound, r->scope->nslot);
	for (size_t i = 0; i < r->scope->nslot; i++) {
		const qn_first *first = qn_search_first(s, r->scope->slot[i]);

		if (first->graph != NULL && first->at >= r->nbound)
			k->first[k->n++] = s->bound[first->at];
	}
}

void
qn_memo_fail(qn_matcher *s, const qn_goal *goal)
{
	const record *r = &s->record[goal->record];

	if (r->turned == s->turned && r->answer->n == SIZE_MAX)
		*r->answer = (known){0};
}
