/* SPDX-License-Identifier: Apache-2.0 */
/* family.h - families of storage types: one kernel text, one function for each of them
 * (runtime/kernels/families.cmake), and the choice between these by the types of a node.
 *
 *   i8 -> s8    u8 -> u8    i16, symmetric -> s16
 *
 *   QN_CALL_BY_FAMILY(clamp_quantized, qn_clip, e->in[0])                  qn_clip_s8(args, e->in[0], e->out) …
 *
 *   #define CONV(name, q, o, a, code)                                  name = conv_quantized_s8 …
 *       static void name(const qn_eval *e, const void *args)
 *       {
 *           qn_conv2d_args##a d = …                                    qn_conv2d_args, of s16 qn_conv2d_args64
 *       }
 *   QN_BY_FAMILY(conv_quantized, CONV)                                     conv_quantized takes one */
#ifndef QN_RUNTIME_FAMILY_H
#define QN_RUNTIME_FAMILY_H

#include "runtime/impls.h"

typedef enum qn_family {
	QN_FAMILY_s8,
	QN_FAMILY_u8,
	QN_FAMILY_s16,
	QN_NFAMILY, /* none of them */
} qn_family;

enum { QN_ALL_FAMILIES = (1 << QN_NFAMILY) - 1 }; /* qn_int_impl.families */

/* Whether an op's integer implementation supports quantized values of the family. */
bool qn_impl_takes_family(qn_op op, qn_family f);
/* The family of values of this element type, whatever their scales. */
qn_family qn_family_of(const qn_elem *e);
/* That of the node's kernel: the family of its first operand. */
qn_family qn_node_family(const qn_graph *g, const qn_node *n);

/* Bounds of a family. */
typedef struct qn_family_info {
	int64_t least, most; /* stored values */
	int64_t limit;       /* what an accumulator, or a sum of its terms, may reach */
} qn_family_info;

const qn_family_info *qn_family_get(qn_family f);
/* The largest |q - zero point| of a type of a family with one scale: for any q of the storage, also where
 * the type has a smaller range, as nothing keeps a caller from passing others. */
int64_t qn_code_reach(const qn_graph *g, const qn_type *type);

/* How many values of the node's family, less their zero points, can be summed in 32 bits. */
int64_t qn_sum_terms(const qn_graph *g, const qn_node *n);

/* The type has one scale, storage of a family, and zero points inside its range, 0 for s16; operand
 * 0 of the node is of the same family; all operands are small enough.  Else reports. */
bool qn_int_check_quantized(const qn_graph *g, const qn_node *n, const qn_type *type) QN_MUST_CHECK;
/* The same for a type that may have a scale for each index of an axis. */
bool qn_int_need_channels(const qn_graph *g, const qn_node *n, const qn_type *type) QN_MUST_CHECK;

typedef void qn_quantized_fn(const qn_eval *e, const void *args);

/* The function `name`, which calls the kernel of the node's family, qn_clip_s8 …, with the arguments
 * that follow between its struct and the result. */
#define QN_CALL_BY_FAMILY(name, kernel, ...)                                                       \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		qn_family family = qn_node_family(e->g, e->n);                                     \
                                                                                                   \
		if (family == QN_FAMILY_s16)                                                       \
			kernel##_s16(args, __VA_ARGS__, e->out);                                   \
		else if (family == QN_FAMILY_u8)                                                   \
			kernel##_u8(args, __VA_ARGS__, e->out);                                    \
		else                                                                               \
			kernel##_s8(args, __VA_ARGS__, e->out);                                    \
	}

/* The function `name` from RUN, which defines it for one family from the ends of kernels' names,
 * as the kernels' texts call them (_q, _o, _a), and the C storage type. */
#define QN_BY_FAMILY(name, RUN) QN_BY_FAMILY_OF(name, RUN, qn_in_type(e->g, e->n, 0))
/* The same with the family of another type. */
#define QN_BY_FAMILY_OF(name, RUN, type)                                                           \
	RUN(name##_s8, _s8, , , int8_t)                                                            \
	RUN(name##_u8, _u8, _u8, , uint8_t)                                                        \
	RUN(name##_s16, _s16, _s16, 64, int16_t)                                                   \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		static qn_quantized_fn *const by[QN_NFAMILY] = {name##_s8, name##_u8, name##_s16}; \
                                                                                                   \
		by[qn_family_of((type)->elem)](e, args);                                           \
	}

#endif
