/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_matmul_blocks.c - MatMulNBits (domain com.microsoft): a product with a constant in blocks.
 *
 *   B [N,K/32,16] UINT8, two values in each byte, scales [N,K/32]      ->    matmul(a, transpose(dequantize(b))), b [N,K] <u4:f32:{0:1, 1:32}, …>
 *   zero points [N,(K/32+1)/2], two in a byte                                8 where there are none
 *   bits=8: B [N,K/32,32], zero points [N,K/32]                              <u8 …>, zero point 128 */
#include "import/onnx_quant.h"

enum { DEFAULT_BITS = 4 };

qn_id
qn_onnx_nibbles(qn_onnx *o, qn_id x, int64_t last)
{
	const qn_tensor *from = qn_importer_known(&o->im, x);
	const qn_type *t = qn_onnx_type(o, x);
	int64_t dim[QN_MAX_RANK];
	void *data;

	if (from == NULL || t->rank < 1 || t->dim[t->rank - 1] != (last + 1) / 2)
		return qn_importer_refuse(&o->im, "import.constant",
					  "data and zero points must be constants with two values "
					  "in a byte along the last dimension");
	const int64_t bytes = t->dim[t->rank - 1];
	for (int32_t i = 0; i < t->rank; i++)
		dim[i] = i == t->rank - 1 ? last : t->dim[i];
	if (!qn_importer_take(&o->im, 2 * (uint64_t)qn_type_count(t)))
		return 0;
	const qn_type *type = qn_type_plain(&o->im.m->types, QN_PLAIN_u4, t->rank, dim);
	qn_tensor *to = qn_tensor_new(o->im.m->arena, type, &data);
	for (int64_t i = 0; i < qn_type_count(type); i++) {
		const int64_t both = qn_tensor_i64(from, i / last * bytes + i % last / 2);

		qn_store_i64(data, QN_PLAIN_u4, i, i % last % 2 == 0 ? both & 15 : both >> 4);
	}
	return qn_importer_const(&o->im, qn_graph_node(o->im.g, x)->name, to);
}

qn_id
qn_onnx_middle(qn_onnx *o, qn_plain storage)
{
	void *data;
	qn_tensor *z = qn_tensor_new(o->im.m->arena,
				     qn_type_plain(&o->im.m->types, storage, 0, NULL), &data);

	qn_store_i64(data, storage, 0, INT64_C(1) << (qn_plain_table[storage].bits - 1));
	return qn_importer_const(&o->im, NULL, z);
}

/* The sizes of a node, from its attributes. */
typedef struct sizes {
	int64_t n, k, bits, block, blocks; /* rows, and elements and blocks of each */
} sizes;

static bool
read_sizes(qn_onnx *o, const qn_onnx_node *node, sizes *s)
{
	s->n = qn_onnx_int(o, node, "N", 0);
	s->k = qn_onnx_int(o, node, "K", 0);
	s->bits = qn_onnx_int(o, node, "bits", DEFAULT_BITS);
	s->block = qn_onnx_int(o, node, "block_size", 0);
	if (s->bits != 4 && s->bits != 8)
		return qn_importer_refuse(&o->im, "import.attr",
					  "bits is %lld, weights of 4 and 8 bits are read",
					  (long long)s->bits) != 0;
	if (s->n < 1 || s->k < 1 || s->block < 2 || s->block % 2 != 0 || s->k > INT32_MAX ||
	    s->block > INT32_MAX)
		return qn_importer_refuse(
			       &o->im, "import.attr",
			       "N, K and block_size are %lld, %lld and %lld: they must be "
			       "positive, and the block even",
			       (long long)s->n, (long long)s->k, (long long)s->block) != 0;
	s->blocks = (s->k + s->block - 1) / s->block;
	return true;
}

/* A constant as a matrix of this size; 0 after a report. */
static qn_id
as_matrix(qn_onnx *o, qn_id x, int64_t rows, int64_t columns, const char *what)
{
	const qn_tensor *v = qn_importer_known(&o->im, x);

	if (v == NULL || qn_type_count(v->type) / rows != columns ||
	    qn_type_count(v->type) % rows != 0)
		return qn_importer_refuse(&o->im, "import.constant",
					  "%s must be a constant of %lld x %lld elements", what,
					  (long long)rows, (long long)columns);
	return qn_importer_reshape(&o->im, x, 2, (int64_t[]){rows, columns});
}

/* The columns of x that are not padding of the last block. */
static qn_id
first_columns(qn_onnx *o, qn_id x, int64_t rows, int64_t columns)
{
	qn_attrs a = qn_importer_attrs(QN_OP_slice);

	if (x == 0 || qn_onnx_type(o, x)->dim[1] == columns)
		return x;
	a.slice.begin = (qn_list){2, {0, 0}};
	a.slice.end = (qn_list){2, {rows, columns}};
	return qn_importer_op(&o->im, QN_OP_slice, 1, &x, &a, NULL);
}

/* The weights [N,K] as quantized values; 0 after a report. */
static qn_id
weights(qn_onnx *o, const qn_onnx_node *node, const sizes *s)
{
	const bool packed = s->bits == 4;
	const int64_t bytes = s->blocks * s->block / (packed ? 2 : 1);
	const qn_id given = qn_onnx_in(node, 3);
	qn_onnx_params p = {.axis = 1, .block = s->block};
	qn_id b = as_matrix(o, node->in[1], s->n, bytes, "B");

	p.scale = b != 0 ? as_matrix(o, node->in[2], s->n, s->blocks, "scales") : 0;
	if (p.scale == 0)
		return 0;
	if (given != 0 && qn_elem_is_float(qn_onnx_type(o, given)->elem))
		return qn_importer_refuse(
			&o->im, "import.input",
			"its zero points are floats; only such of UINT8 are read");
	if (packed)
		b = qn_onnx_nibbles(o, b, 2 * bytes);
	if (given == 0)
		p.zp = qn_onnx_middle(o, packed ? QN_PLAIN_u4 : QN_PLAIN_u8);
	else
		p.zp = as_matrix(o, given, s->n, packed ? (s->blocks + 1) / 2 : s->blocks,
				 "zero_points");
	if (given != 0 && packed && p.zp != 0)
		p.zp = qn_onnx_nibbles(o, p.zp, s->blocks);
	b = first_columns(o, b, s->n, s->k);
	return b != 0 && p.zp != 0 ? qn_onnx_dequantize(o, b, &p) : 0;
}

static void
matmul_blocks(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const qn_id bias = qn_onnx_in(n, 5);
	sizes s = {0};
	qn_id y = 0;

	if (!qn_onnx_need(o, n, 3) || !read_sizes(o, n, &s))
		return;
	if (qn_onnx_in(n, 4) != 0) {
		(void)qn_importer_refuse(&o->im, "import.input",
					 "g_idx, the order of its groups, is not read");
		return;
	}
	qn_id in[2] = {n->in[0], weights(o, n, &s)};
	if (in[1] != 0)
		in[1] = qn_importer_transpose(&o->im, in[1], (const int64_t[]){1, 0});
	if (in[1] != 0)
		qn_onnx_run_as(o, n, "MatMul", 13, 2, in, &y);
	out[0] = bias != 0 && y != 0 ? qn_importer_binary(&o->im, QN_OP_add, y, bias) : y;
}

const qn_onnx_row qn_onnx_matmul_blocks[] = {
	QN_ONNX_READ("com.microsoft", "MatMulNBits", 1, matmul_blocks, 0),
	{0},
};
