/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_attention.c - Attention (from operator set 23), and the rotation of queries and keys by their positions.
 *
 *   Attention(q [B,S,H*D], k, v, mask, past key and value)     products and a softmax (onnx_attention.h)
 *   FlexAttention(q, k, v)                                     the same, with bodies that change scores and their softmax
 *   RotaryEmbedding(x, cos, sin, positions)                    x * c + swapped x * s, with c and s from the tables:
 *                                                              pairs (a, b) become (a cos - b sin, b cos + a sin) */
#include "import/onnx_attention.h"

#include <string.h>

/* ---- masks ---- */

/* The mask for steps that the keys have beyond its own: they do not count. */
static void
take_mask(qn_onnx *o, qn_onnx_attention *a, qn_id mask, int64_t columns)
{
	qn_importer *im = &o->im;
	qn_attrs pad = qn_importer_attrs(QN_OP_pad);
	const qn_type *t = qn_onnx_type(o, mask);
	bool real = t->elem->plain == QN_PLAIN_f32;
	int64_t have = t->rank > 0 ? t->dim[t->rank - 1] : 0;

	if (t->rank < 2 || t->rank > 4 || (!real && t->elem->plain != QN_PLAIN_bool)) {
		(void)qn_importer_refuse(im, "import.input",
					 "the mask must be real or bool, of 2 to 4 dimensions");
		return;
	}
	if (have > 1 && have < columns) {
		pad.pad.before.n = pad.pad.after.n = t->rank;
		pad.pad.after.v[t->rank - 1] = columns - have;
		mask = qn_importer_op(im, QN_OP_pad, 1, &mask, &pad, NULL);
		if (real)
			qn_onnx_add_mask(o, a,
					 qn_importer_binary(im, QN_OP_less,
							    qn_onnx_ramp(o, columns, 0, 1, 2, 1),
							    qn_onnx_ramp(o, 1, have, 0, 0, 0)));
	}
	if (real)
		a->bias = mask;
	else
		qn_onnx_add_mask(o, a, mask);
}

/* How many keys each batch has, as [B,1,1,1]: later ones do not count, and the last query is at the last
 * key. */
static qn_id
take_lengths(qn_onnx *o, qn_onnx_attention *a, qn_id lengths)
{
	const int64_t *q = qn_onnx_type(o, a->q)->dim, *k = qn_onnx_type(o, a->k)->dim;
	int64_t dim[] = {q[0], 1, 1, 1};

	if (qn_type_count(qn_onnx_type(o, lengths)) != q[0])
		return qn_importer_refuse(&o->im, "import.input",
					  "the number of keys is needed for each of %lld batches",
					  (long long)q[0]);
	lengths = qn_importer_cast(&o->im, lengths, QN_PLAIN_i64);
	lengths = qn_importer_reshape(&o->im, lengths, 4, dim);
	qn_onnx_add_mask(
		o, a,
		qn_importer_binary(&o->im, QN_OP_less, qn_onnx_ramp(o, k[2], 0, 1, 4, 3), lengths));
	return qn_importer_binary(&o->im, QN_OP_sub, lengths, qn_onnx_ramp(o, 1, q[2], 0, 0, 0));
}

/* ---- Attention ---- */

/* x after what was computed before, along the steps. */
static qn_id
with_past(qn_onnx *o, qn_id past, qn_id x)
{
	return past == 0 || x == 0 ? x : qn_importer_join(&o->im, 2, (qn_id[]){past, x}, 2);
}

static bool
take_values(qn_onnx *o, const qn_onnx_node *n, qn_onnx_attention *a)
{
	bool flat = qn_onnx_type(o, n->in[0])->rank == 3;
	int64_t heads = qn_onnx_int(o, n, "q_num_heads", 0);
	int64_t shared = qn_onnx_int(o, n, "kv_num_heads", 0);

	a->q = flat ? qn_onnx_heads(o, n->in[0], heads) : n->in[0];
	a->k = flat ? qn_onnx_heads(o, n->in[1], shared) : n->in[1];
	a->v = flat ? qn_onnx_heads(o, n->in[2], shared) : n->in[2];
	a->k = with_past(o, qn_onnx_in(n, 4), a->k);
	a->v = with_past(o, qn_onnx_in(n, 5), a->v);
	if (a->q == 0 || a->k == 0 || a->v == 0)
		return false;
	if (qn_onnx_type(o, a->q)->rank == 4 && qn_onnx_type(o, a->k)->rank == 4)
		return true;
	(void)qn_importer_refuse(&o->im, "import.rank",
				 "queries, keys and values must have 3 or 4 dimensions");
	return false;
}

static void
attention(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_onnx_attention a = {.scale = qn_onnx_float(o, n, "scale", 0),
			       .softcap = qn_onnx_float(o, n, "softcap", 0)};
	int64_t mode = qn_onnx_int(o, n, "qk_matmul_output_mode", 0);
	qn_id mask = qn_onnx_in(n, 3), past = qn_onnx_in(n, 4), lengths = qn_onnx_in(n, 6);

	if (!qn_onnx_need(o, n, 3) || !take_values(o, n, &a))
		return;
	int64_t before = past != 0 ? qn_onnx_type(o, past)->dim[2] : 0;
	if (mask != 0)
		take_mask(o, &a, mask, qn_onnx_type(o, a.k)->dim[2]);
	qn_id offset =
		lengths != 0 ? take_lengths(o, &a, lengths) : qn_onnx_ramp(o, 1, before, 0, 0, 0);
	if (qn_onnx_int(o, n, "is_causal", 0) != 0)
		qn_onnx_add_causal_mask(o, &a, offset);
	qn_id y = qn_onnx_attend(o, n, &a);
	out[0] = qn_onnx_type(o, n->in[0])->rank == 3 ? qn_onnx_unheads(o, y) : y;
	if (n->nout > 1)
		out[1] = a.k;
	if (n->nout > 2)
		out[2] = a.v;
	if (n->nout > 3 && mode >= 0 && mode < 4)
		out[3] = a.score[mode];
	else if (n->nout > 3)
		(void)qn_importer_refuse(&o->im, "import.attr", "qk_matmul_output_mode is %lld",
					 (long long)mode);
}

/* ---- FlexAttention ---- */

/* x through a body of the node, which may be left out. */
static qn_id
through_body(qn_onnx *o, const qn_onnx_node *n, const char *body, qn_id x)
{
	const struct Onnx__GraphProto *g = qn_onnx_graph(o, n, body);
	qn_id y = g == NULL ? x : 0;

	if (x != 0 && g != NULL)
		qn_onnx_body(o, g, 1, &x, 1, &y);
	return y;
}

static void
flex_attention(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_onnx_attention a = {.scale = qn_onnx_float(o, n, "scale", 0), .change = through_body};

	if (!qn_onnx_need(o, n, 3))
		return;
	a.q = n->in[0];
	a.k = n->in[1];
	a.v = n->in[2];
	out[0] = qn_onnx_attend(o, n, &a);
}

/* ---- RotaryEmbedding ---- */

typedef struct rotary {
	qn_id x, cos, sin, places; /* places 0: the tables have a row for each step */
	int64_t heads, size;       /* size 0: all elements turn */
	bool interleaved;          /* pairs stand side by side, not in two halves */
} rotary;

/* [.., half] and [.., half] as [.., 2 half], pair by pair or half by half. */
static qn_id
pairs(qn_onnx *o, qn_id a, qn_id b, bool interleaved)
{
	int64_t dim[QN_MAX_RANK];

	if (a == 0 || b == 0)
		return 0;
	const qn_type *t = qn_onnx_type(o, a);
	if (!interleaved)
		return qn_importer_join(&o->im, 2, (qn_id[]){a, b}, t->rank - 1);
	memcpy(dim, t->dim, (size_t)t->rank * sizeof dim[0]);
	dim[t->rank - 1] *= 2;
	qn_id in[] = {qn_importer_expand_dim(&o->im, a, t->rank),
		      qn_importer_expand_dim(&o->im, b, t->rank)};
	return qn_importer_reshape(&o->im, qn_importer_join(&o->im, 2, in, t->rank), t->rank, dim);
}

/* Rows of a table [positions, half] or [batch, steps, half] as [batch, 1, steps, 2 half]; flat: [batch,
 * steps, 1, …]. */
static qn_id
rows_of(qn_onnx *o, const rotary *r, qn_id table, bool negative, int64_t steps, bool flat)
{
	qn_attrs a = {0};
	qn_id first = table;

	if (table == 0)
		return 0;
	const qn_type *t = qn_onnx_type(o, table);
	int64_t half = r->size / 2;
	if (t->rank != (r->places != 0 ? 2 : 3) || t->dim[t->rank - 1] < half)
		return qn_importer_refuse(&o->im, "import.input",
					  "cos and sin must be [positions, %lld], or [batch, "
					  "steps, %lld] without position indices",
					  (long long)half, (long long)half);
	table = qn_importer_slice(&o->im, table, t->rank - 1, 0, half);
	first = negative ? qn_importer_unary(&o->im, QN_OP_neg, table) : table;
	table = pairs(o, first, table, r->interleaved);
	if (r->places != 0)
		table = qn_importer_op(&o->im, QN_OP_gather, 2, (qn_id[]){table, r->places}, &a,
				       NULL);
	if (table == 0)
		return 0;
	t = qn_onnx_type(o, table);
	int64_t batch = qn_type_count(t) / (steps * r->size > 0 ? steps * r->size : 1);
	int64_t dim[] = {batch, flat ? steps : 1, flat ? 1 : steps, r->size};
	if (batch * steps * r->size != qn_type_count(t))
		return qn_importer_refuse(&o->im, "import.input",
					  "a position index is needed for each of %lld steps",
					  (long long)steps);
	return qn_importer_reshape(&o->im, table, 4, dim);
}

/* Each element's other one. */
static qn_id
swapped(qn_onnx *o, qn_id x, int64_t size, bool interleaved)
{
	qn_attrs a = {0};
	void *data;

	const qn_type *type = qn_type_plain(&o->im.m->types, QN_PLAIN_i64, 1, &size);
	if (x == 0 || !qn_importer_take_type(&o->im, type))
		return 0;
	qn_tensor *at = qn_tensor_new(o->im.m->arena, type, &data);
	for (int64_t i = 0; i < size; i++)
		qn_store_i64(data, QN_PLAIN_i64, i, interleaved ? i ^ 1 : (i + size / 2) % size);
	a.gather.axis = 3;
	return qn_importer_op(&o->im, QN_OP_gather, 2,
			      (qn_id[]){x, qn_importer_const(&o->im, NULL, at)}, &a, NULL);
}

static qn_id
rotate(qn_onnx *o, rotary *r)
{
	qn_importer *im = &o->im;
	const qn_type *t = qn_onnx_type(o, r->x);
	bool flat = t->rank == 3;
	int64_t heads = flat ? r->heads : 1;

	if ((t->rank != 3 && t->rank != 4) || heads < 1 || t->dim[t->rank - 1] % heads != 0)
		return qn_importer_refuse(
			im, "import.input",
			"its input must be [batch, heads, steps, size], or [batch, "
			"steps, heads * size] with num_heads");
	int64_t dim[] = {t->dim[0], t->dim[1], flat ? heads : t->dim[2],
			 t->dim[t->rank - 1] / heads};
	int64_t all = dim[3], steps = flat ? dim[1] : dim[2];
	r->size = r->size != 0 ? r->size : all;
	if (r->size < 2 || r->size > all || r->size % 2 != 0)
		return qn_importer_refuse(im, "import.attr",
					  "rotary_embedding_dim is %lld of %lld elements",
					  (long long)r->size, (long long)all);
	qn_id x = qn_importer_reshape(im, r->x, 4, dim);
	qn_id part = qn_importer_slice(im, x, 3, 0, r->size);
	qn_id c = rows_of(o, r, r->cos, false, steps, flat);
	qn_id s = rows_of(o, r, r->sin, true, steps, flat);
	c = qn_importer_binary(im, QN_OP_mul, part, c);
	s = qn_importer_binary(im, QN_OP_mul, swapped(o, part, r->size, r->interleaved), s);
	qn_id y = qn_importer_binary(im, QN_OP_add, c, s);
	if (r->size < all)
		y = qn_importer_join(&o->im, 2,
				     (qn_id[]){y, qn_importer_slice(im, x, 3, r->size, all)}, 3);
	return qn_importer_reshape(im, y, t->rank, t->dim);
}

/* arg 1: that of com.microsoft, whose positions come before the tables; one number is that of the first
 * step. */
static void
rotary_embedding(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	bool places_first = n->arg == 1;
	rotary r = {.heads = qn_onnx_int(o, n, "num_heads", 0),
		    .size = qn_onnx_int(o, n, "rotary_embedding_dim", 0),
		    .interleaved = qn_onnx_int(o, n, "interleaved", 0) != 0};

	if (!qn_onnx_need(o, n, places_first ? 4 : 3))
		return;
	r.x = n->in[0];
	r.cos = n->in[places_first ? 2 : 1];
	r.sin = n->in[places_first ? 3 : 2];
	r.places = places_first ? n->in[1] : qn_onnx_in(n, 3);
	const qn_type *t = qn_onnx_type(o, r.x);
	if (places_first && t->rank == 3 && r.heads == 0) {
		const qn_type *c = qn_onnx_type(o, r.cos);
		r.heads = c->rank == 2 && c->dim[1] > 0 ? t->dim[2] / (2 * c->dim[1]) : 0;
	}
	if (places_first && t->rank >= 3 && qn_type_count(qn_onnx_type(o, r.places)) == 1)
		r.places = qn_importer_binary(
			&o->im, QN_OP_add, r.places,
			qn_onnx_ramp(o, t->dim[t->rank == 3 ? 1 : 2], 0, 1, 1, 0));
	if (qn_onnx_int(o, n, "is_packed_batching", 0) != 0)
		(void)qn_importer_refuse(&o->im, "import.attr", "batches are packed");
	else
		out[0] = r.places != 0 || !places_first ? rotate(o, &r) : 0;
}

const qn_onnx_row qn_onnx_attentions[] = {
	QN_ONNX_READ("", "Attention", 23, attention, 0),
	QN_ONNX_READ("ai.onnx.preview", "FlexAttention", 1, flex_attention, 0),
	QN_ONNX_READ("", "RotaryEmbedding", 23, rotary_embedding, 0),
	QN_ONNX_READ("com.microsoft", "RotaryEmbedding", 1, rotary_embedding, 1),
	{0},
};
