/* SPDX-License-Identifier: Apache-2.0 */
/* layer_rig.h - graphs of one layer, planned for a target, whose kernel is called with the packed arguments
 * and compared with the interpreter. */
#ifndef TESTS_UNIT_LAYER_RIG_H
#define TESTS_UNIT_LAYER_RIG_H

#include <string.h>

#include "codegen/kernel_table.h"
#include "runtime/interp.h"
#include "tests/e2e/build.h"
#include "tests/unit/kernel_rig.h"

typedef struct layer {
	qn_op op;
	const char *x, *w, *bias, *y; /* types, of y its codes; bias NULL: none */
	int64_t w_lo, w_hi, bias_lo, bias_hi, x_lo, x_hi;
	const int8_t *
		weight; /* all weights, one byte each, instead of those drawn from [w_lo, w_hi]; or NULL */
	const qn_attrs *attr;
	bool relu; /* no result is below the zero point, some are above it */
} layer;

/* How the kernels that are tested round: twice, or once (QN_ROUNDS_ONCE), ties upward. */
#ifdef QN_ROUNDING
#define LAYER_ROUNDING QN_ROUNDING
#else
#define LAYER_ROUNDING QN_RQ_DOUBLE
#endif

/* Calls the kernel of this name; false when it is none of those that are tested. */
typedef bool kernel_call(const char *name, const qn_step *s, const int8_t *const *x, void *work,
			 int8_t *y);

/* A type of these shape and codes. */
static inline const char *
codes_like(builder *b, const qn_type *shape, const char *codes)
{
	const char *s = "tensor<";

	for (int32_t i = 0; i < shape->rank; i++)
		s = build_printf(b, "%s%lldx", s, (long long)shape->dim[i]);
	return build_printf(b, "%s!quant.uniform<%s>>", s, codes);
}

/* n bytes, not one more. */
static inline void *
exactly(size_t n)
{
	void *p = malloc(n > 0 ? n : 1);

	assert_non_null(p);
	return p;
}

/* What a step's kernel is compared with. */
typedef struct layer_case {
	const int8_t *x[2];
	size_t bytes; /* of x[0] */
	const void *y;
	void *out;
} layer_case;

/* Whether the step's kernel gives the same where it may write over operand 0. */
static inline void
check_over(const char *name, const qn_step *s, const layer_case *c, void *work, kernel_call *call)
{
	if ((s->kernel->in_place & 1) == 0 || s->bytes != c->bytes)
		return;
	int8_t *x = exactly(c->bytes);
	const int8_t *const in[2] = {x, c->x[1]};
	memcpy(x, c->x[0], c->bytes);
	assert_true(call(name, s, in, work, x));
	assert_memory_equal(x, c->y, s->bytes);
	free(x);
}

/* One row for the step, whose arguments are those that are prepared, with its own arguments and memory. */
static inline void
check_row(builder *b, const qn_plan *p, const qn_step_facts *f, qn_step *s, const layer_case *c,
	  kernel_call *call)
{
	const qn_kernel *k = s->kernel;
	const char *name = qn_step_function(p->g, s, &b->arena);
	void *args = k->pack != NULL ? k->pack(f, &b->arena) : s->args;
	const size_t most = (k->work != NULL ? k->work(args) : 0) +
			    (k->work_over != NULL ? k->work_over(args) : 0);
	void *work = exactly(most);

	s->args = args;
	memset(c->out, 0x55, s->bytes);
	if (call(name, s, c->x, work, c->out)) {
		assert_memory_equal(c->out, c->y, s->bytes);
		check_over(name, s, c, work, call);
	}
	s->args = s->prepared;
	free(work);
}

/* What the one step of a planned graph computes by each kernel that fits is what the interpreter does; the
 * function of the one that it has. */
static inline const char *
check_step(builder *b, const char *target, int32_t lo, int32_t hi, kernel_call *call)
{
	const qn_tensor **in = QN_NEW(&b->arena, const qn_tensor *, b->g->ninput);
	int8_t *x[2] = {NULL, NULL};
	qn_interp *interp;
	qn_plan *p = NULL;

	b->g->model->rounding = LAYER_ROUNDING;
	const qn_plan_opts how = {.target = qn_target_find(&b->env, target),
				  .optimize = QN_OPTIMIZE_SPEED};
	build_check(b, qn_plan_make(b->g, "net", &how, &b->arena, &p) == QN_OK);
	assert_int_equal(p->nstep, 1);
	assert_true(b->g->ninput <= 2);
	qn_step s = p->step[0];
	for (size_t k = 0; k < b->g->ninput; k++) {
		const qn_type *type = qn_graph_node(p->g, p->g->input[k])->type;

		x[k] = exactly(qn_type_bytes(type));
		for (size_t i = 0; i < qn_type_bytes(type); i++)
			x[k][i] = (int8_t)pick(lo, hi);
		in[k] = qn_tensor_view(&b->arena, type, x[k]);
	}
	build_check(b, qn_interp_new(p->g, &b->arena, &interp) == QN_OK);
	build_check(b, qn_interp_run(interp, in, NULL, NULL) == QN_OK);
	const layer_case c = {.x = {x[0], x[1]},
			      .bytes = qn_type_bytes(in[0]->type),
			      .y = qn_interp_output(interp, 0)->data,
			      .out = exactly(s.bytes)};
	const qn_op_kernels *form = qn_op_kernels_of(p->g, qn_graph_node(p->g, s.core));
	s.args = s.prepared;
	qn_step_facts f = qn_step_facts_of(p->g, &s);
	qn_step_facts_choose(&f, p->target->features, NULL);
	for (size_t i = 0; i < form->nkernel; i++) {
		s.kernel = &form->kernel[i];
		if (s.kernel->name != NULL && qn_kernel_differs(s.kernel, &f) == NULL)
			check_row(b, p, &f, &s, &c, call);
	}
	free(x[0]);
	free(x[1]);
	free(c.out);
	return qn_step_function(p->g, &p->step[0], &b->arena);
}

/* The layer with its requantize, planned for the target. */
static inline const char *
check_layer(builder *b, const layer *l, const char *target, kernel_call *call)
{
	qn_id in[3] = {build_input(b, "x", l->x), build_const(b, "w", l->w, l->w_lo, l->w_hi), 0};
	uint32_t n = 2;

	if (l->weight != NULL) {
		const qn_tensor *w = qn_graph_node(b->g, in[1])->value;

		memcpy((void *)(uintptr_t)w->data, l->weight, w->bytes);
	}
	if (l->bias != NULL)
		in[n++] = build_const(b, "b", l->bias, l->bias_lo, l->bias_hi);
	qn_id acc = build_op(b, l->op, "layer", n, in, l->attr, NULL);
	qn_attrs clamp = build_attrs(QN_OP_requantize);
	if (l->relu) /* the zero point stands at the end of the type's text */
		clamp.clamp.lo =
			limit(atoi(strrchr(l->y, ':') + 1) + pick(0, 1) * pick(0, 20), -128, 127);
	qn_graph_output(b->g, "y",
			build_op(b, QN_OP_requantize, "y", 1, &acc, &clamp,
				 codes_like(b, qn_graph_node(b->g, acc)->type, l->y)));
	return check_step(b, target, (int32_t)l->x_lo, (int32_t)l->x_hi, call);
}

#define CODES(b) build_printf(b, "i8:f32, %d.5:%d", pick(0, 9), pick(-128, 127))

#endif
