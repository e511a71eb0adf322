/* SPDX-License-Identifier: Apache-2.0 */
/* llm_graph.c - the network of a language model, one token per run.
 *
 *   token ─ gather ─ x ─┬─ block 0 ─ … ─ norm ─ dense ─ logits
 *                       position: 0, 1 … context - 1, 0 …
 *
 *   block   x ─ norm ─┬─ q ─ rotate ───────────────── matmul ─ where(mask) ─ softmax ─ matmul ─ dense ─ add
 *                     ├─ k ─ rotate ─ scatter ─ keys ─┘                                │
 *                     └─ v ────────── scatter ─ values ────────────────────────────────┘
 *           x ─ norm ─┬─ gate ─ silu ─ mul ─ down ─ add
 *                     └─ up ───────────┘
 *
 * Keys and values are states [kv_heads, context, head_dim], of which a run replaces the row of its position.  After
 * the last position comes 0, a new sequence: rows beyond the position are masked, so no run sees the old ones. */
#include <math.h>

#include "import/llm.h"

/* A score far below all others, whose exponential is 0; calibration takes it for a mask, too. */
#define MASKED (-1e9)

/* Keys and values of a block. */
typedef struct cache {
	qn_id part[2];
} cache;

/* The values that all blocks share. */
typedef struct shared {
	qn_id position, cosines, sines; /* tables' rows of the position */
	qn_id rows; /* of the position in keys and values, as scatter_nd's indices */
	qn_id mask, low, scale;
} shared;

static void
at(qn_llm *l, const char *name)
{
	qn_importer_at(&l->im, name, "", 0);
}

/* "STEM.suffix" as the name of what follows. */
static void
at_part(qn_llm *l, const char *stem, const char *part)
{
	qn_buf b;

	qn_buf_init(&b, l->im.m->arena);
	qn_buff(&b, "%s%s", stem, part);
	at(l, qn_buf_str(&b));
}

static qn_id
reshape(qn_llm *l, qn_id x, int64_t a, int64_t b, int64_t c)
{
	return qn_importer_reshape(&l->im, x, 3, (const int64_t[]){a, b, c});
}

/* ---- tables and the position ---- */

static qn_id
integers(qn_llm *l, const char *name, int32_t rank, const int64_t *dim, int32_t first, int32_t last)
{
	qn_importer *im = &l->im;
	const qn_type *type = qn_type_plain(&im->m->types, QN_PLAIN_i32, rank, dim);
	const int64_t n = qn_type_count(type);
	void *data;

	if (!qn_importer_take_type(im, type))
		return 0;
	qn_tensor *x = qn_tensor_new(im->m->arena, type, &data);
	for (int64_t i = 0; i < n; i++)
		qn_store_i64(data, QN_PLAIN_i32, i, i + 1 < n ? first + i : last);
	return qn_importer_const(im, name, x);
}

/* Row `position` of keys and values of each head: [kv_heads, 1, 2] of (head, position). */
static qn_id
rows_of(qn_llm *l, qn_id position)
{
	const int64_t dim[] = {l->kv_heads, 1, 1};
	qn_importer *im = &l->im;
	qn_attrs to = qn_importer_attrs(QN_OP_expand);
	const qn_id head = integers(l, "head", 3, dim, 0, (int32_t)l->kv_heads - 1);
	qn_id p = reshape(l, position, 1, 1, 1);

	to.shape.shape = (qn_list){.n = 3, .v = {dim[0], 1, 1}};
	p = qn_importer_op(im, QN_OP_expand, 1, &p, &to, NULL);
	return head != 0 && p != 0 ? qn_importer_join(im, 2, (const qn_id[]){head, p}, 2) : 0;
}

static void
share(qn_llm *l, qn_id position, shared *s)
{
	qn_importer *im = &l->im;
	qn_id cosines, sines;

	s->position = position;
	at(l, "rotary");
	qn_llm_rotary_tables(l, &cosines, &sines);
	s->cosines = qn_importer_binary(im, QN_OP_gather, cosines, position);
	s->sines = qn_importer_binary(im, QN_OP_gather, sines, position);
	at(l, "rows");
	s->rows = rows_of(l, position);
	at(l, "mask");
	const qn_id index = integers(l, "index", 1, &l->context, 0, (int32_t)l->context - 1);
	s->mask = qn_importer_binary(im, QN_OP_less_equal, index, position);
	s->low = qn_importer_f32(im, MASKED);
	s->scale = qn_importer_f32(im, 1.0 / sqrt((double)l->head_dim));
}

/* ---- layers ---- */

static qn_id
norm(qn_llm *l, qn_id x, qn_llm_role role, int64_t block)
{
	qn_importer *im = &l->im;
	qn_attrs attrs = qn_importer_attrs(QN_OP_rms_norm);
	qn_id w = qn_llm_vector(l, role, block, ".weight", l->width);

	at(l, qn_llm_stem(l, role, block));
	if (w != 0 && l->hugging_face && l->arch->norm_plus_1)
		w = qn_importer_binary(im, QN_OP_add, w, qn_importer_f32(im, 1.0));
	attrs.layer_norm.epsilon = l->epsilon;
	return qn_importer_op(im, QN_OP_rms_norm, 2, (const qn_id[]){x, w}, &attrs, NULL);
}

static qn_id
linear(qn_llm *l, qn_id x, qn_llm_role role, int64_t block, int64_t rows, int64_t columns)
{
	const bool must =
		l->arch->qkv_bias && (role == QN_LLM_Q || role == QN_LLM_K || role == QN_LLM_V);
	qn_id in[3] = {x, qn_llm_matrix(l, role, block, rows, columns)};
	const uint32_t nin = must || qn_llm_has(l, role, block, ".bias") ? 3 : 2;

	if (nin == 3)
		in[2] = qn_llm_vector(l, role, block, ".bias", rows);
	at(l, qn_llm_stem(l, role, block));
	return qn_importer_op(&l->im, QN_OP_dense, nin, in, NULL, NULL);
}

/* The state with x in the row of the position. */
static qn_id
remember(qn_llm *l, qn_id state, qn_id x, const shared *s)
{
	const qn_id in[] = {state, s->rows, x};

	return qn_importer_op(&l->im, QN_OP_scatter_nd, 3, in, NULL, NULL);
}

/* q [kv_heads, queries of each, head_dim] over keys and values. */
static qn_id
attend(qn_llm *l, qn_id q, qn_id keys, qn_id values, const shared *s)
{
	qn_importer *im = &l->im;
	qn_attrs transposed = qn_importer_attrs(QN_OP_matmul);

	transposed.matmul.transpose_b = 1;
	const qn_id scores =
		qn_importer_op(im, QN_OP_matmul, 2, (const qn_id[]){q, keys}, &transposed, NULL);
	const qn_id seen = qn_importer_op(im, QN_OP_where, 3,
					  (const qn_id[]){s->mask, scores, s->low}, NULL, NULL);
	return qn_importer_binary(im, QN_OP_matmul, qn_importer_unary(im, QN_OP_softmax, seen),
				  values);
}

/* The next keys and values are stored in the place of those before. */
static qn_id
attention(qn_llm *l, qn_id x, int64_t block, const shared *s, cache *c)
{
	qn_importer *im = &l->im;
	const int64_t of_q = l->heads * l->head_dim, of_kv = l->kv_heads * l->head_dim;
	const char *stem = qn_llm_stem(l, QN_LLM_ATTN_OUTPUT, block);

	x = norm(l, x, QN_LLM_ATTN_NORM, block);
	qn_id q = linear(l, x, QN_LLM_Q, block, of_q, l->width);
	qn_id k = linear(l, x, QN_LLM_K, block, of_kv, l->width);
	const qn_id v = linear(l, x, QN_LLM_V, block, of_kv, l->width);
	at_part(l, stem, ".q");
	q = qn_importer_binary(im, QN_OP_mul, qn_llm_rotate(l, q, l->heads, s->cosines, s->sines),
			       s->scale);
	q = reshape(l, q, l->kv_heads, l->heads / l->kv_heads, l->head_dim);
	at_part(l, stem, ".k");
	k = qn_llm_rotate(l, k, l->kv_heads, s->cosines, s->sines);
	c->part[0] = remember(l, c->part[0], reshape(l, k, l->kv_heads, 1, l->head_dim), s);
	at_part(l, stem, ".v");
	c->part[1] = remember(l, c->part[1], reshape(l, v, l->kv_heads, 1, l->head_dim), s);
	at_part(l, stem, ".heads");
	const qn_id y = attend(l, q, c->part[0], c->part[1], s);
	const qn_id flat = qn_importer_reshape(im, y, 2, (const int64_t[]){1, of_q});
	return linear(l, flat, QN_LLM_ATTN_OUTPUT, block, l->width, of_q);
}

static qn_id
feed_forward(qn_llm *l, qn_id x, int64_t block)
{
	qn_importer *im = &l->im;
	qn_attrs attrs = qn_importer_attrs(QN_OP_gelu);

	x = norm(l, x, QN_LLM_FFN_NORM, block);
	const qn_id gate = linear(l, x, QN_LLM_GATE, block, l->hidden, l->width);
	const qn_id up = linear(l, x, QN_LLM_UP, block, l->hidden, l->width);
	at_part(l, qn_llm_stem(l, QN_LLM_GATE, block), l->arch->gelu ? ".gelu" : ".silu");
	attrs.gelu.approximate = QN_APPROXIMATE_tanh;
	const qn_id open = l->arch->gelu ? qn_importer_op(im, QN_OP_gelu, 1, &gate, &attrs, NULL)
					 : qn_importer_unary(im, QN_OP_silu, gate);
	const qn_id y = qn_importer_binary(im, QN_OP_mul, open, up);
	return linear(l, y, QN_LLM_DOWN, block, l->width, l->hidden);
}

static qn_id
block_of(qn_llm *l, qn_id x, int64_t block, const shared *s, cache *c)
{
	const qn_id attended = attention(l, x, block, s, c);

	at_part(l, qn_llm_stem(l, QN_LLM_ATTN_OUTPUT, block), ".sum");
	x = qn_importer_binary(&l->im, QN_OP_add, x, attended);
	const qn_id fed = feed_forward(l, x, block);
	at_part(l, qn_llm_stem(l, QN_LLM_DOWN, block), ".sum");
	return qn_importer_binary(&l->im, QN_OP_add, x, fed);
}

/* ---- the graph ---- */

static qn_id
state_input(qn_llm *l, const char *name, qn_plain plain, int32_t rank, const int64_t *dim)
{
	const qn_id id =
		qn_importer_input(&l->im, name, qn_type_plain(&l->im.m->types, plain, rank, dim));

	if (id != 0)
		qn_graph_add_state(l->im.g, NULL);
	return id;
}

/* "blk.3.k" */
static const char *
cache_name(qn_llm *l, int64_t block, const char *which)
{
	qn_buf b;

	qn_buf_init(&b, l->im.m->arena);
	qn_buff(&b, "blk.%lld.%s", (long long)block, which);
	return qn_buf_str(&b);
}

static qn_id
embed(qn_llm *l, qn_id token, qn_id table)
{
	qn_importer *im = &l->im;
	qn_id x;

	at(l, "embedding");
	x = qn_importer_binary(im, QN_OP_gather, table, token);
	return l->arch->scaled ? qn_importer_binary(im, QN_OP_mul, x,
						    qn_importer_f32(im, sqrt((double)l->width)))
			       : x;
}

/* The matrix of the logits: its own, or that of the embeddings. */
static qn_id
logits_of(qn_llm *l, qn_id x, qn_id table)
{
	qn_id w = table;

	if (!qn_llm_is_tied(l))
		w = qn_llm_matrix(l, QN_LLM_OUTPUT, 0, l->vocab, l->width);
	at(l, "logits");
	return qn_importer_op(&l->im, QN_OP_dense, 2, (const qn_id[]){x, w}, NULL, NULL);
}

static void
outputs(qn_llm *l, qn_id logits, qn_id position, const cache *c)
{
	qn_importer *im = &l->im;
	const qn_id next = integers(l, "position.next", 1, &l->context, 1, 0);

	at(l, "position.advanced");
	const qn_id advanced = qn_importer_binary(im, QN_OP_gather, next, position);
	if (im->problems > 0 || advanced == 0)
		return;
	qn_graph_output(im->g, "logits", logits);
	qn_graph_output(im->g, "position.advanced", advanced);
	for (int64_t i = 0; i < l->blocks; i++) {
		qn_graph_output(im->g, cache_name(l, i, "k.next"), c[i].part[0]);
		qn_graph_output(im->g, cache_name(l, i, "v.next"), c[i].part[1]);
	}
}

void
qn_llm_graph(qn_llm *l)
{
	qn_importer *im = &l->im;
	const int64_t one = 1, cache_dim[] = {l->kv_heads, l->context, l->head_dim};
	cache *c = QN_NEW(im->scratch, cache, (size_t)l->blocks);
	shared s = {0};

	const qn_id token =
		qn_importer_input(im, "token", qn_type_plain(&im->m->types, QN_PLAIN_i32, 1, &one));
	const qn_id position = state_input(l, "position", QN_PLAIN_i32, 1, &one);
	for (int64_t i = 0; i < l->blocks; i++)
		for (int k = 0; k < 2; k++)
			c[i].part[k] = state_input(l, cache_name(l, i, k == 0 ? "k" : "v"),
						   QN_PLAIN_f32, 3, cache_dim);
	share(l, position, &s);
	const qn_id table = qn_llm_matrix(l, QN_LLM_EMBEDDING, 0, l->vocab, l->width);
	qn_id x = embed(l, token, table);
	for (int64_t i = 0; i < l->blocks; i++)
		x = block_of(l, x, i, &s, &c[i]);
	x = norm(l, x, QN_LLM_FINAL_NORM, 0);
	outputs(l, logits_of(l, x, table), position, c);
}
