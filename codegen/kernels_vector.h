/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_vector.h - rows of products for processors with vectors (runtime/kernels/vector.h), which
 * stand before the other rows of their ops. */
#ifndef QN_CODEGEN_KERNELS_VECTOR_H
#define QN_CODEGEN_KERNELS_VECTOR_H

#include "codegen/layer.h"
#include "runtime/kernels/vector_conv.h"
#include "runtime/kernels/vector_dense.h"
#include "runtime/kernels/vector_depthwise_images.h"
#include "runtime/kernels/vector_wide.h"

/* Packed arguments, how many entries their arrays have, and bits of a weight. */
typedef struct qn_vector_packed {
	qn_vector_args args;
	int32_t nw, nscale, bits;
} qn_vector_packed;

typedef struct qn_dense_vector_packed {
	qn_dense_vector_args args;
	int32_t nw, nscale;
} qn_dense_vector_packed;

const char *qn_fits_conv2d_vector(const qn_step_facts *f);
const char *qn_fits_conv2d_wide(const qn_step_facts *f);
const char *qn_fits_depthwise_vector(const qn_step_facts *f);
const char *qn_fits_depthwise_up_vector(const qn_step_facts *f);
const char *qn_fits_dense_vector(const qn_step_facts *f);
void *qn_pack_conv2d_vector(const qn_step_facts *f, qn_arena *a);
void *qn_pack_conv2d_wide(const qn_step_facts *f, qn_arena *a);
void *qn_pack_depthwise_vector(const qn_step_facts *f, qn_arena *a);
void *qn_pack_depthwise_up_vector(const qn_step_facts *f, qn_arena *a);
void *qn_pack_dense_vector(const qn_step_facts *f, qn_arena *a);
/* Weights of blocks of eight channels, in them blocks of 16 inputs, as dense layers have them; and whether products of
 * those of targets that add two in 16 bits fit there. */
int8_t *qn_vector_pack_eights(const qn_layer *l, int32_t *n, qn_arena *a);
bool qn_vector_pairs_fit(const qn_layer *l);
size_t qn_work_conv2d_vector(const void *args);
size_t qn_work_conv2d_wide(const void *args);
size_t qn_work_depthwise_vector(const void *args);
size_t qn_work_depthwise_up_vector(const void *args);
size_t qn_work_dense_vector(const void *args);

/* Values of i8, weights of i8 or i4, all constants packed. */
#define QN_VECTOR_ROW(type, which, features)                                                       \
	.families = 1 << QN_FAMILY_s8, .reads = 1 << QN_FAMILY_s8, QN_CODES_1,                     \
	.pointer = {{.table = "w",                                                                 \
		     .at = offsetof(type, args.w),                                                 \
		     .count = offsetof(type, nw),                                                  \
		     .each = 1,                                                                    \
		     .packs = true},                                                               \
		    {.table = "scale",                                                             \
		     .at = offsetof(type, args.scale),                                             \
		     .count = offsetof(type, nscale),                                              \
		     .each = 1}},                                                                  \
	.needs = features, .fits = qn_fits_##which, .pack = qn_pack_##which,                       \
	.work = qn_work_##which, .work_type = "int8_t"

#endif
