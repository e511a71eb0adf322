/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_ops.c - which converter an operator has, and what most converters need. */
#include "import/onnx.h"

#include <string.h>

#include "runtime/interp.h"

static const qn_onnx_row *const families[] = {
	qn_onnx_elementwise, qn_onnx_logic,        qn_onnx_conv,          qn_onnx_pool,
	qn_onnx_move,        qn_onnx_slices,       qn_onnx_reduce,        qn_onnx_norm,
	qn_onnx_product,     qn_onnx_constant,     qn_onnx_control,       qn_onnx_quant,
	qn_onnx_resizes,     qn_onnx_pads,         qn_onnx_einsums,       qn_onnx_unpools,
	qn_onnx_index,       qn_onnx_qlinear,      qn_onnx_spreads,       qn_onnx_sequences,
	qn_onnx_signals,     qn_onnx_functions,    qn_onnx_fuseds,        qn_onnx_rois,
	qn_onnx_chosen,      qn_onnx_qonnx,        qn_onnx_gather_blocks, qn_onnx_matmul_blocks,
	qn_onnx_flexes,      qn_onnx_quant_layers,
};

const qn_onnx_row *
qn_onnx_find(const char *domain, const char *op, int64_t version)
{
	for (size_t i = 0; i < QN_COUNT(families); i++)
		for (const qn_onnx_row *row = families[i]; row->op != NULL; row++)
			if (strcmp(row->op, op) == 0 && strcmp(row->domain, domain) == 0 &&
			    version >= row->min && version <= row->max)
				return row;
	return NULL;
}

const qn_onnx_row *
qn_onnx_written(qn_op op)
{
	for (size_t i = 0; i < QN_COUNT(families); i++)
		for (const qn_onnx_row *row = families[i]; row->op != NULL; row++)
			for (size_t k = 0; k < QN_ONNX_MOST_OPS && row->ops[k] != 0; k++)
				if (row->ops[k] == op)
					return row;
	return NULL;
}

bool
qn_onnx_versions(const char *domain, const char *op, int32_t *min, int32_t *max)
{
	bool found = false;

	for (size_t i = 0; i < QN_COUNT(families); i++)
		for (const qn_onnx_row *row = families[i]; row->op != NULL; row++)
			if (row->read != NULL && strcmp(row->op, op) == 0 &&
			    strcmp(row->domain, domain) == 0) {
				*min = !found || row->min < *min ? row->min : *min;
				*max = !found || row->max > *max ? row->max : *max;
				found = true;
			}
	for (const qn_lib_operator *c = qn_lib_operators; c->name != NULL && !found; c++)
		if (!c->tflite && strcmp(c->name, op) == 0 && strcmp(c->domain, domain) == 0) {
			*min = c->since;
			*max = QN_ONNX_NEWEST;
			found = true;
		}
	return found;
}

qn_import_op
qn_onnx_op_at(size_t i)
{
	for (size_t k = 0; k < QN_COUNT(families); k++)
		for (const qn_onnx_row *row = families[k]; row->op != NULL; row++)
			if (row->read != NULL && i-- == 0)
				return (qn_import_op){row->domain, row->op, row->min, row->max};
	for (const qn_lib_operator *c = qn_lib_operators; c->name != NULL; c++)
		if (!c->tflite && i-- == 0)
			return (qn_import_op){c->domain, c->name, c->since, QN_ONNX_NEWEST};
	return (qn_import_op){0};
}

void
qn_onnx_run_as(qn_onnx *o, const qn_onnx_node *n, const char *op, int64_t version, uint32_t nin,
	       const qn_id *in, qn_id *out)
{
	const qn_onnx_row *row = qn_onnx_find("", op, version);
	const qn_lib_operator *composition =
		row == NULL ? qn_onnx_composition(o, "", op, version) : NULL;
	qn_onnx_node as = *n;

	if (row == NULL && composition == NULL)
		return;
	as.op = op;
	as.version = version;
	as.nin = nin;
	as.in = in;
	as.arg = row != NULL ? row->arg : 0;
	if (row != NULL)
		row->read(o, &as, out);
	else
		qn_onnx_compose(o, &as, composition, out);
}

qn_id
qn_onnx_in(const qn_onnx_node *n, uint32_t i)
{
	return i < n->nin ? n->in[i] : 0;
}

const qn_type *
qn_onnx_type(const qn_onnx *o, qn_id x)
{
	return qn_importer_type(&o->im, x);
}

qn_plain
qn_onnx_plain(const qn_onnx *o, qn_id x)
{
	return qn_onnx_type(o, x)->elem->plain;
}

bool
qn_onnx_axis(qn_onnx *o, int64_t given, int32_t rank, int32_t *axis)
{
	if (given < -rank || given >= rank) {
		(void)qn_importer_refuse(&o->im, "import.attr",
					 "axis %lld of a value with %d dimensions",
					 (long long)given, (int)rank);
		return false;
	}
	*axis = (int32_t)(given < 0 ? given + rank : given);
	return true;
}

bool
qn_onnx_need(qn_onnx *o, const qn_onnx_node *n, uint32_t nin)
{
	for (uint32_t i = 0; i < nin; i++)
		if (qn_onnx_in(n, i) == 0) {
			(void)qn_importer_refuse(&o->im, "import.input",
						 "input %u is missing; it takes %u at least", i,
						 nin);
			return false;
		}
	return true;
}

/* Input i is computed from what is not known before a run. */
static void
not_constant(qn_onnx *o, const qn_onnx_node *n, uint32_t i)
{
	(void)qn_importer_refuse(
		&o->im, "import.constant",
		"input %u, '%s', must be a constant; shapes and attributes are "
		"fixed at compile time: put the value itself into the model, or fix "
		"the inputs that it comes from (--input-value NAME=VALUE)",
		i, qn_graph_node(o->im.g, n->in[i])->name);
}

int32_t
qn_onnx_const_ints(qn_onnx *o, const qn_onnx_node *n, uint32_t i, int32_t most, int64_t *v)
{
	if (qn_onnx_in(n, i) == 0) {
		(void)qn_importer_refuse(&o->im, "import.input", "input %u is missing", i);
		return -1;
	}
	const qn_tensor *x = qn_importer_known(&o->im, n->in[i]);
	int32_t count = qn_importer_ints(&o->im, n->in[i], most, v);

	if (count >= 0)
		return count;
	if (x == NULL)
		not_constant(o, n, i);
	else
		(void)qn_importer_refuse(&o->im, "import.input",
					 "input %u must be a list of at most %d integers", i,
					 (int)most);
	return -1;
}

/* The value of a constant, or of one that the file stores quantized, as DequantizeLinear makes it of that; NULL: neither. */
static const qn_tensor *
real_constant(qn_onnx *o, qn_id x)
{
	const qn_graph *g = o->im.g;
	const qn_tensor *v = qn_importer_known(&o->im, x);
	qn_id step[2] = {0};
	qn_tensor *next;
	int n = 0;

	while (v == NULL && n < 2 &&
	       qn_graph_node(g, x)->op == (n == 0 ? QN_OP_dequantize : QN_OP_quantize)) {
		step[n++] = x;
		x = qn_graph_node(g, x)->in[0];
		v = qn_importer_known(&o->im, x);
	}
	while (v != NULL && n > 0) {
		const qn_node *at = qn_graph_node(g, step[--n]);

		v = qn_eval_node(g, at, &v, o->im.scratch, &next) == QN_OK ? next : NULL;
	}
	return v;
}

bool
qn_onnx_const_real(qn_onnx *o, const qn_onnx_node *n, uint32_t i, double dflt, double *v)
{
	*v = dflt;
	if (qn_onnx_in(n, i) == 0)
		return true;
	const qn_tensor *x = real_constant(o, n->in[i]);
	if (x == NULL) {
		not_constant(o, n, i);
		return false;
	}
	if (qn_type_count(x->type) != 1) {
		(void)qn_importer_refuse(&o->im, "import.input", "input %u must be one number", i);
		return false;
	}
	*v = qn_tensor_f64(x, 0);
	return true;
}

int32_t
qn_onnx_list(qn_onnx *o, const qn_onnx_node *n, const char *name, uint32_t i, int64_t since,
	     int64_t *v)
{
	if (n->version < since)
		return qn_onnx_has(o, n, name) ? qn_onnx_ints(o, n, name, QN_MAX_RANK, v) : -1;
	if (qn_onnx_in(n, i) == 0)
		return -1;
	int32_t count = qn_onnx_const_ints(o, n, i, QN_MAX_RANK, v);
	return count < 0 ? -2 : count;
}
