/* SPDX-License-Identifier: Apache-2.0 */
/* layer_ranges.c - see layer_ranges.h. */
#include "calibrate/layer_ranges.h"

#include <stdlib.h>
#include <string.h>

/* An operand that one quantize of the layer takes. */
typedef struct operand {
	qn_id real;       /* of the float graph */
	const char *name; /* of the value */
	const qn_elem *elem;
	double lo, hi, step; /* the range, and what a quantized value stands for */
	double least, most;  /* of its values */
	uint64_t n, outside;
	size_t channels;
	double *low, *high; /* by channel */
} operand;

const qn_node *
qn_layer_weights(const qn_graph *symbolic, const qn_node *product)
{
	if (product->type->is_tuple || qn_opinfo_of(product)->behaviour != QN_ACC ||
	    product->nin < 2)
		return NULL;
	const qn_node *w = qn_graph_node(symbolic, product->in[1]);
	if (w->op == QN_OP_dequantize)
		w = qn_graph_node(symbolic, w->in[0]);
	return w->op == QN_OP_quantize && qn_graph_node(symbolic, w->in[0])->op == QN_OP_const
		       ? w
		       : NULL;
}

enum { CUTS = 20 }; /* ends of a range that are tried on either side */

/* ---- operands ---- */

static bool
is_one_of(const qn_id *id, size_t n, qn_id x)
{
	for (size_t i = 0; i < n; i++)
		if (id[i] == x)
			return true;
	return false;
}

static bool
find_operand(const qn_two_forms *two, const qn_network_layer *l, qn_id id, qn_arena *a, operand *o)
{
	const qn_node *n = qn_graph_node(two->quantized, id);
	int64_t zp;

	if (n->op != QN_OP_quantize || n->type->elem->gran != QN_PER_TENSOR ||
	    !is_one_of(l->in, l->nin, qn_graph_node(two->symbolic, id)->in[0]))
		return false;
	const qn_id x = qn_graph_node(two->symbolic, id)->in[0];
	const qn_type *type = qn_graph_node(two->real, two->map[x])->type;
	if (!qn_type_is_f32(type) || qn_type_count(type) < 1)
		return false;
	*o = (operand){.real = two->map[x],
		       .name = qn_graph_node(two->real, two->map[x])->name,
		       .elem = n->type->elem,
		       .channels = type->rank > 0 ? (size_t)type->dim[type->rank - 1] : 1};
	qn_elem_param(&two->symbolic->model->types, o->elem, 0, &o->step, &zp);
	o->lo = (double)(o->elem->qmin - zp) * o->step;
	o->hi = (double)(o->elem->qmax - zp) * o->step;
	o->low = QN_NEW(a, double, 2 * o->channels);
	o->high = o->low + o->channels;
	return true;
}

static void
add_values(operand *o, const qn_tensor *x)
{
	const float *v = x->data;
	const size_t n = (size_t)qn_type_count(x->type);

	for (size_t i = 0; i < n; i++) {
		const double value = (double)v[i];
		const size_t c = i % o->channels;

		o->outside += value < o->lo - o->step / 2 || value > o->hi + o->step / 2;
		if (o->n == 0 && i < o->channels)
			o->low[c] = o->high[c] = value;
		o->low[c] = value < o->low[c] ? value : o->low[c];
		o->high[c] = value > o->high[c] ? value : o->high[c];
	}
	o->n += n;
}

static void
end_values(operand *o)
{
	o->least = o->low[0];
	o->most = o->high[0];
	for (size_t c = 1; c < o->channels; c++) {
		o->least = o->low[c] < o->least ? o->low[c] : o->least;
		o->most = o->high[c] > o->most ? o->high[c] : o->most;
	}
}

static qn_status
read_operands(qn_evaluator *floating, size_t n, operand *o, size_t nbatch, qn_arena *a)
{
	qn_id *id = QN_NEW(a, qn_id, n);
	const qn_tensor **x = QN_NEW(a, const qn_tensor *, n);

	for (size_t i = 0; i < n; i++)
		id[i] = o[i].real;
	for (size_t b = 0; n > 0 && b < nbatch; b++) {
		QN_TRY(qn_evaluator_run(floating, n, id, b, x));
		for (size_t i = 0; i < n; i++)
			add_values(&o[i], x[i]);
	}
	for (size_t i = 0; i < n; i++)
		end_values(&o[i]);
	return QN_OK;
}

/* ---- figures ---- */

static int
ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
find_outliers(const operand *o, qn_arena *a, qn_layer_ranges *out)
{
	double *width = QN_NEW(a, double, 2 * o->channels), *sorted = width + o->channels;

	for (size_t c = 0; c < o->channels; c++)
		sorted[c] = width[c] = o->high[c] - o->low[c];
	qsort(sorted, o->channels, sizeof *sorted, ascending);
	const double median = sorted[o->channels / 2];
	if (o->channels < 2 || !(median > 0))
		return;
	for (size_t c = 0; c < o->channels; c++)
		out->outliers += width[c] > QN_OUTLIER * median;
	if (sorted[o->channels - 1] / median > out->worst)
		out->worst = sorted[o->channels - 1] / median;
}

/* The share of an operand's range that its values reach. */
static double
used_of(const operand *o)
{
	const double lo = o->least > o->lo ? o->least : o->lo;
	const double hi = o->most < o->hi ? o->most : o->hi;

	return hi > lo && o->hi > o->lo ? (hi - lo) / (o->hi - o->lo) : 0;
}

static void
sum_up(size_t n, const operand *o, qn_arena *a, qn_layer_ranges *out)
{
	uint64_t all = 0;

	for (size_t i = 0; i < n; i++) {
		out->clipped += (double)o[i].outside;
		out->used += used_of(&o[i]) * (double)o[i].n;
		all += o[i].n;
		find_outliers(&o[i], a, out);
	}
	out->nrange = n;
	if (all == 0)
		return;
	out->clipped /= (double)all;
	out->used /= (double)all;
}

/* ---- histograms ---- */

static void
fill(qn_value_histogram *h, const float *v, size_t n)
{
	const double width = (h->hi - h->lo) / QN_HISTOGRAM_BINS;

	for (size_t i = 0; i < n; i++) {
		const double at = width > 0 ? ((double)v[i] - h->lo) / width : 0;
		const size_t bin = at > 0 ? (size_t)at : 0;

		h->count[bin < QN_HISTOGRAM_BINS ? bin : QN_HISTOGRAM_BINS - 1]++;
	}
	h->n += n;
}

static qn_status
fill_data(qn_evaluator *floating, const operand *o, size_t nbatch, qn_value_histogram *h)
{
	const qn_tensor *x;

	*h = (qn_value_histogram){.name = o->name,
				  .lo = o->least < o->lo ? o->least : o->lo,
				  .hi = o->most > o->hi ? o->most : o->hi,
				  .range_lo = o->lo,
				  .range_hi = o->hi};
	for (size_t b = 0; b < nbatch; b++) {
		QN_TRY(qn_evaluator_run(floating, 1, &o->real, b, &x));
		fill(h, x->data, (size_t)qn_type_count(x->type));
	}
	return QN_OK;
}

/* The widest range of all scales of a type. */
static void
widest_range(const qn_types *t, const qn_elem *e, qn_value_histogram *h)
{
	for (size_t i = 0; i < qn_elem_nparams(e); i++) {
		double scale;
		int64_t zp;

		qn_elem_param(t, e, i, &scale, &zp);
		const double lo = (double)(e->qmin - zp) * scale,
			     hi = (double)(e->qmax - zp) * scale;
		h->range_lo = lo < h->range_lo ? lo : h->range_lo;
		h->range_hi = hi > h->range_hi ? hi : h->range_hi;
	}
}

/* Of the layer's largest weights. */
static void
fill_weights(const qn_two_forms *two, const qn_network_layer *l, qn_arena *a, qn_value_histogram *h)
{
	const qn_tensor *largest = NULL;
	const qn_elem *elem = NULL;

	for (size_t i = 0; i < l->nnode; i++) {
		const qn_node *w =
			qn_layer_weights(two->symbolic, qn_graph_node(two->symbolic, l->node[i]));
		if (w == NULL || two->map[w->in[0]] == 0)
			continue;
		const qn_node *real = qn_graph_node(two->real, two->map[w->in[0]]);
		if (largest != NULL && real->value->bytes <= largest->bytes)
			continue;
		largest = real->value;
		h->name = real->name;
		elem = qn_graph_node(two->quantized, qn_graph_find(two->symbolic, w->name))
			       ->type->elem;
	}
	if (largest == NULL)
		return;
	const float *v = qn_tensor_as_f32(a, largest);
	const size_t n = (size_t)qn_type_count(largest->type);
	widest_range(&two->symbolic->model->types, elem, h);
	h->lo = h->range_lo;
	h->hi = h->range_hi;
	for (size_t i = 0; i < n; i++) {
		h->lo = (double)v[i] < h->lo ? (double)v[i] : h->lo;
		h->hi = (double)v[i] > h->hi ? (double)v[i] : h->hi;
	}
	fill(h, v, n);
}

/* ---- the best range ---- */

/* Squared error of the values when they are quantized from lo to hi: a step's twelfth inside, the distance outside. */
static double
error_of(const qn_value_histogram *h, double lo, double hi, double steps)
{
	const double step = (hi - lo) / steps, width = (h->hi - h->lo) / QN_HISTOGRAM_BINS;
	double sum = 0;

	for (int i = 0; i < QN_HISTOGRAM_BINS; i++) {
		const double x = h->lo + ((double)i + 0.5) * width;
		const double off = x < lo ? lo - x : x > hi ? x - hi : 0;

		sum += (double)h->count[i] * (off * off + step * step / 12);
	}
	return sum;
}

/* What a method that cuts off rare values can bring. */
static double
find_better(const qn_value_histogram *h, const qn_elem *e)
{
	const double steps = (double)(e->qmax - e->qmin);
	const double now = error_of(h, h->range_lo, h->range_hi, steps);
	double best = now;

	for (int i = 0; i < CUTS; i++)
		for (int k = 0; k < CUTS; k++) {
			const double lo = h->range_lo * (CUTS - i) / CUTS;
			const double hi = h->range_hi * (CUTS - k) / CUTS;
			const double error = hi > lo ? error_of(h, lo, hi, steps) : now;

			best = error < best ? error : best;
		}
	return best > 0 ? now / best : 1;
}

/* ---- accumulators ---- */

static uint64_t
count_ends(const qn_tensor *x)
{
	const qn_elem *e = x->type->elem;
	uint64_t n = 0;

	for (int64_t i = 0; i < qn_type_count(x->type); i++) {
		const int64_t v = qn_tensor_i64(x, i);

		n += v <= e->qmin || v >= e->qmax;
	}
	return n;
}

static qn_status
count_saturated(const qn_two_forms *two, const qn_network_layer *l, qn_evaluator *quantized,
		size_t nbatch, qn_arena *a, uint64_t *out)
{
	qn_id *id = QN_NEW(a, qn_id, l->nnode);
	const qn_tensor **x = QN_NEW(a, const qn_tensor *, l->nnode);
	size_t n = 0;

	for (size_t i = 0; i < l->nnode; i++) {
		const qn_node *acc = qn_graph_node(two->quantized, l->node[i]);

		if (!acc->type->is_tuple && acc->op != QN_OP_const &&
		    qn_opinfo_of(acc)->behaviour == QN_ACC && qn_elem_is_quant(acc->type->elem))
			id[n++] = l->node[i];
	}
	for (size_t b = 0; n > 0 && b < nbatch; b++) {
		QN_TRY(qn_evaluator_run(quantized, n, id, b, x));
		for (size_t i = 0; i < n; i++)
			*out += count_ends(x[i]);
	}
	return QN_OK;
}

qn_status
qn_layer_ranges_find(const qn_two_forms *two, const qn_network_layer *l, qn_evaluator *floating,
		     qn_evaluator *quantized, size_t nbatch, qn_arena *a, qn_layer_ranges *out)
{
	operand *o = QN_NEW(a, operand, l->nnode);
	const operand *largest = NULL;
	size_t n = 0;

	*out = (qn_layer_ranges){.better = 1};
	for (size_t i = 0; i < l->nnode; i++)
		n += find_operand(two, l, l->node[i], a, &o[n]);
	QN_TRY(read_operands(floating, n, o, nbatch, a));
	sum_up(n, o, a, out);
	for (size_t i = 0; i < n; i++)
		if (largest == NULL || o[i].n > largest->n)
			largest = &o[i];
	if (largest != NULL) {
		QN_TRY(fill_data(floating, largest, nbatch, &out->data));
		out->better = find_better(&out->data, largest->elem);
	}
	fill_weights(two, l, a, &out->weights);
	return count_saturated(two, l, quantized, nbatch, a, &out->saturated);
}
