/* SPDX-License-Identifier: Apache-2.0 */
/* json_facts.c - what is known of a node beside what it computes, and what became of matches.
 *
 *   {"name": "s", "op": "softmax", "inputs": ["x"], "skipped": true, "note": "skipped by op 'softmax'", "from": ["probs"]}
 *   "parts": [{"pattern": "dense", "inputs": ["x", "w"], "output": "y", "method": "kl"}] */
#include "formats/json_read.h"
#include "ir/nearest.h"

const char *
qn_json_text(qn_json_reader *r, const qn_json *v, const char *key, bool need)
{
	const qn_json *s = need ? qn_json_need(&r->doc, v, key, QN_JSON_STRING)
				: qn_json_want(&r->doc, v, key, QN_JSON_STRING);

	if (s != NULL && s->string[0] == '\0') {
		qn_json_error(r, s, "json.value", "'%s' must not be empty", key);
		return NULL;
	}
	return s != NULL ? qn_arena_str(r->m->arena, s->string) : NULL;
}

/* The texts of an array, each not empty; false after a report. */
static bool
texts(qn_json_reader *r, const qn_json *array, const char **out)
{
	bool ok = true;

	for (size_t i = 0; i < array->n; i++) {
		const qn_json *s = &array->child[i];

		if (!qn_json_is(&r->doc, s, QN_JSON_STRING)) {
			ok = false;
		} else if (s->string[0] == '\0') {
			qn_json_error(r, s, "json.value", "a name must not be empty");
			ok = false;
		} else {
			out[i] = qn_arena_str(r->m->arena, s->string);
		}
	}
	return ok;
}

const qn_facts *
qn_json_facts(qn_json_reader *r, const qn_json *v, bool *ok)
{
	const qn_json *skipped = qn_json_want(&r->doc, v, "skipped", QN_JSON_BOOL);
	const qn_json *from = qn_json_want(&r->doc, v, "from", QN_JSON_ARRAY);
	qn_facts f = {.skipped = skipped != NULL && skipped->truth,
		      .note = qn_json_text(r, v, "note", false)};

	if (from != NULL && from->n > QN_MOST_LAYERS) {
		qn_json_error(r, from, "json.value",
			      "'from' has %zu layers; at most %d are supported", from->n,
			      QN_MOST_LAYERS);
		*ok = false;
		return NULL;
	}
	if (from != NULL && from->n > 0) {
		const char **names = QN_NEW(r->m->arena, const char *, from->n);

		*ok = texts(r, from, names) && *ok;
		f.norigin = (uint32_t)from->n;
		f.origin = names;
	}
	return f.skipped || f.note != NULL || f.norigin > 0
		       ? qn_arena_copy(r->m->arena, &f, sizeof f)
		       : NULL;
}

void
qn_json_put_facts(qn_json_out *o, const qn_facts *f)
{
	if (f == NULL)
		return;
	if (f->skipped)
		qn_json_put_bool(o, "skipped", true);
	if (f->note != NULL)
		qn_json_put_string(o, "note", f->note);
	if (f->norigin == 0)
		return;
	qn_json_open(o, "from", '[', QN_JSON_FLAT);
	for (uint32_t i = 0; i < f->norigin; i++)
		qn_json_put_string(o, NULL, f->origin[i]);
	qn_json_close(o);
}

/* Whether the graph has the value; reports. */
static bool
has_value(qn_json_reader *r, const qn_json *at, const qn_graph *g, const char *name)
{
	if (qn_graph_find(g, name) != 0)
		return true;
	const char *best = qn_nearest_value(g, name);
	qn_json_error(r, at, "graph.value.undefined",
		      "unknown input, constant or node '%s'" QN_DID_YOU_MEAN, name,
		      QN_SUGGEST(best));
	return false;
}

static bool
read_part(qn_json_reader *r, const qn_json *v, const qn_graph *g, qn_part *out)
{
	static const char *const keys[] = {"pattern", "inputs", "output", "method"};
	bool ok = true;

	if (!qn_json_is(&r->doc, v, QN_JSON_OBJECT))
		return false;
	qn_json_only(&r->doc, v, QN_COUNT(keys), keys);
	const qn_json *in = qn_json_need(&r->doc, v, "inputs", QN_JSON_ARRAY);
	*out = (qn_part){.pattern = qn_json_text(r, v, "pattern", true),
			 .out = qn_json_text(r, v, "output", true),
			 .method = qn_json_text(r, v, "method", false)};
	if (in == NULL || in->n > UINT32_MAX || out->pattern == NULL || out->out == NULL)
		return false;
	const char **names = QN_NEW(r->m->arena, const char *, in->n);
	if (!texts(r, in, names))
		return false;
	out->nin = (uint32_t)in->n;
	out->in = names;
	for (size_t i = 0; i < in->n; i++)
		ok = has_value(r, &in->child[i], g, names[i]) && ok;
	return has_value(r, qn_json_find(v, "output"), g, out->out) && ok;
}

void
qn_json_parts(qn_json_reader *r, const qn_json *array, qn_graph *g)
{
	const qn_part **last = &g->parts;
	qn_part part;

	for (size_t i = 0; array != NULL && i < array->n; i++)
		if (read_part(r, &array->child[i], g, &part))
			last = qn_graph_add_part(g, last, &part);
}

void
qn_json_put_parts(qn_json_out *o, const qn_graph *g)
{
	if (g->parts == NULL)
		return;
	qn_json_open(o, "parts", '[', QN_JSON_LINES);
	for (const qn_part *p = g->parts; p != NULL; p = p->next) {
		qn_json_open(o, NULL, '{', QN_JSON_FLAT);
		qn_json_put_string(o, "pattern", p->pattern);
		qn_json_open(o, "inputs", '[', QN_JSON_FLAT);
		for (uint32_t i = 0; i < p->nin; i++)
			qn_json_put_string(o, NULL, p->in[i]);
		qn_json_close(o);
		qn_json_put_string(o, "output", p->out);
		if (p->method != NULL)
			qn_json_put_string(o, "method", p->method);
		qn_json_close(o);
	}
	qn_json_close(o);
}
