/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c - samples of a stateful network that are longer than its input, as sequences of steps.
 *
 *   input [1,2,10], sample [1,5,10]      0 | 0 1 2 3 4 |      zeros go before the first step, where one is not full
 *                                       [ 0 0 ][1 2][3 4]     3 steps
 *
 * The samples of the other inputs are the same in all steps, unless there is one for each step. */
#include "calibrate/steps.h"

#include <string.h>

#include "ir/diag.h"

typedef struct cutting {
	const qn_source *from;
	size_t steps, batch;
	size_t outer, inner;      /* of a sample: before the axis elements, after it bytes */
	size_t before, rows, all; /* along the axis: zeros, those of a step, those of a sample */
	size_t apart;             /* from a step to the next; 0: each has the whole sample */
	unsigned char zero[8];    /* an element that is 0 */
	size_t each;              /* its bytes */
} cutting;

/* The axis along which samples are longer than the input, which is otherwise equal; 0: there is none. */
static int32_t
longer_axis(const qn_type *want, const qn_type *have)
{
	int32_t axis = 0;

	if (want->rank != have->rank)
		return 0;
	for (int32_t i = 1; i < want->rank; i++) {
		if (have->dim[i] == want->dim[i])
			continue;
		if (axis != 0 || want->dim[i] < 1 || have->dim[i] < want->dim[i])
			return 0;
		axis = i;
	}
	return axis;
}

/* The source as one of as many dimensions as the input has, without those of 1 at the end: sound of one channel. */
static const qn_source *
without_ones(const qn_graph *g, qn_arena *a, const qn_type *want, const qn_source *s)
{
	int32_t rank = s->type->rank;
	qn_source *to;

	while (rank > want->rank && s->type->dim[rank - 1] == 1)
		rank--;
	if (rank == s->type->rank || rank != want->rank)
		return s;
	to = qn_arena_copy(a, s, sizeof *s);
	to->type = qn_type_with_shape(&g->model->types, s->type, rank, s->type->dim);
	return longer_axis(want, to->type) != 0 ? to : s;
}

static size_t
steps_of(const qn_type *want, const qn_type *have)
{
	const int32_t axis = longer_axis(want, have);

	return axis == 0 ? 1 : (size_t)((have->dim[axis] + want->dim[axis] - 1) / want->dim[axis]);
}

static void
fill(const cutting *c, unsigned char *to, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += c->each)
		memcpy(to + i, c->zero, c->each);
}

/* Step `step` of a sample. */
static void
cut(const cutting *c, const unsigned char *sample, size_t step, unsigned char *to)
{
	const size_t at = step * c->apart; /* in the sample with its zeros */
	const size_t zeros = at < c->before ? c->before - at : 0;
	const size_t from = at < c->before ? 0 : at - c->before;

	for (size_t i = 0; i < c->outer; i++) {
		fill(c, to, zeros * c->inner);
		memcpy(to + zeros * c->inner, sample + (i * c->all + from) * c->inner,
		       (c->rows - zeros) * c->inner);
		to += c->rows * c->inner;
	}
}

static qn_status
fetch(const qn_source *s, size_t index, qn_arena *tmp, void *dst)
{
	const cutting *c = s->user;
	const size_t batch = index / c->batch, n = qn_source_bytes(c->from);
	const size_t sample = batch / c->steps * c->batch + index % c->batch;
	const unsigned char *data;

	if (c->from->tensor != NULL) {
		data = (const unsigned char *)c->from->tensor->data + sample * n;
	} else {
		unsigned char *own = qn_arena_alloc(tmp, n > 0 ? n : 1, 1);

		QN_TRY(c->from->fetch(c->from, sample, tmp, own));
		data = own;
	}
	cut(c, data, batch % c->steps, dst);
	return QN_OK;
}

/* The element that stands for 0: the zero point, of integers that a quantized input takes as they are. */
static void
set_zero(const qn_types *t, cutting *c, const qn_elem *want)
{
	const qn_plain p = c->from->type->elem->plain;
	double scale;
	int64_t zp;

	c->each = qn_plain_table[p].bytes;
	if (want->kind != QN_ELEM_UNIFORM || want->gran != QN_PER_TENSOR ||
	    qn_plain_table[p].is_float)
		return;
	qn_elem_param(t, want, 0, &scale, &zp);
	qn_store_i64(c->zero, p, 0, zp);
}

static const qn_source *
cut_source(const qn_graph *g, qn_arena *a, size_t i, const qn_source *s, size_t steps)
{
	const qn_type *want = qn_graph_node(g, g->input[i])->type;
	const int32_t axis = longer_axis(want, s->type);
	qn_source *to = qn_arena_copy(a, s, sizeof *s);
	cutting *c = QN_NEW(a, cutting, 1);
	int64_t dim[QN_MAX_RANK];

	memcpy(dim, s->type->dim, (size_t)s->type->rank * sizeof dim[0]);
	*c = (cutting){.from = s,
		       .steps = steps,
		       .batch = want->rank > 0 && want->dim[0] > 0 ? (size_t)want->dim[0] : 1,
		       .outer = 1,
		       .rows = 1,
		       .all = 1};
	set_zero(&g->model->types, c, want->elem);
	c->inner = c->each;
	for (int32_t k = 1; k < s->type->rank; k++) {
		if (k < axis)
			c->outer *= (size_t)dim[k];
		else if (k > axis || axis == 0)
			c->inner *= (size_t)dim[k];
	}
	if (axis != 0) {
		c->all = (size_t)dim[axis];
		c->rows = c->apart = (size_t)want->dim[axis];
		c->before = steps * c->rows - c->all;
		dim[axis] = want->dim[axis];
	}
	if (s->path != NULL) {
		const char **path = QN_NEW(a, const char *, (size_t)dim[0] * steps);

		for (size_t k = 0; k < (size_t)dim[0] * steps; k++)
			path[k] = s->path[k / c->batch / steps * c->batch + k % c->batch];
		to->path = path;
	}
	dim[0] *= (int64_t)steps;
	to->whole = s;
	to->type = qn_type_with_shape(&g->model->types, s->type, s->type->rank, dim);
	to->tensor = NULL;
	to->fetch = fetch;
	to->user = c;
	return to;
}

static size_t
batches_of(const qn_graph *g, size_t i, const qn_source *s)
{
	const qn_type *want = qn_graph_node(g, g->input[i])->type;

	return qn_source_count(s) / (want->rank > 0 && want->dim[0] > 0 ? (size_t)want->dim[0] : 1);
}

/* Whether an input has a sample for each step of those that are cut, which are `cut` batches. */
static bool
is_by_step(const qn_graph *g, size_t i, const qn_source *s, size_t cut, size_t steps)
{
	return steps_of(qn_graph_node(g, g->input[i])->type, s->type) == 1 &&
	       batches_of(g, i, s) == cut * steps;
}

qn_status
qn_steps_cut(const qn_graph *g, qn_arena *a, const qn_source **raw, size_t *steps)
{
	size_t batches = 0; /* of the inputs that are cut */

	*steps = 1;
	if (g->nstate == 0 && g->model->streamed == NULL)
		return QN_OK; /* a streamed network may read no rows of earlier hops */
	for (size_t i = 0; i < qn_graph_fed(g); i++) {
		const qn_type *want = qn_graph_node(g, g->input[i])->type;
		raw[i] = without_ones(g, a, want, raw[i]);
		const size_t n = steps_of(want, raw[i]->type);

		if (n == 1 || n == *steps)
			continue;
		if (*steps > 1)
			return qn_report(
				g->model->env, QN_EINVALID, "data.steps", raw[i]->name,
				"a sample has %zu steps of input '%s', one of '%s' has %zu", n,
				qn_graph_node(g, g->input[i])->name, raw[0]->name, *steps);
		*steps = n;
		batches = batches_of(g, i, raw[i]);
	}
	if (*steps > 1 && g->model->env->sequence > 0)
		return qn_report(g->model->env, QN_EUSAGE, "data.sequence", raw[0]->name,
				 "each sample is a sequence of %zu steps already: leave --sequence "
				 "out, or give the steps as samples",
				 *steps);
	for (size_t i = 0; *steps > 1 && i < qn_graph_fed(g); i++)
		if (raw[i]->type->rank > 0 && !is_by_step(g, i, raw[i], batches, *steps))
			raw[i] = cut_source(g, a, i, raw[i], *steps);
	return QN_OK;
}
