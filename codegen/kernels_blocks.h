/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_blocks.h - rows of products with weights in blocks for cores with the DSP extension
 * (kernels_blocks_dsp.c) and for vectors (kernels_blocks_vector.c), which stand before those of all cores. */
#ifndef QN_CODEGEN_KERNELS_BLOCKS_H
#define QN_CODEGEN_KERNELS_BLOCKS_H

#include "codegen/kernels_dsp.h"
#include "codegen/kernels_vector.h"
#include "runtime/kernels/dsp_weight_blocks.h"
#include "runtime/kernels/vector_weight_blocks.h"

const char *qn_fits_blocks_dsp(const qn_step_facts *f);
void *qn_pack_conv2d_blocks_dsp(const qn_step_facts *f, qn_arena *a);
void *qn_pack_dense_blocks_dsp(const qn_step_facts *f, qn_arena *a);
size_t qn_work_conv2d_blocks_dsp(const void *args);
size_t qn_work_dense_blocks_dsp(const void *args);
const char *qn_fits_blocks_vector(const qn_step_facts *f);
void *qn_pack_conv2d_blocks_vector(const qn_step_facts *f, qn_arena *a);
void *qn_pack_dense_blocks_vector(const qn_step_facts *f, qn_arena *a);
size_t qn_work_conv2d_blocks_vector(const void *args);
size_t qn_work_dense_blocks_vector(const void *args);
/* The fits of QN_VECTOR_ROW. */
#define qn_fits_conv2d_blocks_vector qn_fits_blocks_vector
#define qn_fits_dense_blocks_vector qn_fits_blocks_vector

#endif
