/* SPDX-License-Identifier: Apache-2.0 */
/* accumulator.c - bounds of the sums of conv2d and dense, which are of 32 bits, or for i16 of 64, of
 * which the requantize takes 47.
 *
 *   |acc[o]| <= |bias[o]| + sum over k of |w[o, k]| * max |x - zx|
 *
 * This bounds each partial sum too, whatever the order.  With constant weights the figure is
 * exact for the largest inputs; otherwise |w| is the largest that the weights' type holds.  The
 * known rule of thumb K * 255 * 127 < 2^31, K <= 66311 terms, is its worst case. */
#include "runtime/accumulator.h"

#define MOST_SUM (INT64_C(1) << 48) /* what is above an accumulator's limit anyway */
enum { MOST_BLOCK = 65536 };        /* products of 16 bits whose sum fits 32 */

#include "ir/block_scales.h"
#include "ir/diag.h"
#include "runtime/impl_util.h"

/* |v|, at most twice what an accumulator may reach. */
static int64_t
magnitude(int64_t v)
{
	return v < -MOST_SUM || v > MOST_SUM ? MOST_SUM : v < 0 ? -v : v;
}

bool
qn_elem_is_weight(const qn_elem *e)
{
	return e->kind == QN_ELEM_UNIFORM && e->is_signed &&
	       (e->bits == 8 || e->bits == 4 || e->bits == 2);
}

/* Ops with kernels for weights in blocks: dense and all convolutions. */
static bool
takes_blocks(const qn_node *n)
{
	return qn_opinfo_of(n)->behaviour == QN_ACC && n->op != QN_OP_matmul;
}

/* Weights: i8, i4 or i2, one scale or one per output channel, zero points 0, or in blocks. */
static bool
check_weights(const qn_graph *g, const qn_node *n)
{
	const qn_elem *e = qn_in_type(g, n, 1)->elem;

	if (!qn_elem_is_weight(e)) {
		(void)qn_int_refuse(g, n, "only signed weights of 8, 4 or 2 bits");
		return false;
	}
	if ((e->gran == QN_SUB_CHANNEL && !takes_blocks(n)) ||
	    (e->gran == QN_PER_AXIS && e->axis[0] != 0)) {
		(void)qn_int_refuse(g, n,
				    "only weights with one scale or one per output channel; "
				    "in blocks for dense and convolutions");
		return false;
	}
	for (size_t i = 0; e->gran != QN_SUB_CHANNEL && i < qn_elem_nparams(e); i++) {
		double scale = 0.0;
		int64_t zp = 0;

		qn_elem_param(&g->model->types, e, i, &scale, &zp);
		if (zp == 0)
			continue;
		(void)qn_int_refuse(g, n, "only symmetric weights, zero point %lld is not 0",
				    (long long)zp);
		return false;
	}
	return true;
}

/* The elements of a constant, or of a constant after quantization; else NULL. */
static const qn_tensor *
known_quantized(const qn_graph *g, qn_id id, qn_arena *a)
{
	const qn_node *n = qn_graph_node(g, id);

	if (n->op == QN_OP_const)
		return n->value;
	if (n->op == QN_OP_quantize && qn_graph_node(g, n->in[0])->op == QN_OP_const)
		return qn_tensor_quantize(&g->model->types, a, qn_graph_node(g, n->in[0])->value,
					  n->type);
	return NULL;
}

static bool
check_operands(const qn_graph *g, const qn_node *n)
{
	const qn_types *t = &g->model->types;

	const qn_type *x = qn_in_type(g, n, 0);
	const bool data_ok = qn_takes_channels(t, n, x, qn_in_type(g, n, 1))
				     ? qn_int_need_channels(g, n, x)
				     : qn_int_check_quantized(g, n, x);

	if (!data_ok || !check_weights(g, n))
		return false;
	/* Sums of weights in blocks have 64 bits where they are declared so. */
	qn_family f = qn_node_family(g, n);
	if (qn_has_blocks(g, n) && n->type->elem->bits == 64)
		f = QN_FAMILY_s16;
	int bits = f == QN_FAMILY_s16 ? 64 : 32;
	if (!qn_elem_is_acc(t, n->type->elem, f)) {
		(void)qn_int_refuse(g, n, "only %d-bit accumulators", bits);
		return false;
	}
	if (n->nin > 2 && !qn_elem_is_acc(t, qn_in_type(g, n, 2)->elem, f)) {
		(void)qn_int_refuse(g, n, "only a %d-bit bias with zero point 0", bits);
		return false;
	}
	return true;
}

/* sum of |w| of output channel o: exact where w is known, else the most the type allows. */
static int64_t
weight_sum(const qn_type *type, const qn_tensor *w, int64_t o, int64_t terms)
{
	int64_t sum = 0;

	if (w == NULL)
		return terms * (INT64_C(1) << (type->elem->bits - 1));
	for (int64_t k = 0; k < terms; k++)
		sum += magnitude(qn_tensor_i64(w, o * terms + k));
	return sum;
}

static bool
sums_hold(const qn_graph *g, const qn_node *n, int64_t terms, int64_t worst, bool wide,
	  const char *what)
{
	const int64_t limit = qn_family_get(wide ? QN_FAMILY_s16 : QN_FAMILY_s8)->limit;

	if (worst <= limit)
		return true;
	(void)qn_report(g->model->env, QN_EUNSUPPORTED, "int.accumulator", qn_node_place(g, n),
			"%s, node '%s': a sum of %lld terms can reach %lld, above the %s-bit "
			"accumulator's %lld; split the %s",
			qn_opinfo_of(n)->name, n->name, (long long)terms, (long long)worst,
			wide ? "64" : "32", (long long)limit, what);
	return false;
}

bool
qn_has_blocks(const qn_graph *g, const qn_node *n)
{
	return takes_blocks(n) && qn_in_type(g, n, 1)->elem->kind == QN_ELEM_UNIFORM &&
	       qn_in_type(g, n, 1)->elem->gran == QN_SUB_CHANNEL;
}

/* Calls itself for each axis after d: adds the largest sums of the blocks at `block` on. */
static int64_t
block_sum(const qn_block_scales *b, const qn_tensor *w, int32_t d, int64_t at, int64_t block,
	  int64_t far)
{
	const qn_type *t = w->type;
	int64_t sum = 0;

	if (d == t->rank) {
		const int64_t v = qn_tensor_i64(w, at),
			      z = b->offset != NULL ? b->offset[block] : 0;

		return ((v < 0 ? -v : v) * b->mantissa[block] + (z < 0 ? -z : z)) * far;
	}
	for (int64_t i = 0; i < t->dim[d] && sum <= MOST_SUM; i++)
		sum += block_sum(b, w, d + 1, at * t->dim[d] + i,
				 block * b->count[d] + i / b->size[d], far);
	return sum;
}

int64_t
qn_block_sum_bound(const qn_block_scales *b, const qn_tensor *w, int64_t o, int64_t far)
{
	return block_sum(b, w, 1, o, o, far);
}

/* Inner sums of weights in blocks stay inside 32 bits, for i16 64, and their scales are of the form that
 * kernels expect. */
static bool
check_blocks(const qn_graph *g, const qn_node *n, const qn_tensor *w, qn_arena *a)
{
	const qn_type *wt = qn_in_type(g, n, 1);
	int64_t terms = 1;
	qn_block_scales b;

	if (w == NULL || !qn_block_scales_find(&g->model->types, wt, a, &b)) {
		(void)qn_int_refuse(g, n, "only constant weights in blocks");
		return false;
	}
	for (int32_t i = 1; i < wt->rank; i++)
		terms *= b.size[i];
	if (qn_node_family(g, n) == QN_FAMILY_s16 || terms <= MOST_BLOCK)
		return true;
	(void)qn_int_refuse(g, n, "only blocks of at most %d weights", (int)MOST_BLOCK);
	return false;
}

/* The largest sum of any channel. */
static int64_t
worst_sum(const qn_graph *g, const qn_node *n, const qn_tensor *w, const qn_tensor *bias,
	  qn_arena *a)
{
	const qn_type *wt = qn_in_type(g, n, 1);
	const int64_t terms = qn_dim_product(wt, 1, wt->rank);
	const int64_t far = qn_code_reach(g, qn_in_type(g, n, 0));
	const bool blocks = w != NULL && qn_has_blocks(g, n);
	int64_t worst = 0;
	qn_block_scales b;

	if (blocks && !qn_block_scales_find(&g->model->types, wt, a, &b))
		return MOST_SUM;
	for (int64_t o = 0; o < wt->dim[0]; o++) {
		const int64_t sum = blocks ? qn_block_sum_bound(&b, w, o, far)
					   : weight_sum(wt, w, o, terms) * far;
		const int64_t all = sum + (bias != NULL ? magnitude(qn_tensor_i64(bias, o)) : 0);

		worst = all > worst ? all : worst;
	}
	return worst;
}

int64_t
qn_accumulator_worst(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const bool layer = qn_opinfo_of(n)->behaviour == QN_ACC && n->op != QN_OP_matmul &&
			   qn_node_on_quantized(g, n) && qn_type_count(qn_in_type(g, n, 1)) > 0;
	const qn_tensor *w = layer ? known_quantized(g, n->in[1], a) : NULL;

	return w != NULL
		       ? worst_sum(g, n, w, n->nin > 2 ? known_quantized(g, n->in[2], a) : NULL, a)
		       : -1;
}

/* As qn_accumulator_check; fills a with the quantized weights. */
static bool
check_sums(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_type *wt = qn_in_type(g, n, 1);
	const qn_tensor *w = known_quantized(g, n->in[1], a);
	const qn_tensor *b = n->nin > 2 ? known_quantized(g, n->in[2], a) : NULL;

	if (n->nin > 2 && b == NULL) {
		(void)qn_int_refuse(g, n, "only a constant bias");
		return false;
	}
	if (qn_has_blocks(g, n) && !check_blocks(g, n, w, a))
		return false;
	return sums_hold(g, n, qn_dim_product(wt, 1, wt->rank), worst_sum(g, n, w, b, a),
			 n->type->elem->bits == 64, "layer or shrink weights and bias");
}

bool
qn_accumulator_check(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	if (!check_operands(g, n))
		return false;
	qn_arena *weights = qn_arena_child(a); /* as large as those of all layers, if they stayed */
	const bool hold = check_sums(g, n, weights);
	qn_arena_release(weights);
	return hold;
}

bool
qn_accumulator_holds(const qn_graph *g, const qn_node *n, int64_t terms, int64_t worst,
		     const char *what)
{
	return sums_hold(g, n, terms, worst, qn_node_family(g, n) == QN_FAMILY_s16, what);
}
