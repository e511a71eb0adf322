/* SPDX-License-Identifier: Apache-2.0 */
/* vocabulary_steps.h - what a tokenizer.json does with a text before and after its merges. */
#ifndef QN_FORMATS_VOCABULARY_STEPS_H
#define QN_FORMATS_VOCABULARY_STEPS_H

#include "formats/json_tree.h"

typedef struct qn_vocabulary_steps {
	const char *
		pre; /* how words are split, as tokenizer.ggml.pre names it; NULL: not byte-level */
	bool prefix; /* a space before a text, and after an added token */
	bool once;   /* only where a text begins */
} qn_vocabulary_steps;

/* Of the parts normalizer, pre_tokenizer and model.  QN_EUNSUPPORTED (tokenizer.model, .pre, .step): another kind of them. */
qn_status qn_vocabulary_read_steps(const qn_json_doc *doc, const qn_json *model,
				   qn_vocabulary_steps *out) QN_MUST_CHECK;
/* The token before a text by the part post_processor; NULL: none. */
qn_status qn_vocabulary_template(const qn_json_doc *doc, const char **begin) QN_MUST_CHECK;

#endif
