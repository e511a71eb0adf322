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

/* Small, as a program of many steps has some for each. */
typedef struct qn_repeat_ref {
	const char *at; /* in e->run */
	uint32_t step;
	uint16_t n;   /* characters; symbols have less than 250 */
	uint8_t kind; /* qn_ref_kind */
} qn_repeat_ref;

/* The C type of what a reference points to; NULL: it is a number. */
typedef struct qn_ref_type {
	const char *type;
	const char *element; /* of a state */
} qn_ref_type;

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
qn_ref_type qn_repeat_ref_type(const qn_repeat_refs *x, const qn_repeat_ref *ref);
/* Its symbol, the name of its state, or its number. */
const char *qn_repeat_ref_text(const qn_repeat_refs *x, const qn_repeat_ref *ref);
/* Whether both can be one member of a struct. */
bool qn_repeat_ref_equal(const qn_repeat_ref *a, const qn_repeat_ref *b);

#endif
