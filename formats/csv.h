/* SPDX-License-Identifier: Apache-2.0 */
/* csv.h - tables of numbers as text: a row is a sample.
 *
 *   age;height          a header: a first line without any number
 *   41;1.78             separator: the first of , ; and tab that the first line holds
 *   "38";1.65e0         a cell may stand in double quotes; blanks around a number count nothing
 *
 * Lines end with LF or CRLF; a byte order mark and empty lines are skipped. Numbers are
 * [+-]digits[.digits][e[+-]digits] with a point whatever the locale; a cell without one is an
 * error, and so are nan and inf. */
#ifndef QN_FORMATS_CSV_H
#define QN_FORMATS_CSV_H

#include "ir/arena.h"

typedef struct qn_csv {
	const char *place; /* the file, for messages */
	const char *data, *end;
	char separator;
	size_t rows, columns;
	const size_t *row;  /* where each row begins in data */
	const char *header; /* the line of names; NULL: there is none */
} qn_csv;

/* Finds the rows and looks that they have equally many cells; data must live as long as *out.
 * Ids: csv.empty, csv.columns, csv.quote, each with file:line. */
qn_status qn_csv_index(qn_arena *a, const char *place, const char *data, size_t n,
		       qn_csv *out) QN_MUST_CHECK;

/* The numbers of a row, rounded to f32.  Id: csv.number, with file:line and the cell. */
qn_status qn_csv_read(const qn_csv *c, qn_env *env, size_t row, float *dst) QN_MUST_CHECK;

/* A cell of a line without its quotes and the blanks around it. */
typedef struct qn_csv_cell {
	const char *s;
	size_t n;
	bool is_number;
	double number;
} qn_csv_cell;

/* Cell `column` of a row; row SIZE_MAX: of the header, which there is. */
qn_csv_cell qn_csv_cell_of(const qn_csv *c, size_t row, size_t column);

enum { QN_CSV_PLACE = 512 };
/* "file:line" of a row, in buf. */
const char *qn_csv_place(const qn_csv *c, size_t row, char buf[QN_CSV_PLACE]);

#endif
