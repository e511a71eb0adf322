/* SPDX-License-Identifier: Apache-2.0 */
/* lint.c - samples that are constant, and samples that are there twice. */
#include "calibrate/lint.h"

#include <stdlib.h>
#include <string.h>

#include "ir/diag.h"

void
qn_lint_init(qn_lint *l, const qn_dataset *d, size_t ninput, qn_arena *a)
{
	size_t n = d->nbatch * d->batch;

	*l = (qn_lint){.d = d, .ninput = ninput, .n = n < QN_LINT_HASHES ? n : QN_LINT_HASHES};
	l->hash = QN_NEW(a, uint64_t, 2 * l->n + 1); /* with its sample: pairs, to be sorted */
	l->constant = QN_NEW(a, size_t, ninput);
	l->first = QN_NEW(a, size_t, ninput);
}

/* FNV-1a of 64 bits, http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t
hash_bytes(uint64_t h, const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

void
qn_lint_sample(void *user, size_t input, size_t index, const void *data)
{
	qn_lint *l = user;
	const qn_source *s = qn_dataset_source(l->d, input);
	const unsigned char *p = data;
	size_t n = qn_source_bytes(s);
	size_t each = qn_plain_table[s->type->elem->plain].bytes;

	if (index >= l->n)
		return;
	uint64_t h = input > 0 ? l->hash[2 * index] : UINT64_C(0xcbf29ce484222325);
	l->hash[2 * index] = hash_bytes(h, p, n);
	l->hash[2 * index + 1] = index;
	if (n > each && memcmp(p, p + each, n - each) == 0 && l->constant[input]++ == 0)
		l->first[input] = index;
}

static int
by_hash(const void *a, const void *b)
{
	const uint64_t *x = a;
	const uint64_t *y = b;

	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return x[1] < y[1] ? -1 : x[1] > y[1];
}

static void
warn_duplicates(qn_lint *l, qn_env *env)
{
	const qn_source *s = qn_dataset_source(l->d, 0);
	size_t twice = 0;
	size_t first = 0;
	size_t again = SIZE_MAX;

	qsort(l->hash, l->n, 2 * sizeof *l->hash, by_hash);
	for (size_t i = 1; i < l->n; i++) {
		const uint64_t *x = &l->hash[2 * (i - 1)];

		if (x[0] != x[2])
			continue;
		twice++;
		if (x[3] < again) {
			first = (size_t)x[1];
			again = (size_t)x[3];
		}
	}
	if (twice > 0)
		qn_warn(env, "data.duplicate", qn_source_place(s, again),
			"sample %zu is equal to sample %zu; %zu of %zu samples are equal to an "
			"earlier one and count twice; remove the copies",
			again, first, twice, l->n);
}

/* Tokens, masks and classes, of which few or all may be equal; pixels and measurements have other types. */
static bool
is_symbolic(const qn_source *s)
{
	const qn_plain plain = s->type->elem->plain;

	return plain == QN_PLAIN_bool || plain == QN_PLAIN_i32 || plain == QN_PLAIN_i64;
}

void
qn_lint_samples(qn_lint *l, qn_env *env)
{
	size_t measured = 0; /* inputs */

	if (l->n < QN_LINT_FEWEST || l->ninput == 0)
		return;
	for (size_t k = 0; k < l->ninput; k++) {
		const qn_source *s = qn_dataset_source(l->d, k);

		if (is_symbolic(s))
			continue;
		measured++;
		if (l->constant[k] > 0)
			qn_warn(env, "data.constant", qn_source_place(s, l->first[k]),
				"all values of sample %zu are equal, as in %zu of %zu samples: an "
				"empty image or silent audio says nothing; check or remove it",
				l->first[k], l->constant[k], l->n);
	}
	if (!l->with_states && measured > 0)
		warn_duplicates(l, env);
}
