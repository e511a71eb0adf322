/* SPDX-License-Identifier: Apache-2.0 */
/* parser.h - what the files that read compositions share.  A text is walked each time that it is used: what a
 * condition rules out is read, but not computed.
 *
 *   signature.c    graph @gru(%x, %w, %b?) {direction: "forward" | "reverse" = "forward"} onnx "GRU" since 7
 *   statement.c    if, for, require, return, %y = …
 *   expression.c   hidden * 2, %x.dim[1], [a, b], has %b ? 1 : 0
 *   parts.c        [i * 2 for i in n], %x.dim, list[0]
 *   function.c     min(a, b), len(list) …
 *   node.c         conv2d %x, %w, @cell %x, %h
 *   attributes.c   {stride = [s, s]} : tensor<{n}x4xf32> */
#ifndef QN_LIB_PARSER_H
#define QN_LIB_PARSER_H

#include "ir/diag.h"
#include "ir/graph_text.h"
#include "lib/lib.h"

enum { QN_LIB_NEST = 64 };  /* brackets and blocks inside each other */
enum { QN_LIB_MOST = 256 }; /* operands and attributes of a graph, results of a call */

typedef struct qn_lib_param {
	const char *name;
	bool optional, rest; /* rest: the last operand, any number of values */
} qn_lib_param;

typedef struct qn_lib_setting {
	const char *name;
	qn_item_kind kind, of; /* of: of the items of a list */
	bool optional, has_default;
	qn_item dflt;
	size_t nword; /* of an enumeration */
	const char *const *word;
} qn_lib_setting;

typedef struct qn_lib_def {
	const char *name;
	const qn_lib_file *file;
	size_t nparam, nsetting;
	qn_lib_param *param;
	qn_lib_setting *setting;
	size_t body;  /* where the text continues after "{" */
	qn_map names; /* plain names that the text defines */
	bool checked;
	const qn_lib_operator *operators;
	struct qn_lib_def *next; /* of the file */
} qn_lib_def;

typedef enum qn_lib_mode {
	QN_LIB_RUN,
	QN_LIB_SKIP, /* read over */
	QN_LIB_CHECK /* read once as a whole: all names must be known */
} qn_lib_mode;

/* A list that grows. */
typedef struct qn_lib_items {
	qn_item *at;
	size_t n, cap;
} qn_lib_items;

/* A graph being walked. */
typedef struct qn_lib_walk {
	qn_lib *lib;
	qn_lib_def *def;
	qn_reader r;
	qn_lib_mode mode;
	const char *at; /* where the statement begins; NULL: outside of one */
	/* the only value that it defines, or that the call of the graph does; NULL: none */
	const char *target;
	qn_map vars;   /* name, with % for values -> qn_item */
	size_t wanted; /* results that the caller takes */
	bool returned;
	bool strict;    /* attributes that the signature does not have are errors */
	qn_item result; /* a list */
	int nest;
} qn_lib_walk;

/* Reads the signatures of a file into file->def; texts and names are in arena a. */
bool qn_lib_read_file(qn_model *m, qn_lib_file *file);
/* Compares what a call gives with the signature, and defines the names. */
bool qn_lib_bind(qn_lib_walk *w, const qn_item *operand, size_t noperand, const qn_lib_attr *attr,
		 size_t nattr);

/* A graph with these operands, as w calls it; its results are a list. */
bool qn_lib_expand(qn_lib_walk *w, const char *name, size_t noperand, const qn_item *operand,
		   size_t nattr, const qn_lib_attr *attr, size_t wanted, qn_item *out);
/* The graph of this name, for one of the library or of a file that was added; NULL: there is none. */
qn_lib_def *qn_lib_find(qn_lib *lib, bool added, const char *name);
/* Walks a graph once without computing anything. */
bool qn_lib_check_def(qn_lib *lib, qn_lib_def *def);

/* Reports at the statement, with the node of the model that uses the text; false. */
bool qn_lib_fail(qn_lib_walk *w, const char *id, const char *fmt, ...) QN_PRINTF(3, 4);
/* "gru.qir:12:5" of the statement. */
const char *qn_lib_place(const qn_lib_walk *w);
/* Whether one more thing of this size may be computed (lib.work). */
bool qn_lib_may(qn_lib_walk *w, uint64_t n);
/* Whether so many items, which are there, may be looked at. */
bool qn_lib_may_look(qn_lib_walk *w, size_t n);
/* The same of so much text, which may be read again and again. */
bool qn_lib_may_read(qn_lib_walk *w, size_t bytes);

bool qn_lib_push(qn_lib_walk *w, qn_lib_items *list, const qn_item *x);
/* A text in quotes at the cursor; "" where it is read over. */
bool qn_lib_quoted(qn_lib_walk *w, const char **out);
/* The text of these bytes, which the lib keeps once. */
const char *qn_lib_intern(qn_lib *lib, const char *s, size_t n);

/* A name without dots, [A-Za-z_][A-Za-z0-9_]*; NULL: there is none. */
const char *qn_lib_word(qn_lib_walk *w);
/* The same after the sigil, which stays in front of it. */
const char *qn_lib_value_name(qn_lib_walk *w);
const qn_item *qn_lib_var(const qn_lib_walk *w, const char *name);
void qn_lib_set(qn_lib_walk *w, const char *name, const qn_item *x);

bool qn_lib_block(qn_lib_walk *w);
bool qn_lib_expression(qn_lib_walk *w, qn_item *out);
/* After "[" of a list; after "." of a value; after "[" that follows an expression. */
bool qn_lib_list(qn_lib_walk *w, qn_item *out);
bool qn_lib_property(qn_lib_walk *w, qn_item *x);
bool qn_lib_indexed(qn_lib_walk *w, qn_item *x);
/* An expression that only has to be read. */
bool qn_lib_skip_expression(qn_lib_walk *w);
/* a + b and so on: op is one of "+-*" and "/", or "<=" … of two items. */
bool qn_lib_combine(qn_lib_walk *w, const char *op, const qn_item *a, const qn_item *b,
		    qn_item *out);
/* name(…) of the table, in *out; *found false: there is no such function. */
bool qn_lib_function(qn_lib_walk *w, const char *name, size_t n, const qn_item *arg, qn_item *out,
		     bool *found);

/* After the name of an op; after its operands; after "@" of a call. */
bool qn_lib_op(qn_lib_walk *w, const char *name, qn_item *out);
bool qn_lib_op_with(qn_lib_walk *w, const char *name, size_t n, const qn_item *operand,
		    qn_item *out);
bool qn_lib_called(qn_lib_walk *w, size_t wanted, qn_item *out);
bool qn_lib_is_op(const qn_lib_walk *w, const char *name);
/* {name = value, …} of an op, if it is there; a type. */
bool qn_lib_attrs(qn_lib_walk *w, const qn_opinfo *op, qn_attrs *out);
bool qn_lib_type(qn_lib_walk *w, const qn_type **out);
/* A node of two values or numbers, which become constants. */
bool qn_lib_binary(qn_lib_walk *w, qn_op op, const qn_item *a, const qn_item *b, qn_item *out);
/* A node or constant by its parts; 0 after a report. */
qn_id qn_lib_make(qn_lib_walk *w, const qn_lib_node *n);

#endif
