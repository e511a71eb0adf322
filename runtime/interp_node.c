/* SPDX-License-Identifier: Apache-2.0 */
/* interp_node.c - one node: which implementation runs it, and why none can.
 *
 *   error run.unsupported: batch_norm, node 'bn', (tensor<…>) -> tensor<…>: no integer implementation */
#include "runtime/interp_impl.h"

#include <string.h>

#include "ir/diag.h"
#include "runtime/impl_util.h"

bool
qn_node_needs_impl(qn_op op)
{
	return op != QN_OP_input && op != QN_OP_const && op != QN_OP_call && op != QN_OP_tuple &&
	       op != QN_OP_get && op != QN_OP_loop && op != QN_OP_loop_end;
}

static const char *
type_text(const qn_graph *g, const qn_type *type)
{
	qn_buf b;

	qn_buf_init(&b, g->model->arena);
	qn_type_print(&b, type);
	return qn_buf_str(&b);
}

static bool
refuse(const qn_graph *g, const qn_node *n, const char *why)
{
	qn_buf types;

	qn_buf_init(&types, g->model->arena);
	for (uint32_t i = 0; i < n->nin; i++) {
		qn_buf_puts(&types, i > 0 ? ", " : "");
		qn_type_print(&types, qn_in_type(g, n, i));
	}
	(void)qn_report(g->model->env, QN_EUNSUPPORTED, "run.unsupported", qn_node_place(g, n),
			"%s, node '%s', (%s) -> %s: %s", qn_opinfo_of(n)->name, n->name,
			qn_buf_str(&types), type_text(g, n->type), why);
	return false;
}

/* A tensor type; reports for node n, whose type it is part of. */
static bool
is_static(const qn_graph *g, const qn_node *n, const qn_type *type)
{
	if (qn_type_count(type) < 0) {
		(void)qn_report(g->model->env, QN_EUNSUPPORTED, "run.dynamic", qn_node_place(g, n),
				"node '%s' has the type %s; only static shapes can be run", n->name,
				type_text(g, type));
		return false;
	}
	if (qn_elem_has_symbol(type->elem)) {
		(void)qn_report(g->model->env, QN_EINVALID, "run.symbol", qn_node_place(g, n),
				"node '%s' has the type %s with a symbol; bind it to a value first",
				n->name, type_text(g, type));
		return false;
	}
	return true;
}

bool
qn_node_is_static(const qn_graph *g, const qn_node *n)
{
	if (!n->type->is_tuple)
		return is_static(g, n, n->type);
	for (uint32_t i = 0; i < n->type->nfield; i++)
		if (!is_static(g, n, n->type->field[i]))
			return false;
	return true;
}

/* f32 in memory: also one with an observed range. */
static bool
is_f32(const qn_type *type)
{
	const qn_elem *e = type->elem;

	if (type->is_tuple)
		return false;
	if (e->kind == QN_ELEM_CALIBRATED)
		return e->expressed == QN_PLAIN_f32;
	return e->kind == QN_ELEM_PLAIN && e->plain == QN_PLAIN_f32;
}

/* A condition, or the result of a comparison or a cast. */
static bool
is_integer(const qn_type *type)
{
	return !type->is_tuple && type->elem->kind == QN_ELEM_PLAIN &&
	       !qn_elem_is_float(type->elem);
}

/* Why the float implementation cannot run; NULL when it can. */
static const char *
float_problem(const qn_graph *g, const qn_node *n)
{
	if (qn_float_impl(n->op) == NULL)
		return "no float implementation";
	for (uint32_t i = 0; i < n->nin; i++)
		if (n->op != QN_OP_quantize && !qn_impl_takes_indices(n->op, i) &&
		    !is_f32(qn_in_type(g, n, i)) && !is_integer(qn_in_type(g, n, i)))
			return "float implementations take only f32";
	const qn_type *result = n->type->is_tuple ? n->type->field[0] : n->type;
	if (n->op != QN_OP_quantize && !is_f32(result) && !is_integer(result))
		return "float implementations return only f32";
	return qn_impl_refusal(g, n);
}

/* The built-in kernel; false after a report. */
static bool
prepare_own(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room, qn_work *out)
{
	out->quantized = qn_int_impl_of(g, n);
	if (out->quantized == NULL)
		return refuse(g, n, "no integer implementation");
	out->args = out->quantized->prepare(g, n, a);
	if (out->args != NULL && out->quantized->plan != NULL)
		out->plan = out->quantized->plan(g, n, a, room);
	out->together = out->plan != NULL;
	return out->args != NULL;
}

/* On quantized values: a custom kernel, else a built-in one, else, where the host allows it, in float. */
static bool
prepare_quantized(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room, qn_work *out)
{
	qn_env *env = g->model->env;
	const qn_diag_mark mark = qn_diag_mark_now(env);
	const qn_override_choice *host = qn_override_choose(g, n, false, a);

	if (host != NULL && host->by != NULL) {
		out->host = host;
		return true;
	}
	if (prepare_own(g, n, a, room, out))
		return true;
	if (!env->allow_dequantize)
		return false;
	*out = (qn_work){.in_float = qn_dequantized_prepare(g, n, a)};
	if (out->in_float == NULL)
		return false;
	qn_diag_forget(env, mark);
	return true;
}

bool
qn_work_prepare(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room, qn_work *out)
{
	*out = (qn_work){.real = qn_plain_impl(g, n)};
	if (out->real != NULL) {
		const char *limit = qn_impl_refusal(g, n);

		return limit == NULL || refuse(g, n, limit);
	}
	if (qn_node_on_quantized(g, n))
		return prepare_quantized(g, n, a, room, out);
	const char *why = float_problem(g, n);
	if (why != NULL)
		return refuse(g, n, why);
	out->real = qn_float_impl(n->op);
	out->plan = qn_impl_plan(g, n, a, room);
	out->together = qn_impl_takes_bundle(n->op);
	return true;
}

/* The first operand differs from batch to batch, the others are common to all. */
static bool
one_varies(const qn_node *n, const qn_operands *o)
{
	bool others = false;

	for (uint32_t i = 1; i < n->nin; i++)
		others = others || o->in_step[i] != 0;
	return n->nin > 0 && o->in_step[0] != 0 && !others;
}

void
qn_work_run(const qn_graph *g, const qn_node *n, const qn_work *w, const qn_operands *o)
{
	qn_eval e = {.g = g, .n = n, .in = o->in, .plan = w->plan, .part = o->part, .batches = 1};
	bool together = o->batches > 1 && w->together && one_varies(n, o);

	if (together)
		e.batches = (int64_t)o->batches;
	for (size_t j = 0; j < (together ? 1 : o->batches); j++) {
		for (uint32_t i = 0; j > 0 && i < n->nin; i++)
			o->in[i] = (const char *)o->in[i] + o->in_step[i];
		e.out = (char *)o->out + j * o->out_step;
		if (w->host != NULL)
			w->host->by->desc.run(w->host->param, o->in, e.out);
		else if (w->in_float != NULL)
			qn_dequantized_run(w->in_float, o->in, e.out);
		else if (w->real != NULL)
			w->real(&e);
		/* One of the two implementations exists.  NOLINTBEGIN(clang-analyzer-core.NullDereference) */
		else if (w->plan != NULL)
			w->quantized->fast(&e, w->args);
		else
			w->quantized->run(&e, w->args);
		/* NOLINTEND(clang-analyzer-core.NullDereference) */
	}
}

const void *
qn_aligned_data(qn_arena *a, const qn_tensor *x)
{
	if (x->data != NULL && (uintptr_t)x->data % QN_VALUE_ALIGN == 0)
		return x->data;
	/* The arena aligns as the largest type of this machine requires: to 4 bytes on some. */
	char *copy = QN_NEW(a, char, x->bytes + QN_VALUE_ALIGN);
	copy += (size_t)(-(uintptr_t)copy % QN_VALUE_ALIGN);
	if (x->data != NULL && x->bytes > 0)
		memcpy(copy, x->data, x->bytes);
	return copy;
}

/* Whether the type is the one that is wanted, or f32 where that has an observed range. */
static bool
is_given(const qn_type *type, const qn_type *wanted)
{
	return type == wanted || (!wanted->is_tuple && qn_type_is_f32(type) && is_f32(wanted) &&
				  qn_type_same_shape(type, wanted));
}

bool
qn_input_fits(const qn_graph *g, const qn_node *n, const qn_tensor *x)
{
	if (x != NULL && is_given(x->type, n->type) && x->bytes == qn_type_bytes(n->type) &&
	    x->layout == QN_LAYOUT_CANONICAL)
		return true;
	qn_buf want, have;

	qn_buf_init(&want, g->model->arena);
	qn_buf_init(&have, g->model->arena);
	qn_type_print(&want, n->type);
	if (x != NULL)
		qn_type_print(&have, x->type);
	else
		qn_buf_puts(&have, "nothing");
	(void)qn_report(g->model->env, QN_EINVALID, "run.input", qn_node_place(g, n),
			"input '%s' is %s, the given value is %s", n->name, qn_buf_str(&want),
			qn_buf_str(&have));
	return false;
}

qn_status
qn_eval_node(const qn_graph *g, const qn_node *n, const qn_tensor *const *in, qn_arena *a,
	     qn_tensor **out)
{
	const void **data = QN_NEW(a, const void *, n->nin);
	void *result = NULL;
	bool ok = qn_node_is_static(g, n);
	size_t room = 0; /* packing for one run is not worth its memory */
	qn_work work;

	*out = NULL;
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_node *from = qn_graph_node(g, n->in[i]);

		if (!qn_input_fits(g, from, in[i]))
			return QN_EINVALID;
		ok = ok && qn_node_is_static(g, from);
		data[i] = qn_aligned_data(a, in[i]);
	}
	if (!ok)
		return QN_EUNSUPPORTED;
	if (!qn_node_needs_impl(n->op) || n->type->is_tuple) {
		return qn_report(g->model->env, QN_EUNSUPPORTED, "run.unsupported",
				 qn_node_place(g, n), "%s, node '%s', computes no tensor by itself",
				 qn_opinfo_of(n)->name, n->name);
	}
	if (!qn_work_prepare(g, n, a, &room, &work))
		return QN_EUNSUPPORTED;
	*out = qn_tensor_new(a, n->type, &result);
	qn_work_run(g, n, &work, &(qn_operands){.in = data, .out = result, .batches = 1});
	return QN_OK;
}
