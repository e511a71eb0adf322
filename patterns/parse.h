/* SPDX-License-Identifier: Apache-2.0 */
/* parse.h - what the files that read the text form of patterns share. */
#ifndef QN_PATTERNS_PARSE_H
#define QN_PATTERNS_PARSE_H

#include "ir/graph_text.h"
#include "patterns/build.h"

typedef struct qn_pattern_name {
	const char *word;
	int slot;
	bool is_open;     /* its definition is being read */
	qn_pattern *self; /* what it stands for in there; NULL: not needed so far */
} qn_pattern_name;

typedef struct qn_pattern_reader {
	qn_patterns *set;
	qn_reader r;
	qn_pattern_name *name;
	size_t nname, name_cap;
	qn_pattern *hole; /* what "_" stands for */
	size_t nhole;     /* how often it was used */
	int depth;
} qn_pattern_reader;

const char *qn_pattern_read_word(qn_pattern_reader *r);
/* Whether a word alone is the value that has this name; false: ops and words of the language. */
bool qn_pattern_word_refers(const qn_patterns *set, const char *word);

/* "{" attributes "}", ":" type, "." field, "where" word, after a pattern (parse_suffix.c). */
bool qn_pattern_at_suffix(qn_pattern_reader *r);
qn_pattern *qn_pattern_read_suffix(qn_pattern_reader *r, qn_pattern *p);

#endif
