/* SPDX-License-Identifier: Apache-2.0 */
/* onnx.c - ONNX files: the bytes become messages, the graph's inputs and constants values by name; then the
 * nodes are converted one by one (onnx_nodes.c).
 *
 *   ir_version 8, opset_import {"": 13}
 *   graph  input  x  FLOAT [batch, 3, 32, 32]     batch: given (--input-dim), or 1
 *          node   Conv, Relu …
 *          output y */
#include "import/onnx.h"
#include "ir/nearest.h"

#include <onnx/onnx.pb-c.h>
#include <string.h>

#include "import/onnx_quant.h"
#include "import/onnx_write.h"
#include "import/wire.h"
#include "ir/diag.h"
#include "ir/limits.h"

enum { TIES_TO_EVEN = 3 }; /* of qn_rounding_names: as the standard requires */
/* Bytes that unpacking may take: of small files, and for each byte. */
enum { MOST_SMALL = 32 << 20, MOST_EACH = 64 };
enum { NEWEST_SET = 27 }; /* the operator set of which the converters are */
enum {
	RAW_DATA = 9,
	PRESET = 11
}; /* fields of TensorProto; of FunctionProto, newer than the schema */

static const char *
text(const char *s)
{
	return s != NULL ? s : "";
}

/* ---- bytes ---- */

/* A message that has been checked; its memory is the arena of temporary data. */
static qn_status
unpack(qn_onnx *o, const ProtobufCMessageDescriptor *root, const void *data, size_t n,
       ProtobufCMessage **out)
{
	const qn_wire_extra extra = {.of = &onnx__function_proto__descriptor,
				     .is = &onnx__attribute_proto__descriptor,
				     .field = PRESET};
	const qn_wire_how how = {.root = root,
				 .bulk = &onnx__tensor_proto__descriptor,
				 .bulk_field = RAW_DATA,
				 .extra = &extra,
				 .nextra = 1};
	qn_env *env = o->im.m->env;
	qn_wire wire;

	if (!qn_wire_scan(o->im.scratch, &how, data, n, &wire))
		return qn_importer_damaged(&o->im,
					   "at byte %zu: %s; the file is damaged or not ONNX",
					   wire.at, wire.wrong);
	if (wire.memory > qn_limit(env, QN_LIMIT_BYTES))
		return qn_limit_report(env, QN_LIMIT_BYTES, o->im.file, wire.memory);
	if (wire.memory > qn_importer_most(&o->im, MOST_EACH * (uint64_t)n + MOST_SMALL))
		return qn_importer_damaged(&o->im,
					   "it holds %llu messages, most of them empty; the file "
					   "is damaged or not ONNX%s",
					   (unsigned long long)wire.messages,
					   qn_importer_more(&o->im));
	ProtobufCAllocator allocator = qn_wire_allocator(o->im.scratch);
	*out = protobuf_c_message_unpack(root, &allocator, wire.n, wire.data);
	return *out != NULL
		       ? QN_OK
		       : qn_importer_damaged(&o->im,
					     "a field does not have the type that ONNX defines "
					     "for it; the file is damaged or not ONNX");
}

/* ---- operator sets and functions ---- */

static void
take_versions(qn_onnx *o, qn_map *map, size_t n, Onnx__OperatorSetIdProto *const *set)
{
	qn_map_init(map, o->im.scratch);
	for (size_t i = 0; i < n; i++) {
		const char *domain = text(set[i]->domain);

		if (strcmp(domain, "ai.onnx") == 0)
			domain = "";
		if (domain[0] == '\0' && set[i]->version > NEWEST_SET)
			qn_warn(o->im.m->env, "import.version", o->im.file,
				"operator set %lld is newer than %d, the newest known one; its "
				"operators are read as in %d",
				(long long)set[i]->version, (int)NEWEST_SET, (int)NEWEST_SET);
		if (qn_map_gets(map, domain) == NULL)
			qn_map_puts(map, domain, &set[i]->version);
	}
}

/* Attributes with presets are unknown fields to the schema. */
static void
take_presets(qn_onnx *o, qn_onnx_function *f)
{
	const ProtobufCMessage *base = &f->proto->base;
	ProtobufCAllocator allocator = qn_wire_allocator(o->im.scratch);

	f->preset = QN_NEW(o->im.scratch, Onnx__AttributeProto *, base->n_unknown_fields);
	for (unsigned i = 0; i < base->n_unknown_fields; i++) {
		const ProtobufCMessageUnknownField *u = &base->unknown_fields[i];
		size_t skip = 0;

		if (u->tag != PRESET || u->wire_type != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
			continue;
		while (skip < u->len && (u->data[skip] & 0x80) != 0)
			skip++; /* the length comes first */
		skip++;
		Onnx__AttributeProto *a =
			skip <= u->len ? onnx__attribute_proto__unpack(&allocator, u->len - skip,
								       u->data + skip)
				       : NULL;
		if (a != NULL)
			f->preset[f->npreset++] = a;
	}
}

static void
take_functions(qn_onnx *o, const Onnx__ModelProto *model)
{
	qn_map_init(&o->functions, o->im.scratch);
	for (size_t i = 0; i < model->n_functions; i++) {
		const Onnx__FunctionProto *p = model->functions[i];
		qn_onnx_function *f = QN_NEW(o->im.scratch, qn_onnx_function, 1);
		qn_buf b;

		f->proto = p;
		take_presets(o, f);
		take_versions(o, &f->versions, p->n_opset_import, p->opset_import);
		qn_buf_init(&b, o->im.scratch);
		qn_buff(&b, "%s/%s", text(p->domain), text(p->name));
		if (qn_map_gets(&o->functions, qn_buf_str(&b)) == NULL)
			qn_map_puts(&o->functions, qn_buf_str(&b), f);
	}
}

/* ---- inputs and outputs ---- */

/* Dim k of input `name`; false after a report.  *out is -1, or what a fixed value has there. */
static bool
take_dim(qn_onnx *o, const char *name, int32_t k, const Onnx__TensorShapeProto__Dimension *d,
	 int64_t *out)
{
	const int64_t fixed = *out;
	bool numbered = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
	bool named = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;

	if (numbered && d->dim_value >= 0) {
		*out = d->dim_value;
		if (k == 0) /* another batch than the file was written with */
			(void)qn_importer_dim_option(&o->im, name, k, "", out);
		return true;
	}
	*out = fixed;
	return fixed >= 0 || qn_importer_dim(&o->im, name, k, named ? text(d->dim_param) : "", out);
}

/* pin: the fixed value of the input, whose shape fills what the file leaves open; NULL: none. */
static const qn_type *
input_type(qn_onnx *o, const char *name, const Onnx__TypeProto *type, const qn_pin *pin)
{
	const Onnx__TypeProto__Tensor *t =
		type != NULL && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
			? type->tensor_type
			: NULL;
	int64_t dim[QN_MAX_RANK] = {0};
	qn_plain plain;
	bool ok = true;

	if (t == NULL || !qn_onnx_data_type(t->elem_type, &plain)) {
		(void)qn_importer_refuse(&o->im, "import.type",
					 "input '%s' is %s%s, which is not "
					 "supported",
					 name,
					 t == NULL ? "a sequence, a map or similar" : "of type ",
					 t == NULL ? "" : qn_onnx_type_name(t->elem_type));
		return NULL;
	}
	if (t->shape == NULL || t->shape->n_dim > QN_MAX_RANK) {
		(void)qn_importer_refuse(&o->im, "import.dim",
					 "input '%s' has %s; give the file a shape of at most %d "
					 "dimensions",
					 name,
					 t->shape == NULL ? "no shape" : "too many dimensions",
					 (int)QN_MAX_RANK);
		return NULL;
	}
	memset(dim, -1, sizeof dim);
	if (pin != NULL)
		qn_pin_dims(pin, (int32_t)t->shape->n_dim, dim);
	for (size_t k = 0; k < t->shape->n_dim; k++)
		ok = take_dim(o, name, (int32_t)k, t->shape->dim[k], &dim[k]) && ok;
	if (ok && !qn_importer_dims_fit((int32_t)t->shape->n_dim, dim)) {
		(void)qn_importer_refuse(&o->im, "import.dim",
					 "input '%s' has dimensions of too many elements", name);
		return NULL;
	}
	return ok ? qn_type_plain(&o->im.m->types, plain, (int32_t)t->shape->n_dim, dim) : NULL;
}

static void
take_inputs(qn_onnx *o, const Onnx__GraphProto *g)
{
	const char **names = QN_NEW(o->im.scratch, const char *, g->n_input + 1);
	size_t number = 0;

	for (size_t i = 0; i < g->n_input; i++) {
		const char *name = names[i] = text(g->input[i]->name);
		const bool known = name[0] == '\0' || qn_onnx_known(o, name);
		qn_pin *pin = qn_importer_pin(&o->im, name, known ? SIZE_MAX : number);

		number += !known;
		if (known && pin == NULL)
			continue; /* an initializer holds its value */
		const qn_type *type = pin != NULL && pin->name == NULL
					      ? pin->value->type
					      : input_type(o, name, g->input[i]->type, pin);
		if (type != NULL && pin == NULL && o->im.how->from_float &&
		    qn_onnx_is_dequantized(g, name))
			type = qn_type_plain(&o->im.m->types, QN_PLAIN_f32, type->rank, type->dim);
		qn_id id = type == NULL  ? 0
			   : pin != NULL ? qn_importer_pinned(&o->im, pin, name, type)
					 : qn_importer_input(&o->im, name, type);
		if (id != 0)
			qn_importer_add_name(&o->im, name, id, id);
		qn_onnx_define(o, name, id);
	}
	qn_importer_pins_used(&o->im, g->n_input, names);
}

/* A name of none of the values, which the caller wants. */
static void
refuse_cut(qn_onnx *o, const Onnx__GraphProto *g, const char *name)
{
	const char *best = NULL;

	for (size_t i = 0; i < g->n_node && i < QN_MAX_COMPARED; i++)
		for (size_t k = 0; k < g->node[i]->n_output; k++)
			best = qn_nearer_name(name, best, g->node[i]->output[k]);
	(void)qn_report(o->im.m->env, QN_EUSAGE, "import.cut", o->im.file,
			"no value of the file is called '%s'" QN_DID_YOU_MEAN, name,
			QN_SUGGEST(best));
	o->im.problems++;
	qn_importer_failed(&o->im, QN_EUSAGE);
}

static void
refuse_output(qn_onnx *o, size_t i, const char *name)
{
	if (name[0] == '\0')
		(void)qn_importer_refuse(&o->im, "import.output",
					 "output %zu has no name; give it the name of a value", i);
	else
		(void)qn_importer_refuse(&o->im, "import.output",
					 "output %zu has the name '%s', which an output before it "
					 "has; remove it, or give it an Identity of the value",
					 i, name);
}

static void
set_outputs(qn_onnx *o, const Onnx__GraphProto *g)
{
	const qn_import_how *how = o->im.how;
	qn_map names;

	qn_importer_at(&o->im, "", "", 0);
	qn_map_init(&names, o->im.scratch);
	for (size_t i = 0; i < (how->ncut > 0 ? how->ncut : g->n_output); i++) {
		const char *name = how->ncut > 0 ? how->cut[i] : text(g->output[i]->name);
		bool known;
		qn_id id = qn_onnx_value(o, name, &known);

		if (name[0] == '\0' || qn_map_gets(&names, name) != NULL) {
			refuse_output(o, i, name);
			continue;
		}
		qn_map_puts(&names, name, o);

		if (!known && how->ncut > 0) {
			refuse_cut(o, g, name);
		} else if (!known) {
			(void)qn_importer_refuse(&o->im, "import.output",
						 "no node computes the graph's output '%s'", name);
			qn_importer_failed(&o->im, QN_EINVALID);
		} else if (qn_onnx_is_list(o, id))
			(void)qn_importer_refuse(&o->im, "import.output",
						 "the graph's output '%s' is a sequence; make each "
						 "of its values an output",
						 name);
		else if (id != 0)
			qn_graph_output(o->im.g, name, id);
	}
}

static qn_status
read_graph(qn_onnx *o, const Onnx__GraphProto *g)
{
	if (g == NULL || g->n_output == 0)
		return qn_importer_damaged(&o->im, "the file has no graph with outputs");
	o->scope = QN_NEW(o->im.scratch, qn_onnx_scope, 1);
	qn_map_init(&o->scope->values, o->im.scratch);
	qn_onnx_define_tensors(o, g);
	take_inputs(o, g);
	qn_importer_dims_used(&o->im);
	qn_onnx_nodes(o, g->n_node, g->node);
	set_outputs(o, g);
	return qn_importer_end(&o->im);
}

qn_status
qn_onnx_read(qn_model *m, const char *file, const char *folder, const void *data, size_t n,
	     const qn_import_how *how)
{
	qn_onnx o = {.data = data, .folder = folder};
	ProtobufCMessage *message;
	qn_map versions;

	qn_importer_begin(&o.im, m, file, n, how);
	qn_map_init(&o.external, o.im.scratch);
	qn_map_init(&o.sums, o.im.scratch);
	qn_map_init(&o.scales, o.im.scratch);
	qn_map_init(&o.orders, o.im.scratch);
	qn_map_init(&o.declared, o.im.scratch);
	QN_TRY(unpack(&o, &onnx__model_proto__descriptor, data, n, &message));
	/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): unpack() gave it */
	const Onnx__ModelProto *model = (const Onnx__ModelProto *)message;
	take_versions(&o, &versions, model->n_opset_import, model->opset_import);
	take_functions(&o, model);
	o.keeps_quantized = !how->from_float && qn_onnx_quantizes(&o, model);
	o.versions = o.sets = &versions;
	o.graph = model->graph;
	if (!how->from_float && how->ndim == 0 && how->npin == 0 && how->ncut == 0 &&
	    qn_onnx_read_metadata(&o, model))
		return QN_OK;
	QN_TRY(read_graph(&o, model->graph));
	if (m->stage == QN_STAGE_CALIBRATED)
		m->rounding = TIES_TO_EVEN;
	return QN_OK;
}

qn_status
qn_onnx_read_value(qn_model *m, const char *file, const void *data, size_t n, const qn_tensor **out,
		   qn_plain *stored)
{
	qn_onnx o = {.data = data};
	const qn_import_how how = {0};
	ProtobufCMessage *message;

	qn_importer_begin(&o.im, m, file, n, &how);
	QN_TRY(unpack(&o, &onnx__tensor_proto__descriptor, data, n, &message));
	/* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): likewise */
	const Onnx__TensorProto *t = (const Onnx__TensorProto *)message;
	*out = qn_onnx_read_tensor(&o, t);
	if (*out == NULL)
		return o.im.why != QN_OK ? o.im.why : QN_EUNSUPPORTED;
	*stored = qn_onnx_stored_type(t->data_type);
	return QN_OK;
}
