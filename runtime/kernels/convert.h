/* SPDX-License-Identifier: MIT-0 */
/*
 * Conversion between plain integer types.
 *
 *     int32 300 -> int8 44        two's complement: the low bits
 *     int32 300 -> bool 1         anything but 0 is 1
 *     int8 -1   -> uint16 65535
 *
 * The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_CONVERT_H
#define QN_KERNELS_CONVERT_H

#include "../fixed.h"

/*@ qn_cast_args */
typedef struct qn_cast_args {
	int32_t n;           /* elements */
	int32_t from, to;    /* bytes of an element: 1, 2, 4 or 8 */
	int32_t from_signed; /* 0 or 1 */
	int32_t to_bool;     /* 0 or 1 */
} qn_cast_args;

/*@ qn_cast_load */
/* Element i of x, extended to 64 bits. */
static inline uint64_t
qn_cast_load(const qn_cast_args *a, const void *x, int32_t i)
{
	const uint8_t *p = (const uint8_t *)x + i * a->from;
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;
	uint64_t v;

	if (a->from == 1) {
		v = p[0];
	} else if (a->from == 2) {
		memcpy(&v2, p, sizeof(v2));
		v = v2;
	} else if (a->from == 4) {
		memcpy(&v4, p, sizeof(v4));
		v = v4;
	} else {
		memcpy(&v8, p, sizeof(v8));
		return v8;
	}
	if (a->from_signed != 0 && (v >> (8 * a->from - 1) & 1) != 0)
		v |= ~UINT64_C(0) << (8 * a->from);
	return v;
}

/*@ qn_cast_store */
static inline void
qn_cast_store(const qn_cast_args *a, void *y, int32_t i, uint64_t v)
{
	uint8_t *p = (uint8_t *)y + i * a->to;
	uint32_t v4 = (uint32_t)v;
	uint16_t v2 = (uint16_t)v;

	if (a->to == 1)
		p[0] = (uint8_t)(a->to_bool != 0 ? v != 0 : v & 0xff);
	else if (a->to == 2)
		memcpy(p, &v2, sizeof(v2));
	else if (a->to == 4)
		memcpy(p, &v4, sizeof(v4));
	else
		memcpy(p, &v, sizeof(v));
}

/*@ qn_cast */
static inline void
qn_cast(const qn_cast_args *a, const void *x, void *QN_RESTRICT y)
{
	int32_t i;

	for (i = 0; i < a->n; i++)
		qn_cast_store(a, y, i, qn_cast_load(a, x, i));
}

/*@ end */
#endif
