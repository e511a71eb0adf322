/* SPDX-License-Identifier: Apache-2.0 */
/* outcome.c - see outcome.h. */
#include "calibrate/outcome.h"

#include <math.h>
#include <string.h>

#include "ir/clamp.h"

struct qn_outcome_sums {
	const qn_float_outputs *f;
	double *error, *yy, *yw; /* by output; w is the float value */
	uint64_t same, hits;
};

qn_id
qn_output_compared(const qn_graph *g, qn_id output)
{
	qn_id id = output;

	while (qn_graph_node(g, id)->op == QN_OP_dequantize ||
	       qn_graph_node(g, id)->op == QN_OP_quantize)
		id = qn_graph_node(g, id)->in[0];
	if (qn_graph_node(g, id)->op != QN_OP_softmax)
		return output;
	id = qn_graph_node(g, id)->in[0];
	while (qn_graph_node(g, id)->op == QN_OP_quantize)
		id = qn_graph_node(g, id)->in[0];
	return qn_type_is_f32(qn_graph_node(g, id)->type) ? id : output;
}

/* The index of the largest element, of equal ones the first. */
static size_t
class_of(const float *y, size_t n)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		best = y[i] > y[best] ? i : best;
	return best;
}

qn_status
qn_float_outputs_find(qn_evaluator *e, size_t n, const qn_id *id, const qn_dataset *data,
		      const int64_t *label, qn_arena *a, qn_float_outputs *out)
{
	const qn_tensor **y = QN_NEW(a, const qn_tensor *, n);

	*out = (qn_float_outputs){.n = n,
				  .nbatch = data->nbatch,
				  .elements = QN_NEW(a, size_t, n),
				  .data = QN_NEW(a, float **, n),
				  .power = QN_NEW(a, double, n)};
	for (size_t k = 0; k < n; k++)
		out->data[k] = QN_NEW(a, float *, data->nbatch);
	for (size_t b = 0; b < data->nbatch; b++) {
		QN_TRY(qn_evaluator_run(e, n, id, b, y));
		for (size_t k = 0; k < n; k++) {
			const float *w = out->data[k][b] =
				qn_arena_copy(a, y[k]->data, y[k]->bytes);

			out->elements[k] = (size_t)qn_type_count(y[k]->type);
			for (size_t i = 0; i < out->elements[k]; i++)
				out->power[k] += (double)w[i] * (double)w[i];
		}
	}
	const qn_type *t = y[0]->type;
	const bool rows = t->rank > 1 ? t->dim[0] == (int64_t)data->batch : data->batch == 1;
	if (!rows || out->elements[0] < 2 * data->batch)
		return QN_OK;
	out->rows = data->batch;
	out->classes = out->elements[0] / data->batch;
	out->label = label;
	out->samples = data->nbatch * data->batch;
	for (size_t i = 0; label != NULL && i < out->samples; i++)
		out->hits += class_of(out->data[0][i / out->rows] + i % out->rows * out->classes,
				      out->classes) == (size_t)label[i];
	return QN_OK;
}

qn_outcome_sums *
qn_outcome_begin(const qn_float_outputs *f, qn_arena *a)
{
	qn_outcome_sums *s = QN_NEW(a, qn_outcome_sums, 1);
	double *sums = QN_NEW(a, double, 3 * f->n);

	*s = (qn_outcome_sums){.f = f, .error = sums, .yy = sums + f->n, .yw = sums + 2 * f->n};
	return s;
}

static void
add_classes(qn_outcome_sums *s, size_t batch, const float *y)
{
	const qn_float_outputs *f = s->f;

	for (size_t i = 0; i < f->rows; i++) {
		const size_t c = class_of(y + i * f->classes, f->classes);

		s->same += c == class_of(f->data[0][batch] + i * f->classes, f->classes);
		if (f->label != NULL)
			s->hits += c == (size_t)f->label[batch * f->rows + i];
	}
}

void
qn_outcome_add(qn_outcome_sums *s, size_t batch, const qn_tensor *const *y)
{
	const qn_float_outputs *f = s->f;

	for (size_t k = 0; k < f->n; k++) {
		const float *v = y[k]->data, *w = f->data[k][batch];

		for (size_t i = 0; i < f->elements[k]; i++) {
			const double d = (double)v[i] - (double)w[i];

			s->error[k] += d * d;
			s->yy[k] += (double)v[i] * (double)v[i];
			s->yw[k] += (double)v[i] * (double)w[i];
		}
	}
	if (f->classes > 0)
		add_classes(s, batch, y[0]->data);
}

qn_outcome
qn_outcome_end(const qn_outcome_sums *s)
{
	qn_outcome o = {.same = s->same, .hits = s->hits};
	double yy = 0, yw = 0, ww = 0;

	for (size_t k = 0; k < s->f->n; k++) {
		const double power = s->f->power[k];

		if (!(power > 0))
			continue;
		o.noise += s->error[k] / power;
		yy += s->yy[k] / power;
		yw += s->yw[k] / power;
		ww += 1;
	}
	if (!(o.noise == o.noise)) /* not a number somewhere: the worst */
		o.noise = (double)INFINITY;
	if (!(yw == yw && yy == yy))
		o.cosine = 0;
	else if (yy > 0 && ww > 0)
		o.cosine = qn_clamp_f64(yw / (sqrt(yy) * sqrt(ww)), -1, 1);
	else
		o.cosine = yy > 0 || ww > 0 ? 0 : 1;
	return o;
}
