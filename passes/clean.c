/* SPDX-License-Identifier: Apache-2.0 */
/* clean.c - prepares a float graph for the quantizer.
 *
 *   op(const, …)                       ->  const
 *   batch_norm(conv2d(x, w))           ->  bias_add(conv2d(x, w'), b')       w' = w * gamma / sqrt(var + eps), b' = beta - mean * gamma / sqrt(var + eps)
 *   batch_norm(bias_add(conv2d(x, w), b)), batch_norm(conv2d(x, w, b)), the same with dense, conv1d, conv2d_transpose
 *   batch_norm(x)                      ->  bias_add(conv2d(x, w' [C,1,1,1] {groups=C}), b')
 *   cast(bool x) to f32                ->  where(x, 1, 0)
 *   x + 0, 0 + x, x - 0, x * 1, 1 * x, x / 1   ->  x, where it has the result's shape
 *   concat(x, empty, y)                ->  concat(x, y); concat(x, empty)  ->  x
 *   get(top_k(x))                      ->  top_k_indices(x), or gather_elements(x, top_k_indices(x)), which can be quantized
 *   add(conv2d(…) or dense(…), const of C elements along the last axis)  ->  bias_add
 *   matmul(x, const [1,K,C])                                            ->  matmul(x, const [K,C])
 *   add(matmul(x, const [K,C]), const of C elements along the last axis)  ->  bias_add(dense(x, w), b), of x as rows
 *   activation functions and normalizations that are written out           ->  one op (fuse.h)
 *
 * requires: any graph (rules look at float nodes only).  leaves: the same values up to the rounding of the
 * folded weights. */
#include "ir/diag.h"
#include "passes/batch_norm.h"
#include "passes/fuse.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"
#include "runtime/impls.h"
#include "runtime/interp.h"

enum { ROOT, CONV, W, B, X, GAMMA, BETA, MEAN, VAR };

static bool
is_const(const qn_rw *rw, qn_id id)
{
	return qn_rw_node(rw, id)->op == QN_OP_const;
}

/* op(const, …) -> const */
static qn_id
fold_constant(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	qn_arena *a = qn_rw_model(rw)->scratch;
	const qn_tensor **in = QN_NEW(a, const qn_tensor *, n->nin);
	qn_tensor *value;

	bool real = qn_type_is_f32(n->type) && qn_opinfo_of(n)->behaviour != QN_EDGE;
	if (n->op == QN_OP_trace)
		return qn_rw_decline(rw, "its value is to be seen when the graph runs");
	if (n->nin == 0 || n->op == QN_OP_call || n->type->is_tuple || qn_type_count(n->type) < 0 ||
	    (!real && qn_plain_impl(qn_rw_graph(rw), n) == NULL))
		return qn_rw_decline(rw,
				     "it is not an op on plain elements that can be computed now");
	for (uint32_t i = 0; i < n->nin; i++) {
		if (!is_const(rw, n->in[i]))
			return qn_rw_decline(rw, "an input is not a constant");
		in[i] = qn_rw_node(rw, n->in[i])->value;
	}
	qn_status status = qn_eval_node(qn_rw_graph(rw), n, in, a, &value);
	if (status != QN_OK) {
		qn_rw_fail(rw, status);
		return 0;
	}
	return qn_rw_const(rw, qn_rw_name(rw, m->root),
			   qn_tensor_of(qn_rw_model(rw)->arena, value->type, value->data));
}

/* w with each slice of axis 0 multiplied by its factor. */
static qn_id
scaled_weights(qn_rw *rw, qn_id w, const double *factor)
{
	const qn_node *n = qn_rw_node(rw, w);
	int64_t channels = n->type->dim[0];
	int64_t each = channels > 0 ? qn_type_count(n->type) / channels : 0;
	void *data;
	qn_tensor *out = qn_tensor_new(qn_rw_model(rw)->arena, n->type, &data);

	for (int64_t i = 0; i < channels * each; i++)
		qn_store_f64(data, QN_PLAIN_f32, i, qn_tensor_f64(n->value, i) * factor[i / each]);
	return qn_rw_const(rw, qn_rw_name(rw, w), out);
}

static bool
constants_are_f32(const qn_rw *rw, const qn_match *m, int first, int last)
{
	for (int s = first; s <= last; s++)
		if (m->at[s] != 0 &&
		    (!is_const(rw, m->at[s]) || !qn_type_is_f32(qn_rw_node(rw, m->at[s])->type)))
			return false;
	return true;
}

/* batch_norm of a convolution or dense whose result nothing else uses: into its weights. */
static qn_id
fold_batch_norm(qn_rw *rw, const qn_match *m)
{
	const qn_node *bn = qn_rw_node(rw, m->root);
	const qn_node *conv = qn_rw_node(rw, m->at[CONV]);
	qn_arena *a = qn_rw_model(rw)->scratch;

	if (!constants_are_f32(rw, m, GAMMA, VAR) || !constants_are_f32(rw, m, W, B) ||
	    qn_rw_uses(rw, m->at[CONV]) != 1 || qn_rw_uses(rw, bn->in[0]) != 1 ||
	    !qn_type_is_f32(conv->type))
		return qn_rw_decline(rw, "parameters are not f32 constants, or a value in between "
					 "is used elsewhere");
	int64_t channels = qn_rw_node(rw, m->at[W])->type->dim[0];
	double *factor = QN_NEW(a, double, (size_t)channels);
	double *offset = QN_NEW(a, double, (size_t)channels);
	qn_batch_norm_affine(rw, bn, channels, factor, offset);
	qn_id in[2] = {m->at[X], scaled_weights(rw, m->at[W], factor)};
	qn_id y = qn_rw_add(rw, conv->op, qn_rw_name(rw, m->at[CONV]), 2, in, conv->attr, NULL);
	qn_id out[2] = {y, qn_batch_norm_bias(rw, qn_rw_derived_name(rw, m->root, "bias"), m->at[B],
					      channels, factor, offset)};
	return qn_rw_add(rw, QN_OP_bias_add, qn_rw_name(rw, m->root), 2, out, NULL, NULL);
}

static bool
has_fake_weights(const qn_rw *rw, const qn_node *product)
{
	return qn_opinfo_of(product)->behaviour == QN_ACC &&
	       qn_rw_node(rw, product->in[1])->op == QN_OP_const_fake_quant;
}

/* A batch norm that nothing takes in. */
static qn_id
batch_norm_to_conv(qn_rw *rw, const qn_match *m)
{
	const qn_node *bn = qn_rw_node(rw, m->root);

	if (!constants_are_f32(rw, m, GAMMA, VAR) || !qn_type_is_f32(bn->type) ||
	    qn_type_count(bn->type) <= 0)
		return qn_rw_decline(rw,
				     "parameters are not f32 constants, or the shape is unknown");
	if (has_fake_weights(rw, qn_rw_node(rw, m->at[X])))
		return qn_rw_decline(rw, "the weights before it are fake-quantized: requantize "
					 "folds it into their scales");
	return qn_batch_norm_conv(rw, m->root);
}

/* Whether the product is that of a matrix of rows, which are not empty, with one constant matrix. */
static bool
is_layer(const qn_rw *rw, const qn_node *product)
{
	const qn_node *w = product->op == QN_OP_matmul ? qn_rw_node(rw, product->in[1]) : NULL;

	return w != NULL && w->op == QN_OP_const && qn_type_is_f32(w->type) && w->type->rank == 2 &&
	       qn_type_count(w->type) > 0 && product->attr->matmul.transpose_a == 0 &&
	       qn_type_is_f32(product->type) && product->type->rank >= 2 &&
	       qn_type_count(product->type) > 0;
}

/* dense(x as rows, the matrix transposed) of a matmul that is a layer; the rules fold the
 * transpose. */
static qn_id
as_dense(qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);
	const qn_type *x = qn_rw_node(rw, n->in[0])->type;
	qn_id in[2] = {n->in[0], n->in[1]};
	int64_t rows[2] = {qn_type_count(x) / x->dim[x->rank - 1], x->dim[x->rank - 1]};
	qn_attrs swap;

	qn_attrs_default(QN_ATTRS(perm), &swap);
	swap.perm.perm = (qn_list){2, {1, 0}};
	if (n->attr->matmul.transpose_b == 0)
		in[1] = qn_rw_add(rw, QN_OP_transpose, qn_rw_name(rw, in[1]), 1, &in[1], &swap,
				  NULL);
	if (x->rank != 2)
		in[0] = qn_rw_reshape(rw, NULL, in[0], 2, rows);
	return qn_rw_add(rw, QN_OP_dense, qn_rw_name(rw, id), 2, in, NULL, NULL);
}

/* matmul(x, const [1,K,C]) -> matmul(x, const [K,C]), where x has as many dimensions */
static qn_id
one_matrix(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root), *w = qn_rw_node(rw, n->in[1]);
	const int32_t rank = w->type->rank;
	qn_model *model = qn_rw_model(rw);

	if (w->op != QN_OP_const || !qn_type_is_f32(w->type) || rank < 3 ||
	    qn_rw_node(rw, n->in[0])->type->rank < rank ||
	    qn_type_count(w->type) != w->type->dim[rank - 2] * w->type->dim[rank - 1])
		return qn_rw_decline(rw, "its second operand is not one constant matrix beside "
					 "dimensions of 1");
	const qn_type *matrix =
		qn_type_plain(&model->types, QN_PLAIN_f32, 2, &w->type->dim[rank - 2]);
	const qn_id in[2] = {n->in[0],
			     qn_rw_const(rw, qn_rw_name(rw, n->in[1]),
					 qn_tensor_view(model->arena, matrix, w->value->data))};
	n = qn_rw_node(rw, m->root);
	return qn_rw_add(rw, QN_OP_matmul, qn_rw_name(rw, m->root), 2, in, n->attr, NULL);
}

/* add(conv2d, dense or matmul, [1,…,C]) -> bias_add(…, [C]) */
static qn_id
add_to_bias(qn_rw *rw, const qn_match *m)
{
	const qn_node *product = qn_rw_node(rw, m->at[CONV]);
	const qn_node *b = qn_rw_node(rw, m->at[B]);
	const qn_type *t = product->type;
	qn_model *model = qn_rw_model(rw);
	bool layer = is_layer(rw, product) && qn_rw_uses(rw, m->at[CONV]) == 1;

	if (qn_opinfo_of(product)->behaviour != QN_ACC || (product->op == QN_OP_matmul && !layer) ||
	    product->nin != 2 || !qn_type_is_f32(b->type) || t->rank < 1 || b->type->rank < 1)
		return qn_rw_decline(rw, "the other operand is not a convolution or dense without "
					 "a bias, nor a product with a constant matrix");
	int64_t channels = t->dim[t->rank - 1];
	if (channels < 1 || b->type->dim[b->type->rank - 1] != channels ||
	    qn_type_count(b->type) != channels || b->type->rank > t->rank)
		return qn_rw_decline(rw, "the constant is not a vector along the channels");
	bool rows = layer && t->rank != 2;
	if (layer)
		qn_rw_add_origin(rw, m->at[CONV]);
	qn_id in[2] = {layer ? as_dense(rw, m->at[CONV]) : m->at[CONV], m->at[B]};
	if (b->type->rank != 1)
		in[1] = qn_rw_const(
			rw, qn_rw_name(rw, m->at[B]),
			qn_tensor_view(model->arena,
				       qn_type_plain(&model->types, QN_PLAIN_f32, 1, &channels),
				       b->value->data));
	const char *name = qn_rw_name(rw, m->root);
	qn_id y = qn_rw_add(rw, QN_OP_bias_add, rows ? NULL : name, 2, in, NULL, NULL);
	return rows ? qn_rw_reshape(rw, name, y, t->rank, t->dim) : y;
}

/* cast(bool) to f32 -> where(x, 1, 0), which can be quantized */
static qn_id
mask_to_where(qn_rw *rw, const qn_match *m)
{
	const qn_node *cast = qn_rw_node(rw, m->root);
	const qn_type *from = qn_rw_node(rw, cast->in[0])->type;
	qn_model *model = qn_rw_model(rw);
	const qn_type *scalar = qn_type_plain(&model->types, QN_PLAIN_f32, 0, NULL);
	static const float values[2] = {1.0f, 0.0f};
	qn_id in[3] = {cast->in[0]};

	if (!qn_type_is_f32(cast->type) || from->is_tuple || from->elem->kind != QN_ELEM_PLAIN ||
	    from->elem->plain != QN_PLAIN_bool)
		return qn_rw_decline(rw, "it is not a cast of bool to f32");
	in[1] = qn_rw_const(rw, qn_rw_derived_name(rw, m->root, "one"),
			    qn_tensor_of(model->arena, scalar, &values[0]));
	in[2] = qn_rw_const(rw, qn_rw_derived_name(rw, m->root, "zero"),
			    qn_tensor_of(model->arena, scalar, &values[1]));
	return qn_rw_add(rw, QN_OP_where, qn_rw_name(rw, m->root), 3, in, NULL, NULL);
}

/* An operand that is a constant of this number alone leaves the other one as it is.  Quantized, the op would
 * round once more, and with i16 have a scale that no multiplier converts to the other's. */
typedef struct neutral {
	qn_op op;
	float number;
	uint32_t either; /* 1: either operand, 0: the second only */
} neutral;

static const neutral neutrals[] = {
	{QN_OP_add, 0, 1},
	{QN_OP_sub, 0, 0},
	{QN_OP_mul, 1, 1},
	{QN_OP_div, 1, 0},
};

static bool
is_all(const qn_node *n, float number)
{
	if (n->op != QN_OP_const || !qn_type_is_f32(n->type))
		return false;
	for (int64_t i = 0; i < qn_type_count(n->type); i++)
		if (!(qn_tensor_f64(n->value, i) == (double)number))
			return false;
	return true;
}

/* add(x, 0) -> x */
static qn_id
drop_neutral(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);

	for (size_t k = 0; k < QN_COUNT(neutrals); k++)
		for (uint32_t i = 0; n->op == neutrals[k].op && i <= neutrals[k].either; i++)
			if (qn_rw_node(rw, n->in[i])->type == n->type &&
			    is_all(qn_rw_node(rw, n->in[1 - i]), neutrals[k].number))
				return n->in[i];
	return qn_rw_decline(rw, "no operand is a neutral constant");
}

/* concat(x, empty, y) -> concat(x, y). Rotary embeddings leave an empty rest where they turn whole heads. */
static qn_id
drop_empty(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	qn_id *in = QN_NEW(qn_rw_model(rw)->scratch, qn_id, n->nin);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n->nin; i++) {
		const int64_t count = qn_type_count(qn_rw_node(rw, n->in[i])->type);

		if (count < 0) /* the empty one may say what is open */
			return qn_rw_decline(rw, "the shape of an operand is open");
		if (count != 0)
			in[kept++] = n->in[i];
	}
	if (kept == n->nin || kept == 0 || n->type->elem->kind != QN_ELEM_PLAIN)
		return qn_rw_decline(rw, "no operand is empty, or all are, or it is quantized");
	if (kept == 1)
		return in[0];
	return qn_rw_add(rw, QN_OP_concat, qn_rw_name(rw, m->root), kept, in, n->attr, NULL);
}

/* get(top_k(x)) -> the indices that it finds, or the elements there */
static qn_id
part_of_top_k(qn_rw *rw, const qn_match *m)
{
	const qn_node *get = qn_rw_node(rw, m->root), *top = qn_rw_node(rw, get->in[0]);
	const qn_type *type = top->type->field[1];
	const char *name = qn_rw_name(rw, m->root);
	bool places = get->attr->get.index == 1;
	qn_id in[2] = {top->in[0], 0};
	qn_attrs attr;

	qn_attrs_default(QN_ATTRS(gather), &attr);
	attr.gather.axis = top->attr->top_k.axis;
	in[1] = qn_rw_add(rw, QN_OP_top_k_indices,
			  places ? name : qn_rw_derived_name(rw, m->root, "places"), 1, in,
			  top->attr, type);
	if (places || in[1] == 0)
		return in[1];
	return qn_rw_add(rw, QN_OP_gather_elements, name, 2, in, &attr, NULL);
}

#define BN(x)                                                                                      \
	QN_P_OP(batch_norm, ROOT,                                                                  \
		QN_P_ARGS(x, QN_P_ANY(GAMMA), QN_P_ANY(BETA), QN_P_ANY(MEAN), QN_P_ANY(VAR)))
#define WEIGHTED(op) QN_P_OP(op, CONV, QN_P_ARGS(QN_P_ANY(X), QN_P_ANY(W)))
#define WEIGHTED_B(op) QN_P_OP(op, CONV, QN_P_ARGS(QN_P_ANY(X), QN_P_ANY(W), QN_P_ANY(B)))
#define BIASED(op) QN_P_OP(bias_add, QN_NO_SLOT, QN_P_ARGS(WEIGHTED(op), QN_P_ANY(B)))
#define FOLDABLE(op) QN_P_ALT(QN_NO_SLOT, QN_P_ARGS(WEIGHTED(op), WEIGHTED_B(op), BIASED(op)))

static const qn_rule rules[] = {
	{"fold-constant", QN_P_ANY(ROOT), fold_constant},
	{"fold-batch-norm-conv2d", BN(FOLDABLE(conv2d)), fold_batch_norm},
	{"fold-batch-norm-dense", BN(FOLDABLE(dense)), fold_batch_norm},
	{"fold-batch-norm-conv1d", BN(FOLDABLE(conv1d)), fold_batch_norm},
	{"fold-batch-norm-conv3d", BN(FOLDABLE(conv3d)), fold_batch_norm},
	{"fold-batch-norm-conv2d-transpose", BN(FOLDABLE(conv2d_transpose)), fold_batch_norm},
	{"add-nothing", QN_P_OPN(add, ROOT), drop_neutral},
	{"subtract-nothing", QN_P_OPN(sub, ROOT), drop_neutral},
	{"multiply-by-one", QN_P_OPN(mul, ROOT), drop_neutral},
	{"divide-by-one", QN_P_OPN(div, ROOT), drop_neutral},
	{"concat-nothing", QN_P_OPN(concat, ROOT), drop_empty},
	{"part-of-top-k", QN_P_OP(get, ROOT, QN_P_ARGS(QN_P_OPN(top_k, X))), part_of_top_k},
	{"mask-to-where", QN_P_OPN(cast, ROOT), mask_to_where},
	{"batch-norm-to-conv2d", BN(QN_P_ANY(X)), batch_norm_to_conv},
	{"one-matrix", QN_P_OPN(matmul, ROOT), one_matrix},
	{"add-to-bias", QN_P_OP(add, ROOT, QN_P_ARGS(QN_P_ANY(CONV), QN_P_CONST(B))), add_to_bias},
};

qn_status
qn_clean(qn_model *m)
{
	for (size_t i = 0; i < m->ngraph; i++) {
		qn_graph **g = &m->graph[i];

		QN_TRY(qn_rewrite(m, *g, rules, QN_COUNT(rules), NULL, g));
		QN_TRY(qn_fuse_sigmoids(m, *g, g));
		QN_TRY(qn_fuse_activations(m, *g, g));
		QN_TRY(qn_fuse_prelus(m, *g, g));
		QN_TRY(qn_fuse_norms(m, *g, g));
		QN_TRY(qn_fuse_l2_norms(m, *g, g));
		QN_TRY(qn_fuse_magnitudes(m, *g, g));
	}
	return QN_OK;
}
