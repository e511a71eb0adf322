/* SPDX-License-Identifier: Apache-2.0 */
/* streamed.h - runs a network over a window, and what the pass stream made of it, on one long signal.
 *
 *   signal   0 1 2 3 4 5 6 7 8 9 10 11      window of 5, hop of 2
 *   hops    [0 1][2 3][4 5][6 7]
 *   windows            [1 … 5][3 … 7]       once they are full, the outputs of both are compared
 *
 * Which input takes hops, and along which axis, follows from the types of the two graphs. */
#ifndef QN_TESTS_STREAMED_H
#define QN_TESTS_STREAMED_H

#include <stdio.h>
#include <string.h>

#include "runtime/interp.h"

typedef struct streamed {
	const qn_graph *window, *hops;
	qn_arena *arena;
	uint64_t seed;
	size_t input;
	int32_t axis;
	int64_t rows, hop;       /* of a window, of a hop */
	const qn_tensor **fixed; /* by input: what is the same in all runs */
	qn_tensor *signal;
	int64_t length; /* rows of the signal */
} streamed;

static inline int64_t
streamed_draw(streamed *s, int64_t lo, int64_t hi)
{
	s->seed = s->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return lo + (int64_t)((s->seed >> 33) % (uint64_t)(hi - lo + 1));
}

/* Quantized values over their whole range, integers 0 and 1, float values in [-1, 1). */
static inline qn_tensor *
streamed_random(streamed *s, const qn_type *type)
{
	const qn_elem *e = type->elem;
	void *data;
	qn_tensor *x = qn_tensor_new(s->arena, type, &data);

	for (int64_t i = 0; i < qn_type_count(type); i++)
		if (qn_elem_is_float(e))
			qn_store_f64(data, e->plain, i,
				     (double)streamed_draw(s, -(1 << 20), (1 << 20) - 1) /
					     (1 << 20));
		else if (e->kind == QN_ELEM_UNIFORM)
			qn_store_i64(data, e->plain, i, streamed_draw(s, e->qmin, e->qmax));
		else
			qn_store_i64(data, e->plain, i, streamed_draw(s, 0, 1));
	return x;
}

static inline const qn_type *
streamed_type(const streamed *s)
{
	return qn_graph_node(s->window, s->window->input[s->input])->type;
}

/* Whether the second graph takes hops of the first one's windows. */
static inline bool
streamed_is(const qn_graph *window, const qn_graph *hops)
{
	for (size_t k = 0; window->nstate == 0 && k < window->ninput; k++)
		if (!qn_type_same_shape(qn_graph_node(window, window->input[k])->type,
					qn_graph_node(hops, hops->input[k])->type))
			return true;
	return false;
}

/* Finds the input, and draws the signal and the other inputs. */
static inline bool
streamed_begin(streamed *s, int64_t more)
{
	int64_t dim[QN_MAX_RANK];
	bool found = false;

	s->fixed = QN_NEW(s->arena, const qn_tensor *, s->window->ninput + 1);
	for (size_t k = 0; k < s->window->ninput; k++) {
		const qn_type *a = qn_graph_node(s->window, s->window->input[k])->type;
		const qn_type *b = qn_graph_node(s->hops, s->hops->input[k])->type;

		s->fixed[k] = streamed_random(s, a);
		for (int32_t i = 0; i < a->rank; i++)
			if (a->dim[i] != b->dim[i]) {
				s->input = k;
				s->axis = i;
				s->rows = a->dim[i];
				s->hop = b->dim[i];
				found = true;
			}
	}
	if (!found)
		return false;
	const qn_type *t = streamed_type(s);
	s->length = (s->rows + s->hop - 1) / s->hop * s->hop + more * s->hop;
	for (int32_t i = 0; i < t->rank; i++)
		dim[i] = i == s->axis ? s->length : t->dim[i];
	s->signal =
		streamed_random(s, qn_type_with_shape(&s->window->model->types, t, t->rank, dim));
	return true;
}

/* Rows [from, from + n) of the signal. */
static inline const qn_tensor *
streamed_part(const streamed *s, int64_t from, int64_t n)
{
	const qn_type *t = streamed_type(s);
	int64_t dim[QN_MAX_RANK], outer = 1;
	size_t inner = qn_plain_table[t->elem->plain].bytes;
	void *data;

	for (int32_t i = 0; i < t->rank; i++) {
		dim[i] = i == s->axis ? n : t->dim[i];
		outer *= i < s->axis ? dim[i] : 1;
		inner *= i > s->axis ? (size_t)dim[i] : 1;
	}
	qn_tensor *x = qn_tensor_new(
		s->arena, qn_type_with_shape(&s->window->model->types, t, t->rank, dim), &data);
	for (int64_t o = 0; o < outer; o++)
		memcpy((char *)data + (size_t)(o * n) * inner,
		       (const char *)s->signal->data + (size_t)(o * s->length + from) * inner,
		       (size_t)n * inner);
	return x;
}

/* Whether y has the last rows of all, a result of the window: all of them, or those along the one axis on which they
 * differ. */
static inline bool
streamed_same(const qn_tensor *all, const qn_tensor *y)
{
	size_t outer = 1, inner = 1, from = 0, rows = 1, of = 1;
	int32_t axis = -1;

	if (all->type->rank != y->type->rank || all->type->elem != y->type->elem)
		return false;
	for (int32_t i = 0; i < y->type->rank; i++)
		if (all->type->dim[i] != y->type->dim[i])
			axis = i;
	for (int32_t i = 0; i < y->type->rank; i++) {
		outer *= axis >= 0 && i < axis ? (size_t)y->type->dim[i] : 1;
		inner *= i > axis ? (size_t)y->type->dim[i] : 1;
	}
	if (axis >= 0) {
		rows = (size_t)y->type->dim[axis];
		of = (size_t)all->type->dim[axis];
		from = of - rows;
	}
	inner *= qn_plain_table[y->type->elem->plain].bytes;
	for (size_t o = 0; o < outer; o++)
		if (memcmp((const char *)all->data + (o * of + from) * inner,
			   (const char *)y->data + o * rows * inner, rows * inner) != 0)
			return false;
	return true;
}

/* Whether all outputs are equal in each of `more` + 1 full windows; prints the first that is not. */
static inline bool
streamed_equal(const qn_graph *window, const qn_graph *hops, qn_arena *a, uint64_t seed,
	       int64_t more)
{
	streamed s = {.window = window, .hops = hops, .arena = a, .seed = seed};
	const qn_tensor **x;
	qn_interp *in[2];

	if (!streamed_begin(&s, more) || qn_interp_new(window, a, &in[0]) != QN_OK ||
	    qn_interp_new(hops, a, &in[1]) != QN_OK)
		return false;
	x = qn_arena_copy(a, s.fixed, (window->ninput + 1) * sizeof *x);
	for (int64_t at = 0; at + s.hop <= s.length; at += s.hop) {
		const int64_t from = at + s.hop - s.rows;

		x[s.input] = streamed_part(&s, at, s.hop);
		if (qn_interp_run(in[1], x, NULL, NULL) != QN_OK)
			return false;
		if (from < 0)
			continue;
		x[s.input] = streamed_part(&s, from, s.rows);
		if (qn_interp_run(in[0], x, NULL, NULL) != QN_OK)
			return false;
		for (size_t k = 0; k < window->noutput; k++)
			if (!streamed_same(qn_interp_output(in[0], k),
					   qn_interp_output(in[1], k))) {
				(void)fprintf(stderr, "  output '%s' differs at row %lld\n",
					      window->output[k].name, (long long)from);
				return false;
			}
	}
	return true;
}

#endif
