/* SPDX-License-Identifier: Apache-2.0 */
/* node.c - nodes and calls of a composition.
 *
 *   slice %x {begin = [0, i], end = [n, i + 1]}          attributes are those of the op; words of an
 *   conv2d %x, %w {padding = same}                       enumeration need no quotes
 *   cast %mask : tensor<{%mask.dim}xf32>                 a type as everywhere, with expressions in braces
 *   const : tensor<{n}xi64> [2 * i for i in n]           one number stands for all elements
 *   @gru_cell %x, %h, %w {clip = clip} */
#include <string.h>

#include "lib/parser.h"

static const qn_item anything = {.kind = QN_ITEM_ANY};

bool
qn_lib_is_op(const qn_lib_walk *w, const char *name)
{
	qn_op op;

	return qn_op_lookup(w->r.m->env, name, &op) != NULL;
}

/* Not while signatures are read: nor are there types. */
static bool
has_graph(qn_lib_walk *w)
{
	return w->lib->host != NULL ||
	       qn_lib_fail(w, "lib.type", "a default is a number, a text or a list");
}

qn_id
qn_lib_make(qn_lib_walk *w, const qn_lib_node *n)
{
	const qn_lib_host *host = w->lib->host;

	if (!has_graph(w))
		return 0;
	qn_lib_node named = *n;
	named.name = w->target;
	host->at(host->user, qn_lib_place(w));
	const qn_id id = host->node(host->user, &named);
	host->at(host->user, NULL);
	return id;
}

/* ---- constants ---- */

/* All numbers of nested lists, in order; false: there is something else, or lists nest too deep or are too many. */
static bool
store(qn_lib_walk *w, const qn_item *x, const qn_type *type, void *data, int64_t *at, int nest)
{
	const int64_t count = qn_type_count(type);

	if (x->kind == QN_ITEM_LIST) {
		if (nest == QN_LIB_NEST || !qn_lib_may_look(w, x->n + 1))
			return false;
		for (size_t i = 0; i < x->n; i++)
			if (!store(w, &x->at[i], type, data, at, nest + 1))
				return false;
		return true;
	}
	if (!qn_item_is_number(x) || *at >= count)
		return false;
	if (qn_elem_is_float(type->elem))
		qn_store_f64(data, type->elem->plain, *at, qn_item_number(x));
	else if (x->kind == QN_ITEM_INT)
		qn_store_i64(data, type->elem->plain, *at, x->i);
	else
		return false;
	++*at;
	return true;
}

/* A constant of this type; 0 after a report. */
static qn_id
constant(qn_lib_walk *w, const qn_type *type, const qn_item *x)
{
	const int64_t count = qn_type_count(type);
	int64_t at = 0;
	void *data;

	if (count < 0 || (uint64_t)count > QN_MAX_FILLED || !qn_lib_may(w, (uint64_t)count / 16))
		return (qn_id)qn_lib_fail(w, "lib.work", "a constant of %lld elements is too large",
					  (long long)count);
	qn_tensor *value = qn_tensor_new(w->lib->m->arena, type, &data);
	bool ok = true;
	while (ok && at < count && x->kind != QN_ITEM_LIST)
		ok = store(w, x, type, data, &at, 0);
	if (x->kind == QN_ITEM_LIST)
		ok = store(w, x, type, data, &at, 0);
	if (!ok || at != count)
		return (qn_id)qn_lib_fail(w, "lib.type",
					  "the numbers of a constant do not fit its type");
	return qn_lib_make(w, &(qn_lib_node){.op = QN_OP_const,
					     .info = qn_opinfo_get(QN_OP_const),
					     .type = type,
					     .value = value});
}

/* A number as a constant of the element type of `like`. */
static qn_id
number(qn_lib_walk *w, const qn_item *x, qn_id like)
{
	const qn_elem *e = qn_graph_node(w->lib->g, like)->type->elem;
	const bool real = qn_elem_is_float(e) || qn_elem_is_quant(e);
	const qn_plain plain = real ? QN_PLAIN_f32 : e->plain;

	if (!real && x->kind != QN_ITEM_INT)
		return (qn_id)qn_lib_fail(w, "lib.type", "%s meets a value of integers",
					  qn_item_names[x->kind]);
	return constant(w, qn_type_plain(&w->lib->m->types, plain, 0, NULL), x);
}

bool
qn_lib_binary(qn_lib_walk *w, qn_op op, const qn_item *a, const qn_item *b, qn_item *out)
{
	qn_id in[2] = {a->id, b->id};

	*out = (qn_item){0};
	for (int i = 0; i < 2; i++) {
		const qn_item *x = i == 0 ? a : b;

		if (x->kind == QN_ITEM_VALUE)
			continue;
		if (!qn_item_is_number(x))
			return qn_lib_fail(w, "lib.type", "%s cannot be an operand",
					   qn_item_names[x->kind]);
		if ((in[i] = number(w, x, in[1 - i])) == 0)
			return false;
	}
	*out = qn_item_value(qn_lib_make(
		w, &(qn_lib_node){.op = op, .info = qn_opinfo_get(op), .nin = 2, .in = in}));
	return out->kind == QN_ITEM_VALUE;
}

/* ---- ops ---- */

/* Operands as values: lists one by one; what is left out at the end is none; numbers become constants. */
static bool
operands_of(qn_lib_walk *w, const char *op, size_t n, const qn_item *operand, qn_id **out,
	    uint32_t *count)
{
	size_t all = 0, k = 0;
	qn_id like = 0;

	for (size_t i = 0; i < n; i++)
		all += operand[i].kind == QN_ITEM_LIST ? operand[i].n : 1;
	if (!qn_lib_may_look(w, all))
		return false;
	qn_id *in = QN_NEW(w->lib->a, qn_id, all + 1);
	for (size_t i = 0; i < n; i++)
		like = operand[i].kind == QN_ITEM_VALUE && like == 0 ? operand[i].id : like;
	for (size_t i = 0; i < n; i++) {
		const qn_item *at = operand[i].kind == QN_ITEM_LIST ? operand[i].at : &operand[i];
		const size_t m = operand[i].kind == QN_ITEM_LIST ? operand[i].n : 1;

		for (size_t j = 0; j < m; j++, k++) {
			const bool is_number = qn_item_is_number(&at[j]) && like != 0;

			in[k] = is_number                     ? number(w, &at[j], like)
				: at[j].kind == QN_ITEM_VALUE ? at[j].id
							      : 0;
			if (in[k] != 0 || at[j].kind == QN_ITEM_NONE)
				continue;
			return !is_number &&
			       qn_lib_fail(w, "lib.type", "%s does not take %s without a value", op,
					   qn_item_names[at[j].kind]);
		}
	}
	while (k > 0 && in[k - 1] == 0)
		k--;
	for (size_t i = 0; i < k; i++)
		if (in[i] == 0)
			return qn_lib_fail(w, "lib.type", "operand %zu of %s is missing", i, op);
	*out = in;
	*count = (uint32_t)k;
	return true;
}

bool
qn_lib_op_with(qn_lib_walk *w, const char *name, size_t n, const qn_item *operand, qn_item *out)
{
	const qn_text start = w->r.text;
	qn_lib_node node = {.op = QN_NOP};
	qn_id *in = NULL;
	qn_attrs attrs;
	qn_item data = qn_item_int(0);

	node.info = qn_op_lookup(w->r.m->env, name, &node.op);
	if (node.info == NULL || node.op == QN_OP_input || node.op == QN_OP_call)
		return qn_lib_fail(w, "op.unknown", "unknown op or function '%s'", name);
	if (!qn_lib_attrs(w, node.info, &attrs))
		return false;
	const bool typed = qn_text_peek(&w->r.text, ":");
	const qn_text colon = w->r.text;
	if (typed) {
		(void)qn_text_eat(&w->r.text, ":");
		if (!qn_text_peek(&w->r.text, "tensor"))
			w->r.text = colon; /* of c ? a : b */
		else if ((w->mode == QN_LIB_RUN && !has_graph(w)) || !qn_lib_type(w, &node.type))
			return false;
	}
	if (node.op == QN_OP_const) {
		(void)qn_text_eat(&w->r.text, "splat");
		if (!qn_lib_expression(w, &data))
			return false;
	}
	*out = anything;
	if (w->mode != QN_LIB_RUN)
		return true;
	const qn_text end = w->r.text;
	w->r.text = start;
	if (node.op == QN_OP_const) {
		*out = (qn_item){0};
		if (node.type != NULL)
			*out = qn_item_value(constant(w, node.type, &data));
		else
			(void)qn_lib_fail(w, "type.needed", "a constant needs a type");
	} else {
		node.attrs = &attrs;
		const bool ok = operands_of(w, name, n, operand, &in, &node.nin);
		node.in = in;
		*out = ok ? qn_item_value(qn_lib_make(w, &node)) : (qn_item){0};
	}
	w->r.text = end;
	return out->kind == QN_ITEM_VALUE;
}

/* %a, %b: expressions up to attributes or a type. */
static bool
read_operands(qn_lib_walk *w, qn_lib_items *to)
{
	qn_item x;

	if (qn_text_peek(&w->r.text, "{") || qn_text_peek(&w->r.text, ":"))
		return true;
	do {
		if (!qn_lib_expression(w, &x) || !qn_lib_push(w, to, &x))
			return false;
	} while (qn_text_eat(&w->r.text, ","));
	return true;
}

bool
qn_lib_op(qn_lib_walk *w, const char *name, qn_item *out)
{
	qn_lib_items operand = {0};

	return read_operands(w, &operand) && qn_lib_op_with(w, name, operand.n, operand.at, out);
}

/* ---- calls ---- */

static bool
read_call_attrs(qn_lib_walk *w, qn_lib_attr **attr, size_t *n)
{
	size_t cap = 0;

	if (!qn_text_eat(&w->r.text, "{"))
		return true;
	do {
		qn_lib_attr a = {.name = qn_lib_word(w), .value = qn_item_int(1)};

		if (a.name == NULL)
			return qn_read_fail(&w->r, "expected the name of an attribute");
		if (qn_text_eat(&w->r.text, "=") && !qn_lib_expression(w, &a.value))
			return false;
		*attr = qn_arena_grow(w->lib->a, *attr, &cap, *n + 1, sizeof **attr);
		(*attr)[(*n)++] = a;
	} while (qn_text_eat(&w->r.text, ","));
	return qn_read_expect(&w->r, "}");
}

/* After "@": one result as it is, several as a list. */
bool
qn_lib_called(qn_lib_walk *w, size_t wanted, qn_item *out)
{
	qn_lib_items operand = {0};
	qn_lib_attr *attr = NULL;
	const char *name = qn_lib_word(w);
	const qn_text start = w->r.text;
	size_t nattr = 0;
	const bool parentheses = w->r.text.at < w->r.text.end && *w->r.text.at == '(';

	if (name == NULL)
		return qn_read_fail(&w->r, "expected a name after '@'");
	if (parentheses)
		w->r.text.at++;
	if (!(parentheses && qn_text_eat(&w->r.text, ")")) &&
	    (!read_operands(w, &operand) || (parentheses && !qn_read_expect(&w->r, ")"))))
		return false;
	if (!read_call_attrs(w, &attr, &nattr))
		return false;
	*out = anything;
	if (w->mode == QN_LIB_SKIP)
		return true;
	const qn_text end = w->r.text;
	w->r.text = start;
	const bool ok = qn_lib_expand(w, name, operand.n, operand.at, nattr, attr, wanted, out);
	w->r.text = end;
	if (ok && wanted == 1 && out->kind == QN_ITEM_LIST)
		*out = out->n > 0 ? out->at[0] : (qn_item){0};
	return ok;
}
