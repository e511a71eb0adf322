/* SPDX-License-Identifier: Apache-2.0 */
/* graph_text.h - what the files that read and write models as text share: the reader's state and its
 * small steps.
 *
 * A step returns false when the text breaks the grammar: that ends the reading.  What is only
 * wrong (an unknown op, a shape that does not fit) is reported and marked, and the reading goes
 * on, so that one run reports everything. */
#ifndef QN_IR_GRAPH_TEXT_H
#define QN_IR_GRAPH_TEXT_H

#include "ir/diag.h"
#include "ir/graph.h"
#include "ir/text.h"

/* elements that splat and rand make of a few characters, for a whole text */
enum { QN_MAX_FILLED = 1 << 26 };

typedef struct qn_reader {
	qn_model *m;
	qn_text text;
	qn_map graphs; /* name -> qn_graph, those read so far */
	qn_graph *g;   /* the one being read */
	qn_map values; /* its names -> qn_id *, 0 for the values of a node with an error */
	qn_id *in;     /* inputs of the node being read */
	size_t nin, in_cap;
	int64_t filled;      /* elements made by splat and rand */
	const char *counted; /* lines are counted up to here */
	const char *line_start;
	size_t line;
	const char *syntax_id; /* of qn_read_fail; NULL: graph.syntax */
} qn_reader;

/* "file:line:column" of the next token, in the model's arena. */
const char *qn_read_place(qn_reader *r);
/* Reports graph.syntax (or r->syntax_id) at the next token; false. */
bool qn_read_fail(qn_reader *r, const char *fmt, ...) QN_PRINTF(2, 3);
bool qn_read_expect(qn_reader *r, const char *token);
/* "…" with JSON's escapes, not empty. */
bool qn_read_quoted(qn_reader *r, const char **out);
/* sigil and [A-Za-z0-9_.]+ or a quoted text. */
bool qn_read_name(qn_reader *r, const char *sigil, const char **out);
/* NULL in *out when the type is wrong (reported); the text is past it then. */
bool qn_read_type(qn_reader *r, const qn_type **out);
/* Goes on to the first of the characters in `stop` that stands outside of brackets. */
bool qn_read_skip(qn_reader *r, const char *stop);

/* "{" attributes "}", if there are any, into the op's set; *ok becomes false when one is wrong or
 * missing.  op NULL: skipped.  place: of the node, for messages. */
bool qn_read_attrs(qn_reader *r, const qn_opinfo *op, const char *place, qn_attrs *out, bool *ok);

/* The value of a constant after its type: [1, 2], splat 0.5, rand 7 or bytes "00ff".  NULL in *out
 * when it is wrong or type is NULL. */
bool qn_read_const(qn_reader *r, const qn_type *type, const qn_tensor **out);
void qn_const_print(qn_buf *b, const qn_tensor *x);

/* Names of values in another tool's file, a line for each; one of them, after the word tensor. */
void qn_foreign_names_print(qn_buf *b, const qn_model *m);
bool qn_foreign_names_read(qn_reader *r);

/* Of an input `id` after the word state: its first values, if they are not 0. */
bool qn_read_state(qn_reader *r, const qn_type *type, qn_id id);
/* to %h, where it is there: output `name` is the next value of state %h.  next: how many states have
 * one so far. */
bool qn_read_next(qn_reader *r, const char *place, const char *name, size_t *next);
/* Reports a state without a next value (state.missing). */
void qn_read_states_end(qn_reader *r, size_t next);

/* After the word streamed. */
bool qn_read_streamed(qn_reader *r);

/* The value of a name that a text gives after %; 0 when it is unknown, which is reported, or its node is wrong. */
qn_id qn_read_value(qn_reader *r, const char *place, const char *name);
/* (%x: type, …), the inputs of a graph; %name = op …, a node of it (graph_parse_node.c). */
bool qn_read_signature(qn_reader *r);
bool qn_read_node(qn_reader *r);

/* After the words param and symbol (graph_parse_symbol.c). */
bool qn_read_param(qn_reader *r);
bool qn_read_symbol(qn_reader *r);

/* graph @name(…) { … } after the word graph. */
bool qn_read_graph(qn_reader *r);

#endif
