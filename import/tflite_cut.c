/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_cut.c - a file of which only some values are wanted: the operators that these need, and those without results, which
 * set variables. */
#include <string.h>

#include "import/tflite.h"
#include "ir/diag.h"
#include "ir/nearest.h"

static qn_tfl_tensor *
find(qn_tfl *f, const char *name)
{
	for (size_t i = 0; i < f->now->ntensor; i++)
		if (strcmp(f->now->tensor[i].name, name) == 0)
			return &f->now->tensor[i];
	return qn_map_gets(&f->now->named, name);
}

/* Whether one of the tensors is marked. */
static bool
any(const qn_flat_vector *v, size_t n, const bool *marked)
{
	for (size_t i = 0; i < v->n; i++) {
		const int64_t k = qn_flat_int_at(v, i, QN_FLAT_I32);

		if (k >= 0 && (uint64_t)k < n && marked[k])
			return true;
	}
	return false;
}

static void
mark(const qn_flat_vector *v, size_t n, bool *marked)
{
	for (size_t i = 0; i < v->n; i++) {
		const int64_t k = qn_flat_int_at(v, i, QN_FLAT_I32);

		if (k >= 0 && (uint64_t)k < n)
			marked[k] = true;
	}
}

const bool *
qn_tfl_needed(qn_tfl *f, const qn_flat_vector *ops)
{
	const qn_import_how *how = f->im.how;
	const size_t n = f->now->ntensor;

	if (how->ncut == 0)
		return NULL;
	bool *marked = QN_NEW(f->im.scratch, bool, n + 1);
	bool *needed = QN_NEW(f->im.scratch, bool, ops->n + 1);
	for (size_t k = 0; k < how->ncut; k++) {
		const qn_tfl_tensor *t = find(f, how->cut[k]);

		if (t != NULL)
			marked[t - f->now->tensor] = true;
	}
	for (size_t i = ops->n; i-- > 0;) {
		const qn_flat_table t = qn_flat_table_at(ops, i);
		const qn_flat_vector in = qn_flat_vector_in(&t, QN_TFL_FIELD_operator_inputs, 4);
		const qn_flat_vector out = qn_flat_vector_in(&t, QN_TFL_FIELD_operator_outputs, 4);

		needed[i] = t.at == 0 || out.n == 0 || any(&out, n, marked);
		if (needed[i] && t.at != 0)
			mark(&in, n, marked);
	}
	return needed;
}

static void
refuse(qn_tfl *f, const char *name)
{
	const char *best = NULL;

	for (size_t i = 0; i < f->now->ntensor && i < QN_MAX_COMPARED; i++)
		best = qn_nearer_name(name, best, f->now->tensor[i].name);
	(void)qn_report(f->im.m->env, QN_EUSAGE, "import.cut", f->im.file,
			"no tensor of the file is called '%s'" QN_DID_YOU_MEAN, name,
			QN_SUGGEST(best));
	f->im.problems++;
	qn_importer_failed(&f->im, QN_EUSAGE);
}

qn_status
qn_tfl_cut_outputs(qn_tfl *f)
{
	const qn_import_how *how = f->im.how;

	for (size_t k = 0; k < how->ncut; k++) {
		qn_tfl_tensor *t = find(f, how->cut[k]);

		if (t == NULL) {
			refuse(f, how->cut[k]);
			continue;
		}
		qn_importer_at(&f->im, t->name, "output", 1);
		const qn_id id = qn_tfl_value(f, t);
		if (id != 0)
			qn_graph_output(f->im.g, how->cut[k], id);
	}
	return QN_OK;
}
