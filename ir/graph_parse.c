/* SPDX-License-Identifier: Apache-2.0 */
/* graph_parse.c - reads a model from its text form (docs/ir.md):
 *
 *   model "digits" stage calibrated rounding single options "scheme=tflite"
 *   param @conv1.w.q = {0.1, 0.2:-4, …}
 *   symbol $conv1.w : sym, len 16 = {@conv1.w.q}
 *   graph @main(…) { … } */
#include "ir/graph_text.h"

#include <string.h>

static bool
read_choice(qn_reader *r, const char *const *names, size_t n, const char *what, size_t *out)
{
	for (*out = 0; *out < n; ++*out)
		if (qn_text_eat(&r->text, names[*out]))
			return true;
	return qn_read_fail(r, "expected a %s", what);
}

/* After `model`. */
static bool
read_header(qn_reader *r)
{
	size_t k;

	if (!qn_read_quoted(r, &r->m->name))
		return false;
	if (qn_text_eat(&r->text, "stage")) {
		if (!read_choice(r, qn_stage_names, 4,
				 "stage (float, symbolic, calibrated or integer)", &k))
			return false;
		r->m->stage = (qn_stage)k;
	}
	r->m->quantized_here = qn_text_eat(&r->text, "quantized");
	r->m->opened = qn_text_eat(&r->text, "opened");
	if (qn_text_eat(&r->text, "after") && !qn_read_quoted(r, &r->m->after))
		return false;
	if (qn_text_eat(&r->text, "rounding")) {
		if (!read_choice(r, qn_rounding_names, 4,
				 "rounding (double, single, nearest or even)", &k))
			return false;
		r->m->rounding = (int32_t)k;
	}
	return !qn_text_eat(&r->text, "options") || qn_read_quoted(r, &r->m->options);
}

/* After `clipped`. */
static bool
read_clipped(qn_reader *r)
{
	int64_t outside, elements;
	qn_clipped c = {0};

	if (!qn_read_quoted(r, &c.value))
		return false;
	if (!qn_text_int(&r->text, &outside) || !qn_text_eat(&r->text, "of") ||
	    !qn_text_int(&r->text, &elements) || outside < 1 || elements < outside)
		return qn_read_fail(r, "expected 'K of N' elements, K from 1 to N");
	c.outside = (uint64_t)outside;
	c.elements = (uint64_t)elements;
	qn_model_clipped(r->m, &c);
	return true;
}

/* After `pruned`. */
static bool
read_pruned(qn_reader *r)
{
	int64_t removed, channels, bytes, macs;
	qn_pruned p = {0};

	if (!qn_read_quoted(r, &p.value))
		return false;
	if (!qn_text_int(&r->text, &removed) || !qn_text_eat(&r->text, "of") ||
	    !qn_text_int(&r->text, &channels) || !qn_text_eat(&r->text, ",") ||
	    !qn_text_eat(&r->text, "bytes") || !qn_text_int(&r->text, &bytes) ||
	    !qn_text_eat(&r->text, ",") || !qn_text_eat(&r->text, "macs") ||
	    !qn_text_int(&r->text, &macs) || removed < 0 || channels <= removed || bytes < 0 ||
	    macs < 0)
		return qn_read_fail(r, "expected 'K of N, bytes B, macs M', K from 0 to N - 1");
	p.removed = (uint64_t)removed;
	p.channels = (uint64_t)channels;
	p.bytes = (uint64_t)bytes;
	p.macs = (uint64_t)macs;
	qn_model_pruned(r->m, &p);
	return true;
}

/* After `widened`. */
static bool
read_widened(qn_reader *r)
{
	qn_widened w = {0};

	if (!qn_read_quoted(r, &w.value))
		return false;
	if (!qn_text_real(&r->text, false, &w.gain) || !qn_text_eat(&r->text, "dB"))
		return qn_read_fail(r, "expected 'X dB'");
	qn_model_widened(r->m, &w);
	return true;
}

/* After `repaired`. */
static bool
read_repaired(qn_reader *r)
{
	qn_repaired p = {0};

	if (!qn_read_quoted(r, &p.value))
		return false;
	if (!qn_text_real(&r->text, false, &p.before) || !qn_text_eat(&r->text, "to") ||
	    !qn_text_real(&r->text, false, &p.after) || !qn_text_eat(&r->text, "dB"))
		return qn_read_fail(r, "expected 'X to Y dB'");
	while (qn_text_eat(&r->text, ",")) {
		bool *const is = qn_text_eat(&r->text, "weights") ? &p.weights
				 : qn_text_eat(&r->text, "bias")  ? &p.bias
								  : NULL;

		if (is == NULL)
			return qn_read_fail(r, "expected weights or bias");
		*is = true;
	}
	qn_model_repaired(r->m, &p);
	return true;
}

static bool
read_model(qn_reader *r)
{
	if (qn_text_eat(&r->text, "model") && !read_header(r))
		return false;
	for (qn_text_skip(&r->text); r->text.at < r->text.end; qn_text_skip(&r->text)) {
		bool ok;

		if (r->m->env->diags->n == QN_MAX_DIAGS)
			return false;
		if (qn_text_eat(&r->text, "symbol"))
			ok = qn_read_symbol(r);
		else if (qn_text_eat(&r->text, "param"))
			ok = qn_read_param(r);
		else if (qn_text_eat(&r->text, "tensor"))
			ok = qn_foreign_names_read(r);
		else if (qn_text_eat(&r->text, "clipped"))
			ok = read_clipped(r);
		else if (qn_text_eat(&r->text, "pruned"))
			ok = read_pruned(r);
		else if (qn_text_eat(&r->text, "widened"))
			ok = read_widened(r);
		else if (qn_text_eat(&r->text, "repaired"))
			ok = read_repaired(r);
		else if (qn_text_eat(&r->text, "streamed"))
			ok = qn_read_streamed(r);
		else if (qn_text_eat(&r->text, "graph"))
			ok = qn_read_graph(r);
		else
			ok = qn_read_fail(r, "expected symbol, param, tensor, clipped, pruned, "
					     "widened, repaired, streamed or graph");
		if (!ok)
			return false;
	}
	return r->m->ngraph > 0 || qn_read_fail(r, "expected a graph");
}

static qn_status
parse(qn_model *m, const char *file, const char *s, size_t n, int64_t fill)
{
	const qn_diags *d = m->env->diags;
	size_t errors = d->nerrors;
	size_t first = d->n;
	qn_reader r = {.m = m, .counted = s, .line_start = s, .line = 1};

	r.filled = QN_MAX_FILLED - fill;
	qn_text_init(&r.text, file != NULL ? file : "", s, n);
	qn_map_init(&r.graphs, m->arena);
	bool ok = read_model(&r);
	if (ok && d->nerrors == errors)
		return QN_OK;
	while (first < d->n && d->item[first].severity != QN_ERROR)
		first++;
	return first < d->n ? d->item[first].status : QN_EINVALID;
}

qn_status
qn_model_parse(qn_model *m, const char *file, const char *s, size_t n)
{
	return parse(m, file, s, n, QN_MAX_FILLED);
}

qn_status
qn_model_parse_small(qn_model *m, const char *file, const char *s, size_t n)
{
	return parse(m, file, s, n, 1 << 20);
}
