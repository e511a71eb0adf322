/* SPDX-License-Identifier: Apache-2.0 */
/* host_struct.h - structs that a host fills, as hosts of older and newer releases compiled them.
 *
 *   older host   size | a | b                 known here   size | a | b | c = 0
 *   newer host   size | a | b | c | d = 0     known here   size | a | b | c        d = 1: struct.size */
#ifndef QN_DRIVER_HOST_STRUCT_H
#define QN_DRIVER_HOST_STRUCT_H

#include "ir/diag.h"

/* Copies from, whose first member is its size, into the struct `to` of `size` bytes; from NULL: all
 * 0. first: what a size of 0 stands for, the bytes that the struct had in release 0.1.  env NULL:
 * no report. */
qn_status qn_host_struct_take(qn_env *env, const char *name, size_t first, const void *from,
			      size_t size, void *to) QN_MUST_CHECK;

/* The same for element i of an array of n: they lie as far apart as the size of the first one says,
 * which all of them must have, and which may be 0 only for n = 1. */
qn_status qn_host_element_take(qn_env *env, const char *name, size_t first, const void *from,
			       size_t n, size_t i, size_t size, void *to) QN_MUST_CHECK;

/* Refuses a list of n > 0 elements that is NULL (array.null).  name: of the member. */
qn_status qn_host_list(qn_env *env, const char *name, size_t n, const void *list) QN_MUST_CHECK;
/* … and one with an element that is NULL, in a list of pointers. */
qn_status qn_host_pointers(qn_env *env, const char *name, size_t n, const void *list) QN_MUST_CHECK;

/* All members are of release 0.1 so far.  The release that adds one to T writes here where T ended
 * in 0.1. */
#define QN_TAKE(env, T, from, to) qn_host_struct_take(env, #T, sizeof(T), from, sizeof(T), to)
#define QN_TAKE_ELEMENT(env, T, from, n, i, to)                                                    \
	qn_host_element_take(env, #T, sizeof(T), from, n, i, sizeof(T), to)

#endif
