/* SPDX-License-Identifier: Apache-2.0 */
/* override.h - custom kernels (quern/kernels.h): which of them a node on quantized values gets.
 *
 *   dense(i8, i8 block 32) 'fc'     acme.wide   salience 9   declines: fewer than 64 outputs
 *                                   acme.q8     salience 2   chosen, with 5 parameters */
#ifndef QN_RUNTIME_OVERRIDE_H
#define QN_RUNTIME_OVERRIDE_H

#include "ir/graph.h"
#include "ir/host_function.h"
#include "quern/kernels.h"

enum { QN_OVERRIDE_OPERANDS = 32 };

/* What an operand must be. */
typedef struct qn_operand_form {
	qn_plain elem;  /* QN_NPLAIN: any */
	int64_t block;  /* elements of a block along the last axis; 0: no blocks */
	bool any_block; /* blocks of any shape */
	bool anything;
} qn_operand_form;

typedef struct qn_override {
	qn_kernel_desc desc; /* texts are copies */
	qn_op op;
	qn_host_function function;
	qn_operand_form in[QN_OVERRIDE_OPERANDS], out;
	struct qn_override *next; /* of a smaller salience, or of the same and registered before */
} qn_override;

typedef struct qn_override_declined {
	const qn_override *by;
	const char *why;
} qn_override_declined;

typedef struct qn_override_choice {
	const qn_override *by; /* NULL: no custom kernel */
	int32_t *param;
	int nparam;
	size_t ndeclined; /* those that match but do not run it, in the order of the dispatch */
	qn_override_declined *declined;
} qn_override_choice;

/* Checks a descriptor whose op may be overridden and adds it to env->overrides; memory from arena a,
 * which must live as long as env.  Error kernel.register. */
qn_status qn_override_register(qn_env *env, qn_arena *a, qn_op op,
			       const qn_kernel_desc *desc) QN_MUST_CHECK;
/* false: the name is unknown. */
bool qn_override_remove(qn_env *env, const char *name);

/* The choice for node n, in arena a; NULL where no kernel of the host matches it.  emitted: for C, to which
 * kernels without text do not belong if the rules leave them to the interpreter. */
qn_override_choice *qn_override_choose(const qn_graph *g, const qn_node *n, bool emitted,
				       qn_arena *a);
/* Whether one matches the node and does not decline. */
bool qn_is_overridden(const qn_graph *g, const qn_node *n, bool emitted, qn_arena *a);

/* The operand or result of this type as callbacks see it (override_view.c); value: of a constant, or NULL. */
qn_kernel_operand *qn_override_view(const qn_types *t, const qn_type *type, const qn_tensor *value,
				    qn_arena *a);

#endif
