/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_table.c - the emitted kernels of all ops, one table for each of ir/ops.def, and which of its rows
 * a step calls; the core ops (input, const, call, tuple, get) have none. */
#include "codegen/kernel_table.h"

#include <string.h>

#include "runtime/channels.h"
#include "runtime/impls.h"

#define OP(name, min_in, max_in, attributes, behaviour, family)                                    \
	extern const qn_op_kernels qn_emit_op_##name;
#include "ir/ops.def"

const qn_op_kernels qn_emit_op_input = {0};
const qn_op_kernels qn_emit_op_const = {0};
const qn_op_kernels qn_emit_op_call = {.why = "calls are inlined before steps are made"};
const qn_op_kernels qn_emit_op_tuple = {.why = "a tuple has no bytes; use its fields"};
const qn_op_kernels qn_emit_op_get = {.why = "a tuple has no bytes; use its fields"};

static const qn_op_kernels *const impl_table[QN_NOP] = {
#define OP(name, min_in, max_in, attributes, behaviour, family) [QN_OP_##name] = &qn_emit_op_##name,
#include "ir/ops.def"
};

const qn_op_kernels *
qn_op_kernels_get(qn_op op)
{
	return impl_table[op];
}

qn_step_facts
qn_step_facts_of(const qn_graph *g, const qn_step *s)
{
	qn_step_facts f = {
		.g = g,
		.step = s,
		.core = qn_graph_node(g, s->core),
		.node = qn_graph_node(g, s->node),
		.from = QN_NFAMILY,
		.family = QN_NFAMILY,
	};

	if (s->nin > 0)
		f.from = qn_family_of(qn_graph_node(g, s->in[0])->type->elem);
	f.family = qn_family_of(f.node->type->elem);
	if (f.family == QN_NFAMILY)
		f.family = f.from;
	return f;
}

void
qn_step_facts_choose(qn_step_facts *f, uint32_t features, const qn_declined *const *declined)
{
	f->features = features | QN_TARGET_ANY;
	f->declined = declined != NULL ? declined[f->step->core] : NULL;
}

/* Why the step is not to have the kernel; NULL: it may. */
static const char *
is_declined(const qn_kernel *k, const qn_declined *d)
{
	for (; d != NULL; d = d->next)
		if (d->kernel == NULL ? k->needs != 0
				      : d->kernel->needs == k->needs && d->kernel->pack == k->pack)
			return d->why;
	return NULL;
}

static bool
has(uint32_t families, qn_family f)
{
	return families == 0 || (f != QN_NFAMILY && (families >> f & 1) != 0);
}

int32_t
qn_kernel_int(const void *args, size_t at)
{
	int32_t v;

	memcpy(&v, (const char *)args + at, sizeof(v));
	return v;
}

/* Why the kernel cannot do the work of the step's nodes after the core one. */
static const char *
epilogue_differs(const qn_kernel *k, const qn_step_facts *f)
{
	const qn_step *s = f->step;

	if (k->fused == NULL)
		return s->nepilogue > 0 ? "its kernel cannot be fused with another node" : NULL;
	if (s->nepilogue != 1 || f->node->op != QN_OP_requantize)
		return "its kernel can only be fused with a requantize";
	if (qn_zero_points_differ(f->g, f->node))
		return "the zero points of the requantize differ between channels";
	if (f->from != qn_family_of(f->node->type->elem))
		return "the result of its kernel has the storage type of the operand";
	const qn_requantize_args *r = s->epilogue[0].args;
	if (r->zi != 0)
		return "the accumulators of the requantize have a zero point";
	if (r->mult_n != 1 &&
	    (r->inner != 1 || r->channels != qn_kernel_int(s->args, k->fused->channels)))
		return "the multipliers of the requantize are along another axis";
	return NULL;
}

const char *
qn_kernel_differs(const qn_kernel *k, const qn_step_facts *f)
{
	if (!has(k->families, f->family))
		return "its kernel does not support the storage type of its values";
	if (!has(k->reads, f->from))
		return "its kernel does not support the storage type of its operand";
	if ((k->needs & ~f->features) != 0)
		return "it is for another target";
	const char *why = epilogue_differs(k, f);

	if (why == NULL && k->fits != NULL)
		why = k->fits(f);
	return why != NULL ? why : is_declined(k, f->declined);
}

const qn_kernel *
qn_kernel_choose(const qn_kernel *k, size_t n, const qn_step_facts *f, const char **why)
{
	const qn_kernel *best = NULL;
	uint64_t least = 0;

	*why = "it has no kernel";
	for (; n-- > 0; k++) {
		if (best != NULL && k->cost == NULL)
			continue;
		const char *differs = qn_kernel_differs(k, f);
		if (best == NULL)
			*why = differs;
		if (differs != NULL)
			continue;
		const uint64_t cost = k->cost != NULL ? k->cost(f) : 0;
		if (best == NULL || cost < least) {
			best = k;
			least = cost;
		}
		if (best->cost == NULL)
			break;
	}
	return best;
}

void
qn_kernel_fuse(const qn_step *s)
{
	const qn_fused *to = s->kernel->fused;
	char *args = s->args;

	if (to == NULL)
		return;
	const qn_requantize_args *r = s->epilogue[0].args;
	memcpy(args + to->zo, &r->zo, sizeof(r->zo));
	memcpy(args + to->lo, &r->lo, sizeof(r->lo));
	memcpy(args + to->hi, &r->hi, sizeof(r->hi));
	memcpy(args + to->mode, &r->mode, sizeof(r->mode));
	memcpy(args + to->mult_n, &r->mult_n, sizeof(r->mult_n));
	memcpy(args + to->mult, &r->mult, sizeof(r->mult));
	memcpy(args + to->shift, &r->shift, sizeof(r->shift));
}

const char *
qn_fits_fixed(const qn_step_facts *f)
{
	return qn_has_fixed_output(&f->g->model->types, f->core, f->node->type->elem)
		       ? NULL
		       : "its kernel gives its result other parameters";
}

const char *
qn_fits_own(const qn_step_facts *f)
{
	return f->from == f->family ? NULL
				    : "its operand and its result have different storage types";
}

const char *
qn_fits_channels(const qn_step_facts *f)
{
	return qn_by_channel(f->g, f->core) ? NULL : "its values have one scale each";
}
