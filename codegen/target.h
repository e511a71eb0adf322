/* SPDX-License-Identifier: Apache-2.0 */
/* target.h - the processors that emitted code can be written for. */
#ifndef QN_CODEGEN_TARGET_H
#define QN_CODEGEN_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "ir/env.h"

/* What kernels need of a target.  Plain ones need nothing: they are the smallest. */
enum {
	QN_TARGET_ANY =
		1
		<< 15, /* what all have: of kernels that take more code or constants to be faster */
	QN_TARGET_DSP = 1 << 0, /* SMLAD and its like: the DSP extension of Armv7E-M and Armv8-M */
	QN_TARGET_VECTORS = 1 << 1, /* those of 16 bytes (runtime/kernels/vector.h) */
	QN_TARGET_PAIRS = 1 << 2,   /* adds products of 8 bits in 16 bits, two at a time */
	QN_TARGET_ROM = 1 << 3,     /* constants in a memory of their own (codegen/emit_rom.c) */
	QN_TARGET_SCALAR =
		1 << 4, /* neither; products of 32 bits are cheap (runtime/kernels/scalar.h) */
	QN_TARGET_WIDE = 1 << 5, /* vectors of 64 bytes, for convolutions (vector_wide.h) */
	QN_TARGET_SMLAD =
		1 << 6, /* those of 16-bit values with the DSP extension, which MVE implies */
	QN_TARGET_OF_I8 = QN_TARGET_DSP | QN_TARGET_VECTORS |
			  QN_TARGET_SCALAR, /* whose kernels know values of i8 alone */
};

typedef struct qn_target {
	const char *name, *help;
	uint32_t features;
	const char *
		lacks; /* of the preprocessor: true of compilers that are not for it; NULL: any will do */
	const char *flags; /* by which a compiler is for it, if it takes several; NULL: none */
	size_t most;       /* bytes of the largest object that its compilers take; 0: no limit */
	bool is_host;      /* it has so much memory that no program is made slower to need less */
} qn_target;

/* Row i of the table, the first one the default; NULL past the last. */
const qn_target *qn_target_at(size_t i);
/* The one of this name, the default for NULL; NULL after a report (target.unknown). */
const qn_target *qn_target_find(qn_env *env, const char *name);

#endif
