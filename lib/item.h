/* SPDX-License-Identifier: Apache-2.0 */
/* item.h - what an expression of a composition gives: a number, a text, a list of items, or a value of the
 * graph that is being made.
 *
 *   hidden * 2             INT 40
 *   %x.dim                 LIST of INT 1, 28, 8
 *   sigmoid(%a + 1)        VALUE, the id of a node
 *   %b where b? is absent  NONE */
#ifndef QN_LIB_ITEM_H
#define QN_LIB_ITEM_H

#include "ir/graph.h"

typedef enum qn_item_kind {
	QN_ITEM_NONE,
	QN_ITEM_INT,
	QN_ITEM_REAL,
	QN_ITEM_TEXT,
	QN_ITEM_LIST,
	QN_ITEM_VALUE,
	QN_ITEM_ANY /* of what is read without being computed */
} qn_item_kind;

typedef struct qn_item {
	qn_item_kind kind;
	union { /* by kind: INT, REAL, TEXT, VALUE, LIST; NONE: zeros */
		int64_t i;
		double r;
		const char *text;
		qn_id id;
		struct {
			size_t n;
			const struct qn_item *at;
		};
	};
} qn_item;

/* Integers are beyond no such number: sums of two of them do not overflow. */
#define QN_ITEM_MOST (INT64_C(1) << 53)

extern const char *const qn_item_names[QN_ITEM_ANY + 1]; /* "nothing", "an integer" … */

qn_item qn_item_int(int64_t v);
qn_item qn_item_real(double v);
qn_item qn_item_text(const char *text);
qn_item qn_item_value(qn_id id); /* 0: nothing */
qn_item qn_item_list(size_t n, const qn_item *at);
/* A list of integers; in arena a. */
qn_item qn_item_ints(qn_arena *a, size_t n, const int64_t *v);

bool qn_item_is_number(const qn_item *x);
double qn_item_number(const qn_item *x);
/* Whether a condition holds: a number that is not 0, a text or list that is not empty, a value. */
bool qn_item_holds(const qn_item *x);
/* 3, 0.5, abc, [1, 2]; of long lists the beginning */
void qn_item_print(qn_buf *b, const qn_item *x);

#endif
