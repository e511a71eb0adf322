/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_tflite_control.c - TFLite files that are well written, made from the bytes: loops, branches, calls and variables,
 * over a few values, with subgraphs that mostly fit them, and the options of the compilation.
 *
 *   bytes ─▶ options, type ─▶ (operators of the main graph) ─▶ (those of a condition, a body, two branches, CALL_ONCE)
 *
 * Subgraphs: 1 condition (t, x, s) -> truth, 2 body (t, x, s) -> (t, x, s), 3 and 4 branches x -> x, 5 first values. */
#define _POSIX_C_SOURCE 200809L /* getpid, unlink */

#include "tests/fuzz/fuzz_draw.h"

#include "tests/unit/tflite_writer.h"

enum { MOST_OPS = 5, LATEST = 4, KINDS = 8, CONSTANTS = 128 };
enum { T, C, B, X, S, U, P, H }; /* count, constant, truth, row, rows, one of them, place, handle */

typedef struct maker {
	fuzz_draw d;
	tfl_file *file;
	int type;                  /* of x, s and u */
	int latest[KINDS][LATEST]; /* values of each kind of the subgraph */
	int n[KINDS];
	int nconstant;
	int32_t integer[CONSTANTS];
	float data[12]; /* of constant rows */
} maker;

typedef struct op_row {
	int code;
	const char *in, *out; /* kinds by their letters */
	uint32_t graphs;      /* options that are subgraphs */
	int32_t usual;        /* value of its constants */
} op_row;

static const char letters[] = "tcbxsuph";

static const op_row ops[] = {
	{QN_TFL_ADD, "tc", "t", 0, 1},
	{QN_TFL_SUB, "tc", "t", 0, -1},
	{QN_TFL_ADD, "xx", "x", 0, 0},
	{QN_TFL_MUL, "xx", "x", 0, 0},
	{QN_TFL_RELU, "x", "x", 0, 0},
	{QN_TFL_GATHER, "st", "x", 0, 0},
	{QN_TFL_EXPAND_DIMS, "xc", "u", 0, 0},
	{QN_TFL_PACK, "tcc", "p", 0, 0},
	{QN_TFL_DYNAMIC_UPDATE_SLICE, "sup", "s", 0, 0},
	{QN_TFL_LESS, "tc", "b", 0, 3},
	{QN_TFL_GREATER_EQUAL, "tc", "b", 0, 1},
	{QN_TFL_NOT_EQUAL, "tc", "b", 0, 3},
	{QN_TFL_LOGICAL_AND, "bb", "b", 0, 0},
	{QN_TFL_IF, "bx", "x", 2, 0},
	{QN_TFL_WHILE, "txs", "txs", 2, 0},
	{QN_TFL_CALL, "x", "x", 1, 0},
	{QN_TFL_VAR_HANDLE, "", "h", 0, 0},
	{QN_TFL_READ_VARIABLE, "h", "x", 0, 0},
	{QN_TFL_ASSIGN_VARIABLE, "hx", "", 0, 0},
	{QN_TFL_CALL_ONCE, "", "", 1, 0},
};

static int
make(maker *k, int kind)
{
	static const int32_t dim[KINDS][3] = {
		[X] = {1, 4}, [S] = {3, 1, 4}, [U] = {1, 1, 4}, [P] = {3}};
	static const int rank[KINDS] = {[X] = 2, [S] = 3, [U] = 3, [P] = 1};
	const int type = kind == B                             ? TFL_BOOL
			 : kind == H                           ? TFL_RESOURCE
			 : kind == X || kind == S || kind == U ? k->type
							       : TFL_INT32;
	static const char *const name[] = {"a", "b", "c", "d", "e", "f", "g"};
	const int t = tfl_tensor(k->file, name[k->file->ntensor % 7], type, rank[kind], dim[kind],
				 NULL, 0);
	tfl_tensor_of *x = &k->file->tensor[t];

	if (type == TFL_INT8) {
		x->nscale = 1;
		x->scale[0] = 0.01f * (float)(1 + draw(&k->d, 3));
		x->zp[0] = draw(&k->d, 3);
	}
	k->latest[kind][k->n[kind] % LATEST] = t;
	k->n[kind]++;
	return t;
}

/* A value of the file: an integer, or floats or their quantized values. */
static int
constant(maker *k, int kind, int32_t usual)
{
	const int t = make(k, kind);
	tfl_tensor_of *x = &k->file->tensor[t];
	int32_t *v = &k->integer[k->nconstant++ % CONSTANTS];

	*v = draw(&k->d, 6) == 5 ? (int32_t)draw_int(&k->d) : usual;
	x->data = kind == C ? (const void *)v : k->data;
	x->nbyte = kind == C ? 4 : (kind == S ? 12 : 4) * (k->type == TFL_INT8 ? 1 : 4);
	return t;
}

static void add_op(maker *k, const op_row *r);

/* The row of an operator whose only result is of this kind. */
static const op_row *
maker_of(int kind)
{
	static const int of[KINDS] = {[B] = QN_TFL_LESS,
				      [U] = QN_TFL_EXPAND_DIMS,
				      [P] = QN_TFL_PACK,
				      [H] = QN_TFL_VAR_HANDLE};
	const op_row *r = ops;

	while (r->code != of[kind])
		r++;
	return r;
}

/* A value of this kind, made where there is none; seldom any tensor, or none. */
static int
pick(maker *k, int kind, int32_t usual)
{
	if (draw(&k->d, 80) == 79)
		return draw(&k->d, k->file->ntensor + 1) - 1;
	if (kind == C || (k->n[kind] == 0 && (kind == T || kind == X || kind == S)))
		return constant(k, kind == T ? C : kind, usual);
	if (k->n[kind] == 0)
		add_op(k, maker_of(kind));
	const int have = k->n[kind] < LATEST ? k->n[kind] : LATEST;
	const int back = draw(&k->d, 4) == 3 ? draw(&k->d, have) : 0;
	return k->latest[kind][(k->n[kind] - 1 - back) % LATEST];
}

static int
kind_of(char letter)
{
	return (int)(strchr(letters, letter) - letters);
}

static void
add_op(maker *k, const op_row *r)
{
	int32_t in[4], out[4];
	int nin = 0, nout = 0;

	for (const char *s = r->in; *s != '\0'; s++)
		in[nin++] = pick(k, kind_of(*s), r->usual);
	for (const char *s = r->out; *s != '\0'; s++)
		out[nout++] = make(k, kind_of(*s));
	tfl_op_of *o = tfl_op(k->file, r->code, nin, in, nout, out);
	for (uint32_t i = 0; i < r->graphs; i++)
		tfl_with(o, i, 'i',
			 draw(&k->d, 12) == 11         ? (double)draw(&k->d, 7)
			 : r->code == QN_TFL_WHILE     ? 1.0 + i
			 : r->code == QN_TFL_CALL_ONCE ? 5.0
			 : r->code == QN_TFL_IF        ? 3.0 + i
						       : 3.0 + draw(&k->d, 2));
	if (r->code == QN_TFL_PACK)
		tfl_with(o, 0, 'i', nin);
}

static const op_row *
row_of(int code)
{
	const op_row *r = ops;

	while (r->code != code)
		r++;
	return r;
}

/* Operators of a subgraph: first those that it needs, then any; it leaves tensors to those after it. */
static void
fill(maker *k, int nneeded, const int *needed, int most)
{
	const int room = TFL_MOST - 16 * (TFL_GRAPHS - k->file->ngraph) - 12;

	for (int i = 0; i < nneeded && k->file->ntensor < room; i++)
		if (draw(&k->d, 16) != 15)
			add_op(k, row_of(needed[i]));
	for (int i = draw(&k->d, most + 1); i > 0 && k->file->ntensor < room; i--)
		add_op(k, &ops[draw(&k->d, (int)(sizeof ops / sizeof ops[0]))]);
}

/* A subgraph with these inputs and outputs. */
static void
subgraph(maker *k, const char *in, const char *out, int nneeded, const int *needed)
{
	const char *const in_out = in; /* of CALL_ONCE none */
	tfl_graph_of *g;

	memset(k->n, 0, sizeof k->n);
	(void)tfl_subgraph(k->file, 0, NULL, 0, NULL);
	g = &k->file->graph[k->file->ngraph - 1];
	for (; *in != '\0'; in++)
		g->in[g->nin++] = make(k, kind_of(*in));
	fill(k, nneeded, needed, *in_out == '\0' ? draw(&k->d, 8) / 7 : 3);
	for (; *out != '\0'; out++)
		g->out[g->nout++] = pick(k, kind_of(*out), 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int step[] = {QN_TFL_GATHER, QN_TFL_EXPAND_DIMS, QN_TFL_PACK,
				   QN_TFL_DYNAMIC_UPDATE_SLICE, QN_TFL_ADD};
	static const int ends[] = {QN_TFL_LESS},
			 first[] = {QN_TFL_VAR_HANDLE, QN_TFL_ASSIGN_VARIABLE};
	static const int sum[] = {QN_TFL_RELU};
	static const int all[] = {QN_TFL_CALL_ONCE, QN_TFL_WHILE, QN_TFL_IF, QN_TFL_CALL,
				  QN_TFL_CALL};
	static maker k;
	int32_t in[2], out[2];
	size_t n;

	memset(&k, 0, sizeof k);
	k.d = (fuzz_draw){data, size, 0};
	const fuzz_how_to how = draw_options(&k.d);
	k.type = draw(&k.d, 2) == 1 ? TFL_INT8 : TFL_FLOAT32;
	k.file = tfl_begin();
	in[0] = make(&k, X);
	in[1] = make(&k, S);
	k.latest[T][k.n[T]++] = constant(&k, C, 0); /* the count of the loops begins with it */
	fill(&k, 5, all, MOST_OPS);
	out[0] = pick(&k, X, 0);
	out[1] = pick(&k, S, 0);
	subgraph(&k, "txs", "b", 1, ends);
	subgraph(&k, "txs", "txs", 5 - draw(&k.d, 6) / 5 * draw(&k.d, 6), step);
	subgraph(&k, "x", "x", 1, sum);
	subgraph(&k, "x", "x", 0, NULL);
	subgraph(&k, "", "", 2, first);
	const uint8_t *bytes = tfl_end(k.file, 2, in, 2, out, &n);
	fuzz_model_run_as(".tflite", bytes, n, &how);
	free(k.file);
	return 0;
}
