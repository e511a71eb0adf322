/* SPDX-License-Identifier: Apache-2.0 */
/* custom.c - the registry of custom operators, and the view of a node that their callbacks
 * get. */
#include "ir/custom.h"

#include <stddef.h>
#include <string.h>

#include "ir/diag.h"
#include "ir/infer.h"

enum { MAX_INPUTS = 32 };

static const qn_behaviour behaviours[] = {
	[QN_OP_FLOAT_ONLY] = QN_NONE, [QN_OP_SAME] = QN_SAME,   [QN_OP_MIX] = QN_MIX,
	[QN_OP_TABLE] = QN_LUT,       [QN_OP_FIXED] = QN_FIXED,
};

/* A word of the text form with a dot inside. */
static bool
is_name(const char *s)
{
	qn_text t;
	const char *word;

	if (s == NULL)
		return false;
	qn_text_init(&t, "", s, strlen(s));
	return qn_text_word(&t, &word) == strlen(s) && strchr(s, '.') != NULL &&
	       strchr(s, '.')[1] != '\0';
}

static bool
is_attr_name(const char *s)
{
	qn_text t;
	const char *word;

	if (s == NULL)
		return false;
	qn_text_init(&t, "", s, strlen(s));
	return s[0] != '\0' && qn_text_word(&t, &word) == strlen(s);
}

static bool
is_value(const qn_op_attr *a)
{
	qn_text t;
	double real;
	int64_t integer;

	if (a->default_text == NULL)
		return true;
	qn_text_init(&t, "", a->default_text, strlen(a->default_text));
	return (a->is_real != 0 ? qn_text_real(&t, false, &real) : qn_text_int(&t, &integer)) &&
	       t.at == t.end;
}

/* What is wrong with a descriptor, NULL when nothing is. */
static const char *
problem(const qn_env *env, const qn_op_desc *d)
{
	bool one_input = d->min_inputs == 1 && d->max_inputs == 1;
	bool has_integer = d->run_integer != NULL;
	const char *why = NULL;
	qn_op op;

	if (!is_name(d->name))
		return "the name must be letters, digits and '_' with a dot inside, as "
		       "\"acme.softsign\"";
	if (qn_op_lookup(env, d->name, &op) != NULL)
		return "an operator of this name exists";
	if (d->min_inputs > d->max_inputs || d->max_inputs > MAX_INPUTS || d->max_inputs == 0)
		return "it must take 1 to 32 inputs, min_inputs <= max_inputs";
	if ((int)d->behaviour < 0 || (size_t)d->behaviour >= QN_COUNT(behaviours))
		return "the behaviour is not a qn_op_behaviour";
	if ((d->behaviour == QN_OP_SAME || d->behaviour == QN_OP_TABLE) && !one_input)
		return "SAME and TABLE operators take one input";
	if (d->behaviour == QN_OP_TABLE && d->shape != NULL)
		return "a TABLE operator has its input's shape: leave `shape` NULL";
	if (d->run_float == NULL)
		return "it needs a float function (run_float)";
	if ((d->prepare != NULL) != has_integer || (d->integer_text != NULL) != has_integer ||
	    (d->integer_name != NULL) != has_integer)
		return "an integer function needs prepare, run_integer, integer_name and "
		       "integer_text";
	if (has_integer)
		why = qn_host_function_problem(env, d->integer_name, d->integer_text);
	if (why != NULL)
		return why;
	if (d->behaviour == QN_OP_FIXED && !(d->fixed_scale > 1e-30 && d->fixed_scale < 1e30))
		return "fixed_scale must be positive (1e-30 to 1e30)";
	if (d->nattr > QN_MAX_OP_ATTRS)
		return "it has more than 8 attributes";
	for (size_t i = 0; i < d->nattr; i++)
		if (!is_attr_name(d->attr[i].name) || !is_value(&d->attr[i]))
			return "an attribute's name is not an identifier, or its default not a "
			       "number of its "
			       "kind";
	return NULL;
}

static const char *
copy(qn_arena *a, const char *s)
{
	return s != NULL ? qn_arena_str(a, s) : NULL;
}

static void
set_attrs(qn_custom *c, const qn_op_desc *d, qn_arena *a)
{
	for (size_t i = 0; i < d->nattr; i++) {
		const char *text = d->attr[i].default_text;

		c->attr[i] = (qn_attr_info){
			.name = qn_arena_str(a, d->attr[i].name),
			.kind = d->attr[i].is_real != 0 ? QN_ATTR_REAL : QN_ATTR_INT,
			.length = 1,
			.offset = offsetof(qn_attrs_of_host, value) + i * sizeof(qn_op_value),
			.default_text = qn_arena_str(a, text != NULL ? text : "")};
	}
	c->attrs = (qn_attr_set_info){.name = c->info.name,
				      .nattr = d->nattr,
				      .size = sizeof(qn_attrs_of_host),
				      .attr = c->attr,
				      .custom = c};
}

qn_status
qn_custom_register(qn_env *env, qn_arena *a, const qn_op_desc *desc)
{
	const char *why = problem(env, desc);
	qn_custom *c;

	if (why != NULL)
		return qn_report(env, QN_EUSAGE, "op.register",
				 desc->name != NULL ? desc->name : "", "%s", why);
	c = QN_NEW(a, qn_custom, 1);
	c->info = (qn_opinfo){.name = qn_arena_str(a, desc->name),
			      .min_in = desc->min_inputs,
			      .max_in = desc->max_inputs,
			      .attrs = &c->attrs,
			      .behaviour = behaviours[desc->behaviour],
			      .infer = qn_infer_custom};
	set_attrs(c, desc, a);
	c->desc = *desc;
	c->desc.name = c->info.name;
	c->desc.attr = NULL; /* the rows hold them */
	c->desc.integer_name = copy(a, desc->integer_name);
	c->desc.integer_text = copy(a, desc->integer_text);
	c->function = (qn_host_function){c->desc.integer_name, c->desc.integer_text, NULL};
	qn_host_function_add(env, &c->function);
	c->next = env->customs;
	env->customs = c;
	return QN_OK;
}

const qn_op_type *
qn_custom_view(const qn_types *t, const qn_type *type, qn_arena *a)
{
	const qn_elem *e = type->elem;
	qn_op_type *v = QN_NEW(a, qn_op_type, 1);

	*v = (qn_op_type){.size = sizeof *v, .rank = type->rank, .shape = type->dim, .axis = -1};
	if (e->kind != QN_ELEM_UNIFORM)
		return v;
	v->bits = e->bits;
	v->is_signed = e->is_signed;
	v->lo = e->qmin;
	v->hi = e->qmax;
	if (qn_elem_has_symbol(e))
		return v;
	double *scale = QN_NEW(a, double, qn_elem_nparams(e));
	int64_t *zero_point = QN_NEW(a, int64_t, qn_elem_nparams(e));
	for (size_t k = 0; k < qn_elem_nparams(e); k++)
		qn_elem_param(t, e, k, &scale[k], &zero_point[k]);
	v->scale = scale[0];
	v->zero_point = zero_point[0];
	v->axis = e->gran == QN_PER_TENSOR ? -1 : e->axis[0];
	v->nscales = qn_elem_nparams(e);
	v->scales = scale;
	v->zero_points = zero_point;
	return v;
}

qn_op_call
qn_custom_call(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_types *t = &g->model->types;
	const qn_op_type **in = QN_NEW(a, const qn_op_type *, n->nin);
	qn_op_call c = {.size = sizeof c, .nin = n->nin, .in = in, .attr = n->attr->custom.value};

	for (uint32_t i = 0; i < n->nin; i++)
		in[i] = qn_custom_view(t, qn_graph_node(g, n->in[i])->type, a);
	if (n->type != NULL)
		c.out = qn_custom_view(t, n->type, a);
	return c;
}
