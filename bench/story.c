/* SPDX-License-Identifier: Apache-2.0 */
/* story.c - text of a language model for scripts/bench-llm: tokens that its float network draws at temperature 1 from a
 * fixed seed, computed by the plain loops of tests/unit/plain_llm.h in double.
 *
 *   bench_story stories260K.gguf 80 256 1 42 tokens.npy next.npy
 *       80 sequences of 256 tokens, each beginning with token 1; next.npy: what was drawn after each of them */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "quern/layout.h"
#include "tests/unit/plain_llm.h"

/* xorshift64*: uniform in [0, 1). */
static double
uniform(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (double)((*state * UINT64_C(2685821657736338717)) >> 11) / 9007199254740992.0;
}

static int
draw(const double *logits, int n, double at)
{
	double most = logits[0], sum = 0;

	for (int i = 1; i < n; i++)
		most = fmax(most, logits[i]);
	for (int i = 0; i < n; i++)
		sum += exp(logits[i] - most);
	at *= sum;
	for (int i = 0; i + 1 < n; i++) {
		at -= exp(logits[i] - most);
		if (at < 0)
			return i;
	}
	return n - 1;
}

static int
save(qn_ctx *ctx, const char *path, int64_t n, const int32_t *x)
{
	qn_array *a;

	return qn_array_new(ctx, "i32", 1, &n, x, &a) == QN_OK && qn_array_save(a, path) == QN_OK;
}

int
main(int argc, char **argv)
{
	qn_ctx *ctx = qn_open(NULL);
	plain_llm m;

	if (ctx == NULL || argc != 8) {
		(void)fputs("usage: bench_story MODEL.gguf SEQUENCES LENGTH FIRST SEED TOKENS.npy "
			    "NEXT.npy\n",
			    stderr);
		return 2;
	}
	const int sequences = atoi(argv[2]), length = atoi(argv[3]), n = sequences * length;
	uint64_t random = strtoull(argv[5], NULL, 10);
	if (n <= 0 || random == 0 || !plain_llm_open(ctx, argv[1], length, &m)) {
		(void)fprintf(stderr, "bench_story: cannot read %s\n", argv[1]);
		return 1;
	}
	int32_t *token = calloc((size_t)n, sizeof *token), *next = calloc((size_t)n, sizeof *next);
	double *logits = calloc((size_t)m.vocab, sizeof *logits);
	for (int i = 0; i < n; i++) {
		token[i] = i % length == 0 ? atoi(argv[4]) : next[i - 1];
		plain_llm_step(&m, token[i], logits);
		next[i] = draw(logits, m.vocab, uniform(&random));
	}
	const int ok = save(ctx, argv[6], n, token) && save(ctx, argv[7], n, next);
	plain_llm_close(&m);
	free(token);
	free(next);
	free(logits);
	qn_close(ctx);
	return ok ? 0 : 1;
}
