/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_variable.c - what lasts from run to run becomes states of the graph: resource variables, and
 * tensors that are variables.
 *
 *   CALL_ONCE  subgraph 1: VAR_HANDLE "h", ASSIGN_VARIABLE (h, constant)        %h: … state [constant]
 *   VAR_HANDLE "h"; READ_VARIABLE -> a        ->      a is %h
 *   ASSIGN_VARIABLE (h, b)                            … return …, %b as "h.next" to %h
 *
 * Operators run in the order of the file: a read after an assignment gets the assigned value.  A variable that
 * every run assigns before it reads it keeps nothing. */
#include "import/tflite.h"

#include <string.h>

#include "ir/diag.h"

enum { FIELD_CONTAINER, FIELD_SHARED_NAME }; /* VarHandleOptions */

struct qn_tfl_variable {
	const char *name;
	qn_id input, now;      /* its value before the run, and after the last operator; 0: none */
	const qn_tensor *init; /* NULL: not said */
	struct qn_tfl_variable *next; /* the next state */
};

static qn_tfl_variable *
new_variable(qn_tfl *f, const char *name)
{
	qn_tfl_variable *v = QN_NEW(f->im.scratch, qn_tfl_variable, 1);

	v->name = name;
	return v;
}

/* ---- values ---- */

/* The bytes of x under another type of the same storage; 0 after a report. */
static qn_id
same_bytes(qn_tfl *f, const qn_tfl_variable *v, qn_id x, const qn_type *type)
{
	qn_importer *im = &f->im;
	const qn_type *from = x != 0 ? qn_importer_type(im, x) : type;

	if (x == 0 || from == type)
		return x;
	if (!qn_type_same_shape(from, type) || from->elem->plain != type->elem->plain ||
	    qn_elem_is_quant(from->elem) != qn_elem_is_quant(type->elem))
		return qn_importer_refuse(im, "import.type",
					  "variable '%s' gets a value of another shape or element "
					  "type than it is read with",
					  v->name);
	const qn_type *plain = qn_type_with_elem(&im->m->types, type,
						 qn_elem_plain(&im->m->types, type->elem->plain));
	x = qn_importer_op(im, QN_OP_scast, 1, &x, NULL, plain);
	return x != 0 ? qn_importer_op(im, QN_OP_scast, 1, &x, NULL, type) : 0;
}

static qn_id
read_value(qn_tfl *f, qn_tfl_variable *v, const qn_type *type)
{
	if (v->now == 0 && qn_type_count(type) < 0)
		return qn_importer_refuse(&f->im, "import.input",
					  "variable '%s' has an unknown shape; convert the model "
					  "with static shapes",
					  v->name);
	if (v->now == 0) {
		v->input = v->now = qn_importer_input(&f->im, v->name, type);
		if (v->now == 0)
			return 0;
		qn_graph_add_state(f->im.g, NULL);
		*f->states_end = v;
		f->states_end = &v->next;
	}
	return same_bytes(f, v, v->now, type);
}

/* The first values of a state as a graph holds them; *out NULL: all 0.  False after a report. */
static bool
first_values(qn_tfl *f, const qn_tfl_variable *v, const qn_tensor **out)
{
	qn_types *t = &f->im.m->types;
	const qn_type *type = qn_importer_type(&f->im, v->input), *real;
	const qn_tensor *x = v->init;

	*out = NULL;
	if (x == NULL)
		return true;
	if (!qn_type_same_shape(x->type, type) || x->type->elem->plain != type->elem->plain)
		return qn_importer_refuse(&f->im, "import.type",
					  "variable '%s' begins with a value of another shape or "
					  "element type than it is read with",
					  v->name) != 0;
	x = qn_tensor_view(f->im.m->arena, type, x->data);
	real = qn_state_init_type(t, type);
	if (real != type) {
		if (!qn_tfl_take(f, 4 * (uint64_t)qn_type_count(type)))
			return false;
		const qn_tensor *values = qn_tensor_dequantize(t, f->im.m->arena, x, real);
		const qn_tensor *back = qn_tensor_quantize(t, f->im.scratch, values, type);

		if (back->bytes > 0 && memcmp(back->data, x->data, x->bytes) != 0)
			return qn_importer_refuse(&f->im, "import.type",
						  "variable '%s' begins with quantized values that "
						  "no float values of its type have",
						  v->name) != 0;
		x = values;
	}
	for (size_t i = 0; i < x->bytes && *out == NULL; i++)
		if (((const unsigned char *)x->data)[i] != 0)
			*out = x;
	return true;
}

bool
qn_tfl_variables_end(qn_tfl *f)
{
	size_t k = 0;

	for (qn_tfl_variable *v = f->states; v != NULL; v = v->next) {
		qn_buf b;

		qn_importer_at(&f->im, v->name, "variable", 1);
		if (!first_values(f, v, &f->im.g->init[k++]))
			return false;
		const qn_id next = same_bytes(f, v, v->now, qn_importer_type(&f->im, v->input));
		if (next == 0)
			return false;
		qn_buf_init(&b, f->im.m->arena);
		qn_buff(&b, "%s.next", v->name);
		qn_graph_output(f->im.g, qn_tfl_output_name(f, qn_buf_str(&b)), next);
	}
	return true;
}

/* ---- tensors that are variables ---- */

static qn_tfl_variable *
variable_of(qn_tfl *f, qn_tfl_tensor *t)
{
	if (t->variable == NULL)
		t->variable = new_variable(f, t->name);
	return t->variable;
}

qn_id
qn_tfl_read_variable(qn_tfl *f, qn_tfl_tensor *t)
{
	const qn_type *type = qn_tfl_type(f, t);

	return type != NULL ? read_value(f, variable_of(f, t), type) : 0;
}

void
qn_tfl_assign_variable(qn_tfl *f, qn_tfl_tensor *t, qn_id x)
{
	variable_of(f, t)->now = x;
	f->assigned++;
}

/* ---- resource variables ---- */

/* The variable of input 0; NULL after a report. */
static qn_tfl_variable *
handle(qn_tfl_op *o)
{
	qn_tfl_variable *v = o->from[0]->variable;

	if (v == NULL)
		(void)qn_importer_refuse(o->im, "import.op",
					 "input '%s' is not the result of a VAR_HANDLE",
					 o->from[0]->name);
	return v;
}

/* "container/name", as long as an identifier may be. */
static void
var_handle(qn_tfl_op *o)
{
	qn_buf key;

	qn_buf_init(&key, o->im->m->arena);
	for (uint32_t field = FIELD_CONTAINER; field <= FIELD_SHARED_NAME; field++) {
		const qn_flat_vector text = qn_flat_text_in(&o->options, field);

		if (key.n > 0)
			qn_buf_putc(&key, '/');
		for (size_t i = 0; i < text.n && i < 200; i++) {
			const int64_t c = qn_flat_int_at(&text, i, QN_FLAT_U8);

			qn_buf_putc(&key, c >= 0x20 && c < 0x7f ? (char)c : '_');
		}
	}
	const char *name = key.n > 0 ? qn_buf_str(&key) : "variable";
	qn_tfl_variable *v = qn_map_gets(&o->f->handles, name);
	if (v == NULL) {
		v = new_variable(o->f, name);
		qn_map_puts(&o->f->handles, name, v);
	}
	o->to[0]->variable = v;
}

static void
read_variable(qn_tfl_op *o)
{
	qn_tfl_variable *v = handle(o);

	if (v != NULL)
		o->to[0]->id = read_value(o->f, v, qn_tfl_type(o->f, o->to[0]));
}

static void
assign_variable(qn_tfl_op *o)
{
	qn_tfl_variable *v = handle(o);

	if (v == NULL)
		return;
	o->f->assigned++;
	if (!o->f->initializes) {
		v->now = o->in[1];
		return;
	}
	const qn_node *n = qn_graph_node(o->im->g, o->in[1]);
	if (n->op == QN_OP_const)
		v->init = n->value;
	else
		(void)qn_importer_refuse(o->im, "import.input",
					 "the first value of variable '%s' is not a constant",
					 v->name);
}

/* Runs a subgraph that sets variables to constants, once. */
static void
call_once(qn_tfl_op *o)
{
	const int64_t index = qn_tfl_option(o, 0, 0);

	if (index < 1 || (uint64_t)index >= o->f->graphs.n)
		qn_importer_failed(o->im,
				   qn_importer_damaged(o->im,
						       "subgraph %lld is called, but the file has "
						       "%zu",
						       (long long)index, o->f->graphs.n));
	else if (!o->f->frame[index].is_called)
		qn_tfl_initialize(o->f, (size_t)index);
}

const qn_tfl_row qn_tfl_variable_rows[] = {
	{QN_TFL_CALL_ONCE, call_once, 0, 0, 0, QN_TFL_NO_RESULT, 0},
	{QN_TFL_VAR_HANDLE, var_handle, 0, 0, 0, 1, 0},
	{QN_TFL_READ_VARIABLE, read_variable, 0, 1, 1, 1, 0},
	{QN_TFL_ASSIGN_VARIABLE, assign_variable, 0, 2, 2, QN_TFL_NO_RESULT, 0},
	{0, NULL, 0, 0, 0, 0, 0},
};
