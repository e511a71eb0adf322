/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - what stands behind the public handles, and the one door into the library.
 *
 * Every public function that allocates goes through qn_guard: it sets the place to which the
 * arena jumps without memory, sets the floating-point environment to the default, lends a
 * scratch arena, and undoes all of that on every way out. */
#ifndef QN_DRIVER_CONTEXT_H
#define QN_DRIVER_CONTEXT_H

#include "ir/diag.h"
#include "ir/graph.h"

typedef struct qn_model_box qn_model_box;

struct qn_ctx {
	qn_env env;
	qn_diags diags;
	qn_model_box *models;
	struct qn_array *arrays;
};

/* A model with its memory.  The public qn_model * is &box->m. */
struct qn_model_box {
	qn_model m;
	qn_arena arena;
	qn_ctx *ctx;
	qn_model_box *next;
	bool broken; /* memory ran out in the middle of a change */
};

struct qn_array {
	qn_arena arena;
	qn_types types;
	const qn_tensor *tensor;
	const char *name; /* the file, for messages; "samples" for arrays from memory */
	qn_ctx *ctx;
	struct qn_array *next;
};

qn_model_box *qn_box(qn_model *m);

/* Calls fn(arg, scratch) inside the door.  QN_ENOMEM (with a diagnostic) when memory ran out. */
typedef qn_arena_fn qn_guarded_fn;
qn_status qn_guard(qn_ctx *ctx, qn_guarded_fn *fn, void *arg);
/* The same for a change of a model: refuses a broken one, and breaks it when memory runs out. */
qn_status qn_guard_model(qn_model *m, qn_guarded_fn *fn, void *arg);

/* A new array object of the context with empty content (call inside the door); its arena is set
 * up. */
struct qn_array *qn_array_alloc(qn_ctx *ctx);

#endif
