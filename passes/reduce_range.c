/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_range.c - weights of 7 bits, for runtimes that add products of 8-bit pairs in 16 bits.
 *
 *   w i8<-127:127> scale 0.01: 100, -127        ->    w i8<-64:63> scale 0.02: 50, -64
 *   b i32 scale x*0.01: 301                     ->    b i32 scale x*0.02: 150
 *
 * On x86 without VNNI, ONNX Runtime multiplies unsigned data with signed weights by an instruction
 * that adds two neighbouring products and saturates the sum to 16 bits: 255 * 127 + 255 * 127 is
 * above 32767.  With weights of -64..63 the largest sum is 255 * 63 * 2 = 32130, the least -32640.
 * A depthwise convolution is not computed so and keeps its weights.
 *
 * requires: a calibrated graph.   leaves: a calibrated graph whose products have such weights. */
#include "ir/clamp.h"
#include "ir/diag.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"

enum { LEAST = -64, MOST = 63, MOST_SUM = 128 /* 255 * 129 does not fit 16 bits */ };

typedef struct reducer {
	qn_model *m;
	const qn_graph *g;
	qn_graph *to;
	qn_id *map, *halved; /* value -> value of `to`; of a constant: with twice its scale */
	bool failed;
} reducer;

/* ---- operands ---- */

/* A constant of quantized values: the node that has them, also before a dequantize; 0: it is not
 * one. */
static qn_id
quantized_constant(const qn_graph *g, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);

	if (n->op == QN_OP_dequantize)
		n = qn_graph_node(g, id = n->in[0]);
	if (n->type->is_tuple || n->type->elem->kind != QN_ELEM_UNIFORM ||
	    n->type->elem->gran == QN_SUB_CHANNEL)
		return 0;
	return n->op == QN_OP_const || (n->op == QN_OP_quantize &&
					qn_graph_node(g, n->in[0])->op == QN_OP_const)
		       ? id
		       : 0;
}

static bool
is_8_bit(const qn_node *n)
{
	return !n->type->is_tuple && n->type->elem->kind == QN_ELEM_UNIFORM &&
	       n->type->elem->bits == 8;
}

/* One filter per channel. */
static bool
is_depthwise(const qn_node *n, const qn_type *w)
{
	int64_t groups = 1;

	if (n->op == QN_OP_conv1d)
		groups = n->attr->conv1d.groups;
	else if (n->op == QN_OP_conv2d)
		groups = n->attr->conv2d.groups;
	else if (n->op == QN_OP_conv3d)
		groups = n->attr->conv3d.groups;

	return groups > 1 && groups == w->dim[0] && w->dim[w->rank - 1] == 1;
}

/* The weights of a product over 8-bit data, which are signed and have no zero point; 0: node n is
 * not such a product. */
static qn_id
weights_of(const qn_graph *g, const qn_node *n)
{
	static const qn_op products[] = {QN_OP_conv1d, QN_OP_conv2d, QN_OP_conv3d, QN_OP_dense,
					 QN_OP_matmul};
	bool product = false;
	double scale;
	int64_t zp;

	for (size_t i = 0; i < QN_COUNT(products); i++)
		product = product || n->op == products[i];
	if (!product)
		return 0;
	const qn_node *x = qn_graph_node(g, n->in[0]);
	const qn_id id = quantized_constant(g, n->in[1]);
	const qn_node *w = qn_graph_node(g, id);
	x = x->op == QN_OP_dequantize ? qn_graph_node(g, x->in[0]) : x;
	if (id == 0 || !is_8_bit(x) || !is_8_bit(w) || !w->type->elem->is_signed ||
	    is_depthwise(n, w->type))
		return 0;
	for (size_t k = 0; k < qn_elem_nparams(w->type->elem); k++) {
		qn_elem_param(&g->model->types, w->type->elem, k, &scale, &zp);
		if (zp != 0)
			return 0;
	}
	return id;
}

/* Quantized values of a constant, of type `as` where they come from floats. */
static const qn_tensor *
values(const qn_graph *g, const qn_node *n, const qn_type *as, qn_arena *a)
{
	const qn_types *types = &g->model->types;
	void *data;

	if (n->op == QN_OP_const)
		return n->value;
	const qn_tensor *x = qn_graph_node(g, n->in[0])->value;
	if (n->attr->quantize.ties != QN_TIES_away)
		return qn_tensor_quantize(types, a, x, as);
	qn_tensor *y = qn_tensor_new(a, as, &data);
	qn_quantize_away_into(types, x, as, data);
	return y;
}

/* ---- half the values, twice the scale ---- */

/* Scales twice those of e; NULL after a report. */
static const qn_scale *
doubled(qn_model *m, const qn_elem *e)
{
	qn_types *t = &m->types;
	const size_t n = qn_elem_nparams(e);
	double *scale = QN_NEW(m->scratch, double, n);
	const qn_params *vec;
	int64_t zp;

	for (size_t k = 0; k < n; k++) {
		qn_elem_param(t, e, k, &scale[k], &zp);
		scale[k] *= 2;
	}
	if (e->gran == QN_PER_TENSOR)
		return qn_scale_const(t, scale[0]);
	return qn_params_intern(t, "weights", NULL, n, 1, NULL, scale, NULL, &vec) == QN_OK
		       ? qn_scale_vec(t, vec)
		       : NULL;
}

/* Half of q, to the nearest, ties to even. */
static int64_t
half(int64_t q)
{
	const int64_t below = (q - (q & 1)) / 2;

	return below + ((q & 1) != 0 && (below & 1) != 0);
}

/* Constant `id` as a constant of type e, whose scales are twice its own; 0 after a report. */
static qn_id
halved(reducer *r, qn_id id, const qn_elem *e)
{
	const qn_node *n = qn_graph_node(r->g, id);
	const qn_type *type = qn_type_with_elem(&r->m->types, n->type, e);
	void *data;

	if (r->halved[id] != 0)
		return r->halved[id];
	const qn_tensor *x = values(r->g, n, type, r->m->arena); /* floats are quantized again */
	if (n->op == QN_OP_const) {
		qn_tensor *y = qn_tensor_new(r->m->arena, type, &data);

		for (int64_t i = 0; i < qn_type_count(type); i++) {
			const int64_t q = half(qn_tensor_i64(x, i));

			qn_store_i64(data, e->plain, i, qn_clamp_i64(q, e->qmin, e->qmax));
		}
		x = y;
	}
	return r->halved[id] = qn_graph_const(r->to, n->name, x);
}

/* Operand i of node n with half the values of constant `id`. */
static qn_id
operand(reducer *r, const qn_node *n, uint32_t i, qn_id id, const qn_elem *e)
{
	const qn_node *from = qn_graph_node(r->g, n->in[i]);
	qn_id y = e != NULL ? halved(r, id, e) : 0;

	if (y != 0 && from->op == QN_OP_dequantize)
		y = qn_graph_op(r->to, QN_OP_dequantize, from->name, 1, &y, NULL, from->type);
	r->failed = r->failed || y == 0;
	return y;
}

static const qn_elem *
weight_elem(reducer *r, const qn_elem *e)
{
	qn_elem d = *e;
	const qn_elem *to;

	d.qmin = LEAST;
	d.qmax = MOST;
	d.scale = doubled(r->m, e);
	return d.scale != NULL && qn_elem_make(&r->m->types, "weights", &d, &to) == QN_OK ? to
											  : NULL;
}

/* A sum's type over weights of the type w; e: the sum's, which has its scales along `axis`. */
static const qn_elem *
sum_elem(reducer *r, const qn_elem *e, const qn_elem *x, const qn_elem *w)
{
	const qn_scale_kind kind = e->scale->kind == QN_SCALE_FMUL ? QN_SCALE_FMUL : QN_SCALE_MUL;
	qn_elem d = *e;
	const qn_elem *to;

	d.scale = qn_elem_is_quant(x) ? qn_scale_op(&r->m->types, kind, x->scale, w->scale)
				      : doubled(r->m, e);
	return d.scale != NULL && qn_elem_make(&r->m->types, "sum", &d, &to) == QN_OK ? to : NULL;
}

static void
reduce(reducer *r, const qn_node *from, qn_id weights, qn_node *n, qn_id *in)
{
	const qn_elem *e = qn_graph_node(r->g, weights)->type->elem;
	const qn_elem *x = qn_graph_node(r->g, from->in[0])->type->elem;
	const qn_elem *w = weight_elem(r, e);
	const qn_id bias = from->nin == 3 ? quantized_constant(r->g, from->in[2]) : 0;

	in[1] = operand(r, from, 1, weights, w);
	if (w != NULL && bias != 0)
		in[2] = operand(r, from, 2, bias,
				sum_elem(r, qn_graph_node(r->g, bias)->type->elem, x, w));
	if (w != NULL && qn_elem_is_quant(n->type->elem)) {
		const qn_elem *sum = sum_elem(r, n->type->elem, x, w);

		r->failed = r->failed || sum == NULL;
		n->type = sum != NULL ? qn_type_with_elem(&r->m->types, n->type, sum) : n->type;
	}
}

/* Which values are still used when the reduced products have weights and biases of their own. */
static bool *
needed(const qn_graph *g)
{
	bool *need = QN_NEW(g->model->scratch, bool, g->n);

	for (size_t i = 0; i < g->ninput; i++)
		need[g->input[i]] = true;
	for (size_t i = 0; i < g->noutput; i++)
		need[g->output[i].value] = true;
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);
		const bool reduced = weights_of(g, n) != 0;

		for (uint32_t i = 0; need[id] && i < n->nin; i++)
			if (!reduced || i == 0 || quantized_constant(g, n->in[i]) == 0)
				need[n->in[i]] = true;
	}
	return need;
}

qn_status
qn_reduce_range_of(qn_model *m)
{
	const qn_graph *g = qn_model_entry(m);
	reducer r = {.m = m, .g = g};

	if (m->stage != QN_STAGE_CALIBRATED)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "reducing the range of weights takes a calibrated graph; this one "
				 "is %s",
				 qn_stage_names[m->stage]);
	const bool *need = needed(g);
	r.to = qn_graph_new(m, g->name);
	r.map = QN_NEW(m->scratch, qn_id, g->n);
	r.halved = QN_NEW(m->scratch, qn_id, g->n);
	for (qn_id id = 1; id < g->n && !r.failed; id++) {
		qn_node n = *qn_graph_node(g, id);
		qn_id *in = QN_NEW(m->scratch, qn_id, n.nin + 1);
		const qn_id weights = weights_of(g, &n);

		if (!need[id])
			continue;
		for (uint32_t i = 0; i < n.nin; i++)
			in[i] = r.map[n.in[i]];
		if (weights != 0)
			reduce(&r, qn_graph_node(g, id), weights, &n, in);
		n.in = in;
		r.map[id] = r.failed ? 0 : qn_graph_add(r.to, &n);
		r.failed = r.failed || r.map[id] == 0;
	}
	if (r.failed)
		return QN_EINVALID;
	qn_graph_copy_outputs(r.to, g, r.map);
	qn_model_set_graph(m, r.to);
	qn_model_record(m, "reduce-range");
	return qn_model_verify(m);
}

/* ---- which sums can saturate ---- */

/* Neighbouring weights of one output: element i and the next one. */
static bool
is_wide(const qn_tensor *x, int64_t i, int64_t step)
{
	const int64_t a = qn_tensor_i64(x, i), b = qn_tensor_i64(x, i + step);
	const int64_t up = (a > 0 ? a : 0) + (b > 0 ? b : 0);
	const int64_t down = (a < 0 ? a : 0) + (b < 0 ? b : 0);

	return up > MOST_SUM || down < -MOST_SUM;
}

/* Of a matmul the columns are the outputs, of all others rows. */
static bool
can_saturate(const qn_graph *g, const qn_node *n, qn_id weights)
{
	const qn_node *c = qn_graph_node(g, weights);
	const qn_tensor *x = values(g, c, c->type, g->model->scratch);
	const bool columns = n->op == QN_OP_matmul && n->attr->matmul.transpose_b == 0;
	const int64_t *dim = c->type->dim, count = qn_type_count(c->type);
	const int32_t rank = c->type->rank;
	const int64_t step = columns ? dim[rank - 1] : 1;
	int64_t row = 0;

	if (n->op == QN_OP_matmul)
		row = dim[rank - (columns ? 2 : 1)];
	else if (dim[0] > 0)
		row = count / dim[0];

	if (row < 2)
		return false; /* no pairs */
	for (int64_t i = 0; i + step < count; i++)
		if (i / step % row % 2 == 0 && i / step % row + 1 < row && is_wide(x, i, step))
			return true;
	return false;
}

qn_saturation
qn_saturation_of(const qn_model *m)
{
	const qn_graph *g = qn_model_entry(m);
	qn_saturation s = {0};

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);
		const qn_id weights = weights_of(g, n);

		if (weights == 0)
			continue;
		s.products++;
		if (!can_saturate(g, n, weights))
			continue;
		s.first = s.first != NULL ? s.first : n;
		s.saturating++;
	}
	return s;
}
