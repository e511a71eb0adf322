/* SPDX-License-Identifier: Apache-2.0 */
/* json_prep.c - see json_prep.h. */
#include "formats/json_prep.h"

#include <math.h>
#include <string.h>

#include "ir/diag.h"

static void
put_numbers(qn_json_out *o, const char *key, size_t n, const double *v, double otherwise)
{
	qn_json_open(o, key, '[', QN_JSON_FLAT);
	for (size_t i = 0; i < n; i++)
		qn_json_put_f64(o, NULL, v[i]);
	if (n == 0)
		qn_json_put_f64(o, NULL, otherwise);
	qn_json_close(o);
}

void
qn_json_put_prep(qn_json_out *o, const char *key, const qn_prep *p)
{
	qn_json_open(o, key, '{', QN_JSON_FLAT);
	qn_json_put_f64(o, "zero", p->zero);
	qn_json_put_f64(o, "scale", p->scale);
	put_numbers(o, "mean", p->nmean, p->mean, 0);
	put_numbers(o, "std", p->nstd, p->std, 1);
	qn_json_put_string(o, "layout", p->channels_first ? "nchw" : "nhwc");
	qn_json_close(o);
}

typedef struct reader {
	const qn_json_doc *d;
	const char *id;
	qn_arena *a;
	bool good;
} reader;

static double
number(reader *r, const qn_json *v, bool divides)
{
	double x = 0;

	if (qn_json_f64(v, &x) && isfinite(x) && !(divides && fabs(x) <= 0))
		return x;
	r->good = false;
	(void)qn_report(r->d->env, QN_EINVALID, r->id, qn_json_place(r->d, r->a, v),
			"is %s, not a finite number%s", qn_json_describe(r->a, v),
			divides ? " other than 0" : "");
	return 1;
}

static double
need_number(reader *r, const qn_json *v, const char *key, bool divides)
{
	const qn_json *m = qn_json_need(r->d, v, key, QN_JSON_NUMBER);

	if (m != NULL)
		return number(r, m, divides);
	r->good = false;
	return 1;
}

static const double *
need_numbers(reader *r, const qn_json *v, const char *key, bool divides, size_t *n)
{
	const qn_json *list = qn_json_need(r->d, v, key, QN_JSON_ARRAY);

	r->good = r->good && list != NULL;
	*n = list != NULL ? list->n : 0;
	double *x = QN_NEW(r->a, double, *n);
	for (size_t i = 0; i < *n; i++)
		x[i] = number(r, &list->child[i], divides);
	return x;
}

bool
qn_json_get_prep(const qn_json_doc *d, const qn_json *v, const char *id, qn_arena *a, qn_prep *out)
{
	static const char *const keys[] = {"zero", "scale", "mean", "std", "layout"};
	reader r = {.d = d, .id = id, .a = a, .good = true};

	*out = (qn_prep){.given = true};
	if (!qn_json_is(d, v, QN_JSON_OBJECT))
		return false;
	qn_json_only(d, v, QN_COUNT(keys), keys);
	out->zero = need_number(&r, v, "zero", false);
	out->scale = need_number(&r, v, "scale", true);
	out->mean = need_numbers(&r, v, "mean", false, &out->nmean);
	out->std = need_numbers(&r, v, "std", true, &out->nstd);
	const qn_json *layout = qn_json_need(d, v, "layout", QN_JSON_STRING);
	if (layout == NULL)
		return false;
	out->channels_first = strcmp(layout->string, "nchw") == 0;
	if (out->channels_first || strcmp(layout->string, "nhwc") == 0)
		return r.good;
	(void)qn_report(d->env, QN_EINVALID, id, qn_json_place(d, a, layout),
			"is '%s', not \"nhwc\" or \"nchw\"", layout->string);
	return false;
}
