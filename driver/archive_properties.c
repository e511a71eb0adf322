/* SPDX-License-Identifier: Apache-2.0 */
/* archive_properties.c - properties of archives, as the host sees them: texts and numbers beside the
 * tensors, as JSON. */
#include <string.h>

#include "driver/archive_impl.h"

size_t
qn_archive_properties(const qn_archive *x)
{
	if (x == NULL)
		return 0;
	return x->d.nproperty;
}

typedef struct property_call {
	qn_archive *x;
	size_t i;
	const char *key, *json;
	qn_property_view *out;
} property_call;

static qn_status
view_property(void *arg, qn_arena *scratch)
{
	const property_call *c = arg;
	const qn_property *p;

	(void)scratch;
	if (c->i >= c->x->d.nproperty)
		return qn_report(&c->x->ctx->env, QN_EUSAGE, "archive.property", c->x->d.place,
				 "property %zu of %zu", c->i, c->x->d.nproperty);
	p = &c->x->d.property[c->i];
	*c->out = (qn_property_view){.key = p->key,
				     .type = qn_value_name(p->type),
				     .count = p->array ? (int64_t)p->n : -1,
				     .json = qn_property_json(&c->x->arena, p)};
	return QN_OK;
}

qn_status
qn_archive_property(qn_archive *x, size_t i, qn_property_view *out)
{
	property_call c = {.x = x, .i = i, .out = out};

	QN_TRY(QN_GIVEN(QN_CTX_OF(x), out));
	return qn_guard(x->ctx, view_property, &c);
}

static qn_status
set_property(void *arg, qn_arena *scratch)
{
	const property_call *c = arg;
	qn_json_doc doc;

	QN_TRY(qn_json_tree(scratch, c->key, c->json, strlen(c->json), NULL, &doc));
	const qn_property p = qn_property_of_json(&c->x->arena, c->key, doc.root);
	qn_archive_set(&c->x->d, &p);
	return QN_OK;
}

qn_status
qn_archive_set_property(qn_archive *x, const char *key, const char *json)
{
	property_call c = {.x = x, .key = key, .json = json};

	QN_TRY(QN_GIVEN(QN_CTX_OF(x), key, json));
	return qn_guard(x->ctx, set_property, &c);
}

typedef struct copy_call {
	qn_archive *x;
	const qn_archive *from;
} copy_call;

static qn_status
copy_properties(void *arg, qn_arena *scratch)
{
	const copy_call *c = arg;

	(void)scratch;
	for (size_t i = 0; i < c->from->d.nproperty; i++)
		qn_archive_set(&c->x->d, &c->from->d.property[i]);
	return QN_OK;
}

qn_status
qn_archive_copy_properties(qn_archive *x, const qn_archive *from)
{
	copy_call c = {.x = x, .from = from};

	QN_TRY(QN_GIVEN(QN_CTX_OF(x), from));
	return qn_guard(x->ctx, copy_properties, &c);
}
