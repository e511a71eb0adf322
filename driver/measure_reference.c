/* SPDX-License-Identifier: Apache-2.0 */
/* measure_reference.c - see measure.h.
 *
 *   x.npy, i8 ──▶ model, i8 with 0.5:-3
 *       └─(q + 3) * 0.5─▶ reference, f32, or quantized again with its own parameters */
#include "calibrate/bind.h"
#include "driver/measure.h"
#include "driver/run.h"

/* Whether an element type is quantized with one scale that is known. */
static bool
is_quantized(const qn_elem *e)
{
	return e->kind == QN_ELEM_UNIFORM && e->gran == QN_PER_TENSOR && !qn_elem_has_symbol(e);
}

static const qn_elem *
input_elem(const qn_model *m, size_t k)
{
	const qn_graph *g = qn_model_entry(m);

	return qn_graph_node(g, g->input[k])->type->elem;
}

/* Samples of input k of the model as the reference's input j is to have them. */
static qn_status
translate(const qn_measurement *c, qn_arena *a, size_t k, size_t j, const qn_source *s,
	  const qn_source **out)
{
	qn_model *ref = c->o->against;
	const qn_elem *mine = input_elem(c->m, k);
	const qn_elem *wanted = input_elem(ref, j);
	double scale = 0;
	double other = 0;
	int64_t zp = 0;
	int64_t other_zp = 0;

	*out = s;
	if (!is_quantized(mine) || s->type->elem->plain != mine->plain ||
	    (!is_quantized(wanted) && !qn_elem_is_float(wanted)))
		return QN_OK;
	qn_elem_param(&c->m->types, mine, 0, &scale, &zp);
	if (is_quantized(wanted))
		qn_elem_param(&ref->types, wanted, 0, &other, &other_zp);
	if (is_quantized(wanted) && wanted->plain == mine->plain && other == scale &&
	    other_zp == zp)
		return QN_OK;
	const qn_prep real = {.given = true, .zero = (double)zp, .scale = scale};

	return qn_source_scaled(&ref->types, a, s, &real, out);
}

/* The place of a source in a list of n, n when it is not there. */
static size_t
place_of(const qn_source *s, size_t n, const qn_source *const *list)
{
	size_t k = 0;

	while (k < n && list[k] != s)
		k++;
	return k;
}

qn_status
qn_measurement_translate(const qn_measurement *c, qn_arena *a, qn_array ***out)
{
	const qn_graph *g = qn_model_entry(c->m);
	const qn_graph *r = qn_model_entry(c->o->against);
	const qn_source **source = QN_NEW(a, const qn_source *, c->nin);
	const qn_source **mine = QN_NEW(a, const qn_source *, qn_graph_fed(g));
	const qn_source **theirs = QN_NEW(a, const qn_source *, qn_graph_fed(r));

	*out = QN_NEW(a, qn_array *, c->nin);
	for (size_t i = 0; i < c->nin; i++) {
		const qn_array *x = c->in[i];

		source[i] = x->source != NULL ? x->source : qn_source_tensor(a, x->tensor, x->name);
	}
	QN_TRY(qn_bind_sources(g, a, c->nin, source, mine));
	QN_TRY(qn_bind_sources(r, a, c->nin, source, theirs));
	for (size_t i = 0; i < c->nin; i++) {
		const size_t k = place_of(source[i], qn_graph_fed(g), mine);
		const size_t j = place_of(source[i], qn_graph_fed(r), theirs);
		qn_array *x = QN_NEW(a, qn_array, 1);

		*x = *c->in[i];
		x->source = source[i];
		if (k < qn_graph_fed(g) && j < qn_graph_fed(r))
			QN_TRY(translate(c, a, k, j, source[i], &x->source));
		(*out)[i] = x;
	}
	return QN_OK;
}
