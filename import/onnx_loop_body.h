/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_loop_body.h - what the body of a Loop does with its states and with the number of the step. */
#ifndef QN_IMPORT_ONNX_LOOP_BODY_H
#define QN_IMPORT_ONNX_LOOP_BODY_H

#include "import/onnx_repeat.h"

typedef enum qn_loop_state {
	QN_LOOP_CARRIED, /* changes from step to step */
	QN_LOOP_KEPT,    /* is the same in all steps */
	QN_LOOP_COUNTS, /* an integer that is known in each step: what it follows from is known, too */
	QN_LOOP_OTHER /* integers that are known at first: they may be shapes */
} qn_loop_state;

typedef struct qn_loop_body {
	qn_onnx *o;
	const qn_onnx_node *node; /* Loop */
	const struct Onnx__GraphProto *body;
	uint32_t nstate;
	qn_loop_state *state;
	bool *is_number; /* by state that counts: it is the number of the step */
	qn_map makers;   /* name of a value -> its node, of the array of the body */
	qn_map origins;  /* result of an Identity -> the name of what it is */
	qn_map states;   /* input of the body -> its state, of the array above */
} qn_loop_body;

/* false: names or values are missing. */
bool qn_loop_body_init(qn_loop_body *b, qn_onnx *o, const qn_onnx_node *n, const qn_onnx_repeat *r);
/* The body's value that `name` is, through Identity. */
const char *qn_loop_body_origin(const qn_loop_body *b, const char *name);
/* The nodes that the outputs of the body follow from, those of `wanted` alone; false: a node has bodies that are nested
 * too deep.  part: the body with these nodes, until the read ends. */
bool qn_loop_body_part(const qn_loop_body *b, const bool *wanted, struct Onnx__GraphProto *part);
/* Whether the nodes that the condition and the counters follow from read nothing that changes from step to step. */
bool qn_loop_body_counts(const qn_loop_body *b, const struct Onnx__GraphProto *part);
/* Whether these nodes take the number of the step, and counters, only to say which slice they read of values from
 * outside of the body. */
bool qn_loop_body_slices(const qn_loop_body *b, const struct Onnx__GraphProto *part);

#endif
