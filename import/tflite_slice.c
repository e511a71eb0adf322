/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_slice.c - parts of a value: SLICE, STRIDED_SLICE, SPLIT, SPLIT_V, UNPACK. */
#include "import/tflite.h"

/* x from begin to end along one axis. */
static qn_id
part(qn_tfl_op *o, qn_id x, int32_t axis, int64_t begin, int64_t end)
{
	const qn_type *type = x != 0 ? qn_importer_type(o->im, x) : NULL;
	qn_attrs a = {0};

	if (type == NULL)
		return 0;
	a.slice.begin.n = a.slice.end.n = type->rank;
	for (int32_t i = 0; i < type->rank; i++) {
		a.slice.begin.v[i] = i == axis ? begin : 0;
		a.slice.end.v[i] = i == axis ? end : type->dim[i];
	}
	return qn_importer_op(o->im, QN_OP_slice, 1, &x, &a, NULL);
}

/* Static dims of input i. */
static bool
known_dims(qn_tfl_op *o, uint32_t i)
{
	return qn_type_count(qn_importer_type(o->im, o->in[i])) >= 0 ||
	       qn_importer_refuse(o->im, "import.dim",
				  "input '%s' has an open dimension; give it with --input-dim",
				  o->from[i]->name) != 0;
}

/* A size of -1: to the end. */
static void
slice(qn_tfl_op *o)
{
	const qn_type *x = qn_importer_type(o->im, o->in[0]);
	int64_t size[QN_MAX_RANK];
	qn_attrs a = {0};
	int32_t n = qn_tfl_ints(o, 1, QN_MAX_RANK, a.slice.begin.v);
	int32_t m = qn_tfl_ints(o, 2, QN_MAX_RANK, size);

	if (n < 0 || m < 0 || !known_dims(o, 0))
		return;
	a.slice.begin.n = a.slice.end.n = n;
	for (int32_t i = 0; i < n && i < m && i < x->rank; i++) {
		int64_t end = size[i] == -1 ? x->dim[i] : a.slice.begin.v[i] + size[i];

		a.slice.end.v[i] = end;
		if (a.slice.begin.v[i] < 0 || size[i] < -1 || end > x->dim[i]) {
			(void)qn_importer_refuse(o->im, "import.input",
						 "%lld elements from %lld on, axis %d has %lld",
						 (long long)size[i], (long long)a.slice.begin.v[i],
						 (int)i, (long long)x->dim[i]);
			return;
		}
	}
	qn_id in = qn_tfl_moved(o, 0);
	qn_tfl_set_result(o, 0, qn_importer_op(o->im, QN_OP_slice, 1, &in, &a, NULL));
}

/* ---- STRIDED_SLICE ---- */

typedef struct strided {
	int32_t n; /* entries */
	int64_t begin[16], end[16], step[16];
	int64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
	qn_attrs a;
	int32_t rank; /* of the result */
	int64_t dim[16];
} strided;

static bool
bit(int64_t mask, int32_t i)
{
	return (mask >> i & 1) != 0;
}

/* Entry i for axis k of the data, where nothing is masked. */
static void
one_axis(strided *s, int32_t i, int32_t k, int64_t dim)
{
	int64_t step = s->step[i], begin = s->begin[i], end = s->end[i];
	bool shrink = bit(s->shrink_axis_mask, i);

	if (shrink) {
		begin += begin < 0 ? dim : 0;
		end = begin + 1;
		step = 1;
	} else {
		if (bit(s->begin_mask, i))
			begin = step > 0 ? 0 : dim - 1;
		if (bit(s->end_mask, i))
			end = step > 0 ? dim : -dim - 1;
	}
	s->a.slice.begin.v[k] = begin;
	s->a.slice.end.v[k] = end;
	s->a.slice.step.v[k] = step;
}

static void
whole_axis(strided *s, int32_t k, int64_t dim)
{
	s->a.slice.begin.v[k] = 0;
	s->a.slice.end.v[k] = dim;
	s->a.slice.step.v[k] = 1;
}

/* Entries over axes: keep[k] 0: axis k is removed; before[k]: number of new axes before it. */
static bool
lay_out(strided *s, const qn_type *x, bool *keep, int32_t *before)
{
	int32_t k = 0, taken = 0;

	for (int32_t i = 0; i < s->n; i++)
		taken += !bit(s->new_axis_mask, i) && !bit(s->ellipsis_mask, i);
	for (int32_t i = 0; i < s->n; i++) {
		if (bit(s->ellipsis_mask, i)) {
			for (int32_t left = x->rank - taken; left > 0 && k < x->rank; left--, k++)
				whole_axis(s, k, x->dim[k]);
		} else if (bit(s->new_axis_mask, i)) {
			before[k]++;
		} else {
			if (k >= x->rank)
				return false;
			keep[k] = !bit(s->shrink_axis_mask, i);
			one_axis(s, i, k, x->dim[k]);
			k++;
		}
	}
	for (; k < x->rank; k++)
		whole_axis(s, k, x->dim[k]);
	s->a.slice.begin.n = s->a.slice.end.n = s->a.slice.step.n = x->rank;
	return true;
}

/* The entries and masks of the operator; false after a report. */
static bool
read_strided(qn_tfl_op *o, strided *s)
{
	s->n = qn_tfl_ints(o, 1, 16, s->begin);
	int32_t n = qn_tfl_ints(o, 2, 16, s->end), m = qn_tfl_ints(o, 3, 16, s->step);

	s->begin_mask = qn_tfl_option(o, 0, 0);
	s->end_mask = qn_tfl_option(o, 1, 0);
	s->ellipsis_mask = qn_tfl_option(o, 2, 0);
	s->new_axis_mask = qn_tfl_option(o, 3, 0);
	s->shrink_axis_mask = qn_tfl_option(o, 4, 0);
	if (s->n < 0 || n < 0 || m < 0)
		return false;
	if (s->n != n || s->n != m)
		return qn_importer_refuse(o->im, "import.input", "%d begins, %d ends and %d steps",
					  (int)s->n, (int)n, (int)m) != 0;
	for (int32_t i = 0; i < s->n && qn_tfl_flag(o, 5, 0) != 0; i++)
		s->end[i] += s->begin[i];
	return known_dims(o, 0);
}

static void
strided_slice(qn_tfl_op *o)
{
	strided s = {0};
	bool keep[QN_MAX_RANK + 1];
	int32_t before[QN_MAX_RANK + 1] = {0};
	const qn_type *x = qn_importer_type(o->im, o->in[0]);

	for (int32_t i = 0; i <= QN_MAX_RANK; i++)
		keep[i] = true;
	if (!read_strided(o, &s))
		return;
	if (!lay_out(&s, x, keep, before)) {
		(void)qn_importer_refuse(o->im, "import.input", "%d entries for %d dimensions",
					 (int)s.n, (int)x->rank);
		return;
	}
	qn_id in = qn_tfl_moved(o, 0);
	qn_id y = qn_importer_op(o->im, QN_OP_slice, 1, &in, &s.a, NULL);
	if (y == 0)
		return;
	const qn_type *type = qn_importer_type(o->im, y);
	int32_t changes = 0;
	for (int32_t k = 0; k <= type->rank; k++) {
		for (int32_t i = 0; i < before[k] && s.rank < 16; i++)
			s.dim[s.rank++] = 1;
		if (k < type->rank && keep[k] && s.rank < 16)
			s.dim[s.rank++] = type->dim[k];
		changes += before[k] + !keep[k];
	}
	qn_tfl_set_result(o, 0, changes > 0 ? qn_importer_reshape(o->im, y, s.rank, s.dim) : y);
}

/* ---- several results ---- */

/* Result k: that many elements of the axis, which follow those of the results before it. */
static void
set_part_results(qn_tfl_op *o, uint32_t data, int32_t axis, const int64_t *size)
{
	int64_t at = 0;
	qn_id x = qn_tfl_moved(o, data);

	for (uint32_t k = 0; k < o->nout; k++) {
		o->im->node = o->to[k]->name;
		qn_tfl_set_result(o, k, part(o, x, axis, at, at + size[k]));
		at += size[k];
	}
}

static void
split(qn_tfl_op *o)
{
	int64_t axis, size[QN_TFL_MOST_OUTPUTS];
	int32_t at;

	if (qn_tfl_ints(o, 0, 1, &axis) != 1 || !known_dims(o, 1) ||
	    !qn_tfl_axis(o, axis, qn_tfl_rank(o, 1), &at))
		return;
	int64_t dim = qn_importer_type(o->im, o->in[1])->dim[at];
	if (dim % o->nout != 0) {
		(void)qn_importer_refuse(o->im, "import.input", "%lld elements in %u parts",
					 (long long)dim, o->nout);
		return;
	}
	for (uint32_t k = 0; k < o->nout; k++)
		size[k] = dim / o->nout;
	set_part_results(o, 1, at, size);
}

/* One size may be -1: what the others leave. */
static void
split_v(qn_tfl_op *o)
{
	int64_t axis, size[QN_TFL_MOST_OUTPUTS], sum = 0;
	int32_t at, n = qn_tfl_ints(o, 1, QN_TFL_MOST_OUTPUTS, size);

	if (n < 0 || qn_tfl_ints(o, 2, 1, &axis) != 1 || !known_dims(o, 0) ||
	    !qn_tfl_axis(o, axis, qn_tfl_rank(o, 0), &at))
		return;
	int64_t dim = qn_importer_type(o->im, o->in[0])->dim[at];
	for (int32_t k = 0; k < n; k++)
		sum += size[k] >= 0 && size[k] <= dim ? size[k] : 0;
	for (int32_t k = 0; k < n; k++)
		if (size[k] == -1) {
			size[k] = dim - sum;
			sum = dim;
		}
	if ((uint32_t)n != o->nout || sum != dim) {
		(void)qn_importer_refuse(o->im, "import.input",
					 "%d sizes of %lld in total for %u parts of %lld elements",
					 (int)n, (long long)sum, o->nout, (long long)dim);
		return;
	}
	set_part_results(o, 0, at, size);
}

static void
unpack(qn_tfl_op *o)
{
	const qn_type *x = qn_importer_type(o->im, o->in[0]);
	int64_t dim[QN_MAX_RANK];
	int32_t axis, n = 0;

	if (!qn_tfl_axis(o, qn_tfl_option(o, 1, 0), x->rank, &axis) || !known_dims(o, 0))
		return;
	if (x->dim[axis] != (int64_t)o->nout) {
		(void)qn_importer_refuse(o->im, "import.input", "%u results of %lld parts", o->nout,
					 (long long)x->dim[axis]);
		return;
	}
	for (int32_t i = 0; i < x->rank; i++)
		if (i != axis)
			dim[n++] = x->dim[i];
	for (uint32_t k = 0; k < o->nout; k++) {
		o->im->node = o->to[k]->name;
		qn_tfl_set_result(
			o, k,
			qn_importer_reshape(o->im,
					    part(o, qn_tfl_moved(o, 0), axis, k, (int64_t)k + 1), n,
					    dim));
	}
}

const qn_tfl_row qn_tfl_slice_rows[] = {
	{QN_TFL_SLICE, slice, 0, 3, 3, 1, 0},
	{QN_TFL_STRIDED_SLICE, strided_slice, 0, 4, 4, 1, 0},
	{QN_TFL_SPLIT, split, 0, 2, 2, 0, 0},
	{QN_TFL_SPLIT_V, split_v, 0, 3, 3, 0, 0},
	{QN_TFL_UNPACK, unpack, 0, 1, 1, 0, 0},
	{0},
};
