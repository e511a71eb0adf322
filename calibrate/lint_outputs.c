/* SPDX-License-Identifier: Apache-2.0 */
/* lint_outputs.c - does the float network make anything of the samples?
 *
 *              class 0  1    2               class 0    1     2
 *   sample 0   -1.0   4.0   0.5   sample 0       0.97  -6.9  0.31
 *   sample 1    3.0  -2.0   1.5   sample 1       0.96  -6.9  0.32     the same for whatever it sees: flat
 *
 * So are the outputs where samples are scaled otherwise than for the training: pixels of 0 to 1 for a network of 0 to 255,
 * or divided by 255 twice.  Only the biases are left then. */
#include <math.h>

#include "calibrate/lint.h"
#include "calibrate/outcome.h"
#include "ir/diag.h"
#include "runtime/interp.h"

/* Of the squares of what differs between classes, the part that comes from the samples.  Networks that see what they know
 * have 0.5 to 0.97, 0.1 if all samples are of one class; those of wrongly scaled samples less than 0.025. */
#define LEAST_SHARE 0.04
/* Without a softmax, elements may be measurements of several units: these are far apart by themselves. */
#define LEAST_UNSURE 0.001
/* Samples that are alike themselves, as of one pattern with a few marks, say nothing: others have 0.5 to 0.9. */
#define LEAST_INPUT 0.1
enum { BATCHES = 4 }; /* at first; as a rule they show enough */

typedef struct rows {
	size_t n, columns;
	double *sum, *squares; /* by column: of the elements, each less the mean of its row */
} rows;

static rows
new_rows(const qn_type *t, size_t batch, qn_arena *a)
{
	const size_t columns = (size_t)qn_type_count(t) / batch;

	return (rows){0, columns, QN_NEW(a, double, columns), QN_NEW(a, double, columns)};
}

/* The rows of a batch.  A softmax does not see what all elements of a row have in common. */
static void
add_rows(rows *r, const qn_tensor *x, size_t batch)
{
	for (size_t b = 0; b < batch; b++) {
		const int64_t at = (int64_t)(b * r->columns);
		double mean = 0;

		for (size_t c = 0; c < r->columns; c++)
			mean += qn_tensor_f64(x, at + (int64_t)c);
		mean /= (double)r->columns;
		for (size_t c = 0; c < r->columns; c++) {
			const double v = qn_tensor_f64(x, at + (int64_t)c) - mean;

			r->sum[c] += v;
			r->squares[c] += v * v;
		}
		r->n++;
	}
}

/* Of the squares the part that is not that of the mean row; *percent: the deviation from sample to sample in parts of that
 * between the columns. */
static double
share_of(const rows *r, double *percent)
{
	double mean_row = 0, differs = 0;

	for (size_t c = 0; c < r->columns; c++) {
		const double of_mean = r->sum[c] * r->sum[c] / (double)r->n;

		mean_row += of_mean;
		differs += fmax(r->squares[c] - of_mean, 0);
	}
	*percent = 100 * sqrt(differs / mean_row);
	return differs / (mean_row + differs);
}

/* Whether less than `least` of the output of g comes from so many batches from all over the data. */
static qn_status
look(const qn_graph *g, qn_dataset *d, size_t batches, double least, qn_arena *a, bool *flat,
     size_t *samples, double *percent)
{
	const size_t n = d->nbatch < batches ? d->nbatch : batches;
	rows in = new_rows(qn_graph_node(g, g->input[0])->type, d->batch, a);
	rows out = new_rows(qn_graph_node(g, g->output[0].value)->type, d->batch, a);
	qn_interp *interp;

	QN_TRY(qn_interp_new(g, a, &interp));
	for (size_t i = 0; i < n; i++) {
		const qn_tensor *const *x;

		QN_TRY(d->get(d, i * d->nbatch / n, a, &x));
		QN_TRY(qn_interp_run(interp, x, NULL, NULL));
		add_rows(&in, x[0], d->batch);
		add_rows(&out, qn_interp_output(interp, 0), d->batch);
	}
	*samples = out.n;
	*flat = share_of(&in, percent) >= LEAST_INPUT && share_of(&out, percent) < least;
	return QN_OK;
}

qn_status
qn_lint_outputs(qn_dataset *d, const qn_graph *g, qn_arena *scratch)
{
	const qn_id last = g->output[0].value, id = qn_output_compared(g, last);
	const qn_type *y = qn_graph_node(g, id)->type;
	const double least = id != last ? LEAST_SHARE : LEAST_UNSURE;
	qn_output output = {.name = g->output[0].name, .value = id};
	qn_graph part = *g;
	size_t samples;
	double percent;
	bool flat;

	if (g->nstate > 0 || qn_graph_fed(g) == 0 || d->nbatch * d->batch < QN_LINT_FEWEST ||
	    d->steps > 1 || !qn_type_is_f32(y) || y->rank < 2 || y->dim[0] != (int64_t)d->batch ||
	    qn_type_count(y) <= 0)
		return QN_OK;
	part.output = &output;
	part.noutput = 1;
	QN_TRY(look(&part, d, BATCHES, least, scratch, &flat, &samples, &percent));
	if (flat)
		QN_TRY(look(&part, d, QN_LINT_BATCHES, least, scratch, &flat, &samples, &percent));
	if (flat)
		qn_warn(scratch->env, "data.outputs", g->model->name,
			"whatever the sample, the float network gives nearly the same: on %zu "
			"samples output '%s' differs from sample to sample by %g %% of what its "
			"classes differ; scale the samples as for the training (--input-scale, "
			"--mean, --std)",
			samples, output.name, rint(percent * 100) / 100);
	return QN_OK;
}
