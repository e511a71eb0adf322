/* SPDX-License-Identifier: Apache-2.0 */
/* labels.c - which class a sample is of: from an array, from a folder's subfolders, from a table.
 *
 *   file,classes,label         samples a.bin b.bin  ──▶  7 0
 *   b.bin,12,0
 *   a.bin,12,7                 a row is for the sample of its name, or rows are for samples in order */
#include <stdio.h>
#include <string.h>

#include "driver/run.h"
#include "formats/csv.h"
#include "formats/file.h"
#include "formats/folder.h"
#include "ir/map.h"
#include "ir/nearest.h"
#include "quern/measure.h"

enum { MOST_NPZ = 64 };

typedef struct labels_call {
	qn_ctx *ctx;
	const char *path, *column;
	const qn_source *samples; /* NULL: rows are for samples in order */
	qn_array *x;
	int64_t *label; /* by row */
	qn_csv csv;
} labels_call;

/* ---- a table ---- */

static bool
cell_is(const qn_csv_cell *c, const char *text)
{
	return strlen(text) == c->n && memcmp(c->s, text, c->n) == 0;
}

/* The header's column of this name; columns when there is none. */
static size_t
named_column(const qn_csv *c, const char *name)
{
	size_t k = 0;

	if (c->header == NULL)
		return c->columns;
	for (; k < c->columns; k++) {
		qn_csv_cell cell = qn_csv_cell_of(c, SIZE_MAX, k);

		if (cell_is(&cell, name))
			break;
	}
	return k;
}

static qn_status
unknown_column(const labels_call *c)
{
	char name[80], nearest[sizeof name];
	const char *best = NULL;

	for (size_t k = 0; c->csv.header != NULL && k < c->csv.columns && k < QN_MAX_COMPARED;
	     k++) {
		const qn_csv_cell cell = qn_csv_cell_of(&c->csv, SIZE_MAX, k);

		if (cell.n >= sizeof name)
			continue;
		memcpy(name, cell.s, cell.n);
		name[cell.n] = '\0';
		if (qn_nearer_name(c->column, best, name) == name)
			best = memcpy(nearest, name, cell.n + 1);
	}
	return qn_report(
		&c->ctx->env, QN_EUSAGE, "labels.column", c->path,
		"unknown column '%s'%s (expected %sa number from 1 to %zu)" QN_DID_YOU_MEAN,
		c->column, c->csv.header != NULL ? "" : ": the table has no header line",
		c->csv.header != NULL ? "a name of the header line or " : "", c->csv.columns,
		QN_SUGGEST(best));
}

/* The column that --label-column names; columns after a report. */
static size_t
find_column(const labels_call *c)
{
	size_t columns = c->csv.columns;
	size_t k = named_column(&c->csv, c->column != NULL ? c->column : "label");
	size_t number = 0;

	if (k < columns)
		return k;
	if (c->column == NULL)
		return columns - 1;
	for (const char *s = c->column; *s != '\0'; s++)
		number = *s >= '0' && *s <= '9' && number <= columns
				 ? number * 10 + (size_t)(*s - '0')
				 : columns + 1;
	if (number >= 1 && number <= columns)
		return number - 1;
	(void)unknown_column(c);
	return columns;
}

/* The first column whose first cell is not a number; the number of columns: none. */
static size_t
name_column(const qn_csv *c)
{
	size_t k = 0;

	while (k < c->columns && qn_csv_cell_of(c, 0, k).is_number)
		k++;
	return k;
}

static qn_status
read_label(labels_call *c, size_t row, size_t column)
{
	qn_csv_cell v = qn_csv_cell_of(&c->csv, row, column);
	char buf[QN_CSV_PLACE];

	if (v.is_number && v.number >= 0 && v.number <= INT32_MAX &&
	    v.number == (double)(int64_t)v.number) {
		c->label[row] = (int64_t)v.number;
		return QN_OK;
	}
	return qn_report(
		&c->ctx->env, QN_EINVALID, "labels.number", qn_csv_place(&c->csv, row, buf),
		"cell %zu: '%.*s' is not a class (expected an integer from 0, the index of the "
		"model's output for it); choose the column with --label-column",
		column + 1, (int)(v.n < 40 ? v.n : 40), v.s);
}

/* Rows by the names of files. */
static qn_status
match_names(labels_call *c, size_t column, qn_arena *scratch, int64_t *out)
{
	qn_map rows;
	char buf[QN_CSV_PLACE];
	qn_status status = QN_OK;

	qn_map_init(&rows, scratch);
	for (size_t i = 0; i < c->csv.rows; i++) {
		qn_csv_cell name = qn_csv_cell_of(&c->csv, i, column);

		if (qn_map_get(&rows, name.s, name.n) != NULL)
			status = qn_report(&c->ctx->env, QN_EINVALID, "labels.twice",
					   qn_csv_place(&c->csv, i, buf), "duplicate row of '%.*s'",
					   (int)name.n, name.s);
		else
			qn_map_put(&rows, name.s, name.n, &c->label[i]);
	}
	for (size_t i = 0; i < qn_source_count(c->samples); i++) {
		const char *path = c->samples->path[i];
		const char *base = qn_path_base(path);
		const char *two = base > path ? base - 1 : base; /* its folder's name, too */

		while (two > path && two[-1] != '/')
			two--;
		const int64_t *found = qn_map_gets(&rows, base);
		found = found != NULL ? found : qn_map_gets(&rows, two);
		if (found != NULL)
			out[i] = *found;
		else
			status = qn_report(&c->ctx->env, QN_EINVALID, "labels.missing", path,
					   "%s has no row for this file: cell %zu should be '%s'",
					   c->path, column + 1, base);
	}
	return status;
}

static qn_status
open_table(void *arg, qn_arena *scratch)
{
	labels_call *c = arg;
	const char *data = NULL;
	size_t n = 0;
	void *out;
	qn_status status = QN_OK;

	c->x = qn_array_alloc(c->ctx);
	QN_TRY(qn_file_map(scratch, c->path, &data, &n));
	QN_TRY(qn_csv_index(scratch, c->path, data, n, &c->csv));
	size_t column = find_column(c);
	size_t names = name_column(&c->csv);
	bool by_name = c->samples != NULL && c->samples->path != NULL && names != column &&
		       names < c->csv.columns;
	if (column == c->csv.columns)
		return QN_EUSAGE;
	c->label = QN_NEW(scratch, int64_t, c->csv.rows);
	for (size_t i = 0; i < c->csv.rows; i++)
		if (read_label(c, i, column) != QN_OK)
			status = QN_EINVALID;
	QN_TRY(status);
	const int64_t dim = (int64_t)(by_name ? qn_source_count(c->samples) : c->csv.rows);
	c->x->name = qn_arena_str(&c->x->arena, c->path);
	qn_array_set(c->x, qn_tensor_new(&c->x->arena,
					 qn_type_plain(&c->x->types, QN_PLAIN_i64, 1, &dim), &out));
	if (by_name)
		return match_names(c, names, scratch, out);
	memcpy(out, c->label, (size_t)dim * sizeof *c->label);
	return QN_OK;
}

/* ---- any file ---- */

static qn_status
open_arrays(labels_call *c)
{
	qn_array *all[MOST_NPZ];
	size_t n = 0;
	char names[400] = "";

	if (c->column != NULL)
		return qn_report(&c->ctx->env, QN_EUSAGE, "labels.column", c->path,
				 "only tables (.csv) have columns");
	QN_TRY(qn_samples_open(c->ctx, c->path, NULL, MOST_NPZ, all, &n));
	for (size_t i = 0; i < n; i++) {
		const size_t k = strlen(names);

		(void)snprintf(names + k, sizeof names - k, "%s'%s'", i > 0 ? ", " : "",
			       qn_array_name(all[i]));
		if (c->x == NULL && (n == 1 || strcmp(qn_array_name(all[i]), "labels") == 0))
			c->x = all[i];
		else
			qn_array_free(all[i]);
	}
	if (c->x != NULL)
		return QN_OK;
	return qn_report(&c->ctx->env, QN_EINVALID, "data.labels", c->path,
			 "no array is named 'labels': it has %s", names);
}

qn_status
qn_labels_open(qn_ctx *ctx, const char *path, const char *column, const qn_array *samples,
	       qn_array **out)
{
	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(ctx, path, out));
	labels_call c = {.ctx = ctx,
			 .path = path,
			 .column = column,
			 .samples = samples != NULL ? samples->source : NULL};
	qn_status status =
		qn_name_ends(path, ".csv") ? qn_guard(ctx, open_table, &c) : open_arrays(&c);

	if (status != QN_OK)
		qn_array_free(c.x);
	*out = status == QN_OK ? c.x : NULL;
	return status;
}

int
qn_array_has_labels(const qn_array *x)
{
	return x != NULL && x->source != NULL && x->source->label != NULL;
}

const char *
qn_array_class(const qn_array *x, size_t k)
{
	return x != NULL && x->source != NULL && k < x->source->nclass ? x->source->class_name[k]
								       : NULL;
}

/* ---- the labels of samples ---- */

/* How labels of another form become one integer per sample. */
static const char *
labels_hint(const qn_type *t, int64_t n, int64_t wanted)
{
	if (n == wanted)
		return "; save the same numbers as integers (numpy: y.astype(int))";
	if (t->rank == 2 && t->dim[0] == wanted)
		return "; of a row with an element for each class, save the index of the largest "
		       "(numpy: y.argmax(1))";
	return "";
}

/* The first output of float or quantized values; none: NULL. */
static const char *
real_output(const qn_graph *g)
{
	for (size_t i = 0; i < g->noutput; i++) {
		const qn_elem *e = qn_graph_node(g, g->output[i].value)->type->elem;

		if (qn_elem_is_quant(e) || qn_elem_is_float(e))
			return g->output[i].name;
	}
	return NULL;
}

qn_status
qn_labels_fit_output(const qn_model *m, const char *name)
{
	const qn_graph *g = qn_model_entry(m);
	const qn_type *t = g->noutput > 0 ? qn_graph_node(g, g->output[0].value)->type : NULL;
	const char *other = real_output(g);

	if (t == NULL || qn_elem_is_quant(t->elem) || qn_elem_is_float(t->elem) ||
	    qn_type_count(t) != (t->rank > 0 ? t->dim[0] : 1))
		return QN_OK;
	return qn_report(m->env, QN_EINVALID, "data.labels", name,
			 "labels are compared with the first output, a number for each class, but "
			 "'%s' is one integer for a sample%s%s%s",
			 g->output[0].name,
			 other != NULL ? "; end the model at another output (--cut " : "",
			 other != NULL ? other : "", other != NULL ? ")" : "");
}

qn_status
qn_labels_for(qn_model *m, const qn_array *labels, const qn_source *samples, size_t wanted,
	      qn_arena *a, const int64_t **out)
{
	const char *const name = labels != NULL ? qn_array_name(labels) : "";
	const qn_tensor *x = NULL;

	*out = NULL;
	if (samples != NULL && samples->whole != NULL)
		samples = samples->whole;
	if (labels == NULL && samples != NULL && samples->label != NULL) {
		*out = samples->label;
		if (wanted != qn_source_count(samples))
			return qn_report(m->env, QN_EINVALID, "data.labels", samples->name,
					 "the folder has a class for each of %zu samples, but %zu "
					 "are needed",
					 qn_source_count(samples), wanted);
	}
	if (labels == NULL)
		return QN_OK;
	QN_TRY(qn_array_read(labels, a, &x));
	int64_t n = qn_type_count(x->type);
	if (qn_plain_table[x->type->elem->plain].is_float || n != (int64_t)wanted)
		return qn_report(
			m->env, QN_EINVALID, "data.labels", labels->name,
			"%s%s%s%lld labels of %s for %zu samples (expected one integer per "
			"sample)%s",
			name[0] != '\0' ? "array '" : "", name, name[0] != '\0' ? "': " : "",
			(long long)n, qn_plain_table[x->type->elem->plain].name, wanted,
			labels_hint(x->type, n, (int64_t)wanted));
	int64_t *label = QN_NEW(a, int64_t, (size_t)n + 1);
	for (int64_t i = 0; i < n; i++)
		label[i] = qn_tensor_i64(x, i);
	*out = label;
	return QN_OK;
}

qn_status
qn_labels_below(qn_env *env, const int64_t *label, size_t n, int64_t classes, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (label[i] < 0 || label[i] >= classes)
			return qn_report(env, QN_EINVALID, "data.labels", name,
					 "sample %zu has label %lld, but there are %lld classes, "
					 "counted from 0",
					 i, (long long)label[i], (long long)classes);
	return QN_OK;
}
