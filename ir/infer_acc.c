/* SPDX-License-Identifier: Apache-2.0 */
/* infer_acc.c - elements of ops that multiply and add up.
 *
 *   x <i8:f32, 0.5:3>   w <i8:f32:0, {0.1, 0.2}>   ->   <i32:f32:3, 0.5*{0.1, 0.2}>
 *
 * The accumulator has the scale data scale * weight scale and zero point 0, so that a
 * requantize converts it. */
#include "ir/block_scales.h"
#include "ir/infer.h"

#include "ir/window.h"

static bool
has_zero_point(const qn_elem *e)
{
	if (e->zp_sym != NULL)
		return e->zp_sym->kind != QN_SYM_SYMMETRIC;
	if (e->scale->kind != QN_SCALE_VEC)
		return e->zp != 0;
	for (size_t i = 0; e->scale->vec->zp != NULL && i < e->scale->vec->n; i++)
		if (e->scale->vec->zp[i] != 0)
			return true;
	return false;
}

bool
qn_takes_channels(const qn_types *t, const qn_node *n, const qn_type *x, const qn_type *w)
{
	const qn_elem *e = x->elem;
	double scale;
	int64_t first, zp;

	if ((n->op != QN_OP_conv1d && n->op != QN_OP_conv2d && n->op != QN_OP_conv3d) ||
	    e->kind != QN_ELEM_UNIFORM || e->gran != QN_PER_AXIS || qn_elem_has_symbol(e) ||
	    x->rank < 1 || w->rank < 1 || e->axis[0] != x->rank - 1 ||
	    w->elem->gran == QN_SUB_CHANNEL)
		return false;
	qn_elem_param(t, e, 0, &scale, &first);
	for (size_t i = 1; i < qn_elem_nparams(e); i++) {
		qn_elem_param(t, e, i, &scale, &zp);
		if (zp != first)
			return false;
	}
	return qn_convolving_of(n).groups == x->dim[x->rank - 1] &&
	       w->dim[0] == x->dim[x->rank - 1];
}

/* Data: quantized values of at most 8 bits, or signed ones of at most 16. */
static bool
data_operand(const qn_graph *g, const qn_node *n, uint32_t i)
{
	const qn_elem *e = qn_infer_in(g, n, i)->elem;

	if (!qn_infer_uniform(g, n, i))
		return false;
	return e->bits <= 8 || (e->is_signed && e->bits <= 16) ||
	       qn_infer_refuse(g, n, "unsupported.storage",
			       "input %u ('%s') is %s; %s takes quantized values of at most 8 "
			       "bits, or signed ones of at most 16",
			       i, qn_graph_node(g, n->in[i])->name, qn_infer_elem_text(g, e),
			       qn_opinfo_of(n)->name);
}

/* Weights: signed quantized values of at most 8 bits. */
static bool
weight_operand(const qn_graph *g, const qn_node *n, uint32_t i)
{
	const qn_elem *e = qn_infer_in(g, n, i)->elem;

	if (e->kind != QN_ELEM_UNIFORM || e->gran != QN_SUB_CHANNEL)
		if (!qn_infer_uniform(g, n, i))
			return false;
	return (e->is_signed && e->bits <= 8) ||
	       qn_infer_refuse(
		       g, n, "unsupported.storage",
		       "weights '%s' are %s; %s takes signed quantized values of at most 8 bits",
		       qn_graph_node(g, n->in[i])->name, qn_infer_elem_text(g, e),
		       qn_opinfo_of(n)->name);
}

static bool
weights_ok(const qn_graph *g, const qn_node *n)
{
	const qn_elem *x = qn_infer_in(g, n, 0)->elem;
	const qn_elem *w = qn_infer_in(g, n, 1)->elem;
	const char *name = qn_graph_node(g, n->in[1])->name;
	bool ok = true;

	if (w->gran == QN_PER_AXIS && w->axis[0] != 0)
		ok = qn_infer_error(
			g, n, "type.axis",
			"weights '%s' are quantized along axis %d, output channels are axis 0",
			name, (int)w->axis[0]);
	if (w->gran != QN_SUB_CHANNEL &&
	    has_zero_point(w)) /* those of blocks are offsets of their sums */
		ok = qn_infer_error(g, n, "type.symmetric",
				    "weights '%s' of %s have a zero point; it must be 0", name,
				    qn_infer_elem_text(g, w));
	if (w->expressed != x->expressed)
		ok = qn_infer_error(g, n, "type.mismatch",
				    "the expressed type of weights '%s' is %s, of the data %s",
				    name, qn_plain_table[w->expressed].name,
				    qn_plain_table[x->expressed].name);
	return ok;
}

/* The bias has the accumulator's scale: its quantized values are added as they are. */
static bool
bias_ok(const qn_graph *g, const qn_node *n, const qn_elem *acc)
{
	const qn_elem *b = qn_infer_in(g, n, 2)->elem;
	bool fits = b->kind == QN_ELEM_UNIFORM && b->is_signed && b->bits == acc->bits &&
		    b->gran == acc->gran && b->scale == acc->scale && !has_zero_point(b);

	return fits ||
	       qn_infer_error(
		       g, n, "type.bias",
		       "bias '%s' is %s; it must be i%d with zero point 0 and the scale of %s",
		       qn_graph_node(g, n->in[2])->name, qn_infer_elem_text(g, b), acc->bits,
		       qn_infer_elem_text(g, acc));
}

/* fmul where the file that a type came from says so, else the product. */
static qn_scale_kind
product_kind(const qn_type *declared)
{
	const qn_elem *e = declared != NULL && !declared->is_tuple ? declared->elem : NULL;

	return e != NULL && e->kind == QN_ELEM_UNIFORM && e->scale->kind == QN_SCALE_FMUL
		       ? QN_SCALE_FMUL
		       : QN_SCALE_MUL;
}

/* The accumulator of data x times weights in blocks: in units of a power of two for each channel
 * (block_scales.h), of the width that was declared, as that depends on the weights' values. */
static const qn_elem *
block_accumulator(const qn_graph *g, const qn_node *n, int32_t channel, const qn_type *declared,
		  qn_elem acc)
{
	const qn_type *w = qn_infer_in(g, n, 1);
	const char *name = qn_graph_node(g, n->in[1])->name;
	qn_types *t = &g->model->types;
	const qn_elem *e = NULL;
	qn_block_scales b;

	if (qn_elem_has_symbol(w->elem) || qn_type_count(w) < 1) {
		(void)qn_infer_refuse(g, n, "unsupported.subchannel",
				      "weights '%s' are %s; %s takes weights in blocks whose "
				      "shape and scales are known",
				      name, qn_infer_elem_text(g, w->elem), qn_opinfo_of(n)->name);
		return NULL;
	}
	if (!qn_block_scales_find(t, w, g->model->scratch, &b)) {
		(void)qn_infer_error(g, n, "type.block.mantissa",
				     "the scales of the blocks of weights '%s' are not integers "
				     "below 2^15 times one power of two for each output channel, "
				     "or a zero point times such an integer is 2^15 or more; "
				     "round them, as the pass requantize does",
				     name);
		return NULL;
	}
	if (declared != NULL && !declared->is_tuple && declared->elem->bits == 64)
		acc = qn_elem_desc(64, true);
	acc.kind = QN_ELEM_UNIFORM;
	acc.has_expressed = true;
	acc.expressed = w->elem->expressed;
	acc.gran = QN_PER_AXIS;
	acc.naxis = 1;
	acc.axis = &channel;
	const qn_scale *unit = qn_block_scales_units(t, name, &b);
	if (unit == NULL)
		return NULL;
	acc.scale = qn_scale_op(t, QN_SCALE_MUL, qn_infer_in(g, n, 0)->elem->scale, unit);
	return qn_elem_make(t, qn_node_place(g, n), &acc, &e) == QN_OK ? e : NULL;
}

/* The accumulator of data x times w, of 64 bits for data of more than 8, whose scales lie along
 * axis `channel` of the result when w has one for each channel. */
static const qn_elem *
accumulator(const qn_graph *g, const qn_node *n, int32_t channel, const qn_type *declared)
{
	const qn_elem *x = qn_infer_in(g, n, 0)->elem;
	const qn_elem *w = qn_infer_in(g, n, 1)->elem;
	qn_elem acc = qn_elem_desc(x->bits <= 8 ? 32 : 64, true);
	const qn_elem *e = NULL;

	const bool by_channel =
		qn_takes_channels(&g->model->types, n, qn_infer_in(g, n, 0), qn_infer_in(g, n, 1));

	if (x->gran != QN_PER_TENSOR && !by_channel) {
		(void)qn_infer_error(g, n, "type.granularity",
				     "data '%s' is %s; it must be quantized per tensor, or, of a "
				     "depthwise convolution, with one zero point for all channels: "
				     "requantize it to one scale before",
				     qn_graph_node(g, n->in[0])->name, qn_infer_elem_text(g, x));
		return NULL;
	}
	acc.kind = QN_ELEM_UNIFORM;
	acc.has_expressed = true;
	acc.expressed = x->expressed;
	if (w->gran == QN_SUB_CHANNEL)
		return block_accumulator(g, n, channel, declared, acc);
	const qn_scale *data = qn_scale_plain(&g->model->types, qn_node_place(g, n), x->scale);
	if (data == NULL)
		return NULL;
	acc.scale = qn_scale_op(&g->model->types, product_kind(declared), data, w->scale);
	acc.gran = by_channel ? QN_PER_AXIS : w->gran;
	acc.naxis = by_channel ? 1 : w->naxis;
	acc.axis = acc.gran == QN_PER_AXIS ? &channel : NULL;
	return qn_elem_make(&g->model->types, qn_node_place(g, n), &acc, &e) == QN_OK ? e : NULL;
}

const qn_elem *
qn_infer_acc(const qn_graph *g, const qn_node *n, int32_t channel)
{
	return qn_infer_acc_as(g, n, channel, NULL);
}

const qn_elem *
qn_infer_acc_as(const qn_graph *g, const qn_node *n, int32_t channel, const qn_type *declared)
{
	qn_operands kind = qn_infer_operands(g, n);

	if (kind == QN_OPERANDS_BAD)
		return NULL;
	if (kind == QN_OPERANDS_FLOAT)
		return qn_infer_float(g, n);
	bool ok = data_operand(g, n, 0);
	ok = weight_operand(g, n, 1) && ok;
	if (!ok || !weights_ok(g, n))
		return NULL;
	const qn_elem *e = accumulator(g, n, channel, declared);
	return e != NULL && (n->nin < 3 || bias_ok(g, n, e)) ? e : NULL;
}

const qn_elem *
qn_infer_product(const qn_graph *g, const qn_node *n, int32_t column, int32_t channel,
		 const qn_type *declared)
{
	qn_operands kind = qn_infer_operands(g, n);

	if (kind == QN_OPERANDS_BAD)
		return NULL;
	if (kind == QN_OPERANDS_FLOAT)
		return qn_infer_float(g, n);
	bool ok = data_operand(g, n, 0);
	ok = data_operand(g, n, 1) && ok;
	if (!ok)
		return NULL;
	const qn_elem *a = qn_infer_in(g, n, 0)->elem;
	const qn_elem *b = qn_infer_in(g, n, 1)->elem;
	const char *name = qn_graph_node(g, n->in[1])->name;
	if (a->is_signed != b->is_signed || (a->bits <= 8) != (b->bits <= 8))
		ok = qn_infer_refuse(
			g, n, "unsupported.storage",
			"the operands are %s and %s; %s takes operands of one storage type",
			qn_infer_elem_text(g, a), qn_infer_elem_text(g, b), qn_opinfo_of(n)->name);
	if (b->gran == QN_PER_AXIS && b->axis[0] != column)
		ok = qn_infer_error(g, n, "type.axis",
				    "'%s' is quantized along axis %d, the columns are axis %d",
				    name, (int)b->axis[0], (int)column);
	if (b->gran == QN_PER_AXIS && has_zero_point(b))
		ok = qn_infer_error(
			g, n, "type.symmetric",
			"'%s' of %s has one scale per column and a zero point; it must be 0", name,
			qn_infer_elem_text(g, b));
	if (a->expressed != b->expressed)
		ok = qn_infer_error(g, n, "type.mismatch",
				    "the expressed type of '%s' is %s, of the other operand %s",
				    name, qn_plain_table[b->expressed].name,
				    qn_plain_table[a->expressed].name);
	return ok ? accumulator(g, n, channel, declared) : NULL;
}
