/* SPDX-License-Identifier: Apache-2.0 */
/* repair_layer.c - one layer with its weights as they are and with rounded ones, each with and without a
 * corrected bias: what is nearest on the held-out samples is kept. */
#include <math.h>
#include <string.h>

#include "calibrate/repair_impl.h"
#include "runtime/math.h"

/* Sums for each output channel. */
typedef struct sums {
	double *fit;           /* of the quantized output, on the samples that fit */
	double *held, *square; /* of its error and the error's square on those held back */
} sums;

/* The squared error on the samples held back, and the same with `change` added to each channel. */
static double
error_of(const sums *s, size_t channels, const double *change, double count)
{
	double error = 0;

	for (size_t c = 0; c < channels; c++) {
		const double d = change != NULL ? change[c] : 0;

		error += s->square[c] + d * (2 * s->held[c] + d * count);
	}
	return error;
}

/* Runs the layer with its constants as they are. */
static qn_status
measure(qn_repairing *r, size_t k, sums *s)
{
	const qn_repairable *l = &r->all.layer[k];
	const size_t channels = (size_t)l->product.outputs;
	const qn_tensor *y;
	size_t held = 0;

	memset(s->fit, 0, 3 * channels * sizeof *s->fit);
	qn_evaluator_changed(r->quantized);
	for (size_t b = 0; b < r->data->nbatch; b++) {
		QN_TRY(qn_evaluator_run(r->quantized, 1, &l->y, b, &y));
		const float *data = y->data;
		const size_t n = (size_t)qn_type_count(y->type);

		if (qn_repair_fits(r, b))
			qn_repair_add(data, n, channels, s->fit);
		if (!qn_repair_holds(r, b))
			continue;
		const float *real = r->layer[k].held[held++];
		for (size_t i = 0; i < n; i++) {
			const double d = (double)data[i] - (double)real[i];

			s->held[i % channels] += d;
			s->square[i % channels] += d * d;
		}
	}
	return QN_OK;
}

/* The operand of one batch as float values. */
static void
read_operand(qn_repairing *r, const qn_tensor *x)
{
	const int64_t n = qn_type_count(x->type);
	int64_t idx[QN_MAX_RANK] = {0};

	for (int64_t i = 0; i < n; i++) {
		double scale = 1;
		int64_t zp = 0;

		if (qn_elem_is_quant(x->type->elem)) {
			qn_elem_param(&r->m->types, x->type->elem,
				      qn_type_param_index(x->type, idx), &scale, &zp);
			r->x[i] = (double)(qn_tensor_i64(x, i) - zp) * scale;
		} else {
			r->x[i] = qn_tensor_f64(x, i);
		}
		for (int32_t d = x->type->rank - 1; d >= 0 && ++idx[d] == x->type->dim[d]; d--)
			idx[d] = 0;
	}
}

static qn_status
find_moments(qn_repairing *r, const qn_repairable *l, qn_arena *a, qn_moments **out)
{
	qn_moments *s = qn_moments_new(&l->product, a);
	const qn_tensor *x;
	const size_t steps = (size_t)l->steps;

	for (size_t b = 0; b < r->data->nbatch; b++) {
		if (!qn_repair_fits(r, b))
			continue;
		QN_TRY(qn_evaluator_run(r->quantized, 1, &l->x, b, &x));
		read_operand(r, x);
		const size_t n = (size_t)qn_type_count(x->type) / steps;
		for (size_t i = 0; i < steps; i++)
			qn_moments_add(s, &l->product, r->x + i * n, b * steps + i,
				       r->data->nbatch * steps);
	}
	qn_moments_finish(s, l->corrects && l->bias != NULL);
	*out = s;
	return QN_OK;
}

static sums
make_sums(size_t channels, qn_arena *a)
{
	double *v = QN_NEW(a, double, 3 * channels);

	return (sums){v, v + channels, v + 2 * channels};
}

/* The state of a layer: as it is, or with rounded weights. */
typedef struct variant {
	double plain;   /* squared error on the samples held back, with the bias as it was */
	double error;   /* and with the change */
	double *change; /* of the bias; NULL: none */
	float *weight;
	qn_symbol symbol; /* of its scales */
} variant;

/* The layer as it is now, with a corrected bias where that is nearer. */
static qn_status
try_variant(qn_repairing *r, size_t k, qn_arena *a, variant *v)
{
	const qn_repairable *l = &r->all.layer[k];
	const size_t channels = (size_t)l->product.outputs;
	const double at = (double)l->product.positions * (double)l->steps;
	sums s = make_sums(channels, a);
	double *change = QN_NEW(a, double, channels);

	QN_TRY(measure(r, k, &s));
	for (size_t c = 0; c < channels; c++)
		change[c] = (r->layer[k].fit[c] - s.fit[c]) / ((double)r->nfit * at);
	const double corrected = error_of(&s, channels, change, (double)r->nheld * at);

	v->plain = v->error = error_of(&s, channels, NULL, 0);
	v->change = NULL;
	if (l->corrects && l->bias != NULL && corrected < v->error) {
		v->error = corrected;
		v->change = change;
	}
	v->weight = qn_arena_copy(a, l->weight,
				  (size_t)(l->product.outputs * l->product.taps) * sizeof(float));
	return QN_OK;
}

static void
keep(const qn_repairing *r, const qn_repairable *l, const variant *v)
{
	qn_symbol *sym = qn_repair_scales(r, l);
	const size_t n = (size_t)(l->product.outputs * l->product.taps);

	memcpy(l->weight, v->weight, n * sizeof(float));
	if (sym != NULL)
		*sym = v->symbol;
	for (int64_t c = 0; v->change != NULL && c < l->product.outputs; c++)
		l->bias[c] = (float)((double)l->bias[c] + v->change[c]);
}

/* In hundredths of a dB. */
static double
sqnr(double power, double error)
{
	const double most = 999.99;
	const double db = error > 0 && power > 0 ? 10 * qn_ln(power / error) / qn_ln(10) : most;

	return fmin(fmax(rint(100 * db) / 100, -most), most);
}

qn_status
qn_repair_layer(qn_repairing *r, size_t k, qn_arena *a, qn_repaired *done)
{
	const qn_repairable *l = &r->all.layer[k];
	qn_symbol *sym = qn_repair_scales(r, l);
	variant before = {0}, after = {0};
	qn_moments *s;

	QN_TRY(qn_evaluator_cache(r->quantized, 1, &l->x));
	QN_TRY(try_variant(r, k, a, &before));
	if (sym != NULL)
		before.symbol = *sym;
	if (l->rounding != QN_WEIGHTS_NEAREST && qn_moments_fit(&l->product)) {
		QN_TRY(find_moments(r, l, a, &s));
		QN_TRY(qn_round_layer(r->m, r->all.g, l, s, l->rounding == QN_WEIGHTS_ADAPTIVE, a));
		QN_TRY(try_variant(r, k, a, &after));
		if (sym != NULL)
			after.symbol = *sym;
	}
	const bool rounded = after.weight != NULL && after.error < before.error;
	const variant *best = rounded ? &after : &before;
	keep(r, l, best);
	*done = (qn_repaired){.value = qn_graph_node(r->all.g, l->y)->name,
			      .before = sqnr(r->layer[k].power, before.plain),
			      .after = sqnr(r->layer[k].power, best->error),
			      .weights = rounded,
			      .bias = best->change != NULL};
	return QN_OK;
}
