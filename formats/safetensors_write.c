/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors_write.c - the bytes of a safetensors file: the header, padded with blanks to 8, and the
 * arrays in their order. */
#include "formats/safetensors.h"

#include <string.h>

#include "formats/dtype.h"
#include "formats/json_out.h"
#include "formats/theta.h"
#include "ir/diag.h"

enum { PREFIX = 8 };

static void
put_entry(qn_json_out *o, const char *name, const char *dtype, int32_t rank, const int64_t *dim,
	  int64_t *offset, size_t bytes)
{
	qn_json_open(o, name, '{', QN_JSON_FLAT);
	qn_json_put_string(o, "dtype", dtype);
	qn_json_open(o, "shape", '[', QN_JSON_FLAT);
	for (int32_t k = 0; k < rank; k++)
		qn_json_put_i64(o, NULL, dim[k]);
	qn_json_close(o);
	qn_json_open(o, "data_offsets", '[', QN_JSON_FLAT);
	qn_json_put_i64(o, NULL, *offset);
	*offset += (int64_t)bytes;
	qn_json_put_i64(o, NULL, *offset);
	qn_json_close(o);
	qn_json_close(o);
}

/* The length of the header, and the header. */
static void
put_head(qn_buf *b, qn_buf *head)
{
	char prefix[PREFIX];

	head->n--; /* the newline; readers of this format expect blanks */
	while (head->n % 8 != 0)
		qn_buf_putc(head, ' ');
	qn_little_put(prefix, PREFIX, head->n);
	qn_buf_put(b, prefix, sizeof prefix);
	qn_buf_pass(b, head->data, head->n);
}

void
qn_safetensors_print(qn_buf *b, size_t n, const char *const *name, const qn_tensor *const *x)
{
	int64_t offset = 0;
	qn_json_out o;
	qn_buf head;

	qn_buf_init(&head, b->arena);
	qn_json_out_init(&o, &head);
	qn_json_open(&o, NULL, '{', QN_JSON_FLAT);
	for (size_t i = 0; i < n; i++)
		put_entry(&o, name[i],
			  qn_dtype_of_plain(qn_dtype_of(x[i]->type->elem))->safetensors,
			  x[i]->type->rank, x[i]->type->dim, &offset, x[i]->bytes);
	qn_json_close(&o);
	put_head(b, &head);
	for (size_t i = 0; i < n; i++)
		qn_buf_pass(b, qn_tensor_file_bytes(b->arena, x[i]), x[i]->bytes);
}

/* ---- archives ---- */

/* Properties that are not texts, and which arrays make up a tensor, are JSON in the metadata. */
qn_status
qn_safetensors_prepare(qn_env *env, qn_arena *a, const qn_archive_data *d, qn_archive_data *out)
{
	bool texts_only = true;
	qn_theta_texts texts;

	QN_TRY(qn_theta_prepare(env, a, d, out, &texts));
	for (size_t i = 0; i < out->n; i++)
		if (out->tensor[i].t.plane[0].dtype->safetensors == NULL)
			return qn_report(env, QN_EUNSUPPORTED, "archive.type",
					 qn_archive_at(a, d->place, "tensor", out->tensor[i].name),
					 "safetensors has no tensors of %s; convert to .irpa",
					 out->tensor[i].t.plane[0].dtype->name);
	for (size_t i = 0; i < d->nproperty; i++) {
		const qn_property *p = &d->property[i];

		if (p->type == QN_VALUE_STRING && !p->array)
			qn_archive_set(out, p);
		else
			texts_only = false;
	}
	if (!texts_only || texts.quantized) {
		const qn_property about = qn_property_of_string(
			a, "__SHARK_DATASET__", texts.dataset, strlen(texts.dataset));

		qn_archive_set(out, &about);
	}
	if (texts.quantized) {
		const qn_property list = qn_property_of_string(
			a, "__SHARK_INFERENCE_TENSORS__", texts.tensors, strlen(texts.tensors));

		qn_archive_set(out, &list);
	}
	return QN_OK;
}

void
qn_safetensors_print_archive(qn_buf *b, const qn_archive_data *d)
{
	int64_t offset = 0;
	qn_json_out o;
	qn_buf head;

	qn_buf_init(&head, b->arena);
	qn_json_out_init(&o, &head);
	qn_json_open(&o, NULL, '{', QN_JSON_FLAT);
	if (d->nproperty > 0)
		qn_json_open(&o, "__metadata__", '{', QN_JSON_FLAT);
	for (size_t i = 0; i < d->nproperty; i++)
		(void)qn_property_put(&o, d->property[i].key, &d->property[i]);
	if (d->nproperty > 0)
		qn_json_close(&o);
	for (size_t i = 0; i < d->n; i++) {
		const qn_plane *p = &d->tensor[i].t.plane[0];

		put_entry(&o, d->tensor[i].name, p->dtype->safetensors, p->rank, p->dim, &offset,
			  p->bytes);
	}
	qn_json_close(&o);
	put_head(b, &head);
	for (size_t i = 0; i < d->n; i++)
		qn_buf_pass(b, (const char *)d->tensor[i].t.plane[0].data,
			    d->tensor[i].t.plane[0].bytes);
}
