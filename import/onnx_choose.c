/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_choose.c - operators whose results are as long as the data decides, which must be constants; and Det.
 *
 *   Unique([3, 1, 3])                 [1, 3]; first indices [1, 0]; which one each is [1, 0, 1]; counts [1, 2]
 *   NonMaxSuppression(boxes, scores)  [batch, class, box] of boxes that overlap no better one of their class
 *   Det(x [.., n, n])                 expanded along rows, n at most 5 */
#include "import/onnx.h"

enum { MOST = 1 << 12 }; /* slices or boxes that are compared with each other */

/* A constant of at most 2^20 elements; NULL after a report. */
static const qn_tensor *
constant(qn_onnx *o, const qn_onnx_node *n, uint32_t i)
{
	const qn_tensor *x = qn_importer_known(&o->im, qn_onnx_in(n, i));

	if (x != NULL && qn_type_count(x->type) <= 1 << 20)
		return x;
	qn_onnx_refuse_unknown(o, n, i, "how long the result is depends on it");
	return NULL;
}

/* ---- Unique ---- */

/* x as [before, n, after]: slices along the middle axis. */
typedef struct slices {
	const qn_tensor *x;
	int64_t before, n, after;
} slices;

/* -1, 0, 1 as slice i is less than, equal to or greater than slice k, element by element. */
static int
compare(const slices *s, int64_t i, int64_t k)
{
	bool real = qn_elem_is_float(s->x->type->elem);

	for (int64_t b = 0; b < s->before; b++)
		for (int64_t a = 0; a < s->after; a++) {
			int64_t p = (b * s->n + i) * s->after + a,
				q = (b * s->n + k) * s->after + a;
			int64_t v = real ? 0 : qn_tensor_i64(s->x, p);
			int64_t w = real ? 0 : qn_tensor_i64(s->x, q);
			double c = real ? qn_tensor_f64(s->x, p) : 0;
			double d = real ? qn_tensor_f64(s->x, q) : 0;

			if (v < w || c < d)
				return -1;
			if (v > w || c > d)
				return 1;
		}
	return 0;
}

typedef struct distinct {
	int64_t n;
	int64_t *first, *count; /* of each, in the order of the result */
	int64_t *which;         /* of each slice */
} distinct;

static distinct
distinct_of(qn_onnx *o, const slices *s, bool sorted)
{
	distinct d = {.first = QN_NEW(o->im.scratch, int64_t, (size_t)s->n + 1),
		      .count = QN_NEW(o->im.scratch, int64_t, (size_t)s->n + 1),
		      .which = QN_NEW(o->im.scratch, int64_t, (size_t)s->n + 1)};

	for (int64_t i = 0; i < s->n; i++) {
		int64_t k = 0;

		while (k < d.n && compare(s, d.first[k], i) != 0)
			k++;
		if (k < d.n)
			continue;
		while (sorted && k > 0 && compare(s, i, d.first[k - 1]) < 0) {
			d.first[k] = d.first[k - 1];
			k--;
		}
		d.first[k] = i;
		d.n++;
	}
	for (int64_t i = 0; i < s->n; i++) {
		int64_t k = 0;

		while (k < d.n - 1 && compare(s, d.first[k], i) != 0)
			k++;
		d.which[i] = k;
		d.count[k]++;
	}
	return d;
}

static void
unique(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_importer *im = &o->im;
	const qn_tensor *x = constant(o, n, 0);
	bool flat = !qn_onnx_has(o, n, "axis");
	qn_attrs a = {0};
	int32_t axis = 0;

	if (x == NULL)
		return;
	const qn_type *t = x->type;
	int64_t all = qn_type_count(t);
	slices s = {.x = x, .before = 1, .n = all, .after = 1};
	if (!flat && !qn_onnx_axis(o, qn_onnx_int(o, n, "axis", 0), t->rank, &axis))
		return;
	for (int32_t i = 0; !flat && i < t->rank; i++)
		*(i < axis ? &s.before : i == axis ? &s.n : &s.after) *= i == axis ? 1 : t->dim[i];
	s.n = flat ? all : t->dim[axis];
	if (s.n > MOST) {
		(void)qn_importer_refuse(im, "import.size", "%lld slices; at most %d are compared",
					 (long long)s.n, (int)MOST);
		return;
	}
	if (!qn_importer_may_compare(im, (uint64_t)(s.n * all)) ||
	    !qn_importer_take(im, 6 * sizeof(int64_t) * ((uint64_t)s.n + 1)))
		return;
	distinct d = distinct_of(o, &s, qn_onnx_int(o, n, "sorted", 1) != 0);
	qn_id places = qn_importer_i64s(im, (int32_t)d.n, d.first);
	qn_id from = flat ? qn_importer_reshape(im, n->in[0], 1, &all) : n->in[0];
	a.gather.axis = axis;
	out[0] = qn_importer_op(im, QN_OP_gather, 2, (qn_id[]){from, places}, &a, NULL);
	if (n->nout > 1)
		out[1] = places;
	if (n->nout > 2)
		out[2] = qn_importer_i64s(im, (int32_t)s.n, d.which);
	if (n->nout > 3)
		out[3] = qn_importer_i64s(im, (int32_t)d.n, d.count);
}

/* ---- NonMaxSuppression ---- */

typedef struct candidates {
	const qn_tensor *box, *score; /* [B,n,4], [B,C,n] */
	int64_t n;
	bool centred; /* boxes are x, y, width, height, not y, x, y, x of two corners */
	double overlap, least;
	bool has_least;
} candidates;

/* The corners of box k of a batch: low and high x, then y. */
static void
corners(const candidates *c, int64_t batch, int64_t k, double *v)
{
	double p[4];

	for (int64_t i = 0; i < 4; i++)
		p[i] = qn_tensor_f64(c->box, (batch * c->n + k) * 4 + i);
	for (int i = 0; i < 2; i++) {
		double a = c->centred ? p[i] - p[2 + i] / 2 : p[1 - i];
		double b = c->centred ? p[i] + p[2 + i] / 2 : p[3 - i];

		v[2 * i] = c->centred || a < b ? a : b;
		v[2 * i + 1] = c->centred || a < b ? b : a;
	}
}

/* Whether the common part of two boxes is more than `overlap` of what both cover. */
static bool
overlaps(const candidates *c, int64_t batch, int64_t i, int64_t k)
{
	double a[4], b[4], common = 1, area_a = 1, area_b = 1;

	corners(c, batch, i, a);
	corners(c, batch, k, b);
	for (int d = 0; d < 4; d += 2) {
		double low = a[d] > b[d] ? a[d] : b[d];
		double high = a[d + 1] < b[d + 1] ? a[d + 1] : b[d + 1];

		if (!(high > low))
			return false;
		common *= high - low;
		area_a *= a[d + 1] - a[d];
		area_b *= b[d + 1] - b[d];
	}
	return common / (area_a + area_b - common) > c->overlap;
}

/* The boxes of a class, best first: how many. */
static int64_t
chosen(const candidates *c, int64_t batch, int64_t row, int64_t most, int64_t *at, bool *done)
{
	int64_t count = 0;

	for (int64_t i = 0; i < c->n; i++)
		done[i] = c->has_least && !(qn_tensor_f64(c->score, row * c->n + i) > c->least);
	while (count < most) {
		int64_t best = -1;
		bool free = true;

		for (int64_t i = 0; i < c->n; i++)
			if (!done[i] &&
			    (best < 0 || qn_tensor_f64(c->score, row * c->n + i) >
						 qn_tensor_f64(c->score, row * c->n + best)))
				best = i;
		if (best < 0)
			return count;
		done[best] = true;
		for (int64_t k = 0; free && k < count; k++)
			free = !overlaps(c, batch, best, at[k]);
		if (free)
			at[count++] = best;
	}
	return count;
}

static void
suppress(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_importer *im = &o->im;
	candidates c = {.box = constant(o, n, 0),
			.centred = qn_onnx_int(o, n, "center_point_box", 0) != 0,
			.has_least = qn_onnx_in(n, 4) != 0};
	double most;

	c.score = c.box != NULL ? constant(o, n, 1) : NULL;
	if (c.score == NULL || !qn_onnx_const_real(o, n, 2, 0, &most) ||
	    !qn_onnx_const_real(o, n, 3, 0, &c.overlap) ||
	    !qn_onnx_const_real(o, n, 4, 0, &c.least))
		return;
	const qn_type *b = c.box->type, *s = c.score->type;
	bool ok = b->rank == 3 && s->rank == 3 && b->dim[2] == 4 && b->dim[0] == s->dim[0] &&
		  b->dim[1] == s->dim[2];
	c.n = ok ? b->dim[1] : 0;
	int64_t rows = ok ? s->dim[0] * s->dim[1] : 0;
	int64_t limit = most >= (double)c.n ? c.n : most > 0 ? (int64_t)most : 0;
	if (!ok || c.n > MOST) {
		(void)qn_importer_refuse(
			im, ok ? "import.size" : "import.input",
			"boxes must be [B, n, 4] and scores [B, C, n], n at most %d", (int)MOST);
		return;
	}
	if (!qn_importer_may_compare(im, (uint64_t)(rows * (c.n * c.n + 1))) ||
	    !qn_importer_take(im, (uint64_t)(rows * limit * 3 + 2 * c.n + 1) * sizeof(int64_t)))
		return;
	int64_t *all = QN_NEW(im->scratch, int64_t, (size_t)(rows * limit * 3) + 1), count = 0;
	int64_t *at = QN_NEW(im->scratch, int64_t, (size_t)c.n + 1);
	bool *done = QN_NEW(im->scratch, bool, (size_t)c.n + 1);
	for (int64_t row = 0; row < rows; row++) {
		int64_t batch = row / s->dim[1], have = chosen(&c, batch, row, limit, at, done);

		for (int64_t i = 0; i < have; i++, count++) {
			all[3 * count] = batch;
			all[3 * count + 1] = row % s->dim[1];
			all[3 * count + 2] = at[i];
		}
	}
	out[0] = qn_importer_reshape(im, qn_importer_i64s(im, (int32_t)(3 * count), all), 2,
				     (int64_t[]){count, 3});
}

/* ---- Det ---- */

enum { MOST_ROWS = 5 };

/* The determinant of the last rows and the columns of a mask, as many as rows, from those of one row less. */
static qn_id
minor(qn_onnx *o, qn_id x, int64_t rows, uint32_t mask, const qn_id *known)
{
	qn_importer *im = &o->im;
	const qn_type *t = qn_onnx_type(o, x);
	int64_t row = rows;
	bool odd = false;
	qn_id sum = 0;

	for (int64_t j = 0; j < rows; j++)
		row -= (mask >> j) & 1;
	qn_id line = qn_importer_slice(im, x, t->rank - 2, row, row + 1);
	for (int64_t j = 0; j < rows; j++) {
		uint32_t bit = 1U << j;

		if ((mask & bit) == 0)
			continue;
		qn_id y = qn_importer_slice(im, line, t->rank - 1, j, j + 1);
		if (mask != bit)
			y = qn_importer_binary(im, QN_OP_mul, y, known[mask & ~bit]);
		sum = sum == 0 ? y : qn_importer_binary(im, odd ? QN_OP_sub : QN_OP_add, sum, y);
		odd = !odd;
	}
	return sum;
}

static void
determinant(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_id known[1 << MOST_ROWS] = {0};

	if (!qn_onnx_need(o, n, 1))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	int64_t rows = t->rank >= 2 ? t->dim[t->rank - 1] : 0;
	if (rows < 1 || rows > MOST_ROWS || t->dim[t->rank - 2] != rows) {
		(void)qn_importer_refuse(&o->im, "import.input",
					 "its input must be square matrices of at most %d rows",
					 (int)MOST_ROWS);
		return;
	}
	for (uint32_t mask = 1; mask < 1U << rows; mask++)
		if ((known[mask] = minor(o, n->in[0], rows, mask, known)) == 0)
			return;
	out[0] = qn_importer_reshape(&o->im, known[(1U << rows) - 1], t->rank - 2, t->dim);
}

const qn_onnx_row qn_onnx_chosen[] = {
	QN_ONNX_READ("", "Unique", 11, unique, 0),
	QN_ONNX_READ("", "NonMaxSuppression", 10, suppress, 0),
	QN_ONNX_READ("", "Det", 11, determinant, 0),
	{0},
};
