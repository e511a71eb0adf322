/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_lstm_quantized.c - quantized UNIDIRECTIONAL_SEQUENCE_LSTM, as TensorFlow Lite Micro computes it
 * (micro/kernels/lstm_eval.cc), and LSTM, which is a step of it: i8 or i16 data and output, i8 weights, an i16 cell.
 *
 *   each step   z = requantize(dense(x, [W_i; W_f; W_o; W_c], bias))        i16 in 2^-12
 *               z = z + requantize(dense(h, [R_i; R_f; R_o; R_c]))          saturated
 *               s = sigmoid(z_i, z_f, z_o), a = tanh(z_c)                   i16 in 2^-15
 *               c = s_f * c + s_i * a        rounded, saturated twice; i16 in a power of 2
 *               c = clamp(c)                 where the file sets a limit
 *               h = tanh(c) * s_o            rounded once, to the output's parameters
 *
 * The products are made here, what follows is @tfl_lstm_quantized of lib/recurrent_tflite.qir.  Each gate's weights have one
 * scale; concatenated they have one for each row.  The first step reads zeros, that of a sequence of one step what the
 * run before has left. */
#include "import/importer_lib.h"
#include "import/tflite_sequence.h"

#include <math.h>

enum { DATA, WEIGHTS, RECURRENT = 5, PEEPHOLES = 9, BIASES = 12, PROJECTION = 16 };
enum { HIDDEN = 18, CELL, NORMS, GATES = 4 };
enum { OF_DATA, OF_STATE };
enum { OPTION_ACTIVATION, OPTION_CLIP, OPTION_TIME_MAJOR = 3 };

/* The gates in order: input, forget, output, then the cell's, which has another function. */
static const uint32_t order[GATES] = {0, 1, 3, 2};

typedef struct lstm {
	qn_tfl_op *o;
	qn_tfl_seq s;
	int64_t cells, clip; /* clip: the largest quantized value of the cell; -1: no limit */
	const qn_elem *before, *cell, *hidden; /* before: of a gate's function */
	qn_id weights[2], bias;                /* of data and h, [4 cells,.] */
	const qn_elem *sums[2];                /* of their products */
} lstm;

/* ---- parameters ---- */

static double
scale_of(const lstm *l, const qn_elem *e)
{
	double scale = 1.0;
	int64_t zp;

	qn_elem_param(&l->o->im->m->types, e, 0, &scale, &zp);
	return scale;
}

static bool
is_quantized(const qn_elem *e, int bits)
{
	return e != NULL && qn_elem_is_quant(e) && e->is_signed && e->bits == bits &&
	       e->gran == QN_PER_TENSOR;
}

static const qn_elem *
i16_elem(const lstm *l, double scale)
{
	qn_types *types = &l->o->im->m->types;
	qn_elem d = qn_elem_desc(16, true);
	const qn_elem *e = NULL;

	d.kind = QN_ELEM_UNIFORM;
	d.scale = qn_scale_const(types, scale);
	if (qn_elem_make(types, l->o->to[0]->name, &d, &e) != QN_OK)
		l->o->im->problems++;
	return e;
}

static const qn_elem *
elem_of(qn_tfl_op *o, uint32_t i)
{
	const qn_type *type = o->from[i] != NULL ? qn_tfl_type(o->f, o->from[i]) : NULL;

	return type != NULL ? type->elem : NULL;
}

/* Data, state and result of one storage, a cell of i16 whose scale is a power of 2; reports. */
static bool
states_ok(lstm *l)
{
	qn_tfl_op *o = l->o;
	const qn_elem *x = qn_importer_type(o->im, o->in[DATA])->elem, *y = qn_tfl_result(o, 0);
	int exponent;

	l->hidden = elem_of(o, HIDDEN);
	l->cell = elem_of(o, CELL);
	if (!qn_elem_is_quant(x) || !is_quantized(x, x->bits == 16 ? 16 : 8) ||
	    !is_quantized(y, x->bits) || !is_quantized(l->hidden, x->bits) ||
	    !is_quantized(l->cell, 16))
		return qn_importer_refuse(o->im, "import.type",
					  "a quantized LSTM needs data, state and result of one "
					  "storage type, i8 or i16 with one scale, and a cell "
					  "state of i16; use --from-float for others") != 0;
	return (frexp(scale_of(l, l->cell), &exponent) == 0.5 && exponent <= 3) ||
	       qn_importer_refuse(
		       o->im, "import.type",
		       "the scale of the cell state is %g; it must be a power of 2, at most 4",
		       scale_of(l, l->cell)) != 0;
}

/* Input i is a peephole, of a projection or a norm. */
static bool
is_variant(uint32_t i)
{
	return i < BIASES || i >= NORMS || i / 2 == PROJECTION / 2;
}

static bool
options_ok(lstm *l)
{
	qn_tfl_op *o = l->o;
	double clip = qn_tfl_option_real(o, OPTION_CLIP, 0.0);
	int64_t activation = qn_tfl_flag(o, OPTION_ACTIVATION, QN_TFL_ACT_NONE);

	for (uint32_t i = PEEPHOLES; i < o->nin; i++)
		if (is_variant(i) && o->from[i] != NULL)
			return qn_importer_refuse(
				       o->im, "import.attr",
				       "a quantized LSTM has no peepholes, projection or norms, as "
				       "in TFLite Micro; use --from-float for these") != 0;
	if (activation != QN_TFL_ACT_TANH)
		return qn_importer_refuse(
			       o->im, "import.attr",
			       "fused activation %lld; a quantized LSTM supports only TANH",
			       (long long)activation) != 0;
	clip = clip > 0.0 ? clip / scale_of(l, l->cell) : -1.0;
	l->clip = clip < 32767.0 ? (int64_t)clip : 32767;
	return true;
}

/* ---- weights ---- */

/* The constant of input i, signed quantized values of `bits` or plain integers, with n elements; reports. */
static const qn_tensor *
gate_constant(const lstm *l, uint32_t i, int bits, int64_t n)
{
	qn_tfl_op *o = l->o;
	const qn_tensor *x = o->in[i] != 0 ? qn_importer_known(o->im, o->in[i]) : NULL;
	const qn_elem *e = x != NULL ? x->type->elem : NULL;

	if (e != NULL && e->is_signed && e->bits == bits && !qn_elem_is_float(e) &&
	    qn_type_count(x->type) == n)
		return x;
	(void)qn_importer_refuse(o->im, "import.input",
				 "input %u must be a constant of i%d with %lld elements: all four "
				 "gates of a quantized LSTM have weights and a bias",
				 i, bits, (long long)n);
	return NULL;
}

/* One scale for each row: that of its gate; NULL after a report. */
static const qn_elem *
row_elem(const lstm *l, uint32_t at)
{
	static const int32_t axis = 0;
	qn_types *types = &l->o->im->m->types;
	qn_elem d = qn_elem_desc(8, true);
	const qn_params *vec = NULL;
	const qn_elem *e = NULL;

	/* here and interned */
	if (!qn_tfl_take(l->o->f, 2 * sizeof(double) * (uint64_t)(GATES * l->cells)))
		return NULL;
	double *scale = QN_NEW(l->o->im->scratch, double, (size_t)(GATES * l->cells));
	for (int64_t i = 0; i < GATES * l->cells; i++)
		scale[i] = scale_of(l, elem_of(l->o, at + order[i / l->cells]));
	d.kind = QN_ELEM_UNIFORM;
	d.gran = QN_PER_AXIS;
	d.naxis = 1;
	d.axis = &axis;
	if (qn_params_intern(types, l->o->to[0]->name, NULL, (size_t)(GATES * l->cells), 1, NULL,
			     scale, NULL, &vec) == QN_OK) {
		d.scale = qn_scale_vec(types, vec);
		if (qn_elem_make(types, l->o->to[0]->name, &d, &e) == QN_OK)
			return e;
	}
	l->o->im->problems++;
	return NULL;
}

/* The inputs at + order[…] are constants of n elements; reports.  Before anything is made by n,
 * which is the file's word. */
static bool
constants_ok(const lstm *l, uint32_t at, int bits, int64_t n)
{
	for (uint32_t k = 0; k < GATES; k++)
		if (gate_constant(l, at + order[k], bits, n) == NULL)
			return false;
	return true;
}

/* These, concatenated, as a constant of this type; 0 after a report. */
static qn_id
stacked(const lstm *l, uint32_t at, const qn_type *type)
{
	int64_t n = qn_type_count(type) / GATES;
	void *data;

	if (!qn_tfl_take(l->o->f, qn_type_bytes(type)))
		return 0;
	qn_tensor *y = qn_tensor_new(l->o->im->m->arena, type, &data);
	for (int32_t k = 0; k < GATES; k++) {
		const qn_tensor *x = qn_importer_known(l->o->im, l->o->in[at + order[k]]);

		for (int64_t i = 0; i < n; i++)
			qn_store_i64(data, type->elem->plain, k * n + i, qn_tensor_i64(x, i));
	}
	return qn_importer_const(l->o->im, l->o->from[at + order[0]]->name, y);
}

/* Weights [4 cells,columns]; 0 after a report. */
static qn_id
stacked_weights(const lstm *l, uint32_t at, int64_t columns)
{
	const qn_elem *e;
	double scale;
	int64_t zp = 0;

	for (uint32_t i = at; i < at + GATES; i++) {
		e = l->o->in[i] != 0 ? elem_of(l->o, i) : NULL;
		if (is_quantized(e, 8))
			qn_elem_param(&l->o->im->m->types, e, 0, &scale, &zp);
		if (!is_quantized(e, 8) || zp != 0)
			return qn_importer_refuse(
				l->o->im, "import.type",
				"weights %u are missing, or not i8 with one scale and zero point "
				"0: all four gates of a quantized LSTM have such weights",
				i);
	}
	if (!constants_ok(l, at, 8, l->cells * columns))
		return 0;
	e = row_elem(l, at);
	return e == NULL ? 0
			 : stacked(l, at,
				   qn_type_tensor(&l->o->im->m->types, e, 2,
						  (int64_t[]){GATES * l->cells, columns}));
}

/* What sums of x times w are: the product of their scales is rounded to f32, as in TFLite. */
static const qn_elem *
sum_elem(const lstm *l, const qn_elem *x, qn_id weights)
{
	const qn_elem *w = qn_importer_type(l->o->im, weights)->elem, *e = NULL;
	qn_types *types = &l->o->im->m->types;
	qn_elem d = qn_elem_desc(x->bits <= 8 ? 32 : 64, true);

	d.kind = QN_ELEM_UNIFORM;
	d.gran = w->gran;
	d.naxis = w->naxis;
	d.axis = w->axis;
	d.scale = qn_scale_op(types, QN_SCALE_FMUL, x->scale, w->scale);
	if (qn_elem_make(types, l->o->to[0]->name, &d, &e) != QN_OK)
		l->o->im->problems++;
	return e;
}

/* ---- a step ---- */

/* x by weights k, in 2^-12. */
static qn_id
product(const lstm *l, qn_id x, int k)
{
	qn_id in[3] = {x, l->weights[k], l->bias};

	return qn_tfl_requantized_to(
		l->o,
		qn_tfl_product_as(l->o, QN_OP_dense, k == OF_DATA ? 3 : 2, in, NULL, l->sums[k]),
		l->before, INT16_MIN, INT16_MAX);
}

/* h and c after a step; false after a report. */
static bool
step(const lstm *l, qn_id x, const qn_id state[2], qn_id next[2])
{
	const qn_id in[3] = {product(l, x, OF_DATA), product(l, state[0], OF_STATE), state[1]};
	qn_buf hidden;

	if (in[0] == 0 || in[1] == 0)
		return false;
	qn_buf_init(&hidden, l->o->im->scratch);
	qn_elem_print(&hidden, l->hidden);
	const qn_lib_attr attr[] = {
		{"hidden", qn_item_text(qn_buf_str(&hidden))},
		{"limit", qn_item_int(l->clip)},
	};
	const qn_lib_call call = {.graph = "tfl_lstm_quantized",
				  .nin = QN_COUNT(in),
				  .nout = 2,
				  .in = in,
				  .nattr = QN_COUNT(attr),
				  .attr = attr};

	return qn_importer_call(l->o->im, &call, next);
}

/* Everything but the steps; false after a report. */
static bool
prepare(lstm *l)
{
	qn_types *types = &l->o->im->m->types;
	const qn_type *x = qn_importer_type(l->o->im, l->o->in[DATA]);
	int64_t rows = GATES * l->cells;

	l->before = i16_elem(l, 0x1p-12);
	l->weights[OF_DATA] = stacked_weights(l, WEIGHTS, x->dim[x->rank - 1]);
	l->weights[OF_STATE] = stacked_weights(l, RECURRENT, l->cells);
	if (l->weights[OF_DATA] == 0 || l->weights[OF_STATE] == 0 || l->before == NULL)
		return false;
	l->sums[OF_DATA] = sum_elem(l, x->elem, l->weights[OF_DATA]);
	l->sums[OF_STATE] = sum_elem(l, l->hidden, l->weights[OF_STATE]);
	if (l->sums[OF_DATA] == NULL || l->sums[OF_STATE] == NULL)
		return false;
	if (!constants_ok(l, BIASES, l->sums[OF_DATA]->bits, l->cells))
		return false;
	l->bias = stacked(l, BIASES, qn_type_tensor(types, l->sums[OF_DATA], 1, &rows));
	return l->bias != 0;
}

void
qn_tfl_lstm_quantized(qn_tfl_op *o, bool single)
{
	const uint64_t states = QN_TFL_STATE(HIDDEN) | QN_TFL_STATE(CELL);
	const qn_type *y = qn_tfl_type(o->f, o->to[0]);
	const int32_t rank = single ? 2 : 3;
	lstm l = {.o = o, .cells = y->rank == rank ? y->dim[rank - 1] : 0};

	if (!(single ? qn_tfl_seq_open_step(o, states, &l.s)
		     : qn_tfl_seq_open(o, states, qn_tfl_flag(o, OPTION_TIME_MAJOR, 0) != 0,
				       &l.s)) ||
	    !states_ok(&l) || !options_ok(&l))
		return;
	if (l.cells < 1) {
		(void)qn_importer_refuse(o->im, "import.rank",
					 "a result of %d dimensions; must be %d, all known",
					 (int)y->rank, (int)rank);
		return;
	}
	if (!prepare(&l))
		return;
	qn_tfl_seq_begin(&l.s);
	const qn_id state[2] = {qn_tfl_seq_state(&l.s, HIDDEN, l.cells, l.hidden),
				qn_tfl_seq_state(&l.s, CELL, l.cells, l.cell)};
	qn_id next[2];

	if (state[0] == 0 || state[1] == 0)
		return;
	if (step(&l, qn_tfl_seq_now(&l.s, o->in[DATA]), state, next))
		qn_tfl_set_result(
			o, 0, qn_tfl_seq_end(&l.s, 2, next, qn_tfl_retyped(o, next[0], y->elem)));
}
