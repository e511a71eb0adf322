/* SPDX-License-Identifier: MIT-0 */
/*
 * story.c - a language model tells a story: one token after the other, in integers.
 *
 *   prompt ─ story_encode ─▶ token ─ story_step ─▶ logits ─ story_sample ─▶ token ─ story_decode ─▶ text
 *                              ▲                                              │
 *                              └──────────────────────────────────────────────┘
 *
 * The state holds the keys and values of all tokens so far; nothing is allocated.
 */
#include "story.h"

#include "llm.h"
#include "llm_sample.h"
#include "llm_tokens.h"

enum { MOST_PROMPT = 256 }; /* bytes; a longer one is cut */

static llm_state state;
static int8_t arena[LLM_SCRATCH_BYTES] __attribute__((aligned(LLM_SCRATCH_ALIGN)));
static int16_t logits[LLM_OUT_LOGITS_LEN];

int32_t
tell(const char *prompt, int32_t n, int32_t most, int32_t temperature, uint64_t seed,
     void (*say)(const char *text, int32_t n))
{
	int32_t token[MOST_PROMPT + 2], given, i, next = LLM_TOKEN_END, before = LLM_TOKEN_BEGIN;
	char text[LLM_TOKEN_BYTES];

	given = llm_encode(prompt, n < MOST_PROMPT ? n : MOST_PROMPT, token);
	llm_reset(&state);
	for (i = 0; i < most; i++) {
		const int32_t now = i < given ? token[i] : next;

		if (i > 0 && (now == LLM_TOKEN_BEGIN || now == LLM_TOKEN_END))
			break;
		say(text, llm_decode(before, now, text));
		llm_step(&state, arena, now, logits);
		next = llm_sample(logits, temperature, &seed);
		before = now;
	}
	return i;
}
