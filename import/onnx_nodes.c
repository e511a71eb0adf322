/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_nodes.c - goes through the nodes of a graph in their order (onnx_order.c): finds their inputs by name, converts them by the
 * rows of the tables, and reads functions of the model where they are called.
 *
 *   y = Relu(x)               row of qn_onnx_elementwise
 *   y = my.domain.Block(x)    the function's nodes, in a scope of their own:  x -> its first input …
 *
 * A node with an input that could not be converted is passed over: it is counted, and operators in its bodies
 * are looked up by name (onnx_unsupported.c). */
#include "import/onnx_quant.h"

#include <onnx/onnx.pb-c.h>
#include <string.h>

enum { MAX_DEPTH = 64 };   /* functions that call functions, bodies in bodies */
enum { NAME_BYTES = 128 }; /* of room for a name that a body defines, each time that it is read */

/* What a name stands for; it never moves. */
typedef struct value {
	qn_id id; /* 0: a tensor that is not used yet, or what could not be converted */
	const Onnx__TensorProto *tensor;
	const Onnx__SparseTensorProto *sparse;
} value;

static value *
look_up(const qn_onnx_scope *s, const char *name)
{
	value *v = NULL;

	for (; s != NULL && v == NULL; s = s->outer)
		v = qn_map_gets(&s->values, name);
	return v;
}

static value *
define(qn_onnx *o, const char *name)
{
	value *v = qn_map_gets(&o->scope->values, name);

	if (v == NULL) {
		v = QN_NEW(o->im.scratch, value, 1);
		qn_map_puts(&o->scope->values, name, v);
	}
	*v = (value){0};
	return v;
}

void
qn_onnx_define(qn_onnx *o, const char *name, qn_id id)
{
	define(o, name)->id = id;
}

void
qn_onnx_define_tensors(qn_onnx *o, const Onnx__GraphProto *g)
{
	for (size_t i = 0; i < g->n_initializer; i++)
		if (g->initializer[i]->name != NULL)
			define(o, g->initializer[i]->name)->tensor = g->initializer[i];
	for (size_t i = 0; i < g->n_sparse_initializer; i++)
		if (g->sparse_initializer[i]->values != NULL &&
		    g->sparse_initializer[i]->values->name != NULL)
			define(o, g->sparse_initializer[i]->values->name)->sparse =
				g->sparse_initializer[i];
}

bool
qn_onnx_known(const qn_onnx *o, const char *name)
{
	return look_up(o->scope, name) != NULL;
}

bool
qn_onnx_defined_here(const qn_onnx *o, const char *name)
{
	return qn_map_gets(&o->scope->values, name) != NULL;
}

qn_id
qn_onnx_value(qn_onnx *o, const char *name, bool *known)
{
	value *v = look_up(o->scope, name);

	*known = v != NULL;
	if (v == NULL || (v->tensor == NULL && v->sparse == NULL))
		return v != NULL ? v->id : 0;
	const qn_tensor *x = v->tensor != NULL ? qn_onnx_read_tensor(o, v->tensor)
					       : qn_onnx_read_sparse(o, v->sparse);
	v->tensor = NULL;
	v->sparse = NULL;
	v->id = x != NULL ? qn_importer_const(&o->im, name, x) : 0;
	if (v->id != 0 && o->scope->function == NULL)
		qn_importer_add_name(&o->im, name, v->id, v->id);
	return v->id;
}

/* ---- one node ---- */

static const char *
text(const char *s)
{
	return s != NULL ? s : "";
}

const char *
qn_onnx_domain(const Onnx__NodeProto *p)
{
	return strcmp(text(p->domain), "ai.onnx") == 0 ? "" : text(p->domain);
}

const char *
qn_onnx_name(const Onnx__NodeProto *p)
{
	return text(p->name)[0] == '\0' && p->n_output > 0 ? p->output[0] : text(p->name);
}

/* The inputs; false: one is unknown (reported) or could not be converted.  Zeros follow them. */
static bool
take_inputs(qn_onnx *o, const Onnx__NodeProto *p, qn_id *in)
{
	bool ok = true, known;

	for (size_t i = 0; i < p->n_input; i++) {
		if (p->input[i][0] == '\0')
			continue;
		in[i] = qn_onnx_value(o, p->input[i], &known);
		if (!known) {
			(void)qn_importer_refuse(&o->im, "import.input",
						 "input %zu, '%s', is not a result of a node, an "
						 "input or an initializer of the graph",
						 i, p->input[i]);
			qn_importer_failed(&o->im, QN_EINVALID);
		}
		ok = ok && in[i] != 0;
	}
	return ok;
}

/* from: the first node that this one of the file made. */
static void
set_outputs(qn_onnx *o, const Onnx__NodeProto *p, const qn_id *out, qn_id from)
{
	for (size_t i = 0; i < p->n_output; i++)
		if (p->output[i][0] != '\0' && out[i] != 0 && o->scope->function == NULL)
			qn_importer_add_name(&o->im, p->output[i], out[i], from);
	for (size_t i = 0; i < p->n_output; i++)
		if (p->output[i][0] != '\0')
			qn_onnx_define(o, p->output[i], out != NULL ? out[i] : 0);
}

/* ---- functions of the model ---- */

const qn_onnx_function *
qn_onnx_function_of(qn_onnx *o, const Onnx__NodeProto *p)
{
	qn_buf b;

	qn_buf_init(&b, o->im.scratch);
	qn_buff(&b, "%s/%s", text(p->domain), text(p->op_type));
	return qn_map_gets(&o->functions, qn_buf_str(&b));
}

static void
call(qn_onnx *o, const qn_onnx_function *f, const qn_onnx_node *n, qn_id *out)
{
	qn_onnx_scope *caller = o->scope;
	const qn_map *versions = o->versions;
	qn_onnx_scope scope = {
		.function = f, .call = n->proto, .caller = caller, .depth = caller->depth + 1};
	bool known;

	if (scope.depth > MAX_DEPTH) {
		(void)qn_importer_refuse(&o->im, "import.nesting",
					 "functions call each other more than %d deep",
					 (int)MAX_DEPTH);
		return;
	}
	qn_map_init(&scope.values, o->im.scratch);
	o->scope = &scope;
	o->versions = &f->versions;
	for (size_t i = 0; i < f->proto->n_input && i < n->nin; i++)
		if (n->in[i] != 0)
			qn_onnx_define(o, f->proto->input[i], n->in[i]);
	qn_onnx_nodes(o, f->proto->n_node, f->proto->node);
	for (size_t i = 0; i < f->proto->n_output && i < n->nout; i++)
		out[i] = qn_onnx_value(o, f->proto->output[i], &known);
	o->scope = caller;
	o->versions = versions;
}

void
qn_onnx_body(qn_onnx *o, const Onnx__GraphProto *g, uint32_t nin, const qn_id *in, uint32_t nout,
	     qn_id *out)
{
	qn_onnx_scope *outer = o->scope;
	qn_onnx_scope scope = {.outer = outer, .depth = outer->depth + 1};
	bool known;

	if (scope.depth > MAX_DEPTH) {
		(void)qn_importer_refuse(&o->im, "import.nesting",
					 "bodies are nested more than %d deep", (int)MAX_DEPTH);
		return;
	}
	if (!qn_importer_take(&o->im, NAME_BYTES * ((uint64_t)g->n_initializer +
						    g->n_sparse_initializer + nin)))
		return;
	qn_map_init(&scope.values, o->im.scratch);
	o->scope = &scope;
	qn_onnx_define_tensors(o, g);
	for (uint32_t i = 0; i < nin && i < g->n_input; i++)
		qn_onnx_define(o, text(g->input[i]->name), in[i]);
	qn_onnx_nodes(o, g->n_node, g->node);
	for (uint32_t i = 0; i < nout && i < g->n_output; i++)
		out[i] = qn_onnx_value(o, text(g->output[i]->name), &known);
	o->scope = outer;
}

/* ---- dispatch ---- */

int64_t
qn_onnx_version(const qn_map *versions, const char *domain)
{
	const int64_t *v = qn_map_gets(versions, domain);

	return v != NULL ? *v : 1;
}

/* Every result that the node has was given, or something was reported, or nodes of its body come after failed ones. */
static void
check_outputs(qn_onnx *o, const Onnx__NodeProto *p, const qn_id *out, const qn_importer *before)
{
	for (size_t i = 0; i < p->n_output; i++)
		if (p->output[i][0] != '\0' && out[i] == 0 && o->im.problems == before->problems &&
		    o->im.behind == before->behind) {
			(void)qn_importer_refuse(&o->im, "import.output",
						 "its result %zu, '%s', is not supported", i,
						 p->output[i]);
			return;
		}
}

/* Sequences go to the operators that take them; false after a report. */
static bool
lists_ok(qn_onnx *o, const char *op, size_t n, const qn_id *in)
{
	for (size_t i = 0; i < n; i++)
		if (qn_onnx_is_list(o, in[i]) && !qn_onnx_takes_lists(op)) {
			(void)qn_importer_refuse(&o->im, "import.type", "input %zu is a sequence",
						 i);
			return false;
		}
	return true;
}

/* Bytes that converting a node takes by the file's word: its lists, its results' names here and in the model. */
static uint64_t
bytes_of(const Onnx__NodeProto *p)
{
	uint64_t n = ((uint64_t)p->n_input + p->n_output) * sizeof(qn_id);

	for (size_t i = 0; i < p->n_output; i++)
		n += 2 * (uint64_t)strlen(p->output[i]);
	return n;
}

static void
convert(qn_onnx *o, const Onnx__NodeProto *p)
{
	const char *domain = qn_onnx_domain(p), *op = text(p->op_type);
	int64_t version = qn_onnx_version(o->versions, domain);
	const qn_importer before = o->im;
	const uint64_t read = o->nodes;
	const qn_id from = o->im.g->n;
	bool behind = false;

	qn_importer_at(&o->im, qn_onnx_name(p), op, version);
	if (!qn_importer_take(&o->im, bytes_of(p)))
		return;
	qn_id *in = QN_NEW(o->im.scratch, qn_id, p->n_input + 1);
	qn_id *out = QN_NEW(o->im.scratch, qn_id, p->n_output + 1);
	const qn_onnx_function *f = qn_onnx_function_of(o, p);
	const qn_onnx_row *row = f == NULL ? qn_onnx_find(domain, op, version) : NULL;
	const qn_lib_operator *composition =
		f == NULL && row == NULL ? qn_onnx_composition(o, domain, op, version) : NULL;
	if (f == NULL && row == NULL && composition == NULL) {
		qn_onnx_refuse_unsupported(o, p, version);
	} else if (take_inputs(o, p, in)) {
		qn_onnx_node n = {.op = op,
				  .version = version,
				  .nin = (uint32_t)p->n_input,
				  .nout = (uint32_t)p->n_output,
				  .in = in,
				  .proto = p,
				  .arg = row != NULL ? row->arg : 0};
		if (f != NULL)
			call(o, f, &n, out);
		else if (composition != NULL)
			qn_onnx_compose(o, &n, composition, out);
		else if (lists_ok(o, op, p->n_input, in) &&
			 qn_onnx_read_integers(o, domain, &n, in))
			row->read(o, &n, out);
		check_outputs(o, p, out, &before);
	} else if (o->im.problems == before.problems) {
		behind = true;
		qn_importer_count_skipped(&o->im);
	}
	if ((behind || o->im.problems > before.problems) && o->nodes == read)
		qn_onnx_refuse_unsupported_inside(o, p); /* its bodies were not read */
	set_outputs(o, p, out, from);
}

void
qn_onnx_nodes(qn_onnx *o, size_t n, Onnx__NodeProto *const *node)
{
	const qn_importer before = o->im;

	if (n == 0)
		return;
	const qn_onnx_order *order = qn_onnx_order_of(o, n, node);
	for (size_t i = 0; i < order->nbroken; i++)
		qn_onnx_define(o, order->broken[i], 0);
	for (size_t i = 0; i < order->n; i++) {
		if (o->im.full || !qn_importer_may_read(&o->im, &o->nodes))
			return;
		convert(o, node[order->at != NULL ? order->at[i] : i]);
	}
	qn_importer_at(&o->im, before.node, before.op, before.version);
}
