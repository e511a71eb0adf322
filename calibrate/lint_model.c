/* SPDX-License-Identifier: Apache-2.0 */
/* lint_model.c - do the samples look like those that the model was trained on?  Its first layer
 * tells.
 *
 *   image ──▶ conv1 ──▶ bn1       mean and variance of conv1's result on the samples, by channel, against those that bn1 holds
 *   image ──▶ conv1 ──▶ relu      no batch norm: only pixels of 0 to 255, or of 0 to 255 * 255, from which conv1 computes very large values */
#include <math.h>
#include <stdlib.h>

#include "calibrate/lint.h"
#include "ir/diag.h"
#include "runtime/interp.h"

#define FAR_MEAN 3.0  /* stored deviations, in the median channel */
#define FAR_RATIO 4.0 /* of deviations, either way */
#define LARGE_RMS 32.0
enum { PIXEL_LOW = 64, PIXEL_HIGH = 255 }; /* of the largest */

typedef struct probe {
	qn_id watched;       /* the value that is looked at */
	const qn_node *norm; /* the batch norm that takes it; NULL: none */
	size_t channels;
	uint64_t n; /* values per channel */
	double *sum, *squares;
	double low, high; /* of the samples */
	bool whole;       /* … are all integers */
	bool times_255;   /* … and multiples of 255 */
	bool stated;      /* the user said that they are to stay as they are */
} probe;

static bool
is_product(qn_op op)
{
	return op == QN_OP_conv1d || op == QN_OP_conv2d || op == QN_OP_conv3d ||
	       op == QN_OP_conv2d_transpose || op == QN_OP_dense;
}

static bool
is_const(const qn_graph *g, qn_id id)
{
	return qn_graph_node(g, id)->op == QN_OP_const;
}

/* The operand through which a value comes from an input without changing its kind; 0: none. */
static qn_id
step_back(const qn_graph *g, const qn_node *n)
{
	switch ((int)n->op) {
	case QN_OP_bias_add:
	case QN_OP_pad:
	case QN_OP_trace:
	case QN_OP_reshape:
	case QN_OP_transpose:
	case QN_OP_squeeze:
	case QN_OP_expand_dims:
		return n->in[0];
	case QN_OP_add:
	case QN_OP_sub:
	case QN_OP_mul:
	case QN_OP_div:
		if (is_const(g, n->in[1]))
			return n->in[0];
		return is_const(g, n->in[0]) ? n->in[1] : 0;
	default:
		return is_product(n->op) ? n->in[0] : 0;
	}
}

/* Whether a value comes from a graph input through at most `most` convolutions or dense layers. */
static bool
near_input(const qn_graph *g, qn_id id, int most)
{
	while (id != 0) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_input)
			return true;
		most -= is_product(n->op);
		if (most < 0)
			return false;
		id = step_back(g, n);
	}
	return false;
}

/* The first batch norm near an input, else the first layer. */
static bool
find_probe(const qn_graph *g, probe *p)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_batch_norm && near_input(g, n->in[0], 1) &&
		    is_const(g, n->in[3]) && is_const(g, n->in[4])) {
			p->watched = n->in[0];
			p->norm = n;
			return true;
		}
	}
	for (qn_id id = 1; id < g->n; id++)
		if (is_product(qn_graph_node(g, id)->op) && near_input(g, id, 1)) {
			p->watched = id;
			return true;
		}
	return false;
}

static qn_status
observe(void *user, const qn_graph *g, qn_id id, const qn_tensor *value)
{
	probe *p = user;
	int64_t n = qn_type_count(value->type);
	const qn_node *node = qn_graph_node(g, id);

	for (int64_t i = 0; node->op == QN_OP_input && i < n; i++) {
		double v = qn_tensor_f64(value, i);

		p->low = fmin(p->low, v);
		p->high = fmax(p->high, v);
		p->whole = p->whole && v == floor(v);
		p->times_255 = p->times_255 && v / PIXEL_HIGH == floor(v / PIXEL_HIGH);
	}
	if (id != p->watched)
		return QN_OK;
	for (int64_t i = 0; i < n; i++) {
		double v = qn_tensor_f64(value, i);

		p->sum[(size_t)i % p->channels] += v;
		p->squares[(size_t)i % p->channels] += v * v;
	}
	p->n += (uint64_t)n / p->channels;
	return QN_OK;
}

static int
by_size(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double
median(double *v, size_t n)
{
	qsort(v, n, sizeof *v, by_size);
	return v[n / 2];
}

/* Two digits after the point, for messages. */
static double
rounded(double v)
{
	return floor(v * 100 + 0.5) / 100;
}

static void
compare_norm(const probe *p, const qn_graph *g, qn_arena *a)
{
	const qn_tensor *mean = qn_graph_node(g, p->norm->in[3])->value;
	const qn_tensor *variance = qn_graph_node(g, p->norm->in[4])->value;
	double epsilon = p->norm->attr->batch_norm.epsilon;
	double *away = QN_NEW(a, double, p->channels);
	double *ratio = QN_NEW(a, double, p->channels);

	for (size_t c = 0; c < p->channels; c++) {
		double m = p->sum[c] / (double)p->n;
		double v = fmax(p->squares[c] / (double)p->n - m * m, 0);
		double stored = sqrt(qn_tensor_f64(variance, (int64_t)c) + epsilon);

		away[c] = fabs(m - qn_tensor_f64(mean, (int64_t)c)) / stored;
		ratio[c] = sqrt(v + epsilon) / stored;
	}
	double far = median(away, p->channels);
	double times = median(ratio, p->channels);
	if (far > FAR_MEAN || times > FAR_RATIO || times < 1 / FAR_RATIO)
		qn_warn(a->env, "data.statistics", p->norm->name,
			"batch norm '%s' was trained on other values: before it the mean of these "
			"samples is %g stored deviations away and their deviation %g times the "
			"stored one (median of %zu channels); the samples go from %g to %g: scale "
			"them as for the training (--input-scale, --mean, --std)",
			p->norm->name, rounded(far), rounded(times), p->channels, p->low, p->high);
}

/* Pixels as they are stored, where the first layer shows that the model was hardly trained on them; and
 * pixels that were multiplied by 255 instead of divided. */
static void
compare_pixels(const probe *p, const qn_graph *g, qn_env *env)
{
	const qn_node *n = qn_graph_node(g, p->watched);
	double squares = 0;

	for (size_t c = 0; c < p->channels; c++)
		squares += p->squares[c];
	double rms = sqrt(squares / ((double)p->n * (double)p->channels));
	if (!p->whole || p->low < 0 || p->high < PIXEL_LOW || rms <= LARGE_RMS)
		return;
	if (p->times_255 && p->high > PIXEL_HIGH)
		qn_warn(env, "data.range", n->name,
			"the samples are multiples of 255 from %g to %g, as of pixels that were "
			"scaled the wrong way: --input-scale is a factor, 0.00392156862745098 "
			"(1/255) makes 0 to 1 of 0 to 255",
			p->low, p->high);
	else if (p->high <= PIXEL_HIGH && p->stated)
		qn_warn(env, "data.range", n->name,
			"the samples are integers from %g to %g: --input-scale 1 is correct only "
			"for a model that was trained on 0 to 255",
			p->low, p->high);
	else if (p->high <= PIXEL_HIGH)
		qn_warn(env, "data.range", n->name,
			"the samples are integers from %g to %g, and the first layer '%s' computes "
			"values of %g from them (root mean square): if the model was trained on 0 "
			"to 1, give --input-scale 0.00392156862745098 (1/255), else its --mean and "
			"--std",
			p->low, p->high, n->name, rounded(rms));
}

/* Whether all samples have options that leave them as they are: --input-scale 1. */
static bool
is_stated(const qn_dataset *d, size_t ninput)
{
	bool all = true;

	for (size_t k = 0; k < ninput; k++) {
		const qn_prep *prep = qn_dataset_source(d, k)->prep;

		all = all && prep != NULL && qn_prep_is_identity(prep);
	}
	return all;
}

qn_status
qn_lint_model(qn_dataset *d, const qn_graph *g, qn_arena *scratch)
{
	probe p = {.low = HUGE_VAL,
		   .high = -HUGE_VAL,
		   .whole = true,
		   .times_255 = true,
		   .stated = is_stated(d, qn_graph_fed(g))};
	qn_graph part = *g; /* up to the value that is looked at */
	qn_output output = {0};
	qn_interp *in;
	size_t n = d->nbatch < QN_LINT_BATCHES ? d->nbatch : QN_LINT_BATCHES;

	/* the samples of a sequence cannot be looked at by themselves */
	if (g->nstate > 0 || d->nbatch * d->batch < QN_LINT_FEWEST || !find_probe(g, &p))
		return QN_OK;
	for (size_t i = 0; i < g->ninput; i++)
		if (g->input[i] > p.watched)
			return QN_OK;
	const qn_type *type = qn_graph_node(g, p.watched)->type;
	p.channels = type->rank > 0 ? (size_t)type->dim[type->rank - 1] : 1;
	if (qn_type_count(type) <= 0)
		return QN_OK;
	output = (qn_output){.name = "watched", .value = p.watched};
	part.n = p.watched + 1;
	part.output = &output;
	part.noutput = 1;
	p.sum = QN_NEW(scratch, double, p.channels);
	p.squares = QN_NEW(scratch, double, p.channels);
	QN_TRY(qn_interp_new(&part, scratch, &in));
	for (size_t i = 0; i < n; i++) {
		const qn_tensor *const *x;

		QN_TRY(d->get(d, i * d->nbatch / n, scratch, &x));
		QN_TRY(qn_interp_run(in, x, observe, &p));
	}
	if (p.norm != NULL)
		compare_norm(&p, g, scratch);
	else
		compare_pixels(&p, g, g->model->env);
	return QN_OK;
}
