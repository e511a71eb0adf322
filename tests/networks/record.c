/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - what another runtime gave, as differences to what is computed here.
 *
 *   0:24:-1 0:25:1       of output 0 elements 24 and 25 are a step below and above the middle of their intervals */
#include "tests/networks/judge.h"

#include <math.h>
#include <stdio.h>

/* That of what stood before, then n bytes; 0: nothing stood before. */
static uint32_t
crc_on(uint32_t crc, const uint8_t *data, size_t n)
{
	crc = ~crc;
	for (size_t i = 0; i < n; i++) {
		crc ^= data[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1u)));
	}
	return ~crc;
}

uint32_t
record_crc(const uint8_t *data, size_t n)
{
	return crc_on(0, data, n);
}

/* One unit of an output's elements; 0: they are real numbers of any size. */
double
record_step(const net_val *y)
{
	return y->type != ONX_FLOAT ? 1 : y->q.scale;
}

/* What is computed here for an element: the middle of its interval; between two steps the upper one.  A number that a
 * move put beside quantized values has none. */
double
record_middle(const net_val *y, int64_t i)
{
	const double v = (y->lo[i] + y->hi[i]) / 2, step = record_step(y);
	const double halves = step > 0 ? 2 * v / step : 0;

	return step > 0 && fabs(halves - floor(halves + 0.5)) < 1e-5 ? floor(v / step + 0.5) * step
								     : v;
}

/* CRC of the middles of all outputs. */
uint32_t
record_computed(const net *n)
{
	uint32_t crc = 0;

	for (int k = 0; k < n->noutput; k++) {
		const net_val *y = n->output[k];

		for (int64_t i = 0; i < NET_SAMPLES * y->count; i++) {
			const float v = (float)record_middle(y, i);
			uint8_t bytes[4];

			put_little(bytes, &v, 4, 4);
			crc = crc_on(crc, bytes, 4);
		}
	}
	return crc;
}

/* What the record says of the outputs, into `given`; false: the other runtime refused the file. */
bool
record_given(const net *n, const char *text, double *const *out, judge_given *given)
{
	for (int k = 0; k < n->noutput; k++) {
		const net_val *y = n->output[k];

		for (int64_t i = 0; i < NET_SAMPLES * y->count; i++)
			out[k][i] = record_middle(y, i);
		given->output[k] = out[k];
	}
	if (text[0] == '!')
		return false;
	for (const char *s = text; *s != '\0' && *s != '=';) {
		int k, used = 0;
		long long i;
		double d;

		if (sscanf(s, "%d:%lld:%lf %n", &k, &i, &d, &used) < 3 || k >= n->noutput ||
		    i >= NET_SAMPLES * n->output[k]->count)
			break;
		out[k][i] += d * (record_step(n->output[k]) > 0 ? record_step(n->output[k]) : 1);
		s += used;
	}
	return true;
}
