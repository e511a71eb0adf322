/* SPDX-License-Identifier: Apache-2.0 */
/* method.c - the table of methods, and their text form (method.h). */
#include "calibrate/method.h"

#include <math.h>
#include <string.h>

#include "ir/diag.h"
#include "ir/nearest.h"
#include "ir/text.h"

#define PERCENT(p)                                                                                 \
	{                                                                                          \
		"p", p, 50, 100, false, false                                                      \
	}
/* Of a method with a guard: how many percent of a value it may cut off. */
#define CLIP                                                                                       \
	{                                                                                          \
		"clip", 100 * QN_CLIP_MOST, 0, 100, false, true                                    \
	}

static const qn_method methods[] = {
	{"minmax",
	 "min-max: the full range of values (default)",
	 0,
	 1,
	 {{0}},
	 NULL,
	 qn_finish_minmax,
	 false,
	 NULL,
	 NULL},
	{"avgmax",
	 "mean of the minima of batches to mean of their maxima",
	 QN_OBSERVE_PAIRS | QN_OBSERVE_GRID,
	 1,
	 {CLIP},
	 NULL,
	 qn_finish_avgmax,
	 true,
	 NULL,
	 NULL},
	{"ema",
	 "moving average of the minima and maxima of batches: c=0.01 is the weight of a new batch",
	 QN_OBSERVE_PAIRS | QN_OBSERVE_GRID,
	 1,
	 {{"c", 0.01, 0, 1, false, false}, CLIP},
	 NULL,
	 qn_finish_ema,
	 true,
	 NULL,
	 NULL},
	{"percentile",
	 "clips outliers: p=99.99 percent of the values are in the range",
	 QN_OBSERVE_GRID,
	 1,
	 {PERCENT(99.99)},
	 NULL,
	 qn_finish_percentile,
	 false,
	 NULL,
	 NULL},
	{"kl",
	 "entropy: the threshold of least KL divergence",
	 QN_OBSERVE_GRID,
	 1,
	 {CLIP},
	 NULL,
	 qn_finish_kl,
	 true,
	 NULL,
	 qn_cost_kl},
	{"mse",
	 "the threshold of least mean squared error: step=1 tries each bin",
	 QN_OBSERVE_GRID,
	 1,
	 {{"step", 1, 1, 1024, true, false}},
	 NULL,
	 qn_finish_mse,
	 false,
	 NULL,
	 qn_cost_mse},
	{"global",
	 "one scale and zero point for all values, no samples: scale=0.0078125, zero=0",
	 0,
	 0,
	 {{"scale", 0.0078125, 1e-30, 1e30, false, false}, {"zero", 0, -32768, 32767, true, false}},
	 NULL,
	 qn_finish_global,
	 false,
	 NULL,
	 NULL},
	{"percentile_tvm",
	 "percentile as TVM: the exact value of a rank, in 3 passes: p=99.999",
	 QN_OBSERVE_GRID,
	 3,
	 {PERCENT(99.999)},
	 qn_plan_percentile_tvm,
	 qn_finish_percentile_tvm,
	 false,
	 NULL,
	 NULL},
	{"percentile_ort",
	 "percentile as ONNX Runtime: bins=2048 over the range, in 2 passes: p=99.999",
	 QN_OBSERVE_GRID,
	 2,
	 {PERCENT(99.999), {"bins", 2048, 2, QN_BINS_MOST, true, false}},
	 qn_plan_percentile_ort,
	 qn_finish_percentile_ort,
	 false,
	 NULL,
	 NULL},
	{"kl_tvm",
	 "entropy as TVM: bins=8001, levels=255 (511 for values of one sign), in 2 passes",
	 QN_OBSERVE_GRID,
	 2,
	 {{"bins", 8001, 3, 16385, true, false}, {"levels", 255, 1, 16385, true, false}, CLIP},
	 qn_plan_kl,
	 qn_finish_kl_tvm,
	 true,
	 NULL,
	 qn_cost_kl_bins},
	{"kl_ort",
	 "entropy as ONNX Runtime: bins=128, levels=128 (equal: the full range; use more bins), in "
	 "2 passes",
	 QN_OBSERVE_GRID,
	 2,
	 {{"bins", 128, 2, 16384, true, false}, {"levels", 128, 2, 16384, true, false}, CLIP},
	 qn_plan_kl,
	 qn_finish_kl_ort,
	 true,
	 NULL,
	 qn_cost_kl_bins},
	{"output",
	 "min-max scaled so that each partition's output is nearest to the float one: steps=21 "
	 "factors from 1 to least=0.5, by squared error, with cosine=1 by angle",
	 QN_OBSERVE_GRID,
	 1,
	 {{"steps", 21, 2, 1000, true, false},
	  {"least", 0.5, 0.001, 1, false, false},
	  {"cosine", 0, 0, 1, true, false}},
	 NULL,
	 qn_finish_minmax,
	 false,
	 qn_search_output_of,
	 NULL},
	{"avgmax_pr",
	 "as the pull request of TVM's RFC: half of the range; for comparison only",
	 QN_OBSERVE_PAIRS | QN_OBSERVE_GRID,
	 1,
	 {{0}},
	 NULL,
	 qn_finish_avgmax_pr,
	 false,
	 NULL,
	 NULL},
};

const qn_method *
qn_method_row(size_t i)
{
	return i < QN_COUNT(methods) ? &methods[i] : NULL;
}

static const qn_method *
find(const char *name, size_t n)
{
	for (size_t i = 0; i < QN_COUNT(methods); i++)
		if (strlen(methods[i].name) == n && memcmp(methods[i].name, name, n) == 0)
			return &methods[i];
	return NULL;
}

static qn_status
unknown_method(qn_env *env, qn_arena *a, const char *place, const char *name)
{
	const char **known;
	size_t n = QN_COUNT(methods);

	while (qn_method_host_row(env, n - QN_COUNT(methods)) != NULL)
		n++;
	known = QN_NEW(a, const char *, n);
	for (size_t i = 0; i < n; i++)
		known[i] = i < QN_COUNT(methods)
				   ? methods[i].name
				   : qn_method_host_row(env, i - QN_COUNT(methods))->name;
	const char *best = qn_nearest_name(name, n, known);
	return qn_report(env, QN_EUSAGE, "method.unknown", place,
			 "unknown calibration method '%s' (expected %s)" QN_DID_YOU_MEAN, name,
			 qn_choices(a, n, known), QN_SUGGEST(best));
}

static qn_status
unknown_param(qn_env *env, qn_arena *a, const char *place, const qn_method *m, const char *name)
{
	const char *known[QN_METHOD_PARAMS + 1];
	size_t n = 0;

	for (const qn_param_row *p = m->param; p->name != NULL; p++)
		known[n++] = p->name;
	if (n == 0)
		return qn_report(env, QN_EUSAGE, "method.param", place,
				 "unknown parameter '%s': calibration method %s has no parameters",
				 name, m->name);
	const char *best = qn_nearest_name(name, n, known);
	return qn_report(
		env, QN_EUSAGE, "method.param", place,
		"unknown parameter '%s' of calibration method %s (expected %s)" QN_DID_YOU_MEAN
		"; write %s:NAME=VALUE,…",
		name, m->name, qn_choices(a, n, known), QN_SUGGEST(best), m->name);
}

/* A number as people write it: 99.9, 2048. */
static void
put_number(qn_buf *b, double v)
{
	if (v == floor(v) && fabs(v) < 1e15)
		qn_buff(b, "%lld", (long long)v);
	else
		qn_buff(b, "%g", v);
}

static qn_status
bad_value(qn_env *env, qn_arena *a, const char *place, const qn_method *m, const qn_param_row *p,
	  const char *s, size_t n)
{
	qn_buf b;

	qn_buf_init(&b, a);
	qn_buff(&b,
		"invalid value '%.*s' of parameter %s of calibration method %s (expected %s from ",
		(int)n, s, p->name, m->name, p->whole ? "an integer" : "a number");
	put_number(&b, p->least);
	qn_buf_puts(&b, " to ");
	put_number(&b, p->most);
	qn_buf_puts(&b, ")");
	return qn_report(env, QN_EUSAGE, "method.value", place, "%s", qn_buf_str(&b));
}

/* One "name=value", the n characters at s. */
static qn_status
parse_param(qn_env *env, qn_arena *a, const char *place, const char *s, size_t n, qn_method_opts *o)
{
	const qn_method *m = o->method;
	const char *equals = memchr(s, '=', n);
	size_t name = equals != NULL ? (size_t)(equals - s) : n;
	double v;

	for (size_t i = 0; m->param[i].name != NULL; i++) {
		const qn_param_row *p = &m->param[i];

		if (strlen(p->name) != name || memcmp(p->name, s, name) != 0)
			continue;
		if (equals == NULL || !qn_parse_f64(equals + 1, n - name - 1, &v) ||
		    !(v >= p->least && v <= p->most) || (p->whole && v != floor(v)))
			return bad_value(env, a, place, m, p, equals != NULL ? equals + 1 : "",
					 equals != NULL ? n - name - 1 : 0);
		o->param[i] = v;
		return QN_OK;
	}
	return unknown_param(env, a, place, m, qn_arena_strn(a, s, name));
}

qn_status
qn_method_parse(qn_env *env, qn_arena *a, const char *text, qn_method_opts *out)
{
	return qn_method_parse_at(env, a, "method", text, out);
}

qn_status
qn_method_parse_at(qn_env *env, qn_arena *a, const char *place, const char *text,
		   qn_method_opts *out)
{
	qn_status status = QN_OK;

	if (text == NULL || *text == '\0')
		text = methods[0].name;
	size_t n = strcspn(text, ":");
	const qn_method *m = find(text, n);
	if (m == NULL)
		m = qn_method_of_host(env, text, n);
	if (m == NULL)
		return unknown_method(env, a, place, qn_arena_strn(a, text, n));
	out->method = m;
	for (size_t i = 0; i < QN_METHOD_PARAMS; i++)
		out->param[i] = m->param[i].name != NULL ? m->param[i].otherwise : 0;
	for (text += n; *text != '\0';) {
		text++; /* ':' or ',' */
		n = strcspn(text, ",");
		qn_status one = parse_param(env, a, place, text, n, out);
		if (one != QN_OK)
			status = one;
		text += n;
	}
	return status;
}

void
qn_method_print(qn_buf *b, const qn_method_opts *o)
{
	char before = ':';

	qn_buf_puts(b, o->method->name);
	for (size_t i = 0; o->method->param[i].name != NULL; i++) {
		const qn_param_row *p = &o->method->param[i];

		if (p->silent && o->param[i] == p->otherwise)
			continue;
		qn_buff(b, "%c%s=", before, p->name);
		put_number(b, o->param[i]);
		before = ',';
	}
}

void
qn_finding_limit(const qn_seen *s, double t, qn_finding *out)
{
	t = fmin(t, qn_observer_reach(s->o));
	out->lo = s->symmetric ? -t : fmax(-t, (double)s->o->min);
	out->hi = s->symmetric ? t : fmin(t, (double)s->o->max);
}

int64_t
qn_seen_levels(const qn_seen *s)
{
	bool one_sign = s->o->min >= 0 || s->o->max <= 0;
	int64_t levels = s->qmax - s->qmin + 1;

	return s->symmetric ? s->qmax + 1 : one_sign ? levels : (levels + 1) / 2;
}
