/* SPDX-License-Identifier: Apache-2.0 */
/* plain_reduce.c - the reductions on plain types.
 *
 *   reduce_mean i32 [-3, -4] = -3     toward zero      reduce_max bool [0, 1] = 1     any of them
 *
 * Elements of a result are taken in row-major order into one number of 64 bits. */
#include "ir/reduce.h"
#include "runtime/plain.h"

typedef qn_number fold_fn(qn_number acc, const qn_number *x, int64_t n);

#define FOLD(name, member, value)                                                                  \
	static qn_number name(qn_number acc, const qn_number *x, int64_t n)                        \
	{                                                                                          \
		for (int64_t i = 0; i < n; i++)                                                    \
			acc.member = (value);                                                      \
		return acc;                                                                        \
	}

FOLD(sum_u, u, acc.u + x[i].u)
FOLD(sum_r, f, acc.f + x[i].f)
FOLD(prod_u, u, acc.u *x[i].u)
FOLD(prod_r, f, acc.f *x[i].f)
FOLD(max_s, i, x[i].i > acc.i ? x[i].i : acc.i)
FOLD(max_u, u, x[i].u > acc.u ? x[i].u : acc.u)
FOLD(max_r, f, x[i].f > acc.f ? x[i].f : acc.f)
FOLD(min_s, i, x[i].i < acc.i ? x[i].i : acc.i)
FOLD(min_u, u, x[i].u < acc.u ? x[i].u : acc.u)
FOLD(min_r, f, x[i].f < acc.f ? x[i].f : acc.f)

typedef enum first { ZERO, ONE, ELEMENT } first;

static const struct {
	fold_fn *by[QN_NKIND];
	first first; /* what the first element is folded with */
} rows[QN_NOP] = {
	[QN_OP_reduce_sum] = {{sum_u, sum_u, sum_r}, ZERO},
	[QN_OP_reduce_mean] = {{sum_u, sum_u, sum_r}, ZERO},
	[QN_OP_reduce_prod] = {{prod_u, prod_u, prod_r}, ONE},
	[QN_OP_reduce_max] = {{max_s, max_u, max_r}, ELEMENT},
	[QN_OP_reduce_min] = {{min_s, min_u, min_r}, ELEMENT},
};

/* Some axes of the input: lengths, and distances in elements. */
typedef struct axes {
	int32_t n;
	int64_t dim[QN_MAX_RANK], step[QN_MAX_RANK];
} axes;

static axes
axes_of(const qn_type *in, uint32_t mask, bool over)
{
	axes a = {0};

	for (int32_t i = 0; i < in->rank; i++) {
		if (((mask >> i & 1) != 0) != over)
			continue;
		a.dim[a.n] = in->dim[i];
		a.step[a.n++] = qn_dim_product(in, i + 1, in->rank);
	}
	return a;
}

/* The next position in row-major order over the first n axes; false after the last. */
static bool
next(const axes *a, int32_t n, int64_t *at, int64_t *offset)
{
	for (int32_t i = n - 1; i >= 0; i--) {
		*offset += a->step[i];
		if (++at[i] < a->dim[i])
			return true;
		*offset -= a->step[i] * a->dim[i];
		at[i] = 0;
	}
	return false;
}

typedef struct reduction {
	fold_fn *fold;
	qn_plain p;
	const void *x;
	axes over;
	qn_number zero, one;
	first first;
} reduction;

/* One result: the elements at `from` and at the reduced axes' distances from it. */
static qn_number
reduced(const reduction *r, int64_t from)
{
	int64_t at[QN_MAX_RANK] = {0}, outer = r->over.n > 0 ? r->over.n - 1 : 0;
	int64_t length = r->over.n > 0 ? r->over.dim[outer] : 1;
	int64_t step = r->over.n > 0 ? r->over.step[outer] : 1;
	qn_number run[QN_PLAIN_RUN_LENGTH], acc = r->first == ONE ? r->one : r->zero;

	for (int32_t i = 0; i < r->over.n; i++)
		if (r->over.dim[i] == 0)
			return acc;
	if (r->first == ELEMENT)
		qn_plain_load(r->p, r->x, from, 1, 1, &acc);
	do {
		for (int64_t i = 0, n; i < length; i += n) {
			n = length - i < QN_PLAIN_RUN_LENGTH ? length - i : QN_PLAIN_RUN_LENGTH;
			qn_plain_load(r->p, r->x, from + i * step, step, n, run);
			acc = r->fold(acc, run, n);
		}
	} while (next(&r->over, (int32_t)outer, at, &from));
	return acc;
}

static qn_number
divided(qn_number sum, int64_t n, qn_number_kind kind)
{
	if (kind == QN_KIND_REAL)
		sum.f /= (double)n;
	else if (kind == QN_KIND_SIGNED)
		sum.i /= n;
	else
		sum.u /= (uint64_t)n;
	return sum;
}

void
qn_plain_reduce(const qn_eval *e)
{
	const qn_type *in = qn_in_type(e->g, e->n, 0);
	const uint32_t mask = qn_reduce_mask(&e->n->attr->reduce.axes, in->rank);
	const axes kept = axes_of(in, mask, false);
	const qn_plain p = qn_plain_of(in);
	const qn_number_kind kind = qn_number_kind_of(p);
	reduction r = {.fold = rows[e->n->op].by[kind],
		       .p = p,
		       .x = e->in[0],
		       .over = axes_of(in, mask, true),
		       .zero = {.u = 0},
		       .one = {.u = 1},
		       .first = rows[e->n->op].first};
	int64_t at[QN_MAX_RANK] = {0}, from = 0, to = 0, terms = 1;

	if (kind == QN_KIND_REAL) {
		r.zero.f = 0.0;
		r.one.f = 1.0;
	}
	for (int32_t i = 0; i < r.over.n; i++)
		terms *= r.over.dim[i];
	if (qn_static_count(e->n->type) == 0)
		return;
	do {
		qn_number y = reduced(&r, from);

		if (e->n->op == QN_OP_reduce_mean)
			y = divided(y, terms, kind);
		qn_plain_store(p, e->out, to++, 1, &y);
	} while (next(&kept, kept.n, at, &from));
}
