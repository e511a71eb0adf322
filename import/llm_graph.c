/* SPDX-License-Identifier: Apache-2.0 */
/* llm_graph.c - the graph of a language model: its inputs, states and outputs around the compositions of lib/llama.qir.
 *
 *   token, position, blk.0.k … ─▶ @llm_start ─▶ @llm_block, for each block ─▶ @llm_end ─▶ logits
 *                                     tensors of the file (llm_weights.c), hyper-parameters as attributes */
#include "import/importer_lib.h"
#include "import/llm.h"
#include "ir/diag.h"

enum {
	SHARED = 4,
	BLOCK_IN = 3 + SHARED + 15,
	MOST_TABLE = 1 << 24, /* elements of the cosines of all positions, and of the sines */
	TABLE_NODES = 24      /* that @rotary_tables and @llm_start compute of them, at most */
};

/* Keys and values of a block. */
typedef struct cache {
	qn_id part[2];
} cache;

static const char *
part_name(qn_llm *l, int64_t block, const char *part)
{
	qn_buf b;

	qn_buf_init(&b, l->im.m->arena);
	qn_buff(&b, "blk.%lld%s", (long long)block, part);
	return qn_buf_str(&b);
}

static qn_id
bias(qn_llm *l, qn_llm_role role, int64_t block, int64_t n)
{
	return qn_llm_has_bias(l, role) || qn_llm_has(l, role, block, ".bias")
		       ? qn_llm_vector(l, role, block, ".bias", n)
		       : 0;
}

/* The weights of the norm of each head; 0: it has none. */
static qn_id
head_norm(qn_llm *l, qn_llm_role role, int64_t block)
{
	return l->arch->qk_norm ? qn_llm_vector(l, role, block, ".weight", l->head_dim) : 0;
}

static qn_lib_attr
integer(const char *name, int64_t v)
{
	return (qn_lib_attr){name, qn_item_int(v)};
}

static qn_lib_attr
real(const char *name, double v)
{
	return (qn_lib_attr){name, qn_item_real(v)};
}

/* A composition whose nodes are named "NODE.VALUE"; false when a problem was reported, here or before. */
static bool
call(qn_llm *l, const char *node, const qn_lib_call *c, qn_id *out)
{
	if (l->im.problems > 0)
		return false;
	qn_importer_at(&l->im, node, "", 0);
	return qn_importer_call(&l->im, c, out);
}

/* Room for the tables by position, which grow with what the caller asks for. */
static bool
make_room(qn_llm *l)
{
	const int64_t most = (int64_t)qn_importer_most(&l->im, MOST_TABLE) / l->head_dim;

	if (l->context <= most) {
		qn_importer_grant_tables(&l->im, (uint64_t)(l->context * l->head_dim), TABLE_NODES);
		return true;
	}
	(void)qn_report(
		l->im.m->env, QN_EINVALID, "llm.value",
		qn_archive_at(l->im.m->arena, l->im.file, "option", "--context"),
		"a context of %lld tokens needs too large tables, of one element for each "
		"position and element of a head; at most %lld tokens fit (--context %lld)%s",
		(long long)l->context, (long long)most, (long long)most, qn_importer_more(&l->im));
	qn_importer_failed(&l->im, QN_EINVALID);
	return false;
}

/* start: the embedding, what all blocks share, and the next position. */
static bool
begin(qn_llm *l, qn_id token, qn_id position, qn_id table, qn_id start[SHARED + 2])
{
	const bool scaled = qn_llm_has(l, QN_LLM_ROPE_FACTORS, 0, ".weight");
	const qn_id factors =
		scaled ? qn_llm_vector(l, QN_LLM_ROPE_FACTORS, 0, ".weight", l->rope_dim / 2) : 0;
	const qn_id in[] = {token, position, table, factors};
	const qn_lib_attr attr[] = {
		integer("context", l->context),      integer("kv_heads", l->kv_heads),
		integer("head_dim", l->head_dim),    integer("rope_dim", l->rope_dim),
		real("original", l->rope_original),  real("low", l->rope_low),
		real("high", l->rope_high),          real("rope_base", l->rope_base),
		real("rope_factor", l->rope_factor), integer("pairs", qn_llm_rotates_pairs(l)),
		integer("scaled", l->arch->scaled),
	};
	const qn_lib_call c = {.graph = "llm_start",
			       .nin = QN_COUNT(in),
			       .nout = SHARED + 2,
			       .in = in,
			       .nattr = QN_COUNT(attr),
			       .attr = attr};

	return make_room(l) && call(l, "", &c, start);
}

/* The operands of a block, in the order of @llm_block. */
static void
block_operands(qn_llm *l, int64_t block, qn_id x, const cache *c, const qn_id *shared,
	       qn_id in[BLOCK_IN])
{
	const int64_t q = l->heads * l->head_dim, kv = l->kv_heads * l->head_dim, w = l->width;
	const qn_id weights[] = {
		qn_llm_vector(l, QN_LLM_ATTN_NORM, block, ".weight", w),
		qn_llm_matrix(l, QN_LLM_Q, block, q, w),
		bias(l, QN_LLM_Q, block, q),
		qn_llm_matrix(l, QN_LLM_K, block, kv, w),
		bias(l, QN_LLM_K, block, kv),
		qn_llm_matrix(l, QN_LLM_V, block, kv, w),
		bias(l, QN_LLM_V, block, kv),
		head_norm(l, QN_LLM_Q_NORM, block),
		head_norm(l, QN_LLM_K_NORM, block),
		qn_llm_matrix(l, QN_LLM_ATTN_OUTPUT, block, w, q),
		bias(l, QN_LLM_ATTN_OUTPUT, block, w),
		qn_llm_vector(l, QN_LLM_FFN_NORM, block, ".weight", w),
		qn_llm_matrix(l, QN_LLM_GATE, block, l->hidden, w),
		qn_llm_matrix(l, QN_LLM_UP, block, l->hidden, w),
		qn_llm_matrix(l, QN_LLM_DOWN, block, w, l->hidden),
	};

	in[0] = x;
	in[1] = c->part[0];
	in[2] = c->part[1];
	for (size_t i = 0; i < SHARED; i++)
		in[3 + i] = shared[i];
	for (size_t i = 0; i < QN_COUNT(weights); i++)
		in[3 + SHARED + i] = weights[i];
}

/* The next keys and values are stored in the place of those before. */
static bool
run_block(qn_llm *l, int64_t block, qn_id *x, cache *c, const qn_id *shared)
{
	qn_id in[BLOCK_IN], out[3];
	const qn_lib_attr attr[] = {
		integer("heads", l->heads),
		integer("kv_heads", l->kv_heads),
		integer("head_dim", l->head_dim),
		real("epsilon", l->epsilon),
		integer("pairs", qn_llm_rotates_pairs(l)),
		integer("plus_1", l->hugging_face && l->arch->norm_plus_1),
		{"gate", qn_item_text(l->arch->gelu ? "gelu" : "silu")},
	};
	const qn_lib_call b = {.graph = "llm_block",
			       .nin = BLOCK_IN,
			       .nout = 3,
			       .in = in,
			       .nattr = QN_COUNT(attr),
			       .attr = attr};

	block_operands(l, block, *x, c, shared, in);
	if (!call(l, part_name(l, block, ""), &b, out))
		return false;
	*x = out[0];
	c->part[0] = out[1];
	c->part[1] = out[2];
	return true;
}

static bool
end(qn_llm *l, qn_id x, qn_id table, qn_id *logits)
{
	const qn_id in[] = {
		x, qn_llm_vector(l, QN_LLM_FINAL_NORM, 0, ".weight", l->width),
		qn_llm_is_tied(l) ? table : qn_llm_matrix(l, QN_LLM_OUTPUT, 0, l->vocab, l->width)};
	const qn_lib_attr attr[] = {
		real("epsilon", l->epsilon),
		integer("plus_1", l->hugging_face && l->arch->norm_plus_1),
	};

	return call(l, "",
		    &(qn_lib_call){.graph = "llm_end",
				   .nin = QN_COUNT(in),
				   .nout = 1,
				   .in = in,
				   .nattr = QN_COUNT(attr),
				   .attr = attr},
		    logits);
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

static void
outputs(qn_llm *l, qn_id logits, qn_id position, const cache *c)
{
	qn_graph *g = l->im.g;

	qn_graph_output(g, "logits", logits);
	qn_graph_output(g, "position.next", position);
	for (int64_t i = 0; i < l->blocks; i++) {
		qn_graph_output(g, part_name(l, i, ".k.next"), c[i].part[0]);
		qn_graph_output(g, part_name(l, i, ".v.next"), c[i].part[1]);
	}
}

void
qn_llm_graph(qn_llm *l)
{
	qn_importer *im = &l->im;
	const int64_t one = 1, cache_dim[] = {l->kv_heads, l->context, l->head_dim};
	cache *c = QN_NEW(im->scratch, cache, (size_t)l->blocks);
	qn_id start[SHARED + 2] = {0}, logits = 0;

	im->part_names = true;
	const qn_id token =
		qn_importer_input(im, "token", qn_type_plain(&im->m->types, QN_PLAIN_i32, 1, &one));
	const qn_id position = state_input(l, "position", QN_PLAIN_i32, 1, &one);
	for (int64_t i = 0; i < l->blocks; i++)
		for (int k = 0; k < 2; k++)
			c[i].part[k] = state_input(l, part_name(l, i, k == 0 ? ".k" : ".v"),
						   QN_PLAIN_f32, 3, cache_dim);
	const qn_id table = qn_llm_matrix(l, QN_LLM_EMBEDDING, 0, l->vocab, l->width);
	bool ok = begin(l, token, position, table, start);
	qn_id x = start[0];
	for (int64_t i = 0; i < l->blocks; i++) /* all, so that every missing tensor is reported */
		ok = run_block(l, i, &x, &c[i], start + 1) && ok;
	ok = end(l, x, table, &logits) && ok;
	if (ok)
		outputs(l, logits, start[SHARED + 1], c);
}
