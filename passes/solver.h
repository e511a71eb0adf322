/* SPDX-License-Identifier: Apache-2.0 */
/* solver.h - the points of a float graph, which of them share parameters, and what is known of each.
 *
 *   %a = conv2d %x, %w      read by a relu alone: it is quantized where that is
 *   %b = relu %a            a point, with a range of its own
 *   %c = reshape %b         the same class as %b
 *   %d = concat %c, %e      and so is %e
 *
 * A class has one pair of parameters: its ranges merge, and an explicit type is that of all its points.  What a loop
 * or a state carries is in the class of its next value (points_carried.c). */
#ifndef QN_PASSES_SOLVER_H
#define QN_PASSES_SOLVER_H

#include "ir/mask.h"

typedef struct qn_solver_opts {
	qn_elem activations;  /* storage and limits */
	bool symmetric;       /* activations have zero point 0 */
	bool couple_sums;     /* operands and result of add and sub share parameters */
	uint8_t weight_bits;  /* 2, 4 or 8 */
	int32_t weight_block; /* weights that have a scale each, as of qn_quant_opts; 0: none */
	bool per_tensor_weights;
} qn_solver_opts;

/* What is known of a class. */
typedef struct qn_class {
	bool has_range;
	double lo, hi;
	const qn_elem *type;  /* explicit; NULL: none */
	qn_id typed;          /* the point that has it */
	const qn_elem *fixed; /* what its only op of behaviour FIXED gives; NULL: none */
	qn_id first;          /* the first point that a quantize is to follow; 0: none */
	qn_mask masked;       /* of constants of which elements were left out; NONE: nothing was */
	bool wide;            /* 16 bits, as it follows from itself from step to step */
	/* chosen by transform; where that is wide, narrow: what products and functions read, NULL: none does so far */
	const qn_elem *elem, *narrow;
} qn_class;

typedef struct qn_points {
	const qn_graph *g;
	uint32_t *uses;
	qn_id *reader;       /* by id: one that reads it; outputs do not count */
	qn_id *root;         /* by id, of union-find */
	qn_class *known;     /* by root */
	const qn_mask *mask; /* by id; elements that are masked are in no range */
} qn_points;

/* Whether operand i of the node and its result must have the same parameters (passes/couple.c). */
bool qn_couples(const qn_graph *g, const qn_node *n, uint32_t i, bool sums);

/* Fails (pass.stage) unless the model is float or calibrated. */
qn_status qn_solver_stage(const qn_model *m, const char *pass) QN_MUST_CHECK;
/* Fails where two explicit types, or two keys of statistics, are in conflict (solver.…). */
qn_status qn_points_find(qn_model *m, const qn_graph *g, const qn_solver_opts *opts,
			 qn_points *out) QN_MUST_CHECK;
qn_class *qn_point_class(const qn_points *p, qn_id id);
void qn_points_unite(const qn_points *p, qn_id a, qn_id b);
/* Unites what loops and states carry with its next values, and marks classes that are wide. */
void qn_points_carry(const qn_points *p, const qn_solver_opts *opts);
/* Widens the ranges of what loops carry by those of the first values, once the others are known. */
void qn_points_begin(const qn_points *p);
/* Whether a quantize is to follow the value: a point that nothing but itself gives parameters to. */
bool qn_point_is_source(const qn_points *p, qn_id id);
/* Whether it is one where statistics would help. */
bool qn_point_wants_statistics(const qn_points *p, qn_id id);
/* A bias, which gets the scale of the sum that it is added to. */
bool qn_point_is_bias(const qn_points *p, const qn_node *n, uint32_t i);

/* What a run found at a stats_ref: axis holds min and max of each of naxis indices. */
typedef struct qn_found_range {
	bool seen;
	bool masked; /* elements were left out, for which there is room below lo */
	double lo, hi;
	size_t naxis;
	double *axis;
} qn_found_range;

/* Inserts stats_ref where statistics would help.  float or calibrated -> the same stage. */
qn_status qn_instrument(qn_model *m, const qn_solver_opts *opts) QN_MUST_CHECK;
/* Replaces the stats_ref nodes of the entry graph that were observed, by id, by stats. */
qn_status qn_resolve_statistics(qn_model *m, const qn_found_range *observed) QN_MUST_CHECK;
/* Quantizes every point of known range or type; statistics and couplings are removed.  -> calibrated. */
qn_status qn_transform(qn_model *m, const qn_solver_opts *opts) QN_MUST_CHECK;
/* Moves casts to where they are fewest.  calibrated -> calibrated. */
qn_status qn_simplify(qn_model *m) QN_MUST_CHECK;

#endif
