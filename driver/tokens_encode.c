/* SPDX-License-Identifier: Apache-2.0 */
/* tokens_encode.c - the merges of runtime/kernels/tokens.h with a heap of pairs: the emitted functions search all pairs for
 * the best one again after each merge, without memory of their own, which long texts without words would not end.
 *
 *   parts, by their first bytes     t |h |e |         length 1 1 1, before - 0 1
 *   heap, the best first            (h e) rank 3, (t h) rank 7
 *   after a merge                   t |he   |         length 1 2 0; (t h) no longer exists, (t he) is new */
#include "driver/tokens_encode.h"

/* Two parts that are a piece together, by its rank, the place of the first and their lengths: a pair whose lengths have
 * changed no longer exists. */
typedef struct pair {
	int32_t rank, at, left, right;
} pair;

typedef struct merger {
	const qn_vocabulary *v;
	const char *text;
	int32_t from, n;
	int32_t *length, *before; /* of the part that begins at a byte; 0: none does */
	pair *heap;
	int32_t pairs;
} merger;

static bool
is_better(const pair *a, const pair *b)
{
	return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void
push(merger *m, const pair *p)
{
	int32_t i = m->pairs++;

	for (; i > 0 && is_better(p, &m->heap[(i - 1) / 2]); i = (i - 1) / 2)
		m->heap[i] = m->heap[(i - 1) / 2];
	m->heap[i] = *p;
}

static pair
pop(merger *m)
{
	const pair best = m->heap[0], last = m->heap[--m->pairs];
	int32_t i = 0;

	for (int32_t k = 1; k < m->pairs; i = k, k = 2 * k + 1) {
		k += k + 1 < m->pairs && is_better(&m->heap[k + 1], &m->heap[k]);
		if (!is_better(&m->heap[k], &last))
			break;
		m->heap[i] = m->heap[k];
	}
	m->heap[i] = last;
	return best;
}

/* The part at a byte and the next one, where they may be merged. */
static void
consider(merger *m, int32_t at)
{
	const int32_t left = m->length[at], next = at + left;

	if (next >= m->n)
		return;
	const int32_t right = m->length[next], from = m->from + at;
	const int32_t t = qn_piece_find(m->v, m->text, from, left + right);
	if (t >= 0 && !qn_is_user_defined(m->v, m->text, from, left) &&
	    !qn_is_user_defined(m->v, m->text, from + left, right))
		push(m, &(pair){m->v->rank[t], at, left, right});
}

static void
merge(merger *m, const pair *p)
{
	const int32_t next = p->at + p->left, end = next + p->right;

	if (m->length[p->at] != p->left || m->length[next] != p->right)
		return;
	m->length[p->at] += p->right;
	m->length[next] = 0;
	if (end < m->n)
		m->before[end] = p->at;
	if (p->at > 0)
		consider(m, m->before[p->at]);
	consider(m, p->at);
}

static int32_t
encode_part(merger *m, int32_t *token)
{
	int32_t count = 0, last = 0;

	m->pairs = 0;
	for (int32_t i = 0; i < m->n; i++)
		m->length[i] = 0;
	for (int32_t i = 0; i < m->n; i += m->length[i]) {
		m->length[i] = qn_first_part(m->v, m->text, m->from + i, m->n - i);
		m->before[i] = last;
		last = i;
	}
	for (int32_t i = 0; i < m->n; i += m->length[i])
		consider(m, i);
	while (m->pairs > 0) {
		const pair best = pop(m);

		merge(m, &best);
	}
	for (int32_t i = 0; i < m->n; i += m->length[i])
		count += qn_part_tokens(m->v, m->text, m->from + i, m->length[i], token + count);
	return count;
}

int32_t
qn_tokens_of_text(const qn_vocabulary *v, const char *text, int32_t n, int32_t *token,
		  qn_arena *scratch)
{
	const int32_t first = v->prefix != 0 && n > 0 ? -1 : 0;
	merger m = {.v = v, .text = text};
	int32_t count = 0, longest = 0;

	if (v->begin >= 0)
		token[count++] = v->begin;
	for (int32_t from = first, end; from < n; from = end) {
		end = qn_part_end(v, text, from, n);
		longest = end - from > longest ? end - from : longest;
	}
	const size_t most = (size_t)longest + 1;
	m.length = QN_NEW(scratch, int32_t, most);
	m.before = QN_NEW(scratch, int32_t, most);
	m.heap = QN_NEW(scratch, pair, 3 * most); /* one for each part, two more after each merge */
	for (int32_t from = first; from < n; from += m.n) {
		m.from = from;
		m.n = qn_part_end(v, text, from, n) - from;
		count += encode_part(&m, token + count);
	}
	return count;
}
