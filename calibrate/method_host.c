/* SPDX-License-Identifier: Apache-2.0 */
/* method_host.c - methods of calibration that the host registers: rows like those of method.c, whose
 * finish calls the host.
 *
 *   observer ──▶ qn_observed ──▶ range callback ──▶ [lo, hi]      [-t, t] where the value is symmetric */
#include <math.h>
#include <string.h>

#include "calibrate/method.h"
#include "ir/diag.h"
#include "ir/text.h"

typedef struct qn_host_method {
	qn_method row; /* first: a row is its method */
	qn_method_desc desc;
	const struct qn_host_method *next;
} host_method;

const qn_method *
qn_method_host_row(const qn_env *env, size_t i)
{
	const host_method *h = env->methods;

	while (h != NULL && i-- > 0)
		h = h->next;
	return h != NULL ? &h->row : NULL;
}

const qn_method *
qn_method_of_host(const qn_env *env, const char *name, size_t n)
{
	for (const host_method *h = env->methods; h != NULL; h = h->next)
		if (strlen(h->row.name) == n && memcmp(h->row.name, name, n) == 0)
			return &h->row;
	return NULL;
}

static void
finish(const qn_seen *s, qn_arena *scratch, qn_finding *out)
{
	const host_method *h = (const void *)s->opts->method;
	const size_t n = (size_t)s->nbatch;
	float *lo = QN_NEW(scratch, float, n);
	float *hi = QN_NEW(scratch, float, n);
	const double width = ldexp(1, s->o->exponent);
	const qn_observed v = {.size = sizeof v,
			       .name = s->name != NULL ? s->name : "",
			       .count = s->o->n,
			       .min = (double)s->o->min,
			       .max = (double)s->o->max,
			       .symmetric = s->symmetric,
			       .lo = s->qmin,
			       .hi = s->qmax,
			       .nbin = QN_HIST_BINS,
			       .bin = s->o->bin,
			       .first = -width * QN_HIST_HALF,
			       .width = width,
			       .nbatch = n,
			       .batch_min = lo,
			       .batch_max = hi};
	double from = 1, to = 0; /* none, unless the callback sets one */

	for (size_t i = 0; i < n; i++) {
		lo[i] = s->o->pair[i].min;
		hi[i] = s->o->pair[i].max;
	}
	*out = (qn_finding){0};
	out->refused = h->desc.range(h->desc.user, s->opts->param, &v, &from, &to) != 0 ||
		       !isfinite(from) || !isfinite(to) || from > to;
	if (out->refused)
		return;
	const double t = fmax(fabs(from), fabs(to));
	out->lo = s->symmetric ? -t : from;
	out->hi = s->symmetric ? t : to;
}

/* ---- registration ---- */

static bool
is_word(const char *s)
{
	qn_text t;
	const char *word;

	if (s == NULL || s[0] == '\0')
		return false;
	qn_text_init(&t, "", s, strlen(s));
	return qn_text_word(&t, &word) == strlen(s);
}

/* What is wrong with a descriptor, NULL when nothing is. */
static const char *
problem(const qn_env *env, const qn_method_desc *d)
{
	if (!is_word(d->name) || strchr(d->name, '.') == NULL)
		return "the name must be letters, digits and '_' with a dot inside, as "
		       "\"acme.clip\"";
	if (qn_method_of_host(env, d->name, strlen(d->name)) != NULL)
		return "a method of this name exists";
	if (d->range == NULL)
		return "it needs a range callback";
	if (d->nparam > QN_METHOD_PARAMS)
		return "it has more than 3 parameters";
	for (size_t i = 0; i < d->nparam; i++) {
		const qn_method_param *p = &d->param[i];

		if (!is_word(p->name) || strchr(p->name, '.') != NULL)
			return "the name of a parameter must be letters, digits and '_'";
		if (!(p->least <= p->otherwise && p->otherwise <= p->most))
			return "the default of a parameter must lie within its range";
		for (size_t k = 0; k < i; k++)
			if (strcmp(d->param[k].name, p->name) == 0)
				return "two parameters have one name";
	}
	return NULL;
}

qn_status
qn_method_add(qn_env *env, qn_arena *a, const qn_method_desc *desc)
{
	const char *why = problem(env, desc);

	if (why != NULL)
		return qn_report(env, QN_EUSAGE, "method.register",
				 desc->name != NULL ? desc->name : "", "%s", why);
	host_method *h = QN_NEW(a, host_method, 1);
	h->desc = *desc;
	h->row = (qn_method){.name = qn_arena_str(a, desc->name),
			     .help = "of the host program",
			     .observes = QN_OBSERVE_GRID | QN_OBSERVE_PAIRS,
			     .passes = 1,
			     .finish = finish};
	for (size_t i = 0; i < desc->nparam; i++)
		h->row.param[i] = (qn_param_row){.name = qn_arena_str(a, desc->param[i].name),
						 .otherwise = desc->param[i].otherwise,
						 .least = desc->param[i].least,
						 .most = desc->param[i].most};
	h->next = env->methods;
	env->methods = h;
	return QN_OK;
}
