/* SPDX-License-Identifier: Apache-2.0 */
/* test_e2e_tflite_lstm.c - an LSTM of codes gives the bytes of TensorFlow Lite Micro's formulas.
 *
 *   small .tflite file ─import─▶ interpreter                = the reference below
 *                      └requantize, legalize▶ interpreter  = it too, emitted C = both
 *
 * The reference goes element by element, with 64-bit integers, as micro/kernels/lstm_eval.cc says. */
#include "tests/e2e/e2e.h"

#include <math.h>

#include "import/import.h"
#include "passes/passes.h"
#include "tests/unit/tflite_writer.h"

enum { GATES = 4, MOST = 64, SAMPLES = 12 };
enum { INPUT, FORGET, CELL, OUTPUT };

typedef struct lstm_case {
	const char *name;
	bool wide, time_major; /* wide: i16 data and state, i64 biases */
	int batch, steps, inputs, cells;
	float xs;
	int xz;
	float hs;
	int hz, power; /* of the state; of 2, the cell's scale */
	float clip, ws[GATES], rs[GATES];
	bool single; /* an LSTM, one step per run */
} lstm_case;

static const lstm_case cases[] = {
	{"lstm_plain",
	 false,
	 false,
	 1,
	 5,
	 3,
	 4,
	 0.05f,
	 7,
	 0.0078f,
	 -3,
	 -11,
	 0.0f,
	 {0.011f, 0.007f, 0.02f, 0.013f},
	 {0.009f, 0.012f, 0.006f, 0.01f},
	 false},
	{"lstm_clipped",
	 false,
	 false,
	 2,
	 4,
	 5,
	 3,
	 0.08f,
	 -128,
	 0.0061f,
	 12,
	 -12,
	 0.7f,
	 {0.03f, 0.04f, 0.02f, 0.05f},
	 {0.02f, 0.01f, 0.03f, 0.02f},
	 false},
	{"lstm_time_major",
	 false,
	 true,
	 2,
	 6,
	 2,
	 2,
	 0.02f,
	 0,
	 0.0079f,
	 0,
	 -15,
	 0.0f,
	 {0.011f, 0.007f, 0.02f, 0.013f},
	 {0.009f, 0.012f, 0.006f, 0.01f},
	 false},
	{"lstm_coarse",
	 false,
	 false,
	 1,
	 3,
	 4,
	 5,
	 1.7f,
	 3,
	 0.2f,
	 60,
	 -3,
	 1.4f,
	 {1.3f, 0.7f, 0.2f, 0.9f},
	 {0.9f, 1.2f, 0.6f, 1.0f},
	 false},
	{"lstm_of_16",
	 true,
	 false,
	 1,
	 4,
	 3,
	 4,
	 0.0004f,
	 0,
	 0.00003f,
	 0,
	 -11,
	 0.0f,
	 {0.011f, 0.007f, 0.02f, 0.013f},
	 {0.009f, 0.012f, 0.006f, 0.01f},
	 false},
	{"lstm_of_16_clipped",
	 true,
	 true,
	 2,
	 3,
	 3,
	 4,
	 0.0009f,
	 0,
	 0.00002f,
	 0,
	 -13,
	 0.4f,
	 {0.04f, 0.03f, 0.02f, 0.05f},
	 {0.02f, 0.01f, 0.03f, 0.02f},
	 false},
	{"lstm_single",
	 false,
	 true,
	 2,
	 1,
	 3,
	 4,
	 0.05f,
	 7,
	 0.0078f,
	 -3,
	 -11,
	 0.5f,
	 {0.031f, 0.027f, 0.02f, 0.033f},
	 {0.029f, 0.012f, 0.026f, 0.01f},
	 true},
	{"lstm_single_of_16",
	 true,
	 true,
	 1,
	 1,
	 3,
	 4,
	 0.0004f,
	 0,
	 0.00003f,
	 0,
	 -11,
	 0.0f,
	 {0.011f, 0.007f, 0.02f, 0.013f},
	 {0.009f, 0.012f, 0.006f, 0.01f},
	 true},
	{"lstm_step",
	 false,
	 false,
	 2,
	 1,
	 4,
	 5,
	 0.05f,
	 7,
	 0.0078f,
	 -3,
	 -11,
	 0.0f,
	 {0.031f, 0.027f, 0.02f, 0.033f},
	 {0.029f, 0.012f, 0.026f, 0.01f},
	 false},
	{"lstm_once",
	 false,
	 false,
	 1,
	 1,
	 1,
	 1,
	 0.05f,
	 7,
	 0.0078f,
	 -3,
	 -11,
	 0.0f,
	 {0.011f, 0.007f, 0.02f, 0.013f},
	 {0.009f, 0.012f, 0.006f, 0.01f},
	 false},
};

typedef struct lstm_data {
	int8_t w[GATES][MOST], r[GATES][MOST];
	int32_t bias[GATES][MOST];
	int64_t wide_bias[GATES][MOST];
	uint16_t sigmoid[256];
	int saturated, limited;      /* how often the reference did so */
	int64_t h[MOST], cell[MOST]; /* by batch, what a run of one step leaves to the next */
} lstm_data;

/* ---- the reference ---- */

static int64_t
floor_shift(int64_t x, int n)
{
	return x >= 0 ? x >> n : -((-x + (INT64_C(1) << n) - 1) >> n);
}

/* x * M, M as 31 bits and a power of 2, of which the multiplication takes 31 and 0 of the power: each
 * rounded. */
static int64_t
times(int64_t x, double M)
{
	int e;
	int64_t m = (int64_t)floor(frexp(M, &e) * 0x1p31 + 0.5);

	if (m == INT64_C(1) << 31) {
		m /= 2;
		e++;
	}
	if (e > 0)
		x *= INT64_C(1) << e;
	x = floor_shift(x * m + (INT64_C(1) << 30), 31);
	if (e < 0) { /* ties away from 0 */
		int64_t half = INT64_C(1) << (-e - 1);

		x = x >= 0 ? floor_shift(x + half, -e) : -floor_shift(-x + half, -e);
	}
	return x;
}

/* The same of a 64-bit sum: 15 bits of M, one rounding. */
static int64_t
times_wide(int64_t x, double M)
{
	int e;
	int64_t m = (int64_t)floor(frexp(M, &e) * 0x1p31 + 0.5);

	if (m == INT64_C(1) << 31) {
		m /= 2;
		e++;
	}
	m = m < 0x7fff0000 ? (m + (1 << 15)) >> 16 : 0x7fff;
	return floor_shift(x * m + (INT64_C(1) << (14 - e)), 15 - e);
}

static int64_t
within(lstm_data *d, int64_t x, int bits)
{
	int64_t most = (INT64_C(1) << (bits - 1)) - 1;

	d->saturated += x > most || x < -most - 1;
	return x > most ? most : x < -most - 1 ? -most - 1 : x;
}

/* Of x in 1/12288. */
static int64_t
sigmoid(const lstm_data *d, int64_t x)
{
	int64_t u = x < 0 ? -x : x, at = u / 512, y = INT64_C(0x7fff) * 1024;

	if (at < 255)
		y = d->sigmoid[at] * 512 + u % 512 * (d->sigmoid[at + 1] - d->sigmoid[at]);
	return (x >= 0 ? y + 512 : (INT64_C(1) << 25) - y + 511) / 1024;
}

static int64_t
tanh_of(const lstm_data *d, int64_t x)
{
	int64_t u = x < 0 ? -x : x, at = u / 256, y = INT64_C(0xffff) * 256;

	if (at < 255)
		y = d->sigmoid[at] * 256 + u % 256 * (d->sigmoid[at + 1] - d->sigmoid[at]);
	return floor_shift(x >= 0 ? y - (1 << 23) + 128 : (1 << 23) - y + 127, 8);
}

static int64_t
product(const lstm_case *c, lstm_data *d, const int64_t *x, int n, int64_t zp, float xs,
	const int8_t *w, float ws, int64_t sum)
{
	float scale = xs * ws;
	double M = (double)scale * 4096.0;

	for (int i = 0; i < n; i++)
		sum += (x[i] - zp) * w[i];
	return within(d, c->wide ? times_wide(sum, M) : times(sum, M), 16);
}

/* In 2^-12, in front of the function. */
static int64_t
gate(const lstm_case *c, lstm_data *d, int g, int k, const int64_t *x, const int64_t *h)
{
	int64_t bias = c->wide ? d->wide_bias[g][k] : d->bias[g][k];

	return within(
		d,
		product(c, d, x, c->inputs, c->xz, c->xs, d->w[g] + k * c->inputs, c->ws[g], bias) +
			product(c, d, h, c->cells, c->hz, c->hs, d->r[g] + k * c->cells, c->rs[g],
				0),
		16);
}

/* The cell's tanh is of a scale 2^power. */
static int64_t
tanh_of_cell(const lstm_data *d, int64_t cell, int power)
{
	int shift = 12 + power;

	return tanh_of(d, shift >= 0 ? cell * 3 * (1 << shift)
				     : floor_shift(cell * 3 + (1 << (-shift - 1)), -shift));
}

static void
reference_step(const lstm_case *c, lstm_data *d, const int64_t *x, int64_t *h, int64_t *cell)
{
	double s = ldexp(1.0, c->power);
	int64_t most = (int64_t)((double)c->clip / s), next[MOST];

	for (int k = 0; k < c->cells; k++) {
		int64_t f = sigmoid(d, 3 * gate(c, d, FORGET, k, x, h));
		int64_t i = sigmoid(d, 3 * gate(c, d, INPUT, k, x, h));
		int64_t a = tanh_of(d, 3 * gate(c, d, CELL, k, x, h));
		int64_t o = sigmoid(d, 3 * gate(c, d, OUTPUT, k, x, h));

		cell[k] = within(d,
				 within(d, times(f * cell[k], 0x1p-15), 16) +
					 within(d, times(i * a, 0x1p-30 / s), 16),
				 16);
		if (c->clip > 0) {
			d->limited += cell[k] > most || cell[k] < -most;
			cell[k] = cell[k] > most ? most : cell[k] < -most ? -most : cell[k];
		}
		next[k] = within(
			d,
			times(tanh_of_cell(d, cell[k], c->power) * o, 0x1p-30 / (double)c->hs) +
				c->hz,
			c->wide ? 16 : 8);
	}
	memcpy(h, next, (size_t)c->cells * sizeof *h);
}

static void
reference(const lstm_case *c, lstm_data *d, const qn_tensor *in, int64_t *y)
{
	for (int b = 0; b < c->batch; b++) {
		int64_t *h = d->h + b * c->cells, *cell = d->cell + b * c->cells, x[MOST];

		for (int k = 0; k < c->cells && c->steps > 1; k++) {
			h[k] = c->hz;
			cell[k] = 0;
		}
		for (int t = 0; t < c->steps; t++) {
			int at = c->time_major ? t * c->batch + b : b * c->steps + t;

			for (int k = 0; k < c->inputs; k++)
				x[k] = qn_tensor_i64(in, at * c->inputs + k);
			reference_step(c, d, x, h, cell);
			memcpy(y + at * c->cells, h, (size_t)c->cells * sizeof *h);
		}
	}
}

/* ---- the file ---- */

/* Table of sigmoid(i / 24) in 0.16, half of the line's middle error taken off; a few entries are
 * those that TFLite prints. */
static void
fill(builder *b, const lstm_case *c, lstm_data *d)
{
	for (int i = 0; i < 256; i++) {
		double y = 65536.0 / (1.0 + exp(-i / 24.0));
		double next = 65536.0 / (1.0 + exp(-(i + 1) / 24.0));
		double middle = 65536.0 / (1.0 + exp(-(i + 0.5) / 24.0));

		d->sigmoid[i] =
			i == 255 ? UINT16_MAX
				 : (uint16_t)floor(y - ((y + next) / 2.0 - middle) / 2.0 + 0.5);
	}
	assert_true(d->sigmoid[1] == 33451 && d->sigmoid[96] == 64357 && d->sigmoid[254] == 65534);
	for (int g = 0; g < GATES; g++)
		for (int i = 0; i < MOST; i++) {
			d->w[g][i] = (int8_t)build_random(b, -127, 127);
			d->r[g][i] = (int8_t)build_random(b, -127, 127);
			d->bias[g][i] = (int32_t)build_random(b, -3000, 3000);
			d->wide_bias[g][i] = build_random(b, -300000, 300000);
		}
	assert_true(c->inputs * c->cells <= MOST && c->cells * c->cells <= MOST);
}

static int
state(tfl_file *f, const char *name, int type, int batch, int cells, float scale, int zp)
{
	int k = tfl_codes(f, name, type, DIMS(batch, cells), scale, zp, NULL, 0);

	f->tensor[k].is_variable = 1;
	return k;
}

/* [1,batch,n] as [batch,n]. */
static void
flat(tfl_file *f, int tensor)
{
	tfl_tensor_of *t = &f->tensor[tensor];

	t->rank = 2;
	t->dim[0] = t->dim[1];
	t->dim[1] = t->dim[2];
}

typedef void spoil_fn(tfl_file *f, tfl_op_of *o);

/* spoil: changes the file before it is written; NULL: none. */
static qn_status
import(builder *b, const lstm_case *c, const lstm_data *d, bool from_float, spoil_fn *spoil)
{
	int type = c->wide ? TFL_INT16 : TFL_INT8, outer = c->time_major ? c->steps : c->batch;
	int inner = c->time_major ? c->batch : c->steps;
	const qn_import_how how = {.from_float = from_float};
	tfl_file *f = tfl_begin();
	int32_t in[20], out;
	size_t n;

	for (int i = 0; i < 20; i++)
		in[i] = -1;
	in[0] = tfl_codes(f, "x", type, DIMS(outer, inner, c->inputs), c->xs, c->xz, NULL, 0);
	for (int g = 0; g < GATES; g++) {
		in[1 + g] = tfl_codes(f, "w", TFL_INT8, DIMS(c->cells, c->inputs), c->ws[g], 0,
				      d->w[g], c->cells * c->inputs);
		in[5 + g] = tfl_codes(f, "r", TFL_INT8, DIMS(c->cells, c->cells), c->rs[g], 0,
				      d->r[g], c->cells * c->cells);
		in[12 + g] = tfl_codes(f, "b", c->wide ? TFL_INT64 : TFL_INT32, DIMS(c->cells),
				       c->xs * c->ws[g], 0,
				       c->wide ? (const void *)d->wide_bias[g] : d->bias[g],
				       c->cells * (c->wide ? 8 : 4));
	}
	in[18] = state(f, "h", type, c->batch, c->cells, c->hs, c->hz);
	in[19] = state(f, "c", TFL_INT16, c->batch, c->cells, ldexpf(1.0f, c->power), 0);
	out = tfl_codes(f, "y", type, DIMS(outer, inner, c->cells), c->hs, c->hz, NULL, 0);
	if (c->single)
		flat(f, in[0]), flat(f, out);
	tfl_op_of *o = tfl_op(f, c->single ? QN_TFL_LSTM : QN_TFL_UNIDIRECTIONAL_SEQUENCE_LSTM, 20,
			      in, 1, &out);
	tfl_with(o, 0, 'b', QN_TFL_ACT_TANH);
	tfl_with(o, 1, 'f', (double)c->clip);
	tfl_with(o, 3, 'b', c->time_major && !c->single);
	if (spoil != NULL)
		spoil(f, o);
	const uint8_t *bytes = tfl_end(f, 1, in, 1, &out, &n);
	bytes = qn_arena_copy(&b->arena, bytes, n);
	free(f);
	return qn_tflite_read(&b->model, "lstm.tflite", bytes, n, &how);
}

/* ---- comparing ---- */

/* All codes of x, also the ends of the storage. */
static const qn_tensor *
sample(builder *b, size_t k)
{
	const qn_type *type = qn_graph_node(b->g, b->g->input[0])->type;
	void *data;
	qn_tensor *x = qn_tensor_new(&b->arena, type, &data);

	for (int64_t i = 0; i < qn_type_count(type); i++)
		qn_store_i64(data, type->elem->plain, i,
			     k == 0   ? type->elem->qmin
			     : k == 1 ? type->elem->qmax
				      : build_random(b, type->elem->qmin, type->elem->qmax));
	return x;
}

static void
same_as_reference(builder *b, const lstm_case *c, lstm_data *d)
{
	int64_t want[MOST];
	int differ = 0;
	qn_interp *in;

	build_check(b, qn_interp_new(b->g, &b->arena, &in) == QN_OK);
	assert_int_equal(b->g->nstate, c->steps == 1 ? 2 : 0);
	for (int k = 0; k < MOST; k++) {
		d->h[k] = c->hz;
		d->cell[k] = 0;
	}
	for (size_t k = 0; k < SAMPLES; k++) {
		const qn_tensor *x = sample(b, k);

		reference(c, d, x, want);
		build_check(b, qn_interp_run(in, &x, NULL, NULL) == QN_OK);
		const qn_tensor *y = qn_interp_output(in, 0);
		for (int64_t i = 0; i < qn_type_count(y->type); i++)
			if (qn_tensor_i64(y, i) != want[i])
				fail_msg("%s, sample %zu: element %d is %d, not %d", c->name, k,
					 (int)i, (int)qn_tensor_i64(y, i), (int)want[i]);
			else
				differ += i > 0 && want[i] != want[i - 1];
	}
	assert_true(differ > SAMPLES || c->cells == 1); /* there is something to compare */
}

static void
check(const lstm_case *c)
{
	lstm_data d = {0};
	builder b;

	print_message("%s\n", c->name);
	build_begin(&b, c->name, 1);
	b.model.stage = QN_STAGE_FLOAT;
	fill(&b, c, &d);
	build_check(&b,
		    import(&b, c, &d, false, NULL) == QN_OK && qn_model_verify(&b.model) == QN_OK);
	assert_int_equal(b.model.stage, QN_STAGE_CALIBRATED);
	b.g = qn_model_entry(&b.model);
	same_as_reference(&b, c, &d);
	assert_true(c->clip <= 0 || d.limited > 0);
	assert_true(strcmp(c->name, "lstm_coarse") != 0 || d.saturated > 0);
	build_check(&b, qn_requantize(&b.model, &(qn_requant_opts){0}) == QN_OK);
	build_check(&b, qn_legalize(&b.model) == QN_OK);
	b.g = qn_model_entry(&b.model);
	same_as_reference(&b, c, &d);
	if (b.g->nstate == 0) /* in C: tests/tflite_streams.sh */
		e2e_check(&b, 4);
	build_end(&b);
}

/* Read in real numbers, an LSTM of codes means the same, to a few codes. */
static void
test_from_float(void **unused)
{
	const lstm_case *c = &cases[0];
	lstm_data d = {0};
	int64_t want[MOST];
	qn_interp *in;
	builder b;
	void *data;

	(void)unused;
	build_begin(&b, c->name, 1);
	b.model.stage = QN_STAGE_FLOAT;
	fill(&b, c, &d);
	build_check(&b, import(&b, c, &d, true, NULL) == QN_OK);
	assert_int_equal(b.model.stage, QN_STAGE_FLOAT);
	b.g = qn_model_entry(&b.model);
	build_check(&b, qn_interp_new(b.g, &b.arena, &in) == QN_OK);
	const qn_type *type = qn_graph_node(b.g, b.g->input[0])->type;
	int64_t n = qn_type_count(type);
	qn_tensor *codes =
		qn_tensor_new(&b.arena, qn_type_plain(&b.model.types, QN_PLAIN_i8, 1, &n), &data);
	for (int64_t i = 0; i < n; i++)
		qn_store_i64(data, QN_PLAIN_i8, i, build_random(&b, -128, 127));
	reference(c, &d, codes, want);
	const qn_tensor *x = qn_tensor_new(&b.arena, type, &data);
	for (int64_t i = 0; i < n; i++)
		qn_store_f64(data, QN_PLAIN_f32, i,
			     (double)c->xs * (double)(qn_tensor_i64(codes, i) - c->xz));
	build_check(&b, qn_interp_run(in, &x, NULL, NULL) == QN_OK);
	const qn_tensor *y = qn_interp_output(in, 0);
	for (int64_t i = 0; i < qn_type_count(y->type); i++)
		assert_true(fabs(qn_tensor_f64(y, i) / (double)c->hs + c->hz - (double)want[i]) <
			    3);
	build_end(&b);
}

/* ---- refused ---- */

static void
cell_scale(tfl_file *f, tfl_op_of *o)
{
	f->tensor[o->in[19]].scale[0] = 0.3f;
}

static void
cell_type(tfl_file *f, tfl_op_of *o)
{
	f->tensor[o->in[19]].type = TFL_INT8;
}

static void
no_cell(tfl_file *f, tfl_op_of *o)
{
	(void)f;
	o->in[19] = -1;
}

static void
constant_state(tfl_file *f, tfl_op_of *o)
{
	static const int8_t zero[4];
	tfl_tensor_of *t = &f->tensor[o->in[18]];

	t->is_variable = 0;
	t->data = zero;
	t->nbyte = 4;
}

static void
coupled(tfl_file *f, tfl_op_of *o)
{
	(void)f;
	o->in[1] = -1;
}

static void
no_bias(tfl_file *f, tfl_op_of *o)
{
	(void)f;
	o->in[14] = -1;
}

static void
peephole(tfl_file *f, tfl_op_of *o)
{
	(void)f;
	o->in[10] = o->in[13];
}

static void
zero_point(tfl_file *f, tfl_op_of *o)
{
	f->tensor[o->in[2]].zp[0] = 1;
}

static void
activation(tfl_file *f, tfl_op_of *o)
{
	(void)f;
	o->option[0].value = QN_TFL_ACT_RELU;
}

/* A state of another shape than that of what is computed. */
static void
other_state(tfl_file *f, tfl_op_of *o)
{
	f->tensor[o->in[18]].dim[0]++;
}

static void
other_cells(tfl_file *f, tfl_op_of *o)
{
	f->tensor[o->out[0]].dim[2]++;
}

/* A scale for each of them would take 64 GB. */
static void
many_cells(tfl_file *f, tfl_op_of *o)
{
	f->tensor[o->out[0]].dim[2] = INT32_MAX;
}

static void
test_refused(void **unused)
{
	static const struct {
		spoil_fn *spoil;
		const char *id, *of; /* the case */
	} rows[] = {
		{cell_scale, "import.type", "lstm_plain"},
		{cell_type, "import.type", "lstm_plain"},
		{no_cell, "import.type", "lstm_plain"},
		{constant_state, "import.input", "lstm_plain"},
		{coupled, "import.type", "lstm_plain"},
		{no_bias, "import.input", "lstm_plain"},
		{peephole, "import.attr", "lstm_plain"},
		{zero_point, "import.type", "lstm_plain"},
		{activation, "import.attr", "lstm_plain"},
		{other_cells, "import.input", "lstm_plain"},
		{many_cells, "import.input", "lstm_plain"},
		{no_cell, "import.input", "lstm_single"},
		{other_state, "import.type", "lstm_single"},
		{other_state, "import.type", "lstm_step"},
	};

	(void)unused;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		const lstm_case *c = cases;
		lstm_data d = {0};
		builder b;

		while (strcmp(c->name, rows[i].of) != 0)
			c++;

		build_begin(&b, "lstm", 1);
		b.model.stage = QN_STAGE_FLOAT;
		fill(&b, c, &d);
		assert_int_equal(import(&b, c, &d, false, rows[i].spoil), QN_EUNSUPPORTED);
		if (!build_reported(&b, rows[i].id))
			fail_msg("row %zu: no %s but %s", i, rows[i].id, b.diags.item[0].id);
		build_end(&b);
	}
}

static void
test_cases(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < QN_COUNT(cases); i++)
		check(&cases[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_from_float),
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
