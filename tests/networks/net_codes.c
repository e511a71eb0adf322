/* SPDX-License-Identifier: Apache-2.0 */
/* net_codes.c - scales and zero points; real numbers as quantized values and back.
 *
 *   q = round(x / scale) + zp, ties to even, limited to the storage type
 *
 * A number within `slack` steps of a tie becomes both neighbours. */
#include "tests/networks/net.h"

#include <math.h>

int64_t
net_qmin(int type)
{
	return type == ONX_INT8 ? -128 : type == ONX_INT16 ? INT16_MIN : 0;
}

int64_t
net_qmax(int type)
{
	return type == ONX_INT8     ? INT8_MAX
	       : type == ONX_INT16  ? INT16_MAX
	       : type == ONX_UINT16 ? UINT16_MAX
				    : UINT8_MAX;
}

/* A scale of 12 bits: what libm or a compiler changes in the last bits of a range does not change the file. */
double
net_coarse(double scale)
{
	int e;
	double m = frexp(scale, &e);

	return ldexp(floor(m * 4096 + 0.5), e - 12);
}

net_params
net_params_for(net *n, double lo, double hi, int type)
{
	const double levels = (double)(net_qmax(type) - net_qmin(type));
	net_params q = {.type = type};

	lo = lo < 0 ? lo : 0;
	hi = hi > 0 ? hi : 0;
	if (hi - lo < 1e-3)
		hi = lo + 1e-3;
	if (net_chance(n, 30)) { /* symmetric */
		double reach = hi > -lo ? hi : -lo;

		q.scale = net_coarse(reach / floor(levels / 2));
		q.zp = net_qmin(type) < 0 ? 0 : net_qmax(type) / 2 + 1;
		return q;
	}
	q.scale = net_coarse((hi - lo) / levels);
	q.zp = net_qmin(type) + (int64_t)floor(-lo / q.scale + 0.5);
	if (q.zp > net_qmax(type))
		q.zp = net_qmax(type);
	return q;
}

net_params
net_calibrate(net *n, const net_val *x, int type)
{
	double lo, hi, f = net_real(n, 0.7, 1.15);

	net_range(x, &lo, &hi);
	return net_params_for(n, lo * f, hi * f, type);
}

/* ---- rounding ---- */

double
net_even(double x)
{
	double r = floor(x), d = x - r;

	if (d > 0.5 || (!(d < 0.5) && fmod(r, 2) != 0))
		r += 1;
	return r;
}

static double
limited(double x, int type)
{
	double lo = (double)net_qmin(type), hi = (double)net_qmax(type);

	return x < lo ? lo : x > hi ? hi : x;
}

static int64_t
sets(const net_val *x)
{
	return (x->constant ? 1 : NET_SAMPLES) * x->count;
}

net_val *
net_codes_of(net *n, const net_val *real, net_params q, double slack)
{
	net_val *y = net_new(n, q.type, real->rank, real->dim);

	y->q = q;
	for (int s = 0; s < NET_SAMPLES; s++)
		for (int64_t i = 0; i < y->count; i++) {
			double lo = net_lo(real, s, i) / q.scale, hi = net_hi(real, s, i) / q.scale;
			double eps = slack + 1e-6 * (fabs(lo) < 512 ? fabs(lo) : 512);
			int64_t at = s * y->count + i;

			y->lo[at] = limited(net_even(lo - eps) + (double)q.zp, q.type);
			y->hi[at] = limited(net_even(hi + eps) + (double)q.zp, q.type);
		}
	return y;
}

net_val *
net_real_of(net *n, const net_val *codes)
{
	net_val *y = net_real_like(n, codes);

	y->q = codes->q;
	for (int s = 0; s < NET_SAMPLES; s++)
		for (int64_t i = 0; i < y->count; i++) {
			int64_t at = s * y->count + i;

			y->lo[at] = (net_lo(codes, s, i) - (double)codes->q.zp) * codes->q.scale;
			y->hi[at] = (net_hi(codes, s, i) - (double)codes->q.zp) * codes->q.scale;
		}
	return y;
}

net_val *
net_quantize(net *n, net_val *x, net_params q)
{
	net_val *y = net_codes_of(n, x, q, 1e-5);

	net_node(n, "QuantizeLinear", 3,
		 (net_val *[]){x, net_scalar(n, ONX_FLOAT, q.scale),
			       net_scalar(n, q.type, (double)q.zp)},
		 1, &y);
	return y;
}

net_val *
net_dequantize(net *n, net_val *x)
{
	net_val *y = net_real_of(n, x);
	/* a zero point of 0 may be left out where the storage is unsigned or signed alike */
	bool zero = x->q.zp == 0 && net_chance(n, 30);

	net_node(n, "DequantizeLinear", 3,
		 (net_val *[]){x, net_scalar(n, ONX_FLOAT, x->q.scale),
			       zero ? NULL : net_scalar(n, x->q.type, (double)x->q.zp)},
		 1, &y);
	return y;
}

/* ---- functions ---- */

/* By halving the argument and squaring: the same on every host, as libm's is not. */
double
net_exp(double x)
{
	double y = 1, term = 1;
	int k = 0;

	if (x < -700)
		return 0;
	while (x > 0.25 || x < -0.25) {
		x /= 2;
		k++;
	}
	for (int i = 1; i < 16; i++) {
		term = term * x / i;
		y += term;
	}
	while (k-- > 0)
		y *= y;
	return y;
}

double
net_relu(double x, double arg)
{
	(void)arg;
	return x > 0 ? x : 0;
}

double
net_leaky(double x, double alpha)
{
	return x > 0 ? x : alpha * x;
}

double
net_sigmoid(double x, double arg)
{
	(void)arg;
	return 1 / (1 + net_exp(-x));
}

double
net_tanh(double x, double arg)
{
	(void)arg;
	return 2 / (1 + net_exp(-2 * x)) - 1;
}

net_val *
net_map(net *n, const net_val *x, net_fn *fn, double arg)
{
	net_val *y = net_real_like(n, x);

	for (int64_t i = 0; i < sets(x); i++) {
		y->lo[i] = fn(x->lo[i], arg);
		y->hi[i] = fn(x->hi[i], arg);
	}
	return y;
}

net_val *
net_map_any(net *n, const net_val *x, net_fn *fn, double arg)
{
	net_val *y = net_real_like(n, x);

	for (int64_t i = 0; i < sets(x); i++) {
		enum { PIECES = 8 };
		for (int k = 0; k <= PIECES; k++) {
			double v = fn(x->lo[i] + (x->hi[i] - x->lo[i]) * k / PIECES, arg);

			y->lo[i] = k == 0 || v < y->lo[i] ? v : y->lo[i];
			y->hi[i] = k == 0 || v > y->hi[i] ? v : y->hi[i];
		}
	}
	return y;
}

net_val *
net_clamped(net *n, const net_val *x, double lo, double hi)
{
	net_val *y = net_like(n, x);

	for (int64_t i = 0; i < sets(x); i++) {
		y->lo[i] = x->lo[i] < lo ? lo : x->lo[i] > hi ? hi : x->lo[i];
		y->hi[i] = x->hi[i] < lo ? lo : x->hi[i] > hi ? hi : x->hi[i];
	}
	return y;
}
