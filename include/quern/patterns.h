/* SPDX-License-Identifier: Apache-2.0 */
/* patterns.h - patterns over graphs: search, rewrite rules, partitions, and quantizer patterns,
 * which say how a part of a graph is quantized (docs/patterns.md).
 *
 *   qn_pattern *p;
 *   qn_pattern_parse(ctx, "relu(c=conv2d(x, const){stride=[1,1]} ?bias_add(_, b))", &p);
 *   qn_pattern_match(p, qn_model_main(m), 0, NULL, print_match, NULL, NULL);     all matches
 *
 *   const qn_rewrite_rule rule = {.name = "soften", .pattern = p, .fn = soften};
 *   qn_rewrite_model(m, 1, &rule, NULL, NULL);                                  replaces them
 *   qn_cut_model(m, p, NULL, NULL);          … or makes each a graph */
#ifndef QUERN_PATTERNS_H
#define QUERN_PATTERNS_H

#include "quern/calibrate.h"
#include "quern/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- patterns ---- */

/* What a value may look like; made from text or by the functions below.  Lives as long as the
 * context and is used with it alone (pattern.context).  A pattern that stands in several
 * positions matches one and the same value at all of them.  A function that makes one returns
 * NULL after reporting an error (pattern.…), and so does one that is passed a NULL pattern, without
 * a report. */
typedef struct qn_pattern qn_pattern;
/* What is called: an operator, any operator, a function.  Not a pattern by itself. */
typedef struct qn_callee qn_callee;

/* From text, "relu(c=conv2d(x, const){stride=[1,1]} ?bias_add(_, b))".  QN_EUSAGE: the diagnostic
 * names the column. */
QN_API qn_status qn_pattern_parse(qn_ctx *ctx, const char *text, qn_pattern **out);
/* Its text, which reads back as a pattern that matches the same.  QN_EUSAGE (pattern.depth): too
 * large for a text. */
QN_API qn_status qn_pattern_print(const qn_pattern *p, qn_write_fn *write, void *user);

/* Not 0: the value passes.  Called in any order and number. */
typedef int qn_predicate_fn(void *user, const qn_graph *g, qn_id value);
/* Defines a word for `where` in texts that are read from now on, beside `scalar` (one element)
 * and `output`. */
QN_API qn_status qn_pattern_predicate(qn_ctx *ctx, const char *word, qn_predicate_fn *fn,
				      void *user);

/* Any value; any constant; a constant whose elements all are this finite number. */
QN_API qn_pattern *qn_pat_any(qn_ctx *ctx);
QN_API qn_pattern *qn_pat_const(qn_ctx *ctx);
QN_API qn_pattern *qn_pat_number(qn_ctx *ctx, double value);
/* An input of the graph; name NULL: any. */
QN_API qn_pattern *qn_pat_input(qn_ctx *ctx, const char *name);
/* What is computed the same way as v of g, which must live as long as the pattern is used. */
QN_API qn_pattern *qn_pat_expr(qn_ctx *ctx, const qn_graph *g, qn_id v);

/* The operator of this name.  Error: pattern.op. */
QN_API qn_callee *qn_callee_op(qn_ctx *ctx, const char *name);
/* Any operator, any function. */
QN_API qn_callee *qn_callee_any(qn_ctx *ctx);
/* Operators of this behaviour under quantization: "MIX", "SAME" … (docs/ir.md) */
QN_API qn_callee *qn_callee_class(qn_ctx *ctx, const char *name);
/* A graph of the model that has one output.  nparam < 0: any parameters. */
QN_API qn_callee *qn_callee_fn(qn_ctx *ctx, int nparam, qn_pattern *const *param, qn_pattern *body);

/* narg < 0: any number of arguments, none inspected.  Error: pattern.arity, more than it takes. */
QN_API qn_pattern *qn_pat_call(qn_ctx *ctx, const qn_callee *callee, int narg,
			       qn_pattern *const *arg);
QN_API qn_pattern *qn_pat_tuple(qn_ctx *ctx, int n, qn_pattern *const *field); /* n < 0: any */
QN_API qn_pattern *qn_pat_get(qn_ctx *ctx, qn_pattern *tuple, int index);      /* index < 0: any */
/* a, else b. */
QN_API qn_pattern *qn_pat_alt(qn_ctx *ctx, qn_pattern *a, qn_pattern *b);
/* p, else what wrap makes of p. */
typedef qn_pattern *qn_pat_wrap_fn(void *user, qn_ctx *ctx, qn_pattern *p);
QN_API qn_pattern *qn_pat_optional(qn_ctx *ctx, qn_pattern *p, qn_pat_wrap_fn *wrap, void *user);
/* child, all of whose inputs come over values of path alone from one value of parent, which
 * nothing outside uses; constants and inputs of the graph that calls on the way read are passed
 * over.  path NULL: anything. */
QN_API qn_pattern *qn_pat_dominator(qn_ctx *ctx, qn_pattern *parent, qn_pattern *path,
				    qn_pattern *child);
/* p with attributes, "stride=[2,2], padding=same". */
QN_API qn_pattern *qn_pat_attrs(qn_ctx *ctx, qn_pattern *p, const char *attrs);
/* p with a type: "f32", "[1,?,8]", "f32[1,?,8]", "quant", or a whole one, "tensor<1x8xf32>". */
QN_API qn_pattern *qn_pat_type(qn_ctx *ctx, qn_pattern *p, const char *type);
/* p where fn returns not 0; name: the word that is printed for it. */
QN_API qn_pattern *qn_pat_where(qn_ctx *ctx, qn_pattern *p, const char *name, qn_predicate_fn *fn,
				void *user);
/* p under a name, for qn_match_get and texts. */
QN_API qn_pattern *qn_pat_named(qn_ctx *ctx, qn_pattern *p, const char *name);
/* Makes a wildcard stand for target, in which it may occur: a recursive pattern.  Once
 * (pattern.redirect). */
QN_API qn_status qn_pat_redirect(qn_ctx *ctx, qn_pattern *wildcard, qn_pattern *target);

/* ---- matches ---- */

typedef enum qn_match_flags {
	/* alternatives and swapped operands are not tried again once they matched their own part,
	 * as in TVM */
	QN_MATCH_GREEDY = 1,
	/* div(mul(a, b), c) matches mul(a, div(b, c)) too, and the other way round */
	QN_MATCH_REASSOC = 2,
	/* constants and inputs of the graph count like any value on the path of a dominator, as
	 * in earlier releases of TVM */
	QN_MATCH_NO_PATH_CONST = 4
} qn_match_flags;

typedef struct qn_match_opts { /* all zero: defaults */
	size_t size;
	unsigned flags; /* of qn_match_flags */
	/* Steps of the search at one value, then QN_EBUDGET (pattern.limit); 0: 10^6, and 64 for
	 * each node. All together: qn_limits.matching. */
	uint32_t steps;
} qn_match_opts;

/* A match; lives for the duration of the call that it is passed to. */
typedef struct qn_match qn_match;
/* Anything but 0 ends the search. */
typedef int qn_match_fn(void *user, const qn_match *m);

/* Whether p matches value v of the graph, or with v = 0 each value, from the last one down: fn
 * (may be NULL) is called for each match, *count (may be NULL) is their number. */
QN_API qn_status qn_pattern_match(const qn_pattern *p, qn_graph *g, qn_id v,
				  const qn_match_opts *opts, qn_match_fn *fn, void *user,
				  size_t *count);

QN_API qn_id qn_match_root(const qn_match *m);
/* Value i that the part p of the pattern matched, 0 after the last: one, except for a part on the
 * path of a dominator, inside of itself, or in an alternative that was not taken.  Parts of a
 * function's body match values of that function's graph. */
QN_API qn_id qn_match_value(const qn_match *m, const qn_pattern *p, size_t i);
/* The first value of a named part, or 0. */
QN_API qn_id qn_match_get(const qn_match *m, const char *name);

typedef struct qn_binding {
	const char *name;
	qn_id value;
	const qn_graph
		*graph; /* the graph of the value: not the match's inside of a function's body */
} qn_binding;
/* Named part i in the order of the pattern; name NULL after the last. */
QN_API qn_binding qn_match_binding(const qn_match *m, size_t i);

/* ---- rewrite rules and partitions ---- */

typedef enum qn_group_flags {
	/* a value inside of a match may be read outside by what only the root needs: it is
	 * computed twice */
	QN_ALLOW_DUP = 1,
	QN_OVERLAP = 2, /* a value may lie inside of several matches and be read anywhere */
	QN_ONCE = 4,    /* rules: at most one pass that changes something */
	/* partitions: what `check` refuses still excludes its values from other matches, as in
	 * TVM */
	QN_CHECK_LATE = 8
} qn_group_flags;

/* Returns the value of g (the graph under construction, to which it may add) that replaces the
 * root of the match; qn_match_root(m): leave it; 0: an error.  m holds values of g; before,
 * before_root: the same root as it was before this pass. */
typedef qn_id qn_rewrite_fn(void *user, qn_graph *g, const qn_match *m, const qn_graph *before,
			    qn_id before_root);

/* Stands in an array. */
typedef struct qn_rewrite_rule {
	size_t size;      /* sizeof(qn_rewrite_rule) */
	const char *name; /* for messages; NULL: none */
	const qn_pattern *pattern;
	qn_rewrite_fn *fn;
	void *user;
	unsigned flags; /* of qn_group_flags */
} qn_rewrite_rule;

/* Runs the rules in order over the entry graph, each on all its matches whose inner values are
 * read nowhere else, round after round until a round changes nothing.  The result of fn must have
 * the type of the root (rewrite.type).  Error: rewrite.fixpoint, the rules still change something
 * after 100 passes.  On failure the model is as it was.  *passes (may be NULL): how many passes
 * were run, one a rule and round. */
QN_API qn_status qn_rewrite_model(qn_model *m, size_t n, const qn_rewrite_rule *rules,
				  const qn_match_opts *opts, size_t *passes);

typedef struct qn_cut_opts { /* all zero: defaults */
	size_t size;
	const char *label; /* of the new graphs: "<root>.<label>"; NULL: "part" */
	size_t nattr;      /* attributes of the new graphs: texts, not empty */
	const char *const *key, *const *value;
	int (*check)(void *user, const qn_graph *g,
		     qn_id root); /* 0: refuses a match; NULL: takes all */
	void *user;
	unsigned flags; /* of qn_group_flags */
	const qn_match_opts *match;
} qn_cut_opts;

/* Moves each match into a graph of its own, called from where its root was.  Its inputs are what
 * the leaves of the pattern matched, constants only where the pattern does not ask for a
 * constant.  The attribute "PartitionedFromPattern" of the graph lists its operators:
 * "conv2d_bias_add_relu_". Matches are found from the outputs up, share no inner values and none
 * that is read elsewhere; so a longer pattern is run first.  *count (may be NULL): how many. */
QN_API qn_status qn_cut_model(qn_model *m, const qn_pattern *p, const qn_cut_opts *opts,
			      size_t *count);

/* ---- quantizer patterns ----
 *
 * A quantizer pattern recognizes a part of a float graph and builds the quantized graph of it:
 *
 *   bias_add(c=conv2d(x, w), b)  ->  dequantize(conv2d(quantize(x): $c.x, quantize(w): $c.w, quantize(b): $c.x*$c.w))
 *
 * The quantized graph takes float values and returns a float value of the same type, so matches
 * stay independent of each other: what happens between a dequantize and the next quantize is the
 * requantizer's work. */

/* One match while its quantized graph is built; lives for the duration of the callback that it is
 * passed to. */
typedef struct qn_quantizing qn_quantizing;

/* A rule of the quantizer; stands in an array.  Texts live as long as the call that they are
 * passed to. */
struct qn_quantizer {
	size_t size; /* sizeof(qn_quantizer) */
	/* the composites carry it; the name of a standard pattern replaces that one */
	const char *name;
	const char *text;          /* the pattern, "relu(x)"; or NULL and */
	const qn_pattern *pattern; /* … one of the same context */
	/* 0: declines the match of values of g, with a reason (static text) in *why, which may be
	 * NULL.  NULL: takes all. */
	int (*accept)(void *user, const qn_graph *g, const qn_match *m, const char **why);
	/* Returns a float value of the type of the match's root; 0: an error (quantize.callback).
	 * m holds values of the graph under construction: the inputs of the match; its root and
	 * what lies inside are 0. */
	qn_id (*quantize)(void *user, qn_quantizing *q, const qn_match *m);
	/* Finds the values of the symbols (quern/calibrate.h); NULL: the method of the options
	 * does. */
	qn_status (*calibrate)(void *user, qn_info *info);
	void *user;
};

/* What the options, and a recipe, say about this match. */
typedef struct qn_quantizing_info {
	size_t size; /* of the struct in this library */
	qn_scheme_kind scheme;
	qn_activations activations;
	qn_weights_type weights_type;
	int per_tensor_weights; /* not 0: one scale for a weight tensor */
	int weight_block; /* not 0: weights with a scale of their own, where there are kernels for it */
} qn_quantizing_info;

/* Lives as long as q. */
QN_API const qn_quantizing_info *qn_quantizing_options(const qn_quantizing *q);
/* The graph under construction, on which qn_add_op and qn_add_const work. */
QN_API qn_graph *qn_quantizing_graph(qn_quantizing *q);
/* The float graph of the match alone, and the match in it. */
QN_API const qn_graph *qn_quantizing_before(const qn_quantizing *q);
QN_API const qn_match *qn_quantizing_match(const qn_quantizing *q);
/* What stands for value v of the float graph in the one under construction: 0 unless it is one of
 * its inputs. */
QN_API qn_id qn_quantizing_value(const qn_quantizing *q, qn_id v);

/* The following add a node to the graph under construction and return it, 0 after reporting an
 * error or when they are passed a 0.  A name may be NULL, as in quern/graph.h. */

/* quantize(x) with a fresh symbol "$owner.operand" (with a number when it is taken), stored as
 * activations are: one scale, with a zero point unless the scheme or the storage is symmetric. */
QN_API qn_id qn_quantize_activation(qn_quantizing *q, qn_id x, const char *owner,
				    const char *operand);
/* … stored as weights are: -127 … 127 or -7 … 7, zero point 0.  axis >= 0: a scale for each index
 * of it; -1: one. */
QN_API qn_id qn_quantize_weights(qn_quantizing *q, qn_id x, const char *owner, const char *operand,
				 int axis);

/* A storage type and the granularity of its scales. */
typedef struct qn_quant_type { /* all zero but bits: unsigned, per tensor, any zero point */
	size_t size;
	int bits; /* 2 … 16 */
	int is_signed;
	int symmetric; /* 1: zero point 0 */
	int narrow;    /* 1: without the smallest value: -127 … 127 */
	int per_axis;  /* 1: a scale for each index of axis */
	int axis;
} qn_quant_type;
/* … stored as `type` says. */
QN_API qn_id qn_quantize_symbol(qn_quantizing *q, qn_id x, const char *owner, const char *operand,
				const qn_quant_type *type);
/* quantize(x) in units of scale(a) * scale(w), zero point 0, as i32, or as i64 where activations
 * are i16: a bias.  a, w: quantized values; where w has a scale for each index of an axis, so has
 * x along its own axis 0. */
QN_API qn_id qn_quantize_bias(qn_quantizing *q, qn_id x, const char *name, qn_id a, qn_id w);
/* quantize(x) with these parameters; of type, bits, is_signed and narrow count. */
QN_API qn_id qn_quantize_fixed(qn_quantizing *q, qn_id x, const char *name,
			       const qn_quant_type *quantized, double scale, int64_t zero_point);
/* quantize(x) with the parameters that the arithmetic of a FIXED operator, value v of the float
 * graph, gives its result. */
QN_API qn_id qn_quantize_result(qn_quantizing *q, qn_id x, const char *name, qn_id v);
QN_API qn_id qn_dequantize(qn_quantizing *q, qn_id x, const char *name);
/* The operator of value v of the float graph with its attributes on other inputs. */
QN_API qn_id qn_quantizing_op(qn_quantizing *q, qn_id v, const char *name, size_t n,
			      const qn_id *in);

/* ---- what happened to matches ---- */

/* A match of a quantizer pattern that was considered.  Texts live as long as the model. */
struct qn_explained {
	/* "partition": taken, skipped or declined; "quantize": those that were taken once more */
	const char *pass;
	const char *pattern, *root;
	const char *why; /* why it was skipped or declined; NULL: it was taken */
	size_t nin;      /* inputs of the match, unless declined */
	const char *const *in;
	size_t nsymbol; /* symbols that its quantized graph got ("quantize") */
	const char *const *symbol;
};

#ifdef __cplusplus
}
#endif
#endif
