/* SPDX-License-Identifier: Apache-2.0 */
/* llm_config.c - hyper-parameters of a language model, from the properties of its file.
 *
 *   GGUF            general.architecture "llama"     llama.attention.head_count 8
 *   Hugging Face    model_type "llama"               num_attention_heads 8
 *
 * A number that contradicts another, or the tensors, is an error: a graph of it would compute something else. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "import/llm.h"
#include "ir/diag.h"

typedef struct key_row {
	const char *gguf, *hugging_face; /* NULL: such files have no such key */
	size_t offset;                   /* of the member of qn_llm */
	int64_t most;                    /* 0: a float above 0 */
	unsigned rules;
} key_row;

enum {
	REQUIRED = 1,
	EACH_BLOCK = 2,    /* may be a list of one number for each block */
	MAY_BE_0 = 4,      /* 0: as if it were missing */
	REQUIRED_GGUF = 8, /* Hugging Face's configurations have a default */
	OLDER = 16         /* of older files, with the same meaning as another one */
};

#define MEMBER(name) offsetof(qn_llm, name)
#define MOST INT32_MAX

static const key_row keys[] = {
	{"block_count", "num_hidden_layers", MEMBER(blocks), MOST, REQUIRED},
	{"embedding_length", "hidden_size", MEMBER(width), MOST, REQUIRED},
	{"feed_forward_length", "intermediate_size", MEMBER(hidden), MOST, REQUIRED | EACH_BLOCK},
	{"attention.head_count", "num_attention_heads", MEMBER(heads), MOST, REQUIRED | EACH_BLOCK},
	{"attention.head_count_kv", "num_key_value_heads", MEMBER(kv_heads), MOST, EACH_BLOCK},
	{"attention.key_length", "head_dim", MEMBER(head_dim), MOST, 0},
	{"attention.value_length", NULL, MEMBER(value_dim), MOST, 0},
	{"rope.dimension_count", NULL, MEMBER(rope_dim), MOST, 0},
	{"context_length", "max_position_embeddings", MEMBER(trained), MOST, 0},
	{"vocab_size", "vocab_size", MEMBER(vocab), MOST, 0},
	{"attention.sliding_window", "sliding_window", MEMBER(window), MOST, MAY_BE_0},
	{"rope.freq_base", "rope_theta", MEMBER(rope_base), 0, 0},
	{"rope.scale_linear", NULL, MEMBER(rope_factor), 0, MAY_BE_0 | OLDER},
	{"rope.scaling.factor", NULL, MEMBER(rope_factor), 0, MAY_BE_0},
	{"attention.layer_norm_rms_epsilon", "rms_norm_eps", MEMBER(epsilon), 0, REQUIRED_GGUF},
};

static const char *
text(qn_llm *l, const char *fmt, const char *a, const char *b)
{
	qn_buf buf;

	qn_buf_init(&buf, l->im.scratch);
	qn_buff(&buf, fmt, a, b);
	return qn_buf_str(&buf);
}

/* The key as this file writes it; NULL: it has none. */
static const char *
key_of(qn_llm *l, const char *gguf, const char *hugging_face)
{
	return l->hugging_face ? hugging_face : text(l, "%s.%s", l->arch->name, gguf);
}

static qn_status
refuse(qn_llm *l, const char *id, const char *key, const char *why)
{
	return qn_report(l->im.m->env, QN_EINVALID, id,
			 qn_archive_at(l->im.m->arena, l->im.file, "key", key), "%s", why);
}

/* A list of one number for each block, if these are the same: that number in *one. */
static qn_status
take_list(qn_llm *l, const key_row *row, const char *key, const qn_property *p, qn_property *one)
{
	qn_buf b;

	if ((row->rules & EACH_BLOCK) == 0 || qn_value_bytes(p->type) == 0)
		return refuse(l, "llm.value", key, "a list, where one number belongs");
	if (p->n != (uint64_t)l->blocks) {
		qn_buf_init(&b, l->im.scratch);
		qn_buff(&b, "a list of %llu numbers for %lld blocks", (unsigned long long)p->n,
			(long long)l->blocks);
		return refuse(l, "llm.value", key, qn_buf_str(&b));
	}
	*one = qn_property_element(p, 0);
	for (uint64_t i = 1; i < p->n; i++) {
		const qn_property other = qn_property_element(p, i);

		if (memcmp(other.data, one->data, one->bytes) == 0)
			continue;
		qn_buf_init(&b, l->im.scratch);
		qn_buff(&b,
			"block 0 has %s, block %llu has %s: blocks that differ are not supported",
			qn_property_json(l->im.scratch, one), (unsigned long long)i,
			qn_property_json(l->im.scratch, &other));
		return refuse(l, "llm.value", key, qn_buf_str(&b));
	}
	return QN_OK;
}

static qn_status
take_real(qn_llm *l, const key_row *row, const char *key, const qn_property *p, double *to)
{
	const bool may_be_0 = (row->rules & MAY_BE_0) != 0;
	double v = 0;

	if (!qn_property_f64(p, &v) || !(v > 0 || (may_be_0 && v == 0)) || !isfinite(v))
		return refuse(l, "llm.value", key,
			      text(l, "%s is not a number %s", qn_property_json(l->im.scratch, p),
				   may_be_0 ? "from 0" : "above 0"));
	*to = v;
	return QN_OK;
}

static qn_status
take_key(qn_llm *l, const key_row *row)
{
	const char *key = key_of(l, row->gguf, row->hugging_face);
	const qn_property *p = key != NULL ? qn_archive_value(&l->file, key) : NULL;
	void *to = (char *)l + row->offset;
	qn_property one;
	uint64_t n = 0;

	if (p != NULL && qn_property_is_null(p))
		p = NULL;
	if (p == NULL)
		return (row->rules & (l->hugging_face ? REQUIRED : REQUIRED | REQUIRED_GGUF)) != 0
			       ? refuse(l, "llm.key", key, "missing key")
			       : QN_OK;
	if (p->array) {
		QN_TRY(take_list(l, row, key, p, &one));
		p = &one;
	}
	if (row->most == 0)
		return take_real(l, row, key, p, to);
	const bool may_be_0 = (row->rules & MAY_BE_0) != 0;
	if (!qn_property_u64(p, &n) || (n == 0 && !may_be_0) || n > (uint64_t)row->most)
		return refuse(l, "llm.value", key,
			      text(l, "%s is not an integer from %s to 2147483647",
				   qn_property_json(l->im.scratch, p), may_be_0 ? "0" : "1"));
	*(int64_t *)to = (int64_t)n;
	return QN_OK;
}

static void
set_defaults(qn_llm *l)
{
	if (l->kv_heads == 0)
		l->kv_heads = l->heads;
	if (l->head_dim == 0)
		l->head_dim = l->width / l->heads;
	if (l->value_dim == 0)
		l->value_dim = l->head_dim;
	if (l->rope_dim == 0)
		l->rope_dim = l->head_dim;
	if (l->rope_base == 0)
		l->rope_base = 10000.0;
	if (l->rope_factor == 0)
		l->rope_factor = 1.0;
	if (l->epsilon == 0)
		l->epsilon = 1e-6;
}

/* What a key of config.json says that is true or false (qn_llm_check_network). */
static bool
says(const qn_llm *l, const char *key, bool otherwise)
{
	const qn_property *p = l->hugging_face ? qn_archive_value(&l->file, key) : NULL;
	uint64_t truth = otherwise;

	if (p != NULL)
		(void)qn_property_u64(p, &truth);
	return truth != 0;
}

/* A folder of Hugging Face may have a window that it does not use. */
static bool
uses_window(const qn_llm *l)
{
	return says(l, "use_sliding_window", !(l->hugging_face && l->arch->window_off));
}

bool
qn_llm_has_bias(const qn_llm *l, qn_llm_role role)
{
	const bool qkv = role == QN_LLM_Q || role == QN_LLM_K || role == QN_LLM_V;

	return (l->arch->qkv_bias && qkv) ||
	       ((qkv || role == QN_LLM_ATTN_OUTPUT) && says(l, "attention_bias", false));
}

bool
qn_llm_rotates_pairs(const qn_llm *l)
{
	return l->arch->pairs && !l->hugging_face;
}

bool
qn_llm_is_tied(qn_llm *l)
{
	return says(l, "tie_word_embeddings", !qn_llm_has(l, QN_LLM_OUTPUT, 0, ".weight"));
}

/* What two keys say together. */
static qn_status
check(qn_llm *l)
{
	const char *head = key_of(l, "attention.key_length", "head_dim");
	const bool has_head = qn_archive_value(&l->file, head) != NULL;
	const bool head_is_odd = l->head_dim == 0 || l->head_dim % 2 != 0;
	qn_buf window;

	qn_buf_init(&window, l->im.scratch);
	qn_buff(&window,
		"attention to the last %lld tokens alone is not supported; a cache of at most so "
		"many (--context %lld) computes the same",
		(long long)l->window, (long long)l->window);
	const struct {
		bool wrong;
		const char *gguf, *hugging_face, *why;
	} rules[] = {
		{(uint64_t)l->blocks > l->file.n, "block_count", "num_hidden_layers",
		 "there are more blocks than the file has tensors"},
		{head_is_odd && !has_head, "attention.head_count", "num_attention_heads",
		 "the length of a head, which is that of an embedding over the number of heads, "
		 "is not even and above 0, so its elements cannot rotate in pairs"},
		{head_is_odd, "attention.key_length", "head_dim",
		 "the length of a head is not even and above 0, so its elements cannot rotate in "
		 "pairs"},
		{l->heads % l->kv_heads != 0, "attention.head_count_kv", "num_key_value_heads",
		 "it does not divide the number of heads"},
		{l->value_dim != l->head_dim, "attention.value_length", "head_dim",
		 "values of another length than keys are not supported"},
		{l->window > 0 && l->window < l->context && uses_window(l) && !l->converts,
		 "attention.sliding_window", "sliding_window", qn_buf_str(&window)},
		{l->rope_dim > l->head_dim || l->rope_dim % 2 != 0 ||
			 (!qn_llm_rotates_pairs(l) && l->rope_dim != l->head_dim),
		 "rope.dimension_count", "head_dim",
		 qn_llm_rotates_pairs(l)
			 ? "it is not an even number up to the length of a head"
			 : "only rotations of whole heads are supported for this architecture"},
	};

	for (size_t i = 0; i < QN_COUNT(rules); i++)
		if (rules[i].wrong)
			return refuse(l, "llm.value",
				      key_of(l, rules[i].gguf, rules[i].hugging_face),
				      rules[i].why);
	return QN_OK;
}

/* The tokens of the file's own vocabulary have rows of the table. */
static qn_status
check_tokens(qn_llm *l, const char *name, int64_t rows)
{
	const qn_property *p = qn_archive_value(&l->file, "tokenizer.ggml.tokens");

	if (l->hugging_face || p == NULL || !p->array || p->n <= (uint64_t)rows)
		return QN_OK;
	return qn_report(l->im.m->env, QN_EINVALID, "llm.tensor",
			 qn_archive_at(l->im.m->arena, l->im.file, "tensor", name),
			 "it has embeddings of %lld tokens, the vocabulary of the file "
			 "(tokenizer.ggml.tokens) has %llu",
			 (long long)rows, (unsigned long long)p->n);
}

/* The vocabulary is as long as the table of embeddings. */
static qn_status
take_vocabulary(qn_llm *l)
{
	const char *name = l->hugging_face ? "model.embed_tokens.weight" : "token_embd.weight";
	const qn_named_tensor *t = qn_archive_named(&l->file, name);

	if (t == NULL || t->t.rank != 2)
		return QN_OK; /* reported where it is read */
	if (l->vocab == 0)
		l->vocab = t->t.dim[0];
	if (t->t.dim[0] > 0)
		return check_tokens(l, name, t->t.dim[0]);
	return qn_report(l->im.m->env, QN_EINVALID, "llm.tensor",
			 qn_archive_at(l->im.m->arena, l->im.file, "tensor", name),
			 "the vocabulary is empty: the model has no embeddings");
}

/* The cache's tokens: as the caller says, else a default within what the model was trained for. */
static void
take_context(qn_llm *l)
{
	const int64_t wanted = l->im.how->context;

	l->context = wanted > 0 ? wanted : QN_LLM_CONTEXT;
	if (l->trained == 0 || l->context <= l->trained)
		return;
	if (wanted == 0)
		l->context = l->trained;
	else
		qn_warn(l->im.m->env, "llm.context", l->im.file,
			"a context of %lld tokens is longer than the %lld that the model was made "
			"for",
			(long long)wanted, (long long)l->trained);
}

/* Whether a file that says nothing of the key means the same. */
static bool
goes_without(const qn_llm *l, const key_row *row)
{
	if (row->offset == MEMBER(window))
		return !uses_window(l);
	if (row->offset == MEMBER(rope_factor)) /* llama3's: a tensor */
		return l->rope_factor == 1.0 || l->rope_original > 0 || (row->rules & OLDER) != 0;
	return false;
}

void
qn_llm_put_keys(const qn_llm *l, const char *arch, qn_archive_data *to)
{
	for (size_t i = 0; i < QN_COUNT(keys); i++) {
		const void *at = (const char *)l + keys[i].offset;
		const bool real = keys[i].most == 0;
		const float f = real ? (float)*(const double *)at : 0;
		uint32_t bits = real ? 0 : (uint32_t) * (const int64_t *)at;
		qn_buf b;

		if (real)
			memcpy(&bits, &f, sizeof bits);
		if (bits == 0 || goes_without(l, &keys[i]))
			continue;
		qn_buf_init(&b, to->arena);
		qn_buff(&b, "%s.%s", arch, keys[i].gguf);
		const qn_property p = qn_property_of_bits(to->arena, qn_buf_str(&b),
							  real ? QN_VALUE_F32 : QN_VALUE_U32, bits);
		qn_archive_set(to, &p);
	}
}

qn_status
qn_llm_configure(qn_llm *l)
{
	qn_status status = QN_OK;

	QN_TRY(qn_llm_take_arch(l));
	QN_TRY(qn_llm_check_network(l));
	for (size_t i = 0; i < QN_COUNT(keys); i++) {
		const qn_status s = take_key(l, &keys[i]);

		status = status == QN_OK ? s : status;
	}
	QN_TRY(status);
	QN_TRY(qn_llm_take_scaling(l, key_of(l, "rope.scaling.type", "")));
	set_defaults(l);
	QN_TRY(qn_llm_check_keys(l));
	QN_TRY(take_vocabulary(l));
	take_context(l);
	return check(l);
}
