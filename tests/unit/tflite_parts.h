/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_parts.h - what a small TFLite file of a test holds: tensors, operators, subgraphs.  tflite_writer.h writes it.
 *
 *   tfl_file *t = tfl_begin();
 *   int x = tfl_codes(t, "x", TFL_INT8, DIMS(1, 4), 0.5f, 3, NULL, 0);      one scale and zero point
 *   tfl_op_of *o = tfl_op(t, QN_TFL_LEAKY_RELU, INTS(x), INTS(y));
 *   tfl_with(o, 0, 'f', 0.25);                                              an option of it */
#ifndef TESTS_UNIT_TFLITE_PARTS_H
#define TESTS_UNIT_TFLITE_PARTS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum {
	TFL_FLOAT32 = 0,
	TFL_FLOAT16 = 1,
	TFL_INT32 = 2,
	TFL_UINT8 = 3,
	TFL_INT64 = 4,
	TFL_STRING = 5,
	TFL_BOOL = 6,
	TFL_INT16 = 7,
	TFL_INT8 = 9,
	TFL_RESOURCE = 13,
	TFL_INT4 = 17
};

enum { TFL_BYTES = 1 << 18, TFL_MOST = 128, TFL_GRAPHS = 6 };

#define DIMS(...)                                                                                  \
	(int)(sizeof((int32_t[]){__VA_ARGS__}) / 4), (const int32_t[])                             \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define INTS(...) DIMS(__VA_ARGS__)

/* An option of an operator: its field, its bytes as a number; kind 'b' byte, 'i' i32, 'f' f32, 'v' vector, 's' text. */
typedef struct tfl_option {
	uint32_t field;
	char kind;
	double value;
	int n;
	int32_t v[8];
	const char *text;
} tfl_option;

typedef struct tfl_tensor_of {
	const char *name;
	int type, rank, nscale, axis, nbyte;
	int32_t dim[8];
	const int32_t *signature; /* [rank], -1: open; NULL: none */
	const void *data;
	float scale[16];
	int64_t zp[16];
	int nindices; /* not 0: a dense dimension, then a compressed one with these */
	const int32_t *segments, *indices;
	int is_variable, is_outside; /* data behind the tables, by its offset */
	int block, scales,
		zeros; /* quantized in blocks: their size, the tensors of their parameters */
} tfl_tensor_of;

typedef struct tfl_op_of {
	int code, nin, nout, noption;
	int32_t in[48], out[8];
	tfl_option option[8];
	int options_type;      /* of BuiltinOptions; 0: not said, which Quern does not ask for */
	const uint8_t *custom; /* options of a custom operator */
	size_t ncustom;
} tfl_op_of;

/* A subgraph: its operators begin with number `first`. */
typedef struct tfl_graph_of {
	int first, nin, nout;
	int32_t in[8], out[8];
} tfl_graph_of;

typedef struct tfl_file {
	uint8_t b[TFL_BYTES];
	size_t n;
	int ntensor, nop, subgraphs, ngraph;
	tfl_graph_of graph[TFL_GRAPHS]; /* [ngraph] after subgraph 0; all have the same tensors */
	tfl_tensor_of tensor[TFL_MOST];
	tfl_op_of op[TFL_MOST];
	const char *custom, *name; /* name: of the subgraph */
} tfl_file;

static inline tfl_file *
tfl_begin(void)
{
	tfl_file *t = calloc(1, sizeof *t);

	assert(t != NULL);
	t->subgraphs = 1;
	return t;
}

static inline int
tfl_tensor(tfl_file *t, const char *name, int type, int rank, const int32_t *dim, const void *data,
	   int nbyte)
{
	tfl_tensor_of *x = &t->tensor[t->ntensor];

	*x = (tfl_tensor_of){.name = name, .type = type, .rank = rank, .nbyte = nbyte};
	x->data = data;
	for (int i = 0; i < rank; i++)
		x->dim[i] = dim[i];
	return t->ntensor++;
}

/* One scale and zero point. */
static inline int
tfl_codes(tfl_file *t, const char *name, int type, int rank, const int32_t *dim, float scale,
	  int64_t zp, const void *data, int nbyte)
{
	int k = tfl_tensor(t, name, type, rank, dim, data, nbyte);

	t->tensor[k].nscale = 1;
	t->tensor[k].scale[0] = scale;
	t->tensor[k].zp[0] = zp;
	return k;
}

static inline tfl_op_of *
tfl_op(tfl_file *t, int code, int nin, const int32_t *in, int nout, const int32_t *out)
{
	tfl_op_of *o = &t->op[t->nop++];

	o->code = code;
	o->nin = nin;
	o->nout = nout;
	for (int i = 0; i < nin; i++)
		o->in[i] = in[i];
	for (int i = 0; i < nout; i++)
		o->out[i] = out[i];
	return o;
}

/* kind: as in tfl_option. */
static inline tfl_op_of *
tfl_with(tfl_op_of *o, uint32_t field, char kind, double value)
{
	o->option[o->noption++] = (tfl_option){.field = field, .kind = kind, .value = value};
	return o;
}

/* The operators from here on are those of another subgraph, whose number this is. */
static inline int
tfl_subgraph(tfl_file *t, int nin, const int32_t *in, int nout, const int32_t *out)
{
	tfl_graph_of *g = &t->graph[t->ngraph++];

	*g = (tfl_graph_of){.first = t->nop, .nin = nin, .nout = nout};
	for (int i = 0; i < nin; i++)
		g->in[i] = in[i];
	for (int i = 0; i < nout; i++)
		g->out[i] = out[i];
	return t->ngraph;
}

#endif
