/* SPDX-License-Identifier: Apache-2.0 */
/* quant_params.h - parameters of quantization beside float weights: quant_params.json, as Brevitas
 * exports it and sharktank reads it (docs/archives.md). */
#ifndef QN_FORMATS_QUANT_PARAMS_H
#define QN_FORMATS_QUANT_PARAMS_H

#include "formats/archive.h"

/* The tensors of d, of which the weights and biases of the layers that the text names are quantized,
 * with quantizers of inputs and outputs after the weights.  place: the file of the text.  Ids:
 * quant-params.json, .layer, .missing, .shape, .zp, .overflow. */
qn_status qn_quant_params_apply(const qn_archive_data *d, const char *place, const char *text,
				size_t n, qn_archive_data *out) QN_MUST_CHECK;

#endif
