/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_dsp16.c - which convolutions of 16-bit values the kernel of runtime/kernels/dsp_conv16.h takes, and their weights
 * in the order in which it reads them. */
#include "codegen/kernels_dsp.h"
#include "runtime/impl_args.h"

enum { MOST_WEIGHTS = 1 << 16, PIXELS = 2 }; /* together, times 2^15; at a time */

static const qn_tensor *
weights_of(const qn_step_facts *f)
{
	const qn_node *w = qn_graph_node(f->g, f->step->in[1]);

	return w->op == QN_OP_const && w->type->elem->bits == 8 ? w->value : NULL;
}

static int64_t
depth_of(const qn_conv2d_args *a)
{
	return (int64_t)a->k_h * a->k_w * a->in_c;
}

const char *
qn_fits_conv2d_rows16_dsp(const qn_step_facts *f)
{
	const qn_conv2d_args *a = qn_dsp_conv_args(f);
	const qn_tensor *w = weights_of(f);

	if (a->groups != 1)
		return "its channels are in groups";
	if (w == NULL || a->zi != 0)
		return "its weights are not a constant of 8 bits, or its data has a zero point";
	for (int64_t o = 0; o < a->out_c; o++) {
		int64_t sum = 0;

		for (int64_t k = 0; k < depth_of(a); k++) {
			const int64_t v = qn_tensor_i64(w, o * depth_of(a) + k);

			sum += v < 0 ? -v : v;
		}
		if (sum >= MOST_WEIGHTS)
			return "the sums of a channel may be too large for 32 bits";
	}
	return NULL;
}

/* What the requantize and the bias have, so that the arguments are whole. */
static void
complete(const qn_step_facts *f, qn_conv2d_args *a)
{
	const qn_requantize_args *r = f->step->epilogue[0].args;

	a->zo = r->zo;
	a->lo = r->lo;
	a->hi = r->hi;
	a->mode = r->mode;
	a->mult_n = r->mult_n;
	a->mult = r->mult;
	a->shift = r->shift;
	if (f->core->nin > 2) /* of 64 bits */
		a->bias = qn_graph_node(f->g, f->step->in[2])->value->data;
}

void *
qn_pack_conv2d_rows16_dsp(const qn_step_facts *f, qn_arena *a)
{
	qn_conv2d_rows16_packed *p = QN_NEW(a, qn_conv2d_rows16_packed, 1);
	const qn_tensor *w = weights_of(f);

	p->args = *qn_dsp_conv_args(f);
	complete(f, &p->args);
	const int64_t depth = depth_of(&p->args), size = (depth + 3) / 4 * 4;
	int8_t *to = QN_NEW(a, int8_t, (size_t)((p->args.out_c + 3) / 4 * 4 * size));
	p->args.w = to;
	for (int64_t o = 0; o < p->args.out_c; o += 4)
		for (int64_t k = 0; k < size; k += 2)
			for (int64_t i = 0; i < 8; i++) { /* a0 b0 a1 b1 c0 d0 c1 d1 */
				const int64_t c = o + i / 4 * 2 + i % 2, at = k + i / 2 % 2;

				*to++ = c < p->args.out_c && at < depth
						? (int8_t)qn_tensor_i64(w, c * depth + at)
						: 0;
			}
	p->nw = (int32_t)(to - p->args.w);
	return p;
}

size_t
qn_work_conv2d_rows16_dsp(const void *args)
{
	const qn_conv2d_args *a = args;
	const size_t size = (size_t)(depth_of(a) + 3) / 4 * 4;

	return PIXELS * size * sizeof(uint32_t);
}
