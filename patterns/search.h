/* SPDX-License-Identifier: Apache-2.0 */
/* search.h - what the files of the matcher share: goals, choices, and the state of a search. */
#ifndef QN_PATTERNS_SEARCH_H
#define QN_PATTERNS_SEARCH_H

#include "patterns/index.h"
#include "patterns/pattern.h"

typedef enum qn_goal_kind {
	QN_GOAL_MATCH,    /* pat matches value */
	QN_GOAL_BIND,     /* its parts did: bind it */
	QN_GOAL_WHERE,    /* call the host */
	QN_GOAL_CUT,      /* drop the choices from number `value` on */
	QN_GOAL_LEARN,    /* the goal of record `record` holds */
	QN_GOAL_PATH,     /* dominator pat: value is the parent or on the path */
	QN_GOAL_ON_PATH,  /* it is on the path: go on with its inputs */
	QN_GOAL_PARENT,   /* it is the parent */
	QN_GOAL_DOMINATED /* the parent leads nowhere but to value */
} qn_goal_kind;

typedef struct qn_goal {
	qn_goal_kind kind;
	bool fresh; /* on the path of a dominator: what is bound already does not count */
	const qn_pat *pat;
	const qn_graph *graph;
	qn_id value;
	uint32_t next;   /* the goal after it */
	uint32_t record; /* LEARN, and a choice of way QN_WAY_FAILED: of the memo (memo.h) */
} qn_goal;

typedef struct qn_choice {
	qn_goal goal;
	uint32_t next, todo, kept;
	size_t nbound, nmark;
} qn_choice;

typedef struct qn_first { /* first binding of a slot; graph NULL: none */
	const qn_pat *pat;
	const qn_graph *graph;
	qn_id value;
	size_t at; /* among the bindings */
} qn_first;

typedef struct qn_mark { /* a value that a dominator has seen on its path */
	const qn_pat *dominator;
	const qn_graph *graph;
	qn_id value;
	uint32_t zero; /* a key has no gaps */
} qn_mark;

typedef enum qn_path_mark {
	QN_NOT_MET,
	QN_MET,
	QN_MET_ONLY /* and holds in one way only */
} qn_path_mark;

struct qn_matcher {
	qn_arena *arena;
	uint32_t flags, limit; /* of one search; 0: the default */
	uint64_t steps, spent; /* of this search, of all */
	bool gave_up;          /* the search took too many steps */
	bool gave_out;         /* all searches together did */
	qn_goal *goal;
	size_t goal_cap;
	uint32_t ngoal, todo; /* todo: the first goal, 0: none */
	uint32_t kept;        /* cells up to this one belong to choices */
	uint32_t base;        /* todo and nbound when the goal was taken that is being done */
	size_t base_bound;
	qn_choice *choice;
	size_t choice_cap;
	uint32_t nchoice;
	qn_bound *bound;
	size_t nbound, bound_cap;
	qn_first *first;
	size_t first_cap;
	qn_path_mark **mark;
	size_t nmark, mark_cap;
	qn_map marked; /* qn_mark -> qn_path_mark */
	qn_buf text;
	/* the memo */
	const qn_pat *root, *asked; /* the pattern of the search; of the one that `keeps` is of */
	bool keeps, decide;         /* decide: only whether it matches is wanted */
	qn_map deep, scopes;        /* of patterns: whether answers are kept; of parts, memo.c */
	qn_map known;               /* answers about values of known_of, which had known_n */
	const qn_graph *known_of;
	uint32_t known_n;
	struct qn_memo_record *record;
	size_t nrecord, record_cap;
	uint32_t turned; /* times that a pattern came back to itself at the same value */
	uint64_t
		met; /* times that a path came to a value that it has been at, and that may hold in other ways */
	qn_buf key;
	qn_index **index; /* of the graphs searched so far */
	size_t nindex, index_cap;
	qn_numbers numbers;
};

/* goals.c: the list of goals, whose first is todo. */
void qn_search_push(qn_matcher *s, qn_goal goal);
qn_goal qn_search_pop(qn_matcher *s);
/* Remembers way `next` of the goal that is being done; goes back to the last choice (false: there
 * is none); drops the choices from number n on. */
void qn_search_remember(qn_matcher *s, const qn_goal *goal, uint32_t next);
bool qn_search_retry(qn_matcher *s, qn_goal *goal, uint32_t *way);
void qn_search_forget(qn_matcher *s, uint32_t n);
qn_first *qn_search_first(qn_matcher *s, int slot);
void qn_search_bind(qn_matcher *s, qn_bound_kind kind, const qn_goal *goal);
void qn_search_unbind(qn_matcher *s, size_t n);

/* div(mul(a, b), c) at mul(a', div(b', c')), mul(x, div(b, c)) at div(mul(…), …): how many ways
 * there are, and goals for one of them (regroup.c). */
uint32_t qn_search_regroupings(const qn_goal *goal, const qn_node *n);
bool qn_search_regroup(qn_matcher *s, const qn_goal *goal, const qn_node *n, uint32_t way);

/* Not an input, a constant, a tuple, a field of one. */
bool qn_search_is_call(const qn_node *n);

/* Whether a search can come to anything: most nodes are of another op. */
bool qn_search_may_match(const qn_pat *p, const qn_node *n, bool regroup);

/* One step of a goal MATCH: pushes the goals of its parts; false: it fails this way (match.c). */
bool qn_search_match_step(qn_matcher *s, const qn_goal *goal, uint32_t way);

/* dominator.c */
bool qn_search_dominator(qn_matcher *s, const qn_goal *goal);
bool qn_search_dominator_step(qn_matcher *s, const qn_goal *goal, uint32_t way);
void qn_search_mark_only(qn_matcher *s, const qn_goal *goal);
void qn_search_unmark(qn_matcher *s, size_t n);

#endif
