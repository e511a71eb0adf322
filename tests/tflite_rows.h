/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_rows.h - variables of TFLite files that keep values from run to run, and layers over rows of time.
 *
 *   const value r = ring(&x, 3);              the last rows of the runs before, in a variable, and those of x */
#ifndef TESTS_TFLITE_ROWS_H
#define TESTS_TFLITE_ROWS_H

#include "tests/tflite_layers.h"

enum { MOST_STATES = 6 };

/* A variable: its name, and the constant that it begins with. */
typedef struct state {
	char name[20];
	int first;
} state;

static state states[MOST_STATES];
static int nstate;

/* ---- variables ---- */

static int
handle(const char *name)
{
	const int h = tfl_tensor(net.t, next_name(), TFL_RESOURCE, 0, NULL, NULL, 0);
	tfl_op_of *o = tfl_op(net.t, QN_TFL_VAR_HANDLE, 0, NULL, INTS(h));

	o->options_type = 111;
	o->option[o->noption++] = (tfl_option){.field = 1, .kind = 's', .text = name};
	return h;
}

/* A variable like x, of other dimensions, that begins with the zero point, or if not zeros with other values. */
static int
variable(const value *x, int rank, const int32_t *dim, int zeros)
{
	state *s = &states[nstate];
	const int each = x->type == TFL_INT32 ? 4 : x->type == TFL_INT16 ? 2 : 1;
	int count = 1;

	assert(nstate < MOST_STATES);
	snprintf(s->name, sizeof s->name, "state%d", nstate++);
	for (int i = 0; i < rank; i++)
		count *= dim[i];
	int8_t *v = store((size_t)(count * each));
	for (int i = 0; i < count; i++) {
		const int64_t first = x->zp + (zeros ? 0 : whole(-20, 20));
		const int64_t low = lowest(x->type), high = highest(x->type);
		const int64_t q = first < low ? low : first > high ? high : first;

		if (each == 1)
			v[i] = (int8_t)q;
		else if (each == 2)
			((int16_t *)(void *)v)[i] = (int16_t)q;
		else
			((int32_t *)(void *)v)[i] = (int32_t)q;
	}
	s->first = x->scale > 0
			   ? tfl_codes(net.t, next_name(), x->type, rank, dim, x->scale, x->zp, v,
				       count * each)
			   : tfl_tensor(net.t, next_name(), x->type, rank, dim, v, count * each);
	return handle(s->name);
}

static value
read_variable(int h, const value *x, int rank, const int32_t *dim)
{
	const value old = result_of(x->type, rank, dim, x->scale, x->zp);

	(void)op(QN_TFL_READ_VARIABLE, 112, 1, (int32_t[]){h}, &old);
	return old;
}

static void
assign(int h, const value *x)
{
	tfl_op_of *o = tfl_op(net.t, QN_TFL_ASSIGN_VARIABLE, INTS(h, x->id), 0, NULL);

	o->options_type = 113;
}

/* ---- rows of time, [1, rows, 1, channels] ---- */

static value
rows_of(const value *x, int from, int rows)
{
	const int32_t begin[4] = {0, from, 0, 0}, end[4] = {0, from + rows, 0, 0};
	const int32_t strides[4] = {1, 1, 1, 1}, dim[4] = {1, rows, 1, x->dim[3]};
	const value y = like(x, 4, dim);
	tfl_op_of *o = op(
		QN_TFL_STRIDED_SLICE, 32, 4,
		(int32_t[]){x->id, integers(4, begin), integers(4, end), integers(4, strides)}, &y);

	tfl_with(o, 0, 'i', 13); /* all of the other axes */
	tfl_with(o, 1, 'i', from + rows == x->dim[1] ? 15 : 13);
	return y;
}

static value
joined(const value *a, const value *b, int axis)
{
	int32_t dim[4];

	memcpy(dim, a->dim, sizeof dim);
	dim[axis] += b->dim[axis];
	const value y = like(a, a->rank, dim);
	tfl_op_of *o = op(QN_TFL_CONCATENATION, 10, 2, (int32_t[]){a->id, b->id}, &y);

	tfl_with(o, 0, 'i', axis);
	tfl_with(o, 1, 'b', 0);
	return y;
}

/* The last rows of the stream, then x; all but the first are kept. */
static value
ring(const value *x, int rows)
{
	const int32_t dim[4] = {1, rows, 1, x->dim[3]};
	const int h = variable(x, 4, dim, 0);
	const value old = read_variable(h, x, 4, dim), all = joined(&old, x, 1);
	const value kept = rows_of(&all, x->dim[1], rows);

	assign(h, &kept);
	return all;
}

static value
conv_time(const value *x, int channels, int taps, int stride, int act)
{
	const int32_t w[4] = {channels, taps, 1, x->dim[3]};
	const int32_t dim[4] = {1, (x->dim[1] - taps) / stride + 1, 1, channels};
	int32_t in[3] = {x->id};

	weights(x, 4, w, 0, taps * x->dim[3], in + 1);
	const value y = own(x, dim);
	tfl_op_of *o = op(QN_TFL_CONV_2D, 1, 3, in, &y);
	tfl_with(o, 0, 'b', 1);
	tfl_with(o, 1, 'i', stride);
	tfl_with(o, 2, 'i', stride);
	tfl_with(o, 3, 'b', act);
	return y;
}

static value
depthwise_time(const value *x, int taps)
{
	const int32_t w[4] = {1, taps, 1, x->dim[3]},
		      dim[4] = {1, x->dim[1] - taps + 1, 1, x->dim[3]};
	int32_t in[3] = {x->id};

	weights(x, 4, w, 3, taps, in + 1);
	const value y = own(x, dim);
	tfl_op_of *o = op(QN_TFL_DEPTHWISE_CONV_2D, 2, 3, in, &y);
	tfl_with(o, 0, 'b', 1);
	tfl_with(o, 1, 'i', 1);
	tfl_with(o, 2, 'i', 1);
	tfl_with(o, 3, 'i', 1);
	return y;
}

static value
flat(const value *x)
{
	const int32_t dim[2] = {1, x->dim[1] * x->dim[2] * x->dim[3]};
	const value y = like(x, 2, dim);

	return with_list(QN_TFL_RESHAPE, 17, x, 2, dim, &y);
}

/* A probability of u8. */
static value
head(const value *x)
{
	const value f = x->rank == 4 ? flat(x) : *x, d = dense(&f, 1, 0);
	const value p = result(2, d.dim, 1.0f / 256, -128);
	const value y = result_of(TFL_UINT8, 2, d.dim, 1.0f / 256, 0);

	(void)one(QN_TFL_LOGISTIC, 0, &d, &p);
	return one(QN_TFL_QUANTIZE, 89, &p, &y);
}

#endif
