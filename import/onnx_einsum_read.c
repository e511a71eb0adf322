/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_einsum_read.c - the text of an equation.
 *
 *   "...ij,jk"      a "...ij"  b "jk"  and without "->" the result "...ik": letters that occur once */
#include "import/onnx_einsum.h"

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Our own letters for the axes of "..." stand outside of the alphabet. */
static char
dots(int32_t from_end)
{
	return (char)(1 + from_end);
}

/* The letters of a part of the text for a value of this rank (-1: as many as are known); false: they do not fit. */
static bool
spell(const char *s, size_t n, int32_t rank, int32_t ndots, char *out)
{
	int32_t letters = 0, k = 0;
	bool open = false;

	for (size_t i = 0; i < n; i++) {
		letters += is_letter(s[i]);
		open = open || s[i] == '.';
	}
	if (rank >= 0)
		ndots = rank - letters;
	if (ndots < 0 || (!open && rank >= 0 && ndots != 0) || letters + ndots > QN_MAX_RANK)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (is_letter(s[i])) {
			out[k++] = s[i];
		} else if (s[i] == '.' && open) {
			for (int32_t d = ndots; d > 0; d--)
				out[k++] = dots(d - 1);
			i += 2;
			if (i >= n || s[i] != '.' || s[i - 1] != '.')
				return false;
			open = false;
		} else if (s[i] != ' ') {
			return false;
		}
		if (k > QN_MAX_RANK)
			return false;
	}
	out[k] = '\0';
	return true;
}

/* ---- the equation ---- */

static bool
bad(qn_onnx *o, const char *text)
{
	(void)qn_importer_refuse(&o->im, "import.attr", "equation '%s' does not match its inputs",
				 text);
	return false;
}

/* What is left of "->": the operands' texts. */
static size_t
parts(const char *text, size_t end, qn_einsum *e)
{
	size_t from = 0;

	e->n = 0;
	for (size_t i = 0; i <= end; i++)
		if (i == end || text[i] == ',') {
			if (e->n == QN_MAX_RANK)
				return 0;
			e->operand[e->n] = text + from;
			e->length[e->n++] = i - from;
			from = i + 1;
		}
	return e->n;
}

/* Without "->": "..." first, then the letters that occur once, in the order of the alphabet. */
static void
implied(const qn_einsum_term *t, size_t n, int32_t ndots, char *result)
{
	int32_t k = 0;

	for (int32_t d = ndots; d > 0; d--)
		result[k++] = dots(d - 1);
	for (char c = 'A'; c <= 'z' && k < QN_MAX_RANK; c++) {
		int times = 0;
		for (size_t i = 0; is_letter(c) && i < n; i++)
			for (const char *s = t[i].axis; *s != '\0'; s++)
				times += *s == c;
		if (times == 1)
			result[k++] = c;
	}
	result[k] = '\0';
}

bool
qn_einsum_read(qn_onnx *o, const qn_onnx_node *n, qn_einsum *e, qn_einsum_term *t)
{
	const char *text = qn_onnx_string(o, n, "equation", "");
	const char *arrow = strstr(text, "->");
	int32_t ndots = 0;

	if (parts(text, arrow != NULL ? (size_t)(arrow - text) : strlen(text), e) != n->nin)
		return bad(o, text);
	for (size_t i = 0; i < e->n; i++) {
		t[i].id = n->in[i];
		t[i].rank = qn_onnx_type(o, n->in[i])->rank;
		if (!spell(e->operand[i], e->length[i], t[i].rank, 0, t[i].axis))
			return bad(o, text);
		int32_t d = 0;
		for (const char *s = t[i].axis; *s != '\0'; s++)
			d += !is_letter(*s);
		ndots = d > ndots ? d : ndots;
	}
	if (arrow == NULL)
		implied(t, e->n, ndots, e->result);
	else if (!spell(arrow + 2, strlen(arrow + 2), -1, ndots, e->result))
		return bad(o, text);
	for (const char *c = e->result; *c != '\0'; c++) {
		bool known = strchr(c + 1, *c) == NULL;
		for (size_t i = 0, found = 0; known && i < e->n; i++) {
			found += qn_einsum_has(t[i].axis, *c);
			known = i + 1 < e->n || found > 0;
		}
		if (!known)
			return bad(o, text);
	}
	return true;
}
