/* SPDX-License-Identifier: Apache-2.0 */
/* tokens_encode.c - the merges of runtime/kernels/tokens.h and tokens_bpe.h with a heap of pairs: the emitted functions search
 * all pairs for the best one again after each merge, without memory of their own, which long texts without words would not end.
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
	const qn_bpe *bpe; /* NULL: merges by scores */
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

/* The rank of two parts; -1: they are not merged. */
static int32_t
rank_of(const merger *m, int32_t from, int32_t left, int32_t right)
{
	if (m->bpe != NULL)
		return qn_merge_rank(m->bpe, m->text, from, left, left + right);
	const int32_t t = qn_piece_find(m->v, m->text, from, left + right);
	return t >= 0 ? m->v->rank[t] : -1;
}

/* The part at a byte and the next one, where they may be merged. */
static void
consider(merger *m, int32_t at)
{
	const int32_t left = m->length[at], next = at + left;

	if (next >= m->n)
		return;
	const int32_t right = m->length[next], rank = rank_of(m, m->from + at, left, right);
	if (rank >= 0)
		push(m, &(pair){rank, at, left, right});
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

/* The parts of m->n bytes, merged: their lengths. */
static void
merge_parts(merger *m)
{
	int32_t last = 0;

	m->pairs = 0;
	for (int32_t i = 0; i < m->n; i++)
		m->length[i] = 0;
	for (int32_t i = 0; i < m->n; i += m->length[i]) {
		m->length[i] = m->bpe != NULL ? 1 : qn_character(m->text, m->from + i, m->n - i);
		m->before[i] = last;
		last = i;
	}
	for (int32_t i = 0; i < m->n; i += m->length[i])
		consider(m, i);
	while (m->pairs > 0) {
		const pair best = pop(m);

		merge(m, &best);
	}
}

static int32_t
encode_part(merger *m, int32_t *token)
{
	int32_t count = 0;

	merge_parts(m);
	for (int32_t i = 0; i < m->n; i += m->length[i])
		count += qn_part_tokens(m->v, m->text, m->from + i, m->length[i], token + count);
	return count;
}

/* Memory for parts of `longest` bytes. */
static void
allocate(merger *m, int32_t longest, qn_arena *scratch)
{
	const size_t most = (size_t)longest + 1;

	m->length = QN_NEW(scratch, int32_t, most);
	m->before = QN_NEW(scratch, int32_t, most);
	m->heap =
		QN_NEW(scratch, pair, 3 * most); /* one for each part, two more after each merge */
}

/* The end of the user-defined piece at byte i, or of what is before the next one. */
static int32_t
section_end(const qn_vocabulary *v, const char *text, int32_t i, int32_t n, bool *user)
{
	const int32_t length = qn_user_defined(v, text, i, n);

	*user = length > 0;
	return *user ? i + length : qn_section_end(v, text, i, n);
}

static int32_t
encode_section(merger *m, const char *text, int32_t i, int32_t n, int32_t *token)
{
	int32_t count = 0;

	m->text = text + i;
	for (m->from = qn_section_start(m->v, i); m->from < n; m->from += m->n) {
		m->n = qn_part_end(m->v, m->text, m->from, n) - m->from;
		count += encode_part(m, token + count);
	}
	return count;
}

int32_t
qn_tokens_of_text(const qn_vocabulary *v, const char *text, int32_t n, int32_t *token,
		  qn_arena *scratch)
{
	merger m = {.v = v};
	int32_t count = 0, longest = 0;
	bool user;

	if (v->begin >= 0)
		token[count++] = v->begin;
	for (int32_t i = 0, end; i < n; i = end) {
		end = section_end(v, text, i, n, &user);
		for (int32_t from = qn_section_start(v, i), next; !user && from < end - i;
		     from = next) {
			next = qn_part_end(v, text + i, from, end - i);
			longest = next - from > longest ? next - from : longest;
		}
	}
	allocate(&m, longest, scratch);
	for (int32_t i = 0, end; i < n; i = end) {
		end = section_end(v, text, i, n, &user);
		if (user)
			token[count++] = qn_piece_find(v, text, i, end - i);
		else
			count += encode_section(&m, text, i, end - i, token + count);
	}
	return count;
}

static int32_t
encode_word(merger *m, int32_t *token)
{
	token[0] = qn_whole_word(m->bpe, m->text, m->from, m->n);
	if (token[0] >= 0)
		return 1;
	merge_parts(m);
	for (int32_t i = 0; i < m->n; i += m->length[i])
		token[i] = m->length[i];
	return qn_bpe_parts(m->bpe, m->text, m->from, m->n, token);
}

int32_t
qn_tokens_of_bytes(const qn_bpe *v, const char *text, int32_t n, int32_t *token, qn_arena *scratch)
{
	merger m = {.v = &v->vocabulary, .bpe = v, .text = text};
	int32_t count = 0, longest = 0, section = 0;

	if (v->vocabulary.begin >= 0)
		token[count++] = v->vocabulary.begin;
	for (int32_t from = 0, end; from < n; from = end) {
		end = qn_bpe_next(v, text, from, n, &section);
		longest = end - from > longest ? end - from : longest;
	}
	allocate(&m, longest, scratch);
	section = 0;
	for (int32_t from = 0; from < n; from += m.n) {
		m.from = from;
		m.n = qn_bpe_next(v, text, from, n, &section) - from;
		count += encode_word(&m, token + count);
	}
	return count;
}
