/* SPDX-License-Identifier: Apache-2.0 */
/* run_util.h - for tests that build a small graph, run it and compare with numbers.
 *
 *   static rig *rg;                         made by rig_setup, freed by rig_teardown
 *   qn_id x = input("x", "tensor<1x4xf32>");
 *   output(op1(QN_OP_relu, x, NULL, NULL));
 *   const double *y = run((const double *[]){values});       output 0 as doubles
 *
 * Values are doubles everywhere: they hold every f32 and every code exactly. */
#ifndef TESTS_UNIT_RUN_UTIL_H
#define TESTS_UNIT_RUN_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/diag.h"
#include "ir/graph.h"
#include "runtime/interp.h"

typedef struct rig {
	qn_env env;
	qn_diags diags;
	qn_arena arena;
	jmp_buf oom;
	qn_model m;
	qn_graph *g;
	uint64_t seed;
} rig;

static rig *rg;

static void *
rig_heap(void *user, void *p, size_t old_size, size_t new_size)
{
	(void)user;
	(void)old_size;
	if (new_size == 0) {
		free(p);
		return NULL;
	}
	return realloc(p, new_size);
}

static inline int
rig_setup(void **state)
{
	(void)state;
	rg = calloc(1, sizeof *rg);
	rg->env = (qn_env){.alloc = rig_heap, .diags = &rg->diags, .oom = &rg->oom};
	rg->seed = 1;
	qn_arena_init(&rg->arena, &rg->env);
	qn_model_init(&rg->m, &rg->env, &rg->arena, "test");
	rg->g = qn_graph_new(&rg->m, "main");
	return 0;
}

static inline int
rig_teardown(void **state)
{
	(void)state;
	qn_arena_release(&rg->arena);
	qn_diags_clear(&rg->env, &rg->diags);
	free(rg);
	return 0;
}

/* Starts another graph in the same model. */
static inline void
fresh_graph(void)
{
	rg->g = qn_graph_new(&rg->m, "main");
}

/* Uniform integer in [lo, hi]. */
static inline int64_t
pick(int64_t lo, int64_t hi)
{
	rg->seed = rg->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return lo + (int64_t)((rg->seed >> 33) % (uint64_t)(hi - lo + 1));
}

/* An f32 in [-2, 2] with a full mantissa. */
static inline double
real(void)
{
	return (double)((float)pick(-(1 << 30), 1 << 30) / 536870912.0f);
}

static inline void
no_errors(void)
{
	for (size_t i = 0; i < rg->diags.n; i++)
		print_message("%s: %s: %s\n", rg->diags.item[i].id, rg->diags.item[i].place,
			      rg->diags.item[i].message);
	assert_int_equal(rg->diags.n, 0);
}

static inline const qn_type *
type(const char *text)
{
	const qn_type *t = NULL;
	qn_status status = qn_type_parse_str(&rg->m.types, "test", text, &t);

	no_errors();
	assert_int_equal(status, QN_OK);
	return t;
}

static inline qn_tensor *
tensor(const qn_type *t, const double *v)
{
	void *data = NULL;
	qn_tensor *x = qn_tensor_new(&rg->arena, t, &data);

	for (int64_t i = 0; i < qn_type_count(t); i++)
		qn_store_f64(data, t->elem->plain, i, v[i]);
	return x;
}

static inline double *
doubles(const qn_tensor *x)
{
	int64_t n = qn_type_count(x->type);
	double *v = qn_arena_alloc(&rg->arena, (size_t)n + 1, sizeof *v);

	for (int64_t i = 0; i < n; i++)
		v[i] = qn_tensor_f64(x, i);
	return v;
}

static inline qn_id
input(const char *name, const char *t)
{
	qn_id id = qn_graph_input(rg->g, name, type(t));

	assert_int_not_equal(id, 0);
	return id;
}

static inline qn_id
constant(const char *name, const char *t, const double *v)
{
	return qn_graph_const(rg->g, name, tensor(type(t), v));
}

/* t NULL: inferred. */
static inline qn_id
op(qn_op kind, uint32_t nin, const qn_id *in, const qn_attrs *attrs, const char *t)
{
	qn_id id = qn_graph_op(rg->g, kind, NULL, nin, in, attrs, t != NULL ? type(t) : NULL);

	no_errors();
	assert_int_not_equal(id, 0);
	return id;
}

static inline qn_id
op1(qn_op kind, qn_id x, const qn_attrs *attrs, const char *t)
{
	return op(kind, 1, &x, attrs, t);
}

static inline qn_id
op2(qn_op kind, qn_id x, qn_id y, const qn_attrs *attrs, const char *t)
{
	return op(kind, 2, (const qn_id[]){x, y}, attrs, t);
}

static inline void
output(qn_id id)
{
	qn_graph_output(rg->g, "y", id);
}

static inline qn_interp *
interp(void)
{
	qn_interp *in = NULL;
	qn_status status = qn_interp_new(rg->g, &rg->arena, &in);

	no_errors();
	assert_int_equal(status, QN_OK);
	return in;
}

/* Runs the graph on one array for each input; output 0. */
static inline double *
run(const double *const *inputs)
{
	const qn_tensor *x[16];
	qn_interp *in = interp();

	assert_true(rg->g->ninput <= 16);
	for (size_t i = 0; i < rg->g->ninput; i++)
		x[i] = tensor(qn_graph_node(rg->g, rg->g->input[i])->type, inputs[i]);
	assert_int_equal(qn_interp_run(in, x, NULL, NULL), QN_OK);
	no_errors();
	return doubles(qn_interp_output(in, 0));
}

static inline double *
run1(const double *x)
{
	return run(&x);
}

/* The graph must be refused with this id; text: part of the message. */
static inline void
refused(const char *id, const char *text)
{
	qn_interp *in = NULL;
	qn_status status = qn_interp_new(rg->g, &rg->arena, &in);

	assert_int_not_equal(status, QN_OK);
	assert_true(rg->diags.n > 0);
	assert_string_equal(rg->diags.item[0].id, id);
	const char *message = rg->diags.item[0].message;
	if (message == NULL || strstr(message, text) == NULL)
		fail_msg("'%s' lacks '%s'", message != NULL ? message : "", text);
	qn_diags_clear(&rg->env, &rg->diags);
}

static inline double *
reals(int64_t n)
{
	double *v = qn_arena_alloc(&rg->arena, (size_t)n, sizeof *v);

	for (int64_t i = 0; i < n; i++)
		v[i] = real();
	return v;
}

static inline double *
codes(int64_t n, int64_t lo, int64_t hi)
{
	double *v = qn_arena_alloc(&rg->arena, (size_t)n, sizeof *v);

	for (int64_t i = 0; i < n; i++)
		v[i] = (double)pick(lo, hi);
	return v;
}

/* |want - have| <= bound for all n, or both are NaN. */
static inline void
near(const double *want, const double *have, int64_t n, double bound)
{
	for (int64_t i = 0; i < n; i++) {
		double d = want[i] - have[i];

		if (!(d <= bound && -d <= bound) && (want[i] == want[i] || have[i] == have[i]))
			fail_msg("element %lld: want %.17g, have %.17g", (long long)i, want[i],
				 have[i]);
	}
}

static inline const qn_attrs *
attributes(qn_attrs a)
{
	return qn_arena_copy(&rg->arena, &a, sizeof a);
}

#endif
