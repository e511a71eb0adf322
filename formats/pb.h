/* SPDX-License-Identifier: Apache-2.0 */
/* pb.h - one tensor in a file, as ONNX's test data has them: test_data_set_0/input_0.pb, a TensorProto. */
#ifndef QN_FORMATS_PB_H
#define QN_FORMATS_PB_H

#include "ir/tensor.h"

/* Its dims are those of the whole tensor.  Element types: bool, integers of 8 to 64 bits, f16, bf16, f32, f64.  Errors name
 * the file: pb.syntax (not a TensorProto, or cut off), pb.dtype, pb.size (dims and data differ), pb.value (outside of the
 * type), pb.external (the data is in another file). */
qn_status qn_pb_read(qn_types *t, qn_arena *a, const char *path, qn_tensor **out) QN_MUST_CHECK;

/* The same from bytes in memory, which must live as long as the tensor. */
qn_status qn_pb_parse(qn_types *t, qn_arena *a, const char *place, const char *data, size_t n,
		      qn_tensor **out) QN_MUST_CHECK;

#endif
