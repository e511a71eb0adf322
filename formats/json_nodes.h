/* SPDX-License-Identifier: Apache-2.0 */
/* json_nodes.h - names of a graph that is read, and what they stand for (private to json_node.c
 * and json_nodes.c). */
#ifndef QN_FORMATS_JSON_NODES_H
#define QN_FORMATS_JSON_NODES_H

#include "formats/json_read.h"

typedef enum qn_json_state {
	QN_ENTRY_NEW,
	QN_ENTRY_OPEN,
	QN_ENTRY_DONE,
	QN_ENTRY_FAILED
} qn_json_state;

/* A name of the graph. */
typedef struct qn_json_entry {
	const qn_json *v;
	qn_json_state state;
	bool is_node;                /* of the section "nodes" */
	qn_id id;                    /* when QN_ENTRY_DONE */
	qn_node like;                /* without inputs */
	const qn_opinfo *info;       /* of like.op */
	struct qn_json_entry **in;   /* like.nin of them */
	uint32_t next;               /* QN_ENTRY_OPEN: the input to look at */
	struct qn_json_entry *below; /* QN_ENTRY_OPEN: the entry that needs it */
	struct qn_json_entry *behind,
		**last; /* constants to be added after this node, and where to append one */
	struct qn_json_entry *sibling; /* the next constant after the same node */
} qn_json_entry;

typedef struct qn_json_nodes {
	qn_json_reader *r;
	qn_graph *g;
	qn_map names; /* -> qn_json_entry */
	qn_map outputs;
	qn_json_entry *node; /* those of the section "nodes" */
	size_t n;
	qn_json_entry *constant;
	size_t nconstant;
	size_t nnext;    /* states that have a next value so far */
	bool disordered; /* an input comes after a state, which is reported */
} qn_json_nodes;

/* ---- states (json_state.c); report state.order and state.missing ---- */

/* Whether an input that was read is a state, and its first values. */
void qn_json_read_state(qn_json_nodes *s, const qn_json_entry *e);
/* Whether the output v of this name is the next value of one. */
void qn_json_next(qn_json_nodes *s, const qn_json *v, const char *name);
void qn_json_states_end(const qn_json_nodes *s, const qn_json *outputs);

/* Reads a node of the section "nodes" by itself into e->like, e->info and e->in; false: it has a
 * mistake. */
bool qn_json_node(qn_json_nodes *s, qn_json_entry *e);

/* Reports graph.value.undefined at the string v, with the nearest name of the graph (only_nodes:
 * of its nodes alone). */
void qn_json_unknown_value(const qn_json_nodes *s, const qn_json *v, bool only_nodes);

#endif
