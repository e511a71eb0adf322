/* SPDX-License-Identifier: Apache-2.0 */
/* item.c - see item.h. */
#include "lib/item.h"

#include <string.h>

enum { MOST_PRINTED = 256 }; /* bytes of a list */

const char *const qn_item_names[QN_ITEM_ANY + 1] = {
	"nothing", "an integer", "a real number", "a text", "a list", "a value", "anything"};

qn_item
qn_item_int(int64_t v)
{
	return (qn_item){.kind = QN_ITEM_INT, .i = v};
}

qn_item
qn_item_real(double v)
{
	return (qn_item){.kind = QN_ITEM_REAL, .r = v};
}

qn_item
qn_item_text(const char *text)
{
	return (qn_item){.kind = QN_ITEM_TEXT, .text = text};
}

qn_item
qn_item_value(qn_id id)
{
	return (qn_item){.kind = id != 0 ? QN_ITEM_VALUE : QN_ITEM_NONE, .id = id};
}

qn_item
qn_item_list(size_t n, const qn_item *at)
{
	return (qn_item){.kind = QN_ITEM_LIST, .n = n, .at = at};
}

qn_item
qn_item_ints(qn_arena *a, size_t n, const int64_t *v)
{
	qn_item *at = QN_NEW(a, qn_item, n + 1);

	for (size_t i = 0; i < n; i++)
		at[i] = qn_item_int(v[i]);
	return qn_item_list(n, at);
}

bool
qn_item_is_number(const qn_item *x)
{
	return x->kind == QN_ITEM_INT || x->kind == QN_ITEM_REAL;
}

double
qn_item_number(const qn_item *x)
{
	return x->kind == QN_ITEM_INT ? (double)x->i : x->r;
}

bool
qn_item_holds(const qn_item *x)
{
	switch (x->kind) {
	case QN_ITEM_NONE:
		return false;
	case QN_ITEM_INT:
		return x->i != 0;
	case QN_ITEM_REAL:
		return x->r < 0 || x->r > 0;
	case QN_ITEM_TEXT:
		return x->text[0] != '\0';
	case QN_ITEM_LIST:
		return x->n > 0;
	case QN_ITEM_VALUE:
	case QN_ITEM_ANY:
		break;
	}
	return true;
}

/* Ends where b has `most` bytes: lists may have one list many times, in many levels. */
static void
print(qn_buf *b, size_t most, const qn_item *x)
{
	if (x->kind == QN_ITEM_INT)
		qn_buff(b, "%lld", (long long)x->i);
	else if (x->kind == QN_ITEM_REAL)
		qn_buff(b, "%g", x->r);
	else if (x->kind == QN_ITEM_TEXT)
		qn_buf_puts(b, x->text);
	else if (x->kind != QN_ITEM_LIST)
		qn_buf_puts(b, qn_item_names[x->kind]);
	else {
		qn_buf_putc(b, '[');
		for (size_t i = 0; i < x->n && b->n < most; i++) {
			qn_buf_puts(b, i == 0 ? "" : ", ");
			print(b, most, &x->at[i]);
		}
		if (b->n < most)
			qn_buf_putc(b, ']');
	}
}

void
qn_item_print(qn_buf *b, const qn_item *x)
{
	const size_t most = b->n + MOST_PRINTED;

	print(b, most, x);
	if (x->kind == QN_ITEM_LIST && b->n >= most)
		qn_buf_puts(b, " …");
}
