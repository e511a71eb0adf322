/* SPDX-License-Identifier: Apache-2.0 */
/* constants.c - ranges of weights come from the weights themselves, whatever the samples are:
 *
 *   w [[0.5, -1.27], [0.1, 0.2]]   axis 0   ->   largest |w| of each row: 1.27, 0.2
 *
 * or, if mse is set, the threshold of 80 from 0.3 to 1 of the largest with the least
 * squared error, for each row.  Scales of blocks are rounded up to integers of one power of two for each output
 * channel, so that products need no other rounding (ir/block_scales.h). */
#include <math.h>

#include "calibrate/calibrate.h"
#include "ir/block_scales.h"

enum { STEPS = 80 };

/* The constants of a symbol and what belongs to each index of their axis. */
typedef struct rows {
	const qn_calibration *c;
	const qn_watch *w;
	const qn_tensor *data; /* the constant that is looked at */
	const qn_type *type;   /* of its quantize: which element belongs to which row */
	size_t n;
	double *lo, *hi;
	double *t, *cost, *least, *best; /* the threshold that is tried, and the best one so far */
	qn_mask mask;
	bool masked; /* an element was left out, or a factor cut off */
} rows;

static rows *
make_rows(const qn_calibration *c, const qn_watch *w)
{
	const size_t n = w->sym->len > 0 ? (size_t)w->sym->len : 1;
	rows *r = QN_NEW(c->m->scratch, rows, 1);
	double *v = QN_NEW(c->m->scratch, double, 6 * n);

	*r = (rows){.c = c,
		    .w = w,
		    .type = w->quantize->type,
		    .n = n,
		    .lo = v,
		    .hi = v + n,
		    .t = v + 2 * n,
		    .cost = v + 3 * n,
		    .least = v + 4 * n,
		    .best = v + 5 * n,
		    .mask = w->mask};
	return r;
}

static void
visit_one(rows *r, void (*fn)(rows *r, size_t row, double v))
{
	const qn_type *t = r->type;
	int64_t n = qn_type_count(r->data->type);
	int64_t idx[QN_MAX_RANK] = {0};

	for (int64_t i = 0; i < n; i++) {
		fn(r, qn_type_param_index(t, idx), qn_tensor_f64(r->data, i));
		for (int32_t d = t->rank - 1; d >= 0 && ++idx[d] == t->dim[d]; d--)
			idx[d] = 0;
	}
}

/* Calls fn with each element of the symbol's constants and its row. */
static void
visit(rows *r, void (*fn)(rows *r, size_t row, double v))
{
	for (const qn_use *u = r->w->use; u != NULL; u = u->next) {
		const qn_node *x = qn_graph_node(r->c->real, r->c->map[u->quantize->in[0]]);

		if (x->op != QN_OP_const)
			continue;
		r->data = x->value;
		r->type = u->quantize->type;
		visit_one(r, fn);
	}
}

static void
widen(rows *r, size_t row, double v)
{
	r->lo[row] = fmin(r->lo[row], v);
	r->hi[row] = fmax(r->hi[row], v);
}

static void
widen_unless_masked(rows *r, size_t row, double v)
{
	const bool out = qn_mask_leaves_out(r->mask, v);
	const bool factor = r->mask == QN_MASK_FACTOR && v < QN_MASK_LEAST_FACTOR;

	r->masked = r->masked || factor || out;
	if (!out)
		widen(r, row, factor ? QN_MASK_LEAST_FACTOR : v);
}

static void
add_error(rows *r, size_t row, double v)
{
	double q = (double)r->type->elem->qmax;
	double step = r->t[row] / q;

	if (step > 0) {
		double e = v - fmin(fmax(rint(v / step), -q), q) * step;

		r->cost[row] += e * e;
	}
}

static double
reach(const rows *r, size_t row)
{
	return fmax(-r->lo[row], r->hi[row]);
}

/* Narrows each row's range to the threshold of least squared error, the first of equal ones. */
static void
narrow(rows *r)
{
	for (int step = 0; step < STEPS; step++) {
		for (size_t k = 0; k < r->n; k++) {
			r->t[k] = reach(r, k) * (0.3 + 0.7 * step / (STEPS - 1));
			r->cost[k] = 0;
		}
		visit(r, add_error);
		for (size_t k = 0; k < r->n; k++)
			if (step == 0 || r->cost[k] < r->least[k]) {
				r->least[k] = r->cost[k];
				r->best[k] = r->t[k];
			}
	}
	for (size_t k = 0; k < r->n; k++) {
		r->hi[k] = r->best[k];
		r->lo[k] = -r->best[k];
	}
}

/* The ranges of the rows, without what is masked. */
static rows *
find_rows(const qn_calibration *c, const qn_watch *w)
{
	rows *r = make_rows(c, w);

	visit(r, widen_unless_masked);
	for (size_t k = 0; r->masked && r->mask != QN_MASK_FACTOR && k < r->n; k++)
		qn_mask_widen(r->mask, &r->lo[k], &r->hi[k], true);
	return r;
}

bool
qn_constants_range(const qn_calibration *c, const qn_watch *w, double *lo, double *hi)
{
	const qn_use *u = w->use;

	while (u != NULL && qn_graph_node(c->real, c->map[u->quantize->in[0]])->op != QN_OP_const)
		u = u->next;
	if (u == NULL)
		return false;
	const rows *r = find_rows(c, w);
	*lo = r->lo[0];
	*hi = r->hi[0];
	return true;
}

/* Whether a quantized value is multiplied by data and summed: its scale is a factor of that of a bias. */
static bool
is_weight(const qn_graph *g, const qn_node *q)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		for (uint32_t i = 0; qn_opinfo_of(n)->behaviour == QN_ACC && i < n->nin; i++)
			if (qn_graph_node(g, n->in[i]) == q)
				return true;
	}
	return false;
}

/* The largest scale from row `from` on of those that are not all zeros; 0: there is none. */
static double
largest_scale(const rows *r, size_t from, size_t n)
{
	double most = 0;

	for (size_t k = from; k < from + n; k++)
		if (r->lo[k] < 0 || r->hi[k] > 0)
			most = fmax(most, r->t[k]);
	return most;
}

/* Rows of zeros have any scale.  That of the bias is a multiple of it, and the scales of all blocks of a channel are
 * rounded to the largest: so it is that of the other blocks, or of the other channels, or 1/128. */
static void
scale_zeros(rows *r, const qn_type *type)
{
	const bool blocks = type->elem->gran == QN_SUB_CHANNEL;
	size_t each = 1; /* blocks of a channel */
	const double found = largest_scale(r, 0, r->n), of_all = found > 0 ? found : 0x1p-7;

	for (int32_t d = 1; blocks && d < type->rank; d++)
		each *= (size_t)(type->dim[d] / qn_block_along(type, d));
	for (size_t k = 0; k < r->n; k++) {
		if (r->lo[k] < 0 || r->hi[k] > 0)
			continue;
		const double of_channel = largest_scale(r, k / each * each, each);
		r->t[k] = of_channel > 0 ? of_channel : of_all;
	}
}

static qn_status
bind(const qn_calibration *c, const qn_watch *w, bool mse)
{
	const qn_node *q = w->quantize;
	const qn_symbol *sym = w->sym;
	const bool symmetric = sym->kind == QN_SYM_SYMMETRIC;
	rows *r = find_rows(c, w);
	int64_t *zp = QN_NEW(c->m->scratch, int64_t, r->n);

	if (mse && symmetric && q->type->elem->qmax > 0 && !r->masked)
		narrow(r);
	if (sym->len == 0 && qn_range_is_zero(r->lo[0], r->hi[0]) && sym->idle <= 0 &&
	    !is_weight(c->g, q)) {
		r->t[0] = QN_SCALE_OF_ZEROS;
		zp[0] = 0;
		return qn_symbol_bind(&c->m->types, q->name, sym->name, 1, r->t,
				      symmetric ? NULL : zp);
	}
	if (sym->len == 0)
		return qn_bind_range(c->m, q, sym, r->lo[0], r->hi[0]);
	for (size_t k = 0; k < r->n; k++)
		qn_range_to_params(r->lo[k], r->hi[k], q->type->elem, symmetric, &r->t[k], &zp[k]);
	scale_zeros(r, q->type);
	if (q->type->elem->gran == QN_SUB_CHANNEL)
		qn_block_scales_make(q->type, r->n, r->t);
	return qn_symbol_bind(&c->m->types, q->name, sym->name, r->n, r->t, symmetric ? NULL : zp);
}

qn_status
qn_calibrate_constants(const qn_calibration *c, bool mse)
{
	qn_status status = QN_OK;

	for (size_t i = 0; i < c->nconstant; i++)
		if (bind(c, &c->constant[i], mse) != QN_OK)
			status = QN_EINVALID;
	return status;
}
