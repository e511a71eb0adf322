/* SPDX-License-Identifier: Apache-2.0 */
/* scalar.c - the kernels for cores that multiply words give the bytes of their definitions in C: on random
 * arguments, on a microcontroller (kernels.sh). */
#include "tests/mcu/jobs.h"
#include "tests/mcu/scalar.h"

enum { BYTES = 12000, WORK = 2000, CHANNELS = 40, JOBS = 300 };

static int8_t x[BYTES], w[BYTES], native[BYTES], portable[BYTES], shift[CHANNELS];
static int32_t scale[2 * CHANNELS];
static uint32_t work[WORK];

static void
draw_constants(void)
{
	draw_bytes(x, BYTES, -128);
	draw_bytes(w, BYTES, -128);
	for (int32_t o = 0; o < CHANNELS; o++) {
		scale[2 * o] = pick(-100000, 100000);
		scale[2 * o + 1] = pick(1 << 30, INT32_MAX);
		shift[o] = (int8_t)pick(1, 15);
	}
}

static void
draw_conv(qn_scalar_args *a, int deep)
{
	memset(a, 0, sizeof(*a));
	a->batch = 1;
	a->in_c = pick(1, 12);
	a->out_c = deep ? a->in_c : pick(1, 17);
	a->k_h = deep ? 3 : pick(1, 3);
	a->k_w = deep ? 3 : pick(1, 4);
	a->stride_h = pick(1, 3);
	a->stride_w = pick(1, 3);
	a->dil_h = deep ? 1 : pick(1, 2);
	a->dil_w = deep ? 1 : pick(1, 2);
	a->pad_t = pick(0, 3);
	a->pad_l = pick(0, 3);
	a->in_h = pick(1, 8);
	a->in_w = pick(1, 8);
	a->out_h = pick(1, 7);
	a->out_w = pick(1, 7);
	a->zi = pick(-128, 127);
	a->zo = pick(-128, 127);
	a->lo = pick(0, 1) == 0 ? -128 : pick(-128, 0);
	a->hi = pick(0, 1) == 0 ? 127 : pick(1, 127);
	a->away = -pick(0, 1);
	a->taps = (a->k_h * a->k_w * a->in_c + 3) / 4 * 4;
	a->run = 4 * pick(1, 15);
	a->w = w;
	a->scale = scale;
	a->shift = shift;
}

static void
draw(job *j, int n)
{
	if (n % 8 == 0)
		draw_constants();
	j->kind = pick(JOB_CONV, JOB_DENSE);
	j->four = pick(0, 1);
	draw_conv(&j->conv, j->kind == JOB_DEPTHWISE);
	j->dense = (qn_dense_scalar_args){.batch = pick(1, 2),
					  .in = pick(1, 200),
					  .out = pick(1, CHANNELS),
					  .zo = pick(-128, 127),
					  .lo = -128,
					  .hi = 127,
					  .away = -pick(0, 1),
					  .w = w,
					  .scale = scale,
					  .shift = shift};
}

COUNT_EQUAL(y)

int
mcu_main(void)
{
	job j = {.x = x + 1, .work = work};
	const int n = count_equal(&j);

	return report_jobs(n, JOBS, j.kind, native_set());
}
