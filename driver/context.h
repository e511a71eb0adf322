/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - what the public handles stand for, and the only entry into the library.
 *
 * Every public function that allocates goes through qn_guard: it sets the target to
 * which the arena jumps when out of memory, sets the floating-point environment to the default,
 * lends a temporary arena, and undoes all of that on every way out. */
#ifndef QN_DRIVER_CONTEXT_H
#define QN_DRIVER_CONTEXT_H

#include "calibrate/source.h"
#include "ir/diag.h"
#include "ir/progress.h"
#include "ir/snapshot.h"

typedef struct qn_model_box qn_model_box;

struct qn_ctx {
	qn_env env;
	qn_diags diags;
	struct qn_patterns *patterns; /* of the host; NULL: none so far */
	qn_arena arena;   /* of what lasts as long as the context: the host's operators */
	qn_cancel cancel; /* of the call in progress */
	size_t depth;     /* of calls inside of calls: from callbacks of the host */
	qn_model_box *models;
	struct qn_array *arrays;
	struct qn_stats *stats;
	struct qn_stored *stored;    /* tensors with layouts (driver/stored.h) */
	struct qn_archive *archives; /* files of them (driver/archive.c) */
	struct qn_session *sessions; /* networks that are run call by call (driver/session.c) */
};

/* A model with its memory.  The public qn_model * is &box->m. */
struct qn_model_box {
	qn_model m;
	qn_arena arena;
	qn_ctx *ctx;
	qn_model_box *next;
	bool checked;   /* verified and within the limits since the host last added to it */
	qn_arena *kept; /* graphs that a cancelled call goes back to; NULL: none are (undo.c) */
	bool broken;    /* memory ran out in the middle of a step of building */
};

struct qn_array {
	qn_arena arena;
	qn_types types;
	const qn_tensor *tensor; /* NULL: samples that are read on demand, through source */
	const qn_source *source; /* NULL: those of tensor */
	const qn_type *type;     /* of tensor or source */
	const char *name;        /* the file, for messages; "samples" for arrays from memory */
	qn_ctx *ctx;
	struct qn_array *next;
};

struct qn_stats {
	qn_arena arena;
	struct qn_statistics *s;
	qn_ctx *ctx;
	struct qn_stats *next;
};

struct qn_session {
	qn_arena arena; /* of the interpreter */
	qn_model *m;    /* a copy, of its own */
	struct qn_interp *in;
	qn_ctx *ctx;
	struct qn_session *next;
};

qn_model_box *qn_box(qn_model *m);
/* A new empty model of the context (call inside qn_guard); *out is set before memory can run out,
 * so that the caller can free it. */
void qn_box_new(qn_ctx *ctx, const char *name, qn_model_box **out);

/* The contexts of handles; NULL where the handle is. */
#define QN_CTX_OF(handle) ((handle) != NULL ? (handle)->ctx : NULL)
static inline qn_ctx *
qn_model_ctx(const qn_model *m)
{
	return m != NULL ? ((const qn_model_box *)(const void *)m)->ctx : NULL; /* first member */
}
static inline qn_ctx *
qn_graph_ctx(const qn_graph *g)
{
	return g != NULL ? qn_model_ctx(g->model) : NULL;
}

/* Refuses arguments of a public function that are NULL (array.null, each by its name), and a context
 * that is, to which nothing can be reported: QN_TRY(QN_GIVEN(ctx, path, out)).  Functions are
 * pointers, too, so they become bools. */
#define QN_GIVEN(ctx, ...)                                                                         \
	qn_given(ctx, #__VA_ARGS__, (const bool[]){__VA_ARGS__},                                   \
		 sizeof((const bool[]){__VA_ARGS__}) / sizeof(bool))
qn_status qn_given(qn_ctx *ctx, const char *names, const bool *given, size_t n) QN_MUST_CHECK;
/* What a handle is that a call which fails does not make. */
#define QN_CLEAR(out)                                                                              \
	do {                                                                                       \
		if ((out) != NULL)                                                                 \
			*(out) = NULL;                                                             \
	} while (0)

/* Calls fn(arg, arena) guarded so.  QN_ENOMEM (with a diagnostic) when memory ran out. */
typedef qn_arena_fn qn_guarded_fn;
qn_status qn_guard(qn_ctx *ctx, qn_guarded_fn *fn, void *arg);
/* The same for what changes or runs a model: refuses a broken one, and verifies it first when the
 * host has built on it.  Changes are made by qn_model_change, so that a failure leaves no half. */
qn_status qn_guard_model(qn_model *m, qn_guarded_fn *fn, void *arg);
/* The same for a step of building, after which the model has to be verified again; when memory runs
 * out in it, the model is broken. */
qn_status qn_guard_build(qn_model *m, qn_guarded_fn *fn, void *arg);

/* A new array object of the context with empty content (call inside qn_guard); its arena is set
 * up. */
struct qn_array *qn_array_alloc(qn_ctx *ctx);
/* Makes x an array over a tensor of its arena. */
void qn_array_set(qn_array *x, const qn_tensor *tensor);
/* All elements: those in memory, or read into arena a. */
qn_status qn_array_read(const qn_array *x, qn_arena *a, const qn_tensor **out) QN_MUST_CHECK;
/* The element type of a public name ("f32"); QN_NPLAIN after a report (array.dtype). */
qn_plain qn_dtype_named(qn_env *env, const char *name);
/* A plain type of a public shape; NULL after a report (array.dtype, array.rank, array.shape). */
const qn_type *qn_array_type(qn_array *x, const char *dtype, int rank, const int64_t *shape);

#endif
