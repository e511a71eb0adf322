/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - runs a network through the library and compares: with what another runtime gave, and with the intervals of
 * net.h.
 *
 *   JUDGE_EQUAL        every element as the other runtime has it
 *   JUDGE_REASON       elements differ, both inside of the interval: a rounding close to a tie, once or more
 *   JUDGE_ANEW         its scales are found by each run: the library refuses it with --from-float as the way out, which
 *                      compiles and gives what the other runtime gave within 8 % of the result's range (in 3,000
 *                      networks: 1 % at most in 90 of 100, 4 % at most in all)
 *                      or the file has no scales, and it gives what the other runtime gave within net.apart
 *   JUDGE_RUNTIME      the other runtime's lie outside of the interval, the library's inside
 *   JUDGE_REFUSED      the library refuses the file, with a message
 *   JUDGE_UNEXPLAINED  the library's lie outside */
#ifndef TESTS_NETWORKS_JUDGE_H
#define TESTS_NETWORKS_JUDGE_H

#include "quern/quern.h"
#include "tests/networks/net.h"

typedef enum judge_class {
	JUDGE_EQUAL,
	JUDGE_REASON,
	JUDGE_ANEW,
	JUDGE_RUNTIME,
	JUDGE_REFUSED,
	JUDGE_UNEXPLAINED,
	JUDGE_NCLASS
} judge_class;
extern const char *const judge_names[JUDGE_NCLASS];

/* What the other runtime gave for output k: all samples one after the other.  NULL: it is not known. */
typedef struct judge_given {
	const double *output[NET_OUTPUTS];
} judge_given;

typedef struct judge {
	const char *folder; /* files are written there */
	const char *name;   /* of the network */
	bool emit;          /* C files into the folder too */
	judge_class class;
	bool emitted;
	int64_t differ,
		all; /* elements that differ from the other runtime's, of all of the integer model */
	double most; /* at most by so many steps */
	char message[600];
} judge;

/* ---- records (record.c) ---- */

uint32_t record_crc(const uint8_t *data, size_t n);
/* One unit of an output's elements; 0: they are real numbers of any size. */
double record_step(const net_val *y);
/* What is computed here for an element: the middle of its interval; between two steps the upper one. */
double record_middle(const net_val *y, int64_t i);
/* CRC of those of all outputs. */
uint32_t record_computed(const net *n);
/* What the text says of the outputs, into `given`, which points to `out`; false: the other runtime refused the file,
 * and what is computed here stands for it. */
bool record_given(const net *n, const char *text, double *const *out, judge_given *given);

void judge_network(judge *j, const net *n, const uint8_t *file, size_t bytes,
		   const judge_given *given);

#endif
