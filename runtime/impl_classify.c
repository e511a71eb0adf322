/* SPDX-License-Identifier: Apache-2.0 */
/* impl_classify.c - is_nan and is_inf: bytes of 0 or 1 for float values. */
#include <math.h>

#include "runtime/plain.h"

static void
is_nan_real(const qn_eval *e)
{
	const float *x = e->in[0];
	uint8_t *y = e->out;

	for (int64_t i = 0; i < qn_static_count(e->n->type); i++)
		y[i] = x[i] != x[i];
}

static void
is_inf_real(const qn_eval *e)
{
	const float *x = e->in[0];
	uint8_t *y = e->out;

	for (int64_t i = 0; i < qn_static_count(e->n->type); i++)
		y[i] = qn_is_inf(e->n, (double)x[i]);
}

const qn_impl qn_impl_is_nan = {.real = is_nan_real, .plain = qn_plain_unary};
const qn_impl qn_impl_is_inf = {.real = is_inf_real, .plain = qn_plain_unary};
