/* SPDX-License-Identifier: Apache-2.0 */
/* llm_refused.c - keys that say that the network is another one than those of lib/llama.qir, by which llama.cpp's
 * architectures differ: with other values than these the graph would compute something else.
 *
 *   llama.logit_scale 1        as if it were not there
 *   llama.logit_scale 0.0625   llm.value */
#include <math.h>
#include <string.h>

#include "import/llm.h"
#include "ir/diag.h"

/* ---- before the hyper-parameters are known ---- */

/* Of a folder; what keys may say. */
static const struct {
	const char *key;
	bool gelu; /* for which gate */
	const char *json[3], *why;
} only[] = {
	{"hidden_act", false, {"\"silu\"", "\"swish\""}, "the gate of this architecture is silu"},
	{"hidden_act",
	 true,
	 {"\"gelu\"", "\"gelu_pytorch_tanh\"", "\"gelu_new\""},
	 "the gate of this architecture is gelu with tanh"},
	{"hidden_activation",
	 true,
	 {"\"gelu_pytorch_tanh\""},
	 "the gate of this architecture is gelu with tanh"},
	{"partial_rotary_factor",
	 false,
	 {"1", "1.0"},
	 "only rotations of whole heads are supported"},
	{"partial_rotary_factor",
	 true,
	 {"1", "1.0"},
	 "only rotations of whole heads are supported"},
	{"mlp_bias",
	 false,
	 {"false"},
	 "the feed-forward network of this architecture has no biases"},
};

/* Of a folder; true or false. */
static const char *const truths[] = {"tie_word_embeddings", "use_sliding_window", "attention_bias"};

static qn_status
refuse(const qn_llm *l, qn_status status, const char *key, const char *value, const char *why)
{
	return qn_report(l->im.m->env, status, "llm.value",
			 qn_archive_at(l->im.m->arena, l->im.file, "key", key), "%s%s%s", value,
			 value[0] != '\0' ? " is not supported: " : "", why);
}

qn_status
qn_llm_check_network(const qn_llm *l)
{
	const qn_property *parts = qn_archive_value(&l->file, "split.count");
	uint64_t n = 0;

	if (!l->hugging_face && parts != NULL && qn_property_u64(parts, &n) && n > 1)
		return refuse(l, QN_EINVALID, "split.count", "",
			      "the file is a part of a model; join the parts to one file first "
			      "(gguf-split --merge of llama.cpp)");
	for (size_t i = 0; l->hugging_face && i < QN_COUNT(only); i++) {
		const qn_property *p = qn_archive_value(&l->file, only[i].key);
		const char *json = p != NULL ? qn_property_json(l->im.scratch, p) : "null";
		bool known = strcmp(json, "null") == 0 || only[i].gelu != l->arch->gelu;

		for (size_t k = 0; k < QN_COUNT(only[i].json) && only[i].json[k] != NULL; k++)
			known = known || strcmp(json, only[i].json[k]) == 0;
		if (!known)
			return refuse(l, QN_EINVALID, only[i].key, json, only[i].why);
	}
	for (size_t i = 0; l->hugging_face && i < QN_COUNT(truths); i++) {
		const qn_property *p = qn_archive_value(&l->file, truths[i]);

		if (p != NULL && !qn_property_is_null(p) && (p->array || p->type != QN_VALUE_BOOL))
			return refuse(l, QN_EINVALID, truths[i], qn_property_json(l->im.scratch, p),
				      "it is neither true nor false");
	}
	return QN_OK;
}

/* ---- afterwards ---- */

/* Stands for 1 / sqrt(head_dim). */
#define USUAL_SCALE (-2.0)

/* Of a GGUF file, after "ARCH."; the two values that change nothing. */
static const struct {
	const char *key;
	double same[2];
	const char *why;
} rows[] = {
	{"expert_count", {0, 0}, "the network is a mixture of experts"},
	{"attention.causal", {1, 1}, "tokens would see later ones, too"},
	{"attention.scale",
	 {0, USUAL_SCALE},
	 "scores are multiplied by 1 / sqrt(length of a head)"},
	{"attention.clamp_kqv", {0, 0}, "queries, keys and values would be limited"},
	{"attention.max_alibi_bias", {0, 0}, "scores would get biases by distance (ALiBi)"},
	{"attention.temperature_scale", {0, 0}, "scores would get a factor by position"},
	{"attn_logit_softcapping", {0, 0}, "scores would get a soft limit"},
	{"final_logit_softcapping", {0, 0}, "logits would get a soft limit"},
	{"embedding_scale", {0, 1}, "embeddings would get a factor"},
	{"residual_scale", {0, 1}, "results of blocks would get a factor"},
	{"logit_scale", {0, 1}, "logits would get a factor"},
	{"use_parallel_residual",
	 {0, 0},
	 "attention and feed-forward network would be side by side"},
	{"rope.scaling.attn_factor", {1, 1}, "cosines and sines of rotations would get a factor"},
	{"rope.scaling.yarn_attn_factor",
	 {1, 1},
	 "cosines and sines of rotations would get a factor"},
	{"rope.scaling.yarn_ext_factor", {0, -1}, "angles would be scaled by YaRN"},
	{"rope.scaling.yarn_log_multiplier", {0, 0}, "angles would be scaled by YaRN"},
};

/* A number, or a truth as 0 or 1. */
static bool
number_of(const qn_property *p, double *v)
{
	uint64_t truth;

	if (qn_property_f64(p, v))
		return true;
	if (p->type != QN_VALUE_BOOL || !qn_property_u64(p, &truth))
		return false;
	*v = (double)truth;
	return true;
}

static bool
is_same(const qn_llm *l, double v, double same)
{
	if (same == USUAL_SCALE)
		same = 1 / sqrt((double)l->head_dim);
	return fabs(v - same) <= 1e-6 * fabs(same);
}

qn_status
qn_llm_check_keys(const qn_llm *l)
{
	qn_status status = QN_OK;

	for (size_t i = 0; !l->hugging_face && i < QN_COUNT(rows); i++) {
		const qn_property *p;
		double v = 0;
		qn_buf key;

		qn_buf_init(&key, l->im.scratch);
		qn_buff(&key, "%s.%s", l->arch->name, rows[i].key);
		p = qn_archive_value(&l->file, qn_buf_str(&key));
		if (p == NULL || (number_of(p, &v) && (is_same(l, v, rows[i].same[0]) ||
						       is_same(l, v, rows[i].same[1]))))
			continue;
		status = refuse(l, QN_EUNSUPPORTED, qn_buf_str(&key),
				qn_property_json(l->im.scratch, p), rows[i].why);
	}
	return status;
}
