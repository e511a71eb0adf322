/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.h - patterns over graphs, as constant data, and the matcher.
 *
 *   enum { ROOT, X, W, B };
 *   #define CONV QN_P_OP(conv2d, QN_NO_SLOT, QN_P_ARGS(QN_P_ANY(X), QN_P_CONST(W)))
 *   static const qn_pat *const pattern = QN_P_OP(bias_add, ROOT, QN_P_ARGS(CONV, QN_P_CONST(B)));
 *
 * A pattern node with a slot binds the value that it matches; a slot that is bound already
 * matches only the same value, so one slot used twice requires a diamond in the graph.  The search is
 * complete: a later failure comes back to untaken alternatives, and to the swapped operands of
 * add and mul, in that order of preference.  build.h makes the same nodes at run time, parse.h
 * from text (docs/patterns.md). */
#ifndef QN_PATTERNS_PATTERN_H
#define QN_PATTERNS_PATTERN_H

#include "ir/graph.h"
#include "quern/patterns.h"

enum { QN_MAX_SLOTS = 16 }; /* of constant patterns, and of qn_match.at */
#define QN_NO_SLOT (-1)

typedef enum qn_pat_kind {
	QN_PAT_ANY,   /* anything; with an argument: what that matches (a wildcard sent on to it) */
	QN_PAT_CONST, /* a constant */
	QN_PAT_INPUT, /* an input of the graph, or with test->text the one of that name */
	QN_PAT_EXPR, /* a value computed in the same way as one of a graph: test->graph and value, or test->text, the name of one in the graph that is searched */
	QN_PAT_OP, /* a node of this op whose inputs match one by one; narg < 0: any number, none inspected */
	QN_PAT_CLASS, /* the same for any op of this behaviour (ir/ops.def) */
	QN_PAT_CALL,  /* the same for any op, and calls of graphs; not input, const, tuple, get */
	QN_PAT_FUNCTION, /* the same for a call of a graph whose inputs and output match test->param and test->body */
	QN_PAT_ALT,  /* the first argument, else the second, … */
	QN_PAT_TEST, /* the argument, if the value passes the test */
	QN_PAT_DOM   /* arguments parent (with a slot), path, child: see dominator below */
} qn_pat_kind;

typedef enum qn_test_kind {
	QN_TEST_ATTR, /* attribute `text` of the node, or of the graph that it calls, equals the value */
	QN_TEST_TYPE, /* the type's text is `text` */
	QN_TEST_ELEM, /* a tensor whose element type's text is `text`; "quant": any quantized one */
	QN_TEST_SHAPE,  /* a tensor of these dims; -1: any */
	QN_TEST_NUMBER, /* a constant all of whose elements are `real` */
	QN_TEST_WHERE   /* `where` says so */
} qn_test_kind;

typedef enum qn_value_kind {
	QN_VALUE_INT,
	QN_VALUE_REAL,
	QN_VALUE_LIST,
	QN_VALUE_WORD
} qn_value_kind;

typedef bool qn_where_fn(void *user, const qn_graph *g, qn_id value);

typedef struct qn_pat_test {
	qn_test_kind kind;
	const char *text;
	qn_value_kind value_kind; /* ATTR; an integer equals a real attribute of this value too */
	double real;
	int64_t integer;
	qn_list list; /* ATTR, SHAPE */
	const char *word;
	qn_where_fn *where;
	void *user;
	const qn_graph *graph; /* EXPR */
	qn_id value;
	int nparam; /* FUNCTION; < 0: any number, none inspected */
	const struct qn_pat *const *param;
	const struct qn_pat *body;
} qn_pat_test;

typedef struct qn_pat {
	qn_pat_kind kind;
	int slot;
	qn_op op;
	qn_behaviour behaviour;
	int narg;
	const struct qn_pat *const *arg;
	const qn_pat_test *test;
	const qn_opinfo *row; /* a custom OP (op is custom): which one */
} qn_pat;

/* Anything, with no more to say. */
static inline bool
qn_pat_is_wildcard(const qn_pat *p)
{
	return p->kind == QN_PAT_ANY && p->narg == 0;
}

/* Each gives a pointer to constant data. */
#define QN_P_ARGS(...)                                                                             \
	(int)QN_COUNT(((const qn_pat *const[]){__VA_ARGS__})), (const qn_pat *const[])             \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define QN_P_ANY(slot_) (&(const qn_pat){.kind = QN_PAT_ANY, .slot = (slot_)})
#define QN_P_CONST(slot_) (&(const qn_pat){.kind = QN_PAT_CONST, .slot = (slot_)})
#define QN_P_OP(op_, slot_, ...)                                                                   \
	(&(const qn_pat){                                                                          \
		.kind = QN_PAT_OP, .slot = (slot_), .op = QN_OP_##op_, .narg = __VA_ARGS__})
#define QN_P_OPN(op_, slot_)                                                                       \
	(&(const qn_pat){.kind = QN_PAT_OP, .slot = (slot_), .op = QN_OP_##op_, .narg = -1})
#define QN_P_CLASS(behaviour_, slot_)                                                              \
	(&(const qn_pat){                                                                          \
		.kind = QN_PAT_CLASS, .slot = (slot_), .behaviour = behaviour_, .narg = -1})
#define QN_P_ALT(slot_, ...)                                                                       \
	(&(const qn_pat){.kind = QN_PAT_ALT, .slot = (slot_), .narg = __VA_ARGS__})
/* what, then members of qn_pat_test: QN_P_TEST(X, CONV, .kind = QN_TEST_ELEM, .text = "f32") */
#define QN_P_TEST(slot_, what, ...)                                                                \
	(&(const qn_pat){.kind = QN_PAT_TEST,                                                      \
			 .slot = (slot_),                                                          \
			 .narg = 1,                                                                \
			 .arg = (const qn_pat *const[]){what},                                     \
			 .test = &(const qn_pat_test){__VA_ARGS__}})
#define QN_P_DOM(slot_, parent, path, child)                                                       \
	(&(const qn_pat){                                                                          \
		.kind = QN_PAT_DOM, .slot = (slot_), .narg = QN_P_ARGS(parent, path, child)})

/* What a pattern node matched.  In the order in which the pattern is written: operands before
 * their op, from left to right. */
typedef enum qn_bound_kind {
	QN_BOUND_SLOT, /* pat has a slot, or is a leaf (ANY, CONST, INPUT, EXPR) */
	QN_BOUND_ARGS, /* a node whose inputs were not inspected */
	QN_BOUND_PATH  /* parent of a dominator, or on its path */
} qn_bound_kind;

typedef struct qn_bound {
	qn_bound_kind kind;
	bool is_first; /* of its slot */
	const qn_pat *pat;
	const qn_graph *graph; /* another one than that of the match inside of a function's body */
	qn_id value;
} qn_bound;

struct qn_match {
	qn_id root;
	qn_id at[QN_MAX_SLOTS]; /* first value of each slot; 0: not bound */
	const qn_graph *graph;
	const qn_bound *bound; /* in the matcher's memory: until its next search */
	size_t nbound;
	struct qn_reading *reading; /* set before a host gets the match (reading.h) */
};

/* ---- the matcher ---- */

/* Then a search gives up, unless it is told otherwise; a path may lead over all nodes. */
enum { QN_MATCH_STEPS = 1000000, QN_MATCH_STEPS_A_NODE = 64 };

/* Beside qn_match_flags: no answer is kept (memo.h), to compare with. */
enum { QN_MATCH_FORGET = 1 << 16 };

typedef struct qn_matcher qn_matcher;
struct qn_index;

/* Memory of searches, which one after the other share; flags: qn_match_flags. */
qn_matcher *qn_matcher_new(qn_arena *arena, uint32_t flags);
void qn_matcher_set_limit(qn_matcher *s, uint32_t steps);
/* Steps that a search in g may take. */
uint64_t qn_matcher_limit(const qn_matcher *s, const qn_graph *g);
/* Flags and limit of another one. */
void qn_matcher_set_like(qn_matcher *s, const qn_matcher *like);
/* The indices of g, made once for a graph of this size (index.h). */
struct qn_index *qn_matcher_index(qn_matcher *s, const qn_graph *g);

/* Whether p matches the value.
 *
 * A dominator matches a value of its child if every way from there against the edges comes over
 * values of its path alone to one value of its parent, which is used nowhere outside. */
bool qn_match_at(qn_matcher *s, const qn_graph *g, const qn_pat *p, qn_id root, qn_match *out);
/* The same, with the bindings only of parts that can match one value (memo.h).  For most patterns
 * the time for all values of a graph is linear in its length, because results are cached by value.
 * So the host's predicates are called once, or more often, with a value. */
bool qn_match_is(qn_matcher *s, const qn_graph *g, const qn_pat *p, qn_id root, qn_match *out);
/* Whether the last search, or all of them together, took too many steps. */
bool qn_matcher_exhausted(const qn_matcher *s);
/* Reports that (pattern.limit, limit.matching). */
qn_status qn_matcher_report(const qn_matcher *s, const qn_graph *g, qn_id value);

/* Whether the value passes; a part of the matcher (match_test.c). */
bool qn_pat_test_holds(qn_buf *text, const qn_pat_test *t, const qn_graph *g, qn_id value);

#endif
