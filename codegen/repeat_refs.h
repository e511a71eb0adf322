/* SPDX-License-Identifier: Apache-2.0 */
/* repeat_refs.h - what the statements of steps refer to, and which steps are equal but for that.
 *
 *   qn_norm_s16(&net_blk_1_norm_args, (int16_t *)(void *)(s + 8448), net_blk_1_norm_weight, NULL, …)
 *                ^ struct                                   ^ offset  ^ constant
 *
 * Only the words of the statements are looked at, so nothing that a kernel prints is missed. */
#ifndef QN_CODEGEN_REPEAT_REFS_H
#define QN_CODEGEN_REPEAT_REFS_H

#include "codegen/emitter.h"
#include "codegen/repeats.h"

typedef enum qn_ref_kind {
	QN_REF_STRUCT,   /* an argument struct, with the & before it */
	QN_REF_CONSTANT, /* an array: a constant, or argument structs */
	QN_REF_STATE,    /* with the "state->" before it */
	QN_REF_OFFSET,   /* what is added to a place; no text: nothing is */
	QN_REF_TRACE,    /* the number of the step */
	QN_REF_BYTES     /* of its result, for the trace */
} qn_ref_kind;

typedef struct qn_repeat_ref {
	qn_ref_kind kind;
	const char *at; /* in e->run */
	size_t n;
	size_t step;
	const char *type;    /* of what it points to; NULL: it is a number */
	const char *element; /* of a state */
} qn_repeat_ref;

typedef struct qn_repeat_refs {
	const qn_emitter *e;
	const size_t *at; /* where the statements of a step begin in e->run; one more than steps */
	qn_arena *arena;
	qn_hashes symbols; /* by name: constants of e, counted from 1, then argument structs */
	const char *trace; /* "NET_TRACED" */
	/* of the steps that were read last; where those of a step begin, one more than steps */
	qn_repeat_ref *ref;
	size_t n, cap;
	size_t *first;
} qn_repeat_refs;

void qn_repeat_refs_init(qn_repeat_refs *x, const qn_emitter *e, const size_t *at, qn_arena *a);
/* A number for each step that equal ones share, 0: equal to nothing.  Others have the same at most by an accident,
 * which qn_repeat_refs_read finds. */
uint32_t *qn_repeat_refs_numbers(qn_repeat_refs *x);
/* Reads those of all times; false: their statements differ. */
bool qn_repeat_refs_read(qn_repeat_refs *x, const qn_repeat *r);
/* Its symbol, the name of its state, or its number. */
const char *qn_repeat_ref_text(const qn_repeat_refs *x, const qn_repeat_ref *ref);
/* Whether both can be one member of a struct. */
bool qn_repeat_ref_equal(const qn_repeat_ref *a, const qn_repeat_ref *b);

#endif
