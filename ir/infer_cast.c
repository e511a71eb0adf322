/* SPDX-License-Identifier: Apache-2.0 */
/* infer_cast.c - types of the ops between float values and quantized values.  The result's
 * type is always written; the rules only compare.
 *
 *   quantize     f32       -> <i8:f32, s>     the float type is the expressed type
 *   dequantize   <i8:f32>  -> f32
 *   requantize   <i32:f32> -> <i8:f32, s>     other parameters, same expressed type
 *   scast        <i8:f32>  -> i8, or back     same bits
 *
 * Shapes are identical, in which dims are dynamic too (MLIR's quant dialect: qcast, dcast,
 * scast). */
#include "ir/infer.h"

static bool
same_shape(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_type *in = qn_infer_in(g, n, 0);
	bool same = in->rank == declared->rank;

	for (int32_t i = 0; same && i < in->rank; i++)
		same = in->dim[i] == declared->dim[i];
	return same || qn_infer_error(g, n, "type.cast.shape",
				      "the input is %s, the result %s; a cast keeps the shape",
				      qn_infer_type_text(g, in), qn_infer_type_text(g, declared));
}

/* Both sides are tensors, and of one shape. */
bool
qn_infer_cast_tensors(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	if (declared == NULL)
		return qn_infer_error(g, n, "type.needed", "%s needs the result's type",
				      qn_opinfo_of(n)->name);
	if (declared->is_tuple || qn_infer_in(g, n, 0)->is_tuple)
		return qn_infer_error(g, n, "type.tuple", "a tuple cannot be cast");
	return same_shape(g, n, declared);
}

static bool
kind(const qn_graph *g, const qn_node *n, const char *side, const qn_type *t, bool right,
     const char *wanted)
{
	return right || qn_infer_error(g, n, "type.cast.kind", "the %s is %s, must be %s", side,
				       qn_infer_type_text(g, t), wanted);
}

static bool
expresses(const qn_graph *g, const qn_node *n, const qn_elem *quantized, qn_plain real)
{
	return quantized->expressed == real ||
	       qn_infer_error(g, n, "type.cast.expressed",
			      "the expressed type of %s is %s, the other side is %s",
			      qn_infer_elem_text(g, quantized),
			      qn_plain_table[quantized->expressed].name, qn_plain_table[real].name);
}

static bool
is_float(const qn_elem *e)
{
	return e->kind == QN_ELEM_PLAIN && qn_elem_is_float(e);
}

const qn_type *
qn_infer_quantize(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_type *in = qn_infer_in(g, n, 0);

	if (!qn_infer_cast_tensors(g, n, declared))
		return NULL;
	bool ok = kind(g, n, "input", in, is_float(in->elem), "float");
	ok = kind(g, n, "result", declared, declared->elem->kind == QN_ELEM_UNIFORM,
		  "uniformly quantized") &&
	     ok;
	return ok && expresses(g, n, declared->elem, in->elem->plain) ? declared : NULL;
}

const qn_type *
qn_infer_dequantize(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_type *in = qn_infer_in(g, n, 0);

	/* The one cast whose result follows from its input. */
	if (declared == NULL && !in->is_tuple && in->elem->kind == QN_ELEM_UNIFORM)
		declared = qn_type_with_elem(&g->model->types, in,
					     qn_elem_plain(&g->model->types, in->elem->expressed));
	if (!qn_infer_cast_tensors(g, n, declared))
		return NULL;
	bool ok = kind(g, n, "input", in, in->elem->kind == QN_ELEM_UNIFORM, "uniformly quantized");
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): tensors() refuses NULL */
	ok = kind(g, n, "result", declared, is_float(declared->elem), "float") && ok;
	return ok && expresses(g, n, in->elem, declared->elem->plain) ? declared : NULL;
}

/* lo..hi overlaps the storage range. */
static bool
clamp_ok(const qn_graph *g, const qn_node *n, const qn_elem *e)
{
	const qn_attrs_clamp *a = &n->attr->clamp;

	return (a->lo <= a->hi && a->lo <= e->qmax && a->hi >= e->qmin) ||
	       qn_infer_error(g, n, "attr.value",
			      "no quantized value of %s is in lo..hi = %lld..%lld",
			      qn_infer_elem_text(g, e), (long long)a->lo, (long long)a->hi);
}

const qn_type *
qn_infer_requantize(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_type *in = qn_infer_in(g, n, 0);

	if (!qn_infer_cast_tensors(g, n, declared))
		return NULL;
	bool ok = kind(g, n, "input", in, in->elem->kind == QN_ELEM_UNIFORM, "uniformly quantized");
	ok = kind(g, n, "result", declared, declared->elem->kind == QN_ELEM_UNIFORM,
		  "uniformly quantized") &&
	     ok;
	if (!ok)
		return NULL;
	ok = expresses(g, n, in->elem, declared->elem->expressed);
	ok = qn_infer_align(g, n, n->attr->requantize.align) && ok;
	return clamp_ok(g, n, declared->elem) && ok ? declared : NULL;
}

/* iN is any N-bit quantized value, uN an unsigned one; those of a width that no plain type has are in
 * the next wider one. */
static bool
stores(const qn_graph *g, const qn_node *n, const qn_elem *quantized, const qn_elem *plain)
{
	const qn_plain_info *p = &qn_plain_table[plain->plain];
	const uint8_t bits = qn_plain_table[quantized->plain].bits;
	bool ok = plain->kind == QN_ELEM_PLAIN && plain->plain != QN_PLAIN_bool && !p->is_float;

	if (!ok)
		return qn_infer_error(g, n, "type.cast.kind",
				      "one side is %s; it must be an integer type",
				      qn_infer_elem_text(g, plain));
	return (p->bits == bits && (p->is_signed || !quantized->is_signed)) ||
	       qn_infer_error(g, n, "type.cast.storage",
			      "%s does not hold the quantized values of %s", p->name,
			      qn_infer_elem_text(g, quantized));
}

const qn_type *
qn_infer_scast(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_type *in = qn_infer_in(g, n, 0);

	if (!qn_infer_cast_tensors(g, n, declared))
		return NULL;
	bool from = qn_elem_is_quant(in->elem);
	if (from == qn_elem_is_quant(declared->elem)) {
		(void)qn_infer_error(g, n, "type.cast.sides",
				     "exactly one of %s and %s must be quantized",
				     qn_infer_type_text(g, in), qn_infer_type_text(g, declared));
		return NULL;
	}
	bool ok = from ? stores(g, n, in->elem, declared->elem)
		       : stores(g, n, declared->elem, in->elem);
	return ok ? declared : NULL;
}
