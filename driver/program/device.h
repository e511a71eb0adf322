/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - a command that runs an emitted program, as a qn_device (docs/validation.md).
 *
 *   quern ── sample ──▶ stdin  COMMAND  stdout ── "quern-device VERSION CONTENT STEPS", CRCs, outputs ──▶ quern */
#ifndef QN_PROGRAM_DEVICE_H
#define QN_PROGRAM_DEVICE_H

#include <stdbool.h>

#include "quern/measure.h"

typedef struct device {
	const char *command; /* for the shell; NULL: the folder's program, built for this machine */
	const char *folder;
	int time_limit; /* seconds without a byte from the device */
	/* while it runs */
	int pid; /* of the shell, which leads a process group; 0: none */
	int to, from;
	char built[4096]; /* the folder of the build; "": there is none */
} device;

/* The callbacks of a qn_device; user is a device. */
int device_start(void *user, const qn_program *p, size_t *traced, char *why, size_t room);
int device_run(void *user, size_t sample, const void *in, size_t nin, void *answer, size_t n,
	       char *why, size_t room);
/* After the last sample, when all went well: the device's input ends, and it may say nothing more and not
 * fail.  0, or anything else with the reason in why. */
int device_finish(device *d, char *why, size_t room);
/* Ends the device, and removes what was built.  May be called at any time. */
void device_close(device *d);

/* Builds the folder's program for this machine in a new folder and sets d->built, and `line` (of `size`
 * bytes) to the command that runs it (device_build.c). */
int device_build(device *d, const qn_program *p, char *line, size_t size, char *why, size_t room);
/* Removes the folder of the build. */
void device_remove_build(device *d);

#endif
