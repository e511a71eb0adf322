/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_lstm_rig.h - for tests of LSTMs and RNNs of TFLite files: the sums written down once more, and the files. */
#ifndef TESTS_UNIT_TFLITE_LSTM_RIG_H
#define TESTS_UNIT_TFLITE_LSTM_RIG_H

#include "tests/unit/tflite_rig.h"

#include <math.h>

enum { BATCH = 2, STEPS = 3, INPUTS = 2, AUX = 4, CELLS = 3, MOST = 64 };
enum { GATES = 4, INPUT = 0, FORGET, CELL, OUTPUT };

typedef struct shape {
	const char *name;
	bool coupled, peepholes, norms, projected, biased, time_major;
	float clip, clip_projection;
	int activation;
} shape;

/* One direction's numbers. */
typedef struct params {
	float w[GATES][CELLS * INPUTS], aux[GATES][CELLS * AUX], r[GATES][CELLS * CELLS];
	float peephole[GATES][CELLS], bias[GATES][CELLS], norm[GATES][CELLS];
	float projection[CELLS * CELLS], projection_bias[CELLS];
} params;

static inline int
outputs(const shape *s)
{
	return s->projected ? 2 : CELLS;
}

static inline void
fill(params *p)
{
	float *v = (float *)p;

	for (size_t i = 0; i < sizeof *p / sizeof *v; i++)
		v[i] = (float)real() / 2;
}

static inline double
dot(const float *w, const double *x, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += (double)w[i] * x[i];
	return sum;
}

/* All cells of a gate in front of its function; c: what the peephole looks at. */
static inline void
gate(const shape *s, const params *p, int g, const double *x, const double *aux, const double *h,
     const double *c, double *z)
{
	double mean = 0, var = 0;

	for (int k = 0; k < CELLS; k++) {
		z[k] = dot(p->w[g] + k * INPUTS, x, INPUTS) +
		       dot(p->r[g] + k * outputs(s), h, outputs(s));
		if (aux != NULL)
			z[k] += dot(p->aux[g] + k * AUX, aux, AUX);
		if (s->peepholes && g != CELL)
			z[k] += (double)p->peephole[g][k] * c[k];
		mean += z[k] / CELLS;
	}
	for (int k = 0; k < CELLS; k++)
		var += (z[k] - mean) * (z[k] - mean) / CELLS;
	for (int k = 0; k < CELLS; k++) {
		if (s->norms)
			z[k] = (z[k] - mean) / sqrt(var + 1e-8) * (double)p->norm[g][k];
		z[k] += (double)p->bias[g][k];
	}
}

/* The place of element k of n of step t of sequence b. */
static inline int
place(bool time_major, int b, int t, int n, int k)
{
	return (time_major ? t * BATCH + b : b * STEPS + t) * n + k;
}

static inline int
real_tensor(const char *name, int rank, const int32_t *dim, const float *data)
{
	int n = 4;

	for (int i = 0; i < rank; i++)
		n *= dim[i];
	return tfl_tensor(file, name, TFL_FLOAT32, rank, dim, data, data != NULL ? n : 0);
}

/* [BATCH,STEPS,n] */
static inline int
data_tensor(const char *name, bool time_major, int n)
{
	return real_tensor(name, DIMS(time_major ? STEPS : BATCH, time_major ? BATCH : STEPS, n),
			   NULL);
}

static inline int
variable(int n)
{
	int k = real_tensor("state", DIMS(BATCH, n), NULL);

	file->tensor[k].is_variable = 1;
	return k;
}

static inline void
none(int32_t *in, int n)
{
	for (int i = 0; i < n; i++)
		in[i] = -1;
}

/* Runs twice: no state is left of the first run. */
static inline void
gives_each(const double *const *data, int nout, double want[][MOST])
{
	const qn_tensor *x[2];
	qn_interp *in = interp();

	for (size_t i = 0; i < rg->g->ninput; i++)
		x[i] = tensor(qn_graph_node(rg->g, rg->g->input[i])->type, data[i]);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(qn_interp_run(in, x, NULL, NULL), QN_OK);
		for (int k = 0; k < nout; k++) {
			const qn_tensor *y = qn_interp_output(in, (size_t)k);

			near(want[k], doubles(y), qn_type_count(y->type), 1e-5);
		}
	}
}

static inline void
again(const char *name)
{
	print_message("%s\n", name);
	tflite_teardown(NULL);
	tflite_setup(NULL);
}

enum { NO_SECOND, SECOND_BACK, SECOND_AUX };

#endif
