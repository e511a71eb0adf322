/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_integers.c - how operators without scales read the integers of ONNX.
 *
 *   q = QuantizeLinear(x)     <u8:f32, 0.05:128>
 *   p = Pad(q)                pads with the integer 0, which is -6.4
 *   y = DequantizeLinear(p)
 *
 * An int8 or uint8 tensor of a file holds integers; only QuantizeLinear, DequantizeLinear and operators with scales as
 * inputs say what they stand for.  A value here may have got its scale from the node that made it.  Before any other
 * operator converts a node, all that the node takes is brought to one reading:
 *
 *   the operator moves, chooses or compares integers    every operand and constant is read with the parameters of the
 *   (a row of `rows`)                                   first that has any: equal integers, equal order
 *   any other operator                                  plain integers
 *
 * Where a row's operator has no arithmetic on plain integers, operands without parameters get scale 1 and zero point 0.
 *
 * A network of such rows and DequantizeLinear alone on int8 or uint8 inputs has nothing to calibrate: its integers and
 * parameters are kept. */
#include "import/onnx_quant.h"

#include <string.h>

#include <onnx/onnx.pb-c.h>

enum { ALL = -1 };

/* data: a bit for each input that holds such integers. */
typedef struct row {
	const char *op;
	int32_t data;
	bool arithmetic; /* more than moving them */
} row;

static const row rows[] = {
	{"Identity", 1, false},      {"Transpose", 1, false},
	{"Reshape", 1, false},       {"Flatten", 1, false},
	{"Squeeze", 1, false},       {"Unsqueeze", 1, false},
	{"Slice", 1, false},         {"Split", 1, false},
	{"Expand", 1, false},        {"Tile", 1, false},
	{"Gather", 1, false},        {"GatherElements", 1, false},
	{"GatherND", 1, false},      {"DepthToSpace", 1, false},
	{"SpaceToDepth", 1, false},  {"ReverseSequence", 1, false},
	{"Dropout", 1, false},       {"Concat", ALL, false},
	{"Pad", 1 | 4, true},        {"CenterCropPad", 1, true},
	{"Where", 2 | 4, false},     {"ScatterElements", 1 | 4, false},
	{"ScatterND", 1 | 4, false}, {"Scatter", 1 | 4, false},
	{"Max", ALL, true},          {"Min", ALL, true},
	{"Clip", 1 | 2 | 4, true},   {"Relu", 1, true},
	{"MaxPool", 1, true},        {"GlobalMaxPool", 1, true},
	{"ReduceMax", 1, true},      {"ReduceMin", 1, true},
	{"Resize", 1, true},         {"Upsample", 1, true},
};

/* They say themselves how they read what they take, or hand it on to nodes that do. */
static const char *const aware[] = {
	"QuantizeLinear",
	"DequantizeLinear",
	"DynamicQuantizeLinear",
	"QLinearConv",
	"QLinearMatMul",
	"ConvInteger",
	"MatMulInteger",
	"If",
	"Loop",
	"Scan",
	"Shape",
	"Size",
	"Cast",
	"CastLike",
};

static bool
is_aware(const char *domain, const char *op)
{
	if (strcmp(domain, "com.microsoft") == 0)
		return true;
	for (size_t i = 0; i < QN_COUNT(aware); i++)
		if (strcmp(aware[i], op) == 0)
			return true;
	return qn_onnx_takes_lists(op);
}

/* What stands beside rows in a network that only moves and chooses integers. */
static const char *const beside[] = {
	"DequantizeLinear", "Constant", "ConstantOfShape", "Shape", "Cast", "CastLike"};

/* Weighted means of integers are those of what they stand for. */
static bool
averages(qn_onnx *o, const qn_onnx_node *n)
{
	return (strcmp(n->op, "Resize") == 0 || strcmp(n->op, "Upsample") == 0) &&
	       strcmp(qn_onnx_string(o, n, "mode", "nearest"), "nearest") != 0;
}

/* Scattered sums do not merely select integers. */
static bool
chooses(qn_onnx *o, const qn_onnx_node *n)
{
	const char *reduction = qn_onnx_string(o, n, "reduction", "none");

	return strcmp(reduction, "add") != 0 && strcmp(reduction, "mul") != 0;
}

static const row *
row_of(qn_onnx *o, const qn_onnx_node *n)
{
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (strcmp(rows[i].op, n->op) == 0)
			return chooses(o, n) ? &rows[i] : NULL;
	return NULL;
}

static bool
is_beside(const char *op)
{
	for (size_t i = 0; i < QN_COUNT(beside); i++)
		if (strcmp(beside[i], op) == 0)
			return true;
	for (size_t i = 0; i < QN_COUNT(rows);
	     i++) /* extremes of nothing are those of the integers */
		if (strcmp(rows[i].op, op) == 0)
			return strncmp(op, "Reduce", strlen("Reduce")) != 0;
	return false;
}

static bool
is_bytes_input(const Onnx__ValueInfoProto *v)
{
	const Onnx__TypeProto__Tensor *t = v->type != NULL ? v->type->tensor_type : NULL;

	return t != NULL && (t->elem_type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT8 ||
			     t->elem_type == ONNX__TENSOR_PROTO__DATA_TYPE__INT8);
}

bool
qn_onnx_moves_integers(const Onnx__GraphProto *g)
{
	bool bytes = false;

	for (size_t i = 0; i < g->n_node; i++)
		if (g->node[i]->op_type == NULL || !is_beside(g->node[i]->op_type))
			return false;
	for (size_t i = 0; i < g->n_input; i++)
		bytes = bytes || is_bytes_input(g->input[i]);
	return bytes;
}

/* ---- one operand ---- */

static bool
has_params(const qn_onnx *o, qn_id x)
{
	return x != 0 && qn_onnx_type(o, x)->elem->kind == QN_ELEM_UNIFORM;
}

static bool
is_byte(const qn_onnx *o, qn_id x)
{
	const qn_elem *e = x != 0 ? qn_onnx_type(o, x)->elem : NULL;

	return e != NULL && (e->plain == QN_PLAIN_u8 || e->plain == QN_PLAIN_i8);
}

/* x as plain integers. */
qn_id
qn_onnx_plain_of(qn_onnx *o, qn_id x)
{
	const qn_type *t = qn_onnx_type(o, x);
	const qn_type *want = qn_type_with_elem(&o->im.m->types, t,
						qn_elem_plain(&o->im.m->types, t->elem->plain));

	return t == want ? x : qn_importer_op(&o->im, QN_OP_scast, 1, &x, NULL, want);
}

const qn_elem *
qn_onnx_counts(qn_onnx *o, qn_plain storage, int64_t zp)
{
	qn_types *types = &o->im.m->types;
	qn_elem d = qn_elem_desc(qn_plain_table[storage].bits, qn_plain_table[storage].is_signed);
	const qn_elem *e = NULL;

	d.kind = QN_ELEM_UNIFORM;
	d.scale = qn_scale_const(types, 1.0);
	d.zp = zp;
	if (qn_elem_make(types, o->im.node, &d, &e) != QN_OK) {
		o->im.problems++;
		return NULL;
	}
	return qn_elem_normalize(types, e);
}

/* ---- the node ---- */

/* The parameters in which the node's integers are read; NULL: plain integers. */
static const qn_elem *
reading(qn_onnx *o, const row *r, const qn_onnx_node *n)
{
	const qn_elem *first = NULL;
	bool bytes = false;

	for (uint32_t i = 0; i < n->nin && r != NULL; i++) {
		if (i < 31 && (r->data >> i & 1) == 0)
			continue;
		if (first == NULL && has_params(o, n->in[i]))
			first = qn_onnx_type(o, n->in[i])->elem;
		bytes = bytes ||
			(is_byte(o, n->in[i]) && qn_importer_known(&o->im, n->in[i]) == NULL);
	}
	if (first != NULL && first->gran == QN_PER_TENSOR)
		return first;
	if (first == NULL && !(r != NULL && r->arithmetic && bytes && !averages(o, n)))
		return NULL;
	return r->arithmetic ? qn_onnx_counts(o, qn_onnx_plain(o, n->in[0]), 0) : NULL;
}

bool
qn_onnx_read_integers(qn_onnx *o, const char *domain, qn_onnx_node *n, qn_id *in)
{
	bool any = false;

	if (!o->keeps_quantized || is_aware(domain, n->op))
		return true;
	for (uint32_t i = 0; i < n->nin; i++)
		any = any || has_params(o, in[i]) || is_byte(o, in[i]);
	const row *r = any ? row_of(o, n) : NULL;
	const qn_elem *e = reading(o, r, n);
	for (uint32_t i = 0; i < n->nin && any; i++) {
		bool data = r != NULL && (i >= 31 || (r->data >> i & 1) != 0);

		if (in[i] == 0 || (!has_params(o, in[i]) && !(data && e != NULL)))
			continue;
		in[i] = data && e != NULL ? qn_onnx_as_quantized(o, in[i], e)
					  : qn_onnx_plain_of(o, in[i]);
		if (in[i] == 0)
			return false;
	}
	return true;
}

/* ---- integers as numbers ---- */

double
qn_onnx_number_of(qn_onnx *o, qn_id x, int64_t integer)
{
	const qn_elem *e = qn_onnx_type(o, x)->elem;
	double scale = 1;

	if (e->kind != QN_ELEM_UNIFORM)
		return (double)integer;
	if (qn_scale_eval(&o->im.m->types, o->im.node, e->scale, 0, &scale) != QN_OK)
		o->im.problems++;
	return scale * (double)(integer - e->zp);
}

qn_id
qn_onnx_counted(qn_onnx *o, qn_id x, int64_t zp)
{
	const qn_elem *e = x != 0 ? qn_onnx_counts(o, qn_onnx_plain(o, x), zp) : NULL;
	qn_id quantized = e != NULL ? qn_onnx_as_quantized(o, x, e) : 0;

	return qn_importer_op_unfolded(&o->im, QN_OP_dequantize, 1, &quantized, NULL, NULL);
}
