/* SPDX-License-Identifier: Apache-2.0 */
/* host_ops.h - operators that the host defines: run, quantized, compiled and emitted like
 * built-in ones.
 *
 *   static void
 *   softsign(void *user, const qn_op_call *c, const float *const *in, float *out)
 *   {
 *           …out[i] = in[0][i] / (1 + fabs(in[0][i]))…
 *   }
 *
 *   const qn_op_desc op = {.size = sizeof op, .name = "acme.softsign", .min_inputs = 1,
 *                          .max_inputs = 1, .behaviour = QN_OP_TABLE, .run_float = softsign};
 *
 *   qn_op_register(ctx, &op);          models of this context may have "acme.softsign" from now on
 *
 * A descriptor says what quantization may do around the operator (behaviour), its shape rule, its
 * float function, and for integer models its function on quantized values twice: as a function
 * that the interpreter calls, and as C text that is emitted.  A TABLE operator needs the float
 * function alone. */
#ifndef QUERN_HOST_OPS_H
#define QUERN_HOST_OPS_H

#include "quern/quern.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What quantization may do around an operator. */
typedef enum qn_op_behaviour {
	QN_OP_FLOAT_ONLY = 0, /* stays float: a model with it can be run, but not compiled */
	/* one input; moves, selects or clamps elements: scale and zero point do not change */
	QN_OP_SAME = 1,
	/* any scales in, own scale out, found by calibration; constants that a quantizer pattern gives
	 * a scale for each channel, or 32 bits, stay as they are */
	QN_OP_MIX = 2,
	/* one input, element by element: becomes a table over all quantized values, made with the
	 * float function */
	QN_OP_TABLE = 3,
	/* like MIX, but the result has fixed_scale and fixed_zero_point */
	QN_OP_FIXED = 4
} qn_op_behaviour;

/* An attribute of an operator, as texts write it: "acme.pow {exponent=2}". */
typedef struct qn_op_attr {
	const char *name;
	int is_real;              /* else a 64-bit integer */
	const char *default_text; /* "0.5", "3"; NULL: must be given */
} qn_op_attr;

typedef union qn_op_value {
	int64_t integer;
	double real;
} qn_op_value;

/* The type of an operand or of the result.  A quantized value q stands for the float value (q -
 * zero_point) * scale. */
typedef struct qn_op_type {
	size_t size; /* of the struct in this library: members that lie beyond it do not exist */
	int rank;    /* -1: not known (in `shape` only) */
	const int64_t *shape; /* rank dims; -1: dynamic (in `shape` only) */
	int bits;             /* of a quantized value: 8 or 16; 0: f32 */
	int is_signed;
	int64_t lo, hi; /* the range of quantized values */
	double scale;   /* 0 while it is not known */
	int64_t zero_point;
	/* Per axis: index i of `axis` has scales[i] and zero_points[i], and the two members above
	 * are those of index 0.  nscales 1: per tensor, axis is -1. */
	int axis;
	size_t nscales;
	const double *scales;
	const int64_t *zero_points;
} qn_op_type;

typedef struct qn_op_call {
	size_t size; /* of the struct in this library */
	size_t nin;
	const qn_op_type *const *in;
	const qn_op_type *out;   /* NULL in `shape` */
	const qn_op_value *attr; /* in the order of the descriptor */
} qn_op_call;

/* All callbacks may be called from several threads at a time (qn_config.threads), must give the
 * same results for the same arguments, and may not call the library. */
typedef struct qn_op_desc {
	size_t size;
	const char *name; /* "acme.softsign": has a dot, which no built-in operator has */
	unsigned min_inputs, max_inputs; /* 1 … 32 */
	qn_op_behaviour behaviour;
	double fixed_scale; /* of FIXED: positive; the nearest f32 is taken */
	int64_t fixed_zero_point;
	size_t nattr; /* at most 8 */
	const qn_op_attr *attr;
	/* The result's rank (0 … 8) and dims; -1 with a reason (static text) in *why, which
	 * is NULL where it has none.  NULL: the shape of input 0. */
	int (*shape)(void *user, const qn_op_call *c, int64_t dim[8], const char **why);
	/* The float function, row-major.  Never NULL.  For TABLE it is also called with one
	 * element: the float value of each quantized value in turn. */
	void (*run_float)(void *user, const qn_op_call *c, const float *const *in, float *out);
	/* The parameters of the integer function (sizes, multipliers, tables: whatever it needs),
	 * at most cap of them.  Returns their number, or -1 with a reason in *why where it does
	 * not take the types of the call.  NULL, like run_integer: no integer function but the
	 * table of a TABLE operator. */
	int (*prepare)(void *user, const qn_op_call *c, int32_t *param, int cap, const char **why);
	/* The integer function, and the same as C text that also compiles as C++: "static void
	 * INTEGER_NAME(const int32_t *param, const void *const *in, void *out) { … }".  Integers
	 * only; the text may use what quern/fixed.h and the kernels define (qn_apply, qn_clamp32
	 * …), which is then emitted with it.  The name is an identifier that is not one of C or its
	 * library, does not begin with qn_, and has one text in this context.  The result never lies
	 * on an operand.  Both are aligned as their elements must be and no more: inputs, outputs and
	 * constants of emitted C are what the compiler and its caller make them. */
	void (*run_integer)(const int32_t *param, const void *const *in, void *out);
	const char *integer_name, *integer_text;
	void *user;
} qn_op_desc;

/* Makes the operator known to models that the context loads or builds from now on; it lasts as
 * long as the context.  Texts are copied.  QN_EUSAGE (op.register): something is missing, or the
 * name is taken. */
QN_API qn_status qn_op_register(qn_ctx *ctx, const qn_op_desc *desc);

/* Reads a file of compositions (docs/compositions.md): custom operators, by ONNX's domain or
 * TFLite's custom code, as graphs of built-in ones, for the models that the context imports from
 * now on.  It is checked as a whole.  A file that was read already is not read again.  Errors:
 * lib.syntax, lib.name, lib.operator (defined already) … */
QN_API qn_status qn_compositions_load(qn_ctx *ctx, const char *path);

/* A real multiplier M >= 0 as m * 2^(s-31), as qn_apply of quern/fixed.h takes it: m in [2^30,
 * 2^31) or 0, s in [-31, 30].  Without a report, QN_EINVALID: M is negative, not finite, or 2^30 or
 * more. */
QN_API qn_status qn_multiplier_of(double M, int32_t *m, int32_t *s);

#ifdef __cplusplus
}
#endif
#endif
