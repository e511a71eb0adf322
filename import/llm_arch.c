/* SPDX-License-Identifier: Apache-2.0 */
/* llm_arch.c - the architectures whose network Quern builds, and that of a file.
 *
 *   GGUF            general.architecture "qwen3"
 *   Hugging Face    model_type "qwen3" */
#include <string.h>

#include "import/llm.h"
#include "ir/diag.h"

static const qn_llm_arch archs[] = {
	{.name = "llama", .pairs = true},
	{.name = "mistral", .in_gguf = "llama", .pairs = true},
	{.name = "qwen2", .qkv_bias = true, .window_off = true},
	{.name = "qwen3", .qk_norm = true, .window_off = true},
	{.name = "gemma", .gelu = true, .scaled = true, .norm_plus_1 = true},
};

static const char *
arch_key(const qn_llm *l)
{
	return l->hugging_face ? "model_type" : "general.architecture";
}

bool
qn_llm_is_known(qn_llm *l)
{
	const qn_property *p = qn_archive_value(&l->file, arch_key(l));
	const char *s = NULL;
	size_t n = 0;

	if (p == NULL || !qn_property_string(p, &s, &n))
		return false;
	for (size_t i = 0; i < QN_COUNT(archs) && l->arch == NULL; i++)
		if (strlen(archs[i].name) == n && memcmp(archs[i].name, s, n) == 0)
			l->arch = &archs[i];
	return l->arch != NULL;
}

qn_status
qn_llm_take_arch(qn_llm *l)
{
	const qn_property *p = qn_archive_value(&l->file, arch_key(l));
	qn_buf b;

	if (qn_llm_is_known(l))
		return QN_OK;
	if (p == NULL || p->array || p->type != QN_VALUE_STRING)
		return qn_report(l->im.m->env, QN_EINVALID, "llm.key",
				 qn_archive_at(l->im.m->arena, l->im.file, "key", arch_key(l)),
				 "missing key: the file does not say which network its tensors are "
				 "of; quern tensors lists them");
	qn_buf_init(&b, l->im.scratch);
	for (size_t i = 0; i < QN_COUNT(archs); i++)
		qn_buff(&b, "%s%s", i > 0 ? ", " : "", archs[i].name);
	return qn_report(l->im.m->env, QN_EUNSUPPORTED, "llm.architecture", l->im.file,
			 "unsupported architecture %s (supported: %s); quern tensors and quern "
			 "convert read its tensors",
			 qn_property_json(l->im.scratch, p), qn_buf_str(&b));
}
