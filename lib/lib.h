/* SPDX-License-Identifier: Apache-2.0 */
/* lib.h - compositions: what an operator of another tool means in our ops, as text (docs/compositions.md).
 *
 *   graph @swoosh(%x) {alpha: real = 4.0} onnx "com.acme" "Swoosh" {
 *     %y = sigmoid(%x - alpha)
 *     return %y - 0.08 * %x
 *   }
 *
 * The texts lib/ *.qir are part of the library; a host or a user adds files of their own.  A reader of models
 * calls a composition by its name, with values of the graph that it makes: each node of the text becomes a node
 * of that graph, made by the reader's own function, which names, folds and counts it as it does with all nodes.
 *
 *   reader of ONNX -- operator, values, attributes -->  lib  -- ops, types, constants -->  host: qn_lib_host */
#ifndef QN_LIB_LIB_H
#define QN_LIB_LIB_H

#include "lib/item.h"

/* A file of compositions. */
typedef struct qn_lib_file {
	const char *name; /* for messages */
	const char *text;
	size_t n;
	bool added;                              /* by qn_lib_add */
	struct qn_lib_def *def;                  /* the first of its graphs */
	const struct qn_lib_operator *operators; /* that they stand for */
	size_t nline;
	const size_t *line; /* where lines begin */
	const struct qn_lib_file *next;
} qn_lib_file;

/* An operator that a composition stands for. */
typedef struct qn_lib_operator {
	const char *domain; /* of ONNX, "": ai.onnx */
	const char *name;   /* "GRU" */
	const char *graph;  /* its composition */
	int32_t since;      /* version of its operator set */
	bool tflite;
	bool plain; /* the composition has no attributes; known of those that were added */
	const struct qn_lib_operator *next;
} qn_lib_operator;

/* Those of the library itself, made when it is built; ends with a name of NULL. */
extern const qn_lib_operator qn_lib_operators[];

/* Reads a file of compositions, which is checked as a whole, and adds it to those of env; memory from arena a, which lives
 * as long as env.  Ids: lib.syntax, lib.name, lib.operator … */
qn_status qn_lib_add(qn_env *env, qn_arena *a, const char *file, const char *text,
		     size_t n) QN_MUST_CHECK;
/* Checks all texts of the library itself; QN_OK unless one is wrong. */
qn_status qn_lib_check(qn_env *env, qn_arena *a) QN_MUST_CHECK;

/* A node that a composition asks for. */
typedef struct qn_lib_node {
	qn_op op;
	const qn_opinfo *info; /* its row */
	uint32_t nin;
	const qn_id *in;
	const qn_attrs *attrs;
	const qn_type *type;    /* NULL: inferred */
	const qn_tensor *value; /* of a const */
	const char *name;       /* of the value of the text that it is a part of; NULL: of none */
} qn_lib_node;

typedef struct qn_lib_host {
	void *user;
	/* Makes the node; 0 after a report. */
	qn_id (*node)(void *user, const qn_lib_node *n);
	/* Where the text is that the next nodes come from ("gru.qir:12:5"); NULL: not in a text any more. */
	void (*at)(void *user, const char *place);
	/* Reports what is wrong with the model's node, or, with a place, with the text. */
	void (*refuse)(void *user, const char *id, const char *place, const char *message);
} qn_lib_host;

/* The compositions that a reader calls. */
typedef struct qn_lib {
	qn_model *m;
	qn_graph *g; /* being made; NULL: texts are only checked */
	qn_arena *a; /* of temporary data */
	const qn_lib_host *host;
	/* name -> qn_lib_def: of the library; of files that were added, which see both, theirs first */
	qn_map defs, added;
	qn_map words;           /* names in texts, each once */
	uint64_t room;          /* bytes that lists may still take */
	uint64_t work;          /* expressions that may still be computed */
	int depth;              /* of calls */
	int64_t version, times; /* `version` and `limit` of texts */
	qn_item declared;       /* and `declared` */
} qn_lib;

/* work: a multiple of what is allowed by default. */
void qn_lib_open(qn_lib *lib, qn_model *m, qn_graph *g, qn_arena *a, const qn_lib_host *host,
		 uint64_t work);

typedef struct qn_lib_attr {
	const char *name;
	qn_item value;
} qn_lib_attr;

typedef struct qn_lib_call {
	const char *graph;
	bool added; /* of a file that was added */
	uint32_t nin, nout;
	const qn_id *in; /* 0: left out */
	int64_t version; /* of the operator's set, `version` in the text */
	/* Of each result the dimensions that the file declares (-1: open), an empty list where it declares none; `declared`. */
	size_t ndeclared;
	const qn_item *declared;
	size_t nattr;
	const qn_lib_attr *attr;
} qn_lib_call;

/* The results, out[0] .. out[nout - 1], 0 where the text returns none; false after a report. */
bool qn_lib_run(qn_lib *lib, const qn_lib_call *call, qn_id *out);

/* The composition of an operator among those that were added, or NULL. */
const qn_lib_operator *qn_lib_added(const qn_env *env, bool tflite, const char *domain,
				    const char *name);

#endif
