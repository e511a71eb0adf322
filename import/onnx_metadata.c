/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_metadata.c - the graph itself in the file that it is written to, so that what reads it gets
 * the same graph back: storage ranges, sums, rounding, names and order, which ONNX operators
 * cannot express.
 *
 *   metadata_props  quern.graph       the text form; constants of the file stand among the inputs
 *                   quern.constants   1 2=0 4=3:0,3,1,2
 *
 * "1": the first input is node 1; the second is node 2, the constant whose value is initializer
 * 0; the third node 4, initializer 3 with its axes in that order.  "5=7*16": a matrix whose columns
 * are 16 channels of positions instead of positions of 16 channels.  Nothing of this is trusted:
 * the graph is written to ONNX once more, and used only when the result equals the file; a file
 * that another tool has changed is read by its nodes. */
#include <onnx/onnx.pb-c.h>
#include <string.h>

#include "import/onnx.h"
#include "import/onnx_write.h"
#include "ir/diag.h"
#include "ir/text.h"

static const char graph_key[] = "quern.graph", constants_key[] = "quern.constants";

/* ---- a graph as it is written ---- */

/* The constant that n quantizes; NULL: it does something else. */
static const qn_node *
quantized(const qn_graph *g, const qn_node *n)
{
	const qn_node *c = n->op == QN_OP_quantize ? qn_graph_node(g, n->in[0]) : NULL;

	return c != NULL && c->op == QN_OP_const ? c : NULL;
}

static const qn_tensor *
quantized_of(const qn_graph *g, const qn_node *n)
{
	const qn_tensor *x = quantized(g, n)->value;
	const qn_types *types = &g->model->types;
	void *data;

	if (n->attr->quantize.ties != QN_TIES_away)
		return qn_tensor_quantize(types, g->model->scratch, x, n->type);
	qn_tensor *y = qn_tensor_new(g->model->scratch, n->type, &data);
	qn_quantize_away_into(types, x, n->type, data);
	return y;
}

/* Which values the outputs need; a quantized constant does not need its float values. */
static bool *
needed(const qn_graph *g)
{
	bool *need = QN_NEW(g->model->scratch, bool, g->n);

	for (size_t i = 0; i < g->ninput; i++)
		need[g->input[i]] = true;
	for (size_t i = 0; i < g->noutput; i++)
		need[g->output[i].value] = true;
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);

		if (need[id] && quantized(g, n) == NULL)
			for (uint32_t i = 0; i < n->nin; i++)
				need[n->in[i]] = true;
	}
	return need;
}

/* Quantized values get the name of the float values if these are removed. */
static qn_id
add_quantized(qn_graph *to, const qn_graph *g, const qn_node *quantize, const bool *need)
{
	const bool real = need[quantize->in[0]];

	return qn_graph_const(to, real ? quantize->name : quantized(g, quantize)->name,
			      quantized_of(g, quantize));
}

qn_graph *
qn_onnx_out_graph(qn_model *m)
{
	const qn_graph *g = qn_model_entry(m);
	qn_graph *to = qn_graph_new_in(m, g->name, m->scratch);
	const bool *need = needed(g);
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n);

	for (qn_id id = 1; id < g->n; id++) {
		qn_node n = *qn_graph_node(g, id);
		qn_id *in = QN_NEW(m->scratch, qn_id, n.nin);

		if (!need[id])
			continue;
		for (uint32_t i = 0; i < n.nin; i++)
			in[i] = map[n.in[i]];
		n.in = in;
		map[id] = quantized(g, qn_graph_node(g, id)) != NULL
				  ? add_quantized(to, g, qn_graph_node(g, id), need)
				  : qn_graph_add(to, &n);
		if (map[id] == 0)
			return NULL;
	}
	qn_graph_copy_outputs(to, g, map);
	return to;
}

/* ---- writing ---- */

static const char *
text_of(const qn_onnx_out *o, qn_graph *frame)
{
	qn_model m = *o->m;
	qn_buf b;

	qn_buf_init(&b, o->a);
	m.graph = &frame;
	m.ngraph = 1;
	m.tensors = NULL; /* the values have the names of this file from now on */
	m.clipped = NULL;
	m.nclipped = 0;
	qn_model_print(&b, &m);
	return qn_buf_str(&b);
}

static void
print_constant(qn_buf *b, const qn_onnx_held *k, int32_t rank)
{
	qn_buff(b, "=%zu", k->tensor - 1);
	if (k->channels != 0)
		qn_buff(b, "*%lld", (long long)k->channels);
	for (int32_t i = 0; k->perm != NULL && i < rank; i++)
		qn_buff(b, "%s%lld", i > 0 ? "," : ":", (long long)k->perm[i]);
}

/* The graph with the constants of the file among the inputs, and the places of these in b;
 * false: there is none. */
static bool
frame_of(const qn_onnx_out *o, qn_graph *frame, qn_buf *b)
{
	const qn_graph *g = o->kept;

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);
		const bool constant = n->op == QN_OP_const && o->held[id].tensor != 0;

		if (constant || n->op == QN_OP_input)
			qn_buff(b, "%s%lu", b->n > 0 ? " " : "", (unsigned long)id);
		if (constant)
			print_constant(b, &o->held[id], n->type->rank);
		if ((constant ? qn_graph_input(frame, n->name, n->type) : qn_graph_add(frame, n)) !=
		    id)
			return false;
	}
	for (size_t i = 0; i < g->noutput; i++)
		qn_graph_output(frame, g->output[i].name, g->output[i].value);
	qn_graph_copy_states(frame, g);
	return true;
}

bool
qn_onnx_out_metadata(qn_onnx_out *o, qn_onnx_pair pair[2])
{
	qn_graph *frame = qn_graph_new_in(o->m, o->kept->name, o->a);
	qn_diag_mark mark = qn_diag_mark_now(o->m->env);
	qn_buf b;

	qn_buf_init(&b, o->a);
	if (!frame_of(o, frame, &b)) {
		qn_diag_forget(o->m->env, mark); /* an operator that takes no input there */
		return false;
	}
	pair[0] = (qn_onnx_pair){graph_key, text_of(o, frame)};
	pair[1] = (qn_onnx_pair){constants_key, qn_buf_str(&b)};
	return true;
}

/* ---- reading ---- */

typedef struct keeper {
	qn_onnx *o;
	const Onnx__ModelProto *file;
	const char *graph, *constants; /* texts of the file */
	qn_model *m;                   /* being made */
	qn_text at;                    /* in constants */
	bool *used;                    /* initializers */
} keeper;

static const char *
text_in(const Onnx__ModelProto *model, const char *key)
{
	for (size_t i = 0; i < model->n_metadata_props; i++) {
		const Onnx__StringStringEntryProto *p = model->metadata_props[i];

		if (p->key != NULL && p->value != NULL && strcmp(p->key, key) == 0)
			return p->value;
	}
	return NULL;
}

/* ":0,3,1,2", if it stands there: *turned, and the order of axes that undoes it. */
static bool
read_order(keeper *k, int32_t rank, int64_t *back, bool *turned)
{
	bool seen[QN_MAX_RANK] = {0};
	int64_t axis;

	*turned = qn_text_eat(&k->at, ":");
	for (int32_t i = 0; *turned && i < rank; i++) {
		if ((i > 0 && !qn_text_eat(&k->at, ",")) || !qn_text_int(&k->at, &axis) ||
		    axis < 0 || axis >= rank || seen[axis])
			return false;
		seen[axis] = true;
		back[axis] = i;
	}
	return true;
}

static bool
quantized_fit(const qn_tensor *x)
{
	const qn_elem *e = x->type->elem;

	for (int64_t i = 0; qn_elem_is_quant(e) && i < qn_type_count(x->type); i++)
		if (qn_tensor_i64(x, i) < e->qmin || qn_tensor_i64(x, i) > e->qmax)
			return false;
	return true;
}

/* Integers that the file has as u8 with 128 more, as those of an i8 type; NULL: neither. */
static const qn_tensor *
of_storage(keeper *k, const qn_tensor *x, const qn_type *type)
{
	void *data;

	if (x->type->elem->plain == type->elem->plain)
		return x;
	if (x->type->elem->plain != QN_PLAIN_u8 || type->elem->plain != QN_PLAIN_i8)
		return NULL;
	const qn_elem *i8 = qn_elem_plain(&k->m->types, QN_PLAIN_i8);
	qn_tensor *y =
		qn_tensor_new(k->m->arena, qn_type_with_elem(&k->m->types, x->type, i8), &data);
	for (int64_t i = 0; i < qn_type_count(x->type); i++)
		qn_store_i64(data, QN_PLAIN_i8, i, qn_tensor_i64(x, i) - 128);
	return y;
}

/* After "=": the value of a constant of this type; NULL: none fits. */
static const qn_tensor *
read_value(keeper *k, const qn_type *type)
{
	qn_onnx_out out = {.m = k->m, .a = k->m->arena};
	int64_t index, back[QN_MAX_RANK], channels = 0;
	bool turned;

	if (type->is_tuple || !qn_text_int(&k->at, &index) || index < 0 ||
	    (uint64_t)index >= k->file->graph->n_initializer || k->used[index] ||
	    (qn_text_eat(&k->at, "*") && (!qn_text_int(&k->at, &channels) || channels < 1)) ||
	    !read_order(k, type->rank, back, &turned))
		return NULL;
	k->used[index] = true;
	const qn_tensor *x = qn_onnx_read_tensor(k->o, k->file->graph->initializer[index]);
	if (x == NULL || x->type->rank != type->rank || (x = of_storage(k, x, type)) == NULL)
		return NULL;
	if (turned)
		x = qn_onnx_out_moved(&out, x, back);
	if (channels != 0 && (type->rank != 2 || x->type->dim[1] % channels != 0))
		return NULL;
	if (channels != 0)
		x = qn_onnx_out_turned(&out, x, channels);
	for (int32_t i = 0; i < type->rank; i++)
		if (x->type->dim[i] != type->dim[i])
			return NULL;
	x = qn_tensor_view(k->m->arena, type, x->data);
	return quantized_fit(x) ? x : NULL;
}

/* The next node of the frame that is not an input; 0: none. */
static qn_id
next_body(const qn_graph *frame, qn_id last)
{
	while (++last < frame->n)
		if (qn_graph_node(frame, last)->op != QN_OP_input)
			return last;
	return 0;
}

static qn_id
add_copy(keeper *k, qn_graph *to, const qn_node *from, const qn_id *map)
{
	qn_node n = *from;
	qn_id *in = QN_NEW(k->m->arena, qn_id, n.nin);

	for (uint32_t i = 0; i < n.nin; i++)
		if ((in[i] = map[n.in[i]]) == 0)
			return 0;
	n.in = in;
	return qn_graph_add(to, &n);
}

/* The graph with its constants, each node at its position; NULL: the texts do not fit. */
static qn_graph *
build(keeper *k, const qn_graph *frame)
{
	qn_graph *to = qn_graph_new(k->m, frame->name);
	qn_id *map = QN_NEW(k->m->arena, qn_id, frame->n), body = 0;
	size_t ninput = 0;
	int64_t place = 0;

	for (qn_id id = 1; id < frame->n; id++) {
		if (place < (int64_t)id && ninput < frame->ninput && !qn_text_int(&k->at, &place))
			return NULL;
		qn_id from = place == (int64_t)id ? frame->input[ninput++] : next_body(frame, body);
		const qn_node *n = from != 0 ? qn_graph_node(frame, from) : NULL;

		if (n == NULL || n->op == QN_OP_call)
			return NULL;
		if (n->op != QN_OP_input)
			body = from;
		if (n->op == QN_OP_input && qn_text_eat(&k->at, "=")) {
			const qn_tensor *x = read_value(k, n->type);

			map[from] = x != NULL ? qn_graph_const(to, n->name, x) : 0;
		} else {
			map[from] = add_copy(k, to, n, map);
		}
		if (map[from] == 0)
			return NULL;
	}
	qn_graph_copy_outputs(to, frame, map);
	return frame->noutput > 0 ? to : NULL;
}

static bool
make(keeper *k, qn_model *m)
{
	qn_buf b;

	qn_buf_init(&b, m->arena);
	qn_buff(&b, "%s:%s", k->o->im.file, graph_key);
	const char *place = qn_buf_str(&b);
	k->m = m;
	k->used = QN_NEW(m->arena, bool, k->file->graph->n_initializer + 1);
	qn_text_init(&k->at, place, k->constants, strlen(k->constants));
	if (qn_model_parse_small(m, place, k->graph, strlen(k->graph)) != QN_OK || m->ngraph != 1)
		return false;
	qn_graph *g = build(k, qn_model_entry(m));
	if (g == NULL || m->stage == QN_STAGE_SYMBOLIC || m->stage == QN_STAGE_INTEGER)
		return false;
	m->graph[0] = g;
	return qn_model_verify(m) == QN_OK;
}

/* Makes the graph once for itself, writes it, and makes it again in the model. */
static bool
proven(keeper *k)
{
	qn_arena *work = qn_arena_child(k->o->im.scratch);
	qn_model *trial = QN_NEW(work, qn_model, 1);

	qn_model_init(trial, k->o->im.m->env, work, "");
	bool same = make(k, trial) && qn_onnx_is_written(trial, k->file, k->o->data) &&
		    make(k, k->o->im.m);
	qn_arena_release(work);
	return same;
}

bool
qn_onnx_read_metadata(qn_onnx *o, const Onnx__ModelProto *file)
{
	keeper k = {.o = o,
		    .file = file,
		    .graph = text_in(file, graph_key),
		    .constants = text_in(file, constants_key)};
	qn_model *m = o->im.m;
	const qn_importer before = o->im;
	const qn_model empty = *m;

	if (k.graph == NULL || k.constants == NULL || file->graph == NULL)
		return false;
	qn_diag_mark mark = qn_diag_mark_now(m->env);
	const bool same = proven(&k);
	m->name = empty.name;
	if (same)
		return true;
	qn_diag_forget(m->env, mark);
	o->im = before;
	m->ngraph = 0;
	m->stage = empty.stage;
	m->rounding = empty.rounding;
	m->options = empty.options;
	m->quantized_here = m->opened = false;
	return false;
}
