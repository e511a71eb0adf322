/* SPDX-License-Identifier: Apache-2.0 */
/* measure_setup.c - see measure.h. */
#include "driver/measure.h"

#include "driver/run.h"

/* A quantized tensor as f32, any other as it is. */
static const qn_tensor *
as_real(qn_model *m, qn_arena *a, const qn_tensor *x)
{
	if (x->type->elem->kind != QN_ELEM_UNIFORM)
		return x;
	return qn_tensor_dequantize(
		&m->types, a, x,
		qn_type_with_elem(&m->types, x->type, qn_elem_plain(&m->types, QN_PLAIN_f32)));
}

static qn_status
find_outputs(qn_measurement *c, qn_arena *a)
{
	const qn_graph *g = qn_model_entry(c->m);
	const qn_elem *f32 = qn_elem_plain(&c->m->types, QN_PLAIN_f32);

	c->noutput = qn_graph_given(g);
	c->out = QN_NEW(a, qn_measured, qn_graph_given(g));
	for (size_t k = 0; k < qn_graph_given(g); k++) {
		const qn_type *t = qn_graph_node(g, g->output[k].value)->type;
		const char *name = g->output[k].name;

		const bool rows = t->rank > 0 && t->dim[0] == (int64_t)c->d->batch;

		if (t->is_tuple || qn_type_count(t) < 1)
			return qn_report(c->m->env, QN_EUNSUPPORTED, "eval.output", name,
					 "output '%s' is not a tensor that has elements", name);
		c->out[k] =
			(qn_measured){.name = name,
				      .rows = rows ? c->d->batch : 1,
				      .each = (size_t)qn_type_count(t) / (rows ? c->d->batch : 1),
				      .real = t->elem->kind == QN_ELEM_UNIFORM
						      ? qn_type_with_elem(&c->m->types, t, f32)
						      : NULL};
	}
	/* of a network that takes a sequence along dimension 0, a run is one sample */
	c->samples = qn_dataset_results(c->d) * c->out[0].rows;
	return QN_OK;
}

/* What outputs should be: an array for each of them, a sample each index of dimension 0. */
static qn_status
find_wanted(qn_measurement *c, qn_arena *a)
{
	if (c->nwant > 0 && c->nwant != c->noutput)
		return qn_report(c->m->env, QN_EUSAGE, "eval.target", c->m->name,
				 "the model has %zu outputs, but %zu arrays of expected values are "
				 "given; give one per output, in order",
				 c->noutput, c->nwant);
	for (size_t k = 0; k < c->nwant; k++) {
		const qn_type *t = c->want[k]->type;
		const qn_graph *g = qn_model_entry(c->m);
		const qn_type *y = qn_graph_node(g, g->output[k].value)->type;
		const int64_t own =
			y->rank > 0 ? y->dim[0] : 1; /* of a state [2,1,64]: 2 a sample */
		qn_measured *o = &c->out[k];
		const size_t rows = qn_dataset_results(c->d) * o->rows;

		if (t->rank < 1 ||
		    (t->dim[0] != (int64_t)rows &&
		     t->dim[0] != (int64_t)qn_dataset_results(c->d) * own) ||
		    qn_type_count(t) != (int64_t)(rows * o->each))
			return qn_report(c->m->env, QN_EINVALID, "eval.target", c->want[k]->name,
					 "%lld elements in %lld samples do not match output '%s', "
					 "which has %zu elements for each of %zu %s",
					 (long long)qn_type_count(t),
					 (long long)(t->rank > 0 ? t->dim[0] : 1), o->name, o->each,
					 rows,
					 rows == c->samples ? "samples"
					 : o->rows == 1     ? "batches"
							    : "rows");
		QN_TRY(qn_array_read(c->want[k], a, &o->want));
		int64_t bad = qn_plain_table[t->elem->plain].is_float
				      ? qn_tensor_find_nonfinite(o->want)
				      : -1;
		if (bad >= 0)
			return qn_report(
				c->m->env, QN_EINVALID, "eval.nonfinite", c->want[k]->name,
				"the expected value of output '%s' is %g in sample %zu", o->name,
				qn_tensor_f64(o->want, bad),
				qn_measured_sample(o, c->out[0].rows, (size_t)bad / o->each));
		o->difference = QN_NEW(a, qn_difference, rows);
	}
	return QN_OK;
}

/* The first input's samples as float values, for scores that compare with them. */
static qn_status
find_input(qn_measurement *c, qn_arena *a)
{
	const qn_graph *g = qn_model_entry(c->m);
	const qn_tensor *x = NULL;

	if (!c->scoring.of_input)
		return QN_OK;
	QN_TRY(qn_source_load(qn_dataset_source(c->d, 0), a, &x));
	const qn_type *type = qn_graph_node(g, g->input[0])->type;
	if (qn_type_count(x->type) != (int64_t)(c->samples * c->scoring.each))
		return qn_report(c->m->env, QN_EINVALID, "eval.score", c->scoring.name,
				 "a sample has %lld elements and the first output %zu; both must "
				 "have the same number to be compared",
				 (long long)(qn_type_count(x->type) / (int64_t)c->samples),
				 c->scoring.each);
	if (type->elem->kind == QN_ELEM_UNIFORM && !qn_plain_table[x->type->elem->plain].is_float)
		x = as_real(c->m, a,
			    qn_tensor_view(a, qn_type_with_elem(&c->m->types, x->type, type->elem),
					   x->data));
	c->scoring.input = x;
	return QN_OK;
}

static qn_status
check_labels(const qn_measurement *c, const qn_source *folder, const char *name)
{
	bool by_score = c->scoring.name != NULL && !c->scoring.of_label;
	int64_t classes = by_score && c->scoring.each == 1 ? 2 : (int64_t)c->out[0].each;
	size_t n = c->samples / c->window;
	size_t found = 0;

	if (c->o->score == NULL)
		QN_TRY(qn_labels_fit_output(c->m, name));
	if (by_score && c->scoring.of_input)
		classes = 2;
	if (folder != NULL && folder->nclass > 0 && folder->nclass < (size_t)classes)
		qn_warn(c->m->env, "data.labels", name,
			"%zu subfolders for the %lld classes of the model: they are numbered from "
			"0 in the order of their names; add the others, if only empty, or name "
			"each by its class, 0 to %lld",
			folder->nclass, (long long)classes, (long long)classes - 1);
	QN_TRY(qn_labels_below(c->m->env, c->label, n, classes, name));
	for (size_t i = 0; i < n; i++)
		found += c->label[i] == c->scoring.positive;
	if (by_score && (found == 0 || found == n))
		return qn_report(c->m->env, QN_EINVALID, "data.labels", name,
				 "%zu of %zu labels are %lld; the area under the curve needs these "
				 "and other labels",
				 found, n, (long long)c->scoring.positive);
	return QN_OK;
}

/* Labels, and room for what they and the scores give. */
static qn_status
find_labels(qn_measurement *c, qn_arena *a)
{
	const qn_measure_opts *o = c->o;
	const qn_source *s = c->samples > 0 && c->nin > 0 ? qn_dataset_source(c->d, 0) : NULL;
	const char *from = s != NULL ? s->name : "";

	QN_TRY(qn_scoring_read(c->m->env, o->score, c->out[0].each, &c->scoring));
	c->window = o->window > 0 ? o->window : 1;
	if (c->samples % c->window != 0 || (c->window > 1 && c->scoring.name == NULL))
		return qn_report(c->m->env, QN_EUSAGE, "eval.window", "",
				 "%zu samples cannot be scored in groups of %zu%s", c->samples,
				 c->window, c->scoring.name == NULL ? ": no score is given" : "");
	QN_TRY(qn_labels_for(c->m, o->labels, s, c->samples / c->window, a, &c->label));
	if (c->label == NULL && (o->ntop > 0 || (c->nwant == 0 && o->score == NULL)))
		return qn_report(
			c->m->env, QN_EUSAGE, "data.labels", from,
			"the samples have no classes: give labels, one integer per "
			"sample (--labels), or a folder with one subfolder per class; or "
			"compare with a reference: --against MODEL, --targets FILE.npy, or "
			"--calib FILE, which compares the integer model with the float one");
	if (c->scoring.of_label && (c->label == NULL || c->window > 1))
		return qn_report(c->m->env, QN_EUSAGE, "eval.score", from,
				 "a loss needs a label for each sample (--labels), without a "
				 "window");
	if (c->label != NULL)
		QN_TRY(check_labels(c, o->labels != NULL ? NULL : s,
				    o->labels != NULL ? o->labels->name : from));
	if (c->label != NULL && c->out[0].each > 1 && !c->scoring.of_input && c->window == 1)
		c->rank = QN_NEW(a, uint32_t, c->samples);
	for (size_t i = 0; i < o->ntop; i++)
		if (c->rank == NULL || o->top[i] < 1 || o->top[i] > c->out[0].each)
			return qn_report(c->m->env, QN_EUSAGE, "eval.top", c->out[0].name,
					 "top %zu is not in 1..%zu, the classes of output '%s', or "
					 "the labels are for scores",
					 o->top[i], c->out[0].each, c->out[0].name);
	if (c->scoring.name == NULL)
		return QN_OK;
	c->scoring.label = c->label;
	c->score = QN_NEW(a, double, c->samples);
	c->wanted_score = c->nwant > 0 ? QN_NEW(a, double, c->samples) : NULL;
	return QN_OK;
}

qn_status
qn_measurement_set_up(qn_measurement *c, qn_arena *a)
{
	QN_TRY(find_outputs(c, a));
	QN_TRY(find_labels(c, a));
	QN_TRY(find_wanted(c, a));
	return find_input(c, a);
}
