/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c - see csv.h.  Rows are located once and parsed into numbers when they are read. */
#include "formats/csv.h"

#include <string.h>

#include "ir/diag.h"
#include "ir/text.h"

enum { MOST_PLACE = QN_CSV_PLACE, MOST_CELL = 40 };

/* A cell without its quotes and the blanks around it. */
typedef struct cell {
	const char *s;
	size_t n;
} cell;

/* "file:line" of a place in the data. */
static const char *
line_of(const qn_csv *c, const char *at, char *buf)
{
	qn_text t;

	qn_text_init(&t, c->place, c->data, (size_t)(c->end - c->data));
	t.at = at;
	char *colon = strrchr(qn_text_place(&t, buf, MOST_PLACE), ':');
	if (colon != NULL)
		*colon = '\0'; /* the column is given as the cell's number */
	return buf;
}

static const char *
line_end(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline != NULL ? newline : end;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The next cell of a line; *at moves past its separator, NULL when it was the last.  False: a quote
 * is not closed, or text follows it. */
static bool
next_cell(const char **at, const char *end, char separator, cell *out)
{
	const char *s = *at;

	while (s < end && *s != separator && is_blank(*s))
		s++;
	bool quoted = s < end && *s == '"';
	s += quoted;
	const char *stop = memchr(s, quoted ? '"' : separator, (size_t)(end - s));
	if (quoted && stop == NULL)
		return false;
	const char *last = stop != NULL ? stop : end;
	*out = (cell){s, (size_t)(last - s)};
	while (out->n > 0 && is_blank(out->s[out->n - 1]))
		out->n--;
	if (quoted)
		for (stop++; stop < end && *stop != separator; stop++)
			if (!is_blank(*stop))
				return false;
	*at = stop != NULL && stop < end ? stop + 1 : NULL;
	return true;
}

static size_t
digits(const char *s, const char *end)
{
	const char *p = s;

	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return (size_t)(p - s);
}

/* [+-]digits[.digits][e[+-]digits], with a digit before or after the point. */
static bool
to_number(const cell *c, double *out)
{
	const char *p = c->s;
	const char *end = c->s + c->n;
	bool plus = p < end && *p == '+';

	p += p < end && (*p == '+' || *p == '-');
	size_t whole = digits(p, end);
	size_t fraction = 0;
	p += whole;
	if (p < end && *p == '.') {
		fraction = digits(p + 1, end);
		p += 1 + fraction;
	}
	if (whole + fraction == 0)
		return false;
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		p += p < end && (*p == '+' || *p == '-');
		size_t power = digits(p, end);
		if (power == 0)
			return false;
		p += power;
	}
	return p == end && qn_parse_f64(c->s + plus, c->n - plus, out);
}

/* The first of the separators that a line holds outside of quotes; a comma when there is none. */
static char
find_separator(const char *at, const char *end)
{
	bool quoted = false;

	for (; at < end; at++) {
		quoted = quoted != (*at == '"');
		if (!quoted && (*at == ',' || *at == ';' || *at == '\t'))
			return *at;
	}
	return ',';
}

/* Cells of a line, and how many of them are numbers.  False: a quote is wrong. */
static bool
count_cells(const char *at, const char *end, char separator, size_t *cells, size_t *numbers)
{
	*cells = *numbers = 0;
	while (at != NULL) {
		cell c;
		double v;

		if (!next_cell(&at, end, separator, &c))
			return false;
		++*cells;
		*numbers += to_number(&c, &v);
	}
	return true;
}

static bool
is_empty(const char *at, const char *end)
{
	while (at < end && is_blank(*at))
		at++;
	return at == end;
}

/* One line that is not empty: a row, or the header. */
static qn_status
add_line(qn_csv *c, qn_env *env, const char *at, const char *end, size_t *row)
{
	char buf[MOST_PLACE];
	size_t cells, numbers;
	bool first = c->columns == 0;

	if (first)
		c->separator = find_separator(at, end);
	if (!count_cells(at, end, c->separator, &cells, &numbers))
		return qn_report(env, QN_EINVALID, "csv.quote", line_of(c, at, buf),
				 "a cell in double quotes must end with one, on the same line");
	if (first)
		c->columns = cells;
	if (cells != c->columns)
		return qn_report(env, QN_EINVALID, "csv.columns", line_of(c, at, buf),
				 "this row has %zu cells, the first line has %zu", cells,
				 c->columns);
	if (!first || numbers > 0)
		row[c->rows++] = (size_t)(at - c->data);
	else
		c->header = at;
	return QN_OK;
}

qn_status
qn_csv_index(qn_arena *a, const char *place, const char *data, size_t n, qn_csv *out)
{
	qn_csv c = {.place = place, .data = data, .end = data + n};
	qn_status status = QN_OK;
	const char *at = n >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0 ? data + 3 : data;
	size_t lines = 1;

	for (const char *p = at; p < c.end; p = line_end(p, c.end) + 1)
		lines++;
	size_t *row = QN_NEW(a, size_t, lines);
	while (at < c.end) {
		const char *end = line_end(at, c.end);

		if (!is_empty(at, end) && add_line(&c, a->env, at, end, row) != QN_OK)
			status = QN_EINVALID;
		at = end < c.end ? end + 1 : end;
	}
	if (status == QN_OK && c.rows == 0)
		return qn_report(a->env, QN_EINVALID, "csv.empty", place,
				 "the file has no row of numbers");
	c.row = row;
	*out = c;
	return status;
}

qn_status
qn_csv_read(const qn_csv *c, qn_env *env, size_t row, float *dst)
{
	const char *at = c->data + c->row[row];
	const char *begin = at;
	const char *end = line_end(at, c->end);

	for (size_t i = 0; i < c->columns; i++) {
		char buf[MOST_PLACE];
		cell text = {"", 0};
		double v = 0;

		if (at == NULL || !next_cell(&at, end, c->separator, &text) ||
		    !to_number(&text, &v))
			return qn_report(env, QN_EINVALID, "csv.number", line_of(c, begin, buf),
					 "cell %zu: '%.*s' is not a number (expected for example "
					 "-1.5 or 2e-3); "
					 "only a first line without any number is a header",
					 i + 1, (int)(text.n < MOST_CELL ? text.n : MOST_CELL),
					 text.s);
		dst[i] = (float)v;
	}
	return QN_OK;
}

qn_csv_cell
qn_csv_cell_of(const qn_csv *c, size_t row, size_t column)
{
	const char *at = row == SIZE_MAX ? c->header : c->data + c->row[row];
	const char *end = line_end(at, c->end);
	cell text = {"", 0};
	qn_csv_cell out = {0};

	for (size_t i = 0; i <= column && at != NULL; i++)
		if (!next_cell(&at, end, c->separator, &text))
			break;
	out = (qn_csv_cell){.s = text.s, .n = text.n};
	out.is_number = to_number(&text, &out.number);
	return out;
}

const char *
qn_csv_place(const qn_csv *c, size_t row, char buf[QN_CSV_PLACE])
{
	return line_of(c, c->data + c->row[row], buf);
}
