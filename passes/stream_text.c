/* SPDX-License-Identifier: Apache-2.0 */
/* stream_text.c - reads what --stream says.
 *
 *   axis=1,hop=2                     of the model's one input
 *   audio:axis=1,hop=2               of this one of several
 *   axis=1,hop=2,window=pool         from this node on, all is computed from the whole window; there may be several */
#include <string.h>

#include "ir/diag.h"
#include "ir/nearest.h"
#include "passes/stream.h"

enum { MOST = 1 << 30 };

static qn_status
wrong(const qn_stream *s, const char *what, const char *value)
{
	return qn_report(s->m->env, QN_EUSAGE, "stream.option", "stream",
			 "'%s': %s%s (expected [INPUT:]axis=A,hop=ROWS[,window=NODE…])", s->text,
			 what, value);
}

/* A number from 1 on, up to a comma or the end. */
static qn_status
read_number(const qn_stream *s, const char *name, const char *text, size_t n, int64_t *out)
{
	int64_t v = 0;
	size_t i = 0;

	for (; i < n && text[i] >= '0' && text[i] <= '9' && v <= MOST; i++)
		v = 10 * v + (text[i] - '0');
	if (n == 0 || i < n || v < 1 || v > MOST)
		return wrong(s, name, " must be a number from 1 on");
	if (*out != 0)
		return wrong(s, name, " is given twice");
	*out = v;
	return QN_OK;
}

static qn_status
find_input(qn_stream *s, const char *name, size_t n)
{
	const size_t fed = qn_graph_fed(s->g);

	for (s->input = 0; s->input < fed; s->input++)
		if (strlen(qn_stream_input(s)->name) == n &&
		    memcmp(qn_stream_input(s)->name, name, n) == 0)
			return QN_OK;
	return wrong(s, "the model has no input ", qn_arena_strn(s->m->scratch, name, n));
}

qn_status
qn_stream_window_used(const qn_stream *s)
{
	for (size_t i = 0; i < s->nwindow; i++)
		if (!s->window_used[i])
			return qn_report(s->m->env, QN_EUSAGE, "stream.option", s->m->name,
					 "window: '%s' computes nothing from rows of the window; "
					 "name a node that does, or leave window=%s out",
					 s->window[i], s->window[i]);
	return QN_OK;
}

/* Whether one name is the other and ".acc". */
static bool
is_sum_of(const char *sum, const char *name)
{
	const size_t n = strlen(name);

	return strncmp(sum, name, n) == 0 && strcmp(sum + n, ".acc") == 0;
}

bool
qn_stream_is_named(const char *given, const char *node)
{
	return strcmp(given, node) == 0 || is_sum_of(node, given) || is_sum_of(given, node);
}

static qn_status
find_node(const qn_stream *s, const char *name)
{
	const char *best;

	for (qn_id id = 1; id < s->g->n; id++)
		if (qn_stream_is_named(name, qn_graph_node(s->g, id)->name))
			return QN_OK;
	best = qn_nearest_value(s->g, name);
	return qn_report(s->m->env, QN_EUSAGE, "stream.option", "stream",
			 "window: the graph has no node '%s' here" QN_DID_YOU_MEAN, name,
			 QN_SUGGEST(best));
}

qn_status
qn_stream_find_window(qn_stream *s)
{
	for (size_t i = 0; i < s->nwindow; i++)
		QN_TRY(find_node(s, s->window[i]));
	s->window_used = QN_NEW(s->m->scratch, bool, s->nwindow + 1);
	return QN_OK;
}

/* One "NAME=VALUE", n characters. */
static qn_status
read_part(qn_stream *s, const char *text, size_t n, int64_t *axis)
{
	static const char axis_is[] = "axis=", hop_is[] = "hop=", window_is[] = "window=";

	if (n > sizeof axis_is - 1 && memcmp(text, axis_is, sizeof axis_is - 1) == 0)
		return read_number(s, "axis", text + sizeof axis_is - 1, n - (sizeof axis_is - 1),
				   axis);
	if (n > sizeof hop_is - 1 && memcmp(text, hop_is, sizeof hop_is - 1) == 0)
		return read_number(s, "hop", text + sizeof hop_is - 1, n - (sizeof hop_is - 1),
				   &s->hop);
	if (n > sizeof window_is - 1 && memcmp(text, window_is, sizeof window_is - 1) == 0) {
		s->window = qn_arena_grow(s->m->scratch, s->window, &s->window_cap, s->nwindow + 1,
					  sizeof *s->window);
		s->window[s->nwindow++] = qn_arena_strn(s->m->scratch, text + sizeof window_is - 1,
							n - (sizeof window_is - 1));
		return QN_OK;
	}
	return wrong(s, "unknown part ", qn_arena_strn(s->m->scratch, text, n));
}

/* What the numbers mean for the input. */
static qn_status
check(qn_stream *s, int64_t axis)
{
	const qn_type *t = qn_stream_input(s)->type;
	qn_buf b;

	if (axis == 0 || s->hop == 0)
		return wrong(s, axis == 0 ? "axis" : "hop", " is missing");
	qn_buf_init(&b, s->m->scratch);
	b.decimal = true;
	qn_type_print(&b, t);
	if (qn_type_count(t) < 0)
		return qn_report(s->m->env, QN_EUSAGE, "stream.option", qn_stream_input(s)->name,
				 "the input is %s: its shape must be known; set it with "
				 "--input-dim NAME=N",
				 qn_buf_str(&b));
	if (axis >= t->rank)
		return qn_report(s->m->env, QN_EUSAGE, "stream.option", qn_stream_input(s)->name,
				 "axis is %lld, the input is %s: axes count from 0, which is the "
				 "batch",
				 (long long)axis, qn_buf_str(&b));
	s->axis = (int32_t)axis;
	if (s->hop >= t->dim[axis])
		return qn_report(s->m->env, QN_EUSAGE, "stream.option", qn_stream_input(s)->name,
				 "hop is %lld, the window has %lld rows along axis %lld: a hop is "
				 "less",
				 (long long)s->hop, (long long)t->dim[axis], (long long)axis);
	return QN_OK;
}

qn_status
qn_stream_read_text(qn_stream *s)
{
	const char *colon = strrchr(s->text, ':'), *equals = strchr(s->text, '=');
	const char *at = s->text;
	int64_t axis = 0;

	if (colon != NULL && (equals == NULL || colon < equals)) {
		QN_TRY(find_input(s, s->text, (size_t)(colon - s->text)));
		at = colon + 1;
	} else if (qn_graph_fed(s->g) != 1) {
		return wrong(s,
			     qn_graph_fed(s->g) == 0
				     ? "the model has no input"
				     : "the model has several inputs: write the name of "
				       "one before it, as in ",
			     qn_graph_fed(s->g) == 0 ? "" : "audio:axis=1,hop=2");
	}
	while (*at != '\0') {
		const size_t n = strcspn(at, ",");

		QN_TRY(read_part(s, at, n, &axis));
		at += at[n] == ',' ? n + 1 : n;
	}
	return check(s, axis);
}
