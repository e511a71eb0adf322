/* SPDX-License-Identifier: Apache-2.0 */
/* character_classes.c - see character_classes.h; the one file that includes utf8proc.
 *
 *   U+0041 A … Z   letter      U+005B [ … `   others      U+0061 a … z   letter …
 *
 * L, N and white space of Unicode, as \p{L}, \p{N} and \s of regular expressions. */
#include "formats/character_classes.h"

#include "ir/diag.h"

#ifdef QN_HAVE_UTF8PROC

#include <string.h>
#include <utf8proc.h>

enum { CHARACTERS = 0x110000, NEXT_LINE = 0x85 };

/* What the splitting before merges of tokenizer.ggml.pre "default" calls punctuation beside P. */
static const char extra_marks[] = "$+<=>^~|";

static int32_t
class_of(int32_t c, bool marks)
{
	static const int8_t of_category[] = {
		[UTF8PROC_CATEGORY_LU] = QN_CLASS_LETTER,
		[UTF8PROC_CATEGORY_LL] = QN_CLASS_LETTER,
		[UTF8PROC_CATEGORY_LT] = QN_CLASS_LETTER,
		[UTF8PROC_CATEGORY_LM] = QN_CLASS_LETTER,
		[UTF8PROC_CATEGORY_LO] = QN_CLASS_LETTER,
		[UTF8PROC_CATEGORY_ND] = QN_CLASS_NUMBER,
		[UTF8PROC_CATEGORY_NL] = QN_CLASS_NUMBER,
		[UTF8PROC_CATEGORY_NO] = QN_CLASS_NUMBER,
		[UTF8PROC_CATEGORY_PC] = QN_CLASS_PUNCTUATION,
		[UTF8PROC_CATEGORY_PD] = QN_CLASS_PUNCTUATION,
		[UTF8PROC_CATEGORY_PS] = QN_CLASS_PUNCTUATION,
		[UTF8PROC_CATEGORY_PE] = QN_CLASS_PUNCTUATION,
		[UTF8PROC_CATEGORY_PI] = QN_CLASS_PUNCTUATION,
		[UTF8PROC_CATEGORY_PF] = QN_CLASS_PUNCTUATION,
		[UTF8PROC_CATEGORY_PO] = QN_CLASS_PUNCTUATION,
		[UTF8PROC_CATEGORY_ZS] = QN_CLASS_SPACE,
		[UTF8PROC_CATEGORY_ZL] = QN_CLASS_SPACE,
		[UTF8PROC_CATEGORY_ZP] = QN_CLASS_SPACE,
		[UTF8PROC_CATEGORY_CO] = QN_CLASS_OTHER,
	};
	const size_t category = (size_t)utf8proc_category(c);

	if ((c >= '\t' && c <= '\r') || c == NEXT_LINE)
		return QN_CLASS_SPACE;
	const int32_t found =
		category < sizeof of_category ? of_category[category] : QN_CLASS_OTHER;
	if (found == QN_CLASS_PUNCTUATION && !marks)
		return QN_CLASS_OTHER;
	if (marks && c > 0 && c < 0x80 && strchr(extra_marks, (char)c) != NULL)
		return QN_CLASS_PUNCTUATION;
	return found;
}

qn_status
qn_character_classes(qn_arena *a, const char *place, bool marks, const int32_t **range, int32_t *n)
{
	int32_t *made = NULL, count = 0;
	size_t cap = 0;

	(void)place;
	for (int32_t c = 0, last = -1; c < CHARACTERS; c++) {
		const int32_t now = class_of(c, marks);

		if (now == last)
			continue;
		made = qn_arena_grow(a, made, &cap, (size_t)count + 1, sizeof *made);
		made[count++] = 8 * c + now;
		last = now;
	}
	*range = made;
	*n = count;
	return QN_OK;
}

#else

qn_status
qn_character_classes(qn_arena *a, const char *place, bool marks, const int32_t **range, int32_t *n)
{
	(void)marks;
	*range = NULL;
	*n = 0;
	return qn_report(a->env, QN_EUNSUPPORTED, "tokenizer.support", place,
			 "the tokens are those of byte-level BPE, whose words need the classes of "
			 "Unicode's characters, and this quern was built without utf8proc "
			 "(libutf8proc-dev)");
}

#endif
