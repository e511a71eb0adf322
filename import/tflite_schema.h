/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_schema.h - numbers of TFLite's schema (tensorflow/lite/schema/schema.fbs): fields of
 * tables in the order of their declaration, types, operators.
 *
 *   QN_TFL_FIELD_tensor_shape = 0      field 0 of table Tensor
 *   QN_TFL_CONV_2D = 3                 the operator's number in a file */
#ifndef QN_IMPORT_TFLITE_SCHEMA_H
#define QN_IMPORT_TFLITE_SCHEMA_H

#include <stdint.h>

/* Fields by table; each table begins at 0 again. */
enum {
	QN_TFL_FIELD_model_version,
	QN_TFL_FIELD_model_operator_codes,
	QN_TFL_FIELD_model_subgraphs,
	QN_TFL_FIELD_model_description,
	QN_TFL_FIELD_model_buffers,

	QN_TFL_FIELD_buffer_data = 0,
	QN_TFL_FIELD_buffer_offset, /* from the file's begin; used when data is absent */
	QN_TFL_FIELD_buffer_size,

	QN_TFL_FIELD_code_deprecated = 0, /* numbers up to 126 */
	QN_TFL_FIELD_code_custom,
	QN_TFL_FIELD_code_version,
	QN_TFL_FIELD_code_builtin,

	QN_TFL_FIELD_graph_tensors = 0,
	QN_TFL_FIELD_graph_inputs,
	QN_TFL_FIELD_graph_outputs,
	QN_TFL_FIELD_graph_operators,
	QN_TFL_FIELD_graph_name,

	QN_TFL_FIELD_operator_code = 0,
	QN_TFL_FIELD_operator_inputs,
	QN_TFL_FIELD_operator_outputs,
	QN_TFL_FIELD_operator_options_type,
	QN_TFL_FIELD_operator_options,
	QN_TFL_FIELD_operator_custom_options,
	QN_TFL_FIELD_operator_options_2 = 12, /* of operators that came after RIGHT_SHIFT */

	QN_TFL_FIELD_tensor_shape = 0,
	QN_TFL_FIELD_tensor_type,
	QN_TFL_FIELD_tensor_buffer,
	QN_TFL_FIELD_tensor_name,
	QN_TFL_FIELD_tensor_quantization,
	QN_TFL_FIELD_tensor_is_variable,
	QN_TFL_FIELD_tensor_sparsity,
	QN_TFL_FIELD_tensor_shape_signature,

	QN_TFL_FIELD_quantization_min = 0,
	QN_TFL_FIELD_quantization_max,
	QN_TFL_FIELD_quantization_scale,
	QN_TFL_FIELD_quantization_zero_point,
	QN_TFL_FIELD_quantization_details_type,
	QN_TFL_FIELD_quantization_details,
	QN_TFL_FIELD_quantization_axis,

	QN_TFL_FIELD_blockwise_scales = 0,
	QN_TFL_FIELD_blockwise_zero_points,
	QN_TFL_FIELD_blockwise_block_size,

	QN_TFL_FIELD_sparsity_traversal_order = 0,
	QN_TFL_FIELD_sparsity_block_map,
	QN_TFL_FIELD_sparsity_dims,

	QN_TFL_FIELD_sparse_dim_format = 0,
	QN_TFL_FIELD_sparse_dim_dense_size,
	QN_TFL_FIELD_sparse_dim_segments_type,
	QN_TFL_FIELD_sparse_dim_segments,
	QN_TFL_FIELD_sparse_dim_indices_type,
	QN_TFL_FIELD_sparse_dim_indices
};

/* QuantizationDetails; another one is custom. */
enum { QN_TFL_DETAILS_BLOCKWISE = 2 };

/* TensorType, rows (name, element type, number) of those that Quern has. */
#define QN_TFL_TYPES(X)                                                                            \
	X(FLOAT32, f32, 0)                                                                         \
	X(FLOAT16, f16, 1)                                                                         \
	X(INT32, i32, 2)                                                                           \
	X(UINT8, u8, 3)                                                                            \
	X(INT64, i64, 4)                                                                           \
	X(BOOL, bool, 6)                                                                           \
	X(INT16, i16, 7)                                                                           \
	X(INT8, i8, 9)                                                                             \
	X(FLOAT64, f64, 10)                                                                        \
	X(UINT64, u64, 12)                                                                         \
	X(UINT32, u32, 15)                                                                         \
	X(UINT16, u16, 16)                                                                         \
	X(INT4, i4, 17)                                                                            \
	X(BFLOAT16, bf16, 18)

/* ActivationFunctionType. */
enum {
	QN_TFL_ACT_NONE,
	QN_TFL_ACT_RELU,
	QN_TFL_ACT_RELU_N1_TO_1,
	QN_TFL_ACT_RELU6,
	QN_TFL_ACT_TANH,
	QN_TFL_ACT_SIGN_BIT
};

enum { QN_TFL_PADDING_SAME, QN_TFL_PADDING_VALID };

/* BuiltinOperator, from 0 on. */
/* clang-format off */
#define QN_TFL_BUILTINS(X) \
	X(ADD) X(AVERAGE_POOL_2D) X(CONCATENATION) X(CONV_2D) X(DEPTHWISE_CONV_2D) \
	X(DEPTH_TO_SPACE) X(DEQUANTIZE) X(EMBEDDING_LOOKUP) X(FLOOR) X(FULLY_CONNECTED) \
	X(HASHTABLE_LOOKUP) X(L2_NORMALIZATION) X(L2_POOL_2D) \
	X(LOCAL_RESPONSE_NORMALIZATION) X(LOGISTIC) X(LSH_PROJECTION) X(LSTM) \
	X(MAX_POOL_2D) X(MUL) X(RELU) X(RELU_N1_TO_1) X(RELU6) X(RESHAPE) \
	X(RESIZE_BILINEAR) X(RNN) X(SOFTMAX) X(SPACE_TO_DEPTH) X(SVDF) X(TANH) \
	X(CONCAT_EMBEDDINGS) X(SKIP_GRAM) X(CALL) X(CUSTOM) X(EMBEDDING_LOOKUP_SPARSE) \
	X(PAD) X(UNIDIRECTIONAL_SEQUENCE_RNN) X(GATHER) X(BATCH_TO_SPACE_ND) \
	X(SPACE_TO_BATCH_ND) X(TRANSPOSE) X(MEAN) X(SUB) X(DIV) X(SQUEEZE) \
	X(UNIDIRECTIONAL_SEQUENCE_LSTM) X(STRIDED_SLICE) X(BIDIRECTIONAL_SEQUENCE_RNN) \
	X(EXP) X(TOPK_V2) X(SPLIT) X(LOG_SOFTMAX) X(DELEGATE) \
	X(BIDIRECTIONAL_SEQUENCE_LSTM) X(CAST) X(PRELU) X(MAXIMUM) X(ARG_MAX) X(MINIMUM) \
	X(LESS) X(NEG) X(PADV2) X(GREATER) X(GREATER_EQUAL) X(LESS_EQUAL) X(SELECT) \
	X(SLICE) X(SIN) X(TRANSPOSE_CONV) X(SPARSE_TO_DENSE) X(TILE) X(EXPAND_DIMS) \
	X(EQUAL) X(NOT_EQUAL) X(LOG) X(SUM) X(SQRT) X(RSQRT) X(SHAPE) X(POW) X(ARG_MIN) \
	X(FAKE_QUANT) X(REDUCE_PROD) X(REDUCE_MAX) X(PACK) X(LOGICAL_OR) X(ONE_HOT) \
	X(LOGICAL_AND) X(LOGICAL_NOT) X(UNPACK) X(REDUCE_MIN) X(FLOOR_DIV) X(REDUCE_ANY) \
	X(SQUARE) X(ZEROS_LIKE) X(FILL) X(FLOOR_MOD) X(RANGE) X(RESIZE_NEAREST_NEIGHBOR) \
	X(LEAKY_RELU) X(SQUARED_DIFFERENCE) X(MIRROR_PAD) X(ABS) X(SPLIT_V) X(UNIQUE) \
	X(CEIL) X(REVERSE_V2) X(ADD_N) X(GATHER_ND) X(COS) X(WHERE) X(RANK) X(ELU) \
	X(REVERSE_SEQUENCE) X(MATRIX_DIAG) X(QUANTIZE) X(MATRIX_SET_DIAG) X(ROUND) \
	X(HARD_SWISH) X(IF) X(WHILE) X(NON_MAX_SUPPRESSION_V4) X(NON_MAX_SUPPRESSION_V5) \
	X(SCATTER_ND) X(SELECT_V2) X(DENSIFY) X(SEGMENT_SUM) X(BATCH_MATMUL) \
	X(PLACEHOLDER_FOR_GREATER_OP_CODES) X(CUMSUM) X(CALL_ONCE) X(BROADCAST_TO) \
	X(RFFT2D) X(CONV_3D) X(IMAG) X(REAL) X(COMPLEX_ABS) X(HASHTABLE) \
	X(HASHTABLE_FIND) X(HASHTABLE_IMPORT) X(HASHTABLE_SIZE) X(REDUCE_ALL) \
	X(CONV_3D_TRANSPOSE) X(VAR_HANDLE) X(READ_VARIABLE) X(ASSIGN_VARIABLE) \
	X(BROADCAST_ARGS) X(RANDOM_STANDARD_NORMAL) X(BUCKETIZE) X(RANDOM_UNIFORM) \
	X(MULTINOMIAL) X(GELU) X(DYNAMIC_UPDATE_SLICE) X(RELU_0_TO_1) \
	X(UNSORTED_SEGMENT_PROD) X(UNSORTED_SEGMENT_MAX) X(UNSORTED_SEGMENT_SUM) X(ATAN2) \
	X(UNSORTED_SEGMENT_MIN) X(SIGN) X(BITCAST) X(BITWISE_XOR) X(RIGHT_SHIFT) \
	X(STABLEHLO_LOGISTIC) X(STABLEHLO_ADD) X(STABLEHLO_DIVIDE) X(STABLEHLO_MULTIPLY) \
	X(STABLEHLO_MAXIMUM) X(STABLEHLO_RESHAPE) X(STABLEHLO_CLAMP) X(STABLEHLO_CONCATENATE) \
	X(STABLEHLO_BROADCAST_IN_DIM) X(STABLEHLO_CONVOLUTION) X(STABLEHLO_SLICE) \
	X(STABLEHLO_CUSTOM_CALL) X(STABLEHLO_REDUCE) X(STABLEHLO_ABS) X(STABLEHLO_AND) \
	X(STABLEHLO_COSINE) X(STABLEHLO_EXPONENTIAL) X(STABLEHLO_FLOOR) X(STABLEHLO_LOG) \
	X(STABLEHLO_MINIMUM) X(STABLEHLO_NEGATE) X(STABLEHLO_OR) X(STABLEHLO_POWER) \
	X(STABLEHLO_REMAINDER) X(STABLEHLO_RSQRT) X(STABLEHLO_SELECT) X(STABLEHLO_SUBTRACT) \
	X(STABLEHLO_TANH) X(STABLEHLO_SCATTER) X(STABLEHLO_COMPARE) X(STABLEHLO_CONVERT) \
	X(STABLEHLO_DYNAMIC_SLICE) X(STABLEHLO_DYNAMIC_UPDATE_SLICE) X(STABLEHLO_PAD) \
	X(STABLEHLO_IOTA) X(STABLEHLO_DOT_GENERAL) X(STABLEHLO_REDUCE_WINDOW) X(STABLEHLO_SORT) \
	X(STABLEHLO_WHILE) X(STABLEHLO_GATHER) X(STABLEHLO_TRANSPOSE) X(DILATE) \
	X(STABLEHLO_RNG_BIT_GENERATOR) X(REDUCE_WINDOW) X(STABLEHLO_COMPOSITE) \
	X(STABLEHLO_SHIFT_LEFT) X(STABLEHLO_CBRT) X(STABLEHLO_CASE)
/* clang-format on */

typedef enum qn_tfl_builtin {
#define X(name) QN_TFL_##name,
	QN_TFL_BUILTINS(X)
#undef X
		QN_TFL_NBUILTIN
} qn_tfl_builtin;

#endif
