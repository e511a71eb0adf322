/* SPDX-License-Identifier: Apache-2.0 */
/* impl_custom.c - custom operators: the host's float function; on quantized values its integer function,
 * or a table of all values that the float function makes. */
#include "ir/custom.h"
#include "runtime/impl_args.h"
#include "runtime/lut.h"

static void *
custom_plan(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room)
{
	qn_op_call *call = QN_NEW(a, qn_op_call, 1);

	(void)room; /* nothing is packed */
	*call = qn_custom_call(g, n, a);
	return call;
}

static void
custom_real(const qn_eval *e)
{
	const qn_op_desc *d = qn_custom_desc(e->n);

	d->run_float(d->user, e->plan, (const float *const *)(const void *)e->in, e->out);
}

/* The float function of one value. */
static double
value_of(const void *user, double x)
{
	static const int64_t shape[1] = {1};
	const qn_node *n = user;
	const qn_op_desc *d = qn_custom_desc(n);
	const qn_op_type one = {.size = sizeof one, .rank = 1, .shape = shape, .axis = -1};
	const qn_op_type *const in_one = &one;
	const qn_op_call call = {.size = sizeof call,
				 .nin = 1,
				 .in = &in_one,
				 .out = &one,
				 .attr = n->attr->custom.value};
	const float in = (float)x;
	const float *const from[1] = {&in};
	float out;

	d->run_float(d->user, &call, from, &out);
	return (double)out;
}

static void *
custom_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_op_desc *d = qn_custom_desc(n);
	const char *why = NULL;
	qn_custom_args *args;
	qn_op_call call;

	args = QN_NEW(a, qn_custom_args, 1);
	if (d->run_integer == NULL && d->behaviour == QN_OP_TABLE) {
		args->lut = qn_lut_prepare(g, n, a, value_of, n);
		return args->lut != NULL ? args : NULL;
	}
	if (d->run_integer == NULL)
		return qn_int_refuse(g, n, "the operator has no integer function");
	if (!qn_int_sizes(g, n))
		return NULL;
	call = qn_custom_call(g, n, a);
	args->param = QN_NEW(a, int32_t, QN_CUSTOM_PARAMS);
	args->nparam = d->prepare(d->user, &call, args->param, QN_CUSTOM_PARAMS, &why);
	if (args->nparam < 0)
		return qn_int_refuse(g, n, "%s",
				     why != NULL ? why
						 : "its prepare callback rejected the types and "
						   "gives no reason");
	if (args->nparam > QN_CUSTOM_PARAMS)
		return qn_int_refuse(g, n,
				     "its prepare callback needs %d parameters, only up to %d",
				     args->nparam, QN_CUSTOM_PARAMS);
	return args;
}

static void
custom_quantized(const qn_eval *e, const void *prepared)
{
	const qn_custom_args *args = prepared;

	if (args->lut != NULL)
		qn_lut_run(e, args->lut);
	else
		qn_custom_desc(e->n)->run_integer(args->param, e->in, e->out);
}

const qn_impl qn_impl_custom = {
	.real = custom_real,
	.plan = custom_plan,
	.quantized = {.prepare = custom_prepare, .run = custom_quantized},
};
