/* SPDX-License-Identifier: Apache-2.0 */
/* spelling.c - the real math ops of MLIR's quantization design, read as ops that exist.
 *
 *   real_add %x, %y {clamp_min=0.0}      ->  clip(add(x, y)) {min=0.0}
 *   real_matmul %x, %w, %b               ->  add(matmul(x, w), b)          clean makes a dense of it
 *   real_unary %x {kind=TANH}            ->  tanh(x)
 *   real_unary %x {kind=CMPLZ}           ->  where(less(x, 0), 1, 0) */
#include "ir/spelling.h"

#include <math.h>
#include <string.h>

#include "ir/infer.h"

typedef struct spelling {
	qn_opinfo info;
	qn_op op;
} spelling;

#define REAL_OP(name, least, most, set, op)                                                        \
	{                                                                                          \
		{#name, least, most, QN_ATTRS(set), QN_NONE, NULL}, QN_OP_##op                     \
	}

static const spelling spellings[] = {
	REAL_OP(real_add, 2, 2, real, add),       REAL_OP(real_sub, 2, 2, real, sub),
	REAL_OP(real_mul, 2, 2, real, mul),       REAL_OP(real_div, 2, 2, real, div),
	REAL_OP(real_matmul, 2, 3, real, matmul), REAL_OP(real_unary, 1, 1, real_unary, neg),
};

/* The op of a kind of real_unary, QN_NOP: none; a comparison with 0, whose result is chosen. */
static const struct {
	qn_op op;
	bool compares;
} kinds[] = {
	[QN_REAL_IDENTITY] = {QN_NOP, false},       [QN_REAL_TANH] = {QN_OP_tanh, false},
	[QN_REAL_SIGMOID] = {QN_OP_sigmoid, false}, [QN_REAL_EXP] = {QN_OP_exp, false},
	[QN_REAL_LOG] = {QN_OP_log, false},         [QN_REAL_NEG] = {QN_OP_neg, false},
	[QN_REAL_RSQRT] = {QN_OP_rsqrt, false},     [QN_REAL_SIN] = {QN_OP_sin, false},
	[QN_REAL_SQUARE] = {QN_OP_square, false},   [QN_REAL_SQRT] = {QN_OP_sqrt, false},
	[QN_REAL_CMPZ] = {QN_OP_equal, true},       [QN_REAL_CMPNZ] = {QN_OP_not_equal, true},
	[QN_REAL_CMPLZ] = {QN_OP_less, true},       [QN_REAL_CMPGZ] = {QN_OP_greater, true},
};

const qn_opinfo *
qn_spelling_lookup(const char *name, qn_op *op)
{
	*op = QN_NOP;
	for (size_t i = 0; i < QN_COUNT(spellings); i++) {
		if (strcmp(spellings[i].info.name, name) != 0)
			continue;
		*op = spellings[i].op;
		return &spellings[i].info;
	}
	return NULL;
}

static const spelling *
find(const qn_opinfo *info)
{
	for (size_t i = 0; i < QN_COUNT(spellings); i++)
		if (info == &spellings[i].info)
			return &spellings[i];
	return NULL;
}

/* What a node of the spelling must be, whatever it becomes. */
static bool
is_right(const qn_graph *g, const spelling *s, const qn_node *n, double lo, double hi)
{
	bool ok = true;

	if (n->nin < s->info.min_in || n->nin > s->info.max_in)
		return qn_infer_error(g, n, "op.arity", "%s has %u inputs, must have %u to %u",
				      s->info.name, n->nin, s->info.min_in, s->info.max_in);
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_type *t = qn_infer_in(g, n, i);

		if (t->is_tuple || !qn_elem_is_float(t->elem))
			ok = qn_infer_error(g, n, "type.element",
					    "input %u ('%s') is %s; %s takes float values", i,
					    qn_graph_node(g, n->in[i])->name,
					    qn_infer_type_text(g, t), s->info.name);
	}
	if (!(lo <= hi))
		ok = qn_infer_error(g, n, "attr.value",
				    "clamp_min = %g, clamp_max = %g; the first must be at most the "
				    "second",
				    lo, hi);
	return ok;
}

/* A node with the place and the facts of the spelling; name NULL: any. */
static qn_id
add(qn_graph *g, const qn_node *like, qn_op op, const char *name, uint32_t nin, const qn_id *in)
{
	qn_node n = *like;
	qn_attrs a;

	for (uint32_t i = 0; i < nin; i++)
		if (in[i] == 0)
			return 0;
	qn_attrs_default(qn_opinfo_get(op)->attrs, &a);
	n.op = op;
	n.name = name;
	n.nin = nin;
	n.in = in;
	n.attr = &a;
	n.type = name != NULL ? like->type : NULL;
	return qn_graph_add(g, &n);
}

static qn_id
number(qn_graph *g, const qn_elem *e, double v)
{
	qn_types *t = &g->model->types;
	const qn_plain p = e->kind == QN_ELEM_PLAIN ? e->plain : e->expressed;
	void *data;
	qn_tensor *c = qn_tensor_new(g->model->arena, qn_type_plain(t, p, 0, NULL), &data);

	qn_store_f64(data, p, 0, v);
	return qn_graph_const(g, NULL, c);
}

static qn_id
add_unary(qn_graph *g, const qn_node *n, const char *name)
{
	const int32_t kind = n->attr->real_unary.kind;
	const qn_elem *e = qn_infer_in(g, n, 0)->elem;

	if (kinds[kind].compares) {
		const qn_id zero = number(g, e, 0);
		const qn_id is = add(g, n, kinds[kind].op, NULL, 2, (qn_id[]){n->in[0], zero});

		return add(g, n, QN_OP_where, name, 3, (qn_id[]){is, number(g, e, 1), zero});
	}
	return kinds[kind].op != QN_NOP ? add(g, n, kinds[kind].op, name, 1, n->in) : n->in[0];
}

static qn_id
add_limits(qn_graph *g, const qn_node *n, qn_id x, double lo, double hi)
{
	qn_node clip = *n;
	qn_attrs a;

	if (x == 0)
		return 0;
	qn_attrs_default(QN_ATTRS(clip), &a);
	a.clip.min = lo;
	a.clip.max = hi;
	clip.op = QN_OP_clip;
	clip.nin = 1;
	clip.in = &x;
	clip.attr = &a;
	return qn_graph_add(g, &clip);
}

qn_id
qn_spelling_add(qn_graph *g, const qn_opinfo *info, const qn_node *n)
{
	const spelling *s = find(info);

	if (s == NULL)
		return qn_graph_add(g, n);
	const bool unary = s->info.attrs == QN_ATTRS(real_unary);
	const double lo = unary ? n->attr->real_unary.clamp_min : n->attr->real.clamp_min;
	const double hi = unary ? n->attr->real_unary.clamp_max : n->attr->real.clamp_max;
	const bool limited = isfinite(lo) || isfinite(hi);
	const char *name = limited ? NULL : n->name;
	qn_id y;

	if (!is_right(g, s, n, lo, hi))
		return 0;
	if (unary) {
		y = add_unary(g, n, name);
	} else if (n->nin == 3) {
		y = add(g, n, s->op, NULL, 2, n->in);
		y = add(g, n, QN_OP_add, name, 2, (qn_id[]){y, n->in[2]});
	} else {
		y = add(g, n, s->op, name, 2, n->in);
	}
	return limited ? add_limits(g, n, y, lo, hi) : y;
}
