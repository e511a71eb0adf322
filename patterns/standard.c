/* SPDX-License-Identifier: Apache-2.0 */
/* standard.c - the built-in quantizer patterns, one row each; longer ones first. */
#include "patterns/standard.h"

#include "patterns/quantizing.h"
#include "patterns/stored.h"

#include "ir/diag.h"

#include <string.h>

enum { ANCHOR, X, W, B };

/* ---- accept ---- */

static int
accept_f32(void *user, const qn_graph *g, const qn_match *m, const char **reason)
{
	const qn_node *n = qn_graph_node(g, m->root);

	(void)user;
	for (uint32_t i = 0; i < n->nin; i++)
		if (!qn_type_is_f32(qn_graph_node(g, n->in[i])->type)) {
			*reason = "an operand is not f32";
			return 0;
		}
	return 1;
}

/* A table needs one exponent; its quantized value must be exact, or a square would not be one. */
static int
accept_pow(void *user, const qn_graph *g, const qn_match *m, const char **reason)
{
	const qn_node *n = qn_graph_node(g, m->root), *exponent = qn_graph_node(g, n->in[1]);

	if (!accept_f32(user, g, m, reason))
		return 0;
	if (exponent->op != QN_OP_const || qn_type_count(exponent->type) != 1) {
		*reason = "pow in integers takes only a constant exponent of one element";
		return 0;
	}
	if (n->type != qn_graph_node(g, n->in[0])->type) {
		*reason = "the exponent changes the shape";
		return 0;
	}
	double e = qn_tensor_f64(exponent->value, 0);
	e = e < 0 ? -e : e;
	if (!(e == 0 || (e >= 0x1p-100 && e <= 0x1p100))) {
		*reason = "the exponent is 0 or too large";
		return 0;
	}
	return 1;
}

static int
accept_lut(void *user, const qn_graph *g, const qn_match *m, const char **reason)
{
	bool is_pow = qn_graph_node(g, m->root)->op == QN_OP_pow;

	return is_pow ? accept_pow(user, g, m, reason) : accept_f32(user, g, m, reason);
}

/* ---- quantize ---- */

static const char *
operand_name(const qn_node *n, uint32_t i)
{
	static const char *const names[][3] = {{"x", "x", "x"}, {"a", "b", "x"}, {"x", "w", "b"}};

	return i < 3 ? names[n->nin < 3 ? n->nin - 1 : 2][i] : "x";
}

/* A float op on quantized operands; with the quantize that follows it becomes the integer op. */
static qn_id
quantize_operands(void *user, qn_quantizing *b, const qn_match *m)
{
	const qn_node *root = qn_qb_root(b);
	qn_id *in = QN_NEW(qn_qb_graph(b)->model->scratch, qn_id, root->nin);

	(void)user;
	(void)m;
	/* their arithmetic compares values of all channels */
	const bool one_scale = qn_opinfo_of(root)->behaviour == QN_FIXED;

	for (uint32_t i = 0; i < root->nin; i++) {
		const qn_id x = qn_qb_input(b, i);
		const char *name = operand_name(root, i);

		in[i] = one_scale ? qn_qb_quantize_tensor(b, x, root->name, name)
				  : qn_qb_quantize(b, x, root->name, name);
		in[i] = qn_qb_dequantize(b, in[i], NULL);
	}
	return qn_qb_op(b, root->op, root->name, root->nin, in, root->attr);
}

/* Both operands in the parameters of the first one that varies, for the range of both: what is equal has equal
 * integers. */
static qn_id
quantize_equal(void *user, qn_quantizing *b, const qn_match *m)
{
	const qn_node *root = qn_qb_root(b);
	qn_graph *g = qn_qb_graph(b);
	const uint32_t first = qn_graph_node(g, qn_qb_input(b, 0))->op == QN_OP_const ? 1 : 0;
	qn_id in[2], x = qn_qb_input(b, 1 - first);

	(void)user;
	(void)m;
	in[first] = qn_qb_quantize_tensor(b, qn_qb_input(b, first), root->name,
					  operand_name(root, first));
	if (in[first] == 0)
		return 0;
	in[1 - first] = qn_graph_op(g, QN_OP_quantize, NULL, 1, &x, NULL,
				    qn_type_with_elem(&b->m->types, qn_graph_node(g, x)->type,
						      qn_graph_node(g, in[first])->type->elem));
	for (uint32_t i = 0; i < 2; i++)
		in[i] = qn_qb_dequantize(b, in[i], NULL);
	return qn_qb_op(b, root->op, root->name, 2, in, root->attr);
}

/* The exponent e as the integer 1 or -1 of scale |e|. */
static qn_id
quantize_pow(void *user, qn_quantizing *b, const qn_match *m)
{
	const qn_node *root = qn_qb_root(b);
	const qn_node *c = qn_graph_node(qn_qb_graph(b), qn_qb_input(b, 1));
	double e = qn_tensor_f64(c->value, 0);
	const qn_elem byte = qn_elem_desc(8, true); /* not an activation */
	const char *name = c->name;
	qn_id in[2];

	(void)user;
	(void)m;
	e = e < 0 ? -e : e;
	in[0] = qn_qb_quantize(b, qn_qb_input(b, 0), root->name, "x");
	in[1] = qn_qb_quantize_fixed(b, qn_qb_input(b, 1), name, &byte, e == 0 ? 1.0 : e, 0);
	in[0] = qn_qb_dequantize(b, in[0], NULL);
	in[1] = qn_qb_dequantize(b, in[1], NULL);
	return qn_qb_op(b, root->op, root->name, 2, in, root->attr);
}

static qn_id
quantize_lut(void *user, qn_quantizing *b, const qn_match *m)
{
	return qn_qb_root(b)->op == QN_OP_pow ? quantize_pow(user, b, m)
					      : quantize_operands(user, b, m);
}

/* An op whose arithmetic fixes the parameters of its result: softmax has scale 1/256 and zero
 * point -128. */
static qn_id
quantize_fixed(void *user, qn_quantizing *b, const qn_match *m)
{
	const qn_node *root = qn_qb_root(b);
	qn_id y = quantize_operands(user, b, m);

	return qn_qb_dequantize(b, qn_qb_quantize_result(b, y, root->name, root), root->name);
}

/* Features of sound: PCM samples in, results in steps of an attribute, both of 16 bits. */
static qn_id
quantize_sound(void *user, qn_quantizing *b, const qn_match *m)
{
	const qn_node *root = qn_qb_root(b);
	qn_graph *g = qn_qb_graph(b);
	qn_id in[2] = {0};

	(void)user;
	(void)m;
	in[0] = qn_quantize_pcm(b->m, g, qn_qb_input(b, 0), root->name, "x");
	in[0] = qn_qb_dequantize(b, in[0], NULL);
	if (root->nin > 1) {
		in[1] = qn_quantize_sound(b->m, g, qn_qb_input(b, 1), root->name, "noise", root);
		in[1] = qn_qb_dequantize(b, in[1], NULL);
	}
	qn_id y = qn_qb_op(b, root->op, root->name, root->nin, in, root->attr);
	y = qn_quantize_sound(b->m, g, y, root->name, NULL, root);
	return qn_qb_dequantize(b, y, root->name);
}

/* Indices of elements, computed from quantized operands: the result is an integer and stays. */
static qn_id
quantize_index(void *user, qn_quantizing *b, const qn_match *m)
{
	const qn_node *root = qn_qb_root(b);
	qn_id x = qn_qb_quantize_tensor(b, qn_qb_input(b, 0), root->name, "x");

	(void)user;
	(void)m;
	x = qn_qb_dequantize(b, x, NULL);
	if (x == 0)
		return 0;
	return qn_graph_op(qn_qb_graph(b), root->op, root->name, 1, &x, root->attr, root->type);
}

/* ---- the rows ---- */

#define CONV2D QN_P_OP(conv2d, ANCHOR, QN_P_ARGS(QN_P_ANY(X), QN_P_ANY(W)))
#define CONV2D_B QN_P_OP(conv2d, ANCHOR, QN_P_ARGS(QN_P_ANY(X), QN_P_ANY(W), QN_P_ANY(B)))
#define DENSE QN_P_OP(dense, ANCHOR, QN_P_ARGS(QN_P_ANY(X), QN_P_ANY(W)))
#define DENSE_B QN_P_OP(dense, ANCHOR, QN_P_ARGS(QN_P_ANY(X), QN_P_ANY(W), QN_P_ANY(B)))
#define WEIGHTED(op) QN_P_OP(op, ANCHOR, QN_P_ARGS(QN_P_ANY(X), QN_P_ANY(W)))
#define WEIGHTED_B(op) QN_P_OP(op, ANCHOR, QN_P_ARGS(QN_P_ANY(X), QN_P_ANY(W), QN_P_ANY(B)))
#define BIASED(op) QN_P_OP(bias_add, QN_NO_SLOT, QN_P_ARGS(op, QN_P_ANY(B)))

/* name, pattern, accept, quantize; each takes the method of the options. */
#define ROW(name_, pattern_, accept_, quantize_)                                                   \
	{                                                                                          \
		.pattern = pattern_, .desc = {                                                     \
			.name = name_,                                                             \
			.accept = accept_,                                                         \
			.quantize = quantize_                                                      \
		}                                                                                  \
	}

static const qn_qpattern standard[] = {
	/* before the mul that it ends in */
	ROW("stored", QN_P_ALT(QN_NO_SLOT, QN_STORED_FORMS), qn_accept_stored, qn_quantize_stored),
	/* the six of the RFC */
	ROW("conv2d_bias", QN_P_ALT(QN_NO_SLOT, QN_P_ARGS(BIASED(CONV2D), CONV2D_B)),
	    qn_accept_weighted, qn_quantize_weighted),
	ROW("conv2d", CONV2D, qn_accept_weighted, qn_quantize_weighted),
	ROW("dense_bias", QN_P_ALT(QN_NO_SLOT, QN_P_ARGS(BIASED(DENSE), DENSE_B)),
	    qn_accept_weighted, qn_quantize_weighted),
	ROW("dense", DENSE, qn_accept_weighted, qn_quantize_weighted),
	ROW("add", QN_P_OPN(add, ANCHOR), accept_f32, quantize_operands),
	ROW("mul", QN_P_OPN(mul, ANCHOR), accept_f32, quantize_operands),
	/* products */
	ROW("conv1d_bias",
	    QN_P_ALT(QN_NO_SLOT, QN_P_ARGS(BIASED(WEIGHTED(conv1d)), WEIGHTED_B(conv1d))),
	    qn_accept_weighted, qn_quantize_weighted),
	ROW("conv1d", WEIGHTED(conv1d), qn_accept_weighted, qn_quantize_weighted),
	ROW("conv3d_bias",
	    QN_P_ALT(QN_NO_SLOT, QN_P_ARGS(BIASED(WEIGHTED(conv3d)), WEIGHTED_B(conv3d))),
	    qn_accept_weighted, qn_quantize_weighted),
	ROW("conv3d", WEIGHTED(conv3d), qn_accept_weighted, qn_quantize_weighted),
	ROW("conv2d_transpose_bias",
	    QN_P_ALT(QN_NO_SLOT,
		     QN_P_ARGS(BIASED(WEIGHTED(conv2d_transpose)), WEIGHTED_B(conv2d_transpose))),
	    qn_accept_weighted, qn_quantize_weighted),
	ROW("conv2d_transpose", WEIGHTED(conv2d_transpose), qn_accept_weighted,
	    qn_quantize_weighted),
	ROW("matmul", QN_P_OPN(matmul, ANCHOR), accept_f32, qn_quantize_matmul),
	ROW("lrn", QN_P_OPN(lrn, ANCHOR), qn_accept_lrn, qn_quantize_lrn),
	ROW("log_mel", QN_P_OPN(log_mel, ANCHOR), accept_f32, quantize_sound),
	ROW("mfcc", QN_P_OPN(mfcc, ANCHOR), accept_f32, quantize_sound),
	ROW("table", QN_P_OPN(gather, ANCHOR), qn_accept_table, qn_quantize_table),
	/* one for each behaviour of the op table that needs parameters of its own */
	ROW("equal", QN_P_OPN(equal, ANCHOR), accept_f32, quantize_equal),
	ROW("not_equal", QN_P_OPN(not_equal, ANCHOR), accept_f32, quantize_equal),
	ROW("mix", QN_P_CLASS(QN_MIX, ANCHOR), accept_f32, quantize_operands),
	ROW("lut", QN_P_CLASS(QN_LUT, ANCHOR), accept_lut, quantize_lut),
	ROW("mean", QN_P_CLASS(QN_MEAN, ANCHOR), accept_f32, quantize_operands),
	ROW("log_softmax", QN_P_OPN(log_softmax, ANCHOR), accept_f32, quantize_operands),
	ROW("fixed", QN_P_CLASS(QN_FIXED, ANCHOR), accept_f32, quantize_fixed),
	ROW("index", QN_P_CLASS(QN_INDEX, ANCHOR), accept_f32, quantize_index),
};
enum { BEFORE_RFC = 1, NRFC = 6 };

const qn_qpattern *
qn_standard_patterns(qn_scheme scheme, size_t *n)
{
	*n = scheme == QN_SCHEME_RFC ? (size_t)NRFC : QN_COUNT(standard);
	return standard + (scheme == QN_SCHEME_RFC ? BEFORE_RFC : 0);
}

static const qn_qpattern *
find(const qn_qpattern *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].desc.name, name) == 0)
			return &list[i];
	return NULL;
}

/* A row whose accept reads the options. */
static const qn_qpattern *
table_row(qn_qpattern *to, const qn_qpattern *row, const qn_quant_opts *opts)
{
	memcpy(to, row, sizeof *to);
	to->desc.user = (void *)(uintptr_t)opts;
	return to;
}

const qn_qpattern **
qn_quant_patterns(const qn_quant_opts *opts, qn_arena *a, size_t *n)
{
	size_t nstandard;
	const qn_qpattern *own = qn_standard_patterns(opts->scheme, &nstandard);
	const qn_qpattern **list = QN_NEW(a, const qn_qpattern *, opts->nhost + nstandard);
	qn_qpattern *table = QN_NEW(a, qn_qpattern, 1); /* the row that requires the options */

	for (*n = 0; *n < opts->nhost; ++*n)
		list[*n] = &opts->host[*n];
	for (size_t i = 0; i < nstandard && !opts->no_standard; i++) {
		if (find(opts->host, opts->nhost, own[i].desc.name) != NULL)
			continue;
		if (own[i].desc.accept != qn_accept_table)
			list[(*n)++] = &own[i];
		else if (qn_may_have_tables(opts))
			list[(*n)++] = table_row(table, &own[i], opts);
	}
	return list;
}

const qn_qpattern *
qn_pattern_find(const qn_quant_opts *opts, const char *name)
{
	const qn_qpattern *p = find(opts->host, opts->nhost, name);

	return p != NULL || opts->no_standard ? p : find(standard, QN_COUNT(standard), name);
}

bool
qn_pattern_is_standard(const qn_qpattern *p)
{
	for (size_t i = 0; i < QN_COUNT(standard); i++)
		if (p == &standard[i])
			return true;
	return false;
}
