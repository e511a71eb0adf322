/* SPDX-License-Identifier: Apache-2.0 */
/* poison.h - memory of an arena that no object has, made known to AddressSanitizer: an access
 * beside an object is found although the whole chunk is one allocation.  Nothing in other
 * builds. */
#ifndef QN_IR_POISON_H
#define QN_IR_POISON_H

#if defined(__SANITIZE_ADDRESS__)
#define QN_HAS_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define QN_HAS_ASAN
#endif
#endif

#ifdef QN_HAS_ASAN
#include <sanitizer/asan_interface.h>
#define QN_POISON(p, n) __asan_poison_memory_region((p), (n))
#define QN_UNPOISON(p, n) __asan_unpoison_memory_region((p), (n))
enum { QN_RED_ZONE = 16 }; /* bytes after each object */
#else
#define QN_POISON(p, n) ((void)(p), (void)(n))
#define QN_UNPOISON(p, n) ((void)(p), (void)(n))
enum { QN_RED_ZONE = 0 };
#endif

#endif
