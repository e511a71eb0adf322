/* SPDX-License-Identifier: Apache-2.0 */
/* integer.h - integer networks beside the float ones that they were made from. */
#ifndef BENCH_INTEGER_H
#define BENCH_INTEGER_H

/* Prints a row for each network of this folder's models/; NULL: none, and why.  only: the name of
 * one, NULL: all. */
void time_integer(const char *folder, const char *only);

#endif
