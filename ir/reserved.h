/* SPDX-License-Identifier: Apache-2.0 */
/* reserved.h - names that emitted files cannot have, because headers, compilers or file systems do.
 *
 * What kind of name it is decides: a member of a struct meets macros and the types of its struct; a
 * model's name becomes files, which must not hide headers; a symbol meets the C library's. */
#ifndef QN_IR_RESERVED_H
#define QN_IR_RESERVED_H

#include "ir/base.h"

/* Keywords of C and C++ and other words that no name can be, in capitals or not; NULL at the end. */
extern const char *const qn_reserved_words[];

/* Macros of the standard library, of compilers for microcontrollers and of Arduino, and types that
 * members have. Case matters. */
bool qn_reserved_member(const char *name);
/* Files NAME.h, NAME.c … that hide a header or are another model's, and devices. Case does not
 * matter: some file systems do not know it. */
bool qn_reserved_model(const char *name);
/* Functions and types with an underscore: strtok_r, size_t. */
bool qn_reserved_symbol(const char *name);

#endif
