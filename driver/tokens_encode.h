/* SPDX-License-Identifier: Apache-2.0 */
/* tokens_encode.h - text as tokens on the host, where long texts are common. */
#ifndef QN_DRIVER_TOKENS_ENCODE_H
#define QN_DRIVER_TOKENS_ENCODE_H

#include "codegen/emit_tokens.h"

/* What qn_encode computes (runtime/kernels/tokens.h), in about n log n steps also where the text has no words; it takes
 * some 60 bytes for each byte of the longest part. */
int32_t qn_tokens_of_text(const qn_vocabulary *v, const char *text, int32_t n, int32_t *token,
			  qn_arena *scratch);
/* What qn_bpe_encode computes (runtime/kernels/tokens_bpe.h), likewise. */
int32_t qn_tokens_of_bytes(const qn_bpe *v, const char *text, int32_t n, int32_t *token,
			   qn_arena *scratch);

#endif
