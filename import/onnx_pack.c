/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_pack.c - a graph that has become messages as the bytes of a file; and whether the bytes
 * of a file are those. */
#include <onnx/onnx.pb-c.h>
#include <string.h>

#include "import/import.h"
#include "import/onnx_write.h"
#include "import/wire.h"
#include "ir/diag.h"

static void
pack(qn_onnx_out *o, qn_buf *out)
{
	Onnx__ModelProto model;
	Onnx__OperatorSetIdProto set, *sets = &set;
	Onnx__StringStringEntryProto entry[2], *entries[2] = {&entry[0], &entry[1]};
	char producer[] = "quern", domain[] = "";
	qn_onnx_pair pair[2];

	onnx__model_proto__init(&model);
	onnx__operator_set_id_proto__init(&set);
	set.domain = domain;
	set.has_version = 1;
	set.version = o->version;
	model.has_ir_version = 1;
	model.ir_version = o->version >= 21 ? 10 : o->version >= 19 ? 9 : 8;
	model.producer_name = producer;
	model.n_opset_import = 1;
	model.opset_import = &sets;
	model.graph = o->graph;
	model.n_metadata_props = qn_onnx_out_metadata(o, pair) ? 2 : 0;
	model.metadata_props = entries;
	for (size_t i = 0; i < model.n_metadata_props; i++) {
		onnx__string_string_entry_proto__init(&entry[i]);
		entry[i].key = qn_arena_copy(o->a, pair[i].key, strlen(pair[i].key) + 1);
		entry[i].value = qn_arena_copy(o->a, pair[i].value, strlen(pair[i].value) + 1);
	}
	size_t n = onnx__model_proto__get_packed_size(&model);
	uint8_t *data = QN_NEW(o->a, uint8_t, n);
	onnx__model_proto__pack(&model, data);
	qn_buf_put(out, (const char *)data, n);
}

qn_status
qn_onnx_write(qn_model *m, qn_buf *out)
{
	qn_onnx_out o = {.m = m};

	if (m->stage != QN_STAGE_CALIBRATED && m->stage != QN_STAGE_FLOAT)
		return qn_report(m->env, QN_EINVALID, "export.stage", m->name,
				 "a float or calibrated model can be written to ONNX; this one is "
				 "%s",
				 qn_stage_names[m->stage]);
	if (!qn_onnx_out_fill(&o))
		return QN_EUNSUPPORTED;
	pack(&o, out);
	return QN_OK;
}

/* ---- the same file? ---- */

/* Bytes that are compared with others while they come. */
typedef struct compared {
	ProtobufCBuffer base;
	const uint8_t *at;
	size_t left;
	bool same;
} compared;

static void
compare(ProtobufCBuffer *buffer, size_t n, const uint8_t *data)
{
	compared *c = (compared *)buffer;

	c->same = c->same && n <= c->left && (n == 0 || memcmp(c->at, data, n) == 0);
	if (c->same) {
		c->at += n;
		c->left -= n;
	}
}

/* A graph of a file with the bytes of its initializers, which reading leaves where they are. */
static Onnx__GraphProto *
with_bytes(qn_arena *a, const Onnx__GraphProto *g, const void *file, uint64_t *bytes)
{
	Onnx__GraphProto *y = qn_arena_copy(a, g, sizeof *g);

	y->initializer = QN_NEW(a, Onnx__TensorProto *, g->n_initializer + 1);
	for (size_t i = 0; i < g->n_initializer; i++) {
		Onnx__TensorProto *t = qn_arena_copy(a, g->initializer[i], sizeof *t);

		t->raw_data.data = (uint8_t *)(uintptr_t)qn_wire_bulk(&g->initializer[i]->raw_data,
								      file, &t->raw_data.len);
		*bytes += t->raw_data.len;
		y->initializer[i] = t;
	}
	return y;
}

bool
qn_onnx_is_written(qn_model *m, const Onnx__ModelProto *file, const void *data)
{
	qn_onnx_out o = {.m = m, .most = 1};

	for (size_t i = 0; i < file->graph->n_node; i++)
		for (size_t k = 0; k < file->graph->node[i]->n_attribute; k++)
			if (file->graph->node[i]->attribute[k]->t != NULL ||
			    file->graph->node[i]->attribute[k]->g != NULL)
				return false; /* nothing writes these */
	const Onnx__GraphProto *g = with_bytes(m->scratch, file->graph, data, &o.most);
	if (file->n_opset_import != 1 || file->n_functions != 0 || !qn_onnx_out_fill(&o) ||
	    file->opset_import[0]->version != o.version)
		return false;
	size_t n = onnx__graph_proto__get_packed_size(o.graph);
	uint8_t *want = QN_NEW(m->scratch, uint8_t, n + 1);
	compared c = {.base.append = compare, .at = want, .left = n, .same = true};
	onnx__graph_proto__pack(o.graph, want);
	onnx__graph_proto__pack_to_buffer(g, &c.base);
	return c.same && c.left == 0;
}
