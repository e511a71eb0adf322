/* SPDX-License-Identifier: Apache-2.0 */
/* llm_rope.c - how a language model scales the angles of its rotary embeddings, for longer contexts than it was first
 * trained with.
 *
 *   linear    every angle is divided by factor
 *   llama3    slow ones are; a turn within original / high positions stays, between both it is mixed (lib/llama.qir)
 *
 *   GGUF            llama.rope.scaling.type "linear", …factor 2       rope_freqs.weight: of each pair, as llama3 has it
 *                   without a type linear; in older files llama.rope.scale_linear 2
 *   Hugging Face    "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, …} */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "import/llm.h"
#include "ir/diag.h"

static const char *
place(const qn_llm *l, const char *key)
{
	return qn_archive_at(l->im.m->arena, l->im.file, "key", key);
}

static qn_status
refuse(const qn_llm *l, const char *key, const char *what)
{
	return qn_report(l->im.m->env, QN_EUNSUPPORTED, "llm.scaling", place(l, key),
			 "rotary embeddings scaled by %s (supported: none, linear, and llama3 in "
			 "a Hugging Face folder)",
			 what);
}

/* A number above 0; `to` stays when it is missing and may be. */
static qn_status
take_number(const qn_llm *l, const char *key, const qn_json *object, const char *name,
	    bool required, double *to)
{
	const qn_json *v = qn_json_find(object, name);
	double x = 0;

	if (v == NULL && !required)
		return QN_OK;
	if (v == NULL || !qn_json_f64(v, &x) || !(x > 0) || !isfinite(x))
		return qn_report(l->im.m->env, QN_EINVALID, "llm.value", place(l, key),
				 "'%s' is %s, not a number above 0", name,
				 v == NULL ? "missing" : qn_json_describe(l->im.scratch, v));
	*to = x;
	return QN_OK;
}

/* "rope_scaling", or "rope_parameters" of newer files, which has the base, too. */
static qn_status
take_object(qn_llm *l, const char *key, const qn_property *p)
{
	qn_json_doc doc;

	if (p->type != QN_VALUE_JSON || p->bytes == 0 || p->data[0] != '{')
		return qn_report(l->im.m->env, QN_EINVALID, "llm.value", place(l, key),
				 "%s is not an object, such as {\"rope_type\": \"linear\", "
				 "\"factor\": 2}, nor null",
				 qn_property_json(l->im.scratch, p));
	QN_TRY(qn_json_tree(l->im.scratch, l->im.file, (const char *)p->data, p->bytes, NULL,
			    &doc));
	const qn_json *type = qn_json_find(doc.root, "rope_type");
	if (type == NULL)
		type = qn_json_find(doc.root, "type");
	const char *name = type != NULL && type->kind == QN_JSON_STRING ? type->string : "";
	QN_TRY(take_number(l, key, doc.root, "rope_theta", false, &l->rope_base));
	const bool base_alone = doc.root->n == (qn_json_find(doc.root, "rope_theta") != NULL);
	if (base_alone || strcmp(name, "default") == 0)
		return QN_OK;
	const bool llama3 = strcmp(name, "llama3") == 0;
	if (!llama3 && strcmp(name, "linear") != 0)
		return refuse(l, key, qn_property_json(l->im.scratch, p));
	QN_TRY(take_number(l, key, doc.root, "factor", true, &l->rope_factor));
	if (!llama3)
		return QN_OK;
	QN_TRY(take_number(l, key, doc.root, "low_freq_factor", true, &l->rope_low));
	QN_TRY(take_number(l, key, doc.root, "high_freq_factor", true, &l->rope_high));
	QN_TRY(take_number(l, key, doc.root, "original_max_position_embeddings", true,
			   &l->rope_original));
	if (l->rope_low < l->rope_high)
		return QN_OK;
	return qn_report(l->im.m->env, QN_EINVALID, "llm.value", place(l, key),
			 "low_freq_factor %g is not below high_freq_factor %g", l->rope_low,
			 l->rope_high);
}

static bool
is_word(const qn_property *p, const char *word)
{
	const char *s = NULL;
	size_t n = 0;

	return qn_property_string(p, &s, &n) && n == strlen(word) && memcmp(s, word, n) == 0;
}

qn_status
qn_llm_take_scaling(qn_llm *l, const char *gguf)
{
	static const char *const objects[] = {"rope_scaling", "rope_parameters"};
	const qn_property *p = qn_archive_value(&l->file, gguf);

	for (size_t i = 0; l->hugging_face && i < QN_COUNT(objects); i++) {
		p = qn_archive_value(&l->file, objects[i]);
		if (p != NULL && !qn_property_is_null(p))
			QN_TRY(take_object(l, objects[i], p));
	}
	if (l->hugging_face || p == NULL || is_word(p, "linear")) /* a factor alone is linear */
		return QN_OK;
	if (!is_word(p, "none"))
		return refuse(l, gguf, qn_property_json(l->im.scratch, p));
	l->rope_factor = 1.0;
	return QN_OK;
}
