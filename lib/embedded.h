/* SPDX-License-Identifier: Apache-2.0 */
/* embedded.h - the texts lib/ *.qir, as the build writes them into a C file (codegen/embed.cmake). */
#ifndef QN_LIB_EMBEDDED_H
#define QN_LIB_EMBEDDED_H

#include <stddef.h>

typedef struct qn_lib_text_file {
	const char *name; /* without folder */
	const char *const *line;
	size_t nline;
} qn_lib_text_file;

extern const qn_lib_text_file qn_lib_text_files[];
extern const size_t qn_lib_text_nfile;

#endif
