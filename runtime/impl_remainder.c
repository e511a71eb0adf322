/* SPDX-License-Identifier: Apache-2.0 */
/* impl_remainder.c - mod and floor_div, with broadcasting.
 *
 *   -7 mod 3 = 2      -7 mod 3 {fmod=1} = -1      floor_div -7, 3 = -3
 *
 * floor_div divides in double, as TFLite does. */
#include <math.h>

#include "runtime/elementwise.h"
#include "runtime/math.h"
#include "runtime/plain.h"

#define RUN(name, value) QN_EACH_RUN(name, float, value, QN_PLAIN_RUN(float, value))

RUN(floor_div, floor((double)a / (double)b))
RUN(fmod, qn_fmod((double)a, (double)b))
RUN(floor_mod, qn_floor_mod((double)a, (double)b))

static void
mod_real(const qn_eval *e)
{
	if (e->n->attr->mod.fmod != 0)
		fmod_real(e);
	else
		floor_mod_real(e);
}

const qn_impl qn_impl_mod = {.real = mod_real, .plain = qn_plain_binary};
const qn_impl qn_impl_floor_div = {.real = floor_div_real, .plain = qn_plain_binary};
