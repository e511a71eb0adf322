/* SPDX-License-Identifier: Apache-2.0 */
/* character_classes.h - the classes of Unicode's characters by which byte-level BPE splits words. */
#ifndef QN_FORMATS_CHARACTER_CLASSES_H
#define QN_FORMATS_CHARACTER_CLASSES_H

#include "ir/arena.h"
#include "ir/env.h"

/* Numbers as in runtime/kernels/tokens_bpe.h. */
enum { QN_CLASS_OTHER, QN_CLASS_LETTER, QN_CLASS_NUMBER, QN_CLASS_SPACE, QN_CLASS_PUNCTUATION };

/* Ranges in order, 8 * the first character + the class of all up to the next range; the first one is that of character 0.
 * marks: punctuation is a class of its own, else it is among the others.  Id: tokenizer.support (built without utf8proc). */
qn_status qn_character_classes(qn_arena *a, const char *place, bool marks, const int32_t **range,
			       int32_t *n) QN_MUST_CHECK;

#endif
