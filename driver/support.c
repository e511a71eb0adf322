/* SPDX-License-Identifier: Apache-2.0 */
/* support.c - which operators have which implementations, and which are read from other tools' files: the
 * tables themselves. */
#include <string.h>

#include "codegen/emitter.h"
#include "driver/context.h"
#include "import/import.h"
#include "runtime/family.h"
#include "quern/graph.h"

/* Values without arithmetic: every graph may hold them. */
static bool
is_structure(qn_op op)
{
	return op == QN_OP_input || op == QN_OP_const || op == QN_OP_call || op == QN_OP_tuple ||
	       op == QN_OP_get || op == QN_OP_custom;
}

/* lrn is quantized as other ops (patterns/lrn.c), l2_norm of 16 bits as an rms_norm; features of sound are of 16 bits
 * beside activations of any storage. */
static bool
takes_family(qn_op op, qn_family f)
{
	return op == QN_OP_lrn || op == QN_OP_log_mel || op == QN_OP_mfcc ||
	       (op == QN_OP_l2_norm && f == QN_FAMILY_s16) || qn_impl_takes_family(op, f);
}

qn_op_support
qn_supported_op(size_t i)
{
	for (qn_op op = 0; op < QN_NOP; op++) {
		const qn_op_kernels *emit = qn_op_kernels_get(op);
		bool quantized = op != QN_OP_dequantize;

		if (is_structure(op) || i-- > 0)
			continue;
		return (qn_op_support){
			.name = qn_opinfo_get(op)->name,
			.float32 = qn_float_impl(op) != NULL || qn_op_is_plain(op) ||
				   op == QN_OP_dequantize,
			.int8 = quantized && takes_family(op, QN_FAMILY_s8),
			.uint8 = quantized && takes_family(op, QN_FAMILY_u8),
			.int16 = quantized && takes_family(op, QN_FAMILY_s16),
			/* A split is written as slices, one for each part that is read, a top_k as
			 * top_k_indices and gather_elements, dynamic_quantize as its fields, lrn as a
			 * dense layer between tables. */
			.emitted = op == QN_OP_split || op == QN_OP_top_k || op == QN_OP_lrn ||
				   op == QN_OP_dynamic_quantize ||
				   (emit->why == NULL && op != QN_OP_dequantize),
		};
	}
	return (qn_op_support){0};
}

typedef struct source_format {
	const char *name;
	qn_import_op (*at)(size_t i);
} source_format;

/* By domain, name and version. */
static int
order(const qn_import_op *a, const qn_import_op *b)
{
	int d = strcmp(a->domain, b->domain);

	if (d == 0)
		d = strcmp(a->name, b->name);
	return d != 0 ? d : (a->min > b->min) - (a->min < b->min);
}

/* The row that k others come before; name NULL when there are fewer. */
static qn_import_op
row_in_order(const source_format *f, size_t k)
{
	qn_import_op x, y;

	for (size_t i = 0; (x = f->at(i)).name != NULL; i++) {
		size_t before = 0;

		for (size_t j = 0; (y = f->at(j)).name != NULL; j++)
			before += order(&y, &x) < 0 || (order(&y, &x) == 0 && j < i);
		if (before == k)
			break;
	}
	return x;
}

qn_source_op
qn_supported_source_op(size_t i)
{
	static const source_format formats[] = {{"ONNX", qn_onnx_op_at},
						{"TFLite", qn_tflite_op_at}};

	for (size_t k = 0; k < QN_COUNT(formats); k++) {
		const source_format *f = &formats[k];
		size_t n = 0;

		while (f->at(n).name != NULL)
			n++;
		if (i < n) {
			qn_import_op x = row_in_order(f, i);

			return (qn_source_op){.format = f->name,
					      .domain = x.domain,
					      .name = x.name,
					      .min = x.min,
					      .max = x.max == INT32_MAX ? 0 : x.max};
		}
		i -= n;
	}
	return (qn_source_op){0};
}
