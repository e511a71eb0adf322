/* SPDX-License-Identifier: Apache-2.0 */
/* gguf_write.c - the bytes of a GGUF file, version 3: tensors in order, each padded with zeros to the
 * alignment.
 *
 *   plain f32 f16 bf16 f64 i8 i16 i32 i64, packed forms    as they are
 *   planes                                                 packed, where the bits fit; else f32 */
#include <string.h>

#include "formats/archive.h"
#include "ir/diag.h"
#include "ir/layout_quantizer.h"
#include "ir/layout_split.h"

enum { VERSION = 3, QUANTIZATION = 2, NAME_MOST = 64, DIMS_MOST = 4 };

static void
put(qn_buf *b, size_t bytes, uint64_t v)
{
	uint8_t little[8];

	qn_little_put(little, bytes, v);
	qn_buf_put(b, (const char *)little, bytes);
}

static void
put_string(qn_buf *b, const char *s)
{
	put(b, 8, strlen(s));
	qn_buf_puts(b, s);
}

static uint64_t
padded(uint64_t alignment, uint64_t n)
{
	return (n + alignment - 1) / alignment * alignment;
}

/* ---- tensors in forms that the file has ---- */

/* What becomes of tensors that GGUF cannot hold as they are: one warning for all of a kind. */
typedef struct kind {
	const char *id, *one,
		*many; /* one: after the layout of a tensor; many: after their number */
	size_t n;
	const qn_named_tensor *first[3];
} kind;

enum { DEQUANTIZED, LEFT_OUT, NKIND };

static const kind kinds[NKIND] = {
	[DEQUANTIZED] = {.id = "gguf.dequantized",
			 .one = "has no form in GGUF that holds its bits: its values become f32",
			 .many = "have no form in GGUF that holds their bits: their values become "
				 "f32"},
	[LEFT_OUT] = {.id = "gguf.quantizer",
		      .one = "is a quantizer, which GGUF does not have: it is left out",
		      .many = "are quantizers, which GGUF does not have: they are left out"},
};

static void
count(kind *k, const qn_named_tensor *t)
{
	if (k->n < QN_COUNT(k->first))
		k->first[k->n] = t;
	k->n++;
}

static void
warn_of(qn_env *env, qn_arena *a, const char *file, const kind *k)
{
	qn_buf names;

	if (k->n == 1)
		qn_warn(env, k->id, qn_archive_at(a, file, "tensor", k->first[0]->name), "%s %s",
			k->first[0]->t.layout->name, k->one);
	if (k->n < 2)
		return;
	qn_buf_init(&names, a);
	for (size_t i = 0; i < k->n && i < QN_COUNT(k->first); i++)
		qn_buff(&names, "%s'%s' (%s)", i > 0 ? ", " : "", k->first[i]->name,
			k->first[i]->t.layout->name);
	qn_warn(env, k->id, file, "%zu tensors %s: %s%s", k->n, k->many, qn_buf_str(&names),
		k->n > QN_COUNT(k->first) ? " …" : "");
}

static qn_status
stored_form(qn_env *env, qn_arena *a, const qn_archive_data *d, const qn_named_tensor *n,
	    kind *dequantized, qn_layout_tensor *out)
{
	const char *place = qn_archive_at(a, d->place, "tensor", n->name);

	*out = qn_layout_is_split(&n->t) ? qn_layout_join(a, &n->t) : n->t;
	if (strlen(n->name) > NAME_MOST)
		return qn_report(env, QN_EUNSUPPORTED, "gguf.name", place,
				 "a name of %zu bytes (GGUF allows %d)", strlen(n->name),
				 NAME_MOST);
	if (n->t.rank > DIMS_MOST)
		return qn_report(env, QN_EUNSUPPORTED, "gguf.dims", place,
				 "%d dimensions (GGUF allows %d)", n->t.rank, DIMS_MOST);
	if (out->layout->packed != NULL || qn_layout_opaque_type(out) >= 0)
		return QN_OK;
	if (!qn_layout_is_plain(out)) {
		for (size_t i = 0; qn_layout_builtin(i) != NULL; i++)
			if (qn_layout_builtin(i)->packed != NULL &&
			    qn_layout_pack(a, &n->t, qn_layout_builtin(i), out))
				return QN_OK;
		count(dequantized, n);
		return qn_layout_repack(env, a, place, &n->t, qn_layout_builtin(0), true, out,
					NULL);
	}
	if (out->plane[0].dtype->ggml < 0)
		return qn_report(env, QN_EUNSUPPORTED, "archive.type", place,
				 "GGUF has no tensors of %s; convert to .safetensors or .irpa",
				 out->plane[0].dtype->name);
	return QN_OK;
}

/* ---- header ---- */

/* A property with a type that the file has. */
static qn_property
stored_value(qn_env *env, qn_arena *a, const char *place, const qn_property *p)
{
	if (p->type != QN_VALUE_JSON)
		return *p;
	qn_warn(env, "archive.property", qn_archive_at(a, place, "key", p->key),
		"GGUF has no type for this value: its JSON text is stored as a string");
	return qn_property_of_string(a, p->key, (const char *)p->data, p->bytes);
}

static void
put_property(qn_buf *b, const qn_property *p)
{
	put_string(b, p->key);
	put(b, 4, p->array ? QN_VALUE_ARRAY : p->type);
	if (p->array) {
		put(b, 4, p->type);
		put(b, 8, p->n);
	}
	qn_buf_put(b, (const char *)p->data, p->bytes);
}

static void
put_tensor(qn_buf *b, const char *name, const qn_layout_tensor *t, uint64_t offset)
{
	const int32_t opaque = qn_layout_opaque_type(t), type = opaque >= 0 ? opaque
								: t->layout->packed != NULL
									? t->layout->packed->ggml
									: t->plane[0].dtype->ggml;

	put_string(b, name);
	put(b, 4, (uint64_t)t->rank);
	for (int32_t i = t->rank; i-- > 0;)
		put(b, 8, (uint64_t)t->dim[i]);
	put(b, 4, (uint64_t)type);
	put(b, 8, offset);
}

static uint64_t
alignment_of(const qn_archive_data *d)
{
	const qn_property *p = qn_archive_value(d, "general.alignment");
	uint64_t v = 0;

	if (p != NULL && p->type == QN_VALUE_U32 && qn_property_u64(p, &v) && v >= 8 &&
	    (v & (v - 1)) == 0)
		return v;
	return 32;
}

static void
pad(qn_buf *b, uint64_t alignment, uint64_t n)
{
	for (uint64_t i = n; i < padded(alignment, n); i++)
		qn_buf_putc(b, 0);
}

/* What the format requires of files with packed tensors. */
static void
add_version(qn_arena *a, qn_archive_data *out)
{
	static const char key[] = "general.quantization_version";
	uint8_t *version = QN_NEW(a, uint8_t, 4);

	if (qn_archive_value(out, key) != NULL)
		return;
	qn_little_put(version, 4, QUANTIZATION);
	qn_archive_set(
		out,
		&(qn_property){
			.key = key, .type = QN_VALUE_U32, .n = 1, .data = version, .bytes = 4});
}

qn_status
qn_gguf_prepare(qn_env *env, qn_arena *a, const qn_archive_data *d, qn_archive_data *out)
{
	bool quantized = false;
	size_t joined = 0;
	kind odd[NKIND];

	memcpy(odd, kinds, sizeof odd);
	qn_archive_init(out, a, "GGUF", d->place);
	for (size_t i = 0; i < d->n; i++) {
		qn_layout_tensor t;

		if (qn_layout_is_quantizer(&d->tensor[i].t)) {
			count(&odd[LEFT_OUT], &d->tensor[i]);
			continue;
		}
		QN_TRY(stored_form(env, a, d, &d->tensor[i], &odd[DEQUANTIZED], &t));
		joined += qn_layout_is_split(&d->tensor[i].t);
		quantized = quantized || !qn_layout_is_plain(&t);
		(void)qn_archive_put(out, d->tensor[i].name, &t);
	}
	for (int i = 0; i < NKIND; i++)
		warn_of(env, a, d->place, &odd[i]);
	if (joined > 0)
		qn_warn(env, "gguf.split", d->place,
			"GGUF has no split or replicated tensors: %zu are joined", joined);
	for (size_t i = 0; i < d->nproperty; i++) {
		const qn_property p = stored_value(env, a, d->place, &d->property[i]);

		qn_archive_set(out, &p);
	}
	if (quantized)
		add_version(a, out);
	return QN_OK;
}

void
qn_gguf_print(qn_buf *b, const qn_archive_data *d)
{
	const uint64_t alignment = alignment_of(d);
	uint64_t offset = 0;
	qn_buf head;

	qn_buf_init(&head, b->arena); /* its length is needed for the padding */
	qn_buf_puts(&head, "GGUF");
	put(&head, 4, VERSION);
	put(&head, 8, d->n);
	put(&head, 8, d->nproperty);
	for (size_t i = 0; i < d->nproperty; i++)
		put_property(&head, &d->property[i]);
	for (size_t i = 0; i < d->n; i++) {
		put_tensor(&head, d->tensor[i].name, &d->tensor[i].t, offset);
		offset = padded(alignment, offset + d->tensor[i].t.plane[0].bytes);
	}
	pad(&head, alignment, head.n);
	qn_buf_pass(b, head.data, head.n);
	for (size_t i = 0; i < d->n; i++) {
		const qn_plane *p = &d->tensor[i].t.plane[0];

		qn_buf_pass(b, (const char *)p->data, p->bytes);
		pad(b, alignment, p->bytes);
	}
}
