/* SPDX-License-Identifier: Apache-2.0 */
/* importer.c - adds nodes for the readers of foreign files and folds what is constant. */
#include "import/importer.h"

#include <stdarg.h>
#include <string.h>

#include "ir/loops.h"
#include "ir/diag.h"
#include "runtime/interp.h"

enum { LONGEST_NAME = 200 }; /* of a node; one node of a file can become many */

void
qn_importer_begin(qn_importer *im, qn_model *m, const char *file, size_t bytes,
		  const qn_import_how *how)
{
	*im = (qn_importer){
		.m = m, .scratch = m->scratch, .file = file, .how = how, .node = "", .op = ""};
	im->g = qn_graph_new_in(m, "main", im->scratch);
	qn_importer_grant(im, bytes);
}

/* The name, cut between two characters of UTF-8 when it is long. */
static const char *
short_name(qn_importer *im, const char *name)
{
	size_t n = 0;

	while (n <= LONGEST_NAME && name[n] != '\0')
		n++;
	if (n <= LONGEST_NAME)
		return name;
	while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
		n--;
	return qn_arena_strn(im->scratch, name, n);
}

void
qn_importer_at(qn_importer *im, const char *node, const char *op, int64_t version)
{
	im->node = short_name(im, node);
	im->op = short_name(im, op);
	im->version = version;
	im->place = NULL;
}

/* "model.onnx: node 'conv1' (Conv, version 11)" */
const char *
qn_importer_place(qn_importer *im)
{
	qn_buf b;

	if (im->op[0] == '\0')
		return im->file;
	const char *node = im->layer != NULL ? im->layer : im->node;
	if (im->place != NULL && im->placed == node)
		return im->place;
	qn_buf_init(&b, im->m->arena);
	qn_buff(&b, "%s: node '%s' (%s, version %lld)", im->file, node, im->op,
		(long long)im->version);
	im->place = qn_buf_str(&b);
	im->placed = node;
	return im->place;
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
	(void)qn_report(im->m->env, QN_EUNSUPPORTED, id, qn_importer_place(im), "%s",
			qn_buf_str(&b));
	im->problems++;
	return 0;
}

void
qn_importer_failed(qn_importer *im, qn_status why)
{
	im->problems++;
	if (im->why == QN_OK)
		im->why = why;
}

const char *
qn_importer_nodes(qn_importer *im, size_t n)
{
	qn_buf b;

	qn_buf_init(&b, im->scratch);
	if (n > 1)
		qn_buff(&b, " (%zu nodes, the first of them here)", n);
	return qn_buf_str(&b);
}

void
qn_importer_count_skipped(qn_importer *im)
{
	if (im->behind++ == 0)
		im->first_behind = im->node;
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
	return qn_report(im->m->env, QN_EINVALID, "import.file", qn_importer_place(im), "%s",
			 qn_buf_str(&b));
}

const qn_tensor *
qn_importer_known(const qn_importer *im, qn_id x)
{
	const qn_node *n = x != 0 ? qn_graph_node(im->g, x) : NULL;

	return n != NULL && n->op == QN_OP_const ? n->value : NULL;
}

/* What moves or dequantizes all elements of a constant: it carries the parameters over. */
static bool
carries(qn_op op)
{
	static const qn_op ops[] = {QN_OP_reshape,     QN_OP_flatten,   QN_OP_squeeze,
				    QN_OP_expand_dims, QN_OP_transpose, QN_OP_dequantize,
				    QN_OP_cast};

	for (size_t i = 0; i < QN_COUNT(ops); i++)
		if (ops[i] == op)
			return true;
	return false;
}

/* The constant that node id computes, or id when it is not to be computed now.  A failure means that
 * these types are not supported: the node stays, and its use is an error. */
static qn_id
fold(qn_importer *im, qn_id id)
{
	const qn_node *n = qn_graph_node(im->g, id);
	const qn_tensor **in = QN_NEW(im->scratch, const qn_tensor *, n->nin);
	qn_tensor *value;

	if (n->nin == 0 || n->type->is_tuple || n->op == QN_OP_call || n->op == QN_OP_tuple ||
	    n->op == QN_OP_get || qn_elem_is_quant(n->type->elem))
		return id;
	for (uint32_t i = 0; i < n->nin; i++)
		if ((in[i] = qn_importer_known(im, n->in[i])) == NULL)
			return id;
	if (!qn_importer_may_fold(im, n))
		return id;
	qn_diag_mark mark = qn_diag_mark_now(im->m->env);
	qn_arena *work = qn_arena_child(im->scratch);
	if (qn_eval_node(im->g, n, in, work, &value) != QN_OK) {
		qn_diag_forget(im->m->env, mark);
		qn_arena_release(work);
		return id;
	}
	value = qn_tensor_of(im->m->arena, value->type, value->data);
	qn_arena_release(work);
	const qn_id folded = qn_graph_const(im->g, n->name, value);
	if (folded != 0 && carries(n->op))
		qn_importer_copy_names(im, folded, n->in[0]);
	return folded;
}

qn_id
qn_importer_op_unfolded(qn_importer *im, qn_op op, uint32_t nin, const qn_id *in,
			const qn_attrs *attrs, const qn_type *type)
{
	qn_attrs preset;
	const qn_opinfo *info = qn_opinfo_get(op);

	for (uint32_t i = 0; i < nin; i++)
		if (in[i] == 0)
			return 0;
	qn_attrs_default(info->attrs, &preset);
	qn_node like = {
		.op = op,
		.nin = nin,
		.in = in,
		.attr = attrs != NULL ? attrs : &preset,
		.type = type,
		.name = im->node[0] != '\0' ? im->node : NULL,
		.place = qn_importer_place(im),
	};
	if (!qn_importer_may_add(im))
		return 0;
	if (im->layer != NULL) {
		const qn_layers layers = {.name = {im->layer}, .n = 1};

		like.facts = qn_facts_make(im->m, &like, NULL, &layers);
	}
	qn_id id = qn_graph_add(im->g, &like);
	if (id == 0)
		im->problems++;
	return id;
}

qn_id
qn_importer_op(qn_importer *im, qn_op op, uint32_t nin, const qn_id *in, const qn_attrs *attrs,
	       const qn_type *type)
{
	qn_id id = qn_importer_op_unfolded(im, op, nin, in, attrs, type);

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
has_quantized(const qn_graph *g)
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

	if (im->behind > 0)
		qn_warn(im->m->env, "import.behind", im->file,
			"%zu node%s after those that failed, from '%s' on, could only be checked "
			"for the names of operators; more may be wrong with %s",
			im->behind, im->behind > 1 ? "s" : "", im->first_behind,
			im->behind > 1 ? "them" : "it");
	if (im->problems > 0)
		return im->why != QN_OK ? im->why : QN_EUNSUPPORTED;
	qn_graph *to = qn_graph_new(im->m, g->name);
	if (!qn_graph_copy_nodes(to, g, qn_loops_order(g, im->scratch), need, map))
		return QN_EINVALID;
	qn_graph_copy_outputs(to, g, map);
	qn_model_add_graph(im->m, to);
	if (has_quantized(to))
		im->m->stage = QN_STAGE_CALIBRATED;
	return QN_OK;
}
