/* SPDX-License-Identifier: Apache-2.0 */
/* signals.c - a command that is ended by a signal leaves nothing half done, and ends with that signal
 * (status 128 + its number in a shell).  A file that grows beyond the limit of the system (ulimit -f)
 * is an error of the write that meets it. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <signal.h>
#include <stddef.h>

#include "program.h"

/* The one thing that a handler can reach: main works on one context at a time. */
static struct {
	qn_ctx *volatile ctx;
	output_folder *volatile folder;
	volatile sig_atomic_t group;
} current;

/* Only what may be called at any moment: unlink, rmdir, kill, sigaction, raise. */
static void
end(int number)
{
	const struct sigaction before = {.sa_handler = SIG_DFL};

	if (current.ctx != NULL)
		qn_abandon(current.ctx);
	if (current.folder != NULL)
		output_folder_drop(current.folder);
	if (current.group > 0)
		(void)kill(-(pid_t)current.group, SIGTERM);
	(void)sigaction(number, &before, NULL);
	(void)raise(number);
}

void
signals_catch(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction old, ours = {.sa_handler = end};
	const struct sigaction ignored = {.sa_handler = SIG_IGN};

	(void)sigfillset(&ours.sa_mask);
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			(void)sigaction(ends[i], &ours, NULL);
	(void)sigaction(SIGXFSZ, &ignored, NULL);
}

void
signals_context(qn_ctx *ctx)
{
	current.ctx = ctx;
}

void
signals_group(int pid)
{
	current.group = pid;
}

void
signals_folder(output_folder *f)
{
	current.folder = f;
}
