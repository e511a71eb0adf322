/* SPDX-License-Identifier: Apache-2.0 */
/* importer_lib.c - compositions (lib/lib.h) as nodes of the graph that is being read.
 *
 *   @lstm of lib/recurrent.qir  --  transpose, loop_slice, dense … -->  as a converter would make them: folded, named
 *                                                                       after the node of the file, counted
 *
 * What an op would leave as it is makes no node: a transpose in the same order, a slice of everything, a cast to its own
 * type, a loop of one step. */
#include "import/importer_lib.h"

#include <string.h>

typedef qn_id make_fn(qn_importer *im, const qn_lib_node *n);

static qn_id
transpose(qn_importer *im, const qn_lib_node *n)
{
	const qn_list *perm = &n->attrs->perm.perm;

	return perm->n == qn_importer_type(im, n->in[0])->rank
		       ? qn_importer_transpose(im, n->in[0], perm->v)
		       : qn_importer_op(im, n->op, n->nin, n->in, n->attrs, n->type);
}

static qn_id
slice(qn_importer *im, const qn_lib_node *n)
{
	const qn_attrs_slice *a = &n->attrs->slice;
	const qn_type *t = qn_importer_type(im, n->in[0]);
	bool all = a->begin.n == t->rank && a->end.n == t->rank;

	for (int32_t i = 0; all && i < t->rank; i++)
		all = a->begin.v[i] == 0 && a->end.v[i] == t->dim[i] &&
		      (a->step.n == 0 || a->step.v[i] == 1);
	return all ? n->in[0] : qn_importer_op(im, n->op, n->nin, n->in, n->attrs, n->type);
}

static qn_id
cast(qn_importer *im, const qn_lib_node *n)
{
	return n->type == qn_importer_type(im, n->in[0])
		       ? n->in[0]
		       : qn_importer_op(im, n->op, n->nin, n->in, n->attrs, n->type);
}

static qn_id
concat(qn_importer *im, const qn_lib_node *n)
{
	return qn_importer_join(im, n->nin, n->in, (int32_t)n->attrs->axis.axis);
}

/* ---- loops ---- */

/* Of one step, its number is the constant 0. */
static bool
is_one_step(const qn_importer *im, qn_id number)
{
	return qn_graph_node(im->g, number)->op == QN_OP_const;
}

static qn_id
loop(qn_importer *im, const qn_lib_node *n)
{
	if (n->attrs->loop.count == 1)
		return qn_importer_i64(im, 0);
	const qn_id number = qn_importer_op_unfolded(im, QN_OP_loop, im->loop != 0 ? 1 : 0,
						     &im->loop, n->attrs, NULL);
	return number != 0 ? (im->loop = number) : 0;
}

static qn_id
loop_slice(qn_importer *im, const qn_lib_node *n)
{
	return is_one_step(im, n->in[1])
		       ? qn_importer_drop_dim(im, n->in[0], (int32_t)n->attrs->loop_slice.axis)
		       : qn_importer_op_unfolded(im, n->op, n->nin, n->in, n->attrs, n->type);
}

/* loop_carry and loop_last. */
static qn_id
kept(qn_importer *im, const qn_lib_node *n)
{
	return is_one_step(im, n->in[1])
		       ? n->in[0]
		       : qn_importer_op_unfolded(im, n->op, n->nin, n->in, n->attrs, n->type);
}

static qn_id
loop_end(qn_importer *im, const qn_lib_node *n)
{
	if (is_one_step(im, n->in[0]))
		return n->in[0];
	const qn_node *number = qn_graph_node(im->g, n->in[0]);
	im->loop = number->nin > 0 ? number->in[0] : 0;
	return qn_importer_op_unfolded(im, n->op, n->nin, n->in, n->attrs, n->type);
}

static qn_id
loop_stack(qn_importer *im, const qn_lib_node *n)
{
	return is_one_step(im, n->in[1])
		       ? qn_importer_expand_dim(im, n->in[0], (int32_t)n->attrs->loop_stack.axis)
		       : qn_importer_op_unfolded(im, n->op, n->nin, n->in, n->attrs, n->type);
}

static const struct {
	qn_op op;
	uint32_t nin; /* that it needs */
	make_fn *make;
} rows[] = {
	{QN_OP_transpose, 1, transpose}, {QN_OP_slice, 1, slice},
	{QN_OP_cast, 1, cast},           {QN_OP_concat, 1, concat},
	{QN_OP_loop, 0, loop},           {QN_OP_loop_slice, 2, loop_slice},
	{QN_OP_loop_carry, 2, kept},     {QN_OP_loop_last, 2, kept},
	{QN_OP_loop_end, 1, loop_end},   {QN_OP_loop_stack, 2, loop_stack},
};

/* ---- the host ---- */

static qn_id
make(qn_importer *im, const qn_lib_node *n)
{

	if (n->op == QN_OP_const)
		return qn_importer_take_type(im, n->type)
			       ? qn_importer_const(im, im->part_names ? im->node : NULL, n->value)
			       : 0;
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (rows[i].op == n->op && n->nin >= rows[i].nin)
			return rows[i].make(im, n);
	return qn_importer_op(im, n->op, n->nin, n->in, n->attrs, n->type);
}

/* "blk.0" and "attn_q": blk.0.attn_q */
static qn_id
node(void *user, const qn_lib_node *n)
{
	qn_importer *im = user;
	const char *before = im->node;
	qn_buf b;

	if (!im->part_names || n->name == NULL)
		return make(im, n);
	qn_buf_init(&b, im->scratch);
	qn_buff(&b, "%s%s%s", before, before[0] != '\0' ? "." : "", n->name);
	im->node = qn_buf_str(&b);
	const qn_id id = make(im, n);
	im->node = before;
	return id;
}

static void
at(void *user, const char *place)
{
	qn_importer *im = user;
	qn_buf b;

	im->place = NULL;
	if (place == NULL)
		return;
	const char *model = qn_importer_place(im);
	qn_buf_init(&b, im->m->arena);
	qn_buff(&b, "%s, %s", model, place);
	im->place = qn_buf_str(&b);
}

static void
refuse(void *user, const char *id, const char *place, const char *message)
{
	qn_importer *im = user;

	im->place = NULL;
	if (place == NULL)
		(void)qn_importer_refuse(im, id, "%s", message);
	else
		(void)qn_importer_refuse(im, id, "%s (%s)", message, place);
}

static const qn_lib_host host = {.node = node, .at = at, .refuse = refuse};

bool
qn_importer_call(qn_importer *im, const qn_lib_call *call, qn_id *out)
{
	const size_t problems = im->problems;
	const qn_id loop_before = im->loop;

	if (im->lib == NULL) {
		qn_lib_host *own = qn_arena_copy(im->scratch, &host, sizeof host);

		own->user = im;
		im->lib = QN_NEW(im->scratch, qn_lib, 1);
		qn_lib_open(im->lib, im->m, im->g, im->scratch, own, qn_importer_most(im, 1));
	}
	const bool ok = qn_lib_run(im->lib, call, out);
	im->loop = loop_before;
	im->place = NULL;
	if (!ok && im->problems == problems)
		im->problems++;
	return ok;
}
