/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_blocks.h - rows of products with weights in blocks for cores with the DSP extension
 * (kernels_blocks_dsp.c, kernels_blocks_rows.c) and for vectors (kernels_blocks_vector.c), which stand before those of all cores. */
#ifndef QN_CODEGEN_KERNELS_BLOCKS_H
#define QN_CODEGEN_KERNELS_BLOCKS_H

#include "codegen/kernels_dsp.h"
#include "codegen/kernels_vector.h"
#include "runtime/kernels/dsp_weight_rows.h"
#include "runtime/kernels/dsp_weight_rows16.h"
#include "runtime/kernels/vector_weight_blocks.h"

/* Packed arguments of kernels on values of 16 bits, and how many words their constants are. */
typedef struct qn_dense_dsp16_packed {
	qn_dense_dsp16_args args;
	int32_t nw;
} qn_dense_dsp16_packed;

const char *qn_fits_conv2d_blocks_dsp(const qn_step_facts *f);
const char *qn_fits_conv2d_blocks_rows_dsp(const qn_step_facts *f);
const char *qn_fits_dense_blocks_dsp(const qn_step_facts *f);
const char *qn_fits_dense_blocks_dsp16(const qn_step_facts *f);
void *qn_pack_conv2d_blocks_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_conv2d_blocks_rows_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_dense_blocks_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_dense_blocks_dsp16(const qn_step_facts *f, qn_arena *a);
size_t qn_work_conv2d_blocks_dsp(const void *args);
size_t qn_work_conv2d_blocks_rows_dsp(const void *args);
size_t qn_work_dense_blocks_dsp(const void *args);
size_t qn_work_dense_blocks_dsp16(const void *args);
const char *qn_fits_blocks_vector(const qn_step_facts *f);
void *qn_pack_conv2d_blocks_vector(const qn_step_facts *f, qn_arena *a);
void *qn_pack_dense_blocks_vector(const qn_step_facts *f, qn_arena *a);
size_t qn_work_conv2d_blocks_vector(const void *args);
size_t qn_work_dense_blocks_vector(const void *args);
/* The fits of QN_VECTOR_ROW. */
#define qn_fits_conv2d_blocks_vector qn_fits_blocks_vector
#define qn_fits_dense_blocks_vector qn_fits_blocks_vector

#endif
