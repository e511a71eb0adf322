/* SPDX-License-Identifier: Apache-2.0 */
/* llm_gguf.c - the language model of a Hugging Face folder as a GGUF file has it, so that llama.cpp reads it, too.
 *
 *   model.layers.0.self_attn.q_proj.weight   ─▶   blk.0.attn_q.weight
 *   "hidden_size": 64                        ─▶   llama.embedding_length 64
 *   tokenizer.json                           ─▶   tokenizer.ggml.…
 *
 * Where elements 2i and 2i + 1 of a head rotate together in a GGUF file, those are i and i + n/2 in a folder: the rows of
 * queries and keys change places.  Vectors become f32. */
#include <string.h>

#include "formats/vocabulary.h"
#include "import/llm.h"
#include "ir/diag.h"
#include "ir/layout_quantizer.h"
#include "runtime/math.h"

static bool
is_norm(qn_llm_role role)
{
	return role == QN_LLM_FINAL_NORM || role == QN_LLM_ATTN_NORM || role == QN_LLM_FFN_NORM;
}

/* A vector as f32; those of norms that a folder stores minus 1 as they are. */
static qn_layout_tensor
vector(const qn_llm *l, qn_arena *a, qn_llm_role role, const qn_layout_tensor *t)
{
	float *x = QN_NEW(a, float, (size_t)qn_layout_elements(t));

	qn_layout_dequant(t, x);
	for (int64_t i = 0; i < t->dim[0] && l->arch->norm_plus_1 && is_norm(role); i++)
		x[i] += 1.0f;
	return qn_layout_of_f32(a, t->rank, t->dim, x);
}

/* Rows of heads, row i of each half beside that of the other. */
static qn_layout_tensor
in_pairs(const qn_llm *l, qn_arena *a, const qn_layout_tensor *t)
{
	const int64_t n = l->head_dim, rows = t->dim[0];
	const qn_plane *p = &t->plane[0];
	const size_t bytes = p->bytes / (size_t)rows;
	uint8_t *to = QN_NEW(a, uint8_t, p->bytes);

	for (int64_t r = 0; r < rows; r++) {
		const int64_t i = r % n, from = r - i + i / 2 + i % 2 * (n / 2);

		memcpy(to + (size_t)r * bytes, p->data + (size_t)from * bytes, bytes);
	}
	return qn_layout_plain(p->dtype, t->rank, t->dim, to);
}

static qn_status
refuse(qn_llm *l, const char *name, const char *why)
{
	return qn_report(l->im.m->env, QN_EINVALID, "llm.tensor",
			 qn_archive_at(l->im.m->arena, l->im.file, "tensor", name), "%s", why);
}

static qn_status
put(qn_llm *l, qn_archive_data *out, qn_llm_role role, int64_t block, const char *suffix)
{
	const qn_layout_tensor *t = qn_llm_tensor(l, role, block, suffix);
	const char *name = qn_llm_tensor_name(l, true, role, block, suffix);
	const bool turns = l->arch->pairs && (role == QN_LLM_Q || role == QN_LLM_K);
	const bool bias = suffix[1] == 'b';
	qn_layout_tensor to;

	if (t == NULL)
		return bias && !qn_llm_has_bias(l, role) ? QN_OK
							 : refuse(l, name, "missing tensor");
	to = *t;
	if (qn_layout_is_quantizer(t) || qn_layout_elements(t) < 1)
		return refuse(l, name, "it has no values that a weight can have");
	if (turns && t->dim[0] != (role == QN_LLM_Q ? l->heads : l->kv_heads) * l->head_dim)
		return refuse(l, name,
			      "its rows are not those of the heads that config.json names");
	if (turns && !qn_layout_is_plain(t))
		return refuse(l, name,
			      "the rows of queries and keys have another order in a GGUF file, and "
			      "only those of plain tensors can change it");
	if (t->rank == 1)
		to = vector(l, out->arena, role, t);
	if (turns)
		to = in_pairs(l, out->arena, &to);
	(void)qn_archive_put(out, qn_llm_tensor_name(l, false, role, block, suffix), &to);
	return QN_OK;
}

static qn_status
put_tensors(qn_llm *l, qn_archive_data *out)
{
	static const char *const suffixes[] = {".weight", ".bias"};
	const bool tied = qn_llm_is_tied(l);

	for (int role = 0; role < QN_LLM_NROLE; role++) {
		const int64_t blocks = qn_llm_in_blocks((qn_llm_role)role) ? l->blocks : 1;

		const bool of_heads = role == QN_LLM_Q_NORM || role == QN_LLM_K_NORM;
		if (role == QN_LLM_ROPE_FACTORS || (role == QN_LLM_OUTPUT && tied) ||
		    (of_heads && !l->arch->qk_norm))
			continue;
		for (int64_t b = 0; b < blocks; b++)
			for (size_t k = 0; k < QN_COUNT(suffixes); k++)
				QN_TRY(put(l, out, (qn_llm_role)role, b, suffixes[k]));
	}
	qn_llm_tensors_used(l);
	return l->im.problems > 0 ? QN_EUNSUPPORTED : QN_OK;
}

/* What llama3 divides the frequency of each pair by (llm_rope.c): `low` turns in the original context and fewer are
 * divided by the factor, `high` and more by 1, between them the reciprocals are mixed. */
static void
put_rope_factors(qn_llm *l, qn_archive_data *out)
{
	const double two_pi = 6.283185307179586477;
	const int64_t n = l->rope_dim / 2;
	float *x;

	if (!(l->rope_original > 0))
		return;
	x = QN_NEW(out->arena, float, (size_t)n);
	for (int64_t i = 0; i < n; i++) {
		const double frequency =
			qn_exp(-2.0 * (double)i / (double)l->rope_dim * qn_ln(l->rope_base));
		const double turns = l->rope_original * frequency / two_pi;
		double fast = (turns - l->rope_low) / (l->rope_high - l->rope_low);

		fast = fast < 0 ? 0 : fast > 1 ? 1 : fast;
		x[i] = (float)(1 / ((1 - fast) / l->rope_factor + fast));
	}
	const qn_layout_tensor t = qn_layout_of_f32(out->arena, 1, &n, x);
	(void)qn_archive_put(out, qn_llm_tensor_name(l, false, QN_LLM_ROPE_FACTORS, 0, ".weight"),
			     &t);
}

static void
put_text(qn_archive_data *out, const char *key, const char *s)
{
	const qn_property p = qn_property_of_string(out->arena, key, s, strlen(s));

	qn_archive_set(out, &p);
}

/* Without a vocabulary that Quern knows, the file has none, with a warning. */
static void
put_tokens(const qn_archive_data *d, int64_t vocabulary, qn_archive_data *out)
{
	qn_env *env = out->arena->env;
	const qn_diag_mark mark = qn_diag_mark_now(env);

	if (vocabulary <= QN_MOST_TOKENS && qn_tokens_properties(d, vocabulary, out) == QN_OK)
		return;
	qn_diag_forget(env, mark);
	qn_warn(env, "tokenizer.left-out", d->place,
		"the file gets no vocabulary: that of the folder is missing, of a kind that is "
		"not implemented, or longer than the embeddings (quern tokens FOLDER says more)");
}

/* Another network, as it is. */
static void
copy(const qn_archive_data *d, qn_archive_data *out)
{
	for (size_t i = 0; i < d->nproperty; i++)
		qn_archive_set(out, &d->property[i]);
	for (size_t i = 0; i < d->n; i++)
		(void)qn_archive_put(out, d->tensor[i].name, &d->tensor[i].t);
	qn_warn(out->arena->env, "llm.names", d->place,
		"the file gets the names and properties of the folder: its config.json is not "
		"that of a language model that Quern builds, so llama.cpp may not know them");
}

qn_status
qn_hugging_face_to_gguf(const qn_archive_data *d, qn_archive_data *out)
{
	const qn_import_how how = {0};
	qn_arena *a = out->arena;
	qn_model m = {.env = a->env, .arena = a, .scratch = a};
	qn_llm *l = QN_NEW(a, qn_llm, 1);

	l->hugging_face = l->converts = true;
	l->file = *d;
	l->im = (qn_importer){.m = &m, .scratch = a, .file = d->place, .how = &how};
	l->taken = QN_NEW(a, bool, d->n + 1);
	if (!qn_llm_is_known(l)) {
		copy(d, out);
		return QN_OK;
	}
	QN_TRY(qn_llm_configure(l));
	const char *arch = l->arch->in_gguf != NULL ? l->arch->in_gguf : l->arch->name;
	put_text(out, "general.architecture", arch);
	qn_llm_put_keys(l, arch, out);
	if (l->rope_factor != 1.0 && !(l->rope_original > 0)) {
		qn_buf b;

		qn_buf_init(&b, a);
		qn_buff(&b, "%s.rope.scaling.type", arch);
		put_text(out, qn_buf_str(&b), "linear");
	}
	put_tokens(d, l->vocab, out);
	put_rope_factors(l, out);
	return put_tensors(l, out);
}
