/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - kernels that the host defines for operators of Quern: for nodes with these storage
 * types and layouts the interpreter calls the host's function, and emitted C its text.
 *
 *   const char *const in[] = {"i8", "i8 block 32"};              dense with weights in q8_0, no bias
 *   const qn_kernel_desc mine = {.size = sizeof mine, .name = "acme.dense_q8", .op = "dense",
 *                                .nin = 2, .in = in, .prepare = prepare, .run = dense_q8,
 *                                .c_name = "dense_q8", .c_text = dense_q8_text};
 *
 *   qn_kernel_register(ctx, &mine);           for all models of this context, until it is unregistered
 *
 * Which kernel a node on quantized values gets: of those of the host that match, the one of the
 * largest salience that does not decline (of equal ones the one registered last); then Quern's, the
 * packed one for the target before the plain one; then, only with qn_kernel_rules.allow_dequantize
 * and in the interpreter alone, its float function on dequantized values.  qn_emit_opts.explain
 * says which one each step has, and which declined and why.
 *
 * Nodes whose values are all plain integers have no custom kernels.
 *
 * A kernel computes what docs/quantization.md says of the op, byte for byte, and so does its text;
 * the self-test of emitted C compares both.  It computes one node: sums of a product are its
 * result, and the requantize that follows is a step of its own. */
#ifndef QUERN_KERNELS_H
#define QUERN_KERNELS_H

#include "quern/host_ops.h"
#include "quern/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An operand or the result of a node. */
typedef struct qn_kernel_operand {
	size_t size;      /* of the struct in this library */
	const char *form; /* "i8", "i4 block 32": the pattern that takes it and no other form */
	const char *type; /* "tensor<16x64x!quant.uniform<…>>" */
	const qn_op_type *numbers; /* shape, range, scales; bits 0 also of plain integers */
	int is_constant;
	/* What it consists of:
	 *   "qs"        the stored elements, one in each byte also where they have fewer bits; data
	 *               NULL unless it is constant
	 *   "d"         f64, the scales: of rank 0, [channels], or the number of blocks along each axis
	 *   "zp"        i64, the zero points, of the same shape
	 *   "mantissa"  i16 [channels, blocks…], only weights in blocks whose product is computed in
	 *               integers: the scale of a block as multiples of a power of 2
	 *   "offset"    i16, likewise, the zero point times the mantissa, negated; only if it has some
	 * Plain integers have "" alone. */
	size_t nplane;
	const qn_plane_view *plane;
} qn_kernel_operand;

/* A node that is about to get a kernel.  Everything is valid during the call. */
typedef struct qn_kernel_call {
	size_t size;                   /* of the struct in this library */
	const char *op, *node, *attrs; /* "conv2d", its name, "stride=[2,2]" */
	int rounding;                  /* of multipliers: QN_RQ_… of quern/fixed.h */
	size_t nin;
	const qn_kernel_operand *const *in;
	const qn_kernel_operand *out;
} qn_kernel_call;

/* Callbacks may be called several times for a node and from several threads at a time, must do the
 * same for the same arguments, and may not call the library. */
typedef struct qn_kernel_desc {
	size_t size;
	const char *name; /* "acme.dense_q8": with a dot, of no other kernel */
	const char *op;   /* "dense": a built-in op with a kernel, of no loop */
	/* What the operands must be, in order, as many as the node has: a storage type, "i8"; one
	 * in blocks of so many elements along the last axis, "i8 block 32" (weights in q8_0), or in
	 * any blocks, "i8 block *"; "*" in place of a type is any, and "*" or NULL alone
	 * anything. */
	size_t nin; /* 1 … 32 */
	const char *const *in;
	const char *out; /* of the result, likewise */
	int salience;
	/* 0: it declines, with the reason (static text) in *why.  NULL: it takes all that match. */
	int (*can_run)(void *user, const qn_kernel_call *c, const char **why);
	/* Parameters of the function (sizes, multipliers, tables): writes them if cap is at least
	 * their number, which it returns; else it is called again with room for them.  -1: it
	 * declines, as can_run.  NULL: there are none. */
	int (*prepare)(void *user, const qn_kernel_call *c, int32_t *param, int cap,
		       const char **why);
	/* Computes the result from the elements of all operands ("qs"; constants too).  The result
	 * never lies on an operand; both are aligned as their elements must be and no more. */
	void (*run)(const int32_t *param, const void *const *in, void *out);
	/* The same as C text that also compiles as C++: "static void NAME(const int32_t *param,
	 * const void *const *in, void *out) { … }"; it may use what quern/fixed.h and the kernels
	 * define.  Both NULL: it has none.  Names as those of qn_op_desc.integer_name. */
	const char *c_name, *c_text;
	void *user;
} qn_kernel_desc;

/* Adds a kernel to the context; the texts are copied.  QN_EUSAGE (kernel.register): something is
 * missing, a name is taken, or the form of an operand is invalid.  A failed call changes
 * nothing. */
QN_API qn_status qn_kernel_register(qn_ctx *ctx, const qn_kernel_desc *desc);
/* Takes it away; its callbacks are not called any more.  QN_EUSAGE (kernel.unknown). */
QN_API qn_status qn_kernel_unregister(qn_ctx *ctx, const char *name);

/* What a dispatch may do beside the kernels of the host and of Quern; all zero: nothing. */
typedef struct qn_kernel_rules {
	size_t size;
	/* The interpreter runs a node that no kernel takes in float: operands dequantized, its
	 * result quantized.  Emitted C never does: qn_emit refuses the node. */
	int allow_dequantize;
	/* Kernels without C text are used by the interpreter alone, and emitted C calls those that
	 * come after them.  Without it, emitting a node with such a kernel is an error
	 * (emit.kernel). */
	int interpreter_only;
} qn_kernel_rules;

/* Sets the rules of a context; NULL: those of a new one. */
QN_API qn_status qn_kernel_rules_set(qn_ctx *ctx, const qn_kernel_rules *rules);

#ifdef __cplusplus
}
#endif
#endif
