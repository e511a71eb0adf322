/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - see device.h: a process with pipes at both ends, and a limit to its silence. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "program.h"

enum {
	MOST_NOISE =
		1
		<< 16, /* bytes that may come before the greeting: what a board says at its start */
	LINE = 128,    /* of the greeting, at most */
	GRACE = 1000,  /* milliseconds that the device has to end after the last sample */
	NOT_RUN = 126  /* the shell's exit codes: 126, no program; 127, not found */
};

static const char greeting[] = "quern-device ";

/* ---- the process ---- */

/* In the new process: nothing that may allocate. */
static void
become(const char *line, int in, int out)
{
	(void)setpgid(0, 0);
	(void)signal(SIGPIPE, SIG_DFL);
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(NOT_RUN);
	execl("/bin/sh", "sh", "-c", line, (char *)NULL);
	_exit(NOT_RUN);
}

static void
close_end(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* A pipe beside stdin, stdout and stderr, which may be closed; both ends end with this program. */
static bool
make_pipe(int end[2])
{
	if (pipe(end) != 0)
		return false;
	for (int i = 0; i < 2; i++) {
		int own = end[i];

		end[i] = fcntl(own, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		(void)close(own);
	}
	if (end[0] >= 0 && end[1] >= 0)
		return true;
	close_end(&end[0]);
	close_end(&end[1]);
	return false;
}

static int
spawn(device *d, const char *line, char *why, size_t room)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1};
	pid_t pid = make_pipe(in) && make_pipe(out) ? fork() : -1;

	if (pid == 0)
		become(line, in[0], out[1]);
	if (pid < 0) {
		(void)snprintf(why, room, "no process for the device: %s", strerror(errno));
		for (int i = 0; i < 2; i++) {
			close_end(&in[i]);
			close_end(&out[i]);
		}
		return 1;
	}
	(void)setpgid(pid, pid); /* whichever of both is first */
	(void)close(in[0]);
	(void)close(out[1]);
	(void)fcntl(in[1], F_SETFL, O_NONBLOCK);
	(void)signal(SIGPIPE, SIG_IGN); /* a device that has ended is a message */
	d->pid = (int)pid;
	d->to = in[1];
	d->from = out[0];
	signals_group(d->pid);
	return 0;
}

/* Whether the process ends within so many milliseconds; its status then. */
static bool
wait_for(device *d, int milliseconds, int *status)
{
	const struct timespec step = {.tv_nsec = 10000000};

	for (int t = 0; d->pid > 0 && t <= milliseconds; t += 10) {
		if (waitpid((pid_t)d->pid, status, WNOHANG) == (pid_t)d->pid) {
			(void)kill(-(pid_t)d->pid, SIGTERM); /* other processes of its group */
			d->pid = 0;
			signals_group(0);
			return true;
		}
		(void)nanosleep(&step, NULL);
	}
	return false;
}

void
device_close(device *d)
{
	int status = 0;

	if (d->pid > 0) {
		close_end(&d->to);
		close_end(&d->from);
		(void)kill(-(pid_t)d->pid, SIGTERM);
		if (!wait_for(d, GRACE, &status)) {
			(void)kill(-(pid_t)d->pid, SIGKILL);
			(void)wait_for(d, GRACE, &status);
		}
	}
	device_remove_build(d);
}

/* ---- what goes wrong ---- */

/* How a process ended that should not have: "ended with exit code 3". */
static void
describe_end(device *d, char *text, size_t room)
{
	int status = 0;

	if (!wait_for(d, GRACE, &status))
		(void)snprintf(text, room, "closed its standard output");
	else if (WIFSIGNALED(status))
		(void)snprintf(text, room, "was ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) == NOT_RUN || WEXITSTATUS(status) == NOT_RUN + 1)
		(void)snprintf(text, room,
			       "ended with exit code %d (the command was not found, or is not a "
			       "program)",
			       WEXITSTATUS(status));
	else
		(void)snprintf(text, room, "ended with exit code %d", WEXITSTATUS(status));
}

typedef enum end { DONE, ENDED, SILENT, MORE, BROKEN } end;

/* "…: it sent 12 of the 54 bytes of sample 5" */
static int
explain(device *d, end how, const char *what, char *why, size_t room)
{
	char text[160];

	if (how == ENDED)
		describe_end(d, text, sizeof text);
	else if (how == SILENT)
		(void)snprintf(text, sizeof text, "sent nothing for %d s (--time-limit)",
			       d->time_limit);
	else if (how == MORE)
		(void)snprintf(text, sizeof text, "sent more than it should");
	else
		(void)snprintf(text, sizeof text, "cannot be reached: %s", strerror(errno));
	(void)snprintf(why, room, "the device %s%s", text, what);
	return 1;
}

/* ---- bytes ---- */

static double
seconds(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_MONOTONIC, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
						       : 0;
}

/* Writes `in` and reads `answer` as the device takes and gives them; *got: how much it gave. */
static end
exchange(device *d, const uint8_t *in, size_t nin, uint8_t *answer, size_t n, size_t *got)
{
	double last = seconds();

	for (size_t sent = 0; *got < n || sent < nin;) {
		struct pollfd p[2] = {{.fd = d->from, .events = POLLIN},
				      {.fd = sent < nin ? d->to : -1, .events = POLLOUT}};

		const double left = (double)d->time_limit - (seconds() - last);
		if (left <= 0)
			return SILENT;
		if (poll(p, 2, (int)(left * 1000) + 1) < 0 && errno != EINTR)
			return BROKEN;
		if (p[1].revents != 0) {
			const ssize_t k = write(d->to, in + sent, nin - sent);

			if (k < 0 && errno != EAGAIN && errno != EINTR && errno != EPIPE)
				return BROKEN;
			if (k < 0 && errno == EPIPE)
				nin = sent; /* what it said before it went is still to be read */
			sent += k > 0 ? (size_t)k : 0;
			last = k > 0 ? seconds() : last;
		}
		if (p[0].revents == 0)
			continue;
		uint8_t more[1];
		const ssize_t k = *got < n ? read(d->from, answer + *got, n - *got)
					   : read(d->from, more, sizeof more);
		if (k == 0)
			return ENDED;
		if (k < 0 && errno != EINTR)
			return BROKEN;
		if (k > 0 && *got == n)
			return MORE;
		*got += k > 0 ? (size_t)k : 0;
		last = seconds();
	}
	return DONE;
}

/* Bytes that nobody asked for are there. */
static bool
has_more(const device *d)
{
	struct pollfd p = {.fd = d->from, .events = POLLIN};
	uint8_t byte;

	return poll(&p, 1, 0) > 0 && (p.revents & POLLIN) != 0 && read(d->from, &byte, 1) == 1;
}

/* ---- the greeting ---- */

/* A line that begins as the greeting does; what a board says before is left out. */
static int
read_greeting(device *d, char line[LINE], char *why, size_t room)
{
	size_t n = 0;

	for (int i = 0; i < MOST_NOISE; i++) {
		uint8_t c;
		size_t got = 0;
		const end how = exchange(d, NULL, 0, &c, 1, &got);

		if (how != DONE)
			return explain(d, how, " before its first line, 'quern-device …'", why,
				       room);
		if (c != '\n') {
			line[n] = (char)c;
			n += n < LINE - 1;
			continue;
		}
		line[n] = '\0';
		if (strncmp(line, greeting, sizeof greeting - 1) == 0)
			return 0;
		n = 0;
	}
	(void)snprintf(why, room, "the device sent %d bytes without a line 'quern-device …'",
		       MOST_NOISE);
	return 1;
}

/* "quern-device 1 0f3c29a1 11" */
static int
check_greeting(const char *line, const qn_program *p, size_t *traced, char *why, size_t room)
{
	const unsigned expected = p->resets != 0 ? 2 : 1;
	unsigned version = 0, content = 0, steps = 0;

	if (sscanf(line + sizeof greeting - 1, "%u %x %u", &version, &content, &steps) != 3 ||
	    version != expected)
		(void)snprintf(why, room,
			       "the device's first line is '%.60s' (expected 'quern-device %u "
			       "CONTENT STEPS'); compile the model again and load the program",
			       line, expected);
	else if (content != p->content)
		(void)snprintf(why, room,
			       "the device runs another compilation: %08x, that of the folder is "
			       "%08x; build and load it again",
			       content, (unsigned)p->content);
	else if (steps != 0 && steps != p->steps)
		(void)snprintf(why, room, "the device has %u steps, the program has %zu", steps,
			       p->steps);
	else {
		*traced = steps;
		return 0;
	}
	return 1;
}

/* ---- the callbacks ---- */

int
device_start(void *user, const qn_program *p, size_t *traced, char *why, size_t room)
{
	device *d = user;
	char build[8192], line[LINE];

	d->to = d->from = -1;
	if (d->command == NULL && device_build(d, p, build, sizeof build, why, room) != 0)
		return 1;
	if (spawn(d, d->command != NULL ? d->command : build, why, room) != 0 ||
	    read_greeting(d, line, why, room) != 0)
		return 1;
	device_remove_build(d); /* it runs */
	return check_greeting(line, p, traced, why, room);
}

int
device_run(void *user, size_t sample, const void *in, size_t nin, void *answer, size_t n, char *why,
	   size_t room)
{
	device *d = user;
	char what[120];
	size_t got = 0;

	if (has_more(d)) {
		(void)snprintf(why, room,
			       "the device sent more than the %zu bytes of an answer, before it "
			       "had sample %zu",
			       n, sample);
		return 1;
	}
	const end how = exchange(d, in, nin, answer, n, &got);
	if (how == DONE)
		return 0;
	(void)snprintf(what, sizeof what,
		       ", after %zu of the %zu bytes of its answer to sample %zu", got, n, sample);
	return explain(d, how, what, why, room);
}

int
device_finish(device *d, char *why, size_t room)
{
	struct pollfd p = {.fd = d->from, .events = POLLIN};
	uint8_t byte;
	int status = 0;

	close_end(&d->to);
	if (poll(&p, 1, GRACE) > 0 && read(d->from, &byte, 1) == 1) {
		(void)snprintf(why, room,
			       "the device sent more bytes after its answer to the last sample");
		return 1;
	}
	if (!wait_for(d, GRACE, &status)) /* a board's script may stay; device_close ends it */
		return 0;
	if (WIFSIGNALED(status))
		(void)snprintf(why, room, "the device was ended by signal %d after the last sample",
			       WTERMSIG(status));
	else
		(void)snprintf(why, room,
			       "the device ended with exit code %d after the last sample",
			       WEXITSTATUS(status));
	return status != 0;
}
