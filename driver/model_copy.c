/* SPDX-License-Identifier: Apache-2.0 */
/* model_copy.c - see model_copy.h.  Copies are read from the text that saves the model: there is one way in which a
 * model is written down whole. */
#include "driver/model_copy.h"

#include "formats/json_graph.h"

/* Not names of files: qn_file_add has what is read there. */
static const char json_path[] = "copy of a model/model.json";
static const char weights_path[] = "copy of a model/model.safetensors";

qn_model_source
qn_model_source_of(qn_model *m, qn_arena *a)
{
	qn_model_source s = {.ctx = qn_box(m)->ctx, .name = m->name};

	qn_buf_init(&s.json, a);
	qn_buf_init(&s.weights, a);
	qn_json_print(&s.json, m, &(qn_json_opts){.weights_file = "model.safetensors"}, &s.weights);
	return s;
}

qn_status
qn_model_copy(const qn_model_source *s, qn_model **out)
{
	*out = NULL;
	QN_TRY(qn_file_add(s->ctx, json_path, s->json.data, s->json.n));
	QN_TRY(qn_file_add(s->ctx, weights_path, s->weights.data, s->weights.n));
	const qn_status status = qn_load(s->ctx, json_path, out);
	(void)qn_file_remove(s->ctx, json_path);
	(void)qn_file_remove(s->ctx, weights_path);
	return status;
}
