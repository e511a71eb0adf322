/* SPDX-License-Identifier: Apache-2.0 */
/* front_end.c - features of sound before an input of the entry graph, so that it takes PCM samples.
 *
 *   graph @main(%x: tensor<1x49x40x1xf32>)       graph @main(%x: tensor<1x15840xf32>)
 *     …                                    ->      %a = log_mel %x
 *                                                  %b = reshape %a {shape=[1,49,40,1]} …      front end: log_mel
 *
 * With "stream" a run gets the samples after those of the run before, and states keep what the next windows overlap
 * and, of log_mel, the noise:
 *
 *   graph @main(%x: tensor<1x480xf32>, %x.before: tensor<1x320xf32> state, %x.noise: tensor<1x3x40xf32> state)
 *     %c = concat %x.before, %x     %a = log_mel %c, %x.noise     %f = slice %a …     front end: log_mel:stream,hop=160
 *
 * An input of quantized values, or any of a model that is quantized, gets i16 samples, and a requantize to its own
 * type. The first dimension counts samples of the graph, the last one that is not 1 the channels of a frame.
 *
 * requires: a float, calibrated or integer graph.   leaves: the same with another type of the input. */
#include "passes/front_end.h"

/* Channels or coefficients of a frame. */
static int64_t
each(const qn_front *f)
{
	return f->op == QN_OP_mfcc ? f->attr.mfcc.coefficients : f->attr.mfcc.channels;
}

/* ---- the input ---- */

/* The samples of the frames, or those of the text, which may be up to a hop more. */
static qn_status
check_samples(qn_front *f)
{
	const int64_t hop = f->attr.mfcc.hop;
	const int64_t least = (f->frames - 1) * hop + f->attr.mfcc.window;
	qn_buf b;

	if (f->streams) {
		f->samples = f->frames * hop;
		return f->samples <= QN_FRONT_MOST_SAMPLES
			       ? QN_OK
			       : qn_front_wrong(f, "the frames take more than 2^30 samples", "");
	}
	if (f->samples == 0)
		f->samples = least;
	if (f->samples >= least && f->samples < least + hop && f->samples <= QN_FRONT_MOST_SAMPLES)
		return QN_OK;
	qn_buf_init(&b, f->m->scratch);
	qn_buff(&b, "%lld to %lld, not %lld", (long long)least, (long long)(least + hop - 1),
		(long long)f->samples);
	return qn_front_wrong(f, "the frames of the input take a number of samples from ",
			      qn_buf_str(&b));
}

/* How many frames the input takes, by its shape. */
static qn_status
read_shape(qn_front *f)
{
	const qn_type *t = qn_front_input(f)->type;
	const int64_t count = t->is_tuple ? -1 : qn_type_count(t);
	int32_t last = count > 0 ? t->rank - 1 : 0;

	while (last > 1 && t->dim[last] == 1)
		last--;
	if (last < 1 || t->dim[last] != each(f)) {
		qn_buf b;

		qn_buf_init(&b, f->m->scratch);
		b.decimal = true;
		qn_buff(&b, "%s' is ", qn_front_input(f)->name);
		qn_type_print(&b, t);
		qn_buff(&b,
			"; its last dimension must be the %lld numbers of a frame, its first "
			"one the batch",
			(long long)each(f));
		return qn_front_wrong(f, "input '", qn_buf_str(&b));
	}
	f->batch = t->dim[0];
	f->frames = count / f->batch / each(f);
	QN_TRY(check_samples(f));
	f->quantized = f->m->stage != QN_STAGE_FLOAT;
	if (f->m->stage == QN_STAGE_SYMBOLIC ||
	    !(qn_type_is_f32(t) || (qn_elem_is_quant(t->elem) && t->elem->gran == QN_PER_TENSOR)))
		return qn_front_wrong(
			f,
			"features can come before an input of f32 or of quantized values "
			"with one scale, of a model without symbols, not before ",
			qn_front_input(f)->name);
	return QN_OK;
}

/* f32, or i16 of this scale. */
static qn_status
elem_of(const qn_front *f, double scale, const qn_elem **out)
{
	qn_elem e = qn_elem_desc(16, true);

	if (!f->quantized) {
		*out = qn_elem_plain(&f->m->types, QN_PLAIN_f32);
		return QN_OK;
	}
	e.scale = qn_scale_const(&f->m->types, scale);
	return qn_elem_make(&f->m->types, qn_front_input(f)->name, &e, out);
}

static qn_id
add_input(const qn_front *f, qn_graph *to, const char *name, int64_t samples)
{
	const int64_t dim[2] = {f->batch, samples};
	const qn_elem *e;

	if (elem_of(f, 0x1p-15, &e) != QN_OK)
		return 0;
	return qn_graph_input(to, name, qn_type_tensor(&f->m->types, e, 2, dim));
}

/* Indices [begin, end) of axis 1. */
static qn_id
part_of(qn_graph *to, qn_id x, int64_t begin, int64_t end)
{
	const qn_type *t = x != 0 ? qn_graph_node(to, x)->type : NULL;
	qn_attrs a = {0};

	if (t == NULL)
		return 0;
	a.slice.begin.n = a.slice.end.n = t->rank;
	for (int32_t i = 0; i < t->rank; i++)
		a.slice.end.v[i] = t->dim[i];
	a.slice.begin.v[1] = begin;
	a.slice.end.v[1] = end;
	return qn_graph_op(to, QN_OP_slice, NULL, 1, &x, &a, NULL);
}

/* ---- streams ---- */

static const char *
state_name(const qn_front *f, const char *end)
{
	qn_buf b;

	qn_buf_init(&b, f->m->arena);
	qn_buff(&b, "%s.%s", qn_front_input(f)->name, end);
	return qn_buf_str(&b);
}

/* How many samples windows have in common with those of the run before. */
static int64_t
overlap(const qn_front *f)
{
	const int64_t n = f->attr.mfcc.window - f->attr.mfcc.hop;

	return n > 0 ? n : 0;
}

static bool
add_noise(qn_front *f, qn_graph *to)
{
	const int64_t dim[3] = {f->batch, QN_NOISE_ROWS, each(f)};
	const qn_elem *e;

	if (elem_of(f, (double)(float)f->attr.mfcc.scale, &e) != QN_OK)
		return false;
	f->noise =
		qn_graph_input(to, state_name(f, "noise"), qn_type_tensor(&f->m->types, e, 3, dim));
	return f->noise != 0;
}

/* Adds the states; all inputs of the graph are there. */
static bool
add_states(qn_front *f, qn_graph *to)
{
	if (f->streams && overlap(f) > 0) {
		f->before = add_input(f, to, state_name(f, "before"), overlap(f));
		if (f->before == 0)
			return false;
		qn_graph_add_state(to, NULL);
	}
	if (f->streams && f->op == QN_OP_log_mel) {
		if (!add_noise(f, to))
			return false;
		qn_graph_add_state(to, NULL);
	}
	return true;
}

/* The samples of the run, after those that its windows overlap. */
static qn_id
join(qn_front *f, qn_graph *to, qn_id x)
{
	const qn_id in[2] = {f->before, x};
	const qn_attrs axis = {.axis = {.axis = 1}};

	if (f->before == 0)
		return x;
	const int64_t all = overlap(f) + f->samples, dim[2] = {f->batch, all};
	x = qn_graph_op(to, QN_OP_concat, NULL, 2, in, &axis,
			qn_type_tensor(&f->m->types, qn_graph_node(to, x)->type->elem, 2, dim));
	f->before_next = part_of(to, x, f->samples, all);
	return f->before_next != 0 ? x : 0;
}

/* The frames of features, which the noise follows. */
static qn_id
split(qn_front *f, qn_graph *to, qn_id x)
{
	if (f->noise == 0)
		return x;
	f->noise_next = part_of(to, x, f->frames, f->frames + QN_NOISE_ROWS);
	return part_of(to, x, 0, f->frames);
}

static void
return_states(const qn_front *f, qn_graph *to)
{
	if (f->before != 0)
		qn_graph_output(to, state_name(f, "before.next"), f->before_next);
	if (f->noise != 0)
		qn_graph_output(to, state_name(f, "noise.next"), f->noise_next);
}

/* ---- the graph ---- */

/* What the graph reads instead of its input. */
static qn_id
add_features(qn_front *f, qn_graph *to, qn_id x)
{
	const qn_type *t = qn_front_input(f)->type;
	const int64_t more = f->noise != 0 ? QN_NOISE_ROWS : 0;
	const int64_t dim[3] = {f->batch, f->frames + more, each(f)};
	const qn_elem *e;
	qn_attrs shape = {.shape = {.shape = {.n = t->rank}}};

	x = join(f, to, x);
	if (x == 0 || elem_of(f, (double)(float)f->attr.mfcc.scale, &e) != QN_OK)
		return 0;
	const qn_id in[2] = {x, f->noise};
	x = qn_graph_op(to, f->op, NULL, more > 0 ? 2 : 1, in, &f->attr,
			qn_type_tensor(&f->m->types, e, 3, dim));
	x = split(f, to, x);
	for (int32_t i = 0; i < t->rank; i++)
		shape.shape.shape.v[i] = t->dim[i];
	x = x == 0 ? 0 : qn_graph_op(to, QN_OP_reshape, NULL, 1, &x, &shape, NULL);
	if (x == 0 || !f->quantized)
		return x;
	return qn_type_is_f32(t) ? qn_graph_op(to, QN_OP_dequantize, NULL, 1, &x, NULL, NULL)
				 : qn_graph_op(to, QN_OP_requantize, NULL, 1, &x, NULL, t);
}

static bool
copy(const qn_front *f, qn_graph *to, qn_id *map, qn_id id)
{
	qn_node n = *qn_graph_node(f->g, id);
	qn_id *in = QN_NEW(f->m->scratch, qn_id, n.nin + 1);

	for (uint32_t i = 0; i < n.nin; i++)
		in[i] = map[n.in[i]];
	n.in = in;
	return map[id] != 0 || (map[id] = qn_graph_add(to, &n)) != 0;
}

static bool
rebuild(qn_front *f)
{
	const qn_graph *g = f->g;
	qn_graph *to = qn_graph_new(f->m, g->name);
	qn_id *map = QN_NEW(f->m->scratch, qn_id, g->n);
	qn_id x = 0;
	bool ok = true;

	for (size_t i = 0; ok && i < g->ninput; i++) {
		if (i == f->input)
			ok = (x = add_input(f, to, qn_front_input(f)->name, f->samples)) != 0;
		else
			ok = copy(f, to, map, g->input[i]);
	}
	qn_graph_copy_states(to, g);
	ok = ok && add_states(f, to) && (map[g->input[f->input]] = add_features(f, to, x)) != 0;
	for (qn_id id = 1; ok && id < g->n; id++)
		ok = copy(f, to, map, id);
	if (!ok)
		return false;
	for (size_t i = 0; i < g->noutput; i++)
		qn_graph_output(to, g->output[i].name, map[g->output[i].value]);
	return_states(f, to);
	qn_graph_copy_facts(to, g);
	f->m->graph[f->m->ngraph - 1] = to;
	return true;
}

qn_status
qn_front_end(qn_model *m, const char *place, const char *text)
{
	qn_front f = {.m = m, .g = qn_model_entry(m), .place = place, .text = text};

	QN_TRY(qn_front_read_text(&f));
	QN_TRY(read_shape(&f));
	return rebuild(&f) ? QN_OK : QN_EUSAGE;
}
