/* SPDX-License-Identifier: Apache-2.0 */
/* net_dynamic.c - integer products between a quantization of activations at run time and real numbers, as ONNX Runtime's
 * dynamic quantization writes them:
 *
 *   QuantizeLinear(x) or DynamicQuantizeLinear(x) -> MatMulInteger or ConvInteger -> Cast -> Mul by both scales -> Add */
#include "tests/networks/net.h"

void
net_make_dynamic(net *n)
{
	net_give(n, net_quantize(n, n->input, net_calibrate(n, n->input, ONX_UINT8)));
}
