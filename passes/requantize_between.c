/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_between.c - what stands between a value and a requantize of it that one step cannot compute.
 *
 *   channels along other axes     i16 of one scale
 *   a 64-bit sum to channels of 8 bits, read once     i16 in 128th parts of their steps: no sum is stored
 *   a 64-bit sum to steps of less than 1/128 of its own     i16 in steps of the sum, which is exact where the result
 *                                                           does not saturate */
#include <math.h>

#include "passes/requantize.h"
#include "runtime/impls.h"

enum { PARTS = 128, MOST = 128 }; /* multipliers of 64-bit sums are below MOST */

static double
scale_at(const qn_types *t, const qn_elem *e, size_t i)
{
	double scale;
	int64_t zp;

	qn_elem_param(t, e, qn_elem_nparams(e) == 1 ? 0 : i, &scale, &zp);
	return scale;
}

static size_t
larger(const qn_elem *a, const qn_elem *b)
{
	return qn_elem_nparams(a) > qn_elem_nparams(b) ? qn_elem_nparams(a) : qn_elem_nparams(b);
}

bool
qn_rqz_reaches(const qn_types *t, const qn_elem *from, const qn_elem *to)
{
	for (size_t i = 0; from->bits == 64 && i < larger(from, to); i++)
		if (!(scale_at(t, from, i) / scale_at(t, to, i) < MOST))
			return false;
	return true;
}

/* i16 with these scales, along the axis of `like`; of one if there is one. */
static const qn_elem *
wide_elem(qn_types *t, const qn_type *like, const qn_elem *to, size_t n, const double *scale)
{
	const int32_t axis = like->rank - qn_channel_from_end(like);
	qn_elem d = qn_elem_desc(16, true);
	const qn_params *vec = NULL;
	const qn_elem *made = NULL;

	d.expressed = to->expressed;
	d.scale = n == 1 ? qn_scale_const(t, scale[0]) : NULL;
	if (n > 1) {
		if (qn_params_intern(t, "wide", NULL, n, 1, NULL, scale, NULL, &vec) != QN_OK)
			return NULL;
		d.scale = qn_scale_vec(t, vec);
		d.gran = QN_PER_AXIS;
		d.naxis = 1;
		d.axis = &axis;
	}
	return qn_elem_make(t, "wide", &d, &made) == QN_OK ? made : NULL;
}

/* The type of 16 bits before a requantize of a 64-bit sum; NULL: none. */
static const qn_type *
before(qn_rw *rw, qn_id x, const qn_type *to)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_node *n = qn_rw_node(rw, x);
	const qn_elem *sum = n->type->elem, *e = to->elem;
	const bool narrow = qn_opinfo_of(n)->behaviour == QN_ACC && qn_rqz_has_channels(e) &&
			    e->bits <= 8 && qn_rw_uses(rw, x) <= 1;
	const size_t count = larger(sum, e);

	if (sum->bits != 64 || (!narrow && qn_rqz_reaches(t, sum, e)))
		return NULL;
	double *scale = QN_NEW(qn_rw_model(rw)->scratch, double, count);
	for (size_t i = 0; i < count; i++) {
		const double s = scale_at(t, sum, i), y = scale_at(t, e, i);

		/* 255 steps y <= s are fewer than 2^15 of s / 64 */
		if (narrow)
			scale[i] = s / (y / PARTS) < MOST ? y / PARTS : s / 64;
		else
			scale[i] = s / y < 64 ? y : s;
		scale[i] = qn_round_to(QN_PLAIN_f32, scale[i]);
	}
	const qn_type *like = qn_channel_from_end(to) != 0 ? to : n->type;
	const qn_elem *made = wide_elem(t, like, e, count, scale);
	return made != NULL ? qn_type_with_elem(t, to, made) : NULL;
}

qn_id
qn_rqz_between(qn_rw *rw, qn_id root, qn_id x, const qn_type *to)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const int32_t from = qn_channel_from_end(qn_rw_node(rw, x)->type);
	const int32_t axis = qn_channel_from_end(to);

	if (from != 0 && axis != 0 && from != axis) {
		const qn_elem *one = qn_rqz_aligned_elem(t, to->elem);
		const qn_type *type = one != NULL ? qn_type_with_elem(t, to, one) : NULL;

		x = type != NULL ? qn_rqz_between(rw, root, x, type) : 0;
		return x != 0 ? qn_rw_add(rw, QN_OP_requantize,
					  qn_rw_derived_name(rw, root, "aligned"), 1, &x, NULL,
					  type)
			      : 0;
	}
	const qn_type *mid = before(rw, x, to);
	return mid != NULL ? qn_rw_add(rw, QN_OP_requantize, qn_rw_derived_name(rw, root, "wide"),
				       1, &x, NULL, mid)
			   : x;
}
