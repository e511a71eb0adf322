/* SPDX-License-Identifier: Apache-2.0 */
/* custom.h - operators that the host registers.  A node of one is of op `custom` and finds its
 * descriptor through its attributes, so that whoever copies a node's op and attributes copies
 * all of it:
 *
 *   node.op = QN_OP_custom    node.attr->custom = {op, values}    op->info: name, arity, shape rule … */
#ifndef QN_IR_CUSTOM_H
#define QN_IR_CUSTOM_H

#include "ir/graph.h"
#include "ir/host_function.h"
#include "quern/host_ops.h"

typedef struct qn_custom {
	qn_opinfo info; /* the row, as a built-in op has one in ops.def */
	qn_attr_set_info attrs;
	qn_attr_info attr[QN_MAX_OP_ATTRS];
	qn_op_desc desc; /* texts are copies */
	qn_host_function function;
	const struct qn_custom *next;
} qn_custom;

/* Checks desc and adds it to env->customs; memory from arena a, which must live as long as env.
 * Error op.register. */
qn_status qn_custom_register(qn_env *env, qn_arena *a, const qn_op_desc *desc) QN_MUST_CHECK;

/* The call of a node as callbacks see it; its arrays in arena a.  Types are plain f32 or quantized
 * with one scale; of constants that a quantizer pattern stored as weights or a bias, as it did. */
qn_op_call qn_custom_call(const qn_graph *g, const qn_node *n, qn_arena *a);

/* A type as callbacks see it: of a type in blocks with the scales of all blocks. */
const qn_op_type *qn_custom_view(const qn_types *t, const qn_type *type, qn_arena *a);

static inline const qn_op_desc *
qn_custom_desc(const qn_node *n)
{
	return &n->attr->custom.op->desc;
}

#endif
