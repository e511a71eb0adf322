/* SPDX-License-Identifier: Apache-2.0 */
/* statistics_read.c - statistics from JSON (statistics_write.c).  What is accepted is consistent in
 * itself, so that no method meets a histogram that does not belong to its range. */
#include <math.h>
#include <string.h>

#include "calibrate/statistics_read.h"
#include "formats/json_prep.h"
#include "ir/diag.h"
#include "ir/limits.h"

void
qn_stats_bad(qn_stats_reader *r, const qn_json *v, const char *why)
{
	r->status = qn_report(r->env, QN_EINVALID, "stats.value", qn_json_place(r->d, r->a, v),
			      "%s", why);
}

const qn_json *
qn_stats_need(qn_stats_reader *r, const qn_json *v, const char *key, qn_json_kind kind)
{
	const qn_json *m = qn_json_need(r->d, v, key, kind);

	if (m == NULL)
		r->status = QN_EINVALID;
	return m;
}

uint64_t
qn_stats_number(qn_stats_reader *r, const qn_json *v, uint64_t most)
{
	uint64_t n = 0;

	if (qn_json_u64(v, &n) && n <= most)
		return n;
	qn_stats_bad(r, v, "is not an integer in its valid range");
	return 0;
}

uint64_t
qn_stats_need_number(qn_stats_reader *r, const qn_json *v, const char *key, uint64_t most)
{
	const qn_json *m = qn_json_find(v, key);

	if (m != NULL)
		return qn_stats_number(r, m, most);
	(void)qn_stats_need(r, v, key, QN_JSON_NUMBER);
	return 0;
}

static void
read_spans(qn_stats_reader *r, const qn_json *list)
{
	qn_statistics *s = r->s;
	qn_span *span;

	if (list == NULL)
		return;
	s->span = span = QN_NEW(r->a, qn_span, list->n);
	for (size_t i = 0; i < list->n; i++) {
		const qn_json *v = &list->child[i];

		if (!qn_json_is(r->d, v, QN_JSON_ARRAY) || v->n != 2) {
			qn_stats_bad(r, v, "is not a [first, last + 1] of batches");
			return;
		}
		span[i].first = qn_stats_number(r, &v->child[0], s->nbatch);
		span[i].last = qn_stats_number(r, &v->child[1], s->nbatch);
		if (span[i].first >= span[i].last || (i > 0 && span[i].first <= span[i - 1].last)) {
			qn_stats_bad(r, v,
				     "is empty, or does not follow the one before it with a gap");
			return;
		}
		r->covered += span[i].last - span[i].first;
		s->nspan++;
	}
}

static void
read_data(qn_stats_reader *r, const qn_json *list)
{
	const char **name;

	if (list == NULL)
		return;
	r->s->data = name = QN_NEW(r->a, const char *, list->n);
	for (size_t i = 0; i < list->n; i++) {
		if (!qn_json_is(r->d, &list->child[i], QN_JSON_STRING)) {
			r->status = QN_EINVALID;
			return;
		}
		name[i] = qn_arena_str(r->a, list->child[i].string);
	}
	r->s->ndata = list->n;
}

/* Absent: not known.  null: the samples stay as they are. */
static void
read_preps(qn_stats_reader *r, const qn_json *list)
{
	const qn_prep **prep;

	if (list == NULL || r->status != QN_OK)
		return;
	if (list->n != r->s->ndata) {
		qn_stats_bad(r, list, "does not have one entry per input");
		return;
	}
	r->s->prep = prep = QN_NEW(r->a, const qn_prep *, list->n);
	for (size_t i = 0; i < list->n; i++) {
		qn_prep *p;

		if (list->child[i].kind == QN_JSON_NULL)
			continue;
		prep[i] = p = QN_NEW(r->a, qn_prep, 1);
		if (!qn_json_get_prep(r->d, &list->child[i], "stats.value", r->a, p))
			r->status = QN_EINVALID;
	}
}

static void
read_head(qn_stats_reader *r, const qn_json *root)
{
	qn_statistics *s = r->s;
	const qn_json *model = qn_stats_need(r, root, "model", QN_JSON_STRING);
	const qn_json *hash = qn_stats_need(r, root, "model_hash", QN_JSON_STRING);
	const qn_json *method = qn_stats_need(r, root, "method", QN_JSON_STRING);

	s->model = model != NULL ? qn_arena_str(r->a, model->string) : "";
	if (hash != NULL) {
		for (const char *c = hash->string; *c != '\0'; c++) {
			const char *digits = "0123456789abcdef";
			const char *at = strchr(digits, *c);

			if (at == NULL || c - hash->string >= 8) {
				qn_stats_bad(r, hash, "is not a CRC-32 of 8 hex digits");
				break;
			}
			s->hash = s->hash << 4 | (uint32_t)(at - digits);
		}
	}
	if (method == NULL || qn_method_parse(r->env, r->a, method->string, &s->method) != QN_OK) {
		r->status = QN_EINVALID;
		return;
	}
	if (s->method.method->passes == 0)
		qn_stats_bad(r, method, "observes nothing");
	s->nbatch = qn_stats_need_number(r, root, "batches", (uint64_t)1 << 40);
	s->batch = qn_stats_need_number(r, root, "batch", (uint64_t)1 << 20);
	const uint64_t pass = qn_stats_need_number(r, root, "pass", s->method.method->passes);
	if (s->nbatch == 0 || s->batch == 0 || pass == 0)
		qn_stats_bad(r, root, "has no batches, or no pass");
	s->pass = (unsigned)pass - 1;
	if (r->status == QN_OK) {
		read_data(r, qn_stats_need(r, root, "data", QN_JSON_ARRAY));
		read_preps(r, qn_json_want(r->d, root, "preprocessing", QN_JSON_ARRAY));
		read_spans(r, qn_stats_need(r, root, "observed", QN_JSON_ARRAY));
	}
}

static qn_status
changed(qn_env *env, const char *file, const char *why)
{
	return qn_report(env, QN_EINVALID, "stats.checksum", file,
			 "the file was changed after quern wrote it: %s; copy it again, or observe "
			 "the samples again",
			 why);
}

qn_status
qn_statistics_read(qn_env *env, qn_arena *a, const char *file, const char *text, size_t n,
		   qn_statistics **out)
{
	static const char *const keys[] = {
		"quern_statistics", "model",        "model_hash", "method",   "data",
		"batches",          "batch",        "pass",       "observed", "values",
		"checksum",         "preprocessing"};
	size_t errors = env->diags->nerrors;
	double version;
	qn_json_doc d;

	*out = QN_NEW(a, qn_statistics, 1);
	const qn_seal seal = qn_statistics_sealed(text, n);
	if (seal == QN_SEAL_BROKEN)
		return changed(env, file, "its content does not match its checksum");
	QN_TRY(qn_json_tree(a, file, text, n, NULL, &d));
	qn_stats_reader r = {.d = &d, .a = a, .env = env, .s = *out, .room = qn_limit_expansion(n)};
	if (!qn_json_is(&d, d.root, QN_JSON_OBJECT))
		return QN_EINVALID;
	const qn_json *v = qn_json_find(d.root, "quern_statistics");
	if (v == NULL || !qn_json_f64(v, &version) || version < 2 || version > 2)
		return qn_report(env, QN_EINVALID, "stats.version", file,
				 "not a file of statistics of version 2, which quern calibrate -o "
				 "writes%s",
				 v != NULL ? "; observe the samples again with this version" : "");
	if (seal != QN_SEAL_WHOLE)
		return changed(env, file, "the checksum at its end is missing");
	qn_json_only(&d, d.root, QN_COUNT(keys), keys);
	read_head(&r, d.root);
	if (r.status == QN_OK)
		qn_stats_read_values(&r, qn_stats_need(&r, d.root, "values", QN_JSON_ARRAY));
	return env->diags->nerrors > errors ? QN_EINVALID : r.status;
}
