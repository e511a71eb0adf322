/* SPDX-License-Identifier: Apache-2.0 */
/* llm.c - reads a GGUF file, or a folder of Hugging Face, as a language model. */
#include "import/llm.h"

static qn_status
read_model(qn_llm *l, qn_model *m, size_t bytes, const qn_import_how *how)
{
	qn_importer_begin(&l->im, m, l->file.place, bytes, how);
	l->taken = QN_NEW(m->scratch, bool, l->file.n + 1);
	QN_TRY(qn_llm_configure(l));
	qn_importer_dims_used(&l->im);
	qn_llm_graph(l);
	qn_importer_at(&l->im, "", "", 0);
	qn_llm_tensors_used(l);
	QN_TRY(qn_importer_end(&l->im));
	m->stage =
		QN_STAGE_FLOAT; /* of what is quantized, only weights: activations get their types here */
	return QN_OK;
}

qn_status
qn_gguf_read_model(qn_model *m, const char *file, const void *data, size_t n,
		   const qn_import_how *how)
{
	qn_llm *l = QN_NEW(m->scratch, qn_llm, 1);

	qn_archive_init(&l->file, m->arena, "GGUF", file);
	QN_TRY(qn_gguf_read(&l->file, data, n));
	return read_model(l, m, n, how);
}

qn_status
qn_hugging_face_read_model(qn_model *m, const char *folder, const qn_import_how *how)
{
	qn_llm *l = QN_NEW(m->scratch, qn_llm, 1);
	size_t bytes = 0;

	l->hugging_face = true;
	qn_archive_init(&l->file, m->arena, QN_HUGGING_FACE_FOLDER, folder);
	QN_TRY(qn_hugging_face_read(&l->file, folder));
	for (size_t i = 0; i < l->file.n; i++)
		bytes += qn_layout_bytes(&l->file.tensor[i].t);
	return read_model(l, m, bytes, how);
}
