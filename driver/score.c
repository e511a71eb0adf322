/* SPDX-License-Identifier: Apache-2.0 */
/* score.c - see score.h. */
#include "driver/score.h"

#include <string.h>

#include "driver/metric.h"
#include "runtime/math.h"

typedef struct score_row {
	const char *name;
	bool takes_element, of_input, of_label;
} score_row;

static const score_row scores[] = {
	{.name = "value", .takes_element = true},
	{.name = "loss", .of_label = true},
	{.name = "mse-input", .of_input = true},
};

static qn_status
bad_score(qn_env *env, const char *text, const char *why)
{
	return qn_report(env, QN_EUSAGE, "eval.score", "",
			 "invalid score '%s': %s (expected value, the only element of the first "
			 "output, value:K, its element K from 0, loss or mse-input)",
			 text, why);
}

bool
qn_reconstructs(const qn_graph *g)
{
	if (qn_graph_fed(g) == 0 || g->noutput == 0)
		return false;
	const qn_type *x = qn_graph_node(g, g->input[0])->type;
	const qn_type *y = qn_graph_node(g, g->output[0].value)->type;
	bool same = !x->is_tuple && !y->is_tuple && x->rank == y->rank && y->rank > 0 &&
		    qn_type_count(y) > y->dim[0];

	for (int32_t k = 0; same && k < y->rank; k++)
		same = x->dim[k] == y->dim[k];
	return same;
}

bool
qn_gives_classes(const qn_graph *g)
{
	const qn_type *y = g->noutput > 0 ? qn_graph_node(g, g->output[0].value)->type : NULL;
	int32_t axes = 0;

	for (int32_t k = 1; y != NULL && !y->is_tuple && k < y->rank; k++)
		axes += y->dim[k] != 1;
	return axes == 1 && !qn_reconstructs(g);
}

/* The digits after "value:", less than `each`. */
static bool
read_element(const char *s, size_t each, size_t *out)
{
	size_t v = 0;

	if (*s == '\0')
		return false;
	for (; *s != '\0'; s++) {
		if (*s < '0' || *s > '9' || v > each)
			return false;
		v = v * 10 + (size_t)(*s - '0');
	}
	*out = v;
	return v < each;
}

qn_status
qn_scoring_read(qn_env *env, const char *text, size_t each, qn_scoring *out)
{
	const char *name = text != NULL ? text : "value";
	size_t n = strcspn(name, ":");
	const score_row *r = NULL;

	*out = (qn_scoring){.each = each, .positive = 1};
	if (text == NULL && each != 1)
		return QN_OK;
	for (size_t i = 0; i < QN_COUNT(scores); i++)
		if (strlen(scores[i].name) == n && memcmp(scores[i].name, name, n) == 0)
			r = &scores[i];
	if (r == NULL)
		return bad_score(env, name, "unknown name");
	if (name[n] == ':') {
		if (!r->takes_element || !read_element(name + n + 1, each, &out->element))
			return bad_score(env, text, "the output does not have this element");
		out->positive = (int64_t)out->element;
	} else if (r->takes_element && each != 1) {
		return bad_score(env, text, "the output has more than one element per sample");
	}
	out->name = name;
	out->of_input = r->of_input;
	out->of_label = r->of_label;
	return QN_OK;
}

/* -ln(softmax(y)[label]) */
static double
loss(const double *y, size_t n, size_t label)
{
	double most = y[0], sum = 0;

	for (size_t i = 1; i < n; i++)
		most = y[i] > most ? y[i] : most;
	for (size_t i = 0; i < n; i++)
		sum += qn_exp(y[i] - most);
	return qn_ln(sum) - (y[label] - most);
}

double
qn_score_of(const qn_scoring *s, size_t i, const double *y, double *tmp)
{
	if (s->of_label)
		return loss(y, s->each, (size_t)s->label[i]);
	if (!s->of_input)
		return y[s->element];
	qn_row_get(s->input, s->each, i, tmp);
	return qn_mean_square(y, tmp, s->each);
}

void
qn_row_get(const qn_tensor *x, size_t each, size_t i, double *dst)
{
	for (size_t k = 0; k < each; k++)
		dst[k] = qn_tensor_f64(x, (int64_t)(i * each + k));
}
