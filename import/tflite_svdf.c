/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_svdf.c - SVDF, a step per run: each filter remembers its last M products with the data, and each unit sums
 * those of its `rank` filters, weighted by time: @tfl_svdf_memory and @tfl_svdf_sums of lib/recurrent_tflite.qir.
 *
 * Quantized values are those of TFLite: i8 data, memory and weights of time of i16 or i8, sums of i32.  A memory of
 * i8 may have a zero point.  The factor of each rescaling is the f32 quotient of scales, and the only limits are those of
 * the storage, as the range of the result includes the activation. */
#include "import/importer_lib.h"
#include "import/tflite.h"

enum { DATA, FEATURE, TIME, BIAS, STATE };
enum { OPTION_RANK, OPTION_ACTIVATION };

typedef struct svdf {
	qn_tfl_op *o;
	int64_t batch, filters, memory, units, rank;
	bool quantized;
	double x, feature, time, state, y; /* scales */
	int64_t zero;                      /* point of the memory */
} svdf;

/* ---- what the file says ---- */

static bool
has_shape(qn_tfl_op *o, const char *what, const qn_type *t, int32_t rank, const int64_t *dim)
{
	bool ok = t != NULL && !t->is_tuple && t->rank == rank;

	for (int32_t i = 0; ok && i < rank; i++)
		ok = t->dim[i] == dim[i];
	return ok || qn_importer_refuse(o->im, "import.input",
					"the shape of %s does not fit the weights", what) != 0;
}

static bool
read_shapes(svdf *s)
{
	qn_tfl_op *o = s->o;
	const qn_type *x = qn_importer_type(o->im, o->in[DATA]);
	const qn_type *feature = qn_importer_type(o->im, o->in[FEATURE]);
	const qn_type *time = qn_importer_type(o->im, o->in[TIME]);

	if (o->from[STATE] == NULL || !qn_tfl_is_variable(o->from[STATE]))
		return qn_importer_refuse(o->im, "import.input",
					  "the state, input %d, must be a variable of the file",
					  (int)STATE) != 0;
	s->rank = qn_tfl_option(o, OPTION_RANK, 0);
	if (x->rank != 2 || feature->rank != 2 || time->rank != 2 || qn_type_count(x) < 1 ||
	    qn_type_count(feature) < 1 || qn_type_count(time) < 1)
		return qn_importer_refuse(o->im, "import.rank",
					  "data and weights must have 2 dimensions, all known") !=
		       0;
	s->batch = x->dim[0];
	s->filters = feature->dim[0];
	s->memory = time->dim[1];
	if (s->rank < 1 || s->filters % s->rank != 0)
		return qn_importer_refuse(o->im, "import.attr",
					  "rank %lld; it must divide the %lld filters",
					  (long long)s->rank, (long long)s->filters) != 0;
	s->units = s->filters / s->rank;
	return has_shape(o, "the data", x, 2, (int64_t[]){s->batch, feature->dim[1]}) &&
	       has_shape(o, "the weights of time", time, 2, (int64_t[]){s->filters, s->memory}) &&
	       has_shape(o, "the state", qn_tfl_type(o->f, o->from[STATE]), 2,
			 (int64_t[]){s->batch, s->filters * s->memory}) &&
	       has_shape(o, "the result", qn_tfl_type(o->f, o->to[0]), 2,
			 (int64_t[]){s->batch, s->units}) &&
	       (o->from[BIAS] == NULL ||
		has_shape(o, "the bias", qn_importer_type(o->im, o->in[BIAS]), 1, &s->units));
}

/* The scale of values of `bits` with one scale, symmetric or not; false: they are others. */
static bool
read_scale(const svdf *s, const qn_elem *e, int bits, bool symmetric, double *scale)
{
	int64_t zp = 0;

	if (e == NULL || !qn_elem_is_quant(e) || !e->is_signed || e->bits != bits ||
	    e->gran != QN_PER_TENSOR)
		return false;
	qn_elem_param(&s->o->im->m->types, e, 0, scale, &zp);
	return !symmetric || zp == 0;
}

static bool
read_scales(svdf *s)
{
	qn_tfl_op *o = s->o;
	const qn_type *state = qn_tfl_type(o->f, o->from[STATE]);
	const int bits = state != NULL && state->elem->bits == 8 ? 8 : 16;
	double scale;
	const bool ok =
		read_scale(s, qn_importer_type(o->im, o->in[DATA])->elem, 8, false, &s->x) &&
		read_scale(s, qn_importer_type(o->im, o->in[FEATURE])->elem, 8, true,
			   &s->feature) &&
		read_scale(s, qn_importer_type(o->im, o->in[TIME])->elem, bits, true, &s->time) &&
		state != NULL && read_scale(s, state->elem, bits, bits == 16, &s->state) &&
		read_scale(s, qn_tfl_result(o, 0), 8, false, &s->y);

	if (ok)
		qn_elem_param(&o->im->m->types, state->elem, 0, &scale, &s->zero);
	return ok ||
	       qn_importer_refuse(o->im, "import.type",
				  "a quantized SVDF needs data, weights of features and a "
				  "result of i8, weights of time and a state both of i16 or of "
				  "i8, each with one scale, weights and a state of i16 without "
				  "a zero point; use --from-float for others") != 0;
}

/* ---- arithmetic ---- */

/* The integers of a quantized or plain value, as i32. */
static qn_id
integers(const svdf *s, qn_id x)
{
	const qn_type *t = x != 0 ? qn_importer_type(s->o->im, x) : NULL;

	if (t == NULL)
		return 0;
	if (qn_elem_is_quant(t->elem))
		x = qn_tfl_retyped(s->o, x, qn_elem_plain(&s->o->im->m->types, t->elem->plain));
	return x != 0 ? qn_importer_cast(s->o->im, x, QN_PLAIN_i32) : 0;
}

/* Sums of i32, rescaled by the f32 a b / c to a type of scale c. */
static qn_id
rescaled(const svdf *s, qn_id sums, double a, double b, double c, const qn_elem *to)
{
	qn_types *types = &s->o->im->m->types;
	qn_elem d = qn_elem_desc(32, true);
	const qn_elem *e;

	/* a product of two f32 is exact in double, so divided by one it is the other again */
	d.scale = qn_scale_op(types, QN_SCALE_MUL,
			      qn_scale_const(types, (double)((float)a * (float)b / (float)c)),
			      qn_scale_const(types, c));
	if (sums == 0 || qn_elem_make(types, s->o->to[0]->name, &d, &e) != QN_OK)
		return 0;
	sums = qn_tfl_retyped(s->o, sums, e);
	return sums != 0 ? qn_tfl_requantized_to(s->o, sums, to, to->qmin, to->qmax) : 0;
}

/* The products of this run, as the state is stored. */
static qn_id
products(const svdf *s)
{
	qn_tfl_op *o = s->o;
	const qn_id in[2] = {s->quantized ? o->in[DATA] : qn_tfl_real(o, DATA),
			     s->quantized ? o->in[FEATURE] : qn_tfl_real(o, FEATURE)};
	const qn_id sums = qn_importer_binary(o->im, QN_OP_dense, in[0], in[1]);

	return s->quantized ? rescaled(s, sums, s->x, s->feature, s->state,
				       qn_tfl_type(o->f, o->from[STATE])->elem)
			    : sums;
}

/* The state after this run. */
static qn_id
remember(const svdf *s, qn_id now)
{
	const qn_id in[2] = {qn_tfl_read_variable(s->o->f, s->o->from[STATE]), now};
	const qn_lib_call call = {.graph = "tfl_svdf_memory", .nin = 2, .nout = 1, .in = in};
	qn_id next;

	return in[0] != 0 && now != 0 && qn_importer_call(s->o->im, &call, &next) ? next : 0;
}

/* The integers of the state less its zero point. */
static qn_id
distances(const svdf *s, qn_id state)
{
	qn_importer *im = s->o->im;
	qn_id zero;

	state = integers(s, state);
	if (state == 0 || s->zero == 0)
		return state;
	zero = qn_importer_cast(im, qn_importer_i64(im, s->zero), QN_PLAIN_i32);
	return qn_importer_binary(im, QN_OP_sub, state, zero);
}

/* Sums of what is remembered weighted by time, and the bias. */
static qn_id
weigh(const svdf *s, qn_id state)
{
	qn_tfl_op *o = s->o;
	const bool biased = o->from[BIAS] != NULL;
	const qn_lib_attr attr = {"rank", qn_item_int(s->rank)};
	const qn_id in[3] = {s->quantized ? distances(s, state) : state,
			     s->quantized ? integers(s, o->in[TIME]) : qn_tfl_real(o, TIME),
			     !biased        ? 0
			     : s->quantized ? integers(s, o->in[BIAS])
					    : qn_tfl_real(o, BIAS)};
	const qn_lib_call call = {
		.graph = "tfl_svdf_sums", .nin = 3, .nout = 1, .in = in, .nattr = 1, .attr = &attr};
	qn_id sums;

	if (in[0] == 0 || in[1] == 0 || (biased && in[2] == 0))
		return 0;
	return qn_importer_call(o->im, &call, &sums) ? sums : 0;
}

static void
read_svdf(qn_tfl_op *o)
{
	svdf s = {.o = o, .quantized = qn_tfl_result_is_quantized(o)};
	const int64_t activation = qn_tfl_flag(o, OPTION_ACTIVATION, QN_TFL_ACT_NONE);

	if (!read_shapes(&s) || (s.quantized && !read_scales(&s)) ||
	    !qn_tfl_activation_ok(o, activation, s.quantized))
		return;
	const qn_id next = remember(&s, products(&s));
	if (next == 0)
		return;
	qn_tfl_assign_variable(o->f, o->from[STATE], next);
	const qn_id sums = weigh(&s, next);
	if (s.quantized)
		qn_tfl_set_result(o, 0,
				  rescaled(&s, sums, s.state, s.time, s.y, qn_tfl_result(o, 0)));
	else
		qn_tfl_set_activated(o, sums, activation);
}

const qn_tfl_row qn_tfl_svdf_rows[] = {
	{QN_TFL_SVDF, read_svdf, 0, 5, 5, 1, 2},
	{0},
};
