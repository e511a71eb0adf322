/* SPDX-License-Identifier: Apache-2.0 */
/* json_values.h - values of JSON on stdout. */
#ifndef QN_PROGRAM_JSON_VALUES_H
#define QN_PROGRAM_JSON_VALUES_H

/* In quotes, with escapes. */
void json_text(const char *s);
/* The shortest digits that read back as the same number; infinities as texts. */
void json_number(double v);

#endif
