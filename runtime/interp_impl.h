/* SPDX-License-Identifier: Apache-2.0 */
/* interp_impl.h - what the files of the interpreter share and nobody else includes.
 *
 *   value 3 (tensor)        refs: slot 2
 *   value 5 (tuple of 3, 4) refs: slot 2, slot 3       tuples have no memory of their own
 *   value 6 (get 1 of 5)    refs: slot 3
 *
 * A slot holds the batches of a bundle one after the other, `step` bytes apart. */
#ifndef QN_RUNTIME_INTERP_IMPL_H
#define QN_RUNTIME_INTERP_IMPL_H

#include "ir/limits.h"
#include "ir/loops.h"
#include "runtime/impls.h"
#include "runtime/interp.h"
#include "runtime/override.h"

enum {
	QN_SLOT_ALIGN = 64,       /* alignment of value buffers, in bytes */
	QN_VALUE_ALIGN = 8,       /* of the tensors that a caller gives: that of any element */
	QN_PACK_BYTES = 16 << 20, /* of the packed weights of one interpreter */
	QN_FIXED_BYTES =
		256 << 20,   /* of values that depend on constants alone, of one interpreter */
	QN_MOST_BUNDLE = 32, /* more batches side by side make a product no faster */
	QN_BUNDLE_BYTES = 256 * 1024, /* of values, about what a second-level cache holds */
};

/* ---- memory (interp_plan.c) ---- */

/* The bytes of one tensor. */
typedef struct qn_slot {
	qn_tensor tensor; /* of the first batch */
	size_t step;      /* bytes from one batch to the next; 0: all batches read the same */
	bool planned; /* lies in the interpreter's memory; else a constant or a caller's buffer */
	/* the node that writes it; the `loop` of what lives as long as a loop */
	qn_id made;
	/* the last node that reads it, the last one of a loop if that reads it in every step; UINT32_MAX for
	 * outputs */
	qn_id last;
	size_t offset; /* planned: in the memory */
	/* private to the plan: the next slots that begin and end at the same node, plus one */
	uint32_t begins, next;
} qn_slot;

typedef struct qn_slots {
	qn_slot *slot;
	size_t n, cap;
	uint32_t *ref; /* slots of values, one after the other */
	size_t nref, ref_cap;
	uint32_t *first; /* [g->n] in ref: there a tensor has one slot, a tuple one a field */
	size_t bytes;    /* of memory for one batch */
} qn_slots;

/* Slots of all values of a graph with static types and these loops, with offsets by liveness.  fixed: by id, values
 * that lie elsewhere, as constants do.  own_inputs:
 * inputs have memory, and keep what is written there before a run; else they point to the
 * caller's tensors. */
void qn_slots_plan(const qn_graph *g, const qn_loops *loops, const bool *fixed, bool own_inputs,
		   qn_arena *a, qn_slots *out);
/* Memory for that many batches. */
void qn_slots_allocate(qn_slots *s, size_t bundle, qn_arena *a);

static inline qn_slot *
qn_slots_of(const qn_slots *s, qn_id id, uint32_t field)
{
	return &s->slot[s->ref[s->first[id] + field]];
}

/* ---- one node (interp_node.c) ---- */

typedef struct qn_work {
	const qn_override_choice *host;  /* a custom kernel, or NULL */
	struct qn_dequantized *in_float; /* it runs on dequantized values; or NULL */
	qn_float_fn *real;               /* or NULL */
	const qn_int_impl *quantized;    /* or NULL */
	void *args;                      /* of the integer implementation */
	void *plan;                      /* of the implementation, or NULL */
	bool together;                   /* it can do many batches in one call */
} qn_work;

/* Whether the node computes something, rather than to hold, group, count or pass on values. */
bool qn_node_needs_impl(qn_op op);
/* x is of the type of n, in canonical layout; reports run.input. */
bool qn_input_fits(const qn_graph *g, const qn_node *n, const qn_tensor *x);
/* The node's types can be computed with: static and without symbols.  Reports run.dynamic,
 * run.symbol. */
bool qn_node_is_static(const qn_graph *g, const qn_node *n);

/* Chooses the implementation of a node whose types and inputs' types are static; reports run.unsupported
 * or what prepare reports.  *room: bytes that packed weights may still take. */
bool qn_work_prepare(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room, qn_work *out);

/* What a node reads and writes: buffers of the first batch, and bytes from one to the next. */
typedef struct qn_operands {
	const void **in; /* [n->nin], canonical; qn_work_run moves them */
	const size_t *in_step;
	void *out; /* field `part` of the value */
	size_t out_step;
	uint32_t part;
	size_t batches;
} qn_operands;

/* A node that no kernel takes, in float: dequantize, the op, quantize (dequantized.c).  NULL: it has no float
 * implementation for that either; nothing is reported. */
typedef struct qn_dequantized qn_dequantized;
qn_dequantized *qn_dequantized_prepare(const qn_graph *g, const qn_node *n, qn_arena *a);
void qn_dequantized_run(qn_dequantized *d, const void *const *in, void *out);

void qn_work_run(const qn_graph *g, const qn_node *n, const qn_work *w, const qn_operands *o);

/* The tensor itself, or a copy when its bytes are not aligned for the kernels. */
const void *qn_aligned_data(qn_arena *a, const qn_tensor *x);

/* ---- a graph and those that it calls (interp_prepare.c) ---- */

struct qn_interp {
	const qn_graph *g;
	qn_slots slots;
	qn_work *work;          /* by node id */
	bool *fixed;            /* by node id: computed once, from constants */
	qn_interp **callee;     /* by node id; NULL unless a call */
	const void **in;        /* room for the inputs of one node */
	size_t *in_step;        /* their distances from batch to batch */
	size_t bundle;          /* batches that the memory holds */
	void **state;           /* [g->nstate] of each batch of a bundle, one after the other */
	const qn_tensor **init; /* the states before the first run */
	qn_loops loops;
	char *next_values; /* room for what a loop carries, while that is copied */
	size_t carried;    /* its bytes, of one batch */
	bool failed;
	qn_interp *next; /* the other graphs' interpreters, from the root on */
};

/* What preparing all graphs shares. */
typedef struct qn_interps {
	qn_arena *arena;
	size_t room;  /* bytes that packed weights may still take */
	size_t fixed; /* and values that are computed once */
	qn_interp *first, *last;
} qn_interps;

/* The interpreter of a graph called at that depth, which is there once; its `failed` tells of reports. */
qn_interp *qn_interp_prepare(qn_interps *f, const qn_graph *g, int depth);

#endif
