/* SPDX-License-Identifier: Apache-2.0 */
/* net_dynamic.c - products of integers between a quantization of activations and real numbers, as ONNX Runtime's
 * dynamic quantization writes them:
 *
 *   QuantizeLinear(x) or DynamicQuantizeLinear(x) -> MatMulInteger or ConvInteger -> Cast -> Mul by both scales -> Add
 *
 * Of a network either all scales are stored or all are found by each run. */
#include "tests/networks/net.h"

/* Codes with their scale and zero point as values. */
typedef struct quantized {
	net_val *codes, *scale, *zp;
	bool stored;
} quantized;

static double
limited(double v)
{
	return v < 0 ? 0 : v > 255 ? 255 : v;
}

/* The range of sample s, 0 included, of the lower (end 0) or upper ends. */
static void
range_of(const net_val *x, int s, int end, double *least, double *most)
{
	*least = *most = 0;
	for (int64_t i = 0; i < x->count; i++) {
		double v = end == 0 ? net_lo(x, s, i) : net_hi(x, s, i);

		*least = v < *least ? v : *least;
		*most = v > *most ? v : *most;
	}
}

/* What DynamicQuantizeLinear gives for sample s. */
static void
quantize_sample(const net_val *x, int s, const quantized *q)
{
	double least[2], most[2], scale[2], zp[2];

	for (int end = 0; end < 2; end++)
		range_of(x, s, end, &least[end], &most[end]);
	scale[0] = (most[0] - least[1]) / 255;
	scale[1] = (most[1] - least[0]) / 255;
	for (int end = 0; end < 2; end++) {
		if (!(scale[end] > 0))
			scale[end] = 1;
		zp[end] = limited(
			net_even(-least[1 - end] / scale[1 - end] + (end == 0 ? -1e-4 : 1e-4)));
		if (end == 0)
			q->scale->lo[s] = scale[0];
		else
			q->scale->hi[s] = scale[1];
	}
	q->zp->lo[s] = zp[0] < zp[1] ? zp[0] : zp[1];
	q->zp->hi[s] = zp[0] < zp[1] ? zp[1] : zp[0];
	for (int64_t i = 0; i < x->count; i++) {
		double l = net_lo(x, s, i), h = net_hi(x, s, i);

		l /= scale[l < 0 ? 0 : 1];
		h /= scale[h < 0 ? 1 : 0];
		q->codes->lo[s * x->count + i] = limited(net_even(l - 1e-4) + q->zp->lo[s]);
		q->codes->hi[s * x->count + i] = limited(net_even(h + 1e-4) + q->zp->hi[s]);
	}
}

static quantized
quantize(net *n, net_val *x, bool stored)
{
	quantized q = {.stored = stored};

	if (stored) {
		q.codes = net_quantize(n, x, net_calibrate(n, x, ONX_UINT8));
		q.scale = net_scalar(n, ONX_FLOAT, q.codes->q.scale);
		q.zp = net_scalar(n, ONX_UINT8, (double)q.codes->q.zp);
		return q;
	}
	q.codes = net_new(n, ONX_UINT8, x->rank, x->dim);
	q.scale = net_new(n, ONX_FLOAT, 0, NULL);
	q.zp = net_new(n, ONX_UINT8, 0, NULL);
	for (int s = 0; s < NET_SAMPLES; s++)
		quantize_sample(x, s, &q);
	n->dynamic = true;
	/* One step of 255 of an input, where a sum nearly cancels: 2.7 % in one of 1,500 networks. */
	n->apart = 0.05;
	net_node(n, "DynamicQuantizeLinear", 1, &x, 3, (net_val *[]){q.codes, q.scale, q.zp});
	return q;
}

/* The i32 result of a product as real numbers, with a bias. */
static net_val *
scaled(net *n, net_val *sum, const quantized *q, const net_weights *w, int64_t channels, int rank)
{
	int64_t dim[4] = {1, channels, 1, 1};
	double bias[NET_CHANNELS], each[NET_CHANNELS], most = 0;
	net_val *f = net_real_like(n, sum), *scale;

	memcpy(f->lo, sum->lo, (size_t)(NET_SAMPLES * f->count) * sizeof *f->lo);
	memcpy(f->hi, sum->hi, (size_t)(NET_SAMPLES * f->count) * sizeof *f->hi);
	onx_int(&n->file, "to", ONX_FLOAT);
	net_node1(n, "Cast", sum, f);
	for (int64_t i = 0; i < channels; i++)
		most = w->each[w->per_channel ? i : 0] > most ? w->each[w->per_channel ? i : 0]
							      : most;
	for (int64_t i = 0; i < channels; i++)
		each[i] = w->each[w->per_channel ? i : 0] * (q->stored ? q->codes->q.scale : 1);
	scale = w->per_channel ? net_const(n, ONX_FLOAT, rank == 4 ? 4 : 1,
					   rank == 4 ? dim : &dim[1], each)
			       : net_scalar(n, ONX_FLOAT, each[0]);
	if (!q->stored) {
		net_val *both = net_binary(n, q->scale, scale, '*');

		net_node2(n, "Mul", q->scale, scale, both);
		scale = both;
	}
	net_val *y = net_binary(n, f, scale, '*');
	net_node2(n, "Mul", f, scale, y);
	if (net_chance(n, 40))
		return y;
	for (int64_t i = 0; i < channels; i++)
		bias[i] = net_real(n, -0.5, 0.5);
	net_val *b = net_const(n, ONX_FLOAT, rank == 4 ? 4 : 1, rank == 4 ? dim : &dim[1], bias);
	net_val *z = net_binary(n, y, b, '+');
	net_node2(n, "Add", y, b, z);
	if (q->stored)
		net_widen(n, z, 0.5 * most * q->codes->q.scale, NET_BIAS);
	return z;
}

/* The weights less their zero point, as they are multiplied. */
static const net_val *
centred(net *n, const net_weights *w)
{
	net_val *c = net_hidden(n, w->codes->rank, w->codes->dim);

	for (int64_t i = 0; i < c->count; i++)
		c->lo[i] = c->hi[i] = w->codes->lo[i] - w->zp->lo[0];
	return c;
}

static net_val *
less_zp(net *n, const quantized *q)
{
	return net_binary(n, q->codes, q->zp, '-');
}

static net_val *
product(net *n, net_val *x, bool stored)
{
	net_weights w;
	int64_t dim[2] = {x->dim[x->rank - 1], net_draw(n, 2, 10)};

	if (dim[0] > 64 || dim[0] < 2)
		return NULL;
	quantized q = quantize(n, x, stored);
	net_draw_weights(n, 2, dim, 1, true, 0.5, true, &w);
	net_val *sum = net_matmul(n, less_zp(n, &q), centred(n, &w));
	sum->type = ONX_INT32;
	net_node(n, "MatMulInteger", 4, (net_val *[]){q.codes, w.codes, q.zp, w.zp}, 1, &sum);
	return scaled(n, sum, &q, &w, dim[1], x->rank == 4 ? 2 : x->rank);
}

static net_val *
conv(net *n, net_val *x, bool stored)
{
	net_window at;
	net_weights w;

	if (x->rank != 4 || x->dim[1] > 12 || x->count > 400)
		return NULL;
	quantized q = quantize(n, x, stored);
	net_draw_window(n, x, false, &at);
	int64_t dim[4] = {net_draw(n, 1, 8), x->dim[1], at.kernel[0], at.kernel[1]};
	net_draw_weights(n, 4, dim, 0, true, 0.5, true, &w);
	net_val *sum = net_conv(n, less_zp(n, &q), centred(n, &w), NULL, &at);
	sum->type = ONX_INT32;
	net_window_attrs(n, &at, false);
	net_node(n, "ConvInteger", 4,
		 (net_val *[]){q.codes, w.codes, q.zp, w.per_channel ? NULL : w.zp}, 1, &sum);
	return scaled(n, sum, &q, &w, dim[0], 4);
}

static net_val *
step(net *n, net_val *x, bool stored)
{
	net_val *y = net_chance(n, 60) ? conv(n, x, stored) : NULL;

	if (y == NULL && x->rank == 4 && x->count <= 64 && net_chance(n, 50))
		x = net_flat(n, x);
	if (y == NULL)
		y = product(n, x, stored);
	if (y != NULL && net_chance(n, 50)) {
		net_val *r = net_map(n, y, net_relu, 0);

		net_node1(n, "Relu", y, r);
		y = r;
	}
	return y;
}

void
net_make_dynamic(net *n)
{
	bool stored = net_chance(n, 50);
	int64_t steps = net_draw(n, 1, 2);
	net_val *x = n->input;

	for (int64_t i = 0; i < steps; i++) {
		net_val *y = step(n, x, stored);

		x = y != NULL ? y : x;
	}
	if (x == n->input)
		x = net_move(n, x);
	if (stored) /* what is stored at the end has parameters, too */
		x = net_quantize(n, x,
				 net_calibrate(n, x, net_chance(n, 50) ? ONX_UINT8 : ONX_INT8));
	if (stored && net_chance(n, 60))
		x = net_dequantize(n, x);
	net_give(n, x);
}
