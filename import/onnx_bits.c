/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_bits.c - BitCast(x) {to}: the same bits as another type. */
#include "import/onnx.h"

#include <string.h>

/* The bits of constants: f32 as integers of 32 bits, integers as f32, f16, bf16 and f64.  `to`: a number of
 * TensorProto.DataType, of the width of x.  0: no such form. */
static qn_id
bits_of(qn_onnx *o, qn_id x, qn_plain from, int64_t number, qn_plain to)
{
	const qn_tensor *v = qn_importer_known(&o->im, x);
	const qn_plain stored = qn_onnx_stored_type(number);
	const int bits = qn_plain_table[stored].bits;
	const bool real = qn_plain_table[from].is_float;
	void *data;

	/* f64 and halves are f32 here: only the bits of f32 are those of the file */
	if (v == NULL || real == qn_plain_table[to].is_float ||
	    bits != (int)qn_plain_table[from].bits || (real && bits != 32))
		return 0;
	const qn_type *type =
		qn_type_with_elem(&o->im.m->types, v->type, qn_elem_plain(&o->im.m->types, to));
	if (!qn_importer_take_type(&o->im, type))
		return 0;
	qn_tensor *y = qn_tensor_new(o->im.m->arena, type, &data);
	const float *f = real ? qn_tensor_as_f32(o->im.scratch, v) : NULL;
	for (int64_t i = 0; i < qn_type_count(type); i++) {
		const int64_t k = real ? 0 : qn_tensor_bits64(v, i);
		uint32_t word = (uint32_t)k;
		double wide;
		float one;

		if (real) {
			memcpy(&word, &f[i], sizeof word);
			qn_store_i64(data, to, i,
				     qn_plain_table[to].is_signed ? (int32_t)word : (int64_t)word);
			continue;
		}
		memcpy(&one, &word, sizeof one);
		memcpy(&wide, &k, sizeof wide);
		qn_store_f64(data, to, i,
			     bits == 64   ? wide
			     : bits == 32 ? (double)one
					  : qn_half_value(stored, (uint16_t)k));
	}
	return qn_importer_const(&o->im, o->im.node, y);
}

/* Integers of one width have the same bits; so have constants.  Computed floats are quantized, so that
 * their bits are not known. */
static void
bit_cast(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_plain to;

	if (!qn_onnx_need(o, n, 1))
		return;
	qn_plain from = qn_onnx_plain(o, n->in[0]);
	int64_t number = qn_onnx_int(o, n, "to", 0);
	if (qn_onnx_data_type(number, &to) && !qn_plain_table[from].is_float &&
	    !qn_plain_table[to].is_float && from != QN_PLAIN_bool && to != QN_PLAIN_bool &&
	    qn_plain_table[from].bits == qn_plain_table[to].bits)
		out[0] = qn_importer_cast(&o->im, n->in[0], to);
	else if (qn_onnx_data_type(number, &to) && from == to && (number == 1 || number == 11))
		out[0] = n->in[0];
	else if (!qn_onnx_data_type(number, &to) ||
		 (out[0] = bits_of(o, n->in[0], from, number, to)) == 0)
		(void)qn_importer_refuse(&o->im, "import.type",
					 "bits of %s as %s; supported are integers of one width, "
					 "and for constants f32 as integers and integers as floats",
					 qn_plain_table[from].name, qn_onnx_type_name(number));
}

const qn_onnx_row qn_onnx_functions[] = {
	QN_ONNX_READ("", "BitCast", 26, bit_cast, 0),
	{0},
};
