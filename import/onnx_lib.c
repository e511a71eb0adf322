/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_lib.c - operators of ONNX that are compositions, those of the library and those that a user adds.
 *
 *   GRU(x, w, r) {clip = 3.0}     --> @gru of lib/recurrent.qir, whose attributes have the names of ONNX's
 *   com.acme.Swoosh(x)            --> @swoosh of a file that --lib names */
#include <onnx/onnx.pb-c.h>
#include <string.h>

#include "import/importer_lib.h"
#include "import/onnx.h"

const qn_lib_operator *
qn_onnx_composition(const qn_onnx *o, const char *domain, const char *op, int64_t version)
{
	const qn_lib_operator *own = qn_lib_added(o->im.m->env, false, domain, op);

	for (const qn_lib_operator *c = qn_lib_operators; c->name != NULL; c++)
		if (!c->tflite && strcmp(c->name, op) == 0 && strcmp(c->domain, domain) == 0 &&
		    version >= c->since)
			return c;
	return own != NULL && version >= own->since ? own : NULL;
}

static qn_item
text_item(const qn_onnx *o, const ProtobufCBinaryData *s)
{
	return qn_item_text(
		qn_arena_strn(o->im.scratch, s->len > 0 ? (const char *)s->data : "", s->len));
}

static qn_item
list_item(qn_onnx *o, const Onnx__AttributeProto *a)
{
	const size_t n = a->n_ints + a->n_floats + a->n_strings;
	qn_item *at = QN_NEW(o->im.scratch, qn_item, n + 1);

	for (size_t i = 0; i < n; i++)
		at[i] = a->n_ints > 0     ? qn_item_int(qn_importer_near(a->ints[i]))
			: a->n_floats > 0 ? qn_item_real((double)a->floats[i])
					  : text_item(o, &a->strings[i]);
	return qn_item_list(n, at);
}

/* Of an attribute of the file; nothing after a report. */
static qn_item
item_of(qn_onnx *o, const Onnx__AttributeProto *a)
{
	if (a->has_i && a->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT)
		return qn_item_int(qn_importer_near(a->i));
	if (a->has_f)
		return qn_item_real((double)a->f);
	if (a->has_s)
		return text_item(o, &a->s);
	if (a->t == NULL)
		return list_item(o, a);
	const qn_tensor *x = qn_onnx_read_tensor(o, a->t);
	return x != NULL ? qn_item_value(qn_importer_const(&o->im, NULL, x)) : (qn_item){0};
}

/* ---- what the file declares of results ---- */

static void
take_declared(qn_onnx *o, size_t n, Onnx__ValueInfoProto *const *info)
{
	for (size_t i = 0; i < n; i++)
		if (info[i]->name != NULL)
			qn_map_puts(&o->declared, info[i]->name, info[i]);
}

/* The dimensions of a value of the main graph, -1 where the file and the caller leave them open; empty: it has no shape. */
static qn_item
declared_dims(qn_onnx *o, const char *name)
{
	const Onnx__ValueInfoProto *v = qn_map_gets(&o->declared, name);
	int64_t dim[QN_MAX_RANK];

	if (v == NULL || v->type == NULL ||
	    v->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ||
	    v->type->tensor_type->shape == NULL || v->type->tensor_type->shape->n_dim > QN_MAX_RANK)
		return qn_item_list(0, NULL);
	const Onnx__TensorShapeProto *s = v->type->tensor_type->shape;

	for (size_t k = 0; k < s->n_dim; k++) {
		const Onnx__TensorShapeProto__Dimension *d = s->dim[k];

		dim[k] = -1;
		if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
			dim[k] = qn_importer_near(d->dim_value);
		else if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
			 d->dim_param != NULL)
			(void)qn_importer_dim_option(&o->im, name, (int32_t)k, d->dim_param,
						     &dim[k]);
	}
	return qn_item_ints(o->im.scratch, s->n_dim, dim);
}

static const qn_item *
declared_of(qn_onnx *o, const qn_onnx_node *n)
{
	qn_item *all = QN_NEW(o->im.scratch, qn_item, n->nout + 1);

	if (!o->declared_read) {
		o->declared_read = true;
		take_declared(o, o->graph->n_value_info, o->graph->value_info);
		take_declared(o, o->graph->n_output, o->graph->output);
	}
	for (uint32_t i = 0; i < n->nout; i++)
		all[i] = i < n->proto->n_output && o->scope->function == NULL &&
					 o->scope->outer == NULL
				 ? declared_dims(o, n->proto->output[i])
				 : qn_item_list(0, NULL);
	return all;
}

void
qn_onnx_compose(qn_onnx *o, const qn_onnx_node *n, const qn_lib_operator *op, qn_id *out)
{
	const Onnx__NodeProto *p = n->proto;
	qn_lib_call call = {.graph = op->graph,
			    .nin = n->nin,
			    .nout = n->nout,
			    .in = n->in,
			    .version = n->version,
			    .ndeclared = n->nout,
			    .declared = declared_of(o, n),
			    .added = op == qn_lib_added(o->im.m->env, false, op->domain, op->name)};
	qn_lib_attr *attr = QN_NEW(o->im.scratch, qn_lib_attr, p->n_attribute + 1);
	const size_t problems = o->im.problems;

	for (size_t i = 0; i < p->n_attribute; i++) {
		const char *name = p->attribute[i]->name != NULL ? p->attribute[i]->name : "";
		const Onnx__AttributeProto *a = qn_onnx_attr(o, n, name);

		if (a == NULL)
			continue; /* of a function, whose call leaves it out */
		attr[call.nattr].name = name;
		attr[call.nattr++].value = item_of(o, a);
	}
	call.attr = attr;
	if (o->im.problems == problems)
		(void)qn_importer_call(&o->im, &call, out);
}
