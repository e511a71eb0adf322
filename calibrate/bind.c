/* SPDX-License-Identifier: Apache-2.0 */
/* bind.c - sources to inputs, by name and then in order.
 *
 *   inputs image, size;  sources  size=s.npy  faces/   ──▶   image: faces/, size: s.npy
 *   inputs image, size;  d.npz of size, image, label   ──▶   by name; label stays unused */
#include "calibrate/bind.h"

#include <string.h>

#include "ir/diag.h"
#include "ir/nearest.h"

static const char *
shape_text(const qn_type *t, qn_arena *a)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buf_puts(&b, "[");
	for (int32_t i = 0; i < t->rank; i++)
		qn_buff(&b, i > 0 ? ",%lld" : "%lld", (long long)t->dim[i]);
	qn_buf_puts(&b, "]");
	return qn_buf_str(&b);
}

static const char *
input_names(const qn_graph *g, qn_arena *a)
{
	qn_buf b;

	qn_buf_init(&b, a);
	for (size_t i = 0; i < qn_graph_fed(g); i++)
		qn_buff(&b, "%s'%s'", i > 0 ? ", " : "", qn_graph_node(g, g->input[i])->name);
	return qn_buf_str(&b);
}

static qn_status
unknown_input(const qn_graph *g, qn_arena *a, const qn_source *s)
{
	const char *best = NULL;

	for (size_t i = 0; i < qn_graph_fed(g); i++)
		best = qn_nearer_name(s->input, best, qn_graph_node(g, g->input[i])->name);
	return qn_report(g->model->env, QN_EINVALID, "data.input", s->name,
			 "unknown input '%s' (expected %s)" QN_DID_YOU_MEAN, s->input,
			 input_names(g, a), QN_SUGGEST(best));
}

/* Those with an input's name to their inputs; the number of those without one. */
static qn_status
bind_names(const qn_graph *g, qn_arena *a, size_t n, const qn_source *const *source,
	   const qn_source **bound, size_t *unnamed)
{
	qn_status status = QN_OK;

	*unnamed = 0;
	for (size_t i = 0; i < n; i++) {
		const qn_source *s = source[i];
		size_t k = 0;

		if (s->input == NULL) {
			++*unnamed;
			continue;
		}
		while (k < qn_graph_fed(g) &&
		       strcmp(qn_graph_node(g, g->input[k])->name, s->input) != 0)
			k++;
		if (k == qn_graph_fed(g) && s->must)
			status = unknown_input(g, a, s);
		else if (k < qn_graph_fed(g) && bound[k] != NULL)
			status = qn_report(g->model->env, QN_EINVALID, "data.input", s->name,
					   "input '%s' has its samples already, from '%s'",
					   s->input, bound[k]->name);
		else if (k < qn_graph_fed(g))
			bound[k] = s;
	}
	return status;
}

/* Inputs without samples after the names are done: an error that says what there was. */
static qn_status
check_all(const qn_graph *g, qn_arena *a, size_t n, const qn_source *const *source,
	  const qn_source *const *bound)
{
	qn_status status = QN_OK;
	qn_buf b;

	qn_buf_init(&b, a);
	for (size_t i = 0; i < n; i++)
		if (source[i]->input != NULL)
			qn_buff(&b, "%s'%s'", b.n > 0 ? ", " : "", source[i]->input);
	for (size_t k = 0; k < qn_graph_fed(g); k++)
		if (bound[k] == NULL)
			status = qn_report(
				g->model->env, QN_EINVALID, "data.input",
				n > 0 ? source[0]->name : g->model->name,
				"no samples for input '%s'; arrays with a name: %s; rename "
				"one (numpy: np.savez(FILE, %s=x)) or save it as .npy",
				qn_graph_node(g, g->input[k])->name, qn_buf_str(&b),
				qn_graph_node(g, g->input[k])->name);
	return status;
}

qn_status
qn_bind_sources(const qn_graph *g, qn_arena *a, size_t n, const qn_source *const *source,
		const qn_source **bound)
{
	size_t unnamed = 0;
	size_t missing = 0;

	/* One array of a file for the one input: its name says nothing. */
	if (n == 1 && qn_graph_fed(g) == 1 && !source[0]->must) {
		bound[0] = source[0];
		return QN_OK;
	}
	QN_TRY(bind_names(g, a, n, source, bound, &unnamed));
	for (size_t k = 0; k < qn_graph_fed(g); k++)
		missing += bound[k] == NULL;
	if (unnamed != missing && (unnamed > 0 || n == 0))
		return qn_report(g->model->env, QN_EINVALID, "data.count", g->model->name,
				 "arrays of samples: %zu, inputs of the model: %zu (%s); give one "
				 "array per input, in order or as INPUT=FILE",
				 n, qn_graph_fed(g), input_names(g, a));
	for (size_t i = 0, k = 0; i < n && unnamed > 0; i++) {
		if (source[i]->input != NULL)
			continue;
		while (bound[k] != NULL)
			k++;
		bound[k] = source[i];
	}
	return check_all(g, a, n, source, bound);
}

/* ---- types and shapes ---- */

/* Dims of a sample from index *i on that are not 1; -1 after the last. */
static int64_t
next_dim(const qn_type *t, int32_t *i)
{
	while (*i < t->rank && t->dim[*i] == 1)
		++*i;
	return *i < t->rank ? t->dim[(*i)++] : -1;
}

static bool
fits(const qn_type *want, const qn_type *have, qn_fit fit)
{
	int64_t wants = 1;
	int64_t has = 1;

	if (have->rank < 1 || (want->rank > 0 && want->dim[0] <= 0))
		return false;
	if (fit != QN_FIT_COUNT) {
		int32_t i = 1;
		int32_t k = 1;
		do {
			wants = next_dim(want, &i);
			has = next_dim(have, &k);
		} while (wants == has && wants >= 0);
		return wants == has;
	}
	for (int32_t i = 1; i < want->rank; i++)
		wants *= want->dim[i];
	for (int32_t i = 1; i < have->rank; i++)
		has *= have->dim[i];
	return wants == has;
}

/* All dims from w on are those of the samples from h on. */
static bool
same_dims(const qn_type *want, int32_t w, const qn_type *have, int32_t h)
{
	bool equal = want->rank - w == have->rank - h && want->rank > w;

	for (; equal && w < want->rank; w++, h++)
		equal = want->dim[w] == have->dim[h];
	return equal;
}

/* What to do about samples of another shape. */
static const char *
shape_hint(const qn_type *want, const qn_source *s)
{
	const int64_t *have = s->type->dim, *dim = want->dim;

	if (s->path != NULL && s->type->rank == 4) /* files: of an image 4 dims, of audio 3 */
		return " (height, width, channels of images; --layout puts the channels first)";
	if (s->path != NULL)
		return s->fit == QN_FIT_COUNT
			       ? " (frames of audio)"
			       : " (frames, channels of audio; --layout puts the channels first, "
				 "and sox IN.wav OUT.wav remix - makes one of them)";
	if (want->rank == 4 && s->type->rank == 4 && have[3] == dim[1] && have[1] == dim[2] &&
	    have[2] == dim[3])
		return "; the model takes channels first: save the samples in this layout (numpy: "
		       "x.transpose(0, 3, 1, 2))";
	if (want->rank == 4 && s->type->rank == 4 && have[1] == dim[3] && have[2] == dim[1] &&
	    have[3] == dim[2])
		return "; the model takes channels last: save the samples in this layout (numpy: "
		       "x.transpose(0, 2, 3, 1))";
	if (same_dims(want, 1, s->type, 0))
		return "; this is one sample without dimension 0: add it (numpy: x[None])";
	if (s->type->rank == 2 && fits(want, s->type, QN_FIT_COUNT))
		return "; the number of elements is the same: save the samples in this shape "
		       "(numpy: x.reshape)";
	return "";
}

static qn_status
check_shape(const qn_graph *g, qn_arena *a, const qn_node *in, const qn_source *s)
{
	const qn_type *want = in->type;
	qn_env *env = g->model->env;

	if (qn_type_count(want) < 0)
		return qn_report(
			env, QN_EUNSUPPORTED, "data.dynamic", in->name,
			"input '%s' has shape %s with an unknown dimension, which only 'run' "
			"(qn_run) takes from samples of the same rank: give the input a "
			"static type",
			in->name, shape_text(want, a));
	if (!fits(want, s->type, s->fit))
		return qn_report(env, QN_EINVALID, "data.shape",
				 s->path != NULL ? s->path[0] : s->name,
				 "has shape %s%s, but input '%s' has shape %s: dimension 0 counts "
				 "samples, the others must be equal%s",
				 shape_text(s->type, a), s->read_as != NULL ? s->read_as : "",
				 in->name, shape_text(want, a), shape_hint(want, s));
	if (s->type->dim[0] == 0)
		return qn_report(env, QN_EINVALID, "data.empty", s->name,
				 "has no samples: dimension 0 is 0");
	if (want->rank > 0 && s->type->dim[0] % want->dim[0] != 0)
		return qn_report(env, QN_EINVALID, "data.remainder", s->name,
				 "has %lld samples, not a multiple of the model's batch of %lld",
				 (long long)s->type->dim[0], (long long)want->dim[0]);
	return QN_OK;
}

/* What integers may stand for where an input takes float values. */
static const char *
real_hint(qn_plain have)
{
	if (have == QN_PLAIN_i8 || have == QN_PLAIN_i16)
		return "if they are quantized values, give the zero point Z and the scale S of the "
		       "model's input, --input-zero Z --input-scale S: float value = (quantized "
		       "value - Z) * S";
	if (have == QN_PLAIN_u16)
		return "if they are pixels, say how the model was trained: --input-scale "
		       "0.0000152590218966964 for 0 to 1, --input-scale 1 for 0 to 65535";
	if (have == QN_PLAIN_u8)
		return "if they are pixels, say how the model was trained: --input-scale "
		       "0.00392156862745098 for 0 to 1, --input-zero 127.5 --input-scale "
		       "0.00784313725490196 for -1 to 1, --input-scale 1 for 0 to 255; for "
		       "quantized values give the --input-zero and --input-scale of the model's "
		       "input";
	return "if they are float values, --input-scale 1 takes them as they are";
}

/* … where it takes quantized values of another type, or NULL if the type is not an integer. */
static const char *
quantized_hint(const qn_types *t, const qn_elem *want, qn_plain have, qn_arena *a)
{
	const bool to_signed = have == QN_PLAIN_u8;
	const int64_t half = to_signed ? 128 : -128;
	const bool shifted = (to_signed || have == QN_PLAIN_i8) &&
			     (want->plain == QN_PLAIN_i8 || want->plain == QN_PLAIN_u8);
	double scale = 0;
	int64_t zp = 0;
	qn_buf b;

	if (want->kind != QN_ELEM_UNIFORM || want->gran != QN_PER_TENSOR ||
	    qn_elem_has_symbol(want))
		return NULL;
	qn_elem_param(t, want, 0, &scale, &zp);
	qn_buf_init(&b, a);
	qn_buff(&b, "its quantized values are float values / ");
	qn_buf_f32(&b, (float)scale);
	qn_buff(&b, " + %lld, and float values are quantized so: ", (long long)zp);
	if (shifted) {
		qn_buff(&b, "--input-zero %lld --input-scale ", (long long)(zp + half));
		qn_buf_f32(&b, (float)scale);
		qn_buff(&b, " if they are these quantized values %s 128, else ",
			half > 0 ? "plus" : "less");
	}
	qn_buff(&b, "--input-zero and --input-scale that convert them to float values");
	return qn_buf_str(&b);
}

static qn_status
refuse_type(const qn_graph *g, qn_arena *a, const qn_node *in, const qn_source *s)
{
	const qn_elem *want = in->type->elem;
	const qn_plain_info *to = &qn_plain_table[want->plain];
	const qn_plain have = s->type->elem->plain;
	const char *hint =
		to->is_float ? real_hint(have) : quantized_hint(&g->model->types, want, have, a);

	if (hint == NULL)
		hint = "save them in this type, if they are integers in its range";
	return qn_report(g->model->env, QN_EINVALID, "data.type", s->name,
			 "has elements of type %s, but input '%s' takes %s; %s",
			 qn_plain_table[have].name, in->name, to->name, hint);
}

/* Whether float values of these samples can be quantized for the input: with one scale, or with several that lie along
 * dimensions of a sample, of the same shape. */
static bool
can_quantize(const qn_type *want, const qn_type *have)
{
	const qn_elem *e = want->elem;
	bool can = e->kind == QN_ELEM_UNIFORM && have->rank == want->rank;

	if (e->kind != QN_ELEM_UNIFORM || e->gran == QN_PER_TENSOR)
		return e->kind == QN_ELEM_UNIFORM;
	for (int32_t i = 1; can && i < want->rank; i++)
		can = have->dim[i] == want->dim[i];
	for (int32_t i = 0; i < e->naxis; i++)
		can = can && e->axis[i] != 0;
	return can;
}

/* The source with samples of the input's shape: the same elements, other dims of 1. */
static const qn_source *
shaped(qn_types *t, qn_arena *a, const qn_type *want, const qn_source *s)
{
	int64_t dim[QN_MAX_RANK] = {s->type->dim[0]};
	qn_source *to;

	if (want->rank < 2 || (s->type->rank == want->rank && same_dims(want, 1, s->type, 1)))
		return s;
	for (int32_t i = 1; i < want->rank; i++)
		dim[i] = want->dim[i];
	to = qn_arena_copy(a, s, sizeof *s);
	to->type = qn_type_with_shape(t, s->type, want->rank, dim);
	if (s->tensor != NULL)
		to->tensor = qn_tensor_view(a, to->type, s->tensor->data);
	return to;
}

/* The plain type of the elements must be that of the input's storage; other floats may replace f32, and
 * float values quantized values. */
qn_status
qn_fit_source(const qn_graph *g, qn_arena *a, const qn_node *in, const qn_source *s,
	      const qn_source **out)
{
	qn_types *t = &g->model->types;
	const qn_elem *want = in->type->elem;
	qn_plain have = s->type->elem->plain;
	const bool real = qn_plain_table[have].is_float;

	QN_TRY(check_shape(g, a, in, s));
	*out = s = shaped(t, a, in->type, s);
	if (real && can_quantize(in->type, s->type))
		*out = qn_source_quantized(t, a, s, want);
	else if (real && have != QN_PLAIN_f32 && want->plain == QN_PLAIN_f32)
		*out = qn_source_real(t, a, s);
	else if (have != want->plain)
		return refuse_type(g, a, in, s);
	return QN_OK;
}
