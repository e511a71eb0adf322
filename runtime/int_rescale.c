/* SPDX-License-Identifier: Apache-2.0 */
/* int_rescale.c - tables of multipliers, repeated until they end where a vector does.
 *
 *   3 channels: m[0] m[1] m[2] m[0] m[1] … 48 entries, three vectors of QN_PANEL */
#include "runtime/int_rescale.h"

#include <string.h>

#include "runtime/impl_util.h"
#include "runtime/int_simd.h"

struct qn_int_rescaling {
	qn_int_scale s;
	int64_t period; /* entries of the tables, a multiple of QN_PANEL */
	qn_int_rescale *run;
	size_t each; /* bytes of a quantized value */
};

static bool
is_covered(const qn_requantize_args *r)
{
	if (r->mode != QN_RQ_DOUBLE || r->zi != 0 || (r->mult_n > 1 && r->inner != 1))
		return false;
	for (int32_t i = 0; i < r->mult_n; i++)
		if (r->shift[i] > 0)
			return false;
	return true;
}

static int64_t
common(int64_t a, int64_t b)
{
	while (b != 0) {
		const int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

qn_int_rescaling *
qn_int_rescale_make(const qn_graph *g, const qn_node *n, const qn_requantize_args *r, qn_arena *a)
{
	const qn_int_simd *simd = qn_int_simd_get(g->model->env->simd);
	qn_int_rescale *const run[] = {simd->rescale_s8, simd->rescale_u8, simd->rescale_s16};
	const qn_family to = qn_family_of(n->type->elem);

	if (!is_covered(r) || to == QN_NFAMILY)
		return NULL;
	qn_int_rescaling *p = QN_NEW(a, qn_int_rescaling, 1);
	p->period = r->mult_n / common(r->mult_n, QN_PANEL) * QN_PANEL;
	int32_t *m = QN_NEW(a, int32_t, (size_t)p->period);
	int32_t *half = QN_NEW(a, int32_t, (size_t)p->period);
	for (int64_t i = 0; i < p->period; i++) {
		m[i] = r->mult[i % r->mult_n];
		half[i] = -1 - r->shift[i % r->mult_n];
	}
	p->s = (qn_int_scale){.m = m, .half = half, .zo = r->zo, .lo = r->lo, .hi = r->hi};
	p->run = run[to];
	p->each = to == QN_FAMILY_s16 ? 2 : 1;
	return p;
}

void
qn_int_rescale_run(const qn_int_rescaling *p, const qn_eval *e)
{
	const int64_t n = qn_result_count(e), whole = n / QN_PANEL * QN_PANEL;
	const int32_t *x = e->in[0];
	char *y = e->out;
	int32_t last[QN_PANEL] = {0};
	int16_t quantized[QN_PANEL];

	for (int64_t i = 0; i < whole; i += p->period) {
		const int64_t count = whole - i < p->period ? whole - i : p->period;

		p->run(&p->s, 0, x + i, count, y + (size_t)i * p->each);
	}
	if (whole == n)
		return;
	memcpy(last, x + whole, (size_t)(n - whole) * sizeof *last);
	p->run(&p->s, whole % p->period, last, QN_PANEL, quantized);
	memcpy(y + (size_t)whole * p->each, quantized, (size_t)(n - whole) * p->each);
}
