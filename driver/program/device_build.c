/* SPDX-License-Identifier: Apache-2.0 */
/* device_build.c - an emitted program as one of this machine, with its portable kernels:
 *
 *   ${CC:-cc} -std=c99 -O2 -DQN_PORTABLE -DNET_TRACE -DNET_DEVICE_MAIN $CFLAGS out/net.c … -o /tmp/quern-…/device */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"

static const char program_file[] = "/device";

/* Text of a command line as it grows; what does not fit makes it invalid. */
typedef struct line {
	char *text;
	size_t n, size;
} line;

static void
add(line *l, const char *s)
{
	const size_t k = strlen(s);

	if (l->n + k < l->size)
		memcpy(l->text + l->n, s, k + 1);
	l->n += k;
}

/* In quotes of the shell. */
static void
add_quoted(line *l, const char *folder, const char *name, const char *end)
{
	const char *const part[] = {folder, name, end};

	add(l, " '");
	for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
		for (const char *s = part[i]; *s != '\0'; s++)
			add(l, *s == '\'' ? "'\\''" : (char[2]){*s, '\0'});
	add(l, "'");
}

/* " -DNET_TRACE" */
static void
add_macro(line *l, const char *name, const char *end)
{
	add(l, " -D");
	for (; *name != '\0'; name++)
		add(l, (char[2]){(char)(*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name),
				 '\0'});
	add(l, end);
}

static int
make_folder(device *d, char *why, size_t room)
{
	const char *tmp = getenv("TMPDIR");
	const int n = snprintf(d->built, sizeof d->built, "%s/quern-XXXXXX",
			       tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp");

	if (n > 0 && (size_t)n < sizeof d->built - sizeof program_file && mkdtemp(d->built) != NULL)
		return 0;
	(void)snprintf(why, room, "no folder for the build of this machine's program: %s",
		       strerror(errno));
	d->built[0] = '\0';
	return 1;
}

int
device_build(device *d, const qn_program *p, char *command, size_t size, char *why, size_t room)
{
	static const char *const source[] = {".c", "_weights.c", "_device.c"};
	line l = {.text = command, .size = size};

	if (make_folder(d, why, room) != 0)
		return 1;
	add(&l, "${CC:-cc} -std=c99 -O2 -DQN_PORTABLE");
	add_macro(&l, p->name, "_TRACE");
	add_macro(&l, p->name, "_DEVICE_MAIN");
	add(&l, " $CFLAGS");
	for (size_t i = 0; i < sizeof source / sizeof source[0]; i++) {
		char name[512];

		(void)snprintf(name, sizeof name, "/%s", p->name);
		add_quoted(&l, d->folder, name, source[i]);
	}
	add(&l, " -o");
	add_quoted(&l, d->built, program_file, "");
	add(&l, " >&2");
	if (l.n >= size) {
		(void)snprintf(why, room, "the path of the folder is too long for a command");
		return 1;
	}
	if (system(command) != 0) {
		(void)snprintf(why, room,
			       "the program could not be built for this machine; set CC to a C "
			       "compiler, or give a command that runs it with --device");
		return 1;
	}
	l.n = 0;
	add(&l, "exec");
	add_quoted(&l, d->built, program_file, "");
	return 0;
}

void
device_remove_build(device *d)
{
	char path[sizeof d->built + sizeof program_file];

	if (d->built[0] == '\0')
		return;
	(void)snprintf(path, sizeof path, "%s%s", d->built, program_file);
	(void)unlink(path);
	(void)rmdir(d->built);
	d->built[0] = '\0';
}
