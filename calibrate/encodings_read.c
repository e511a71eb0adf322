/* SPDX-License-Identifier: Apache-2.0 */
/* encodings_read.c - a file of encodings: its version, its sections, the entries by name. */
#include "calibrate/encodings_file.h"

#include "ir/diag.h"

static const char *const sections[QN_ENCODING_SECTIONS] = {"activation_encodings",
							   "param_encodings"};

static void
add(qn_encodings *e, int k, qn_encoding *entry)
{
	if (k == QN_ENCODING_ACTIVATIONS && entry->n > 1)
		qn_encoding_bad(e, entry->at,
				"has more than one encoding: activations are quantized per tensor");
	else if (qn_map_gets(&e->map[k], entry->name) != NULL)
		qn_encoding_bad(e, entry->at, "is given twice");
	else
		qn_map_puts(&e->map[k], entry->name, entry);
}

static void
read_section(qn_encodings *e, const qn_json *s, int k, int version)
{
	if (s == NULL || !qn_json_is(&e->doc, s, version == 0 ? QN_JSON_OBJECT : QN_JSON_ARRAY))
		return;
	e->list[k] = QN_NEW(e->a, qn_encoding, s->n + 1);
	e->n[k] = s->n;
	for (size_t i = 0; i < s->n; i++) {
		const qn_json *v = &s->child[i];
		qn_encoding *entry = &e->list[k][i];

		entry->at = v;
		if (version > 0) {
			if (!qn_json_is(&e->doc, v, QN_JSON_OBJECT))
				continue;
			const qn_json *name = qn_json_need(&e->doc, v, "name", QN_JSON_STRING);
			if (name == NULL)
				continue;
			entry->name = e->name = name->string;
		} else {
			entry->name = e->name = v->key;
		}
		qn_encoding_read(e, version, v, entry);
		add(e, k, entry);
		e->name = NULL;
	}
}

/* Of a name that may be either, a constant is a parameter. */
static void
read_both(qn_encodings *e, const qn_json *s)
{
	read_section(e, s, QN_ENCODING_PARAMS, 2);
	for (size_t i = 0; i < e->n[QN_ENCODING_PARAMS]; i++) {
		qn_encoding *entry = &e->list[QN_ENCODING_PARAMS][i];

		if (entry->name == NULL || entry->n > 1)
			continue;
		e->name = entry->name;
		add(e, QN_ENCODING_ACTIVATIONS, entry);
	}
}

/* 0, 1 or 2; -1 after a report.  Files before 0.5 may have no version. */
static int
version_of(const qn_encodings *e)
{
	const qn_json *v = qn_json_find(e->doc.root, "version");
	const char *text = "";

	if (v == NULL)
		text = "0.";
	else if (v->kind == QN_JSON_STRING)
		text = v->string;
	const int version = text[0] >= '0' && text[0] <= '2' && text[1] == '.' ? text[0] - '0' : -1;

	if (version >= 0 && (qn_json_find(e->doc.root, sections[0]) != NULL ||
			     qn_json_find(e->doc.root, sections[1]) != NULL ||
			     (version == 2 && qn_json_find(e->doc.root, "encodings") != NULL)))
		return version;
	(void)qn_report(e->doc.env, QN_EINVALID, "encodings.version",
			qn_json_place(&e->doc, e->a, v != NULL ? v : e->doc.root),
			"not a file of encodings of version 0.6.1 or 1.0.0 (activation_encodings "
			"and param_encodings) or 2.0.0 (encodings); save the encodings in one of "
			"these versions");
	return -1;
}

qn_status
qn_encodings_read(qn_env *env, qn_arena *a, const char *file, const char *text, size_t n,
		  qn_encodings **out)
{
	const size_t errors = env->diags->nerrors;
	qn_encodings *e = QN_NEW(a, qn_encodings, 1);

	*out = e;
	e->a = a;
	QN_TRY(qn_json_tree(a, file, text, n, NULL, &e->doc));
	if (!qn_json_is(&e->doc, e->doc.root, QN_JSON_OBJECT))
		return QN_EINVALID;
	const int version = version_of(e);
	for (int k = 0; k < QN_ENCODING_SECTIONS; k++) {
		qn_map_init(&e->map[k], a);
		if (version >= 0)
			read_section(e, qn_json_find(e->doc.root, sections[k]), k, version);
	}
	if (version == 2 && qn_json_find(e->doc.root, "encodings") != NULL)
		read_both(e, qn_json_find(e->doc.root, "encodings"));
	return env->diags->nerrors > errors ? QN_EINVALID : QN_OK;
}
