/* SPDX-License-Identifier: Apache-2.0 */
/* llm_weights.c - the tensors of a language model as float values of its graph.
 *
 *   f32                    const
 *   f16, bf16              const ─ cast
 *   f8                     const, f32
 *   q8_0, q4_1, q4_K …     const, in blocks ─ dequantize        the integers as they are stored */
#include <string.h>

#include "import/llm.h"
#include "ir/diag.h"
#include "ir/layout_quantizer.h"

/* Names of tensors, without ".weight"; '%' stands for the number of the block. */
static const struct {
	const char *gguf, *hugging_face;
} names[QN_LLM_NROLE] = {
	[QN_LLM_EMBEDDING] = {"token_embd", "model.embed_tokens"},
	[QN_LLM_FINAL_NORM] = {"output_norm", "model.norm"},
	[QN_LLM_OUTPUT] = {"output", "lm_head"},
	[QN_LLM_ATTN_NORM] = {"blk.%.attn_norm", "model.layers.%.input_layernorm"},
	[QN_LLM_Q] = {"blk.%.attn_q", "model.layers.%.self_attn.q_proj"},
	[QN_LLM_K] = {"blk.%.attn_k", "model.layers.%.self_attn.k_proj"},
	[QN_LLM_V] = {"blk.%.attn_v", "model.layers.%.self_attn.v_proj"},
	[QN_LLM_Q_NORM] = {"blk.%.attn_q_norm", "model.layers.%.self_attn.q_norm"},
	[QN_LLM_K_NORM] = {"blk.%.attn_k_norm", "model.layers.%.self_attn.k_norm"},
	[QN_LLM_ATTN_OUTPUT] = {"blk.%.attn_output", "model.layers.%.self_attn.o_proj"},
	[QN_LLM_FFN_NORM] = {"blk.%.ffn_norm", "model.layers.%.post_attention_layernorm"},
	[QN_LLM_GATE] = {"blk.%.ffn_gate", "model.layers.%.mlp.gate_proj"},
	[QN_LLM_UP] = {"blk.%.ffn_up", "model.layers.%.mlp.up_proj"},
	[QN_LLM_DOWN] = {"blk.%.ffn_down", "model.layers.%.mlp.down_proj"},
	[QN_LLM_ROPE_FACTORS] = {"rope_freqs", NULL},
};

static const char *
named(qn_llm *l, const char *pattern, int64_t block, const char *suffix)
{
	const char *at = strchr(pattern, '%');
	qn_buf b;

	qn_buf_init(&b, l->im.m->arena);
	if (at == NULL)
		qn_buff(&b, "%s%s", pattern, suffix);
	else
		qn_buff(&b, "%.*s%lld%s%s", (int)(at - pattern), pattern, (long long)block, at + 1,
			suffix);
	return qn_buf_str(&b);
}

static const qn_named_tensor *
find(qn_llm *l, qn_llm_role role, int64_t block, const char *suffix, const char **name)
{
	*name = qn_llm_tensor_name(l, l->hugging_face, role, block, suffix);
	const qn_named_tensor *t = *name != NULL ? qn_archive_named(&l->file, *name) : NULL;
	if (t != NULL)
		l->taken[t - l->file.tensor] = true;
	return t;
}

const char *
qn_llm_tensor_name(qn_llm *l, bool hugging_face, qn_llm_role role, int64_t block,
		   const char *suffix)
{
	const char *pattern = hugging_face ? names[role].hugging_face : names[role].gguf;

	return pattern != NULL ? named(l, pattern, block, suffix) : NULL;
}

const qn_layout_tensor *
qn_llm_tensor(qn_llm *l, qn_llm_role role, int64_t block, const char *suffix)
{
	const char *name;
	const qn_named_tensor *t = find(l, role, block, suffix, &name);

	return t != NULL ? &t->t : NULL;
}

bool
qn_llm_in_blocks(qn_llm_role role)
{
	return strchr(names[role].gguf, '%') != NULL;
}

bool
qn_llm_has(qn_llm *l, qn_llm_role role, int64_t block, const char *suffix)
{
	const char *name;

	return find(l, role, block, suffix, &name) != NULL;
}

static qn_id
wrong(qn_llm *l, const char *name, const char *why)
{
	(void)qn_report(l->im.m->env, QN_EINVALID, "llm.tensor",
			qn_archive_at(l->im.m->arena, l->im.file, "tensor", name), "%s", why);
	qn_importer_failed(&l->im, QN_EINVALID);
	return 0;
}

static const char *
dims_text(qn_llm *l, int32_t rank, const int64_t *dim)
{
	qn_buf b;

	qn_buf_init(&b, l->im.scratch);
	for (int32_t i = 0; i < rank; i++)
		qn_buff(&b, "%s%lld", i > 0 ? ", " : "[", (long long)dim[i]);
	qn_buf_puts(&b, rank > 0 ? "]" : "[]");
	return qn_buf_str(&b);
}

/* The tensor, if it has these dims; NULL after a report. */
static const qn_layout_tensor *
checked(qn_llm *l, qn_llm_role role, int64_t block, const char *suffix, int32_t rank,
	const int64_t *dim, const char **name)
{
	const qn_named_tensor *t = find(l, role, block, suffix, name);
	qn_buf b;

	if (t == NULL) {
		(void)wrong(l, *name, "missing tensor");
		return NULL;
	}
	if (t->t.rank == rank && memcmp(t->t.dim, dim, (size_t)rank * sizeof *dim) == 0)
		return &t->t;
	qn_buf_init(&b, l->im.scratch);
	qn_buff(&b, "its shape is %s, the hyper-parameters of the file say %s",
		dims_text(l, t->t.rank, t->t.dim), dims_text(l, rank, dim));
	(void)wrong(l, *name, qn_buf_str(&b));
	return NULL;
}

static const char *
values_name(qn_llm *l, const char *name)
{
	qn_buf b;

	qn_buf_init(&b, l->im.m->arena);
	qn_buff(&b, "%s.values", name);
	return qn_buf_str(&b);
}

/* All tensors of a file often have such a type: the first is reported. */
static qn_id
unreadable(qn_llm *l, const char *name, const qn_layout_tensor *t)
{
	if (l->im.problems == 0)
		qn_importer_failed(&l->im,
				   qn_layout_readable(l->im.m->env,
						      qn_archive_at(l->im.m->arena, l->im.file,
								    "tensor", name),
						      t));
	return 0;
}

/* The tensor as a float value of the graph. */
static qn_id
value_of(qn_llm *l, const char *name, const qn_layout_tensor *t)
{
	qn_importer *im = &l->im;
	const qn_tensor *x = NULL;

	if (qn_layout_opaque_type(t) >= 0)
		return unreadable(l, name, t);
	if (!qn_layout_is_constant(t) || (im->how->from_float && !qn_layout_is_plain(t))) {
		if (qn_layout_is_quantizer(t))
			return wrong(l, name, "it has no values that a weight can have");
		if (!qn_importer_take(im, (uint64_t)qn_layout_elements(t) * sizeof(float)))
			return 0;
		return qn_importer_const(im, name,
					 qn_layout_values(&im->m->types, im->m->arena, t));
	}
	if (qn_layout_constant(&im->m->types, im->m->arena,
			       qn_archive_at(im->m->arena, im->file, "tensor", name), t,
			       &x) != QN_OK) {
		qn_importer_failed(im, QN_EINVALID);
		return 0;
	}
	const qn_elem *elem = x->type->elem;
	if (!qn_elem_is_quant(elem) && !qn_elem_is_float(elem))
		return wrong(l, name, "its elements are integers without a scale");
	const qn_id id = qn_importer_const(im, name, x);
	if (qn_type_is_f32(x->type) || id == 0)
		return id;
	qn_importer_at(im, values_name(l, name), "", 0);
	const qn_type *f32 = qn_type_plain(&im->m->types, QN_PLAIN_f32, t->rank, t->dim);
	return qn_importer_op_unfolded(im, qn_elem_is_quant(elem) ? QN_OP_dequantize : QN_OP_cast,
				       1, &id, NULL, f32);
}

qn_id
qn_llm_matrix(qn_llm *l, qn_llm_role role, int64_t block, int64_t rows, int64_t columns)
{
	const int64_t dim[] = {rows, columns};
	const char *name;
	const qn_layout_tensor *t = checked(l, role, block, ".weight", 2, dim, &name);

	return t != NULL ? value_of(l, name, t) : 0;
}

qn_id
qn_llm_vector(qn_llm *l, qn_llm_role role, int64_t block, const char *suffix, int64_t n)
{
	const char *name;
	const qn_layout_tensor *t = checked(l, role, block, suffix, 1, &n, &name);

	return t != NULL ? value_of(l, name, t) : 0;
}

void
qn_llm_tensors_used(qn_llm *l)
{
	static const char inverse[] = ".rotary_emb.inv_freq"; /* follows from the base */

	for (size_t i = 0; i < l->file.n && l->im.problems == 0; i++) {
		const char *name = l->file.tensor[i].name;
		const size_t n = strlen(name), k = sizeof inverse - 1;

		if (l->taken[i] || (n >= k && strcmp(name + n - k, inverse) == 0))
			continue;
		(void)qn_report(l->im.m->env, QN_EUNSUPPORTED, "llm.unused",
				qn_archive_at(l->im.m->arena, l->im.file, "tensor", name),
				"a network of architecture %s as Quern builds it does not have "
				"this tensor",
				l->arch->name);
		qn_importer_failed(&l->im, QN_EUNSUPPORTED);
	}
}
