/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_quant.c - operators of quantized graphs. */
#include "import/onnx.h"

const qn_onnx_row qn_onnx_quant[] = {
	{0},
};
