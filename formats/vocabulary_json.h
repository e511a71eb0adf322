/* SPDX-License-Identifier: Apache-2.0 */
/* vocabulary_json.h - the tokenizer.json of a folder of Hugging Face as the properties that a GGUF file has. */
#ifndef QN_FORMATS_VOCABULARY_JSON_H
#define QN_FORMATS_VOCABULARY_JSON_H

#include "formats/archive.h"

/* Sets the properties tokenizer.ggml.… of out from the text of a file, and from config.json, whose properties d has: a
 * vocabulary of the kind "gpt2" for byte-level BPE, of "llama" for BPE with byte fallback.  They live as long as out.  least: tokens of
 * the network, which the list is filled up to; 0: as many as there are.  Ids: tokenizer.json, .model, .pre, .step, .size. */
qn_status qn_vocabulary_json(const qn_archive_data *d, const char *file, const char *text, size_t n,
			     int64_t least, qn_archive_data *out) QN_MUST_CHECK;

#endif
