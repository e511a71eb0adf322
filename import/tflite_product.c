/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_product.c - quantized convolutions and dense layers: accumulators, biases, weights with a
 * zero point.
 *
 *   FULLY_CONNECTED i8, relu    ->    dense: i32 accumulator    requantize {lo=zero point, hi=127}: i8
 *
 * The requantize always has its limits written, so that no pass merges it with a second one after
 * it: TFLite rounds and clamps twice then, and so does the graph.
 *
 * Weights q with zero point z (u8, in old files) are q - z, 9 bits.  They become the sum of several i8
 * weights, and the data is repeated as often, which is exact:
 *
 *   x [N,K], q - z = 200    ->    concat(x, x) [N,2K], weights 127, 73 */
#include "import/tflite.h"
#include "ir/clamp.h"

enum { MOST_PARTS = 3 }; /* 255 = 127 + 127 + 1 */

/* ---- bias ---- */

/* The accumulator's scales along axis 0 of the bias. */
static const qn_elem *
bias_elem(qn_tfl_op *o, const qn_elem *x, const qn_elem *w, bool f32_product)
{
	static const int32_t axis = 0;
	qn_elem d = qn_elem_desc(x->bits <= 8 ? 32 : 64, true);
	const qn_elem *e = NULL;

	if (x->scale == NULL || w->scale == NULL) {
		(void)qn_importer_refuse(
			o->im, "import.input",
			"one operand is quantized and the other is not; both must be quantized");
		return NULL;
	}
	d.kind = QN_ELEM_UNIFORM;
	d.gran = w->gran;
	d.naxis = w->naxis;
	d.axis = w->naxis > 0 ? &axis : NULL;
	d.scale = qn_scale_op(&o->im->m->types, f32_product ? QN_SCALE_FMUL : QN_SCALE_MUL,
			      x->scale, w->scale);
	if (qn_elem_make(&o->im->m->types, o->to[0]->name, &d, &e) != QN_OK)
		o->im->problems++;
	return e;
}

/* The integers of a constant bias under the accumulator's type. */
static qn_id
bias_quantized(qn_tfl_op *o, qn_id bias, const qn_elem *e)
{
	const qn_tensor *known = qn_importer_known(o->im, bias);
	void *data;

	if (known == NULL || qn_elem_is_float(known->type->elem))
		return qn_importer_refuse(
			o->im, "import.input",
			"the bias of a quantized product must be a constant of integers");
	const int64_t count = qn_type_count(known->type); /* [1,O] is read as [O] */
	const qn_type *type = qn_type_tensor(&o->im->m->types, e, 1, &count);
	if (!qn_importer_take_type(o->im, type))
		return 0;
	qn_tensor *x = qn_tensor_new(o->im->m->arena, type, &data);
	for (int64_t i = 0; i < qn_type_count(x->type); i++)
		qn_store_i64(data, e->plain, i, qn_tensor_i64(known, i));
	return qn_importer_const(o->im, qn_graph_node(o->im->g, bias)->name, x);
}

/* ---- weights ---- */

static bool
plain_weights(qn_tfl_op *o, const qn_type *w)
{
	double scale;
	int64_t zp = 0;

	for (size_t i = 0; zp == 0 && i < qn_elem_nparams(w->elem); i++)
		qn_elem_param(&o->im->m->types, w->elem, i, &scale, &zp);
	return w->elem->is_signed && zp == 0;
}

/* Weights of one scale as i8 without a zero point; NULL after a report. */
static const qn_elem *
i8_elem(qn_tfl_op *o, const qn_elem *w)
{
	qn_elem d = qn_elem_desc(8, true);
	const qn_elem *e = NULL;

	if (w->gran != QN_PER_TENSOR)
		(void)qn_importer_refuse(o->im, "import.type",
					 "weights with several scales and a zero point");
	d.kind = QN_ELEM_UNIFORM;
	d.scale = w->scale;
	if (w->gran == QN_PER_TENSOR &&
	    qn_elem_make(&o->im->m->types, o->to[0]->name, &d, &e) != QN_OK)
		o->im->problems++;
	return e;
}

/* The rest r as its part that fits i8; what is left stays in r. */
static int64_t
take_part(int64_t *r)
{
	int64_t part = qn_clamp_i64(*r, -128, 127);

	*r -= part;
	return part;
}

/* Weights of `parts` parts, [O,…,I] -> [O,…,parts * I]; how many are needed to leave no rest. */
static int32_t
count_parts(const qn_tensor *w, int64_t zp)
{
	int32_t most = 1;

	for (int64_t i = 0; i < qn_type_count(w->type); i++) {
		int64_t r = qn_tensor_i64(w, i) - zp;
		int32_t n = 0;

		do {
			(void)take_part(&r);
			n++;
		} while (r != 0);
		most = n > most ? n : most;
	}
	return most;
}

static qn_id
split_weights(qn_tfl_op *o, qn_id weights, const qn_elem *e, int64_t zp, int32_t parts)
{
	const qn_tensor *w = qn_importer_known(o->im, weights);
	int32_t rank = w->type->rank;
	int64_t dim[QN_MAX_RANK], inner = w->type->dim[rank - 1];
	void *data;

	for (int32_t i = 0; i < rank; i++)
		dim[i] = w->type->dim[i];
	dim[rank - 1] *= parts;
	qn_tensor *y = qn_tensor_new(o->im->m->arena,
				     qn_type_tensor(&o->im->m->types, e, rank, dim), &data);
	for (int64_t i = 0; i < qn_type_count(w->type); i++) {
		int64_t r = qn_tensor_i64(w, i) - zp;

		for (int32_t k = 0; k < parts; k++)
			qn_store_i64(data, QN_PLAIN_i8,
				     i / inner * inner * parts + k * inner + i % inner,
				     take_part(&r));
	}
	return qn_importer_const(o->im, qn_graph_node(o->im->g, weights)->name, y);
}

/* The channels of each group, repeated `parts` times. */
static qn_id
repeated(qn_tfl_op *o, qn_id x, int64_t groups, int32_t parts)
{
	const qn_type *type = qn_importer_type(o->im, x);
	int32_t rank = type->rank;
	qn_attrs a = {.axis = {groups > 1 ? rank : rank - 1}};
	int64_t dim[QN_MAX_RANK + 1];

	if (rank + 1 > QN_MAX_RANK || groups < 1 || type->dim[rank - 1] % groups != 0)
		return qn_importer_refuse(o->im, "import.rank", "weights with a zero point");
	for (int32_t i = 0; i < rank; i++)
		dim[i] = type->dim[i];
	dim[rank] = dim[rank - 1] / groups;
	dim[rank - 1] = groups;
	qn_id part = groups > 1 ? qn_importer_reshape(o->im, x, rank + 1, dim) : x;
	const qn_id in[MOST_PARTS] = {part, part, part};
	qn_id y = qn_importer_op(o->im, QN_OP_concat, (uint32_t)parts, in, &a, NULL);
	dim[rank - 1] = type->dim[rank - 1] * parts;
	return groups > 1 ? qn_importer_reshape(o->im, y, rank, dim) : y;
}

/* Replaces data and weights where the weights are not i8 or i4 around 0; false after a report. */
static bool
centre(qn_tfl_op *o, int64_t groups, qn_id *x, qn_id *w)
{
	const qn_tensor *known = qn_importer_known(o->im, *w);
	const qn_type *type = qn_importer_type(o->im, *w);
	double scale;
	int64_t zp;

	if (plain_weights(o, type))
		return true;
	if (known == NULL)
		return qn_importer_refuse(
			       o->im, "import.input",
			       "weights with a zero point must be constant, or have no bias; "
			       "quantize the model again with --from-float and samples") != 0;
	const qn_elem *e = i8_elem(o, type->elem);
	if (e == NULL || !qn_tfl_take(o->f, MOST_PARTS * (uint64_t)qn_type_count(type)))
		return false;
	qn_elem_param(&o->im->m->types, type->elem, 0, &scale, &zp);
	int32_t parts = count_parts(known, zp);
	*w = split_weights(o, *w, e, zp, parts);
	if (parts > 1)
		*x = repeated(o, *x, groups, parts);
	return *x != 0 && *w != 0;
}

/* ---- the product ---- */

qn_id
qn_tfl_product_as(qn_tfl_op *o, qn_op op, uint32_t nin, const qn_id *in, const qn_attrs *attrs,
		  const qn_elem *acc)
{
	const qn_opinfo *info = qn_opinfo_get(op);
	qn_attrs preset;

	for (uint32_t i = 0; i < nin; i++)
		if (in[i] == 0)
			return 0;
	qn_attrs_default(info->attrs, &preset);
	const qn_node like = {.op = op,
			      .nin = nin,
			      .in = in,
			      .attr = attrs != NULL ? attrs : &preset,
			      .name = o->to[0]->name,
			      .place = ""};
	const qn_type *declared = qn_type_tensor(&o->im->m->types, acc, 0, NULL);
	const qn_type *type = info->infer(o->im->g, &like, declared);
	if (type == NULL) {
		o->im->problems++;
		return 0;
	}
	return qn_importer_op(o->im, op, nin, in, attrs, type);
}

qn_id
qn_tfl_matmul(qn_tfl_op *o, qn_id x, qn_id w, const qn_attrs *attrs)
{
	const qn_elem *a = qn_importer_type(o->im, x)->elem;
	const qn_elem *b = qn_importer_type(o->im, w)->elem;
	const qn_id in[2] = {x, w};

	if (b->gran != QN_PER_TENSOR)
		return qn_importer_op(o->im, QN_OP_matmul, 2, in, attrs, NULL);
	const qn_elem *acc = bias_elem(o, a, b, true);
	return acc != NULL ? qn_tfl_product_as(o, QN_OP_matmul, 2, in, attrs, acc) : 0;
}

static qn_id
product_of_quantized(qn_tfl_op *o, qn_op op, qn_id *in, const qn_attrs *attrs, bool f32_product,
		     int64_t activation)
{
	qn_importer *im = o->im;
	const char *name = im->node;
	const qn_elem *x = qn_importer_type(im, in[0])->elem;
	const qn_elem *w = qn_importer_type(im, in[1])->elem;
	int64_t lo, hi, groups = op == QN_OP_conv2d ? attrs->conv2d.groups : 1;
	bool one = w->gran == QN_PER_TENSOR && (f32_product || !x->is_signed);
	qn_buf b;

	if (!qn_tfl_activation_ok(o, activation, true))
		return 0;
	if (op == QN_OP_dense && in[2] == 0 && qn_importer_known(im, in[1]) == NULL &&
	    (w->bits > 8 || !plain_weights(o, qn_importer_type(im, in[1])))) {
		const qn_attrs turn = {.matmul = {0, 1}};

		qn_tfl_limits(o, qn_tfl_result(o, 0), activation, &lo, &hi);
		return qn_tfl_requantized(o, 0, qn_tfl_matmul(o, in[0], in[1], &turn), lo, hi);
	}
	if (!centre(o, groups, &in[0], &in[1]))
		return 0;
	const qn_elem *acc = bias_elem(o, x, w, one);
	if (acc == NULL || (in[2] != 0 && (in[2] = bias_quantized(o, in[2], acc)) == 0))
		return 0;
	qn_buf_init(&b, im->scratch);
	qn_buff(&b, "%s.acc", name);
	im->node = qn_buf_str(&b);
	im->layer = name;
	qn_id y = one ? qn_tfl_product_as(o, op, in[2] != 0 ? 3 : 2, in, attrs, acc)
		      : qn_importer_op(im, op, in[2] != 0 ? 3 : 2, in, attrs, NULL);
	im->node = name;
	im->layer = NULL;
	qn_tfl_limits(o, qn_tfl_result(o, 0), activation, &lo, &hi);
	return y != 0 ? qn_tfl_requantized(o, 0, y, lo, hi) : 0;
}

qn_id
qn_tfl_product(qn_tfl_op *o, qn_op op, qn_id x, qn_id w, qn_id bias, const qn_attrs *attrs,
	       bool f32_product, int64_t activation)
{
	qn_id in[3] = {x, w, bias};

	if (x == 0 || w == 0)
		return 0;
	if (!qn_tfl_is_quantized(o, x) && bias != 0 && qn_importer_type(o->im, bias)->rank > 1)
		in[2] = qn_importer_reshape(
			o->im, bias, 1, (int64_t[]){qn_type_count(qn_importer_type(o->im, bias))});
	if (!qn_tfl_is_quantized(o, x))
		return qn_tfl_activated(
			o, qn_importer_op(o->im, op, bias != 0 ? 3 : 2, in, attrs, NULL),
			activation);
	if (!qn_tfl_is_quantized(o, w) || !qn_tfl_result_is_quantized(o))
		return qn_importer_refuse(
			o->im, "import.type",
			"the data is quantized, but the weights or the result are not");
	return product_of_quantized(o, op, in, attrs, f32_product, activation);
}
