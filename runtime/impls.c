/* SPDX-License-Identifier: Apache-2.0 */
/* impls.c - the table of implementations, one row for each op of ir/ops.def, and the choice
 * between the two of an op. */
#include "runtime/impl_util.h"
#include "runtime/plain.h"

/* These have no bytes of their own to compute: the interpreter passes values through them. */
const qn_impl qn_impl_input = {0};
const qn_impl qn_impl_const = {0};
const qn_impl qn_impl_call = {0};
const qn_impl qn_impl_tuple = {0};
const qn_impl qn_impl_get = {0};

static const qn_impl *const impl_table[QN_NOP] = {
#define OP(name, min_in, max_in, attributes, behaviour, family) [QN_OP_##name] = &qn_impl_##name,
#include "ir/ops.def"
};

qn_float_fn *
qn_float_impl(qn_op op)
{
	return impl_table[op]->real;
}

/* The type is plain in memory; *other: its elements are of another type than f32. */
static bool
is_plain(const qn_type *type, bool *other)
{
	qn_plain p = qn_plain_of(type);

	*other = *other || p != QN_PLAIN_f32;
	return p != QN_NPLAIN;
}

static bool
is_plain_node(const qn_graph *g, const qn_node *n, uint32_t indices)
{
	bool other = false, result = false;

	for (uint32_t i = 0; i < n->nin; i++)
		if (!is_plain(qn_in_type(g, n, i),
			      i < 32 && (indices >> i & 1U) != 0 ? &result : &other))
			return false;
	result = false;
	for (uint32_t i = 0; n->type->is_tuple && i < n->type->nfield; i++)
		if (!is_plain(n->type->field[i], &result))
			return false;
	if (!n->type->is_tuple && !is_plain(n->type, &result))
		return false;
	/* a comparison of f32 has a result of another type, but a float implementation too */
	return other || (result && !n->type->is_tuple && qn_elem_is_float(n->type->elem));
}

bool
qn_op_is_plain(qn_op op)
{
	return impl_table[op]->plain != NULL;
}

qn_float_fn *
qn_plain_impl(const qn_graph *g, const qn_node *n)
{
	const qn_impl *form = impl_table[n->op];

	return form->plain != NULL && is_plain_node(g, n, form->indices) ? form->plain : NULL;
}

const qn_int_impl *
qn_int_impl_get(qn_op op)
{
	const qn_int_impl *form = &impl_table[op]->quantized;

	return form->prepare != NULL ? form : NULL;
}

bool
qn_impl_takes_bundle(qn_op op)
{
	return impl_table[op]->bundle;
}

bool
qn_impl_takes_indices(qn_op op, uint32_t i)
{
	return i < 32 && (impl_table[op]->indices >> i & 1U) != 0;
}

bool
qn_impl_takes_family(qn_op op, qn_family f)
{
	const qn_int_impl *form = qn_int_impl_get(op);

	if (form == NULL)
		return false;
	return form->families != 0 ? (form->families >> f & 1U) != 0 : f == QN_FAMILY_s8;
}

const char *
qn_impl_refusal(const qn_graph *g, const qn_node *n)
{
	const qn_impl *form = impl_table[n->op];

	return form->refuse != NULL ? form->refuse(g, n) : NULL;
}

void *
qn_impl_plan(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room)
{
	const qn_impl *form = impl_table[n->op];

	return form->plan != NULL ? form->plan(g, n, a, room) : NULL;
}

bool
qn_node_on_quantized(const qn_graph *g, const qn_node *n)
{
	for (uint32_t i = 0; i < n->nin || i == 0; i++) {
		const qn_type *type = n->nin > 0 ? qn_in_type(g, n, i) : n->type;

		if (type->is_tuple || type->elem == NULL || qn_elem_is_float(type->elem))
			return false;
	}
	return true;
}
