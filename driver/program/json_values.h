/* SPDX-License-Identifier: Apache-2.0 */
/* json_values.h - values of JSON. */
#ifndef QN_PROGRAM_JSON_VALUES_H
#define QN_PROGRAM_JSON_VALUES_H

#include <stdio.h>

/* In quotes, with escapes; '<' is one too, so that the text may stand in an HTML page. */
void json_text(FILE *to, const char *s);
/* The shortest digits that read back as the same number; infinities as texts. */
void json_number(FILE *to, double v);

#endif
