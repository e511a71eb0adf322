/* SPDX-License-Identifier: Apache-2.0 */
/* both.h - code that is compiled here and text that is emitted, from one source. */
#ifndef QN_TESTS_BOTH_H
#define QN_TESTS_BOTH_H

#define BOTH(name, ...)                                                                            \
	__VA_ARGS__                                                                                \
	static const char name##_text[] = #__VA_ARGS__;

#endif
