/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_qonnx.h - what the operators of QONNX have in common: their numbers of bits, roundings and types. */
#ifndef QN_IMPORT_ONNX_QONNX_H
#define QN_IMPORT_ONNX_QONNX_H

#include "import/onnx_quant.h"

enum { QN_QONNX_MOST_BITS = 32 };

typedef enum qn_qonnx_rounding {
	QN_QONNX_EVEN,
	QN_QONNX_FLOOR,
	QN_QONNX_CEIL,
	QN_QONNX_UP,
	QN_QONNX_DOWN,
	QN_QONNX_HALF_UP,
	QN_QONNX_HALF_DOWN
} qn_qonnx_rounding;

/* By that, and HALF_EVEN. */
extern const char *const qn_qonnx_roundings[8];

/* The quantization parameters of a node. */
typedef struct qn_qonnx_grid {
	qn_id scale, zp; /* constants; zp 0: none */
	int64_t bits, least, most;
	bool is_signed;
} qn_qonnx_grid;

/* A qn_qonnx_rounding in upper or lower case; -1 after a report. */
int32_t qn_qonnx_rounding_of(qn_onnx *o, const qn_onnx_node *n, const char *dflt);
double qn_qonnx_rounded(double v, qn_qonnx_rounding how);
/* An integer of 1 to QN_QONNX_MOST_BITS bits, whatever type it has; false after a report. */
bool qn_qonnx_bits(qn_onnx *o, const qn_onnx_node *n, uint32_t i, int64_t *bits);
/* The quantized values of so many bits, as the node's attributes limit them. */
void qn_qonnx_range(qn_onnx *o, const qn_onnx_node *n, qn_qonnx_grid *g);
/* The quantized type of x; NULL after a report. */
const qn_elem *qn_qonnx_elem(qn_onnx *o, const qn_qonnx_grid *g, qn_id x);
/* x in steps of its type, dequantized again; 0 after a report. */
qn_id qn_qonnx_faked(qn_onnx *o, qn_id x, const qn_elem *e, qn_qonnx_rounding how);
/* Constants are rounded in any case, values only where parameters are wanted. */
bool qn_qonnx_wanted(const qn_onnx *o, qn_id x);

/* Of Trunc, versions 1 and 2. */
qn_onnx_fn qn_qonnx_trunc;

#endif
