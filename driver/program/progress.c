/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - a bar on a terminal while a command works for longer than a moment:
 *
 *   calibrating   [##########----------]  51 %  12 s, about 11 s left */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* clock_gettime, isatty */
#endif
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "program.h"

enum { WIDTH = 30 };

#define FIRST 0.4 /* seconds from the begin of a stage to its bar */
#define NEXT 0.1  /* from one update to the next */

/* What the stages of qn_progress_fn are called; others as they are. */
static const struct {
	const char *stage, *name;
} names[] = {
	{"load", "reading"},          {"samples", "checking"},    {"passes", "quantizing"},
	{"calibrate", "calibrating"}, {"search", "searching"},    {"run", "running"},
	{"measure", "measuring"},     {"noise", "measuring"},     {"emit", "writing"},
	{"layers", "analyzing"},      {"validate", "validating"}, {"equalize", "equalizing"},
};

static const char *
name_of(const char *stage)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i].stage, stage) == 0)
			return names[i].name;
	return stage;
}

static double
seconds(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_MONOTONIC, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
						       : 0;
}

static void
draw(const progress_bar *p, uint64_t done, uint64_t total, double passed)
{
	const double share = total > 0 ? (double)done / (double)total : 0;
	const int marks = (int)(share * WIDTH);
	char bar[WIDTH + 1];

	memset(bar, '-', WIDTH);
	memset(bar, '#', (size_t)marks);
	bar[WIDTH] = '\0';
	fprintf(stderr, "\r\033[K%-12s [%s] %3.0f %%  %.0f s", name_of(p->stage), bar, 100 * share,
		passed);
	if (share > 0.05)
		fprintf(stderr, ", about %.0f s left", passed / share - passed);
	(void)fflush(stderr);
}

void
progress_begin(progress_bar *p, bool quiet)
{
	*p = (progress_bar){.wanted = !quiet && isatty(STDERR_FILENO) == 1};
}

void
progress_clear(progress_bar *p)
{
	if (p->drawn)
		fprintf(stderr, "\r\033[K");
	p->drawn = false;
}

int
progress_step(void *user, const char *stage, uint64_t done, uint64_t total)
{
	progress_bar *p = user;
	const double now = p->wanted ? seconds() : 0;

	if (!p->wanted)
		return 0;
	if (p->stage == NULL || strcmp(p->stage, stage) != 0 || done < p->done) {
		progress_clear(p);
		p->stage = stage;
		p->begin = now;
		p->next = now + FIRST;
	}
	p->done = done;
	if (done >= total) {
		progress_clear(p);
	} else if (now >= p->next) {
		draw(p, done, total, now - p->begin);
		p->drawn = true;
		p->next = now + NEXT;
	}
	return 0;
}
