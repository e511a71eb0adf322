/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_attr.c - attributes of ONNX nodes: by name, of the required kind; inside a function of the
 * model also references to those of the call.
 *
 *   Conv { strides = [2, 2], group = 1, auto_pad = "NOTSET" }
 *   LeakyRelu { alpha = @slope }       in a function: the attribute `slope` of the call */
#include "import/onnx.h"

#include <onnx/onnx.pb-c.h>
#include <string.h>

static const Onnx__AttributeProto *
find(size_t n, Onnx__AttributeProto *const *list, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (list[i]->name != NULL && strcmp(list[i]->name, name) == 0)
			return list[i];
	return NULL;
}

const Onnx__AttributeProto *
qn_onnx_attr(const qn_onnx *o, const qn_onnx_node *n, const char *name)
{
	const Onnx__AttributeProto *a = find(n->proto->n_attribute, n->proto->attribute, name);
	const qn_onnx_scope *s = o->scope;

	while (a != NULL && a->ref_attr_name != NULL && a->ref_attr_name[0] != '\0') {
		while (s != NULL && s->function == NULL)
			s = s->outer;
		if (s == NULL)
			return NULL;
		name = a->ref_attr_name;
		a = find(s->call->n_attribute, s->call->attribute, name);
		if (a == NULL)
			return find(s->function->npreset, s->function->preset, name);
		s = s->caller;
	}
	return a;
}

const Onnx__NodeProto *
qn_onnx_without(qn_onnx *o, const qn_onnx_node *n, const char *name)
{
	Onnx__NodeProto *to = QN_NEW(o->im.scratch, Onnx__NodeProto, 1);

	*to = *n->proto;
	to->attribute = QN_NEW(o->im.scratch, Onnx__AttributeProto *, n->proto->n_attribute);
	to->n_attribute = 0;
	for (size_t i = 0; i < n->proto->n_attribute; i++)
		if (find(1, &n->proto->attribute[i], name) == NULL)
			to->attribute[to->n_attribute++] = n->proto->attribute[i];
	return to;
}

bool
qn_onnx_has(const qn_onnx *o, const qn_onnx_node *n, const char *name)
{
	return qn_onnx_attr(o, n, name) != NULL;
}

int64_t
qn_onnx_int(const qn_onnx *o, const qn_onnx_node *n, const char *name, int64_t dflt)
{
	const Onnx__AttributeProto *a = qn_onnx_attr(o, n, name);

	return a != NULL && a->has_i ? qn_importer_near(a->i) : dflt;
}

double
qn_onnx_float(const qn_onnx *o, const qn_onnx_node *n, const char *name, double dflt)
{
	const Onnx__AttributeProto *a = qn_onnx_attr(o, n, name);

	return a != NULL && a->has_f ? (double)a->f : dflt;
}

static const char *
text(const qn_onnx *o, const ProtobufCBinaryData *s)
{
	return qn_arena_strn(o->im.scratch, s->len > 0 ? (const char *)s->data : "", s->len);
}

const char *
qn_onnx_string(const qn_onnx *o, const qn_onnx_node *n, const char *name, const char *dflt)
{
	const Onnx__AttributeProto *a = qn_onnx_attr(o, n, name);

	return a != NULL && a->has_s ? text(o, &a->s) : dflt;
}

int32_t
qn_onnx_choice(qn_onnx *o, const qn_onnx_node *n, const char *name, const char *dflt, size_t count,
	       const char *const *words)
{
	const char *word = qn_onnx_string(o, n, name, dflt);

	for (size_t i = 0; i < count; i++)
		if (strcmp(word, words[i]) == 0)
			return (int32_t)i;
	(void)qn_importer_refuse(&o->im, "import.attr", "%s is '%s', which is not supported", name,
				 word);
	return -1;
}

int32_t
qn_onnx_enum(qn_onnx *o, const qn_onnx_node *n, const char *name, const char *dflt, int32_t list)
{
	const qn_enum_info *words = &qn_enum_table[list];

	return qn_onnx_choice(o, n, name, dflt, words->n, words->names);
}

/* Whether a list of that many fits; reported. */
static bool
fits(qn_onnx *o, const char *name, size_t have, int32_t most)
{
	if (have <= (size_t)most)
		return true;
	(void)qn_importer_refuse(&o->im, "import.attr",
				 "%s has %zu elements; at most %d are possible", name, have,
				 (int)most);
	return false;
}

int32_t
qn_onnx_ints(qn_onnx *o, const qn_onnx_node *n, const char *name, int32_t most, int64_t *v)
{
	const Onnx__AttributeProto *a = qn_onnx_attr(o, n, name);

	if (a == NULL || !fits(o, name, a->n_ints, most))
		return -1;
	for (size_t i = 0; i < a->n_ints; i++)
		v[i] = qn_importer_near(a->ints[i]);
	return (int32_t)a->n_ints;
}

int32_t
qn_onnx_floats(qn_onnx *o, const qn_onnx_node *n, const char *name, int32_t most, double *v)
{
	const Onnx__AttributeProto *a = qn_onnx_attr(o, n, name);

	if (a == NULL || !fits(o, name, a->n_floats, most))
		return -1;
	for (size_t i = 0; i < a->n_floats; i++)
		v[i] = (double)a->floats[i];
	return (int32_t)a->n_floats;
}

size_t
qn_onnx_count(const qn_onnx *o, const qn_onnx_node *n, const char *name)
{
	const Onnx__AttributeProto *a = qn_onnx_attr(o, n, name);

	return a == NULL ? 0 : a->n_ints + a->n_floats + a->n_strings;
}

const char *
qn_onnx_text(const qn_onnx *o, const qn_onnx_node *n, const char *name, size_t k)
{
	const Onnx__AttributeProto *a = qn_onnx_attr(o, n, name);

	return a != NULL && k < a->n_strings ? text(o, &a->strings[k]) : "";
}

const qn_tensor *
qn_onnx_tensor(qn_onnx *o, const qn_onnx_node *n, const char *name)
{
	const Onnx__AttributeProto *a = qn_onnx_attr(o, n, name);

	return a != NULL && a->t != NULL ? qn_onnx_read_tensor(o, a->t) : NULL;
}

const Onnx__GraphProto *
qn_onnx_graph(const qn_onnx *o, const qn_onnx_node *n, const char *name)
{
	const Onnx__AttributeProto *a = qn_onnx_attr(o, n, name);

	return a != NULL ? a->g : NULL;
}
