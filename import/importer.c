/* SPDX-License-Identifier: Apache-2.0 */
/* importer.c - adds nodes for the readers of foreign files and folds what is constant. */
#include "import/importer.h"

#include <stdarg.h>
#include <string.h>

#include "ir/diag.h"
#include "ir/limits.h"
#include "runtime/interp.h"

/* More elements than this are not computed while a file is read: the clean pass folds what is worth it. */
enum { MAX_FOLDED = 1 << 20 };
/* Elements of all that is folded of a file, and of a product's operands and result, multiplied. */
static const int64_t most_folding = INT64_C(1) << 32;
static const double most_product = 4503599627370496.0;
/* Nor more bytes in all: a small file can ask for many large constants. */
enum { MAX_FOLDED_BYTES = 1 << 28 };

void
qn_importer_begin(qn_importer *im, qn_model *m, const char *file, const qn_import_how *how)
{
	*im = (qn_importer){
		.m = m, .scratch = m->scratch, .file = file, .how = how, .node = "", .op = ""};
	im->g = qn_graph_new_in(m, "main", im->scratch);
}

void
qn_importer_at(qn_importer *im, const char *node, const char *op, int64_t version)
{
	im->node = node;
	im->op = op;
	im->version = version;
}

/* "model.onnx: node 'conv1' (Conv, version 11)" */
static const char *
place(const qn_importer *im)
{
	qn_buf b;

	if (im->op[0] == '\0')
		return im->file;
	qn_buf_init(&b, im->m->arena);
	qn_buff(&b, "%s: node '%s' (%s, version %lld)", im->file, im->node, im->op,
		(long long)im->version);
	return qn_buf_str(&b);
}

qn_id
qn_importer_refuse(qn_importer *im, const char *id, const char *fmt, ...)
{
	qn_buf b;
	va_list args;

	qn_buf_init(&b, im->scratch);
	va_start(args, fmt);
	qn_bufvf(&b, fmt, args);
	va_end(args);
	(void)qn_report(im->m->env, QN_EUNSUPPORTED, id, place(im), "%s", qn_buf_str(&b));
	im->problems++;
	return 0;
}

qn_status
qn_importer_damaged(qn_importer *im, const char *fmt, ...)
{
	qn_buf b;
	va_list args;

	qn_buf_init(&b, im->scratch);
	va_start(args, fmt);
	qn_bufvf(&b, fmt, args);
	va_end(args);
	return qn_report(im->m->env, QN_EINVALID, "import.file", place(im), "%s", qn_buf_str(&b));
}

const qn_tensor *
qn_importer_known(const qn_importer *im, qn_id x)
{
	const qn_node *n = x != 0 ? qn_graph_node(im->g, x) : NULL;

	return n != NULL && n->op == QN_OP_const ? n->value : NULL;
}

/* Whether what node n costs is worth it, and there is time left. */
static bool
affordable(qn_importer *im, const qn_node *n)
{
	int64_t elements = qn_type_count(n->type);
	double product = (double)elements;

	for (uint32_t i = 0; i < n->nin; i++) {
		int64_t count = qn_type_count(qn_graph_node(im->g, n->in[i])->type);
		elements += count;
		product *= (double)count;
	}
	if (qn_opinfo_of(n)->behaviour == QN_ACC && product > most_product)
		return false;
	im->work += elements;
	return im->work <= most_folding;
}

/* The constant that node id computes, or id when it is not to be computed now.  A failure means that
 * no form exists for these types: the node stays, and whoever runs it says so. */
static qn_id
fold(qn_importer *im, qn_id id)
{
	const qn_node *n = qn_graph_node(im->g, id);
	const qn_tensor **in = QN_NEW(im->scratch, const qn_tensor *, n->nin);
	int64_t count = qn_type_count(n->type), most = MAX_FOLDED;
	qn_tensor *value;

	if (n->nin > 0 && count > most && qn_opinfo_of(n)->behaviour == QN_SAME)
		most = qn_type_count(qn_graph_node(im->g, n->in[0])->type); /* it only moves */
	if (n->nin == 0 || n->type->is_tuple || count < 0 || count > most ||
	    n->op == QN_OP_call || n->op == QN_OP_tuple || n->op == QN_OP_get ||
	    qn_elem_is_quant(n->type->elem) ||
	    im->folded + qn_type_bytes(n->type) > MAX_FOLDED_BYTES)
		return id;
	for (uint32_t i = 0; i < n->nin; i++)
		if ((in[i] = qn_importer_known(im, n->in[i])) == NULL)
			return id;
	if (!affordable(im, n))
		return id;
	qn_diag_mark mark = qn_diag_mark_now(im->m->env);
	qn_arena *work = qn_arena_child(im->scratch);
	if (qn_eval_node(im->g, n, in, work, &value) != QN_OK) {
		qn_diag_forget(im->m->env, mark);
		qn_arena_release(work);
		return id;
	}
	value = qn_tensor_of(im->m->arena, value->type, value->data);
	im->folded += value->bytes;
	qn_arena_release(work);
	return qn_graph_const(im->g, n->name, value);
}

qn_id
qn_importer_keep(qn_importer *im, qn_op op, uint32_t nin, const qn_id *in, const qn_attrs *attrs,
		 const qn_type *type)
{
	qn_attrs preset;
	const qn_opinfo *info = qn_opinfo_get(op);

	for (uint32_t i = 0; i < nin; i++)
		if (in[i] == 0)
			return 0;
	if (im->g->n > qn_limit(im->m->env, QN_LIMIT_NODES)) {
		if (!im->full)
			(void)qn_limit_report(im->m->env, QN_LIMIT_NODES, place(im), UINT64_MAX);
		im->full = true;
		im->problems++;
		return 0;
	}
	qn_attrs_default(info->attrs, &preset);
	qn_node like = {
		.op = op,
		.nin = nin,
		.in = in,
		.attr = attrs != NULL ? attrs : &preset,
		.type = type,
		.name = im->node[0] != '\0' ? im->node : NULL,
		.place = place(im),
	};
	qn_id id = qn_graph_add(im->g, &like);
	if (id == 0)
		im->problems++;
	return id;
}

qn_id
qn_importer_op(qn_importer *im, qn_op op, uint32_t nin, const qn_id *in, const qn_attrs *attrs,
	       const qn_type *type)
{
	qn_id id = qn_importer_keep(im, op, nin, in, attrs, type);

	return id != 0 ? fold(im, id) : 0;
}

bool
qn_importer_dims_fit(int32_t rank, const int64_t *dim)
{
	int64_t left = INT64_C(1) << 40;

	for (int32_t i = 0; i < rank; i++) {
		if (dim[i] < 0 || dim[i] > left)
			return false;
		left /= dim[i] > 0 ? dim[i] : 1;
	}
	return true;
}

qn_attrs
qn_importer_attrs(qn_op op)
{
	qn_attrs a;

	qn_attrs_default(qn_opinfo_get(op)->attrs, &a);
	return a;
}

qn_id
qn_importer_unary(qn_importer *im, qn_op op, qn_id x)
{
	return qn_importer_op(im, op, 1, &x, NULL, NULL);
}

qn_id
qn_importer_binary(qn_importer *im, qn_op op, qn_id a, qn_id b)
{
	return qn_importer_op(im, op, 2, (qn_id[]){a, b}, NULL, NULL);
}

qn_id
qn_importer_const(qn_importer *im, const char *name, const qn_tensor *value)
{
	return qn_graph_const(im->g, name, value);
}

qn_id
qn_importer_f32(qn_importer *im, double value)
{
	void *data;
	qn_tensor *x = qn_tensor_new(im->m->arena,
				     qn_type_plain(&im->m->types, QN_PLAIN_f32, 0, NULL), &data);

	qn_store_f64(data, QN_PLAIN_f32, 0, value);
	return qn_graph_const(im->g, NULL, x);
}

qn_id
qn_importer_i64s(qn_importer *im, int32_t n, const int64_t *v)
{
	void *data;
	int64_t dim = n;
	qn_tensor *x = qn_tensor_new(im->m->arena,
				     qn_type_plain(&im->m->types, QN_PLAIN_i64, 1, &dim), &data);

	for (int32_t i = 0; i < n; i++)
		qn_store_i64(data, QN_PLAIN_i64, i, v[i]);
	return qn_graph_const(im->g, NULL, x);
}

int32_t
qn_importer_ints(const qn_importer *im, qn_id x, int32_t most, int64_t *v)
{
	const qn_tensor *value = qn_importer_known(im, x);
	int64_t n = value != NULL ? qn_type_count(value->type) : -1;

	if (n < 0 || n > most || qn_elem_is_float(value->type->elem))
		return -1;
	for (int64_t i = 0; i < n; i++)
		v[i] = qn_tensor_i64(value, i);
	return (int32_t)n;
}

const qn_type *
qn_importer_type(const qn_importer *im, qn_id x)
{
	return qn_graph_node(im->g, x)->type;
}

/* ---- the end ---- */

/* Which values the outputs need; inputs stay in any case. */
static bool *
needed(const qn_graph *g, qn_arena *a)
{
	bool *need = QN_NEW(a, bool, g->n);

	for (size_t i = 0; i < g->ninput; i++)
		need[g->input[i]] = true;
	for (size_t i = 0; i < g->noutput; i++)
		need[g->output[i].value] = true;
	for (qn_id id = g->n - 1; id > 0; id--)
		for (uint32_t i = 0; need[id] && i < qn_graph_node(g, id)->nin; i++)
			need[qn_graph_node(g, id)->in[i]] = true;
	return need;
}

/* A model with quantized values brings its parameters along. */
static bool
has_codes(const qn_graph *g)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_type *type = qn_graph_node(g, id)->type;

		if (!type->is_tuple && qn_elem_is_quant(type->elem))
			return true;
	}
	return false;
}

qn_status
qn_importer_end(qn_importer *im)
{
	const qn_graph *g = im->g;
	const bool *need = needed(g, im->scratch);
	qn_id *map = QN_NEW(im->scratch, qn_id, g->n);

	if (im->problems > 0)
		return QN_EUNSUPPORTED;
	qn_graph *to = qn_graph_new(im->m, g->name);
	for (qn_id id = 1; id < g->n; id++) {
		qn_node n = *qn_graph_node(g, id);
		qn_id *in = QN_NEW(im->scratch, qn_id, n.nin);

		if (!need[id])
			continue;
		for (uint32_t i = 0; i < n.nin; i++)
			in[i] = map[n.in[i]];
		n.in = in;
		map[id] = qn_graph_add(to, &n);
		if (map[id] == 0)
			return QN_EINVALID;
	}
	for (size_t i = 0; i < g->noutput; i++)
		qn_graph_output(to, g->output[i].name, map[g->output[i].value]);
	qn_model_add_graph(im->m, to);
	if (has_codes(to))
		im->m->stage = QN_STAGE_CALIBRATED;
	return QN_OK;
}
