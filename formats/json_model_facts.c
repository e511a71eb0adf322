/* SPDX-License-Identifier: Apache-2.0 */
/* json_model_facts.c - what is known of a model beside its graphs.
 *
 *   "clipped": [{"value": "conv1.x", "outside": 20, "elements": 204800}]
 *   "pruned": [{"layer": "conv1", "removed": 5, "channels": 16, "bytes": 720, "macs": 5120}]
 *   "widened": [{"layer": "conv1", "gain": 12.5}]
 *   "repaired": [{"layer": "conv1", "sqnr_before": 18.25, "sqnr_after": 24.1, "weights": true, "bias": true}]
 *   "streamed": {"input": "x", "axis": 1, "hop": 2, "window": 49}
 *   "tensors": [{"names": ["conv.bias"], "constants": ["conv.bias"]}, {"node": "relu", "names": ["/relu/Relu_output_0"]}] */
#include <string.h>

#include "formats/json_graph.h"
#include "formats/json_read.h"
#include "ir/foreign_names.h"

/* ---- reading ---- */

static void
read_clipped(qn_json_reader *r, const qn_json *v)
{
	static const char *const keys[] = {"value", "outside", "elements"};
	int64_t count[2] = {0, 0};

	if (!qn_json_is(&r->doc, v, QN_JSON_OBJECT))
		return;
	qn_json_only(&r->doc, v, QN_COUNT(keys), keys);
	const char *value = qn_json_text(r, v, "value", true);
	for (int i = 0; i < 2; i++) {
		const qn_json *n = qn_json_find(v, keys[i + 1]);

		if (n == NULL || !qn_json_i64(n, &count[i]) || count[i] < 1 || count[1] < 0) {
			qn_json_error(r, n != NULL ? n : v, "json.value",
				      "'%s' must be an integer from 1", keys[i + 1]);
			return;
		}
	}
	if (count[0] > count[1])
		qn_json_error(r, v, "json.value", "'outside' is larger than 'elements'");
	else if (value != NULL)
		qn_model_clipped(r->m, &(qn_clipped){.value = value,
						     .outside = (uint64_t)count[0],
						     .elements = (uint64_t)count[1]});
}

static void
read_pruned(qn_json_reader *r, const qn_json *v)
{
	static const char *const keys[] = {"layer", "removed", "channels", "bytes", "macs"};
	int64_t count[4] = {0, 0, 0, 0};

	if (!qn_json_is(&r->doc, v, QN_JSON_OBJECT))
		return;
	qn_json_only(&r->doc, v, QN_COUNT(keys), keys);
	const char *layer = qn_json_text(r, v, "layer", true);
	for (int i = 0; i < 4; i++) {
		const qn_json *n = qn_json_find(v, keys[i + 1]);

		if (n == NULL || !qn_json_i64(n, &count[i]) || count[i] < 0) {
			qn_json_error(r, n != NULL ? n : v, "json.value",
				      "'%s' must be an integer from 0", keys[i + 1]);
			return;
		}
	}
	if (count[0] >= count[1])
		qn_json_error(r, v, "json.value", "a layer must keep at least one channel");
	else if (layer != NULL)
		qn_model_pruned(r->m, &(qn_pruned){.value = layer,
						   .removed = (uint64_t)count[0],
						   .channels = (uint64_t)count[1],
						   .bytes = (uint64_t)count[2],
						   .macs = (uint64_t)count[3]});
}

static void
read_widened(qn_json_reader *r, const qn_json *v)
{
	static const char *const keys[] = {"layer", "gain"};
	qn_widened w = {0};

	if (!qn_json_is(&r->doc, v, QN_JSON_OBJECT))
		return;
	qn_json_only(&r->doc, v, QN_COUNT(keys), keys);
	w.value = qn_json_text(r, v, "layer", true);
	const qn_json *n = qn_json_need(&r->doc, v, "gain", QN_JSON_NUMBER);
	if (n != NULL && qn_json_f64(n, &w.gain) && w.value != NULL)
		qn_model_widened(r->m, &w);
}

static void
read_repaired(qn_json_reader *r, const qn_json *v)
{
	static const char *const keys[] = {"layer", "sqnr_before", "sqnr_after", "weights", "bias"};
	qn_repaired p = {0};
	double *const sqnr[] = {&p.before, &p.after};
	bool *const changed[] = {&p.weights, &p.bias};

	if (!qn_json_is(&r->doc, v, QN_JSON_OBJECT))
		return;
	qn_json_only(&r->doc, v, QN_COUNT(keys), keys);
	p.value = qn_json_text(r, v, "layer", true);
	for (int i = 0; i < 2; i++) {
		const qn_json *n = qn_json_need(&r->doc, v, keys[1 + i], QN_JSON_NUMBER);
		const qn_json *is = qn_json_need(&r->doc, v, keys[3 + i], QN_JSON_BOOL);

		if (n == NULL || is == NULL || !qn_json_f64(n, sqnr[i]))
			return;
		*changed[i] = is->truth;
	}
	if (p.value != NULL)
		qn_model_repaired(r->m, &p);
}

static void
read_streamed(qn_json_reader *r, const qn_json *v)
{
	static const char *const keys[] = {"input", "axis", "hop", "window"};
	int64_t count[3] = {0, 0, 0};

	qn_json_only(&r->doc, v, QN_COUNT(keys), keys);
	const char *input = qn_json_text(r, v, "input", true);
	for (int i = 0; i < 3; i++) {
		const qn_json *n = qn_json_find(v, keys[i + 1]);

		if (n == NULL || !qn_json_i64(n, &count[i]) || count[i] < 1) {
			qn_json_error(r, n != NULL ? n : v, "json.value",
				      "'%s' must be an integer from 1", keys[i + 1]);
			return;
		}
	}
	if (count[0] >= QN_MAX_RANK || count[1] >= count[2])
		qn_json_error(r, v, "json.value",
			      "'axis' must be less than %d, and 'hop' less than 'window'",
			      QN_MAX_RANK);
	else if (input != NULL)
		qn_model_streamed(r->m, &(qn_streamed){.input = input,
						       .axis = (int32_t)count[0],
						       .hop = count[1],
						       .window = count[2]});
}

static bool
is_among(const char *name, const qn_json *list)
{
	for (size_t i = 0; list != NULL && i < list->n; i++)
		if (list->child[i].kind == QN_JSON_STRING &&
		    strcmp(list->child[i].string, name) == 0)
			return true;
	return false;
}

static void
read_tensor(qn_json_reader *r, const qn_json *v)
{
	static const char *const keys[] = {"node", "names", "constants"};

	if (!qn_json_is(&r->doc, v, QN_JSON_OBJECT))
		return;
	qn_json_only(&r->doc, v, QN_COUNT(keys), keys);
	const char *node = qn_json_text(r, v, "node", false);
	const qn_json *names = qn_json_need(&r->doc, v, "names", QN_JSON_ARRAY);
	const qn_json *constants = qn_json_want(&r->doc, v, "constants", QN_JSON_ARRAY);
	if (names != NULL &&
	    (names->n > QN_MAX_FOREIGN_NAMES || (constants != NULL && constants->n > names->n))) {
		qn_json_error(r, v, "json.value",
			      "a node has at most %d names, and not more that are constants",
			      QN_MAX_FOREIGN_NAMES);
		return;
	}
	for (size_t i = 0; names != NULL && i < names->n; i++) {
		const qn_json *s = &names->child[i];

		if (!qn_json_is(&r->doc, s, QN_JSON_STRING))
			continue;
		if (s->string[0] == '\0')
			qn_json_error(r, s, "json.value", "a name must not be empty");
		else
			qn_model_call(r->m, node, s->string, is_among(s->string, constants));
	}
}

void
qn_json_model_facts(qn_json_reader *r)
{
	const qn_json *root = r->doc.root;
	const qn_json *here = qn_json_want(&r->doc, root, "quantized", QN_JSON_BOOL);
	const qn_json *opened = qn_json_want(&r->doc, root, "opened", QN_JSON_BOOL);
	const qn_json *clipped = qn_json_want(&r->doc, root, "clipped", QN_JSON_ARRAY);
	const qn_json *pruned = qn_json_want(&r->doc, root, "pruned", QN_JSON_ARRAY);
	const qn_json *widened = qn_json_want(&r->doc, root, "widened", QN_JSON_ARRAY);
	const qn_json *repaired = qn_json_want(&r->doc, root, "repaired", QN_JSON_ARRAY);
	const qn_json *streamed = qn_json_want(&r->doc, root, "streamed", QN_JSON_OBJECT);
	const qn_json *tensors = qn_json_want(&r->doc, root, "tensors", QN_JSON_ARRAY);

	r->m->quantized_here = here != NULL && here->truth;
	r->m->opened = opened != NULL && opened->truth;
	for (size_t i = 0; clipped != NULL && i < clipped->n; i++)
		read_clipped(r, &clipped->child[i]);
	for (size_t i = 0; pruned != NULL && i < pruned->n; i++)
		read_pruned(r, &pruned->child[i]);
	for (size_t i = 0; widened != NULL && i < widened->n; i++)
		read_widened(r, &widened->child[i]);
	for (size_t i = 0; repaired != NULL && i < repaired->n; i++)
		read_repaired(r, &repaired->child[i]);
	if (streamed != NULL)
		read_streamed(r, streamed);
	for (size_t i = 0; tensors != NULL && i < tensors->n; i++)
		read_tensor(r, &tensors->child[i]);
}

/* ---- writing ---- */

static void
put_names(qn_json_out *o, const char *key, const qn_foreign_name_entry *e, bool constants)
{
	qn_json_open(o, key, '[', QN_JSON_FLAT);
	for (const qn_foreign_name *c = e->called; c != NULL; c = e->node != NULL ? c->next : NULL)
		if (!constants || c->constant)
			qn_json_put_string(o, NULL, c->name);
	qn_json_close(o);
}

static void
put_tensor(qn_json_out *o, const qn_foreign_name_entry *e)
{
	bool any = false;

	for (const qn_foreign_name *c = e->called; c != NULL; c = e->node != NULL ? c->next : NULL)
		any = any || c->constant;
	qn_json_open(o, NULL, '{', QN_JSON_FLAT);
	if (e->node != NULL)
		qn_json_put_string(o, "node", e->node);
	put_names(o, "names", e, false);
	if (any)
		put_names(o, "constants", e, true);
	qn_json_close(o);
}

void
qn_json_put_pruned(qn_json_out *o, const qn_model *m)
{
	if (m->npruned == 0)
		return;
	qn_json_open(o, "pruned", '[', QN_JSON_LINES);
	for (size_t i = 0; i < m->npruned; i++) {
		qn_json_open(o, NULL, '{', QN_JSON_FLAT);
		qn_json_put_string(o, "layer", m->pruned[i].value);
		qn_json_put_u64(o, "removed", m->pruned[i].removed);
		qn_json_put_u64(o, "channels", m->pruned[i].channels);
		qn_json_put_u64(o, "bytes", m->pruned[i].bytes);
		qn_json_put_u64(o, "macs", m->pruned[i].macs);
		qn_json_close(o);
	}
	qn_json_close(o);
}

void
qn_json_put_widened(qn_json_out *o, const qn_model *m)
{
	if (m->nwidened == 0)
		return;
	qn_json_open(o, "widened", '[', QN_JSON_LINES);
	for (size_t i = 0; i < m->nwidened; i++) {
		qn_json_open(o, NULL, '{', QN_JSON_FLAT);
		qn_json_put_string(o, "layer", m->widened[i].value);
		qn_json_put_f64(o, "gain", m->widened[i].gain);
		qn_json_close(o);
	}
	qn_json_close(o);
}

void
qn_json_put_repaired(qn_json_out *o, const qn_model *m)
{
	if (m->nrepaired == 0)
		return;
	qn_json_open(o, "repaired", '[', QN_JSON_LINES);
	for (size_t i = 0; i < m->nrepaired; i++) {
		qn_json_open(o, NULL, '{', QN_JSON_FLAT);
		qn_json_put_string(o, "layer", m->repaired[i].value);
		qn_json_put_f64(o, "sqnr_before", m->repaired[i].before);
		qn_json_put_f64(o, "sqnr_after", m->repaired[i].after);
		qn_json_put_bool(o, "weights", m->repaired[i].weights);
		qn_json_put_bool(o, "bias", m->repaired[i].bias);
		qn_json_close(o);
	}
	qn_json_close(o);
}

void
qn_json_put_streamed(qn_json_out *o, const qn_model *m)
{
	if (m->streamed == NULL)
		return;
	qn_json_open(o, "streamed", '{', QN_JSON_FLAT);
	qn_json_put_string(o, "input", m->streamed->input);
	qn_json_put_i64(o, "axis", m->streamed->axis);
	qn_json_put_i64(o, "hop", m->streamed->hop);
	qn_json_put_i64(o, "window", m->streamed->window);
	qn_json_close(o);
}

void
qn_json_put_model_facts(qn_json_out *o, const qn_model *m)
{
	const qn_foreign_name_entry *list;
	const size_t n = qn_model_foreign_name_list(m, o->b->arena, &list);

	if (m->quantized_here)
		qn_json_put_bool(o, "quantized", true);
	if (m->opened)
		qn_json_put_bool(o, "opened", true);
	if (m->nclipped > 0)
		qn_json_open(o, "clipped", '[', QN_JSON_LINES);
	for (size_t i = 0; i < m->nclipped; i++) {
		qn_json_open(o, NULL, '{', QN_JSON_FLAT);
		qn_json_put_string(o, "value", m->clipped[i].value);
		qn_json_put_u64(o, "outside", m->clipped[i].outside);
		qn_json_put_u64(o, "elements", m->clipped[i].elements);
		qn_json_close(o);
	}
	if (m->nclipped > 0)
		qn_json_close(o);
	qn_json_put_pruned(o, m);
	qn_json_put_widened(o, m);
	qn_json_put_repaired(o, m);
	qn_json_put_streamed(o, m);
	if (n > 0)
		qn_json_open(o, "tensors", '[', QN_JSON_LINES);
	for (size_t i = 0; i < n; i++)
		put_tensor(o, &list[i]);
	if (n > 0)
		qn_json_close(o);
}
